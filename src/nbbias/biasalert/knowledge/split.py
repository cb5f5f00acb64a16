"""Training and test texts that share no text and no near-duplicate of one."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import GroupShuffleSplit

from nbbias.tables import ParameterError

#: Two texts are near-duplicates when they share this much of their pieces of four characters.
NEAR = 0.6

#: Share of clusters that is held out for testing; of texts, about as many.
TEST_SHARE = 0.3

#: All pieces of four characters within words.
_PIECES = {"analyzer": "char_wb", "ngram_range": (4, 4)}
_RARE = 6
#: Of a very long text this much is compared.
_LONGEST = 10_000


def count_pieces(texts: Iterable[str]) -> sparse.csr_matrix:
    """Return which pieces of four characters within words each text has: texts by pieces, 0 or 1.

    Case and blanks do not count. Pieces are ordered from the rarest to the most frequent.
    """
    texts = [str(text)[:_LONGEST] for text in texts]
    try:
        table = CountVectorizer(binary=True, dtype=np.float32, **_PIECES).fit_transform(texts)
    except ValueError:  # no text has a piece
        return sparse.csr_matrix((len(texts), 1), dtype=np.float32)
    return table[:, np.argsort(np.asarray(table.sum(axis=0)).ravel(), kind="stable")].tocsr()


def near_pairs(texts: Iterable[str], *, near: float = NEAR) -> pd.DataFrame:
    """Find all pairs of near-duplicates.

    Parameters
    ----------
    texts
        Texts, in any number.
    near
        The least Jaccard similarity, in (0, 1]: pieces that both texts have, over pieces that
        either has. A text without a piece is near to none.

    Returns
    -------
    DataFrame
        `first`, `second` (places in `texts`, first < second), `similarity`.

    Notes
    -----
    Exact, and not quadratic in practice: of what two near-duplicates share, the rarest six pieces
    are among the rarer ones of either (prefix filtering, Chaudhuri et al. 2006), so only texts that
    have six rare pieces in common are compared.

    Examples
    --------
    >>> pairs = near_pairs(["the train is late", "The train is late!", "it rains"])
    >>> pairs[["first", "second"]].values.tolist()
    [[0, 1]]
    """
    pieces = count_pieces(texts)
    pieces.sort_indices()
    sizes = np.diff(pieces.indptr)
    # What two near-duplicates share is at least this much of either.
    least = np.ceil(near * sizes - 1e-9).astype(int)
    place = np.arange(pieces.nnz) - np.repeat(pieces.indptr[:-1], sizes)
    rare = pieces.copy()
    rare.data = (place < np.repeat(sizes - least + _RARE, sizes)).astype(np.float32)
    rare.eliminate_zeros()
    candidates = sparse.triu(rare @ rare.T, k=1).tocoo()
    first, second = candidates.row, candidates.col
    likely = candidates.data >= np.minimum(_RARE, np.maximum(least[first], least[second]))
    likely &= np.minimum(sizes[first], sizes[second]) >= np.maximum(least[first], least[second])
    first, second = first[likely], second[likely]
    shared = np.empty(len(first))
    for start in range(0, len(first), 200_000):
        part = slice(start, start + 200_000)
        both = pieces[first[part]].multiply(pieces[second[part]])
        shared[part] = np.asarray(both.sum(axis=1)).ravel()
    similarity = shared / (sizes[first] + sizes[second] - shared)
    table = pd.DataFrame({"first": first, "second": second, "similarity": similarity})
    return table[table["similarity"] >= near - 1e-9].reset_index(drop=True)


def similarities(first: Iterable[str], second: Iterable[str]) -> np.ndarray:
    """Return the similarity of each pair of texts, as in `near_pairs`; 0 without a piece.

    Examples
    --------
    >>> similarities(["the train"], ["The train"]).tolist()
    [1.0]
    """
    analyze = CountVectorizer(**_PIECES).build_analyzer()
    pairs = [[text[:_LONGEST] for text in pair] for pair in zip(first, second, strict=True)]
    pieces = {text: set(analyze(text)) for pair in pairs for text in pair}
    sides = ((pieces[a], pieces[b]) for a, b in pairs)
    return np.array([len(a & b) / (len(a | b) or 1) for a, b in sides], dtype=float)


def cluster_texts(texts: Iterable[str]) -> np.ndarray:
    """Number texts so that near-duplicates, and theirs in turn, share a number.

    Returns
    -------
    array of int, one per text
        Numbers from 0, in the order of first appearance. Texts that are equal share a number.

    Examples
    --------
    >>> cluster_texts(["the train is late", "it rains", "The train is late!"]).tolist()
    [0, 1, 0]
    """
    codes, distinct = pd.factorize(np.array([str(text) for text in texts], dtype=object))
    pairs = near_pairs(distinct)
    ones, n = np.ones(len(pairs)), len(distinct)
    links = sparse.coo_matrix((ones, (pairs["first"], pairs["second"])), shape=(n, n))
    _, joined = connected_components(links, directed=False)
    return pd.factorize(joined[codes])[0] if len(codes) else codes


def split(labelled: pd.DataFrame, *, seed: int) -> pd.DataFrame:
    """Split texts into training and test, no near-duplicates on both sides.

    Parameters
    ----------
    labelled
        LABELLED.
    seed
        Start of the draw.

    Returns
    -------
    DataFrame
        The table with `comment_id` (the cluster, int) and `split` (``"train"`` or ``"test"``).

    Raises
    ------
    ParameterError
        There are too few texts, or a side has texts of one label only.
    """
    table = add_clusters(labelled)
    if (n := table["comment_id"].nunique()) < 4:
        raise ParameterError("split", f"cannot split {n} distinct texts; give four or more")
    splitter = GroupShuffleSplit(n_splits=1, test_size=TEST_SHARE, random_state=seed)
    _, test = next(splitter.split(table, groups=table["comment_id"]))
    table["split"] = np.where(np.isin(np.arange(len(table)), test), "test", "train")
    if (table.groupby("split")["biased"].nunique() < 2).any():
        raise ParameterError("split", "a side has texts of one label only; give more texts")
    return table


def add_clusters(labelled: pd.DataFrame) -> pd.DataFrame:
    """Return the table with `comment_id`, unless it has it: near-duplicates share a number."""
    if "comment_id" in labelled:
        return labelled.copy()
    return labelled.assign(comment_id=cluster_texts(labelled["text"].astype(str)))


def has_near_duplicate(first: Iterable[str], second: Iterable[str]) -> np.ndarray:
    """Tell which texts of the first side have a near-duplicate on the second.

    Examples
    --------
    >>> has_near_duplicate(["the train is late", "it rains"], ["The train is late."]).tolist()
    [True, False]
    """
    left, right = list(first), list(second)
    numbers = cluster_texts([*left, *right])
    return np.isin(numbers[: len(left)], numbers[len(left) :])
