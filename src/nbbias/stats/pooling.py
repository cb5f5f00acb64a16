"""Means and shares that were measured several times over, each time by another fit of topics.

A fit depends on its seed, so an estimate has two sources of uncertainty: the articles, and the
fits. They are crossed: every fit measures the same articles. With the mean over all articles and
all fits that could be made as the target, the variance of the mean over N articles and m fits is

    σ²(articles) / N + σ²(fits) / m + σ²(rest) / (N m),

estimated by the mean squares of the two-way random analysis of variance, with Satterthwaite's
(1946) degrees of freedom. What too few of the fits can measure is no claim about the texts: it
keeps its estimate, and has no interval and no test.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import norm, t

from nbbias.stats import intervals
from nbbias.stats.estimate import Bounds, Estimate

#: The share of the fits that must measure something that is reported: 3 of 4, all of 3, 4 of 5.
STABLE = 0.75

#: A variance this small is rounding.
_NO_SPREAD = 1e-24


class _Total(NamedTuple):
    estimate: float
    variance: float  # of the estimate: over articles and over fits
    df: float
    n: int
    fits: int
    alike: int  # fits on the same side of 0 as the estimate


def pooled_mean(
    values: pd.DataFrame, *, confidence: float, bounds: Bounds = None, tested: bool = True
) -> Estimate:
    """Return a mean over units and fits, its interval and its test against 0.

    Parameters
    ----------
    values
        Units by fits (one column where nothing is fitted); NaN where a unit was not measured.
    confidence
        Level of the interval.
    bounds
        The least and the largest value that the mean can have; the interval stays within.
    tested
        Whether it is tested against 0; without, a row as of `stats.mean_interval`.

    Returns
    -------
    Estimate
        As `stats.one_sample`, which it equals for one fit: the `estimate` is the mean of the means
        of the fits that measured something, its variance that of crossed articles and fits. `n` is
        the least number of units that such a fit measured, `n_lost` all others; `effect_size`
        the mean of the fits'. `test` says how many of the fits measured it, and in how many of
        them it has the estimate's sign. Where they are less than `STABLE` of all fits there is no
        interval and no test, and `reason` says so.

    Examples
    --------
    >>> values = pd.DataFrame({"fit 1": [0.0, 1.0, 2.0], "fit 2": [1.0, 2.0, 3.0]})
    >>> row = pooled_mean(values, confidence=0.95)
    >>> row.estimate, row.n, row.test
    (1.5, 3, 'one-sample t, 2 of 2 fits pooled, same sign in 2')
    >>> pooled_mean(values[["fit 1"]], confidence=0.95, tested=False).estimate
    1.0
    """
    measured = values.dropna(axis="columns", how="all")
    if values.shape[1] < 2 or measured.empty:
        function = intervals.one_sample if tested else intervals.mean_interval
        single = function(values.to_numpy(float).ravel(), confidence=confidence, bounds=bounds)
        return single.replace(n_lost=len(values) - (single.n or 0))
    total = _total(measured, ddof=1)
    result = Estimate(total.estimate, n=total.n, n_lost=len(values) - total.n)
    if tested:
        alike = measured.apply(lambda fit: intervals.all_alike(fit.dropna().to_numpy(float)))
        effect_sizes = measured.mean() / measured.std(ddof=1).mask(alike)
        effect_size = float(effect_sizes.mean(skipna=False))
        result = result.replace(test="one-sample t", effect_size=effect_size)
    return _with_test(result, total, fits=values.shape[1], confidence=confidence, bounds=bounds)


def pooled_difference(first: pd.DataFrame, second: pd.DataFrame, *, confidence: float) -> Estimate:
    """Return the difference of two means over units and fits, as of two samples, and its test.

    Parameters
    ----------
    first, second
        As in `pooled_mean`: units by the same fits. The units of the two are taken as unrelated.
    confidence
        Level of the interval.

    Returns
    -------
    Estimate
        As `pooled_mean`: `first` less `second`. `n` and `n_lost` are of both.

    Examples
    --------
    >>> first = pd.DataFrame({"fit 1": [0.0, 1.0, 2.0], "fit 2": [1.0, 2.0, 3.0]})
    >>> row = pooled_difference(first, first - 1, confidence=0.95)
    >>> row.estimate, row.n, row.test
    (1.0, 6, 'two samples, 2 of 2 fits pooled, same sign in 2')
    """
    both = first.notna().any() & second.notna().any()
    measured = [table.loc[:, both] for table in (first, second)]
    units = len(first) + len(second)
    if not both.any():
        return Estimate(reason="no value was measured", n=0, n_lost=units)
    total = _total(*measured, ddof=1)
    result = Estimate(total.estimate, n=total.n, n_lost=units - total.n, test="two samples")
    return _with_test(result, total, fits=first.shape[1], confidence=confidence)


def pooled_share(hits: pd.DataFrame, *, confidence: float) -> Estimate:
    """Return a share over units and fits with its Wilson interval.

    Parameters
    ----------
    hits
        Units by fits (one column where nothing is fitted): 1 where it is so, 0 where not, NaN
        where it was not measured.
    confidence
        Level of the interval.

    Returns
    -------
    Estimate
        `estimate`, `ci_low`, `ci_high`, `n`, `n_lost`, `reason`. Wilson's interval at the number of
        independent units that would give the variance of crossed units and fits; with one fit it
        is that of `stats.share_interval`. None where too few fits measured it (`pooled_mean`).

    Examples
    --------
    >>> hits = pd.DataFrame({"fit 1": [1, 0, 0, 1], "fit 2": [1, 0, 0, 0]})
    >>> row = pooled_share(hits, confidence=0.95)
    >>> row.estimate, row.n, row.n_lost
    (0.375, 4, 0)
    """
    measured = hits.dropna(axis="columns", how="all")
    if hits.shape[1] < 2 or measured.empty:
        single = intervals.share_interval(hits.to_numpy(float).ravel(), confidence=confidence)
        return single.replace(n_lost=len(hits) - (single.n or 0))
    total = _total(measured, ddof=0)
    reason = _unstable(total.fits, hits.shape[1])
    result = Estimate(total.estimate)
    if total.fits >= STABLE * hits.shape[1]:
        size = float(total.n)
        if total.variance > 0:  # as many independent units as give this variance; few fits: by t
            upper = (1 + confidence) / 2
            size = total.estimate * (1 - total.estimate) / total.variance
            size *= float((norm.ppf(upper) / t.ppf(upper, total.df)) ** 2)
        result = intervals.wilson(total.estimate, size, confidence=confidence)
    return result.replace(n=total.n, n_lost=len(hits) - total.n, reason=reason)


# --- articles crossed with fits ---------------------------------------------------------------


def _total(*tables: pd.DataFrame, ddof: int) -> _Total:
    """Return a mean over crossed units and fits, or a difference of two, with its variance."""
    means = np.array([table.mean().to_numpy() for table in tables])
    of_fits = means[0] - means[1] if len(means) > 1 else means[0]
    m, sizes = len(of_fits), [table.count() for table in tables]
    alike = int((np.sign(of_fits) == np.sign(of_fits.mean())).sum())
    df, n = sum(int(size.min()) - 1 for size in sizes), sum(int(size.min()) for size in sizes)
    total = _Total(float(of_fits.mean()), np.nan, max(df, 1), n, m, alike)
    if min(size.min() for size in sizes) <= ddof:
        return total
    # What every unit adds to a fit's mean; the sum of its squares is the variance of that mean.
    scaled = [
        (table - table.mean()) / np.sqrt(size * (size - ddof))
        for table, size in zip(tables, sizes, strict=True)
    ]
    parts = pd.concat(scaled).to_numpy()
    influence = np.nan_to_num(parts)
    of_units = float((influence.mean(axis=1) ** 2).sum())
    if m < 2:
        return total._replace(variance=of_units)
    between = float(of_fits.var(ddof=1)) / m
    counted = (~np.isnan(parts)).sum(axis=1)
    centre = influence.sum(axis=1) / np.maximum(counted, 1)
    squares = np.where(np.isnan(parts), 0.0, (influence - centre[:, None]) ** 2).sum(axis=1)
    # A unit of one fit says nothing of the rest: its square is 0.
    rest = float((squares * counted / np.maximum(counted - 1, 1)).sum()) / m**2
    # The rest is in both of the others: it counts once.
    variance = of_units + max(between - rest, 0.0)
    share = of_units**2 / total.df + (between**2 / (m - 1) if between > rest else 0.0)
    df_both = variance**2 / share if share > 0 else total.df
    return total._replace(variance=variance, df=df_both)


def _unstable(measured: int, fits: int) -> str | None:
    """Say where some fits measured nothing, and where these are too many."""
    if measured == fits:
        return None
    count = f"measured in {measured} of {fits} fits"
    return count if measured >= STABLE * fits else f"not stable over fits: {count}"


def _with_test(
    result: Estimate, total: _Total, *, fits: int, confidence: float, bounds: Bounds = None
) -> Estimate:
    """Add the interval and, where the result names one, the test; or the reason for none."""
    tested, reason = result.test is not None, _unstable(total.fits, fits)
    if tested:
        pooled = f"{total.fits} of {fits} fits pooled, same sign in {total.alike}"
        result = result.replace(test=f"{result.test}, {pooled}")
    if total.fits < STABLE * fits:
        return result.replace(reason=reason)
    if not np.isfinite(total.variance):
        return result.replace(reason=intervals.ONE_VALUE)
    if total.variance <= _NO_SPREAD:
        reason = intervals.NO_VARIANCE if tested else reason
        return result.replace(reason=reason, ci_low=total.estimate, ci_high=total.estimate)
    error = np.sqrt(total.variance)
    result = result.replace(reason=reason)
    result = result.with_t_interval(error, total.df, confidence=confidence, bounds=bounds)
    return result.with_t_test(error, total.df) if tested else result
