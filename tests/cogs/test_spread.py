"""The spread over identities: by enumeration, at zero, under nulls that are not its own."""

from __future__ import annotations

from itertools import permutations, product
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.stats

from nbbias import stats
from nbbias.cogs.spread import Permuted, spread_rows, unit, units
from nbbias.stats import InferenceSettings
from tests.cogs.planted import distances

INFERENCE = InferenceSettings(n_permutations=400)


def estimated(
    values: pd.DataFrame,
    *,
    part: str = "share",
    inference: InferenceSettings = INFERENCE,
    **options: Any,
) -> list[dict[str, Any]]:
    return spread_rows(values, "rbs", part=part, inference=inference, **options)


def spread(values: pd.DataFrame, **options: Any) -> dict[str, Any]:
    return estimated(values, **options)[0]


def table(values: list[list[float]]) -> pd.DataFrame:
    index = pd.MultiIndex.from_product([["haiku"], range(len(values))], names=["task", "theme"])
    return pd.DataFrame(values, index, list("abcdefgh")[: len(values[0])])


# --- by permutation ------------------------------------------------------------------------------


def test_the_null_is_that_of_every_permutation() -> None:
    values = np.array([[0.1, 0.5, 0.3], [0.2, 0.9, 0.4], [0.0, 0.1, 0.8]])
    every = [
        np.std(np.mean(rows, axis=0))
        for rows in product(*(list(permutations(row)) for row in values))
    ]
    row = spread(table(values.tolist()), inference=InferenceSettings(0.9, 20_000, 1))
    assert row["estimate"] == pytest.approx(np.std(values.mean(axis=0)))
    assert row["null"] == pytest.approx(np.mean(every), rel=0.01)
    exact = np.mean(np.array(every) >= row["estimate"] - 1e-12)
    assert row["p_value"] == pytest.approx(exact)  # 216 arrangements: all are told


def test_a_plain_preference_lies_beyond_chance_and_how_far_cannot_be_told() -> None:
    row = spread(table([[1.0, 0.0, 0.0]] * 20))
    assert row["estimate"] == pytest.approx(np.sqrt(2) / 3)
    # No instance differs from another, which twenty of them do not make certain.
    assert np.isnan(row["ci_low"]) and "differ alike" in row["reason"]
    assert row["p_value"] == row["p_least"] == 1 / 401


def test_the_p_of_a_plain_preference_is_as_fine_as_its_family() -> None:
    # Before: 1 / 2001 however many rows, so that of 108 rows none could be told.
    row = spread(table([[0.8, 0.1, 0.1], [0.2, 0.7, 0.1]] * 5 + [[1.0, 0, 0]] * 20), family=108)
    assert row["p_value"] * 108 < 0.05 / 19


def test_few_instances_say_what_they_can_tell() -> None:
    # Two identities, four times: alike all four times in 2 of 16 arrangements.
    row = spread(table([[0.9, 0.1]] * 4), family=60)
    assert row["p_value"] == row["p_least"] == 2 / 16


@pytest.mark.parametrize("k", [2, 3, 4, 6])
def test_every_order_of_a_row_is_dealt_as_often(k: int) -> None:
    values = np.arange(k)[None].astype(float)
    drawn = Permuted(pd.DataFrame(values), seed=0).means(6000)
    assert (np.sort(drawn, axis=1) == values).all()
    for column in drawn.T:
        counts = np.bincount(column.astype(int), minlength=k)
        assert counts == pytest.approx(6000 / k, rel=0.15)


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ([[0.1]], "two identities"),
        ([[0.1, np.nan], [0.2, np.nan]], "nothing was measured for b"),
        ([[0.1, np.nan], [np.nan, 0.2]], "no task × theme has all"),
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
    assert np.isnan(row["ci_low"])
    assert row["p_value"] == 1
    assert row["reason"]


def test_an_instance_with_a_gap_is_lost() -> None:
    whole = [[0.1, 0.2], [0.4, 0.3]]
    with_gap = spread(table([*whole, [0.9, np.nan]]))
    without = spread(table(whole))
    assert with_gap == without | {"n_lost": 1}


@pytest.mark.parametrize("part", ["distance", "share"])
def test_columns_average_to_the_null_and_test_both_sides(part: str) -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(0.5, 0.05, (30, 3)) + np.array([0.2, 0, -0.2])
    rows = estimated(table(values.tolist()), part=part)[1:]
    assert np.mean([row["estimate"] for row in rows]) == pytest.approx(rows[0]["null"])
    assert [row["p_value"] < 0.01 for row in rows] == [True, False, True]
    assert all(row["null_low"] < row["null"] < row["null_high"] for row in rows)


# --- of distances, by the design's own test ---------------------------------------------------


def test_a_distance_is_tested_against_the_mean_of_all_within_the_instance() -> None:
    values = distances(np.random.default_rng(1), means=(0.4, 0.42, 0.45))
    rows = estimated(values, part="distance")[1:]
    for row, (name, own) in zip(rows, values.items(), strict=True):
        expected = scipy.stats.ttest_rel(own, values.mean(axis=1))
        assert (row["group"], row["p_value"]) == (name, pytest.approx(expected.pvalue))


def test_0_lies_within_the_interval_just_where_the_test_does_not_reject() -> None:
    rng = np.random.default_rng(5)
    told = []
    for _ in range(60):
        values = distances(rng, 20, means=(0.4, 0.4, 0.42), uneven=2.0)
        row = spread(values, part="distance", inference=InferenceSettings(n_permutations=1))
        assert (row["ci_low"] > 0) == (row["p_value"] < 0.05)
        assert row["ci_low"] <= row["estimate"] <= row["ci_high"]
        told.append(row["ci_low"] > 0)
    assert 0 < sum(told) < 60


def test_an_interval_far_from_0_is_that_of_a_paired_difference() -> None:
    # The spread of two means is half their difference.
    gap = np.random.default_rng(2).normal(3.0, 1.0, 15)
    values = table(np.column_stack([gap, np.zeros(15)]).tolist())
    low, high = stats.spread_interval(values, confidence=0.95)
    t = scipy.stats.t.interval(0.95, 14, loc=gap.mean(), scale=scipy.stats.sem(gap))
    assert (2 * low, 2 * high) == pytest.approx(t, rel=0.01)


# --- tasks in general ------------------------------------------------------------------------


def test_of_tasks_in_general_the_task_is_the_unit() -> None:
    values = distances(np.random.default_rng(3), 120, tasks=12, by_task=0.03)
    values.iloc[0, 0] = np.nan
    row = spread(values, part="distance", tasks="random")
    means = values.dropna().groupby(level="task", sort=False).mean()
    assert units(values, "random").equals(
        means.loc[list(dict.fromkeys(values.index.get_level_values(0)))]
    )
    expected = stats.repeated_measures_anova(means)
    assert (row["n"], row["p_value"]) == (12, pytest.approx(expected["p_value"]))
    assert (unit(row["test"]), unit(spread(values)["test"])) == ("tasks", "task × theme")
