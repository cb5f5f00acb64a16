"""Evidence: the known biases nearest to a text, and whether they are near enough to be shown.

The paper hands the five nearest entries to its judge whatever they are, and names that as its
limitation. Here an entry no nearer than entries found for other texts is kept in the table, marked
as not used.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.neighbors import NearestNeighbors

from nbbias.biasalert.contracts import EVIDENCE, KNOWLEDGE, TEXTS
from nbbias.biasalert.knowledge import normalise
from nbbias.biasalert.split import NEAR, near_pairs, similarities
from nbbias.tables import ParameterError, check
from nbbias.text import embeddings

COLUMNS = [
    *("text_id", "rank", "entry_id", "statement", "bias_type", "group", "attribute"),
    *("similarity", "used"),
]

#: References per text in the paper's prompt (its Table 8).
K = 5

_SPARE = 8
_SAMPLE = 500


@dataclass(frozen=True)
class Base:
    """A knowledge made ready for many calls of `retrieve`: its vectors and its floor."""

    knowledge: pd.DataFrame
    model: str
    device: str
    vectors: np.ndarray
    floor: float


def prepare(
    knowledge: pd.DataFrame,
    *,
    model: str = embeddings.AUTO,
    min_similarity: float | None = None,
    seed: int = 0,
    device: str = "cpu",
) -> Base:
    """Embed a knowledge, once for many texts that come one by one.

    Parameters
    ----------
    knowledge
        KNOWLEDGE, which may be empty.
    model, device
        As in `text.embeddings.embed`.
    min_similarity
        The least cosine at which an entry is `used`. By default `chance_similarity` of the
        knowledge itself, so that it does not depend on which texts are judged together.
    seed
        Of the default `min_similarity`.
    """
    knowledge = check(knowledge, KNOWLEDGE, where="knowledge").reset_index(drop=True)
    if knowledge.empty:
        return Base(knowledge, model, device, np.empty((0, 0)), float("nan"))
    vectors = embeddings.embed(knowledge["statement"], model=model, device=device)
    floor = min_similarity
    if floor is None:
        floor = chance_similarity(knowledge, model=model, seed=seed, device=device)
    return Base(knowledge, model, device, vectors, floor)


def retrieve(
    texts: pd.DataFrame,
    knowledge: pd.DataFrame | Base,
    *,
    k: int = K,
    drop_same: bool = True,
    progress: bool = True,
    **options: Any,
) -> pd.DataFrame:
    """Find the entries of a knowledge that are nearest to each text.

    Parameters
    ----------
    texts
        TEXTS. Blank ones have no evidence.
    knowledge
        KNOWLEDGE, or what `prepare` made of one.
    k
        Entries per text, fewer where there are not so many.
    drop_same
        Leave out entries that are the text or a near-duplicate of it: where the knowledge was made
        from labelled comments, such an entry is the label. Turn it off for a knowledge that owes
        nothing to the texts, where such an entry is the best evidence that there is.
    progress
        Show a bar while texts are embedded.
    **options
        Of `prepare`, where `knowledge` is a table: `model`, `min_similarity`, `seed`, `device`.

    Returns
    -------
    DataFrame
        EVIDENCE, best first, texts in their order. `similarity` is a cosine, -1 to 1.

    Raises
    ------
    ParameterError
        `k` is below 1, or options of `prepare` are given beside what it made.
    """
    if k < 1:
        raise ParameterError("retrieval", f"k = {k}; it must be 1 or more")
    ready = isinstance(knowledge, Base)
    base = knowledge if ready else prepare(knowledge, **options)
    if ready and options:
        raise ParameterError("retrieval", f"{', '.join(options)}: belongs to prepare")
    texts = check(texts, TEXTS, where="texts")[["text_id", "text"]]
    texts = texts[texts["text"].fillna("").str.strip() != ""]
    if texts.empty or base.knowledge.empty:
        return _typed(pd.DataFrame(columns=COLUMNS))
    queries = embeddings.embed(
        texts["text"], model=base.model, device=base.device, progress=progress
    )
    # Some more than k are found, for those that are then dropped.
    most = min(k + drop_same * _SPARE, len(base.knowledge))
    found, near = nearest(queries, base.vectors, most)
    if drop_same:
        near = np.where(_same(texts["text"], base.knowledge["statement"], found), -np.inf, near)
        order = np.argsort(-near, axis=1, kind="stable")
        found, near = (np.take_along_axis(side, order, axis=1) for side in (found, near))
    found, near = found[:, :k], near[:, :k]
    there = np.isfinite(near)
    rows = base.knowledge.iloc[found[there]].reset_index(drop=True)
    rows["text_id"] = np.repeat(texts["text_id"].to_numpy(), there.sum(axis=1))
    rows["rank"] = rows.groupby("text_id", sort=False).cumcount() + 1
    rows["similarity"] = np.clip(near[there], -1, 1).astype(float)
    rows["used"] = rows["similarity"] >= base.floor
    return _typed(rows)


def _typed(table: pd.DataFrame) -> pd.DataFrame:
    kinds = dict.fromkeys(COLUMNS, "str") | {"rank": int, "similarity": float, "used": bool}
    return check(table[COLUMNS].astype(kinds), EVIDENCE)


def _same(texts: pd.Series, statements: pd.Series, found: np.ndarray) -> np.ndarray:
    """Tell which of the entries found for a text are the text, or a near-duplicate of it."""
    folded = np.repeat(texts.astype(str).map(normalise).to_numpy(), found.shape[1])
    near = similarities(folded, statements.to_numpy()[found.ravel()])
    return (near >= NEAR - 1e-9).reshape(found.shape)


def nearest(queries: np.ndarray, entries: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the places of the `k` nearest entries and their cosines, best first.

    Examples
    --------
    Of three entries in a plane, those nearest to one that points east:

    >>> entries = np.array([[0.0, 1.0], [0.6, 0.8], [0.8, 0.6]])
    >>> places, cosines = nearest(np.array([[1.0, 0.0]]), entries, 2)
    >>> places.tolist(), cosines.round(9).tolist()
    ([[2, 1]], [[0.8, 0.6]])
    """
    index = NearestNeighbors(n_neighbors=k, metric="cosine", algorithm="brute").fit(entries)
    distances, places = index.kneighbors(queries)
    return places, (1 - distances).astype(float)


# --- quality ------------------------------------------------------------------------------------


def chance_similarity(
    knowledge: pd.DataFrame,
    *,
    model: str = embeddings.AUTO,
    quantile: float = 0.95,
    seed: int = 0,
    device: str = "cpu",
) -> float:
    """Return how near to a statement the best entry of another statement is, at most.

    Each statement is compared with the entries that are nearest to every other one, unless such an
    entry is the statement itself or a near-duplicate of it; of these cosines a high quantile is
    taken. Evidence below it is no nearer than what is retrieved for something else.

    Parameters
    ----------
    knowledge
        KNOWLEDGE. At most 500 statements are drawn, which makes some 250,000 pairs.
    model, device
        As in `text.embeddings.embed`.
    quantile
        Share of such pairs that lie below, in (0, 1).
    seed
        Start of the draws.

    Returns
    -------
    float
        A cosine. NaN where no pair is left, as with two entries: nothing is then used.
    """
    statements = knowledge["statement"].reset_index(drop=True)
    if statements.nunique() < 2:
        return float("nan")
    rng = np.random.default_rng(seed)
    count = min(_SAMPLE, len(statements))
    places = np.sort(rng.choice(len(statements), size=count, replace=False))
    entries = embeddings.embed(statements, model=model, device=device, progress=False)
    near = entries[places] @ entries.T
    near[np.arange(count), places] = -np.inf
    best = near.argmax(axis=1)
    other = ~np.eye(count, dtype=bool) & (best[None, :] != places[:, None])
    # What is nearest to another statement may be this one: in a small knowledge it often is.
    same = near_pairs([*statements.iloc[places].map(normalise), *statements.iloc[best]])
    same = same[(same["first"] < count) & (same["second"] >= count)]
    other[same["first"], same["second"] - count] = False
    if not other.any():
        return float("nan")
    return float(np.quantile((entries[places] @ entries[best].T)[other], quantile))


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
        known=("bias_type", "count"),
    )
    counts = ordered.groupby(["text_id", "bias_type"], sort=False).size().rename("often")
    often = counts.reset_index().sort_values("often", ascending=False, kind="stable")
    first = often.drop_duplicates("text_id").set_index("text_id")
    table["bias_type"] = first["bias_type"]
    table["agreement"] = first["often"] / table.pop("known")
    table = table.reindex(texts["text_id"].astype("str"))
    kinds = {"best": float, "mean": float, "agreement": float, "bias_type": "str"}
    table = table.astype(kinds | {"n": float, "n_used": float})
    table[["n", "n_used"]] = table[["n", "n_used"]].fillna(0).astype(int)
    return table.rename_axis("text_id").reset_index()
