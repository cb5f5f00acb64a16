"""The compiled model against gensim's own, on the same texts and random numbers."""

import numpy as np
import pytest
from gensim.matutils import Sparse2Corpus
from gensim.models import LdaModel
from scipy.sparse import csr_matrix

from nbbias.fast import lda
from nbbias.tables import set_environment

NAMES = {i: f"w{i:03}" for i in range(400)}


def corpus(texts: int, *, kinds: int = 12, seed: int = 0) -> Sparse2Corpus:
    """Bags of words by simulated topics, of very different lengths."""
    rng = np.random.default_rng(seed)
    topics = rng.dirichlet(np.full(len(NAMES), 0.03), kinds)
    rows = []
    for _ in range(texts):
        mixed = rng.dirichlet(np.full(kinds, 0.1)) @ topics
        rows.append(rng.multinomial(rng.integers(1, 300), mixed / mixed.sum()))
    return Sparse2Corpus(csr_matrix(np.array(rows, np.float32)), documents_columns=False)


@pytest.mark.parametrize("topics", [5, 40])
def test_training_is_gensims(topics: int) -> None:
    bags = corpus(150, seed=topics)
    how = {"num_topics": topics, "id2word": NAMES, "passes": 3, "chunksize": 64, "eval_every": None}
    fast, plain = (kind(bags, **how, random_state=4) for kind in (lda.LdaModel, LdaModel))
    assert fast.get_topics() == pytest.approx(plain.get_topics(), abs=5e-4)
    assert fast.num_updates == plain.num_updates
    assert fast.state.numdocs == plain.state.numdocs
    # The same random numbers were drawn.
    assert fast.random_state.rand() == plain.random_state.rand()


@pytest.mark.parametrize("topics", [3, 90])
def test_inference_is_gensims_from_the_same_weights(topics: int) -> None:
    fast = lda.LdaModel(corpus(40), num_topics=topics, id2word=NAMES, random_state=1)
    plain = LdaModel(num_topics=topics, id2word=NAMES)
    plain.expElogbeta = fast.expElogbeta
    rng = np.random.RandomState
    counts = corpus(60, seed=1).sparse.T.tolil()
    counts[7] = 0  # a text without a word
    bags = Sparse2Corpus(counts.tocsr(), documents_columns=False)
    fast.random_state, plain.random_state = rng(3), rng(3)
    gamma, expected = fast.inference(bags)[0], plain.inference(bags)[0]
    assert gamma == pytest.approx(expected, rel=2e-3, abs=2e-3)
    assert (gamma.argmax(axis=1) == expected.argmax(axis=1)).mean() > 0.98


def test_the_number_of_threads_moves_no_number() -> None:
    topics = []
    for workers in ("1", "3"):
        with set_environment(NBBIAS_WORKERS=workers):
            model = lda.LdaModel(corpus(90), num_topics=7, id2word=NAMES, random_state=2)
            topics.append(model.get_topics())
    assert np.array_equal(*topics)
