"""Pieces of HTML show any text as itself, mark what they are told to, and need no script."""

from __future__ import annotations

import numpy as np
import pandas as pd
from bs4 import BeautifulSoup
from hypothesis import given, strategies as st

from nbbias.reading import markup
from nbbias.reading.markup import Span
from tests import hostile


def soup(html: str) -> BeautifulSoup:
    return BeautifulSoup(html, "html.parser")


@given(
    st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cf"]), max_size=40),
    st.lists(st.tuples(st.integers(0, 40), st.integers(1, 10)), max_size=6),
)
def test_marking_changes_no_text(text: str, at: list[tuple[int, int]]) -> None:
    spans = [Span(start, start + length, 0, "g") for start, length in at]
    html = soup(markup.marked(text, spans))
    assert html.get_text() == text
    for mark in html.find_all("mark"):
        assert any(mark.get_text() == text[s.start : s.end] for s in spans)


def test_marks_say_whose_word_it_is() -> None:
    text = "He saw her."
    spans = [Span(7, 10, 1, "female"), Span(0, 2, 0, "male")]
    marks = soup(markup.marked(text, spans)).find_all("mark")
    assert [(m.get_text(), m["title"], m["class"]) for m in marks] == [
        ("He", "male", ["x-0"]),
        ("her", "female", ["x-1"]),
    ]


def test_of_overlapping_spans_the_first_counts_and_a_part_is_cut() -> None:
    text = "abcdef"
    spans = [Span(1, 3, 0, ""), Span(2, 4, 0, ""), Span(4, 6, 0, "")]
    html = soup(markup.marked(text, spans, start=1, end=5))
    assert html.get_text() == "bcde"
    assert [m.get_text() for m in html.find_all("mark")] == ["bc"]


def test_more_groups_than_colours_still_have_one() -> None:
    tone = markup.tones([f"g{i}" for i in range(8)])
    matches = pd.DataFrame({"start": [0], "end": [1], "group": ["g7"]})
    assert 'class="x-2"' in markup.marked("a", markup.spans(matches, tone))


def test_a_table_writes_numbers_gaps_and_texts() -> None:
    columns = {"name": [hostile.SCRIPT, None], "value": [-0.12345, np.nan], "n": [1234, 5]}
    rows = pd.DataFrame(columns).assign(b="<i>x</i>")
    found = soup(markup.table(rows, html_columns=["b"]))
    rows = found.tbody.find_all("tr")
    cells = [[cell.get_text() for cell in row.find_all(["th", "td"])] for row in rows]
    assert cells == [[hostile.SCRIPT, "−0.123", "1,234", "x"], ["", "–", "5", "x"]]
    assert len(found.find_all("i")) == 2
    assert found.find("script") is None


def test_an_empty_table_says_so() -> None:
    assert "Nothing to show" in markup.table(pd.DataFrame({"a": []}))


def test_tabs_join_each_label_with_its_panel() -> None:
    found = soup(markup.tabs({"one": "<p>1</p>", "<b>two": "<p>2</p>"}, called="Which", chosen=1))
    inputs = found.find_all("input")
    assert [("checked" in one.attrs) for one in inputs] == [False, True]
    assert len({one["name"] for one in inputs}) == 1
    for one, label, panel in zip(inputs, ["one", "<b>two"], "12", strict=True):
        named = found.find("label", attrs={"for": one["id"]})
        assert named.get_text() == label
        assert named.find_next_sibling().get_text() == panel


def test_tabs_of_other_panels_have_other_names() -> None:
    first, second = (markup.tabs({"a": panel}, called="x") for panel in ("1", "2"))
    assert soup(first).input["name"] != soup(second).input["name"]


def test_a_frame_keeps_programs_that_typeset_mathematics_out() -> None:
    html = markup.framed("<p>x</p>", title=hostile.LATEX, about=hostile.ANSI).data
    frame = hostile.harmless(html).select_one(".nbx")
    assert {"mathjax_ignore", "tex2jax_ignore"} <= set(frame["class"])
    assert hostile.LATEX in frame.get_text()
    assert "http" not in html
