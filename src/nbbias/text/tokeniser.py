"""spaCy's tokens of texts as arrays: what stands between spaces is read once, if it is the same.

spaCy's tokeniser reads what stands between spaces without regard to what stands around it, so a
corpus of 27 million words is 400,000 analyses and as many looked up. Two things reach across a
space. A rule such as ":(" also finds ": (", where it changes nothing, but hides a rule that
overlaps it: texts where that might happen are in doubt, and are read the plain way. And
sentences, which `text.annotate` makes of the tokens again.

>>> codes, starts = encoded(["She said so."])
>>> found = split(codes, starts[:-1], starts[1:])
>>> found.strings(codes)
['She', 'said', 'so.']
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from functools import cache
from itertools import pairwise, product
from typing import Any, NamedTuple

import numba
import numpy as np
import pandas as pd

from nbbias.text import plain
from nbbias.text.plain import Doc, PhraseMatcher, Tokenizer
from nbbias.text.tokens import Tokens, concat, of_lists, starts as ends_of, take

#: Pieces that spaCy reads in one call, a blank line between any two: it is a token of its own.
_TOGETHER, _BETWEEN = 2000, "\n\n"

_BLANKED = 4000  # texts whose letters are numbers at once

_SPACES = np.zeros(0x3001, dtype=np.uint8)
_SPACES[[code for code in range(len(_SPACES)) if chr(code).isspace()]] = 1

#: A number of this process, so that no text can be written whose pieces are taken for others.
_SEED = np.uint64(secrets.randbits(63) | 1)

# What is said of a token, beside its words.
PUNCT, ENDS, ALPHA, DASH, NON = 1, 2, 4, 8, 16


def encoded(texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Return the letters of texts end to end, and where each begins (`tokens.starts`)."""
    codes = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    return codes.copy(), ends_of([len(one) for one in texts])


def blanked(texts: list[str], at: np.ndarray, places: np.ndarray) -> list[str]:
    """Put spaces in some places (start, end) of texts, each in the text of a number.

    Examples
    --------
    >>> blanked(["She left.", "He"], np.array([1, 0]), np.array([[0, 2], [0, 3]]))
    ['    left.', '  ']
    """
    order = np.argsort(at, kind="stable")
    at, places = at[order], places[order].astype(np.int64)
    found: list[str] = []
    for first in range(0, len(texts), _BLANKED):
        codes, begins = encoded(texts[first : first + _BLANKED])
        own = slice(*np.searchsorted(at, [first, first + _BLANKED]))
        lengths = places[own, 1] - places[own, 0]
        upto = ends_of(lengths)
        starts = begins[at[own] - first] + places[own, 0]
        codes[np.repeat(starts - upto[:-1], lengths) + np.arange(upto[-1])] = ord(" ")
        whole = codes.tobytes().decode("utf-32-le", "surrogatepass")
        found += [whole[a:b] for a, b in pairwise(begins.tolist())]
    return found


class Split(NamedTuple):
    """The pieces of some spans.

    `piece` of each one: a number, the same for the same letters; `first`: where each number stands
    first; `at`, `end`: places in the letters; `blank`: a blank line stands before it, in the same
    span; `starts`: where the pieces of each span begin.
    """

    piece: np.ndarray
    first: np.ndarray
    at: np.ndarray
    end: np.ndarray
    blank: np.ndarray
    starts: np.ndarray

    def strings(self, codes: np.ndarray) -> list[str]:
        """Return the different pieces, by number."""
        at, end = self.at[self.first], self.end[self.first]
        lengths = end - at
        begins = ends_of(lengths)
        letters = codes[np.repeat(at - begins[:-1], lengths) + np.arange(begins[-1])]
        whole = letters.tobytes().decode("utf-32-le", "surrogatepass")
        return [whole[a:b] for a, b in pairwise(begins.tolist())]


def split(codes: np.ndarray, begins: np.ndarray, ends: np.ndarray) -> Split:
    """Find what stands between spaces in spans of some letters."""
    room = _count(codes, begins, ends, _SPACES)
    found = (
        np.empty(room, np.uint64),
        np.empty(room, np.int32),
        np.empty(room, np.int32),
        np.empty(room, np.uint8),
        np.empty(len(begins) + 1, np.int64),
    )
    _fill(codes, begins, ends, _SPACES, _SEED, found)
    hashes, at, end, blank, starts = found
    piece, known = pd.factorize(hashes)
    first = np.empty(len(known), np.int64)
    first[piece[::-1]] = np.arange(room)[::-1]
    return Split(piece.astype(np.int32), first, at, end, blank, starts)


@numba.njit(cache=True, nogil=True)
def _count(codes: Any, begins: Any, ends: Any, spaces: Any) -> int:
    n = 0
    for span in range(len(begins)):
        within = False
        for i in range(begins[span], ends[span]):
            space = codes[i] < len(spaces) and spaces[codes[i]] == 1
            n += not space and not within
            within = not space
    return n


@numba.njit(cache=True, nogil=True)
def _fill(codes: Any, begins: Any, ends: Any, spaces: Any, seed: Any, found: Any) -> None:
    hashes, at, end, blank, starts = found
    n = 0
    for span in range(len(begins)):
        starts[span] = n
        within, breaks = False, 0
        for i in range(begins[span], ends[span]):
            code = codes[i]
            if code < len(spaces) and spaces[code] == 1:
                if within:
                    within, breaks = False, 0
                breaks += code == 10
                continue
            if not within:
                within = True
                at[n], hashes[n] = i, seed
                blank[n] = breaks > 1 and n > starts[span]
                n += 1
            mixed = (hashes[n - 1] ^ np.uint64(code)) * np.uint64(0x9E3779B97F4A7C15)
            hashes[n - 1] = mixed ^ (mixed >> np.uint64(29))
            end[n - 1] = i + 1
    starts[len(begins)] = n


# --- what spaCy says of a piece ---------------------------------------------------------------


class Read(NamedTuple):
    """Tokens of pieces: of piece i those from `starts[i]` to `starts[i + 1]`.

    `orth`, `lower`: spaCy's numbers of the token's words, and in lower case; `at`, `length`: where
    it stands in the piece; `told`: what else is said of it.
    """

    starts: np.ndarray
    orth: np.ndarray
    lower: np.ndarray
    at: np.ndarray
    length: np.ndarray
    told: np.ndarray


class Reader:
    """What spaCy's tokeniser said of every piece it was asked about."""

    def __init__(self) -> None:
        nlp: Any = plain.pipeline()
        self._tokenizer = nlp.tokenizer
        self._rules = frozenset(self._tokenizer.rules)
        self._at: dict[str, int] = {}
        self._lengths: list[np.ndarray] = []
        self._told: list[tuple[np.ndarray, ...]] = []
        self._ruled: list[np.ndarray] = []
        strings = nlp.vocab.strings
        punct = nlp.get_pipe("sentencizer").punct_chars
        self._ends = np.array([strings.add(one) for one in punct], dtype=np.uint64)
        self._dashes = np.array([strings.add(one) for one in plain.DASHES], dtype=np.uint64)
        self._non = np.uint64(strings.add(plain.NON))

    def ids(self, pieces: list[str]) -> np.ndarray:
        """Number pieces; those not yet known are read."""
        known = self._at
        new = [one for one in dict.fromkeys(pieces) if one not in known]
        for start in range(0, len(new), _TOGETHER):
            self._read(new[start : start + _TOGETHER])
        return np.fromiter((known[one] for one in pieces), np.int64, len(pieces))

    def _read(self, pieces: list[str]) -> None:
        doc = self._tokenizer(_BETWEEN.join(pieces))
        columns = ["ORTH", "LOWER", "IDX", "LENGTH", "IS_PUNCT", "IS_ALPHA"]
        orth, lower, idx, length, punct, alpha = doc.to_array(columns).T
        begins = ends_of([len(one) + len(_BETWEEN) for one in pieces])[:-1]
        piece = np.searchsorted(begins, idx.astype(np.int64), side="right") - 1
        at = idx.astype(np.int64) - begins[piece]
        own = at < np.array([len(one) for one in pieces])[piece]  # not a blank line between
        told = PUNCT * punct + ALPHA * alpha + ENDS * np.isin(orth, self._ends)
        told = told + DASH * np.isin(lower, self._dashes) + NON * (lower == self._non)
        self._at.update(zip(pieces, range(len(self._at), len(self._at) + len(pieces)), strict=True))
        self._lengths.append(np.bincount(piece[own], minlength=len(pieces)))
        kinds = (np.uint64, np.uint64, np.int32, np.int32, np.uint8)
        found = zip((orth, lower, at, length, told), kinds, strict=True)
        self._told.append(tuple(one[own].astype(kind) for one, kind in found))
        ruled = np.zeros(len(pieces), dtype=bool)
        for _, start, _ in _rules().matcher(doc):
            ruled[piece[start]] = pieces[piece[start]] not in self._rules
        self._ruled.append(ruled)

    def tokens(self, ids: np.ndarray) -> Read:
        """Return the tokens of some pieces."""
        if len(self._told) > 1:
            self._told = [tuple(np.concatenate(one) for one in zip(*self._told, strict=True))]
            self._lengths = [np.concatenate(self._lengths)]
            self._ruled = [np.concatenate(self._ruled)]
        if not self._told:
            none = [np.zeros(0, kind) for kind in ("u8", "u8", "i4", "i4", "u1")]
            return Read(np.zeros(1, np.int64), *none)
        lengths = self._lengths[0]
        begins = ends_of(lengths[ids])
        where = np.repeat(ends_of(lengths)[ids] - begins[:-1], lengths[ids])
        where = where + np.arange(begins[-1])
        return Read(begins, *(one[where] for one in self._told[0]))

    def ruled(self, ids: np.ndarray) -> np.ndarray:
        """Tell in which pieces a rule put tokens together that stand within more letters."""
        return self._ruled[0][ids] if self._ruled else np.zeros(0, dtype=bool)


@cache
def _reader() -> Reader:
    return Reader()


def read(found: Split, pieces: list[str]) -> tuple[Read, np.ndarray]:
    """Return the tokens of pieces by number, and the spans that are in doubt."""
    own = _reader()
    ids = own.ids(pieces)
    tokens = own.tokens(ids)
    return tokens, _doubtful(found, tokens, own.ruled(ids))


# --- where a space is no wall -----------------------------------------------------------------


class _Rules(NamedTuple):
    """The tokeniser's rules that put tokens together, such as ":(" and "Mr.".

    `matcher` finds what they make; `pairs`: two tokens that stand side by side in what they are
    made of; `first`, `last`: by spaCy's number of a token that begins or ends what is made, the
    ones that begin or end what it is made of.
    """

    matcher: PhraseMatcher
    pairs: frozenset[tuple[int, int]]
    first: dict[int, set[int]]
    last: dict[int, set[int]]


@cache
def _rules() -> _Rules:
    nlp = plain.pipeline()
    own: Any = nlp.tokenizer
    bare = Tokenizer(
        nlp.vocab,
        prefix_search=own.prefix_search,
        suffix_search=own.suffix_search,
        infix_finditer=own.infix_finditer,
        url_match=own.url_match,
    )
    matcher = PhraseMatcher(nlp.vocab, attr="ORTH")
    pairs: set[tuple[int, int]] = set()
    first: dict[int, set[int]] = {}
    last: dict[int, set[int]] = {}
    for text in own.rules:
        parts, made = [token.orth for token in bare(text)], [token.orth for token in own(text)]
        pairs |= set(pairwise(parts))
        if len(parts) > 1 and parts != made:
            matcher.add(text, [Doc(nlp.vocab, words=[nlp.vocab.strings[one] for one in made])])
            first.setdefault(made[0], set()).add(parts[0])
            last.setdefault(made[-1], set()).add(parts[-1])
    return _Rules(matcher, frozenset(pairs), first, last)


def _doubtful(found: Split, read: Read, ruled: np.ndarray) -> np.ndarray:
    """Return the spans in which a rule across a space might hide one within a piece."""
    near = ruled[found.piece]
    touching = np.flatnonzero(near[:-1] | near[1:])
    inner = np.zeros(len(found.piece) + 1, dtype=bool)
    inner[found.starts] = True  # the first piece of a span has none before it
    touching = touching[~inner[touching + 1]]
    left, right = found.piece[touching], found.piece[touching + 1]
    ends, begins = read.orth[read.starts[left + 1] - 1], read.orth[read.starts[right]]
    pairs, known = pd.MultiIndex.from_arrays([ends, begins]).factorize()
    might = np.array([_reaches(*pair) for pair in known], dtype=bool)[pairs]
    return np.unique(np.searchsorted(found.starts, touching[might], side="right") - 1)


def _reaches(end: int, begin: int) -> bool:
    """Tell whether a rule may be about two tokens, or what they were before a rule made them."""
    rules = _rules()
    before = {end} | rules.last.get(end, set())
    after = {begin} | rules.first.get(begin, set())
    return not rules.pairs.isdisjoint(product(before, after))


# --- lemmas -----------------------------------------------------------------------------------

#: Lemmas by spaCy's number of a word.
_lemmas: dict[int, str] = {}


def lemmas(texts: pd.Series) -> Tokens:
    """Return the lemmas of the alphabetical words of texts, in lower case."""
    own = texts.tolist()
    codes, begins = encoded(own)
    found = split(codes, begins[:-1], begins[1:])
    lower = pd.Series(found.strings(codes), dtype="str").str.lower().tolist()
    tokens, doubts = read(found, lower)
    alpha = tokens.told & ALPHA != 0
    number, known = pd.factorize(tokens.orth[alpha])
    words, numbers = np.unique(_looked_up(known.tolist()), return_inverse=True)
    of_piece = np.diff(ends_of(alpha)[tokens.starts])
    begun = ends_of(of_piece)
    upto = ends_of(of_piece[found.piece])
    where = np.repeat(begun[found.piece] - upto[:-1], of_piece[found.piece]) + np.arange(upto[-1])
    ids = numbers.astype(np.int32)[number][where]
    whole = Tokens(words.tolist(), ids, upto[found.starts], texts.index)
    if not len(doubts):
        return whole
    again = plain.tokens(texts.iloc[doubts].str.lower())
    both = concat([whole, of_lists(pd.Series(again, dtype=object))])
    at = np.arange(len(own))
    at[doubts] = len(own) + np.arange(len(doubts))
    return take(both, at)._replace(index=texts.index)


def _looked_up(words: list[int]) -> np.ndarray:
    new = [word for word in words if word not in _lemmas]
    strings = plain.pipeline().vocab.strings
    _lemmas.update(zip(new, plain.lemmas([strings[word] for word in new]), strict=True))
    return np.array([_lemmas[word] for word in words], dtype=object)
