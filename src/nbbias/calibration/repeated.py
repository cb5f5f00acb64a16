"""The intervals and tests of `stats` over many repeats of a study at once: arrays, not tables.

A row is a repeat, a column a unit. `tests/calibration/test_repeated.py` holds each row against what
`stats` says of it.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.stats import t
from statsmodels.stats.proportion import proportion_confint

#: A spread this small beside the values is rounding, as in `stats`.
_ROUNDING = 1e-12


def means(
    values: np.ndarray, *, confidence: float, bounds: tuple[float, float] = (-np.inf, np.inf)
) -> pd.DataFrame:
    """Return of every repeat a mean, its t interval and its test against 0: `stats.one_sample`.

    Parameters
    ----------
    values
        Repeats by units; NaN where a unit was not measured.
    confidence
        Level of the interval.
    bounds
        The least and the largest value that the mean can have; the interval stays within.

    Returns
    -------
    DataFrame
        A row a repeat: `estimate`, `ci_low`, `ci_high`, `p_value` (two-sided), `n`, `df` and
        `error`, the standard error. NaN where there is no value, one, or, for the test, no spread.

    Examples
    --------
    >>> means(np.array([[1.0, 2, 3, np.nan]]), confidence=0.95).round(3).iloc[0, :4].tolist()
    [2.0, -0.484, 4.484, 0.074]
    """
    known = ~np.isnan(values)
    n = known.sum(axis=1)
    mean = _ratio(np.where(known, values, 0.0).sum(axis=1), n, n > 0)
    off = np.where(known, values - mean[:, None], 0.0)
    error = np.sqrt(_ratio((off**2).sum(axis=1), n * (n - 1.0), n > 1))
    half = t.ppf((1 + confidence) / 2, n - 1) * error
    largest = np.where(known, np.abs(values), 0.0).max(axis=1, initial=1.0)
    alike = np.ptp(off, axis=1) <= _ROUNDING * largest
    p = 2 * t.sf(np.abs(_ratio(mean, error, ~alike & (error > 0))), n - 1)
    low, high = np.clip([mean - half, mean + half], *bounds)
    return pd.DataFrame({
        "estimate": mean, "ci_low": low, "ci_high": high, "p_value": p, "n": n, "df": n - 1.0,
        "error": error,
    })  # fmt: skip


def shares(hits: np.ndarray, *, confidence: float) -> pd.DataFrame:
    """Return of every repeat a share and its Wilson interval: `stats.share_interval`.

    Parameters
    ----------
    hits
        Repeats by units: 1 where it is so, 0 where not, NaN where it does not count.
    confidence
        Level of the interval.

    Examples
    --------
    >>> shares(np.array([[1.0, 0, np.nan, 0, 0]]), confidence=0.95).round(3).iloc[0].tolist()
    [0.25, 0.046, 0.699, 4.0]
    """
    n = (~np.isnan(hits)).sum(axis=1)
    hit = np.nansum(hits, axis=1)
    some = n > 0
    ends = np.full((2, len(n)), np.nan)
    if some.any():
        ends[:, some] = proportion_confint(
            hit[some], n[some], alpha=1 - confidence, method="wilson"
        )
    found = {"estimate": _ratio(hit, n, some), "ci_low": ends[0], "ci_high": ends[1]}
    return pd.DataFrame(found | {"n": n})


def _ratio(part: np.ndarray, whole: np.ndarray, there: np.ndarray) -> np.ndarray:
    nothing = np.full(len(part), np.nan)
    return np.asarray(np.divide(part, whole, out=nothing, where=there))
