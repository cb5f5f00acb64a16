"""Permutation tests: tails counted by hand, valid stopping, and units dealt alike."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings, strategies as st

from nbbias import stats

VALUES = st.lists(st.floats(-5, 5), min_size=1, max_size=30).map(np.array)
INFERENCE = stats.InferenceSettings(0.95, n_permutations=100)


# --- compare_with_null ------------------------------------------------------------------------


def compare(observed: float, null_values: object, **options: object) -> dict[str, float]:
    values = np.asarray(null_values, float)
    return stats.compare_with_null(observed, values, **({"confidence": 0.9} | options))


def p(observed: float, null_values: object, **options: object) -> float:
    return compare(observed, null_values, **options)["p_value"]


def test_draws_that_reach_the_observed_value_count_and_so_does_it_itself() -> None:
    assert p(3, [1, 2, 3, 4]) == 3 / 5  # 3, 4 and the observed one
    assert p(9, [1, 2, 3, 4]) == 1 / 5  # never 0
    assert p(4, [1, 2, 3, 4], alternative="two-sided", null=2) == 2 / 5  # 4 alone lies two away
    assert p(0, [1, 2, 3, 4], alternative="two-sided", null=2) == 2 / 5  # on the other side
    # Without an exact one the mean of the draws is expected: 2.5.
    assert p(1, [1, 2, 3, 4], alternative="two-sided") == 3 / 5


def test_a_tie_is_not_broken_by_rounding() -> None:
    assert p(0.3, [0.1 + 0.2, 0.3, 0.3 - 1e-16]) == 1
    assert p(100.0, [100 - 1e-10]) == 1 / 2


def test_a_complete_set_of_arrangements_gives_the_exact_test_and_its_smallest_p() -> None:
    gaps = np.array([0.3, 0.1, -0.2, 0.4, 0.5])
    every = [gaps @ signs / 5 for signs in product([-1, 1], repeat=5)]
    options = {"alternative": "two-sided", "null": 0.0, "complete": True}
    result = compare(gaps.mean(), every, **options)
    exact = scipy.stats.permutation_test((gaps,), np.mean, permutation_type="samples").pvalue
    assert result["p_value"] == pytest.approx(exact)
    assert result["p_least"] == 2 / 32  # all up, or all down
    assert compare(gaps.mean(), every, complete=True)["p_least"] == 1 / 32


@given(VALUES, st.floats(-5, 5), st.sampled_from(["greater", "two-sided"]))
@settings(max_examples=40, deadline=None)
def test_the_range_is_that_of_the_percentiles_and_missing_draws_do_not_count(
    values: np.ndarray, observed: float, alternative: str
) -> None:
    options = {"alternative": alternative, "confidence": 0.8}
    result = compare(observed, values, **options)
    assert result == compare(observed, np.append(values, [np.nan] * 3), **options)
    limits = np.quantile(values, [0.1, 0.9]).tolist()
    assert [result["null_low"], result["null_high"]] == pytest.approx(limits)
    assert result["null"] == values.mean()


@pytest.mark.parametrize("values", [[], [np.nan] * 4])
def test_without_a_draw_nothing_is_known_but_what_is_exact(values: list[float]) -> None:
    result = compare(1.0, values)
    assert list(result) == ["null", "null_low", "null_high", "p_value", "p_least"]
    assert np.isnan(list(result.values())).all()
    exact = compare(1.0, values, null=0.25)
    assert exact["null"] == 0.25 and np.isnan(exact["p_value"])
    unobserved = compare(np.nan, [1.0, 3.0])
    assert unobserved["null"] == 2 and np.isnan(unobserved["p_value"])


# --- permutation_test -------------------------------------------------------------------------


def uniform(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.random(n)


def run(observed: float, permute: object = uniform, *, seed: int = 0, family: int = 1) -> dict:
    inference = INFERENCE._replace(seed=seed)
    return stats.permutation_test(observed, permute, inference=inference, family=family)


def test_few_permutations_where_chance_often_reaches_and_as_many_as_a_family_needs() -> None:
    sizes: list[int] = []

    def permute(rng: np.random.Generator, n: int) -> np.ndarray:
        sizes.append(n)
        return rng.random(n)

    often = run(0.5, permute, family=324)
    plain = compare(0.5, np.random.default_rng(0).random(100), confidence=0.95)
    assert sizes == [100]
    assert often == plain | {"p_least": 1 / (1 + 20 * 324 / 0.05)}
    never = run(2.0, permute, family=324)
    assert never["p_value"] == never["p_least"] == 1 / 129_601
    assert max(sizes) == 1000 and sum(sizes) == 100 + 129_600
    # The null distribution is that of the first permutations, as without a family.
    assert [never[name] for name in ("null", "null_low", "null_high")] == [
        plain[name] for name in ("null", "null_low", "null_high")
    ]


def test_the_stopping_leaves_p_valid_at_every_level() -> None:
    # Nothing differs: the observed value is one more draw. Family 10: 4,000 draws at most.
    rng = np.random.default_rng(3)
    observed = np.concatenate([rng.random(1500), 1 - rng.random(1500) / 50])
    values = [run(value, seed=i, family=10)["p_value"] for i, value in enumerate(observed)]
    plain, extreme = np.array(values[:1500]), np.array(values[1500:])
    for level in (0.5, 0.2, 0.1, 0.05, 0.02):
        assert (plain <= level).mean() <= scipy.stats.binom.ppf(0.9999, 1500, level) / 1500
    # Those above the 98th percentile stand for the two percent at the end, drawn fifty times.
    for level in (0.01, 0.005, 0.001):
        assert (extreme <= level).mean() <= scipy.stats.binom.ppf(0.9999, 1500, 50 * level) / 1500


def test_permutations_that_measured_nothing_do_not_count() -> None:
    def permute(rng: np.random.Generator, n: int) -> np.ndarray:
        return np.where(rng.random(n) < 0.5, np.nan, rng.random(n))

    assert 1 / 2200 < run(2.0, permute, family=10)["p_value"] < 1 / 1800
    nothing = run(2.0, lambda rng, n: np.full(n, np.nan), family=10)
    assert np.isnan(list(nothing.values())).all()


# --- permute_units ----------------------------------------------------------------------------


@given(st.integers(0, 6), st.integers(0, 6), st.integers(1, 4), st.integers(0, 10**6))
@settings(max_examples=50, deadline=None)
def test_the_first_side_takes_the_units_with_the_smallest_numbers(
    n: int, m: int, g: int, seed: int
) -> None:
    first, second = (np.random.default_rng(seed).integers(0, 9, (size, g)) for size in (n, m))
    h, o = stats.permute_units(first, second, n_permutations=20, rng=np.random.default_rng(seed))
    both, numbers = np.vstack([first, second]), np.random.default_rng(seed).random((20, n + m))
    order = numbers.argsort(axis=1)
    assert (h == both[order[:, :n]].sum(axis=1)).all()
    assert (o == both[order[:, n:]].sum(axis=1)).all()


def test_every_permutation_is_as_likely_as_every_other() -> None:
    # Powers of two tell which of four units the first side was dealt: six pairs.
    first, second = np.array([[1], [2]]), np.array([[4], [8]])
    h, _ = stats.permute_units(first, second, n_permutations=6000, rng=np.random.default_rng(3))
    sums, times = np.unique(h[:, 0], return_counts=True)
    assert sums.tolist() == [3, 5, 6, 9, 10, 12]
    assert scipy.stats.chisquare(times).pvalue > 0.001
