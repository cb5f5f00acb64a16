"""Level, resamples and seed of intervals and tests; null distributions by permutation."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from nbbias.tables import CONFIDENCE


class InferenceSettings(NamedTuple):
    """Level of the intervals and tests, with the number and the seed of resamples.

    Attributes
    ----------
    confidence : float
        Confidence level of intervals and of percentile ranges under the null, in (0, 1).
    n_permutations : int
        Permutations behind a null distribution, bootstrap resamples behind an interval; 1 or more.
    seed : int
        Seed of the random numbers: the same seed gives the same results.

    Examples
    --------
    >>> inference = InferenceSettings(n_permutations=200)
    >>> inference
    InferenceSettings(confidence=0.95, n_permutations=200, seed=0)
    >>> inference._replace(seed=1).seed
    1
    """

    confidence: float = CONFIDENCE
    n_permutations: int = 1000
    seed: int = 0


def alpha(confidence: Any) -> Any:
    """Return the level of significance that goes with a level of confidence.

    Parameters
    ----------
    confidence
        Level of confidence, in (0, 1).

    Examples
    --------
    >>> round(alpha(0.95), 2)
    0.05
    """
    return 1 - confidence


def tails(confidence: float) -> list[float]:
    """Return the two quantiles between which a central interval lies.

    Examples
    --------
    >>> tails(0.5)
    [0.25, 0.75]
    """
    return [(1 - confidence) / 2, (1 + confidence) / 2]


def is_significant(p: Any, confidence: Any) -> Any:
    """Tell whether a p value, or each of several, is significant at a level of confidence.

    Parameters
    ----------
    p
        One p value, or several.
    confidence
        Level of confidence; p must be below 1 minus it.

    Examples
    --------
    >>> is_significant(0.03, 0.95), is_significant(float("nan"), 0.95)
    (True, False)
    """
    return p < alpha(confidence)


# --- permutation ------------------------------------------------------------------------------

#: Values this close are ties, which rounding must not break.
_TIE = 1e-12


def null_range(null_values: np.ndarray, *, confidence: float) -> dict[str, float]:
    """Return the mean and the percentile range of values drawn under the null hypothesis.

    Parameters
    ----------
    null_values
        Values under permutation or in simulated samples; NaN are left out.
    confidence
        Share of the null distribution between `null_low` and `null_high`.

    Returns
    -------
    dict
        `null`, `null_low`, `null_high`; NaN where nothing was drawn.

    Examples
    --------
    >>> null_range(np.array([0.0, 1.0, 2.0, 3.0, 4.0, np.nan]), confidence=0.5)
    {'null': 2.0, 'null_low': 1.0, 'null_high': 3.0}
    """
    values = null_values[~np.isnan(null_values)]
    if not len(values):
        return dict.fromkeys(("null", "null_low", "null_high"), np.nan)
    low, high = np.quantile(values, tails(confidence))
    return {"null": float(values.mean()), "null_low": float(low), "null_high": float(high)}


def permutation_p(observed: float, null_values: np.ndarray) -> dict[str, float]:
    """Return the one-sided p value of a permutation test, and the smallest that it can give.

    Parameters
    ----------
    observed
        The value of the statistic. With distances from the mean of the null distribution, here and
        in `null_values`, the test is two-sided.
    null_values
        Its values under permutation.

    Returns
    -------
    dict
        ``p_value``, (1 + b) / (1 + m), where b of m permutations reach the observed value;
        ``p_least``, 1 / (1 + m).

    References
    ----------
    Phipson and Smyth 2010, *Permutation p-values should never be zero*.

    Examples
    --------
    >>> permutation_p(0.5, np.array([0.1, 0.2, 0.2, 0.3, 0.3, 0.3, 0.4, 0.5, 0.6]))
    {'p_value': 0.3, 'p_least': 0.1}
    """
    reached, n = int((null_values >= observed - _TIE).sum()), 1 + len(null_values)
    return {"p_value": (1 + reached) / n, "p_least": 1 / n}


def exact_p(probabilities: np.ndarray, count: int) -> dict[str, float]:
    """Return the two-sided exact p value of a count, and the smallest possible.

    Parameters
    ----------
    probabilities
        Probability of each count, 0 and up, under the null.
    count
        The observed count.

    Returns
    -------
    dict
        ``p_value``, the probability of all counts that are at most as probable; ``p_least``.

    Examples
    --------
    >>> exact_p(np.array([0.25, 0.5, 0.25]), 1)
    {'p_value': 1.0, 'p_least': 0.5}
    """
    limits = probabilities[count], probabilities[probabilities > 0].min()
    p, least = (float(probabilities[probabilities <= limit * (1 + 1e-9)].sum()) for limit in limits)
    return {"p_value": min(p, 1.0), "p_least": min(least, 1.0)}


def permute_units(
    first: np.ndarray, second: np.ndarray, *, n_permutations: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Permute units between two samples of fixed sizes, and sum each sample's units.

    Parameters
    ----------
    first, second
        Units by columns: a text's sentences by counts of group words, or by scores.
    n_permutations, rng
        Number of permutations, all equally likely, and the random generator.

    Returns
    -------
    (first, second) : arrays, permutations by columns
        The sums over each sample's units; divided by `len`, their means.

    Examples
    --------
    >>> first, second = np.array([[1, 0], [1, 0]]), np.array([[0, 1]])
    >>> rng = np.random.default_rng(0)
    >>> h, o = permute_units(first, second, n_permutations=100, rng=rng)
    >>> sorted(set(map(tuple, h.tolist()))), bool((h + o == [2, 1]).all())
    ([(1, 1), (2, 0)], True)
    """
    both, n = np.vstack([first, second]), len(first)
    # The n units with the smallest random numbers; summing them is a product of matrices.
    numbers = rng.random((n_permutations, len(both)))
    chosen = np.zeros_like(numbers, dtype=bool)
    if n:
        chosen = numbers <= np.partition(numbers, n - 1, axis=1)[:, n - 1 : n]
    h = (chosen.astype(float) @ both.astype(float)).astype(both.dtype)
    return h, both.sum(axis=0) - h
