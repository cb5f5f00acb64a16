"""What is significant, and what N can detect: by hand, and by a power analysis."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from statsmodels.stats.power import TTestPower

from nbbias.reading import significance
from nbbias.reading.significance import minimum_detectable_effect
from nbbias.tables import UNTESTABLE
from tests.reading.rows import SOME, rows_of

ROW: dict[str, Any] = {"estimate": 0.1, "ci_low": -0.1, "ci_high": 0.3, "confidence": 0.95}
ROW |= {"df": 39.0, "n": 40, "null": 0.0, "null_low": np.nan, "null_high": np.nan}
ROW |= {"p_value": 0.3, "p_adjusted": 0.6, "statistic_value": np.nan, "reason": None}


def test_the_adjusted_p_counts_and_without_one_the_p_value() -> None:
    p = pd.DataFrame({"p_adjusted": [0.6, np.nan, np.nan, 0.1, 0.09], "confidence": 0.9})
    rows = p.assign(p_value=[0.3, 0.3, np.nan, 0.01, 0.01])
    assert significance.adjusted_p(rows).tolist()[:2] == [0.6, 0.3]
    assert significance.is_significant(rows).tolist() == [False, False, False, False, True]


def test_the_second_of_two_mirrored_groups_is_marked() -> None:
    rows = pd.DataFrame(
        [(m, g, x) for m, x in (("a", 0.1), ("b", 0.2)) for g, x in (("she", x), ("he", -x))],
        columns=["model", "group", "estimate"],
    )
    assert significance.is_mirrored(rows).tolist() == [False, True, False, True]
    assert not significance.is_mirrored(rows.assign(estimate=0.1)).any()
    three = pd.concat([rows, rows.iloc[[0]].assign(group="they", estimate=0.0)])
    assert significance.is_mirrored(three).tolist() == [False, False, False, True, False]


def detectable(n: int, values: np.ndarray) -> float:
    """The effect that a t test detects with power 0.8 at the first step of Holm over three."""
    size = TTestPower().solve_power(nobs=n, alpha=0.05 / 3, power=0.8)
    return float(size * values.std(ddof=1))


def test_the_detectable_effect_is_that_of_the_t_test() -> None:
    expected = [detectable(len(values), values) for values in SOME]
    result = minimum_detectable_effect(rows_of(*SOME))
    assert result.tolist() == pytest.approx(expected, rel=0.01)


def test_what_was_not_tested_detects_nothing_and_counts_in_no_family() -> None:
    rows = rows_of(*SOME)
    untestable = rows.assign(reason=[None, f"{UNTESTABLE}9", None])
    assert minimum_detectable_effect(untestable).isna().tolist() == [False, True, False]
    gone = rows.assign(p_adjusted=[1.0, None, 1.0], p_value=[1.0, None, 1.0])
    assert minimum_detectable_effect(gone).isna().tolist() == [False, True, False]
    pd.testing.assert_series_equal(
        minimum_detectable_effect(gone).dropna(), minimum_detectable_effect(rows.iloc[[0, 2]])
    )


def test_no_spread_of_cosine_distances_above_1_is_detectable() -> None:
    # Distances lie in [0, 2]: their standard deviation is at most 1, of half of them at each end.
    rows = rows_of(*SOME).assign(study="cogs", measure="rbs", statistic="rbs")
    wide = rows.assign(ci_low=-2.0, ci_high=2.0)
    assert minimum_detectable_effect(rows).notna().all()
    assert minimum_detectable_effect(wide).isna().all()


def test_no_rate_above_1_is_detectable() -> None:
    # A rate is told as what it exceeds its nominal level by, at most 1 less that level.
    rows = rows_of(*SOME)
    effects = minimum_detectable_effect(rows)
    for left, detectable in ((0.9, False), (1.1, True)):
        nominal = rows.assign(nominal=1 - effects * left)
        assert (minimum_detectable_effect(nominal).notna() == detectable).all()


def test_for_a_permutation_test_the_range_under_the_null_counts() -> None:
    rng = np.random.default_rng(5)
    permuted = rng.normal(0.4, 0.05, 4000)
    low, high = np.quantile(permuted, [0.025, 0.975])
    given = {"null": 0.4, "null_low": low, "null_high": high, "statistic_value": np.nan}
    far = minimum_detectable_effect(pd.DataFrame([ROW | given])).iloc[0]
    # A true value that far above the null value is beyond its range with a power of 80%.
    assert np.mean(permuted + far > high) == pytest.approx(0.8, abs=0.03)
    tested = pd.DataFrame([ROW | given | {"statistic_value": 1.0}, ROW])
    first, second = minimum_detectable_effect(tested)
    assert first == second
