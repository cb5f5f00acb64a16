"""What is timed: of every stage its plain way, ours, and what is compared of what the two found."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from benchmarks import plain
from benchmarks.given import TOPICS, Given
from nbbias import stats, text
from nbbias.text import plain as by_spacy, vader
from nbbias.text.tokens import lists, take


class Stage(NamedTuple):
    """A stage, and both ways of it.

    `plain`, `ours`: each takes a `Given` and returns what it found. `compare` takes what the plain
    way found of some texts and ours of all, and the `Given` of either, and says how alike they are.
    `given`: what is made for both beforehand. `share`: the part of a small corpus' documents that
    the plain way is timed on; `most`: the documents that ours is timed on, too. `threads` of ours.
    `known`: what ours does once for a process and the plain way at every call; it is taken off.
    """

    name: str
    plain: Callable[[Given], Any]
    ours: Callable[[Given], Any]
    compare: Callable[[Any, Any, Given, Given], str]
    given: tuple[str, ...] = ()
    share: float = 1 / 8
    most: int | None = None
    threads: int = 1
    known: Callable[[Given], Any] | None = None


# --- how alike --------------------------------------------------------------------------------


def _rows(first: Any, second: tuple[pd.DataFrame, ...], some: Given, _: Given) -> str:
    told = []
    for name, own, table in zip(("sentences", "matches"), first, second, strict=True):
        there = table[table["text_id"].isin(some.texts.index)]
        # The plain way numbers the texts that it is given.
        number = pd.Index(some.texts.index).get_indexer(there["text_id"])
        other = there.assign(text_id=number).astype(object)
        differ = len(own) != len(other) or own != [*other.itertuples(index=False, name=None)]
        told.append(f"{len(own):,} {name} {'DIFFER' if differ else 'equal'}")
    return ", ".join(told)


def _words(first: list[list[str]], second: Any, some: Given, all_: Given) -> str:
    at = second.index.get_indexer(
        some.texts.index if len(first) == len(some.texts) else some.said.index
    )
    both = zip(first, lists(take(second, at)), strict=True)
    differ = sum(list(own) != list(other) for own, other in both)
    return f"{len(first):,} {f'of which {differ:,} DIFFER' if differ else 'equal'}"


def _numbers(first: Any, second: Any, some: Given, all_: Given) -> str:
    second = pd.Series(np.asarray(second, dtype=float), index=all_.distinct.to_numpy())
    apart = np.abs(np.asarray(first) - second[some.distinct].to_numpy())
    return f"{len(apart):,}, at most {apart.max():.1g} apart"


def _alike(first: np.ndarray, second: pd.Series, some: Given, _: Given) -> str:
    found = second.fillna(-1).loc[some.sentence_tokens.index].to_numpy(dtype=int)
    return f"{(first == found).sum():,} of {len(first):,} largest topics equal"


def _topics(first: Any, second: Any, some: Given, _: Given) -> str:
    """Compare ours not with the plain way of many workers, but with LdaModel's topics."""
    single = plain.lda(lists(some.tokens), **_TRAINING)
    words = sorted(second.dictionary.token2id)
    own = single.get_topics()[:, single.id2word.doc2idx(words)]
    other = second.model.get_topics()[:, second.dictionary.doc2idx(words)]
    return f"topics at most {np.abs(own - other).max():.1g} from LdaModel's"


def _apart(first: Any, second: Any, *_: Given) -> str:
    return f"at most {np.abs(np.asarray(first) - np.asarray(second)).max():.1g} apart"


def _models(first: pd.DataFrame, second: pd.DataFrame, *_: Given) -> str:
    apart = np.abs(first["estimate"].to_numpy() - second["estimate"].to_numpy()).max()
    width = (second["ci_high"] - second["ci_low"]).to_numpy() / 2 / 1.959964
    error = np.abs(width / first["error"].to_numpy() - 1).max()
    return f"estimates at most {apart:.1g}, standard errors {error:.1%} apart"


# --- stages -----------------------------------------------------------------------------------

_TRAINING: dict[str, Any] = {"num_topics": TOPICS, "passes": 2, "random_state": 1}


def _train(given: Given) -> Any:
    how = {"n_topics": TOPICS, "passes": 2, "seed": 1}
    return text.topics.fit(given.tokens, **how)


def _train_plainly(given: Given) -> Any:
    return plain.lda(lists(given.tokens), workers=2, **_TRAINING)


def _largest(given: Given) -> np.ndarray:
    model = plain.same_model(given.topics)
    words = lists(given.sentence_tokens)
    return plain.largest_topics(model, given.topics.dictionary, words)


def _dealt_plainly(given: Given) -> np.ndarray:
    h, o = given.counts
    rng, found = np.random.default_rng(1), []
    for a, b in _articles(h):
        both = np.vstack([h[a:b], o[a:b]])
        order = rng.random((1000, len(both))).argsort(axis=1)[:, : b - a]
        found.append(both[order].sum(axis=1))
    return np.array(found)


def _dealt(given: Given) -> np.ndarray:
    h, o = given.counts
    rng = np.random.default_rng(1)
    return np.array([stats.dealt(h[a:b], o[a:b], draws=1000, rng=rng)[0] for a, b in _articles(h)])


def _articles(counts: np.ndarray) -> list[tuple[int, int]]:
    """Cut the pairs into pieces as long as an article has sentences with group words."""
    return list(pairwise(range(0, min(len(counts), 8000), 8)))


#: The text stage: what is summed in a row of its own.
TEXT = ("sentences and group words", "lemmas of texts", "lemmas of sentences", "polarity, TextBlob")

STAGES = [
    Stage(
        TEXT[0],
        lambda g: by_spacy.annotate(g.texts, g.lexicon),
        lambda g: text.annotate.annotate(g.texts, g.lexicon),
        _rows,
        ("texts", "lexicon"),
        known=lambda g: by_spacy.annotate([], g.lexicon),
    ),
    Stage(
        TEXT[1],
        lambda g: by_spacy.tokens(g.texts.str.lower()),
        lambda g: text.topics.tokens(g.texts),
        _words,
        ("texts",),
    ),
    Stage(
        TEXT[2],
        lambda g: by_spacy.tokens(g.said.str.lower()),
        lambda g: text.topics.tokens(g.said),
        _words,
        ("said",),
    ),
    Stage(
        TEXT[3],
        lambda g: plain.textblob(g.distinct),
        lambda g: text.sentiment.score(g.distinct, scorer="textblob")["polarity"],
        _numbers,
        ("distinct",),
    ),
    Stage(
        "polarity, VADER",
        lambda g: [vader.plain(one)[0] for one in g.distinct],
        lambda g: text.sentiment.score(g.distinct, scorer="vader")["polarity"],
        _numbers,
        ("distinct",),
    ),
    Stage(
        "toxicity without a network",
        lambda g: plain.profanity(g.distinct.tolist()),
        lambda g: text.toxicity.score(g.distinct, scorer="offline"),
        _numbers,
        ("distinct",),
    ),
    Stage(
        f"topics of sentences, K = {TOPICS}",
        _largest,
        lambda g: text.topics.of_sentences(g.topics, g.sentence_tokens),
        _alike,
        ("topics", "sentence_tokens"),
        share=1 / 32,
    ),
    Stage(
        f"training topics, K = {TOPICS}, 2 passes",
        _train_plainly,
        _train,
        _topics,
        ("tokens",),
        most=862,
        share=1.0,
    ),
    Stage(
        "expected differences",
        lambda g: plain.expected_differences(*g.counts),
        lambda g: stats.expected_differences(*g.counts),
        _apart,
        ("counts",),
        share=1.0,
    ),
    Stage("deals of sentences", _dealt_plainly, _dealt, _apart, ("counts",), most=4312, share=1.0),
    Stage(
        "mixed model",
        lambda g: plain.mixed_model(g.scores, value="score"),
        lambda g: stats.mixed_model(g.scores, value="score"),
        _models,
        ("scores",),
        most=8624,
        share=1.0,
    ),
]
