"""A corpus of any size, the same every time; Fang et al. (2024) had 69,032 documents.

Sentences are those of the research data (NBBIAS_DATA), else of the sample's templates. An article
is one original and seven answers with sentences of one story. Names, numbers and rare words are
drawn, so that the vocabulary grows with the corpus as it does in news. A smaller corpus is the
beginning of a larger one.
"""

from __future__ import annotations

import os
import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

#: Documents of Fang et al. (2024): 8,629 articles, and what seven models made of each.
PAPER = 69_032
MODELS = tuple(f"model-{letter}" for letter in "abcdefg")

#: Where corpora and tables are left.
OUT = Path("runs/benchmark")

_SEED = 2024
_SENTENCES = (18.0, 6.0)  # of a document: their mean and spread
_NEAR = 0.7  # share of an article's sentences that are of its story
_SWAPPED, _OWN, _RARE = 0.04, 0.015, 0.03  # shares of words: swapped, of the article's cast, new
_CAST = 8
_END = re.compile(r"(?<=[.!?])\s+(?=[\"“A-Z])")


class Bank(NamedTuple):
    """Sentences as lists of words; for each story those of people and of models; headlines."""

    sentences: list[list[str]]
    stories: list[tuple[np.ndarray, np.ndarray]]
    headlines: list[tuple[str, str]]


@cache
def bank() -> Bank:
    """Return the sentences: of LLMFake, or of the sample."""
    folder = os.environ.get("NBBIAS_DATA")
    if folder:
        people, models, headlines = (
            pd.read_parquet(Path(folder, "news", f"{name}.parquet"))
            for name in ("llmfake_originals", "llmfake_generated", "fang2024_headlines")
        )
        titles = headlines[["outlet", "headline"]].sample(frac=1, random_state=_SEED)
    else:
        from nbbias import news

        people, models = news.sample.corpus(copies=3, seed=_SEED)
        titles = pd.DataFrame({"outlet": "simulated", "headline": people["headline"].unique()})
    keys = ["source", "article_id"]
    both = [table.groupby(keys)["text"].agg(list) for table in (people, models)]
    sentences: list[list[str]] = []
    stories = []
    for key in both[0].index.intersection(both[1].index):
        sides = []
        for texts in (both[0][key], both[1][key]):
            split = [line.split() for text in texts for line in _END.split(text)]
            chosen = [words for words in split if 4 <= len(words) <= 60]
            sides.append(np.arange(len(sentences), len(sentences) + len(chosen)))
            sentences += chosen
        if all(map(len, sides)):
            stories.append((sides[0], sides[1]))
    return Bank(sentences, stories, list(titles.itertuples(index=False, name=None)))


_ONSETS = re.split(" ", "b c d f g h j k l m n p r s t v w z br ch cl dr fl gr kr pl sh st th tr")
_VOWELS = re.split(" ", "a e i o u ai ea ou")
_CODAS = re.split(" ", "l m n r s t ck nd ng rt sk")


def spell(rank: int) -> str:
    """Return the word of a rank: a name, a number, a compound or a lower-case word.

    Examples
    --------
    >>> spell(20), spell(27)
    ('Stalbal', '3-34')
    """
    kind, rest = rank % 10, rank + 7
    if kind == 7:
        return (f"${rest * 16}", f"{rest / 10:,.1f}%", f"{rest:,}", f"{rest % 31}-{rest}")[rank % 4]
    syllables: list[str] = []
    while rest or len(syllables) < 2:
        rest, onset = divmod(rest, len(_ONSETS))
        rest, vowel = divmod(rest, len(_VOWELS))
        rest, coda = divmod(rest, len(_CODAS))
        syllables.append(_ONSETS[onset] + _VOWELS[vowel] + _CODAS[coda])
    word = "".join(syllables)
    if kind == 6:
        return f"{word.capitalize()}-{syllables[0].capitalize()}"
    return word.capitalize() if kind < 6 else word


def _draw_words(rng: np.random.Generator, size: int) -> list[str]:
    """Draw from a long tail: the distinct words of n draws grow about as n to the 3/4."""
    ranks = (2000 * (rng.random(size) ** -3 - 1)).clip(max=2.0**40).astype(np.int64)
    return [spell(int(rank)) for rank in ranks]


def write(documents: int, folder: Path) -> Path:
    """Write `originals.parquet` and `generations.parquet`: whole articles, eight documents each."""
    rows = []
    for article in range(documents // (1 + len(MODELS))):
        rng = np.random.default_rng([_SEED, article])
        outlet, headline = bank().headlines[article % len(bank().headlines)]
        story = bank().stories[rng.integers(len(bank().stories))]
        cast = _draw_words(rng, _CAST)
        for writer in ("human", *MODELS):
            text = f"{headline}\n\n{_document(story[writer != 'human'], cast, rng)}"
            rows.append((outlet, f"{article:07d}", headline, writer, text))
    table = pd.DataFrame(rows, columns=["source", "article_id", "headline", "writer", "text"])
    human = table["writer"] == "human"
    answers = table[~human].rename(columns={"writer": "model"}).drop(columns="headline")
    folder.mkdir(parents=True, exist_ok=True)
    table[human].drop(columns="writer").to_parquet(folder / "originals.parquet")
    answers.assign(prompt="neutral").to_parquet(folder / "generations.parquet")
    return folder


def _document(story: np.ndarray, cast: list[str], rng: np.random.Generator) -> str:
    mean, spread = _SENTENCES
    n = max(2, round(rng.gamma((mean / spread) ** 2, spread**2 / mean)))
    near, far = np.resize(rng.permutation(story), n), rng.integers(len(bank().sentences), size=n)
    lines = []
    for at in np.where(rng.random(n) < _NEAR, near, far):
        words = list(bank().sentences[at])
        drawn = rng.random(len(words))
        drawn[[0, -1]] = 1  # they say where a sentence starts and ends
        swapped = np.flatnonzero(drawn < _SWAPPED)
        moved = [words[i] for i in rng.integers(1, len(words) - 1, len(swapped))]
        roles = np.flatnonzero((drawn >= _SWAPPED) & (drawn < _SWAPPED + _OWN))
        rare = np.flatnonzero((drawn >= _SWAPPED + _OWN) & (drawn < _SWAPPED + _OWN + _RARE))
        people = [cast[i] for i in rng.integers(len(cast), size=len(roles))]
        for place, word in zip(
            [*swapped, *roles, *rare], [*moved, *people, *_draw_words(rng, len(rare))], strict=True
        ):
            words[place] = word
        lines.append(" ".join(words) + ("\n\n" if rng.random() < 0.15 else " "))
    return "".join(lines).rstrip()


def at(documents: int) -> Path:
    """Return the folder of a corpus, which is written where it is not there yet."""
    kind = "real" if os.environ.get("NBBIAS_DATA") else "sample"
    folder = OUT / f"corpus-{documents}-{kind}"
    return folder if (folder / "generations.parquet").is_file() else write(documents, folder)
