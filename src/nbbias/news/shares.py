"""Shares of the groups, answer against original: the estimates of words and of topics.

Either level scores pairs by the distance of two texts' shares, and by each group's difference of
shares; from there on they are one.

>>> fits_named(5)
', 5 fits'
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd

from nbbias import stats
from nbbias.news import claims
from nbbias.tables import Estimated
from nbbias.text import lexicons

#: Statistics whose tests are corrected, each a family of its own.
FAMILIES = (*claims.MIRRORED,)

#: Articles whose texts must differ in having group words for a test of omissions.
FEWEST = 5

#: Signed statistics, by the column of SCORES that they are means of; the last two of words.
_COLUMNS = {"share_difference": "difference", "share_difference_passages": "passage"}
_COLUMNS |= {"first_mention_difference": "first"}

#: Why nothing says who is named first.
NEVER_BOTH = "no article whose two texts name the group and another one"

#: Why a group that a text never speaks of has no difference, though pairs count.
NO_TOPIC = "the group has no topic"


def estimate(
    scores: pd.DataFrame,
    *,
    pooling: Callable[[Sequence[str]], claims.Pooling],
    lexicon: pd.DataFrame,
    inference: stats.InferenceSettings,
) -> Estimated:
    """Estimate differences of shares by source, model and prompt, for every bias.

    Parameters
    ----------
    scores
        SCORES of one level; with several fits of topics (`seed`) a row per fit.
    pooling
        How the level pools repeated answers, by the groups of a bias.
    lexicon
        The lists behind the scores.
    inference
        Level of the intervals and of the null's ranges; permutations and their start.

    Returns
    -------
    Estimated
        ESTIMATES by `statistic`, over articles, crossed with fits where there are any
        (`stats.pooled_mean`), and the UNITS of words. With one fit, intervals and tests take its
        topics as fixed; what less than three quarters of the fits could measure has neither. N
        counts articles, the fewest of any fit.

        - ``bias``: mean distance (Eq. 4, 9); `claims.level` adds the null.
        - ``share_difference``: mean signed difference of a group's share (Table 1); one-sample
          t-test against 0 (of words `stats.sparse_mean`); `p_adjusted` is Holm's over all cells,
          biases and groups.
        - ``share_difference_passages`` and ``omission_difference``, of words: the same at equal
          length, and how often answers have no group words (`omissions`).
        - ``first_mention_difference``, of words: share of texts in which the group is named first,
          of those that name it and another group, answer minus original.
        - ``prejudice_share``: the share of pairs in which the answer gives the group a smaller
          share, of words among pairs whose original names the group, of topics among all, as the
          paper counts; Wilson interval. ``prejudice_extent``: mean change in just those pairs.
          Null: answers and originals exchanged (`news.claims.prejudice`).
    """
    rows: list[claims.Row] = []
    for (measure, bias), subset in scores.groupby(["measure", "bias"], sort=False):
        groups, instrument = lexicons.groups(lexicon, str(bias)), subset["instrument"].iloc[0]
        if "seed" in subset:
            instrument += fits_named(subset["seed"].nunique())
        claim = {"measure": measure, "bias": bias, "instrument": instrument}
        for cell, units in claims.cells(subset, pooling(groups)):
            rows += [cell | claim | row for row in _estimate_cell(units, groups, inference)]
    return claims.tested(rows, FAMILIES, confidence=inference.confidence)


def fits_named(fits: int) -> str:
    """Return what the name of the instrument says of the fits."""
    return f", {fits} fits" if fits > 1 else ", one fit"


def _estimate_cell(
    units: pd.DataFrame, groups: Sequence[str], inference: stats.InferenceSettings
) -> list[claims.Row]:
    confidence, nothing = inference.confidence, units["reason"].notna().all()
    why = claims.why_none(units) if nothing else NO_TOPIC
    scores = claims.values(units, "score")
    distance = stats.pooled_mean(scores, confidence=confidence, bounds=(0, 1), tested=False)
    rows: list[claims.Row] = [{"statistic": "bias", **distance.row()}]
    if "seed" not in units:
        rows[0]["values"] = scores["score"]
    for statistic, column in _COLUMNS.items():
        if f"{column}_{groups[0]}" in units:
            of = NEVER_BOTH if column == "first" and not nothing else why
            rows += differences(units, groups, statistic=statistic, why=of, confidence=confidence)
    for group in groups:
        change = claims.values(units, f"difference_{group}").astype(float)
        original = answer = change.notna()
        if "seed" not in units:  # words: an original without the group has no less to give
            original, answer = (claims.values(units, f"{s}_{group}").to_numpy() > 0 for s in "oh")
        sides = change.where(original), -change.where(answer)
        rows += claims.prejudice(sides[0], group=group, exchanged=sides[1], inference=inference)
    rows = [row | ({"reason": why} if nothing else {}) for row in rows]
    if "omission" in units:
        rows += omissions(units, groups, confidence=confidence)
    return rows


def differences(
    table: pd.DataFrame, groups: Sequence[str], *, statistic: str, why: str, confidence: float
) -> list[claims.Row]:
    """Estimate every group's mean signed difference, with a one-sample t-test against 0.

    `table` holds the cell's units; `why` says why there are none, if there are none.
    """
    rows = []
    for group in groups:
        values = claims.values(table, f"{_COLUMNS[statistic]}_{group}")
        if "seed" in table:
            row = stats.pooled_mean(values, confidence=confidence, bounds=(-1, 1)).row()
        else:
            row = stats.sparse_mean(values, confidence=confidence).row()
            most = np.ones(row["n"])  # no p of so few is smaller
            row["p_least"] = stats.sparse_mean(most, confidence=confidence).p_value
            row["values"] = values.iloc[:, 0]
        row |= {"reason": why} if row["n"] == 0 else {}
        rows.append({"statistic": statistic, "group": group, "null": 0.0, **row})
    return rows


def omissions(units: pd.DataFrame, groups: Sequence[str], *, confidence: float) -> list[claims.Row]:
    """Compare how often answers have no group words, by the group that the original names most.

    Parameters
    ----------
    units
        A cell's articles, with `article_id`, `o_<group>` and `omission`.
    groups
        The groups of the bias.
    confidence
        Level of the intervals.

    Returns
    -------
    list of dict
        Rows of ESTIMATES, `statistic` ``omission_difference``: mean `omission` of the articles
        whose original names a group most, less that of the articles that name another one most;
        Welch's *t*. Above 0 answers to the group's articles have no group words more often than
        others, at equal length. No test where fewer than `FEWEST` articles differ. The estimate
        is the mean of its `values`, one an article.
    """
    original = units[[f"o_{group}" for group in groups]].to_numpy(float)
    most = original.max(axis=1)
    mask = units["omission"].notna().to_numpy() & ((most == original.T).sum(axis=0) == 1)
    omission = units[mask].set_index("article_id")["omission"]
    few = (omission.abs() > 0).sum() < FEWEST
    rows = []
    for group, column in zip(groups, original.T, strict=True):
        row = claims.compare_articles(omission, (column == most)[mask], confidence=confidence)
        if few:
            row |= dict.fromkeys(("ci_low", "ci_high", "statistic_value", "df", "p_value"), np.nan)
            row["reason"] = "too few articles in which only one text has group words"
        row |= {"statistic": "omission_difference", "group": group}
        rows.append(row | {"n_lost": len(units) - (row["n"] or 0)})
    return rows
