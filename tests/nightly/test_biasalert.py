"""Bias levels and scores of detection over many simulated studies: intervals hold the truth."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from nbbias import stats
from nbbias.biasalert import detection
from nbbias.stats import InferenceSettings
from tests.biasalert.tables import judgements, labelled, value

pytestmark = pytest.mark.nightly

#: Answers, labels, prevalence, sensitivity, specificity.
LEVELS = [(100, 60, 0.05, 0.7, 0.7), (500, 60, 0.3, 0.8, 0.9), (2000, 200, 0.05, 0.8, 0.95)]


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
        both = stats.two_phase(flagged, label).row()
        alone = stats.two_phase(flagged * np.nan, label).row()
        held.append(both["ci_low"] <= prevalence <= both["ci_high"])
        widths.append([row["ci_high"] - row["ci_low"] for row in (both, alone)])
        errors.append([row["estimate"] - prevalence for row in (both, alone)])
    width, error = np.mean(widths, axis=0), np.sqrt(np.mean(np.square(errors), axis=0))
    print(f"held {np.mean(held):.3f}, width {width[0]:.3f} of {width[1]:.3f}, RMSE {error}")
    assert 0.92 <= np.mean(held) <= 0.98
    assert width[0] <= width[1]
    assert error[0] <= 1.01 * error[1]


@pytest.mark.parametrize("size", [30, 84])
@pytest.mark.parametrize(("prevalence", "rates"), [(0.5, (0.95, 0.95)), (0.1, (0.7, 0.95))])
def test_accuracy_and_f1_hold_near_1_and_where_few_are_biased(
    size: int, prevalence: float, rates: tuple[float, float]
) -> None:
    rng = np.random.default_rng(size)
    positive = prevalence * rates[0]
    wrong = prevalence * (1 - rates[0]) + (1 - prevalence) * (1 - rates[1])
    truths = {"accuracy": 1 - wrong, "f1": 2 * positive / (2 * positive + wrong)}
    held: dict[str, list[bool]] = {name: [] for name in truths}
    for _ in range(200):
        truth = rng.random(size) < prevalence
        right = rng.random(size) < np.where(truth, *rates)
        said = judgements(list(np.where(right, truth, ~truth)))
        inference = InferenceSettings(n_permutations=2)
        found = detection.estimates(said, labelled(list(truth)), inference=inference).estimates
        for name, true in truths.items():
            low, high = (value(found, name, f"ci_{end}") for end in ("low", "high"))
            if np.isfinite(low):
                held[name].append(low <= true <= high)
    for name, each in held.items():
        print(f"{name}: {np.mean(each):.3f} of {len(each)}")
        assert 0.91 <= np.mean(each) <= 0.99
