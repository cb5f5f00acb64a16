"""How firm the ranking is: settings scored again by groupby, swaps counted by a walk over pairs."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import strategies as st

from nbbias.llmbi import ranking, scoring
from nbbias.stats import InferenceSettings

FORMULA: dict[str, Any] = {
    "bias_scorer": "textblob",
    "sentiment_scorer": "textblob",
    "diversity_penalty": 0.2,
    "lambda_factor": 1.5,
    "weights": {},
}
BOTH = ["textblob", "vader"]
DIMENSIONS = list("abc")


def measured_as(
    polarity: list[float], other: list[float] | None = None, *, model: str = "m"
) -> pd.DataFrame:
    """Two prompts each of as many dimensions as there are pairs of polarities."""
    names = [d for d in "abcdefgh" for _ in range(2)][: len(polarity)]
    return pd.DataFrame(
        {
            "model": model,
            "dimension": names,
            "sample": 1,
            "n": 5,
            "text": "text",
            "prompt": [f"p{i}" for i in range(len(polarity))],
            "polarity_textblob": polarity,
            "polarity_vader": polarity if other is None else other,
        }
    )


MEASURED = measured_as([0.1, 0.3, -0.4, 0.2, 0.0, 0.9], [0.8, 0.1, 0.2, -0.2, 0.5, 0.6])


def tried(measured: pd.DataFrame = MEASURED, *, draws: int = 50, **formula: Any) -> pd.DataFrame:
    return ranking.alternatives(
        measured,
        formula=FORMULA | formula,
        scorers=BOTH,
        inference=InferenceSettings(0.95, draws, 1),
    )


def of(table: pd.DataFrame, factor: str) -> pd.DataFrame:
    return table[table["factor"] == factor].reset_index(drop=True)


def means(scores: pd.DataFrame) -> list[float]:
    return scores.groupby("dimension")["score"].mean().tolist()


# --- alternatives -----------------------------------------------------------------------------


def test_the_reference_is_the_mean_score_of_each_dimension() -> None:
    (row,) = of(tried(), "reference")[DIMENSIONS].to_numpy().tolist()
    assert row == pytest.approx(means(scoring.score_answers(MEASURED, **FORMULA)))


@pytest.mark.parametrize(
    ("factor", "setting", "changed"),
    [
        ("weight λ of S", "λ = 5", {"lambda_factor": 5.0}),
        ("scorer", "B by vader, S by textblob", {"bias_scorer": "vader"}),
        (
            "scorer",
            "B by vader, S by vader",
            dict.fromkeys(("bias_scorer", "sentiment_scorer"), "vader"),
        ),
    ],
)
def test_a_setting_changes_one_factor_and_keeps_the_rest(
    factor: str, setting: str, changed: dict[str, Any]
) -> None:
    rows = of(tried(), factor).set_index("setting")
    expected = means(scoring.score_answers(MEASURED, **FORMULA | changed))
    assert rows.loc[setting, DIMENSIONS].tolist() == pytest.approx(expected)


def test_drawn_weights_halve_or_double_the_bias_term_at_most() -> None:
    rows = of(tried(draws=500), "weights w")
    bias = np.array([0.2, 0.3, 0.45])  # mean |polarity| by dimension
    weights = (rows[DIMENSIONS].to_numpy() - 0.2 - 1.5 * bias) / bias
    assert len(rows) == 500
    assert weights.min() >= 0.5 - 1e-9
    assert weights.max() <= 2 + 1e-9
    # Log weights are uniform on [-1, 1]: mean 0, deviation 1/sqrt(3), 1500 of them.
    assert np.log2(weights).mean() == pytest.approx(0, abs=3 / np.sqrt(3 * 1500))


def test_drawn_prompts_are_scores_of_the_dimensions_own_prompts() -> None:
    rows = of(tried(draws=200), "prompts")
    scores = scoring.score_answers(MEASURED, **FORMULA)
    for dimension, own in scores.groupby("dimension"):
        assert set(rows[dimension]) == set(own["score"])


def test_a_dimension_of_blank_answers_is_not_ranked() -> None:
    table = tried(measured_as([0.1, 0.3, -0.4, 0.2, np.nan, np.nan]))
    assert table["c"].isna().all()
    swaps = ranking.ranking_swaps(table, MEASURED)
    assert set(swaps["pairs"]) == {1}


# --- ranking_swaps ----------------------------------------------------------------------------

hundredths = st.lists(st.integers(-100, 100), min_size=6, max_size=10).filter(
    lambda values: len(values) % 2 == 0
)


def test_rounding_neither_orders_a_tie_nor_swaps_it() -> None:
    # Mean sizes .20, .30, .30 and .15: five pairs have an order, the two of .30 are tied.
    measured = measured_as([0.3, -0.1, -0.2, 0.4, -0.3, -0.3, 0.2, 0.1])
    swaps = ranking.ranking_swaps(
        tried(measured, draws=2, diversity_penalty=0.1, lambda_factor=0.7), measured
    ).set_index("factor")
    assert swaps.loc["weight λ of S", "pairs"] == 5
    assert swaps.loc["weight λ of S", "swapped_worst"] == 0


def test_swaps_are_those_of_a_walk_over_pairs() -> None:
    table = tried()
    reference = of(table, "reference").iloc[0]
    for row in ranking.ranking_swaps(table, MEASURED).itertuples():
        shares = [
            np.mean(
                [
                    (reference[i] - reference[j]) * (setting[i] - setting[j]) < 0
                    for i, j in combinations(DIMENSIONS, 2)
                ]
            )
            for setting in of(table, row.factor).to_dict("records")
        ]
        assert row.settings == len(shares)
        assert row.swapped == pytest.approx(np.mean(shares))
        assert row.swapped_worst == pytest.approx(max(shares))


def test_the_worst_setting_is_named() -> None:
    table = pd.DataFrame(
        [
            ["m", "reference", "as set", 1.0, 2.0],
            ["m", "f", "kind", 1.0, 3.0],
            ["m", "f", "cruel", 3.0, 1.0],
        ],
        columns=["model", "factor", "setting", "a", "b"],
    )
    (row,) = ranking.ranking_swaps(table, MEASURED).to_dict("records")
    assert np.isnan(row.pop("no_difference"))
    assert row == {
        "model": "m",
        "factor": "f",
        "settings": 2,
        "pairs": 1,
        "swapped": 0.5,
        "worst_setting": "cruel",
        "swapped_worst": 1.0,
    }


@pytest.mark.parametrize("polarities", [[0.1, 0.4], [0.3, 0.3, 0.3, 0.3]])
def test_one_dimension_or_a_tie_has_no_pair_and_no_share(polarities: list[float]) -> None:
    swaps = ranking.ranking_swaps(tried(measured_as(polarities)), measured_as(polarities))
    assert set(swaps["pairs"]) == {0}
    assert swaps[["swapped", "swapped_worst"]].isna().all(axis=None)
