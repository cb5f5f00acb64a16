"""Prejudice as Fang et al. (2024) count it: how often a text is worse for a group, and how much.

Both are far from 0 by chance alone: of any two texts one is worse, and the extent is a mean over
units that were selected for falling. So they stand beside a chance level and are not tested
against 0.
"""

from __future__ import annotations

from typing import Any, TypeVar

import pandas as pd

from nbbias import stats

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
    confidence: float,
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
    confidence
        Level of the intervals.
    worse
        The bad direction: -1 where a change below 0 is, 1 where one above 0 is.
    reach
        The largest size that a change can have, which bounds the extent's interval; None: nothing.

    Returns
    -------
    list of dict
        Rows of ESTIMATES. ``prejudice_share``: of the units that count, the share that fares worse;
        Wilson interval. ``prejudice_extent``: mean change in just those. `n_lost` of both are the
        units that do not count.

    Examples
    --------
    >>> change = pd.DataFrame({"m": [-0.2, -0.4, 0.1, float("nan")]})
    >>> [(row["statistic"], round(row["estimate"], 3), row["n"], row["n_lost"])
    ...  for row in rows(change, group="female", confidence=0.95)]
    [('prejudice_share', 0.667, 3, 1), ('prejudice_extent', -0.3, 2, 1)]
    """
    down = fell(change, worse=worse)
    bounds = None
    if reach is not None:
        bounds = (0.0, reach) if worse > 0 else (-reach, 0.0)
    share = stats.pooled_share(down, confidence=confidence).row()
    extent = stats.pooled_mean(
        change.where(down == 1), confidence=confidence, bounds=bounds, tested=False
    ).row()
    lost = {"group": group, "n_lost": len(change) - share["n"]}
    both = zip(KINDS, (share, extent), strict=True)
    return [{"statistic": kind, **row, **lost} for kind, row in both]
