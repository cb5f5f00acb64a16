"""A measure of which all is known: a mean of normals, and one whose interval is too narrow.

And how a trial is compared with the study itself.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm, t

from nbbias.calibration.trials import Design, Measure, combine_trials, trial_row
from nbbias.stats import InferenceSettings

#: The narrow one's intervals are this much of what they should be.
NARROW = 0.6


def trial(design: Design, repeats: int, inference: InferenceSettings) -> pd.DataFrame:
    rng = np.random.default_rng(inference.seed)
    tail = rng.standard_t(3, (repeats, design.n)) if design.scenario == "tails" else None
    values = rng.standard_normal((repeats, design.n)) if tail is None else tail / np.sqrt(3)
    values = values + design.effect
    mean, error = values.mean(axis=1), values.std(axis=1, ddof=1) / np.sqrt(design.n)
    half = error * t.ppf((1 + inference.confidence) / 2, design.n - 1)
    p = 2 * t.sf(np.abs(mean / error), design.n - 1)
    narrow = {"p_value": 2 * norm.sf(np.abs(mean / (error * NARROW)))}
    ends = {"estimate": mean, "ci_low": mean - half, "ci_high": mean + half, "p_value": p}
    narrow |= {"ci_low": mean - NARROW * half, "ci_high": mean + NARROW * half}
    return combine_trials(
        trial_row(name, pd.DataFrame(columns), effect=design.effect, truth=design.effect)
        for name, columns in {"mean": ends, "narrow": ends | narrow}.items()
    )


def family(design: Design, repeats: int, inference: InferenceSettings) -> pd.DataFrame:
    trials = trial(design, repeats, inference)
    means = trials[trials["statistic"] == "mean"].reset_index(drop=True)
    return means.assign(run=means.index, direction=float(np.sign(design.effect)))


TOY = Measure(
    study="toy",
    name="means",
    unit="values",
    scenarios={"normal": "values are normal", "tails": "values have heavy tails"},
    held_out=frozenset({"tails"}),
    effects=(0.0, 0.3, -0.8),
    n=(10, 30, 80),
    trial=trial,
    family=family,
)


def assert_same(row: pd.Series, other: pd.DataFrame, names: tuple[str, ...]) -> None:
    """Compare a row of a trial with the one row that the study's own functions give."""
    for name in names:
        assert row[name] == pytest.approx(other[name].item(), abs=1e-12, nan_ok=True), name
