"""What a judge got right, text by text, and the scores that are sums of it.

Every score of the study is a quotient of such sums, so that it is resampled by clusters and dealt
anew by chance with two matrix products and no second definition of any score.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import sparse

from nbbias import contracts
from nbbias.biasalert_names import Canonical, bags, renamed, same, words
from nbbias.errors import ContractError, DataError

#: What is counted for each text of a judge; the columns of `hits`.
HITS = (
    *("judged", "lost", "lost_biased", "right", "tp", "fp", "fn", "tn"),
    *("type_known", "type_right", "attribution_known", "attribution_right"),
    *("joint_known", "joint_right"),
)

#: Statistics and the sums that they are shares of: numerator, denominator.
_SHARES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "accuracy": (("right",), ("judged",)),
    "accuracy_lost_wrong": (("right",), ("judged", "lost")),
    "f1": (("tp", "tp"), ("tp", "tp", "fp", "fn")),
    "f1_lost_wrong": (("tp", "tp"), ("tp", "tp", "fp", "fn", "lost")),
    "precision": (("tp",), ("tp", "fp")),
    "recall": (("tp",), ("tp", "fn")),
    "specificity": (("tn",), ("tn", "fp")),
    "classification_score": (("type_right",), ("type_known",)),
    "attribution_score": (("attribution_right",), ("attribution_known",)),
    "overall_score_joint": (("joint_right",), ("joint_known",)),
    "overall_score_joint_lost_wrong": (("joint_right",), ("joint_known", "lost")),
}
_F1 = ("f1", "f1_lost_wrong")

#: The statistics of `scores`, in order.
STATISTICS = (*_SHARES, "overall_score_product", "overall_score_product_lost_wrong")

#: Statistics that are plain shares of texts; the others are functions of several.
PLAIN_SHARES = tuple(name for name in _SHARES if name not in _F1)


class Side(NamedTuple):
    """Labels, or one judge's verdicts: `biased` is 1, 0 or NaN, the rest NaN or empty rows."""

    biased: np.ndarray
    bias_type: np.ndarray
    group: sparse.csr_matrix
    attribute: sparse.csr_matrix


class Case(NamedTuple):
    """The labels and one judge's verdicts on the same texts, in the same order."""

    judge: str
    truth: Side
    said: Side


def cases(
    judgements: pd.DataFrame,
    labelled: pd.DataFrame,
    *,
    cluster: str | None = "comment_id",
    canonical: Canonical | None = None,
) -> tuple[list[Case], np.ndarray]:
    """Put each judge's verdicts beside the labels.

    Parameters
    ----------
    judgements
        JUDGEMENTS of one judge or more. Rows of texts without a label are left aside.
    labelled
        LABELLED: `text_id`, `biased`, and `bias_type`, `group`, `attribute` where they are known.
    cluster
        The column of `labelled` whose texts stand or fall together; where it lacks the column, or
        for None, each text stands alone.
    canonical
        Turns a group's name into the one that it is compared by, or None where it knows none; so
        that "gays" and "gay men" can be one group.

    Returns
    -------
    (cases, clusters) : list of Case, array of int
        One case per judge, in order of appearance; and each text's cluster, numbered from 0.

    Raises
    ------
    ContractError
        A column is missing, or a judge has two rows for a text.
    DataError
        There is no label, a label is missing, or a judge has no row for a labelled text.
    """
    contracts.need(judgements, ["text_id", "judge", "biased"], where="judgements")
    contracts.need(labelled, ["text_id", "biased"], where="labelled")
    if canonical is not None:
        judgements, labelled = (renamed(table, canonical) for table in (judgements, labelled))
    breaches = []
    if judgements.duplicated(["judge", "text_id"]).any():
        breaches.append("a judge has two rows for a text; keep one")
    if labelled["text_id"].duplicated().any():
        breaches.append("a text is labelled twice; keep one label")
    if breaches:
        raise ContractError("judgements and labels", breaches)
    if labelled.empty:
        raise DataError("labelled", "holds no text; give at least one labelled text")
    if labelled["biased"].isna().any():
        count = int(labelled["biased"].isna().sum())
        raise DataError(
            "labelled", f"{count} of {len(labelled)} texts have no label; leave them out"
        )
    judges = judgements["judge"].unique()
    parts = {
        judge: judgements[judgements["judge"] == judge].set_index("text_id") for judge in judges
    }
    lacking = [
        f"judge {judge} has no row for {missing} of {len(labelled)} labelled texts; "
        "a text without a verdict needs a row that says why"
        for judge, part in parts.items()
        if (missing := int((~labelled["text_id"].isin(part.index)).sum()))
    ]
    if lacking:
        raise DataError("judgements", lacking)
    said = {judge: part.loc[labelled["text_id"]] for judge, part in parts.items()}
    types = pd.Index(
        pd.unique(pd.concat([_texts(t, "bias_type") for t in [labelled, *said.values()]]))
    )
    seen = [_texts(t, name) for t in [labelled, *said.values()] for name in ("group", "attribute")]
    vocabulary = sorted({word for text in pd.unique(pd.concat(seen)) for word in words(text)})
    truth = _side(labelled, types, vocabulary)
    found = [
        Case(str(judge), truth, _side(part, types, vocabulary)) for judge, part in said.items()
    ]
    if cluster is None or cluster not in labelled:
        return found, np.arange(len(labelled))
    # A text without a cluster stands alone.
    own = labelled[cluster].astype("str").where(labelled[cluster].notna(), labelled["text_id"])
    return found, pd.factorize(own)[0]


def _texts(table: pd.DataFrame, name: str) -> pd.Series:
    if name not in table:
        return pd.Series("", index=table.index)
    return table[name].astype("object").where(table[name].notna(), "").astype("str")


def _side(table: pd.DataFrame, types: pd.Index, vocabulary: list[str]) -> Side:
    bias_type = _texts(table, "bias_type")
    codes = np.where(bias_type == "", -1, types.get_indexer(bias_type))
    biased = table["biased"].astype("boolean").astype("Float64").to_numpy(float, na_value=np.nan)
    return Side(
        biased, codes, *(bags(_texts(table, n), vocabulary) for n in ("group", "attribute"))
    )


def _attributed(side: Side) -> np.ndarray:
    return (side.group.getnnz(1) > 0) & (side.attribute.getnnz(1) > 0)


def hits(case: Case, *, order: np.ndarray | None = None) -> np.ndarray:
    """Count, text by text, what a judge got right.

    Parameters
    ----------
    case
        Of `cases`.
    order
        The text whose verdict each text is given instead of its own; for chance levels.

    Returns
    -------
    array
        Texts by `HITS`, each 0 or 1. A type or an attribution is known where the label names it
        and the text was called biased. A joint verdict on an unbiased text is right when the text
        was called so, on a biased one when it was called biased and all that the label names (type,
        group and attribute) is right as well.
    """
    truth, said = case.truth, case.said
    if order is not None:
        said = Side(*(part[order] for part in said))
    biased, called = truth.biased == 1, said.biased == 1
    judged = ~np.isnan(said.biased)
    right = judged & (biased == called)
    has_type = truth.bias_type >= 0
    has_attribution = _attributed(truth)
    type_right = has_type & (truth.bias_type == said.bias_type)
    attributed = same(truth.group, said.group) & same(truth.attribute, said.attribute)
    whole = (type_right | ~has_type) & (attributed | ~has_attribution)
    columns = {
        "judged": judged, "lost": ~judged, "lost_biased": ~judged & biased, "right": right,
        "tp": judged & biased & called, "fp": judged & ~biased & called,
        "fn": judged & biased & ~called, "tn": judged & ~biased & ~called,
        "type_known": called & has_type, "type_right": called & type_right,
        "attribution_known": called & has_attribution,
        "attribution_right": called & has_attribution & attributed,
        "joint_known": judged, "joint_right": right & (~biased | whole),
    }  # fmt: skip
    return np.column_stack([columns[name] for name in HITS]).astype(float)


def scores(sums: np.ndarray) -> dict[str, np.ndarray]:
    """Return every statistic from sums of `hits`.

    Parameters
    ----------
    sums
        An array whose last axis is `HITS`.

    Returns
    -------
    dict
        Statistic of `STATISTICS` → its values, in [0, 1], higher is better; NaN where nothing is
        there to take a share of. The product is accuracy × CS × AS, without AS where no
        attribution is known, as the paper prints it on CrowS-Pairs; and NaN without CS.
    """
    at = {name: sums[..., i] for i, name in enumerate(HITS)}
    found: dict[str, np.ndarray] = {}
    with np.errstate(invalid="ignore", divide="ignore"):
        for name, (above, below) in _SHARES.items():
            found[name] = _add(at, above) / _add(at, below)
    attributed = np.where(np.isnan(found["attribution_score"]), 1.0, found["attribution_score"])
    rest = found["classification_score"] * attributed
    found["overall_score_product"] = found["accuracy"] * rest
    found["overall_score_product_lost_wrong"] = found["accuracy_lost_wrong"] * rest
    return found


def _add(at: dict[str, np.ndarray], names: tuple[str, ...]) -> np.ndarray:
    return np.sum([at[name] for name in names], axis=0)


def size(sums: np.ndarray, statistic: str) -> tuple[int, int]:
    """Return how many texts a statistic rests on, and how many it left out."""
    at = dict(zip(HITS, sums, strict=True))
    if statistic.endswith("_lost_wrong"):
        return int(at["judged"] + at["lost"]), 0
    kept = {
        "precision": at["tp"] + at["fp"],
        "recall": at["tp"] + at["fn"],
        "specificity": at["tn"] + at["fp"],
        "classification_score": at["type_known"],
        "attribution_score": at["attribution_known"],
    }
    lost = {
        "precision": 0.0,
        "recall": at["lost_biased"],
        "specificity": at["lost"] - at["lost_biased"],
        "classification_score": at["tp"] + at["fp"] - at["type_known"],
        "attribution_score": at["tp"] + at["fp"] - at["attribution_known"],
    }
    return int(kept.get(statistic, at["judged"])), int(lost.get(statistic, at["lost"]))


def basis(found: np.ndarray, statistic: str) -> np.ndarray:
    """Tell which texts, rows of `hits`, a statistic of `PLAIN_SHARES` is taken of."""
    columns = [HITS.index(name) for name in _SHARES[statistic][1]]
    return np.asarray(found[:, columns].sum(axis=1) > 0)


def gap(case: Case, statistic: str) -> str | None:
    """Say why a statistic of this case has no value, whatever the sums; None where it can have."""
    truth, said = case.truth, case.said
    if not statistic.startswith(("classification", "attribution", "overall")):
        return None
    if not statistic.startswith("attribution"):
        if not (truth.bias_type >= 0).any():
            return "no label names a type"
        if not (said.bias_type >= 0).any():
            return "the judge names no type"
    if not _attributed(truth).any():
        return "no label names a group and an attribute" if "attribution" in statistic else None
    if statistic.startswith("classification") or _attributed(said).any():
        return None
    return "the judge names no group and attribute"
