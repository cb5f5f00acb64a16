"""The document level's topics, fitted once for every seed, so that the seed's part is seen.

Topics do not repeat from seed to seed. So the topics are fitted several times, every fit gets its
own associations and scores, and the estimates of `news_documents` are pooled over the fits.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from nbbias import lexicons, news_documents, news_topics, topics, topics_described
from nbbias.cache import stage
from nbbias.errors import DataError
from nbbias.news import CELL
from nbbias.news_topics import CORPUS
from nbbias.progress import progress
from nbbias.topics import TopicModel

UNFITTED = "too few different words for so many topics"


class Fit(NamedTuple):
    """One fit of topics, and what follows from it.

    `seed`; `model`; `topic` (of every distinct sentence, by `text_id` and `sentence_id`, missing
    without a known word); `shares` (texts by topics); `associated` (of `news_topics.associate`).
    """

    seed: int
    model: TopicModel
    topic: pd.Series
    shares: pd.DataFrame
    associated: pd.DataFrame


@stage
def fits(
    pairs: pd.DataFrame,
    tokens: pd.Series,
    sentences: pd.DataFrame,
    said: pd.Series,
    *,
    lexicon: pd.DataFrame,
    n_topics: int,
    seeds: Sequence[int],
    association: str = "common",
    threshold: float = 3.0,
    truncated: bool = False,
    **settings: Any,
) -> list[Fit]:
    """Fit topics once for every seed and associate them with groups.

    Parameters
    ----------
    pairs, tokens, sentences
        PAIRS, the Series of `topics.tokens` by text, and the table of `news_sentences.assign`.
    said
        The Series of `news_topics.sentence_tokens`.
    lexicon, association, threshold
        As in `news_topics.associate`.
    n_topics, seeds, **settings
        As in `topics.fit`, once for every seed.
    truncated
        As in `topics.shares`.

    Returns
    -------
    list of Fit
        In the order of `seeds`; the first is the one whose topics are shown. Empty where the texts
        have too few words for so many topics: then nothing is measured at this level.
    """
    found: list[Fit] = []
    for seed in progress(seeds, "fits of topics"):
        try:
            model = topics.fit(tokens, n_topics=n_topics, seed=seed, **settings)
        except DataError:
            return found
        topic = topics.of_sentences(model, said).rename("topic")
        associated = news_topics.associate(
            with_topics(sentences, topic), pairs, lexicon=lexicon, n_topics=n_topics,
            association=association, threshold=threshold,
        )  # fmt: skip
        shares = topics.shares(model, tokens, truncated=truncated)
        found.append(Fit(seed, model, topic, shares, associated))
    return found


def with_topics(sentences: pd.DataFrame, topic: pd.Series) -> pd.DataFrame:
    """Add to SENTENCES the column `topic` of a fit; missing without a word of the vocabulary."""
    return sentences.join(topic, on=["text_id", "sentence_id"])


def scores(pairs: pd.DataFrame, fits: Sequence[Fit], *, lexicon: pd.DataFrame) -> pd.DataFrame:
    """Score every pair by every fit.

    Returns
    -------
    DataFrame
        As `news_documents.pair_scores`, with the column `seed`: one row per pair, bias and fit.
    """
    if not fits:
        nothing = pd.DataFrame(index=pd.Index([], dtype=str))
        none = pd.DataFrame(columns=["bias", "model", "prompt", "topic", "group"])
        table = news_documents.pair_scores(pairs, nothing, none, lexicon=lexicon)
        unfitted = table["reason"].isin([news_documents.FEW_GROUPS])
        return table.assign(
            seed=0, instrument="LDA", reason=table["reason"].mask(unfitted, UNFITTED)
        )
    tables = [
        news_documents.pair_scores(pairs, fit.shares, fit.associated, lexicon=lexicon).assign(
            seed=fit.seed, instrument=f"LDA, {fit.model.model.num_topics} topics"
        )
        for fit in fits
    ]
    return pd.concat(tables, ignore_index=True)


def tests(
    sentences: pd.DataFrame, pairs: pd.DataFrame, fits: Sequence[Fit],
    *, lexicon: pd.DataFrame, draws: int, seed: int,
) -> pd.DataFrame:  # fmt: skip
    """Ask of every fit whether its topics are used alike for all groups.

    Returns
    -------
    DataFrame
        By `bias` and `seed`: `group_topics` (topics of a group, neutral ones apart), chi-squared
        over all sentences (`statistic_value`, `df`, `effect_size`: Cramér's V, `n` sentences), its
        `p_value` as if sentences were independent, `p_by_article` with the article as the
        unit, and the `reason` why there is none.
    """
    rows = []
    articles = news_topics.articles(pairs)
    for bias in lexicon["bias"].unique():
        groups = lexicons.groups(lexicon, bias)
        own = sentences[sentences["bias"] == bias]
        for fit in progress(fits, f"tests of topics, {bias}"):
            said = with_topics(own, fit.topic)
            own_topics = fit.associated.loc[fit.associated["bias"] == bias, "group"]
            row = news_topics.chi_squared(news_topics.contingency(said, groups=groups))
            by_article = news_topics.permutation_p(
                said, articles, groups=groups, draws=draws, seed=seed
            )
            rows.append({
                "bias": bias, "seed": fit.seed, "group_topics": int(own_topics.isin(groups).sum()),
                **row, "p_by_article": by_article["p_value"],
                "reason": row["reason"] or by_article["reason"],
            })  # fmt: skip
    columns = [*("bias", "seed", "group_topics", "n", "statistic_value", "df", "effect_size")]
    return pd.DataFrame(rows, columns=[*columns, "p_value", "p_by_article", "reason"])


def described(
    fits: Sequence[Fit], *, lexicon: pd.DataFrame, relevance_lambda: float = 0.6, top: int = 8
) -> pd.DataFrame:
    """Describe the first fit's topics: their words, their sentences, and whose they are.

    Returns
    -------
    DataFrame
        By topic, those with most sentences first: `topic`, `words` (the most relevant ones, see
        `topics_described.words`), `sentences`, and for every bias `<bias>` (the group, empty
        where there is none) and `<bias>_residual` (the largest). With own associations of each
        corpus those of the originals.
    """
    if not fits:
        return pd.DataFrame(columns=["topic", "words", "sentences", *lexicon["bias"].unique()])
    fit = fits[0]
    words = topics_described.words(fit.model, relevance_lambda=relevance_lambda, top=top)
    table = words.groupby("topic")["word"].agg(" ".join).rename("words").reset_index()
    shown = fit.associated[fit.associated["model"].isin([news_topics.ALL[0], news_topics.HUMAN[0]])]
    for number, bias in enumerate(lexicon["bias"].unique()):
        own = shown[shown["bias"] == bias].set_index("topic")
        if number == 0:
            table["sentences"] = table["topic"].map(own["sentences"])
        table[bias] = table["topic"].map(own["group"])
        table[f"{bias}_residual"] = table["topic"].map(own["residual"])
    return table.sort_values("sentences", ascending=False, kind="stable", ignore_index=True)


def replication(fits: Sequence[Fit], *, lexicon: pd.DataFrame) -> pd.DataFrame:
    """Say how many of the first fit's associations the other fits repeat.

    Returns
    -------
    DataFrame
        By `bias` and `seed`, of every fit but the first: `group_topics` of the first fit;
        `replicated`, the share of them whose match (`topics_described.match`) has the same
        group, in [0, 1]; `replicated_by_chance`, its expectation if topics were matched at random.
        NaN with a `reason` where the first fit has no topic of a group.
    """
    rows = []
    for other in fits[1:]:
        matched = topics_described.match(fits[0].model, other.model).set_index("first")["second"]
        for bias in lexicon["bias"].unique():
            groups = lexicons.groups(lexicon, bias)
            row = {"bias": bias, "seed": other.seed, "group_topics": 0}
            row |= _replicated(fits[0], other, matched, bias, groups)
            rows.append(row)
    columns = ["bias", "seed", "group_topics", "replicated", "replicated_by_chance", "reason"]
    return pd.DataFrame(rows, columns=columns)


def _replicated(
    first: Fit, other: Fit, matched: pd.Series, bias: str, groups: Sequence[str]
) -> dict[str, Any]:
    old = first.associated[first.associated["bias"] == bias]
    old = old[old["group"].isin(groups)]
    new = other.associated[other.associated["bias"] == bias]
    if old.empty:
        nothing = dict.fromkeys(("replicated", "replicated_by_chance"), np.nan)
        return nothing | {"reason": "the first fit has no topic of a group"}
    keys = [*CORPUS, "topic"]
    there = old.assign(topic=old["topic"].map(matched))
    now = there.merge(new[[*keys, "group"]], on=keys, how="left", suffixes=("", "_now"))
    share = new.groupby([*CORPUS, "group"]).size() / other.model.model.num_topics
    by_chance = old.set_index([*CORPUS, "group"]).index.map(share)
    return {
        "group_topics": len(old), "replicated": float((now["group"] == now["group_now"]).mean()),
        "replicated_by_chance": float(pd.Series(by_chance).fillna(0).mean()), "reason": None,
    }  # fmt: skip


def spread(scores: pd.DataFrame) -> pd.DataFrame:
    """Summarise the mean distance over the fits, from the table of `scores`.

    Returns
    -------
    DataFrame
        By `bias` and cell: `fits` with a scored pair, and `mean`, `sd` (NaN with one), `min` and
        `max` of their mean distances.
    """
    by_fit = scores.groupby(["bias", *CELL, "seed"], sort=False)["score"].mean()
    grouped = by_fit.groupby(["bias", *CELL], sort=False)
    found = grouped.agg(fits="count", mean="mean", sd="std", min="min", max="max")
    return found.reset_index()
