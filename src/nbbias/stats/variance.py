"""Analysis of variance: one mean per group, errors of the means; how unlike vectors are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from nbbias.stats.estimate import Estimate
from nbbias.stats.inference import tails
from nbbias.stats.intervals import all_alike


def anova(table: pd.DataFrame, *, value: str, by: str) -> Estimate:
    """One-way analysis of variance.

    Parameters
    ----------
    table
        One row per unit.
    value, by
        The measured column and the column of groups.

    Returns
    -------
    Estimate
        `estimate` and `effect_size`, omega squared, which chance alone leaves at 0 on average (eta
        squared would be above 0); `statistic_value` (F), `df` (within groups), `p_value`, `n`.
        NaN with a `reason` when there are fewer than two groups or no group has two values.

    Examples
    --------
    >>> table = pd.DataFrame({"group": list("aaabbb"), "value": [1.0, 2, 3, 4, 5, 6]})
    >>> result = anova(table, value="value", by="group")
    >>> round(result.statistic_value, 3), result.df, result.n
    (13.5, 4.0, 6)
    """
    data = pd.DataFrame({"value": table[value].astype(float), "group": table[by].astype(str)})
    data = data.dropna()
    n, groups = len(data), data["group"].nunique()
    result = Estimate(test="one-way ANOVA", n=n)
    if groups < 2 or n <= groups:
        return result.replace(reason="needs two groups, and a group with two values")
    if all_alike(data["value"].to_numpy()):
        return result.replace(reason="no variance")
    f, p = (float(x) for x in stats.f_oneway(*(part["value"] for _, part in data.groupby("group"))))
    # Of sums of squares: (between - df of between * mean within) / (total + mean within).
    omega = 1 - n / ((groups - 1) * (f - 1) + n)
    test = {"statistic_value": f, "df": float(n - groups), "p_value": p}
    return result.replace(estimate=omega, effect_size=omega, **test)


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
    """Return the mean of group means, with a standard error for unequal variances.

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


def spread_ratio(
    first: pd.Series, second: pd.Series, *, clusters: tuple[Any, Any], confidence: float
) -> Estimate:
    """Return the ratio of two standard deviations, with an interval over clusters of both.

    Parameters
    ----------
    first, second
        Values without a gap.
    clusters
        Those of the first values and of the second, such as articles; one may have values of both.
    confidence
        Level of the interval.

    Returns
    -------
    Estimate
        `estimate`, 1 where both vary alike; a *t* interval of its logarithm from sums of influences
        over clusters (delta method); `n`, clusters. NaN where a side does not vary.

    Examples
    --------
    >>> values = pd.Series([1.0, 2.0, 4.0, 7.0])
    >>> row = spread_ratio(2 * values, values, clusters=("abcd", "abcd"), confidence=0.95)
    >>> row.estimate, round(row.ci_low, 6), round(row.ci_high, 6)
    (2.0, 2.0, 2.0)
    """
    if min(first.nunique(), second.nunique()) < 2:  # whose deviation rounding may leave above 0
        return Estimate(reason="a side does not vary", n=0)
    spreads = first.std(ddof=0), second.std(ddof=0)
    parts = [
        pd.Series((values - values.mean()).to_numpy() ** 2 / spread**2 - 1).div(2 * len(values))
        for values, spread in zip((first, second), spreads, strict=True)
    ]
    sums = [part.groupby(list(of)).sum() for part, of in zip(parts, clusters, strict=True)]
    influence, log_ratio = sums[0].sub(sums[1], fill_value=0), np.log(spreads[0] / spreads[1])
    n = len(influence)
    error = np.sqrt(float(influence @ influence) * n / max(n - 1, 1))
    low, high = log_ratio + error * stats.t.ppf(tails(confidence), n - 1)
    return Estimate(float(np.exp(log_ratio)), n=n).with_interval(np.exp(low), np.exp(high))


#: Units that the jackknife needs: of two it leaves one, which has no pair.
_FEWEST = 3


def pairwise_distances(vectors: np.ndarray) -> np.ndarray:
    r"""Return the jackknife value of every unit of the mean cosine distance between two units.

    Parameters
    ----------
    vectors : array, … × units × dimensions
        A vector of length 1 for each unit, such as a text, or the mean of its vectors where it has
        several: only pairs of different units count, so their number has no effect on average.

    Returns
    -------
    array, … × units
        Their mean is the mean of 1 - cosine over all pairs (0 to 2; lower: more alike), a
        U-statistic, which does not depend on the number of units on average. Their variance over
        units gives its standard error. NaN of fewer than three units.

    Notes
    -----
    With :math:`d_i` the mean distance of unit i to the others, and U the mean of all,
    :math:`n U - (n - 1) U_{-i} = U + \frac{2 (n - 1)}{n - 2} (d_i - U)`. Of vectors of length 1,
    U is the trace of their sample covariance: a difference of groups in direction adds nothing.

    References
    ----------
    Arvesen 1969, Annals of Mathematical Statistics 40(6): jackknife of U-statistics.

    Examples
    --------
    >>> values = pairwise_distances(np.array([[1.0, 0], [0.6, 0.8], [0, 1]]))
    >>> values.round(2).tolist(), round(float(values.mean()), 2)
    ([1.2, -0.4, 0.8], 0.53)
    """
    n = vectors.shape[-2]
    if n < _FEWEST:
        return np.full(vectors.shape[:-1], np.nan)
    cosines = (vectors * (vectors.sum(axis=-2, keepdims=True) - vectors)).sum(axis=-1) / (n - 1)
    mean = 1 - cosines.mean(axis=-1, keepdims=True)
    return np.asarray(mean + 2 * (n - 1) / (n - 2) * (1 - cosines - mean))
