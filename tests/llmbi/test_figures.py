"""The figures of the LLMBI study: what is drawn equals the table."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from nbbias import llmbi
from nbbias.text import sentiment
from tests.reading.test_figures import estimates, filled, labels, markers, rendered

pytestmark = pytest.mark.usefixtures("style")

MODELS = [f"model {i}" for i in range(5)]


def of_models(table: pd.DataFrame, count: int) -> pd.DataFrame:
    return pd.concat([table.assign(model=m) for m in MODELS[:count]], ignore_index=True)


@pytest.mark.parametrize("count", [1, 5])
def test_the_figure_of_dimensions_draws_every_estimate_and_every_prompt(count: int) -> None:
    prompts = estimates(statistic="prompt_mean", estimate=[0.1, 0.2, 0.3])
    table = of_models(pd.concat([estimates(), prompts]), count)
    figure = llmbi.figures.dimensions(table).figure
    assert len(filled(figure)) == count
    for ax in filled(figure):
        assert markers(ax) == [(0.5, 2), (-0.2, 1), (0.9, 0), (0.1, 2), (0.2, 1), (0.3, 0)]
    assert rendered(figure)


def test_the_figure_of_components_draws_the_three_terms() -> None:
    table = pd.DataFrame(
        {
            "model": "m",
            "dimension": ["a", "b"],
            "penalty": [0.2, 0.2],
            "weighted_bias": [0.1, 0.3],
            "sentiment_term": [0.15, 0.45],
        }
    )
    (ax,) = llmbi.figures.components(table).figure.axes
    widths = np.array([bar.get_width() for bar in ax.patches]).reshape(3, 2)
    np.testing.assert_allclose(widths.T, table[["penalty", "weighted_bias", "sentiment_term"]])


def test_the_figure_of_agreement_names_both_instruments() -> None:
    table = pd.DataFrame({"polarity_textblob": [0.1], "polarity_vader": [0.3], "model": ["m"]})
    (ax,) = llmbi.figures.agreement(table, first="textblob", second="vader").figure.axes
    assert sentiment.instrument("textblob") in ax.get_xlabel()
    assert sentiment.instrument("vader") in ax.get_ylabel()


def test_the_figure_of_swaps_draws_every_factor_between_0_and_1() -> None:
    table = pd.DataFrame(
        {"model": "m", "factor": ["a", "b"], "swapped": [0.0, 0.5], "swapped_worst": [0.0, 1.0]}
    ).assign(no_difference=[np.nan, 0.25])
    (ax,) = llmbi.figures.ranking_swaps(table).figure.axes
    assert labels(ax) == ["a", "b"]
    low, high = ax.get_xlim()
    assert low < 0
    assert high > 1


def test_the_figure_of_printed_scores_draws_every_prompt_of_five_models() -> None:
    own = {"prompt": ["p", "q"], "ours": [1.0, 2.0], "printed": [1.0, np.nan]}
    table = of_models(pd.DataFrame(own | {"printed_model": "gpt-4"}), 5)
    figure = llmbi.figures.printed(table).figure
    for ax in filled(figure):
        printed, ours = (line for line in ax.lines if line.get_marker() == "o")
        assert ours.get_xydata().tolist() == [[1.0, 1], [2.0, 0]]
        np.testing.assert_array_equal(printed.get_xydata(), [[1.0, 1], [np.nan, 0]])


@pytest.mark.parametrize(
    ("model", "title", "whose"),
    [
        ("GPT-4", "2 of 3 scores equal the printed ones to four decimals", "the same answers"),
        ("another", "2 of our 3 scores are above the printed ones", "other answers"),
    ],
)
def test_scores_of_the_printed_answers_are_the_same_scores(
    model: str, title: str, whose: str
) -> None:
    table = pd.DataFrame(
        {
            "model": model,
            "prompt": ["a", "b", "c"],
            "ours": [0.5001, 0.4, 0.9],
            "printed": [0.50006, 0.4, 0.5],
            "printed_model": "GPT-4",
        }
    )
    drawn = llmbi.figures.printed(table)
    assert drawn.title == title and whose in drawn.caption
