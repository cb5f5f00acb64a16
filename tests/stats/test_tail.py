"""The tail of a permutation: counted by hand, and what must hold of any draws."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings, strategies as st

from nbbias import stats

values = st.lists(st.floats(-5, 5), min_size=1, max_size=30).map(np.array)


def p(observed: float, drawn: list[float] | np.ndarray, **more: object) -> float:
    return stats.compare_with_null(observed, np.asarray(drawn, float), confidence=0.9, **more)[
        "p_value"
    ]


def test_draws_that_reach_the_observed_value_count_and_so_does_it_itself() -> None:
    assert p(3, [1, 2, 3, 4]) == 3 / 5  # 3, 4 and the observed one
    assert p(9, [1, 2, 3, 4]) == 1 / 5  # never 0
    assert p(0, [1, 2, 3, 4]) == 1


def test_both_sides_count_what_lies_as_far_from_the_expected() -> None:
    assert p(4, [1, 2, 3, 4], alternative="two-sided", null=2) == 2 / 5  # 4 alone lies two away
    assert p(0, [1, 2, 3, 4], alternative="two-sided", null=2) == 2 / 5  # on the other side
    # Without an exact one the mean of the draws is expected: 2.5.
    assert p(1, [1, 2, 3, 4], alternative="two-sided") == 3 / 5


def test_a_tie_is_not_broken_by_rounding() -> None:
    assert p(0.3, [0.1 + 0.2, 0.3, 0.3 - 1e-16]) == 1
    assert p(100.0, [100 - 1e-10]) == 1 / 2


def test_all_permutations_of_a_small_table_give_the_exact_test() -> None:
    first, second = [1.0, 4.0, 6.0], [2.0, 3.0]
    both = [*first, *second]
    drawn = [np.mean(one[:3]) - np.mean(one[3:]) for one in permutations(both)]
    found = stats.compare_with_null(
        np.mean(first) - np.mean(second), np.array(drawn), confidence=0.9
    )
    exact = scipy.stats.permutation_test(
        (first, second), lambda a, b: np.mean(a) - np.mean(b), alternative="greater"
    ).pvalue
    # All 120 orders and the observed one once more.
    assert found["p_value"] == pytest.approx((exact * 120 + 1) / 121)
    assert found["null"] == pytest.approx(0)


@given(values, st.floats(-5, 5))
@settings(max_examples=60, deadline=None)
def test_both_sides_are_the_same_when_the_axis_is_turned_round(
    drawn: np.ndarray, observed: float
) -> None:
    there = stats.compare_with_null(
        observed, drawn, confidence=0.8, alternative="two-sided", null=0.5
    )
    back = stats.compare_with_null(
        -observed, -drawn, confidence=0.8, alternative="two-sided", null=-0.5
    )
    assert there["p_value"] == back["p_value"]
    assert there["null_low"] == pytest.approx(-back["null_high"])


@given(values)
@settings(max_examples=40, deadline=None)
def test_the_range_is_that_of_the_percentiles(drawn: np.ndarray) -> None:
    found = stats.compare_with_null(0.0, drawn, confidence=0.8)
    assert [found["null_low"], found["null_high"]] == pytest.approx(
        np.quantile(drawn, [0.1, 0.9]).tolist()
    )
    assert found["null"] == drawn.mean()


@given(values, st.floats(-5, 5), st.sampled_from(["greater", "two-sided"]))
@settings(max_examples=40, deadline=None)
def test_draws_that_measured_nothing_do_not_count(
    drawn: np.ndarray, observed: float, sided: str
) -> None:
    gaps = np.concatenate([drawn, np.full(3, np.nan)])
    found, expected = (
        stats.compare_with_null(observed, one, confidence=0.9, alternative=sided)
        for one in (gaps, drawn)
    )
    assert found == expected


@pytest.mark.parametrize("drawn", [np.array([]), np.full(4, np.nan)])
def test_without_a_draw_nothing_is_known_but_what_is_exact(drawn: np.ndarray) -> None:
    found = stats.compare_with_null(1.0, drawn, confidence=0.9)
    assert np.isnan(list(found.values())).all()
    assert list(found) == ["null", "null_low", "null_high", "p_value", "p_least"]
    exact = stats.compare_with_null(1.0, drawn, confidence=0.9, null=0.25)
    assert exact["null"] == 0.25
    assert np.isnan(exact["p_value"])


def test_where_nothing_was_observed_the_chance_level_is_told_alone() -> None:
    found = stats.compare_with_null(np.nan, np.array([1.0, 3.0]), confidence=0.9)
    assert found["null"] == 2
    assert np.isnan(found["p_value"])
