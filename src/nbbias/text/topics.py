"""Topics of texts: latent Dirichlet allocation by gensim, made reproducible.

The module knows nothing of bias. It fits topics on bags of words, measures how well they predict
held-out texts, infers the topics of texts and sentences, and describes topics by their most
relevant words.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any, NamedTuple

import gensim.models
import numpy as np
import pandas as pd
from gensim.matutils import Sparse2Corpus
from scipy.sparse import csr_matrix

from nbbias.tables import DataError, map_threads, stage
from nbbias.text.instruments import has_fast

#: Topics below this share of a text are dropped by gensim when it is not told otherwise.
TRUNCATED_BELOW = 0.01

_BATCH = 4096  # texts inferred, and words predicted, at once: bounds the memory

#: The numbers of (text, word) from which on compiled steps are worth their start.
_WORTH = 20_000

#: Passes of a fit: `choose_passes`.
_MOST_PASSES, _READINGS = 10, 50_000


class BagOfWords(NamedTuple):
    """Texts as word counts.

    `counts`: texts by words (a SciPy sparse matrix); `index`: the texts; `vocabulary`: the words
    and how often each stands in the texts that the vocabulary was made from.
    """

    counts: csr_matrix
    index: pd.Index
    vocabulary: pd.Series


class TopicModel(NamedTuple):
    """A fitted model and its vocabulary: words, and how often each stands in the texts."""

    model: gensim.models.LdaModel
    vocabulary: pd.Series

    def parts(self) -> list[Any]:
        """Return what inference depends on, to tell models apart and to keep them."""
        model, words = self.model, self.vocabulary
        counts = words.to_numpy()
        return [words.index.tolist(), counts, model.state.sstats, model.alpha, model.eta]

    @classmethod
    def of_parts(cls, parts: list[Any]) -> TopicModel:
        """Make a model of its parts, which infers what the fitted one did."""
        words, counts, sstats, alpha, eta = parts
        vocabulary = pd.Series(counts, index=pd.Index(words, dtype=object))
        by_id, make = dict(enumerate(words)), _model_class(sstats.size)
        model = make(id2word=by_id, num_topics=len(alpha), alpha=alpha, eta=eta)
        model.state.sstats = sstats
        return _ready(model, vocabulary)


class _FlatStart(np.random.RandomState):
    """Start every inference at the mean of gensim's random start, gamma(100, 1/100).

    gensim draws one text's start after the other's, so that a text's topics depend on what was
    inferred before it. From the mean they depend on the text alone.
    """

    def gamma(self, shape: Any, scale: Any = 1.0, size: Any = None) -> Any:
        return np.full(size or (), shape * scale)


def _model_class(size: int) -> type[gensim.models.LdaModel]:
    """Return gensim's model, or the compiled one where it is installed and worth it."""
    model: type[gensim.models.LdaModel] = gensim.models.LdaModel
    if size >= _WORTH and has_fast("lda", "numba"):
        model = import_module("nbbias.fast.lda").LdaModel
    return model


def _ready(model: gensim.models.LdaModel, vocabulary: pd.Series) -> TopicModel:
    model.sync_state()
    model.random_state = _FlatStart(0)
    return TopicModel(model, vocabulary)


# --- bags of words ----------------------------------------------------------------------------


def count_words(
    tokens: pd.DataFrame,
    index: pd.Index | None = None,
    *,
    vocabulary: pd.Series | None = None,
    no_below: int = 5,
) -> BagOfWords:
    """Count the words of texts that belong to a vocabulary, or else to one of their own.

    Parameters
    ----------
    tokens
        `text_id` and `lemma`, one row per word, as `text.annotate.lemmatize` returns.
    index
        The texts, those without a word too; by default those that have one.
    vocabulary
        That of other texts, as in `BagOfWords`.
    no_below
        A word belongs to the texts' own vocabulary that stands in at least so many of them.

    Raises
    ------
    DataError
        The texts' own vocabulary is empty.

    Examples
    --------
    >>> tokens = pd.DataFrame({"text_id": [0, 0, 0, 1], "lemma": ["cat", "mouse", "cat", "sea"]})
    >>> bags = count_words(tokens, no_below=1)
    >>> bags.vocabulary.to_dict()
    {'cat': 2, 'mouse': 1, 'sea': 1}
    >>> bags.counts.toarray().tolist()
    [[2.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    index = pd.Index(tokens["text_id"].unique()) if index is None else index
    lemma = tokens["lemma"].astype("category").cat
    rows, columns, words = index.get_indexer(tokens["text_id"]), lemma.codes, lemma.categories
    if vocabulary is not None:
        columns = np.append(vocabulary.index.get_indexer(words), -1)[columns]
        rows, columns, words = rows[columns >= 0], columns[columns >= 0], vocabulary.index
    ones = np.ones(len(rows), np.float32)
    counts = csr_matrix((ones, (rows, columns)), shape=(len(index), len(words)))
    if vocabulary is None:
        chosen = _choose_words(counts, no_below)
        counts, words = counts[:, chosen], words[chosen].astype(object)
        total = np.asarray(counts.sum(axis=0)).ravel().astype(int)
        vocabulary = pd.Series(total, index=words)
    return BagOfWords(counts, index, vocabulary)


def _choose_words(counts: csr_matrix, no_below: int) -> np.ndarray:
    """Return the words of enough texts, in gensim's order: by first text, then by spelling."""
    by_word = counts.tocsc()
    texts = np.diff(by_word.indptr)
    chosen = np.flatnonzero(texts >= no_below)
    if not len(chosen):
        reason = f"0 of {(texts > 0).sum()} words are in {no_below} texts or more"
        raise DataError("topics", f"no vocabulary: {reason} of the {counts.shape[0]} texts")
    return chosen[np.argsort(by_word.indices[by_word.indptr[chosen]], kind="stable")]


# --- fit --------------------------------------------------------------------------------------


def fit(bags: BagOfWords, *, n_topics: int, seed: int) -> TopicModel:
    """Fit topics by online variational Bayes (Hoffman et al. 2010), as gensim does on one worker.

    Parameters
    ----------
    bags
        What `count_words` returned. Texts without a word of the vocabulary do not count.
    n_topics
        Number of topics K, at least 2 and at most the number of words in the vocabulary.
    seed
        Start of the fit; the same seed and texts give the same topics. All texts are read as often
        as `choose_passes` says.

    Returns
    -------
    TopicModel
        Its inferences start at one fixed point (see `infer_shares`), those made by gensim's own
        functions too.

    Raises
    ------
    DataError
        The vocabulary is smaller than `n_topics`, or `n_topics` is below 2.

    Examples
    --------
    >>> words = ["cat", "mouse", "cat", "ship", "sea", "ship"] * 5
    >>> tokens = pd.DataFrame({"text_id": np.arange(30) // 3, "lemma": words})
    >>> topics = fit(count_words(tokens), n_topics=2, seed=1)
    >>> topics.vocabulary.index.tolist()
    ['cat', 'mouse', 'sea', 'ship']
    """
    most = len(bags.vocabulary)
    if not 2 <= n_topics <= most:
        raise DataError("topics", f"{n_topics} topics need 2 to {most}, as many as words are known")
    written = bags.counts[np.diff(bags.counts.indptr) > 0]
    corpus = Sparse2Corpus(written, documents_columns=False)
    words = dict(enumerate(bags.vocabulary.index))
    how = {"random_state": seed, "passes": choose_passes(written.shape[0]), "eval_every": None}
    model = _model_class(bags.counts.nnz)(corpus, num_topics=n_topics, id2word=words, **how)
    return _ready(model, bags.vocabulary)


def choose_passes(texts: int) -> int:
    """Return how often a fit reads so many texts: 10 times up to 5,000, once from 50,000 on.

    Online variational Bayes learns from each batch, so a large corpus needs few passes (Hoffman
    et al. 2010, sec. 4); more of them predict held-out texts no better.

    Examples
    --------
    >>> [choose_passes(texts) for texts in (400, 5_000, 17_258, 69_032)]
    [10, 10, 3, 1]
    """
    return min(_MOST_PASSES, -(-_READINGS // max(texts, 1)))


@stage
def perplexity(
    tokens: pd.DataFrame,
    articles: pd.Series,
    *,
    candidates: Sequence[int],
    held_out_share: float,
    seed: int,
    no_below: int = 5,
) -> pd.DataFrame:
    """Compare numbers of topics by how well they predict texts that were held out.

    Parameters
    ----------
    tokens
        `text_id` and `lemma`, as in `count_words`.
    articles
        The article of every text, by text. All texts of an article are on one side: a rewritten
        article would otherwise be held out and known at once.
    candidates
        Numbers of topics to try.
    held_out_share
        Share of the articles held out, in (0, 1); at least one is, and one is not.
    seed
        Start of the split and of every fit.
    no_below
        As in `count_words`.

    Returns
    -------
    DataFrame
        By `n_topics`: `perplexity`, by document completion (Wallach et al. 2009): the first,
        third, … of a held-out text's known words give its topics, which predict the others. At
        least 1, lower is better, comparable within this table only (one vocabulary). NaN with a
        `reason` where no text has two known words, or the topics cannot be fitted. `words`
        predicted; `held_out` and `fitted` texts. gensim's own bound is not used: a word unseen in
        training dominates it.

    Examples
    --------
    >>> words = ["cat", "mouse", "ship", "sea", "mouse", "cat", "sea", "ship"]
    >>> tokens = pd.DataFrame({"text_id": np.arange(8) // 2, "lemma": words})
    >>> table = perplexity(tokens, pd.Series([1, 2, 3, 4]), candidates=[2], held_out_share=0.25,
    ...                    seed=1, no_below=1)
    >>> table[["n_topics", "held_out", "fitted"]].to_dict("records")
    [{'n_topics': 2, 'held_out': 1, 'fitted': 3}]
    """
    distinct = articles.unique()
    size = min(max(1, round(held_out_share * len(distinct))), len(distinct) - 1)
    drawn = np.random.default_rng(seed).permutation(distinct)[: max(size, 0)]
    out = articles.isin(drawn)
    is_out = tokens["text_id"].isin(articles.index[out])

    def measure(n_topics: int) -> tuple[Any, ...]:
        value, words, reason = np.nan, 0, "no held-out text has two words of the vocabulary"
        try:
            if len(distinct) < 2:
                raise DataError("topics", "needs two articles")
            bags = count_words(tokens[~is_out], articles.index[~out], no_below=no_below)
            value, words = _predict(fit(bags, n_topics=n_topics, seed=seed), tokens[is_out])
        except DataError as error:
            reason = "; ".join(error.breaches)
        return n_topics, value, words, out.sum(), (~out).sum(), None if words else reason

    rows = map_threads(measure, candidates, label="numbers of topics")
    columns = ["n_topics", "perplexity", "words", "held_out", "fitted", "reason"]
    return pd.DataFrame(rows, columns=columns)


def _predict(topics: TopicModel, tokens: pd.DataFrame) -> tuple[float, int]:
    """Predict every other known word of texts by the topics that the words between them give."""
    subset = tokens[tokens["lemma"].isin(topics.vocabulary.index)]
    text, index = pd.factorize(subset["text_id"])
    odd = subset.groupby("text_id", sort=False).cumcount().to_numpy() % 2 == 1
    if not odd.any():
        return np.nan, 0
    bags = count_words(subset[~odd], index, vocabulary=topics.vocabulary)
    theta = infer_shares(topics, bags, truncated=False).to_numpy()
    words = np.ascontiguousarray(topics.model.get_topics().T, dtype=float)
    ids = topics.vocabulary.index.get_indexer(subset["lemma"][odd])
    logs = np.empty(len(ids))
    for at in np.array_split(np.arange(len(ids)), len(ids) // _BATCH + 1):
        logs[at] = np.log(np.einsum("ij,ij->i", theta[text[odd][at]], words[ids[at]]))
    return float(np.exp(-logs.mean())), len(ids)


def choose(table: pd.DataFrame) -> int:
    """Return the number of topics with the lowest perplexity; of equals, the fewest topics.

    One candidate needs no perplexity; where none of several has one, the fewest topics are taken.

    Parameters
    ----------
    table
        Numbers of topics with their perplexities, as `perplexity` returns them.

    Examples
    --------
    >>> choose(pd.DataFrame({"n_topics": [5, 10], "perplexity": [90.0, 80.0]}))
    10
    """
    measured = table.dropna(subset="perplexity")
    ranked = (table if measured.empty else measured).sort_values(["perplexity", "n_topics"])
    return int(ranked["n_topics"].iloc[0])


# --- inference --------------------------------------------------------------------------------


def infer_shares(topics: TopicModel, bags: BagOfWords, *, truncated: bool) -> pd.DataFrame:
    """Infer how much of every text is about every topic.

    Inference starts at one fixed point, so a text's vector does not depend on the other texts.

    Parameters
    ----------
    topics
        What `fit` returned.
    bags
        What `count_words` returned, with the vocabulary of `topics`.
    truncated
        False: whole vectors, which sum to 1. The prior then leaves every topic a little of every
        text. True: shares below 0.01 are 0, as gensim gives them by default; the rest is not
        scaled up.

    Returns
    -------
    DataFrame
        Texts by topics 0 … K-1, in [0, 1]; NaN for a text without a word of the vocabulary.

    Examples
    --------
    >>> words = ["cat", "mouse", "cat", "ship", "sea", "ship"] * 5
    >>> tokens = pd.DataFrame({"text_id": np.arange(30) // 3, "lemma": words})
    >>> bags = count_words(tokens, pd.RangeIndex(11))
    >>> shares = infer_shares(fit(bags, n_topics=2, seed=1), bags, truncated=False)
    >>> shares.sum(axis=1, skipna=False).round(6).tolist()[-2:]
    [1.0, nan]
    """
    gamma, _ = topics.model.inference(Sparse2Corpus(bags.counts, documents_columns=False))
    shares = (gamma / gamma.sum(axis=1, keepdims=True)).astype(float)
    shares[np.diff(bags.counts.indptr) == 0] = np.nan  # without words they would be the prior's
    if truncated:
        shares[shares < TRUNCATED_BELOW] = 0
    columns = pd.RangeIndex(topics.model.num_topics, name="topic")
    return pd.DataFrame(shares, index=bags.index, columns=columns)


def infer_topic(topics: TopicModel, bags: BagOfWords) -> pd.Series:
    """Give every sentence the topic with the largest share.

    Returns
    -------
    Series of Int64
        By the index of `bags`, 0 … K-1; missing for a sentence without a word of the vocabulary.

    Examples
    --------
    >>> words = ["cat", "mouse", "cat", "ship", "sea", "ship"] * 5
    >>> tokens = pd.DataFrame({"text_id": np.arange(30) // 3, "lemma": words})
    >>> bags = count_words(tokens)
    >>> topic = infer_topic(fit(bags, n_topics=2, seed=1), bags)
    >>> bool(topic[0] == topic[2]), bool(topic[0] == topic[1])
    (True, False)
    """
    topic = pd.Series(-1, bags.index, dtype="Int64")
    for at in range(0, len(topic), _BATCH):
        part = slice(at, at + _BATCH)
        batch = bags._replace(counts=bags.counts[part], index=bags.index[part])
        shares = infer_shares(topics, batch, truncated=False)
        topic.iloc[part] = shares.to_numpy().argmax(axis=1)
    return topic.mask(np.diff(bags.counts.indptr) == 0)


# --- in words ---------------------------------------------------------------------------------


def describe(topics: TopicModel, *, relevance_lambda: float = 0.6, top: int = 10) -> pd.DataFrame:
    """Describe topics by their most relevant words (Sievert and Shirley 2014, LDAvis).

    Parameters
    ----------
    topics
        What `fit` returned.
    relevance_lambda
        Weight λ in [0, 1] of λ·log p(w|t) + (1-λ)·log(p(w|t) / p(w)): at 1 words that are
        frequent in the topic lead, at 0 those that are rare elsewhere.
    top
        Words per topic.

    Returns
    -------
    DataFrame
        `topic`, `rank` (1 is the most relevant), `word`, `relevance`, `probability` (p(w|t)).

    Examples
    --------
    >>> tokens = pd.DataFrame({"text_id": np.arange(20) // 2,
    ...                        "lemma": ["cat", "mouse", "ship", "sea"] * 5})
    >>> table = describe(fit(count_words(tokens), n_topics=2, seed=1), top=2)
    >>> sorted(sorted(words) for words in table.groupby("topic")["word"].agg(list))
    [['cat', 'mouse'], ['sea', 'ship']]
    """
    probability = topics.model.get_topics().astype(float)
    counts = topics.vocabulary.to_numpy(float)
    lift = np.log(probability) - np.log(counts / counts.sum())
    relevance = relevance_lambda * np.log(probability) + (1 - relevance_lambda) * lift
    leading = np.argsort(-relevance, axis=1, kind="stable")[:, :top]
    topic, rank = np.indices(leading.shape)
    return pd.DataFrame(
        {
            "topic": topic.ravel(),
            "rank": rank.ravel() + 1,
            "word": topics.vocabulary.index[leading.ravel()],
            "relevance": relevance[topic, leading].ravel(),
            "probability": probability[topic, leading].ravel(),
        }
    )
