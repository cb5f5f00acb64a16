"""Training and test texts that share no text and no near-duplicate of one."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import GroupKFold, GroupShuffleSplit

from nbbias.tables import ParameterError, require_columns

#: Two texts are near-duplicates when they share this much of their pieces of four characters.
NEAR = 0.6

#: All pieces of four characters within words.
_PIECES = {"analyzer": "char_wb", "ngram_range": (4, 4)}
_RARE = 6
#: Of a very long text this much is compared.
_LONGEST = 10_000


def pieces(texts: Iterable[str]) -> sparse.csr_matrix:
    """Return which pieces of four characters within words each text has: texts by pieces, 0 or 1.

    Case and blanks do not count. Pieces are ordered from the rarest to the most frequent.
    """
    given = [str(text)[:_LONGEST] for text in texts]
    try:
        table = CountVectorizer(binary=True, dtype=np.float32, **_PIECES).fit_transform(given)
    except ValueError:  # no text has a piece
        return sparse.csr_matrix((len(given), 1), dtype=np.float32)
    rarest = np.argsort(np.asarray(table.sum(axis=0)).ravel(), kind="stable")
    return table[:, rarest].tocsr()


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
    >>> found = near_pairs(["the train is late", "The train is late!", "it rains"])
    >>> found[["first", "second"]].values.tolist()
    [[0, 1]]
    """
    if not 0 < near <= 1:
        raise ParameterError("near", f"must lie in (0, 1], not {near}")
    found = pieces(texts)
    found.sort_indices()
    sizes = np.diff(found.indptr)
    # What two near-duplicates share is at least this much of either.
    least = np.ceil(near * sizes - 1e-9).astype(int)
    place = np.arange(found.nnz) - np.repeat(found.indptr[:-1], sizes)
    rare = found.copy()
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
        both = found[first[part]].multiply(found[second[part]])
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
    pieces_of = CountVectorizer(**_PIECES).build_analyzer()
    pairs = [[text[:_LONGEST] for text in pair] for pair in zip(first, second, strict=True)]
    known = {text: set(pieces_of(text)) for pair in pairs for text in pair}
    sides = ((known[one], known[two]) for one, two in pairs)
    return np.array([len(one & two) / (len(one | two) or 1) for one, two in sides], dtype=float)


def clusters(texts: Iterable[str], *, near: float = NEAR) -> np.ndarray:
    """Number texts so that near-duplicates, and theirs in turn, share a number.

    Parameters
    ----------
    texts
        Texts. Those that are equal always share a number.
    near
        As in `near_pairs`.

    Returns
    -------
    array of int, one per text
        Numbers from 0, in the order of first appearance.

    Examples
    --------
    >>> clusters(["the train is late", "it rains", "The train is late!"]).tolist()
    [0, 1, 0]
    """
    given = [str(text) for text in texts]
    same, distinct = pd.factorize(np.array(given, dtype=object))
    pairs = near_pairs(distinct, near=near)
    links = sparse.coo_matrix(
        (np.ones(len(pairs)), (pairs["first"], pairs["second"])), shape=(len(distinct),) * 2
    )
    _, joined = connected_components(links, directed=False)
    return pd.factorize(joined[same])[0] if given else np.array([], dtype=int)


def split(
    labelled: pd.DataFrame, *, test_share: float = 0.3, near: float | None = NEAR, seed: int
) -> pd.DataFrame:
    """Part texts into training and test, no near-duplicates on both sides.

    Parameters
    ----------
    labelled
        LABELLED.
    test_share
        Share of clusters for testing, in (0, 1); of texts, about as many.
    near
        As in `near_pairs`; None only keeps equal texts together, to see what the rule costs.
    seed
        Start of the draw.

    Returns
    -------
    DataFrame
        The table with `comment_id` (the cluster, int) and `split` (``"train"`` or ``"test"``).

    Raises
    ------
    ParameterError
        The share leaves a side empty, or a side has texts of one label only.
    """
    require_columns(labelled, ["text", "biased"], where="labelled")
    table = with_clusters(labelled, near=near)
    if not 0 < test_share < 1 or table["comment_id"].nunique() < 4:
        raise ParameterError(
            "split",
            f"cannot part {table['comment_id'].nunique()} distinct texts, {test_share} "
            "of them for testing; use a share in (0, 1) and four distinct texts or more",
        )
    parting = GroupShuffleSplit(n_splits=1, test_size=test_share, random_state=seed)
    _, test = next(parting.split(table, groups=table["comment_id"]))
    table["split"] = "train"
    table.iloc[test, table.columns.get_loc("split")] = "test"
    single = table.groupby("split")["biased"].nunique()
    if (single < 2).any() or len(single) < 2:
        raise ParameterError("split", "a side has texts of one label only; give more texts")
    return table


def with_clusters(labelled: pd.DataFrame, *, near: float | None = NEAR) -> pd.DataFrame:
    """Return the table with `comment_id`, unless it has it: near-duplicates share a number."""
    if "comment_id" in labelled:
        return labelled.copy()
    texts = labelled["text"].astype(str)
    numbers = pd.factorize(texts)[0] if near is None else clusters(texts, near=near)
    return labelled.assign(comment_id=numbers)


def folds(labelled: pd.DataFrame, *, n: int = 5, seed: int, near: float | None = NEAR) -> pd.Series:
    """Deal texts into folds, clusters whole: a number from 0 to `n` - 1 per text."""
    table = with_clusters(labelled, near=near)
    parting = GroupKFold(n_splits=n, shuffle=True, random_state=seed)
    numbers = np.zeros(len(table), dtype=int)
    for number, (_, held_out) in enumerate(parting.split(table, groups=table["comment_id"])):
        numbers[held_out] = number
    return pd.Series(numbers, index=labelled.index, name="fold")


def across(
    first: Iterable[str], second: Iterable[str], *, near: float = NEAR
) -> tuple[np.ndarray, np.ndarray]:
    """Tell which texts of each side have a near-duplicate on the other: two arrays of bool.

    Examples
    --------
    >>> across(["the train is late"], ["it rains", "The train is late."])[1].tolist()
    [False, True]
    """
    one, two = list(first), list(second)
    numbers = clusters([*one, *two], near=near)
    left, right = numbers[: len(one)], numbers[len(one) :]
    return np.isin(left, right), np.isin(right, left)
