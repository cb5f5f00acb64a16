"""Means over units that cross random facets, such as tasks with themes (generalizability theory).

Texts about one theme, or of one task, are alike; over tasks × themes as independent units a test
is wrong far too often, and over tasks alone themes count as fixed (Clark's "language-as-fixed-
effect fallacy"). The variance of a mean is that between tasks plus that between themes less their
interaction, which both hold; its degrees of freedom are Satterthwaite's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import chdtr, chdtri, chndtrinc, fdtrc, fdtri

from nbbias.stats.estimate import Bounds, Estimate
from nbbias.stats.inference import alpha, tails
from nbbias.stats.intervals import NO_VARIANCE, all_alike, mean_interval

#: A variance as small as this is rounding.
_NOTHING = 1e-18

ALIKE = "the conditions differ alike in every unit: no test"


def random_facets(table: pd.DataFrame | pd.Series, facets: Sequence[str]) -> list[str]:
    """Return the facets that vary in a table's index; one with a single level is fixed.

    Examples
    --------
    >>> index = pd.MultiIndex.from_product([["story"], ["joy", "war"]], names=["task", "theme"])
    >>> random_facets(pd.Series([1.0, 2.0], index), ["task", "theme"])
    ['theme']
    """
    return list(_levels(table, facets))


def _levels(table: pd.DataFrame | pd.Series, facets: Sequence[str]) -> dict[str, np.ndarray]:
    """Number the levels of the facets that vary, from 0: of each unit, by facet."""
    level = table.index.get_level_values
    numbers = {name: np.unique(level(name), return_inverse=True)[1] for name in facets}
    return {name: levels for name, levels in numbers.items() if levels.max(initial=0) > 0}


def _crossed(levels: Mapping[str, np.ndarray]) -> list[np.ndarray]:
    """Leave out a facet each of whose levels has one level of another: that one's variance has it.

    Where every task has themes of its own, texts vary by task.
    """
    varying = list(levels.values())
    if len(varying) < 2:
        return varying
    first, second = varying
    pairs = len(np.unique(first * (second.max() + 1) + second))
    nested = [pairs == second.max() + 1, pairs == first.max() + 1]
    return [varying[nested.index(True)]] if any(nested) else varying


def crossed_mean(
    values: pd.Series, *, facets: Sequence[str], confidence: float, bounds: Bounds = None
) -> Estimate:
    """Return a mean with its interval, tested against 0, over units that cross random facets.

    Parameters
    ----------
    values
        One value per unit, with the facets as levels of its index; NaN are lost.
    facets
        Up to two levels of the index that stand for others of their kind. Without any, or where
        none varies, units are independent, as in `one_sample`.
    confidence
        Level of the interval.
    bounds
        The least and the largest value that the mean can have; the interval stays within.

    Returns
    -------
    Estimate
        As `one_sample`; `n` counts units, `effect_size` is the mean over their standard deviation.

    References
    ----------
    Cronbach, Gleser, Nanda and Rajaratnam 1972, The Dependability of Behavioral Measurements;
    Satterthwaite 1946, Biometrics Bulletin 2(6).

    Examples
    --------
    >>> index = pd.MultiIndex.from_product([[1, 2, 3], [1, 2]], names=["task", "theme"])
    >>> values = pd.Series([1.0, 2, 2, 3, 5, 6], index)
    >>> row = crossed_mean(values, facets=["task", "theme"], confidence=0.95)
    >>> round(row.estimate, 2), round(row.ci_low, 2), round(row.ci_high, 2), round(row.df, 2)
    (3.17, -1.36, 7.7, 2.6)
    """
    whole = values.dropna()
    numbers, levels = whole.to_numpy(float), _levels(whole, facets)
    result = mean_interval(values, confidence=confidence, bounds=bounds)
    result = result.replace(test=_name("t", levels))
    if len(whole) < 2 or all_alike(numbers):
        return result if len(whole) < 2 else result.replace(reason=NO_VARIANCE)
    total, _, df = _variance(numbers[:, None], levels)
    if not total > _NOTHING:
        return result.without_test(NO_VARIANCE)
    error, effect_size = np.sqrt(total), float(result.estimate / numbers.std(ddof=1))
    result = result.with_t_interval(error, df, confidence=confidence, bounds=bounds)
    return result.with_t_test(error, df).replace(effect_size=effect_size)


def crossed_spread(
    table: pd.DataFrame, *, facets: Sequence[str], confidence: float
) -> dict[str, Any]:
    """Estimate the standard deviation of condition means over crossed random facets.

    Parameters
    ----------
    table
        Units by conditions, with the facets as levels of its index; a unit with a gap is lost.
    facets
        As in `crossed_mean`.
    confidence
        Level of the interval and of the range under the null hypothesis.

    Returns
    -------
    dict
        `estimate`, the spread (population standard deviation) of the means, with `ci_low` and
        `ci_high`; `null`, the spread that sampling alone gives (root mean square), with
        `null_low` and `null_high`. `test`, `statistic_value` (with two facets a quasi-F, with fewer
        the F of a repeated measures ANOVA), `df` (of the error) and `p_value`, both corrected for
        unequal variances and correlations of the conditions; `effect_size` (partial epsilon
        squared, at most 1, which chance alone leaves at 0 on average); `n`, `n_lost`. NaN with a
        `reason` for fewer than two conditions or three units, or where the conditions differ alike
        in every unit.

    Notes
    -----
    With balanced facets F = MS(condition) / (MS(condition × task) + MS(condition × theme) −
    MS(condition × task × theme)), where the divisor is no smaller than the last of them.

    Noise lifts the observed spread, so a percentile of resampled ones may miss the true one. The
    sum of squares is taken for a noncentral chi-squared, on a scale by which it rejects 0 where
    the F test does, and the interval holds the spreads that it does not reject: by its upper tail
    alone while they are below what noise gives, by both tails alike above.

    References
    ----------
    Clark 1973, Journal of Verbal Learning and Verbal Behavior 12(4); Satterthwaite 1946,
    Biometrics Bulletin 2(6); Greenhouse and Geisser 1959, Psychometrika 24(2).

    Examples
    --------
    >>> table = pd.DataFrame({"a": [8, 9, 6, 5, 8], "b": [7, 5, 2, 3, 4], "c": [1, 2, 3, 1, 5]})
    >>> row = crossed_spread(table, facets=[], confidence=0.95)
    >>> round(row["statistic_value"], 2), round(row["df"], 2), round(row["p_value"], 4)
    (11.84, 4.91, 0.0171)
    >>> [round(row[name], 2) for name in ("ci_low", "estimate", "ci_high", "null", "null_high")]
    [0.77, 1.98, 3.32, 0.58, 1.79]
    """
    whole = table.dropna()
    n, k = whole.shape
    numbers, levels = whole.to_numpy(float), _levels(whole, facets)
    result = Estimate(test=_name("F", levels), n=n, n_lost=len(table) - n)
    null = dict.fromkeys(("null", "null_low", "null_high"), np.nan)
    if n and k:
        result = result.replace(estimate=float(numbers.mean(axis=0).std()))
    if k < 2 or n < 3:
        reason = "needs two conditions, and three units that have them all"
        return result.replace(reason=reason).row() | null
    total, df1, df2 = _variance(numbers - numbers.mean(axis=1, keepdims=True), levels)
    if total <= _NOTHING:
        return result.replace(reason=ALIKE).row() | null
    f = result.estimate**2 * k / total
    effect_size, p_value = (f - 1) * df1 / (f * df1 + df2), float(fdtrc(df1, df2, f))
    result = result.replace(statistic_value=f, df=df2, p_value=p_value, effect_size=effect_size)
    result = result.with_interval(*_interval(f, total / k, (df1, df2), alpha=alpha(confidence)))
    squares = total / k * np.array([1, *fdtri(df1, df2, tails(confidence))])
    return result.row() | dict(zip(null, map(float, np.sqrt(squares)), strict=True))


def _interval(
    f: float, mean_square: float, df: tuple[float, float], *, alpha: float
) -> tuple[float, float]:
    """Return the spreads that a noncentral chi-squared with the quantiles of F does not reject."""
    df1, df2 = df
    scale = fdtri(df1, df2, 1 - alpha) * df1 / chdtri(df1, alpha)
    # The spread whose square, divided by this, is the noncentrality.
    noise = scale * mean_square / df1
    x = f * mean_square / noise

    def noncentral(below: float) -> float:
        """Return the noncentrality of which a share `below` lies below what was observed."""
        return 0.0 if chdtr(df1, x) <= below else float(chndtrinc(x, df1, below))

    low, high = noncentral(1 - alpha), max(df1, noncentral(alpha / 2))
    if low >= df1:
        low = max(df1, noncentral(1 - alpha / 2))
    return float(np.sqrt(min(low, x) * noise)), float(np.sqrt(max(high, x) * noise))


def _variance(numbers: np.ndarray, levels: Mapping[str, np.ndarray]) -> tuple[float, float, float]:
    """Estimate the variance of the columns' means, over one facet, two crossed ones, or units.

    Returns the sum of their variances, and the degrees of freedom of the conditions and of the sum.
    """
    residuals, n = numbers - numbers.mean(axis=0), len(numbers)
    rest, parts, facets = residuals, [], _crossed(levels)
    for facet in facets:
        member = np.eye(facet.max() + 1)[facet]
        sums = member.T @ residuals
        parts.append((sums.T @ sums / n**2 * len(sums) / (len(sums) - 1), len(sums) - 1))
        rest = rest - member @ (sums / member.sum(axis=0)[:, None])
    parts = parts or [(residuals.T @ residuals / n / (n - 1), n - 1)]
    between = sum(matrix for matrix, _ in parts)
    total = float(np.trace(between))
    if len(parts) == 2:
        df = max(n - sum(int(facet.max()) + 1 for facet in facets) + 1, 1)
        interaction = rest.T @ rest / df / n
        parts.append((interaction, df))
        total = float(max(total - np.trace(interaction), np.trace(interaction)))
    # The square of a part's trace over its degrees of freedom, as Greenhouse and Geisser's.
    uncertain = sum(float((matrix**2).sum()) / df for matrix, df in parts)
    squares = float((between**2).sum())
    if not squares:
        return 0.0, np.nan, np.nan
    return total, float(np.trace(between)) ** 2 / squares, total**2 / uncertain


def _name(test: str, facets: Iterable[str]) -> str:
    """Name a test by its statistic and what it generalizes to."""
    return f"{test} over random {' and '.join(f'{name}s' for name in facets) or 'units'}"
