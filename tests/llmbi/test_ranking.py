"""How firm the ranking is: prompts drawn another way."""

from itertools import combinations, product
from typing import Any

import numpy as np
import pandas as pd
import pytest

from nbbias.llmbi import estimates, scoring
from nbbias.stats import InferenceSettings
from tests.llmbi.test_estimates import FORMULA, THREE, one_model

VADER = FORMULA | {"sentiment_scorer": "vader"}
MEASURED = THREE.assign(polarity_vader=[0.8, 0.1, 0.2, -0.2, 0.5, 0.6])


def swaps_of(measured: pd.DataFrame, *, draws: int = 50, **formula: Any) -> pd.Series:
    scores = scoring.score_answers(measured, **VADER | formula)
    table = estimates.ranking_swaps(scores, inference=InferenceSettings(0.95, draws, 1))
    return table.iloc[0]


def test_drawn_prompts_are_all_choices_of_one_a_dimension() -> None:
    scores = scoring.score_answers(MEASURED, **VADER)
    values = [own["score"].to_numpy() for _, own in scores.groupby("dimension")]
    was = [own.mean() for own in values]
    pairs = list(combinations(range(len(was)), 2))
    turned = [
        (was[i] - was[j]) * (now[i] - now[j]) < 0 for now in product(*values) for i, j in pairs
    ]
    row = swaps_of(MEASURED, draws=4000)
    assert row["swapped"] == pytest.approx(np.mean(turned), abs=0.02)
    assert row["no_difference"] == pytest.approx(0.25)


def test_a_dimension_of_blank_answers_is_not_ranked() -> None:
    assert swaps_of(one_model([0.1, 0.3], [-0.4, 0.2], [np.nan, np.nan]))["pairs"] == 1


def test_rounding_does_not_order_a_tie() -> None:
    # Mean sizes .20, .30, .30 and .15: five pairs have an order, the two of .30 are tied.
    measured = one_model([0.3, -0.1], [-0.2, 0.4], [-0.3, -0.3], [0.2, 0.1])
    assert swaps_of(measured, diversity_penalty=0.1, lambda_factor=0.7)["pairs"] == 5


@pytest.mark.parametrize("dimensions", [[[0.1, 0.4]], [[0.3, 0.3], [0.3, 0.3]], [[np.nan]]])
def test_one_dimension_or_a_tie_has_no_pair_and_no_share(dimensions: list[list[float]]) -> None:
    swaps = swaps_of(one_model(*dimensions))
    assert swaps["pairs"] == 0 and np.isnan(swaps["swapped"])
