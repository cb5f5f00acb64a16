"""Evidence: the known biases nearest to a text, and whether they are near enough to be shown.

The paper hands the five nearest entries to its judge whatever they are, and names that as its
limitation. Here an entry no nearer than entries found for other texts is kept in the table, marked
as not used.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd
from sklearn.neighbors import NearestNeighbors

from nbbias.biasalert.contracts import EVIDENCE, TEXTS
from nbbias.biasalert.knowledge.entries import normalise
from nbbias.biasalert.knowledge.split import NEAR, near_pairs, similarities
from nbbias.tables import check, is_blank
from nbbias.text import embeddings

COLUMNS = list(EVIDENCE.columns)

#: References per text in the paper's prompt (its Table 8).
K = 5

#: Entries found beyond `K`, for those that are then dropped.
_SPARE = 8

#: Statements, at most, from which `chance_similarity` is estimated, and its quantile.
_SAMPLE, _QUANTILE = 500, 0.95


class Base(NamedTuple):
    """A knowledge made ready for `retrieve`: its vectors, and the least cosine that is used."""

    knowledge: pd.DataFrame
    model: str
    device: str
    vectors: np.ndarray
    threshold: float


def prepare(
    knowledge: pd.DataFrame, *, model: str = embeddings.AUTO, seed: int = 0, device: str = "cpu"
) -> Base:
    """Embed a knowledge, once for many texts that come one by one.

    Parameters
    ----------
    knowledge
        KNOWLEDGE, which may be empty.
    model, device
        As in `text.embeddings.embed`.
    seed
        Of the least cosine at which an entry is `used`: `chance_similarity` of the knowledge
        itself, so that it does not depend on which texts are judged together.
    """
    knowledge = knowledge.reset_index(drop=True)
    if knowledge.empty:
        return Base(knowledge, model, device, np.empty((0, 0)), float("nan"))
    vectors = embeddings.embed(knowledge["statement"], model=model, device=device, persist=True)
    threshold = chance_similarity(knowledge["statement"], vectors, seed=seed)
    return Base(knowledge, model, device, vectors, threshold)


def retrieve(texts: pd.DataFrame, base: Base, *, drop_same: bool = True) -> pd.DataFrame:
    """Find the entries of a knowledge that are nearest to each text.

    Parameters
    ----------
    texts
        TEXTS; nothing is found for blank ones.
    base
        Of `prepare`.
    drop_same
        Leave out entries that are the text itself, or a near-duplicate: they would be its label
        where the knowledge was made from labelled texts.

    Returns
    -------
    DataFrame
        EVIDENCE, best first, texts in their order. `similarity` is a cosine, -1 to 1.
    """
    texts = check(texts, TEXTS, where="texts")[["text_id", "text"]]
    texts = texts[~is_blank(texts["text"])]
    entries = base.knowledge
    if texts.empty or entries.empty:
        return check(pd.DataFrame(columns=COLUMNS), EVIDENCE)
    queries = embeddings.embed(texts["text"], model=base.model, device=base.device)
    k = min(K + drop_same * _SPARE, len(entries))
    index = NearestNeighbors(n_neighbors=k, metric="cosine", algorithm="brute").fit(base.vectors)
    distances, places = index.kneighbors(queries)
    cosines = (1 - distances).astype(float)
    if drop_same:
        normal = np.repeat(texts["text"].astype(str).map(normalise).to_numpy(), places.shape[1])
        same = similarities(normal, entries["statement"].to_numpy()[places.ravel()]) >= NEAR - 1e-9
        cosines = np.where(same.reshape(places.shape), -np.inf, cosines)
        order = np.argsort(-cosines, axis=1, kind="stable")
        places, cosines = (np.take_along_axis(side, order, axis=1) for side in (places, cosines))
    places, cosines = places[:, :K], cosines[:, :K]
    retrieved = np.isfinite(cosines)
    rows = entries.iloc[places[retrieved]].reset_index(drop=True)
    rows["text_id"] = np.repeat(texts["text_id"].to_numpy(), retrieved.sum(axis=1))
    rows["rank"] = rows.groupby("text_id", sort=False).cumcount() + 1
    rows["similarity"] = np.clip(cosines[retrieved], -1, 1).astype(float)
    rows["used"] = rows["similarity"] >= base.threshold
    return check(rows[COLUMNS], EVIDENCE)


def chance_similarity(statements: pd.Series, vectors: np.ndarray, *, seed: int = 0) -> float:
    """Return how near to a statement the best entry of another statement is, at most.

    Each statement is compared with the entries that are nearest to every other one, unless such an
    entry is the statement itself or a near-duplicate of it; of these cosines the 95% quantile is
    taken. Evidence below it is no nearer than what is retrieved for something else.

    Parameters
    ----------
    statements, vectors
        Statements and their vectors. At most 500 are drawn, which makes some 250,000 pairs.
    seed
        Start of the draws.

    Returns
    -------
    float
        A cosine. NaN where no pair is left, as with two entries: nothing is then used.

    Examples
    --------
    >>> statements = pd.Series(["women gossip", "men never listen", "students are late"])
    >>> chance_similarity(statements, np.array([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0]]))
    0.78
    """
    if statements.nunique() < 2:
        return float("nan")
    rng = np.random.default_rng(seed)
    count = min(_SAMPLE, len(statements))
    places = np.sort(rng.choice(len(statements), size=count, replace=False))
    cosines = vectors[places] @ vectors.T
    cosines[np.arange(count), places] = -np.inf
    best = cosines.argmax(axis=1)
    other = ~np.eye(count, dtype=bool) & (best[None, :] != places[:, None])
    # What is nearest to another statement may be this one: in a small knowledge it often is.
    same = near_pairs([*statements.iloc[places].map(normalise), *statements.iloc[best]])
    same = same[(same["first"] < count) & (same["second"] >= count)]
    other[same["first"], same["second"] - count] = False
    if not other.any():
        return float("nan")
    return float(np.quantile((vectors[places] @ vectors[best].T)[other], _QUANTILE))


def summarize_evidence(texts: pd.DataFrame, evidence: pd.DataFrame) -> pd.DataFrame:
    """Say for each text how good its evidence is.

    Returns
    -------
    DataFrame
        One row per text, in order: `text_id`, `n` (entries found), `n_used`, `best` and `mean`
        (cosines; NaN without an entry), `bias_type` (the commonest among them; of equals, the
        nearest's) and `agreement` (its share of them, in (0, 1]; NaN without an entry).
    """
    grouped = evidence.sort_values(["text_id", "rank"]).groupby("text_id", sort=False)
    counts = grouped["bias_type"].value_counts(sort=False).reset_index()
    counts = counts.sort_values("count", ascending=False, kind="stable")
    most = counts.drop_duplicates("text_id").set_index("text_id")
    columns = {
        "n": grouped.size(),
        "n_used": grouped["used"].sum(),
        "best": grouped["similarity"].max(),
        "mean": grouped["similarity"].mean(),
        "bias_type": most["bias_type"],
        "agreement": most["count"] / grouped["bias_type"].count(),
    }
    table = pd.DataFrame(columns).reindex(pd.Index(texts["text_id"].astype("str"), name="text_id"))
    whole = dict.fromkeys(("n", "n_used"), 0)
    table = table.fillna(whole).astype(dict.fromkeys(whole, int)).reset_index()
    return table.astype({"best": float, "mean": float, "agreement": float, "bias_type": "str"})
