"""Simulated tables of distances, and people, with a known truth that no test takes for null."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from nbbias.cogs.spread import Tasks, spread_rows
from nbbias.stats import InferenceSettings
from tests.cogs.planted import distances

pytestmark = pytest.mark.nightly

#: Skewed noise; one identity that varies three times as much; and six times, without skew.
PLANTED: dict[str, dict[str, Any]] = {
    "skewed": {},
    "uneven and skewed": {"uneven": 3.0},
    "uneven": {"uneven": 6.0, "skewed": False},
}
REPEATS = 300


def told(n: int, *, tasks: Tasks = "fixed", repeats: int = REPEATS, **planted: Any) -> Any:
    """Return how often the interval holds the true spread, and how often the test rejects."""
    rng = np.random.default_rng(n)
    means = planted.pop("means", (0.4, 0.4, 0.4))
    held = rejected = 0
    for _ in range(repeats):
        values = distances(rng, n, means=means, **planted)
        row = spread_rows(
            values,
            "rbs",
            part="distance",
            tasks=tasks,
            inference=InferenceSettings(n_permutations=1),
        )[0]
        held += row["ci_low"] - 1e-12 <= np.std(means) <= row["ci_high"] + 1e-12
        rejected += row["p_value"] < 0.05
    return held / repeats, rejected / repeats


@pytest.mark.parametrize(
    ("n", "planted"), [(10, "skewed"), (80, "uneven"), (400, "uneven and skewed")]
)
def test_rbs_holds_its_level_and_its_interval_the_truth(n: int, planted: str) -> None:
    options = PLANTED[planted]
    held, rejected = told(n, **options)
    shifted, _ = told(n, means=(0.36, 0.4, 0.42), **options)
    print(f"{planted}, N = {n}: holds 0 {held:.1%}, a shift {shifted:.1%}; rejects {rejected:.1%}")
    # .05 and .95 within three standard errors of 300, and what skew costs at N = 10.
    assert rejected <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / REPEATS) + 0.02 * (n == 10)
    assert min(held, shifted) >= 0.95 - 3 * np.sqrt(0.05 * 0.95 / REPEATS) - 0.02 * (n == 10)


@pytest.mark.parametrize("tasks", [4, 40])
def test_tasks_in_general_are_told_by_as_many_as_were_asked(tasks: int) -> None:
    rng = np.random.default_rng(tasks)
    held = rejected = fixed = 0
    for _ in range(200):
        values = distances(rng, 30 * tasks, tasks=tasks, by_task=0.03)
        row, own = (
            spread_rows(
                values,
                "rbs",
                part="distance",
                tasks=unit,
                inference=InferenceSettings(n_permutations=1),
            )[0]
            for unit in ("random", "fixed")
        )
        held += row["ci_low"] <= 0
        rejected, fixed = rejected + (row["p_value"] < 0.05), fixed + (own["p_value"] < 0.05)
    print(f"{tasks} tasks: holds {held / 2}%; rejects {rejected / 2}%, of these tasks {fixed / 2}%")
    assert rejected <= 19 and held >= 181  # .05 of 200, and three standard errors
    assert fixed > 60
