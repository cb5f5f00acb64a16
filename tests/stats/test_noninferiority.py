"""Tests of a change between two runs, against scipy, statsmodels and simulated runs."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.optimize
import scipy.stats
import statsmodels.api as sm

from nbbias.stats import (
    PairedMeans,
    noninferiority_n,
    noninferiority_power,
    noninferiority_test,
    one_sided_tests,
    paired_change,
    tango_interval,
    tango_score,
)
from nbbias.stats.noninferiority import Worse


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20231222)


def two(rng: np.random.Generator, n: int = 40, shift: float = 0.0) -> pd.DataFrame:
    common = rng.normal(size=n)
    first, second = (common + rng.normal(size=n) for _ in range(2))
    return pd.DataFrame({"first": first, "second": second + shift})


def test_without_clusters_it_is_the_paired_t_test(rng: np.random.Generator) -> None:
    both = two(rng, shift=0.4)
    row = paired_change(both, confidence=0.9).row()
    test = scipy.stats.ttest_rel(both["second"], both["first"])
    interval = test.confidence_interval(0.9)
    assert row["p_value"] == pytest.approx(test.pvalue)
    assert (row["ci_low"], row["ci_high"]) == pytest.approx((interval.low, interval.high))


def test_clusters_vary_as_statsmodels_says(rng: np.random.Generator) -> None:
    both = two(rng, n=60).assign(cluster=np.repeat(range(12), 5))
    both["second"] += np.repeat(rng.normal(size=12), 5)
    change = both["second"] - both["first"]
    fitted = sm.OLS(change, np.ones(60)).fit(
        cov_type="cluster", cov_kwds={"groups": both["cluster"]}, use_t=True
    )
    row = paired_change(both, confidence=0.95).row()
    assert row["p_value"] == pytest.approx(fitted.pvalues.iloc[0])
    assert row["test"] == "paired t over clusters"


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ([], "no unit is in both runs"),
        ([1.0], "one value has no spread, so no interval"),
        ([1.0, 2.0], "the change is the same in all units: no test"),
    ],
)
def test_what_has_no_test_says_why(values: list[float], reason: str) -> None:
    row = paired_change(pd.DataFrame({"first": values, "second": values}), confidence=0.95).row()
    assert row["reason"] == reason
    assert np.isnan(row["p_value"])


def test_one_cluster_cannot_tell() -> None:
    both = pd.DataFrame({"first": [0.0, 1, 2], "second": [1.0, 3, 2], "cluster": "one"})
    assert "cluster" in paired_change(both, confidence=0.95).reason
    row = noninferiority_test(both, worse="higher", margin=0.1)
    assert np.isnan(row["p_worse"]) and np.isnan(row["p_not_worse"])


# --- the gate -----------------------------------------------------------------------------------


@pytest.mark.parametrize("worse", ["higher", "lower"])
def test_upwards_and_downwards_are_one_sided_t_tests(
    rng: np.random.Generator, worse: Worse
) -> None:
    both = two(rng, shift=0.3)
    sign = 1 if worse == "higher" else -1
    row = noninferiority_test(both, worse=worse, margin=0.1)
    change = sign * (both["second"] - both["first"])
    above = scipy.stats.ttest_1samp(change, 0.1, alternative="greater")
    assert row["worsening"] == pytest.approx(change.mean())
    assert (row["p_worse"], row["p_not_worse"]) == pytest.approx((above.pvalue, 1 - above.pvalue))


def test_apart_does_not_mind_which_side_of_0(rng: np.random.Generator) -> None:
    both = two(rng, shift=0.5)
    rows = [
        noninferiority_test(both * sign, worse="apart", margin=0.1)
        for sign in (1, -1, pd.Series({"first": -1, "second": 1}))
    ]
    assert rows[0] == pytest.approx(rows[1])
    assert rows[0]["worsening"] == pytest.approx(rows[2]["worsening"])


def test_a_bias_that_changes_sides_and_size_is_worse(rng: np.random.Generator) -> None:
    first = rng.normal(0.2, 0.2, 60)
    both = pd.DataFrame({"first": first, "second": -first - 0.4})
    row = noninferiority_test(both, worse="apart", margin=0.1)
    assert row["worsening"] == pytest.approx(0.4)
    assert row["p_worse"] < 0.001 and row["p_not_worse"] > 0.9


def test_runs_alike_pass_where_enough_units_would_have_shown_a_change() -> None:
    for worse in ("higher", "lower", "apart"):
        p = []
        for n in (5, 2000):
            values = np.tile([0.0, 0.05, -0.02, 0.01, 0.0], n // 5)
            both = pd.DataFrame({"first": values, "second": values})
            p.append(noninferiority_test(both, worse=worse, margin=0.02))
        assert p[0]["p_worse"] > 0.9 and p[1]["p_worse"] > 0.9
        assert p[0]["p_not_worse"] > 0.05 > p[1]["p_not_worse"], worse


def test_the_score_test_is_tangos() -> None:
    # The crossover study of Tango (1998): 43 and 0 of 44 pairs, here 5 and 1 discordant of 44, by
    # the variance that its equations give under the null hypothesis, found numerically.
    up, down, n, bound = 5, 1, 44, 0.1

    def likelihood(q: float) -> float:
        return -(
            up * np.log(q + bound) + down * np.log(q) + (n - up - down) * np.log(1 - 2 * q - bound)
        )

    q = scipy.optimize.minimize_scalar(likelihood, bounds=(1e-9, 0.44), method="bounded").x
    z = (up - down - n * bound) / np.sqrt(n * (2 * q + bound * (1 - bound)))
    assert float(tango_score(up, down, n, bound)) == pytest.approx(z, abs=1e-4)


def simulated(
    rng: np.random.Generator,
    first: float,
    second: float,
    *,
    n: int = 40,
    spread: float = 1.0,
    runs: int = 4000,
) -> PairedMeans:
    """Return the means of many pairs of runs at once; `spread` is that of the first run."""
    common = rng.normal(size=(runs, n))
    a = first + spread * common
    b = second + 0.5 * common + np.sqrt(0.75) * rng.normal(size=(runs, n))
    off = [one - one.mean(axis=1, keepdims=True) for one in (a, b)]
    var = [(x * y).sum(axis=1) / n / (n - 1) for x, y in ((off[0], off[0]), (off[1], off[1]), off)]
    return PairedMeans(a.mean(axis=1), b.mean(axis=1), *var, n - 1, n, 10.0)


@pytest.mark.parametrize("spread", [0.01, 1.0])
@pytest.mark.parametrize("first", [0.0, 0.15, 0.6])
@pytest.mark.parametrize("margin", [0.01, 0.3])
@pytest.mark.parametrize("side", [1, -1])
def test_at_the_margin_a_twentieth_is_called_worse_or_not_worse(
    rng: np.random.Generator, first: float, margin: float, side: int, spread: float
) -> None:
    found = simulated(rng, first, side * (first + margin), spread=spread)
    for p in one_sided_tests(found, "apart", margin):
        assert (p <= 0.05).mean() <= 0.06
    found = simulated(rng, first, first + margin, spread=spread)
    for p in one_sided_tests(found, "higher", margin):
        assert (p <= 0.05).mean() == pytest.approx(0.05, abs=0.012)


def test_a_run_at_its_margin_seldom_passes_whatever_the_sizes_of_clusters(
    rng: np.random.Generator,
) -> None:
    margin, verdicts, values, plain = 0.1, [], [], []
    for _ in range(200):
        codes = np.repeat(np.arange(30), np.minimum(rng.zipf(1.8, 30), 200))
        # Rates of half a cluster's kind, the second run's larger by the margin on average.
        first, second = rng.beta([[0.25], [0.35]], [[0.75], [0.65]], (2, 30))
        both = pd.DataFrame({"first": first[codes], "second": second[codes]})
        both = (rng.random(both.shape) < both).astype(float).assign(cluster=codes)
        row = noninferiority_test(both, worse="higher", margin=margin)
        verdicts.append(row["p_not_worse"] <= 0.05)
        change = (both["second"] - both["first"]).to_numpy()
        sums = np.bincount(codes, weights=change - change.mean())
        error = np.sqrt((sums**2).sum() * 30 / 29) / len(codes)  # as if clusters were alike
        plain.append(scipy.stats.t.cdf((change.mean() - margin) / error, 29) <= 0.05)
        both["second"] = both["first"] + margin + rng.normal(size=30)[codes]
        values.append(
            noninferiority_test(both, worse="higher", margin=margin)["p_not_worse"] <= 0.05
        )
    # Three standard errors of a binomial share: 3 sqrt(.05 x .95 / 200) = .046.
    assert np.mean(verdicts) <= 0.05 and np.mean(values) <= 0.096
    assert np.mean(plain) > 0.1


@pytest.mark.parametrize(
    ("worse", "mean", "below"), [("higher", 0.0, 0.08), ("apart", 1.0, 0.08), ("apart", 0.0, 0.4)]
)
def test_the_power_is_that_of_runs_that_are_drawn(
    rng: np.random.Generator, worse: Worse, mean: float, below: float
) -> None:
    both = two(rng, n=50)
    both["first"] += mean - both["first"].mean()
    power = noninferiority_power(both, 90, worse=worse, margin=0.4, alpha=0.05)
    passed = []
    for _ in range(200):
        runs = both.iloc[rng.integers(50, size=90)].reset_index(drop=True)
        runs += both["first"].mean() - both.mean()  # alike in truth
        passed.append(noninferiority_test(runs, worse=worse, margin=0.4)["p_not_worse"] <= 0.05)
    # Of a bias near 0 it is a lower bound.
    assert np.mean(passed) - below <= power <= np.mean(passed) + 0.08


def test_so_many_units_have_the_power(rng: np.random.Generator) -> None:
    both = two(rng, n=60)
    change = both["second"] - both["first"]
    n = noninferiority_n(both, worse="higher", margin=0.4, alpha=0.05)
    # The same by hand: (1.645 + 0.842)² times the variance over the margin's square.
    assert n == pytest.approx((1.645 + 0.842) ** 2 * change.var() / 0.4**2, rel=0.08)


def test_so_many_verdicts_have_the_power() -> None:
    both = pd.DataFrame({"first": np.zeros(30), "second": np.zeros(30)})
    n = noninferiority_n(both, worse="higher", margin=0.05, alpha=0.05)
    assert n is not None
    assert noninferiority_power(both, n, worse="higher", margin=0.05, alpha=0.05) >= 0.8
    assert 60 < n < 400


def test_one_unit_says_nothing_of_how_many_it_takes() -> None:
    one = pd.DataFrame({"first": [1.0], "second": [2.0]})
    assert noninferiority_n(one, worse="higher", margin=0.05, alpha=0.05) is None
    assert np.isnan(noninferiority_test(one, worse="higher", margin=0.1)["p_worse"])


def test_where_no_unit_changed_so_many_would_have_shown_one() -> None:
    values = np.tile([0.1, 0.3, 0.2, 0.4], 5)
    both = pd.DataFrame({"first": values, "second": values})
    n = noninferiority_n(both, worse="higher", margin=0.02, alpha=0.05)
    assert n == pytest.approx(np.log(0.05) / np.log(1 - 0.02 / 0.3), abs=1.5)


@pytest.mark.parametrize(("up", "down", "n"), [(6, 1, 40), (1, 0, 10), (0, 7, 12), (3, 3, 9)])
def test_tangos_interval_ends_where_the_score_reaches_its_level(up: int, down: int, n: int) -> None:
    low, high = tango_interval(up, down, n, confidence=0.9)
    estimate, z = (up - down) / n, scipy.stats.norm.ppf(0.95)
    for end, sign, far in ((low, 1, -1 + 1e-9), (high, -1, 1 - 1e-9)):
        root = scipy.optimize.brentq(
            lambda bound, sign=sign: float(tango_score(up, down, n, bound)) - sign * z,
            *sorted((estimate, far)),
        )
        assert end == pytest.approx(root, abs=1e-9)
    turned = tango_interval(down, up, n, confidence=0.9)
    assert (-turned[1], -turned[0]) == pytest.approx((float(low), float(high)))


@pytest.mark.parametrize(("n", "up", "down"), [(10, 0.1, 0.1), (10, 0.2, 0.02), (30, 0.05, 0.02)])
def test_tangos_interval_holds_where_few_units_change(
    n: int, up: float, down: float, rng: np.random.Generator
) -> None:
    ups, downs, _ = rng.multinomial(n, [up, down, 1 - up - down], size=4000).T
    low, high = tango_interval(ups, downs, n, confidence=0.95)
    assert np.mean((low <= up - down) & (up - down <= high)) >= 0.935


@pytest.mark.parametrize("sizes", [(1, 3), (1, 8), (5, 12)])
def test_two_unequal_clusters_are_two(sizes: tuple[int, int], rng: np.random.Generator) -> None:
    both = pd.DataFrame(rng.normal(size=(sum(sizes), 2)), columns=["first", "second"])
    both["cluster"] = np.repeat(["a", "b"], sizes)
    result = paired_change(both, confidence=0.95)
    assert result.df == pytest.approx(1)
    assert np.isfinite(result.p_value)
    assert result.reason is None
