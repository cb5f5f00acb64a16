"""A corpus of any size, the same every time; Fang et al. (2024) had 69,032 documents.

Sentences are real ones where the research data is there (NBBIAS_DATA), else those of the sample's
templates. An article is about the story its sentences are taken from, in the words of people for
the original and in those of models for the seven answers. What a few thousand stories cannot give
is drawn: names, numbers and rare words, as new ones keep turning up in news, so that the vocabulary
goes on growing, and hardly a sentence stands twice. Some documents have what breaks readers of
text: long runs, odd quotes, emoji, sentences without a space between them.

>>> originals, generations = next(blocks(8))
>>> len(originals), len(generations)
(1, 7)
"""

from __future__ import annotations

import argparse
import os
import re
import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

#: Documents of Fang et al. (2024): 8,629 articles by two newsrooms, and what seven models made of
#: each.
PAPER = 69_032
MODELS = tuple(f"model-{letter}" for letter in "abcdefg")

#: Where corpora, tables and plots are left.
OUT = Path("runs/benchmark")

_SEED = 2024
_BLOCK = 256  # articles that are written at once: bounds the memory, and is a row group
_SENTENCES = (18.0, 6.0)  # of a document: their mean and spread
_NEAR = 0.7  # share of an article's sentences that are of its story
_OWN, _RARE, _SWAPPED = 0.015, 0.03, 0.04  # shares of words: the article's cast, new ones, swapped
_CAST = 8
_UGLY = 1 / 50  # share of documents with something that breaks readers

# --- sentences --------------------------------------------------------------------------------


class Bank(NamedTuple):
    """Sentences to write with.

    `words`: the distinct words; `ids`: the words of all sentences end to end, as positions in
    `words`; `starts`: where sentences start, and the end; `stories`: for each story the sentences
    of people and those of models; `headlines`: outlet and headline.
    """

    words: np.ndarray
    ids: np.ndarray
    starts: np.ndarray
    stories: list[tuple[np.ndarray, np.ndarray]]
    headlines: list[tuple[str, str]]


_END = re.compile(r"(?<=[.!?])\s+(?=[\"“A-Z])")


@cache
def bank() -> Bank:
    """Return the sentences: of LLMFake, BOLD and Marked Personas, or of the sample."""
    folder = os.environ.get("NBBIAS_DATA")
    told, headlines = _shared(Path(folder)) if folder else _shipped()
    sentences: list[list[str]] = []
    stories = []
    for sides in told:
        at = []
        for texts in sides:
            own = [one.split() for text in texts for one in _END.split(text)]
            kept = [words for words in own if 4 <= len(words) <= 60]
            at.append(np.arange(len(sentences), len(sentences) + len(kept)))
            sentences += kept
        if all(map(len, at)):
            stories.append((at[0], at[1]))
    ids, words = pd.factorize(np.array([w for own in sentences for w in own], dtype=object))
    starts = np.cumsum([0, *map(len, sentences)])
    return Bank(words, ids, starts, stories, headlines)


Story = tuple[list[str], list[str]]


def _shared(folder: Path) -> tuple[list[Story], list[tuple[str, str]]]:
    def read(name: str) -> pd.DataFrame:
        return pd.read_parquet(folder / f"{name}.parquet")

    of_article = ["source", "article_id"]
    people, models = read("news/llmfake_originals"), read("news/llmfake_generated")
    answers = models.groupby(of_article)["text"].agg(list)
    stories = [
        (list(own), answers[key])
        for key, own in people.groupby(of_article)["text"]
        if key in answers.index
    ]
    facts = read("bold/bold_prompts").groupby(["domain", "category"])["wikipedia"].agg(list)
    tales = read("cogs/marked_personas").groupby(["kind", "race", "gender"])["text"].agg(list)
    # Those are one story for every fifty texts, told alike by people and models.
    for texts in (*facts, *tales):
        stories += [(texts[i : i + 50], texts[i : i + 50]) for i in range(0, len(texts), 50)]
    table = read("news/fang2024_headlines")
    order = np.random.default_rng(_SEED).permutation(len(table))
    return stories, list(table[["outlet", "headline"]].iloc[order].itertuples(index=False))


def _shipped() -> tuple[list[Story], list[tuple[str, str]]]:
    from nbbias import news

    people, models = news.sample.corpus(copies=3, seed=_SEED)
    sides = [own.groupby("article_id")["text"].agg(list) for own in (people, models)]
    stories = [(sides[0][article], sides[1][article]) for article in sides[0].index]
    return stories, [("simulated", headline) for headline in people["headline"].unique()]


# --- words that nobody has used yet -----------------------------------------------------------

_CONSONANTS = "b c d f g h j k l m n p r s t v w z br ch cl dr fl gr kr pl sh st th tr"
_ONSETS = re.split(" ", _CONSONANTS)
_VOWELS = ["a", "e", "i", "o", "u", "ai", "ea", "ou"]
_CODAS = ["l", "m", "n", "r", "s", "t", "ck", "nd", "ng", "rt", "sk"]


def spelled(rank: int) -> str:
    """Return the word of a rank: a name, a number, a compound, seldom an address or a word.

    Examples
    --------
    >>> spelled(20), spelled(27)
    ('Stalbal', '3-34')
    """
    kind, rest = rank % 10, rank + 7
    if kind == 7:
        return (f"${rest * 16}", f"{rest / 10:,.1f}%", f"{rest:,}", f"{rest % 31}-{rest}")[rank % 4]
    syllables = []
    while rest or len(syllables) < 2:
        rest, onset = divmod(rest, len(_ONSETS))
        rest, vowel = divmod(rest, len(_VOWELS))
        rest, coda = divmod(rest, len(_CODAS))
        syllables.append(_ONSETS[onset] + _VOWELS[vowel] + _CODAS[coda])
    word = "".join(syllables)
    if kind < 5:
        return word.capitalize()
    if kind == 5:
        return f"{word.capitalize()}’s"
    if kind == 6:
        return f"{word.capitalize()}-{syllables[0].capitalize()}"
    if kind == 8:
        return f"https://{word}.example/{rank}" if rank % 7 == 0 else f"@{word}"
    return word


def _new(rng: np.random.Generator, n: int) -> list[str]:
    """Draw from a long tail: the distinct words of n draws grow about as n to the 3/4."""
    ranks = (2000 * (rng.random(n) ** -3 - 1)).clip(max=2.0**40).astype(np.int64)
    return [spelled(rank) for rank in ranks.tolist()]


# --- what breaks readers ----------------------------------------------------------------------


def _run(text: str, rng: np.random.Generator) -> str:
    sign = ("=", "ha", "a1B2", "…", "xyz-", "!?")[rng.integers(6)]
    return f"{text} {(sign * 4000)[:4000]} {text[:80]}"


def _between(*signs: str) -> Callable[[str, np.random.Generator], str]:
    """Return what puts signs between some words."""

    def spoil(text: str, rng: np.random.Generator) -> str:
        words = text.split(" ")
        for at in sorted(rng.integers(0, len(words), 4))[::-1]:
            words.insert(at, signs[rng.integers(len(signs))])
        return " ".join(words)

    return spoil


_SPOILT: list[Callable[[str, np.random.Generator], str]] = [
    _run,
    lambda text, _: text.replace(". ", "."),
    lambda text, _: text.replace(" said", ", ``she said''").replace(" the ", " “the ", 3),
    lambda text, _: text.replace(" his ", " ‘his’ ").replace(" her ", " „her“ "),
    lambda text, _: text.replace("’", "'").replace(" a ", " 'a ", 2).replace(", ", "', '", 1),
    lambda text, _: text.replace(" ", "\n", 30).replace(". ", ".\r\n\r\n", 3),
    lambda text, _: text.replace(" ", "\u00a0", 9).replace(" ", "\u2003", 5),
    lambda text, _: text.replace("e", "e\u0301", 4).replace("I", "\u0130", 2),
    lambda text, _: text.replace("man", "m\u200ban", 1).replace("the", "t\u00adhe", 2),
    lambda text, _: text.replace("<", "&lt;").replace(". ", ".</p><p>", 3) + "&nbsp;&amp; more",
    lambda text, _: text[:400].upper() + text[400:],
    lambda text, _: "1. " + text.replace(". ", ".\n• ", 4),
    _between("🙂", "👩🏽‍⚕️", "🇳🇴", ":-)", ":-D", "<3", "(:", "¯\\_(ツ)_/¯"),
    _between("non-white", "non – white", "African-American women", "wo- men", "his/her", "s/he"),
    _between("''", "``", "--", "...", ". . .", "!!!", "?!", "“", "'tis", "O'Neil's", "U.S.", "pm."),
]

# --- documents --------------------------------------------------------------------------------


def blocks(documents: int) -> Iterator[tuple[pd.DataFrame, pd.DataFrame]]:
    """Yield originals and generations, some hundred articles at a time.

    A smaller corpus is the beginning of a larger one. There are whole articles only: the number is
    rounded down to a multiple of eight.
    """
    articles = documents // (1 + len(MODELS))
    for first in range(0, articles, _BLOCK):
        yield _block(first, min(_BLOCK, articles - first))


def _block(first: int, n: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    rng = np.random.default_rng([_SEED, first])
    rows = []
    for article in range(first, first + _BLOCK):  # whole, so that the beginning is the same
        outlet, headline = bank().headlines[article % len(bank().headlines)]
        story = int(rng.integers(len(bank().stories)))
        cast = _new(rng, _CAST)
        for writer in ("human", *MODELS):
            text = f"{headline}\n\n{_document(story, writer == 'human', cast, rng)}"
            if rng.random() < _UGLY:
                text = _SPOILT[rng.integers(len(_SPOILT))](text, rng)
            rows.append((outlet, f"{article:07d}", headline, writer, text))
        if article + 1 == first + n:
            break
    columns = ["source", "article_id", "headline", "writer", "text"]
    table = pd.DataFrame(rows, columns=columns)
    human = table["writer"] == "human"
    answers = table[~human].rename(columns={"writer": "model"}).drop(columns="headline")
    return table[human].drop(columns="writer"), answers.assign(prompt="neutral")


def _document(story: int, human: bool, cast: list[str], rng: np.random.Generator) -> str:
    own = bank()
    mean, spread = _SENTENCES
    n = max(2, round(rng.gamma((mean / spread) ** 2, spread**2 / mean)))
    told = own.stories[story][0 if human else 1]
    near = np.resize(rng.permutation(told), n)
    far = rng.integers(len(own.starts) - 1, size=n)
    chosen = np.where(rng.random(n) < _NEAR, near, far)
    sizes = own.starts[chosen + 1] - own.starts[chosen]
    ends = np.cumsum(sizes)
    starts = ends - sizes
    ids = own.ids[np.arange(ends[-1]) + np.repeat(own.starts[chosen] - starts, sizes)]
    # The first and the last word of a sentence stay: they say where it starts and ends.
    drawn = rng.random(len(ids))
    drawn[np.r_[starts, ends - 1]] = 1
    swapped = np.flatnonzero(drawn < _SWAPPED)
    ids[swapped] = ids[rng.permutation(np.flatnonzero(drawn < 1))[: len(swapped)]]
    words = own.words[ids]
    at = np.flatnonzero((drawn >= _SWAPPED) & (drawn < _SWAPPED + _OWN))
    words[at] = [cast[i] for i in rng.integers(len(cast), size=len(at))]
    at = np.flatnonzero((drawn >= _SWAPPED + _OWN) & (drawn < _SWAPPED + _OWN + _RARE))
    words[at] = _new(rng, len(at))
    lines = [" ".join(words[a:b]) for a, b in zip(starts, ends, strict=True)]
    paragraph = rng.random(n) < 0.15
    return "".join(
        line + ("\n\n" if new else " ") for line, new in zip(lines, paragraph, strict=True)
    ).rstrip()


# --- files ------------------------------------------------------------------------------------


def write(documents: int, out: Path) -> tuple[Path, Path]:
    """Write `originals.parquet` and `generations.parquet` into a folder, block by block."""
    out.mkdir(parents=True, exist_ok=True)
    paths = out / "originals.parquet", out / "generations.parquet"
    with tempfile.TemporaryDirectory(dir=out) as folder:
        parts = [Path(folder, path.name) for path in paths]
        writers: list[pq.ParquetWriter] = []
        for both in blocks(documents):
            held = [pa.Table.from_pandas(own, preserve_index=False) for own in both]
            if not writers:
                writers = [
                    pq.ParquetWriter(part, own.schema, compression="zstd")
                    for part, own in zip(parts, held, strict=True)
                ]
            for writer, own in zip(writers, held, strict=True):
                writer.write_table(own)
        for writer in writers:
            writer.close()
        for part, path in zip(parts, paths, strict=True):
            part.replace(path)
    return paths


def at(documents: int) -> Path:
    """Return the folder of a corpus, which is written where it is not there yet."""
    kind = "real" if os.environ.get("NBBIAS_DATA") else "sample"
    folder = OUT / f"corpus-{documents}-{kind}"
    if not (folder / "generations.parquet").is_file():
        write(documents, folder)
    return folder


def main() -> None:
    """Write a corpus where it is asked for, and say where."""
    parser = argparse.ArgumentParser(description="Write a corpus to measure on.")
    parser.add_argument("--documents", type=int, default=PAPER)
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    for path in write(given.documents, given.out):
        print(path)


if __name__ == "__main__":
    main()
