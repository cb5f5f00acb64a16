"""A measure of which all is known: a mean of normals, and one whose interval is too narrow.

And how a trial is compared with the study itself.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.special import ndtr, stdtr, stdtrit

from nbbias.calibration.trials import Design, Measure, trial_row

#: The narrow one's intervals are this much of what they should be.
NARROW = 0.6


def _ends(
    rng: np.random.Generator, design: Design, confidence: float, width: float
) -> dict[str, float]:
    tails = design.scenario == "tails"
    values = rng.standard_t(3, design.n) / np.sqrt(3) if tails else rng.normal(size=design.n)
    values = values + design.effect
    mean, error = values.mean(), values.std(ddof=1) / np.sqrt(design.n)
    half = width * error * stdtrit(design.n - 1, (1 + confidence) / 2)
    ratio = -abs(mean / (error * width))
    p = 2 * (stdtr(design.n - 1, ratio) if width == 1 else ndtr(ratio))
    return {"estimate": mean, "ci_low": mean - half, "ci_high": mean + half, "p_value": p}


def trial(rng: np.random.Generator, design: Design, confidence: float) -> Iterator[dict[str, Any]]:
    for name, width in (("mean", 1.0), ("narrow", NARROW)):
        row = _ends(rng, design, confidence, width)
        yield trial_row(name, row, effect=design.effect)


def family(rng: np.random.Generator, design: Design, confidence: float) -> Iterator[dict[str, Any]]:
    direction = {"null": 0.0, "direction": float(np.sign(design.effect))}
    yield direction | _ends(rng, design, confidence, 1.0)


TOY = Measure(
    study="toy",
    name="means",
    unit="values",
    scenarios=("normal", "tails"),
    held_out=frozenset({"tails"}),
    effects=(0.0, 0.3, -0.8),
    n=(10, 30, 80),
    trial=trial,
    family=family,
)


#: What an interval and a test give.
ENDS = ("estimate", "ci_low", "ci_high")
TESTED = (*ENDS, "p_value")


def assert_same(row: Mapping[str, Any], other: pd.Series, names: tuple[str, ...] = TESTED) -> None:
    """Compare a row of a trial with the row that the study's own functions give."""
    for name in names:
        assert row[name] == pytest.approx(other[name], abs=1e-12, nan_ok=True), name
