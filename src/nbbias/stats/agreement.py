"""Agreement of two raters, and of measures: several traits, each by several methods."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from nbbias.stats.estimate import Estimate
from nbbias.stats.intervals import NO_SPREAD, NO_VARIANCE, ONE_CLUSTER, ONE_VALUE, ROUNDING

# --- two raters --------------------------------------------------------------------------------

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


# --- measures ----------------------------------------------------------------------------------

#: Kinds of pairs of measures: one trait by two methods, two traits by one, two by two.
PAIRS = ("convergent", "discriminant", "heteromethod")

#: The mean convergent correlation minus the mean discriminant one.
DIFFERENCE = "validity_difference"

#: Levels of the columns of a table of measures.
MEASURE = ("trait", "part", "method")

#: Clusters that an interval needs.
FEWEST = 10

#: Clusters of equal sums of squares that a variance must be worth: 1 where one cluster differs.
_VARYING = 2

_FEW = f"fewer than {{}} clusters have both measures, or {_VARYING} differ in one"

_MISSING = {
    "convergent": "needs two methods of one trait",
    "discriminant": "needs two traits by one method",
    "heteromethod": "needs two traits and two methods",
}


def multitrait_multimethod(
    values: pd.DataFrame,
    *,
    clusters: pd.Series | np.ndarray,
    strata: pd.Series | np.ndarray | None = None,
    confidence: float,
    fewest: int = FEWEST,
) -> pd.DataFrame:
    r"""Correlate measures of several traits by several methods, and compare the correlations.

    Parameters
    ----------
    values
        Units by measures: the levels of the columns are `MEASURE`. A trait may have several parts,
        such as the groups of a bias: two parts of one trait are not compared. NaN: not measured.
        Of ranks, correlations are Spearman's.
    clusters
        The cluster of each unit, such as its article.
    strata
        Values are deviations from the mean of these, such as a model's, so that differences between
        them do not count. Without, from the mean of all.
    confidence
        Level of the intervals.
    fewest
        Clusters with both measures that a pair needs.

    Returns
    -------
    DataFrame
        A row a pair of measures, with `first` and `second` (places of columns), `statistic`
        (``"convergent_correlation"``, and so on, of `PAIRS`) and the fields of an `Estimate`:
        the correlation (−1 to 1). Then the mean of each kind (``"convergent_mean"``), and
        ``"validity_difference"``, the mean convergent minus the mean discriminant correlation (−2
        to 2) with its test: above 0 measures follow the trait, below 0 the method. `n` counts
        clusters, of the difference those of the scarcer kind. NaN with a `reason` where pairs are
        missing.

    Notes
    -----
    With t, m and g the shares of variance of the trait, the method and what all measures have in
    common, a convergent correlation is t + g and a discriminant one m + g: the difference is t − m.

    Intervals and the test are *t* of the jackknife over clusters, of correlations by Fisher's z;
    means of strata and ranks are not taken again. They need `FEWEST` clusters.

    References
    ----------
    Campbell and Fiske 1959, Psychol Bull 56(2); Efron and Stein 1981, Ann Stat 9(3), the jackknife.

    Examples
    --------
    >>> trait = np.random.default_rng(0).normal(size=(60, 2))
    >>> noise = np.random.default_rng(1).normal(size=(60, 4))
    >>> names = [(bias, "", scorer) for bias in ("gender", "race") for scorer in ("a", "b")]
    >>> columns = pd.MultiIndex.from_tuples(names, names=MEASURE)
    >>> values = pd.DataFrame(trait.repeat(2, axis=1) + noise / 2, columns=columns)
    >>> table = multitrait_multimethod(values, clusters=np.arange(60), confidence=0.95)
    >>> table["estimate"].round(2).tolist()[-1]
    0.73
    """
    codes = np.unique(np.asarray(clusters), return_inverse=True)[1]
    within = np.unique(strata, return_inverse=True)[1] if strata is not None else 0 * codes
    pairs = _pair(values.columns)
    whole, measured, worth = _leave_one_out(values.to_numpy(float), codes, within, pairs)
    counts = measured.sum(axis=0)
    few = (counts < fewest) | (worth < _VARYING)
    rows: list[dict[str, Any]] = []
    for at, pair in enumerate(pairs.to_dict("records")):
        row = _jackknife(whole[:, at], n=counts[at], confidence=confidence)
        if few[at]:
            row = Estimate(n=int(counts[at]), reason=_FEW.format(fewest))
        rows.append(pair | {"statistic": f"{pair.pop('kind')}_correlation"} | row.row())
    kinds, means, n = pairs["kind"].to_numpy(), {}, {}
    for kind in PAIRS:
        chosen = ~few & (kinds == kind)
        means[kind] = whole[:, chosen].mean(axis=1) if chosen.any() else np.full(len(whole), np.nan)
        n[kind] = measured[:, chosen].any(axis=1).sum()
        reason = "no pair has enough units" if (kinds == kind).any() else _MISSING[kind]
        row = _jackknife(means[kind], n=n[kind], confidence=confidence)
        row = row if chosen.any() else row.replace(reason=reason)
        of_none = {"first": np.nan, "second": np.nan}
        rows.append(of_none | {"statistic": f"{kind}_mean"} | row.row())
    first, second = PAIRS[:2]
    difference, fewer = means[first] - means[second], min(n[first], n[second])
    row = _jackknife(difference, n=fewer, confidence=confidence, correlation=False)
    if not np.isfinite(row.estimate):
        row = row.replace(reason=next(r["reason"] for r in rows[-3:] if r["reason"]))
    rows.append({"statistic": DIFFERENCE, "null": 0.0} | row.row())
    return pd.DataFrame(rows)


def _pair(columns: pd.Index) -> pd.DataFrame:
    """Return the places of each two measures that are compared, and of what kind they are."""
    rows = []
    for first, second in combinations(range(len(columns)), 2):
        (trait, part, method), (other, of, by) = columns[first], columns[second]
        if trait != other:
            kind = PAIRS[1] if method == by else PAIRS[2]
        elif part == of:
            kind = PAIRS[0]
        else:
            continue
        rows.append({"first": first, "second": second, "kind": kind})
    return pd.DataFrame(rows, columns=["first", "second", "kind"])


def _leave_one_out(
    values: np.ndarray, codes: np.ndarray, strata: np.ndarray, pairs: pd.DataFrame
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Correlate pairs of columns over all units, then without each cluster, by row.

    Returns the correlations, which clusters have both columns, and of how many the variance is.
    """
    size = int(codes.max(initial=-1)) + 1
    correlations, measured = np.empty((size + 1, len(pairs))), np.zeros((size, len(pairs)), bool)
    worth = np.zeros(len(pairs))
    for at, (first, second) in enumerate(pairs[["first", "second"]].to_numpy(int)):
        both = ~np.isnan(values[:, [first, second]]).any(axis=1)
        x, y = (_deviations(values[both, end], strata[both]) for end in (first, second))
        of = codes[both]
        moments = (np.ones(len(x)), x, y, x * x, y * y, x * y)
        sums = np.column_stack([np.bincount(of, moment, size) for moment in moments])
        measured[:, at] = sums[:, 0] > 0
        n, sx, sy, xx, yy, xy = np.vstack([sums.sum(axis=0), sums.sum(axis=0) - sums]).T
        with np.errstate(divide="ignore", invalid="ignore"):
            variances = xx - sx * sx / n, yy - sy * sy / n
            correlation = (xy - sx * sy / n) / np.sqrt(variances[0] * variances[1])
        correlations[:, at], worth[at] = correlation.clip(-1, 1), min(_worth(x, of), _worth(y, of))
    return correlations, measured, worth


def _deviations(values: np.ndarray, strata: np.ndarray) -> np.ndarray:
    """Subtract the mean of each value's stratum."""
    counts, sums = np.bincount(strata), np.bincount(strata, values)
    return np.asarray(values - (sums / np.maximum(counts, 1))[strata])


def _worth(values: np.ndarray, codes: np.ndarray) -> float:
    """Return of how many clusters with equal sums of squares a variance is: of one that differs, 1.

    A measure that hardly varies correlates with nothing, with a false certainty.
    """
    squares = np.bincount(codes, values**2, minlength=1)
    return float(squares.sum() ** 2 / (squares @ squares)) if squares.max() > ROUNDING else 0.0


def _jackknife(
    values: np.ndarray, *, n: int, confidence: float, correlation: bool = True
) -> Estimate:
    """Return a statistic of all clusters, whose others leave one out each, with its interval."""
    result = Estimate(float(values[0]), n=int(n), test=None if correlation else "jackknife t")
    if not np.isfinite(values).all():
        return result.replace(estimate=np.nan, reason=NO_VARIANCE)
    if n < FEWEST:
        return result.replace(reason=f"fewer than {FEWEST} clusters")
    scaled = np.arctanh(values.clip(-1 + ROUNDING, 1 - ROUNDING)) if correlation else values
    size = len(values) - 1
    error = float(np.sqrt((size - 1) / size * ((scaled[1:] - scaled[1:].mean()) ** 2).sum()))
    if error <= ROUNDING:
        return result.replace(reason=NO_SPREAD)
    z = Estimate(float(scaled[0])).with_t_interval(error, n - 1, confidence=confidence)
    if correlation:
        return result.around(float(np.tanh(z.ci_low)), float(np.tanh(z.ci_high)))
    return result.with_interval(z.ci_low, z.ci_high, bounds=(-2, 2)).with_t_test(error, n - 1)
