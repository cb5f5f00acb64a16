"""Sentiment of texts, by several scorers behind one function.

`score` returns one row per text: `polarity` from -1 (negative) to 1
(positive) and `n_assessed`, how many words or phrases of the text the scorer knows. A text without
any known word has polarity 0 by both lexicons; `n_assessed` distinguishes that 0 from a balance of
praise and blame.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Literal

import numpy as np
import pandas as pd

from nbbias.tables import map_chunks
from nbbias.text.distinct import on_distinct
from nbbias.text.instruments import Instrument, registry

#: What a scorer loads: texts in, their polarities and their numbers of known words out.
Assess = Callable[[Sequence[str]], tuple[Sequence[float] | np.ndarray, Sequence[int] | np.ndarray]]


@cache
def _textblob() -> Assess:
    from textblob import en

    def assess(texts: Sequence[str]) -> tuple[list[float], list[int]]:
        results = [en.sentiment(text) for text in texts]
        return [result[0] for result in results], [len(result.assessments) for result in results]

    return assess


@cache
def _vader() -> Assess:
    from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer, SentiText

    analyzer = SentimentIntensityAnalyzer()

    def count(text: str) -> int:
        return sum(w.lower() in analyzer.lexicon for w in SentiText(text).words_and_emoticons)

    def assess(texts: Sequence[str]) -> tuple[list[float], list[int]]:
        polarity = [analyzer.polarity_scores(text)["compound"] for text in texts]
        return polarity, [count(text) for text in texts]

    return assess


#: What `combined` averages: standard deviations of scores in `data/neutral_prose.jsonl`.
COMBINED = {"textblob": 0.21, "vader": 0.29}


@cache
def _combined() -> Assess:
    """Average the scores, each divided by its standard deviation, rescaled to −1 to 1."""
    scorers = [INSTRUMENTS[name].load() for name in COMBINED]
    weights = 1 / np.array([*COMBINED.values()])

    def assess(texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        polarity, n_words = zip(*(scorer(texts) for scorer in scorers), strict=True)
        return np.average(polarity, axis=0, weights=weights), np.max(n_words, axis=0)

    return assess


#: Every scorer by its name.
INSTRUMENTS = registry(
    {
        "textblob": Instrument("TextBlob {}", "textblob", _textblob),
        "vader": Instrument("VADER {}", "vaderSentiment", _vader),
        "combined": Instrument("standardised mean of TextBlob {} and VADER", "textblob", _combined),
    },
    family="sentiment",
)

if TYPE_CHECKING:
    ScorerName = str
else:
    #: What a parameter may be.
    ScorerName = Literal[tuple(INSTRUMENTS)]


def instrument(scorer: str) -> str:
    """Return a scorer's name with its version, as tables and figures show it.

    Examples
    --------
    >>> instrument("vader").split()[0]
    'VADER'
    """
    return INSTRUMENTS[scorer].full_title()


def score(texts: Iterable[str | None], *, scorer: str = "textblob") -> pd.DataFrame:
    """Score the polarity of texts.

    Parameters
    ----------
    texts
        Texts; a Series keeps its index. Missing and blank texts are not scored.
    scorer
        ``"textblob"`` (the papers' scorer: the polarity of TextBlob's pattern analyser),
        ``"vader"`` (the compound score of VADER), ``"combined"`` (the mean of both, each divided by
        its standard deviation in neutral prose), or what another package adds (`instruments`).

    Returns
    -------
    DataFrame
        `polarity` in [-1, 1], NaN where there is no text; `n_assessed`, the words or phrases that
        the scorer knows. Each distinct text is scored once.

    Examples
    --------
    >>> score(["A wonderful day.", "The box.", None])["polarity"].tolist()
    [1.0, 0.0, nan]
    >>> score(["The box."])["n_assessed"].tolist()
    [0]
    """
    series, how = pd.Series(texts, dtype=object), (scorer, instrument(scorer))

    def assess(distinct: list[str]) -> np.ndarray:
        chunks = map_chunks(_assess_chunk, pd.Series(distinct, dtype=object), args=how)
        return np.concatenate(chunks)

    rows = on_distinct(series, assess).reshape(-1, 2)
    table = pd.DataFrame(rows, index=series.index, columns=["polarity", "n_assessed"], dtype=float)
    return table.assign(n_assessed=table["n_assessed"].fillna(0).astype(int))


def _assess_chunk(texts: pd.Series, scorer: str, title: str) -> np.ndarray:
    """Score texts; `title` tells versions of the scorer apart."""
    return np.column_stack(INSTRUMENTS[scorer].load()(texts.tolist()))
