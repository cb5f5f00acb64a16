"""Word-level bias of generated news against its human originals.

The measure of Fang et al. (2024), *Bias of AI-generated content*, Scientific
Reports 14:5224: which share of a text's group words belongs to each group
(Eq. 1, 2), how far the shares of a generated text h lie from those of its
original o (Eq. 3), on average over pairs (Eq. 4).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from nbbias import contracts, lexicons, news_estimates, news_words, nulls, stats
from nbbias.news import CELL

Row = dict[str, Any]


def estimates(
    scores: pd.DataFrame,
    *,
    lexicon: pd.DataFrame,
    confidence: float = 0.95,
    draws: int = 1000,
    min_pairs: int = 1,
    seed: int = 0,
) -> pd.DataFrame:
    """Estimate word-level bias, by source, model and prompt, for every bias.

    Parameters
    ----------
    scores
        The table of `word_scores`.
    lexicon
        The lists behind the scores.
    confidence
        Level of the intervals and of the range of each chance level.
    draws, seed
        Permutations behind the range of a chance level (its mean is exact), and their start.
    min_pairs
        Counted pairs that a model needs to be compared on common articles.

    Returns
    -------
    DataFrame
        ESTIMATES, by `statistic`; N counts pairs:

        - ``bias``: mean distance (Eq. 4). Chance: group words permuted between the two texts of a
          pair. One-sided permutation p, `p_adjusted` Holm's over the cells. `excess` is distance
          beyond independent word draws: it may be negative, and is not comparable across lengths.
        - ``share_difference``: mean signed difference of a group's share (Table 1); one-sample
          t-test against 0; `p_adjusted` is Holm's over all cells and groups of the table.
        - ``share_difference_common``: the same over the articles that every model of the source and
          prompt has a counted pair for, so that models are compared on equal articles; models with
          fewer than `min_pairs` counted pairs are left out.
        - ``prejudice_share``: of the pairs whose original has words of the group, the share in
          which the answer gives it a smaller share; Wilson interval; chance as for ``bias``.
        - ``prejudice_extent``: mean change in just those pairs. They were selected for falling,
          so chance alone is far below 0 and it is not tested against 0.
        - ``squared_distance``: mean of the length-free squared distance; ``rms_distance``: its
          root.

        `n_lost` counts the cell's pairs that could not enter: lost before, without group words,
        or, for prejudice, with an original that does not name the group.
    """
    tables = [
        _estimate_bias(
            own, lexicons.groups(lexicon, str(bias)), bias=str(bias), confidence=confidence,
            draws=draws, min_pairs=min_pairs, rng=np.random.default_rng(seed),
        )
        for bias, own in scores.groupby("bias", sort=False)
    ]  # fmt: skip
    nothing = contracts.estimates([], study="news_bias")
    return pd.concat(tables, ignore_index=True) if tables else nothing


def _estimate_bias(
    scores: pd.DataFrame, groups: Sequence[str],
    *, bias: str, confidence: float, draws: int, min_pairs: int, rng: np.random.Generator,
) -> pd.DataFrame:  # fmt: skip
    rows: list[Row] = []
    scores = news_words.pooled(scores, groups)
    for cell, own in scores.groupby(CELL, sort=False):
        key = dict(zip(CELL, cell, strict=True))
        counted = own[own["reason"].isna()]
        why = news_estimates.why_none(own)
        found = [
            *_distances(counted, groups, why, confidence=confidence, draws=draws, rng=rng),
            *_differences(counted, groups, why, confidence),
        ]
        for row in found:
            lost = len(own) - row.pop("eligible", row["n"])
            rows.append(key | row | {"n_lost": lost})
    rows += _common(scores, groups, confidence, min_pairs=min_pairs)
    for statistic in ("share_difference", "share_difference_common"):
        news_estimates.adjust(rows, groups, statistic=statistic, mirrored=True)
    news_estimates.adjust(rows, [""], statistic="bias", mirrored=False)
    return contracts.estimates(
        rows, study="news_bias", measure="word", bias=bias, instrument="word list"
    )


def _distances(
    counted: pd.DataFrame, groups: Sequence[str], why: str,
    *, confidence: float, draws: int, rng: np.random.Generator,
) -> list[Row]:  # fmt: skip
    """Everything that has a permutation as its chance level, and the length-free distance."""
    distance = {
        "statistic": "bias",
        **stats.mean_interval(counted["score"], confidence=confidence, bounds=(0, 1)),
    }
    if counted.empty:
        named = [("prejudice_share", g) for g in groups] + [("prejudice_extent", g) for g in groups]
        empty = [*named, ("squared_distance", None), ("rms_distance", None)]
        nothing = {"estimate": np.nan, "n": 0, "reason": why}
        return [distance | {"reason": why}] + [
            {"statistic": statistic, "group": group, **nothing} for statistic, group in empty
        ]
    h, o = news_words.sides(counted, groups)
    absolute, below, fall, present = nulls.expected_differences(h, o)
    drawn = nulls.permuted_counts(h, o, draws=draws, rng=rng)
    d = drawn / h.sum(1)[:, None] - (h + o - drawn) / o.sum(1)[:, None]
    means = (np.abs(d).sum(axis=2) / 2).mean(axis=1)
    distance |= {
        "null": absolute.sum(axis=1).mean() / 2, **news_estimates.spread(means, confidence),
        "test": "permutation",
        "p_value": (1 + (means >= distance["estimate"] - 1e-12).sum()) / (1 + draws),
    }  # fmt: skip
    rows = [distance, *_squared(counted["squared"], confidence)]
    down = drawn * o.sum(1)[:, None] < (h + o - drawn) * h.sum(1)[:, None]
    there = h + o - drawn > 0
    for i, group in enumerate(groups):
        change = counted[f"difference_{group}"].to_numpy()
        has = o[:, i] > 0
        fell = has & (h[:, i] * o.sum(1) < o[:, i] * h.sum(1))
        share = stats.proportion_interval(int(fell.sum()), int(has.sum()), confidence=confidence)
        extent = stats.mean_interval(change[fell], confidence=confidence, bounds=(-1, 0))
        # Chance decides, too, which originals have words of the group: ratios of sums over pairs.
        shares = news_estimates.ratio(down[:, :, i].sum(1), there[:, :, i].sum(1))
        extents = news_estimates.ratio((d[:, :, i] * down[:, :, i]).sum(1), down[:, :, i].sum(1))
        rows += [
            {"statistic": "prejudice_share", "group": group, **share,
             "null": news_estimates.ratio(below[:, i].sum(), present[:, i].sum()),
             **news_estimates.spread(shares, confidence)},
            {"statistic": "prejudice_extent", "group": group, **extent,
             "null": news_estimates.ratio(fall[:, i].sum(), below[:, i].sum()),
             **news_estimates.spread(extents, confidence),
             "eligible": int(has.sum())},
        ]  # fmt: skip
    return rows


def _squared(squared: pd.Series, confidence: float) -> list[Row]:
    row = stats.mean_interval(squared, confidence=confidence, bounds=(-1, 1))
    below = row["estimate"] < 0
    reason = "the mean square is below 0: no distance beyond sampling; the root is set to 0"
    root = row | {
        name: np.sqrt(max(row[name], 0.0)) if np.isfinite(row[name]) else np.nan
        for name in ("estimate", "ci_low", "ci_high")
    }
    if row["ci_high"] < 0:  # not "exactly 0": words are copied, so the draws are not independent
        root |= {"ci_low": np.nan, "ci_high": np.nan}
    return [
        {"statistic": "squared_distance", "null": 0.0, **row},
        {"statistic": "rms_distance", **root, "reason": reason if below else row["reason"]},
    ]


def _differences(
    counted: pd.DataFrame, groups: Sequence[str], why: str, confidence: float,
    *, statistic: str = "share_difference",
) -> list[Row]:  # fmt: skip
    rows = []
    for group in groups:
        row = stats.one_sample(
            counted[f"difference_{group}"], confidence=confidence, bounds=(-1, 1)
        )
        if row["n"] == 0:
            row["reason"] = why
        rows.append({"statistic": statistic, "group": group, "null": 0.0, **row})
    return rows


def _common(
    scores: pd.DataFrame, groups: Sequence[str], confidence: float, *, min_pairs: int
) -> list[Row]:
    """Compare models on the articles that all of them have a counted pair for."""
    rows: list[Row] = []
    statistic = "share_difference_common"
    for key, own, used, why in news_estimates.common_articles(scores, min_pairs=min_pairs):
        found = _differences(used, groups, why, confidence, statistic=statistic)
        rows += [key | row | {"n_lost": len(own) - row["n"]} for row in found]
    return rows
