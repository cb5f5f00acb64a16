"""Explorers: tables and frames without scripts of texts, which are nothing but text."""

from __future__ import annotations

from typing import Any

import pytest
from bs4 import BeautifulSoup

from nbbias import tables
from nbbias.news import corpus
from nbbias.news.explore import example, lexicon, pairs, topics
from tests import hostile
from tests.build import small_study, study_of


def show(kind: str, study: dict[str, Any]) -> Any:
    if kind == "topics":
        return topics.topics(study["fitted"], study["read"])
    if kind == "lexicon":
        changes = lexicon.without_each_term(study["scores"], study["read"])
        return lexicon.lexicon(study["read"], changes)
    seen = pairs.Corpus([study["scores"], study["tone"]], study["read"], study["scored"])
    nothing = tables.estimates([], study="news_bias")
    return example.example(seen, declared=nothing, focus={"gender": "female"})


def soup(html: str) -> BeautifulSoup:
    return BeautifulSoup(html, "html.parser")


@pytest.fixture(scope="module")
def attacked() -> dict[str, Any]:
    study = study_of(corpus.pair(*hostile.corpus()), lexicon=hostile.lexicon())
    fitted = study.fits(n_topics=3, seeds=[1], threshold=0.1)
    assert fitted.fits
    return study.tables() | {"fitted": fitted}


def test_topics_are_named_by_content_words_without_a_script() -> None:
    page = soup(show("topics", small_study()).data)
    assert page.find("script") is None
    words = {word for row in page.select("tbody tr") for word in row.find_all("td")[1].text.split()}
    assert len(words) >= 8 and not words & {"the", "she", "he", "of", "and"}


def test_topics_of_a_hostile_corpus_are_text(attacked: dict[str, Any]) -> None:
    hostile.harmless(show("topics", attacked).data, frame_ignored=True)


@pytest.mark.parametrize("kind", ["lexicon", "example"])
def test_hostile_words_and_texts_are_text(kind: str, attacked: dict[str, Any]) -> None:
    assert hostile.SCRIPT in hostile.harmless(show(kind, attacked).data).get_text()
