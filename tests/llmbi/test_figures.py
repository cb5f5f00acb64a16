"""The figures of the LLMBI study: what is drawn equals the table."""

import pandas as pd
import pytest

from nbbias import llmbi, tables
from tests.reading.test_figures import estimates, filled, markers

pytestmark = pytest.mark.usefixtures("style")

MODELS = [f"model {i}" for i in range(5)]


def of_models(table: pd.DataFrame, count: int) -> pd.DataFrame:
    return pd.concat([table.assign(model=m) for m in MODELS[:count]], ignore_index=True)


@pytest.mark.parametrize("count", [1, 5])
def test_the_figure_of_dimensions_draws_every_estimate_and_every_prompt(count: int) -> None:
    table = of_models(estimates(p_value=0.5), count).assign(instrument="VADER")
    units = table.assign(value=[0.1, 0.2, 0.3] * count)
    figure = llmbi.page.plot_dimensions(table, units=units).figure
    assert len(filled(figure)) == count
    for ax in filled(figure):  # minus reference prose
        lines = [tuple(line.get_xdata()) for line in ax.lines]
        ends = table[["ci_low", "ci_high"]].sub(table["null"], axis=0)[:3].dropna()
        assert len(ends) and all(pytest.approx(row) in lines for row in ends.to_numpy())
        for marker, values in (("o", [0.5, -0.2, 0.9]), ("x", [0.1, 0.2, 0.3])):
            drawn = markers(ax, marker)
            expected = [value - null for value, null in zip(values, table["null"][:3], strict=True)]
            assert [x for x, _ in drawn] == pytest.approx(expected)
            assert [y for _, y in drawn] == [2, 1, 0]
    assert tables.svg(figure)


SCORES = {"score": [1.0, 0.3, 0.5], "neutral": 0.4, "neutral_low": 0.2, "neutral_high": 0.6}


def test_answers_are_drawn_beside_the_range_of_reference_prose() -> None:
    row = {"model": "m", "statistic": "index", "estimate": 0.6, "null": 0.4, "n": 9}
    row |= {"ci_low": 0.5, "ci_high": 0.7, "p_adjusted": 0.01}
    rows = tables.estimates([row], study="llmbi", instrument="VADER", confidence=0.95)
    drawn = llmbi.page.plot_indices(rows, pd.DataFrame(SCORES | {"model": "m"}))
    assert "(1 of 3 answers above the range of 95% of reference passages)" in drawn.title
    (ax,) = filled(drawn.figure)
    assert [x for x, y in markers(ax, "o") if y < 0] == pytest.approx([0.6, -0.1, 0.1])
