"""Cohen's kappa of two raters, with an interval that holds for rare labels."""

from __future__ import annotations

import numpy as np
from scipy import stats

from nbbias.stats.estimate import Estimate
from nbbias.stats.intervals import ONE_CLUSTER, ONE_VALUE, ROUNDING

#: What is added to each of the four counts: half a unit, as for odds ratios.
_ADDED = 0.5

NO_KAPPA = "both call all texts alike, so kappa has no value"


def kappa(
    first: np.ndarray, second: np.ndarray, clusters: np.ndarray | None = None, *, confidence: float
) -> Estimate:
    """Return Cohen's kappa of two raters, with an interval.

    Parameters
    ----------
    first, second
        Whether each says yes to each unit; no gap.
    clusters
        The cluster of each unit, such as its prompt; without, each stands alone.
    confidence
        Level of the interval.

    Returns
    -------
    Estimate
        `estimate`, Cohen's kappa, at most 1, 0 by chance; `ci_low`, `ci_high`, `n`, `reason`. The
        interval is of Fisher's z of the kappa that half a unit more in each of the four counts
        gives, with its large-sample variance (by the spread between clusters, never below that of
        single units) and the t of the units or clusters less one; widened where it misses the
        estimate. With few units it is wide, and drawn towards 0. NaN where both say the same of all
        units, or there is one.

    References
    ----------
    Cohen 1960, Educ Psychol Meas 20(1); Fleiss, Cohen and Everitt 1969, Psychol Bull 72(5), for
    the variance; half a unit: Haldane 1956, Ann Hum Genet 20(4).

    Examples
    --------
    >>> texts = np.arange(8)
    >>> row = kappa(texts < 2, texts < 1, confidence=0.95)
    >>> round(row.estimate, 2), round(row.ci_low, 2), round(row.ci_high, 2)
    (0.6, -0.41, 0.9)
    """
    n = len(first)
    if n == 0:
        return Estimate(reason="no unit to take it of", n=n)
    cells = np.bincount(2 * (~first) + ~second, minlength=4).astype(float)
    estimate, _ = _kappa(cells / n)
    if not np.isfinite(estimate):
        return Estimate(reason=NO_KAPPA, n=n)
    codes = np.arange(n) if clusters is None else np.unique(clusters, return_inverse=True)[1]
    count = int(codes.max()) + 1
    if count < 2:
        return Estimate(estimate, n=n, reason=ONE_VALUE if n == 1 else ONE_CLUSTER)
    more = n + 4 * _ADDED
    shares = (cells + _ADDED) / more
    smooth, slopes = _kappa(shares)
    variance = float(shares @ slopes**2 - (shares @ slopes) ** 2) / more
    if count < n:
        influence = slopes[2 * (~first) + ~second]
        influence = influence - influence.mean()
        sums, alone = np.bincount(codes, weights=influence), float(influence @ influence)
        together = float(sums @ sums) * count / (count - 1)
        # Where all units are alike, clusters are counted.
        variance *= max(1.0, together / alone) if alone > ROUNDING else n / count
    half = stats.t.ppf((1 + confidence) / 2, count - 1) * np.sqrt(variance) / (1 - smooth**2)
    low, high = np.tanh(np.arctanh(smooth) + np.array([-half, half]))
    return Estimate(estimate, n=n).around(low, high)


def _kappa(shares: np.ndarray) -> tuple[float, np.ndarray]:
    """Return kappa of the shares of yes-yes, yes-no, no-yes and no-no, and its slopes in them."""
    both, first_only, second_only, none = shares
    first = np.array([both + first_only, second_only + none])
    second = np.array([both + second_only, first_only + none])
    rest = 1 - float(first @ second)  # what chance leaves
    if rest <= ROUNDING:
        return np.nan, np.full(4, np.nan)
    value = 1 - (first_only + second_only) / rest
    by_chance = (second[:, None] + first[None, :]).ravel()
    return float(value), (np.array([1.0, 0, 0, 1]) - (1 - value) * by_chance) / rest
