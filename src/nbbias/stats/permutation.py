"""Null distributions by permutation: their range, and permutations of units."""

from __future__ import annotations

import numpy as np

from nbbias.stats.inference import tails

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
