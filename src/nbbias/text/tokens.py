"""The words of many texts, end to end in one array of numbers: what topics are made from.

A corpus of 27 million words is a list of its different words, and 27 million small numbers; a
list of words for each text would be the same in fifty times the memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pandas as pd


class Tokens(NamedTuple):
    """Words of texts.

    `words`: the different ones, sorted; `ids`: of all texts end to end, places in `words` (int32);
    `starts`: where in `ids` each text begins, and one more, where the last ends (int64); `index`:
    the texts.

    Examples
    --------
    >>> of_lists(pd.Series([["sea", "ship"], [], ["sea"]])).ids.tolist()
    [0, 1, 0]
    """

    words: list[str]
    ids: np.ndarray
    starts: np.ndarray
    index: pd.Index

    def parts(self) -> list[Any]:
        """Return what a stage keeps, and is kept by."""
        words = pd.Series(self.words, dtype="str")
        return [words, self.ids, pd.Series(np.diff(self.starts), self.index)]

    @classmethod
    def of_parts(cls, parts: list[Any]) -> Tokens:
        """Make them of their parts."""
        words, ids, lengths = parts
        return cls(words.tolist(), ids, starts(lengths), lengths.index)


def starts(lengths: Any) -> np.ndarray:
    """Return where things begin that stand end to end, and where the last one ends.

    Examples
    --------
    >>> starts([2, 0, 3]).tolist()
    [0, 2, 2, 5]
    """
    return np.append(0, np.cumsum(np.asarray(lengths, dtype=np.int64)))


def of_lists(texts: Tokens | pd.Series) -> Tokens:
    """Return lists of words as `Tokens`, and `Tokens` as they are.

    Examples
    --------
    >>> of_lists(pd.Series([["sea", "ship"], ["sea"]])).words
    ['sea', 'ship']
    """
    if isinstance(texts, Tokens):
        return texts
    own = texts.tolist()
    words = sorted({word for one in own for word in one})
    at = {word: i for i, word in enumerate(words)}
    ids = np.array([at[word] for one in own for word in one], dtype=np.int32)
    return Tokens(words, ids, starts([len(one) for one in own]), texts.index)


def lists(tokens: Tokens | pd.Series) -> pd.Series:
    """Return the words of each text as a list.

    Examples
    --------
    >>> lists(of_lists(pd.Series([["sea", "ship"], []]))).tolist()
    [['sea', 'ship'], []]
    """
    if not isinstance(tokens, Tokens):
        return tokens
    words = np.array(tokens.words, dtype=object)[tokens.ids].tolist()
    ends = tokens.starts.tolist()
    found = [words[a:b] for a, b in pairwise(ends)]
    return pd.Series(found, index=tokens.index, dtype=object)


def take(tokens: Tokens, positions: Any) -> Tokens:
    """Return some of the texts, by their places or by a mask; the list of words stays whole.

    Examples
    --------
    >>> both = of_lists(pd.Series([["sea", "ship"], ["sea"]]))
    >>> lists(take(both, [1])).tolist()
    [['sea']]
    """
    at = np.asarray(positions)
    at = np.flatnonzero(at) if at.dtype == bool else at.astype(np.int64)
    lengths = np.diff(tokens.starts)[at]
    begins = starts(lengths)
    of_word = np.repeat(tokens.starts[:-1][at] - begins[:-1], lengths)
    ids = tokens.ids[of_word + np.arange(begins[-1])]
    return Tokens(tokens.words, ids, begins, tokens.index[at])


def concat(parts: Sequence[Tokens]) -> Tokens:
    """Put the texts of several together, in order; the lists of words become one.

    Examples
    --------
    >>> one, other = (of_lists(pd.Series([[word]])) for word in ("ship", "sea"))
    >>> concat([one, other]).words
    ['sea', 'ship']
    """
    words = sorted({word for part in parts for word in part.words})
    at = {word: i for i, word in enumerate(words)}
    ids = [np.array([at[word] for word in part.words], dtype=np.int32)[part.ids] for part in parts]
    lengths = np.concatenate([np.diff(part.starts) for part in parts])
    index = parts[0].index.append([part.index for part in parts[1:]])
    return Tokens(words, np.concatenate(ids), starts(lengths), index)
