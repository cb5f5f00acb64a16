"""Sentences about what the study biasalert estimated, written from its tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from nbbias.biasalert.detection import ALWAYS, NEVER
from nbbias.biasalert.judges.registry import JUDGES
from nbbias.biasalert.levels import SHARES
from nbbias.params import Texts
from nbbias.reading import Lead, interval, names, number, p_value, phrases, prose, significance
from nbbias.tables.escape import markdown as escape

Row = Mapping[str, Any]

_CONSTANT = (ALWAYS, NEVER)

#: The judge that is the majority class.
_MAJORITY = "majority"

#: An interval of a share that is as wide as this says nothing.
_ALL = 0.9

#: So many models are named one by one.
_FEW = 4


def _name(judge: object) -> str:
    """Name a judge as people do, escaped."""
    return escape(names.judge(str(judge)))


def _the(judge: str) -> str:
    """Name a judge in a sentence: one of ours has an article."""
    return f"{'the ' if judge in JUDGES else ''}{_name(judge)}"


def _in_words(row: Row, *, unit: str = "texts") -> str:
    """Write an estimate with its interval, N and exclusions."""
    if not np.isfinite(row["estimate"]):
        return f"not measured ({escape(row['reason'])})"
    excluded = f"; {row['n_lost']:,.0f} excluded" if row["n_lost"] else ""
    return f"**{number(row['estimate'])}** ({interval(row)}; N = {row['n']:,.0f} {unit}{excluded})"


def _pooled(estimates: pd.DataFrame, statistic: str, measure: str = "detection") -> pd.DataFrame:
    """Return the rows of a statistic over all texts, of judges that read them."""
    rows = estimates[estimates["bias"].isna() & estimates["dimension"].isna()]
    rows = rows[(rows["statistic"] == statistic) & (rows["measure"] == measure)]
    return rows[~rows["judge"].isin(_CONSTANT)]


def majority_class(estimates: pd.DataFrame) -> float:
    """Return the accuracy of the majority class: the better of two judges that read nothing."""
    accuracy = estimates[(estimates["statistic"] == "accuracy") & estimates["bias"].isna()]
    return float(accuracy.loc[accuracy["judge"].isin(_CONSTANT), "estimate"].max())


# --- detection ----------------------------------------------------------------------------------


def retrieval(quality: pd.DataFrame) -> list[str]:
    """Say how similar the evidence is, and how much of it is used.

    Examples
    --------
    >>> retrieval(pd.DataFrame({"n": [0], "n_used": 0, "best": np.nan, "floor": 0.5}))
    ['There is no evidence: the knowledge is empty.']
    """
    retrieved = quality[quality["n"] > 0]
    if retrieved.empty:
        return ["There is no evidence: the knowledge is empty."]
    low, middle, high = map(number, retrieved["best"].quantile([0.25, 0.5, 0.75]))
    return [
        f"{(retrieved['n_used'] > 0).sum():,} of {len(quality):,} texts have evidence that is more "
        "similar than what is retrieved for other texts (cosine ≥ "
        f"{number(quality['floor'].iloc[0])}); "
        f"the others are judged without. Median cosine of the best entry: {middle} (quartiles "
        f"{low} to {high})."
    ]


def detection(estimates: pd.DataFrame) -> list[str]:
    """Write each judge's accuracy and F1 with those of permuted verdicts and the majority class."""
    level, sentences = majority_class(estimates), []
    f1 = _pooled(estimates, "f1").set_index("judge")
    for row in _pooled(estimates, "accuracy").to_dict("records"):
        text = f"{_name(row['judge'])}: accuracy {_in_words(row)}"
        if row["judge"] in f1.index:
            other = f1.loc[row["judge"]]
            text += f", F1 **{number(other['estimate'])}** ({interval(other)})"
        if np.isfinite(row["null"]):
            text += f"; expected under permutation of its verdicts {number(row['null'])}"
        text += f", majority class {number(level)}" if np.isfinite(level) else ""
        sentences.append(f"{text}.")
    return sentences or ["No judge was measured."]


def differences(rows: pd.DataFrame) -> list[str]:
    """Write every difference of accuracy between two judges."""
    sentences = []
    for row in _pooled(rows, "accuracy_difference").to_dict("records"):
        first, second = (_name(name) for name in str(row["judge"]).split(" − ", 1))
        if not np.isfinite(row["p_value"]):
            sentences.append(f"{first} and {second}: {escape(row['reason'])}.")
            continue
        verb = "was more accurate than" if row["estimate"] > 0 else "was less accurate than"
        if not significance.is_significant(row):
            verb = "did not differ significantly from"
        sentences.append(
            f"{first} {verb} {second} (difference of accuracy {number(row['estimate'])}, "
            f"{interval(row)}; N = {row['n']:,.0f} texts that both judged; "
            f"{row['test']} {p_value(row)}, Holm-adjusted)."
        )
    return sentences


def counted(judgements: pd.DataFrame, test: pd.DataFrame, *, judge: str) -> str:
    """Say how many texts a judge classified correctly, with its false negatives and positives.

    Examples
    --------
    >>> test = pd.DataFrame({"text_id": list("abc"), "biased": [True, True, False]})
    >>> verdicts = test.assign(judge="mine", biased=[True, False, True])
    >>> counted(verdicts, test, judge="mine")
    'Of 3 texts mine classified 1 correctly (1 false negative, 1 false positive)'
    """
    verdicts = judgements[judgements["judge"] == judge].dropna(subset=["biased"])
    both = verdicts[["text_id", "biased"]].merge(test[["text_id", "biased"]], on="text_id")
    change = both["biased_x"].astype(int) - both["biased_y"].astype(int)
    missed = int((change < 0).sum())
    wrongly = int((change > 0).sum())
    return (
        f"Of {len(both):,} texts {_the(judge)} classified {(change == 0).sum():,} correctly "
        f"({missed:,} false negative{'' if missed == 1 else 's'}, "
        f"{wrongly:,} false positive{'' if wrongly == 1 else 's'})"
    )


def better_than_majority(estimates: pd.DataFrame) -> str:
    """Say how many judges are more accurate than the majority class.

    Examples
    --------
    >>> row = {"measure": "detection", "statistic": "accuracy", "estimate": 0.8, "ci_low": 0.7}
    >>> rows = [row | {"judge": "mine"}, row | {"judge": ALWAYS, "estimate": 0.5}]
    >>> better_than_majority(pd.DataFrame(rows).assign(bias=None, dimension=None))
    '1 of 1 judge was significantly more accurate than the majority class'
    """
    rows = _pooled(estimates, "accuracy").dropna(subset="estimate")
    if rows.empty:
        return "No judge gave a verdict"
    above = int((rows["ci_low"] > majority_class(estimates)).sum())
    verb = "were" if above > 1 else "was"
    judges = f"{len(rows)} judge{'' if len(rows) == 1 else 's'}"
    what = "significantly more accurate than the majority class"
    return f"{above or 'None'} of {judges} {verb} {what}"


# --- pairs and checks ---------------------------------------------------------------------------


def paired(estimates: pd.DataFrame) -> str:
    """Say how many judges rank the sentences of a pair significantly: a heading.

    Examples
    --------
    >>> row = {"statistic": "pair_share", "judge": "mine", "estimate": 0.7, "p_value": 0.01,
    ...        "p_adjusted": 0.02, "confidence": 0.95, "bias": None, "dimension": None}
    >>> paired(pd.DataFrame([row | {"measure": "pairs"}]))
    '1 of 1 judge scored the more stereotyping sentence of a pair significantly higher'
    """
    rows = _pooled(estimates, "pair_share", "pairs").dropna(subset="estimate").to_dict("records")
    k = sum(significance.is_significant(row) and row["estimate"] > 0.5 for row in rows)
    judges = f"{len(rows)} judge{'' if len(rows) == 1 else 's'}"
    what = "the more stereotyping sentence of a pair significantly higher"
    return f"{k or 'None'} of {judges} scored {what}"


def pairs(estimates: pd.DataFrame) -> list[str]:
    """Write recall, the flag rate of the other sentence, and how many pairs are ranked right."""
    recall, flagged = (
        _pooled(estimates, name, "pairs").set_index("judge")
        for name in ("recall", "flag_rate_less")
    )
    return [
        f"{_name(row['judge'])}: recall on sent\\_more {_in_words(recall.loc[row['judge']])}; "
        f"flag rate on sent\\_less {number(flagged.loc[row['judge'], 'estimate'])}. The more "
        f"stereotyping sentence scored higher in a share of {_in_words(row, unit='pairs')}; null "
        f"value {number(0.5)}, {p_value(row)} (Holm-adjusted)."
        for row in _pooled(estimates, "pair_share", "pairs").to_dict("records")
    ]


def erring(estimates: pd.DataFrame, *, judge: str) -> str:
    """Say on which sentences a judge has the highest error rates: the heading of its section."""
    called = {"false_alarm_rate": "false positives", "miss_rate": "false negatives"}
    rows = estimates[(estimates["judge"] == judge) & estimates["estimate"].notna()]
    rows = rows[rows["statistic"].isin(called)]
    if rows.empty:
        return f"The error rates of {_the(judge)} could not be estimated"
    parts = []
    for statistic, what in called.items():
        rates = rows[rows["statistic"] == statistic]
        if rates["estimate"].nunique() > 1:
            worst = rates.loc[rates["estimate"].idxmax()]
            parts.append(f"{what} on {escape(worst['dimension'])} ({worst['estimate']:.0%})")
    if not parts:
        return f"The error rates of {_the(judge)} are equal on all kinds of sentence"
    return f"Highest error rates of {_the(judge)}: {', '.join(parts)}"


def dialect(estimates: pd.DataFrame) -> list[str]:
    """Write how much another variety of English changes the judges' scores of the same content."""
    rows = estimates[estimates["statistic"] == "dialect_difference"].dropna(subset="estimate")
    if rows.empty:
        return []
    ends = [number(rows["estimate"].min()), number(rows["estimate"].max())]
    return [
        "Another variety of English changes a judge's score of the same content by "
        f"{' to '.join(dict.fromkeys(ends))} on average (N = {rows['n'].max():.0f} pairs)."
    ]


# --- bias levels and the guard --------------------------------------------------------------------


def _levels(estimates: pd.DataFrame, judge: str, statistic: str) -> pd.DataFrame:
    """Return a judge's measured shares by model, the highest first."""
    rows = estimates[estimates["topic"].isna() & estimates["model"].notna()]
    rows = rows[(rows["judge"] == judge) & (rows["statistic"] == statistic)]
    return rows.dropna(subset="estimate").sort_values("estimate", ascending=False, kind="stable")


def most_biased(estimates: pd.DataFrame, *, judge: str) -> str:
    """Say how large a share of which model's answers is biased, or only flagged: a heading."""
    biased = _levels(estimates, judge, SHARES[2])
    rows = biased if len(biased) else _levels(estimates, judge, SHARES[0])
    if rows.empty:
        return "No answer was judged"
    ends = rows if len(rows) <= _FEW else rows.iloc[[0, -1]]
    each = [f"{row['estimate']:.0%} for {escape(row['model'])}" for row in ends.to_dict("records")]
    if len(biased):
        return f"Share of biased answers: {', '.join(each)}"
    return f"Share of flagged answers: {', '.join(each)} (not corrected for classification errors)"


def levels(estimates: pd.DataFrame, *, judge: str) -> list[str]:
    """Write the models' shares of biased answers, from labels and verdicts, or as judged alone."""
    flagged, both = (_by_model(_levels(estimates, judge, SHARES[at])) for at in (0, 2))
    if both:
        return [f"Share of biased answers, from labels and the verdicts of {_the(judge)}: {both}."]
    if not flagged:
        return [f"{_name(judge)} judged no answer."]
    missing = estimates[(estimates["judge"] == judge) & (estimates["statistic"] == SHARES[2])]
    reason = escape(missing["reason"].dropna().iloc[0])
    return [
        f"Share of answers flagged by {_the(judge)}: {flagged}. It is not corrected for "
        f"classification errors: {reason}."
    ]


def is_uninformative(row: Row) -> bool:
    """Tell whether the interval of a share covers nearly the whole range of a share.

    Examples
    --------
    >>> is_uninformative({"ci_low": 0.0, "ci_high": 1.0})
    True
    """
    return bool(row["ci_high"] - row["ci_low"] >= _ALL)


def _by_model(rows: pd.DataFrame) -> str:
    """Write a share by model, of many models the lowest and the highest."""
    each = [
        f"unknown for {escape(row['model'])} (too few: N = {row['n']:,.0f})"
        if is_uninformative(row)
        else f"**{number(row['estimate'])}** for {escape(row['model'])} ({interval(row)}; "
        f"N = {row['n']:,.0f})"
        for row in rows.to_dict("records")
    ]
    if len(each) <= _FEW:
        return ", ".join(each)
    return f"between {each[-1]} and {each[0]}, of {len(each)} models"


def guarding(estimates: pd.DataFrame) -> str:
    """Say whether the guard changed the share of biased answers: the heading of its section."""
    rows = estimates[estimates["statistic"] == "biased_share_difference"].dropna(subset="estimate")
    if k := len(significance.significant(rows)):
        return f"The guard changed the share of biased answers in {k} of {len(rows)} models"
    few = rows["n"].max() if len(rows) else 0
    none = "No significant difference in the share of biased answers with the guard"
    return f"{none} (N = {few:.0f} answers per model)"


def mitigation(estimates: pd.DataFrame) -> str:
    """Write how many biased and unbiased answers the guard stopped."""
    measured = estimates[estimates["estimate"].notna() & (estimates["measure"] == "mitigation")]
    counts = (measured["estimate"] * measured["n"]).groupby(measured["statistic"]).sum()
    sizes = measured.groupby("statistic")["n"].sum()
    wrongly = counts.get("stopped_without_bias", 0)
    return (
        f"The guard stopped {wrongly:.0f} of {sizes.get('stopped_without_bias', 0):.0f} unbiased "
        f"answers, and {counts.get('stopped_share', 0) - wrongly:.0f} of "
        f"{counts.get('biased_share_without', 0):.0f} biased ones."
    )


# --- what leads -----------------------------------------------------------------------------------


def lead(rows: pd.DataFrame, *, test: pd.DataFrame, texts: Texts) -> Lead:
    """Return what a run's page begins with: the accuracy of a judge, and its comparisons.

    Parameters
    ----------
    rows
        Declared rows, or all ESTIMATES where nothing was declared: then the best judge leads.
    test
        LABELLED, what was judged.
    texts
        Where the texts are from.
    """
    rows = rows.assign(mde=significance.minimum_detectable_effect(rows))
    declared = "claim" in rows
    scored = _pooled(rows, "accuracy").dropna(subset="estimate")
    # A text without a verdict counts as wrong, so that few verdicts do not lead.
    weighted = scored["estimate"] * scored["n"] / (scored["n"] + scored["n_lost"])
    leading = scored.head(1) if declared else scored.loc[weighted.nlargest(1).index]
    judge = "".join(leading["judge"])
    compared = _pooled(rows, "accuracy_difference").dropna(subset="estimate")
    compared = _turn(compared, judge) if judge else compared
    numbers = pd.concat([leading, compared.head(2)])
    labels = numbers["judge"].map(names.judge).str.replace(" − ", " minus ")
    is_share = numbers["statistic"].eq("accuracy")
    significant = [significance.is_significant(row) for row in compared.to_dict("records")]
    if judge:
        best = not declared and len(scored) > 1
        plain = list(_accuracy(leading.iloc[0].to_dict(), compared, selected=best))
        technical = detection(rows[rows["judge"].isin([judge, *_CONSTANT])])[:1]
        technical += differences(rows)[:1] if declared else []
    else:
        technical = list(_others(rows))[:3]
        plain = [*_compare(compared), *technical][:2] or ["No judge gave a verdict"]
    return Lead(
        plain=tuple(f"{prose.capitalize(sentence)}." for sentence in plain),
        technical=" ".join(technical) if judge else "; ".join(technical),
        figure="confusion",
        numbers=numbers.assign(name=labels.mask(is_share, "accuracy of the " + labels)),
        card=_card(numbers, test),
        texts=texts,
        claims=compared[significant],
    )


def _turn(compared: pd.DataFrame, judge: str) -> pd.DataFrame:
    """Keep the differences of one judge, turned so that a gain over the other is above 0."""
    rows = []
    for row in compared.to_dict("records"):
        first, _, second = str(row["judge"]).partition(" − ")
        if second == judge:
            row |= {"judge": f"{second} − {first}", "estimate": -row["estimate"]}
            row |= {"ci_low": -row["ci_high"], "ci_high": -row["ci_low"]}
        if judge in (first, second):
            rows.append(row)
    return pd.DataFrame(rows, columns=compared.columns)


def _accuracy(row: Row, compared: pd.DataFrame, *, selected: bool) -> Iterator[str]:
    first = f"{_the(row['judge'])} agreed with the human label on {row['estimate']:.0%} of "
    first += f"{row['n']:,.0f} held-out texts"
    if np.isfinite(row["ci_low"]):
        first += f" ({row['confidence']:.0%} CI {row['ci_low']:.0%} to {row['ci_high']:.0%})"
    others = {str(one["judge"]).split(" − ")[1]: one for one in compared.to_dict("records")}
    if majority := others.pop(_MAJORITY, None):
        tested = "no significant difference"
        if significance.is_significant(majority):
            tested = f"a significant difference ({p_value(significance.adjusted_p(majority))})"
        level = row["estimate"] - majority["estimate"]
        first += f"; the majority class would reach {level:.0%}, {tested}"
    yield first
    second = [f"it {_than(name, one)}" for name, one in others.items()][:2]
    if not second and np.isfinite(row["null"]):
        second = [f"its permuted verdicts would agree with {row['null']:.0%} of the labels"]
    if selected:
        best = (
            "it was selected as the best on these texts, so its accuracy is optimistically biased"
        )
        second.insert(0, best)
    if second:
        yield "; ".join(second)


def _points(share: float) -> str:
    points = f"{100 * share:.0f}"
    return f"{points} percentage point{'' if points == '1' else 's'}"


def _than(other: str, row: Row) -> str:
    if significance.is_significant(row):
        side = "more" if row["estimate"] > 0 else "less"
        return f"was {side} accurate than {_the(other)}, by {_points(abs(row['estimate']))}"
    detectable = f" (minimum detectable difference at 80% power: {_points(row['mde'])})"
    mde = detectable if np.isfinite(row["mde"]) else ""
    return f"did not differ significantly from {_the(other)}{mde}"


def _compare(compared: pd.DataFrame) -> Iterator[str]:
    """Write differences where no judge's accuracy was declared or measured."""
    for row in compared.to_dict("records"):
        first, second = str(row["judge"]).split(" − ")
        yield f"{_the(first)} {_than(second, row)}"


def _others(rows: pd.DataFrame) -> Iterator[str]:
    """Write what was measured except detection, such as models' shares of biased answers."""
    other = rows[rows["estimate"].notna() & (rows["measure"] != "detection")]
    for row in other.to_dict("records"):
        subjects = [escape(row["model"])] if isinstance(row["model"], str) else []
        subjects += [_the(str(row["judge"]))] if isinstance(row["judge"], str) else []
        numbers = phrases.numbers(row, unit="units")
        yield f"{phrases.measure(row)} ({', '.join(subjects)}): {numbers}"


def _card(rows: pd.DataFrame, test: pd.DataFrame) -> dict[str, str]:
    types = sorted(map(str, test["bias_type"].dropna().unique())) if "bias_type" in test else []
    named = f"biases of {len(types)} types: {escape(', '.join(types))}"
    used = rows.loc[rows["instrument"].notna() & (rows["statistic"] == "accuracy"), "instrument"]
    return {
        "measures": "share of verdicts that agree with the human label (accuracy)",
        "groups": named if types else "as labelled",
        "N": f"{len(test):,} labelled texts, {int(test['biased'].sum()):,} of them biased",
        "instrument": escape(used.iloc[0]) if len(used) else "",
        "not": "that a text is fair because a judge passes it: labels are opinions",
    }


def power(rows: pd.DataFrame) -> list[str]:
    """Say which differences the declared claims' N can detect."""
    tested = rows[rows["p_value"].notna()]
    return phrases.power(tested, unit="texts") if "claim" in rows else []
