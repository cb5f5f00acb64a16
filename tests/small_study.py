"""A small news study on simulated texts, made once; how explorers show it, and what they show."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import ipywidgets as widgets

from nbbias.news import (
    corpus,
    fits as news_fits,
    sample,
    tone as news_sentences,
    topics as news_topics,
    words,
)
from nbbias.news.explore import (
    lexicon as news_lexicon,
    pairs as news_pairs,
    topics as explore_topics,
)
from nbbias.reading import explorer
from nbbias.text import annotate, lexicons, topics


@cache
def study(articles: int = 20) -> dict[str, Any]:
    """Two models, two biases; words, sentences, and two fits of four topics."""
    originals, generations = sample.corpus({"even": {}, "fewer": {"female": -0.2}}, seed=7)
    keep = originals["article_id"].unique()[:articles]
    pairs = corpus.pair(originals, generations[generations["article_id"].isin(keep)])
    lexicon = lexicons.expand(lexicons.load_all(["gender", "disability"]))
    texts = words.side_texts(pairs)
    sentences, matches = annotate.annotate(texts, lexicon)
    coverage = lexicons.coverage(lexicon, matches, sentences, texts=texts)
    sentences = news_sentences.assign(sentences, matches, lexicon=lexicon)
    scores = words.word_scores(pairs, matches, lexicon=lexicon)
    scored = news_sentences.score(
        sentences, matches, scorers=["textblob"], toxicity_scorer="offline"
    )
    measured = news_sentences.measures(scored, toxicity_scorer="offline")
    tone = news_sentences.pair_scores(pairs, sentences, scored, lexicon=lexicon, measured=measured)
    tokens, said = topics.tokens(texts), news_topics.sentence_tokens(sentences)
    fits = news_fits.fits(
        pairs,
        tokens,
        sentences,
        said,
        lexicon=lexicon,
        n_topics=4,
        seeds=[1, 2],
        threshold=0.5,
        passes=30,
        no_above=0.4,
    )
    estimates = words.estimates(scores, lexicon=lexicon, draws=100)
    return {
        "pairs": pairs, "lexicon": lexicon, "texts": texts, "sentences": sentences,
        "matches": matches, "coverage": coverage, "scores": scores, "scored": scored,
        "tone": tone, "tokens": tokens, "fits": fits, "estimates": estimates,
    }  # fmt: skip


FOCUS = {"gender": "female"}
KINDS = ["topics", "lexicon", "pairs", "estimates"]


def show(kind: str, found: dict[str, Any]) -> Any:
    lexicon = found["lexicon"]
    if kind == "topics":
        return explore_topics.topics(
            found["fits"], found["sentences"], found["matches"], found["pairs"], found["tokens"],
            lexicon=lexicon,
        )  # fmt: skip
    if kind == "lexicon":
        return news_lexicon.lexicon(
            found["scores"], found["pairs"], found["texts"], found["matches"], found["coverage"],
            lexicon=lexicon,
        )  # fmt: skip
    if kind == "pairs":
        return news_pairs.pairs(
            [found["scores"], found["tone"]], found["pairs"], found["matches"],
            found["sentences"], found["scored"], lexicon=lexicon, focus=FOCUS,
        )  # fmt: skip
    return explorer.estimates(found["estimates"])


def inside(widget: Any) -> Iterator[Any]:
    yield widget
    for child in getattr(widget, "children", ()):
        yield from inside(child)


def part(live: Any, kind: type, description: str) -> Any:
    (one,) = [
        w for w in inside(live) if isinstance(w, kind) and w.description == description
    ]  # fmt: skip
    return one


def read(live: Any) -> str:
    """All that the live form shows, as HTML."""
    return "".join(w.value for w in inside(live) if isinstance(w, widgets.HTML))
