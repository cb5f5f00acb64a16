"""Texts as numbers of their words and pieces, rare ones weighing more: each text is counted once.

A run fits judges on many tables of the same texts: other splits, folds, types held out. What stands
in a text stays the same; in how many texts a word stands does not. So texts are counted once in a
process, and weighed anew for every table.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from nbbias.biasalert import grams

#: What is counted, in the order of a table's columns, and what reads it from a text.
READERS: Mapping[str, Callable[[str], list[str]]] = {
    "words": grams.words,
    "characters": grams.pieces,
}

#: What stands in fewer texts is no feature.
FEWEST = 2

#: Of so many texts what was counted is kept: some 5 kB each.
MOST = 50_000


class _Known(NamedTuple):
    """What was met so far: each feature's place, and of each text places and how often."""

    places: dict[str, int]
    texts: dict[str, tuple[np.ndarray, np.ndarray]]


_known = {name: _Known({}, {}) for name in READERS}


def weighed(texts: Sequence[str]) -> tuple[dict[str, dict[str, Any]], Any]:
    """Count texts, and weigh what stands in them by how many of them it stands in.

    As scikit-learn's TfidfVectorizer does (``min_df=2, sublinear_tf=True``), column by column.

    Parameters
    ----------
    texts
        Texts, in any number.

    Returns
    -------
    learnt : dict
        By the names of `READERS`, `vocabulary_` (feature → its column among those of the name) and
        `idf_`, the weights of these columns: log((1 + n) / (1 + texts that hold it)) + 1.
    counted : sparse array, texts by features
        (1 + log of how often) times the weight; the columns of a name have length 1 in each row, or
        0 where the text holds nothing that another one holds.

    Examples
    --------
    >>> learnt, counted = weighed(["He can", "he cannot"])
    >>> learnt["words"]["vocabulary_"], counted[:, [0]].toarray().ravel().tolist()
    ({'he': 0}, [1.0, 1.0])
    """
    from scipy import sparse

    parts = {name: _weighed(name, texts) for name in READERS}
    learnt = {name: own for name, (own, _) in parts.items()}
    return learnt, sparse.hstack([own for _, own in parts.values()]).tocsr()


def _weighed(name: str, texts: Sequence[str]) -> tuple[dict[str, Any], Any]:
    from scipy import sparse

    known = _known[name]
    if len(known.texts) + len(texts) > MOST:
        known.texts.clear()
        known.places.clear()
    found = [_count(text, READERS[name], known) for text in texts]
    sizes = [len(places) for places, _ in found]
    places = np.concatenate([one for one, _ in found] or [np.empty(0, int)])
    often = np.concatenate([one for _, one in found] or [np.empty(0)])
    held_by = np.bincount(places, minlength=len(known.places))
    # In the order of words, so that no table's columns hang on what was counted before.
    kept = sorted((term, at) for term, at in known.places.items() if held_by[at] >= FEWEST)
    own = np.array([at for _, at in kept], dtype=int)
    idf = np.log((1 + len(texts)) / (1 + held_by[own])) + 1
    column = np.full(len(held_by), -1)
    column[own] = np.arange(len(own))
    there = column[places] >= 0
    rows, columns = np.repeat(np.arange(len(texts)), sizes)[there], column[places[there]]
    values = (1 + np.log(often[there])) * idf[columns]
    length = np.sqrt(np.bincount(rows, values**2, minlength=len(texts)))
    table = sparse.csr_matrix((values / length[rows], (rows, columns)), (len(texts), len(own)))
    return {"vocabulary_": {term: at for at, (term, _) in enumerate(kept)}, "idf_": idf}, table


def _count(
    text: str, read: Callable[[str], list[str]], known: _Known
) -> tuple[np.ndarray, np.ndarray]:
    if text not in known.texts:
        places = known.places
        counts = Counter(places.setdefault(one, len(places)) for one in read(text))
        known.texts[text] = (
            np.fromiter(counts.keys(), np.int32, len(counts)),
            np.fromiter(counts.values(), np.int32, len(counts)),
        )
    return known.texts[text]
