"""Every measure of every study gives trials, in each of its worlds."""

from __future__ import annotations

import pytest

from nbbias.calibration import measures
from nbbias.calibration.trials import Design, outcomes
from nbbias.stats import InferenceSettings


@pytest.mark.parametrize("name", measures.measures())
def test_two_repeats_of_every_design_give_trials(name: str) -> None:
    measure = measures.measures()[name]
    assert measure.held_out <= set(measure.worlds) and 0.0 in measure.planted
    for world in set(measure.worlds) - {"halves"}:  # which needs data
        design = Design(world, min(measure.n), 12, 0.0)
        trials = measure.trial(design, 2, InferenceSettings(n_permutations=20))
        table = outcomes(trials, confidence=0.95)
        assert len(table) and (table["repeats"] == 2).any()
        assert trials["truth"].notna().all() and trials["estimate"].notna().any()
