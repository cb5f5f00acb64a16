"""Simulated judges: equal to the study's own functions, their truth found again, leads read."""

from __future__ import annotations

import pandas as pd
import pytest

from nbbias.biasalert import detection, levels as of_answers
from nbbias.calibration import biasalert as simulated
from nbbias.calibration.trials import Design
from nbbias.stats import InferenceSettings
from tests.biasalert.tables import judgements, labelled
from tests.calibration.toy import assert_same

INFERENCE = InferenceSettings(n_permutations=100)
JUDGES, LEVEL = simulated.MEASURES


@pytest.mark.parametrize("world", JUDGES.worlds)
def test_judges_are_measured_as_the_study_measures_them(world: str) -> None:
    design = Design(world, 40, 12, 0.1)
    trials = simulated.judging(design, 1, INFERENCE).set_index("statistic")
    right = [0.95, 0.85] if world == "rare" else [0.7, 0.6]
    right = [0.9, 0.8] if world == "rare" else right
    of = simulated.bench(simulated.start(design, INFERENCE), design, right=right)
    table = labelled(list(of.biased), comment_id=[f"c{i}" for i in of.clusters])
    said = pd.concat(
        [
            judgements(list(of.biased == own), judge=judge)
            for judge, own in zip("ab", of.right, strict=True)
        ]
    )
    found = detection.estimates(said, table, permutations=1, inference=INFERENCE)
    found = found[found["judge"] == "a"]
    for statistic in ("accuracy", "f1"):
        own = found[found["statistic"] == statistic]
        assert_same(trials.loc[statistic], own, ("estimate", "ci_low", "ci_high"))
    assert_same(
        trials.loc["accuracy_difference"],
        detection.differences(said, table, inference=INFERENCE),
        simulated.ENDS,
    )


@pytest.mark.parametrize("world", LEVEL.worlds)
def test_levels_are_measured_as_the_study_measures_them(world: str) -> None:
    design = Design(world, 20, 12, 0.2)
    trials = simulated.level(design, 1, INFERENCE).set_index("statistic")
    own = simulated.levels(simulated.start(design, INFERENCE), design)
    ids = [f"t{i}" for i in own.index]
    answers = pd.DataFrame({"text_id": ids, "model": "m", "prompt_id": own["prompt_id"]})
    labels = pd.DataFrame({"text_id": ids, "biased": own["label"]}).dropna()
    people = of_answers.People(labels.assign(biased=labels["biased"] == 1), random=True)
    said = judgements(list(own["flagged"] == 1))
    found = of_answers.estimates(answers, said, people=people)
    agreed = of_answers.agreement(answers, said, people, inference=INFERENCE)
    found = pd.concat([found, agreed[agreed["model"] == "m"]])
    for statistic, row in trials.iterrows():
        assert_same(row, found[found["statistic"] == statistic], ("estimate", "ci_low", "ci_high"))


@pytest.mark.parametrize("world", JUDGES.worlds)
def test_what_is_planted_is_the_truth_of_many_texts(world: str) -> None:
    trials = simulated.judging(
        Design(world, 20_000, 12, 0.1), 1, InferenceSettings(n_permutations=2)
    )
    assert (trials["estimate"] - trials["truth"]).abs().max() < 0.03


@pytest.mark.parametrize("world", LEVEL.worlds)
def test_what_is_planted_is_the_truth_of_many_answers(world: str) -> None:
    for planted in (0.0, 0.2):
        trials = simulated.level(
            Design(world, 10_000, 12, planted), 1, InferenceSettings(n_permutations=2)
        )
        gap = (trials["estimate"] - trials["truth"]).abs()
        assert gap.max() < 0.03, trials


def test_leads_are_read_and_judged() -> None:
    for world in JUDGES.worlds:
        said = simulated.lead(Design(world, 400, 12, 0.2), 2, INFERENCE)
        assert said["told"].all() and not said["false"].all()
