"""What explorers show on a page, and their controls in an open notebook, set as readers do."""

from typing import Any

import ipywidgets as widgets
import pandas as pd
import pytest
from bs4 import BeautifulSoup

from nbbias import news, stats, tables
from nbbias.news import corpus
from nbbias.news.explore import example, interactive, lexicon, pairs, topics
from nbbias.reading import number
from tests import hostile
from tests.build import row_of, small_study, study_of

INFERENCE = stats.InferenceSettings(0.95, 100, 1)


class Screen:
    """What is displayed: HTML, the last one last, and the controls by name."""

    def __init__(self) -> None:
        self.html: list[str] = []
        self.controls: dict[str, Any] = {}

    def __call__(self, shown: Any) -> None:
        if isinstance(shown, widgets.VBox):
            self.controls = {one.description: one for one in shown.children[0].children}
        else:
            self.html.append(shown.data)

    @property
    def last(self) -> str:
        return hostile.harmless(self.html[-1], frame_ignored=True).get_text(" ")


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> Screen:
    shown = Screen()
    monkeypatch.setattr(interactive, "display", shown)
    monkeypatch.delenv("NBBIAS_OUT", raising=False)
    return shown


@pytest.fixture(scope="module")
def attacked() -> dict[str, Any]:
    study = study_of(corpus.pair(*hostile.corpus()), lexicon=hostile.lexicon())
    return study.tables() | {"fitted": study.fits(n_topics=3, seeds=[1], threshold=0.1)}


def words_of(read: corpus.Read) -> pd.DataFrame:
    return news.words.level(read, inference=INFERENCE).estimates


def show(kind: str, study: dict[str, Any]) -> str:
    """What the page of a run shows."""
    if kind == "topics":
        return topics.topics(study["fitted"], study["read"]).data
    if kind == "lexicon":
        changes = lexicon.without_each_term(study["scores"], study["read"])
        return lexicon.lexicon(study["read"], changes).data
    seen = pairs.Corpus(study["units"], study["read"], study["scored"])
    nothing = tables.estimates([], study="news_bias")
    return example.example(seen, declared=nothing, focus={"gender": "female"}).data


def explore(kind: str, study: dict[str, Any]) -> None:
    if kind == "lexicon":
        lexicon.edit(study["read"], words_of)
    else:
        seen = pairs.Corpus(study["units"], study["read"], study["scored"])
        pairs.choose(seen, focus={"gender": "female"})


@pytest.mark.parametrize("kind", ["lexicon", "pairs"])
def test_a_recorded_run_has_no_control(
    kind: str, screen: Screen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NBBIAS_OUT", "a run")
    explore(kind, small_study())
    assert not screen.controls and not screen.html


@pytest.mark.parametrize("kind", ["topics", "lexicon", "pairs"])
def test_a_hostile_corpus_is_text(kind: str, attacked: dict[str, Any], screen: Screen) -> None:
    def text(html: str) -> str:
        return hostile.harmless(html, frame_ignored=True).get_text()

    shown = text(show(kind, attacked))
    if kind == "topics":
        return
    assert hostile.SCRIPT in shown
    explore(kind, attacked)
    for control in screen.controls.values():
        assert not control.description_allow_html
        for label, value in list(getattr(control, "options", ()))[:3]:
            assert not set(label) & set("\x00\x1b\u202e\u2066")
            control.value = value
            assert screen.last
    assert any(hostile.SCRIPT in text(html) for html in screen.html)


def test_topics_have_words_by_relevance() -> None:
    page = BeautifulSoup(show("topics", small_study()), "html.parser")
    shown = {word for row in page.select("tbody tr") for word in row("td")[1].text.split()}
    assert page.find("script") is None and len(shown) >= 8
    assert not shown & {"the", "she", "he", "of", "and"}


def test_an_edited_list_gives_what_the_study_measures_with_it(
    screen: Screen, tmp_path: Any
) -> None:
    originals, generations = news.sample.corpus({"fewer": {"female": -0.2}}, seed=7)
    originals = originals.head(30)
    generations = generations[generations["article_id"].isin(originals["article_id"])]
    listed = news.lexicon(["gender"], paths={}, names_path="sample")
    read = news.annotate(news.pair(originals, generations), lexicon=listed)
    lexicon.edit(read, words_of)
    screen.controls["leave out"].value = "she"
    screen.controls["group"].value = ("gender", "female")
    screen.controls["add"].value = "  The "
    path = tmp_path / "gender.csv"
    row = {"group": "female", "term": "the", "kind": "word", "case": "any"}
    own = pd.concat([listed[listed["term"] != "she"], pd.DataFrame([row])])
    own.drop(columns="bias").to_csv(path, index=False)
    how = {"levels": ["word"], "biases": ["gender"], "claims": [], "focus": {}, "draws": 100}
    how["lexicon_paths"] = {"gender": str(path)}
    found = news.measure(originals, generations, **how).estimates
    row = row_of(found, "share_difference", "female")
    for end in ("estimate", "ci_low", "ci_high"):
        assert number(100 * row[end], decimals=1) in screen.last
    once = screen.last
    screen.controls["add"].value = "the"
    assert screen.last == once


TYPED = ["   ", "he", "!!", "x" * 5000, "(", "\x00", hostile.SCRIPT, hostile.LATEX, hostile.ANSI]


def test_whatever_is_typed_gives_a_table_or_a_sentence(screen: Screen) -> None:
    explore("lexicon", small_study())
    screen.controls["group"].value = ("gender", "female")
    for typed in [*TYPED, ""]:
        before = len(screen.html)
        screen.controls["add"].value = typed
        assert len(screen.html) > before and "Traceback" not in screen.last


def test_both_texts_of_a_pair_are_marked_and_scored(screen: Screen) -> None:
    explore("pairs", small_study())
    assert "Choose a pair" in screen.last
    pair = screen.controls["pair"]
    pair.value = pair.options[1][1]
    html = screen.html[-1]
    assert "<mark " in html and "x-score" in html
    assert "Human" in screen.last and f"{pair.value[2]}, neutral" in screen.last
    before = screen.last
    screen.controls["estimate"].value = 1
    assert screen.last != before
