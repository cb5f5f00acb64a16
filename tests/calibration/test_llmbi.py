"""Simulated LLMBI: equal to the study's own estimates, its truth found again, its leads read."""

import numpy as np
import pandas as pd
import pytest

from nbbias import llmbi
from nbbias.calibration import llmbi as simulated
from nbbias.calibration.trials import Design, repeat, seeded
from tests.build import row_of
from tests.calibration.toy import assert_same


@pytest.mark.parametrize("scenario", ["skewed", "repeats", "silent"])
def test_sums_are_what_the_study_fits(scenario: str) -> None:
    design = Design(scenario, 18, 12, 0.1)
    trials = repeat(simulated.index, design, 1, confidence=0.95).set_index("statistic")
    of = simulated.answers(seeded(design), design, effects=[0.1, 0.0])
    rows = [
        (f"m{model}", f"d{of.dimension[prompt]}", f"p{prompt}", sample, 60, score)
        for (model, prompt, sample), score in np.ndenumerate(of.scores)
    ]
    measured = pd.DataFrame(rows, columns=["model", "dimension", "prompt", "sample", "n", "score"])
    measured["polarity_textblob"] = (measured.pop("score") - 0.2) / 2.5
    windows = pd.DataFrame({"n": 60, "polarity_textblob": (of.windows - 0.2) / 2.5}).assign(
        passage=range(len(of.windows))
    )
    scores = llmbi.scoring.score_answers(measured)
    result = llmbi.estimates.estimates(scores, windows, formula={}, confidence=0.95)
    found = result.estimates
    own = row_of(found, "index", model="m0")
    assert_same(trials.loc["index"], own)
    assert trials.loc["index", "truth"] == pytest.approx(own["null"] + 0.1)
    # The study takes the first model away from the second.
    row = row_of(found, "difference")
    turned = {"estimate": -row["estimate"], "ci_low": -row["ci_high"], "ci_high": -row["ci_low"]}
    assert_same(trials.loc["difference"], pd.Series({"p_value": row["p_value"]} | turned))


@pytest.mark.parametrize("scenario", ["skewed", "repeats", "silent"])
def test_the_effect_is_that_of_many_prompts(scenario: str) -> None:
    design = Design(scenario, 90_000, 12, 0.0)
    of = simulated.answers(np.random.default_rng(0), design, effects=[0.15, 0.0])
    own, other = of.scores.mean(axis=(1, 2))
    assert other == pytest.approx(simulated.NEUTRAL, abs=0.01)
    assert own - other == pytest.approx(0.15, abs=0.01)
    wordless = (of.scores == simulated.PENALTY).mean()
    assert wordless == pytest.approx(0.25 if scenario == "silent" else 0, abs=0.01)


def test_a_family_compares_every_pair_of_models() -> None:
    design = Design("skewed", 18, 12, 0.1)
    rows = simulated.family(seeded(design), design, 0.95)
    *_, one, both, two = (row["estimate"] for row in rows)
    assert both == pytest.approx(one + two)
