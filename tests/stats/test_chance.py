"""Chance levels: windows of prose by their definition, means of draws by simulation."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings, strategies as st

from nbbias import stats

passages = st.lists(st.text(alphabet="ab \n\t", max_size=30), max_size=6)


# --- windows ----------------------------------------------------------------------------------


def test_windows_by_hand() -> None:
    assert stats.windows(["one two three", "four five"], n_words=2) == ["one two", "three four"]


@given(passages, st.integers(1, 7))
def test_every_window_has_the_length_asked_for(texts: list[str], n_words: int) -> None:
    assert {len(w.split()) for w in stats.windows(texts, n_words=n_words)} <= {n_words}


@given(passages, st.integers(1, 7))
def test_windows_follow_each_other_without_a_gap_or_an_overlap(
    texts: list[str], n_words: int
) -> None:
    words = [word for text in texts for word in text.split()]
    joined = " ".join(stats.windows(texts, n_words=n_words)).split()
    assert joined == words[: len(joined)]
    assert len(words) - len(joined) < n_words


def test_prose_shorter_than_a_window_holds_none() -> None:
    assert stats.windows(["one two"], n_words=3) == []


def test_no_prose_holds_no_window() -> None:
    assert stats.windows([], n_words=1) == []


@pytest.mark.parametrize("n_words", [0, -1])
def test_a_window_without_words_is_refused(n_words: int) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        stats.windows(["one"], n_words=n_words)


# --- mean_of_draws ----------------------------------------------------------------------------


def draw(
    pools: list[np.ndarray],
    observed: float = np.nan,
    draws: int = 4000,
    seed: int = 1,
    **more: bool,
) -> dict[str, float]:
    return stats.mean_of_draws(pools, observed=observed, sure=stats.Sure(0.95, draws, seed), **more)


@given(
    st.lists(
        st.lists(st.floats(-10, 10), min_size=1, max_size=5).map(np.array), min_size=1, max_size=5
    )
)
@settings(max_examples=50)
def test_expected_mean_is_the_mean_of_the_pools_means(pools: list[np.ndarray]) -> None:
    expected = sum(sum(pool) / len(pool) for pool in pools) / len(pools)
    assert draw(pools, draws=10)["null"] == pytest.approx(expected, abs=1e-9)


def test_a_large_pool_does_not_outweigh_a_small_one() -> None:
    assert draw([np.zeros(99), np.ones(1)])["null"] == 0.5


def test_interval_is_near_the_normal_approximation() -> None:
    rng = np.random.default_rng(3)
    pools = [rng.exponential(size=200) for _ in range(40)]
    found = draw(pools, draws=20_000)
    half = 1.96 * np.sqrt(sum(pool.var() for pool in pools)) / 40
    assert found["null_high"] - found["null_low"] == pytest.approx(2 * half, rel=0.04)


def test_pools_of_one_value_leave_no_interval() -> None:
    found = draw([np.array([0.2]), np.array([0.4])], observed=0.3)
    assert (found["null_low"], found["null_high"]) == pytest.approx((0.3, 0.3))
    assert found["p_value"] == 1


def test_p_value_of_two_coins_by_hand() -> None:
    # Means of two coins: 0, .5, .5, 1. Half of them lie as far from .5 as 1 does.
    found = draw([np.array([0.0, 1.0])] * 2, observed=1.0, draws=20_000)
    assert found["p_value"] == pytest.approx(0.5, abs=0.015)


def test_p_value_is_two_sided() -> None:
    pools = [np.array([-1.0, 0.0, 1.0])] * 3
    assert draw(pools, observed=0.7)["p_value"] == draw(pools, observed=-0.7)["p_value"]


def test_p_value_is_never_zero() -> None:
    # 99 draws are too few for a level of .05: 400 are drawn where it is not reached.
    assert draw([np.array([0.0, 1.0])], observed=50.0, draws=99)["p_value"] == 1 / 401


def test_a_mean_that_was_not_measured_has_no_p_value() -> None:
    found = draw([np.array([0.0, 1.0])])
    assert np.isnan(found["p_value"])
    assert found["null"] == 0.5


@pytest.mark.parametrize("pools", [[], [np.array([1.0]), np.array([])]])
def test_a_missing_pool_leaves_the_chance_level_unmeasured(pools: list[np.ndarray]) -> None:
    assert np.isnan(list(draw(pools, observed=0.1).values())).all()


def test_same_seed_same_draws_and_another_seed_other_ones() -> None:
    pools = [np.arange(50.0)] * 3
    assert draw(pools, 30, seed=4) == draw(pools, 30, seed=4)
    assert draw(pools, 30, seed=4) != draw(pools, 30, seed=5)


def p_values_under_the_null(*, pool: int, units: int, repetitions: int) -> np.ndarray:
    found = []
    for seed in range(repetitions):
        rng = np.random.default_rng(seed)
        reference, scores = abs(rng.normal(size=pool)), abs(rng.normal(size=units))
        pools = [reference] * units
        found.append(draw(pools, scores.mean(), draws=300, seed=seed, sampled=True)["p_value"])
    return np.array(found)


def test_p_values_are_uniform_when_nothing_differs() -> None:
    found = p_values_under_the_null(pool=2000, units=9, repetitions=300)
    # 0.094 is the 1% point of the Kolmogorov-Smirnov distance of 300 uniform numbers.
    assert scipy.stats.kstest(found, "uniform").statistic < 0.094


def test_p_values_hold_their_level_when_the_pool_is_as_small_as_the_sample() -> None:
    found = p_values_under_the_null(pool=44, units=36, repetitions=400)
    # A share of 5% and three standard errors of it: .05 + 3 sqrt(.05 x .95 / 400) = .083.
    assert (found < 0.05).mean() < 0.083


# --- permuted_counts and expected_differences -------------------------------------------------

#: Three pairs of texts, three groups; the last group of the first pair has no word.
FIRST = np.array([[3, 1, 0], [0, 2, 5], [1, 1, 1]])
SECOND = np.array([[1, 1, 0], [4, 0, 2], [2, 0, 3]])


def permuted(draws: int = 20_000) -> np.ndarray:
    rng = np.random.default_rng(6)
    return stats.permuted_counts(FIRST, SECOND, draws=draws, rng=rng)


def test_permuted_words_keep_the_length_of_each_text_and_the_words_of_each_pair() -> None:
    drawn = permuted(200)
    assert (drawn.sum(axis=2) == FIRST.sum(axis=1)).all()
    assert (drawn >= 0).all()
    assert (drawn <= FIRST + SECOND).all()


def test_permuted_words_fall_to_each_text_in_proportion_to_its_length() -> None:
    drawn = permuted()
    pooled, lengths = FIRST + SECOND, FIRST.sum(axis=1, keepdims=True)
    expected = pooled * lengths / pooled.sum(axis=1, keepdims=True)
    # A count varies by less than 2, so a mean of 20,000 by less than .014.
    np.testing.assert_allclose(drawn.mean(axis=0), expected, atol=0.045)


def test_expected_differences_are_what_permutations_give() -> None:
    drawn = permuted()
    other = FIRST + SECOND - drawn
    d = drawn / drawn.sum(axis=2, keepdims=True) - other / other.sum(axis=2, keepdims=True)
    falls = d < -1e-12
    simulated = (
        np.abs(d).mean(axis=0),
        falls.mean(axis=0),
        np.where(falls, d, 0).mean(axis=0),
        (other > 0).mean(axis=0),
    )
    for exact, found in zip(stats.expected_differences(FIRST, SECOND), simulated, strict=True):
        np.testing.assert_allclose(found, exact, atol=0.015)


def test_expected_differences_of_two_words_by_hand() -> None:
    # One word a text, one of each group: the word of a group falls to either side alike,
    # so its difference is 1 or -1.
    one, other = np.array([[1, 0]]), np.array([[0, 1]])
    absolute, below, fall, present = stats.expected_differences(one, other)
    assert absolute.tolist() == [[1, 1]]
    assert below.tolist() == present.tolist() == [[0.5, 0.5]]
    assert fall.tolist() == [[-0.5, -0.5]]


def test_a_group_without_words_is_expected_to_differ_by_nothing() -> None:
    absolute, below, fall, present = stats.expected_differences(FIRST, SECOND)
    assert (absolute[0, 2], below[0, 2], fall[0, 2], present[0, 2]) == (0, 0, 0, 0)


def test_swapped_texts_are_expected_to_differ_alike_in_size() -> None:
    one = stats.expected_differences(FIRST, SECOND)[0]
    np.testing.assert_allclose(one, stats.expected_differences(SECOND, FIRST)[0])


# --- dealt ------------------------------------------------------------------------------------


@given(st.integers(1, 4), st.integers(1, 4), st.integers(0, 10**6))
@settings(max_examples=30, deadline=None)
def test_a_deal_keeps_what_there_is_and_how_much_each_side_has(n: int, m: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    first, second = rng.integers(0, 9, (n, 2)), rng.integers(0, 9, (m, 2))
    ones = [np.column_stack([side, np.ones(len(side), int)]) for side in (first, second)]
    h, o = stats.dealt(*ones, draws=20, rng=rng)
    assert (h + o == ones[0].sum(0) + ones[1].sum(0)).all()
    assert (h[:, 2] == n).all() and (o[:, 2] == m).all()


@given(st.integers(0, 6), st.integers(0, 6), st.integers(1, 4), st.integers(0, 10**6))
@settings(max_examples=50, deadline=None)
def test_a_deal_takes_the_units_with_the_smallest_numbers(
    n: int, m: int, g: int, seed: int
) -> None:
    first, second = (np.random.default_rng(seed).integers(0, 9, (size, g)) for size in (n, m))
    h, o = stats.dealt(first, second, draws=20, rng=np.random.default_rng(seed))
    both, numbers = np.vstack([first, second]), np.random.default_rng(seed).random((20, n + m))
    order = numbers.argsort(axis=1)
    assert (h == both[order[:, :n]].sum(axis=1)).all()
    assert (o == both[order[:, n:]].sum(axis=1)).all()


@given(st.integers(0, 5000), st.integers(0, 2**23))
def test_blocks_are_all_draws_and_hold_no_more_than_memory(draws: int, each: int) -> None:
    blocks = stats.blocks(draws, each=each)
    assert sum(blocks) == draws and all(n == 1 or n * each <= 2**21 for n in blocks)
    # Only the last is smaller, so that as few as can be are drawn.
    assert len(set(blocks[:-1])) <= 1


def test_every_deal_is_as_likely_as_every_other() -> None:
    # Powers of two tell which of four units the first side was dealt: six pairs.
    first, second = np.array([[1], [2]]), np.array([[4], [8]])
    h, _ = stats.dealt(first, second, draws=6000, rng=np.random.default_rng(3))
    sums, times = np.unique(h[:, 0], return_counts=True)
    assert sums.tolist() == [3, 5, 6, 9, 10, 12]
    assert scipy.stats.chisquare(times).pvalue > 0.001


def test_a_mean_far_from_its_pools_has_a_p_as_fine_as_its_family() -> None:
    pools = [np.array([0.0, 1.0, 0.5])] * 12
    one = stats.mean_of_draws(pools, observed=1.0, sure=stats.Sure(0.95, 100))
    nine = stats.mean_of_draws(pools, observed=1.0, family=9, sure=stats.Sure(0.95, 100))
    assert one["p_value"] == 1 / 401 and nine["p_value"] == 1 / 3601
    assert (one["null_low"], one["null_high"]) == (nine["null_low"], nine["null_high"])
