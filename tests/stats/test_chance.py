"""Permutations of counts and units, and their exact expectations, by simulation."""

from __future__ import annotations

import numpy as np
import scipy.stats
from hypothesis import given, settings, strategies as st

from nbbias import stats

# --- permuted_counts and expected_differences -------------------------------------------------

#: Three pairs of texts, three groups; the last group of the first pair has no word.
FIRST = np.array([[3, 1, 0], [0, 2, 5], [1, 1, 1]])
SECOND = np.array([[1, 1, 0], [4, 0, 2], [2, 0, 3]])


# --- dealt ------------------------------------------------------------------------------------


@given(st.integers(1, 4), st.integers(1, 4), st.integers(0, 10**6))
@settings(max_examples=30, deadline=None)
def test_a_deal_keeps_what_there_is_and_how_much_each_side_has(n: int, m: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    first, second = rng.integers(0, 9, (n, 2)), rng.integers(0, 9, (m, 2))
    ones = [np.column_stack([side, np.ones(len(side), int)]) for side in (first, second)]
    h, o = stats.permute_units(*ones, n_permutations=20, rng=rng)
    assert (h + o == ones[0].sum(0) + ones[1].sum(0)).all()
    assert (h[:, 2] == n).all() and (o[:, 2] == m).all()


@given(st.integers(0, 6), st.integers(0, 6), st.integers(1, 4), st.integers(0, 10**6))
@settings(max_examples=50, deadline=None)
def test_a_deal_takes_the_units_with_the_smallest_numbers(
    n: int, m: int, g: int, seed: int
) -> None:
    first, second = (np.random.default_rng(seed).integers(0, 9, (size, g)) for size in (n, m))
    h, o = stats.permute_units(first, second, n_permutations=20, rng=np.random.default_rng(seed))
    both, numbers = np.vstack([first, second]), np.random.default_rng(seed).random((20, n + m))
    order = numbers.argsort(axis=1)
    assert (h == both[order[:, :n]].sum(axis=1)).all()
    assert (o == both[order[:, n:]].sum(axis=1)).all()


@given(st.integers(0, 5000), st.integers(0, 2**23))
def test_blocks_are_all_draws_and_hold_no_more_than_memory(draws: int, each: int) -> None:
    blocks = stats.split_batches(draws, size_each=each)
    assert sum(blocks) == draws and all(n == 1 or n * each <= 2**21 for n in blocks)
    # Only the last is smaller, so that as few as can be are drawn.
    assert len(set(blocks[:-1])) <= 1


def test_every_deal_is_as_likely_as_every_other() -> None:
    # Powers of two tell which of four units the first side was dealt: six pairs.
    first, second = np.array([[1], [2]]), np.array([[4], [8]])
    h, _ = stats.permute_units(first, second, n_permutations=6000, rng=np.random.default_rng(3))
    sums, times = np.unique(h[:, 0], return_counts=True)
    assert sums.tolist() == [3, 5, 6, 9, 10, 12]
    assert scipy.stats.chisquare(times).pvalue > 0.001
