"""What texts are compared by: their words, those in a row, and pieces of words.

As scikit-learn's vectorizers count them (``word`` and ``char_wb``), but without loading it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_WORD = re.compile(r"[\w']+|[?!.]")


def tokens(text: str) -> list[str]:
    """Return a text's words and the marks that end sentences, lower case.

    Examples
    --------
    >>> tokens("Women CAN'T park!")
    ['women', "can't", 'park', '!']
    """
    return _WORD.findall(text.lower())


def words(text: str, most: int = 3) -> list[str]:
    """Return a text's tokens, each two in a row, and so on up to `most`.

    Examples
    --------
    >>> words("He can park")
    ['he', 'can', 'park', 'he can', 'can park', 'he can park']
    """
    read = tokens(text)
    rows = range(1, min(most, len(read)) + 1)
    return [" ".join(read[at : at + n]) for n in rows for at in range(len(read) - n + 1)]


def pieces(text: str, sizes: Sequence[int] = (2, 3, 4, 5)) -> list[str]:
    """Return all pieces of a text's words, of these numbers of characters, in rising order.

    A space at both ends of a word is of it. One that is no longer than a piece is itself, once.

    Examples
    --------
    >>> pieces("He")
    [' h', 'he', 'e ', ' he', 'he ', ' he ']
    >>> pieces("Trains", [4])
    [' tra', 'trai', 'rain', 'ains', 'ins ']
    """
    found: list[str] = []
    for word in text.lower().split():
        one = f" {word} "
        for size in sizes:
            found += [one[at : at + size] for at in range(max(len(one) - size, 0) + 1)]
            if len(one) <= size:
                break
    return found
