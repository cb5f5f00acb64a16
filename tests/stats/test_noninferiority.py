"""Tests of a change between two runs, against scipy, statsmodels and simulated runs."""

import numpy as np
import pandas as pd
import pytest
import scipy.optimize
import scipy.stats
import statsmodels.api as sm
from statsmodels.stats.contingency_tables import mcnemar

from nbbias import stats
from nbbias.stats.noninferiority import Worse


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20231222)


def two(rng: np.random.Generator, n: int = 40, shift: float = 0.0) -> pd.DataFrame:
    common = rng.normal(size=n)
    first, second = (common + rng.normal(size=n) for _ in range(2))
    return pd.DataFrame({"first": first, "second": second + shift})


def test_clusters_vary_as_statsmodels_says(rng: np.random.Generator) -> None:
    both = two(rng, n=60).assign(cluster=np.repeat(range(12), 5))
    both["second"] += np.repeat(rng.normal(size=12), 5)
    change = both["second"] - both["first"]
    fitted = sm.OLS(change, np.ones(60)).fit(
        cov_type="cluster", cov_kwds={"groups": both["cluster"]}, use_t=True
    )
    row = stats.paired_change(both, confidence=0.95).row()
    assert row["p_value"] == pytest.approx(fitted.pvalues.iloc[0])
    assert [row["ci_low"], row["ci_high"]] == pytest.approx(fitted.conf_int().iloc[0].tolist())
    assert row["test"] == "paired t over clusters"


def test_a_change_that_varies_by_task_and_theme_seldom_passes_at_the_margin() -> None:
    # Over units as if they were independent it passes in a quarter of studies.
    rng, passed = np.random.default_rng(0), {(): 0, ("cluster", "crossed"): 0}
    for _ in range(100):
        task, theme, noise = (rng.normal(size=size) for size in ((8, 1), (1, 10), (8, 10)))
        change = 0.05 + 0.03 * task + 0.03 * theme + 0.05 * noise
        index = pd.MultiIndex.from_product([range(8), range(10)], names=["cluster", "crossed"])
        both = pd.DataFrame({"first": 0.0, "second": change.ravel()}, index).reset_index()
        both["first"] = rng.normal(size=80)
        both["second"] += both["first"]
        for names in passed:
            columns = both[["first", "second", *names]]
            row = stats.noninferiority_test(columns, worse="higher", margin=0.05)
            passed[names] += row["p_not_worse"] < 0.05
    assert passed[()] > 15 > 9 >= passed["cluster", "crossed"]


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ([], "no unit is in both runs"),
        ([1.0], "one value has no spread"),
        ([1.0, 2.0], "the change is the same in all units: no test"),
        ([1.0, 0.0], "every unit has equal values on both sides"),
    ],
)
def test_what_has_no_test_says_why(values: list[float], reason: str) -> None:
    both = pd.DataFrame({"first": values, "second": values})
    row = stats.paired_change(both, confidence=0.95)
    assert row.reason == reason and np.isnan(row.p_value)


# --- the gate -----------------------------------------------------------------------------------


@pytest.mark.parametrize("worse", ["higher", "lower"])
def test_upwards_and_downwards_are_one_sided_tests(rng: np.random.Generator, worse: Worse) -> None:
    both = two(rng, shift=0.3)
    sign = 1 if worse == "higher" else -1
    row = stats.noninferiority_test(both, worse=worse, margin=0.1)
    change = sign * (both["second"] - both["first"])
    above = scipy.stats.ttest_1samp(change, 0.1, alternative="greater")
    assert row["worsening"] == pytest.approx(change.mean())
    assert (row["p_worse"], row["p_not_worse"]) == pytest.approx((above.pvalue, 1 - above.pvalue))


def test_apart_does_not_mind_which_side_of_0(rng: np.random.Generator) -> None:
    both = two(rng, shift=0.5)
    rows = [
        stats.noninferiority_test(both * sign, worse="apart", margin=0.1)
        for sign in (1, -1, pd.Series({"first": -1, "second": 1}))
    ]
    assert rows[0] == pytest.approx(rows[1])
    assert rows[0]["worsening"] == pytest.approx(rows[2]["worsening"])


def test_runs_alike_pass_where_enough_units_would_have_shown_a_change() -> None:
    for worse in ("higher", "lower", "apart"):
        p = []
        for n in (5, 2000):
            values = np.tile([0.0, 0.05, -0.02, 0.01, 0.0], n // 5)
            both = pd.DataFrame({"first": values, "second": values})
            p.append(stats.noninferiority_test(both, worse=worse, margin=0.02))
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
    assert float(stats.tango_score(up, down, n, bound)) == pytest.approx(z, abs=1e-4)


@pytest.mark.parametrize(
    ("worse", "mean", "below"), [("higher", 0.0, 0.08), ("apart", 1.0, 0.08), ("apart", 0.0, 0.4)]
)
def test_the_power_is_that_of_runs_that_are_drawn(
    rng: np.random.Generator, worse: Worse, mean: float, below: float
) -> None:
    both = two(rng, n=50)
    both["first"] += mean - both["first"].mean()
    power = stats.noninferiority_power(both, 90, worse=worse, margin=0.4, alpha=0.05)
    passed = []
    for _ in range(200):
        runs = both.iloc[rng.integers(50, size=90)].reset_index(drop=True)
        runs += both["first"].mean() - both.mean()  # alike in truth
        row = stats.noninferiority_test(runs, worse=worse, margin=0.4)
        passed.append(row["p_not_worse"] <= 0.05)
    # Of a bias near 0 it is a lower bound.
    assert np.mean(passed) - below <= power <= np.mean(passed) + 0.08


def test_so_many_units_have_the_power(rng: np.random.Generator) -> None:
    both = two(rng, n=60)
    change = both["second"] - both["first"]
    n = stats.noninferiority_n(both, worse="higher", margin=0.4, alpha=0.05)
    # The same by hand: (1.645 + 0.842)² times the variance over the margin's square.
    assert n == pytest.approx((1.645 + 0.842) ** 2 * change.var() / 0.4**2, rel=0.08)


def test_one_unit_says_nothing_of_how_many_it_takes() -> None:
    one = pd.DataFrame({"first": [1.0], "second": [2.0]})
    assert stats.noninferiority_n(one, worse="higher", margin=0.05, alpha=0.05) is None
    assert np.isnan(stats.noninferiority_test(one, worse="higher", margin=0.1)["p_worse"])


def test_where_no_unit_changed_so_many_would_have_shown_one() -> None:
    values = np.tile([0.1, 0.3, 0.2, 0.4], 5)
    both = pd.DataFrame({"first": values, "second": values})
    n = stats.noninferiority_n(both, worse="higher", margin=0.02, alpha=0.05)
    assert n == pytest.approx(np.log(0.05) / np.log(1 - 0.02 / 0.3), abs=1.5)


@pytest.mark.parametrize(("up", "down", "n"), [(6, 1, 40), (1, 0, 10), (0, 7, 12), (3, 3, 9)])
def test_tangos_interval_ends_where_the_score_reaches_its_level(up: int, down: int, n: int) -> None:
    low, high = stats.tango_interval(up, down, n, confidence=0.9)
    estimate, z = (up - down) / n, scipy.stats.norm.ppf(0.95)
    for end, sign, far in ((low, 1, -1 + 1e-9), (high, -1, 1 - 1e-9)):
        root = scipy.optimize.brentq(
            lambda bound, sign=sign: float(stats.tango_score(up, down, n, bound)) - sign * z,
            *sorted((estimate, far)),
        )
        assert end == pytest.approx(root, abs=1e-9)
    turned = stats.tango_interval(down, up, n, confidence=0.9)
    assert (-turned[1], -turned[0]) == pytest.approx((float(low), float(high)))


def test_paired_shares_reject_0_where_their_interval_leaves_it_out(
    rng: np.random.Generator,
) -> None:
    first = rng.random((400, 30)) < 0.3
    second = np.where(rng.random((400, 30)) < 0.4, rng.random((400, 30)) < 0.3, first)
    rows = [
        stats.paired_shares(*sides, confidence=0.95) for sides in zip(first, second, strict=True)
    ]
    assert all((row.p_value < 0.05) == (row.ci_low * row.ci_high > 0) for row in rows)
    assert 0.01 < np.mean([row.p_value < 0.05 for row in rows]) < 0.08
    for one, other, row in zip(first, second, rows, strict=True):
        if counts := int((one != other).sum()):
            table = [[0, int((one & ~other).sum())], [int((other & ~one).sum()), counts]]
            expected = mcnemar(table, exact=False, correction=False).pvalue
            assert row.p_value == pytest.approx(float(expected))
