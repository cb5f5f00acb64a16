"""How firm the ranking is: settings scored again, weights and prompts drawn another way."""

from itertools import combinations, product
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.stats

from nbbias.llmbi import estimates, scoring
from nbbias.stats import InferenceSettings
from tests.llmbi.test_estimates import FORMULA, THREE, one_model

VADER = FORMULA | {"sentiment_scorer": "vader"}
MEASURED = THREE.assign(polarity_vader=[0.8, 0.1, 0.2, -0.2, 0.5, 0.6])


def swaps_of(measured: pd.DataFrame, *, draws: int = 50, **formula: Any) -> pd.DataFrame:
    chosen = VADER | formula
    inference = InferenceSettings(0.95, draws, 1)
    table = estimates.ranking_swaps(measured, formula=chosen, inference=inference)
    return table.set_index("factor")


def by_dimension(**formula: Any) -> np.ndarray:
    scores = scoring.score_answers(MEASURED, **VADER | formula)
    return scores.groupby("dimension")["score"].mean().to_numpy()


def walked(settings: list[np.ndarray]) -> float:
    """The share of pairs that change order, by a walk over pairs."""
    was = by_dimension()
    pairs = list(combinations(range(len(was)), 2))
    turned = [(was[i] - was[j]) * (now[i] - now[j]) < 0 for now in settings for i, j in pairs]
    return float(np.mean(turned))


def test_drawn_prompts_are_all_choices_of_one_a_dimension() -> None:
    scores = scoring.score_answers(MEASURED, **VADER)
    values = [own["score"].to_numpy() for _, own in scores.groupby("dimension")]
    expected = walked([np.array(choice) for choice in product(*values)])
    row = swaps_of(MEASURED, draws=4000).loc["prompts"]
    assert row["swapped"] == pytest.approx(expected, abs=0.02)
    assert row["no_difference"] == pytest.approx(0.25)


def test_drawn_weights_halve_or_double_the_bias_term_at_most() -> None:
    rng = np.random.default_rng(9)
    drawn = 2 ** pd.DataFrame(rng.uniform(-1, 1, (100, 3)), columns=["d0", "d1", "d2"])
    expected = walked([by_dimension(weights=weights) for weights in drawn.to_dict("records")])
    found = swaps_of(MEASURED, draws=4000).loc["weights w", "swapped"]
    assert found == pytest.approx(expected, abs=0.05)


@pytest.mark.parametrize("apart", [0.0, 2.0])
def test_pairs_that_differ_are_tukeys(apart: float) -> None:
    values = np.random.default_rng(3).normal(size=(4, 3)) + apart * np.arange(4)[:, None]
    table = pd.Series(values.ravel(), index=pd.Index(np.repeat([*"abcd"], 3), name="dimension"))
    p = scipy.stats.tukey_hsd(*values).pvalue
    expected = (p[np.triu_indices(4, k=1)] < 0.05).sum()
    assert estimates.count_different_pairs(table, confidence=0.95) == expected
    assert expected == 0 or apart


def test_without_a_variance_no_pair_is_tested() -> None:
    table = pd.Series([1.0, 2.0, 3.0], index=pd.Index([*"abc"], name="dimension"))
    assert np.isnan(estimates.count_different_pairs(table, confidence=0.95))
    assert np.isnan(estimates.count_different_pairs(table[[*"aabb"]], confidence=0.95))


def test_a_dimension_of_blank_answers_is_not_ranked() -> None:
    table = swaps_of(one_model([0.1, 0.3], [-0.4, 0.2], [np.nan, np.nan]))
    assert set(table["pairs"]) == {1}


def test_rounding_neither_orders_a_tie_nor_swaps_it() -> None:
    # Mean sizes .20, .30, .30 and .15: five pairs have an order, the two of .30 are tied.
    measured = one_model([0.3, -0.1], [-0.2, 0.4], [-0.3, -0.3], [0.2, 0.1])
    swaps = swaps_of(measured, draws=2, diversity_penalty=0.1, lambda_factor=0.7)
    assert set(swaps["pairs"]) == {5}
    reference = np.array([0.2, 0.3, 0.1 + 0.2, 0.15])
    turned = estimates.find_rank_reversals(reference[None] * 3 / 3, reference=reference)
    assert turned.shape == (1, 5) and not turned.any()


@pytest.mark.parametrize("dimensions", [[[0.1, 0.4]], [[0.3, 0.3], [0.3, 0.3]]])
def test_one_dimension_or_a_tie_has_no_pair_and_no_share(dimensions: list[list[float]]) -> None:
    swaps = swaps_of(one_model(*dimensions))
    assert set(swaps["pairs"]) == {0} and swaps["swapped"].isna().all()
