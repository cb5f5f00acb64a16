"""Double sampling: by hand, coverage of a known truth, and mirror images."""

import numpy as np
import pandas as pd
import pytest
from statsmodels.stats.proportion import proportion_confint

from nbbias import stats


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


def test_labels_drawn_with_unequal_probabilities_count_by_the_inverse() -> None:
    # Flagged: labels 1, 1, 0 with weights 2, 2, 4; passed: 1, 0 with weights 5, 15.
    flagged = pd.Series([1.0] * 10 + [0.0] * 30)
    label = pd.Series(np.nan, index=range(40))
    label[[0, 1, 2, 10, 11]] = [1.0, 1.0, 0.0, 1.0, 0.0]
    probability = label.replace({1.0: 0.5, 0.0: 0.25})
    probability[[10, 11]] = [0.2, 1 / 15]
    found = stats.two_phase(flagged, label, probability=probability)
    assert found.estimate == pytest.approx(0.25 * 4 / 8 + 0.75 * 5 / 20)
    alike = stats.two_phase(flagged, label, probability=probability * 0 + 0.1)
    assert alike == stats.two_phase(flagged, label)


def test_an_oversample_of_hard_texts_is_covered_by_its_probabilities_alone() -> None:
    rng = np.random.default_rng(11)
    held = np.zeros(2)
    for _ in range(300):
        biased = rng.random(400) < 0.3
        flagged = pd.Series(np.where(rng.random(400) < 0.8, biased, ~biased) * 1.0)
        hard = rng.random(400) < np.where(biased, 0.8, 0.3)
        probability = pd.Series(np.where(hard, 0.3, 0.1))
        label = pd.Series(np.where(rng.random(400) < probability, biased * 1.0, np.nan))
        for at, how in enumerate(({}, {"probability": probability})):
            found = stats.two_phase(flagged, label, **how)
            held[at] += found.ci_low <= 0.3 <= found.ci_high
    assert held[0] / 300 < 0.85 and held[1] / 300 > 0.92
