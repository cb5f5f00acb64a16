"""What the estimates of all levels of the news study share: chance, common articles, correction."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from nbbias import stats
from nbbias.news.corpus import CELL

Row = dict[str, Any]


def why_none(own: pd.DataFrame) -> str:
    """Say why no pair of a cell counts."""
    reasons = own["reason"].dropna().value_counts()
    return "; ".join(f"{reason} ({n})" for reason, n in reasons.items()) or "no pairs"


def ratio(part: Any, whole: Any) -> Any:
    """Divide, giving NaN where there is nothing to divide by."""
    return np.divide(
        part, whole, out=np.full(np.shape(whole), np.nan), where=np.asarray(whole) > 0
    )[()]


def spread(values: np.ndarray, confidence: float) -> dict[str, float]:
    """Return the range of a chance level from its draws: `null_low`, `null_high`."""
    if np.isnan(values).all():
        return {"null_low": np.nan, "null_high": np.nan}
    low, high = np.nanquantile(values, [(1 - confidence) / 2, (1 + confidence) / 2])
    return {"null_low": float(low), "null_high": float(high)}


def common_articles(
    scores: pd.DataFrame, *, min_pairs: int
) -> Iterator[tuple[Row, pd.DataFrame, pd.DataFrame, str]]:
    """Find, for every model, its pairs on the articles that all models have a counted pair for.

    A model with few counted pairs would leave the others next to none: it is left out.

    Parameters
    ----------
    scores
        SCORES of one bias, one row per article and cell.
    min_pairs
        Counted pairs that a model needs to be compared.

    Yields
    ------
    key, own, used, why
        By source, prompt and model: the key, all its rows, those on common articles (none
        where the model is left out), and why there are none if there are none.
    """
    counted = scores[scores["reason"].isna()]
    for (source, prompt), own in scores.groupby(["source", "prompt"], sort=False):
        models = own["model"].unique()
        here = counted[(counted["source"] == source) & (counted["prompt"] == prompt)]
        sizes = here["model"].value_counts().reindex(models, fill_value=0)
        enough = sizes.index[sizes >= min_pairs]
        held = here[here["model"].isin(enough)].groupby("article_id")["model"].nunique()
        shared = held.index[held == len(enough)] if len(enough) else held.index[:0]
        for model in models:
            of_model = own[own["model"] == model]
            of_shared = here["article_id"].isin(shared) & (model in enough)
            used = here[(here["model"] == model) & of_shared]
            why = "no article is common to all models"
            if model not in enough:
                few = f"left out: {sizes[model]} counted pairs, fewer than {min_pairs}"
                why = few if sizes[model] else why_none(of_model)
            key = {"source": source, "prompt": prompt, "model": model}
            yield key, of_model, used, why


def adjust(rows: list[Row], groups: Sequence[str], *, statistic: str, mirrored: bool) -> None:
    """Correct one family of tests in place, by Holm's method over all cells and groups.

    Parameters
    ----------
    rows
        Rows of ESTIMATES to be; those of other statistics stay as they are.
    groups
        The groups tested.
    statistic
        The family.
    mirrored
        Whether, of two groups, one test is the other's mirror image and counts once.
    """
    tested = groups[:1] if mirrored and len(groups) == 2 else groups
    family = [r for r in rows if r["statistic"] == statistic and r.get("group", "") in tested]
    corrected = stats.adjusted(pd.Series([r.get("p_value", np.nan) for r in family], dtype=float))
    by_key = {_cell(r, r.get("group", "")): p for r, p in zip(family, corrected, strict=True)}
    for row in rows:
        if row["statistic"] == statistic:
            group = row.get("group", "")
            group = group if group in tested else tested[0]
            row["p_adjusted"] = by_key[_cell(row, group)]


def _cell(row: Mapping[str, Any], group: str) -> tuple[str, ...]:
    return (*(row[key] for key in CELL), group)


def losses(scores: pd.DataFrame) -> pd.DataFrame:
    """Count what was lost at each step, by cell; the parts add up to the pairs.

    Returns
    -------
    DataFrame
        The cell, `bias` and, where there are several, `instrument`; `pairs`, a column per reason
        that occurs, and `counted`.
    """
    keys = [*CELL, "bias", *(["instrument"] if scores["instrument"].nunique() > 1 else [])]
    reasons = scores["reason"].fillna("counted")
    table = pd.crosstab([scores[key] for key in keys], reasons)
    order = [name for name in table.columns if name != "counted"]
    if "counted" not in table:
        table["counted"] = 0
    table.insert(0, "pairs", table.sum(axis=1))
    table.columns.name = None
    return table[["pairs", *order, "counted"]].reset_index()
