"""Simulated prompts: equal to the study's own functions, and its truth."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from nbbias import news, tables
from nbbias.biased_prompts import compare, refusing
from nbbias.calibration import biased_prompts as simulated
from nbbias.calibration.trials import Design, repeat, seeded
from tests.build import row_of
from tests.calibration.toy import ENDS, assert_same

MEASURES = {one.name: one for one in simulated.MEASURES}


def answers(values: dict[str, np.ndarray], asked: int = 1, **more: Any) -> pd.DataFrame:
    rows = [
        {"source": "s", "article_id": str(i), "model": "m", "prompt": prompt, "refused": k < told}
        for prompt, shares in values.items()
        for i, told in enumerate(np.rint(shares * asked))
        for k in range(asked)
    ]
    return pd.DataFrame(rows).assign(**more)


@pytest.mark.parametrize("scenario", ["rare", "repeats"])
def test_refusals_are_estimated_as_the_study_estimates_them(scenario: str) -> None:
    design = Design(scenario, 24, 12, 0.2)
    (row,) = simulated.refusing(seeded(design), design, 0.95)
    rng = seeded(design)
    neutral, biased = simulated.verdicts(rng, design, simulated.refusal_rates(design))
    table = answers({"neutral": neutral, "biased": biased}, 5 if scenario == "repeats" else 1)
    found = refusing.rates(table).estimates
    assert_same(row, row_of(found, "refusal_rate_change"))


def test_corrected_rates_are_those_of_the_study() -> None:
    design = Design("single", 24, 12, 0.3)
    trials = repeat(simulated.corrected, design, 1, confidence=0.95).set_index("statistic")
    rng = seeded(design)
    flagged = simulated.flagged(rng, simulated.refusal_rates(design))
    neutral, biased = simulated.verdicts(rng, design, flagged)
    found = refusing.rates(
        answers({"neutral": neutral, "biased": biased}, reason="detected")
    ).estimates
    of_biased = found[found["prompt"] != "neutral"]
    for statistic, row in trials.iterrows():
        assert_same(row, row_of(of_biased, statistic), ENDS)
    assert trials.loc["refusal_rate_corrected", "truth"] == pytest.approx(0.4)


@pytest.mark.parametrize("scenario", ["selective", "one"])
def test_words_are_compared_as_the_study_compares_them(scenario: str) -> None:
    design = Design(scenario, 40, 12, -0.15)
    (row,) = simulated.prompting(seeded(design), design, 0.95)
    neutral, biased = simulated.words(seeded(design), design)
    scores = pd.DataFrame({"neutral": neutral, "biased": biased})
    scores = scores.melt(var_name="prompt", value_name="difference_female")
    cell = {"source": "s", "model": "m", "measure": "word", "bias": "gender", "instrument": "i"}
    scores = scores.assign(**cell, o_female=1.0, h_female=1.0, article_id=[*range(40)] * 2)
    scores["reason"] = scores["difference_female"].isna().map({True: "lost", False: None})
    none = tables.estimates([], study="x")
    level = news.Level(scores, none, none, tables.chance([], study="x"))
    found = compare.compare([level], {"gender": "female"}).estimates
    assert_same(row, row_of(found, row["statistic"]))


def test_the_effect_is_that_of_many_articles() -> None:
    rng = np.random.default_rng(0)
    for scenario in MEASURES["refusals"].scenarios:
        design = Design(scenario, 40_000, 12, 0.3)
        neutral, biased = simulated.verdicts(rng, design, simulated.refusal_rates(design))
        assert biased.mean() - neutral.mean() == pytest.approx(0.3, abs=0.02)
    for scenario in MEASURES["prompt_effect"].scenarios:
        neutral, biased = simulated.words(rng, Design(scenario, 40_000, 12, -0.15))
        room = 0.05 if scenario == "selective" else 0.02  # who is refused is not who is moved least
        assert np.nanmean(biased - neutral) == pytest.approx(-0.15, abs=room)
        neutral, biased = simulated.words(rng, Design(scenario, 40_000, 12, 0.0))
        assert np.nanmean(biased - neutral) == pytest.approx(0.0, abs=0.01)
