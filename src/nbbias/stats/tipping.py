"""Tipping points: how wrong a scorer would have to be for a finding to vanish.

A difference between two sides may be the scorer's where it errs more on one of them. Its tipping
point is the smallest such error with which the interval of the corrected difference reaches 0.

References
----------
Lee et al. 2025, arXiv:2511.21140 (sensitivity to a judge's errors).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.optimize import brentq
from scipy.stats import binom

from nbbias.stats.estimate import Estimate
from nbbias.stats.intervals import mean_interval, sparse_mean

#: The largest error that is tried.
_MOST = 0.999


def _smallest(ci_low: Callable[[float], float]) -> float:
    """Return the smallest error at which an interval reaches 0; NaN where none does."""
    if not ci_low(0.0) > 0:
        return 0.0
    return float(brentq(ci_low, 0, _MOST)) if ci_low(_MOST) <= 0 else np.nan


def _lower_limit(mean: Estimate) -> float:
    """Return the lower limit; of equal values, which have no interval, their mean."""
    return mean.ci_low if mean.n == 1 or not np.isnan(mean.ci_low) else mean.estimate


def recall_tipping_point(first: np.ndarray, second: np.ndarray, *, confidence: float) -> float:
    """Return the difference in a word list's recall that would explain a difference of shares.

    Parameters
    ----------
    first, second
        Paired texts by two columns: words found of the group, and of the other groups. Texts
        without words have no share.
    confidence
        Level of the interval of the mean difference of shares (`sparse_mean`).

    Returns
    -------
    float
        The share of the group's words that the list would have to miss, beyond what it misses on
        the other side, on the side with the smaller share of them (`first` where the mean
        difference is below 0). 0 where the interval holds 0; NaN where no miss would do.

    Examples
    --------
    >>> answers, originals = np.array([[5, 5], [4, 5], [5, 6]] * 8), np.array([[8, 4]] * 24)
    >>> round(recall_tipping_point(answers, originals, confidence=0.95), 2)
    0.51
    """
    whole = (first.sum(axis=1) > 0) & (second.sum(axis=1) > 0)
    if not whole.any():
        return np.nan
    sides = [side[whole].astype(int) for side in (first, second)]
    fewer, more = sorted(sides, key=lambda side: (side[:, 0] / side.sum(axis=1)).mean())
    shares = fewer[:, 0] / fewer.sum(axis=1)

    def ci_low(missed: float) -> float:
        # What would be left of the other side's words, were as many of them missed.
        left = np.arange(more[:, 0].max(initial=0) + 1)
        chances = binom.pmf(left, more[:, :1], 1 - missed)
        words = left + more[:, 1:]
        weight = (chances * (words > 0)).sum(axis=1)
        share = (chances * left / np.maximum(words, 1)).sum(axis=1)
        difference = (share - weight * shares) / weight.mean()
        return _lower_limit(sparse_mean(difference, confidence=confidence))

    return _smallest(ci_low)


def verdict_tipping_points(
    first: np.ndarray, second: np.ndarray, *, confidence: float
) -> tuple[float, float]:
    """Return the differences in a classifier's errors that would explain a difference of rates.

    Parameters
    ----------
    first, second
        Verdicts on paired units, 1 or 0, or rates of repeated ones.
    confidence
        Level of the interval of the mean difference.

    Returns
    -------
    (float, float)
        The false-positive rate on the side with the higher rate, and the false-negative rate on the
        other, each beyond that of the other side and each alone. 0 where the interval holds 0; NaN
        where no error would do.

    Examples
    --------
    >>> first, second = np.repeat([1.0, 0], [60, 40]), np.repeat([1.0, 0], [20, 80])
    >>> points = verdict_tipping_points(first, second, confidence=0.95)
    >>> [round(point, 2) for point in points]
    [0.39, 0.54]
    """
    fewer, more = sorted((first, second), key=np.mean)

    def mean(difference: np.ndarray) -> float:
        return _lower_limit(mean_interval(difference, confidence=confidence))

    # (more - x) / (1 - x) and fewer / (1 - x), times what does not change the sign.
    return (
        _smallest(lambda x: mean(more - x - (1 - x) * fewer)),
        _smallest(lambda x: mean((1 - x) * more - fewer)),
    )


def subtract_rates(first: Estimate, second: Estimate) -> tuple[float, float, float]:
    """Subtract two independent rates; the interval is MOVER's, from those of both.

    Examples
    --------
    >>> rates = subtract_rates(Estimate(0.9, 0.8, 0.95), Estimate(0.8, 0.7, 0.88))
    >>> [round(value, 2) for value in rates]
    [0.1, -0.03, 0.21]
    """
    difference = first.estimate - second.estimate
    below = np.hypot(first.estimate - first.ci_low, second.ci_high - second.estimate)
    above = np.hypot(first.ci_high - first.estimate, second.estimate - second.ci_low)
    return difference, float(difference - below), float(difference + above)
