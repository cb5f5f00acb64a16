"""The intervals and tests of `stats` over many repeats of a study at once: arrays, not tables.

A row is a repeat, a column a unit. `tests/calibration/test_repeated.py` holds each row against what
`stats` says of it.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.stats import t
from statsmodels.stats.proportion import proportion_confint

from nbbias.stats.noninferiority import tango_interval
from nbbias.stats.pooling import STABLE

#: A spread this small beside the values is rounding, as in `stats`.
_ROUNDING = 1e-12

#: A variance this small is rounding, as in `stats.pooled_mean`.
_NO_SPREAD = 1e-24


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
    return pd.DataFrame(
        {
            "estimate": mean,
            "ci_low": low,
            "ci_high": high,
            "p_value": p,
            "n": n,
            "df": n - 1.0,
            "error": error,
        }
    )


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


def paired_shares(changes: np.ndarray, *, confidence: float) -> pd.DataFrame:
    """Return of every repeat a difference of paired shares, Tango's interval, and the test of it.

    Parameters
    ----------
    changes
        Repeats by units: 1, 0 or -1, NaN where a unit was not measured.
    confidence
        Level of the interval.

    Returns
    -------
    DataFrame
        As `means`, but for the interval of more than one unit: `stats.tango_interval`.

    Examples
    --------
    >>> paired_shares(np.array([[1.0] + [0] * 9]), confidence=0.95).round(3).iloc[0, :3].tolist()
    [0.1, -0.205, 0.404]
    """
    found = means(changes, confidence=confidence)
    several = (found["n"] > 1).to_numpy()
    up, down = ((sign * changes > 0).sum(axis=1)[several] for sign in (1, -1))
    found.loc[several, ["ci_low", "ci_high"]] = np.column_stack(
        tango_interval(up, down, found["n"].to_numpy()[several], confidence=confidence)
    )
    return found


def pooled(
    values: np.ndarray, *, confidence: float, bounds: tuple[float, float] = (-np.inf, np.inf)
) -> pd.DataFrame:
    """Return of every repeat a mean over units crossed with fits: `stats.pooled_mean`.

    Parameters
    ----------
    values
        Repeats by units by two fits or more; NaN where a unit was not measured.
    confidence, bounds
        As in `means`.

    Returns
    -------
    DataFrame
        As `means`; `n` is that of the fit that measured the fewest units, of those that measured
        any. Neither interval nor test where fewer than `STABLE` of the fits did.

    Examples
    --------
    >>> values = np.array([[[0.0, 1.0], [1.0, 2.0], [2.0, 3.0]]])
    >>> pooled(values, confidence=0.95)[["estimate", "n"]].iloc[0].tolist()
    [1.5, 3.0]
    """
    known = ~np.isnan(values)
    n_fits = known.sum(axis=1)
    there = n_fits > 0
    m = there.sum(axis=1)
    of_fits = np.where(known, values, 0.0).sum(axis=1) / np.maximum(n_fits, 1)
    mean = _ratio(of_fits.sum(axis=1), m, m > 0)
    n = np.where(there, n_fits, np.iinfo(int).max).min(axis=1) * (m > 0)
    # What every unit adds to a fit's mean; the sum of its squares is the variance of that mean.
    weight = np.sqrt(np.maximum(n_fits * (n_fits - 1.0), 1))[:, None]
    own = np.where(known, values - of_fits[:, None], 0.0) / weight
    several = np.maximum(m, 1)
    of_units = ((own.sum(axis=2) / several[:, None]) ** 2).sum(axis=1)
    spread = np.where(there, (of_fits - mean[:, None]) ** 2, 0.0).sum(axis=1)
    between = spread / np.maximum(m - 1, 1) / several
    counted = known.sum(axis=2)
    centre = own.sum(axis=2) / np.maximum(counted, 1)
    squares = np.where(known, (own - centre[:, :, None]) ** 2, 0.0).sum(axis=2)
    rest = (squares * counted / np.maximum(counted - 1, 1)).sum(axis=1) / several**2
    beyond = (between > rest) & (m > 1)
    variance = of_units + np.where(beyond, between - rest, 0.0)
    df = np.maximum(n - 1.0, 1)
    share = of_units**2 / df + np.where(beyond, between**2 / np.maximum(m - 1, 1), 0.0)
    df = np.where(share > 0, variance**2 / np.where(share > 0, share, 1.0), df)
    error = np.sqrt(np.where((n > 1) & (m >= STABLE * values.shape[2]), variance, np.nan))
    error[variance <= _NO_SPREAD] *= 0
    half = t.ppf((1 + confidence) / 2, df) * error
    p = 2 * t.sf(np.abs(_ratio(mean, error, error > 0)), df)
    low, high = np.clip([mean - half, mean + half], *bounds)
    return pd.DataFrame(
        {
            "estimate": mean,
            "ci_low": low,
            "ci_high": high,
            "p_value": p,
            "n": n,
            "df": df,
            "error": error,
        }
    )


def _ratio(part: np.ndarray, whole: np.ndarray, there: np.ndarray) -> np.ndarray:
    nothing = np.full(len(part), np.nan)
    return np.asarray(np.divide(part, whole, out=nothing, where=there))
