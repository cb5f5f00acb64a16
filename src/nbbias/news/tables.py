"""Tables of the news study for readers: which rows and columns, and what stands beside them.

>>> from nbbias import news, tables
>>> row = {"model": "m", "bias": "gender", "group": "female", "statistic": "share_difference",
...        "estimate": -0.1, "ci_low": -0.15, "ci_high": -0.05, "n": 9}
>>> found = tables.estimates([row], study="news_bias", confidence=0.95)
>>> news.tables.of(found, "all pairs").title
'Signed differences of shares, all pairs of each model'
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from nbbias.news import claims, corpus
from nbbias.news.claims import Level
from nbbias.news.corpus import Read
from nbbias.news.sentences import of_first_instrument
from nbbias.reading import Table, p_column, readable
from nbbias.tables import read_published

_KEYS = ["bias", "group", "instrument", "model", "prompt", "source"]

#: Name → statistics, title, note: what a reader may want of a level's estimates.
_OF_ESTIMATES: Mapping[str, tuple[list[str], str, str]] = {
    "common": (
        ["share_difference_common"],
        "Signed differences of shares, common articles",
        "Below 0: the group has less of the answer than of the original. N: pairs on the articles "
        "for which every model of the source and prompt has a counted pair.",
    ),
    "all pairs": (
        ["share_difference"],
        "Signed differences of shares, all pairs of each model",
        "As in the paper's Table 1. N: pairs.",
    ),
    "distance": (
        ["bias"],
        "Mean distance (Eq. 4, 9), with its leading reference",
        "p: one-sided, of what exceeds replicates; Holm over all cells and biases. The other "
        "references: tables/chance.csv.",
    ),
    "prejudice": (
        ["prejudice_share", "prejudice_extent"],
        "Share and extent of prejudice",
        "Share: of the pairs that count, those in which the group fares worse; Wilson interval. "
        "Extent: mean change in just those, which were selected for it. Both are far from 0 by "
        "chance alone, so neither is tested: beside them stands what the reference gives.",
    ),
    "shifts": (
        [
            f"{shift}{of}"
            for shift in ("mean_difference", "difference_beyond_neutral")
            for of in ("", "_corrected", "_instrument")
        ],
        "Shifts of tone, signed: raw, corrected, and by the instrument alone",
        "Answer minus original. Sentiment below 0: more negative; toxicity above 0: more toxic. "
        "Mean difference: of all the group's sentences. Beyond neutral: of those without a group "
        "of another bias, minus the shift of those that name no group at all. Corrected and "
        "instrument add up to raw where all words have counterparts. N: articles. Holm over all "
        "rows of a measure and statistic.",
    ),
}


#: Name → title, note: tables that are shown as they were computed.
_AS_COMPUTED: Mapping[str, tuple[str, str | None]] = {
    "audit": (
        "The instruments on sentences in which only who is spoken of changes",
        "Swap effect: the score less the mean over the groups, 0 where whom a sentence names does "
        "not matter. N: sentences, 24 each of 13 kinds. Beside nobody: less that of the same "
        "sentence about a person, teacher, … of no group. Worst words: who moves it most.",
    ),
    "agreement": (
        "Do the instruments rank the sentences alike?",
        "Spearman's rho over distinct sentences: 1 the same order, 0 none. Sentences of one "
        "article are not independent, so the true intervals are wider.",
    ),
    "planted": ("Planted and estimated differences", None),
    "accuracy": (
        "How often are the word lists wrong, by people's labels?",
        "Precision: of what the list counts for the group, the share that is; recall: of what is, "
        "the share that it counts. Words: recall is of sentences that have one. N: labels.",
    ),
}


def told(found: pd.DataFrame, name: str) -> Table:
    """Return a table as it was computed, with its title and note.

    Parameters
    ----------
    found
        The table.
    name
        ``"audit"``, ``"agreement"``, ``"planted"`` or ``"accuracy"``.
    """
    return Table(found, *_AS_COMPUTED[name])


def of(estimates: pd.DataFrame, name: str) -> Table:
    """Return some estimates of a level as a table for readers.

    Parameters
    ----------
    estimates
        ESTIMATES of one level.
    name
        ``"common"``, ``"all pairs"``, ``"distance"``, ``"prejudice"`` or ``"shifts"``.
    """
    statistics, title, note = _OF_ESTIMATES[name]
    if name == "common":
        estimates = claims.unmirrored(estimates[estimates["statistic"].isin(statistics)])
        note += " Of two groups one: the other is its mirror image."
    keys, labels = [*_KEYS, *(["test"] if name == "distance" else [])], {"null": "by reference"}
    return readable(
        estimates,
        keys,
        statistics=statistics,
        rows=None,
        title=title,
        note=note,
        labels=labels | {"test": "reference"},
    )


# --- the corpus -------------------------------------------------------------------------------


def texts(originals: pd.DataFrame, generations: pd.DataFrame) -> Table:
    """Return how many texts there are of whom."""
    found = corpus.summary(originals, generations)
    note = "Words: mean length of a text."
    return Table(found, "Texts by source, model and prompt", note, decimals=0)


def health(originals: pd.DataFrame, generations: pd.DataFrame) -> Table:
    """Return what is odd about the texts of both sides."""
    both = [corpus.health(side) for side in (originals, generations)]
    found = pd.concat(both, keys=["originals", "generations"], names=["side", None])
    note = "Nothing is left out for being odd, blank texts and repeated ids apart."
    return Table(found.reset_index("side"), "What is odd about the texts", note)


def coverage(read: Read) -> Table:
    """Return how far the word lists reach."""
    note = (
        "Terms: what is searched for, descriptors written out with every occupation. Shares: of "
        "all distinct texts, human and generated, and of their sentences."
    )
    return Table(corpus.coverage(read), "Coverage of the word lists", note)


def lost(levels: Sequence[Level]) -> Table:
    """Return what was lost at all levels, cells added up; with the steps in words."""
    rows: list[dict[str, Any]] = []
    for level in levels:
        steps = of_first_instrument(level.losses)
        measure = "".join(level.scores["measure"].head(1))
        for bias, own in steps.groupby("bias", sort=False):
            totals = own.select_dtypes("number").sum().astype(int)
            row = {"measure": measure, "bias": bias, **totals[["pairs", "counted"]]}
            reasons = totals.drop(["pairs", "counted"])
            why = "; ".join(f"{reason} ({n:,})" for reason, n in reasons.items() if n)
            rows.append(row | {"lost": reasons.sum(), "why": why})
    return Table(
        pd.DataFrame(rows),
        "What was lost at each level",
        "pairs = counted + lost. Prejudice counts, beyond this, only pairs whose original names "
        "the group. By model: tables/losses*.csv.",
    )


# --- words ------------------------------------------------------------------------------------


def without_one_word(robustness: pd.DataFrame) -> Table:
    """Return between which values an estimate lies when one word is left out."""
    columns = [
        *("bias", "group", "model", "prompt", "estimate", "lowest", "lowest_without"),
        *("highest", "highest_without", "keeps_sign", "n"),
    ]
    note = (
        "Keeps sign: no single word turns the estimate round. A descriptor is left out as it is "
        "written out, with each occupation on its own."
    )
    return Table(robustness[columns], "Estimates with one word left out", note)


def odds(found: pd.DataFrame) -> Table:
    """Return the words that set answers apart."""
    columns = [
        *("bias", "group", "model", "prompt", "word", "more_in", "n_answers", "n_originals"),
        *("log_odds", "z", "p_adjusted"),
    ]
    note = (
        "Without a word list: weighted log-odds with an informative Dirichlet prior (Monroe et al. "
        "2008), of texts whose sentences about a group have the word, in answers and in their "
        "originals. The first words of each cell, by |z|. More in: the side that uses the word "
        "more. Holm over all words that were compared."
    )
    title = "Words that set answers apart from originals, by group"
    return Table(found[columns], title, note)


# --- topics -----------------------------------------------------------------------------------


def topics(described: pd.DataFrame) -> Table:
    """Return the topics of the first fit that a sentence has, and whose they are."""
    return Table(
        described[described["sentences"] > 0],
        "The topics of the first fit, and whose they are",
        "Content words by relevance (lambda 0.2). The group of the largest residual stands, if "
        "that is above the threshold; neutral sentences count as a group of their own.",
        gap="",
    )


def perplexity(tried: pd.DataFrame, *, chosen: int) -> Table:
    """Return how well numbers of topics predict."""
    return Table(
        tried.dropna(axis=1, how="all"),
        f"Held-out perplexity; K = {chosen} is used",
        "A fifth of the articles, with all that was written for them, is held out; half of each "
        "text predicts the other half. Lower is better.",
    )


def topic_tests(tests: pd.DataFrame) -> Table:
    """Return whether topics are used alike for all groups."""
    shown = tests.assign(p_adjusted=p_column(tests)).drop(columns=["p_value", "p_least"])
    return Table(
        shown.dropna(axis=1, how="all"),
        "Are topics used alike for all groups?",
        "Of sentences about one group, by their words beside those that name it. Mean chi-squared "
        "and Cramér's V (effect size) of all fits; groups of whole articles exchanged, in all fits "
        "alike; Holm over the biases. N: articles.",
    )


# --- models -----------------------------------------------------------------------------------


def mixed(compared: pd.DataFrame, *, confidence: float) -> Table:
    """Return the mixed model's differences between models."""
    own = compared[compared["statistic"] == "difference"]
    own = own.assign(null=0.0, null_low=float("nan"), null_high=float("nan"), confidence=confidence)
    table = readable(
        own,
        ["measure", "bias", "model", "reference", "prompt", "source"],
        title="Mixed model: signed differences between models",
        note="From the reference model, within articles. N: articles of the model. Holm over all "
        "differences.",
    )
    return table._replace(note=str(table.note).replace("estimates.csv", "models_mixed.csv"))


def printed(estimates: pd.DataFrame, *, focus: Mapping[str, str]) -> Table:
    """Return between which values ours and the paper's printed ones of seven models lie.

    Of every measure what the paper's Figures 2 to 7, A.1 and A.2 show: mean distance, and share and
    extent of prejudice against one group a bias; and its Table 1, the differences of the shares of
    races. Where ours come from a fallback of toxicity the printed ones, by Detoxify, are left out:
    they are on no scale with each other.
    """
    keys = ["measure", "bias", "group", "statistic"]
    paper = read_published("fang2024")
    paper = paper[paper["prompt"] == "neutral"].rename(columns={"value": "estimate"})
    first = estimates.groupby(["measure", "bias"])["instrument"].transform("first")
    fallback = estimates.loc[estimates["instrument"].str.contains("fallback"), "measure"]
    paper = paper[~paper["measure"].isin(fallback)]
    ours = estimates[estimates["instrument"] == first]
    ours = ours[
        ours["group"].isna() | (ours["bias"] == "race") | (ours["group"] == ours["bias"].map(focus))
    ]
    both = [rows.assign(group=rows["group"].fillna("")) for rows in (ours, paper)]
    ends = [rows.groupby(keys, sort=False)["estimate"].agg(["min", "max"]) for rows in both]
    table = pd.merge(*ends, on=keys, suffixes=(" ours", " printed")).reset_index()
    columns = {f"{end} {side}": f"{side}, {end}" for side in _PRINTED for end in ("min", "max")}
    return Table(
        table.rename(columns=columns),
        "Ours and the printed values, from the least to the largest",
        "Ours: over models and prompts. Printed: over seven models, another corpus.",
        gap="",
    )


_PRINTED = ("ours", "printed")
