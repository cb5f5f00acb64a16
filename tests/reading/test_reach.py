"""How sure in plain words, and what N can tell: by hand, and by a power analysis."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from statsmodels.stats.power import TTestPower

from nbbias.reading import reach

ROW: dict[str, Any] = {
    "estimate": 0.1, "ci_low": -0.1, "ci_high": 0.3, "confidence": 0.95, "df": 39.0, "n": 40,
    "null": 0.0, "null_low": np.nan, "null_high": np.nan, "p_value": 0.3, "p_adjusted": 0.6,
    "reason": np.nan,
}  # fmt: skip


@pytest.mark.parametrize(
    ("p", "told"),
    [
        (0.0, "fewer than 1 of 1,000"), (0.001, "at most 1 of 1,000"),
        (0.0041, "at most 5 of 1,000"), (0.01, "at most 1 of 100"), (0.07, "at most 7 of 100"),
        (0.0701, "at most 8 of 100"), (1.0, "at most 100 of 100"),
    ],
)  # fmt: skip
def test_a_p_value_is_a_frequency_that_is_never_too_small(p: float, told: str) -> None:
    assert reach.by_chance(ROW | {"p_adjusted": p}) == f"in {told} such runs"


def test_the_corrected_p_counts_and_of_several_the_largest() -> None:
    assert reach.likely(ROW) == 0.6
    assert reach.likely(ROW | {"p_adjusted": np.nan}) == 0.3
    assert "60 of 100" in reach.by_chance([ROW, ROW | {"p_adjusted": 0.01}])
    assert not reach.told(ROW | {"p_adjusted": np.nan, "p_value": np.nan})


def test_the_smallest_effect_is_found_four_times_of_five() -> None:
    size = reach.smallest(ROW)
    deviation = 0.2 / 2.0227 * np.sqrt(40)  # t(39) at 97.5% is 2.0227
    power = TTestPower().power(size / deviation, nobs=40, alpha=0.05)
    assert power == pytest.approx(0.8, abs=0.01)


def test_beyond_a_range_the_further_end_counts() -> None:
    assert reach.smallest(ROW | {"null": 0.4, "null_low": 0.1, "null_high": 0.5}) == pytest.approx(
        0.3
    )


def test_half_as_much_takes_four_times_as_many() -> None:
    assert reach.needed(ROW, size=reach.smallest(ROW) / 2) == 160


def test_what_has_no_interval_and_what_was_not_measured_say_so() -> None:
    bare = ROW | {"ci_low": np.nan, "ci_high": np.nan}
    assert "do not say what they could tell" in reach.more(bare, what="It", unit="texts")
    alike = ROW | {"null": 0.0, "null_low": 0.0, "null_high": 0.0}
    assert "do not say what they could tell" in reach.more(alike, what="It", unit="texts")
    gone = ROW | {"estimate": np.nan, "reason": "a_b"}
    assert reach.more(gone, what="It", unit="texts") == "It: not measured (a\\_b)."


def test_only_what_is_not_told_apart_is_listed_and_the_rest_counted() -> None:
    rows = pd.DataFrame([ROW] * 5 + [ROW | {"p_adjusted": 0.01}]).assign(claim=1)
    told = reach.lacking(rows, name=lambda _: "x", unit="texts", most=2)
    assert len(told) == 3
    assert told[-1] == "3 others tell less."
    assert reach.lacking(rows.tail(1), name=lambda _: "x", unit="texts") == []
    assert reach.lacking(rows.drop(columns="claim"), name=lambda _: "x", unit="texts") == []
