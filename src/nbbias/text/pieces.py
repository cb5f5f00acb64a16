"""Texts as numbers of their pieces: what stands between white space, each distinct one read once.

Where an instrument reads a text piece by piece, what it makes of a piece can be looked up: of
1.2 million sentences of news 27 million pieces are a quarter of a million distinct ones.

>>> vocabulary = Vocabulary(str.upper)
>>> ids, starts, new = vocabulary.read(["She left.", "", "He left."])
>>> ids.tolist(), starts.tolist(), new
([0, 1, 2, 1], [0, 2, 2, 4], ['SHE', 'LEFT.', 'HE'])
>>> vocabulary.read(["He was here."])[2]
['WAS', 'HERE.']
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import chain, islice
from typing import Any, Generic, TypeVar

import numpy as np

T = TypeVar("T")

#: Texts whose pieces are held as strings at a time.
_BLOCK = 10_000


class Vocabulary(Generic[T]):
    """The distinct pieces of all texts that were read, numbered in order of first sight."""

    def __init__(self, analyse: Callable[[str], T]) -> None:
        self._analyse = analyse
        self._numbers: defaultdict[str, int] = defaultdict()
        self._numbers.default_factory = self._numbers.__len__

    def read(self, texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray, list[T]]:
        """Return the numbers of the pieces, end to end, and where each text's begin.

        And what `analyse` makes of the pieces that no text had before, in order of their numbers.
        """
        known = len(self._numbers)
        sizes, parts = [0], [np.zeros(0, dtype=np.int32)]
        for first in range(0, len(texts), _BLOCK):
            pieces = [text.split() for text in texts[first : first + _BLOCK]]
            sizes += map(len, pieces)
            numbers = map(self._numbers.__getitem__, chain.from_iterable(pieces))
            parts.append(np.fromiter(numbers, dtype=np.int32))
        new = [*map(self._analyse, islice(self._numbers, known, None))]
        return np.concatenate(parts), np.cumsum(sizes), new


def grown(array: np.ndarray, rows: Sequence[Any]) -> np.ndarray:
    """Put rows at the end of an array.

    Examples
    --------
    >>> grown(np.zeros((1, 2)), [(1, 2)]).tolist()
    [[0.0, 0.0], [1.0, 2.0]]
    """
    new = np.array(rows, dtype=array.dtype).reshape(-1, *array.shape[1:])
    return np.concatenate([array, new])
