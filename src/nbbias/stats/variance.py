"""Analysis of variance: one mean per group, and errors of the means."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy import stats
from scipy.special import chdtr, chdtri, chndtrinc, fdtrc, fdtri

from nbbias.stats.intervals import all_alike

_TEST = ("statistic_value", "df", "p_value", "effect_size")


def anova(table: pd.DataFrame, *, value: str, by: str) -> dict[str, Any]:
    """One-way analysis of variance.

    Parameters
    ----------
    table
        One row per unit.
    value, by
        The measured column and the column of groups.

    Returns
    -------
    dict
        `statistic_value` (F), `df` (within groups), `df_between`, `p_value`,
        `effect_size` (omega squared, which chance alone leaves at 0 on average; eta squared
        would be above 0), `n`. NaN with a `reason` when there are fewer than two groups
        or no group has two values.

    Examples
    --------
    >>> table = pd.DataFrame({"group": list("aaabbb"), "value": [1.0, 2, 3, 4, 5, 6]})
    >>> row = anova(table, value="value", by="group")
    >>> round(row["statistic_value"], 3), row["df"], row["df_between"], row["n"]
    (13.5, 4.0, 1.0, 6)
    """
    data = pd.DataFrame({"value": table[value].astype(float), "group": table[by].astype(str)})
    data = data.dropna()
    groups = data["group"].nunique()
    row: dict[str, Any] = {"test": "one-way ANOVA", "n": len(data), "df_between": groups - 1}
    row |= {"reason": None, **dict.fromkeys(_TEST, np.nan)}
    if groups < 2 or len(data) <= groups:
        return row | {"reason": "needs two groups, and a group with two values"}
    if all_alike(data["value"].to_numpy()):
        return row | {"reason": "all values are alike"}
    f, p = stats.f_oneway(*(subset["value"] for _, subset in data.groupby("group")))
    # Of sums of squares: (between - df of between * mean within) / (total + mean within).
    above = (groups - 1) * (f - 1)
    test = {"statistic_value": f, "df": len(data) - groups, "df_between": groups - 1}
    test |= {"p_value": p, "effect_size": 1 - len(data) / (above + len(data))}
    return row | {name: float(number) for name, number in test.items()}


def repeated_measures_anova(table: pd.DataFrame) -> dict[str, Any]:
    """Analysis of variance within units: conditions that were all measured on the same units.

    Parameters
    ----------
    table
        Units by conditions; a unit with a gap is lost.

    Returns
    -------
    dict
        As `anova`: `statistic_value` (F), `df` (of the error) and `p_value`, both corrected for
        unequal correlations between the conditions; `effect_size` (partial epsilon squared, at
        most 1, which chance alone leaves at 0 on average; partial eta squared would be above 0),
        `n`, `n_lost`. NaN with a `reason` for fewer than two conditions or three units, or where
        the conditions differ alike in every unit.

    References
    ----------
    Greenhouse and Geisser 1959, Psychometrika 24(2).

    Examples
    --------
    >>> table = pd.DataFrame({"a": [8, 9, 6, 5, 8], "b": [7, 5, 2, 3, 4], "c": [1, 2, 3, 1, 5]})
    >>> row = repeated_measures_anova(table)
    >>> round(row["statistic_value"], 2), round(row["df"], 2), round(row["p_value"], 4)
    (11.84, 4.91, 0.0171)
    """
    whole, means, residuals = _decompose(table)
    n, k = whole.shape
    row: dict[str, Any] = {"test": "repeated measures ANOVA, Greenhouse-Geisser", "n": n}
    row |= {"n_lost": len(table) - n, "reason": None, **dict.fromkeys(_TEST, np.nan)}
    if k < 2 or n < 3:
        return row | {"reason": "needs two conditions, and three units that have them all"}
    if np.abs(residuals).max() < 1e-9:
        return row | {"reason": "the conditions differ alike in every unit: no test"}
    # F as statsmodels' AnovaRM, which fits a column per unit and takes a second for 360 of them.
    df1, df2 = k - 1, (n - 1) * (k - 1)
    f = float(n * means.var() * k / df1 / ((residuals**2).sum() / df2))
    epsilon = _sphericity(whole)
    p = float(fdtrc(df1 * epsilon, df2 * epsilon, f))
    effect_size = (f - 1) * df1 / (f * df1 + df2)
    test = {"statistic_value": f, "df": df2 * epsilon, "p_value": p, "effect_size": effect_size}
    return row | test


def _decompose(table: pd.DataFrame) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return complete units, the conditions' means, and residuals of units plus conditions."""
    values = table.to_numpy(float, na_value=np.nan)
    whole = values[~np.isnan(values).any(axis=1)]
    if not whole.size:
        return whole, np.array([]), np.array([])
    means = whole.mean(axis=0)
    return whole, means, whole - means - whole.mean(axis=1, keepdims=True) + whole.mean()


def _sphericity(whole: np.ndarray) -> float:
    """Return how far the conditions' covariances are from alike: 1 / (k - 1) to 1."""
    k = whole.shape[1]
    centring = np.eye(k) - 1 / k
    double = centring @ np.cov(whole, rowvar=False) @ centring
    return float(np.trace(double) ** 2 / ((k - 1) * (double**2).sum()))


def spread_interval(table: pd.DataFrame, *, confidence: float) -> tuple[float, float]:
    """Return an interval for the spread (population standard deviation) of the conditions' means.

    Parameters
    ----------
    table
        Units by conditions, two or more; a unit with a gap is lost.
    confidence
        Level of the interval.

    Returns
    -------
    (low, high) : float
        0 lies within just where `repeated_measures_anova` does not reject; the spread of the
        observed means always does. NaN for fewer than two units, or where the conditions differ
        alike in every unit.

    Notes
    -----
    Noise lifts the observed spread, so a percentile of resampled ones may miss the true one. The
    sum of squares is taken for a noncentral chi-squared with Greenhouse and Geisser's degrees of
    freedom, on a scale by which it rejects 0 where their F does, and the interval holds the
    spreads that it does not reject: by its upper tail alone while they are below what noise gives,
    by both tails alike above.

    Examples
    --------
    >>> table = pd.DataFrame({"a": [8, 9, 6, 5, 8], "b": [7, 5, 2, 3, 4], "c": [1, 2, 3, 1, 5]})
    >>> low, high = spread_interval(table, confidence=0.95)
    >>> round(low, 2), round(high, 2)
    (0.77, 3.32)
    """
    whole, means, residuals = _decompose(table)
    n, k = whole.shape
    if n < 2 or k < 2 or np.abs(residuals).max() < 1e-9:
        return np.nan, np.nan
    epsilon, alpha = _sphericity(whole), 1 - confidence
    df1, df2 = (k - 1) * epsilon, (n - 1) * (k - 1) * epsilon
    scale = fdtri(df1, df2, 1 - alpha) * df1 / chdtri(df1, alpha)
    # The spread whose square, divided by this, is the noncentrality.
    noise = scale * float((residuals**2).sum()) / ((n - 1) * (k - 1)) / (n * k * epsilon)
    x = float(means.var()) / noise

    def noncentral(below: float) -> float:
        """Return the noncentrality of which a share `below` lies below what was observed."""
        return 0.0 if chdtr(df1, x) <= below else float(chndtrinc(x, df1, below))

    low, high = noncentral(1 - alpha), max(df1, noncentral(alpha / 2))
    if low >= df1:
        low = max(df1, noncentral(1 - alpha / 2))
    return float(np.sqrt(min(low, x) * noise)), float(np.sqrt(max(high, x) * noise))


def group_means(values: np.ndarray, groups: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
    """Return the mean of each group in the one-way ANOVA model, with its standard error.

    Parameters
    ----------
    values, groups
        Of each unit: its value, and its group, numbered from 0 without a gap.

    Returns
    -------
    (means, errors, df)
        By group; all groups share one variance, of `df` degrees of freedom. The errors are NaN when
        no group has two units.

    Examples
    --------
    >>> means, errors, df = group_means(np.array([1.0, 3, 6, 8]), np.array([0, 0, 1, 1]))
    >>> means.tolist(), errors.tolist(), df
    ([2.0, 7.0], [1.0, 1.0], 2)
    """
    counts, means, squares = _by_group(values, groups)
    df = len(values) - len(counts)
    pooled = squares.sum() / df if df else np.nan
    return means, np.sqrt(pooled / counts), df


def _by_group(values: np.ndarray, groups: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    counts = np.bincount(groups)
    means = np.bincount(groups, weights=values) / counts
    return counts, means, np.bincount(groups, weights=(values - means[groups]) ** 2)


def mean_of_means(values: np.ndarray, groups: np.ndarray) -> tuple[float, float, float]:
    """Return the mean of group means, with a standard error for groups that vary unlike.

    Parameters
    ----------
    values, groups
        Of each unit: its value, and its group, numbered from 0 without a gap.

    Returns
    -------
    (estimate, error, df) : float
        Each group has its own variance; one of a single unit takes that pooled over the others.
        Satterthwaite's degrees of freedom, of unbiased squares of the variances, between 1 and
        those of the pooled variance. The error is NaN when no group has two units.

    Notes
    -----
    With v the squared error that a group adds and f its degrees of freedom, v² is larger than it
    should be by (f + 2) / f, so that df = (sum of v)² / (sum of v² / (f + 2)) - 2: of groups that
    vary alike that is on average near the sum of f, where the plain formula gives a third of it for
    pairs.

    References
    ----------
    Satterthwaite 1946, Biometrics Bulletin 2(6); Welch 1947, Biometrika 34.

    Examples
    --------
    >>> estimate, error, df = mean_of_means(np.array([1.0, 3, 6, 8]), np.array([0, 0, 1, 1]))
    >>> estimate, error, df
    (4.5, 0.7071067811865476, 2.0)
    """
    counts, means, squares = _by_group(values, groups)
    freedom, pooled = counts - 1, int((counts - 1).sum())
    estimate = float(means.mean())
    if not pooled:
        return estimate, np.nan, 0.0
    single = freedom == 0
    variances = np.where(single, squares.sum() / pooled, squares / np.maximum(freedom, 1))
    added = variances / counts / len(counts) ** 2
    whole = added.sum()
    parts = (added**2 / (np.where(single, pooled, freedom) + 2)).sum()
    df = float(np.clip(whole**2 / parts - 2, 1, pooled)) if whole > 0 else float(pooled)
    return estimate, float(np.sqrt(whole)), df
