"""A kept judge says, without scikit-learn, what scikit-learn says that fitted it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.pipeline import FeatureUnion

from nbbias.biasalert import corpus, grams
from nbbias.biasalert.judges import classifier, counting, reading

ODD = ["", "?", "a", "Women CAN'T park!", "word " * 50, "女性は 会議に", "x\x00y  z\u200b"]


@given(st.text(max_size=60) | st.sampled_from(ODD))
def test_features_are_those_of_scikit_learn(text: str) -> None:
    words = CountVectorizer(ngram_range=(1, 3), token_pattern=r"[\w']+|[?!.]")
    assert grams.words(text) == words.build_analyzer()(text)
    pieces = CountVectorizer(analyzer="char_wb", ngram_range=(2, 5))
    assert grams.pieces(text) == pieces.build_analyzer()(text)
    fours = CountVectorizer(analyzer="char_wb", ngram_range=(4, 4))
    assert grams.pieces(text, [4]) == fours.build_analyzer()(text)


def vectors_of(n: int) -> np.ndarray:
    found = np.random.default_rng(0).normal(size=(n, 16)).astype(np.float32)
    return found / np.linalg.norm(found, axis=1, keepdims=True)


@pytest.mark.parametrize("texts", [ODD, ["one"], []], ids=["odd", "one", "none"])
def test_scores_and_probabilities_are_those_of_the_fitted_parts(texts: list[str]) -> None:
    """The linear part, here fitted by its primal form; the last part, by its own library."""
    table = corpus.texts("sample", seed=0)[0].iloc[:80]
    truth, vectors = table["biased"].to_numpy(), vectors_of(80)
    vectorizer = FeatureUnion(
        [
            ("words", TfidfVectorizer(analyzer=grams.words, min_df=2, sublinear_tf=True)),
            ("characters", TfidfVectorizer(analyzer=grams.pieces, min_df=2, sublinear_tf=True)),
        ]
    )
    primal = LogisticRegression(C=2.0, solver="liblinear", tol=1e-8)
    primal.fit(classifier._joined(vectorizer.fit_transform(table["text"]), vectors), truth)
    counts, counted = counting.weighed(table["text"].tolist())
    parts = classifier._fit_parts(counted, vectors, truth, np.ones(80), 80, 0)
    both = classifier._read(*parts, counted, vectors)
    final = classifier._final().fit(both, truth)
    learnt = [counts, *parts, classifier._learnt(final)]
    asked = texts + (list(table["text"]) if texts is ODD else [])
    own = np.resize(vectors, (len(asked), 16))
    found = reading.scores(learnt, asked, own)
    assert found.shape == (len(asked), 2)
    if asked:
        joined = classifier._joined(vectorizer.transform(asked), own)
        np.testing.assert_allclose(found[:, 0], primal.decision_function(joined), atol=5e-3)
        chances = final.predict_proba(found)[:, 1]
        np.testing.assert_allclose(reading.probability(learnt[3], found), chances, atol=1e-6)


@pytest.mark.parametrize("same", [False, True], ids=["distinct", "each twice"])
def test_the_kernel_part_is_that_of_the_root_of_the_landmarks_matrix(same: bool) -> None:
    vectors = vectors_of(300)
    if same:
        vectors[150:] = vectors[:150]
    rng = np.random.default_rng(3)
    truth = vectors[:, 0] + rng.normal(size=300) > 0
    weights = rng.uniform(0.5, 2, size=300)
    nystroem = Nystroem(gamma=reading.GAMMA, n_components=120, random_state=4)
    near = nystroem.fit_transform(vectors.astype(float))
    last = LogisticRegression(C=8.0, tol=1e-8, max_iter=10_000).fit(near, truth, weights)
    kernel = classifier._near(vectors, truth, weights, 120, 4)
    assert kernel["landmarks"].shape == (120, 16)
    own = reading.near_odds(kernel, vectors)
    # Their solvers stop at another place: of log-odds of some 2.
    np.testing.assert_allclose(own, last.decision_function(near), atol=0.05)


def test_counts_are_those_of_scikit_learn_whatever_was_counted_before() -> None:
    table = corpus.texts("sample", seed=0)[0]["text"].tolist()
    for texts in (table[:60], [*table[40:], *ODD], [*ODD, *ODD], table[:60], ["a b", "a"]):
        learnt, counted = counting.weighed(texts)
        expected = []
        for name, read in counting.READERS.items():
            tfidf = TfidfVectorizer(analyzer=read, min_df=2, sublinear_tf=True)
            expected.append(tfidf.fit_transform(texts).toarray())
            assert learnt[name]["vocabulary_"] == tfidf.vocabulary_
            np.testing.assert_allclose(learnt[name]["idf_"], tfidf.idf_)
        np.testing.assert_allclose(counted.toarray(), np.hstack(expected), atol=1e-12)
    for nothing in ([], [""], ["one"]):
        learnt, counted = counting.weighed(nothing)
        assert counted.shape == (len(nothing), 0)
        assert learnt["words"]["vocabulary_"] == {}


def test_each_text_is_read_once_and_few_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    readers = {"words": lambda text: (read.append(text), text.split())[1]}
    monkeypatch.setattr(counting, "READERS", readers)
    monkeypatch.setattr(counting, "_known", {"words": counting._Known({}, {})})
    monkeypatch.setattr(counting, "MOST", 5)
    first = counting.weighed(["a b", "b c", "a b"])[0]
    assert counting.weighed(["b c", "a b", "b"])[0]["words"]["vocabulary_"] == {"b": 0}
    assert read == ["a b", "b c", "b"]
    assert counting.weighed(["a b", "b c", "a b"])[0]["words"]["vocabulary_"] == {"a": 0, "b": 1}
    assert first["words"]["vocabulary_"] == {"a": 0, "b": 1}
    assert read == ["a b", "b c", "b", "a b", "b c"]  # with three more there would be six


def test_nearness_is_the_kernel() -> None:
    one, two = np.random.default_rng(1).normal(size=(2, 5, 7))
    np.testing.assert_allclose(reading.nearness(one, two), rbf_kernel(one, two, gamma=1.5))
