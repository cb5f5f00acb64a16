"""Sentences about what the study biasalert read and estimates, written from its tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from nbbias.biasalert.detection import ALWAYS, NEVER
from nbbias.biasalert.judges.prompt import VARIANTS
from nbbias.biasalert.judges.registry import JUDGES
from nbbias.biasalert.knowledge import version
from nbbias.biasalert.levels import SHARES, prompts_of
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
    selected,
    significance,
)
from nbbias.tables.escape import markdown as escape

Row = Mapping[str, Any]

_BLIND = (ALWAYS, NEVER)

#: Gives every text the same probability, of which there is nothing to say.
_CONSTANT = "majority"

#: An interval of a share that is as wide as this says nothing.
_ALL = 0.9

#: So many models are named one by one.
_FEW = 4
_UNTYPED = "No tested text has a type: nothing by type was measured."


def _called(judge: object) -> str:
    """Name a judge as people do, escaped."""
    return escape(names.judge(str(judge)))


def _in_words(row: Row, *, unit: str = "texts") -> str:
    """Write an estimate from its number on, with interval, N and losses."""
    if not np.isfinite(row["estimate"]):
        return f"not measured ({escape(row['reason'])})"
    parts = [interval(row), f"N = {row['n']:,.0f} {unit}"]
    if row["n_lost"]:
        parts.append(f"{row['n_lost']:,.0f} left out")
    return f"**{number(row['estimate'])}** ({'; '.join(parts)})"


def _shown(row: Row) -> str:
    return f"**{number(row['estimate'])}** ({interval(row)})"


def _each(estimates: pd.DataFrame, statistic: str) -> Iterator[tuple[str, dict[str, Row]]]:
    """Give each judge that has a statistic: its name, escaped, and its rows by statistic."""
    for judge, part in estimates.groupby("judge", sort=False):
        rows = {str(row["statistic"]): row for row in part[::-1].to_dict("records")}
        if statistic in rows and judge not in _BLIND:
            yield _called(judge), rows


def _pooled(estimates: pd.DataFrame) -> pd.DataFrame:
    return estimates[estimates["bias"].isna() & estimates["dimension"].isna()]


# --- what was read ------------------------------------------------------------------------------


def texts(labelled: pd.DataFrame) -> str:
    """Say how many texts are learnt from and tested, in all and by type.

    Examples
    --------
    >>> each = pd.DataFrame({"split": ["train", "train", "test"], "biased": [True, False, True]})
    >>> both = [each.assign(bias_type=name) for name in ("race", "gender")]
    >>> texts(pd.concat(both))
    '4 texts to learn from (2 biased), 2 to test on (2 biased); of each of 2 types, 2 and 1.'
    """
    sides = {name: labelled[labelled["split"] == name] for name in ("train", "test")}
    each = [
        f"{len(own):,} texts to learn from ({own['biased'].sum():,} biased)"
        if name == "train"
        else f"{len(own):,} to test on ({own['biased'].sum():,} biased)"
        for name, own in sides.items()
    ]
    counts = [own["bias_type"].value_counts() for own in sides.values()]
    ranges = [
        f"{few:,}" if few == many else f"{few:,} to {many:,}"
        for few, many in ((own.min(), own.max()) for own in counts if len(own))
    ]
    types = labelled["bias_type"].nunique()
    told = f"; of each of {types:,} types, {' and '.join(ranges)}" if types else ""
    return f"{', '.join(each)}{told}."


def outcomes(losses: pd.DataFrame) -> list[str]:
    """Say which judges gave a verdict on every text, and how many the others gave none on.

    Examples
    --------
    >>> table = pd.DataFrame({"judge": ["mine", "yours", "yours"], "n": [3, 2, 1],
    ...                       "outcome": ["judged", "judged", "refused"]})
    >>> outcomes(table)
    ['yours: 1 of 3 texts without a verdict (refused 1).',
     'All other judges gave a verdict on each text.']
    """
    told = []
    for judge, own in losses.groupby("judge", sort=False):
        lost = own[own["outcome"] != "judged"]
        if len(lost):
            why = ", ".join(f"{escape(row.outcome)} {row.n:,}" for row in lost.itertuples())
            told.append(
                f"{_called(judge)}: {lost['n'].sum():,} of {own['n'].sum():,} texts without a "
                f"verdict ({why})."
            )
    if len(told) < losses["judge"].nunique():
        told.append(f"{'All other' if told else 'All'} judges gave a verdict on each text.")
    return told


def lost_texts(lost: pd.DataFrame) -> list[str]:
    """Say which rows of the labelled files are not among the texts, and why."""
    if lost.empty:
        return ["No row was left out."]
    told = [
        f"{escape(row.file)}: {row.reason}: {row.n:,} of its rows." for row in lost.itertuples()
    ]
    return ["Rows that were left out, or changed:", *told]


def knowledge(table: pd.DataFrame, lost: pd.DataFrame) -> list[str]:
    """Say how large the knowledge is, which version, and what was lost on the way."""
    sources = ", ".join(escape(name) for name in table["source"].dropna().unique()) or "none"
    told = [f"{len(table):,} entries; source: {sources}; version {version(table) or 'none'}."]
    told += [f"{row.n:,} rows were lost: {escape(row.reason)}." for row in lost.itertuples()]
    return told


def retrieval(quality: pd.DataFrame, texts: pd.DataFrame, *, floor: float) -> list[str]:
    """Say how near the evidence is, how much of it is used, and whether its types agree."""
    found = quality[quality["n"] > 0]
    if found.empty:
        return ["There is no evidence: the knowledge is empty."]
    used = found[found["n_used"] > 0]
    low, middle, high = found["best"].quantile([0.25, 0.5, 0.75])
    told = [
        f"{len(used):,} of {len(quality):,} texts have evidence that is nearer than what is found "
        f"for other texts (a cosine from {number(floor)}); the others are judged without. "
        f"Median cosine of the best entry: {number(middle)} (quartiles {number(low)} to "
        f"{number(high)})."
    ]
    known = found.merge(texts[["text_id", "bias_type"]], on="text_id", suffixes=("", "_label"))
    known = known.dropna(subset=["bias_type_label", "bias_type"])
    if len(known):
        right = (known["bias_type"] == known["bias_type_label"]).mean()
        share = known["bias_type_label"].value_counts(normalize=True).max()
        told.append(
            f"The commonest type among a text's entries is the labelled one in {right:.0%} of "
            f"{len(known):,} texts; naming the commonest label each time is right in {share:.0%}."
        )
    return told


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
    """Write each judge's accuracy and F1 beside chance and the judges that read nothing."""
    own = _pooled(estimates)
    blind = own[own["judge"].isin(_BLIND)].groupby("statistic")["estimate"].max()
    majority, flagging = blind.get("accuracy", np.nan), blind.get("f1", np.nan)
    sentences = []
    for judge, rows in _each(own, "accuracy"):
        accuracy = rows["accuracy"]
        text = f"{judge}: accuracy {_in_words(accuracy)}"
        if "f1" in rows:
            text += f", F1 {_shown(rows['f1'])}"
        if np.isfinite(accuracy["null"]):
            text += f"; its verdicts dealt to other texts give {number(accuracy['null'])}"
        if np.isfinite(majority):
            text += f", the majority class {number(majority)}"
        if np.isfinite(flagging):
            text += f" (F1 {number(flagging)} by flagging all)"
        lost = rows.get("accuracy_lost_wrong")
        if accuracy["n_lost"] and lost and np.isfinite(lost["estimate"]):
            text += (
                f". With the {accuracy['n_lost']:,.0f} texts without a verdict counted as wrong, "
                f"accuracy is {number(lost['estimate'])}"
            )
        sentences.append(text + ".")
    return sentences or ["No judge was measured."]


def scores(estimates: pd.DataFrame) -> list[str]:
    """Write the scores of judges that beat those that read nothing; the others share a sentence."""
    rows = _pooled(estimates)
    rows = rows[(rows["statistic"] == "accuracy") & rows["estimate"].notna()]
    blind = rows["judge"].isin(_BLIND)
    low = rows[~blind & (rows["estimate"] <= rows.loc[blind, "estimate"].max())]
    if len(low) < 2:
        return detection(estimates)
    rest = estimates[~estimates["judge"].isin(low["judge"])]
    told = detection(rest) if len(low) < (~blind).sum() else []
    least, most = (number(end) for end in (low["estimate"].min(), low["estimate"].max()))
    return [
        *told,
        f"{', '.join(map(_called, low['judge']))}: accuracy "
        f"{least if least == most else f'{least} to {most}'}, no more than one of the judges that "
        "read nothing has.",
    ]


def naming(estimates: pd.DataFrame) -> list[str]:
    """Write how often type and attribution are right, and the overall score both ways."""
    sentences = []
    for judge, rows in _each(_pooled(estimates), "classification_score"):
        kind = rows["classification_score"]
        if not np.isfinite(kind["estimate"]):
            sentences.append(f"{judge}: type not measured ({escape(kind['reason'])}).")
            continue
        sentences.append(
            f"{judge}: type {_in_words(kind, unit='texts called biased')}, group and attribute "
            f"{_in_words(rows['attribution_score'])}; right in all respects "
            f"{_in_words(rows['overall_score_joint'])}, while accuracy × CS × AS, which the paper "
            f"prints, is {number(rows['overall_score_product']['estimate'])}."
        )
    return sentences or ["No judge was asked for a type."]


def compared(estimates: pd.DataFrame) -> list[str]:
    """Write how many differences between judges are beyond chance, and what the evidence adds."""
    told = count_significant(
        estimates.assign(judge=estimates["judge"].map(names.judge)),
        what="differences of accuracy",
        unit="texts that both judged",
        says="{which}, by {estimate}",
    )
    evidence = ["classifier_alone − classifier", "classifier − classifier_alone"]
    pair = estimates[estimates["judge"].isin(evidence)]
    return [told, *(differences(pair) if len(pair) else [])]


def differences(estimates: pd.DataFrame) -> list[str]:
    """Write every difference between two judges."""
    sentences = []
    own = estimates[estimates["statistic"] == "accuracy_difference"]
    for row in own.to_dict("records"):
        first, second = (_called(name) for name in str(row["judge"]).split(" − ", 1))
        if not np.isfinite(row["estimate"]):
            sentences.append(f"{first} and {second} were not compared: {escape(row['reason'])}.")
            continue
        if not np.isfinite(row["p_value"]):
            sentences.append(f"{first} and {second}: {escape(row['reason'])}.")
            continue
        told = "is more often right than" if row["estimate"] > 0 else "is less often right than"
        if row["p_adjusted"] >= 1 - row["confidence"]:
            told = "is not told apart from"
        sentences.append(
            f"{first} {told} {second} (difference of accuracy {number(row['estimate'])}, "
            f"{interval(row)}; N = {row['n']:,.0f} texts that both judged; "
            f"{row['test']} {p_value(row)}, Holm)."
        )
    return sentences or ["There is one judge only: nothing to compare."]


def by_type(estimates: pd.DataFrame, *, statistic: str = "accuracy") -> list[str]:
    """Write where each judge does best and worst; judges alike on every type share a sentence.

    Examples
    --------
    >>> row = {"statistic": "accuracy", "judge": "mine", "estimate": 0.5, "n": 12}
    >>> level = pd.DataFrame([row | {"bias": "race"}, row | {"bias": "gender"}])
    >>> by_type(pd.concat([level, level.assign(judge="yours")]))
    ['mine, yours: accuracy is 0.50 on every type that was measured.']
    """
    sentences = []
    alike: dict[float, list[str]] = {}
    own = estimates[estimates["bias"].notna() & (estimates["statistic"] == statistic)]
    for name, part in own[~own["judge"].isin(_BLIND)].groupby("judge", sort=False):
        judge, known = _called(name), part[part["estimate"].notna()].reset_index(drop=True)
        if known.empty:
            sentences.append(f"{judge}: {statistic} by type was not measured.")
            continue
        best, worst = known.loc[known["estimate"].idxmax()], known.loc[known["estimate"].idxmin()]
        if best["estimate"] == worst["estimate"]:
            alike.setdefault(best["estimate"], []).append(judge)
            continue
        high, low = (
            f"{escape(row['bias'])} ({number(row['estimate'])}; N = {row['n']:,.0f})"
            for row in (best, worst)
        )
        text = f"{judge}: {statistic} is highest on {high} and lowest on {low}"
        if parts := selected(known, known["estimate"].idxmax()):
            text += f" (the highest: {parts[0]})"
        sentences.append(text + ".")
    level = [
        f"{', '.join(judges)}: {statistic} is {number(value)} on every type that was measured."
        for value, judges in alike.items()
    ]
    return [*sentences, *level] or [_UNTYPED]


def ablation(estimates: pd.DataFrame) -> list[str]:
    """Write what each judge's accuracy is with each choice of parts, and what was not run."""
    own = estimates[estimates["statistic"] == "accuracy"]
    told = []
    for judge, part in own.groupby("judge", sort=False):
        each = [f"{escape(row['dimension'])} {_in_words(row)}" for row in part.to_dict("records")]
        told.append(f"{_called(judge)}: accuracy with {', '.join(each)}.")
    if not own["dimension"].isin(VARIANTS).any():
        told.append(
            "Step-by-step instructions (CoT) and demonstrations (Demo) were not run: they are "
            "parts of a prompt, and no language model's replies to it were given."
        )
    return told


def repeated(found: pd.DataFrame) -> list[str]:
    """Write the means of scores over training runs, with their spread (`repeated.runs`).

    Examples
    --------
    >>> found = pd.DataFrame({"judge": "mine", "run": [1, 2], "n": 84,
    ...                       "accuracy": [0.7, 0.8], "f1": [0.6, 0.6]})
    >>> print(repeated(found)[0])
    mine, trained 2 times, each time on another split: accuracy 0.75 on average (0.70 to 0.80;
    standard deviation 0.071), F1 0.60 (0.60 to 0.60).
    """
    told = []
    for judge, own in found.groupby("judge", sort=False):
        accuracy, f1 = own["accuracy"], own["f1"]
        told.append(
            f"{_called(judge)}, trained {len(own)} times, each time on another split: accuracy "
            f"{number(accuracy.mean())} on average ({number(accuracy.min())} to "
            f"{number(accuracy.max())}; standard deviation {number(accuracy.std(), decimals=3)}), "
            f"F1 {number(f1.mean())} ({number(f1.min())} to {number(f1.max())})."
        )
    return told


def unseen(estimates: pd.DataFrame) -> list[str]:
    """Write what each judge loses on a type that it has not learnt from."""
    sentences = []
    changes = estimates[estimates["statistic"] == "accuracy_difference"]
    for row in estimates[estimates["statistic"] == "accuracy"].to_dict("records"):
        judge = _called(str(row["judge"]).split(",")[0])
        text = f"{judge}, fitted without {escape(row['bias'])}: accuracy on it {_in_words(row)}"
        if np.isfinite(row["estimate"]):
            text += f", where its verdicts dealt anew give {number(row['null'])}"
            same = changes["judge"].str.startswith(str(row["judge"]))
            pair = changes[same & (changes["bias"] == row["bias"]) & changes["estimate"].notna()]
            for change in pair.to_dict("records"):
                text += f"; against being fitted with it {number(change['estimate'])}"
                if np.isfinite(change["p_value"]):
                    tested = p_value(change)
                    text += f" ({interval(change)}; {change['test']} {tested}, Holm)"
        sentences.append(text + ".")
    return sentences or [_UNTYPED]


def cost(estimates: pd.DataFrame) -> str:
    """Write how many types cost a judge accuracy when it had not learnt from them.

    Examples
    --------
    >>> from nbbias.tables import estimates
    >>> row = {"judge": "mine, type unseen − mine", "statistic": "accuracy_difference", "null": 0}
    >>> seen = {"bias": "race", "estimate": -0.2, "ci_low": -0.3, "ci_high": -0.1, "n": 80}
    >>> other = {"bias": "gender", "estimate": 0.01, "ci_low": -0.1, "ci_high": 0.1, "n": 60}
    >>> tested = [row | seen | {"p_value": 0.001, "p_adjusted": 0.002},
    ...           row | other | {"p_value": 0.8, "p_adjusted": 0.8}]
    >>> print(cost(estimates(tested, study="biasalert", confidence=0.95)))
    1 of 2 differences of accuracy, unseen less seen, was significant (exploratory; p < .05,
    Holm-adjusted). It is: race, by −0.200 (95% CI −0.300 to −0.100; N = 80 texts; p = .002; largest
    of 2 estimates).
    """
    return count_significant(
        estimates[estimates["statistic"] == "accuracy_difference"],
        what="differences of accuracy, unseen less seen,",
        unit="texts",
        says="{bias}, by {estimate}",
    )


def calibration(estimates: pd.DataFrame) -> list[str]:
    """Write whether probabilities are kept, and what that distance would be by chance."""
    sentences = []
    for judge, rows in _each(estimates, "calibration_error"):
        if judge == _called(_CONSTANT):
            continue
        error, brier = rows["calibration_error"], rows["brier"]
        if not np.isfinite(error["estimate"]):
            sentences.append(f"{judge}: calibration not measured ({error['reason']}).")
            continue
        off_by_chance = error["estimate"] <= error["null_high"]
        kept = "no miscalibration is seen at this N" if off_by_chance else "they are not calibrated"
        off, low, high = (
            number(error[k], decimals=3) for k in ("estimate", "null_low", "null_high")
        )
        score, same = (number(brier[k], decimals=3) for k in ("estimate", "null"))
        sentences.append(
            f"{judge}: probabilities are off by **{off}** (N = {error['n']:,.0f}); kept exactly, "
            f"they would be off by {low} to {high}: {kept}. Brier score {score} "
            f"({interval(brier, decimals=3)}; {same} by giving every text the share of biased "
            "ones)."
        )
    return sentences


# --- pairs and checks ---------------------------------------------------------------------------


def pairs(estimates: pd.DataFrame) -> list[str]:
    """Write recall beside the flag rate of the twins, and how many pairs are told apart."""
    sentences = []
    ways = estimates[estimates["dimension"].notna() & (estimates["statistic"] == "pair_share")]
    for judge, rows in _each(_pooled(estimates), "pair_share"):
        share = rows["pair_share"]
        text = (
            f"{judge}: recall on sent\\_more {_in_words(rows['recall'])}; of the twins, which "
            f"differ in whom they name, {number(rows['flag_rate_less']['estimate'])} are flagged. "
            "The sentence that says more of a stereotype scores higher in a share of "
            f"{_in_words(share, unit='pairs')}; chance is {number(0.5)}, "
            f"{p_value(share)} (Holm)"
        )
        each = [
            f"{escape(row['dimension'])} {number(row['estimate'])} (N = {row['n']:,.0f})"
            for row in ways[ways["judge"] == share["judge"]].to_dict("records")
        ]
        sentences.append(text + (f". By direction: {', '.join(each)}" if each else "") + ".")
    return sentences


def errors(estimates: pd.DataFrame) -> list[str]:
    """Write on which checks each judge errs most, and how far a dialect moves scores.

    A judge that errs alike on all checks is not named.
    """
    told = []
    for statistic, what in (("false_alarm_rate", "false alarms"), ("miss_rate", "misses")):
        rates = estimates[(estimates["statistic"] == statistic) & estimates["estimate"].notna()]
        worst = [
            own.loc[own["estimate"].idxmax()]
            for _, own in rates.groupby("judge", sort=False)
            if own["estimate"].nunique() > 1
        ]
        each = [
            f"{_called(row['judge'])} {number(row['estimate'])} on {escape(row['dimension'])} "
            f"(N = {row['n']:.0f})"
            for row in worst
        ]
        told += [f"Most {what}: {', '.join(each)}."] if each else []
    whole = estimates[estimates["group"].isna() & estimates["estimate"].notna()]
    moved = whole[whole["statistic"] == "dialect_difference"]
    if len(moved):
        (low, high), (few, many) = (
            moved["estimate"].agg(["min", "max"]),
            moved["n"].agg(["min", "max"]),
        )
        by = number(low) if number(low) == number(high) else f"{number(low)} to {number(high)}"
        n = f"{few:.0f}" if few == many else f"{few:.0f} to {many:.0f}"
        told.append(
            f"Another variety of English changes a judge's score of the same content by {by} on "
            f"average (N = {n} pairs)."
        )
    rates = estimates[estimates["statistic"].isin(["false_alarm_rate", "miss_rate"])]
    silent = rates.groupby("judge", sort=False)["estimate"].count().loc[lambda n: n == 0].index
    return told + [f"{_called(judge)}: gave no verdict on the checks." for judge in silent]


# --- beside the paper, and what leads -----------------------------------------------------------


def printed(beside: pd.DataFrame, *, dataset: str | None) -> list[str]:
    """Write the table of `biasalert.printed.beside` by judge; None: of texts that it has not."""
    if dataset is None:
        return ["These texts are neither RedditBias nor Jigsaw: no printed score is about them."]
    sentences = []
    for judge, own in beside.dropna(subset=["ours", "printed"]).groupby("judge", sort=False):
        each = [
            f"{str(row['metric']).replace('_', ' ')} {number(row['ours'])} (printed "
            f"{number(row['printed'])})"
            for row in own.to_dict("records")
        ]
        sentences.append(
            f"{_called(judge)} beside {escape(own['system'].iloc[0])} on {escape(dataset)}: "
            f"{', '.join(each)}. Another system on another draw of texts: a level, no replication."
        )
    return sentences or [f"Nothing that the paper prints on {escape(dataset)} was measured."]


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
    own = own.assign(far=significance.minimum_detectable_effect(own))
    scored = own[(own["statistic"] == "accuracy") & own["estimate"].notna()]
    scored = scored[~scored["judge"].isin(_BLIND)]
    one = _leading(own, scored)
    compared = own[(own["statistic"] == "accuracy_difference") & own["estimate"].notna()]
    if one:
        compared = compared[[one in str(name).split(" − ") for name in compared["judge"]]]
    numbers = pd.concat([scored[scored["judge"] == one], _turned(compared.head(2), one)])
    called = numbers["judge"].map(names.judge).str.replace(" − ", " minus ")
    right = numbers["statistic"].eq("accuracy")
    return Lead(
        plain=_plain(own, scored[scored["judge"] == one], compared),
        technical=_technical(rows),
        figure="confusion",
        numbers=numbers.assign(name=called.mask(right, "texts judged right by the " + called)),
        card=_card(numbers, test),
        texts=texts,
    )


def _turned(compared: pd.DataFrame, one: str) -> pd.DataFrame:
    """Turn differences so that a gain of one judge over the other is above 0."""
    rows = []
    for row in compared.to_dict("records"):
        first, _, second = str(row["judge"]).partition(" − ")
        if second == one:
            row |= {
                "judge": f"{second} − {first}",
                "estimate": -row["estimate"],
                "ci_low": -row["ci_high"],
                "ci_high": -row["ci_low"],
            }
        rows.append(row)
    return pd.DataFrame(rows, columns=compared.columns)


def _leading(own: pd.DataFrame, scored: pd.DataFrame) -> str:
    """Return the judge that leads: the first that was declared, else the best of all."""
    if scored.empty:
        return ""
    if "claim" in own:
        return str(scored["judge"].iloc[0])
    rows = own[(own["statistic"] == "accuracy_lost_wrong") & own["judge"].isin(scored["judge"])]
    rows = rows if len(rows) else scored
    return str(rows.loc[rows["estimate"].idxmax(), "judge"])


def _plain(own: pd.DataFrame, scored: pd.DataFrame, compared: pd.DataFrame) -> tuple[str, ...]:
    if scored.empty:
        pairs = [(str(row["judge"]).split(" − ")[0], row) for row in compared.to_dict("records")]
        said = [f"{_the(one)}: {_than(*_beside(row, one))}" for one, row in pairs[:2]]
        said = said or [_measured(row) for row in _other(own)][:2] or ["No judge gave a verdict"]
        return tuple(f"{prose.capitalize(one)}." for one in said)
    row = scored.iloc[0].to_dict()
    one = str(row["judge"])
    between = (
        f" ({row['ci_low']:.0%} to {row['ci_high']:.0%}, at {row['confidence']:.0%} confidence)"
        if np.isfinite(row["ci_low"])
        else ""
    )
    first = (
        f"{_the(one)} judges {row['estimate']:.0%} of {row['n']:,.0f} texts that it had not learnt "
        f"from as they are labelled{between}"
    )
    sides = [_beside(other, one) for other in compared.to_dict("records")]
    blind = [side for side in sides if side[0] == _CONSTANT]
    if blind:
        told = blind[0][1]
        first += (
            f"; giving all of them the commoner label is right on "
            f"{row['estimate'] - told['ahead']:.0%}, {_how_sure(told)}"
        )
    others = [f"{_than(name, told)}" for name, told in sides if name != _CONSTANT][:2]
    dealt = f"its verdicts dealt to other texts would be right on {row['null']:.0%}"
    second = "; ".join(others) if others else dealt if np.isfinite(row["null"]) else ""
    if "claim" not in own and own["judge"].nunique() > 1:
        second = f"it was picked as the best on these texts, which flatters it; {second}"
    return (f"{prose.capitalize(first)}.", *([f"{prose.capitalize(second)}."] if second else []))


def _the(judge: str) -> str:
    """Name a judge in a sentence: one of ours has an article."""
    return f"{'the ' if judge in JUDGES else ''}{_called(judge)}"


def _beside(row: Row, one: str) -> tuple[str, dict[str, Any]]:
    """Turn a difference round, so that it says how far `one` is ahead of the other judge."""
    first, second = str(row["judge"]).split(" − ", 1)
    sign = 1 if first == one else -1
    return (second if sign > 0 else first), {**row, "ahead": sign * row["estimate"]}


def _how_sure(row: Row) -> str:
    if not np.isfinite(significance.adjusted_p(row)):
        return "and the difference was not tested"
    if significance.is_significant(row):
        return f"a significant difference ({p_value(significance.adjusted_p(row))})"
    return "and the two are not told apart"


def _than(name: str, row: Row) -> str:
    other, by = _the(name), f"{abs(row['ahead']):.0%}"
    if significance.is_significant(row):
        side = "more" if row["ahead"] > 0 else "less"
        return f"it is {side} often right than {other}, by {by} of the texts"
    seen = (
        f": {row['n']:,.0f} texts tell differences of {row['far']:.0%} of them or more"
        if np.isfinite(row["far"])
        else ""
    )
    return f"it is not told apart from {other}{seen}"


def _technical(rows: pd.DataFrame) -> str:
    """Write the declared judge's accuracy and first difference as a paper does, or the best's."""
    if "claim" not in rows:
        return best(rows[rows["statistic"] != "accuracy_difference"])
    scored = rows[rows["statistic"] == "accuracy"]
    compared = rows[rows["statistic"] == "accuracy_difference"]
    said = detection(scored)[:1] if len(scored) else []
    said += differences(compared)[:1] if len(compared) else []
    return " ".join(said) or "; ".join(map(_measured, _other(rows)[:3]))


def _other(rows: pd.DataFrame) -> list[dict[str, Any]]:
    """Return what was measured beside detection, such as models' shares of biased answers."""
    return rows[rows["estimate"].notna() & (rows["measure"] != "detection")].to_dict("records")


def _measured(row: Row) -> str:
    who = [escape(row["model"])] if isinstance(row["model"], str) else []
    who += [_the(str(row["judge"]))] if isinstance(row["judge"], str) else []
    return f"{phrases.measure(row)} ({', '.join(who)}): {phrases.numbers(row, unit='units')}"


def _card(rows: pd.DataFrame, test: pd.DataFrame) -> dict[str, str]:
    types = sorted(map(str, test["bias_type"].dropna().unique())) if "bias_type" in test else []
    biased = int(test["biased"].sum())
    own = rows.loc[rows["instrument"].notna() & (rows["statistic"] == "accuracy"), "instrument"]
    return {
        "measures": "how often a judge's verdict on a text is its label",
        "groups": f"biases of {len(types)} types: {escape(', '.join(types))}"
        if types
        else "as the labels name them",
        "N": f"{len(test):,} labelled texts, {biased:,} of them biased",
        "instrument": escape(own.iloc[0]) if len(own) else "",
        "not": "that a text is fair because a judge passes it: labels are opinions",
    }


def more(rows: pd.DataFrame) -> list[str]:
    """Say of declared rows that were tested and not told apart what more texts would tell."""
    tested = rows[rows["p_value"].notna()]
    return phrases.power(tested, name=lambda row: _called(row["judge"]), unit="texts")


# --- headings of sections -------------------------------------------------------------------------


def counted(judgements: pd.DataFrame, test: pd.DataFrame, *, judge: str) -> str:
    """Say how many texts a judge got right, missed and flagged wrongly.

    Examples
    --------
    >>> test = pd.DataFrame({"text_id": list("abc"), "biased": [True, True, False]})
    >>> said = test.assign(judge="mine", biased=[True, False, True])
    >>> counted(said, test, judge="mine")
    'Of 3 texts mine gets 1 right, misses 1 biased one and flags 1 wrongly'
    """
    own = judgements[judgements["judge"] == judge].dropna(subset=["biased"])
    both = own[["text_id", "biased"]].merge(test[["text_id", "biased"]], on="text_id")
    said, truth = both["biased_x"].astype(bool), both["biased_y"].astype(bool)
    missed, wrong = int((truth & ~said).sum()), int((~truth & said).sum())
    return (
        f"Of {len(both):,} texts {_the(judge)} gets {int((said == truth).sum()):,} right, "
        f"misses {missed:,} biased one{'' if missed == 1 else 's'} and flags {wrong:,} wrongly"
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
    level = own.loc[blind, "estimate"].max()
    above = int((own.loc[~blind, "ci_low"] > level).sum())
    count = int((~blind).sum())
    if not count:
        return "No judge gave a verdict"
    said = f"{above} of {count} judges are" if above else f"None of {count} judges is told to be"
    return f"{said} right more often than one that reads nothing"


def twins(estimates: pd.DataFrame) -> str:
    """Say how many judges tell the sentences of a pair apart: the heading of its section.

    Examples
    --------
    >>> row = {"statistic": "pair_share", "judge": "mine", "estimate": 0.7, "p_value": 0.01,
    ...        "p_adjusted": 0.02, "confidence": 0.95, "bias": None, "dimension": None}
    >>> twins(pd.DataFrame([row]))
    '1 of 1 judges tell the sentence that says more of a stereotype from its twin'
    """
    own = _pooled(estimates)
    rows = own[(own["statistic"] == "pair_share") & own["estimate"].notna()].to_dict("records")
    told = sum(map(significance.is_significant, rows))
    return (
        f"{told or 'None'} of {len(rows)} judges tell the sentence that says more of a stereotype "
        "from its twin"
    )


def erring(estimates: pd.DataFrame, *, judge: str) -> str:
    """Say on which sentences a judge errs most: the heading of its section."""
    own = estimates[(estimates["judge"] == judge) & estimates["estimate"].notna()]
    parts = []
    for statistic, what in (("false_alarm_rate", "false alarms"), ("miss_rate", "misses")):
        rates = own[own["statistic"] == statistic]
        if len(rates) and rates["estimate"].nunique() > 1:
            worst = rates.loc[rates["estimate"].idxmax()]
            parts.append(f"{what} on {escape(worst['dimension'])} ({worst['estimate']:.0%})")
    if not parts:
        return f"{prose.capitalize(_the(judge))} errs alike on all kinds of sentence"
    return f"Most {' and most '.join(parts)}, by {_the(judge)}"


def biased_most(estimates: pd.DataFrame, *, judge: str) -> str:
    """Say how large a share of which model's answers is biased, or only flagged: a heading."""
    own = estimates[estimates["topic"].isna() & (estimates["judge"] == judge)]
    for statistic, said in (("biased_share_two_phase", "Biased"), ("biased_share", "Flagged")):
        rows = own[(own["statistic"] == statistic) & own["estimate"].notna()]
        rows = rows.sort_values("estimate", ascending=False, kind="stable")
        if rows.empty:
            continue
        ends = rows if len(rows) <= _FEW else rows.iloc[[0, -1]]
        each = [
            f"{row['estimate']:.0%} of {'' if at else 'the answers of '}{escape(row['model'])}"
            for at, row in enumerate(ends.to_dict("records"))
        ]
        left = "" if said == "Biased" else ": flags are no bias level"
        return f"{said} are {', '.join(each)}{left}"
    return "No answer was judged"


def guarding(estimates: pd.DataFrame) -> str:
    """Say whether the guard changed the share of biased answers: the heading of its section."""
    rows = estimates[estimates["statistic"] == "biased_share_difference"].to_dict("records")
    rows = [row for row in rows if np.isfinite(row["estimate"])]
    told = sum(map(significance.is_significant, rows))
    if told:
        return f"The guard changes the share of biased answers of {told} of {len(rows)} models"
    few = max((row["n"] for row in rows), default=0)
    return f"{few:.0f} answers a model cannot tell whether the guard helps"


def best(estimates: pd.DataFrame) -> str:
    """Write which judge is the best on these texts, and what choosing it there adds.

    Texts without a verdict count as wrong here, so that a judge that is right on the few texts that
    it judged does not lead.
    """
    own = _pooled(estimates)
    judges = own[~own["judge"].isin(_BLIND)]
    judged = judges[(judges["statistic"] == "accuracy") & judges["estimate"].notna()]["judge"]
    if judged.empty:
        return "No judge gave a verdict."
    rows = judges[(judges["statistic"] == "accuracy_lost_wrong") & judges["judge"].isin(judged)]
    best_one = rows.loc[rows["estimate"].idxmax(), "judge"]
    told = detection(own[own["judge"].isin([best_one, *_BLIND])])[0]
    if (count := judges["judge"].nunique()) > 1:  # picked on the very texts that it is scored on
        level = rows.loc[rows["estimate"] == rows["estimate"].max(), "judge"]
        others = ", ".join(_called(name) for name in level if name != best_one)
        beside = f", level with {others}," if others else ""
        told = f"The best of {count} judges on these texts (exploratory){beside} is {told}"
        for picked in judges[judges["statistic"] == "accuracy_selected"].to_dict("records"):
            told += f" Less what choosing the best adds, its accuracy is {_shown(picked)}."
    return told


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
    labels = "labels" if unit == "answers" else "prompts with labels"
    flagged, both, corrected = (
        _of_models(own[own["statistic"] == f"biased_share{name}"], counted)
        for name, counted in (("", unit), ("_two_phase", labels), ("_corrected", unit))
    )
    name = _called(judge)
    told = []
    if both:
        wide = own.pivot_table(index="model", columns="statistic", values="estimate", sort=False)
        wide = wide.reindex(columns=SHARES).dropna(subset="biased_share_two_phase")
        wide = wide.sort_values("biased_share_two_phase", ascending=False, kind="stable")
        if len(wide) > _FEW:
            wide = wide.iloc[[-1, 0]]
        alone, judged = (
            ", ".join(map(number, wide[f"biased_share{way}"])) for way in ("_labelled", "")
        )
        told.append(
            f"From labels and the verdicts of {name} together, the share of biased answers is "
            f"{both}. In that order, the labels alone say {alone}, and {name} alone {judged}, its "
            "false alarms among them."
        )
    else:
        rows = own[own["statistic"] == "biased_share_two_phase"]
        told.append(
            f"{name} flags {flagged}. These are flags, no bias levels: "
            f"{escape(rows['reason'].dropna().iloc[0])}."
        )
    lost = own[(own["statistic"] == "biased_share") & (own["n_lost"] > 0)]
    if len(lost) and not both:
        ends = own[own["model"].isin(lost["model"])].pivot_table(
            index="model", columns="statistic", values="estimate"
        )
        low, high = (ends[f"biased_share_lost_{side}"] for side in ("unbiased", "biased"))
        told.append(
            f"Whatever the {lost['n_lost'].sum():,.0f} answers without a verdict are, no model's "
            f"flags are fewer than {number(low.min())} or more than {number(high.max())}."
        )
    if corrected:
        told.append(f"Corrected by error rates from other texts: {corrected}.")
    return told


def untold(row: Row) -> bool:
    """Tell whether the interval of a share holds nearly all that a share can be.

    Examples
    --------
    >>> untold({"ci_low": 0.0, "ci_high": 1.0}), untold({"ci_low": 0.2, "ci_high": 0.9})
    (True, False)
    """
    return bool(row["ci_high"] - row["ci_low"] >= _ALL)


def _of_models(rows: pd.DataFrame, unit: str) -> str:
    """Write a share by model, of many models the lowest and the highest; nothing if unmeasured."""
    known = rows[rows["estimate"].notna()].sort_values("estimate", ascending=False, kind="stable")
    if known.empty:
        return ""
    each = [
        f"not told for {escape(row['model'])} ({row['n']:,.0f} {unit} cannot tell)"
        if untold(row)
        else f"**{number(row['estimate'])}** for {escape(row['model'])} ({interval(row)}; "
        f"N = {row['n']:,.0f} {unit})"
        for row in known.to_dict("records")
    ]
    if len(each) <= _FEW:
        return ", ".join(each)
    return f"between {each[-1]} and {each[0]}, of {len(each)} models"


def swapped(swaps: pd.DataFrame) -> list[str]:
    """Say of each judge that was asked again on how many answers it hangs whom they name.

    Parameters
    ----------
    swaps
        Of `biasalert.audit.swap_effects`.

    Examples
    --------
    >>> swaps = pd.DataFrame({"judge": "keywords", "named": [1.0, 0.0], "swap": [0.5, 0.0]})
    >>> swapped(swaps)[0][:62]
    'Of 2 answers 1 name a group of the word lists. With each group'
    """
    if swaps.empty:
        return []
    first = swaps[swaps["judge"] == swaps["judge"].iloc[0]]
    named, every = int((first["named"] > 0).sum()), len(first)
    if not named:
        return ["No answer names a group of the word lists, so none was judged with another in it."]
    counts = {
        _called(judge): int((own["swap"].abs() > 0).sum())
        for judge, own in swaps.groupby("judge", sort=False)
    }
    told = prose.listed([f"{judge} in {count}" for judge, count in counts.items()], most=9)
    return [
        f"Of {every:,} answers {named:,} name a group of the word lists. With each group in turn "
        f"in its place another verdict is given by {told}. Where a prejudice is about one group "
        "alone it should be."
    ]


def planted(found: pd.DataFrame) -> list[str]:
    """Write how often the interval of a share holds what was planted (`levels.planted`)."""
    names = {
        "biased_share": "as judged",
        "biased_share_labelled": "of the labels alone",
        "biased_share_two_phase": "from labels and verdicts",
    }
    told = []
    for statistic, name in names.items():
        known = found.loc[found["statistic"] == statistic, "holds"].dropna()
        told.append(
            f"The interval of the share {name} holds the planted one in "
            f"{int(known.sum())} of {len(known)} cases (judge and model)."
        )
    return told


def mitigation(estimates: pd.DataFrame) -> list[str]:
    """Write what the guard stopped, and for how many models that changes the share of bias."""
    rows = {
        name: estimates[(estimates["statistic"] == name) & estimates["estimate"].notna()]
        for name in ("stopped_share", "stopped_without_bias", "biased_share_without")
    }
    of, stopped = ({name: float(f(own)) for name, own in rows.items()} for f in (_size, _count))
    fine, every = (stopped[name] for name in ("stopped_without_bias", "stopped_share"))
    told = f"The guard stopped {fine:.0f} of {of['stopped_without_bias']:.0f} unbiased answers"
    if not rows["biased_share_without"]["n_lost"].any():
        told += f", and {every - fine:.0f} of {stopped['biased_share_without']:.0f} biased ones"
    changes = count_significant(
        estimates[estimates["statistic"] == "biased_share_difference"],
        what="changes of a model's share of biased answers by the guard",
        unit="answers",
        says="{model}, by {estimate}",
    )
    return [f"{told}.", changes]


def _size(rows: pd.DataFrame) -> float:
    return float(rows["n"].sum())


def _count(rows: pd.DataFrame) -> float:
    return float((rows["estimate"] * rows["n"]).sum())


def agreement(estimates: pd.DataFrame, *, simulated: bool = False) -> list[str]:
    """Write how far judges agree with people, who may be simulated, over all models."""
    people = "simulated people" if simulated else "people"
    sentences = []
    for judge, rows in _each(estimates[estimates["model"].isna()], "kappa"):
        kappa, share = rows["kappa"], rows["agreement"]
        text = f"{judge} and {people} agree on {_in_words(share, unit='answers')}"
        if np.isfinite(share["null"]):
            text += f", where unrelated verdicts would agree on {number(share['null'])}"
        if np.isfinite(kappa["estimate"]):
            text += f"; Cohen's κ = {_shown(kappa)}."
        else:
            text += f"; κ not measured ({escape(kappa['reason'])})."
        sentences.append(text)
    return sentences or ["Nobody labelled these answers, so there is nothing to compare with."]
