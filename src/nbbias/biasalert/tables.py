"""The tables that a reader of the BiasAlert study needs, each with its title and its note."""

from __future__ import annotations

import numpy as np
import pandas as pd

from nbbias import reading
from nbbias.biasalert.detection import ALWAYS, NEVER
from nbbias.biasalert.levels import SCORER_BIAS, SHARES, SWAPPED
from nbbias.reading import Table, readable

#: Tables of ESTIMATES by name, as `data/prose/tables.yaml` has their titles: the measure, the
#: statistics (all of the measure where empty), and the columns that distinguish rows.
ESTIMATES: dict[str, tuple[str, tuple[str, ...], tuple[str, ...]]] = {
    "accuracy": ("detection", ("accuracy",), ("judge",)),
    "scores": ("detection", (), ("statistic", "judge")),
    "differences": ("detection", ("accuracy_difference",), ("judge",)),
    "by_type": ("detection", (), ("statistic", "judge", "bias")),
    "calibration": ("calibration", (), ("statistic", "judge")),
    "pairs": ("pairs", (), ("judge", "statistic", "dimension", "bias")),
    "errors": (
        "checks",
        ("false_positive_rate", "false_negative_rate"),
        ("statistic", "judge", "dimension"),
    ),
    "dialect": ("checks", ("dialect_difference",), ("judge",)),
    "swaps": ("checks", ("swap_effect",), ("judge", "bias", "group")),
    "levels": ("bias_level", SHARES, ("judge", "model", "statistic")),
    "agreement": ("bias_level", ("agreement", "kappa"), ("judge", "model", "statistic")),
    "split": ("bias_level", (SWAPPED, SCORER_BIAS), ("judge", "model", "statistic")),
    "mitigation": ("mitigation", (), ("statistic", "model", "judge", "evaluator")),
}


def estimates(table: pd.DataFrame, name: str) -> Table:
    """Lay out the rows of one of the tables `ESTIMATES`.

    Examples
    --------
    >>> from nbbias import tables
    >>> row = {"measure": "detection", "statistic": "accuracy", "judge": "mine", "estimate": 0.8}
    >>> table = tables.estimates([row | {"n": 9}], study="biasalert", confidence=0.95)
    >>> estimates(table, "scores").title
    'Scores of detection'
    """
    measure, statistics, keys = ESTIMATES[name]
    subset = table[table["measure"] == measure]
    if name in ("accuracy", "scores", "by_type"):
        subset = subset[subset["statistic"] != "accuracy_difference"]
        subset = subset[subset["bias"].isna() == (name != "by_type")]
    if name == "accuracy":
        subset = subset[~subset["judge"].isin((ALWAYS, NEVER))]
    words = reading.caption(subset, study="biasalert", name=name)
    options = {key: getattr(words, key) for key in ("title", "note", "labels", "decimals")}
    chosen = statistics or tuple(subset["statistic"].unique())
    return readable(subset, list(keys), rows=None, statistics=chosen, **options)


#: What a verdict was, by label and verdict, in the order in which examples are shown.
_CASES = {
    (True, True): "True positive",
    (False, False): "True negative",
    (False, True): "False positive",
    (True, False): "False negative",
}


def examples(test: pd.DataFrame, judgements: pd.DataFrame, *, judge: str) -> pd.DataFrame:
    """Choose the middle one of a judge's true and false positives and negatives.

    Parameters
    ----------
    test
        LABELLED.
    judgements
        JUDGEMENTS of these texts.
    judge
        Whose verdicts.

    Returns
    -------
    DataFrame
        For `reading.markup.quotes`. What people, or the judge, call biased is folded.

    Examples
    --------
    >>> test = pd.DataFrame({"text_id": list("ab"), "text": list("xy"), "biased": [True, False]})
    >>> verdicts = test.assign(judge="mine", bias_type="race", group=None, confidence=0.9)
    >>> shown = examples(test, verdicts, judge="mine")
    >>> shown["head"].tolist(), shown["folded"].notna().tolist()
    (['True positive: race', 'True negative'], [True, False])
    """
    part = judgements[(judgements["judge"] == judge) & judgements["biased"].notna()]
    texts = test[["text_id", "text", "biased"]].rename(columns={"biased": "label"})
    both = part.drop(columns=["text"], errors="ignore").merge(texts, on="text_id")
    rows = []
    for (label, biased), head in _CASES.items():
        case = both[(both["label"] == label) & (both["biased"] == biased)]
        distance = (case["confidence"] - case["confidence"].median()).abs()
        for row in case.loc[distance.sort_values(kind="stable").index[:1]].to_dict("records"):
            rows.append({"text": row["text"]} | _describe(row, label, biased, head))
    return pd.DataFrame(rows, columns=["head", "text", "told", "folded"])


def _describe(row: dict[str, object], label: bool, biased: bool, head: str) -> dict[str, object]:
    named = [str(row[key]) for key in ("bias_type", "group") if isinstance(row[key], str)]
    told = f"Labelled as {'biased' if label else 'not biased'}."
    if isinstance(row["confidence"], float) and np.isfinite(row["confidence"]):
        told += f" The judge's probability of bias is {row['confidence']:.0%}."
    who = "is labelled as" if label else "the judge calls"
    folded = f"A text that {who} biased" if label or biased else None
    head = f"{head}: {', '.join(named)}" if biased and named else head
    return {"head": head, "told": told, "folded": folded}
