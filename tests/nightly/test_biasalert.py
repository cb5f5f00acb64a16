"""Bias levels and scores of detection over many simulated studies: intervals hold the truth."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from nbbias.biasalert import levels

pytestmark = pytest.mark.nightly

#: Answers, labels, prevalence, sensitivity, specificity.
LEVELS = [
    (100, 60, 0.05, 0.7, 0.7),
    (100, 60, 0.15, 0.7, 0.7),
    (100, 60, 0.3, 0.7, 0.9),
    (500, 60, 0.15, 0.7, 0.7),
    (500, 60, 0.3, 0.8, 0.9),
    (500, 40, 0.05, 0.8, 0.95),
    (2000, 200, 0.05, 0.8, 0.95),
    (2000, 200, 0.15, 0.7, 0.7),
]  # fmt: skip


@pytest.mark.parametrize(("n", "size", "prevalence", "sensitivity", "specificity"), LEVELS)
def test_labels_and_verdicts_hold_the_share_and_beat_the_labels_alone(
    n: int, size: int, prevalence: float, sensitivity: float, specificity: float
) -> None:
    rng = np.random.default_rng(n + size)
    held, widths, errors = [], [], []
    for _ in range(800):
        truth = rng.random(n) < prevalence
        right = rng.random(n) < np.where(truth, sensitivity, specificity)
        flagged = pd.Series(np.where(right, truth, ~truth) * 1.0)
        label = pd.Series(np.where(np.arange(n) < size, truth, np.nan))
        both = levels.two_phase(flagged, label)
        alone = levels.two_phase(flagged * np.nan, label)
        held.append(both["ci_low"] <= prevalence <= both["ci_high"])
        widths.append([row["ci_high"] - row["ci_low"] for row in (both, alone)])
        errors.append([row["estimate"] - prevalence for row in (both, alone)])
    width, error = np.mean(widths, axis=0), np.sqrt(np.mean(np.square(errors), axis=0))
    print(f"held {np.mean(held):.3f}, width {width[0]:.3f} of {width[1]:.3f}, RMSE {error}")
    assert 0.92 <= np.mean(held) <= 0.98
    assert width[0] <= width[1]
    assert error[0] <= 1.01 * error[1]
