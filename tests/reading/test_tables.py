"""Tables for readers: every text escaped, gaps written out, few columns that say all."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from bs4 import BeautifulSoup

from nbbias import reading, tables
from nbbias.tables import visible
from tests import hostile
from tests.reading.rows import cells, soup

MINUS = "\N{MINUS SIGN}"


def show(table: pd.DataFrame, **options: Any) -> BeautifulSoup:
    return soup(reading.show(table, **{"title": "A title"} | options).data)


def headings(page: BeautifulSoup) -> list[str]:
    return [th.get_text() for th in page.thead.find_all("th")]


def test_a_table_shows_its_rows_in_order_and_rounded() -> None:
    page = show(pd.DataFrame({"name": ["b", "a"], "share": [0.12345, -2.0], "n": [1200.0, 3.0]}))
    assert cells(page) == [["b", "0.123", "1,200"], ["a", f"{MINUS}2.000", "3"]]


def test_a_gap_among_numbers_is_written_out_and_among_texts_empty() -> None:
    page = show(pd.DataFrame({"why": ["b", None], "share": [np.nan, 0.5], "none": [np.nan] * 2}))
    assert cells(page) == [["b", "not measured", "not measured"], ["", "0.500", "not measured"]]
    page = show(pd.DataFrame({"self": [], "cases": []}))
    assert (cells(page), headings(page)) == ([], ["self", "cases"])


def test_numbers_stand_right_texts_left_and_the_first_text_heads_its_row() -> None:
    rows = {"name": ["short"], "text": ["a long text, " * 9], "share": [0.25], "p_adjusted": ["x"]}
    page = show(pd.DataFrame(rows))
    row = page.tbody.tr
    assert [(c.name, c["class"], c.get("data-label")) for c in row.find_all(["th", "td"])] == [
        ("th", ["line"], None),
        ("td", ["wide"], "text"),
        ("td", ["number"], "share"),
        ("td", ["number"], "p adjusted"),
    ]
    assert [th.get("class") for th in page.thead.find_all("th")] == [None, None, *[["number"]] * 2]
    page = show(pd.DataFrame([range(8)] * 41))
    assert "long" in page.div["class"] and page.table["class"] == ["dense"]


def test_every_text_of_a_table_is_escaped_and_what_is_not_seen_written_out() -> None:
    rows = pd.DataFrame({"a": hostile.ALL, f"b {hostile.ANSI}": 1.5})
    html = reading.show(
        rows, title=hostile.TURNED, note=hostile.NUL, labels={"a": hostile.NUL}
    ).data
    shown = hostile.harmless(html, frame_ignored=True)
    assert "mathjax_ignore" in shown.div["class"]
    assert [row[0] for row in cells(shown)] == [visible(text) for text in hostile.ALL]
    assert headings(shown) == [visible(hostile.NUL), visible(f"b {hostile.ANSI}")]
    words = [shown.caption.get_text(), shown.select_one(".note").get_text()]
    assert words == [visible(hostile.TURNED), visible(hostile.NUL)]


def test_a_table_says_itself_what_stands_around_it_and_a_call_may_say_otherwise() -> None:
    rows = pd.DataFrame({"share": [0.1234, np.nan]})
    table = reading.Table(rows, "A title", "A note", {"share": "part"}, 1, "gone")
    page = show(table, title="Another")
    assert cells(page) == [["0.1"], ["gone"]]
    assert headings(page) == ["part"]
    assert page.select_one("caption").get_text() == "Another"
    assert page.select_one(".note").get_text() == "A note"


# --- readable ---------------------------------------------------------------------------------

CLAIM = {"model": "gpt-4", "statistic": "index", "n": 1200, "instrument": "TextBlob"}
CLAIM |= {"estimate": -0.5, "ci_low": -0.75, "ci_high": -0.25}


def estimates(*rows: dict[str, Any], confidence: float = 0.95) -> pd.DataFrame:
    return tables.estimates([CLAIM | row for row in rows], study="llmbi", confidence=confidence)


def test_a_reader_sees_what_tells_rows_apart_and_one_cell_an_estimate() -> None:
    two = estimates({"p_adjusted": 0.0004}, {"model": "phi", "n_lost": 2, "null": 0.3})
    table = reading.readable(two, ["model", "bias", "instrument"], title="t", note="A note.")
    assert table.rows.to_dict("list") == {
        "model": ["gpt-4", "phi"],
        "estimate": [f"{MINUS}0.500 [{MINUS}0.750, {MINUS}0.250]"] * 2,
        "n": [1200, 1200],
        "n_lost": [0, 2],
        "null": ["", "0.300"],
        "p_adjusted": pytest.approx([0.0004, np.nan], nan_ok=True),
    }
    adjusted = "p adjusted over all rows of a statistic"
    assert table.note == f"A note. All rows: instrument TextBlob. Exploratory; {adjusted}."
    no_floor = reading.readable(two.drop(columns="p_least"), ["model"], title="t")
    assert no_floor.rows["p_adjusted"].iloc[0] == 0.0004
    declared = reading.readable(two.assign(claim=1), ["model"], title="t")
    assert declared.note.startswith("\N{DAGGER} Pre-specified") and adjusted not in declared.note
    page = show(table)
    told = "model|estimate [95% CI]|N|excluded|null value|p adjusted"
    assert "|".join(headings(page)) == told
    assert cells(page)[1][-1] == "not tested"


def test_what_was_not_measured_and_what_has_no_interval_say_why() -> None:
    own = estimates(
        {"ci_low": None, "ci_high": None, "reason": "one prompt"},
        {"estimate": None, "ci_low": None, "ci_high": None, "reason": "no answer", "model": "b"},
        {"reason": "no test of one answer", "model": "c"},
    )
    assert reading.readable(own, ["model"]).rows["estimate"].tolist() == [
        f"{MINUS}0.500 (no interval: one prompt)",
        "not measured: no answer",
        f"{MINUS}0.500 [{MINUS}0.750, {MINUS}0.250] (no test of one answer)",
    ]


def test_statistics_are_chosen_and_named_where_there_are_several() -> None:
    own = estimates({}, {"statistic": "dimension_mean"}, {"statistic": "anova"})
    table = reading.readable(own, ["model"], statistics=["index", "dimension_mean"])
    assert table.rows["statistic"].tolist() == ["index", "dimension mean"]
    assert "statistic" not in reading.readable(own, ["model"], statistics=["index"]).rows


def test_of_many_rows_those_with_the_smallest_p_stay() -> None:
    gap = {"ci_low": None, "ci_high": None}
    rows = [gap | {"model": f"m{i}", "estimate": i, "p_adjusted": 1.0} for i in range(20)]
    rows[0]["p_adjusted"] = 0.01
    rows.append({"model": "untested", "estimate": 99, **gap})
    table = reading.readable(estimates(*rows), ["model"])
    assert table.rows["model"].tolist() == ["m0", "m19", "m18"]  # of those with p = 1 a few
    assert "3 rows with the smallest p; 18 more" in table.note
    below = estimates(*(row | {"p_adjusted": 0.2} for row in rows[:20]))
    assert "12 rows with the smallest p; 8 more" in str(reading.readable(below, ["model"]).note)
    untested = estimates(*(row | {"p_adjusted": None, "null": 19.0} for row in rows[:20]))
    table = reading.readable(untested.set_axis([0] * 20), ["model"])  # as concatenated tables are
    assert table.rows["model"].iloc[0] == "m0"
    assert "12 rows with the largest difference; 8 more in tables/estimates.csv." in table.note


def test_a_p_at_its_floor_is_at_most_that_in_tables() -> None:
    own = estimates({"p_value": 1 / 101, "p_least": 1 / 101, "p_adjusted": 3 / 101})
    table = reading.readable(own, ["model"])
    assert table.rows["p_adjusted"].tolist() == ["≤\N{NO-BREAK SPACE}.030"]
    assert "≤\N{NO-BREAK SPACE}.030" in reading.show(table).data
    # Where none is at its floor, p values stay numbers.
    own = estimates({"p_value": 2 / 101, "p_least": 1 / 101, "p_adjusted": 3 / 101})
    assert reading.readable(own, ["model"]).rows["p_adjusted"].tolist() == [3 / 101]


TABLES = [("biasalert", "scores"), ("counterfactual", "embedding"), ("biased_prompts", "prejudice")]


@pytest.mark.parametrize(("study", "name"), TABLES)
@pytest.mark.parametrize(("confidence", "level"), [(0.9, "90%"), (0.975, "97.5%")])
def test_a_note_states_the_level_of_the_rows(
    study: str, name: str, confidence: float, level: str
) -> None:
    row = {"judge": "a", "statistic": "accuracy", "estimate": 0.5, "ci_low": 0.4, "ci_high": 0.6}
    rows = tables.estimates([row | {"n": 9}], study=study, confidence=confidence)
    found = [
        reading.tables.wide(rows, ["judge"], "statistic", words=(study, name), of="texts"),
        reading.readable(rows, ["judge"], words=(study, name)),
        reading.caption(rows, study=study, name=name),
    ]
    for table in found:
        assert f"[{level} CI" in str(table.note)
        assert "95%" not in str(table)
    assert "95%" not in str(reading.prose.interval(rows.iloc[0]))
    assert level in reading.figures.caption(rows, "shares", of="texts")


def test_no_note_on_the_rows_of_a_run_has_a_level_of_its_own() -> None:
    """Only words on the shipped calibration may, which was simulated at one level."""
    words = tables.read_shipped_yaml("prose/tables.yaml")
    fixed = {"calibration", "cards"}
    assert {study for study, named in words.items() if "95%" in str(named)} == fixed
    assert set(tables.read_shipped_table("calibration.csv")["nominal"]) == {0.95, 0.05}
