"""Intervals, tests and corrections against scipy, statsmodels, hand computation and simulation."""

import numpy as np
import pandas as pd
import pytest
import scipy.stats
from hypothesis import given, strategies as st
from scipy.stats import beta, ttest_1samp
from statsmodels.stats.weightstats import CompareMeans, DescrStatsW

from nbbias import stats
from nbbias.stats.intervals import ENOUGH, sparse_mean

# --- mean_interval ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "n", "reason"),
    [([], 0, "no value"), ([np.nan] * 2, 0, "no value"), ([0.7, np.nan], 1, stats.ONE_VALUE)],
)
def test_nothing_has_no_mean_and_one_value_no_interval(
    values: list[float], n: int, reason: str
) -> None:
    row = stats.mean_interval(np.array(values), confidence=0.95)
    assert row.estimate == 0.7 if n else np.isnan(row.estimate)
    assert np.isnan([row.ci_low, row.ci_high]).all() and row.reason.startswith(reason)
    assert (row.n, row.n_lost) == (n, len(values) - n)


# --- one_sample and proportion_interval -------------------------------------------------------


def test_a_mean_is_tested_against_zero_as_scipy_does() -> None:
    values = np.array([0.2, -0.1, 0.4, np.nan, 0.3])
    row = stats.one_sample(values, confidence=0.95).row()
    expected = scipy.stats.ttest_1samp(values, 0, nan_policy="omit")
    assert row["statistic_value"] == pytest.approx(expected.statistic)
    assert row["p_value"] == pytest.approx(expected.pvalue)
    assert (row["df"], row["n"], row["n_lost"]) == (3, 4, 1)
    assert row["effect_size"] == pytest.approx(0.2 / np.nanstd(values, ddof=1))


@pytest.mark.parametrize("values", [[], [np.nan], [0.3], [0.5, 0.5]])
def test_too_few_or_equal_values_are_not_tested_and_say_why(values: list[float]) -> None:
    row = stats.one_sample(np.array(values), confidence=0.95).row()
    assert np.isnan([row["statistic_value"], row["p_value"], row["effect_size"]]).all()
    assert row["reason"]


@pytest.mark.parametrize(("count", "total"), [(0, 5), (3, 10), (10, 10)])
def test_a_shares_interval_is_wilsons(count: int, total: int) -> None:
    row = stats.proportion_interval(count, total, confidence=0.95).row()
    expected = scipy.stats.binomtest(count, total).proportion_ci(0.95, method="wilson")
    assert (row["ci_low"], row["ci_high"]) == pytest.approx(tuple(expected), abs=1e-12)
    assert (row["estimate"], row["n"]) == (count / total, total)
    nothing = stats.proportion_interval(0, 0, confidence=0.95)
    assert np.isnan([nothing.estimate, nothing.ci_low]).all() and nothing.reason


# --- paired_difference ------------------------------------------------------------------------

FIRST = pd.Series([0.3, 0.9, 0.4, 0.7], index=list("pqrs"))
SECOND = pd.Series([0.2, 0.5, 0.5, 0.1], index=list("pqrs"))


def test_paired_difference_is_the_paired_t_test() -> None:
    row = stats.paired_difference(FIRST, SECOND, confidence=0.95).row()
    expected = scipy.stats.ttest_rel(FIRST, SECOND)
    assert row["statistic_value"] == pytest.approx(expected.statistic)
    assert row["p_value"] == pytest.approx(expected.pvalue)
    assert row["df"] == expected.df == 3
    interval = expected.confidence_interval(0.95)
    assert (row["ci_low"], row["ci_high"]) == pytest.approx(tuple(interval))


def test_a_missing_value_is_lost_on_either_side() -> None:
    first, second = FIRST.copy(), SECOND.copy()
    first["p"], second["r"] = np.nan, np.nan
    # Units are paired by name, not by place.
    row = stats.paired_difference(first, second.iloc[[2, 0, 3, 1]], confidence=0.95).row()
    assert (row["n"], row["n_lost"]) == (2, 2)
    assert row["estimate"] == pytest.approx((0.4 + 0.6) / 2)
    row = stats.paired_difference(FIRST, SECOND.drop("q"), confidence=0.95).row()
    assert (row["n"], row["n_lost"]) == (3, 1)


def test_a_constant_shift_is_not_tested_on_rounding_noise() -> None:
    # 0.3 - 0.2, 0.2 - 0.1 and 0.4 - 0.3 differ by 1e-17 in binary.
    first = pd.Series([0.3, 0.2, 0.4])
    assert np.isnan(stats.paired_difference(first, first - 0.1, confidence=0.95).p_value)


# --- shares -----------------------------------------------------------------------------------


@given(st.lists(st.sampled_from([1.0, 0.0, np.nan]), max_size=20))
def test_a_share_of_units_is_that_of_their_count(hits: list[float]) -> None:
    found = stats.share_interval(pd.Series(hits, dtype=float), confidence=0.9).row()
    total = sum(one == one for one in hits)
    expected = stats.proportion_interval(hits.count(1.0), total, confidence=0.9).row()
    assert found["n_lost"] == len(hits) - total
    for name, value in expected.items():
        assert found[name] == value or (np.isnan(found[name]) and np.isnan(value))


# --- two shares -------------------------------------------------------------------------------


def test_two_shares_are_newcombes_printed_example() -> None:
    # Newcombe 1998, Table II: 56/70 - 48/80, method 10: .0524 to .3339.
    found = stats.two_shares(np.arange(70) < 56, np.arange(80) < 48, confidence=0.95).row()
    assert found["estimate"] == pytest.approx(0.2)
    assert found["ci_low"] == pytest.approx(0.0524, abs=5e-5)
    assert found["ci_high"] == pytest.approx(0.3339, abs=5e-5)
    # The z of the pooled share, by hand.
    pooled = 104 / 150
    z = 0.2 / np.sqrt(pooled * (1 - pooled) * (1 / 70 + 1 / 80))
    assert found["statistic_value"] == pytest.approx(z)
    assert found["p_value"] == pytest.approx(2 * scipy.stats.norm.sf(z))
    assert (found["n"], found["reason"]) == (150, None)


def test_two_shares_of_nothing_and_of_units_alike_say_why_there_is_no_test() -> None:
    none = stats.two_shares(np.array([]), np.array([1.0]), confidence=0.9).row()
    assert np.isnan(none["estimate"]) and "no unit" in none["reason"]
    alike = stats.two_shares(np.zeros(4), np.zeros(3), confidence=0.9).row()
    assert alike["estimate"] == 0 and alike["ci_low"] < 0 < alike["ci_high"]
    assert np.isnan(alike["p_value"]) and "no variance" in alike["reason"]


# --- shares of units in clusters --------------------------------------------------------------


def test_a_clustered_share_of_single_units_is_wilsons() -> None:
    hits = np.array([1.0, 0, 0, 1, 0, 0, 0])
    row = stats.clustered_share(hits, np.arange(7), confidence=0.95).row()
    expected = stats.proportion_interval(2, 7, confidence=0.95).row()
    for end in ("ci_low", "ci_high"):
        assert row[end] == pytest.approx(expected[end])
    assert stats.clustered_share(hits[:0], np.arange(0), confidence=0.95).n == 0


def test_units_that_repeat_their_cluster_are_worth_no_more_than_it() -> None:
    # Each of 30 clusters is four times the same: a cluster is a unit, with its t.
    hits = np.repeat(np.arange(30) < 9, 4).astype(float)
    row = stats.clustered_share(hits, np.repeat(range(30), 4), confidence=0.95).row()
    low, high = stats.proportion_interval(9, 30, confidence=0.95).ci_low, row["ci_high"]
    assert row["ci_low"] == pytest.approx(low, abs=0.01) and high > 0.47
    one = stats.clustered_share(np.array([1.0, 0.0]), np.zeros(2), confidence=0.95).row()
    assert np.isnan(one["ci_low"]) and one["reason"] == stats.ONE_CLUSTER
    sure = stats.clustered_share(np.ones(40), np.repeat(range(10), 4), confidence=0.95).row()
    least = stats.proportion_interval(10, 10, confidence=0.95).ci_low
    assert sure["ci_low"] == pytest.approx(least)


# --- means of values in clusters --------------------------------------------------------------

ENDS = {"confidence": 0.95, "bounds": (-np.inf, np.inf)}


def test_a_clustered_mean_is_that_of_the_matrices_of_bell_and_mccaffrey() -> None:
    rng = np.random.default_rng(4)
    clusters = np.repeat(np.arange(6), [1, 1, 2, 4, 9, 3])
    values, n = rng.choice([-1.0, 0.0, 1.0], 20), 20
    x = np.ones((n, 1))
    left = np.eye(n) - x @ x.T / n  # what is left of each value when the mean is taken away
    variance, of_errors = 0.0, []
    for cluster in range(6):
        own = clusters == cluster
        # The inverse root of a cluster's own block of `left`, by its eigenvalues.
        sizes, vectors = np.linalg.eigh(left[np.ix_(own, own)])
        root = vectors @ np.diag(sizes**-0.5) @ vectors.T
        weights = left[:, own] @ root @ np.ones(own.sum()) / n
        variance += float(weights @ values) ** 2
        of_errors.append(weights)
    products = np.array(of_errors) @ np.array(of_errors).T
    df = np.trace(products) ** 2 / (products**2).sum()
    half = scipy.stats.t.ppf(0.975, df) * np.sqrt(variance)
    row = stats.clustered_mean(values, clusters, **ENDS).row()
    assert row["ci_high"] - row["estimate"] == pytest.approx(half)
    assert row["estimate"] - row["ci_low"] == pytest.approx(half)
    assert df < 5


def test_a_clustered_mean_stays_within_its_bounds_and_turns_with_its_values() -> None:
    values, clusters = np.array([1.0, 1, 1, -1, 0]), np.array([0, 0, 1, 1, 2])
    row = stats.clustered_mean(values, clusters, confidence=0.95, bounds=(-1, 1)).row()
    turned = stats.clustered_mean(-values, clusters, confidence=0.95, bounds=(-1, 1)).row()
    assert (row["ci_low"], row["ci_high"]) == (-turned["ci_high"], -turned["ci_low"])
    assert row["ci_high"] == 1


def test_one_cluster_and_clusters_alike_have_no_interval() -> None:
    one = stats.clustered_mean(np.array([1.0, 0.0]), np.zeros(2), **ENDS).row()
    alike = stats.clustered_mean(np.array([1.0, 0, 1, 0]), np.array([0, 0, 1, 1]), **ENDS).row()
    for row, reason in ((one, stats.ONE_CLUSTER), (alike, stats.intervals.NO_SPREAD)):
        assert row["estimate"] == 0.5
        assert np.isnan(row["ci_low"]) and np.isnan(row["ci_high"])
        assert row["reason"] == reason


# --- two samples ------------------------------------------------------------------------------


#: Student (1908): hours of sleep gained by ten patients on two drugs, R's `sleep`.
SLEEP = np.array([0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0])
SLEEP_2 = np.array([1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4])


def two_sample(first: list, second: list, *, pooled: bool, confidence: float = 0.95) -> dict:
    sides = np.array(first), np.array(second)
    return stats.two_sample(*sides, pooled=pooled, confidence=confidence).row()


@pytest.mark.parametrize(("pooled", "kind"), [(True, "pooled"), (False, "unequal")])
def test_two_samples_of_unequal_size_are_statsmodels(pooled: bool, kind: str) -> None:
    compared = CompareMeans(DescrStatsW(SLEEP[:4]), DescrStatsW(SLEEP_2))
    row = two_sample(SLEEP[:4], np.append(SLEEP_2, np.nan), pooled=pooled, confidence=0.8)
    tested = (row["statistic_value"], row["p_value"], row["df"])
    assert tested == pytest.approx(compared.ttest_ind(usevar=kind))
    assert row["n"] == 14
    limits = compared.tconfint_diff(alpha=0.2, usevar=kind)
    assert (row["ci_low"], row["ci_high"]) == pytest.approx(limits)
    t, *_ = compared.ttest_ind(usevar="pooled")
    assert row["effect_size"] == pytest.approx(t * np.sqrt(1 / 4 + 1 / 10))


@pytest.mark.parametrize(
    ("first", "second", "reason"),
    [
        ([], [1.0, 2.0], "needs two values"),
        ([1.0, np.nan], [1.0, 2.0], "needs two values"),
        ([1.0, 1.0], [2.0, 2.0], "no variance in either sample"),
    ],
)
def test_samples_that_cannot_be_tested_say_why(first: list, second: list, reason: str) -> None:
    row = two_sample(first, second, pooled=False)
    assert np.isnan([row["statistic_value"], row["p_value"], row["ci_low"]]).all()
    assert row["reason"].startswith(reason)


# --- differences most of which are 0 ----------------------------------------------------------


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
        assert (row.ci_low < 0 < row.ci_high) == (row.p_value > 0.05)


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
