"""How sure in plain words, and what N can tell: by hand, and by a power analysis."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from statsmodels.stats.power import TTestPower

from nbbias import stats
from nbbias.reading import reach
from nbbias.tables import UNTESTABLE
from tests.reading.rows import SOME, rows_of

ROW: dict[str, Any] = {
    "estimate": 0.1,
    "ci_low": -0.1,
    "ci_high": 0.3,
    "confidence": 0.95,
    "df": 39.0,
    "n": 40,
    "null": 0.0,
    "null_low": np.nan,
    "null_high": np.nan,
    "p_value": 0.3,
    "p_adjusted": 0.6,
    "statistic_value": np.nan,
    "reason": None,
}


@pytest.mark.parametrize(
    ("p", "told"),
    [
        (0.0, "fewer than 1 of 1,000"),
        (0.001, "at most 1 of 1,000"),
        (0.0041, "at most 5 of 1,000"),
        (0.01, "at most 1 of 100"),
        (0.07, "at most 7 of 100"),
        (0.0701, "at most 8 of 100"),
        (1.0, "at most 100 of 100"),
    ],
)
def test_a_p_value_is_a_frequency_that_is_never_too_small(p: float, told: str) -> None:
    assert reach.by_chance(ROW | {"p_adjusted": p}) == f"in {told} such runs"


def test_the_corrected_p_counts_and_of_several_the_largest() -> None:
    assert reach.likely(ROW) == 0.6
    assert reach.likely(ROW | {"p_adjusted": np.nan}) == 0.3
    assert "60 of 100" in reach.by_chance([ROW, ROW | {"p_adjusted": 0.01}])
    assert not reach.told(ROW | {"p_adjusted": np.nan, "p_value": np.nan})


def test_what_n_shows_is_what_the_t_test_finds_four_times_of_five() -> None:
    found = reach.reach(rows_of(*SOME))
    for far, values in zip(found, SOME, strict=True):
        exact = stats.minimum_detectable_effect(len(values), alpha=0.05 / 3) * values.std(ddof=1)
        assert far == pytest.approx(exact, rel=0.01)


def test_the_units_needed_show_the_size_that_was_asked_for() -> None:
    size = pd.Series([0.1, 0.05, 0.2])
    found = reach.needed(rows_of(*SOME), size=size)
    for n, values, wanted in zip(found, SOME, size, strict=True):
        spread = values.std(ddof=1)
        exact = stats.minimum_detectable_effect(int(n), alpha=0.05 / 3) * spread
        assert exact == pytest.approx(wanted, rel=0.01)


def test_what_was_not_tested_shows_nothing_and_counts_in_no_family() -> None:
    rows = rows_of(*SOME)
    untold = rows.assign(reason=[None, f"{UNTESTABLE}9", None])
    assert reach.reach(untold).isna().tolist() == [False, True, False]
    gone = rows.assign(p_adjusted=[1.0, None, 1.0], p_value=[1.0, None, 1.0])
    assert reach.reach(gone).isna().tolist() == [False, True, False]
    pd.testing.assert_series_equal(reach.reach(gone).dropna(), reach.reach(rows.iloc[[0, 2]]))


def test_where_nothing_was_tested_nothing_is_lacking() -> None:
    gone = rows_of(*SOME).assign(p_adjusted=np.nan, p_value=np.nan, claim=1)
    assert reach.lacking(gone, name=lambda row: "plain", unit="texts") == []
    none = gone.iloc[:0]
    assert reach.lacking(none, name=lambda row: "plain", unit="texts") == []


def test_one_row_alone_is_a_family_of_one() -> None:
    far = reach.reach(pd.DataFrame([ROW])).iloc[0]
    deviation = 0.2 / 2.0227 * np.sqrt(40)  # t(39) at 97.5% is 2.0227
    power = TTestPower().power(far / deviation, nobs=40, alpha=0.05)
    assert power == pytest.approx(0.8, abs=0.01)


def test_where_permutations_give_p_the_range_of_the_reference_counts() -> None:
    rng = np.random.default_rng(5)
    dealt = rng.normal(0.4, 0.05, 4000)
    low, high = np.quantile(dealt, [0.025, 0.975])
    given = {"null": 0.4, "null_low": low, "null_high": high, "statistic_value": np.nan}
    far = reach.reach(pd.DataFrame([ROW | given])).iloc[0]
    # A true value that far above the reference is beyond its range four times of five.
    assert np.mean(dealt + far > high) == pytest.approx(0.8, abs=0.03)
    tested = reach.reach(pd.DataFrame([ROW | given | {"statistic_value": 1.0}])).iloc[0]
    assert tested == reach.reach(pd.DataFrame([ROW])).iloc[0]


def test_half_as_much_takes_about_four_times_as_many() -> None:
    rows = pd.DataFrame([ROW])
    assert reach.needed(rows, size=reach.reach(rows) / 2).iloc[0] == pytest.approx(160, rel=0.05)


def test_what_has_no_interval_says_so() -> None:
    bare = ROW | {"ci_low": np.nan, "ci_high": np.nan}
    alike = ROW | {"null_low": 0.0, "null_high": 0.0, "statistic_value": np.nan}
    for row in (bare, alike):
        (told,) = reach.lacking(pd.DataFrame([row | {"claim": 1}]), name=str, unit="texts")
        assert "do not say what they could tell" in told


def test_only_what_is_not_told_apart_is_listed_and_the_rest_counted() -> None:
    rows = pd.DataFrame([ROW] * 5 + [ROW | {"p_adjusted": 0.01}]).assign(claim=1)
    told = reach.lacking(rows, name=lambda _: "x", unit="texts", most=2)
    assert len(told) == 3
    assert told[-1] == "3 others tell less."
    assert reach.lacking(rows.tail(1), name=lambda _: "x", unit="texts") == []
    assert reach.lacking(rows.drop(columns="claim"), name=lambda _: "x", unit="texts") == []
