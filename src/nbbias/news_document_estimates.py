"""Document-level estimates: means over pairs, pooled over the fits of topics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from nbbias import contracts, lexicons, news_documents, news_estimates, pooling
from nbbias.news import CELL


def estimates(
    scores: pd.DataFrame,
    *,
    lexicon: pd.DataFrame,
    confidence: float = 0.95,
    min_pairs: int = 1,
    chance: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """Estimate document-level bias, by source, model and prompt, for every bias.

    Parameters
    ----------
    scores
        The table of `pair_scores`; with several fits that of `news_fits.scores`, one row per pair,
        bias and `seed`.
    lexicon
        The lists behind the scores.
    confidence
        Level of the intervals.
    min_pairs
        Scored pairs that a model needs to be compared on common articles.
    chance
        The table of `news_topics_chance.chance`; without it `null` is NaN for distances and
        prejudice.

    Returns
    -------
    DataFrame
        ESTIMATES, by `statistic`, pooled over the fits (`pooling`): an interval holds the spread
        over articles and over fits. With one fit it takes the topics as given. N counts
        pairs, the fewest of any fit (articles: the shares of repeated answers to one are averaged
        first).

        - ``bias``: mean distance (Eq. 9); with `chance` its one-sided p, Holm's over the cells.
        - ``share_difference``: mean signed difference of a group's share; one-sample t-test
          against 0; `p_adjusted` is Holm's over all cells and groups of the table.
        - ``share_difference_common``: the same over the articles that every model of the
          source and prompt has a scored pair for, in every fit.
        - ``prejudice_share``: of all scored pairs, as the paper counts at this level, the share in
          which the answer has less of the group; Wilson interval.
        - ``prejudice_extent``: mean change in just those pairs, selected for falling.
    """
    known = {} if chance is None else {_claim(row): row for row in chance.to_dict("records")}
    scores = scores if "seed" in scores else scores.assign(seed=0)
    tables = []
    for bias, of_bias in scores.groupby("bias", sort=False):
        groups = lexicons.groups(lexicon, str(bias))
        rows: list[dict[str, Any]] = []
        one_each = per_article(of_bias, groups, by=["seed", *CELL, "article_id"])
        for cell, own in one_each.groupby(CELL, sort=False):
            key = dict(zip(CELL, cell, strict=True))
            for row in _estimate_cell(own, groups, confidence):
                lost = own["article_id"].nunique() - row.pop("eligible", row["n"])
                row = key | row | {"n_lost": lost}
                level = known.get(_claim(row | {"bias": bias}), {})
                names = ["null", "null_low", "null_high"]
                names += ["test", "p_value"] if row["statistic"] == "bias" else []
                rows.append(row | {name: level[name] for name in names if name in level})
        rows += _common(one_each, groups, confidence, min_pairs=min_pairs)
        for statistic in ("share_difference", "share_difference_common"):
            news_estimates.adjust(rows, groups, statistic=statistic, mirrored=True)
        news_estimates.adjust(rows, [""], statistic="bias", mirrored=False)
        instrument = of_bias["instrument"].iloc[0] + fits_named(of_bias["seed"].nunique())
        tables.append(
            contracts.estimates(
                rows, study="news_bias", measure="document", bias=bias, instrument=instrument
            )
        )
    nothing = contracts.estimates([], study="news_bias")
    return pd.concat(tables, ignore_index=True) if tables else nothing


def fits_named(fits: int) -> str:
    """Return what the name of the instrument says of the fits."""
    return f", {fits} fits" if fits > 1 else ", one fit"


def per_article(scores: pd.DataFrame, groups: Sequence[str], *, by: list[str]) -> pd.DataFrame:
    """Average the shares of repeated answers; one row per `by`, lost where all answers are."""
    if not scores.duplicated(by).any():
        return scores
    differences = [f"difference_{group}" for group in groups]
    mean = scores[scores["reason"].isna()].groupby(by, sort=False)[differences].mean()
    mean["score"] = mean.abs().sum(axis=1) / 2
    first = scores.sort_values("reason", na_position="first", kind="stable").drop_duplicates(by)
    rest = first.drop(columns=mean.columns)
    table = scores[by].drop_duplicates().merge(rest, on=by)
    return table.merge(mean.reset_index(), on=by, how="left")


def _claim(row: dict[str, Any]) -> tuple[Any, ...]:
    group = row.get("group")
    return (*(row[key] for key in ("bias", *CELL, "statistic")), "" if pd.isna(group) else group)


def _estimate_cell(
    own: pd.DataFrame, groups: Sequence[str], confidence: float
) -> list[dict[str, Any]]:
    counted = own[own["reason"].isna()]
    nothing = counted.empty
    why = (
        news_estimates.why_none(own[own["seed"] == own["seed"].iloc[0]])
        if nothing
        else news_documents.NO_TOPIC
    )
    distance = pooling.mean(by_fit(own, "score"), confidence=confidence, bounds=(0, 1))
    # Whether a distance is 0 is no question: chance answers another, where it was asked.
    distance |= dict.fromkeys(("statistic_value", "df", "p_value", "effect_size"), np.nan)
    rows = [{"statistic": "bias", **distance, "test": None}]
    rows += _differences(own, groups, why, confidence, statistic="share_difference")
    for group in groups:
        change = by_fit(own, f"difference_{group}")
        fell = (change < -news_documents.ROUNDING).where(change.notna()).astype(float)
        share = pooling.share(fell, confidence=confidence)
        extent = pooling.mean(change.where(fell == 1), confidence=confidence, bounds=(-1, 0))
        extent |= dict.fromkeys(("statistic_value", "df", "p_value", "effect_size"), np.nan)
        rows += [
            {"statistic": "prejudice_share", "group": group, **share},
            {"statistic": "prejudice_extent", "group": group, **extent, "test": None,
             "eligible": share["n"]},
        ]  # fmt: skip
    # Where nothing could be measured the reason is that of the pairs.
    return [row | ({"reason": why} if row["n"] == 0 and nothing else {}) for row in rows]


def by_fit(own: pd.DataFrame, value: str) -> pd.DataFrame:
    """Return a cell's values as articles by fits."""
    return own.pivot(index="article_id", columns="seed", values=value)


def _differences(
    own: pd.DataFrame, groups: Sequence[str], why: str, confidence: float, *, statistic: str
) -> list[dict[str, Any]]:
    rows = []
    for group in groups:
        values = by_fit(own, f"difference_{group}")
        row = pooling.mean(values, confidence=confidence, bounds=(-1, 1))
        row |= {"reason": why} if row["n"] == 0 else {}
        rows.append({"statistic": statistic, "group": group, "null": 0.0, **row})
    return rows


def _common(
    scores: pd.DataFrame, groups: Sequence[str], confidence: float, *, min_pairs: int
) -> list[dict[str, Any]]:
    """Compare models on the articles that all of them have a counted pair for, in every fit.

    A fit that could score no pair at all does not count.
    """
    by = [*CELL, "article_id"]
    any_counted = scores["reason"].isna().groupby(scores["seed"]).transform("any")
    kept = scores[any_counted | ~any_counted.any()]
    # A pair that any of these fits could not score has that fit's reason here.
    worst = kept.sort_values("reason", kind="stable").drop_duplicates(by)
    first = scores[by].drop_duplicates().merge(worst, on=by)
    rows = []
    for key, own, used, why in news_estimates.common_articles(first, min_pairs=min_pairs):
        chosen = scores.merge(used[by], on=by)
        found = _differences(chosen, groups, why, confidence, statistic="share_difference_common")
        rows += [key | row | {"n_lost": len(own) - row["n"]} for row in found]
    return rows
