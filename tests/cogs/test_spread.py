"""The spread over identities: by hand, at zero, of choices that are alike everywhere."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.stats

from nbbias import stats
from nbbias.calibration.cogs import distances
from nbbias.calibration.trials import Design
from nbbias.cogs.spread import FACETS, fixed_facets, spread as of_means, spread_rows


def estimated(values: pd.DataFrame, *, part: str = "share", **options: Any) -> list[dict[str, Any]]:
    return spread_rows(values, "rbs", part=part, confidence=0.95, **options)


def spread(values: pd.DataFrame, **options: Any) -> dict[str, Any]:
    return estimated(values, **options)[0]


def table(values: list[list[float]], tasks: int = 1) -> pd.DataFrame:
    names = [f"task {i}" for i in range(tasks)]
    index = pd.MultiIndex.from_product([names, range(len(values) // tasks)], names=list(FACETS))
    return pd.DataFrame(values, index, list("abcdefgh")[: len(values[0])])


# --- the spread ---------------------------------------------------------------------------------


@pytest.mark.parametrize("facets", [FACETS, ("task",), ("theme",), ()])
def test_a_score_has_the_test_and_the_interval_of_its_facets(facets: tuple[str, ...]) -> None:
    values = distances(np.random.default_rng(3), Design("tasks", 120, 12, 0.0))
    values.iloc[0] = np.nan
    row = spread(values, part="distance", facets=facets)
    whole = values.dropna()
    assert row["estimate"] == pytest.approx(np.std(whole.mean()))
    assert (row["group"], row["n"], row["n_lost"]) == (str(whole.mean().idxmin()), 119, 1)
    expected = stats.crossed_spread(whole, facets=facets, confidence=0.95)
    assert {name: row[name] for name in ("p_value", "df", "test")} == {
        name: expected[name] for name in ("p_value", "df", "test")
    }
    assert fixed_facets(row["test"]) == [name for name in FACETS if name not in facets]
    assert (row["ci_low"] > 0) == (row["p_value"] < 0.05)
    assert row["ci_low"] <= row["estimate"] <= row["ci_high"]


def test_no_missing_answers_within_the_measured_range_give_a_larger_p_or_a_wider_interval() -> None:
    values = distances(np.random.default_rng(3), Design("skewed", 60, 12, 0.02))
    values.iloc[:8, 0] = values.iloc[4:10, 2] = np.nan
    row = spread(values, part="distance")
    means = values.mean(axis=1)
    off = values.sub(means, axis=0)
    filled = [
        values.fillna(pd.DataFrame({0: means + a, 2: means + c}))
        for a in np.linspace(off.min().min(), off.max().max(), 9)
        for c in np.linspace(off.min().min(), off.max().max(), 9)
    ]
    found = [stats.crossed_spread(one, facets=FACETS, confidence=0.95) for one in filled]
    p, low, high = ([one[key] for one in found] for key in ("p_value", "ci_low", "ci_high"))
    assert row["p_value"] * 1.001 >= max(p) > 2 * min(p) and row["test"].endswith("missing answers")
    assert row["ci_low"] <= min(low) and row["ci_high"] == pytest.approx(max(high), rel=0.02)
    assert row["estimate"] == pytest.approx(np.std(values.dropna().mean()))


@pytest.mark.parametrize(
    ("means", "scores"),
    [
        ([[0.1, 0.2, 0.15], [0.05, 0.07, 0.06]], [0.0408, 0.0082]),  # RBS of GPT-4 and Llama
        ([[0.7, 0.2, 0.1], [0.4, 0.3, 0.3]], [0.2625, 0.0471]),  # ABS: printed are .262 and .047
    ],
)
def test_the_papers_examples_give_their_scores(means: list, scores: list[float]) -> None:
    assert of_means(np.array(means)).tolist() == pytest.approx(scores, abs=5e-5)


# --- choices that are alike everywhere ----------------------------------------------------------


def test_a_choice_that_is_alike_everywhere_has_an_exact_p_and_no_interval() -> None:
    row = spread(table([[1.0, 0.0, 0.0]] * 20, tasks=4))
    assert row["estimate"] == pytest.approx(np.sqrt(2) / 3)
    # Four tasks agree: the first may choose any of three identities.
    assert (row["p_value"], row["test"]) == (1 / 27, "exact, alike in all random tasks and themes")
    assert np.isnan(row["ci_low"]) and "differ alike" in row["reason"]
    assert spread(table([[1.0, 0.0, 0.0]] * 5))["p_value"] == 1 / 81


def test_choices_that_are_even_everywhere_have_no_p() -> None:
    row = spread(table([[0.5, 0.5]] * 6))
    assert (row["estimate"], np.isnan(row["p_value"])) == (0, True)


# --- too little ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ([[0.1]], "two identities"),
        ([[0.1, np.nan], [0.2, np.nan]], "nothing was measured for b"),
        ([[0.1, np.nan], [np.nan, 0.2]], "no task-theme pair has all"),
    ],
)
def test_too_little_has_a_reason(values: list[list[float]], reason: str) -> None:
    row = spread(table(values))
    assert np.isnan(row["estimate"])
    assert reason in row["reason"]
    assert row["n_lost"] == sum(np.isnan(v).any() for v in values)
    columns = estimated(table(values), part="distance")[1:]
    assert all(np.isnan(one["estimate"]) and reason in one["reason"] for one in columns)


def test_one_instance_has_an_estimate_but_no_interval() -> None:
    row = spread(table([[0.1, 0.5, 0.9]]))
    assert row["estimate"] == pytest.approx(np.std([0.1, 0.5, 0.9]))
    assert np.isnan([row["ci_low"], row["p_value"]]).all()
    assert "fewer than three" in row["reason"]


# --- means of identities ------------------------------------------------------------------------


@pytest.mark.parametrize("part", ["distance", "share"])
def test_columns_average_to_the_null_and_test_both_sides(part: str) -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(0.5, 0.05, (30, 3)) + np.array([0.2, 0, -0.2])
    rows = estimated(table(values.tolist(), tasks=5), part=part)[1:]
    assert np.mean([row["estimate"] for row in rows]) == pytest.approx(rows[0]["null"])
    assert [row["p_value"] < 0.01 for row in rows] == [True, False, True]


def test_a_distance_is_tested_against_the_mean_of_all_within_the_instance() -> None:
    values = distances(np.random.default_rng(1), Design("skewed", 30, 12, 0.02))
    rows = estimated(values, part="distance", facets=())[1:]
    for row, (name, column) in zip(rows, values.items(), strict=True):
        expected = scipy.stats.ttest_rel(column, values.mean(axis=1))
        assert (row["group"], row["p_value"]) == (str(name), pytest.approx(expected.pvalue))
