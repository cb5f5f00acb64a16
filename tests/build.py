"""What tests of news are built from: pairs, matches and lists made by hand, and whole studies.

Two kinds of pairs: of texts that have names alone (`pairs_of`, with `matches_of` and
`lexicon_of` for what was found in them), and of texts that are read (`paired`, with `study_of`
for every table from them to the claims).
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np
import pandas as pd
import pytest

from nbbias import stats, tables, text
from nbbias.news import corpus, fits, sample, scoring, shares, tone, topics, words
from nbbias.news.corpus import Read
from nbbias.text import lexicons

GENDER = lexicons.load("gender")
GROUPS = list("abcde")

Counts = Sequence[Sequence[int]]


def encode_as(patch: pytest.MonkeyPatch, vector: Callable[[str], np.ndarray]) -> None:
    """Let a text's own vector, of any length, stand for what an encoder gives."""

    def embed(texts: Iterable[str], **_: object) -> np.ndarray:
        vectors = np.array([vector(one) for one in texts]).reshape(-1, 8)
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

    patch.setattr(text.embeddings, "embed", embed)
    patch.setattr(text.embeddings, "instrument", lambda _: "simulated")


def random_vector(one: str) -> np.ndarray:
    """A text's vector, drawn from its own random seed."""
    return np.random.default_rng(np.frombuffer(one.encode(), np.uint8)).standard_normal(8)


# --- made by hand -----------------------------------------------------------------------------


def pairs_of(n: int, **columns: Any) -> pd.DataFrame:
    """Pairs of the texts h0 and o0, h1 and o1, …, none of them lost."""
    ids = pd.Series([str(i) for i in range(n)], dtype="str")
    table = pd.DataFrame({"pair_id": range(n), "source": "s", "model": "m", "prompt": "p"})
    table = table.assign(article_id=ids, sample=1, original_id="o" + ids)
    table = table.assign(generated_id="h" + ids, lost=pd.Series(pd.NA, ids.index, dtype="str"))
    return table.assign(**columns)


def matches_of(h: Counts, o: Counts, *, bias: str = "b") -> pd.DataFrame:
    """The matches of those texts, every word in a sentence of its own."""
    rows = [
        (f"{side}{i}", bias, group)
        for side, counts in (("h", h), ("o", o))
        for i, row in enumerate(counts)
        for group, n in zip(GROUPS, row, strict=False)
        for _ in range(n)
    ]
    table = pd.DataFrame(rows, columns=["text_id", "bias", "group"])
    return table.assign(sentence_id=table.groupby("text_id").cumcount())


def lexicon_of(groups: int) -> pd.DataFrame:
    return pd.DataFrame({"bias": "b", "group": GROUPS[:groups], "term": GROUPS[:groups]})


def read_of(pairs: pd.DataFrame, matches: pd.DataFrame, lexicon: pd.DataFrame) -> Read:
    """Pairs of texts that have names alone, as if they had been read."""
    sentences = matches.reindex(columns=["text_id", "sentence_id"]).drop_duplicates()
    return Read(pairs, pd.Series(dtype=str), sentences, matches, lexicon)


def row_of(table: pd.DataFrame, statistic: str, group: str | None = None, **keys: str) -> pd.Series:
    """The one row of a statistic, of a group where one is named."""
    own = table[table["statistic"] == statistic]
    for key, value in ({"group": group, **keys} if group else keys).items():
        own = own[own[key] == value]
    (row,) = own.to_dict("records")
    return pd.Series(row)


# --- read -------------------------------------------------------------------------------------


def paired(*texts: tuple[str, str], model: str = "m", prompt: str = "neutral") -> pd.DataFrame:
    """Pairs of (answer, original)."""
    common = {"source": "s", "article_id": [str(i) for i in range(len(texts))]}
    originals = pd.DataFrame({**common, "text": [original for _, original in texts]})
    answers = pd.DataFrame({**common, "text": [answer for answer, _ in texts]})
    return corpus.pair(originals, answers.assign(model=model, prompt=prompt, sample=1))


def stack(*tables: pd.DataFrame) -> pd.DataFrame:
    whole = pd.concat(tables, ignore_index=True)
    return whole.assign(pair_id=range(len(whole)))


@dataclass
class Study:
    """Every table on the way from texts to claims."""

    read: Read
    scored: scoring.Scored

    @cached_property
    def words(self) -> pd.DataFrame:
        return words.pair_scores(self.read)

    @cached_property
    def scores(self) -> pd.DataFrame:
        return tone.pair_scores(self.read, self.scored)

    def estimates(self, *, confidence: float = 0.95) -> pd.DataFrame:
        inference = stats.InferenceSettings(confidence, 50, 0)
        return tone.estimates(self.scores, self.read, self.scored, inference=inference).estimates

    def fits(self, *, n_topics: int, seeds: Sequence[int], **how: Any) -> fits.Fitted:
        return fits.fit(self.read, self.tokens, fits.Fitting(n_topics, seeds, **how))

    @cached_property
    def tokens(self) -> pd.DataFrame:
        return text.annotate.lemmatize(self.read.texts)

    def tables(self) -> dict[str, Any]:
        """What explorers are given, by name."""
        inference = stats.InferenceSettings(n_permutations=100)
        by = {"lexicon": self.read.lexicon, "inference": inference}
        of_words = shares.estimate(self.words, pooling=words.pooling, **by)
        of_tone = tone.estimates(self.scores, self.read, self.scored, inference=inference)
        units = tables.concatenate([of_words, of_tone]).units
        shown = {"read": self.read, "scored": self.scored, "tokens": self.tokens}
        return shown | {"scores": self.words, "units": units}


def word_estimates(scores: pd.DataFrame, **settings: Any) -> pd.DataFrame:
    return shares.estimate(scores, pooling=words.pooling, **settings).estimates


def topic_estimates(scores: pd.DataFrame, **settings: Any) -> pd.DataFrame:
    scores = scores if "seed" in scores else scores.assign(seed=0)
    return shares.estimate(scores, pooling=lambda _: topics.POOLING, **settings).estimates


def study_of(
    pairs: pd.DataFrame, *, lexicon: pd.DataFrame = GENDER, scorers: Sequence[str] = ("textblob",)
) -> Study:
    read = corpus.annotate(pairs, lexicon=lexicon)
    return Study(read, scoring.score(read, scorers=scorers, toxicity_scorer="offline"))


@cache
def small_study() -> dict[str, Any]:
    """Two models, two biases; words, sentences, and two fits of four topics: made once."""
    originals, generations = sample.corpus({"even": {}, "fewer": {"female": -0.2}}, seed=7)
    keep = originals["article_id"].unique()[:20]
    pairs = corpus.pair(originals, generations[generations["article_id"].isin(keep)])
    lexicon = lexicons.expand(lexicons.load_all(["gender", "disability"]))
    study = study_of(pairs, lexicon=lexicon)
    return study.tables() | {"fitted": study.fits(n_topics=4, seeds=[1, 2], threshold=0.5)}
