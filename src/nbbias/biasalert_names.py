"""Whether a judge names a group or an attribute as the label does."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, CountVectorizer

#: A group's name → the name that it is compared by, or None.
Canonical = Callable[[str], str | None]


#: A name with more words than this many times the label's says too much to be right.
_TOO_LONG = 2

_PEOPLE = {"people", "person", "folk", "community", "all", "the", "a", "an", "is", "are", "be"}
_IRREGULAR = {"women": "woman", "men": "man", "children": "child", "wives": "wife"}
_LINKED = re.compile(r"\w+(?:'\w+)?")


def words(text: str) -> list[str]:
    """Return the content words by which groups and attributes are compared.

    Lower case, plural ``s`` taken off, without words such as "people", "the" and "are", so that
    "Black people" and "the Blacks" name one group. Other function words count only where there is
    nothing else.
    """
    found = [_IRREGULAR.get(word, word) for word in _LINKED.findall(text.lower())]
    named = [word for word in found if word not in _PEOPLE]
    kept = [word for word in named if word not in ENGLISH_STOP_WORDS] or named
    return [w[:-1] if len(w) > 3 and w.endswith("s") and not w.endswith("ss") else w for w in kept]


def renamed(table: pd.DataFrame, canonical: Canonical) -> pd.DataFrame:
    """Return a table with its column `group` by canonical names; unknown names stay."""
    if "group" not in table:
        return table
    names = {name: canonical(str(name)) or name for name in table["group"].dropna().unique()}
    return table.assign(group=table["group"].map(names))


def bags(texts: pd.Series, vocabulary: list[str]) -> sparse.csr_matrix:
    """Return which words of a vocabulary each name holds: names by words, 0 or 1."""
    if not vocabulary:
        return sparse.csr_matrix((len(texts), 1))
    counter = CountVectorizer(analyzer=words, vocabulary=vocabulary, binary=True)
    return sparse.csr_matrix(counter.transform(texts))


def same(truth: sparse.csr_matrix, said: sparse.csr_matrix) -> np.ndarray:
    """Tell where a name is the label's, shorter, or at most twice as long: more is no naming."""
    shared = np.asarray(truth.multiply(said).sum(axis=1)).ravel()
    label, name = truth.getnnz(1), said.getnnz(1)
    within = (name > 0) & (shared == name)
    around = (label > 0) & (shared == label) & (name <= _TOO_LONG * label)
    return within | around
