"""Two samples, against statsmodels."""

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
