"""The intervals and tests of `stats` over many repeats of a study at once: a row is a repeat."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.stats import t
from statsmodels.stats.proportion import proportion_confint

from nbbias import stats
from nbbias.stats.pooling import STABLE

Bounds = tuple[float, float]


def means(
    values: np.ndarray, *, confidence: float, bounds: Bounds = (-np.inf, np.inf)
) -> pd.DataFrame:
    """Return the mean of every repeat, its t interval and its test against 0: `stats.one_sample`.

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
        A row a repeat: `estimate`, `ci_low`, `ci_high`, `p_value` (two-sided) and `n`. NaN where
        there is no value, one, or, for the test, no spread.

    Examples
    --------
    >>> means(np.array([[1.0, 2, 3, np.nan]]), confidence=0.95).round(3).iloc[0, :4].tolist()
    [2.0, -0.484, 4.484, 0.074]
    """
    table = pd.DataFrame(values)
    estimate, error, n = table.mean(axis=1), table.sem(axis=1), table.count(axis=1)
    spread = table.max(axis=1) - table.min(axis=1)
    alike = spread <= 1e-12 * table.abs().max(axis=1).clip(lower=1.0)
    half = error.mask(alike & (n > 1), 0.0) * t.ppf((1 + confidence) / 2, n - 1)
    return pd.DataFrame(
        {
            "estimate": estimate,
            "ci_low": (estimate - half).clip(*bounds),
            "ci_high": (estimate + half).clip(*bounds),
            "p_value": 2 * t.sf(np.abs(estimate / error.mask(alike)), n - 1),
            "n": n,
        }
    )


def shares(hits: np.ndarray, *, confidence: float) -> pd.DataFrame:
    """Return the share of every repeat and its Wilson interval: `stats.share_interval`.

    Parameters
    ----------
    hits
        Repeats by units: 1 or 0, NaN where a unit does not count.
    confidence
        Level of the interval.

    Examples
    --------
    >>> shares(np.array([[1.0, 0, np.nan, 0, 0]]), confidence=0.95).round(3).iloc[0].tolist()
    [0.25, 0.046, 0.699, 4.0]
    """
    table = pd.DataFrame(hits)
    n = table.count(axis=1)
    low, high = proportion_confint(
        table.sum(axis=1), n.where(n > 0), alpha=1 - confidence, method="wilson"
    )
    return pd.DataFrame({"estimate": table.mean(axis=1), "ci_low": low, "ci_high": high, "n": n})


def paired_shares(changes: np.ndarray, *, confidence: float) -> pd.DataFrame:
    """Return every repeat's difference of paired shares, as `means` but with Tango's interval.

    Parameters
    ----------
    changes
        Repeats by units: 1, 0 or -1, NaN where a unit was not measured.
    confidence
        Level of the interval (`stats.tango_interval`).

    Examples
    --------
    >>> paired_shares(np.array([[1.0] + [0] * 9]), confidence=0.95).round(3).iloc[0, :3].tolist()
    [0.1, -0.205, 0.404]
    """
    table = means(changes, confidence=confidence)
    several = (table["n"] > 1).to_numpy()
    up, down = ((sign * changes > 0).sum(axis=1)[several] for sign in (1, -1))
    n = table["n"].to_numpy()[several]
    ends = stats.tango_interval(up, down, n, confidence=confidence)
    table.loc[several, ["ci_low", "ci_high"]] = np.column_stack(ends)
    return table


def pooled(
    values: np.ndarray, *, confidence: float, bounds: Bounds = (-np.inf, np.inf)
) -> pd.DataFrame:
    """Return the mean of every repeat over units crossed with fits: `stats.pooled_mean`.

    Parameters
    ----------
    values
        Repeats by units by two fits or more; NaN where a unit was not measured.
    confidence, bounds
        As in `means`.

    Returns
    -------
    DataFrame
        As `means`, with `df` and `statistic_value`. Neither interval nor test where fewer than
        `STABLE` of the fits measured anything.

    Examples
    --------
    >>> values = np.array([[[0.0, 1.0], [1.0, 2.0], [2.0, 3.0]]])
    >>> pooled(values, confidence=0.95)[["estimate", "n"]].iloc[0].tolist()
    [1.5, 3.0]
    """
    sizes = (~np.isnan(values)).sum(axis=1).astype(float)
    sizes[sizes == 0] = np.nan
    n, m = np.nanmin(sizes, axis=1), (sizes > 0).sum(axis=1)
    of_fits = np.nansum(values, axis=1) / sizes
    estimate = np.nanmean(of_fits, axis=1)
    # What every unit adds to a fit's mean; the sum of its squares is the variance of that mean.
    scale = np.sqrt(sizes * np.where(sizes > 1, sizes - 1, np.nan))[:, None]
    influence = (values - of_fits[:, None]) / scale
    of_units = ((np.nansum(influence, axis=2) / m[:, None]) ** 2).sum(axis=1)
    between = np.nanvar(of_fits, axis=1, ddof=1) / m
    counted = np.maximum((~np.isnan(influence)).sum(axis=2), 1)
    centred = influence - (np.nansum(influence, axis=2) / counted)[:, :, None]
    squares = np.nansum(centred**2, axis=2)
    rest = (squares * counted / np.maximum(counted - 1, 1)).sum(axis=1) / m**2
    # The rest is in both of the others: it counts once.
    beyond = np.where(between > rest, between, 0.0)
    variance = of_units + np.where(between > rest, between - rest, 0.0)
    df = variance**2 / (of_units**2 / (n - 1) + beyond**2 / (m - 1))
    stable = (n > 1) & (m >= STABLE * values.shape[2])
    error = np.where(stable, np.sqrt(variance), np.nan)
    half = t.ppf((1 + confidence) / 2, df) * error
    return pd.DataFrame(
        {
            "estimate": estimate,
            "ci_low": np.clip(estimate - half, *bounds),
            "ci_high": np.clip(estimate + half, *bounds),
            "p_value": 2 * t.sf(np.abs(estimate / error), df),
            "n": n,
            "df": df,
            "statistic_value": estimate / error,
        }
    )
