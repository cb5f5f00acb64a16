"""Explorers: a static table on the page, widgets in JupyterLab, texts as nothing but text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import ipywidgets as widgets
import pytest
from bs4 import BeautifulSoup
from IPython.display import HTML

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


def inside(widget: Any) -> Iterator[Any]:
    yield widget
    for child in getattr(widget, "children", ()):
        yield from inside(child)


def part(live: Any, kind: type, description: str) -> Any:
    (one,) = [w for w in inside(live) if isinstance(w, kind) and w.description == description]
    return one


def soup(html: str) -> BeautifulSoup:
    return BeautifulSoup(html, "html.parser")


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the widgets display, the last one last."""
    found: list[str] = []
    monkeypatch.setattr(topics, "display", lambda html: found.append(html.data))
    return found


@pytest.fixture(scope="module")
def attacked() -> dict[str, Any]:
    study = study_of(corpus.pair(*hostile.corpus()), lexicon=hostile.lexicon())
    fitted = study.fits(n_topics=3, seeds=[1], threshold=0.1)
    assert fitted.fits
    return study.tables() | {"fitted": fitted}


# --- both forms -------------------------------------------------------------------------------


def test_a_recorded_run_shows_a_static_form_and_an_open_notebook_widgets(
    monkeypatch: pytest.MonkeyPatch, tmp_path: object, shown: list[str]
) -> None:
    live = show("topics", small_study())
    assert isinstance(live, widgets.VBox) and len(shown) == 2
    monkeypatch.setenv("NBBIAS_OUT", str(tmp_path))
    static = show("topics", small_study())
    assert isinstance(static, HTML)
    assert soup(static.data).find("script") is None


def test_a_hostile_corpus_is_text_in_both_forms(
    attacked: dict[str, Any], monkeypatch: pytest.MonkeyPatch, shown: list[str]
) -> None:
    live = show("topics", attacked)
    with monkeypatch.context() as run:
        run.setenv("NBBIAS_OUT", "a run")
        hostile.harmless(show("topics", attacked).data, frame_ignored=True)
    for chooser in [w for w in inside(live) if isinstance(w, widgets.Dropdown)]:
        for option in list(chooser.options)[:6]:
            chooser.value = option[1] if isinstance(option, tuple) else option
            hostile.harmless(shown[-1], frame_ignored=True)
    for widget in inside(live):
        for label in getattr(widget, "_options_labels", ()):
            assert not set(label) & set("\x00\x1b\u202e\u2066")
        if isinstance(widget, widgets.DOMWidget) and hasattr(widget, "description_allow_html"):
            assert not widget.description_allow_html


# --- topics -----------------------------------------------------------------------------------


def test_topics_are_named_by_content_words_at_any_weight(shown: list[str]) -> None:
    live = show("topics", small_study())
    names = [label for label, _ in part(live, widgets.Dropdown, "Topic").options]
    words_shown = {word for name in names for word in name.split(": ")[1].split()}
    assert len(words_shown) > 8 and not words_shown & {"the", "she", "he", "of", "and"}
    before = shown[-1]
    part(live, widgets.FloatSlider, "λ").value = 1.0
    assert shown[-1] != before
    topic = part(live, widgets.Dropdown, "Topic")
    topic.value = topic.options[-1][1]
    assert f"Topic {topic.value}" in shown[-1]


# --- lexicon ----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["lexicon", "example"])
def test_hostile_words_and_texts_are_text(kind: str, attacked: dict[str, Any]) -> None:
    assert hostile.SCRIPT in hostile.harmless(show(kind, attacked).data).get_text()


# --- pairs ------------------------------------------------------------------------------------
