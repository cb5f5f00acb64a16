"""Every measure of every study gives trials and claims; families are corrected run by run."""

import pandas as pd
import pytest

from nbbias.calibration import designs
from nbbias.calibration.trials import Design, family_errors, outcomes, repeat


@pytest.mark.parametrize("name", designs.measures())
def test_two_repeats_of_every_scenario_give_trials(name: str) -> None:
    measure = designs.measures()[name]
    assert measure.held_out <= set(measure.scenarios) and 0.0 in measure.effects
    for scenario in {next(iter(measure.scenarios)), *measure.held_out}:
        design = Design(scenario, min(measure.n), 12, 0.0)
        trials = repeat(measure.trial, design, 2, confidence=0.95)
        table = outcomes(trials, confidence=0.95)
        assert (table["repeats"] == 2).any()
        assert trials["truth"].notna().all() and trials["estimate"].notna().any()


FAMILIES = {name: one for name, one in designs.measures().items() if one.family}


@pytest.mark.parametrize("name", FAMILIES)
def test_claims_of_runs_are_false_without_an_effect_and_found_with_a_large_one(name: str) -> None:
    measure = FAMILIES[name]
    scenario, n = next(iter(measure.scenarios)), max(n for n in measure.n if n <= 80)
    none = repeat(measure.family, Design(scenario, n, 12, 0.0), 8, confidence=0.95)
    assert none["direction"].eq(0).all()
    errors = family_errors(none, effect=0.0, confidence=0.95).iloc[0]
    assert errors["false"] == errors["significant"] < 0.5 and errors["repeats"] == 8
    effect = 2 * max(measure.effects, key=abs)
    claims = repeat(measure.family, Design(scenario, 2 * n, 12, effect), 2, confidence=0.95)
    errors = family_errors(claims, effect=effect, confidence=0.95).iloc[0]
    assert claims["direction"].ne(0).any() and errors["significant"] == 1 and errors["false"] < 1


def test_a_claim_is_false_without_an_effect_or_with_one_in_the_other_direction() -> None:
    row = {"estimate": 0.5, "null": 0.0}
    rows = [
        row | {"run": 0, "p_value": 0.01, "direction": 1.0},
        row | {"run": 1, "p_value": 0.01, "direction": -1.0},
        row | {"run": 2, "p_value": 0.02, "direction": 0.0},
        # Three tests of a run: each is corrected, and none is significant.
        *[row | {"run": 3, "p_value": 0.02, "direction": 0.0}] * 3,
    ]
    errors = family_errors(pd.DataFrame(rows), effect=0.5, confidence=0.95).iloc[0]
    assert (errors["significant"], errors["false"], errors["repeats"]) == (0.75, 0.5, 4)
