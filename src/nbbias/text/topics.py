"""Topics of texts: latent Dirichlet allocation by gensim, made reproducible.

The module knows nothing of bias. It fits topics on tokens, says how well they predict texts that
were held out, and gives every text its topic vector and every sentence its topic. It describes
topics by their most relevant words, and says which topics of two fits are alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from gensim.corpora import Dictionary
from gensim.models import LdaModel
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

from nbbias.tables import DataError, map_chunks, stage
from nbbias.text.tokens import Tokens, concat, lists, of_lists, take

#: Topics below this share of a text are dropped by gensim when it is not told otherwise.
TRUNCATED_BELOW = 0.01

_BATCH = 4096  # texts inferred at once: bounds the memory


class TopicModel(NamedTuple):
    """A fitted model and the words it knows."""

    model: LdaModel
    dictionary: Dictionary

    def parts(self) -> list[Any]:
        """Return what inference depends on, to tell models apart."""
        words = sorted(self.dictionary.token2id.items())
        counts = [self.dictionary.cfs[at] for _, at in words]
        return [words, counts, self.model.state.sstats, self.model.alpha, self.model.eta]

    @classmethod
    def of_parts(cls, parts: list[Any]) -> TopicModel:
        """Make a model of its parts, which infers what the fitted one did."""
        words, counts, sstats, alpha, eta = parts
        dictionary = Dictionary()
        dictionary.token2id = dict(words)
        dictionary.cfs = {at: n for (_, at), n in zip(words, counts, strict=True)}
        model = LdaModel(id2word=dictionary, num_topics=len(alpha), alpha=alpha, eta=eta)
        if model.state.sstats.shape != sstats.shape:
            raise ValueError("the topics are of other words")
        model.state.sstats = sstats
        model.sync_state()
        model.random_state = _FlatStart()
        return cls(model, dictionary)


class _FlatStart(np.random.RandomState):
    """Start every inference at the mean of gensim's random start, gamma(100, 1/100).

    gensim draws one text's start after the other's, so that a text's topics depend on what was
    inferred before it. From the mean they depend on the text alone.
    """

    def gamma(self, shape: Any, scale: Any = 1.0, size: Any = None) -> Any:
        return np.full(size or (), shape * scale)


# --- words ------------------------------------------------------------------------------------


def tokens(texts: pd.Series) -> Tokens:
    """Split texts into lemmas.

    Parameters
    ----------
    texts
        Texts by any index; a missing text has no tokens. Equal texts are read once.

    Returns
    -------
    Tokens
        By the index of `texts`: lower-case lemmas of the alphabetical tokens, in order. Stop words
        are kept, as in Fang et al. (2024). Lemmas are looked up in spaCy's table, without regard
        to what part of speech a word is ("left" is always "leave").

    Examples
    --------
    >>> lists(tokens(pd.Series(["Cats chased mice.", None]))).tolist()
    [['cat', 'chase', 'mouse'], []]
    """
    from nbbias.text.tokeniser import lemmas

    known = texts.dropna().astype(str)
    number, distinct = pd.factorize(known)
    none = of_lists(pd.Series([[]], index=[len(distinct)], dtype=object))
    once = concat([*map_chunks(lemmas, pd.Series(distinct)), none])
    at = np.full(len(texts), len(distinct))  # a missing text is the last, without words
    at[texts.notna()] = number
    return take(once, at)._replace(index=texts.index)


# --- fit --------------------------------------------------------------------------------------


def fit(
    tokens: Tokens | pd.Series,
    *,
    n_topics: int,
    seed: int,
    passes: int = 10,
    no_below: int = 5,
    no_above: float = 1.0,
) -> TopicModel:
    """Fit topics by online variational Bayes (Hoffman et al. 2010) on one worker.

    Parameters
    ----------
    tokens
        What `tokens` returned, or lists of words. Texts without a word of the vocabulary do not
        count.
    n_topics
        Number of topics K, at least 2 and at most the number of words in the vocabulary.
    seed
        Start of the fit; the same seed and tokens give the same topics.
    passes
        Times that all texts are read.
    no_below, no_above
        A word belongs to the vocabulary that stands in at least `no_below` texts and in at most
        the share `no_above` of them, in (0, 1]. At 1 no word is left out for being frequent.

    Returns
    -------
    TopicModel
        Its inferences start at one fixed point (see `shares`), those made by gensim's own
        functions too.

    Raises
    ------
    DataError
        The vocabulary is empty or smaller than `n_topics`, or `n_topics` is below 2.

    Examples
    --------
    >>> animals, ships = ["cat", "mouse", "cat"], ["ship", "sea", "ship"]
    >>> topics = fit(pd.Series([animals, ships] * 5), n_topics=2, seed=1)
    >>> sorted(topics.dictionary.token2id)
    ['cat', 'mouse', 'sea', 'ship']
    """
    texts = lists(tokens)
    dictionary = Dictionary(texts)
    seen = len(dictionary)
    dictionary.filter_extremes(no_below=no_below, no_above=no_above, keep_n=None)
    kept = f"{len(dictionary)} of {seen} words are in {no_below} texts or more and in at most "
    kept += f"{no_above:.0%} of the {len(texts)} texts"
    if len(dictionary) == 0:
        raise DataError("topics", f"no vocabulary: {kept}; lower no_below or raise no_above")
    if not 2 <= n_topics <= len(dictionary):
        raise DataError("topics", f"{n_topics} topics need 2 to {len(dictionary)}: {kept}")
    bows = [bow for bow in map(dictionary.doc2bow, texts) if bow]
    model = LdaModel(
        bows, num_topics=n_topics, id2word=dictionary, random_state=seed, passes=passes,
        eval_every=None,
    )  # fmt: skip
    model.random_state = _FlatStart(seed)
    return TopicModel(model, dictionary)


@stage
def perplexity(
    tokens: Tokens | pd.Series,
    articles: pd.Series,
    *,
    candidates: Sequence[int],
    held_out_share: float,
    seed: int,
    **settings: Any,
) -> pd.DataFrame:
    """Compare numbers of topics by how well they predict texts that were held out.

    Parameters
    ----------
    tokens
        What `tokens` returned, or lists of words.
    articles
        The article of every text, by the same index. All texts of an article are on one side:
        a rewritten article would otherwise be held out and known at once.
    candidates
        Numbers of topics to try.
    held_out_share
        Share of the articles held out, in (0, 1); at least one is, and one is not.
    seed
        Start of the split and of every fit.
    **settings
        Further arguments of `fit`.

    Returns
    -------
    DataFrame
        By `n_topics`: `perplexity`, by document completion (Wallach et al. 2009): of a held-out
        text's known words the first, third, … tell its topics and the others are predicted. At
        least 1, lower is better, comparable within this table only (one vocabulary). NaN with a
        `reason` where no text has two known words, or the topics cannot be fitted. `words`
        predicted; `held_out` and `fitted` texts. gensim's own bound is not used: a word unseen in
        training dominates it.

    Raises
    ------
    DataError
        A text belongs to no article.

    Examples
    --------
    >>> texts = pd.Series([["cat", "mouse"], ["ship", "sea"], ["mouse", "cat"], ["sea", "ship"]])
    >>> table = perplexity(texts, pd.Series([1, 2, 3, 4]), candidates=[2], held_out_share=0.25,
    ...                    seed=1, no_below=1)
    >>> table[["n_topics", "held_out", "fitted"]].to_dict("records")
    [{'n_topics': 2, 'held_out': 1, 'fitted': 3}]
    """
    given = of_lists(tokens)
    of_text = articles.reindex(given.index)
    if of_text.isna().any():
        raise DataError("articles", f"{int(of_text.isna().sum())} texts belong to no article")
    known = of_text.unique()
    size = min(max(1, round(held_out_share * len(known))), len(known) - 1)
    out = of_text.isin(np.random.default_rng(seed).permutation(known)[: max(size, 0)])
    rows: list[tuple[Any, ...]] = []
    for n_topics in candidates:
        value, words, reason = np.nan, 0, None
        if len(known) < 2:
            rows.append((n_topics, value, 0, 0, len(out), "needs two articles"))
            continue
        try:
            topics = fit(take(given, ~out), n_topics=n_topics, seed=seed, **settings)
        except DataError as error:
            reason = "; ".join(error.breaches)
        else:
            value, words = _held_out(topics, lists(take(given, out)))
            reason = None if words else "no held-out text has two words of the vocabulary"
        rows.append((n_topics, value, words, int(out.sum()), int((~out).sum()), reason))
    columns = ["n_topics", "perplexity", "words", "held_out", "fitted", "reason"]
    return pd.DataFrame(rows, columns=columns)


def _held_out(topics: TopicModel, tokens: pd.Series) -> tuple[float, int]:
    known = tokens.map(lambda words: [w for w in words if w in topics.dictionary.token2id])
    known = known[known.str.len() > 1]
    if known.empty:
        return np.nan, 0
    told = shares(topics, known.map(lambda words: words[::2]), truncated=False).to_numpy()
    words = topics.model.get_topics().astype(float)
    predicted = [topics.dictionary.doc2idx(own[1::2]) for own in known]
    logs = [np.log(p @ words[:, ids]) for p, ids in zip(told, predicted, strict=True)]
    return float(np.exp(-np.concatenate(logs).mean())), sum(map(len, predicted))


def choose(table: pd.DataFrame) -> int:
    """Return the number of topics with the lowest perplexity; of equals, the fewest topics.

    One candidate needs no perplexity; where none of several has one, the fewest topics are taken.

    Examples
    --------
    >>> choose(pd.DataFrame({"n_topics": [5, 10], "perplexity": [90.0, 80.0]}))
    10
    """
    measured = table.dropna(subset="perplexity")
    ranked = (table if measured.empty else measured).sort_values(["perplexity", "n_topics"])
    return int(ranked["n_topics"].iloc[0])


# --- inference --------------------------------------------------------------------------------


def _infer(topics: TopicModel, tokens: Tokens | pd.Series) -> np.ndarray:
    """Return texts by topics, in gensim's precision; NaN for a text without known words."""
    bows = [tuple(topics.dictionary.doc2bow(words)) for words in lists(tokens)]
    distinct = list(dict.fromkeys(bow for bow in bows if bow))
    at = {bow: i for i, bow in enumerate(distinct)}
    # The last row is that of a text without words: its topics would be the prior's.
    rows = np.full((len(distinct) + 1, topics.model.num_topics), np.nan, dtype=topics.model.dtype)
    for start in range(0, len(distinct), _BATCH):
        gamma, _ = topics.model.inference(distinct[start : start + _BATCH])
        rows[start : start + len(gamma)] = gamma / gamma.sum(axis=1, keepdims=True)
    return rows[[at.get(bow, len(distinct)) for bow in bows]]


def shares(topics: TopicModel, tokens: Tokens | pd.Series, *, truncated: bool) -> pd.DataFrame:
    """Infer how much of every text is about every topic.

    Inference starts at one fixed point, so a text's vector does not depend on the other texts.

    Parameters
    ----------
    topics
        What `fit` returned.
    tokens
        What `tokens` returned, or lists of words.
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
    >>> texts = pd.Series([["cat", "mouse"], ["ship", "sea"], []] * 5)
    >>> topics = fit(texts, n_topics=2, seed=1)
    >>> found = shares(topics, texts.head(3), truncated=False)
    >>> found.sum(axis=1, skipna=False).round(6).tolist()
    [1.0, 1.0, nan]
    """
    found = _infer(topics, tokens)
    if truncated:
        found = np.where(found < TRUNCATED_BELOW, 0, found)
    columns = pd.RangeIndex(topics.model.num_topics, name="topic")
    return pd.DataFrame(found.astype(float), index=tokens.index, columns=columns)


def of_sentences(topics: TopicModel, tokens: Tokens | pd.Series) -> pd.Series:
    """Give every sentence the topic with the largest share; equal sentences are inferred once.

    Returns
    -------
    Series of Int64
        By the index of `tokens`, 0 … K-1; missing for a sentence without a word of the vocabulary.

    Examples
    --------
    >>> texts = pd.Series([["cat", "mouse"], ["ship", "sea"]] * 5)
    >>> topics = fit(texts, n_topics=2, seed=1)
    >>> cat, again, ship = of_sentences(topics, pd.Series([["cat"], ["mouse"], ["ship"]]))
    >>> bool(cat == again), bool(cat == ship)
    (True, False)
    """
    found = _infer(topics, tokens)
    topic = pd.Series(np.argmax(found, axis=1), index=tokens.index, dtype="Int64")
    return topic.mask(np.isnan(found).any(axis=1))


# --- in words ---------------------------------------------------------------------------------


def words(topics: TopicModel, *, relevance_lambda: float = 0.6, top: int = 10) -> pd.DataFrame:
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
    >>> topics = fit(pd.Series([["cat", "mouse"], ["ship", "sea"]] * 5), n_topics=2, seed=1)
    >>> table = words(topics, top=2)
    >>> sorted(sorted(own) for own in table.groupby("topic")["word"].agg(list))
    [['cat', 'mouse'], ['sea', 'ship']]
    """
    given = topics.model.get_topics().astype(float)
    n = len(topics.dictionary)
    counts = np.array([topics.dictionary.cfs[i] for i in range(n)], dtype=float)
    lift = np.log(given) - np.log(counts / counts.sum())
    relevance = relevance_lambda * np.log(given) + (1 - relevance_lambda) * lift
    rows = [
        (topic, rank + 1, topics.dictionary[int(word)], own[word], given[topic, word])
        for topic, own in enumerate(relevance)
        for rank, word in enumerate(np.argsort(-own, kind="stable")[:top])
    ]
    return pd.DataFrame(rows, columns=["topic", "rank", "word", "relevance", "probability"])


def match(first: TopicModel, second: TopicModel) -> pd.DataFrame:
    """Match the topics of two fits one to one, at the least total distance (Hungarian method).

    Returns
    -------
    DataFrame
        `first`, `second` (topics), `distance`: Jensen-Shannon distance (the root of the
        divergence to base 2) of their words' probabilities, in [0, 1], 0: the same words alike. A
        word that one fit does not know has probability 0 there. With unequal numbers of topics
        some of the larger fit have no match and no row.

    Examples
    --------
    >>> topics = fit(pd.Series([["cat", "mouse"], ["ship", "sea"]] * 5), n_topics=2, seed=1)
    >>> match(topics, topics).round(6).to_dict("records")
    [{'first': 0, 'second': 0, 'distance': 0.0}, {'first': 1, 'second': 1, 'distance': 0.0}]
    """
    both = [_by_word(topics) for topics in (first, second)]
    vocabulary = both[0].columns.union(both[1].columns)
    p, q = (one.reindex(columns=vocabulary, fill_value=0).to_numpy() for one in both)
    # Between alike rows rounding can give the root of less than 0.
    distance = np.nan_to_num(cdist(p, q, metric="jensenshannon")) / np.sqrt(np.log(2))
    rows, columns = linear_sum_assignment(distance)
    found = {"first": rows, "second": columns, "distance": distance[rows, columns]}
    return pd.DataFrame(found)


def _by_word(topics: TopicModel) -> pd.DataFrame:
    names = [topics.dictionary[i] for i in range(len(topics.dictionary))]
    return pd.DataFrame(topics.model.get_topics().astype(float), columns=names)
