"""Declared claims over many simulated runs: how often a family says what is not so, at any N."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ttest_1samp

from nbbias import tables
from nbbias.reading import claims

pytestmark = pytest.mark.nightly

MODELS, RUNS = [f"m{n}" for n in range(10)], 150
COLUMNS = [*tables.ESTIMATE_KEYS, *tables.ESTIMATE_VALUES]
CLAIM = {"statistic": "difference", "smallest_effect": 0.25}


def verdicts(n: int, truth: float, *, seed: int) -> list[str]:
    """Return what one run declares of ten models, each with n pairs about one true difference."""
    values = np.random.default_rng(seed).normal(truth, 1, (len(MODELS), n))
    found = ttest_1samp(values, 0, axis=1)
    low, high = found.confidence_interval(0.95)
    rows = (
        pd.DataFrame(
            {
                "model": MODELS,
                "statistic": "difference",
                "estimate": values.mean(axis=1),
                "n": n,
                "ci_low": low,
                "ci_high": high,
                "df": n - 1.0,
                "p_value": found.pvalue,
                "null": 0.0,
                "confidence": 0.95,
            }
        )
        .reindex(columns=COLUMNS)
        .astype({"reason": "str"})
    )
    return claims.declared(rows, [CLAIM], confidence=0.95)["verdict"].tolist()


@pytest.mark.parametrize("n", [10, 80])
def test_a_family_without_differences_tells_one_apart_in_about_5_percent(n: int) -> None:
    runs = [verdicts(n, 0.0, seed=seed) for seed in range(RUNS)]
    said = [any(v.startswith(("significant", "beyond")) for v in own) for own in runs]
    assert np.mean(said) < 0.09


@pytest.mark.parametrize("n", [10, 80])
def test_a_family_at_the_bound_calls_one_equivalent_in_5_percent_at_most(n: int) -> None:
    runs = [verdicts(n, 0.25, seed=seed) for seed in range(RUNS)]
    assert np.mean([any(v.startswith("equivalent") for v in own) for own in runs]) < 0.09
    assert np.mean([any(v.startswith("beyond") for v in own) for own in runs]) < 0.09


def test_a_family_of_nothings_is_called_equivalent_where_n_can_tell() -> None:
    found = [v for seed in range(20) for v in verdicts(400, 0.0, seed=seed)]
    assert np.mean([v.startswith("equivalent") for v in found]) > 0.95
    found = [v for seed in range(20) for v in verdicts(10, 0.0, seed=seed)]
    open_ones = [v for v in found if v.startswith("not significant")]
    assert open_ones and all(
        v.endswith("neither equivalent within ±0.25 nor beyond") for v in open_ones
    )
