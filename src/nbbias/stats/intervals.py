"""Intervals and tests: statsmodels and scipy, returned as small labelled tables.

Plain samples, means of differences most of which are 0, two samples without a common unit, and
values in clusters.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import pandas as pd
from scipy import stats
from scipy.stats import ttest_ind
from statsmodels.stats import proportion
from statsmodels.stats.weightstats import DescrStatsW

from nbbias.stats.estimate import Bounds, Estimate
from nbbias.stats.inference import alpha

#: Values or hits of independent units.
Sample: TypeAlias = pd.Series | np.ndarray

#: A spread this small beside the values is rounding, not spread.
ROUNDING = 1e-12

ONE_VALUE = "one value has no spread"
NO_WIDTH = "all values are equal"
ONE_CLUSTER = "one cluster has no spread"
NO_SPREAD = "all clusters are alike"
NO_VARIANCE = "no variance, so no test"


def all_alike(values: np.ndarray) -> bool:
    """Tell whether values differ by rounding alone, so that there is no spread to test."""
    return bool(np.ptp(values) <= ROUNDING * max(1.0, float(np.abs(values).max())))


def present(values: Sample) -> np.ndarray:
    """Return the values that are there.

    Examples
    --------
    >>> present(pd.Series([1, None])).tolist()
    [1.0]
    """
    numbers = np.asarray(values, dtype=float)
    return numbers[~np.isnan(numbers)]


def mean_interval(values: Sample, *, confidence: float, bounds: Bounds = None) -> Estimate:
    """Return a mean with its t interval.

    Parameters
    ----------
    values
        Numbers; NaN are left out and counted as lost.
    confidence
        Level of the interval, in (0, 1).
    bounds
        The least and the largest value that the mean can have; the interval stays within.

    Returns
    -------
    Estimate
        `estimate`, `ci_low`, `ci_high`, `n`, `n_lost`, `reason`. Without values the estimate is
        NaN; with one value, or where all are equal, the interval is; `reason` says so.

    Examples
    --------
    >>> row = mean_interval(pd.Series([1.0, 2.0, 3.0, np.nan]), confidence=0.95)
    >>> row.estimate, round(row.ci_low, 2), round(row.ci_high, 2), row.n, row.n_lost
    (2.0, -0.48, 4.48, 3, 1)
    """
    observed = present(values)
    result = Estimate(n=len(observed), n_lost=len(values) - len(observed))
    if len(observed) == 0:
        return result.replace(reason="no value was measured")
    result = result.replace(estimate=float(observed.mean()))
    if len(observed) == 1 or all_alike(observed):
        return result.replace(reason=ONE_VALUE if len(observed) == 1 else NO_WIDTH)
    error, df = DescrStatsW(observed).std_mean, len(observed) - 1
    return result.with_t_interval(error, df, confidence=confidence, bounds=bounds)


def one_sample(values: Sample, *, confidence: float, bounds: Bounds = None) -> Estimate:
    """Test a mean against 0.

    Parameters
    ----------
    values
        One value per independent unit; NaN are excluded.
    confidence, bounds
        Level of the interval; the least and the largest value that the mean can have.

    Returns
    -------
    Estimate
        As `mean_interval`, with the t-test's `test`, `statistic_value`, `df`, `p_value`
        (two-sided) and `effect_size`, Cohen's d (the mean over the standard deviation, signed).
        The test is NaN where there are fewer than two values or all are alike.

    Examples
    --------
    >>> row = one_sample(pd.Series([1.0, 2.0, 3.0]), confidence=0.95)
    >>> round(row.statistic_value, 3), row.df, round(row.p_value, 3), row.effect_size
    (3.464, 2.0, 0.074, 2.0)
    """
    result = mean_interval(values, confidence=confidence, bounds=bounds)
    result, observed = result.replace(test="one-sample t"), present(values)
    if len(observed) < 2 or all_alike(observed):
        return result if len(observed) < 2 else result.replace(reason=NO_VARIANCE)
    result = result.with_t_test(DescrStatsW(observed).std_mean, len(observed) - 1)
    return result.replace(effect_size=float(observed.mean() / observed.std(ddof=1)))


#: Values that must differ from 0 for the *t* interval.
ENOUGH = 20


def sparse_mean(values: Sample, *, confidence: float) -> Estimate:
    """Test the mean of differences in [-1, 1] against 0 where most of them are 0.

    Parameters
    ----------
    values
        Numbers from -1 to 1; NaN are left out and counted as lost.
    confidence
        Level of the interval.

    Returns
    -------
    Estimate
        As `one_sample`, which it is where 20 values or more differ from 0. With fewer, the interval
        is wider, and `p_value` and `statistic_value` agree with it: p is 1 - `confidence` where
        the interval ends at 0. Where no value differs from 0 there is an interval, and no test.

    Notes
    -----
    The mean is the rate of gains times their mean size, less the same for losses. Each rate has
    its exact binomial interval (Clopper and Pearson 1934), each size is a mean with one further
    value of 1, and the interval of the difference is MOVER's (Zou and Donner 2008, Statistics in
    Medicine 27(10)); it is never narrower than the *t* interval. That of few values other than 0
    is far too narrow, and [0, 0] where there are none.

    Examples
    --------
    >>> row = sparse_mean(np.zeros(80), confidence=0.95)
    >>> row.estimate, round(row.ci_low, 3), round(row.ci_high, 3), row.reason
    (0.0, -0.045, 0.045, 'no value differs from 0: no test')
    """
    result = one_sample(values, confidence=confidence, bounds=(-1, 1))
    observed = present(values)
    changed = int((np.abs(observed) > ROUNDING).sum())
    if len(observed) < 2 or changed >= ENOUGH:
        return result
    gain_below, gain_above = _margins(observed, confidence=confidence)
    loss_below, loss_above = _margins(-observed, confidence=confidence)
    mean, df = result.estimate, len(observed) - 1
    # Equal values have no t interval.
    below = np.fmax(np.hypot(gain_below, loss_above), mean - result.ci_low)
    above = np.fmax(np.hypot(gain_above, loss_below), result.ci_high - mean)
    result = result.with_interval(mean - below, mean + above, bounds=(-1, 1))
    result = result.replace(test="gains and losses, exact rates")
    if not changed:
        return result.replace(reason="no value differs from 0: no test")
    error = (below if mean > 0 else above) / stats.t.ppf((1 + confidence) / 2, df)
    return result.with_t_test(error, df).replace(reason=None)


def _margins(values: np.ndarray, *, confidence: float) -> tuple[float, float]:
    """Return how far the contribution of values above 0 may lie below and above what it is."""
    gains = values[values > ROUNDING]
    rate = len(gains) / len(values)
    low, high = proportion.proportion_confint(len(gains), len(values), alpha(confidence), "beta")
    size = (gains.sum() + 1) / (len(gains) + 1)
    return float(size * (rate - low)), float(size * (high - rate))


def paired_difference(first: pd.Series, second: pd.Series, *, confidence: float) -> Estimate:
    """Test the mean of `first - second` over the units that both have.

    Parameters
    ----------
    first, second
        Values indexed by unit. Units with a value on one side only are counted as lost.
    confidence
        Level of the interval.

    Returns
    -------
    Estimate
        As `mean_interval`, with the paired t-test's `test`, `statistic_value`,
        `df`, `p_value` (two-sided) and `effect_size`, Cohen's d of the differences
        (their mean over their standard deviation, signed).

    Examples
    --------
    >>> first = pd.Series({"a": 3.0, "b": 5.0, "c": 4.0, "d": 9.0})
    >>> second = pd.Series({"a": 2.0, "b": 3.0, "c": 1.0})
    >>> row = paired_difference(first, second, confidence=0.95)
    >>> row.estimate, row.n, row.n_lost, row.test
    (2.0, 3, 1, 'paired t')
    """
    both = pd.concat([first, second], axis=1, keys=["first", "second"])
    result = one_sample(both["first"] - both["second"], confidence=confidence)
    return result.replace(test="paired t")


def proportion_interval(count: int, total: int, *, confidence: float) -> Estimate:
    """Return a share with its Wilson interval; without units, NaN with a reason.

    Parameters
    ----------
    count, total
        How many of how many independent units.
    confidence
        Level of the interval.

    Examples
    --------
    >>> row = proportion_interval(1, 4, confidence=0.95)
    >>> row.estimate, round(row.ci_low, 3), round(row.ci_high, 3), row.n
    (0.25, 0.046, 0.699, 4)
    """
    if total == 0:
        return Estimate(reason="no unit to take a share of", n=0)
    return wilson(count / total, total, confidence=confidence).replace(n=total)


def share_interval(hits: Sample, *, confidence: float) -> Estimate:
    """Return the share of true values, with its Wilson interval.

    Parameters
    ----------
    hits
        1 or True where it is so, 0 or False where not; a gap is left out and counted as lost.
    confidence
        Level of the interval.

    Returns
    -------
    Estimate
        As `proportion_interval`, and `n_lost`.

    Examples
    --------
    >>> row = share_interval(pd.Series([True, False, None, False, False]), confidence=0.95)
    >>> row.estimate, row.n, row.n_lost
    (0.25, 4, 1)
    """
    observed = pd.Series(hits).dropna().astype(float)
    result = proportion_interval(int(observed.sum()), len(observed), confidence=confidence)
    return result.replace(n_lost=len(hits) - len(observed))


def clustered_share(
    hits: np.ndarray, clusters: np.ndarray, *, weights: np.ndarray | None = None, confidence: float
) -> Estimate:
    """Return a share with its Wilson interval when units come in clusters.

    Parameters
    ----------
    hits
        1 where it is so, 0 where not.
    clusters
        The cluster of each unit, such as its prompt.
    weights
        The weight of each unit; equal by default.
    confidence
        Level of the interval.

    Returns
    -------
    Estimate
        As `proportion_interval`, of as many independent units as the spread between clusters leaves
        (Kish's design effect, never below 1), with the variance and the t of Bell and McCaffrey for
        the normal quantile. Where all units are alike, clusters are counted. Plain Wilson where
        every unit is a cluster of its own; no interval where one cluster holds units that differ.

    References
    ----------
    Korn and Graubard 1998, Survey Methodology 24(2); Dean and Pagano 2015, J Surv Stat Methodol 3.

    Examples
    --------
    Five answers to each of four prompts are alike, so they are worth hardly more than four:

    >>> hits, prompts = np.repeat([1.0, 0, 0, 0], 5), np.repeat(range(4), 5)
    >>> row = clustered_share(hits, prompts, confidence=0.95)
    >>> row.estimate, round(row.ci_low, 2), round(row.ci_high, 2), row.n
    (0.25, 0.02, 0.87, 20)
    """
    n = len(hits)
    if n == 0:
        return proportion_interval(0, 0, confidence=confidence)
    weight = np.full(n, 1 / n) if weights is None else weights / weights.sum()
    share = float(weight @ hits)
    influence, size = weight * (hits - share), 1 / float(weight @ weight)
    size = effective_size(influence, clusters, size=size, weights=weight, confidence=confidence)
    return wilson(share, size, confidence=confidence).replace(n=n)


def clustered_mean(
    values: np.ndarray, clusters: np.ndarray, *, confidence: float, bounds: Bounds = None
) -> Estimate:
    """Return a mean with its t interval when values come in clusters.

    Parameters
    ----------
    values
        Numbers without a gap, one at least.
    clusters
        The cluster of each value, such as its comment.
    confidence
        Level of the interval.
    bounds
        The least and the largest value that the mean can have; the interval stays within.

    Returns
    -------
    Estimate
        `estimate` (the mean of all values), `ci_low`, `ci_high`, `reason`. The variance is
        the sum over clusters of their squared sums, each divided by 1 minus the cluster's share
        of all values; the fewer and the more unequal the clusters, the fewer degrees of freedom.
        Where every value is a cluster of its own that is `mean_interval`. NaN with one cluster, and
        where sums do not vary, which does not make the estimate certain.

    References
    ----------
    Bell and McCaffrey 2002, Survey Methodology 28(2), of a mean alone; Imbens and Kolesár 2016,
    Rev Econ Stat 98(4).

    Examples
    --------
    >>> of = {"confidence": 0.95, "bounds": (-1.0, 1.0)}
    >>> row = clustered_mean(np.array([1.0, 1, 0, 0, 0, 0]), np.array(list("aabbcc")), **of)
    >>> round(row.estimate, 3), round(row.ci_low, 3), round(row.ci_high, 3)
    (0.333, -1.0, 1.0)
    """
    n, mean = len(values), float(values.mean())
    codes = np.unique(clusters, return_inverse=True)[1]
    if codes.max() == 0:
        return Estimate(mean, reason=ONE_CLUSTER)
    covariance, df = clustered_covariance((values - mean)[:, None] / n, codes)
    error = float(np.sqrt(covariance[0, 0]))
    if error <= ROUNDING:
        return Estimate(mean, reason=NO_SPREAD)
    return Estimate(mean).with_t_interval(error, df, confidence=confidence, bounds=bounds)


def clustered_covariance(
    influence: np.ndarray, codes: np.ndarray, *, weights: np.ndarray | None = None
) -> tuple[np.ndarray, float]:
    """Return the covariance of estimates over units in clusters, and its degrees of freedom.

    Parameters
    ----------
    influence
        Units × estimates: what each unit adds to each estimate less its expectation.
    codes
        The cluster of each unit, numbered from 0; two clusters at least.
    weights
        Share of each unit in the estimates, summing to 1; equal by default.

    Returns
    -------
    covariance, df
        The squared sums of clusters, each divided by 1 minus the cluster's share of all units,
        added up. The fewer and the more unequal the clusters, the fewer degrees of freedom.

    References
    ----------
    Bell and McCaffrey 2002, Survey Methodology 28(2), of means alone.

    Examples
    --------
    Where every unit is a cluster of its own, the variance of a mean:

    >>> values = np.array([[1.0], [2.0], [6.0]])
    >>> covariance, df = clustered_covariance((values - 3) / 3, np.arange(3))
    >>> round(float(covariance[0, 0]), 6) == round(float(values.var(ddof=1) / 3), 6), round(df, 6)
    (True, 2.0)
    """
    share = np.bincount(codes, weights=weights)
    share = share / share.sum()
    sums = np.column_stack([np.bincount(codes, weights=column) for column in influence.T])
    covariance = (sums.T / (1 - share)) @ sums
    between = share**2 / (1 - share)
    df = 1 / ((share**2).sum() + between.sum() ** 2 - (between**2).sum())
    return covariance, max(1.0, float(df))  # of two clusters it is 1, but for rounding


def equal_weights(clusters: np.ndarray) -> np.ndarray:
    """Return weights of units that make clusters, numbered from 0, count equally.

    Examples
    --------
    >>> equal_weights(np.array([0, 0, 1])).tolist()
    [0.5, 0.5, 1.0]
    """
    return np.asarray(1 / np.bincount(clusters)[clusters])


def effective_size(
    influence: np.ndarray,
    clusters: np.ndarray,
    *,
    size: float,
    weights: np.ndarray | None = None,
    confidence: float,
) -> float:
    """Return how many independent units are worth as much as units in clusters.

    Parameters
    ----------
    influence
        What each unit adds to the estimate less its expectation.
    clusters
        The cluster of each unit.
    size
        Units, were they independent.
    weights
        As in `clustered_covariance`.
    confidence
        Level of the interval that is to hold, for the t of few clusters.

    Returns
    -------
    float
        `size` where every unit is a cluster of its own. Where no unit has an influence, as many
        as there are clusters, and never more than `size`; else NaN where there is one cluster.

    Examples
    --------
    >>> off = np.array([1.0, -1, 1, -1, 1, -1, 1, -1])  # pairs that cancel tell no less
    >>> round(effective_size(off, np.repeat(range(4), 2), size=8, confidence=0.95), 1)
    3.0
    """
    codes = np.unique(clusters, return_inverse=True)[1]
    count = int(codes.max()) + 1
    if count == len(influence):
        return size
    if float(influence @ influence) < ROUNDING**2:
        return min(size, count)
    if count == 1:
        return np.nan
    covariance, df = clustered_covariance(influence[:, None], codes, weights=weights)
    effect = max(1.0, float(covariance[0, 0]) / float(influence @ influence))
    level = (1 + confidence) / 2
    return size / effect * float(stats.norm.ppf(level) / stats.t.ppf(level, df)) ** 2


def wilson(share: float, size: float, *, confidence: float) -> Estimate:
    """Return a share with its Wilson interval; counts need not be integers.

    Parameters
    ----------
    share, size
        The share, and the effective number of units.
    confidence
        Level of the interval.

    Examples
    --------
    >>> row = wilson(0.0, 40.0, confidence=0.95)
    >>> row.ci_low, round(row.ci_high, 3)
    (0.0, 0.088)
    """
    if not np.isfinite(size):
        return Estimate(share, reason=ONE_CLUSTER)
    level = alpha(confidence)
    low, high = proportion.proportion_confint(share * size, size, alpha=level, method="wilson")
    return Estimate(share).around(low, high)


def two_shares(first: Sample, second: Sample, *, confidence: float) -> Estimate:
    """Compare the shares of two independent samples.

    Parameters
    ----------
    first, second
        1 or True where it is so, 0 or False where not; they share no unit, and gaps are left out.
    confidence
        Level of the interval.

    Returns
    -------
    Estimate
        `estimate` (the first share minus the second), Newcombe's `ci_low` and `ci_high`; the z test
        with pooled variance: `test`, `statistic_value`, two-sided `p_value`; `n` of both, `reason`.
        NaN where a side has no unit; no test where all units of both sides are alike.

    References
    ----------
    Newcombe 1998, Statistics in Medicine 17 (method 10).

    Examples
    --------
    >>> row = two_shares(pd.Series([1, 1, 1, 0]), pd.Series([1, 0, 0, 0, 0]), confidence=0.95)
    >>> round(row.estimate, 2), round(row.ci_low, 2), round(row.ci_high, 2), row.n
    (0.55, -0.07, 0.81, 9)
    """
    a, b = (pd.Series(side).dropna().astype(float) for side in (first, second))
    result = Estimate(test="two shares, pooled z", n=len(a) + len(b))
    if a.empty or b.empty:
        return result.replace(reason="one side has no unit to take a share of")
    counts, sizes = (int(a.sum()), int(b.sum())), (len(a), len(b))
    low, high = proportion.confint_proportions_2indep(
        counts[0], sizes[0], counts[1], sizes[1], method="newcomb", alpha=alpha(confidence)
    )
    result = result.replace(estimate=float(a.mean() - b.mean())).with_interval(low, high)
    if sum(counts) in {0, sum(sizes)}:
        return result.replace(reason=NO_VARIANCE)
    z, p = proportion.proportions_ztest(counts, sizes)
    return result.replace(statistic_value=float(z), p_value=float(p))


def two_sample(first: Sample, second: Sample, *, pooled: bool, confidence: float) -> Estimate:
    """Compare the means of two independent samples by Student's or by Welch's t-test.

    Parameters
    ----------
    first, second
        Values that share no unit; NaN are left out.
    pooled
        Whether both sides are taken to have one variance (Student), or each its own (Welch).
    confidence
        Level of the interval.

    Returns
    -------
    Estimate
        `estimate` (mean of the first minus that of the second), with `test`, `df`, two-sided
        `p_value` and `effect_size` (Cohen's d with the pooled standard deviation); `n` of both.

    Examples
    --------
    >>> first, second = np.array([1.0, 2, 3]), np.array([2.0, 3, 7])
    >>> row = two_sample(first, second, pooled=False, confidence=0.95)
    >>> row.test, row.estimate, round(row.df, 2)
    ("Welch's t", -2.0, 2.56)
    """
    a, b = present(first), present(second)
    test, n = "Student's t, pooled" if pooled else "Welch's t", len(a) + len(b)
    estimate = float(a.mean() - b.mean()) if len(a) and len(b) else np.nan
    result = Estimate(estimate, test=test, n=n)
    if min(len(a), len(b)) < 2:
        return result.replace(reason="needs two values on each side")
    if all_alike(a) and all_alike(b):
        return result.replace(reason="no variance in either sample")
    tested = ttest_ind(a, b, equal_var=pooled)
    squares = len(a) * a.var() + len(b) * b.var()
    return result.with_interval(*tested.confidence_interval(confidence)).replace(
        statistic_value=float(tested.statistic),
        df=float(tested.df),
        p_value=float(tested.pvalue),
        effect_size=float(estimate / np.sqrt(squares / (n - 2))),
    )
