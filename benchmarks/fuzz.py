"""Fast ways against plain ones on texts that nobody would write: ``python -m benchmarks.fuzz``.

Texts are drawn from what tokenisers trip over: their own rules, quotes, emoticons, odd spaces, runs
of a sign, words cut by full stops, terms of the lists. Every batch is read both ways; the first
text that differs is shown, and the status is 1. Otherwise the number of texts is.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from nbbias.text import annotate, blob, lexicons, plain, tokens, topics, vader

BATCH = 400

_SIGNS = [*"'\"’‘“”`´.,;:!?…-–—_()[]{}<>*/\\|&%$#@~^=+€£°§•", "...", "''", "``", "--", "!?"]
_SPACES = [" "] * 12 + [
    "  ",
    "\n",
    "\n\n",
    "\n \n",
    "\t",
    "\r\n",
    "\u00a0",
    "\u2009",
    "\u2028",
    "\u3000",
    "\u0085",
    "\x1c",
    "\u200b",
    "\ufeff",
    "\u200d",
]
_WORDS = [
    "the",
    "The",
    "of",
    "non",
    "Non",
    "NON",
    "don't",
    "Don’t",
    "can't",
    "cannot",
    "it's",
    "a.m",
    "p.m.",
    "U.S.",
    "e.g.",
    "Mr.",
    "Dr",
    "İstanbul",
    "STRASSE",
    "straße",
    "ΣΑΣ",
    "ﬁne",
    "ǅ",
    "naïve",
    "café",
    "3",
    "10",
    "3.5",
    "1,000",
    "5km",
    "10a.m.",
    "C++",
    "x",
    "D",
    "P",
    "8",
    "http://a.b/c?d=e",
    "日本語。",
    "مرحبا",
    "नमस्ते",
    "www.site.org",
    "a@b.co",
    "end.Next",
    "end.next",
    "and/or",
    "well-known",
    "good",
    "GOOD",
    "bad",
    "not",
    "never",
    "isn't",
    "very",
    "extremely",
    "n't",
    "without",
    "but",
    "BUT",
    "kind",
    "least",
    "at",
    "the",
    "shit",
    "bomb",
    "kiss of death",
    "first lady",
    "black",
    ":)",
    ":-(",
    "<3",
    ":D",
    "no",
    "so",
    "awfully",
    "great",
    "lol",
    "uber",
    "😀",
    "👩‍👧",
    "❤️",
    "ok",
    "S",
    "s",
    "em",
    "'em",
    "'s",
    "ll",
    "Cause",
]


def texts(rng: random.Random, terms: Sequence[str], rules: Sequence[str]) -> list[str]:
    """Draw a batch of ugly texts."""
    found = []
    for _ in range(BATCH):
        parts = []
        for _ in range(rng.choice([1, 2, 4, 8, 30])):
            kind = rng.random()
            if kind < 0.25:
                parts.append(rng.choice(terms))
            elif kind < 0.45:
                parts.append(rng.choice(_WORDS))
            elif kind < 0.6:
                parts.append(rng.choice(rules))
            elif kind < 0.62:
                parts.append(rng.choice(_SIGNS) * rng.randrange(2, 40))
            else:
                parts.append(rng.choice(_SIGNS))
            if rng.random() < 0.1:
                parts[-1] = rng.choice([str.upper, str.lower, str.title])(parts[-1])
            if rng.random() < 0.6:
                parts.append(rng.choice(_SPACES))
        found.append("".join(parts))
    return found


def _tuples(table: pd.DataFrame) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in table.astype(object).to_numpy().tolist()]


def group_words(batch: list[str], lexicon: pd.DataFrame) -> bool:
    """Sentences and group words against the plain route."""
    ours = annotate.annotate(pd.Series(batch), lexicon)
    distinct = list(dict.fromkeys(batch))
    theirs = plain.annotate(distinct, lexicon)
    first = {text: number for number, text in enumerate(distinct)}
    for mine, own in zip(ours, theirs, strict=True):
        by_text: dict[int, list[tuple[Any, ...]]] = {}
        for row in own:
            by_text.setdefault(int(row[0]), []).append(tuple(row[1:]))
        expected = [
            (i, *row) for i, text in enumerate(batch) for row in by_text.get(first[text], [])
        ]
        if _tuples(mine) != expected:
            return False
    return True


def lemmas(batch: list[str], lexicon: pd.DataFrame) -> bool:
    """Lemmas against the plain route."""
    given = pd.Series(batch)
    return tokens.lists(topics.tokens(given)).tolist() == plain.tokens(given.str.lower())


def polarity(batch: list[str], lexicon: pd.DataFrame) -> bool:
    """Scores of TextBlob and VADER against the packages' own, to 1e-12; words known equal."""
    for ours, theirs in ((blob.Blob(), blob.plain), (vader.Vader(), vader.plain)):
        found, known = ours(batch)
        expected = np.array([theirs(text) for text in batch])
        if (np.abs(found - expected[:, 0]) > 1e-12).any() or (known != expected[:, 1]).any():
            return False
    return True


#: What is checked of every batch; each is given the texts and the word lists.
CHECKS: dict[str, Callable[[list[str], pd.DataFrame], bool]] = {
    "sentences and group words": group_words,
    "lemmas": lemmas,
    "polarity": polarity,
}


def main() -> int:
    """Fuzz for some minutes."""
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("--minutes", type=float, default=10)
    asked.add_argument("--seed", type=int, default=0)
    given = asked.parse_args()
    biases = ["gender", "race", "religion", "age", "disability", "orientation", "nationality"]
    every = lexicons.expand(lexicons.load_all(biases, paths={}, names_path="sample"))
    terms = [
        term
        for _, own in every.groupby("bias")
        for term in own["term"].sample(min(60, len(own)), random_state=1)
    ]
    lexicon = every[every["term"].isin(terms)]
    rules = list(plain.pipeline().tokenizer.rules)
    end, done, seed = time.monotonic() + 60 * given.minutes, 0, given.seed
    while time.monotonic() < end:
        batch = texts(random.Random(seed), terms, rules)
        for name, same in CHECKS.items():
            if not same(batch, lexicon):
                one = next((text for text in batch if not same([text], lexicon)), batch)
                print(f"seed {seed}: {name} differ: {one!r}")
                return 1
        done, seed = done + len(batch), seed + 1
    print(f"{done:,} texts, {' and '.join(CHECKS)} the same")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
