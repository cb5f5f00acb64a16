"""Means over crossed random facets against worked examples, statsmodels and simulated studies."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.stats
import statsmodels.formula.api as smf
from hypothesis import given, settings, strategies as st
from statsmodels.stats.anova import anova_lm

from nbbias import stats

FACETS = ["task", "theme"]
WORKED = pd.DataFrame({"a": [8, 9, 6, 5, 8.0], "b": [7, 5, 2, 3, 4], "c": [1, 2, 3, 1, 5]})


def spread(table: pd.DataFrame, *, facets: Sequence[str] = FACETS) -> dict[str, Any]:
    return stats.crossed_spread(table, facets=facets, confidence=0.95)


def simulate(
    rng: np.random.Generator, tasks: int, themes: int, k: int, *, sd: tuple[float, float, float]
) -> pd.DataFrame:
    """Simulate conditions of one mean, which vary by task, by theme, and by both."""
    by_task, by_theme, noise = sd
    values = by_task * rng.normal(size=(tasks, 1, k)) + by_theme * rng.normal(size=(1, themes, k))
    values = values + noise * rng.normal(size=(tasks, themes, k))
    index = pd.MultiIndex.from_product([range(tasks), range(themes)], names=FACETS)
    return pd.DataFrame(values.reshape(-1, k), index, columns=list("abcdef")[:k])


# --- units alone --------------------------------------------------------------------------------


def test_repeated_measures_equal_a_worked_example() -> None:
    # Sums of squares by hand, and Box's epsilon from the covariances.
    values = WORKED.to_numpy()
    grand, rows, columns = values.mean(), values.mean(1), values.mean(0)
    between = 5 * ((columns - grand) ** 2).sum()
    error = ((values - rows[:, None] - columns + grand) ** 2).sum()
    f = (between / 2) / (error / 8)
    s, k = np.cov(values.T), 3
    top = (k * (np.trace(s) / k - s.mean())) ** 2
    bottom = (k - 1) * ((s**2).sum() - 2 * k * (s.mean(axis=1) ** 2).sum() + k**2 * s.mean() ** 2)
    epsilon = top / bottom
    found = spread(WORKED, facets=[])
    assert found["statistic_value"] == pytest.approx(f)
    assert found["df"] == pytest.approx(8 * epsilon)
    assert found["p_value"] == pytest.approx(scipy.stats.f.sf(f, 2 * epsilon, 8 * epsilon))
    assert found["effect_size"] == pytest.approx(1 - (error / (between + error)) * (10 / 8))
    one_theme = WORKED.set_axis(pd.MultiIndex.from_product([range(5), ["t"]], names=FACETS))
    assert spread(one_theme) == found | {"test": "F over random tasks"}


# --- crossed facets -----------------------------------------------------------------------------


@given(st.integers(2, 6), st.integers(2, 6), st.integers(2, 4), st.integers(0, 10**6))
@settings(max_examples=15)
def test_two_facets_have_clarks_quasi_f(tasks: int, themes: int, k: int, seed: int) -> None:
    table = simulate(np.random.default_rng(seed), tasks, themes, k, sd=(1, 1, 0.5))
    long = table.rename_axis(columns="c").stack().rename("y").reset_index()
    model = "y ~ C(c) * C(task) + C(c) * C(theme) + C(task):C(theme)"
    rows = anova_lm(smf.ols(model, long).fit())
    square = rows["sum_sq"] / rows["df"]
    interaction = square["Residual"]
    error = square["C(c):C(task)"] + square["C(c):C(theme)"] - interaction
    found = spread(table)
    assert found["statistic_value"] == pytest.approx(square["C(c)"] / max(error, interaction))
    assert found["test"] == "F over random tasks and themes"


def test_satterthwaites_degrees_of_freedom_by_hand() -> None:
    table = simulate(np.random.default_rng(1), 4, 5, 2, sd=(1, 1, 0.5))
    d = (table["a"] - table["b"]).unstack()
    grand = d.to_numpy().mean()
    task, theme = d.mean(axis=1), d.mean(axis=0)
    rest = d.sub(task, axis=0).sub(theme, axis=1) + grand
    parts = task.var() / 4, theme.var() / 5, (rest**2).to_numpy().sum() / 12 / 20
    variance = parts[0] + parts[1] - parts[2]
    df = variance**2 / (parts[0] ** 2 / 3 + parts[1] ** 2 / 4 + parts[2] ** 2 / 12)
    found = stats.crossed_mean(table["a"] - table["b"], facets=FACETS, confidence=0.95)
    half = scipy.stats.t.ppf(0.975, df) * variance**0.5
    ends = (grand - half, grand + half)
    assert (found.df, found.ci_low, found.ci_high) == pytest.approx((df, *ends))
    # Of two conditions F is the square of t.
    f = spread(table)
    assert (f["statistic_value"], f["df"], f["p_value"]) == pytest.approx(
        (found.statistic_value**2, df, found.p_value)
    )


@pytest.mark.parametrize("sd", [(0, 0, 0.05), (0, 0.035, 0.05), (0.035, 0.035, 0.05)])
def test_conditions_of_one_mean_are_seldom_called_different(sd: tuple[float, float, float]) -> None:
    # Over units as if they were independent themes alone give .2 and more.
    rng = np.random.default_rng(5)
    tables = [simulate(rng, 8, 10, 3, sd=sd) for _ in range(200)]
    p = np.array([spread(table)["p_value"] for table in tables])
    assert (p < 0.05).mean() <= 0.09
    if sum(sd[:2]):
        units = np.array([spread(table, facets=[])["p_value"] for table in tables])
        assert (units < 0.05).mean() > 0.15


def test_themes_of_one_task_each_vary_with_their_tasks() -> None:
    table = simulate(np.random.default_rng(2), 5, 4, 3, sd=(1, 0, 1))
    nested = table.set_axis(
        pd.MultiIndex.from_arrays([table.index.get_level_values("task"), range(20)], names=FACETS)
    )
    expected = spread(nested.groupby(level="task").mean(), facets=["task"])
    found = spread(nested)
    for name in ("statistic_value", "p_value"):
        assert found[name] == pytest.approx(expected[name])
    assert spread(nested.swaplevel(), facets=FACETS[::-1])["df"] == pytest.approx(expected["df"])


# --- spread -------------------------------------------------------------------------------------


@given(st.integers(2, 5), st.integers(2, 6), st.integers(2, 4), st.integers(0, 10**6))
@settings(max_examples=20)
def test_an_interval_holds_0_where_the_test_does_not_reject(
    tasks: int, themes: int, k: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    table = simulate(rng, tasks, themes, k, sd=(0.5, 0.5, 1)) + rng.normal(size=k)
    row = spread(table)
    assert (row["ci_low"] > 0) == (row["p_value"] < 0.05)
    assert row["estimate"] == pytest.approx(table.mean().std(ddof=0))
    assert row["ci_low"] <= row["estimate"] <= row["ci_high"]
    assert row["null_low"] < row["null"] < row["null_high"]
    moved = spread(table + 3)
    assert (moved["ci_low"], moved["p_value"]) == pytest.approx((row["ci_low"], row["p_value"]))


def test_an_interval_far_from_0_is_that_of_a_paired_difference() -> None:
    # The spread of two means is half their difference.
    gap = np.random.default_rng(2).normal(3.0, 1.0, 15)
    row = spread(pd.DataFrame({"a": gap, "b": 0.0}), facets=[])
    t = scipy.stats.t.interval(0.95, 14, loc=gap.mean(), scale=scipy.stats.sem(gap))
    assert (2 * row["ci_low"], 2 * row["ci_high"]) == pytest.approx(t, rel=0.01)


def test_the_spread_under_the_null_is_that_of_simulated_studies() -> None:
    rng = np.random.default_rng(3)
    rows = [spread(simulate(rng, 8, 10, 3, sd=(0.3, 0.3, 1))) for _ in range(300)]
    null, estimate = (np.array([row[name] for row in rows]) for name in ("null", "estimate"))
    assert (null**2).mean() == pytest.approx((estimate**2).mean(), rel=0.15)


# --- nothing to test ----------------------------------------------------------------------------


def test_a_unit_with_a_gap_is_lost() -> None:
    gap = pd.concat([WORKED, WORKED.iloc[:1].assign(a=np.nan)], ignore_index=True)
    assert spread(gap, facets=[]) == spread(WORKED, facets=[]) | {"n_lost": 1}


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        (WORKED[["a"]], "two conditions"),
        (WORKED.iloc[:2], "three units"),
        (WORKED.iloc[:0], "three units"),
        (WORKED.assign(a=np.nan), "three units"),
        (pd.DataFrame({"a": [1.0, 2, 3], "b": [2.0, 3, 4]}), "alike in every unit"),
    ],
)
def test_where_nothing_can_be_tested_the_reason_says_so(table: pd.DataFrame, reason: str) -> None:
    found = spread(table, facets=[])
    assert reason in found["reason"]
    assert np.isnan([found["statistic_value"], found["p_value"], found["effect_size"]]).all()


@pytest.mark.parametrize("facets", [FACETS, FACETS[:1]])
def test_a_mean_over_tasks_that_are_alike_has_no_test_and_no_warning(facets: list[str]) -> None:
    index = pd.MultiIndex.from_product([["a", "b"], ["x", "y"]], names=FACETS)
    row = stats.crossed_mean(pd.Series([0.0, 1, 1, 0], index), facets=facets, confidence=0.95)
    assert (row.estimate, row.n, row.reason) == (0.5, 4, "no variance, so no test")
    assert np.isnan([row.ci_low, row.ci_high, row.statistic_value, row.p_value]).all()
