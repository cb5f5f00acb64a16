"""Tables of biasalert written by hand, for tests."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from nbbias.biasalert.knowledge import sample


def labelled(biased: Sequence[bool | int], **columns: Any) -> pd.DataFrame:
    """Return LABELLED with the texts t0, t1, …"""
    ids = [f"t{i}" for i in range(len(biased))]
    texts = [f"text {i}" for i in range(len(biased))]
    table = pd.DataFrame({"text_id": ids, "text": texts, "biased": [bool(b) for b in biased]})
    return table.assign(**columns)


def judgements(
    verdicts: Sequence[bool | int | None],
    *,
    judge: str = "judge",
    outcome: str = "refused",
    text_id: Sequence[str] | None = None,
    **columns: Any,
) -> pd.DataFrame:
    """Return JUDGEMENTS on the texts t0, t1, …; None is a text without a verdict."""
    lost = [verdict is None for verdict in verdicts]
    values = [None if verdict is None else bool(verdict) for verdict in verdicts]
    return pd.DataFrame(
        {
            "text_id": text_id if text_id is not None else [f"t{i}" for i in range(len(lost))],
            "judge": judge,
            "biased": pd.array(values, dtype="boolean"),
            "bias_type": None,
            "group": None,
            "attribute": None,
            "confidence": np.nan,
            "explanation": None,
            "evidence_ids": "",
            "knowledge": "",
            "outcome": [outcome if gone else "judged" for gone in lost],
            "reason": ["it declined" if gone else None for gone in lost],
            "raw": None,
        }
    ).assign(**columns)


def simulated(
    table: pd.DataFrame,
    *,
    truth: str = "biased",
    name: str = "simulated judge",
    sensitivity: float = 0.9,
    specificity: float = 0.9,
    refuses: float = 0.0,
    names_right: float = 0.9,
    seed: int = 0,
) -> pd.DataFrame:
    """Return what a judge with known error rates says of texts whose `truth` is known.

    `names_right` is the chance that a flagged text's type, and its group with its attribute, are
    named as they are. The confidence is the probability of being biased that the verdict leaves,
    at equal odds beforehand.
    """
    rng = np.random.default_rng([seed, *hashlib.sha256(name.encode()).digest()[:4]])
    n = len(table)
    biased = table[truth].to_numpy(bool)
    right = rng.random(n) < np.where(biased, sensitivity, specificity)
    flagged = biased == right
    lost = rng.random(n) < refuses
    says = flagged & ~lost
    with np.errstate(invalid="ignore"):
        odds = np.where(
            flagged,
            np.divide(sensitivity, sensitivity + 1 - specificity),
            np.divide(1 - sensitivity, 1 - sensitivity + specificity),
        )
    named = rng.random(n) < names_right, rng.random(n) < names_right
    plan = {
        "bias_type": (named[0], rng.choice(list(sample.sentences()["stereotypes"]), n)),
        "group": (named[1], "somebody"),
        "attribute": (named[1], "something"),
    }
    blank = pd.Series([None] * n, dtype="str")
    said = {}
    for column, (keeps, other) in plan.items():
        own = table[column].reset_index(drop=True) if column in table else blank
        said[column] = own.astype("str").where(keeps & own.notna(), other).where(says)
    verdicts = pd.Series(flagged).astype("boolean").mask(pd.Series(lost))
    return pd.DataFrame(
        {
            "text_id": table["text_id"].to_numpy(),
            "judge": name,
            "biased": verdicts,
            **said,
            "confidence": np.where(lost, np.nan, odds),
            "explanation": blank,
            "evidence_ids": "",
            "knowledge": "",
            "outcome": np.where(lost, "refused", "judged"),
            "reason": pd.Series(["it declined"] * n, dtype="str").where(lost),
            "raw": blank,
        }
    )


def value(estimates: pd.DataFrame, statistic: str, column: str = "estimate", **key: Any) -> float:
    """Return one number of ESTIMATES."""
    rows = estimates[estimates["statistic"] == statistic]
    for name, wanted in key.items():
        rows = rows[rows[name].isna() if wanted is None else rows[name] == wanted]
    assert len(rows) == 1, f"{len(rows)} rows of {statistic} {key}"
    return rows[column].iloc[0]
