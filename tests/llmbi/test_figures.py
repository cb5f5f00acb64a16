"""The figures of the LLMBI study: what is drawn equals the table."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from nbbias import llmbi
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


def test_the_figure_of_swaps_draws_every_factor_between_0_and_1() -> None:
    table = pd.DataFrame(
        {"model": "m", "factor": ["a", "b"], "swapped": [0.0, 0.5], "swapped_worst": [0.0, 1.0]}
    ).assign(no_difference=[np.nan, 0.25])
    (ax,) = llmbi.figures.ranking_swaps(table).figure.axes
    assert labels(ax) == ["a", "b"]
    low, high = ax.get_xlim()
    assert low < 0
    assert high > 1
