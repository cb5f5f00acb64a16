"""Two samples and percentiles, against R and statsmodels."""

from __future__ import annotations

import numpy as np
import pytest
from statsmodels.stats.weightstats import CompareMeans, DescrStatsW

from nbbias import stats

#: Student (1908): hours of sleep gained by ten patients on two drugs, R's `sleep`.
SLEEP = np.array([0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0])
SLEEP_2 = np.array([1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4])


def two_sample(first: list, second: list, *, pooled: bool, confidence: float = 0.95) -> dict:
    sides = np.array(first), np.array(second)
    return stats.two_sample(*sides, pooled=pooled, confidence=confidence).row()


def test_two_samples_are_students_and_welchs_tests_of_r() -> None:
    student, welch = (
        two_sample(SLEEP, np.append(SLEEP_2, np.nan), pooled=pooled) for pooled in (True, False)
    )
    # t.test(extra ~ group, sleep): t = -1.8608, df = 17.776, p = .07939,
    # -3.3654832 to 0.2054832; with var.equal = TRUE df = 18, p = .07919.
    assert welch["statistic_value"] == pytest.approx(-1.8608, abs=1e-4)
    assert welch["df"] == pytest.approx(17.776, abs=1e-3)
    assert welch["p_value"] == pytest.approx(0.07939, abs=1e-5)
    assert (welch["ci_low"], welch["ci_high"]) == pytest.approx((-3.3654832, 0.2054832))
    assert (student["df"], student["n"]) == (18, 20)
    assert student["p_value"] == pytest.approx(0.07919, abs=1e-5)


@pytest.mark.parametrize(("pooled", "kind"), [(True, "pooled"), (False, "unequal")])
def test_two_samples_of_unequal_size_are_statsmodels(pooled: bool, kind: str) -> None:
    compared = CompareMeans(DescrStatsW(SLEEP[:4]), DescrStatsW(SLEEP_2))
    row = two_sample(SLEEP[:4], SLEEP_2, pooled=pooled, confidence=0.8)
    tested = (row["statistic_value"], row["p_value"], row["df"])
    assert tested == pytest.approx(compared.ttest_ind(usevar=kind))
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
