"""TextBlob's polarity of many texts, by its own tokens and its own rules, each piece read once.

TextBlob splits a text into tokens, goes through them with a lexicon, and averages what it found.
Its tokens hang on nothing outside the piece that they stand in (what stands between white space),
with one exception: an emoticon, and the mark "(!)", may be written with gaps (": )"; so is the
end of "(in 2018)": "8)" smiles). So the pieces are split by TextBlob's own function, once each,
the rules are compiled, and a text whose pieces might join is read by TextBlob (`plain`).

>>> polarity, known = Blob()(["Not a very good day.", "The box."])
>>> polarity.round(3).tolist(), known.tolist()
([-0.269, 0.0], [1, 0])
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import accumulate, chain
from typing import NamedTuple

import numba
import numpy as np
from textblob._text import EMOTICONS, EOS, PUNCTUATION, find_tokens
from textblob.en import sentiment

from nbbias.text.pieces import Vocabulary, grown

#: What TextBlob's rules ask of a token, as bits.
_KNOWN, _ADVERB, _LY, _NEGATION = 1, 2, 4, 8
_NOT_SHORT, _LONG, _EXCLAMATION, _SARCASM, _EMOTICON = 16, 32, 64, 128, 256

#: Strings that TextBlob joins from several tokens.
_JOINED = (*(one for kind in EMOTICONS.values() for one in kind), "(!)")
_LONGEST = max(map(len, _JOINED))

#: Where one of them can be torn: which, and after how many characters.
Tears = frozenset[tuple[int, int]]
Places = dict[str, list[tuple[int, int]]]

#: The same by what stands before the tear, and after it: up to the string's end, or inside it.
_BEGINS: Places = defaultdict(list)
_ENDS: Places = defaultdict(list)
_INNER_LEFT: Places = defaultdict(list)
_INNER_RIGHT: Places = defaultdict(list)
for _number, _whole in enumerate(_JOINED):
    for _at in range(1, len(_whole)):
        _BEGINS[_whole[:_at]].append((_number, _at))
        _ENDS[_whole[_at:]].append((_number, _at))
        for _from in range(1, _at):
            _INNER_LEFT[_whole[_from:_at]].append((_number, _at))
        for _to in range(_at + 1, len(_whole)):
            _INNER_RIGHT[_whole[_at:_to]].append((_number, _at))


class _Piece(NamedTuple):
    """The numbers of a piece's tokens, and of what it may join at its right and at its left."""

    tokens: list[int]
    left: int
    right: int


def plain(text: str) -> tuple[float, int]:
    """Return the polarity of one text and the number of words that were known, by TextBlob.

    Examples
    --------
    >>> plain("A good day.")
    (0.7, 1)
    """
    found = sentiment(text)
    return found[0], len(found.assessments)


class Blob:
    """TextBlob's sentiment as a function of texts."""

    def __init__(self) -> None:
        sentiment.load()
        self._tokens: dict[str, int] = {}
        self._told: list[tuple[int, float, float]] = []
        self._left: dict[Tears, int] = {frozenset(): 0}
        self._right: dict[Tears, int] = {frozenset(): 0}
        #: Where each piece's tokens end, and they; the pieces' sides, and which join; the tokens.
        known: tuple[np.ndarray, ...] = (
            np.zeros(1, np.int64),
            np.zeros(0, np.int32),
            np.zeros((0, 2), np.int32),
            np.zeros((1, 1), np.bool_),
            np.zeros(0, np.int32),
            np.zeros((0, 2)),
        )
        self._pieces = Vocabulary(self._analysed, self._learned, known)

    def __call__(self, texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """Return the texts' polarities and how many words of each were known."""
        ids, starts, known_of = self._pieces.read(texts)
        polarity, known, doubtful = _scored(ids, starts, *known_of)
        for at in np.flatnonzero(doubtful).tolist():
            polarity[at], known[at] = plain(texts[at])
        return polarity, known

    def _learned(self, known: tuple[np.ndarray, ...], new: list[_Piece]) -> tuple[np.ndarray, ...]:
        """Return what is known with new pieces and their new tokens."""
        ends, flat, sides, _, kinds, values = known
        told = self._told[len(kinds) :]
        return (
            grown(ends, ends[-1] + np.cumsum([len(one.tokens) for one in new])),
            grown(flat, [token for one in new for token in one.tokens]),
            grown(sides, [(one.left, one.right) for one in new]),
            np.array([[bool(a & b) for b in self._right] for a in self._left]),
            grown(kinds, [kind for kind, *_ in told]),
            grown(values, [value for _, *value in told]),
        )

    def _analysed(self, piece: str) -> _Piece:
        words = [piece]  # of letters alone: no rule splits it
        if not piece.isalpha():
            words = [word for word in " ".join(find_tokens(piece)).split() if word != EOS]
        tokens = []
        for word in words:
            lower = word.lower()
            if lower not in self._tokens:
                self._tokens[lower] = len(self._told)
                self._told.append(_told(lower))
            tokens.append(self._tokens[lower])
        left, right = _tears(words)
        sides = (
            self._left.setdefault(left, len(self._left)),
            self._right.setdefault(right, len(self._right)),
        )
        return _Piece(tokens, *sides)


def _told(word: str) -> tuple[int, float, float]:
    """Return what the rules ask of a token: its kind, its polarity and its intensity."""
    kind, polarity, intensity = 0, 0.0, 1.0
    if None in sentiment.get(word, ()):
        kind |= _KNOWN
        polarity, _, intensity = sentiment[word][None]
        kind |= _ADVERB * any(one in sentiment[word] for one in sentiment.modifiers)
    elif not word.isalpha() and len(word) <= 5 and word not in PUNCTUATION:
        for (_, tone), kinds in EMOTICONS.items():
            if word in {one.lower() for one in kinds}:
                kind, polarity = kind | _EMOTICON, tone
                break
    kind |= _LY * sentiment.modifier(word) | _NEGATION * (word in sentiment.negations)
    kind |= _NOT_SHORT * (len(word.strip("'")) > 1) | _LONG * (len(word) > 2)
    kind |= _EXCLAMATION * (word == "!") | _SARCASM * (word == "(!)")
    return kind, polarity, intensity


def _tears(words: Sequence[str]) -> tuple[Tears, Tears]:
    """Return where, at its right and at its left edge, a piece may be torn from a joined string.

    A joined string may begin within a token, but ends where one does; a short piece may also be in
    the middle of it.
    """
    whole = "".join(words)
    left = [_BEGINS.get(whole[-n:], ()) for n in range(1, _LONGEST)]
    # Between two letters a token ends only where a contraction was split ("can n't").
    split = set(accumulate(map(len, words)))
    ends = [n for n in range(1, _LONGEST) if n in split or not whole[n - 1 : n + 1].isalnum()]
    right = [_ENDS.get(whole[:n], ()) for n in ends]
    return (
        frozenset(chain(_INNER_LEFT.get(whole, ()), *left)),
        frozenset(chain(_INNER_RIGHT.get(whole, ()), *right)),
    )


@numba.njit(cache=True, nogil=True)
def _scored(ids, starts, ends, tokens, sides, joins, kinds, values):  # type: ignore[no-untyped-def]
    """Go through the tokens of each text as TextBlob's `assessments` does; say what is in doubt.

    Only the last assessment can change still: `p` its polarity, `i` its intensity, `turned`
    whether it is negated.
    """
    n_texts = len(starts) - 1
    polarity, known = np.zeros(n_texts), np.zeros(n_texts, np.int64)
    doubtful = np.zeros(n_texts, np.bool_)
    for text in range(n_texts):
        n, total, p, i, turned = 0, 0.0, 0.0, 1.0, False
        adverb, adverb_ly, negation = False, False, False
        for at in range(starts[text], starts[text + 1]):
            piece = ids[at]
            if at > starts[text] and joins[sides[ids[at - 1], 0], sides[piece, 1]]:
                doubtful[text] = True
                break
            for token in tokens[ends[piece] : ends[piece + 1]]:
                kind, value = kinds[token], values[token, 0]
                if kind & _KNOWN:
                    if adverb:
                        p = max(-1.0, min(value * i, 1.0))
                    else:
                        total += (p * -0.5 if turned else p) if n else 0.0
                        n, p, turned = n + 1, value, False
                    i = values[token, 1]
                    if negation:
                        i, turned = 1.0 / i, True
                    adverb, adverb_ly = kind & _ADVERB != 0, kind & _LY != 0
                    negation = kind & _NEGATION != 0
                    continue
                if kind & _NEGATION:
                    negation = True
                elif kind & _NOT_SHORT:
                    negation = False
                if negation and adverb and adverb_ly:
                    turned, negation = True, False
                elif kind & _LONG:
                    adverb = False
                if kind & _EXCLAMATION and n:
                    p = max(-1.0, min(p * 1.25, 1.0))
                if kind & (_SARCASM | _EMOTICON):
                    total += (p * -0.5 if turned else p) if n else 0.0
                    n, p, i, turned = n + 1, value, 1.0, False
        total += (p * -0.5 if turned else p) if n else 0.0
        polarity[text], known[text] = total / max(n, 1), n
    return polarity, known, doubtful
