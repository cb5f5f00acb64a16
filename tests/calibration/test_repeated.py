"""Many repeats at once against `stats`, one by one."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

from nbbias import stats
from nbbias.calibration import repeated

VALUES = st.lists(
    st.lists(st.sampled_from([np.nan, -1.0, 0.0, 0.1, 0.25, 1.0]), min_size=4, max_size=4),
    min_size=1,
    max_size=6,
)


@settings(max_examples=30, deadline=None)
@given(VALUES)
def test_each_repeat_has_the_mean_the_interval_and_the_test_that_stats_gives_it(
    values: list[list[float]],
) -> None:
    found = repeated.means(np.array(values), confidence=0.9, bounds=(-1, 1))
    for row, own in zip(found.to_dict("records"), values, strict=True):
        one = stats.one_sample(np.array(own), confidence=0.9, bounds=(-1, 1)).row()
        for name in ("estimate", "ci_low", "ci_high", "p_value", "n"):
            assert row[name] == pytest.approx(one[name], abs=1e-12, nan_ok=True), name


@settings(max_examples=30, deadline=None)
@given(VALUES)
def test_each_repeat_has_the_share_that_stats_gives_it(values: list[list[float]]) -> None:
    table = np.array(values)
    hits = np.where(np.isnan(table), np.nan, table > 0)
    found = repeated.shares(hits, confidence=0.95)
    for row, own in zip(found.to_dict("records"), hits, strict=True):
        one = stats.share_interval(own, confidence=0.95).row()
        for name in ("estimate", "ci_low", "ci_high", "n"):
            assert row[name] == pytest.approx(one[name], abs=1e-12, nan_ok=True), name


FITS = st.lists(
    st.lists(st.sampled_from([np.nan, -1.0, 0.0, 0.1, 0.25, 1.0]), min_size=15, max_size=15),
    min_size=1,
    max_size=4,
)


@settings(max_examples=30, deadline=None)
@given(FITS, st.sets(st.integers(0, 4), max_size=3))
def test_each_repeat_has_the_mean_over_units_and_fits_that_stats_gives_it(
    values: list[list[float]], empty: set[int]
) -> None:
    table = np.array(values).reshape(-1, 3, 5)
    table[:, :, list(empty)] = np.nan
    found = repeated.pooled(table, confidence=0.95, bounds=(-1, 1))
    for row, own in zip(found.to_dict("records"), table, strict=True):
        one = stats.pooled_mean(pd.DataFrame(own), confidence=0.95, bounds=(-1, 1)).row()
        for name in ("estimate", "ci_low", "ci_high", "p_value", "n"):
            assert row[name] == pytest.approx(one[name], abs=1e-12, nan_ok=True), name


def test_of_many_units_and_fits_too() -> None:
    rng = np.random.default_rng(4)
    values = rng.normal(rng.normal(size=(6, 1, 5)), 1, (6, 40, 5))
    values[rng.random(values.shape) < 0.1] = np.nan
    found = repeated.pooled(values, confidence=0.9)
    for row, own in zip(found.to_dict("records"), values, strict=True):
        one = stats.pooled_mean(pd.DataFrame(own), confidence=0.9).row()
        for name in ("estimate", "ci_low", "ci_high", "p_value", "n", "df"):
            assert row[name] == pytest.approx(one[name], abs=1e-12), name


def test_without_repeats_there_are_no_rows() -> None:
    nothing = np.zeros((0, 3))
    assert repeated.means(nothing, confidence=0.95).empty
    assert repeated.shares(nothing, confidence=0.95).empty
