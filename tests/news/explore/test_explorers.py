"""Explorers: a static table on the page, widgets in JupyterLab, texts as nothing but text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import ipywidgets as widgets
import numpy as np
import pytest
from bs4 import BeautifulSoup
from IPython.display import HTML

from nbbias import reading, stats
from nbbias.news import corpus, tone, words
from nbbias.news.explore import lexicon, pairs, topics
from nbbias.text import sentiment
from tests import hostile
from tests.build import small_study, study_of

KINDS = ["topics", "lexicon", "pairs"]


def show(kind: str, study: dict[str, Any]) -> Any:
    if kind == "topics":
        return topics.topics(study["fitted"], study["read"])
    if kind == "lexicon":
        inference = stats.InferenceSettings()
        return lexicon.lexicon(study["scores"], study["read"], inference=inference)
    seen = pairs.Corpus([study["scores"], study["tone"]], study["read"], study["scored"])
    return pairs.pairs(seen, focus={"gender": "female"})


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
def recorded(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    monkeypatch.setenv("NBBIAS_OUT", str(tmp_path))


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the widgets display, the last one last."""
    found: list[str] = []
    for module in (topics, lexicon, pairs):
        monkeypatch.setattr(module, "display", lambda html: found.append(html.data))
    return found


@pytest.fixture(scope="module")
def attacked() -> dict[str, Any]:
    study = study_of(corpus.pair(*hostile.corpus()), lexicon=hostile.lexicon())
    fitted = study.fits(n_topics=3, seeds=[1], threshold=0.1)
    assert fitted.fits
    return study.tables() | {"fitted": fitted}


# --- both forms -------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_a_recorded_run_shows_a_static_form_and_an_open_notebook_keeps_it(
    kind: str, monkeypatch: pytest.MonkeyPatch, tmp_path: object, shown: list[str]
) -> None:
    live = show(kind, small_study())
    assert isinstance(live, widgets.VBox) and len(shown) == 1
    bundle = live._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in bundle
    monkeypatch.setenv("NBBIAS_OUT", str(tmp_path))
    static = show(kind, small_study())
    assert isinstance(static, HTML) and bundle["text/html"] == static.data
    page = soup(static.data)
    assert page.find("script") is None
    ids = [one["id"] for one in page.find_all(id=True)]
    assert len(ids) == len(set(ids))
    assert {label["for"] for label in page.find_all("label")} == set(ids)


@pytest.mark.parametrize("kind", KINDS)
def test_a_hostile_corpus_is_text_in_both_forms(
    kind: str, attacked: dict[str, Any], shown: list[str]
) -> None:
    live = show(kind, attacked)
    static = live._repr_mimebundle_()["text/html"]
    text = hostile.harmless(static, frame_ignored=True).get_text()
    assert hostile.SCRIPT in text
    if kind == "pairs":
        assert all(one in text for one in hostile.PRINTABLE)
        assert "[U+001B][31m" in text and "[U+202E]" in text and "[U+0000]" in text
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


def test_no_fit_says_so() -> None:
    study = small_study()
    found = topics.topics(study["fitted"]._replace(fits=[]), study["read"])
    assert "No topics could be fitted" in found.data


# --- lexicon ----------------------------------------------------------------------------------


def rows_of(html: str) -> dict[tuple[str, ...], dict[str, str]]:
    rows = soup(html).find_all("tr")
    names = [cell.get_text() for cell in rows[0].find_all("th")]
    cells = [[cell.get_text() for cell in row.find_all(["th", "td"])] for row in rows[1:]]
    tables = [dict(zip(names, row, strict=True)) for row in cells]
    return {(row["model"], row["group"]): row for row in tables}


def test_leaving_words_out_and_adding_some_moves_the_estimate(shown: list[str]) -> None:
    study = small_study()
    live = show("lexicon", study)
    row = rows_of(shown[-1])["fewer", "female"]
    assert row["edited list"] == row["whole list"]
    part(live, widgets.SelectMultiple, "Leave out").value = ("she", "her")
    matches, listed = study["read"].matches, study["read"].lexicon
    kept = matches[~matches["term"].isin(["she", "her"])]
    scores = words.pair_scores(
        study["read"]._replace(matches=kept, lexicon=listed[listed["bias"] == "gender"])
    )
    expected = scores[scores["model"] == "fewer"]["difference_female"].mean()
    row = rows_of(shown[-1])["fewer", "female"]
    assert row["edited list"] == reading.number(expected, decimals=3) != row["whole list"]
    part(live, widgets.SelectMultiple, "Leave out").value = ()
    part(live, widgets.Text, "Add").value = "the"
    row = rows_of(shown[-1])["fewer", "female"]
    assert row["edited list"] != row["whole list"]
    part(live, widgets.Text, "Add").value = "  "
    row = rows_of(shown[-1])["fewer", "female"]
    assert row["edited list"] == row["whole list"]


# --- pairs ------------------------------------------------------------------------------------


def test_a_page_shows_three_pairs_at_each_end_cut(recorded: None) -> None:
    study = small_study()
    page = soup(show("pairs", study).data)
    models = study["read"].pairs["model"].nunique()
    assert len(page.select(".x-tabs > label")) == models
    assert len(page.find_all("details")) == 6 * models
    assert "toxicity" in page.select_one(".x-score").get_text()
    assert max(len(text.get_text()) for text in page.select(".x-text")) < 1500 + 100 * 40


def test_every_pair_of_every_measure_can_be_read(shown: list[str]) -> None:
    study = small_study()
    live = show("pairs", study)
    estimate = part(live, widgets.Dropdown, "Estimate")
    rank = part(live, widgets.BoundedIntText, "Rank")
    claims = pairs.list_claims([study["scores"], study["tone"]])
    assert len(estimate.options) == len(claims)
    first = shown[-1]
    rank.value = 2
    assert shown[-1] != first
    rank.value = 1
    assert shown[-1] == first
    for value in range(len(claims)):
        estimate.value = value
        rank.value = rank.max
        assert "Human" in shown[-1]


def test_with_a_second_instrument_chosen_sentences_carry_its_scores(shown: list[str]) -> None:
    study = small_study()
    table = study["scored"].sentences.assign(sentiment_vader=0.87)
    scored = tone.Scored(table, tone.measures(table, toxicity_scorer="offline"))
    scores = tone.pair_scores(study["read"], scored)
    live = show("pairs", study | {"scored": scored, "tone": scores})
    estimate = part(live, widgets.Dropdown, "Estimate")
    name = sentiment.instrument("vader")
    estimate.value = next(value for label, value in estimate.options if name in label)
    badges = [x.get_text() for x in soup(shown[-1]).select(".x-score")]
    badges = [badge for badge in badges if "sentiment" in badge]
    assert badges and all("sentiment 0.87" in badge for badge in badges)


def test_without_scores_or_pairs_there_are_none_to_show(recorded: None) -> None:
    study = small_study()
    html = pairs.pairs(pairs.Corpus([study["scores"]], study["read"])).data
    assert not soup(html).select(".x-score") and soup(html).find("mark")
    none = study["scores"].assign(reason="lost", difference_female=np.nan, difference_male=np.nan)
    none = none[none["bias"] == "gender"].dropna(axis=1, how="all")
    assert "No pair counts" in pairs.pairs(pairs.Corpus([none], study["read"])).data
