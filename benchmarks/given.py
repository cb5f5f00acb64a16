"""What stages are given: a corpus as the package reads it, and what one stage makes for the next.

Only what a stage itself does is timed; what it is given is made beforehand, the way of the package.
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks import corpus
from nbbias import news, text
from nbbias.text.tokens import take

#: Names of people that texts are searched for, as many as Fang et al. (2024) had of any kind.
NAMES = 27_000
TOPICS = 250


class Given:
    """The first documents of a corpus, and what is known of them, made when it is first asked for.

    Examples
    --------
    >>> from pathlib import Path
    >>> Given(Path("/no/such/folder"), documents=8).documents
    8
    """

    def __init__(self, folder: Path, *, documents: int, whole: Given | None = None) -> None:
        self.folder, self.documents = folder, documents
        self.whole = whole or self

    def first(self, documents: int) -> Given:
        """Return the first documents, as if there were no others."""
        few = max(8, min(documents, self.documents))
        return Given(self.folder, documents=few, whole=self.whole)

    @cached_property
    def pairs(self) -> pd.DataFrame:
        paths = [str(self.folder / f"{side}.parquet") for side in ("originals", "generations")]
        people, models = news.read(*paths)
        articles = self.documents // (1 + len(corpus.MODELS))
        kept = people["article_id"].iloc[:articles]
        return news.pair(people.head(articles), models[models["article_id"].isin(kept)])

    @cached_property
    def texts(self) -> pd.Series:
        """Texts as `news.annotate` numbers them."""
        both = pd.concat([self.pairs["original_text"], self.pairs["generated_text"]])
        return both.drop_duplicates().reset_index(drop=True).rename_axis("text_id")

    @cached_property
    def lexicon(self) -> pd.DataFrame:
        return news.lexicon(["gender", "race"], paths={}, names_path=str(self._names()))

    def _names(self) -> Path:
        """Write the shipped names, and names of the corpus, into one file beside the corpus."""
        path = self.folder / "names.csv"
        if not path.is_file():
            shipped = text.lexicons.load("race")
            own = shipped.loc[shipped["kind"] == "name", ["group", "term"]]
            groups = own["group"].unique()
            drawn = [corpus.spelled(rank) for rank in range(2 * NAMES)]
            drawn = [name for name in drawn if name.isalpha() and name[0].isupper()]
            drawn = drawn[: NAMES - len(own)]
            more = pd.DataFrame({"group": np.resize(groups, len(drawn)), "term": drawn})
            pd.concat([own, more]).to_csv(path, index=False)
        return path

    @cached_property
    def read(self) -> news.Read:
        return news.annotate(self.pairs, lexicon=self.lexicon)

    @cached_property
    def said(self) -> pd.Series:
        """Words of each sentence, by text and sentence."""
        return news.corpus.said(self.read)

    @cached_property
    def distinct(self) -> pd.Series:
        """Different sentences, in the order in which they stand."""
        return self.said.drop_duplicates()

    @cached_property
    def tokens(self) -> Any:
        return text.topics.tokens(self.texts)

    @cached_property
    def sentence_tokens(self) -> Any:
        return text.topics.tokens(self.said)

    @cached_property
    def topics(self) -> Any:
        """Topics of some of the whole's texts, read once: what sentences of all are given to."""
        if self.whole is not self:
            return self.whole.topics
        some = self.first(corpus.PAPER // 16)
        return text.topics.fit(some.tokens, n_topics=TOPICS, seed=1, passes=1)

    @cached_property
    def counts(self) -> tuple[np.ndarray, np.ndarray]:
        """Group words of both sides of each pair that has some on both, for gender."""
        own = self.read.matches[self.read.matches["bias"] == "gender"]
        groups = text.lexicons.groups(self.lexicon, "gender")
        table = text.annotate.count(own, by=["text_id"], groups=groups).set_index("text_id")
        sides = [
            table.reindex(self.read.pairs[f"{side}_id"], fill_value=0).to_numpy(dtype=int)
            for side in ("generated", "original")
        ]
        both = (sides[0].sum(axis=1) > 0) & (sides[1].sum(axis=1) > 0)
        return sides[0][both], sides[1][both]

    @cached_property
    def scores(self) -> pd.DataFrame:
        """A made-up score of each pair: articles and models differ, and noise."""
        rng = np.random.default_rng(1)
        table = self.pairs[["article_id", "model"]].copy()
        article, model = (pd.factorize(table[name])[0] for name in ("article_id", "model"))
        own = rng.normal(size=article.max() + 1)[article] + 0.1 * model
        return table.assign(score=own + rng.normal(size=len(table)))


class Some(Given):
    """Some of the texts of a `Given`, spread over all, with the numbers that they have there."""

    def __init__(self, given: Given, *, documents: int) -> None:
        few = max(8, min(documents, given.documents))
        super().__init__(given.folder, documents=few, whole=given.whole)
        self.given = given

    @cached_property
    def texts(self) -> pd.Series:
        at = np.linspace(0, len(self.given.texts) - 1, self.documents).round().astype(int)
        return self.given.texts.iloc[at]

    @cached_property
    def said(self) -> pd.Series:
        of = self.given.said.index.get_level_values("text_id")
        return self.given.said[of.isin(self.texts.index)]

    @cached_property
    def sentence_tokens(self) -> Any:
        whole = self.given.sentence_tokens
        return take(whole, whole.index.get_level_values("text_id").isin(self.texts.index))
