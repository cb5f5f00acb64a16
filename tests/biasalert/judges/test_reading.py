"""A kept judge says, without scikit-learn, what scikit-learn says that fitted it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.metrics.pairwise import rbf_kernel

from nbbias.biasalert import corpus, grams
from nbbias.biasalert.judges import classifier, reading
from nbbias.text import embeddings

ODD = ["", "?", "a", "Women CAN'T park!", "word " * 50, "女性は 会議に", "x\x00y  z\u200b"]


@given(st.text(max_size=60) | st.sampled_from(ODD))
def test_features_are_those_of_scikit_learn(text: str) -> None:
    words = CountVectorizer(ngram_range=(1, 3), token_pattern=r"[\w']+|[?!.]")
    assert grams.words(text) == words.build_analyzer()(text)
    pieces = CountVectorizer(analyzer="char_wb", ngram_range=(2, 5))
    assert grams.pieces(text) == pieces.build_analyzer()(text)
    fours = CountVectorizer(analyzer="char_wb", ngram_range=(4, 4))
    assert grams.pieces(text, [4]) == fours.build_analyzer()(text)


@pytest.mark.parametrize("texts", [ODD, ["one"], []], ids=["odd", "one", "none"])
def test_scores_and_probabilities_are_those_of_the_fitted_parts(texts: list[str]) -> None:
    table = corpus.texts("sample", seed=0)[0].iloc[:80]
    truth = table["biased"].to_numpy()
    told = list(table["text"]) if texts is ODD else []
    vectors = np.random.default_rng(0).normal(size=(len(table), 16)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    vectorizer = classifier._vectorizer()
    counted = vectorizer.fit_transform(table["text"])
    linear, kernel = classifier._fit_parts(counted, vectors, truth, np.ones(80), 80, 0)
    both = classifier._read(linear, kernel, counted, vectors)
    final = classifier._final().fit(both, truth)
    learnt = [classifier._learnt(one) for one in (vectorizer, linear, kernel, final)]
    asked = texts + told
    own = np.resize(vectors, (len(asked), 16))
    found = reading.scores(learnt, asked, own)
    if asked:
        expected = classifier._read(linear, kernel, vectorizer.transform(asked), own)
        np.testing.assert_allclose(found, expected, atol=1e-4)
        chances = final.predict_proba(expected)[:, 1]
        np.testing.assert_allclose(reading.probability(learnt[3], found), chances, atol=1e-5)
    assert found.shape == (len(asked), 2)


def test_nearness_is_the_kernel() -> None:
    one, two = np.random.default_rng(1).normal(size=(2, 5, 7))
    np.testing.assert_allclose(reading.nearness(one, two), rbf_kernel(one, two, gamma=1.5))


def test_verdicts_do_not_depend_on_the_way_of_embedding(monkeypatch: pytest.MonkeyPatch) -> None:
    table = corpus.texts("sample", seed=0)[0]
    train, test = table[table["split"] == "train"], table[table["split"] == "test"]
    chances = []
    for numpy in (embeddings.NUMPY, 0):
        monkeypatch.setattr(embeddings, "NUMPY", numpy)
        monkeypatch.setattr(embeddings, "_known", {})
        fitted = classifier.fit(train, model="offline", seed=0)
        judged = classifier.judge(test, fitted=fitted, progress=False)
        chances.append(judged["confidence"].to_numpy())
    np.testing.assert_allclose(*chances, atol=1e-3)
    np.testing.assert_array_equal(*(one >= 0.5 for one in chances))
