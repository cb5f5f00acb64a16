"""The news figures by structure: points, spans and bands are the rows of the table."""

import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from nbbias import tables
from nbbias.news import figures, tables as news_tables
from nbbias.reading import figures as reading_figures
from tests.news.test_words import FOUND, estimated, scored
from tests.reading.test_figures import labels, markers, rendered

pytestmark = pytest.mark.usefixtures("style")


def biases(**groups: int) -> pd.DataFrame:
    """Estimates of several biases, each with its number of groups, for the models x and y."""
    return pd.concat([FOUND[n].assign(bias=bias) for bias, n in groups.items()], ignore_index=True)


TABLE = biases(gender=2, race=3)
COMMON = "share_difference"


def differences(table: pd.DataFrame) -> Figure:
    return figures.differences(table, "word").figure


def panels(figure: Figure) -> dict[str, Axes]:
    """The panels by their titles, which may be broken into lines."""
    return {ax.get_title(loc="left").replace("\n", " "): ax for ax in figure.axes if ax.axison}


def of(table: pd.DataFrame, statistic: str, bias: str, group: str | None = None) -> pd.DataFrame:
    own = table[(table["statistic"] == statistic) & (table["bias"] == bias)]
    return own if group is None else own[own["group"] == group]


def spans(ax: Axes) -> list[tuple[float, ...]]:
    lines = [line for line in ax.lines if line.get_color() == reading_figures.INK]
    return [tuple(map(float, s)) for line in lines if len(s := line.get_xdata()) == 2]


def bands(ax: Axes) -> list[tuple[float, float]]:
    boxes = [band.get_paths()[0].get_extents() for band in ax.collections]
    return [(float(box.x0), float(box.x1)) for box in boxes]


def names(ax: Axes) -> list[str]:
    """The names of the rows from the top, shown beside the panel or beside its neighbour."""
    return list(ax.yaxis.get_major_formatter().format_ticks(ax.get_yticks()))


def on_rows(ax: Axes) -> list[tuple[float, float]]:
    """The markers on the rows; those below them are of texts of equal length."""
    return [(x, y) for x, y in markers(ax) if y % 1 == 0]


def assert_draws(ax: Axes, rows: pd.DataFrame) -> None:
    """Points and spans, without bands, are the rows', the first on top."""
    assert len(rows) > 0
    at = range(len(rows) - 1, -1, -1)
    assert on_rows(ax) == list(zip(rows["estimate"], at, strict=True))
    assert spans(ax) == list(zip(rows["ci_low"], rows["ci_high"], strict=True))
    assert bands(ax) == []
    assert names(ax) == rows["model"].tolist()


# --- signed differences -----------------------------------------------------------------------


def test_differences_of_three_groups_are_three_panels_of_their_rows() -> None:
    found = panels(differences(TABLE))
    for group in "abc":
        rows, _ = reading_figures.scaled(of(TABLE, COMMON, "race", group))
        ax = found["race: a" if group == "a" else group]  # both biases have a group of this name
        assert_draws(ax, rows)
        further, _ = reading_figures.scaled(of(TABLE, f"{COMMON}_passages", "race", group))
        assert [x for x, y in markers(ax) if y % 1] == further["estimate"].tolist()


def test_a_difference_that_was_not_measured_is_written_not_drawn() -> None:
    table = estimated(scored([[0, 0], [2, 1], [1, 3]], [[1, 1]] * 3, model=list("xyy")), 2)
    (ax,) = panels(differences(table)).values()
    (row,) = of(table, COMMON, "b", "a").query("model == 'y'").to_dict("records")
    assert on_rows(ax) == [(100 * row["estimate"], 0)]
    assert [note.get_text() for note in ax.texts] == ["not measured"]
    assert labels(ax) == ["x", "y"]


# --- many -------------------------------------------------------------------------------------


def test_many_biases_are_drawn_panel_by_panel() -> None:
    # A panel for either bias of two groups, three and five for the others.
    figure = differences(biases(gender=2, race=3, religion=5, age=2, nation=5))
    assert [len(on_rows(ax)) for ax in figure.axes if ax.axison] == [2] * 15
    assert rendered(figure)


# --- the published values -------------------------------------------------------------------


def ours(measure: str, instrument: str = "an instrument") -> pd.DataFrame:
    row = {"source": "s", "prompt": "p", "measure": measure, "instrument": instrument, "n": 9}
    rows = [
        row | {"model": model, "bias": bias, "statistic": statistic, "group": group, "estimate": d}
        for model, d in (("x", 0.2), ("y", 0.3))
        for bias, groups in {"race": ["White", "Black"], "gender": ["female", "male"]}.items()
        for statistic in ("bias", "prejudice_share", "share_difference")
        for group in ([None] if statistic == "bias" else groups)
    ]
    return tables.estimates(rows, study="news_bias", confidence=0.95)


def test_ours_are_compared_with_the_published_values_of_the_same_statistic_and_group() -> None:
    focus = {"gender": "female", "race": "Black"}
    table = news_tables.published(ours("word"), focus=focus)
    paper = tables.read_published("fang2024")
    paper = paper[(paper["prompt"] == "neutral") & (paper["measure"] == "word")]
    for row in table.to_dict("records"):
        same = paper[(paper["bias"] == row["bias"]) & (paper["statistic"] == row["statistic"])]
        same = same[same["group"].fillna("") == row["group"]]["value"]
        assert (row["ours, min"], row["ours, max"]) == (0.2, 0.3)
        assert (row["published, min"], row["published, max"]) == (same.min(), same.max())
    shown = set(zip(table["bias"], table["statistic"], table["group"], strict=True))
    assert {("gender", "bias", ""), ("gender", "prejudice_share", "female")} <= shown
    assert {("race", "share_difference", group) for group in ("White", "Black")} <= shown
    assert ("gender", "prejudice_share", "male") not in shown


def test_a_fallback_of_toxicity_is_not_compared_with_published_values() -> None:
    focus = {"gender": "female", "race": "Black"}
    fallback = ours("toxicity", "profanity (fallback, not Detoxify)")
    assert news_tables.published(fallback, focus=focus).empty
    assert len(news_tables.published(ours("toxicity", "Detoxify 0.5.4 original"), focus=focus))
