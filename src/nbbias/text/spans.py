"""Sentences, and group words in them, on the tokens of pieces: spaCy's rules written on arrays.

spaCy's sentence splitter looks at two marks of a token, and its phrase matcher at equal words, so
one pass over numbers does what `text.plain` does on documents.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numba
import numpy as np
import pandas as pd

from nbbias.text import plain
from nbbias.text.tokeniser import DASH, ENDS, NON, PUNCT, Read, Split

_NONE = -1


class Terms(NamedTuple):
    """Terms to be found, as a tree of their words.

    `biases`; `found`: what a match is said to be, `(group, term, kind)`; `keys`: the different
    words, spaCy's numbers, sorted. A state is a place in the tree; the first ones are the roots:
    of every bias that of the terms in any case, and that of those whose case counts. `edges`
    (sorted: state · words + word) lead to `states`. `means`: by state what ends there (-1: nothing
    does), and what does where a prefix such as "non-" turns it. `matchers`: spaCy's of every bias.
    """

    biases: list[str]
    found: list[plain.Found]
    keys: np.ndarray
    edges: np.ndarray
    states: np.ndarray
    means: np.ndarray
    matchers: dict[str, list[plain.Matcher]]

    def rows(self, sentences: list[Any], matches: list[Any]) -> Found:
        """Return what `text.plain.annotate` found in the form of `find`."""
        meaning = {one: i for i, one in enumerate(self.found)}
        told = [
            (text, sentence, self.biases.index(bias), meaning[group, term, kind], start, end)
            for text, sentence, bias, group, term, kind, start, end in matches
        ]
        return Found(
            np.array(sentences, dtype=np.int32).reshape(-1, 4),
            np.array(told, dtype=np.int32).reshape(-1, 6),
        )


def terms(lexicon: pd.DataFrame) -> Terms:
    """Build the tree of a lexicon's terms, in the meaning that spaCy's matchers give them."""
    biases = list(lexicon["bias"].unique())
    found: dict[plain.Found, int] = {}
    matchers: dict[str, list[plain.Matcher]] = {}
    sequences: list[tuple[int, list[int], tuple[int, int]]] = []
    for number, bias in enumerate(biases):
        matchers[bias] = plain.matchers(lexicon[lexicon["bias"] == bias])
        for built in matchers[bias]:
            root = 2 * number + (built.attribute == "ORTH")
            for doc in built.docs:
                # Where two groups have one term the matcher's order says whose it is.
                own = [built.meaning[k] for k, a, b in built.matcher(doc) if b - a == len(doc)]
                turned = [one for one in own if one[2] != "descriptor"]
                meant = [
                    found.setdefault(one[-1], len(found)) if one else _NONE for one in (own, turned)
                ]
                words = doc.to_array(built.attribute).tolist()
                sequences.append((root, words, (meant[0], meant[1])))
    keys = np.array(sorted({word for _, words, _ in sequences for word in words}), dtype=np.uint64)
    at = {word: i for i, word in enumerate(keys.tolist())}
    tree: dict[int, int] = {}
    ends = [(_NONE, _NONE)] * (2 * len(biases))
    for root, words, last in sequences:
        state = root
        for word in words:
            edge = state * len(keys) + at[word]
            if edge not in tree:
                tree[edge] = len(ends)
                ends.append((_NONE, _NONE))
            state = tree[edge]
        ends[state] = last
    edges = np.array(sorted(tree), dtype=np.int64)
    states = np.array([tree[edge] for edge in edges.tolist()], dtype=np.int32)
    means = np.array(ends, np.int32).reshape(-1, 2)
    return Terms(biases, list(found), keys, edges, states, means, matchers)


class Found(NamedTuple):
    """Sentences (text, number, start, end) and matches (and bias, meaning), a row each."""

    sentences: np.ndarray
    matches: np.ndarray


def find(split: Split, read: Read, terms: Terms, begins: np.ndarray) -> Found:
    """Find sentences and group words; places are counted from `begins` of each text."""
    keys = [pd.Index(terms.keys).get_indexer(own) for own in (read.lower, read.orth)]
    low, orth = (one.astype(np.int32) for one in keys)
    tree = (terms.edges, terms.states, terms.means, len(terms.keys), len(terms.biases))
    # Plain tuples: what is compiled is kept on disk by its types, and would name our classes.
    pieces = (split.piece, split.at, split.blank, split.starts)
    tokens = (read.starts, read.at, read.length, read.told, low, orth)
    return Found(*_find(pieces, tokens, tree, begins))


@numba.njit(cache=True, nogil=True)
def _grown(rows: Any, n: int) -> Any:
    if n < len(rows):
        return rows
    more = np.empty((2 * len(rows), rows.shape[1]), rows.dtype)
    more[: len(rows)] = rows
    return more


@numba.njit(cache=True, nogil=True)
def _find(pieces: Any, tokens: Any, tree: Any, begins: Any) -> Any:
    piece, piece_at, blank, of_text = pieces
    of_piece, at, length, told, low, orth = tokens
    sentences, n = np.empty((1024, 4), np.int32), 0
    matches, m = np.empty((1024, 6), np.int32), 0
    longest = 1
    for text in range(len(begins)):
        size = 0
        for i in range(of_text[text], of_text[text + 1]):
            size += of_piece[piece[i] + 1] - of_piece[piece[i]]
        longest = max(longest, size)
    # Of the tokens of one text: number in `read`, start, sentence, and whether one space or (2) a
    # blank line stands before.
    token, start = np.empty(longest, np.int64), np.empty(longest, np.int64)
    sentence, gap = np.empty(longest, np.int32), np.empty(longest, np.uint8)
    for text in range(len(begins)):
        size, number, ended = 0, -1, False
        for i in range(of_text[text], of_text[text + 1]):
            after_blank, whole = blank[i] == 1, of_piece[piece[i]]
            for one in range(whole, of_piece[piece[i] + 1]):
                token[size], start[size] = one, piece_at[i] + at[one] - begins[text]
                before = one == whole and i > of_text[text]
                gap[size] = (2 if after_blank else 1) if before else 0
                ends = told[one] & ENDS != 0
                fresh = size == 0 or gap[size] == 2
                if gap[size] == 2:
                    ended = False  # the blank line would have begun a sentence
                if ended and not ends and told[one] & PUNCT == 0:
                    fresh, ended = True, False
                elif ends:
                    ended = True
                if fresh:
                    sentences = _grown(sentences, n)
                    if number >= 0 and gap[size] != 2:
                        sentences[n - 1, 3] = start[size - 1] + length[token[size - 1]]
                    elif number >= 0:
                        sentences[n - 1, 3] = start[size]  # a blank line is of the one above
                    number += 1
                    sentences[n, 0], sentences[n, 1], sentences[n, 2] = text, number, start[size]
                    n += 1
                sentence[size] = number
                size += 1
        if size > 0:
            sentences[n - 1, 3] = start[size - 1] + length[token[size - 1]]
        for bias in range(tree[4]):
            kept = _longest(_spans(bias, token, sentence, gap, size, told, low, orth, tree))
            for k in range(len(kept)):
                a, b = kept[k, 0], kept[k, 1] - 1
                matches = _grown(matches, m)
                matches[m, 0], matches[m, 1] = text, sentence[a]
                matches[m, 2], matches[m, 3] = bias, kept[k, 2]
                matches[m, 4], matches[m, 5] = start[a], start[b] + length[token[b]]
                m += 1
    return sentences[:n].copy(), matches[:m].copy()


@numba.njit(cache=True, nogil=True)
def _spans(
    bias: int,
    token: Any,
    sentence: Any,
    gap: Any,
    size: int,
    told: Any,
    low: Any,
    orth: Any,
    tree: Any,
) -> Any:
    """Return all matches of a bias in a text: first token, one past the last, meaning, exact."""
    edges, states, means, width, _ = tree
    spans, n = np.empty((16, 4), np.int64), 0
    for a in range(size):
        for exact in range(2):
            state, words = 2 * bias + exact, orth if exact else low
            for b in range(a, size):
                word = words[token[b]]
                if word < 0 or sentence[b] != sentence[a]:
                    break
                edge = np.int64(state) * width + word
                at = np.searchsorted(edges, edge)
                if at == len(edges) or edges[at] != edge:
                    break
                state = states[at]
                meaning = means[state, 1 if _turned(a, token, gap, told) else 0]
                if meaning >= 0:
                    spans = _grown(spans, n)
                    spans[n, 0], spans[n, 1], spans[n, 2], spans[n, 3] = a, b + 1, meaning, exact
                    n += 1
    return spans[:n]


@numba.njit(cache=True, nogil=True)
def _turned(a: int, token: Any, gap: Any, told: Any) -> bool:
    """Tell "non-white teachers" from "white teachers"."""
    if a == 0 or gap[a] == 2:
        return False
    before = told[token[a - 1]]
    tight = gap[a] == 0 and (a == 1 or gap[a - 1] != 1)
    return before & NON != 0 or (tight and before & DASH != 0)


@numba.njit(cache=True, nogil=True)
def _longest(spans: Any) -> Any:
    """Keep the longest of spans that overlap, of equals the first; they come by where they start.

    Of one span in any case and in the exact one the exact counts.
    """
    keep = np.zeros(len(spans), np.bool_)
    first = 0
    while first < len(spans):
        last, end = first + 1, spans[first, 1]
        while last < len(spans) and spans[last, 0] < end:
            end = max(end, spans[last, 1])
            last += 1
        if last == first + 1:
            keep[first] = True
        else:
            own = spans[first:last]
            origin = own[0, 0]
            rank = ((end - origin) - (own[:, 1] - own[:, 0])) << 32
            rank += ((own[:, 0] - origin) << 1) + (1 - own[:, 3])
            taken = np.zeros(end - origin, np.bool_)
            for i in np.argsort(rank):
                a, b = own[i, 0] - origin, own[i, 1] - origin
                if not (taken[a] or taken[b - 1]):
                    keep[first + i] = True
                    taken[a:b] = True
        first = last
    return spans[keep]
