"""Figures by structure: what is drawn equals the table, and nothing unmeasured is drawn at 0."""

import itertools
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Annotation

from nbbias import tables
from nbbias.reading import figures

pytestmark = pytest.mark.usefixtures("style")


@pytest.fixture
def ax() -> Axes:
    return plt.subplots()[1]


def markers(ax: Axes, marker: str = "o") -> list[tuple[float, float]]:
    """The points of all lines drawn as circles, or by another marker."""
    return [
        (float(x), float(y))
        for line in ax.lines
        if line.get_marker() == marker
        for x, y in zip(line.get_xdata(), line.get_ydata(), strict=True)
    ]


def dots(ax: Axes, marker: str = "o") -> list[float]:
    """How far to the right these stand."""
    return [x for x, _ in markers(ax, marker)]


def labels(ax: Axes) -> list[str]:
    """The names of the rows, from the top."""
    return [text.get_text() for text in ax.get_yticklabels()]


def filled(figure: Figure) -> list[Axes]:
    """The panels that hold something."""
    return [ax for ax in figure.axes if ax.axison]


def estimates(**columns: Any) -> pd.DataFrame:
    table = {"statistic": "dimension_mean", "model": "m", "dimension": ["a", "b", "c"]}
    table |= {"estimate": [0.5, -0.2, 0.9], "ci_low": [0.4, -0.4, 0.6], "ci_high": [0.6, 0.0, 1.2]}
    table |= {"null": 0.3, "null_low": 0.1, "null_high": 0.5, "confidence": 0.95}
    return pd.DataFrame(table | {"p_adjusted": np.nan} | columns)


# --- intervals --------------------------------------------------------------------------------


def test_estimates_intervals_and_ranges_stand_at_their_values_the_first_on_top(ax: Axes) -> None:
    gap = {"estimate": [0.5, np.nan, 0.9], "ci_low": [0.4, np.nan, 0.6]}
    figures.intervals(estimates(**gap, cell=["a", "b", "c"]), ax, words={}, hue=None)
    assert markers(ax) == [(0.5, 2), (0.9, 0)]
    assert (labels(ax), ax.get_yticks().tolist()) == (["a", "b", "c"], [2, 1, 0])
    spans = [tuple(line.get_xdata()) for line in ax.lines if line.get_color() == figures.INK]
    assert [s for s in spans if len(s) == 2] == [(0.4, 0.6), (0.6, 1.2)]
    boxes = [band.get_paths()[0].get_extents() for band in ax.collections]
    assert [(box.x0, box.x1) for box in boxes] == [(0.1, 0.5)] * 3
    notes = [text for text in ax.texts if isinstance(text, Annotation)]
    assert [(text.get_text(), text.xy[1]) for text in notes] == [("not measured", 1)]


# --- panels -----------------------------------------------------------------------------------


def test_every_value_gets_a_panel_with_its_own_rows_and_shows_the_shared_scale() -> None:
    count = 5
    table = pd.DataFrame({"model": [f"m{i}" for i in range(count)] * 2, "x": range(2 * count)})
    seen = []

    def draw(rows: pd.DataFrame, ax: Axes) -> None:
        seen.append(rows["x"].tolist())
        ax.plot(rows["x"], rows["x"], "o", label="point")

    figure = figures.panels(table, draw, by="model")
    assert [ax.get_title(loc="left") for ax in filled(figure)] == [f"m{i}" for i in range(count)]
    assert seen == [[i, i + count] for i in range(count)]
    assert len({ax.get_xlim() for ax in filled(figure)}) == 1
    assert all(ax.xaxis.get_tick_params()["labelbottom"] for ax in filled(figure))
    assert keys(figure) == ["point"]
    figure.draw_without_rendering()
    assert figure.legends[0].get_window_extent().y0 > figure.axes[0].get_window_extent().y1


HOSTILE = r"cost $\frac{ of $5 \$"


# --- claims -----------------------------------------------------------------------------------

CLAIMS = pd.DataFrame({"panel": list("aab"), "cell": list("mnm"), "estimate": [0.1, np.nan, 0.3]})
CLAIMS = CLAIMS.assign(ci_low=[0.0, np.nan, np.nan], ci_high=[0.2, np.nan, np.nan])
CLAIMS = CLAIMS.assign(
    null=[0.0, np.nan, 0.1], null_low=[-0.1, np.nan, np.nan], null_high=[0.1, np.nan, np.nan]
)


def keys(figure: Figure) -> list[str]:
    """The names of marks above the panels."""
    return [text.get_text() for legend in figure.legends for text in legend.get_texts()]


def test_claims_are_drawn_in_panels_and_the_band_is_named_where_it_is() -> None:
    empty = figures.claims(CLAIMS.head(0))
    assert "nothing was measured" in [text.get_text() for text in empty.axes[0].texts]
    figure = figures.claims(CLAIMS, "share")
    one, other = filled(figure)
    assert (labels(one), markers(one)) == (["m", "n"], [(0.1, 1)])
    assert (labels(other), markers(other)) == (["m"], [(0.3, 0)])
    assert {ax.get_xlabel() for ax in figure.axes} == {"share"}
    assert one.get_xlim() == other.get_xlim()
    assert keys(figure) == ["expected under the null"]
    assert keys(figures.claims(CLAIMS.iloc[2:])) == []


def test_a_null_value_without_a_range_is_a_tick_where_it_has_a_name() -> None:
    def ticks(figure: Figure) -> list[float]:
        lines = [line for ax in figure.axes for line in ax.lines if line.get_marker() == "|"]
        return [float(line.get_xdata()[0]) for line in lines if np.isfinite(line.get_xdata()[0])]

    named = figures.claims(CLAIMS, words={"tick": "false alarms"})
    assert ticks(named) == [0.1]
    assert keys(named) == ["expected under the null", "false alarms"]
    assert ticks(figures.claims(CLAIMS)) == []


def test_printed_values_share_the_row_of_their_name() -> None:
    extra = CLAIMS.iloc[[0, 0]].assign(ci_low=np.nan, null_low=np.nan)
    extra = extra.assign(side="printed", estimate=[0.1, 0.7], cell="2 printed")
    figure = figures.claims(pd.concat([CLAIMS.assign(side="ours"), extra], ignore_index=True))
    one, other = filled(figure)
    assert (labels(one), labels(other)) == (["m", "n", "2 printed"], ["m"])
    assert markers(one) == [(0.1, 2)]
    assert markers(one, "x") == [(0.1, 0), (0.7, 0)]
    missing = CLAIMS.iloc[[1]].assign(side="printed")
    assert [text.get_text() for text in figures.claims(missing).axes[0].texts] == ["not printed"]


@pytest.mark.parametrize("p", [[0.5, 0.01], [np.nan, 0.01], [np.nan, np.nan]])
def test_a_marker_is_hollow_if_not_significant_and_a_square_if_not_tested(p: list) -> None:
    rows = CLAIMS.iloc[[0, 0]].assign(cell=["a", "b"], p_adjusted=p, p_value=p, confidence=0.95)
    lines = figures.claims(rows).axes[0].lines
    marks = [(line.get_marker(), line.get_markerfacecolor()) for line in lines]
    tested = bool(np.isfinite(p).any())
    untested = ("s", figures.MUTED) if tested else ("o", figures.INK)
    first = untested if np.isnan(p[0]) else ("o", figures.PAPER)
    assert [mark for mark in marks if mark[0] in ("o", "s")] == [first, ("o", figures.INK)]
    assert ("Grey squares" in figures.caption(rows, "shares")) == (tested and np.isnan(p[0]))
    assert ("Filled: significant after correction." in figures.caption(rows, "shares")) == tested
    assert figures.caption(rows, "shares").endswith("Not tested.") != tested


def test_nothing_is_cut_and_no_name_lies_on_another() -> None:
    name = "a-model-of-a-maker/with-a-long-name-7b-instruct-v0.2"
    places = list(itertools.product(range(5), range(4)))
    rows = pd.concat([CLAIMS.iloc[[0]]] * len(places), ignore_index=True)
    rows["panel"] = [f"group {group}" for group, _ in places]
    rows["cell"] = [f"{name} {model}" for _, model in places]
    figure = figures.claims(rows, "share")
    figure.draw_without_rendering()
    assert figure.get_tightbbox().width <= figure.get_figwidth() * 1.02
    for ax in filled(figure):
        texts = ax.get_yticklabels() if ax.yaxis.get_tick_params()["labelleft"] else []
        boxes = sorted((text.get_window_extent() for text in texts), key=lambda box: box.y0)
        assert all(low.y1 <= high.y0 + 1.5 for low, high in itertools.pairwise(boxes))
        assert all(text.get_fontsize() >= 8.5 for text in texts)


def test_a_hostile_name_is_drawn_as_text() -> None:
    hostile = CLAIMS.assign(panel=HOSTILE, cell=[HOSTILE * 3, "<script>x</script>", "\x00"])
    figure = figures.claims(hostile, HOSTILE, words={"band": HOSTILE})
    assert b"<script" not in tables.svg(figure)


# --- words ------------------------------------------------------------------------------------


def test_a_caption_tells_the_level_and_the_range_of_n() -> None:
    rows = CLAIMS.assign(confidence=0.9, n=[1200, 5, 3])
    told = "Dots: shares; lines: 90% CIs; grey band: range under the null (permuted), "
    told += "white line: null value."
    text = figures.caption(rows, "shares", of="texts", band="permuted")
    assert text == f"{told} N = 3 to 1,200 texts. Not tested."
    bare = rows.assign(ci_low=np.nan, null_low=np.nan).drop(columns="n")
    assert figures.caption(bare, "shares", band="permuted") == "Dots: shares."


def test_a_reference_is_a_dashed_line_and_a_panel_may_hold_more() -> None:
    rows = CLAIMS.assign(reference=[0.5, 0.5, np.nan])
    figure = figures.claims(rows, words={"line": "best"}, draw=figures.zero)
    dashed = [line for ax in figure.axes for line in ax.lines if line.get_ls() == "--"]
    assert [(line.axes, line.get_xdata()[0]) for line in dashed] == [(figure.axes[0], 0.5)]
    assert all(any(line.get_ls() == ":" for line in ax.lines) for ax in figure.axes)
    assert keys(figure) == ["expected under the null", "best"]
    assert figures.claims(CLAIMS, draw=figures.unit).axes[0].get_xlim() == (-0.03, 1.03)
