"""Topics looked into, against the functions that made them and simple means."""

import base64
import json
import re
import zlib

import numpy as np
import pytest
from bs4 import BeautifulSoup

from nbbias import reading
from nbbias.news import fits
from nbbias.news.explore import topics
from tests.build import small_study

K = 4


@pytest.fixture(scope="module")
def study() -> dict:
    return small_study()


def test_shares_are_means_over_each_text_once(study: dict) -> None:
    fit, pairs = study["fitted"].fits[0], study["read"].pairs
    table = topics.summarize(study["fitted"], study["read"]).set_index("topic")
    human = fit.shares.loc[pairs["original_id"].unique()].mean()
    np.testing.assert_allclose(table["share, human"], human[table.index])
    answers = pairs[pairs["model"] == "fewer"]["generated_id"].unique()
    fewer = fit.shares.loc[answers].mean()
    np.testing.assert_allclose(table["share, fewer, neutral"], fewer[table.index])
    assert table["sentences"].is_monotonic_decreasing and (table["sentences"] > 0).all()


def test_ldavis_is_whole_without_stop_words_and_asks_no_network(study: dict) -> None:
    fit = study["fitted"].fits[0]
    page = topics.ldavis(fit, study["tokens"])
    assert "default-src 'none'" in page and not re.search(r"(src|href)\s*=", page)
    packed = re.search(r'<template id="packed">([^<]+)</template>', page)[1]
    content = json.loads(zlib.decompress(base64.b64decode(packed)))
    assert content["code"] == reading.templates.scripts()[1]
    data = content["data"]
    assert sorted(data["mdsDat"]["topics"]) == list(range(1, K + 1))
    words = set(data["tinfo"]["Term"])
    assert len(words) > 20 and not words & fits.stop_words()
    # A topic's part of all words: its share of each text, by the text's length.
    shares = fit.shares.dropna()
    tokens = study["tokens"][study["tokens"]["lemma"].isin(fit.model.vocabulary.index)]
    length = tokens["text_id"].value_counts().reindex(shares.index, fill_value=0).to_numpy()
    expected = 100 * (shares.to_numpy() * length[:, None]).sum(0) / length.sum()
    by_topic = dict(zip(data["mdsDat"]["topics"], data["mdsDat"]["Freq"], strict=True))
    np.testing.assert_allclose([by_topic[t + 1] for t in range(K)], expected, rtol=1e-4)
    assert topics.ldavis(fit._replace(shares=fit.shares[[0, 1]]), study["tokens"]) is None


def test_a_frame_holds_its_page_whole() -> None:
    page = "<p title=\"a\">'&amp;'</p>"
    frame = BeautifulSoup(topics.frame(page, title='x"y'), "html.parser").iframe
    assert (frame["srcdoc"], frame["title"]) == (page, 'x"y')
    assert frame["sandbox"] in ("allow-scripts", ["allow-scripts"])
