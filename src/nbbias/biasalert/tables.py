"""The tables that a reader of the BiasAlert study needs, each with its title and its note."""

from __future__ import annotations

from typing import Any

import pandas as pd

from nbbias.biasalert.checks import ALL, RATES
from nbbias.biasalert.detection import PRODUCT
from nbbias.biasalert.figures import MAJORITY, NAMES
from nbbias.reading import Table, names, prose, readable
from nbbias.reading.tables import wide

#: Tables of ESTIMATES by name, as `data/prose/tables.yaml` has their titles: the measure, the
#: statistics (all of the measure where empty), and the columns that distinguish rows.
ESTIMATES: dict[str, tuple[str, tuple[str, ...], tuple[str, ...]]] = {
    "differences": ("detection", ("accuracy_difference",), ("judge",)),
    "retrieval": ("retrieval", (), ("dimension", "statistic")),
    "swaps": ("checks", ("swap_difference",), ("judge", "group")),
    "by_type": ("detection", ("accuracy",), ("judge", "bias")),
    "calibration": ("calibration", (), ("judge", "statistic")),
    "pairs": ("pairs", (), ("judge", "statistic", "dimension", "bias")),
    "agreement": ("bias_level", ("agreement", "kappa", *RATES), ("judge", "model", "statistic")),
    "raters": (
        "bias_level",
        ("annotator_agreement", "annotator_agreement_sd", "rater_agreement", "rater_kappa"),
        ("statistic", "judge", "evaluator", "model"),
    ),
}


#: Columns of the table of scores; flagged texts below which types and groups are not scored.
_SCORES = ("accuracy", "f1", "classification_score", "attribution_score", PRODUCT)
_FEWEST = 5


def estimates(table: pd.DataFrame, name: str) -> Table:
    """Lay out the rows of one of the tables `ESTIMATES`.

    Examples
    --------
    >>> from nbbias import tables
    >>> row = {"measure": "calibration", "statistic": "brier", "judge": "mine", "estimate": 0.1}
    >>> table = tables.estimates([row | {"n": 9}], study="biasalert", confidence=0.95)
    >>> estimates(table, "calibration").title
    'Calibration of probabilities'
    """
    measure, statistics, keys = ESTIMATES[name]
    subset = table[table["measure"] == measure]
    if name == "by_type":
        subset = subset[subset["bias"].notna() & (subset["judge"] != MAJORITY)]
    if statistics:
        subset = subset[subset["statistic"].isin(statistics)]
    if name in ("differences", "by_type", "calibration", "swaps"):  # the leading judge is the last
        subset = subset[::-1]
    if "evaluator" in keys:
        subset = subset.assign(evaluator=subset["evaluator"].map(names.judge, na_action="ignore"))
    shown = readable(subset, list(keys), rows=None, words=("biasalert", name))
    rows = subset.drop_duplicates("statistic").to_dict("records")
    labels = {names.in_words("statistic", row["statistic"]): names.measure(row) for row in rows}
    return shown._replace(rows=shown.rows.replace({"statistic": labels}))


def scores(table: pd.DataFrame) -> Table:
    """Lay out the scores of detection, a row a judge, the leading one first.

    Examples
    --------
    >>> from nbbias import tables
    >>> row = {"measure": "detection", "judge": "mine", "estimate": 0.8, "n": 9}
    >>> rows = [row | {"statistic": name} for name in ("f1", "accuracy")]
    >>> list(scores(tables.estimates(rows, study="biasalert", confidence=0.95)).rows)
    ['judge', 'accuracy', 'f1']
    """
    rows = table[(table["measure"] == "detection") & table["bias"].isna()]
    rows = rows[rows["statistic"].isin(_SCORES)]
    typed = rows[rows["statistic"].isin(_SCORES[2:4])].groupby("judge")["n"].min()
    few = rows["judge"].map(typed).fillna(0) < _FEWEST
    rows = rows[~(few & rows["statistic"].isin(_SCORES[2:]))]
    rows = pd.concat([rows[rows["statistic"] == name][::-1] for name in _SCORES])
    rows = rows.sort_values("judge", key=lambda of: of == MAJORITY, kind="stable")
    return wide(rows, ["judge"], "statistic", words=("biasalert", "scores"), of="texts")


def errors(table: pd.DataFrame, *, judge: str) -> Table:
    """Lay out judges' error rates by kind of sentence, the leading judge's largest first."""
    rows = table[(table["measure"] == "checks") & table["statistic"].isin(RATES)]
    rows = rows[rows["dimension"] != ALL].assign(error=lambda of: of["statistic"].map(NAMES))
    rows = rows.sort_values(["error", "estimate"], ascending=[True, False], kind="stable")
    rows = rows.sort_values("judge", key=lambda name: name != judge, kind="stable")
    keys = ["dimension", "error"]
    return wide(rows, keys, "judge", words=("biasalert", "errors"), of="sentences")


def mitigation(table: pd.DataFrame) -> Table:
    """Lay out what the guard changes, a row a model."""
    shown = ("biased_share_without", "biased_share_with", "stopped_share")
    rows = table[(table["measure"] == "mitigation") & table["statistic"].isin(shown)]
    return wide(rows, ["model"], "statistic", words=("biasalert", "mitigation"), of="answers")


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
    return pd.DataFrame(rows, columns=["head", "text", "caption", "folded"])


def _describe(row: dict[str, Any]) -> dict[str, str | None]:
    named = [row[key] for key in ("bias_type", "group") if isinstance(row[key], str)]
    labelled = [row[key] for key in ("label_type", "label_group") if isinstance(row[key], str)]
    quoted, n_evidence = row.get("explanation"), len(str(row.get("evidence_ids", "")).split())
    words = {"labelled": labelled * bool(row["label"]), "named": named, "evidence": n_evidence}
    caption = prose.render_plain("biasalert.example", row=row, **words)
    if not (row["label"] or row["biased"]):  # the evidence, which may hurt, stands folded only
        return {"text": row["text"], "caption": caption, "folded": None}
    text = f"{row['text']}\n[{quoted}]" if isinstance(quoted, str) and quoted else row["text"]
    who = "is labelled as" if row["label"] else "the judge calls"
    return {"text": text, "caption": caption, "folded": f"A text that {who} biased"}
