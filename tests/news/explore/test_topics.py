"""Topics looked into, against the functions that made them and simple means."""

from __future__ import annotations

import base64
import json
import re
import zlib

import numpy as np
import pandas as pd
import pytest

from nbbias import reading
from nbbias.news import fits
from nbbias.news.explore import topics
from nbbias.news.fits import Fit, with_topics
from nbbias.text import topics as text_topics
from tests.build import small_study

K = 4


@pytest.fixture(scope="module")
def found() -> dict:
    return small_study()


def test_words_at_each_weight_are_the_most_relevant(found: dict) -> None:
    fit = found["fitted"].fits[0]
    words = topics.words(fit, lambdas=[0.0, 1.0], top=5)
    for weight, own in words.groupby("relevance_lambda"):
        expected = text_topics.describe(fit.model, relevance_lambda=weight, top=5)
        assert own["word"].tolist() == expected["word"].tolist()
    # At 1 relevance is the probability alone.
    at_one = words[words["relevance_lambda"] == 1.0]
    assert at_one.groupby("topic")["probability"].apply(lambda p: p.is_monotonic_decreasing).all()


def test_residuals_are_those_behind_the_associations(found: dict) -> None:
    fit, read = found["fitted"].fits[0], found["read"]
    table = topics.residuals(read, fit)
    told = with_topics(found["read"].sentences, fit.topic)
    for bias, own in table.groupby("bias"):
        of_bias = told[told["bias"] == bias].dropna(subset="topic")
        for row in own.itertuples():
            here = (of_bias["topic"] == row.topic) & (of_bias["group"] == row.group)
            assert row.sentences == here.sum()
        largest = own.groupby("topic")["residual"].max()
        kept = fit.associated[fit.associated["bias"] == bias].set_index("topic")
        np.testing.assert_allclose(largest, kept["residual"][largest.index])
        held = own[own["associated"]].set_index("topic")["group"]
        assert held.to_dict() == kept["group"].dropna().to_dict()


def test_own_associations_are_read_from_the_originals(found: dict) -> None:
    fit, read = found["fitted"].fits[0], found["read"]
    how = fits.Fitting(K, [1], "own", threshold=0.5)
    own = fits.associate(with_topics(read.sentences, fit.topic), read, how)
    table = topics.residuals(read, fit._replace(associated=own))
    human = own[own["model"] == "human"].set_index(["bias", "topic"])["residual"]
    largest = table.groupby(["bias", "topic"])["residual"].max()
    np.testing.assert_allclose(largest, human[largest.index])


def test_shares_are_means_over_each_text_once(found: dict) -> None:
    fit, pairs = found["fitted"].fits[0], found["read"].pairs
    table = topics.by_model(pairs, fit, confidence=0.9)
    usable = pairs[pairs["lost"].isna()]
    human = table[table["model"] == "human"].set_index("topic")
    expected = fit.shares.loc[usable["original_id"].unique()].mean()
    np.testing.assert_allclose(human["share"], expected)
    assert (human["n"] == usable["original_id"].nunique()).all()
    np.testing.assert_allclose(table.groupby(["model", "prompt"])["share"].sum(), 1)
    assert ((table["ci_low"] <= table["share"]) & (table["share"] <= table["ci_high"])).all()


def test_examples_are_sentences_of_the_topic_and_its_group(found: dict) -> None:
    fit = found["fitted"].fits[0]
    residuals = topics.residuals(found["read"], fit)
    drawn = topics.examples(found["read"].sentences, fit, residuals, per_topic=3, seed=1)
    assert len(drawn)
    assert not drawn.duplicated(["bias", "topic", "text_id"]).any()
    assert drawn.groupby(["bias", "topic"]).size().max() <= 3
    held = residuals[residuals["associated"]].set_index(["bias", "topic"])["group"]
    for row in drawn.itertuples():
        assert fit.topic[row.text_id, row.sentence_id] == row.topic
        group = held.get((row.bias, row.topic))
        assert row.group == group if group not in (None, "neutral") else row.group != "neutral"
    again = topics.examples(found["read"].sentences, fit, residuals, per_topic=3, seed=1)
    assert again.equals(drawn)


def unpacked(page: str) -> dict:
    packed = re.search(r'<template id="packed">([^<]+)</template>', page)[1]
    return json.loads(zlib.decompress(base64.b64decode(packed)))


def test_ldavis_is_whole_and_asks_no_network(found: dict) -> None:
    fit: Fit = found["fitted"].fits[0]
    page = topics.ldavis(fit, found["tokens"])
    assert page == topics.ldavis(fit, found["tokens"])
    assert "default-src 'none'" in page
    assert not re.search(r"(src|href)\s*=", page)
    content = unpacked(page)
    assert content["code"] == reading.templates.scripts()[1]
    data = content["data"]
    assert sorted(data["mdsDat"]["topics"]) == list(range(1, K + 1))
    # A topic's part of all words: its share of each text, by the text's length.
    known = fit.model.vocabulary
    shares = fit.shares.dropna()
    tokens = found["tokens"][found["tokens"]["lemma"].isin(known.index)]
    length = tokens["text_id"].value_counts().reindex(shares.index, fill_value=0).to_numpy()
    expected = 100 * (shares.to_numpy() * length[:, None]).sum(0) / length.sum()
    by_topic = dict(zip(data["mdsDat"]["topics"], data["mdsDat"]["Freq"], strict=True))
    np.testing.assert_allclose([by_topic[t + 1] for t in range(K)], expected, rtol=1e-4)


def test_two_topics_span_no_map(found: dict) -> None:
    fit = found["fitted"].fits[0]
    assert topics.ldavis(fit._replace(shares=fit.shares[[0, 1]]), found["tokens"]) is None


def test_a_frame_holds_its_page_whole() -> None:
    from bs4 import BeautifulSoup

    page = "<p title=\"a\">'&amp;'</p>"
    frame = BeautifulSoup(topics.frame(page, title='x"y'), "html.parser").iframe
    assert frame["srcdoc"] == page
    assert frame["title"] == 'x"y'
    assert frame["sandbox"] == ["allow-scripts"] or frame["sandbox"] == "allow-scripts"


def test_no_sentence_of_a_group_is_no_example(found: dict) -> None:
    neutral = found["read"].sentences.assign(group="neutral")
    fit = found["fitted"].fits[0]
    residuals = topics.residuals(found["read"]._replace(sentences=neutral), fit)
    assert residuals.loc[residuals["group"] != "neutral", "sentences"].eq(0).all()
    none = topics.examples(neutral, fit, residuals, per_topic=2, seed=0)
    assert none.empty
    assert isinstance(none, pd.DataFrame)


def test_the_map_of_many_topics_alike_has_real_places() -> None:
    """Of 24 topics of which most have no sentence, eigenvalues came out complex."""
    rng = np.random.default_rng(1)
    rows = np.vstack([rng.dirichlet(np.ones(40), 4), np.full((20, 40), 1 / 40)])
    rows[4:] += rng.uniform(0, 1e-9, (20, 40))
    found = topics._map(rows / rows.sum(axis=1, keepdims=True))
    assert found.shape == (24, 2) and np.isrealobj(found) and np.isfinite(found).all()
