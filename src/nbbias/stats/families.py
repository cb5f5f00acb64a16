"""Families of tests: p values corrected for how many were asked together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from scipy import stats

from nbbias.tables import ESTIMATE_KEYS, UNTESTABLE

Where: TypeAlias = Mapping[str, Any] | pd.Series


def adjust(
    estimates: pd.DataFrame,
    *,
    family: Sequence[str | pd.Series] = (),
    where: Where | None = None,
    method: str = "holm",
    mirror: str | None = None,
    into: str = "p_adjusted",
) -> pd.DataFrame:
    """Correct the p values of a table for the number of tests in each family.

    Parameters
    ----------
    estimates
        One row per test, with `p_value`; NaN was not tested, stays NaN and does not count.
    family
        The columns (or Series beside the table, such as ``table["task"].isna()``) whose values
        name a family, a gap being a value too. None: all rows are one.
    where
        Which rows are tested: column → its value or values, or a Series of bool. The others keep
        what they have. None: all.
    method
        ``"holm"`` (family-wise error) or ``"fdr_bh"`` (false discovery rate), as statsmodels names
        them.
    mirror
        The column whose two values, where a bias of a family has just two, are mirror images of
        one test: the first is tested, and its p stands for both. With more values all are tested.
    into
        The column that the corrected p is written into.

    Returns
    -------
    DataFrame
        A copy with `into`, in [`p_value`, 1]. Where the table has the columns of ESTIMATES, a row
        that no outcome could have brought below 1 - `confidence` in its family (its `p_least`
        corrected as if every test had given its least) says so in `reason`, with its N.

    Raises
    ------
    ValueError
        There is no such method.

    Examples
    --------
    >>> table = pd.DataFrame(
    ...     {
    ...         "statistic": ["bias", "bias", "difference", "difference"],
    ...         "group": ["all", "all", "she", "he"],
    ...         "model": ["a", "b", "a", "a"],
    ...         "p_value": [0.01, 0.04, 0.03, 0.03],
    ...     }
    ... )
    >>> adjust(table)["p_adjusted"].tolist()
    [0.04, 0.09, 0.09, 0.09]
    >>> adjust(table, family=["statistic"])["p_adjusted"].tolist()
    [0.02, 0.04, 0.06, 0.06]
    >>> adjust(table, where={"statistic": "bias"})["p_adjusted"].tolist()
    [0.02, 0.04, nan, nan]

    Of two groups that share a whole one gains what the other loses; that is one test:

    >>> adjust(table, where={"statistic": "difference"}, mirror="group")["p_adjusted"].tolist()
    [nan, nan, 0.03, 0.03]
    """
    rows = estimates.reset_index(drop=True)
    chosen = _chosen(rows, where)
    keys = [key if isinstance(key, str) else key.set_axis(rows.index) for key in family]
    number = rows.groupby(keys, dropna=False).ngroup() if keys else pd.Series(0, rows.index)
    p = pd.to_numeric(rows["p_value"]).astype(float).where(chosen)
    if mirror is not None:
        values = rows[mirror].where(chosen)
        own = [number, *(rows[key] for key in ("bias",) if key in rows)]
        by = values.groupby(own, dropna=False)
        second = (by.transform("nunique") == 2) & (values != by.transform("first"))
        p = p.mask(second & values.notna())
    corrected = pd.Series(np.nan, rows.index)
    floors = rows.get("p_least", pd.Series(np.nan, rows.index)).astype(float).fillna(0.0)
    least = corrected.copy()
    for at in p.groupby(number).indices.values():
        corrected.iloc[at] = _corrected(p.to_numpy()[at], method)
        least.iloc[at] = _corrected(floors.where(p.notna()).to_numpy()[at], method)
    if mirror is not None:
        # The two images have all keys but that one in common.
        same = [key for key in (*ESTIMATE_KEYS, "instrument") if key in rows and key != mirror]
        images = corrected.groupby([number, *(rows[key] for key in same)], dropna=False)
        tested = chosen & rows["p_value"].notna()
        corrected = corrected.fillna(images.transform("first")).where(tested)
    told = corrected.where(chosen, rows.get(into, np.nan))
    table = estimates.assign(**{into: told.to_numpy(dtype=float)})
    if {"reason", "confidence", "n"} <= set(rows):
        silent = (least >= 1 - rows["confidence"].astype(float)) & rows["reason"].isna()
        why = [f"{UNTESTABLE}{n:,.0f}" for n in rows["n"]]
        reasons = pd.Series(why, index=rows.index, dtype=rows["reason"].dtype)
        table["reason"] = rows["reason"].mask(silent, reasons).set_axis(table.index)
    return table


def _chosen(rows: pd.DataFrame, where: Where | None) -> pd.Series:
    if isinstance(where, pd.Series):
        return where.set_axis(rows.index).astype(bool)
    chosen = pd.Series(True, index=rows.index)
    for name, wanted in (where or {}).items():
        values = [wanted] if isinstance(wanted, str) or np.isscalar(wanted) else list(wanted)
        chosen &= rows[name].isin(values)
    return chosen


def _corrected(p_values: np.ndarray, method: str) -> np.ndarray:
    """Correct one family; NaN stay NaN and do not count."""
    corrected, tested = np.full(len(p_values), np.nan), ~np.isnan(p_values)
    p = p_values[tested]
    if method == "fdr_bh":
        corrected[tested] = stats.false_discovery_control(p) if len(p) else p
    elif method == "holm":
        # statsmodels' multipletests collects garbage at every call: most of a study's time.
        order = np.argsort(p)
        steps = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
        corrected[np.flatnonzero(tested)[order]] = np.minimum(steps, 1.0)
    else:
        raise ValueError(f"method must be 'holm' or 'fdr_bh', but is {method!r}")
    return corrected
