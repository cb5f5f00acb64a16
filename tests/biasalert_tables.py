"""Tables of biasalert written by hand, for tests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd


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
            "bias_type": None, "group": None, "attribute": None, "confidence": np.nan,
            "explanation": None, "evidence_ids": "", "knowledge": "",
            "outcome": [outcome if gone else "judged" for gone in lost],
            "reason": ["it declined" if gone else None for gone in lost],
            "raw": None,
        }
    ).assign(**columns)  # fmt: skip


def value(estimates: pd.DataFrame, statistic: str, column: str = "estimate", **key: Any) -> float:
    """Return one number of ESTIMATES."""
    rows = estimates[estimates["statistic"] == statistic]
    for name, wanted in key.items():
        rows = rows[rows[name].isna() if wanted is None else rows[name] == wanted]
    assert len(rows) == 1, f"{len(rows)} rows of {statistic} {key}"
    return rows[column].iloc[0]
