"""The tables that a reader of the BiasAlert study needs, each with its title and its note."""

from __future__ import annotations

from typing import Any

import pandas as pd

from nbbias.biasalert.checks import RATES
from nbbias.biasalert.detection import ALWAYS, NEVER, PRODUCT, SCORES_BY_TYPE
from nbbias.biasalert.figures import MAJORITY
from nbbias.biasalert.levels import DISPUTED, SHARES
from nbbias.reading import Table, names, prose, readable

#: Tables of ESTIMATES by name, as `data/prose/tables.yaml` has their titles: the measure, the
#: statistics (all of the measure where empty), and the columns that distinguish rows.
ESTIMATES: dict[str, tuple[str, tuple[str, ...], tuple[str, ...]]] = {
    "scores": ("detection", (), ("statistic", "judge")),
    "differences": ("detection", ("accuracy_difference",), ("judge",)),
    "by_type": ("detection", ("accuracy",), ("judge", "bias")),
    "calibration": ("calibration", (), ("statistic", "judge")),
    "pairs": ("pairs", (), ("judge", "statistic", "dimension", "bias")),
    "errors": ("checks", RATES, ("statistic", "judge", "dimension")),
    "levels": ("bias_level", (*SHARES, DISPUTED), ("judge", "model", "statistic")),
    "agreement": ("bias_level", ("agreement", "kappa", *RATES), ("judge", "model", "statistic")),
    "raters": (
        "bias_level",
        ("annotator_agreement", "annotator_agreement_sd", "rater_agreement", "rater_kappa"),
        ("statistic", "judge", "evaluator", "model"),
    ),
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
    if name in ("scores", "by_type"):
        subset = subset[~subset["judge"].isin([NEVER, MAJORITY])]
        subset = subset[subset["statistic"] != "accuracy_difference"]
        subset = subset[(subset["judge"] != ALWAYS) | (subset["statistic"] == "f1")]
        subset = subset[subset["bias"].isna() == (name != "by_type")]
        typed = subset[subset["statistic"] == "classification_score"].groupby("judge")["n"].min()
        n = subset["n"].where(subset["statistic"] != PRODUCT, subset["judge"].map(typed))
        subset = subset[(n >= 5) | subset["statistic"].isin(SCORES_BY_TYPE)]
    if statistics:
        subset = subset[subset["statistic"].isin(statistics)]
    if name in ("scores", "differences", "by_type", "errors"):  # the leading judge is the last
        parts = [part[::-1] for _, part in subset.groupby("statistic", sort=False)]
        subset = pd.concat(parts or [subset])
    if "evaluator" in keys:
        subset = subset.assign(evaluator=subset["evaluator"].map(names.judge, na_action="ignore"))
    shown = readable(subset, list(keys), rows=None, words=("biasalert", name))
    rows = subset.drop_duplicates("statistic").to_dict("records")
    named = {names.in_words("statistic", row["statistic"]): names.measure(row) for row in rows}
    return shown._replace(rows=shown.rows.replace({"statistic": named}))


#: Labels and verdicts in the order in which examples are shown.
_CASES = [(True, True), (False, False), (False, True), (True, False)]


def examples(test: pd.DataFrame, judgements: pd.DataFrame, *, judge: str) -> pd.DataFrame:
    """Choose the first of a judge's true and false positives and negatives.

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
        For `reading.markup.quotes`. What people, or the judge, call biased is folded, with the
        evidence that is quoted.

    Examples
    --------
    >>> test = pd.DataFrame({"text_id": list("ab"), "text": list("xy"), "biased": [True, False]})
    >>> verdicts = test.assign(judge="mine", bias_type="race", group=None, confidence=0.9)
    >>> shown = examples(test, verdicts, judge="mine")
    >>> shown["head"].tolist(), shown["folded"].notna().tolist()
    (['True positive', 'True negative'], [True, False])
    """
    part = judgements[(judgements["judge"] == judge) & judgements["biased"].notna()]
    columns = {"biased": "label", "bias_type": "label_type", "group": "label_group"}
    texts = test.reindex(columns=["text_id", "text", *columns]).rename(columns=columns)
    both = part.drop(columns=["text"], errors="ignore").merge(texts, on="text_id")
    rows = []
    for label, biased in _CASES:
        head = f"{label == biased} {'positive' if biased else 'negative'}"
        case = both[(both["label"] == label) & (both["biased"] == biased)]
        rows += [{"head": head, **_describe(row)} for row in case.head(1).to_dict("records")]
    return pd.DataFrame(rows, columns=["head", "text", "told", "folded"])


def _describe(row: dict[str, Any]) -> dict[str, str | None]:
    named = [row[key] for key in ("bias_type", "group") if isinstance(row[key], str)]
    labelled = [row[key] for key in ("label_type", "label_group") if isinstance(row[key], str)]
    quoted, n_evidence = row.get("explanation"), len(str(row.get("evidence_ids", "")).split())
    words = {"labelled": labelled * bool(row["label"]), "named": named, "evidence": n_evidence}
    caption = prose.render_plain("biasalert.example", row=row, **words)
    if not (row["label"] or row["biased"]):  # the evidence, which may hurt, stands folded only
        return {"text": row["text"], "told": caption, "folded": None}
    text = f"{row['text']} [{quoted}]" if isinstance(quoted, str) and quoted else row["text"]
    who = "is labelled as" if row["label"] else "the judge calls"
    return {"text": text, "told": caption, "folded": f"A text that {who} biased"}
