"""The news figures by structure: points, spans and bands are the rows of the table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from nbbias import tables
from nbbias.news import claims, figures, tables as news_tables
from nbbias.reading import figures as reading_figures
from tests.news.test_words import FOUND, estimated, scored
from tests.reading.test_figures import labels, markers, rendered

pytestmark = pytest.mark.usefixtures("style")


def biases(**groups: int) -> pd.DataFrame:
    """Estimates of several biases, each with its number of groups, for the models x and y."""
    return pd.concat([FOUND[n].assign(bias=bias) for bias, n in groups.items()], ignore_index=True)


def chance_of(table: pd.DataFrame) -> pd.DataFrame:
    """Chance by words as it stands there, and by sentences, where the range is wider."""
    known = table[table["null_low"].notna()]
    wider = known.assign(null_high=known["null_high"] + 0.1)
    both = [(known, "words"), (wider, "sentences")]
    return pd.concat([claims.reference(own, name) for own, name in both], ignore_index=True)


def by_sentence(table: pd.DataFrame) -> pd.DataFrame:
    """The table with what leads in `chance_of`."""
    return tables.with_chance(table, chance_of(table), lead=["sentences"])


TABLE = biases(gender=2, race=3)


def differences(table: pd.DataFrame, *, statistic: str = "share_difference") -> Figure:
    return figures.share_differences(table, statistic=statistic).figure


def distances(table: pd.DataFrame) -> Figure:
    return figures.distances(table, chance_of(table)).figure


def prejudice(table: pd.DataFrame, *, focus: Mapping[str, str] = MappingProxyType({})) -> Figure:
    return figures.prejudice(table, chance_of(table), focus=focus).figure


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


def assert_draws(ax: Axes, rows: pd.DataFrame, *, band: bool) -> None:
    """Points, spans and bands are the rows', the first on top."""
    assert len(rows) > 0
    at = range(len(rows) - 1, -1, -1)
    assert markers(ax) == list(zip(rows["estimate"], at, strict=True))
    assert spans(ax) == list(zip(rows["ci_low"], rows["ci_high"], strict=True))
    drawn = list(zip(rows["null_low"], rows["null_high"], strict=True)) if band else []
    assert bands(ax) == [pytest.approx(pair) for pair in drawn]
    assert names(ax) == rows["model"].tolist()


# --- signed differences -----------------------------------------------------------------------


def test_differences_of_three_groups_are_three_panels_of_their_rows() -> None:
    found = panels(differences(TABLE))
    for group in "abc":
        rows = of(TABLE, "share_difference", "race", group)
        # Both biases have a group of this name.
        assert_draws(found["race: a" if group == "a" else group], rows, band=False)


def test_a_bias_of_two_groups_is_one_panel_since_the_other_is_its_mirror() -> None:
    found = panels(differences(TABLE))
    assert [title for title in found if title.startswith("gender")] == ["gender: a"]
    rows = of(TABLE, "share_difference", "gender", "a")
    assert_draws(found["gender: a"], rows, band=False)


def test_differences_on_common_articles_are_drawn_when_asked_for() -> None:
    name = "share_difference_common"
    found = panels(differences(TABLE, statistic=name))
    assert_draws(found["b"], of(TABLE, name, "race", "b"), band=False)


def test_a_difference_that_was_not_measured_is_written_not_drawn() -> None:
    table = estimated(scored([[0, 0], [2, 1], [1, 3]], [[1, 1]] * 3, model=list("xyy")), 2)
    (ax,) = panels(differences(table)).values()
    (row,) = of(table, "share_difference", "b", "a").query("model == 'y'").to_dict("records")
    assert markers(ax) == [(row["estimate"], 0)]
    assert [note.get_text() for note in ax.texts] == ["not measured"]
    assert labels(ax) == ["x", "y"]


# --- distances --------------------------------------------------------------------------------


def test_distances_stand_beside_the_leading_reference_one_panel_a_bias() -> None:
    chance = chance_of(TABLE)
    found = panels(figures.distances(TABLE, chance).figure)
    assert list(found) == ["gender", "race"]
    for bias in ("gender", "race"):
        assert_draws(found[bias], of(by_sentence(TABLE), "bias", bias), band=True)
    of_words = chance.query("reference == 'words'")
    found = panels(figures.distances(TABLE, of_words).figure)
    for bias in ("gender", "race"):
        assert_draws(found[bias], of(TABLE, "bias", bias), band=True)


def test_replicates_lead_and_are_named_at_their_range() -> None:
    chance = chance_of(TABLE)
    named = chance.query("reference == 'words'").assign(
        reference="replicate", null_high=0.9, test="one model asked twice, 12 articles"
    )
    drawn = figures.distances(TABLE, pd.concat([chance, named], ignore_index=True))
    assert (drawn.rows["null_high"] == 0.9).all()
    (legend,) = drawn.figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["one model asked twice"]
    assert "one model asked twice" in drawn.caption
    assert "one model asked twice" in drawn.alt


def test_rows_are_named_by_what_tells_them_apart() -> None:
    columns = {"model": ["x", "x", "y", "y"], "prompt": ["p", "q", "p", "q"]}
    table = estimated(scored([[2, 1]] * 4, [[1, 1]] * 4, **columns), 2)
    ax = panels(distances(table))["b"]
    assert labels(ax) == ["x · p", "x · q", "y · p", "y · q"]
    one = estimated(scored([[2, 1]] * 4, [[1, 1]] * 4), 2)
    ax = panels(distances(one))["b"]
    assert labels(ax) == ["m"]


# --- prejudice --------------------------------------------------------------------------------


def test_prejudice_draws_share_and_extent_of_the_focus_beside_chance() -> None:
    found = panels(prejudice(TABLE, focus={"gender": "b", "race": "c"}))
    assert len(found) == 4
    for bias, group in (("gender", "b"), ("race", "c")):
        for kind in ("share", "extent"):
            (title,) = (one for one in found if one.endswith(f"{group}: {kind}"))
            rows = of(by_sentence(TABLE), f"prejudice_{kind}", bias, group)
            assert_draws(found[title], rows, band=True)


def test_without_a_focus_the_first_group_is_drawn() -> None:
    (share, extent) = prejudice(biases(race=5), focus={}).axes
    table = by_sentence(biases(race=5))
    assert_draws(share, of(table, "prejudice_share", "race", "a"), band=True)
    assert_draws(extent, of(table, "prejudice_extent", "race", "a"), band=True)


def test_a_focus_that_a_list_of_ones_own_does_not_have_gives_way_to_the_first_group() -> None:
    # The default focus names female; an own list may name its groups otherwise.
    share, extent = prejudice(biases(gender=2), focus={"gender": "female"}).axes
    table = by_sentence(TABLE)
    assert_draws(share, of(table, "prejudice_share", "gender", "a"), band=True)
    assert_draws(extent, of(table, "prejudice_extent", "gender", "a"), band=True)


def test_two_biases_with_a_group_of_one_name_are_drawn_apart() -> None:
    figure = prejudice(TABLE, focus={"gender": "a", "race": "a"})
    drawn = [ax for ax in figure.axes if ax.axison]
    assert [len(markers(ax)) for ax in drawn] == [2, 2, 2, 2]


# --- many, and none ---------------------------------------------------------------------------

MANY = biases(gender=2, race=3, religion=5, age=2, nation=5)


DRAW: dict[str, Callable[[pd.DataFrame], Figure]] = {
    "differences": differences,
    "distances": distances,
    "prejudice": prejudice,
}


@pytest.mark.parametrize(("name", "panels"), [("differences", 15), ("distances", 5)])
def test_five_biases_are_drawn_panel_by_panel(name: str, panels: int) -> None:
    # A panel for either bias of two groups, three and five for the others.
    figure = DRAW[name](MANY)
    drawn = [ax for ax in figure.axes if ax.axison]
    assert [len(markers(ax)) for ax in drawn] == [2] * panels
    assert rendered(figure)


def test_prejudice_in_five_biases_is_two_panels_each() -> None:
    focus = {"gender": "a", "race": "c", "religion": "d", "age": "b", "nation": "e"}
    figure = prejudice(MANY, focus=focus)
    assert [len(markers(ax)) for ax in figure.axes if ax.axison] == [2] * 10
    assert rendered(figure)


SILENT = scored([[0, 0]] * 2 + [[2, 1], [1, 3]], [[1, 1]] * 4, model=list("xxyy"))


@pytest.mark.parametrize("name", list(DRAW))
def test_a_model_that_was_not_measured_stands_in_every_figure_and_is_said_so(name: str) -> None:
    for ax in DRAW[name](estimated(SILENT, 2)).axes:
        assert names(ax) == ["x", "y"]
        assert "not measured" in [note.get_text() for note in ax.texts]


@pytest.mark.parametrize("name", list(DRAW))
def test_a_corpus_without_group_words_gives_figures_that_say_so(name: str) -> None:
    figure = DRAW[name](estimated(SILENT[SILENT["model"] == "x"], 2))
    for ax in figure.axes:
        assert markers(ax) == []
        assert [note.get_text() for note in ax.texts] == ["not measured"]
    assert rendered(figure)


def test_a_model_s_name_is_no_mathematics() -> None:
    table = TABLE.replace({"model": {"x": "a$b$c", "y": "$"}})
    rendered(figure := distances(table))
    ax = figure.axes[0]
    assert labels(ax) == [r"a\$b\$c", r"\$"]


# --- what a figure draws, for its CSV twin ----------------------------------------------------


def test_the_rows_of_a_figure_are_those_of_the_table_and_say_their_panel() -> None:
    drawn = figures.distances(TABLE, chance_of(TABLE))
    rows, expected = drawn.rows, TABLE[TABLE["statistic"] == "bias"]
    assert rows["estimate"].tolist() == expected["estimate"].tolist()
    assert "sentences dealt anew" in drawn.alt
    assert rows["panel"].tolist() == ["gender", "gender", "race", "race"]


def test_mirrored_rows_are_left_out_and_others_kept() -> None:
    rows = figures.share_differences(TABLE, statistic="share_difference").rows
    assert rows.groupby(["bias", "group"]).size().to_dict() == {
        ("gender", "a"): 2,
        ("race", "a"): 2,
        ("race", "b"): 2,
        ("race", "c"): 2,
    }


def test_common_articles_are_drawn_by_default() -> None:
    rows = figures.share_differences(TABLE).rows
    assert set(rows["statistic"]) == {"share_difference_common"}


# --- beside the printed figures ---------------------------------------------------------------

PAPER = tables.read_published("fang2024")
FOCUS = {"gender": "female", "race": "Black"}


def ours(measure: str, instrument: str = "an instrument") -> pd.DataFrame:
    rows = [
        {
            "source": "s",
            "model": model,
            "prompt": "p",
            "measure": measure,
            "bias": bias,
            "statistic": statistic,
            "group": group,
            "estimate": 0.3,
            "ci_low": 0.2,
            "ci_high": 0.4,
            "n": 9,
            "null": 0.1,
            "null_low": 0.05,
            "null_high": 0.15,
            "instrument": instrument,
        }
        for bias, groups in {"race": ["White", "Black"], "gender": ["female", "male"]}.items()
        for model in ("x", "y")
        for statistic in ("bias", "prejudice_share", "prejudice_extent", "share_difference")
        for group in ([None] if statistic == "bias" else groups)
    ]
    return pd.DataFrame(rows)


def in_printed_figures(rows: pd.DataFrame) -> pd.DataFrame:
    return rows[rows["statistic"] != "share_difference"]


@pytest.mark.parametrize("measure", ["word", "sentiment", "document"])
def test_printed_values_stand_below_ours_statistic_for_statistic(measure: str) -> None:
    rows = figures.printed_rows(ours(measure), paper=PAPER, focus=FOCUS)
    printed = in_printed_figures(rows[rows["side"] == "printed"])
    assert len(printed) == 2 * 3 * 7
    wanted = PAPER[(PAPER["measure"] == measure) & (PAPER["prompt"] == "neutral")]
    assert sorted(printed["estimate"]) == sorted(in_printed_figures(wanted)["value"])
    for _, own in rows.groupby(["bias", "statistic", "group"], sort=False, dropna=False):
        assert own["side"].tolist() == sorted(own["side"])


def test_mean_distances_are_drawn_ours_above_the_printed_ones_on_one_scale() -> None:
    both = pd.concat([ours("word"), ours("document")])
    drawn = figures.printed(figures.printed_rows(both, focus=FOCUS))
    found = panels(drawn.figure)
    assert list(found) == [
        "group words: race",
        "group words: gender",
        "topics: race",
        "topics: gender",
    ]
    for (_, own), ax in zip(drawn.rows.groupby("panel", sort=False), found.values(), strict=True):
        assert own["side"].tolist() == ["ours"] * 2 + ["printed"] * 7
        assert names(ax) == [*own["cell"].head(2), "7 printed models"]
        at = [2, 1, *[0] * 7]  # the printed ones share a row
        assert set(markers(ax)) == set(zip(own["estimate"], at, strict=True))
    assert "Rings: printed values, of another corpus" in drawn.caption


def test_a_fallback_of_toxicity_never_stands_beside_printed_values() -> None:
    fallback = "alt-profanity-check 1.9 (fallback, not Detoxify)"
    rows = figures.printed_rows(ours("toxicity", fallback), focus=FOCUS)
    assert set(rows["side"]) == {"ours"} and len(rows) == 2 * 2 * 3
    assert "Rings" not in figures.printed(rows).caption
    detoxify = figures.printed_rows(ours("toxicity", "Detoxify 0.5.4 original"), focus=FOCUS)
    assert set(detoxify["side"]) == {"ours", "printed"}


def test_another_group_in_focus_has_no_printed_prejudice_beside_it() -> None:
    rows = in_printed_figures(figures.printed_rows(ours("word"), focus=FOCUS | {"race": "White"}))
    race = rows[(rows["bias"] == "race") & (rows["side"] == "printed")]
    assert set(race["statistic"]) == {"bias"}
    assert set(rows[(rows["bias"] == "race") & rows["group"].notna()]["group"]) == {"White"}


def test_table_1_stands_beside_our_differences_of_shares() -> None:
    rows = figures.printed_rows(ours("word"), paper=PAPER, focus=FOCUS)
    rows = rows[rows["statistic"] == "share_difference"]
    printed = rows[rows["side"] == "printed"]
    wanted = PAPER[(PAPER["figure"] == "3b") & PAPER["group"].isin(["White", "Black"])]
    assert sorted(printed["estimate"]) == sorted(wanted["value"])
    assert set(rows["group"]) == {"White", "Black"}
    assert set(rows["bias"]) == {"race"}
    ends = news_tables.printed(rows).rows.set_index("group")
    for group, own in wanted.groupby("group"):
        found = ends.loc[group, ["printed, min", "printed, max"]].tolist()
        assert found == [own["value"].min(), own["value"].max()]
    assert ends.loc["White", ["ours, min", "ours, max"]].tolist() == [0.3, 0.3]


def test_nothing_of_ours_draws_nothing() -> None:
    rows = figures.printed_rows(ours("word").head(0), focus=FOCUS)
    assert rows.empty
    figure = figures.printed(rows).figure
    assert figure.axes[0].texts[0].get_text() == "nothing was measured"
    shares = figures.printed_rows(ours("sentiment"), focus=FOCUS)
    assert "share_difference" not in set(shares["statistic"])
