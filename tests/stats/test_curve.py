"""A specification curve: each row against scipy, the joint test against its own definition."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy import stats as scipy_stats

from nbbias import stats
from nbbias.stats import Sure


def correlated(rng: np.random.Generator, *, units: int, ways: int, planted: float) -> pd.DataFrame:
    """Values of one thing measured in several ways: skewed, of unequal spread, with gaps."""
    base = rng.exponential(1, (units, 1)) - rng.exponential(1, (units, 1))
    noise = rng.normal(0, rng.uniform(0.2, 2, ways), (units, ways))
    values = planted + base * rng.uniform(0.3, 1.5, ways) + noise
    values[rng.random(values.shape) < rng.uniform(0, 0.5, ways)] = np.nan
    return pd.DataFrame(values)


def test_a_curve_is_a_t_test_of_every_column() -> None:
    values = correlated(np.random.default_rng(1), units=30, ways=6, planted=0.3)
    found = stats.curve(values, confidence=0.9)
    for name in values:
        own = values[name].dropna()
        expected = scipy_stats.ttest_1samp(own, 0)
        low, high = expected.confidence_interval(0.9)
        row = found.loc[name]
        assert [row["estimate"], row["ci_low"], row["ci_high"], row["p_value"]] == pytest.approx(
            [own.mean(), low, high, expected.pvalue], abs=1e-12
        )
        assert row["n"] == len(own)


def test_the_joint_test_is_all_swaps_counted() -> None:
    """Of seven units all 128 swaps, with the statistics written out one by one."""
    values = correlated(np.random.default_rng(3), units=7, ways=4, planted=0.9)
    every = []
    for signs in product([1, -1], repeat=7):
        swapped = values.mul(list(signs), axis=0)
        means = swapped.mean()
        side = 1 if (means > 0).sum() >= (means < 0).sum() else -1
        tested = [scipy_stats.ttest_1samp(swapped[c].dropna(), 0) for c in swapped]
        hits = [one.pvalue < 0.05 and one.statistic * side > 0 for one in tested]
        counts = values.notna().sum()
        every.append([abs(means.median()), max((means > 0).mean(), (means < 0).mean()),
                      np.mean([hit and counts[c] >= 5 for c, hit in enumerate(hits)])])  # fmt: skip
    table = np.array(every)
    exact = (table >= table[0] - 1e-12).mean(axis=0)
    tests, band = stats.joint(values, sure=Sure(draws=20_000, seed=5))
    assert [abs(tests["estimate"][0]), *tests["estimate"][1:]] == pytest.approx(table[0], abs=1e-12)
    assert tests["p_value"].to_numpy() == pytest.approx(exact, abs=0.012)
    assert (band["null_low"] <= band["null"]).all() and band["null"].is_monotonic_increasing


@pytest.mark.parametrize("ways", [1, 12])
def test_p_is_uniform_where_the_sides_do_not_differ(ways: int) -> None:
    rng = np.random.default_rng(11)
    found = []
    for seed in range(400):
        values = correlated(rng, units=25, ways=ways, planted=0)
        found.append(stats.joint(values, sure=Sure(draws=99, seed=seed)).tests["p_value"])
    p = np.array(found)
    # Of 99 draws p takes the values .01, .02, …, 1: uniform on these, less half a step, on (0, 1).
    assert scipy_stats.kstest(p[:, 0] - 0.005, "uniform").pvalue > 0.01
    # Shares have ties, which count against the curve: never too often, mostly too seldom.
    for level in (0.05, 0.1, 0.2):
        error = 2.6 * np.sqrt(level * (1 - level) / len(p))
        assert abs((p[:, 0] <= level + 1e-9).mean() - level) < error
        assert ((p[:, 1:] <= level + 1e-9).mean(axis=0) < level + error).all()


def test_a_planted_difference_is_found_and_has_its_side() -> None:
    rng = np.random.default_rng(13)
    found = [
        stats.joint(correlated(rng, units=60, ways=12, planted=-0.7), sure=Sure(draws=199)).tests
        for _ in range(40)
    ]
    p = np.array([one["p_value"] for one in found])
    # Alike specifications mostly have one sign by chance, too: that share alone tells little.
    assert ((p <= 0.05).mean(axis=0)[[0, 2]] > 0.8).all()
    assert all(one["estimate"][0] < 0 for one in found)


def test_swapped_sides_turn_the_curve_and_leave_its_test() -> None:
    values = correlated(np.random.default_rng(4), units=30, ways=5, planted=0.4)
    one, other = (stats.joint(v, sure=Sure(draws=200, seed=1)).tests for v in (values, -values))
    assert one["p_value"].tolist() == other["p_value"].tolist()
    assert one["estimate"][0] == pytest.approx(-other["estimate"][0])
    assert one["estimate"][1:].tolist() == other["estimate"][1:].tolist()


def test_at_zero_empty_one_and_gaps() -> None:
    zero = pd.DataFrame(np.zeros((20, 3)))
    tests, band = stats.joint(zero, sure=Sure(draws=50))
    assert tests["p_value"].tolist() == [1, 1, 1] and (band == 0).all(axis=None)
    assert stats.curve(zero, confidence=0.95)["ci_low"].isna().all()
    nothing = stats.joint(pd.DataFrame(), sure=Sure(draws=50))
    assert nothing.tests["p_value"].isna().all() and nothing.band.empty
    gone = pd.DataFrame({"a": [np.nan] * 9, "b": np.arange(9) - 3.0})
    tests, band = stats.joint(gone, sure=Sure(draws=50))
    assert tests["n"].eq(1).all() and tests["units"].eq(9).all() and len(band) == 1
    assert stats.curve(gone, confidence=0.95).loc["a", "reason"] == "nothing was measured"
    one = stats.joint(pd.DataFrame([[0.5, 0.4]]), sure=Sure(draws=99)).tests
    assert one["p_value"][0] == 1 and one["estimate"][2] == 0
