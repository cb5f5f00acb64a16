"""Simulated judges: equal to the study's own functions, and their truth."""

from itertools import product

import pandas as pd
import pytest

from nbbias import stats
from nbbias.biasalert import detection, levels as of_answers
from nbbias.calibration import biasalert as simulated
from nbbias.calibration.trials import Design, Measure, repeat, seeded
from tests.biasalert.tables import judgements, labelled
from tests.build import row_of
from tests.calibration.toy import ENDS, assert_same


@pytest.mark.parametrize("scenario", ["rare", "topics"])
def test_judges_are_measured_as_the_study_measures_them(scenario: str) -> None:
    design = Design(scenario, 40, 12, 0.1)
    trials = repeat(simulated.classifying, design, 1, confidence=0.95).set_index("statistic")
    right = [0.9, 0.8] if scenario == "rare" else [0.7, 0.6]
    of = simulated.benchmark(seeded(design), design, right=right)
    table = labelled(list(of.biased), comment_id=[f"c{i}" for i in of.clusters])
    said = pd.concat(
        [
            judgements(list(of.biased == own), judge=judge)
            for judge, own in zip("ba", of.right[::-1], strict=True)  # the earlier is subtracted
        ]
    )
    found = detection.estimates(said, table, inference=detection.INFERENCE).estimates
    assert_same(trials.loc["accuracy"], row_of(found, "accuracy", judge="a"), ENDS)
    found = detection.estimate_differences(said, table, inference=detection.INFERENCE).estimates
    assert_same(trials.loc["accuracy_difference"], row_of(found, "accuracy_difference"))


@pytest.mark.parametrize("scenario", ["poor", "prompts"])
def test_levels_are_measured_as_the_study_measures_them(scenario: str) -> None:
    design = Design(scenario, 20, 12, 0.2)
    (row,) = simulated.level(seeded(design), design, 0.95)
    own = simulated.levels(seeded(design), design)
    ids = [f"t{i}" for i in own.index]
    answers = pd.DataFrame({"text_id": ids, "model": "m", "prompt_id": own["prompt_id"]})
    labels = pd.DataFrame({"text_id": ids, "biased": own["label"]}).dropna()
    people = of_answers.HumanLabels(labels.assign(biased=labels["biased"] == 1), random=True)
    said = judgements(list(own["flagged"] == 1))
    found = of_answers.estimates(answers, said, people=people)
    assert_same(row, row_of(found, row["statistic"], model="m"), ENDS)


@pytest.mark.parametrize("measure", simulated.MEASURES, ids=lambda one: one.name)
def test_the_truth_is_that_of_many_texts(measure: Measure) -> None:
    for scenario, effect in product(measure.scenarios, (0.0, 0.2)):
        trials = repeat(measure.trial, Design(scenario, 20_000, 12, effect), 1, confidence=0.95)
        assert (trials["estimate"] - trials["truth"]).abs().max() < 0.03, scenario


def test_a_gate_has_the_least_p_that_a_comparison_with_the_accepted_run_needs() -> None:
    design = Design("single", 30, 12, 0.1)
    of = simulated.benchmark(seeded(design), design, right=[0.9, *[0.75] * 20]).right
    (row,) = simulated.gating(seeded(design), design, 0.95)
    spent = [
        stats.tango_tests((of[0] & ~of[k]).sum(), (of[k] & ~of[0]).sum(), 30, 0.05)[0] * k * (k + 1)
        for k in range(1, 21)
    ]
    assert row["p_value"] == pytest.approx(min(1.0, *spent))
