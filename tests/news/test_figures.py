"""The news figures by structure: points, spans and bands are the rows of the table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from nbbias import tables
from nbbias.news import figures, words
from nbbias.reading import figures as reading_figures
from tests.build import lexicon_of, matches_of, pairs_of
from tests.news.test_words import FOUND, estimated, scored
from tests.reading.test_figures import labels, markers, rendered

pytestmark = pytest.mark.usefixtures("style")


def biases(**groups: int) -> pd.DataFrame:
    """Estimates of several biases, each with its number of groups, for the models x and y.

    The rows by sentence are those by word, with another range of chance.
    """
    tables = [FOUND[n].assign(bias=bias) for bias, n in groups.items()]
    table = pd.concat(tables, ignore_index=True)
    both = table["statistic"].isin(["bias", "prejudice_share", "prejudice_extent"])
    sentences = table[both].assign(statistic=table["statistic"] + "_by_sentence")
    wider = sentences.assign(null_high=sentences["null_high"] + 0.1)
    return pd.concat([table, wider], ignore_index=True)


TABLE = biases(gender=2, race=3)


def all_of(scores: pd.DataFrame) -> pd.DataFrame:
    """Estimates of made-up scores of two groups, chance by sentences too."""
    h, o = (
        [[int(n) for n in row] for row in scores[[f"{s}_a", f"{s}_b"]].to_numpy()] for s in "ho"
    )
    pairs = pairs_of(len(scores), model=scores["model"].to_numpy())
    own, matches, lexicon = scored(h, o, model=pairs["model"]), matches_of(h, o), lexicon_of(2)
    sentences = words.by_sentence(own, pairs, matches, lexicon=lexicon, draws=50, seed=1)
    return pd.concat([estimated(own, 2), sentences], ignore_index=True)


def differences(table: pd.DataFrame, *, statistic: str = "share_difference") -> Figure:
    rows = figures.difference_rows(table, statistic=statistic)
    return figures.share_differences(rows)


def distances(table: pd.DataFrame) -> Figure:
    return figures.distances(figures.distance_rows(table))


def prejudice(table: pd.DataFrame, *, focus: Mapping[str, str] = MappingProxyType({})) -> Figure:
    return figures.prejudice(figures.prejudice_rows(table, focus=focus))


def panels(figure: Figure) -> dict[str, Axes]:
    return {ax.get_title(loc="left") or ax.get_title(): ax for ax in figure.axes if ax.axison}


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
        assert_draws(found[f"race: {group}"], rows, band=False)


def test_a_bias_of_two_groups_is_one_panel_since_the_other_is_its_mirror() -> None:
    found = panels(differences(TABLE))
    assert [title for title in found if title.startswith("gender")] == ["gender: a"]
    rows = of(TABLE, "share_difference", "gender", "a")
    assert_draws(found["gender: a"], rows, band=False)


def test_differences_on_common_articles_are_drawn_when_asked_for() -> None:
    name = "share_difference_common"
    found = panels(differences(TABLE, statistic=name))
    assert_draws(found["race: b"], of(TABLE, name, "race", "b"), band=False)


def test_a_difference_that_was_not_measured_is_written_not_drawn() -> None:
    table = estimated(scored([[0, 0], [2, 1], [1, 3]], [[1, 1]] * 3, model=list("xyy")), 2)
    (ax,) = panels(differences(table)).values()
    (row,) = of(table, "share_difference", "b", "a").query("model == 'y'").to_dict("records")
    assert markers(ax) == [(row["estimate"], 0)]
    assert [note.get_text() for note in ax.texts] == ["not measured"]
    assert labels(ax) == ["x", "y"]


# --- distances --------------------------------------------------------------------------------


def test_distances_stand_beside_both_chance_levels() -> None:
    found = panels(distances(TABLE))
    assert list(found) == [
        "gender, by words", "gender, by sentences", "race, by words", "race, by sentences",
    ]  # fmt: skip
    for bias in ("gender", "race"):
        assert_draws(found[f"{bias}, by words"], of(TABLE, "bias", bias), band=True)
        rows = of(TABLE, "bias_by_sentence", bias)
        assert_draws(found[f"{bias}, by sentences"], rows, band=True)


def test_distances_without_chance_by_sentences_are_one_panel_a_bias() -> None:
    found = panels(distances(TABLE[TABLE["statistic"] != "bias_by_sentence"]))
    assert list(found) == ["gender", "race"]


def test_rows_are_named_by_what_tells_them_apart() -> None:
    columns = {"model": ["x", "x", "y", "y"], "prompt": ["p", "q", "p", "q"]}
    table = estimated(scored([[2, 1]] * 4, [[1, 1]] * 4, **columns), 2)
    (ax,) = panels(distances(table)).values()
    assert labels(ax) == ["x · p", "x · q", "y · p", "y · q"]
    one = estimated(scored([[2, 1]] * 4, [[1, 1]] * 4), 2)
    (ax,) = panels(distances(one)).values()
    assert labels(ax) == ["m"]


# --- prejudice --------------------------------------------------------------------------------


def test_prejudice_draws_share_and_extent_of_the_focus_beside_chance() -> None:
    found = panels(prejudice(TABLE, focus={"gender": "b", "race": "c"}))
    assert len(found) == 4
    for bias, group in (("gender", "b"), ("race", "c")):
        for kind in ("share", "extent"):
            (title,) = (one for one in found if one.endswith(f"{group}: {kind}"))
            rows = of(TABLE, f"prejudice_{kind}_by_sentence", bias, group)
            assert_draws(found[title], rows, band=True)


def test_without_a_focus_the_first_group_is_drawn() -> None:
    (share, extent) = prejudice(biases(race=5), focus={}).axes
    assert_draws(share, of(biases(race=5), "prejudice_share_by_sentence", "race", "a"), band=True)
    assert_draws(extent, of(biases(race=5), "prejudice_extent_by_sentence", "race", "a"), band=True)


def test_a_focus_that_a_list_of_ones_own_does_not_have_gives_way_to_the_first_group() -> None:
    # The default focus names female; an own list may name its groups otherwise.
    share, extent = prejudice(biases(gender=2), focus={"gender": "female"}).axes
    assert_draws(share, of(TABLE, "prejudice_share_by_sentence", "gender", "a"), band=True)
    assert_draws(extent, of(TABLE, "prejudice_extent_by_sentence", "gender", "a"), band=True)


def test_two_biases_with_a_group_of_one_name_are_drawn_apart() -> None:
    figure = prejudice(TABLE, focus={"gender": "a", "race": "a"})
    drawn = [ax for ax in figure.axes if ax.axison]
    assert [len(markers(ax)) for ax in drawn] == [2, 2, 2, 2]


# --- many, and none ---------------------------------------------------------------------------

MANY = biases(gender=2, race=3, religion=5, age=2, nation=5)


DRAW: dict[str, Callable[[pd.DataFrame], Figure]] = {
    "differences": differences, "distances": distances, "prejudice": prejudice,
}  # fmt: skip


@pytest.mark.parametrize(("name", "panels"), [("differences", 15), ("distances", 10)])
def test_five_biases_are_drawn_panel_by_panel(name: str, panels: int) -> None:
    # A panel for either bias of two groups, three and five for the others; two chance levels.
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
    for ax in DRAW[name](all_of(SILENT)).axes:
        assert names(ax) == ["x", "y"]
        assert "not measured" in [note.get_text() for note in ax.texts]


@pytest.mark.parametrize("name", list(DRAW))
def test_a_corpus_without_group_words_gives_figures_that_say_so(name: str) -> None:
    figure = DRAW[name](all_of(SILENT[SILENT["model"] == "x"]))
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
    rows = figures.distance_rows(TABLE)
    expected = TABLE[TABLE["statistic"].isin(["bias", "bias_by_sentence"])]
    assert sorted(rows["estimate"]) == sorted(expected["estimate"])
    assert rows["panel"].tolist() == [
        f"{bias}, by {what}" for bias in ("gender", "race") for what in ("words", "sentences")
        for _ in "xy"
    ]  # fmt: skip


def test_mirrored_rows_are_left_out_and_others_kept() -> None:
    rows = figures.difference_rows(TABLE, statistic="share_difference")
    assert rows.groupby(["bias", "group"]).size().to_dict() == {
        ("gender", "a"): 2, ("race", "a"): 2, ("race", "b"): 2, ("race", "c"): 2,
    }  # fmt: skip


def test_common_articles_are_drawn_by_default() -> None:
    rows = figures.difference_rows(TABLE)
    assert set(rows["statistic"]) == {"share_difference_common"}


def test_other_measures_of_the_same_statistic_are_not_drawn() -> None:
    both = pd.concat([TABLE, TABLE.assign(measure="document")], ignore_index=True)
    assert len(figures.distance_rows(both)) == len(figures.distance_rows(TABLE))
    focus = {"gender": "a", "race": "b"}
    assert len(figures.prejudice_rows(both, focus=focus)) == 8


# --- beside the printed figures ---------------------------------------------------------------

PAPER = tables.printed("fang2024")
FOCUS = {"gender": "female", "race": "Black"}


def ours(measure: str, instrument: str = "an instrument") -> pd.DataFrame:
    rows = [
        {
            "source": "s", "model": model, "prompt": "p", "measure": measure, "bias": bias,
            "statistic": statistic, "group": group, "estimate": 0.3, "ci_low": 0.2, "ci_high": 0.4,
            "n": 9, "null": 0.1, "null_low": 0.05, "null_high": 0.15, "instrument": instrument,
        }
        for bias, groups in {"race": ["White", "Black"], "gender": ["female", "male"]}.items()
        for model in ("x", "y")
        for statistic in ("bias", "prejudice_share", "prejudice_extent", "share_difference")
        for group in ([None] if statistic == "bias" else groups)
    ]  # fmt: skip
    return pd.DataFrame(rows)


@pytest.mark.parametrize("measure", ["word", "sentiment", "document"])
def test_printed_values_stand_below_ours_panel_for_panel(measure: str) -> None:
    rows = figures.printed_rows(ours(measure), PAPER, measure=measure, focus=FOCUS)
    panels_drawn = ["race: ours", "race: printed", "gender: ours", "gender: printed"]
    assert rows["panel"].unique().tolist() == panels_drawn
    assert rows["column"].unique().tolist() == [
        "mean distance", "share of prejudice", "extent of prejudice",
    ]  # fmt: skip
    printed = rows[rows["side"] == "printed"]
    assert len(printed) == 2 * 3 * 7
    wanted = PAPER[(PAPER["measure"] == measure) & (PAPER["prompt"] == "neutral")]
    wanted = wanted[wanted["statistic"] != "share_difference"]
    assert sorted(printed["estimate"]) == sorted(wanted["value"])
    figure = figures.printed(rows)
    assert len(figure.axes) == 4 * 3
    for column in range(3):  # one scale for ours and for what is printed
        assert len({ax.get_xlim() for ax in figure.axes[column::3]}) == 1
    told = [text.get_text() for text in figure.legends[0].get_texts()]
    assert "printed: other corpus, other human side" in told


def test_a_fallback_of_toxicity_never_stands_beside_printed_values() -> None:
    fallback = "alt-profanity-check 1.9 (fallback, not Detoxify)"
    rows = figures.printed_rows(ours("toxicity", fallback), PAPER, measure="toxicity", focus=FOCUS)
    assert set(rows["side"]) == {"ours"} and len(rows) == 2 * 2 * 3
    told = [text.get_text() for text in figures.printed(rows).legends[0].get_texts()]
    assert not any("printed" in text for text in told)
    detoxify = figures.printed_rows(
        ours("toxicity", "Detoxify 0.5.4 original"), PAPER, measure="toxicity", focus=FOCUS
    )
    assert set(detoxify["side"]) == {"ours", "printed"}


def test_another_group_in_focus_has_no_printed_prejudice_beside_it() -> None:
    rows = figures.printed_rows(
        ours("word"), PAPER, measure="word", focus=FOCUS | {"race": "White"}
    )
    race = rows[(rows["bias"] == "race") & (rows["side"] == "printed")]
    assert set(race["statistic"]) == {"bias"}
    assert set(rows[(rows["bias"] == "race") & rows["group"].notna()]["group"]) == {"White"}


def test_table_1_stands_beside_our_differences_of_shares() -> None:
    rows = figures.printed_table_rows(ours("word"), PAPER)
    printed = rows[rows["side"] == "printed"]
    wanted = PAPER[(PAPER["figure"] == "3b") & PAPER["group"].isin(["White", "Black"])]
    assert sorted(printed["estimate"]) == sorted(wanted["value"])
    assert set(rows["column"]) == {"White", "Black"}
    rendered(figures.printed(rows))


def test_nothing_of_ours_draws_nothing() -> None:
    rows = figures.printed_rows(ours("word").head(0), PAPER, measure="word", focus=FOCUS)
    assert rows.empty
    figure = figures.printed(rows)
    assert figure.axes[0].texts[0].get_text() == "nothing of this was measured"
    assert figures.printed_table_rows(ours("sentiment"), PAPER).query("side == 'ours'").empty
