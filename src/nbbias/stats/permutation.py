"""Permutation tests: null distributions, p-values, and permutations of units and of counts."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal

import numpy as np

from nbbias.stats.inference import InferenceSettings

Alternative = Literal["greater", "two-sided"]

#: Values this close are ties, which rounding must not break.
_TIE = 1e-12
#: Permutations that must reach the observed value before a test stops (Besag and Clifford's h):
#: the standard error of the p-value is then about a fifth of it.
_REACHED = 20
#: Permutations drawn at once, and numbers that an array of them may hold.
_AT_ONCE, _HELD = 1000, 2**21


def compare_with_null(
    observed: float,
    null_values: np.ndarray,
    *,
    confidence: float,
    alternative: Alternative = "greater",
    null: float | None = None,
    complete: bool = False,
) -> dict[str, float]:
    """Compare an observed value with values drawn under the null hypothesis.

    Parameters
    ----------
    observed
        The observed value; NaN where only the null distribution is described.
    null_values
        Values under permutation or in simulated samples; NaN are left out.
    confidence
        Share of the null distribution between `null_low` and `null_high`.
    alternative
        ``"greater"``: null values at least as large as `observed` count as reaching it;
        ``"two-sided"``: null values at least as far from `null`.
    null
        The expected value, where it is known exactly; else the mean of `null_values`.
    complete
        Whether `null_values` are all arrangements, the observed one among them, not draws.

    Returns
    -------
    dict
        `null`; its percentile range `null_low` and `null_high`; `p_value`; and `p_least`, the
        smallest p-value that so many draws, or any of the arrangements, can give. NaN where nothing
        was observed or drawn.

    Notes
    -----
    p = (1 + b) / (1 + m), where b of m draws reach the observed value, so that p is never 0; of all
    arrangements p = b / m.

    References
    ----------
    Phipson and Smyth 2010, *Permutation p-values should never be zero*.

    Examples
    --------
    Two of nine null values reach .5; with the observed one these are three of ten:

    >>> null_values = np.array([0.1, 0.2, 0.2, 0.3, 0.3, 0.3, 0.4, 0.5, 0.6])
    >>> compare_with_null(0.5, null_values, confidence=0.8)["p_value"]
    0.3

    Four coins fall alike in 2 of 16 arrangements:

    >>> signs = np.array(np.meshgrid(*[[-1, 1]] * 4)).reshape(4, -1)
    >>> result = compare_with_null(1.0, abs(signs.mean(axis=0)), confidence=0.95, complete=True)
    >>> result["p_value"], result["p_least"]
    (0.125, 0.125)
    """
    values = null_values[~np.isnan(null_values)]
    result = dict.fromkeys(("null", "null_low", "null_high", "p_value", "p_least"), np.nan)
    if null is not None:
        result["null"] = float(null)
    if not len(values):
        return result
    low, high = np.quantile(values, [(1 - confidence) / 2, (1 + confidence) / 2])
    expected = float(values.mean()) if null is None else float(null)
    result |= {"null": expected, "null_low": float(low), "null_high": float(high)}
    if np.isnan(observed):
        return result
    reached = _count_reached(observed, values, alternative, expected)
    if not complete:
        draws = 1 + len(values)
        return result | {"p_value": (1 + reached) / draws, "p_least": 1 / draws}
    two_sided = alternative == "two-sided"
    furthest = values[np.argmax(np.abs(values - expected) if two_sided else values)]
    least = _count_reached(float(furthest), values, alternative, expected)
    return result | {"p_value": reached / len(values), "p_least": least / len(values)}


def _count_reached(
    observed: float, null_values: np.ndarray, alternative: Alternative, null: float
) -> int:
    if alternative == "two-sided":
        observed, null_values = abs(observed - null), np.abs(null_values - null)
    return int((null_values >= observed - _TIE).sum())


def permutations_needed(inference: InferenceSettings, family: int) -> int:
    """Return how many permutations resolve a p-value that is corrected over a family of tests.

    Notes
    -----
    20 · family / (1 - confidence), and at least `inference.n_permutations`.

    Examples
    --------
    >>> permutations_needed(InferenceSettings(0.95, n_permutations=1000), 108)
    43200
    """
    needed = _REACHED * family / (1 - inference.confidence)
    return max(inference.n_permutations, math.ceil(needed - 1e-6))


def permutation_test(
    observed: float,
    permute: Callable[[np.random.Generator, int], np.ndarray],
    *,
    inference: InferenceSettings,
    family: int = 1,
    alternative: Alternative = "greater",
    null: float | None = None,
) -> dict[str, float]:
    """Test an observed value by a sequential permutation test.

    Parameters
    ----------
    observed
        The observed value; NaN where only the null distribution is described.
    permute
        Takes a random generator and a number of permutations, 1,000 at most, and returns the
        statistic in each (NaN are left out).
    inference
        Confidence, least number of permutations, and seed.
    family
        How many tests are corrected together.
    alternative, null
        As in `compare_with_null`; without `null` it is the mean of the first permutations.

    Returns
    -------
    dict
        As `compare_with_null`; `p_least` is that of the most permutations there could have been.

    Notes
    -----
    `inference.n_permutations` come first and give the null distribution. While fewer than 20 of
    them reach the observed value, more are drawn, up to `permutations_needed`. The p-value is valid
    in spite of the stopping: a stop after n permutations gives p ≥ 21 / (n + 1); for any level u,
    let n be the first look at which that is at most u. A test that stopped before has p > u, and
    at n the test is one of a fixed number of permutations.

    References
    ----------
    Besag and Clifford 1991, *Sequential Monte Carlo p-values*. Phipson and Smyth 2010.

    Examples
    --------
    >>> uniform = lambda rng, n: rng.random(n)
    >>> settings = InferenceSettings(0.95, n_permutations=200)
    >>> result = permutation_test(0.9999, uniform, inference=settings, family=100)
    >>> result["p_least"] == 1 / 40_001, result["p_value"] < 0.0005
    (True, True)
    """
    rng = np.random.default_rng(inference.seed)
    least = inference.n_permutations
    first = np.concatenate([permute(rng, n) for n in split_batches(least)])
    result = compare_with_null(
        observed, first, confidence=inference.confidence, alternative=alternative, null=null
    )
    if np.isnan(result["p_value"]):
        return result
    most = permutations_needed(inference, family)
    reached = _count_reached(observed, first, alternative, result["null"])
    n_drawn = round(1 / result["p_least"]) - 1
    for n in split_batches(most - least):
        if reached >= _REACHED:
            break
        further = permute(rng, n)
        n_drawn += int((~np.isnan(further)).sum())
        reached += _count_reached(observed, further, alternative, result["null"])
    p_least = 1 / (1 + (n_drawn if reached < _REACHED else most))
    return result | {"p_value": (1 + reached) / (1 + n_drawn), "p_least": p_least}


def split_batches(n: int, *, size_each: int | None = None) -> list[int]:
    """Split a number of permutations into batches that fit in a fixed memory.

    Parameters
    ----------
    n
        Number of permutations.
    size_each
        Numbers that each permutation holds; without it batches are of 1,000.

    Examples
    --------
    >>> split_batches(1000, size_each=300), split_batches(1000, size_each=5000)
    ([1000], [419, 419, 162])
    """
    size = _AT_ONCE if size_each is None else max(1, _HELD // max(size_each, 1))
    whole, rest = divmod(n, size)
    return [size] * whole + [rest] * (rest > 0)


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
