"""Means of differences most of which are 0: by hand, and where the truth is known."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st
from scipy.stats import beta, ttest_1samp

from nbbias.stats.intervals import ENOUGH, sparse_mean


def test_gains_and_losses_have_exact_rates_and_one_more_value_of_1() -> None:
    # 2 losses of .5 and 1 gain of 1 among 50: sizes (1 + 1) / 3 and (1 + 1) / 2.
    values = np.zeros(50)
    values[:3] = -0.5, -0.5, 1.0
    loss = 2 / 3 * (np.array(beta.interval(0.95, [2, 3], [49, 48])[0][0]) - 0.04)
    loss_above = 2 / 3 * (beta.ppf(0.975, 3, 48) - 0.04)
    gain = 1.0 * (beta.ppf([0.025], 1, 50)[0] - 0.02), 1.0 * (beta.ppf(0.975, 2, 49) - 0.02)
    row = sparse_mean(values, confidence=0.95)
    assert row.estimate == 0
    assert row.ci_low == pytest.approx(-np.hypot(gain[0], loss_above))
    assert row.ci_high == pytest.approx(np.hypot(gain[1], loss))
    assert (row.n, row.p_value) == (50, 1.0)


def test_with_many_differences_it_is_the_t_test() -> None:
    values = np.random.default_rng(1).normal(0.1, 0.2, ENOUGH)
    row, expected = sparse_mean(values, confidence=0.9), ttest_1samp(values, 0)
    assert (row.statistic_value, row.p_value) == pytest.approx(expected)
    assert (row.ci_low, row.ci_high) == pytest.approx(expected.confidence_interval(0.9))


@given(st.lists(st.sampled_from([0.0, 0.0, 0.0, -1.0, 0.5, 1.0]), min_size=2, max_size=40))
def test_it_is_never_narrower_than_t_mirrors_its_sign_and_agrees_with_its_p(values: list) -> None:
    row, mirror = (sparse_mean(sign * np.array(values), confidence=0.95) for sign in (1, -1))
    assert (row.ci_low, row.ci_high) == pytest.approx((-mirror.ci_high, -mirror.ci_low))
    assert row.ci_low <= row.estimate <= row.ci_high
    if np.ptp(values) > 0:
        low, high = ttest_1samp(values, 0).confidence_interval(0.95)
        assert row.ci_low <= max(low, -1) + 1e-9 and row.ci_high >= min(high, 1) - 1e-9
        inside = row.ci_low < 0 < row.ci_high
        assert inside == (row.p_value > 0.05)


def test_missing_values_are_lost_and_one_value_has_no_interval() -> None:
    row = sparse_mean(pd.Series([0.0, np.nan, 0.5]), confidence=0.95)
    assert (row.n, row.n_lost, row.estimate) == (2, 1, 0.25)
    assert np.isnan(sparse_mean(np.array([0.5]), confidence=0.95).ci_low)


@pytest.mark.parametrize(("n", "kept"), [(30, 0.0), (80, 0.5), (400, 0.0)])
def test_intervals_hold_where_a_group_is_in_one_article_of_twenty(n: int, kept: float) -> None:
    rng, truth, held = np.random.default_rng(3), -0.05 * 0.75 * (1 - kept), 0
    for _ in range(150):
        share = np.where(rng.random(n) < 0.5, 1.0, 0.5) * (rng.random(n) < 0.05)
        row = sparse_mean(-share * (rng.random(n) >= kept), confidence=0.95)
        held += row.ci_low <= truth <= row.ci_high
    assert held >= 134  # .893: three errors below .95; a t interval holds in .55 to .93


@given(st.lists(st.one_of(st.floats(-1, 1), st.sampled_from([0.0, 1.0])), min_size=2, max_size=19))
def test_no_p_is_smaller_than_that_of_differences_of_1(values: list[float]) -> None:
    least = sparse_mean(np.ones(len(values)), confidence=0.95).p_value
    assert not sparse_mean(np.array(values), confidence=0.95).p_value < least * (1 - 1e-9)
