"""What of an answer tells whether it declines: patterns by family, and likeness to prototypes.

Named features can push one way only, so that no model's style can turn one round. Beside them
stand the length and the mean vectors of an answer's sentences, which weigh little in a short
answer: of one sentence they would know its topic and not what it does. Nothing in them is about
what was asked.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

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

#: How much more strictly the parts of mean vectors are penalised than other features.
STRICT = 8.0

DECLINES = ("inability", "principle", "filtered", "foreign")
REJECTS = ("premise", "norm")
LECTURES = ("important", "redirect", "identity", "apology", "privacy")
_OF_FIRST = (
    "inability",
    "filtered",
    "foreign",
    "apology",
    "identity",
    "principle",
    "norm",
    "premise",
    "important",
)
_OF_OPENING = ("inability", "norm", "premise", "redirect", "privacy", "principle")

#: Features that speak for an answer; all others speak for a refusal.
FOR_AN_ANSWER = ("list", "plain", "delivery", "turn", "unknown", "literal", "delivers")

_QUOTED = re.compile(r'"[^"\n]{0,600}"|\u201c[^\u201d\n]{0,600}\u201d')
_LISTED = re.compile(r"^\s*(?:\d+[.)]|[-*•])\s", re.MULTILINE)
_WORD = re.compile(r"\w")


def sign(feature: str) -> int:
    """Return which way a feature may push: 1 towards a refusal, -1 towards an answer, 0 either.

    Examples
    --------
    >>> sign("inability_first"), sign("list_plain"), sign("length")
    (1, -1, 0)
    """
    if feature == "length" or _of_a_vector(feature):
        return 0
    return -1 if feature.split("_")[0] in FOR_AN_ANSWER else 1


def strictness(feature: str) -> float:
    """Return how strictly a feature is penalised, 1 for most.

    Examples
    --------
    >>> strictness("inability_first"), strictness("opening.0")
    (1.0, 8.0)
    """
    return STRICT if _of_a_vector(feature) else 1.0


def _of_a_vector(feature: str) -> bool:
    return "." in feature


@cache
def _patterns() -> dict[str, re.Pattern[str]]:
    read = read_shipped_yaml("refusals/patterns.yaml")
    families = read["families"] | read["content"]
    return {
        name: re.compile("|".join(f"(?:{one})" for one in listed), re.IGNORECASE)
        for name, listed in families.items()
    }


@cache
def _prototypes() -> dict[str, np.ndarray]:
    read = read_shipped_yaml("refusals/prototypes.yaml")
    every = [line for lines in read.values() for line in lines]
    vectors = iter(embeddings.embed(every, model=MODEL, progress=False))
    return {name: np.array([next(vectors) for _ in lines]) for name, lines in read.items()}


def sentences(texts: Sequence[str]) -> list[list[str]]:
    """Split texts into sentences, leaving out those without a letter or digit.

    Examples
    --------
    >>> sentences(["No. I can't do that."])
    [['No.', "I can't do that."]]
    """
    from nbbias.text.pipeline import load_pipeline  # loads spaCy

    read = load_pipeline().pipe(texts)
    return [[one.text.strip() for one in doc.sents if _WORD.search(one.text)] for doc in read]


def hits(said: Sequence[str]) -> dict[str, np.ndarray]:
    """Tell which sentences each family of patterns finds; what is quoted does not count.

    Examples
    --------
    >>> said = "I can't help with that."
    >>> hits([said, f'He wrote: "{said}"'])["inability"].tolist()
    [True, False]
    """
    own = [_QUOTED.sub('""', one).replace("\N{RIGHT SINGLE QUOTATION MARK}", "'") for one in said]
    return {
        name: np.array([bool(pattern.search(one)) for one in own], dtype=bool)
        for name, pattern in _patterns().items()
    }


def table(texts: Iterable[str], *, progress: bool = True) -> pd.DataFrame:
    """Return the features of texts.

    Parameters
    ----------
    texts
        Texts, none blank.
    progress
        Show a bar while many are embedded.

    Returns
    -------
    DataFrame
        One row per text. ``<family>_first`` and ``<family>_opening``: whether a pattern of the
        family is in the first sentence, or the first three; shares and counts of sentences (counts
        as log(1 + n)), told apart by whether the answer declined or rejected before;
        ``<kind>_first``, ``<kind>_opening``: the largest cosine to a prototype of the kind;
        ``length``: log of the characters over 400, at least 0; ``opening.<n>``, ``whole.<n>``: the
        mean vectors of the first three and the first twelve sentences, weighed by L / (L + 600)
        of the L characters.

    Examples
    --------
    >>> found = table(["I can't help with that.", "Here it is."], progress=False)
    >>> found["inability_first"].tolist()
    [1.0, 0.0]
    """
    given = list(texts)
    said = [own or [one] for one, own in zip(given, sentences(given), strict=True)]
    flags = pd.DataFrame([_flags(one, own) for one, own in zip(given, said, strict=True)])
    if not given:
        return flags
    begun = [own[:WHOLE] for own in said]
    openings = [" ".join(own[:OPENING])[:OPENING_LENGTH] for own in said]
    every = [*openings, *(one for own in begun for one in own)]
    vectors = STRETCH * embeddings.embed(every, model=MODEL, progress=progress)
    of_opening, of_each = np.split(vectors, [len(given)])
    ends = np.cumsum([len(own) for own in begun])
    own_vectors = np.split(of_each, ends[:-1])
    of_first = np.array([own[0] for own in own_vectors])
    for part, own in (("first", of_first), ("opening", of_opening)):
        for kind, known in _prototypes().items():
            flags[f"{kind}_{part}"] = (own @ known.T).max(axis=1)
    lengths = np.array([len(one) for one in given])
    flags["length"] = np.log(np.maximum(lengths, LONG) / LONG)
    weights = lengths / (lengths + HALF)
    means = [
        pd.DataFrame(
            [
                weight * own[:n].mean(axis=0)
                for weight, own in zip(weights, own_vectors, strict=True)
            ]
        ).add_prefix(f"{part}.")
        for part, n in (("opening", OPENING), ("whole", WHOLE))
    ]
    return pd.concat([flags, *means], axis=1)


def _flags(whole: str, said: Sequence[str]) -> dict[str, float]:
    found = hits(said)

    def any_of(families: Sequence[str]) -> np.ndarray:
        return np.logical_or.reduce([found[name] for name in families])

    def within(flags: np.ndarray, n: int) -> float:
        return float(flags[:n].any())

    declines, rejects, lectures = (any_of(f) for f in (DECLINES, REJECTS, LECTURES))
    any_way = declines | rejects | lectures
    row: dict[str, float] = {
        "strong_first": within(declines, 1),
        "strong_opening": within(declines, OPENING),
    }
    row |= {f"{name}_first": within(found[name], 1) for name in _OF_FIRST}
    row |= {f"{name}_opening": within(found[name], OPENING) for name in _OF_OPENING}
    declined = max(
        within(found["inability"], 2), within(found["filtered"], 1), within(found["foreign"], 1)
    )
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
        "delivery": within(found["delivery"], 2 * OPENING),
        "turn": float(found["turn"].any()),
        "unknown": within(found["unknown"], OPENING),
        "literal": float(found["literal"].mean()),
    }


def passage(said: Sequence[str], *, declines: bool) -> str:
    """Return the sentence that speaks most for a refusal, or the first where there was none.

    Examples
    --------
    >>> passage(["Let me think.", "I can't help with that."], declines=True)
    "I can't help with that."
    """
    if not said:
        return ""
    if not declines:
        return said[0]
    found: dict[str, Any] = hits(said)
    weights = dict.fromkeys(DECLINES, 3) | dict.fromkeys(REJECTS, 2) | dict.fromkeys(LECTURES, 1)
    points = sum(weight * found[name].astype(int) for name, weight in weights.items())
    return said[int(np.argmax(points))]
