"""Explorers: both forms show the tables they are given, and nothing of a text but itself."""

from __future__ import annotations

from typing import Any

import ipywidgets as widgets
import numpy as np
import pandas as pd
import pytest
from bs4 import BeautifulSoup
from IPython.display import HTML

from nbbias import reading, stats
from nbbias.news import tone
from nbbias.news.explore import pairs, topics
from nbbias.text import sentiment
from tests.build import small_study
from tests.news.explore.forms import KINDS, inside, part, read, show


@pytest.fixture
def recorded(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    monkeypatch.setenv("NBBIAS_OUT", str(tmp_path))


def soup(html: str) -> BeautifulSoup:
    return BeautifulSoup(html, "html.parser")


# --- both forms -------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_a_recorded_run_shows_the_form_without_a_kernel(kind: str, recorded: None) -> None:
    found = show(kind, small_study())
    assert isinstance(found, HTML)
    page = soup(found.data)
    assert page.find(["details", "input"]) is not None
    assert page.find("script") is None
    ids = [one["id"] for one in page.find_all(id=True)]
    assert len(ids) == len(set(ids))
    assert {label["for"] for label in page.find_all("label")} == set(ids)
    assert show(kind, small_study()).data == found.data


@pytest.mark.parametrize("kind", KINDS)
def test_an_open_notebook_shows_widgets_and_keeps_the_other_form(
    kind: str, monkeypatch: pytest.MonkeyPatch, tmp_path: object
) -> None:
    live = show(kind, small_study())
    assert isinstance(live, widgets.VBox)
    bundle = live._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in bundle
    monkeypatch.setenv("NBBIAS_OUT", str(tmp_path))
    assert bundle["text/html"] == show(kind, small_study()).data


# --- topics -----------------------------------------------------------------------------------


def test_every_topic_has_a_fold_with_its_words(recorded: None) -> None:
    found = small_study()
    page = soup(show("topics", found).data)
    folds = page.select(".x-list > details")
    assert 1 < len(folds) <= 4
    assert page.iframe is not None
    first = folds[0]
    assert [x.get_text() for x in first.select("label")] == ["λ = 0", "λ = 0.3", "λ = 0.6", "λ = 1"]
    assert [bool(x.has_attr("checked")) for x in first.select("input")] == [0, 1, 0, 0]


def test_a_topic_is_marked_as_the_rule_beside_it_says(recorded: None) -> None:
    # Of each bias at most one group holds a topic: that of the largest residual, if above 0.5.
    page = soup(show("topics", small_study()).data)
    assert "at most one group's, that of the largest residual" in page.get_text()
    seen = 0
    for fold in page.select(".x-list > details"):
        table = next(t for t in fold.find_all("table") if "residual" in t.thead.get_text())
        names = [th.get_text() for th in table.thead.find_all("th")]
        body = table.tbody.find_all("tr")
        cells = [[cell.get_text() for cell in tr.find_all(["th", "td"])] for tr in body]
        rows = pd.DataFrame(cells, columns=names)
        value = rows["residual"].str.replace("\N{MINUS SIGN}", "-").replace("\N{EN DASH}", "nan")
        rows["residual"] = value.astype(float)
        for _, own in rows.groupby("bias"):
            largest = own["residual"] == own["residual"].max()
            held = largest & (own["residual"] > 0.5)
            assert (own["associated"] == held.map({True: "yes", False: ""})).all()
            seen += 1
    assert seen > 4


def test_the_weight_and_the_group_choose_what_is_shown() -> None:
    live = show("topics", small_study())
    before = read(live)
    part(live, widgets.FloatSlider, "λ").value = 1.0
    assert "λ = 1.00" in read(live)
    assert read(live) != before
    whose = part(live, widgets.Dropdown, "Topics of")
    topic = part(live, widgets.Dropdown, "Topic")
    every = len(topic.options)
    whose.value = next(one for _, one in whose.options if one.startswith("gender"))
    assert 0 < len(topic.options) < every
    topic.value = topic.options[-1][1]
    assert f"Topic {topic.value}," in read(live)


def test_no_fit_says_so() -> None:
    study = small_study()
    found = topics.topics(
        study["fitted"]._replace(fits=[]), study["read"], inference=stats.InferenceSettings()
    )
    assert "No topics could be fitted" in found.data


# --- lexicon ----------------------------------------------------------------------------------


def estimate(live: Any, column: str) -> pd.DataFrame:
    html = next(w.value for w in inside(live) if "whole list and with" in getattr(w, "value", ""))
    rows = soup(html).find_all("tr")
    names = [cell.get_text() for cell in rows[0].find_all("th")]
    cells = [[cell.get_text() for cell in row.find_all(["th", "td"])] for row in rows[1:]]
    table = pd.DataFrame(cells, columns=names)
    return table.set_index(["model", "statistic", "group"])[column]


def test_leaving_words_out_and_adding_some_moves_the_estimate() -> None:
    found = small_study()
    live = show("lexicon", found)
    assert (estimate(live, "moved").astype(float) == 0).all()
    out = part(live, widgets.SelectMultiple, "Leave out")
    out.value = ("she", "her")
    from nbbias.news import words

    matches, listed = found["read"].matches, found["read"].lexicon
    kept = matches[~matches["term"].isin(["she", "her"])]
    scores = words.pair_scores(
        found["read"]._replace(matches=kept, lexicon=listed[listed["bias"] == "gender"])
    )
    expected = scores[scores["model"] == "fewer"]["difference_female"].mean()
    shown = estimate(live, "edited list")["fewer", "share difference", "female"]
    assert shown == reading.number(expected, decimals=3)
    assert (estimate(live, "moved") != "0.000").any()
    part(live, widgets.Button, "The whole list again").click()
    assert out.value == ()
    assert (estimate(live, "moved").astype(float) == 0).all()
    part(live, widgets.Text, "Add").value = "the"
    part(live, widgets.Button, "Add to the group").click()
    assert "times in the texts" in read(live)
    assert (estimate(live, "moved") != "0.000").any()


def test_a_blank_word_is_told_and_the_other_bias_starts_anew() -> None:
    live = show("lexicon", small_study())
    before = estimate(live, "edited list")
    part(live, widgets.Text, "Add").value = "  "
    part(live, widgets.Button, "Add to the group").click()
    assert "type a word" in read(live)
    assert estimate(live, "edited list").equals(before)
    group = part(live, widgets.Dropdown, "Group")
    group.value = "male"
    term = part(live, widgets.Dropdown, "In context")
    term.value = "he"
    assert any(m.get_text().lower() == "he" for m in soup(read(live)).find_all("mark"))


# --- pairs ------------------------------------------------------------------------------------


def test_a_page_shows_three_pairs_at_each_end_cut(recorded: None) -> None:
    found = small_study()
    page = soup(show("pairs", found).data)
    models = found["read"].pairs["model"].nunique()
    assert len(page.select(".x-tabs > label")) == models
    assert len(page.find_all("details")) <= 6 * models
    table = pairs.contributions(
        found["scores"][found["scores"]["bias"] == "gender"], group="female"
    )
    total = table[table["model"] == "fewer"]["contribution"].sum()
    assert f"add up to {reading.number(total, decimals=3)}" in page.get_text()
    assert "toxicity" in page.select_one(".x-score").get_text()
    longest = max(len(text.get_text()) for text in page.select(".x-text"))
    assert longest < 1500 + 100 * 40  # the cut text and what its sentences carry


def test_every_pair_of_every_measure_can_be_read() -> None:
    found = small_study()
    live = show("pairs", found)
    chosen = part(live, widgets.Dropdown, "Estimate")
    claims = pairs.claim_table([found["scores"], found["tone"]])
    assert len(chosen.options) == len(claims)
    rank = part(live, widgets.BoundedIntText, "Rank")
    first = read(live)
    part(live, widgets.Button, "Lowers more").click()
    assert rank.value == 2
    part(live, widgets.Button, "Raises more").click()
    assert read(live) == first
    part(live, widgets.Button, "Raises more").click()
    assert rank.value == 1
    for value in [*range(1, len(claims)), 0]:
        rank.value = rank.max
        chosen.value = value
        assert rank.value == 1
        assert "add up to" in read(live)


def test_with_a_second_instrument_chosen_sentences_carry_its_scores() -> None:
    found = small_study()
    table = found["scored"].sentences.assign(sentiment_vader=0.87)
    scored = tone.Scored(table, tone.measures(table, toxicity_scorer="offline"))
    scores = tone.pair_scores(found["read"], scored)
    live = show("pairs", found | {"scored": scored, "tone": scores})
    chosen = part(live, widgets.Dropdown, "Estimate")
    name = sentiment.instrument("vader")
    label = next(one for one, _ in chosen.options if name in one)
    chosen.value = dict(chosen.options)[label]
    page = soup(read(live))
    badges = [one for x in page.select(".x-score") if "sentiment" in (one := x.get_text())]
    assert badges
    assert all("sentiment 0.87" in badge for badge in badges)
    assert f"its sentiment ({name})" in page.get_text()


def test_without_scored_sentences_none_carries_a_score(recorded: None) -> None:
    found = small_study()
    html = pairs.pairs([found["scores"]], found["read"]).data
    badges = {badge.get_text() for badge in soup(html).select(".x-score")}
    assert badges <= {"male", "female"}


def test_no_counted_pair_says_so() -> None:
    found = small_study()
    none = found["scores"].assign(reason="lost", difference_female=np.nan, difference_male=np.nan)
    none = none[none["bias"] == "gender"].dropna(axis=1, how="all")
    html = pairs.pairs([none], found["read"]).data
    assert "No pair counts" in html
