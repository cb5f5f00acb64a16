"""Topics of texts: latent Dirichlet allocation by gensim, made reproducible.

The module knows nothing of bias. It fits topics on tokens, says how well they predict texts that
were held out, and gives every text its topic vector and every sentence its topic. It describes
topics by their most relevant words, and says which topics of two fits are alike.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from gensim.corpora import Dictionary
from scipy.optimize import linear_sum_assignment

from nbbias.tables import DataError, map_chunks, map_threads, stage
from nbbias.text.lda import Bags, Lda
from nbbias.text.tokens import Tokens, concat, of_lists, starts, take

#: Topics below this share of a text are dropped by gensim when it is not told otherwise.
TRUNCATED_BELOW = 0.01

_BATCH = 4096  # texts inferred at once: bounds the memory
_COLUMNS = 512  # words compared at once: what a core's cache holds

#: The settings of a fit that say which words count.
LIMITS = ("no_below", "no_above")


class TopicModel(NamedTuple):
    """A fitted model and the words it knows."""

    model: Lda
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
        model = Lda(id2word=dictionary, num_topics=len(alpha), alpha=alpha, eta=eta)
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
    >>> from nbbias.text.tokens import lists
    >>> lists(tokens(pd.Series(["Cats chased mice.", None]))).tolist()
    [['cat', 'chase', 'mouse'], []]
    """
    known = texts.dropna().astype(str)
    number, distinct = pd.factorize(known)
    none = of_lists(pd.Series([[]], index=[len(distinct)], dtype=object))
    chunks = map_chunks(_lemmas, pd.Series(distinct))
    once = concat([*map(Tokens.of_parts, chunks), none])
    at = np.full(len(texts), len(distinct))  # a missing text is the last, without words
    at[texts.notna()] = number
    return take(once, at)._replace(index=texts.index)


def _lemmas(texts: pd.Series) -> list[Any]:
    from nbbias.text.tokeniser import lemmas  # loads spaCy

    return lemmas(texts).parts()


# --- bags of words ----------------------------------------------------------------------------


class Bagged(NamedTuple):
    """Texts as a vocabulary knows them: its `dictionary`, their `bags` of words, their `index`.

    Fits from several seeds, and what they infer, share one: it is made by `bagged`.
    """

    dictionary: Dictionary
    bags: Bags
    index: pd.Index


def bagged(
    tokens: Tokens | pd.Series | Bagged,
    dictionary: Dictionary | None = None,
    *,
    no_below: int = 5,
    no_above: float = 1.0,
) -> Bagged:
    """Count the words of texts that belong to a vocabulary, or else to one of their own.

    Parameters
    ----------
    tokens
        What `tokens` returned, or lists of words. What is `Bagged` is returned as it is.
    dictionary
        The vocabulary.
    no_below, no_above
        A word belongs to the texts' own vocabulary that stands in at least `no_below` texts and in
        at most the share `no_above` of them, in (0, 1]. At 1 no word is left out for being
        frequent.

    Raises
    ------
    DataError
        The texts' own vocabulary is empty.

    Examples
    --------
    >>> animals, ships = ["cat", "mouse", "cat"], ["ship", "sea", "ship"]
    >>> found = bagged(pd.Series([animals, ships]), no_below=1)
    >>> found.dictionary.token2id
    {'cat': 0, 'mouse': 1, 'sea': 2, 'ship': 3}
    >>> found.bags.counts.tolist()
    [2.0, 1.0, 1.0, 2.0]
    """
    if isinstance(tokens, Bagged):
        return tokens
    known = of_lists(tokens)
    if dictionary is None:
        dictionary = _vocabulary(known, no_below, no_above)
    number = np.array([dictionary.token2id.get(word, -1) for word in known.words], np.int32)
    ids = number[known.ids] if len(number) else known.ids
    return Bagged(dictionary, Bags.of_words(ids, known.starts), known.index)


def _vocabulary(tokens: Tokens, no_below: int, no_above: float) -> Dictionary:
    """Return the words within the limits, numbered as gensim does: by first text, then spelling."""
    bags, n = Bags.of_words(tokens.ids, tokens.starts), len(tokens.words)
    texts = np.bincount(bags.ids, minlength=n)
    in_limits = (texts >= max(no_below, 1)) & (texts <= int(no_above * len(tokens.index)))
    kept = f"{in_limits.sum()} of {(texts > 0).sum()} words are in {no_below} texts or more and in "
    kept += f"at most {no_above:.0%} of the {len(tokens.index)} texts"
    if not in_limits.any():
        raise DataError("topics", f"no vocabulary: {kept}; lower no_below or raise no_above")
    first = np.zeros(n, np.int64)
    first[bags.ids[::-1]] = np.repeat(np.arange(bags.texts), bags.sizes)[::-1]
    order = np.flatnonzero(in_limits)
    order = order[np.argsort(first[order], kind="stable")]
    counts = np.bincount(bags.ids, weights=bags.counts, minlength=n)[order].astype(int)
    dictionary = Dictionary()
    dictionary.token2id = {tokens.words[word]: at for at, word in enumerate(order)}
    dictionary.dfs = dict(enumerate(texts[order].tolist()))
    dictionary.cfs = dict(enumerate(counts.tolist()))
    dictionary.num_docs, dictionary.num_pos = len(tokens.index), len(tokens.ids)
    dictionary.num_nnz = len(bags.ids)
    return dictionary


# --- fit --------------------------------------------------------------------------------------


def fit(
    tokens: Tokens | pd.Series | Bagged,
    *,
    n_topics: int,
    seed: int,
    passes: int = 10,
    no_below: int = 5,
    no_above: float = 1.0,
) -> TopicModel:
    """Fit topics by online variational Bayes (Hoffman et al. 2010), as gensim does on one worker.

    Parameters
    ----------
    tokens
        What `tokens` returned, or lists of words, or what `bagged` made of them. Texts without a
        word of the vocabulary do not count.
    n_topics
        Number of topics K, at least 2 and at most the number of words in the vocabulary.
    seed
        Start of the fit; the same seed and tokens give the same topics.
    passes
        Times that all texts are read.
    no_below, no_above
        Limits of the vocabulary, as in `bagged`.

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
    known = bagged(tokens, no_below=no_below, no_above=no_above)
    fittable(known, n_topics)
    model = Lda(
        known.bags.full(),
        num_topics=n_topics,
        id2word=known.dictionary,
        random_state=seed,
        passes=passes,
        eval_every=None,
    )
    model.random_state = _FlatStart(seed)
    return TopicModel(model, known.dictionary)


def fittable(known: Bagged, n_topics: int) -> None:
    """Refuse a number of topics that is below 2, or above that of the vocabulary's words.

    Raises
    ------
    DataError
        So many topics cannot be fitted.

    Examples
    --------
    >>> fittable(bagged(pd.Series([["cat", "mouse"]]), no_below=1), 2)
    """
    most = len(known.dictionary)
    if not 2 <= n_topics <= most:
        raise DataError("topics", f"{n_topics} topics need 2 to {most}, as many as words are known")


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
    own = of_lists(tokens)
    of_text = articles.reindex(own.index)
    if of_text.isna().any():
        raise DataError("articles", f"{int(of_text.isna().sum())} texts belong to no article")
    articles_known = of_text.unique()
    size = min(max(1, round(held_out_share * len(articles_known))), len(articles_known) - 1)
    drawn = np.random.default_rng(seed).permutation(articles_known)[: max(size, 0)]
    out = of_text.isin(drawn).to_numpy()
    limits = {name: settings[name] for name in LIMITS if name in settings}

    def tried(n_topics: int) -> tuple[Any, ...]:
        if len(articles_known) < 2:
            return n_topics, np.nan, 0, 0, len(out), "needs two articles"
        value, words, reason = np.nan, 0, None
        try:
            if isinstance(fitted, DataError):
                raise fitted
            topics = fit(fitted, n_topics=n_topics, seed=seed, **settings)
        except DataError as error:
            reason = "; ".join(error.breaches)
        else:
            value, words = _held_out(topics, take(own, out))
            reason = None if words else "no held-out text has two words of the vocabulary"
        return n_topics, value, words, int(out.sum()), int((~out).sum()), reason

    fitted: Bagged | DataError
    try:
        fitted = bagged(take(own, ~out), **limits)
    except DataError as error:
        fitted = error
    rows = map_threads(tried, candidates, label="numbers of topics")
    columns = ["n_topics", "perplexity", "words", "held_out", "fitted", "reason"]
    return pd.DataFrame(rows, columns=columns)


def _held_out(topics: TopicModel, tokens: Tokens) -> tuple[float, int]:
    """Predict every other known word of texts by the topics that the words between them tell."""
    number = np.array([topics.dictionary.token2id.get(word, -1) for word in tokens.words], int)
    ids = number[tokens.ids]
    text = np.repeat(np.arange(len(tokens.index)), np.diff(tokens.starts))[ids >= 0]
    ids = ids[ids >= 0]
    sizes = np.bincount(text, minlength=len(tokens.index))
    odd = (np.arange(len(ids)) - (np.cumsum(sizes) - sizes)[text]) % 2 == 1
    predicted = np.flatnonzero(odd)
    if not len(predicted):
        return np.nan, 0
    even = ~odd & (sizes[text] > 1)
    told = Bags.of_words(ids[even], starts(np.bincount(text[even], minlength=len(sizes))))
    given = Bagged(topics.dictionary, told, tokens.index)
    theta = shares(topics, given, truncated=False).to_numpy()
    words = np.ascontiguousarray(topics.model.get_topics().T, dtype=float)
    logs = np.empty(len(predicted))
    for at in np.array_split(np.arange(len(predicted)), len(predicted) // _BATCH + 1):
        one = predicted[at]
        logs[at] = np.log(np.einsum("ij,ij->i", theta[text[one]], words[ids[one]]))
    return float(np.exp(-logs.mean())), len(predicted)


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


def _infer(topics: TopicModel, own: Bagged) -> Iterator[np.ndarray]:
    """Yield texts by topics, some at a time, in gensim's precision; NaN without known words."""
    for start in range(0, own.bags.texts, _BATCH):
        part = own.bags.part(start, min(start + _BATCH, own.bags.texts))
        gamma, _ = topics.model.inference(part)
        gamma /= gamma.sum(axis=1, keepdims=True)
        gamma[part.sizes == 0] = np.nan  # the topics of a text without words would be the prior's
        yield gamma


def shares(
    topics: TopicModel, tokens: Tokens | pd.Series | Bagged, *, truncated: bool
) -> pd.DataFrame:
    """Infer how much of every text is about every topic.

    Inference starts at one fixed point, so a text's vector does not depend on the other texts.

    Parameters
    ----------
    topics
        What `fit` returned.
    tokens
        What `tokens` returned, or lists of words, or what `bagged` made of them.
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
    own = bagged(tokens, topics.dictionary)
    found = np.empty((own.bags.texts, topics.model.num_topics))
    at = 0
    for part in _infer(topics, own):
        found[at : at + len(part)] = part
        at += len(part)
    if truncated:
        found[found < TRUNCATED_BELOW] = 0
    columns = pd.RangeIndex(topics.model.num_topics, name="topic")
    return pd.DataFrame(found, index=own.index, columns=columns)


def of_sentences(topics: TopicModel, tokens: Tokens | pd.Series | Bagged) -> pd.Series:
    """Give every sentence the topic with the largest share.

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
    own = bagged(tokens, topics.dictionary)
    leading = [np.argmax(part, axis=1) for part in _infer(topics, own)]
    topic = pd.Series(np.concatenate([np.empty(0, int), *leading]), own.index, dtype="Int64")
    return topic.mask(own.bags.sizes == 0)


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
    least = np.partition(relevance, -min(top, n), axis=1)[:, -min(top, n)]
    rows = []
    for topic, own in enumerate(relevance):
        leading = np.flatnonzero(own >= least[topic])
        leading = leading[np.argsort(-own[leading], kind="stable")][:top]
        rows += [
            (topic, rank + 1, topics.dictionary[int(word)], own[word], given[topic, word])
            for rank, word in enumerate(leading)
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
    distance = np.sqrt(divergences(p, q) / np.log(2))
    rows, columns = linear_sum_assignment(distance)
    found = {"first": rows, "second": columns, "distance": distance[rows, columns]}
    return pd.DataFrame(found)


def divergences(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return the Jensen-Shannon divergence of every row of one from every row of another.

    It is the entropy of two rows' mean less the mean of their entropies, in nats.

    Examples
    --------
    >>> alike, apart = divergences(np.array([[1.0, 0.0]]), np.array([[1.0, 0.0], [0.0, 1.0]]))[0]
    >>> float(alike), round(float(apart), 4)
    (0.0, 0.6931)
    """
    columns = [slice(at, at + _COLUMNS) for at in range(0, first.shape[1], _COLUMNS)]

    def row(number: int) -> np.ndarray:
        found = np.zeros(len(second))
        for own in columns:
            found += _entropies((first[number, own] + second[:, own]) / 2)
        return found

    mixed = np.array(map_threads(row, range(len(first)))).reshape(len(first), len(second))
    alone = _entropies(first)[:, None] + _entropies(second)
    # Between alike rows rounding can give less than 0.
    return np.maximum(mixed - alone / 2, 0)


def _entropies(rows: np.ndarray) -> np.ndarray:
    return -np.einsum("ij,ij->i", rows, np.log(np.maximum(rows, np.finfo(float).tiny)))


def _by_word(topics: TopicModel) -> pd.DataFrame:
    names = [topics.dictionary[i] for i in range(len(topics.dictionary))]
    return pd.DataFrame(topics.model.get_topics().astype(float), columns=names)
