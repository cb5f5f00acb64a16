"""The distance that chance gives when whole sentences, not single words, change sides.

Group words come in clusters: a sentence about a woman says "she" and "her". Two
texts by one writer therefore differ by more than independent word draws would
have it. Here the group words of a sentence stay together when they are permuted.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from nbbias import contracts, lexicons, stats, text
from nbbias.news import CELL
from nbbias.news_estimates import adjust, ratio, spread, why_none
from nbbias.news_words import noise, pooled


def by_sentence(
    scores: pd.DataFrame,
    pairs: pd.DataFrame,
    matches: pd.DataFrame,
    *,
    lexicon: pd.DataFrame,
    confidence: float = 0.95,
    draws: int = 1000,
    seed: int = 0,
) -> pd.DataFrame:
    """Give the mean distance its chance level under permutation of sentences.

    Parameters
    ----------
    scores
        The table of `news_words.word_scores`.
    pairs, matches
        What the scores were made from.
    lexicon
        The lists behind the scores.
    confidence, draws, seed
        Level of the range, permutations, and their start.

    Returns
    -------
    DataFrame
        ESTIMATES whose `statistic` ends in ``_by_sentence``: the same `estimate` and interval as
        ``bias``, ``squared_distance``, ``prejudice_share`` and ``prejudice_extent`` of
        `news_bias.estimates`, with another `null`: their values when the sentences with group words
        are dealt out anew between the two texts of each pair, as many to each as it had. Of the
        distance also a one-sided `p_value`, Holm's over the cells.
    """
    tables = []
    for bias, of_bias in scores.groupby("bias", sort=False):
        groups = lexicons.groups(lexicon, str(bias))
        blocks = _blocks(matches[matches["bias"] == bias], groups)
        rng = np.random.default_rng(seed)
        rows: list[dict[str, Any]] = []
        for cell, own in of_bias.groupby(CELL, sort=False):
            key = dict(zip(CELL, cell, strict=True))
            chance = _chance(own, pairs, blocks, groups, draws=draws, rng=rng)
            rows += [key | row for row in _rows(pooled(own, groups), groups, chance, confidence)]
        adjust(rows, [""], statistic="bias_by_sentence", mirrored=False)
        table = contracts.estimates(
            rows, study="news_bias", measure="word", bias=str(bias), instrument="word list"
        )
        tables.append(table)
    nothing = contracts.estimates([], study="news_bias")
    return pd.concat(tables, ignore_index=True) if tables else nothing


def _blocks(matches: pd.DataFrame, groups: list[str]) -> dict[str, np.ndarray]:
    """Return every text's sentences that have group words: an array, sentences by groups."""
    counts = text.count(matches, by=["text_id", "sentence_id"], groups=groups)
    columns = [f"n_{group}" for group in groups]
    return {
        one: own[columns].to_numpy(dtype=int) for one, own in counts.groupby("text_id", sort=False)
    }


def _chance(
    own: pd.DataFrame, pairs: pd.DataFrame, blocks: dict[str, np.ndarray], groups: list[str],
    *, draws: int, rng: np.random.Generator,
) -> dict[str, np.ndarray] | None:  # fmt: skip
    """Deal out the sentences of every article's answers and original; sum over articles."""
    counted = own[own["reason"].isna()]
    if counted.empty:
        return None
    texts = pairs.set_index("pair_id").loc[counted["pair_id"]]
    shape = (draws, len(groups))
    sums = {"distance": np.zeros(draws), "squared": np.zeros(draws), "squared_n": np.zeros(draws)}
    sums |= {name: np.zeros(shape) for name in ("fell", "change", "there")}
    for _, article in texts.groupby("article_id", sort=False):
        answers = np.vstack([blocks[one] for one in article["generated_text"].unique()])
        h, o = dealt(answers, blocks[article["original_text"].iloc[0]], draws=draws, rng=rng)
        n_h, n_o = h.sum(axis=1), o.sum(axis=1)
        p, q = h / n_h[:, None], o / n_o[:, None]
        d = p - q
        fell = h * n_o[:, None] < o * n_h[:, None]
        sums["distance"] += np.abs(d).sum(axis=1) / 2
        squared = ((d**2).sum(axis=1) - noise(p, n_h) - noise(q, n_o)) / 2
        sums["squared"] += np.nan_to_num(squared)
        sums["squared_n"] += ~np.isnan(squared)
        sums["fell"] += fell
        sums["change"] += np.where(fell, d, 0.0)
        sums["there"] += o > 0
    sums["distance"] /= texts["article_id"].nunique()
    return sums


def _rows(
    own: pd.DataFrame, groups: list[str], chance: dict[str, np.ndarray] | None, confidence: float
) -> list[dict[str, Any]]:
    """Put each estimate beside its chance level by sentences."""
    counted = own[own["reason"].isna()]
    lost = {"n_lost": len(own) - len(counted)}
    distance = stats.mean_interval(counted["score"], confidence=confidence, bounds=(0, 1))
    squared = stats.mean_interval(counted["squared"], confidence=confidence, bounds=(-1, 1))
    rows = [
        {"statistic": "bias_by_sentence", **distance, **lost},
        {"statistic": "squared_distance_by_sentence", **squared, "n_lost": len(own) - squared["n"]},
    ]
    if chance is None:
        gap = {"estimate": np.nan, "n": 0, "n_lost": len(own), "reason": why_none(own)}
        kinds = ("prejudice_share_by_sentence", "prejudice_extent_by_sentence")
        rows += [{"statistic": kind, "group": group} for group in groups for kind in kinds]
        return [row | gap for row in rows]
    reached = (chance["distance"] >= distance["estimate"] - 1e-12).sum()
    p = (1 + reached) / (1 + len(chance["distance"]))
    rows[0] |= _null(chance["distance"], confidence) | {"p_value": p}
    rows[1] |= _null(ratio(chance["squared"], chance["squared_n"]), confidence)
    for i, group in enumerate(groups):
        change = counted[f"difference_{group}"]
        has = counted[f"o_{group}"] > 0
        fell = has & (change < -1e-12)
        share = stats.proportion_interval(int(fell.sum()), int(has.sum()), confidence=confidence)
        extent = stats.mean_interval(change[fell], confidence=confidence, bounds=(-1, 0))
        missing = {"group": group, "n_lost": len(own) - int(has.sum())}
        shares = ratio(chance["fell"][:, i], chance["there"][:, i])
        extents = ratio(chance["change"][:, i], chance["fell"][:, i])
        rows += [
            {"statistic": "prejudice_share_by_sentence", **share, **missing,
             **_null(shares, confidence)},
            {"statistic": "prejudice_extent_by_sentence", **extent, **missing,
             **_null(extents, confidence)},
        ]  # fmt: skip
    return [row | {"test": "permutation of sentences"} for row in rows]


def _null(values: np.ndarray, confidence: float) -> dict[str, float]:
    measured = values[~np.isnan(values)]
    middle = float(measured.mean()) if len(measured) else np.nan
    return {"null": middle, **spread(values, confidence)}


def dealt(
    first: np.ndarray, second: np.ndarray, *, draws: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Deal the sentences of two texts out anew.

    Parameters
    ----------
    first, second
        Counts of group words, sentences by groups; at least one sentence each.
    draws
        Deals; each gives the first text as many sentences as it had.
    rng
        The source of chance.

    Returns
    -------
    (first, second) : arrays, draws by groups
        The texts' counts after each deal.
    """
    both = np.vstack([first, second])
    order = rng.random((draws, len(both))).argsort(axis=1)[:, : len(first)]
    h = both[order].sum(axis=1)
    return h, both.sum(axis=0) - h
