"""Texts side by side are texts, and what may hurt stands folded."""

from __future__ import annotations

import pandas as pd
from bs4 import BeautifulSoup

from nbbias.reading import quotes
from tests import hostile


def shown(**columns: object) -> BeautifulSoup:
    rows = pd.DataFrame({"head": ["one"], "text": ["A text."], "told": ["0.5"], **columns})
    return BeautifulSoup(quotes.quotes(rows).data, "html.parser")


def test_whatever_a_text_holds_is_text() -> None:
    for text in hostile.ALL:
        found = shown(text=[text], head=[text], told=[text])
        assert {one.name for one in found.find_all()} <= {
            "div",
            "strong",
            "p",
            "small",
            "span",
            "details",
            "summary",
        }
        assert not any(name.startswith("on") for one in found.find_all() for name in one.attrs)


def test_a_text_that_may_hurt_is_folded_and_the_others_are_not() -> None:
    found = shown(folded=["Open to read"])
    assert found.details.summary.get_text() == "Open to read"
    assert found.details.p.get_text() == "A text."
    assert shown(folded=[None]).details is None


def test_a_long_text_is_cut_between_words() -> None:
    text = shown(text=["word " * 400]).p.get_text()
    assert text.endswith("word …") and len(text) < 920
