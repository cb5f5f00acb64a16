"""VADER's polarity of many texts, by its own lexicon and its own rules, each piece read once.

VADER splits a text at white space, scores the words that its lexicon knows, and looks for each at
the three before it: negations, "very" and its like, idioms. Its words hang on nothing outside the
piece that they stand in, so each distinct piece is read once; the rules are compiled, and hold for
every text (`plain` is VADER itself, against which they are tested).

>>> polarity, known = Vader()(["Not a very good day.", "The box."])
>>> polarity.tolist(), known.tolist()
([-0.3865, 0.0], [1, 0])
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple

import numba
import numpy as np
from vaderSentiment.vaderSentiment import (
    BOOSTER_DICT,
    C_INCR,
    N_SCALAR,
    SPECIAL_CASES,
    SentimentIntensityAnalyzer,
    SentiText,
    negated,
)

from nbbias.text.pieces import Vocabulary, grown

#: Words that VADER's rules name. Those of its idioms are numbered after them, any other word is 0.
_NAMED = (
    "no",
    "or",
    "nor",
    "kind",
    "of",
    "never",
    "so",
    "this",
    "without",
    "doubt",
    "least",
    "at",
    "very",
    "but",
)
NO, OR, NOR, KIND, OF, NEVER, SO, THIS, WITHOUT, DOUBT, LEAST, AT, VERY, BUT = range(1, 15)
_IDIOMS = (
    word for phrase in (*SPECIAL_CASES, *BOOSTER_DICT) if " " in phrase for word in phrase.split()
)
_CODES = {word: n for n, word in enumerate(dict.fromkeys((*_NAMED, *_IDIOMS)), start=1)}

#: What the rules ask of a word, as bits.
_LEXICON, _BOOSTER, _CAPITALS, _NEGATION = 1, 2, 4, 8


class _Piece(NamedTuple):
    """The numbers of a piece's words; is it in the lexicon; how many ! and ? it has."""

    words: list[int]
    known: bool
    exclaimed: int
    asked: int


@cache
def _analyser() -> SentimentIntensityAnalyzer:
    return SentimentIntensityAnalyzer()


def plain(text: str) -> tuple[float, int]:
    """Return the polarity of one text and the number of words that were known, by VADER.

    Examples
    --------
    >>> plain("A good day.")
    (0.4404, 1)
    """
    words = SentiText(text).words_and_emoticons
    known = sum(word.lower() in _analyser().lexicon for word in words)
    return _analyser().polarity_scores(text)["compound"], known


def _phrases(table: Mapping[str, float]) -> tuple[np.ndarray, np.ndarray]:
    """Return the values of phrases of two and of three words by the words' codes, else NaN."""
    size = len(_CODES) + 1
    two, three = np.full((size, size), np.nan), np.full((size, size, size), np.nan)
    for phrase, value in table.items():
        codes = tuple(_CODES.get(word, 0) for word in phrase.split(" "))
        if len(codes) > 1:
            (two if len(codes) == 2 else three)[codes] = value
    return two, three


class Vader:
    """VADER's compound score as a function of texts."""

    def __init__(self) -> None:
        self._lexicon = _analyser().lexicon
        self._cases, self._boosts = _phrases(SPECIAL_CASES), _phrases(BOOSTER_DICT)
        self._words: dict[str, int] = {}
        self._told: list[tuple[int, int, float, float]] = []
        #: Where each piece's words end, and they; what is counted of pieces; the words.
        known: tuple[np.ndarray, ...] = (
            np.zeros(1, np.int64),
            np.zeros(0, np.int32),
            np.zeros((0, 3), np.int32),
            np.zeros((0, 2), np.int32),
            np.zeros((0, 2)),
        )
        self._pieces = Vocabulary(self._analysed, self._learned, known)

    def __call__(self, texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """Return the texts' polarities and how many words of each were known."""
        ids, starts, known_of = self._pieces.read(texts)
        compound, known = _scored(ids, starts, *known_of, self._cases, self._boosts)
        return np.array([round(one, 4) for one in compound.tolist()], dtype=float), known

    def _learned(self, known: tuple[np.ndarray, ...], new: list[_Piece]) -> tuple[np.ndarray, ...]:
        """Return what is known with new pieces and their new words."""
        ends, flat, counts, kinds, values = known
        told = self._told[len(kinds) :]
        return (
            grown(ends, ends[-1] + np.cumsum([len(one.words) for one in new])),
            grown(flat, [word for one in new for word in one.words]),
            grown(counts, [one[1:] for one in new]),
            grown(kinds, [one[:2] for one in told]),
            grown(values, [one[2:] for one in told]),
        )

    def _analysed(self, piece: str) -> _Piece:
        emojis = _analyser().emojis
        text = "".join(f" {emojis[one]}" if one in emojis else one for one in piece)
        words = [self._number(word) for word in SentiText(text).words_and_emoticons]
        (whole,) = SentiText(piece).words_and_emoticons
        return _Piece(words, whole.lower() in self._lexicon, text.count("!"), text.count("?"))

    def _number(self, word: str) -> int:
        if word not in self._words:
            self._words[word] = len(self._told)
            lower = word.lower()
            kind = _LEXICON * (lower in self._lexicon) | _BOOSTER * (lower in BOOSTER_DICT)
            kind |= _CAPITALS * word.isupper() | _NEGATION * negated([lower])
            valence, boost = self._lexicon.get(lower, 0.0), BOOSTER_DICT.get(lower, 0.0)
            self._told.append((kind, _CODES.get(lower, 0), valence, boost))
        return self._words[word]


_compiled = numba.njit(cache=True, nogil=True)


@_compiled
def _scored(ids, starts, ends, flat, counts, kinds, values, cases, boosts):  # type: ignore[no-untyped-def]
    """Score each text as `polarity_scores` does, before rounding; count the pieces it knows."""
    n_texts = len(starts) - 1
    compound, known = np.zeros(n_texts), np.zeros(n_texts, np.int64)
    sizes = ends[1:] - ends[:-1]
    for text in range(n_texts):
        own = ids[starts[text] : starts[text + 1]]
        words = np.empty(sizes[own].sum(), np.int32)
        n, exclaimed, asked, capitals = 0, 0, 0, 0
        for piece in own:
            for word in flat[ends[piece] : ends[piece + 1]]:
                words[n] = word
                capitals += kinds[word, 0] & _CAPITALS != 0
                n += 1
            known[text] += counts[piece, 0]
            exclaimed += counts[piece, 1]
            asked += counts[piece, 2]
        found = np.zeros(n)
        mixed = 0 < capitals < n
        but = -1
        for i in range(n):
            kind, code = kinds[words[i], 0], kinds[words[i], 1]
            if code == BUT and but < 0:
                but = i
            if kind & _BOOSTER or (code == KIND and i < n - 1 and kinds[words[i + 1], 1] == OF):
                continue
            if kind & _LEXICON:
                found[i] = _valence(words, i, mixed, kinds, values, cases, boosts)
        if but >= 0:
            _weighted(found, but)
        total = 0.0
        for one in found:
            total += one
        emphasis = min(exclaimed, 4) * 0.292
        if asked > 1:
            emphasis += asked * 0.18 if asked <= 3 else 0.96
        if total > 0:
            total += emphasis
        elif total < 0:
            total -= emphasis
        compound[text] = min(max(total / np.sqrt(total * total + 15), -1.0), 1.0)
    return compound, known


@_compiled
def _valence(words, i, mixed, kinds, values, cases, boosts):  # type: ignore[no-untyped-def]
    """Return what the lexicon says of a word, changed by the words around it."""
    n = len(words)
    code, own = kinds[words[i], 1], values[words[i], 0]
    # The codes of the three words before, the nearest first.
    c1 = kinds[words[i - 1], 1] if i > 0 else 0
    c2 = kinds[words[i - 2], 1] if i > 1 else 0
    c3 = kinds[words[i - 3], 1] if i > 2 else 0
    valence = own
    if code == NO and i != n - 1 and kinds[words[i + 1], 0] & _LEXICON:
        valence = 0.0
    if c1 == NO or c2 == NO or (c3 == NO and c1 in (OR, NOR)):
        valence = own * N_SCALAR
    if kinds[words[i], 0] & _CAPITALS and mixed:
        valence += C_INCR if valence > 0 else -C_INCR
    for back in range(3):
        if i <= back:
            break
        word = words[i - back - 1]
        kind = kinds[word, 0]
        if kind & _LEXICON:
            continue
        scalar = 0.0
        if kind & _BOOSTER:
            scalar = values[word, 1] * (-1 if valence < 0 else 1)
            if kind & _CAPITALS and mixed:
                scalar += C_INCR if valence > 0 else -C_INCR
        if scalar != 0:
            scalar *= 1.0 if back == 0 else 0.95 if back == 1 else 0.9
        valence += scalar
        turned = kind & _NEGATION != 0
        if back == 0:
            valence *= N_SCALAR if turned else 1.0
        elif back == 1:
            if c2 == NEVER and c1 in (SO, THIS):
                valence *= 1.25
            elif not (c2 == WITHOUT and c1 == DOUBT) and turned:
                valence *= N_SCALAR
        else:
            # VADER's "and" and "or" here bind as they stand.
            if (c3 == NEVER and c2 in (SO, THIS)) or c1 in (SO, THIS):
                valence *= 1.25
            elif not (c3 == WITHOUT and (c2 == DOUBT or c1 == DOUBT)) and turned:
                valence *= N_SCALAR
            after = kinds[words[i + 1], 1] if i < n - 1 else -1
            second = kinds[words[i + 2], 1] if i < n - 2 else -1
            valence = _idioms(valence, (c3, c2, c1, code, after, second), cases, boosts)
    if c1 == LEAST and not kinds[words[i - 1], 0] & _LEXICON and (i == 1 or c2 not in (AT, VERY)):
        valence *= N_SCALAR
    return valence


@_compiled
def _idioms(valence, codes, cases, boosts):  # type: ignore[no-untyped-def]
    """Replace the valence by that of an idiom, or move it by "sort of" and its like."""
    two, three = cases
    c3, c2, c1, code, after, second = codes
    found = (two[c1, code], three[c2, c1, code], two[c2, c1], three[c3, c2, c1], two[c3, c2])
    for one in found:
        if not np.isnan(one):
            valence = one
            break
    if after >= 0 and not np.isnan(two[code, after]):
        valence = two[code, after]
    if second >= 0 and not np.isnan(three[code, after, second]):
        valence = three[code, after, second]
    two, three = boosts
    for one in (three[c3, c2, c1], two[c3, c2], two[c2, c1]):
        if not np.isnan(one):
            valence += one
    return valence


@_compiled
def _weighted(found, but):  # type: ignore[no-untyped-def]
    """Halve what stands before "but", raise what follows: of equal scores VADER takes the first."""
    for i in range(len(found)):
        value = found[i]
        first = 0
        while found[first] != value:
            first += 1
        if first < but:
            found[first] = value * 0.5
        elif first > but:
            found[first] = value * 1.5
