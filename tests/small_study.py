"""A small news study on simulated texts, made once: what explorers are given."""

from __future__ import annotations

from functools import cache
from typing import Any

from nbbias import (
    lexicons,
    news,
    news_bias,
    news_fits,
    news_sentences,
    news_topics,
    news_words,
    simulate,
    text,
    topics,
)


@cache
def study(articles: int = 20) -> dict[str, Any]:
    """Two models, two biases; words, sentences, and two fits of four topics."""
    originals, generations = simulate.corpus({"even": {}, "fewer": {"female": -0.2}}, seed=7)
    keep = originals["article_id"].unique()[:articles]
    pairs = news.pair(originals, generations[generations["article_id"].isin(keep)])
    lexicon = lexicons.expand(lexicons.load_all(["gender", "disability"]))
    texts = news_words.side_texts(pairs)
    sentences, matches = text.annotate(texts, lexicon)
    coverage = lexicons.coverage(lexicon, matches, sentences, texts=texts)
    sentences = news_sentences.assign(sentences, matches, lexicon=lexicon)
    scores = news_words.word_scores(pairs, matches, lexicon=lexicon)
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
    estimates = news_bias.estimates(scores, lexicon=lexicon, draws=100)
    return {
        "pairs": pairs, "lexicon": lexicon, "texts": texts, "sentences": sentences,
        "matches": matches, "coverage": coverage, "scores": scores, "scored": scored,
        "tone": tone, "tokens": tokens, "fits": fits, "estimates": estimates,
    }  # fmt: skip
