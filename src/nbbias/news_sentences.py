"""Sentence-level bias: the tone of what is said of each group, answer against original.

The measures of Fang et al. (2024): every sentence gets the group that most of its group words
belong to; the mean score of a group's sentences in the answer is compared with that in
the original (Eq. 5, 6).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from nbbias import cache, contracts, lexicons, sentiment, stats, text, toxicity
from nbbias.news import CELL

NEUTRAL = "neutral"
SIDES = {"h": "generated_text", "o": "original_text"}


def assign(
    sentences: pd.DataFrame, matches: pd.DataFrame, *, lexicon: pd.DataFrame
) -> pd.DataFrame:
    """Give every sentence its group, for every bias.

    Parameters
    ----------
    sentences, matches
        The tables of `text.annotate`.
    lexicon
        The lists that were searched.

    Returns
    -------
    DataFrame
        SENTENCES, one row per sentence and bias: `text_id`, `sentence_id`, `start`, `end`, `bias`,
        `group` (the one with the most words; ``"neutral"`` where there are none or a tie) and `n`
        (group words).
    """
    tables = []
    for bias in lexicon["bias"].unique():
        groups = lexicons.groups(lexicon, bias)
        own = matches[matches["bias"] == bias]
        counts = text.count(own, by=["text_id", "sentence_id"], groups=groups)
        table = sentences.merge(counts, on=["text_id", "sentence_id"], how="left")
        words = table[[f"n_{group}" for group in groups]].fillna(0).to_numpy()
        most = words.max(axis=1)
        alone = (words == most[:, None]).sum(axis=1) == 1
        names = np.array(groups, dtype=object)[words.argmax(axis=1)]
        table["group"] = np.where((most > 0) & alone, names, NEUTRAL)
        table["n"] = words.sum(axis=1).astype(int)
        tables.append(table[[*sentences.columns, "group", "n"]].assign(bias=bias))
    return pd.concat(tables, ignore_index=True)


#: Ends the name of the column in which descriptors were taken out before scoring.
MASKED = "_masked"


def score(
    sentences: pd.DataFrame,
    matches: pd.DataFrame,
    *,
    scorers: Sequence[str],
    toxicity_scorer: str,
    device: str = "cpu",
) -> pd.DataFrame:
    """Score the sentences: sentiment of all, toxicity of those that some bias gives a group.

    Parameters
    ----------
    sentences
        The table of `assign`; `text_id` is the text itself.
    matches
        The table of `text.annotate`.
    scorers
        The instruments of sentiment. Where descriptors ("black") stand in sentences, the first
        instrument scores them once more without: lexicons give such words a tone of their own.
    toxicity_scorer
        The instrument of toxicity, as in `toxicity.score`: the costly one, so neutral
        sentences are left out.
    device
        Where Detoxify runs.

    Returns
    -------
    DataFrame
        One row per distinct sentence: `text_id`, `sentence_id`, `sentiment_<scorer>` in [-1, 1]
        (below 0: negative), `sentiment_<first>_masked` where there are descriptors, and `toxicity`
        in [0, 1] (higher is worse), NaN where the sentence has no group in any bias.
    """
    chosen = toxicity.choose(toxicity_scorer)
    versions = [cache.stamp(name) for name in [*scorers, chosen]]
    return _score(sentences, matches, list(scorers), chosen, device, versions)


@cache.stage
def _score(
    sentences: pd.DataFrame, matches: pd.DataFrame, scorers: list[str], toxicity_scorer: str,
    device: str, versions: list[str],
) -> pd.DataFrame:  # fmt: skip
    keys = ["text_id", "sentence_id"]
    distinct = sentences.drop_duplicates(keys)[[*keys, "start", "end"]]
    said = [row.text_id[row.start : row.end] for row in distinct.itertuples()]
    table = distinct[[*keys, "start"]].assign(said=said).reset_index(drop=True)
    for scorer in dict.fromkeys(scorers):
        table[f"sentiment_{scorer}"] = sentiment.score(table["said"], scorer=scorer)["polarity"]
    masked = _masked(table, matches)
    if len(masked):
        first = f"sentiment_{scorers[0]}"
        table[first + MASKED] = table[first]
        again = sentiment.score(masked, scorer=scorers[0])["polarity"]
        table.loc[again.index, first + MASKED] = again
    grouped = sentences.loc[sentences["group"] != NEUTRAL, keys].drop_duplicates()
    has_group = table[keys].merge(grouped, on=keys, how="left", indicator=True)["_merge"] == "both"
    wanted = table["said"].where(has_group.to_numpy())
    table["toxicity"] = toxicity.score(wanted, scorer=toxicity_scorer, device=device)
    return table.drop(columns=["said", "start"])


def _masked(table: pd.DataFrame, matches: pd.DataFrame) -> pd.Series:
    """Return the sentences that hold descriptors, without them: "the black nurse", "the nurse"."""
    descriptors = matches[matches["kind"] == "descriptor"]
    if descriptors.empty:
        return pd.Series([], dtype=object)
    keyed = table.reset_index().merge(
        descriptors, on=["text_id", "sentence_id"], suffixes=("", "_match")
    )
    found = {}
    for at, own in keyed.groupby("index"):
        said, offset = own["said"].iloc[0], own["start"].iloc[0]
        # The same descriptor may stand in the lists of two biases.
        places = own.drop_duplicates("start_match").sort_values("start_match", ascending=False)
        for start, term in zip(places["start_match"], places["term"], strict=True):
            position = start - offset
            for _ in range(lexicons.descriptor_length(term)):
                word = said[position:].split(maxsplit=1)[0]
                said = said[:position] + said[position + len(word) :].lstrip()
        found[at] = said
    return pd.Series(found, dtype=object)


def measures(scored: pd.DataFrame, *, toxicity_scorer: str = "") -> pd.DataFrame:
    """List what was measured: `column`, `measure`, `instrument` and `worse`, the bad direction.

    Where the sentences have a toxicity, its scorer must be named.
    """
    rows = []
    for name in scored.columns:
        if name.startswith("sentiment_"):
            scorer = name.removeprefix("sentiment_").removesuffix(MASKED)
            label = sentiment.instrument(scorer)
            label += ", descriptors masked" if name.endswith(MASKED) else ""
            rows.append((name, "sentiment", label, -1))
    if "toxicity" in scored:
        rows.append(("toxicity", "toxicity", toxicity.instrument(toxicity_scorer), 1))
    return pd.DataFrame(rows, columns=["column", "measure", "instrument", "worse"])


def pair_scores(
    pairs: pd.DataFrame,
    sentences: pd.DataFrame,
    scored: pd.DataFrame,
    *,
    lexicon: pd.DataFrame,
    measured: pd.DataFrame,
    groups_counted: str = "both",
) -> pd.DataFrame:
    """Score every pair at the sentence level.

    Parameters
    ----------
    pairs
        PAIRS of `news.pair`.
    sentences, scored
        The tables of `assign` and `score`.
    lexicon
        The lists that were searched.
    measured
        The table of `measures`.
    groups_counted
        ``"both"``: the distance is taken over the groups that have sentences in both texts;
        ``"all"``: only pairs count in which every group has, in both.

    Returns
    -------
    DataFrame
        SCORES, one row per pair, bias and instrument: means `h_<group>` (answer) and `o_<group>`
        (original) and numbers of sentences `nh_<group>`, `no_<group>` (`neutral` is a group here);
        `difference_<group>` (answer minus original); `score`, the largest absolute difference over
        groups (Eq. 5, 6); `beyond_neutral_<group>`, the group's difference minus the neutral
        sentences' (NaN for toxicity, where neutral sentences are not scored); `n`, the sentences
        with a group; `reason`, why a score is NaN.
    """
    tables = []
    table = sentences.merge(scored, on=["text_id", "sentence_id"], how="left")
    for bias in lexicon["bias"].unique():
        groups = lexicons.groups(lexicon, bias)
        own = table[table["bias"] == bias]
        for kind in measured.to_dict("records"):
            means = _means(own, kind["column"], groups)
            found = _pair(pairs, means, groups, groups_counted)
            tables.append(
                found.assign(bias=bias, measure=kind["measure"], instrument=kind["instrument"])
            )
    return contracts.check(pd.concat(tables, ignore_index=True), contracts.SCORES)


def _means(own: pd.DataFrame, column: str, groups: Sequence[str]) -> pd.DataFrame:
    """Mean score and number of scored sentences of every group, by text."""
    kept = own[own[column].notna()]
    grouped = kept.groupby(["text_id", "group"])[column]
    wide = grouped.agg(["mean", "size"]).unstack("group")
    names = [*groups, NEUTRAL]
    columns = pd.MultiIndex.from_product([["mean", "size"], names])
    return wide.reindex(columns=columns)


def _pair(
    pairs: pd.DataFrame, means: pd.DataFrame, groups: Sequence[str], groups_counted: str
) -> pd.DataFrame:
    names = [*groups, NEUTRAL]
    values: dict[str, Any] = {}
    for side, column in SIDES.items():
        at = means.reindex(pairs[column])
        for name in names:
            values[f"{side}_{name}"] = at["mean", name].to_numpy(dtype=float)
            values[f"n{side}_{name}"] = np.nan_to_num(at["size", name].to_numpy(float)).astype(int)
    table = pairs[["pair_id", *CELL, "article_id", "sample", "lost"]].assign(**values)
    d = np.column_stack([table[f"h_{g}"] - table[f"o_{g}"] for g in groups])
    there = ~np.isnan(d)
    reason = table.pop("lost")
    enough = there.all(axis=1) if groups_counted == "all" else there.any(axis=1)
    wanted = "every group" if groups_counted == "all" else "any group"
    reason[reason.isna() & ~enough] = f"no sentence of {wanted} in both texts"
    counted = reason.isna().to_numpy()
    largest = np.max(np.where(there, np.abs(d), -1.0), axis=1)
    table["score"] = np.where(counted, largest, np.nan)
    neutral = table[f"h_{NEUTRAL}"] - table[f"o_{NEUTRAL}"]
    for i, group in enumerate(groups):
        table[f"difference_{group}"] = d[:, i]
        table[f"beyond_neutral_{group}"] = d[:, i] - neutral
    sizes = [f"n{side}_{group}" for side in SIDES for group in groups]
    return table.assign(n=table[sizes].sum(axis=1), reason=reason)


def summary(sentences: pd.DataFrame) -> pd.DataFrame:
    """Count the distinct texts' sentences by `bias` and `group`, neutral ones too, with shares."""
    table = (
        sentences.groupby(["bias", "group"], sort=False).size().rename("sentences").reset_index()
    )
    return table.assign(
        share=table["sentences"] / table.groupby("bias")["sentences"].transform("sum")
    )


def agreement(scored: pd.DataFrame, *, scorers: Sequence[str], confidence: float) -> pd.DataFrame:
    """Say how far the instruments of sentiment rank the sentences alike.

    Returns
    -------
    DataFrame
        For every two instruments: `first`, `second`, Spearman's `rho` over distinct sentences with
        its interval and `n`. Sentences of one article are not independent, so the true interval
        is wider.
    """
    rows = []
    for first, second in combinations(dict.fromkeys(scorers), 2):
        sides = scored[f"sentiment_{first}"], scored[f"sentiment_{second}"]
        names = {"first": sentiment.instrument(first), "second": sentiment.instrument(second)}
        rows.append(names | stats.rank_correlation(*sides, confidence=confidence))
    return pd.DataFrame(rows, columns=["first", "second", "rho", "ci_low", "ci_high", "n"])
