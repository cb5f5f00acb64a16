"""The compiled model against gensim's own, on the same bags and random numbers."""

from __future__ import annotations

import numpy as np
import pytest
from gensim.corpora import Dictionary
from gensim.models import LdaModel
from hypothesis import given, settings, strategies as st
from scipy.special import psi

from nbbias.text.lda import Bags, Lda, exp_psi

Bow = list[tuple[int, float]]


def corpus(texts: int, *, words: int = 400, kinds: int = 12, seed: int = 0) -> list[Bow]:
    """Bags of words by planted topics, of very different lengths."""
    rng = np.random.default_rng(seed)
    topics = rng.dirichlet(np.full(words, 0.03), kinds)
    bows = []
    for _ in range(texts):
        mixed = rng.dirichlet(np.full(kinds, 0.1)) @ topics
        drawn = rng.multinomial(rng.integers(1, 300), mixed / mixed.sum())
        bows.append([(int(w), float(n)) for w, n in enumerate(drawn) if n])
    return bows


def names(words: int = 400) -> Dictionary:
    dictionary = Dictionary()
    dictionary.token2id = {f"w{i:03}": i for i in range(words)}
    return dictionary


@pytest.mark.parametrize("topics", [2, 5, 6, 40])
def test_training_is_gensims(topics: int) -> None:
    bows = corpus(150, seed=topics)
    how = {"num_topics": topics, "id2word": names(), "passes": 3, "chunksize": 64}
    ours, plain = (
        kind(bows, **how, random_state=4, eval_every=None, minimum_probability=0)
        for kind in (Lda, LdaModel)
    )
    assert ours.get_topics() == pytest.approx(plain.get_topics(), abs=5e-4)
    assert ours.num_updates == plain.num_updates
    assert ours.state.numdocs == plain.state.numdocs
    # The same random numbers were drawn.
    assert ours.random_state.rand() == plain.random_state.rand()


@pytest.mark.parametrize("topics", [3, 90])
def test_inference_is_gensims_from_the_same_weights(topics: int) -> None:
    bows = [*corpus(60, seed=1), [], [(7, 2.0)]]
    ours = Lda(corpus(40), num_topics=topics, id2word=names(), random_state=1)
    plain = LdaModel(id2word=names(), num_topics=topics, dtype=np.float32)
    plain.expElogbeta, plain.alpha = np.ascontiguousarray(ours.expElogbeta), ours.alpha
    ours.random_state, plain.random_state = (np.random.RandomState(8) for _ in range(2))
    found, expected = ours.inference(bows)[0], plain.inference(bows)[0]
    assert found / found.sum(1, keepdims=True) == pytest.approx(
        expected / expected.sum(1, keepdims=True), abs=1e-3
    )
    assert np.array_equal(found.argmax(1), expected.argmax(1))
    assert found.sum(axis=1) == pytest.approx(expected.sum(axis=1), rel=1e-5)


def test_threads_move_no_number(monkeypatch: pytest.MonkeyPatch) -> None:
    bows = corpus(100, seed=2)
    fitted = []
    for workers in ("1", "2", "5"):
        monkeypatch.setenv("NBBIAS_WORKERS", workers)
        model = Lda(bows, num_topics=9, id2word=names(), random_state=2, chunksize=30, passes=2)
        model.random_state = np.random.RandomState(0)
        fitted.append((model.get_topics(), model.inference(bows)[0]))
    for topics, gamma in fitted[1:]:
        assert np.array_equal(topics, fitted[0][0])
        assert np.array_equal(gamma, fitted[0][1])


def test_weights_made_anew_are_those_of_training() -> None:
    model = Lda(corpus(30), num_topics=4, id2word=names(), random_state=0)
    known = model.expElogbeta.copy()
    model.sync_state()
    assert np.array_equal(model.expElogbeta, known)
    plain = LdaModel(id2word=names(), num_topics=4)
    plain.state.sstats = np.ascontiguousarray(model.state.sstats)
    plain.sync_state()
    assert known == pytest.approx(plain.expElogbeta, rel=1e-4, abs=1e-18)


def test_exp_psi_is_scipys() -> None:
    x = np.exp(np.linspace(np.log(0.015), np.log(1e7), 5000)).astype(np.float32)
    assert exp_psi(x) == pytest.approx(np.exp(psi(x.astype(float))), rel=1e-5)
    assert exp_psi(np.array([[1e-6, 1e-3], [0.004, 1]]))[:, 0].tolist() == pytest.approx(
        [0, 0], abs=1e-30
    )
    assert exp_psi(np.empty(0)).shape == (0,)


lists = st.lists(st.lists(st.integers(-1, 9), max_size=12), max_size=6)


@settings(deadline=None)
@given(lists)
def test_bags_count_the_words_one_by_one(texts: list[list[int]]) -> None:
    ids = np.array([word for own in texts for word in own], np.int32)
    starts = np.append(0, np.cumsum([len(own) for own in texts], dtype=np.int64)).astype(np.int64)
    bags = Bags.of_words(ids, starts)
    bows = [sorted((w, own.count(w)) for w in {*own} if w >= 0) for own in texts]
    same = Bags.of_bows(bows)
    for found, expected in zip(bags, same, strict=True):
        assert found.tolist() == expected.tolist()
    assert bags.sizes.tolist() == [len(bow) for bow in bows]
    full = bags.full()
    assert full.sizes.tolist() == [len(bow) for bow in bows if bow]
    assert full.ids.tolist() == bags.ids.tolist()
    for at in range(len(texts)):
        one = bags.part(at, at + 1)
        assert [*zip(one.ids, one.counts, strict=True)] == bows[at]
