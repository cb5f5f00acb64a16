"""Evidence: the known biases nearest to a text, and whether they are near enough to be shown.

The paper hands the five nearest entries to its judge whatever they are, and names that as its
limitation. Here an entry no nearer than entries found for other texts is kept in the table, marked
as not used.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from nbbias import embeddings
from nbbias.biasalert_knowledge import normalise
from nbbias.biasalert_split import NEAR, across
from nbbias.contracts import check
from nbbias.contracts_biasalert import EVIDENCE, KNOWLEDGE, TEXTS
from nbbias.errors import DataError, ParameterError

COLUMNS = [
    *("text_id", "rank", "entry_id", "statement", "bias_type", "group", "attribute"),
    *("similarity", "used"),
]

#: References per text in the paper's prompt (its Table 8).
K = 5

#: How a text's nearest entries are found: all cosines, FAISS' same, or FAISS' graph (nearly all).
INDEXES = ("exact", "faiss", "faiss-hnsw")

_BLOCK = 1024
_SPARE = 8
_SAMPLE = 500


def retrieve(
    texts: pd.DataFrame,
    knowledge: pd.DataFrame,
    *,
    k: int = K,
    model: str = embeddings.AUTO,
    min_similarity: float | None = None,
    drop_same: bool = True,
    index: str = "exact",
    seed: int = 0,
    device: str = "cpu",
    progress: bool = True,
) -> pd.DataFrame:
    """Find the entries of a knowledge that are nearest to each text.

    Parameters
    ----------
    texts
        TEXTS. Blank ones have no evidence.
    knowledge
        KNOWLEDGE, which may be empty.
    k
        Entries per text, fewer where there are not so many.
    model
        As in `embeddings.embed`.
    min_similarity
        The least cosine at which an entry is `used`. By default `chance_similarity` of the
        knowledge itself, so that it does not depend on which texts are judged together.
    drop_same
        Leave out entries that are the text or a near-duplicate of it: where the knowledge was made
        from labelled comments, such an entry is the label. Turn it off for a knowledge that owes
        nothing to the texts, where such an entry is the best evidence that there is.
    index
        ``"exact"``, ``"faiss"`` (exact too) or ``"faiss-hnsw"`` (a graph: nearly exact, and faster
        from some 100,000 entries on); the latter two need the package faiss-cpu.
    seed, device, progress
        Of the default `min_similarity`; where the model runs; show a bar while texts are embedded.

    Returns
    -------
    DataFrame
        EVIDENCE, best first, texts in their order. `similarity` is a cosine, -1 to 1.

    Raises
    ------
    ParameterError, DataError
        `k` or `index` is out of range, or FAISS is not installed.
    """
    if k < 1 or index not in INDEXES:
        raise ParameterError(
            "retrieval", f"k = {k} and index = {index!r}: k is 1 or more, index one of "
            f"{', '.join(INDEXES)}"
        )  # fmt: skip
    texts = check(texts, TEXTS, where="texts")[["text_id", "text"]]
    knowledge = check(knowledge, KNOWLEDGE, where="knowledge").reset_index(drop=True)
    texts = texts[texts["text"].fillna("").str.strip() != ""]
    if texts.empty or knowledge.empty:
        return _typed(pd.DataFrame(columns=COLUMNS))
    if min_similarity is None:
        min_similarity = chance_similarity(knowledge, model=model, seed=seed, device=device)
    options: dict[str, Any] = {"model": model, "device": device, "progress": progress}
    entries = embeddings.embed(knowledge["statement"], **options)
    queries = embeddings.embed(texts["text"], **options)
    # Some more than k are found, for those that are then dropped.
    found, near = _search(index)(queries, entries, min(k + drop_same * _SPARE, len(entries)))
    if drop_same:
        near = np.where(_same(texts["text"], knowledge["statement"], found), -np.inf, near)
        order = np.argsort(-near, axis=1, kind="stable")
        found, near = (np.take_along_axis(side, order, axis=1) for side in (found, near))
    found, near = found[:, :k], near[:, :k]
    there = np.isfinite(near)
    rows = knowledge.iloc[found[there]].reset_index(drop=True)
    rows["text_id"] = np.repeat(texts["text_id"].to_numpy(), there.sum(axis=1))
    rows["rank"] = rows.groupby("text_id", sort=False).cumcount() + 1
    rows["similarity"] = np.clip(near[there], -1, 1).astype(float)
    rows["used"] = rows["similarity"] >= min_similarity
    return _typed(rows)


def _typed(table: pd.DataFrame) -> pd.DataFrame:
    kinds = dict.fromkeys(COLUMNS, "str") | {"rank": int, "similarity": float, "used": bool}
    return check(table[COLUMNS].astype(kinds), EVIDENCE)


# --- search -------------------------------------------------------------------------------------

Search = Callable[[np.ndarray, np.ndarray, int], tuple[np.ndarray, np.ndarray]]


def exact(queries: np.ndarray, entries: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the places of the `k` nearest entries and their cosines, best first, by product.

    Ties go to the entry that comes first.
    """
    places, cosines = [], []
    for start in range(0, len(queries), _BLOCK):
        near = queries[start : start + _BLOCK] @ entries.T
        best = (
            np.argpartition(-near, k - 1, axis=1)[:, :k]
            if k < near.shape[1]
            else np.tile(np.arange(near.shape[1]), (len(near), 1))
        )
        best.sort(axis=1)
        own = np.take_along_axis(near, best, axis=1)
        order = np.argsort(-own, axis=1, kind="stable")
        places.append(np.take_along_axis(best, order, axis=1))
        cosines.append(np.take_along_axis(own, order, axis=1))
    return np.concatenate(places), np.concatenate(cosines).astype(float)


def _search(index: str) -> Search:
    if index == "exact":
        return exact
    try:
        import faiss
    except ImportError:
        raise DataError(
            "FAISS", "is not installed; pip install faiss-cpu, or use index = 'exact'"
        ) from None

    def search(queries: np.ndarray, entries: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        size = entries.shape[1]
        if index == "faiss":
            built = faiss.IndexFlatIP(size)
        else:
            built = faiss.IndexHNSWFlat(size, 32, faiss.METRIC_INNER_PRODUCT)
            built.hnsw.efConstruction, built.hnsw.efSearch = 80, max(64, 4 * k)
        built.add(np.ascontiguousarray(entries, dtype=np.float32))
        cosines, places = built.search(np.ascontiguousarray(queries, dtype=np.float32), k)
        cosines = np.where(places < 0, -np.inf, cosines.astype(float))
        return np.maximum(places, 0), cosines

    return search


def _same(texts: pd.Series, statements: pd.Series, found: np.ndarray) -> np.ndarray:
    """Tell which of the entries found for a text are the text, or a near-duplicate of it."""
    said = statements.to_numpy()
    folded = texts.astype(str).map(normalise).to_numpy()
    with_twin, _ = across(folded, said, near=NEAR)
    same = np.zeros(found.shape, dtype=bool)
    for at in np.flatnonzero(with_twin):
        _, twins = across([folded[at]], said[found[at]], near=NEAR)
        same[at] = twins
    return same


# --- quality ------------------------------------------------------------------------------------


def chance_similarity(
    knowledge: pd.DataFrame,
    texts: Sequence[str] | pd.Series | None = None,
    *,
    model: str = embeddings.AUTO,
    quantile: float = 0.95,
    seed: int = 0,
    device: str = "cpu",
) -> float:
    """Return how near to a text the best entry of another text is, at most.

    Each text is compared with the entry that is nearest to another text, drawn at random; of these
    cosines a high quantile is taken. Evidence below it is no nearer than what was found for
    something else.

    Parameters
    ----------
    knowledge
        KNOWLEDGE.
    texts
        Texts such as those to be judged, at most 500 of them drawn. Without them the knowledge's
        own statements are taken, each with entries other than itself.
    model, device
        As in `embeddings.embed`.
    quantile
        Share of such pairs that lie below, in (0, 1).
    seed
        Start of the draws.

    Returns
    -------
    float
        A cosine. NaN where there are fewer than two entries or two texts: nothing is then used.
    """
    statements = knowledge["statement"].reset_index(drop=True)
    rng = np.random.default_rng(seed)
    own = texts is None
    given = statements if texts is None else pd.Series(list(texts), dtype=object)
    given = given[given.map(lambda one: isinstance(one, str) and bool(one.strip()))]
    if len(statements) < 2 or given.nunique() < 2:
        return float("nan")
    places = np.sort(rng.choice(len(given), size=min(_SAMPLE, len(given)), replace=False))
    options: dict[str, Any] = {"model": model, "device": device, "progress": False}
    entries = embeddings.embed(statements, **options)
    queries = embeddings.embed(given.iloc[places], **options)
    near = queries @ entries.T
    if own:
        near[np.arange(len(places)), places] = -np.inf
    best = near.argmax(axis=1)
    # Dealt round a random ring, so that every text meets another one.
    ring = rng.permutation(len(places))
    other = np.empty_like(ring)
    other[ring] = np.roll(ring, 1)
    cosines = np.einsum("ij,ij->i", queries, entries[best[other]])
    return float(np.quantile(cosines, quantile))


def quality(texts: pd.DataFrame, evidence: pd.DataFrame) -> pd.DataFrame:
    """Say for each text how good its evidence is.

    Returns
    -------
    DataFrame
        One row per text, in order: `text_id`, `n` (entries found), `n_used`, `best` and `mean`
        (cosines; NaN without an entry), `bias_type` (the commonest among them; of equals, the
        nearest's) and `agreement` (its share of them, in (0, 1]; NaN without an entry).
    """
    ordered = evidence.sort_values(["text_id", "rank"])
    grouped = ordered.groupby("text_id", sort=False)
    table = grouped.agg(
        n=("rank", "size"),
        n_used=("used", "sum"),
        best=("similarity", "max"),
        mean=("similarity", "mean"),
        bias_type=("bias_type", lambda own: own.value_counts(sort=True).index[0]),
        agreement=("bias_type", lambda own: own.value_counts(normalize=True).iloc[0]),
    )
    table = table.reindex(texts["text_id"].astype("str"))
    kinds = {"best": float, "mean": float, "agreement": float, "bias_type": "str"}
    table = table.astype(kinds | {"n": float, "n_used": float})
    table[["n", "n_used"]] = table[["n", "n_used"]].fillna(0).astype(int)
    return table.rename_axis("text_id").reset_index()
