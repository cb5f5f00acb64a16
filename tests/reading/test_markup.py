"""Pieces of HTML show any text as itself, mark matches, and need no script."""

import pandas as pd
from bs4 import BeautifulSoup
from hypothesis import given, strategies as st

from nbbias.reading import markup
from tests import hostile
from tests.reading.rows import soup


def matches(*spans: tuple[int, int, str]) -> pd.DataFrame:
    return pd.DataFrame(spans, columns=["start", "end", "group"])


@given(
    st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cf", "Cn"]), max_size=40),
    st.lists(st.tuples(st.integers(0, 40), st.integers(1, 10)), max_size=6),
)
def test_marking_changes_no_text(text: str, at: list[tuple[int, int]]) -> None:
    spans = [(start, start + length, "g") for start, length in at]
    html = soup(markup.marked(text, matches(*spans), ["g"], start=0, end=len(text)))
    assert html.get_text() == text
    for mark in html.find_all("mark"):
        assert any(mark.get_text() == text[start:end] for start, end, _ in spans)


def test_marks_say_whose_word_it_is() -> None:
    spans = matches((7, 10, "female"), (0, 2, "male"))
    marks = soup(markup.marked("He saw her.", spans, ["male", "female"], start=0, end=11)).find_all(
        "mark"
    )
    assert [(m.get_text(), m["title"], m["class"]) for m in marks] == [
        ("He", "male", ["x-0"]),
        ("her", "female", ["x-1"]),
    ]
    groups = [f"g{i}" for i in range(8)]  # more than there are colours
    assert 'class="x-2"' in markup.marked("a", matches((0, 1, "g7")), groups, start=0, end=1)
    overlapping = matches((1, 3, ""), (2, 4, ""), (4, 6, ""))
    html = soup(markup.marked("abcdef", overlapping, [""], start=1, end=5))
    assert html.get_text() == "bcde" and [m.get_text() for m in html.find_all("mark")] == ["bc"]


def test_tabs_join_each_label_with_its_panel() -> None:
    found = soup(markup.tabs({"one": "<p>1</p>", "<b>two": "<p>2</p>"}, called="Which"))
    inputs = found.find_all("input")
    assert [("checked" in one.attrs) for one in inputs] == [True, False]
    assert len({one["name"] for one in inputs}) == 1
    for one, label, panel in zip(inputs, ["one", "<b>two"], "12", strict=True):
        named = found.find("label", attrs={"for": one["id"]})
        assert named.get_text() == label
        assert named.find_next_sibling().get_text() == panel


# --- quotes -----------------------------------------------------------------------------------


def quoted(**columns: object) -> BeautifulSoup:
    rows = pd.DataFrame({"head": ["one"], "text": ["A text."], "caption": ["0.5"], **columns})
    return soup(markup.quotes(rows).data)


def test_whatever_a_quoted_text_holds_is_text() -> None:
    allowed = {"div", "strong", "p", "small", "span", "details", "summary"}
    for text in hostile.ALL:
        found = quoted(text=[text], head=[text], caption=[text], folded=[text])
        assert {tag.name for tag in found.find_all()} <= allowed
        assert not any(name.startswith("on") for tag in found.find_all() for name in tag.attrs)


def test_a_text_that_may_hurt_is_folded_and_the_others_are_not() -> None:
    found = quoted(folded=["Open to read"])
    assert found.details.summary.get_text() == "Open to read"
    assert found.details.p.get_text() == "A text."
    assert quoted(folded=[None]).details is None
    assert quoted().details is None


def test_a_long_text_is_cut_between_words() -> None:
    text = quoted(text=["word " * 400]).p.get_text()
    assert text.endswith("word …") and 880 < len(text) < 920
