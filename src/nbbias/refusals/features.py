"""Features of a refusal: patterns by family, and similarity to prototypes.

The coefficients of named features have a fixed sign, so that no model's style can reverse one. The
other features are the length and the mean vectors of an answer's sentences, which have little
weight in a short answer: of one sentence they would know the topic and not what it does. No
feature depends on the prompt.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache

import numpy as np
import pandas as pd

from nbbias.tables import read_shipped_yaml
from nbbias.text import embeddings

#: The embedding that the coefficients were fitted with.
MODEL = embeddings.OFFLINE

#: Sentences that make the opening, and the characters of them that are embedded.
OPENING, OPENING_LENGTH = 3, 1000

#: Sentences whose vectors are averaged, beside those of the opening.
WHOLE = 12

#: Cosines and vectors are this much stretched, so that one penalty suits them and flags.
STRETCH = 3.0

#: Characters from which on length counts, and those at which mean vectors weigh a half.
LONG, HALF = 400, 600

DECLINES = ("inability", "principle", "filtered", "foreign")
REJECTS = ("premise", "norm")
LECTURES = ("important", "redirect", "identity", "apology", "privacy")
_OF_FIRST = (
    *("inability", "filtered", "foreign", "apology", "identity"),
    *("principle", "norm", "premise", "important"),
)
_OF_OPENING = ("inability", "norm", "premise", "redirect", "privacy", "principle")

_QUOTED = re.compile(r'"[^"\n]{0,600}"|\u201c[^\u201d\n]{0,600}\u201d')
_LISTED = re.compile(r"^\s*(?:\d+[.)]|[-*•])\s", re.MULTILINE)
_WORD = re.compile(r"\w")


@cache
def _patterns() -> dict[str, re.Pattern[str]]:
    content = read_shipped_yaml("refusals/patterns.yaml")
    families = content["families"] | content["content"]
    return {
        name: re.compile("|".join(f"(?:{pattern})" for pattern in listed), re.IGNORECASE)
        for name, listed in families.items()
    }


@cache
def _prototypes() -> dict[str, np.ndarray]:
    content = read_shipped_yaml("refusals/prototypes.yaml")
    lines = [line for listed in content.values() for line in listed]
    vectors = embeddings.embed(lines, model=MODEL)
    ends = np.cumsum([len(listed) for listed in content.values()])
    return dict(zip(content, np.split(vectors, ends[:-1]), strict=True))


def sentences(texts: Sequence[str]) -> list[list[str]]:
    """Split texts into sentences, leaving out those without a letter or digit.

    Examples
    --------
    >>> sentences(["No. I can't do that."])
    [['No.', "I can't do that."]]
    """
    from nbbias.text.pipeline import load_pipeline  # loads spaCy

    return [
        [sentence.text.strip() for sentence in doc.sents if _WORD.search(sentence.text)]
        for doc in load_pipeline().pipe(texts)
    ]


def hits(sentences: Sequence[str]) -> dict[str, np.ndarray]:
    """Return by family of patterns which sentences match; quotations are left out.

    Examples
    --------
    >>> sentence = "I can't help with that."
    >>> hits([sentence, f'He wrote: "{sentence}"'])["inability"].tolist()
    [True, False]
    """
    bare = [_QUOTED.sub('""', line).replace("\u2019", "'") for line in sentences]
    return {
        name: np.array([pattern.search(line) is not None for line in bare], dtype=bool)
        for name, pattern in _patterns().items()
    }


def table(texts: Iterable[str]) -> pd.DataFrame:
    """Return the features of texts.

    Parameters
    ----------
    texts
        Texts, one at least, none blank.

    Returns
    -------
    DataFrame
        One row per text. ``<family>_first`` and ``<family>_opening``: whether a pattern of the
        family is in the first sentence, or the first three; shares and counts of sentences (counts
        as log(1 + n)), separately by whether the answer declined or rejected before;
        ``<kind>_first``, ``<kind>_opening``: the largest cosine to a prototype of the kind;
        ``length``: log of the characters over 400, at least 0; ``opening.<n>``, ``whole.<n>``: the
        mean vectors of the first three and the first twelve sentences, weighed by L / (L + 600)
        of the L characters.

    Examples
    --------
    >>> features = table(["I can't help with that.", "Here it is."])
    >>> features["inability_first"].tolist()
    [1.0, 0.0]
    """
    listed = list(texts)
    split = [lines or [text] for text, lines in zip(listed, sentences(listed), strict=True)]
    flags = pd.DataFrame([_flags(*pair) for pair in zip(listed, split, strict=True)])
    begun = [lines[:WHOLE] for lines in split]
    openings = [" ".join(lines[:OPENING])[:OPENING_LENGTH] for lines in split]
    passages = [*openings, *(line for lines in begun for line in lines)]
    vectors = STRETCH * embeddings.embed(passages, model=MODEL)
    ends = len(listed) + np.cumsum([len(lines) for lines in begun])
    of_opening, *by_text = np.split(vectors, [len(listed), *ends[:-1]])
    of_first = np.array([lines[0] for lines in by_text])
    for part, rows in (("first", of_first), ("opening", of_opening)):
        for kind, prototypes in _prototypes().items():
            flags[f"{kind}_{part}"] = (rows @ prototypes.T).max(axis=1)
    lengths = np.array([len(text) for text in listed])
    flags["length"] = np.log(np.maximum(lengths, LONG) / LONG)
    weights = (lengths / (lengths + HALF))[:, None]
    means = [
        pd.DataFrame(weights * [lines[:n].mean(axis=0) for lines in by_text]).add_prefix(f"{part}.")
        for part, n in (("opening", OPENING), ("whole", WHOLE))
    ]
    return pd.concat([flags, *means], axis=1)


def _flags(whole: str, sentences: Sequence[str]) -> dict[str, float]:
    matched = hits(sentences)

    def any_of(families: Sequence[str]) -> np.ndarray:
        return np.logical_or.reduce([matched[name] for name in families])

    def within(flags: np.ndarray, n: int) -> float:
        return float(flags[:n].any())

    declines, rejects, lectures = (any_of(f) for f in (DECLINES, REJECTS, LECTURES))
    any_way = declines | rejects | lectures
    row = {"strong_first": within(declines, 1), "strong_opening": within(declines, OPENING)}
    row |= {f"{name}_first": within(matched[name], 1) for name in _OF_FIRST}
    row |= {f"{name}_opening": within(matched[name], OPENING) for name in _OF_OPENING}
    declined = max(within(matched["inability"], 2), row["filtered_first"], row["foreign_first"])
    rejected = within(rejects, 2)
    listed = float(len(_LISTED.findall(whole)) > 1)
    plain = float(np.log1p((~any_way).sum()))
    return row | {
        "declined": declined,
        "lecture_share": float(any_way.mean()),
        "list_plain": listed * (1 - declined),
        "list_declined": listed * declined,
        "plain_plain": plain * (1 - max(declined, rejected)),
        "plain_rejected": plain * (1 - declined) * rejected,
        "plain_declined": plain * declined,
        "delivery": within(matched["delivery"], 2 * OPENING),
        "turn": float(matched["turn"].any()),
        "unknown": within(matched["unknown"], OPENING),
        "literal": float(matched["literal"].mean()),
    }


def passage(sentences: Sequence[str], *, declines: bool) -> str:
    """Return the sentence with the strongest evidence of a refusal, else the first.

    Examples
    --------
    >>> passage(["Let me think.", "I can't help with that."], declines=True)
    "I can't help with that."
    """
    if not sentences or not declines:
        return next(iter(sentences), "")
    matched = hits(sentences)
    weights = dict.fromkeys(DECLINES, 3) | dict.fromkeys(REJECTS, 2) | dict.fromkeys(LECTURES, 1)
    points = np.sum([weight * matched[name] for name, weight in weights.items()], axis=0)
    return sentences[int(np.argmax(points))]
