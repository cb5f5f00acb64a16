"""Changes of a mean between two runs over the same units, and non-inferiority by a margin.

The values of the two runs are paired by unit. Units may come in clusters, with the variance and
degrees of freedom of Bell and McCaffrey (2002): paired *t* tests where every unit is a cluster of
its own. Where both runs hold 0 and 1 alone, the score test of Tango (1998) replaces them, which
holds where few units change; in clusters, the variance is taken at the margin, too.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from scipy import stats
from scipy.optimize import bisect

from nbbias.stats.estimate import Estimate
from nbbias.stats.intervals import ONE_CLUSTER, ONE_VALUE, Sample, clustered_covariance

#: Direction in which a statistic gets worse: further from 0 on either side, upwards or downwards.
Worse = Literal["apart", "higher", "lower"]

#: A spread this small beside the values is rounding.
_ROUNDING = 1e-9
#: The largest number of units considered.
_MOST = 10_000_000


class PairedMeans(NamedTuple):
    """Two means over common units with their variances and covariance.

    `n` counts the units; `spread` is the range of all values: no unit can change by more.
    """

    first: float
    second: float
    var_first: float
    var_second: float
    cov: float
    df: float
    n: int
    spread: float

    @property
    def negligible(self) -> float:
        """A standard error this small is rounding."""
        return _ROUNDING * max(1.0, self.spread)

    def error(self, new: int = 1, old: int = 1) -> float:
        """Return the standard error of `new` times the second mean less `old` times the first."""
        # Both variances count where a factor is 0, too: the smaller of two p values would err more
        # often than one of them.
        variance = self.var_second + self.var_first - 2 * new * old * self.cov
        return math.sqrt(max(variance, 0.0))


def paired_means(both: pd.DataFrame) -> PairedMeans:
    """Return the means of `first` and `second` over units that may share a `cluster`.

    Examples
    --------
    >>> means = paired_means(pd.DataFrame({"first": [0.0, 1.0], "second": [1.0, 2.0]}))
    >>> means.second - means.first, means.var_first, means.df
    (1.0, 0.25, 1.0)
    """
    values = both[["first", "second"]].to_numpy(float)
    centre, n = values.mean(axis=0), len(values)
    spread = float(np.ptp(values)) or 1.0  # all alike: shares and rates could differ by 1
    covariance, df = np.full((2, 2), np.nan), 0.0
    if n > 1 and all(codes.max() > 0 for codes in _clusters(both)):
        covariance, df = _covariance((values - centre) / n, _clusters(both))
    (var_first, cov), (_, var_second) = covariance.tolist()
    first, second = centre.tolist()
    return PairedMeans(first, second, var_first, var_second, cov, df, n, spread)


def _clusters(both: pd.DataFrame) -> list[np.ndarray]:
    """Number the clusters of units from 0, and those that cross them where they vary.

    Without a column `cluster` each unit is one of its own.
    """
    codes = [pd.factorize(both[name])[0] for name in ("cluster", "crossed") if name in both]
    varying = [numbers for numbers in codes if len(numbers) and numbers.max() > 0]
    return varying or codes[:1] or [np.arange(len(both))]


def _covariance(influence: np.ndarray, clusters: list[np.ndarray]) -> tuple[np.ndarray, float]:
    """Return the covariance of estimates over clusters, or over two that cross each other.

    What either adds to the covariance over units alone counts where it is positive, and the fewer
    degrees of freedom of the two.
    """
    parts = [clustered_covariance(influence, codes) for codes in clusters]
    if len(parts) == 1:
        return parts[0]
    covariance, _ = clustered_covariance(influence, np.arange(len(influence)))
    total = covariance
    for part, _ in parts:
        values, vectors = np.linalg.eigh(part - covariance)
        total = total + (vectors * np.maximum(values, 0)) @ vectors.T
    return total, min(df for _, df in parts)


def paired_change(both: pd.DataFrame, *, confidence: float) -> Estimate:
    """Test the mean of `second` minus `first` against 0, two-sided.

    Parameters
    ----------
    both
        A row for each unit that both runs have: `first`, `second` and, where units share it,
        `cluster`, and `crossed` where they share another one that crosses it.
    confidence
        Level of the interval.

    Returns
    -------
    Estimate
        `estimate`, always `second` minus `first`. Without clusters as `stats.paired_difference`, or
        ``paired_shares(second, first)`` where all values are 0 or 1.

    Examples
    --------
    >>> both = pd.DataFrame({"first": [2.0, 3.0, 1.0], "second": [3.0, 5.0, 4.0]})
    >>> result = paired_change(both, confidence=0.95)
    >>> result.estimate, result.n, result.test, round(result.p_value, 3)
    (2.0, 3, 'paired t', 0.074)
    """
    if both.empty:
        return Estimate(reason="no unit is in both runs", n=0, test="paired t")
    means = paired_means(both)
    clustered = any(codes.max() + 1 < means.n for codes in _clusters(both))
    if not clustered and _is_binary(both):
        return paired_shares(both["second"], both["first"], confidence=confidence)
    test = "paired t over clusters" if clustered else "paired t"
    result = Estimate(means.second - means.first, n=means.n, test=test)
    if means.df < 1:
        return result.replace(reason=ONE_VALUE if means.n == 1 else ONE_CLUSTER)
    error = means.error()
    result = result.replace(df=means.df).with_t_interval(error, means.df, confidence=confidence)
    if error <= means.negligible:
        return result.replace(reason="the change is the same in all units: no test")
    return result.with_t_test(error, means.df)


# --- non-inferiority --------------------------------------------------------------------------


def noninferiority_test(both: pd.DataFrame, *, worse: Worse, margin: float) -> dict[str, Any]:
    """Test whether the second run is worse by more than a margin, and whether by less.

    Parameters
    ----------
    both
        As in `paired_change`.
    worse
        Where the statistic gets worse: ``"higher"``, ``"lower"``, or ``"apart"``, further from 0.
    margin
        How much worse is still accepted, 0 or more, in the statistic's unit.

    Returns
    -------
    dict
        `worsening`, how much worse the second run is, with `se` and `df`; `n`; `p_worse`, small
        where the second run is worse by more than the margin; `p_not_worse`, small where it is
        not. Both are one-sided, and NaN with fewer than two units or clusters.

    Notes
    -----
    Further from 0 is a statement of two means and two signs. The second run is worse where, on its
    side of 0, it lies further out than the first and than its mirror image; `p_worse` is the larger
    of the two p values, each of both sides of 0 (the second may be on either). It is not worse
    where it lies within the margin of 0, on both sides, whatever the first; or where, on both
    sides, it lies less than the margin further out than the first does on its own side, at the
    price of the p value of that side.

    References
    ----------
    Tango 1998, Statistics in Medicine 17(8); Berger 1982, Technometrics 24(4) (intersection-union).

    Examples
    --------
    >>> both = pd.DataFrame({"first": [0.1, 0.3, 0.2, 0.2], "second": [0.5, 0.6, 0.7, 0.5]})
    >>> row = noninferiority_test(both, worse="higher", margin=0.1)
    >>> round(row["worsening"], 3), row["p_worse"] < 0.05, row["p_not_worse"] < 0.05
    (0.375, True, False)
    """
    names = ("worsening", "se", "df", "p_worse", "p_not_worse")
    row: dict[str, Any] = {**dict.fromkeys(names, np.nan), "n": len(both)}
    if len(both) < 2:
        return row
    sign = -1 if worse == "lower" else 1
    means = paired_means(both.assign(first=sign * both["first"], second=sign * both["second"]))
    change, sides = means.second - means.first, (1, 1)
    if worse == "apart":
        change, sides = abs(means.second) - abs(means.first), _sides(means)
    row |= {"worsening": change, "se": means.error(*sides), "df": means.df}
    if means.df < 1:
        return row
    p_values = one_sided_tests(means, worse, margin)
    if worse != "apart" and _is_binary(both):
        steps = sign * (both["second"] - both["first"])
        tango = tango_tests((steps > 0).sum(), (steps < 0).sum(), len(both), margin)
        for codes in _clusters(both):
            # With clusters the largest p: each alone may be too small.
            if codes.max() + 1 < means.n:
                tango = tuple(np.maximum(tango, _score_tests(steps.to_numpy(float), codes, margin)))
        p_values = (float(tango[0]), float(tango[1]))
    return row | dict(zip(("p_worse", "p_not_worse"), p_values, strict=True))


def _score_tests(steps: np.ndarray, codes: np.ndarray, margin: float) -> tuple[float, float]:
    """Return `p_worse` and `p_not_worse` of steps in clusters by their variance at the margin.

    A mean of verdicts and its error vary together, so the error about the mean is too small where
    the mean is small; about the margin it is that of the null hypothesis.
    """
    _, df = clustered_covariance(steps[:, None], codes)
    error = float(np.sqrt((np.bincount(codes, weights=steps - margin) ** 2).sum())) / len(steps)
    t = float(steps.mean() - margin) / error if error else 0.0
    return float(stats.t.sf(t, df)), float(stats.t.cdf(t, df))


def one_sided_tests(means: PairedMeans, worse: Worse, margin: float) -> tuple[float, float]:
    """Return `p_worse` and `p_not_worse` of `noninferiority_test` by t tests.

    Parameters
    ----------
    means
        The two means over common units, with variances and covariance (a `PairedMeans`).
    worse
        ``"higher"``, ``"lower"``, or ``"apart"``: further from 0.
    margin
        The largest acceptable worsening.

    Examples
    --------
    >>> both = pd.DataFrame({"first": [0.1, 0.3, 0.2], "second": [0.9, 0.8, 1.0]})
    >>> p_worse, p_not_worse = one_sided_tests(paired_means(both), "higher", 0.1)
    >>> p_worse < 0.05, p_not_worse < 0.05
    (True, False)
    """
    if worse != "apart":
        return _p_above(means, 1, 1, margin), _p_below(means, 1, 1, margin)
    new, old = _sides(means)
    outside = [
        _p_above(means, new, side, margin) + _p_above(means, new, side, -margin) for side in (1, -1)
    ]
    error, p_side = math.sqrt(means.var_first), 0.5 if means.first == 0 else 0.0
    if error > 0:
        p_side = float(stats.t.sf(abs(means.first) / error, means.df))
    both = p_side + max(_p_below(means, 1, old, margin), _p_below(means, -1, old, margin))
    alone = max(_p_below(means, 1, 0, margin), _p_below(means, -1, 0, margin))
    return min(max(outside), 1.0), min(both, alone, 1.0)


def _sides(means: PairedMeans) -> tuple[int, int]:
    return -1 if means.second < 0 else 1, -1 if means.first < 0 else 1


def _p_above(means: PairedMeans, new: int, old: int, bound: float) -> float:
    """Return the p value of a contrast of the two means against being at most a bound."""
    gap, error = new * means.second - old * means.first - bound, means.error(new, old)
    if error > means.negligible:
        return float(stats.t.sf(gap / error, means.df))
    return 0.0 if gap > 0 else 1.0


def _p_below(means: PairedMeans, new: int, old: int, margin: float) -> float:
    """Return the p value of a contrast of the two means against being at least the margin."""
    contrast, error = new * means.second - old * means.first, means.error(new, old)
    if error > means.negligible:
        return float(stats.t.cdf((contrast - margin) / error, means.df))
    if contrast >= margin:
        return 1.0
    return _p_unchanged(means, means.n, margin) if abs(contrast) <= means.negligible else 0.0


def _p_unchanged(means: PairedMeans, n: int, margin: float) -> float:
    """Return how likely none of n units changes, if just so many do that the mean does by a margin.

    All that change at all change by the whole range.
    """
    return float((1 - min(margin / means.spread, 1)) ** n)


def _is_binary(both: pd.DataFrame) -> bool:
    return bool(both[["first", "second"]].isin([0, 1]).to_numpy().all())


def tango_score(up: Any, down: Any, n: Any, bound: Any, *, correction: float = 0.0) -> Any:
    """Return Tango's score statistic of a difference of paired shares against a bound.

    Parameters
    ----------
    up, down
        Units that are 1 in the second run alone, and in the first alone.
    n
        Units of both runs.
    bound
        The difference, second less first, of the null hypothesis.
    correction
        Units that are taken off the difference, for continuity.

    Examples
    --------
    >>> round(float(tango_score(6, 1, 40, 0.0)), 3)  # without a bound that of McNemar
    1.89
    """
    up, down = np.asarray(up, float), np.asarray(down, float)
    a, c = 2 * n, -down * bound * (1 - bound)
    b = -up - down + (2 * n - up + down) * bound
    root = (np.sqrt(np.maximum(b**2 - 4 * a * c, 0)) - b) / (2 * a)
    variance = n * (2 * root + bound * (1 - bound))
    with np.errstate(divide="ignore", invalid="ignore"):
        return (up - down - correction - n * bound) / np.sqrt(variance)


def tango_interval(up: int, down: int, n: int, *, confidence: float) -> tuple[float, float]:
    """Return the score interval of a difference of paired shares.

    Parameters
    ----------
    up, down
        As in `tango_score`.
    n
        Units of both runs, one at least.
    confidence
        Level of the interval.

    Returns
    -------
    (low, high)
        Within -1 and 1; it contains the difference, and has a width where no unit changed too.

    References
    ----------
    Tango 1998, Statistics in Medicine 17(8).

    Examples
    --------
    >>> low, high = tango_interval(1, 0, 10, confidence=0.95)
    >>> round(float(low), 3), round(float(high), 3)
    (-0.205, 0.404)
    """
    level, centre = stats.norm.ppf((1 + confidence) / 2), (up - down) / n

    def accepted(bound: float) -> float:
        score = float(tango_score(up, down, n, bound))
        return level if bound == centre else level - abs(score)

    low, high = (bisect(accepted, centre, end) if centre != end else end for end in (-1, 1))
    return low, high


def paired_shares(first: Sample, second: Sample, *, confidence: float) -> Estimate:
    """Compare two shares over the same units (paired).

    Parameters
    ----------
    first, second
        1 or True where it is so, 0 or False where not, in the same order; a unit with a gap on
        either side is left out and counted as lost.
    confidence
        Level of the interval.

    Returns
    -------
    Estimate
        `estimate`, the first share less the second; Tango's score interval; McNemar's test without
        a continuity correction, which is the score test of 0 and agrees with the interval.

    References
    ----------
    McNemar 1947, Psychometrika 12(2); Tango 1998, Statistics in Medicine 17(8); Fagerland et al.
    2013, BMC Med Res Methodol 13:91.

    Examples
    --------
    >>> row = paired_shares([1, 1, 1, 1, 0, 1], [1, 0, 0, 0, 0, 0], confidence=0.95)
    >>> round(row.estimate, 2), round(row.ci_low, 2), round(row.ci_high, 2), round(row.p_value, 3)
    (0.67, 0.02, 0.9, 0.046)
    """
    step = np.asarray(first, dtype=float) - np.asarray(second, dtype=float)
    n = int(np.isfinite(step).sum())
    result = Estimate(n=n, n_lost=len(step) - n, test="McNemar")
    up, down = int((step > 0).sum()), int((step < 0).sum())
    result = result.replace(estimate=(up - down) / n if n else np.nan)
    if n < 2:
        return result.replace(reason=ONE_VALUE if n else "no unit has both values")
    result = result.with_interval(*tango_interval(up, down, n, confidence=confidence))
    if not up + down:
        return result.replace(reason="every unit has equal values on both sides")
    z = float(tango_score(up, down, n, 0.0))
    return result.replace(statistic_value=z, p_value=float(2 * stats.norm.sf(abs(z))))


def tango_tests(up: Any, down: Any, n: Any, margin: float) -> tuple[Any, Any]:
    """Return `p_worse` and `p_not_worse` of `noninferiority_test` for units that are 0 or 1.

    Notes
    -----
    The score statistic is too often large where few units change: continuity corrections of one
    unit for `p_worse` and of half a unit for `p_not_worse` keep either at its level.

    Examples
    --------
    >>> p_worse, p_not_worse = tango_tests(1, 0, 100, 0.05)
    >>> bool(p_worse > 0.9), bool(p_not_worse < 0.1)
    (True, True)
    """
    above, below = (tango_score(up, down, n, margin, correction=by) for by in (1.0, -0.5))
    return stats.norm.sf(above), stats.norm.cdf(below)


# --- sample size ------------------------------------------------------------------------------


def noninferiority_power(
    both: pd.DataFrame, n: int, *, worse: Worse, margin: float, alpha: float
) -> float:
    """Return the power of a non-inferiority test with n units, if nothing changed.

    Parameters
    ----------
    both
        As in `noninferiority_test`: its variances, design effect and first mean are assumed.
    n
        Units of both runs, in clusters as large as here.
    worse, margin
        As in `noninferiority_test`.
    alpha
        Level of the one-sided test.

    Notes
    -----
    By the normal approximation. Where the test has several parts, each of which may fail, it is at
    least one less the sum of the probabilities that they do (Bonferroni).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> both = pd.DataFrame(rng.normal(size=(50, 2)), columns=["first", "second"])
    >>> noninferiority_power(both, 2000, worse="higher", margin=0.2, alpha=0.05) > 0.9
    True
    """
    means = paired_means(both)
    if worse != "apart" and _is_binary(both):
        change = both["second"] - both["first"]
        rate = ((change != 0).sum() + 1) / (len(both) + 2)  # as if two more units had changed once
        alone = float(change.var(ddof=1)) / means.n
        size = n / max(means.error() ** 2 / alone, 1.0) if alone > 0 else n
        expected = tango_score(size * rate / 2, size * rate / 2, size, margin, correction=-0.5)
        return float(stats.norm.cdf(-expected - stats.norm.isf(alpha)))
    scale = means.n / n
    critical = stats.t.isf(alpha, max((means.df + 1) / scale - 1, 1))

    def missed(gap: float, new: int, old: int) -> float:
        if (error := means.error(new, old)) > means.negligible:
            return float(stats.norm.sf(gap / (error * math.sqrt(scale)) - critical))
        return float(_p_unchanged(means, n, margin) > alpha)

    if worse != "apart":
        return 1 - missed(margin, 1, 1)
    side, size = (-1 if means.first < 0 else 1), abs(means.first)
    both_sides = missed(margin, 1, 1) + missed(margin + 2 * size, 1, -1) + missed(size, 0, side)
    alone = missed(margin - size, side, 0) + missed(margin + size, -side, 0)
    return 1 - min(both_sides, alone, 1.0)


def noninferiority_n(
    both: pd.DataFrame, *, worse: Worse, margin: float, alpha: float, power: float = 0.8
) -> int | None:
    """Return the number of units at which a non-inferiority test has a power.

    Parameters
    ----------
    both, worse, margin, alpha
        As in `noninferiority_power`.
    power
        The power wanted.

    Returns
    -------
    int or None
        To a hundredth; None with fewer than two units, or where more than ten million are needed.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> both = pd.DataFrame(rng.normal(size=(80, 2)), columns=["first", "second"])
    >>> noninferiority_n(both, worse="higher", margin=0.5, alpha=0.05) < 100
    True
    """
    if len(both) < 2 or paired_means(both).df < 1:
        return None
    how: dict[str, Any] = {"worse": worse, "margin": margin, "alpha": alpha}
    return smallest_sufficient(lambda n: noninferiority_power(both, n, **how) >= power)


def smallest_sufficient(suffices: Callable[[int], bool], *, most: int = _MOST) -> int | None:
    """Return the smallest number of units that fulfils a condition; None above a limit.

    Examples
    --------
    >>> smallest_sufficient(lambda n: n >= 40), smallest_sufficient(lambda n: n >= 40, most=20)
    (40, None)
    """
    high = 4
    while not suffices(high):
        if high == most:
            return None
        high = min(high * 2, most)
    low = high // 2
    while high - low > max(1, low // 100):
        middle = (low + high) // 2
        low, high = (low, middle) if suffices(middle) else (middle, high)
    return high
