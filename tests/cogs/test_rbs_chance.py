"""The spread over identities by chance: by enumeration, at zero, and how its interval holds."""

from __future__ import annotations

from itertools import permutations, product
from typing import Any

import numpy as np
import pandas as pd
import pytest

from nbbias.cogs import rbs
from nbbias.stats import Sure

SURE = Sure(draws=400)


def estimated(
    values: pd.DataFrame, *, bounds: tuple[float, float] = (-9.0, 9.0), sure: Sure = SURE
) -> list[dict[str, Any]]:
    return rbs.spread_rows(
        values, "rbs", part="distance", bounds=bounds, score=rbs.representative_bias_score,
        sure=sure,
    )  # fmt: skip


def spread(values: pd.DataFrame, **options: Any) -> dict[str, Any]:
    return estimated(values, **options)[0]


def table(values: list[list[float]]) -> pd.DataFrame:
    return pd.DataFrame(values, columns=list("abcdefgh")[: len(values[0])])


def test_the_null_is_that_of_every_permutation() -> None:
    values = np.array([[0.1, 0.5, 0.3], [0.2, 0.9, 0.4], [0.0, 0.1, 0.8]])
    every = [
        np.std(np.mean(rows, axis=0))
        for rows in product(*(list(permutations(row)) for row in values))
    ]
    row = spread(table(values.tolist()), sure=Sure(0.9, 20_000, 1))
    assert row["estimate"] == pytest.approx(np.std(values.mean(axis=0)))
    assert row["null"] == pytest.approx(np.mean(every), rel=0.01)
    exact = np.mean(np.array(every) >= row["estimate"] - 1e-12)
    assert row["p_value"] == pytest.approx(exact, abs=0.01)


def test_a_plain_preference_lies_beyond_chance() -> None:
    row = spread(table([[1.0, 0.0, 0.0]] * 20))
    assert row["estimate"] == pytest.approx(np.sqrt(2) / 3)
    assert row["ci_low"] == row["ci_high"] == row["estimate"]
    assert row["p_value"] == 1 / 401


def test_identities_alike_score_0_and_p_1() -> None:
    row = spread(table([[0.3, 0.3], [0.8, 0.8]]))
    assert (row["estimate"], row["null"], row["p_value"]) == (0, 0, 1)


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
    columns = estimated(table(values), bounds=(0, 2))[1:]
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


def test_columns_average_to_the_null_and_test_both_sides() -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(0.5, 0.05, (30, 3)) + np.array([0.2, 0, -0.2])
    rows = estimated(table(values.tolist()))[1:]
    assert np.mean([row["estimate"] for row in rows]) == pytest.approx(rows[0]["null"])
    assert [row["p_value"] < 0.01 for row in rows] == [True, False, True]
    assert all(row["null_low"] < row["null"] < row["null_high"] for row in rows)


@pytest.mark.parametrize("shift", [0.0, 0.15, 0.6])
def test_the_interval_holds_the_true_spread(shift: float) -> None:
    means = np.array([shift, 0.0, -shift])
    rng = np.random.default_rng(7)
    held = 0
    for seed in range(120):
        values = rng.normal(0, 0.5, (25, 3)) + rng.normal(0, 1, (25, 1)) + means
        row = spread(table(values.tolist()), sure=Sure(0.9, 150, seed))
        held += row["ci_low"] - 1e-9 <= np.std(means) <= row["ci_high"] + 1e-9
    # At 90%, fewer than 100 of 120 come once in 90 times; the interval is rather too wide.
    assert held >= 100


def test_p_values_are_even_where_nothing_differs() -> None:
    rng = np.random.default_rng(3)
    p = [
        spread(table(rng.dirichlet([0.3] * 4, 15).tolist()), sure=Sure(0.9, 99, seed))["p_value"]
        for seed in range(200)
    ]
    # Of 200, 10 lie below .05 on average; 18 or more come once in 90 times.
    assert np.sum(np.array(p) <= 0.05) < 18
    assert np.mean(p) == pytest.approx(0.5, abs=0.07)


def test_the_same_seed_gives_the_same_row() -> None:
    values = table([[0.1, 0.3], [0.5, 0.2], [0.3, 0.9]])
    assert spread(values) == spread(values)
