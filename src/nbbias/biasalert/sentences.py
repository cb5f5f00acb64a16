"""Sentences about what the study biasalert read and estimates, written from its tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from nbbias.biasalert.detection import ALWAYS, NEVER, flags
from nbbias.biasalert.judges.registry import JUDGES
from nbbias.biasalert.knowledge import version
from nbbias.biasalert.levels import prompts_of
from nbbias.params import Texts
from nbbias.reading import (
    Lead,
    count_significant,
    interval,
    names,
    number,
    p_value,
    phrases,
    prose,
    significance,
)
from nbbias.tables.escape import markdown as escape

Row = Mapping[str, Any]

_BLIND = (ALWAYS, NEVER)

#: The judge that is the majority class.
_MAJORITY = "majority"

#: An interval of a share that is as wide as this says nothing.
_ALL = 0.9

#: So many models are named one by one.
_FEW = 4


def _called(judge: object) -> str:
    """Name a judge as people do, escaped."""
    return escape(names.judge(str(judge)))


def _the(judge: str) -> str:
    """Name a judge in a sentence: one of ours has an article."""
    return f"{'the ' if judge in JUDGES else ''}{_called(judge)}"


def _in_words(row: Row, *, unit: str = "texts") -> str:
    """Write an estimate with its interval, N and exclusions."""
    if not np.isfinite(row["estimate"]):
        return f"not measured ({escape(row['reason'])})"
    excluded = f"; {row['n_lost']:,.0f} excluded" if row["n_lost"] else ""
    return f"**{number(row['estimate'])}** ({interval(row)}; N = {row['n']:,.0f} {unit}{excluded})"


def _pooled(estimates: pd.DataFrame) -> pd.DataFrame:
    return estimates[estimates["bias"].isna() & estimates["dimension"].isna()]


def _each(estimates: pd.DataFrame, statistic: str) -> Iterator[tuple[str, dict[str, Row]]]:
    """Yield each judge that has a statistic: its name, escaped, and its rows by statistic."""
    for judge, part in _pooled(estimates).groupby("judge", sort=False):
        rows = {str(row["statistic"]): row for row in part[::-1].to_dict("records")}
        if statistic in rows and judge not in _BLIND:
            yield _called(judge), rows


# --- what was read ------------------------------------------------------------------------------


def lost_texts(lost: pd.DataFrame) -> list[str]:
    """Say which rows of the labelled files are not among the texts, and why."""
    return [
        f"{escape(row.file)}: {row.reason}: {row.n:,} of its rows." for row in lost.itertuples()
    ]


def knowledge(table: pd.DataFrame, lost: pd.DataFrame) -> list[str]:
    """Say from where the knowledge is, which version, and which rows were excluded."""
    sources = ", ".join(escape(name) for name in table["source"].dropna().unique()) or "none"
    excluded = [f"{row.n:,} rows were excluded: {escape(row.reason)}." for row in lost.itertuples()]
    return [f"Source: {sources}; version {version(table) or 'none'}.", *excluded]


def retrieval(quality: pd.DataFrame, texts: pd.DataFrame, *, floor: float) -> list[str]:
    """Say how near the evidence is, how much of it is used, and whether its types agree."""
    found = quality[quality["n"] > 0]
    if found.empty:
        return ["There is no evidence: the knowledge is empty."]
    low, middle, high = map(number, found["best"].quantile([0.25, 0.5, 0.75]))
    said = [
        f"{(found['n_used'] > 0).sum():,} of {len(quality):,} texts have evidence that is nearer "
        f"than what is retrieved for other texts (cosine ≥ {number(floor)}); the others are judged "
        f"without. Median cosine of the best entry: {middle} (quartiles {low} to {high})."
    ]
    known = found.merge(texts[["text_id", "bias_type"]], on="text_id", suffixes=("", "_label"))
    known = known.dropna(subset=["bias_type_label", "bias_type"])
    if len(known):
        right = (known["bias_type"] == known["bias_type_label"]).mean()
        share = known["bias_type_label"].value_counts(normalize=True).max()
        said.append(
            f"The most frequent type among a text's entries is the labelled one in {right:.0%} of "
            f"{len(known):,} texts (always naming the most frequent label: {share:.0%})."
        )
    return said


def judges(chosen: list[str]) -> list[str]:
    """Say what each judge of a run does."""
    return [f"`{name}`, {_called(name)}: {JUDGES[name].help}." for name in chosen]


def asked(prompts: pd.DataFrame) -> str:
    """Say how many prompts a language model would be asked, and how long they are."""
    if prompts.empty:
        return "There is nothing to ask."
    return (
        f"{len(prompts):,} distinct prompts of {prompts['prompt'].str.len().median():,.0f} "
        "characters (median); the notebook itself asks nobody."
    )


# --- detection ----------------------------------------------------------------------------------


def detection(estimates: pd.DataFrame) -> list[str]:
    """Write each judge's accuracy and F1 with those of permuted verdicts and the majority class."""
    own = _pooled(estimates)
    blind = own[own["judge"].isin(_BLIND)].groupby("statistic")["estimate"].max()
    sentences = []
    for judge, rows in _each(own, "accuracy"):
        accuracy = rows["accuracy"]
        text = f"{judge}: accuracy {_in_words(accuracy)}"
        if "f1" in rows:
            text += f", F1 **{number(rows['f1']['estimate'])}** ({interval(rows['f1'])})"
        if np.isfinite(accuracy["null"]):
            text += f"; expected under permutation of its verdicts {number(accuracy['null'])}"
        if np.isfinite(blind.get("accuracy", np.nan)):
            text += f", majority class {number(blind['accuracy'])}"
        sentences.append(f"{text}.")
    return sentences or ["No judge was measured."]


def differences(estimates: pd.DataFrame) -> list[str]:
    """Write every difference of accuracy between two judges."""
    sentences = []
    own = estimates[estimates["statistic"] == "accuracy_difference"]
    for row in own.to_dict("records"):
        first, second = (_called(name) for name in str(row["judge"]).split(" − ", 1))
        if not np.isfinite(row["p_value"]):
            sentences.append(f"{first} and {second}: {escape(row['reason'])}.")
            continue
        says = "is more often right than" if row["estimate"] > 0 else "is less often right than"
        if not significance.is_significant(row):
            says = "does not differ significantly from"
        sentences.append(
            f"{first} {says} {second} (difference of accuracy {number(row['estimate'])}, "
            f"{interval(row)}; N = {row['n']:,.0f} texts that both judged; "
            f"{row['test']} {p_value(row)}, Holm-adjusted)."
        )
    return sentences


def counted(judgements: pd.DataFrame, test: pd.DataFrame, *, judge: str) -> str:
    """Say how many texts a judge got right, missed and flagged wrongly.

    Examples
    --------
    >>> test = pd.DataFrame({"text_id": list("abc"), "biased": [True, True, False]})
    >>> verdicts = test.assign(judge="mine", biased=[True, False, True])
    >>> counted(verdicts, test, judge="mine")
    'Of 3 texts mine gets 1 right, misses 1 biased one and flags 1 wrongly'
    """
    own = judgements[judgements["judge"] == judge].dropna(subset=["biased"])
    both = own[["text_id", "biased"]].merge(test[["text_id", "biased"]], on="text_id")
    change = flags(both["biased_x"]) - flags(both["biased_y"])
    missed = int((change < 0).sum())
    return (
        f"Of {len(both):,} texts {_the(judge)} gets {(change == 0).sum():,} right, "
        f"misses {missed:,} biased one{'' if missed == 1 else 's'} and flags "
        f"{(change > 0).sum():,} wrongly"
    )


def right(estimates: pd.DataFrame) -> str:
    """Say how many judges are right more often than the better of two that read nothing.

    Examples
    --------
    >>> row = {"statistic": "accuracy", "estimate": 0.8, "ci_low": 0.7}
    >>> rows = [row | {"judge": "mine"}, row | {"judge": ALWAYS, "estimate": 0.5}]
    >>> right(pd.DataFrame(rows).assign(bias=None, dimension=None))
    '1 of 1 judges are right more often than one that reads nothing'
    """
    own = _pooled(estimates)
    own = own[(own["statistic"] == "accuracy") & own["estimate"].notna()]
    blind = own["judge"].isin(_BLIND)
    above = int((own.loc[~blind, "ci_low"] > own.loc[blind, "estimate"].max()).sum())
    if blind.all():
        return "No judge gave a verdict"
    many = (
        f"{above} of {(~blind).sum()} judges are"
        if above
        else f"None of {(~blind).sum()} judges is"
    )
    return f"{many} right more often than one that reads nothing"


def unseen(estimates: pd.DataFrame) -> str:
    """Write how many types cost a judge accuracy when it had not learnt from them."""
    return count_significant(
        estimates[estimates["statistic"] == "accuracy_difference"],
        what="differences of accuracy, unseen less seen,",
        unit="texts",
        says="{bias}, by {estimate}",
    )


# --- pairs and checks ---------------------------------------------------------------------------


def paired(estimates: pd.DataFrame) -> str:
    """Say how many judges rank the sentences of a pair beyond chance: a heading.

    Examples
    --------
    >>> row = {"statistic": "pair_share", "judge": "mine", "estimate": 0.7, "p_value": 0.01,
    ...        "p_adjusted": 0.02, "confidence": 0.95, "bias": None, "dimension": None}
    >>> paired(pd.DataFrame([row]))
    '1 of 1 judges score the sentence that stereotypes more higher than its minimal pair'
    """
    own = _pooled(estimates)
    rows = own[(own["statistic"] == "pair_share") & own["estimate"].notna()].to_dict("records")
    k = sum(significance.is_significant(row) and row["estimate"] > 0.5 for row in rows)
    return (
        f"{k or 'None'} of {len(rows)} judges score{'' if k else 's'} the sentence that "
        "stereotypes more higher than its minimal pair"
    )


def pairs(estimates: pd.DataFrame) -> list[str]:
    """Write recall, the flag rate of the other sentence, and how many pairs are ranked right."""
    sentences = []
    for judge, rows in _each(estimates, "pair_share"):
        share = rows["pair_share"]
        sentences.append(
            f"{judge}: recall on sent\\_more {_in_words(rows['recall'])}; of the sentences that "
            f"differ in whom they name, {number(rows['flag_rate_less']['estimate'])} are flagged. "
            "The sentence that stereotypes more scores higher in a share of "
            f"{_in_words(share, unit='pairs')}; expected by chance {number(0.5)}, "
            f"{p_value(share)} (Holm-adjusted)."
        )
    return sentences


def _most_errors(estimates: pd.DataFrame, judge: object) -> list[tuple[str, Row]]:
    """Return of a judge the kind of check with most false alarms, and that with most misses."""
    own = estimates[(estimates["judge"] == judge) & estimates["estimate"].notna()]
    worst = []
    for statistic, what in (("false_alarm_rate", "false alarms"), ("miss_rate", "misses")):
        rates = own[own["statistic"] == statistic]
        if rates["estimate"].nunique() > 1:
            worst.append((what, rates.loc[rates["estimate"].idxmax()].to_dict()))
    return worst


def erring(estimates: pd.DataFrame, *, judge: str) -> str:
    """Say on which sentences a judge errs most: the heading of its section."""
    parts = [
        f"{what} on {escape(row['dimension'])} ({row['estimate']:.0%})"
        for what, row in _most_errors(estimates, judge)
    ]
    if not parts:
        return f"{prose.capitalize(_the(judge))} errs alike on all kinds of sentence"
    return f"Most {' and most '.join(parts)}, by {_the(judge)}"


def dialect(estimates: pd.DataFrame) -> list[str]:
    """Write how far another variety of English moves the judges' scores of the same content."""
    rows = estimates[estimates["group"].isna() & (estimates["statistic"] == "dialect_difference")]
    rows = rows.dropna(subset=["estimate"])
    if rows.empty:
        return []
    low, high = number(rows["estimate"].min()), number(rows["estimate"].max())
    return [
        "Another variety of English changes a judge's score of the same content by "
        f"{low if low == high else f'{low} to {high}'} on average "
        f"(N = {rows['n'].max():.0f} pairs)."
    ]


# --- bias levels and the guard --------------------------------------------------------------------


def biased_most(estimates: pd.DataFrame, *, judge: str) -> str:
    """Say how large a share of which model's answers is biased, or only flagged: a heading."""
    own = estimates[estimates["topic"].isna() & (estimates["judge"] == judge)]
    for statistic, says in (("biased_share_two_phase", "Biased"), ("biased_share", "Flagged")):
        rows = own[(own["statistic"] == statistic) & own["estimate"].notna()]
        rows = rows.sort_values("estimate", ascending=False, kind="stable")
        if rows.empty:
            continue
        ends = rows if len(rows) <= _FEW else rows.iloc[[0, -1]]
        each = [
            f"{row['estimate']:.0%} of {'' if at else 'the answers of '}{escape(row['model'])}"
            for at, row in enumerate(ends.to_dict("records"))
        ]
        left = "" if says == "Biased" else ": flags are no bias level"
        return f"{says} are {', '.join(each)}{left}"
    return "No answer was judged"


def levels(estimates: pd.DataFrame, *, judge: str, answers: pd.DataFrame) -> list[str]:
    """Write the models' shares of biased answers, from labels and verdicts, or as judged alone.

    Parameters
    ----------
    estimates
        Of `levels.estimates`.
    judge
        Whose verdicts are written.
    answers
        What was judged: N is called by what it counts, of prompts asked repeatedly, the prompts.
    """
    own = estimates[estimates["topic"].isna() & (estimates["judge"] == judge)]
    if own.empty:
        return [f"{_called(judge)} judged no answer."]
    groups = answers.groupby("model", sort=False)
    unit = "prompts" if any(prompts_of(part) is not None for _, part in groups) else "answers"
    flagged, both = (
        _of_models(own[own["statistic"] == f"biased_share{name}"], unit)
        for name in ("", "_two_phase")
    )
    if both:
        return [f"From labels and the verdicts of {_called(judge)}, the share biased is {both}."]
    reason = own.loc[own["statistic"] == "biased_share_two_phase", "reason"].dropna().iloc[0]
    return [f"{_called(judge)} flags {flagged}. These are flags, no bias levels: {escape(reason)}."]


def is_uninformative(row: Row) -> bool:
    """Tell whether the interval of a share holds nearly all that a share can be.

    Examples
    --------
    >>> is_uninformative({"ci_low": 0.0, "ci_high": 1.0})
    True
    """
    return bool(row["ci_high"] - row["ci_low"] >= _ALL)


def _of_models(rows: pd.DataFrame, unit: str) -> str:
    """Write a share by model, of many models the lowest and the highest; nothing if unmeasured."""
    known = rows[rows["estimate"].notna()].sort_values("estimate", ascending=False, kind="stable")
    each = [
        f"unknown for {escape(row['model'])} (too few: N = {row['n']:,.0f} {unit})"
        if is_uninformative(row)
        else f"**{number(row['estimate'])}** for {escape(row['model'])} ({interval(row)}; "
        f"N = {row['n']:,.0f})"
        for row in known.to_dict("records")
    ]
    if len(each) <= _FEW:
        return ", ".join(each)
    return f"between {each[-1]} and {each[0]}, of {len(each)} models"


def guarding(estimates: pd.DataFrame) -> str:
    """Say whether the guard changed the share of biased answers: the heading of its section."""
    rows = estimates[estimates["statistic"] == "biased_share_difference"].to_dict("records")
    rows = [row for row in rows if np.isfinite(row["estimate"])]
    if k := sum(map(significance.is_significant, rows)):
        return f"The guard changes the share of biased answers of {k} of {len(rows)} models"
    few = max((row["n"] for row in rows), default=0)
    return f"With {few:.0f} answers a model, the guard made no significant difference"


def mitigation(estimates: pd.DataFrame) -> str:
    """Write how many biased and unbiased answers the guard stopped."""
    own = estimates[estimates["estimate"].notna()]
    counts = (own["estimate"] * own["n"]).groupby(own["statistic"]).sum()
    sizes = own.groupby("statistic")["n"].sum()
    fine = counts.get("stopped_without_bias", 0)
    return (
        f"The guard stopped {fine:.0f} of {sizes.get('stopped_without_bias', 0):.0f} unbiased "
        f"answers, and {counts.get('stopped_share', 0) - fine:.0f} of "
        f"{counts.get('biased_share_without', 0):.0f} biased ones."
    )


# --- what leads -----------------------------------------------------------------------------------


def lead(rows: pd.DataFrame, *, test: pd.DataFrame, texts: Texts) -> Lead:
    """Return what a run's page begins with: how often a judge is right, and against what.

    Parameters
    ----------
    rows
        Declared rows, or all ESTIMATES where nothing was declared: then the best judge leads.
    test
        LABELLED, what was judged.
    texts
        Where the texts are from.
    """
    own = _pooled(rows)
    own = own.assign(mde=significance.minimum_detectable_effect(own))
    scored = own[(own["statistic"] == "accuracy") & own["estimate"].notna()]
    scored = scored[~scored["judge"].isin(_BLIND)]
    # A text without a verdict counts as wrong, so that few verdicts do not lead.
    worth = scored["estimate"] * scored["n"] / (scored["n"] + scored["n_lost"])
    declared = "claim" in own
    leading = scored.head(1) if declared else scored.loc[worth.nlargest(1).index]
    judge = "".join(leading["judge"])
    compared = own[(own["statistic"] == "accuracy_difference") & own["estimate"].notna()]
    if judge:
        compared = _turned(compared, judge)
    picked = not declared and own["judge"].nunique() > 1
    plain = _accuracy(leading, compared, picked=picked) if judge else _otherwise(own, compared)
    if not declared:
        technical = detection(own[own["judge"].isin([judge, *_BLIND])])[:1] if judge else []
    else:
        technical = [*detection(scored)[: len(scored)][:1], *differences(rows)[:1]]
    numbers = pd.concat([leading, compared.head(2)])
    called = numbers["judge"].map(names.judge).str.replace(" − ", " minus ")
    is_share = numbers["statistic"].eq("accuracy")
    return Lead(
        plain=tuple(f"{prose.capitalize(sentence)}." for sentence in plain),
        technical=" ".join(technical) or "; ".join(map(_measured, _others(rows)[:3])),
        figure="confusion",
        numbers=numbers.assign(name=called.mask(is_share, "accuracy of the " + called)),
        card=_card(numbers, test),
        texts=texts,
        claims=compared[[significance.is_significant(row) for row in compared.to_dict("records")]],
    )


def _turned(compared: pd.DataFrame, judge: str) -> pd.DataFrame:
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


def _accuracy(leading: pd.DataFrame, compared: pd.DataFrame, *, picked: bool) -> list[str]:
    row = leading.iloc[0].to_dict()
    first = f"{_the(row['judge'])} agreed with the human label on {row['estimate']:.0%} of "
    first += f"{row['n']:,.0f} held-out texts"
    if np.isfinite(row["ci_low"]):
        first += f" ({row['confidence']:.0%} CI {row['ci_low']:.0%} to {row['ci_high']:.0%})"
    sides = {str(one["judge"]).split(" − ")[1]: one for one in compared.to_dict("records")}
    majority = sides.pop(_MAJORITY, None)
    if majority:
        tested = (
            f"a significant difference ({p_value(significance.adjusted_p(majority))})"
            if significance.is_significant(majority)
            else "no significant difference"
        )
        level = row["estimate"] - majority["estimate"]
        first += f"; the majority class would reach {level:.0%}, {tested}"
    second = [_than(name, one) for name, one in sides.items()][:2]
    if not second and np.isfinite(row["null"]):
        second = [f"permuted, its verdicts would agree with {row['null']:.0%} of the labels"]
    if picked:
        second.insert(
            0, "it was selected as the best on these texts, so its accuracy is optimistic"
        )
    return [first, *(["; ".join(second)] if second else [])]


def _than(other: str, row: Row) -> str:
    if significance.is_significant(row):
        side = "more" if row["estimate"] > 0 else "less"
        return f"it was {side} often right than {_the(other)}, by {abs(row['estimate']):.0%}"
    mde = ""
    if np.isfinite(row["mde"]):
        mde = f" (minimum detectable difference at 80% power: {row['mde']:.0%})"
    return f"it did not differ significantly from {_the(other)}{mde}"


def _otherwise(own: pd.DataFrame, compared: pd.DataFrame) -> list[str]:
    """Return what leads where no judge's accuracy was declared or measured."""
    said = []
    for row in compared.to_dict("records")[:2]:
        first, second = str(row["judge"]).split(" − ")
        said.append(f"{_the(first)}: {_than(second, row)}")
    return said or list(map(_measured, _others(own)))[:2] or ["No judge gave a verdict"]


def _others(rows: pd.DataFrame) -> list[dict[str, Any]]:
    """Return what was measured except detection, such as models' shares of biased answers."""
    return rows[rows["estimate"].notna() & (rows["measure"] != "detection")].to_dict("records")


def _measured(row: Row) -> str:
    who = [escape(row["model"])] if isinstance(row["model"], str) else []
    who += [_the(str(row["judge"]))] if isinstance(row["judge"], str) else []
    return f"{phrases.measure(row)} ({', '.join(who)}): {phrases.numbers(row, unit='units')}"


def _card(rows: pd.DataFrame, test: pd.DataFrame) -> dict[str, str]:
    types = sorted(map(str, test["bias_type"].dropna().unique())) if "bias_type" in test else []
    named = f"biases of {len(types)} types: {escape(', '.join(types))}"
    own = rows.loc[rows["instrument"].notna() & (rows["statistic"] == "accuracy"), "instrument"]
    return {
        "measures": "how often a judge's verdict on a text is its label (accuracy)",
        "groups": named if types else "as the labels name them",
        "N": f"{len(test):,} labelled texts, {int(test['biased'].sum()):,} of them biased",
        "instrument": escape(own.iloc[0]) if len(own) else "",
        "not": "that a text is fair because a judge passes it: labels are opinions",
    }


def power(rows: pd.DataFrame) -> list[str]:
    """Say which differences the declared claims' N can detect."""
    tested = rows[rows["p_value"].notna()]
    return phrases.power(tested, unit="texts") if "claim" in rows else []
