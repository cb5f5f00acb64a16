"""Many repeats at once against `stats`, one by one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from nbbias import stats
from nbbias.calibration import repeated

VALUES = st.lists(
    st.lists(st.sampled_from([np.nan, -1.0, 0.0, 0.1, 0.25, 1.0]), min_size=4, max_size=4),
    min_size=1, max_size=6,
)  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(VALUES)
def test_each_repeat_has_the_mean_the_interval_and_the_test_that_stats_gives_it(
    values: list[list[float]],
) -> None:
    found = repeated.means(np.array(values), confidence=0.9, bounds=(-1, 1))
    for row, own in zip(found.to_dict("records"), values, strict=True):
        one = stats.one_sample(np.array(own), confidence=0.9, bounds=(-1, 1))
        for name in ("estimate", "ci_low", "ci_high", "p_value", "n"):
            assert row[name] == pytest.approx(one[name], abs=1e-12, nan_ok=True), name


@settings(max_examples=60, deadline=None)
@given(VALUES)
def test_each_repeat_has_the_share_that_stats_gives_it(values: list[list[float]]) -> None:
    table = np.array(values)
    hits = np.where(np.isnan(table), np.nan, table > 0)
    found = repeated.shares(hits, confidence=0.95)
    for row, own in zip(found.to_dict("records"), hits, strict=True):
        one = stats.share_interval(own, confidence=0.95)
        for name in ("estimate", "ci_low", "ci_high", "n"):
            assert row[name] == pytest.approx(one[name], abs=1e-12, nan_ok=True), name


def test_without_repeats_there_are_no_rows() -> None:
    nothing = np.zeros((0, 3))
    assert repeated.means(nothing, confidence=0.95).empty
    assert repeated.shares(nothing, confidence=0.95).empty
