"""The topics: fitted once for every seed, and given to the groups whose sentences use them.

The first half of the document measure of Fang et al. (2024): the sentences of the texts are
counted by topic and group, and a topic is given to the group of its largest residual (Eq. 7).

Topics do not repeat from seed to seed. So they are fitted several times, and every fit gets its
own associations; `news.topics` pools what follows from them.

>>> import pandas as pd
>>> from nbbias import news
>>> counts = pd.DataFrame({"female": [30, 20], "neutral": [10, 40]})
>>> news.fits.residuals(counts)["female"].round(2).tolist()
[4.08, -4.08]
>>> news.fits.associations(counts).tolist()
['female', 'neutral']
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from statsmodels.stats.contingency_tables import Table

from nbbias import text
from nbbias.news.corpus import NEUTRAL, SENTENCE, SIDES, Read
from nbbias.tables import DataError, map_threads, stage
from nbbias.text.topics import BagOfWords, TopicModel

CORPUS = ["model", "prompt"]
ALL = ("all", "all")  # the corpus of the common association
HUMAN = ("human", "-")  # that of the originals

#: Why the only number of topics that is offered has no perplexity.
ONLY = "the only one offered"

#: Why a number of topics was not tried, and the texts that each topic takes.
TOO_FEW, TEXTS_A_TOPIC = "the texts are too few", 10


class Fitting(NamedTuple):
    """How topics are fitted and given to groups.

    `n_topics` K; a fit for each of `seeds`. `association`: ``"common"``: one, from the sentences of
    all texts, each text once; a text's distance to itself is then 0. ``"own"``, as in the paper:
    one from the originals and one from what each model wrote for each prompt, all sources
    together; a difference between corpora is then one of association, too. `threshold`: what a
    residual must exceed. `truncated`: as in `text.topics.infer_shares`.
    """

    n_topics: int
    seeds: Sequence[int]
    association: str = "common"
    threshold: float = 3.0
    truncated: bool = False


class Fit(NamedTuple):
    """One fit of topics, and what follows from it.

    `seed`; `model`; `shares` (texts by topics); `associated` (of `associate`).
    """

    seed: int
    model: TopicModel
    shares: pd.DataFrame
    associated: pd.DataFrame


class Fitted(NamedTuple):
    """All fits, and what they were made from.

    `fits`: in the order of the seeds, the first is the one whose topics are shown. `tokens`: of
    `text.annotate.lemmatize`. `how`: the settings.
    """

    fits: list[Fit]
    tokens: pd.DataFrame
    how: Fitting


def fit(read: Read, tokens: pd.DataFrame, how: Fitting) -> Fitted:
    """Fit topics once for every seed and associate them with groups.

    Parameters
    ----------
    read
        What `news.annotate` returned.
    tokens
        What `text.annotate.lemmatize` returned, by text.
    how
        Number of topics, seeds, and how topics are given to groups.
    """
    parts = _fits(read, tokens, how)
    fits = [Fit(**part | {"model": TopicModel.of_parts(part["model"])}) for part in parts]
    return Fitted(fits, tokens, how)


@stage
def _fits(read: Read, tokens: pd.DataFrame, how: Fitting) -> list[dict[str, Any]]:
    """Return the fields of each `Fit`, its model by what it consists of."""
    bags = text.topics.count_words(tokens, read.texts.index)
    of_sentences = _sentence_words(read, tokens, bags.vocabulary)

    def fit_seed(seed: int) -> dict[str, Any]:
        model = text.topics.fit(bags, n_topics=how.n_topics, seed=seed)
        topic = text.topics.infer_topic(model, of_sentences).rename("topic")
        associated = associate(read.sentences.join(topic, on=SENTENCE), read, how)
        shares = text.topics.infer_shares(model, bags, truncated=how.truncated)
        return Fit(seed, model, shares, associated)._asdict() | {"model": model.parts()}

    return map_threads(fit_seed, how.seeds, label="fits of topics")


def _sentence_words(read: Read, tokens: pd.DataFrame, vocabulary: pd.Series) -> BagOfWords:
    """Return the words of every distinct sentence."""
    distinct = read.sentences.drop_duplicates(SENTENCE)
    index = pd.MultiIndex.from_frame(distinct[SENTENCE])
    starts = distinct[["text_id", "start"]].assign(sentence=range(len(distinct)))
    tokens, starts = tokens.sort_values("start"), starts.sort_values("start")
    words_of = pd.merge_asof(tokens, starts, on="start", by="text_id")
    words_of = words_of.dropna(subset="sentence").assign(text_id=lambda words: words["sentence"])
    rows = pd.RangeIndex(len(index))
    return text.topics.count_words(words_of, rows, vocabulary=vocabulary)._replace(index=index)


class Number(NamedTuple):
    """How many topics to fit: `n_topics` K, what was `tried`, and the `tokens` of the texts."""

    n_topics: int
    tried: pd.DataFrame
    tokens: pd.DataFrame


def number(read: Read, *, candidates: Sequence[int], seed: int) -> Number:
    """Choose the number of topics that predicts held-out articles best, of several candidates.

    Parameters
    ----------
    read
        Texts of `annotate`.
    candidates
        Numbers of topics; a single one is not tried.
    seed
        Which fifth of the articles is held out.

    Returns
    -------
    Number
        `tried` is the table of `text.topics.perplexity`; of a single candidate, which is not
        tried, its `reason` says so. Candidates for which the texts (`TEXTS_A_TOPIC`) or their
        words are too few are not tried, either; `n_topics` is 0 where none is left.
    """
    tokens = text.annotate.lemmatize(read.texts)
    try:
        words = len(text.topics.count_words(tokens, read.texts.index).vocabulary)
    except DataError:
        words = 0
    most = min(read.texts.nunique() // TEXTS_A_TOPIC, words)
    possible = [k for k in candidates if k <= most]
    if len(possible) > 1:
        stories = articles(read.pairs).reindex(read.texts.index)
        split: dict[str, Any] = {"held_out_share": 0.2, "seed": seed}
        tried = text.topics.perplexity(tokens, stories, candidates=possible, **split)
        chosen = text.topics.choose(tried)
    else:
        tried, chosen = _untried(possible, ONLY), sum(possible)
    whole = pd.concat([tried, _untried([k for k in candidates if k > most], TOO_FEW)])
    return Number(chosen, whole.sort_values("n_topics", ignore_index=True), tokens)


def _untried(candidates: Sequence[int], reason: str) -> pd.DataFrame:
    return pd.DataFrame({"n_topics": candidates, "perplexity": np.nan, "reason": reason})


def articles(pairs: pd.DataFrame) -> pd.Series:
    """Number the articles of the pairs that can be measured, by text.

    Returns
    -------
    Series of int
        By `text_id`. An article is an original with all that was written for it; articles with one
        original are one. An answer that was given to several originals, such as a bare refusal,
        belongs to the first of them.
    """
    usable = pairs[pairs["lost"].isna()]
    number = pd.factorize(usable["original_id"])[0]
    texts = pd.concat([usable[column] for column in reversed(SIDES.values())])
    numbers = pd.Series(np.tile(number, 2), index=pd.Index(texts, name="text_id"), dtype=int)
    return numbers[~numbers.index.duplicated()]


# --- whose topics -----------------------------------------------------------------------------


def contingency(sentences: pd.DataFrame, *, groups: Sequence[str], n_topics: int) -> pd.DataFrame:
    """Count the sentences of one corpus and one bias by topic and group: the matrix O.

    Returns
    -------
    DataFrame
        Topics by `groups` and ``"neutral"``. Sentences without a topic are left out.
    """
    counts = pd.crosstab(sentences["topic"], sentences["group"].astype(object))
    rows = pd.RangeIndex(n_topics, name="topic")
    columns = pd.Index([*groups, NEUTRAL], name="group")
    return counts.reindex(index=rows, columns=columns, fill_value=0)


def residuals(counts: pd.DataFrame) -> pd.DataFrame:
    """Return how far each cell of O lies from independence (Eq. 7).

    Returns
    -------
    DataFrame
        As O: standardised residuals, about standard normal if topics were used alike for all
        groups and sentences were independent; above 0: more sentences than expected. NaN in a
        row or column without sentences, or with all of them.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        standardized = Table(counts.to_numpy(float), shift_zeros=False).standardized_resids
    finite = np.where(np.isfinite(standardized), standardized, np.nan)
    return pd.DataFrame(finite, index=counts.index, columns=counts.columns)


def associations(counts: pd.DataFrame, *, threshold: float = 3.0) -> pd.Series:
    """Associate each topic of O with the group of its largest residual above a threshold.

    Returns
    -------
    Series of str
        By topic: a group or ``"neutral"``; missing where no residual is above `threshold`.
    """
    largest = residuals(counts).fillna(-np.inf)
    group = largest.idxmax(axis=1).astype("str").rename("group")
    return group.where(largest.max(axis=1) > threshold)


def associate(sentences: pd.DataFrame, read: Read, how: Fitting) -> pd.DataFrame:
    """Associate topics with groups, for every bias.

    Parameters
    ----------
    sentences
        SENTENCES with the column `topic` of a fit; missing without a word of the vocabulary.
    read
        What `news.annotate` returned.
    how
        Number of topics, `association` and `threshold`.

    Returns
    -------
    DataFrame
        `bias`, `model`, `prompt` (``"all"``, or ``"human"`` and ``"-"``), `topic`, `group`
        (missing: none), `residual` (the largest; NaN without sentences) and `sentences`.
    """
    rows: dict[tuple[str, ...], Any] = {ALL: slice(None)}
    if how.association == "own":
        texts = {HUMAN: read.usable["original_id"]}
        texts |= dict(iter(read.usable.groupby(CORPUS, sort=False)["generated_id"]))
        rows = {key: sentences["text_id"].isin(part) for key, part in texts.items()}
    parts = []
    for (model, prompt), of_corpus in rows.items():
        corpus = sentences.loc[of_corpus, ["bias", "topic", "group"]]
        for bias in read.lexicon["bias"].unique():
            groups = text.lexicons.groups(read.lexicon, bias)
            part = corpus[corpus["bias"] == bias]
            counts = contingency(part, groups=groups, n_topics=how.n_topics)
            table = associations(counts, threshold=how.threshold).reset_index()
            table["residual"] = residuals(counts).max(axis=1).to_numpy()
            table["sentences"] = counts.sum(axis=1).to_numpy()
            parts.append(table.assign(bias=bias, model=model, prompt=prompt))
    columns = ["bias", *CORPUS, "topic", "group", "residual", "sentences"]
    return pd.concat(parts, ignore_index=True)[columns]


# --- what the fits say ------------------------------------------------------------------------


#: How many words name a topic.
_TOP = 8


def stop_words() -> set[str]:
    """Return the words that say little about a topic: they are fitted, and not shown."""
    from nbbias.text.pipeline import load_pipeline  # loads spaCy

    return set(load_pipeline().Defaults.stop_words)


def content_words(fit: Fit) -> pd.Series:
    """Name each topic by its most relevant words that are no stop words, by topic."""
    vocabulary = len(fit.model.vocabulary)
    # At a small λ words lead that are rare elsewhere.
    words = text.topics.describe(fit.model, relevance_lambda=0.2, top=vocabulary)
    words = words[~words["word"].isin(stop_words())]
    return words.groupby("topic").head(_TOP).groupby("topic")["word"].agg(" ".join)


def described(fitted: Fitted) -> pd.DataFrame:
    """Describe the first fit's topics: their words, their sentences, and whose they are.

    Returns
    -------
    DataFrame
        By topic, those with most sentences first: `topic`, `words` (`content_words`), `sentences`,
        and for every bias `<bias>` (the group, empty where there is none) and `<bias>_residual`
        (the largest). With own associations of each corpus those of the originals.
    """
    first = fitted.fits[0]
    table = content_words(first).rename("words").to_frame()
    shown = first.associated[first.associated["model"].isin([ALL[0], HUMAN[0]])]
    table["sentences"] = shown.drop_duplicates("topic").set_index("topic")["sentences"]
    for bias, rows in shown.set_index("topic").groupby("bias", sort=False):
        table[bias], table[f"{bias}_residual"] = rows["group"], rows["residual"]
    table = table.reset_index()
    return table.sort_values("sentences", ascending=False, kind="stable", ignore_index=True)
