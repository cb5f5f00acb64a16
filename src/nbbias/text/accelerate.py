"""The one place that chooses between a library and its faster way in `nbbias.fast`."""

from __future__ import annotations

import os
from importlib.util import find_spec

#: Set to anything, this environment variable rules the faster ways out.
PLAIN = "NBBIAS_PLAIN"

#: What each module of `nbbias.fast` needs, and from which size of a corpus on it is worth its
#: start: characters of text, or numbers of (text, word) that stand in a bag of words.
_MODULES = {"tokens": ("spacy", 2_000_000), "lda": ("numba", 20_000)}


def is_worth(module: str, *, size: int) -> bool:
    """Return whether a module of `nbbias.fast` is installed, and the corpus large enough for it.

    Examples
    --------
    >>> is_worth("tokens", size=100)
    False
    """
    needs, least = _MODULES[module]
    names = ("nbbias.fast", f"nbbias.fast.{module}", needs)
    plain = size < least or bool(os.environ.get(PLAIN))
    return not plain and all(find_spec(name) for name in names)
