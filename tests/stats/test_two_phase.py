"""Double sampling: by hand, coverage of a known truth, and mirror images."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from statsmodels.stats.proportion import proportion_confint

from nbbias import stats


def counted(
    seed: int, rounds: int, *, n: int, size: int, prevalence: float, rates: tuple[float, float]
) -> list[tuple[pd.Series, pd.Series]]:
    """Return verdicts on n answers and labels of a random sample of them, many times."""
    rng = np.random.default_rng(seed)
    truth = rng.random((rounds, n)) < prevalence
    right = rng.random((rounds, n)) < np.where(truth, *rates)
    sampled = np.arange(n) < size
    return [
        (pd.Series(np.where(ok, own, ~own) * 1.0), pd.Series(np.where(sampled, own, np.nan)))
        for own, ok in zip(truth, right, strict=True)
    ]


def test_labels_and_verdicts_together_are_the_labelled_share_by_verdict() -> None:
    # 40 of 100 are flagged; of 10 flagged ones with a label 6 are biased, of 20 others 1.
    flagged = pd.Series([1.0] * 40 + [0.0] * 60)
    label = pd.Series(np.nan, index=range(100))
    label[:10], label[40:60] = [1.0] * 6 + [0.0] * 4, [1.0] + [0.0] * 19
    found = stats.two_phase(flagged, label).row()
    assert found["estimate"] == pytest.approx(0.4 * 6 / 10 + 0.6 * 1 / 20)
    assert found["n"] == 30
    # A judge that tells nothing leaves the labels as they are, Wilson and all.
    silent = stats.two_phase(flagged * np.nan, label).row()
    assert silent["estimate"] == pytest.approx(7 / 30)
    ends = [silent[f"ci_{end}"] for end in ("low", "high")]
    assert ends == pytest.approx(list(proportion_confint(7, 30, method="wilson")))
    assert found["ci_high"] - found["ci_low"] < ends[1] - ends[0]


def test_a_verdict_without_a_label_takes_the_share_of_all_labels() -> None:
    flagged = pd.Series([1.0, 0.0, 0.0, 0.0, np.nan])
    label = pd.Series([np.nan, 1.0, 0.0, np.nan, np.nan])
    assert stats.two_phase(flagged, label).estimate == pytest.approx(0.5)
    assert np.isnan(stats.two_phase(flagged, label * np.nan).estimate)


def test_no_biased_label_is_no_certainty() -> None:
    flagged, label = pd.Series([1.0] * 10 + [0.0] * 90), pd.Series([0.0] * 40 + [np.nan] * 60)
    found = stats.two_phase(flagged, label).row()
    assert (found["estimate"], found["ci_low"]) == (0, 0)
    alone = proportion_confint(0, 40, method="wilson")[1]
    assert found["ci_high"] == pytest.approx(alone, abs=0.005)


@pytest.mark.parametrize(
    ("n", "size", "prevalence", "rates"),
    [
        (100, 60, 0.3, (0.7, 0.9)),
        (500, 40, 0.05, (0.8, 0.95)),
        (500, 60, 0.15, (0.7, 0.7)),
        (300, 100, 0.25, (0.4, 0.4)),
    ],
    ids=["good", "rare", "poor", "worse than chance"],
)
def test_the_two_phase_interval_holds_and_is_no_wider_than_that_of_the_labels(
    n: int, size: int, prevalence: float, rates: tuple[float, float]
) -> None:
    held, widths, errors = [], [], []
    for flagged, label in counted(3, 300, n=n, size=size, prevalence=prevalence, rates=rates):
        both = stats.two_phase(flagged, label).row()
        alone = stats.two_phase(flagged * np.nan, label).row()
        held.append(both["ci_low"] <= prevalence <= both["ci_high"])
        widths.append([row["ci_high"] - row["ci_low"] for row in (both, alone)])
        errors.append([row["estimate"] - prevalence for row in (both, alone)])
    assert 0.915 <= np.mean(held) <= 0.985
    assert np.mean(widths, axis=0)[0] <= np.mean(widths, axis=0)[1]
    spread = np.sqrt(np.mean(np.square(errors), axis=0))
    assert spread[0] <= 1.02 * spread[1]


def test_no_biased_label_of_few_prompts_is_less_certain_than_of_many() -> None:
    flagged, label = pd.Series([0.0] * 100), pd.Series([0.0] * 40 + [np.nan] * 60)
    few = stats.two_phase(flagged, label, prompts=np.repeat(np.arange(20), 5)).row()
    many = stats.two_phase(flagged, label).row()
    assert few["estimate"] == few["ci_low"] == 0
    # Eight prompts hold the labels.
    assert few["ci_high"] == pytest.approx(proportion_confint(0, 8, method="wilson")[1])
    assert few["ci_high"] > many["ci_high"]


def test_all_labels_biased_mirror_none_biased_where_prompts_differ_in_answers() -> None:
    rng = np.random.default_rng(7)
    for _ in range(40):
        prompts = np.repeat(np.arange(12), rng.integers(1, 8, 12))
        said = pd.Series(rng.choice([0.0, 1.0, np.nan], len(prompts)))
        label = pd.Series(np.where(rng.random(len(prompts)) < 0.3, 1.0, np.nan))
        label[0] = 1.0
        every = stats.two_phase(said, label, prompts=prompts).row()
        none = stats.two_phase(1 - said, 1 - label, prompts=prompts).row()
        assert none["estimate"] == 0 and 1 - 1e-12 < every["estimate"] <= 1
        ends = 1 - none["ci_high"], 1 - none["ci_low"]
        assert (every["ci_low"], every["ci_high"]) == pytest.approx(ends, nan_ok=True)
