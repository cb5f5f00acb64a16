"""Permuted group words against enumeration: every order of a pair's words, counted."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings, strategies as st

from nbbias import stats

Exact = tuple[Fraction, Fraction, Fraction, Fraction]


def permuted(first: list[list[int]], second: list[list[int]], draws: int = 4000) -> np.ndarray:
    rng = np.random.default_rng(1)
    return stats.permute_counts(np.array(first), np.array(second), n_permutations=draws, rng=rng)


def expected(first: list[int], second: list[int]) -> np.ndarray:
    """The four expectations of one pair, expectations by groups."""
    return np.array(stats.expected_differences(np.array([first]), np.array([second])))[:, 0]


def enumerated(first: list[int], second: list[int], group: int) -> Exact:
    """The same by dealing the pair's words in every possible way."""
    both = [g for side in (first, second) for g, n in enumerate(side) for _ in range(n)]
    n, m = sum(first), sum(second)
    deals = list(combinations(range(len(both)), n))
    absolute = below = fall = present = Fraction(0)
    for deal in deals:
        mine = sum(both[i] == group for i in deal)
        other = both.count(group) - mine
        d = Fraction(mine, n) - Fraction(other, m)
        absolute += abs(d)
        below += d < 0
        fall += min(d, 0)
        present += other > 0
    return tuple(total / len(deals) for total in (absolute, below, fall, present))


# --- permuted_counts --------------------------------------------------------------------------

THREE = ([[4, 2, 1], [0, 3, 0], [1, 1, 1]], [[1, 0, 5], [2, 0, 0], [6, 0, 2]])


def test_every_draw_keeps_the_lengths_and_the_pooled_words() -> None:
    first, second = map(np.array, THREE)
    drawn = permuted(*THREE)
    assert drawn.shape == (4000, 3, 3)
    assert (drawn.sum(axis=2) == first.sum(axis=1)).all()
    assert (drawn >= 0).all()
    assert (drawn <= first + second).all()


def test_drawn_counts_have_the_hypergeometric_mean_and_variance() -> None:
    first, second = map(np.array, THREE)
    drawn = permuted(*THREE, draws=20_000)
    own, pooled = first.sum(1)[:, None], first + second
    total = pooled.sum(1)[:, None]
    share = pooled / total
    mean, variance = own * share, own * share * (1 - share) * (total - own) / (total - 1)
    error = np.sqrt(variance / 20_000)
    assert (np.abs(drawn.mean(axis=0) - mean) <= 4 * error + 1e-12).all()
    # A variance from n draws has a relative standard error of about sqrt(2 / n) = 0.01.
    np.testing.assert_allclose(drawn.var(axis=0), variance, rtol=0.05)


def test_draws_follow_the_multivariate_hypergeometric_law() -> None:
    drawn = permuted([[2, 1, 1]], [[1, 1, 2]], draws=20_000)[:, 0]
    seen, counts = np.unique(drawn, axis=0, return_counts=True)
    law = scipy.stats.multivariate_hypergeom(m=[3, 2, 3], n=4).pmf(seen)
    # All that can be drawn was, so the probabilities add up to 1.
    assert law.sum() == pytest.approx(1)
    assert scipy.stats.chisquare(counts, law * 20_000).pvalue > 1e-4


def test_no_pairs_and_no_draws_give_empty_arrays() -> None:
    nothing = np.zeros((0, 3), dtype=int)
    rng = np.random.default_rng(1)
    assert stats.permute_counts(nothing, nothing, n_permutations=5, rng=rng).shape == (5, 0, 3)
    one = np.ones((1, 3), dtype=int)
    assert stats.permute_counts(one, one, n_permutations=0, rng=rng).shape == (0, 1, 3)


def test_input_stays_as_it_was() -> None:
    first, second = np.array([[3, 1]]), np.array([[1, 2]])
    stats.permute_counts(first, second, n_permutations=3, rng=np.random.default_rng(1))
    assert (first.tolist(), second.tolist()) == ([[3, 1]], [[1, 2]])


# --- expected_differences ---------------------------------------------------------------------


@st.composite
def pairs(draw: st.DrawFn) -> tuple[list[int], list[int]]:
    groups = draw(st.integers(2, 5))
    side = st.lists(st.integers(0, 3), min_size=groups, max_size=groups).filter(
        lambda counts: 1 <= sum(counts) <= 5
    )
    return draw(side), draw(side)


@given(pairs())
@settings(max_examples=60, deadline=None)
def test_expectations_are_those_of_every_possible_deal(pair: tuple[list[int], list[int]]) -> None:
    first, second = pair
    found = expected(first, second)
    for group in range(len(first)):
        exact = [float(value) for value in enumerated(first, second, group)]
        assert found[:, group] == pytest.approx(exact, abs=1e-12)


def test_expectations_of_a_pair_of_single_words_are_by_hand() -> None:
    # a and b change places or not: d of a is 1 or -1, and b falls to the second text half the time.
    by_hand = np.array([[1, 1], [0.5, 0.5], [-0.5, -0.5], [0.5, 0.5]])
    assert expected([1, 0], [0, 1]) == pytest.approx(by_hand)


def test_a_tie_is_no_fall() -> None:
    # 3 and 6 words of one group among 9 and 18: shares 1/3 and 1/3, which floats may tell apart.
    law = scipy.stats.hypergeom(27, 9, 9)
    assert expected([3, 6], [6, 12])[1, 0] == pytest.approx(law.cdf(2))


def test_swapped_sides_keep_the_distance_and_turn_falls_into_rises() -> None:
    one, other = expected([3, 1, 0], [1, 2, 2]), expected([1, 2, 2], [3, 1, 0])
    assert one[0] == pytest.approx(other[0])
    # Falls and rises cancel: E d = 0, so E[d; d < 0] is half of -E|d| either way.
    assert one[2] == pytest.approx(-one[0] / 2)
    assert other[2] == pytest.approx(one[2])


def test_expectations_are_what_permutations_come_to() -> None:
    first, second = np.array(THREE[0]), np.array(THREE[1])
    drawn = permuted(*THREE, draws=20_000)
    d = drawn / first.sum(1)[:, None] - (first + second - drawn) / second.sum(1)[:, None]
    each = np.stack([np.abs(d), d < -1e-12, np.minimum(d, 0), first + second > drawn], axis=1)
    error = each.std(axis=0) / np.sqrt(20_000)
    exact = np.array(stats.expected_differences(first, second))
    assert (np.abs(each.mean(axis=0) - exact) <= 4 * error + 1e-9).all()


def by_scipy(n: int, m: int, k: int) -> list[float]:
    """The four expectations of one case: of n and m words, k are of the group."""
    x = np.arange(max(0, k - m), min(n, k) + 1)
    p = scipy.stats.hypergeom.pmf(x, n + m, k, n)
    d = x / n - (k - x) / m
    down = x * m < (k - x) * n
    return [p @ np.abs(d), p[down].sum(), p[down] @ d[down], p[k > x].sum()]


@pytest.mark.parametrize("held", [2**21, 50])
def test_expectations_are_scipys_however_long_texts_are(
    held: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stats.permutation, "_HELD", held)
    rng = np.random.default_rng(2)
    first, second = (
        rng.negative_binomial(0.5, 0.02, (40, 3)) + np.eye(3, dtype=int)[0] for _ in "ho"
    )
    found = np.stack(stats.expected_differences(first, second), axis=-1)
    sizes = first.sum(axis=1), second.sum(axis=1)
    for i, j in np.ndindex(first.shape):
        case = (sizes[0][i], sizes[1][i], first[i, j] + second[i, j])
        assert found[i, j] == pytest.approx(by_scipy(*case), abs=1e-11)


def test_no_pairs_have_no_expectations() -> None:
    nothing = np.zeros((0, 3), dtype=int)
    for values in stats.expected_differences(nothing, nothing):
        assert values.shape == (0, 3)
