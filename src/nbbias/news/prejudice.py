"""Prejudice as Fang et al. (2024) count it: how often a text is worse for a group, and how much.

Both are far from 0 by chance alone: of any two texts one is worse, and the extent is a mean over
units that were selected for falling. So they are not tested against 0, and stand beside what they
are when answers and originals change places.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, TypeVar

import numpy as np
import pandas as pd

from nbbias import stats
from nbbias.news import claims

T = TypeVar("T", pd.Series, pd.DataFrame)

#: A change this small is rounding, not a change.
ROUNDING = 1e-12

#: Which way is worse for a group: toxicity rises, everything else falls.
WORSE = {"toxicity": 1}

KINDS = ("prejudice_share", "prejudice_extent")


def fell(change: T, *, worse: int = -1) -> T:
    """Say of every change whether it is for the worse: 1, 0, or NaN where it does not count."""
    return (change * worse > ROUNDING).where(change.notna()).astype(float)


def rows(
    change: pd.DataFrame,
    *,
    group: str,
    inference: stats.InferenceSettings,
    exchanged: pd.DataFrame | None = None,
    worse: int = -1,
    reach: float | None = 1.0,
) -> list[dict[str, Any]]:
    """Estimate share and extent of prejudice against one group.

    Parameters
    ----------
    change
        Answer minus original, units by fits of topics (one column where nothing is fitted); NaN
        where a unit does not count for the group.
    group
        Whose change it is.
    inference
        Level of the intervals; permutations behind the null, and their start.
    exchanged
        What `change` is when answer and original change places; without it there is no null.
    worse
        The bad direction: -1 where a change below 0 is, 1 where one above 0 is.
    reach
        The largest size that a change can have, which bounds the extent's interval; None: nothing.

    Returns
    -------
    list of dict
        Rows of ESTIMATES. ``prejudice_share``: of the units that count, those with less of the
        group, or a worse tone; Wilson interval. ``prejudice_extent``: mean change in just those.
        `n_lost` of both are the units that do not count. The null is of `permute`. The share has
        its `values`, but for fits of topics.

    Examples
    --------
    >>> change = pd.DataFrame({"m": [-0.2, -0.4, 0.1, float("nan")]})
    >>> [(row["statistic"], round(row["estimate"], 3), row["n"], row["n_lost"])
    ...  for row in rows(change, group="female", inference=stats.InferenceSettings())]
    [('prejudice_share', 0.667, 3, 1), ('prejudice_extent', -0.3, 2, 1)]
    """
    down, confidence = fell(change, worse=worse), inference.confidence
    bounds = None
    if reach is not None:
        bounds = (0.0, reach) if worse > 0 else (-reach, 0.0)
    share = stats.pooled_share(down, confidence=confidence).row()
    extent = stats.pooled_mean(
        change.where(down == 1), confidence=confidence, bounds=bounds, tested=False
    ).row()
    lost = {"group": group, "n_lost": len(change) - share["n"]}
    table = [
        {"statistic": kind, **row, **lost} for kind, row in zip(KINDS, (share, extent), strict=True)
    ]
    if change.columns.name != "seed":  # topics of a fit are no other fit's
        table[0]["values"] = down.iloc[:, 0]
    if exchanged is None or not share["n"]:
        return table
    null = permute(change, exchanged, inference=inference, worse=worse)
    return [row | null[row["statistic"]] for row in table]


def permute(
    change: pd.DataFrame,
    exchanged: pd.DataFrame,
    *,
    inference: stats.InferenceSettings,
    worse: int = -1,
) -> dict[str, dict[str, float]]:
    """Return what share and extent of prejudice are when answer and original change places.

    In each permutation every unit is exchanged or not with even odds, alike in all fits.

    Parameters
    ----------
    change, exchanged
        Answer minus original as they are, and after the exchange: units by fits; NaN where the unit
        does not count.
    inference
        Level of the range, permutations and their start.
    worse
        As in `rows`.

    Returns
    -------
    dict
        By statistic: `null`, `null_low`, `null_high` (means over fits).

    Examples
    --------
    >>> change = pd.DataFrame({"m": [-0.2, -0.4, 0.1, 0.0]})
    >>> settings = stats.InferenceSettings(n_permutations=5000)
    >>> round(permute(change, -change, inference=settings)["prejudice_share"]["null"], 2)
    0.38
    """
    signs = _draw(inference.n_permutations, len(change), inference.seed)
    counted, times, total = np.zeros((3, inference.n_permutations, change.shape[1]))
    for chosen, values in ((signs.astype(float), change), ((~signs).astype(float), exchanged)):
        down = fell(values, worse=worse)
        counted += chosen @ values.notna().to_numpy(float)
        times += chosen @ down.fillna(0).to_numpy()
        total += chosen @ values.where(down == 1, 0).to_numpy(float)
    ranges = {}
    for kind, part, whole in zip(KINDS, (times, total), (counted, times), strict=True):
        by_fit = claims.ratio(part, whole)
        mean = claims.ratio(np.nansum(by_fit, axis=1), (~np.isnan(by_fit)).sum(axis=1))
        ranges[kind] = stats.null_range(mean, confidence=inference.confidence)
    return ranges


@lru_cache(maxsize=1)
def _draw(permutations: int, units: int, seed: int) -> np.ndarray:
    """Draw which units stay as they are: the same for all groups and measures of a cell."""
    return np.random.default_rng(seed).integers(0, 2, (permutations, units)) == 1
