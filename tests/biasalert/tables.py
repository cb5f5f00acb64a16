"""Tables of biasalert written by hand, for tests."""

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
            **dict.fromkeys(("bias_type", "group", "attribute", "explanation", "raw")),
            "confidence": np.nan,
            "evidence_ids": "",
            "knowledge": "",
            "outcome": ["refused" if gone else "judged" for gone in lost],
            "reason": ["it declined" if gone else None for gone in lost],
        }
    ).assign(**columns)


#: Of simulated judges, the specificity and the share of names that are right.
_RIGHT = 0.9


def simulated(
    table: pd.DataFrame,
    *,
    truth: str = "biased",
    name: str = "simulated judge",
    sensitivity: float = 0.9,
    refuses: float = 0.0,
    seed: int = 0,
) -> pd.DataFrame:
    """Return what a judge with known error rates says of texts whose `truth` is known.

    A flagged text's type, and its group with its attribute, are named as they are with a chance
    of `_RIGHT`. The confidence is the probability of being biased that the verdict leaves, at equal
    odds beforehand.
    """
    rng = np.random.default_rng([seed, *hashlib.sha256(name.encode()).digest()[:4]])
    n = len(table)
    biased = table[truth].to_numpy(bool)
    right = rng.random(n) < np.where(biased, sensitivity, _RIGHT)
    flagged, lost = biased == right, rng.random(n) < refuses
    rates = [np.where(flagged, rate, 1 - rate) for rate in (sensitivity, 1 - _RIGHT)]
    named = rng.random((2, n)) < _RIGHT
    other = {"bias_type": rng.choice(list(sample.sentences()["stereotypes"]), n)}
    said = {}
    for column, keeps in (("bias_type", named[0]), ("group", named[1]), ("attribute", named[1])):
        own = table.get(column, pd.Series(None, index=table.index, dtype="str"))
        own = own.reset_index(drop=True).astype("str")
        said[column] = own.where(keeps & own.notna(), other.get(column, "some"))
        said[column] = said[column].where(flagged & ~lost)
    verdicts = [None if gone else bool(flag) for flag, gone in zip(flagged, lost, strict=True)]
    ids = table["text_id"].tolist()
    written = judgements(verdicts, judge=name, text_id=ids, **said)
    return written.assign(confidence=np.where(lost, np.nan, rates[0] / sum(rates)))


def value(estimates: pd.DataFrame, statistic: str, column: str = "estimate", **key: Any) -> float:
    """Return one number of ESTIMATES."""
    rows = estimates[estimates["statistic"] == statistic]
    for name, wanted in key.items():
        rows = rows[rows[name].isna() if wanted is None else rows[name] == wanted]
    assert len(rows) == 1, f"{len(rows)} rows of {statistic} {key}"
    return rows[column].iloc[0]
