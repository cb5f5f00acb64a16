"""A judge that takes for biased what is shouted: to show how one is added, not to be used."""

from __future__ import annotations

import pandas as pd

from nbbias.biasalert.judges.attribution import Verdicts, judgements
from nbbias.biasalert.judges.registry import Entry, Judge, TrainingInput


def made(given: TrainingInput) -> tuple[Judge, str]:
    """Return the judge and its instrument."""

    def judge(texts: pd.DataFrame, evidence: pd.DataFrame | None = None) -> pd.DataFrame:
        loud = texts["text"].fillna("").str.contains("!")
        return judgements(texts, Verdicts(loud), judge="shouting", attributes_named=False)

    return judge, "exclamation marks"


SHOUTING = Entry("nbbias_example.judge:made", "whether a text has an exclamation mark")
