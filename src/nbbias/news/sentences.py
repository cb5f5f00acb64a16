"""Sentences about the news study, written from its tables.

>>> from nbbias import news, tables
>>> rows = [{"model": m, "measure": "word", "bias": "gender", "group": "female", "n": 9,
...          "statistic": "share_difference", "estimate": -0.1, "ci_low": -0.15, "ci_high": -0.05,
...          "p_adjusted": p} for m, p in (("a", 0.01), ("b", 0.2))]
>>> found = tables.estimates(rows, study="news_bias", confidence=0.95)
>>> news.sentences.differences(found, statistic="share_difference")[0].split(" (")[0]
'gender: 1 of 2 signed differences are told apart from 0'
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pandas as pd

from nbbias import reading
from nbbias.news import claims, replicates
from nbbias.news.claims import Level
from nbbias.news.corpus import CELL
from nbbias.news.sample import SOURCE
from nbbias.reading import escape, number, p_value

_SHARE_OF = {"word": "share of words", "document": "share of content on topics"}

#: What is dealt out anew, by reference.
_DEALT = {"words": "words", "sentences": "sentences", "topics": "words of a pair's texts"}


def differences(
    estimates: pd.DataFrame, *, statistic: str = "share_difference_common"
) -> list[str]:  # fmt: skip
    """Say of each bias how many signed differences are beyond chance, and write the largest."""
    sentences = []
    rows = estimates[estimates["statistic"] == statistic]
    articles = "on common articles, " if statistic.endswith("common") else ""
    for bias, own in rows.groupby("bias", sort=False):
        family = claims.unmirrored(own)
        measure = own["measure"].iloc[0]
        what = _SHARE_OF[measure]
        over = ", {fits}" if measure == "document" else ""
        family = family.assign(fits=_over_fits(family)) if over else family
        told = reading.beyond_chance(
            family, what="signed differences", unit="pairs",
            says=articles + f"in {{which}} the {what} of the group {{group}} is {{size}} "
            "{direction} than in the originals" + over,
        )  # fmt: skip
        sentences.append(f"{escape(bias)}: {told}")
    return sentences


def _over_fits(rows: pd.DataFrame) -> pd.Series:
    """Say of every claim in how many fits of topics it stands: as `stats.pooled_mean` says it."""
    found = rows["test"].str.extract(r"(\d+ of \d+ fits) pooled, same sign in (\d+)")
    told = "measured in " + found[0] + ", with this sign in " + found[1]
    return told.fillna("by one fit of topics, taken as given")


def distances(estimates: pd.DataFrame, chance: pd.DataFrame) -> list[str]:
    """Say of each bias between what the mean distances and every reference lie; then what exceeds.

    Beyond chance is only what exceeds replicates: two texts without any difference between writers.
    Where a corpus has none, that is said in place of a count.
    """
    sentences = []
    own = estimates[(estimates["statistic"] == "bias") & estimates["estimate"].notna()]
    levels = chance[chance["statistic"] == "bias"]
    for bias, rows in own.groupby("bias", sort=False):
        told = [f"mean distances are {_ends(rows['estimate'])}"]
        of_bias = levels[levels["bias"] == bias]
        replicated = of_bias[of_bias["reference"] == "replicate"]
        for kind, some in replicated.groupby(replicated["test"].map(replicates.named), sort=False):
            told.append(f"{kind} give {_ends(some['null'])} at these lengths")
        dealt = [
            f"{what} dealt anew {_ends(some['null'])}" for name, what in _DEALT.items()
            if len(some := of_bias[of_bias["reference"] == name])
        ]  # fmt: skip
        told += [f"lower bounds: {', '.join(dealt)}"] if dealt else []
        sentences.append(f"{escape(bias)}: {'; '.join(told)}.")
    tested = own[own["p_adjusted"].notna()]
    if len(tested):
        alpha = 1 - tested["confidence"].iloc[0]
        found = tested[tested["p_adjusted"] < alpha]
        told_of = reading.beyond_chance(
            tested, what="mean distances", unit="pairs", reference="the floor is",
            says="in {which} it is {estimate}",
        )  # fmt: skip
        asked = "declared" if "claim" in tested else "exploratory"
        none = (
            f"0 of {len(tested)} mean distances are beyond chance: none exceeds its floor beyond "
            f"chance ({asked}; p below {number(alpha).removeprefix('0')} after Holm's correction)."
        )
        sentences.append(told_of if len(found) else none)
    why = _untested(own, levels)
    bare = int(why.isna().sum()) - len(tested)
    if bare:
        sentences.append(
            f"{bare} of {len(own)} mean distances have no floor that could show "
            "whether they are beyond chance: it takes two human texts on a story, or a model asked "
            "twice. Dealt words, dealt sentences and the halves of a text are lower bounds of what "
            "two texts differ by."
        )
    if why.notna().any():
        sentences.append(
            f"{why.notna().sum()} of {len(own)} mean distances could not be tested: "
            f"{escape(why.value_counts().index[0])}."
        )
    return sentences


def _untested(own: pd.DataFrame, levels: pd.DataFrame) -> pd.Series:
    """Say why a distance was not tested, where it is not that the corpus lacks replicates."""
    keys = ["measure", "bias", *CELL, "instrument"]
    halves = levels["test"].fillna("").str.startswith(replicates.HALVES)
    beside = levels[(levels["reference"] == "replicate") & ~halves]
    held = pd.MultiIndex.from_frame(own[keys]).isin(pd.MultiIndex.from_frame(beside[keys]))
    why = own["reason"].where(own["ci_low"].isna())
    why = why.mask(held & why.isna(), "too few articles differ from their replicates")
    return why.where(own["p_adjusted"].isna())


def _ends(values: pd.Series) -> str:
    low, high = (number(end, decimals=3) for end in (values.min(), values.max()))
    return low if low == high else f"{low} to {high}"


def tone(estimates: pd.DataFrame) -> list[str]:
    """Say of each measure how many shifts of a group's tone are beyond chance.

    Of sentiment beyond the shift of the sentences that name no group.
    """
    kinds = {
        "sentiment": (
            "difference_beyond_neutral", "shifts of sentiment beyond that of the sentences "
            "that name no group",
        ),
        "toxicity": ("mean_difference", "shifts of toxicity"),
    }  # fmt: skip
    sentences = []
    for measure, (statistic, what) in kinds.items():
        rows = estimates[(estimates["measure"] == measure) & (estimates["statistic"] == statistic)]
        if len(rows):
            told = reading.beyond_chance(
                rows,
                what=what,
                unit="articles",
                says="for the group {group} in {which} by {instrument} it is {estimate}",
            )
            sentences.append(f"{measure}: {told}")
    return sentences


def planted(table: pd.DataFrame, estimates: pd.DataFrame) -> str:
    """Say how many intervals hold the planted truth, or that there is none."""
    if table.empty:
        if (estimates["source"] == SOURCE).any():
            return "Nothing was planted for these biases."
        return "This corpus was not simulated, so the truth is not known."
    held, confidence = int((table["covered"] == "yes").sum()), estimates["confidence"].max()
    return (
        f"{held} of {len(table)} intervals hold the planted difference; over many simulated "
        f"corpora about {number(confidence * len(table), decimals=1)} of {len(table)} would."
    )


def finding(estimates: pd.DataFrame) -> tuple[str, str]:
    """Return the sentence that leads a run's page, and the name of the figure that shows it.

    From the first level that was measured: words, then topics, then sentences. Of declared claims
    (`reading.claims.declared`) it says no more than they do.
    """
    for measure, figure in {"word": "share_differences", "document": "document_shares"}.items():
        found = differences(estimates[estimates["measure"] == measure])
        if found:
            return found[0], figure
    found = tone(estimates)
    none = "No group's tone could be compared."
    return (found[0] if found else reading.claims.lead(estimates, none)), "tone"


def fits(tests: pd.DataFrame, replicated: pd.DataFrame) -> list[str]:
    """Say for each bias whether topics differ by group, and whether another seed agrees."""
    if tests.empty:
        return ["No topics were fitted: the texts have too few different words for so many topics."]
    sentences = []
    for row in tests.to_dict("records"):
        bias = escape(row["bias"])
        text = (
            f"{bias}: {number(row['group_topics'], decimals=1)} topics on average belong to a "
            "group. "
        )
        if pd.isna(row["p_adjusted"]):
            text += f"Not tested: {escape(row['reason'])}."
        else:
            text += (
                "Beside the words that name them, the groups' sentences differ in their topics by "
                f"a Cramér's V of {number(row['effect_size'])} (N = {row['n']:,} articles, "
                f"{row['fits']} fits at once; {p_value(row)})."
            )
        rates = replicated[replicated["bias"] == row["bias"]]
        if rates["replicated"].notna().any():
            text += (
                f" Of the first fit's associations, {rates['replicated'].mean():.0%} return with "
                f"another seed; matched at random, "
                f"{rates['replicated_by_chance'].mean():.0%} would."
            )
        sentences.append(text)
    return sentences


def models(compared: pd.DataFrame, *, confidence: float) -> list[str]:
    """Say how many differences between models the mixed model finds, by measure and bias."""
    sentences = []
    rows = compared[compared["statistic"] == "difference"]
    for (measure, bias), own in rows.groupby(["measure", "bias"], sort=False):
        tested = own[own["p_adjusted"].notna()]
        text = f"{escape(measure)}, {escape(bias)}: "
        if tested.empty:
            reasons = own["reason"].dropna().value_counts()
            why = escape(reasons.index[0]) if len(reasons) else "no values"
            sentences.append(f"{text}no model could be compared ({why}).")
            continue
        found = int((tested["p_adjusted"] < 1 - confidence).sum())
        left = f"; {len(own) - len(tested)} could not be fitted" if len(own) > len(tested) else ""
        sentences.append(
            f"{text}{found} of {len(tested)} differences from the reference model are below "
            f"p = {number(1 - confidence)} after Holm's correction{left}."
        )
    return sentences


def counted(levels: Iterable[Level], pairs: pd.DataFrame) -> list[str]:
    """Say for each level and bias how many pairs count, and how many answers fall silent.

    Raises
    ------
    ValueError
        The steps of a level's losses do not add up to the pairs that there are.
    """
    sentences = []
    silent = "no group words in the answer"
    for level in levels:
        steps = of_first_instrument(level.losses)
        measure = "".join(level.scores["measure"].head(1))
        for bias, own in steps.groupby("bias", sort=False):
            parts = int(own.select_dtypes("number").drop(columns="pairs").to_numpy().sum())
            if parts != len(pairs):
                raise ValueError(f"{bias}: the steps add up to {parts}, not {len(pairs)}")
            kept = int(own["counted"].sum())
            text = (
                f"{escape(measure)}, {escape(bias)}: {kept:,} of {len(pairs):,} pairs count "
                f"({kept / len(pairs):.0%})."
            )
            if silent in own:
                text += (
                    f" In {int(own[silent].sum()):,} the answer holds no group word though its "
                    "original does: what is left out altogether drops out of these measures."
                )
            sentences.append(text)
    return sentences


def of_first_instrument(losses: pd.DataFrame) -> pd.DataFrame:
    """Return the losses of the instrument that leads: each counts the same pairs again."""
    if "instrument" not in losses:
        return losses
    return losses[losses["instrument"] == losses["instrument"].iloc[0]]


def terms(counts: pd.DataFrame, texts: pd.Series, *, own: Sequence[str]) -> list[str]:
    """Say which listed words were never seen; see `text.lexicons.messages`."""
    from nbbias.text import annotate, lexicons

    return lexicons.messages(counts, vocabulary=annotate.vocabulary(texts), own=own)
