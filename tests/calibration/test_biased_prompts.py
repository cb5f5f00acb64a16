"""Simulated prompts: equal to the study's own functions, and its truth."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from nbbias import news, tables
from nbbias.biased_prompts import compare, refusing
from nbbias.calibration import biased_prompts as simulated
from nbbias.calibration.trials import Design, seeded
from nbbias.stats import InferenceSettings
from tests.calibration.toy import assert_same

INFERENCE = InferenceSettings(n_permutations=100)
MEASURES = {one.name: one for one in simulated.MEASURES}
ENDS = ("estimate", "ci_low", "ci_high")


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
    trials = simulated.refusing(design, 2, INFERENCE).set_index("statistic")
    rng = seeded(design, INFERENCE)
    own = simulated.rates(rng, design, erring=False)
    neutral, biased = simulated.verdicts(rng, design, 2, flagged=(own.neutral, own.biased))
    asked = 5 if scenario == "repeats" else 1
    for at in range(2):
        table = answers({"neutral": neutral[at], "biased": biased[at]}, asked)
        found = refusing.rates(table).estimates
        rate = found[(found["statistic"] == "refusal_rate") & (found["prompt"] == "biased")]
        assert_same(trials.loc["refusal_rate"].iloc[at], rate, (*ENDS, "p_value"))
        change = found[found["statistic"] == "refusal_rate_change"]
        assert_same(trials.loc["refusal_rate_change"].iloc[at], change, (*ENDS, "p_value"))
    if scenario == "repeats":
        return
    named, rest = simulated.verdicts(rng, design, 2, flagged=(own.biased, own.neutral))
    for at in range(2):
        told = np.concatenate([named[at, :6], rest[at]])
        group = ["female"] * 6 + ["nobody named"] * 24
        ids = [str(i) for i in range(30)]
        headlines = pd.DataFrame({"source": "s", "article_id": ids, "bias": "b", "group": group})
        found = refusing.rates(answers({"biased": told}), headlines=headlines).estimates
        difference = found[found["statistic"] == "refusal_difference"]
        assert_same(trials.loc["refusal_difference"].iloc[at], difference, (*ENDS, "p_value"))


def test_corrected_rates_are_those_of_the_study() -> None:
    design = Design("single", 24, 12, 0.3)
    trials = simulated.corrected(design, 1, INFERENCE).set_index("statistic")
    rng = seeded(design, INFERENCE)
    own = simulated.rates(rng, design, erring=True)
    flagged = (own.flagged(own.neutral), own.flagged(own.biased))
    (neutral,), (biased,) = simulated.verdicts(rng, design, 1, flagged=flagged)
    found = refusing.rates(
        answers({"neutral": neutral, "biased": biased}, reason="detected")
    ).estimates
    of_biased = found[found["prompt"] != "neutral"]
    for statistic, row in trials.iterrows():
        assert_same(row, of_biased[of_biased["statistic"] == statistic], ENDS)
    assert trials.loc["refusal_rate_corrected", "truth"] == pytest.approx(0.4)


@pytest.mark.parametrize("scenario", ["selective", "one"])
def test_words_are_compared_as_the_study_compares_them(scenario: str) -> None:
    design = Design(scenario, 40, 12, -0.15)
    trials = simulated.prompting(design, 2, INFERENCE).set_index("statistic")
    of = simulated.words(seeded(design, INFERENCE), design, 2)
    for at in range(2):
        sides = [
            pd.DataFrame(
                {
                    "article_id": np.arange(40),
                    "prompt": prompt,
                    "difference_female": values[at],
                    "o_female": of.counts[at] * 1.0,
                    "h_female": 1.0,
                    "reason": pd.Series(np.where(np.isnan(values[at]), "lost", None), dtype=object),
                }
            )
            for prompt, values in (("neutral", of.neutral), ("biased", of.biased))
        ]
        cell = {"source": "s", "model": "m", "measure": "word", "bias": "gender", "instrument": "i"}
        scores = pd.concat(sides, ignore_index=True).assign(**cell)
        none = [tables.estimates([], study="x")] * 2
        level = news.Level(scores, *none, tables.chance([], study="x"))
        found = compare.compare([level], {"gender": "female"}).estimates
        for statistic in trials.index.unique():
            own = found[found["statistic"] == statistic]
            assert_same(trials.loc[statistic].iloc[at], own, (*ENDS, "p_value"))


def test_the_effect_is_that_of_many_articles() -> None:
    rng = np.random.default_rng(0)
    for scenario in MEASURES["refusals"].scenarios:
        design = Design(scenario, 40_000, 12, 0.3)
        own = simulated.rates(rng, design, erring=True)
        neutral, biased = simulated.verdicts(rng, design, 1, flagged=(own.neutral, own.biased))
        assert biased.mean() - neutral.mean() == pytest.approx(0.3, abs=0.02)
    for scenario in MEASURES["prompt_effect"].scenarios:
        of = simulated.words(rng, Design(scenario, 40_000, 12, -0.15), 1)
        room = 0.05 if scenario == "selective" else 0.02  # who is refused is not who is moved least
        assert np.nanmean(of.biased - of.neutral) == pytest.approx(-0.15, abs=room)
        none = simulated.words(rng, Design(scenario, 40_000, 12, 0.0), 1)
        assert np.nanmean(none.biased - none.neutral) == pytest.approx(0.0, abs=0.01)
