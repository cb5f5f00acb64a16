"""Simulated judges: equal to the study's own functions, and their truth."""

from __future__ import annotations

import pandas as pd
import pytest

from nbbias.biasalert import detection, levels as of_answers
from nbbias.calibration import biasalert as simulated
from nbbias.calibration.trials import Design, seeded
from nbbias.stats import InferenceSettings
from tests.biasalert.tables import judgements, labelled
from tests.calibration.toy import assert_same

INFERENCE = InferenceSettings(n_permutations=100)
JUDGES, LEVEL = simulated.MEASURES


@pytest.mark.parametrize("scenario", ["rare", "topics"])
def test_judges_are_measured_as_the_study_measures_them(scenario: str) -> None:
    design = Design(scenario, 40, 12, 0.1)
    trials = simulated.classifying(design, 1, INFERENCE).set_index("statistic")
    right = [0.9, 0.8] if scenario == "rare" else [0.7, 0.6]
    of = simulated.benchmark(seeded(design, INFERENCE), design, right=right)
    table = labelled(list(of.biased), comment_id=[f"c{i}" for i in of.clusters])
    said = pd.concat(
        [
            judgements(list(of.biased == own), judge=judge)
            for judge, own in zip("ab", of.right, strict=True)
        ]
    )
    found = detection.estimates(said, table, inference=INFERENCE).estimates
    found = found[found["judge"] == "a"]
    for statistic in ("accuracy", "f1"):
        own = found[found["statistic"] == statistic]
        assert_same(trials.loc[statistic], own, ("estimate", "ci_low", "ci_high"))
    assert_same(
        trials.loc["accuracy_difference"],
        detection.estimate_differences(said, table, inference=INFERENCE).estimates,
        ("estimate", "ci_low", "ci_high", "p_value"),
    )


@pytest.mark.parametrize("scenario", ["poor", "prompts"])
def test_levels_are_measured_as_the_study_measures_them(scenario: str) -> None:
    design = Design(scenario, 20, 12, 0.2)
    trials = simulated.level(design, 1, INFERENCE).set_index("statistic")
    own = simulated.levels(seeded(design, INFERENCE), design)
    ids = [f"t{i}" for i in own.index]
    answers = pd.DataFrame({"text_id": ids, "model": "m", "prompt_id": own["prompt_id"]})
    labels = pd.DataFrame({"text_id": ids, "biased": own["label"]}).dropna()
    people = of_answers.HumanLabels(labels.assign(biased=labels["biased"] == 1), random=True)
    said = judgements(list(own["flagged"] == 1))
    found = of_answers.estimates(answers, said, people=people)
    found = found[found["model"] == "m"]
    for statistic, row in trials.iterrows():
        assert_same(row, found[found["statistic"] == statistic], ("estimate", "ci_low", "ci_high"))


@pytest.mark.parametrize("scenario", JUDGES.scenarios)
def test_the_truth_is_that_of_many_texts(scenario: str) -> None:
    trials = simulated.classifying(
        Design(scenario, 20_000, 12, 0.1), 1, InferenceSettings(n_permutations=2)
    )
    assert (trials["estimate"] - trials["truth"]).abs().max() < 0.03


@pytest.mark.parametrize("scenario", LEVEL.scenarios)
def test_the_truth_is_that_of_many_answers(scenario: str) -> None:
    for effect in (0.0, 0.2):
        trials = simulated.level(
            Design(scenario, 10_000, 12, effect), 1, InferenceSettings(n_permutations=2)
        )
        gap = (trials["estimate"] - trials["truth"]).abs()
        assert gap.max() < 0.03, trials
