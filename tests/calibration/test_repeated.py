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
def test_each_repeat_is_estimated_as_stats_estimates_it(values: list[list[float]]) -> None:
    table = np.array(values)
    hits = np.where(np.isnan(table), np.nan, table > 0)
    means = repeated.means(table, confidence=0.9, bounds=(-1, 1)).to_dict("records")
    shares = repeated.shares(hits, confidence=0.9).to_dict("records")
    for at, row in enumerate(means):
        single = stats.one_sample(table[at], confidence=0.9, bounds=(-1, 1)).row()
        for name in ("estimate", "ci_low", "ci_high", "p_value", "n"):
            assert row[name] == pytest.approx(single[name], abs=1e-12, nan_ok=True), name
        single = stats.share_interval(hits[at], confidence=0.9).row()
        for name in ("estimate", "ci_low", "ci_high", "n"):
            assert shares[at][name] == pytest.approx(single[name], abs=1e-12, nan_ok=True), name


def test_means_over_units_and_fits_are_those_of_stats() -> None:
    rng = np.random.default_rng(4)
    values = rng.normal(rng.normal(size=(6, 1, 5)), 1, (6, 40, 5))
    values[rng.random(values.shape) < 0.1] = np.nan
    values[0, :, 0] = values[1, :, :2] = np.nan  # all but one of the fits, and too few
    values[2] = values[2, :, [0]].T  # fits that agree
    table = repeated.pooled(values, confidence=0.9, bounds=(-0.2, 0.2))
    for row, single in zip(table.to_dict("records"), values, strict=True):
        one = stats.pooled_mean(pd.DataFrame(single), confidence=0.9, bounds=(-0.2, 0.2)).row()
        for name in ("estimate", "ci_low", "ci_high", "p_value", "n"):
            assert row[name] == pytest.approx(one[name], abs=1e-12, nan_ok=True), name
