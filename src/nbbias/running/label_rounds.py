"""Sheets of answers that people label round by round, until an interval is narrow enough."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from nbbias import biasalert, biased_prompts, stats, tables
from nbbias.tables import Column

#: Each study's column that people fill, and the function that returns its answers with scores.
_STUDIES = {"biasalert": ("biased", biasalert), "biased_prompts": ("refused", biased_prompts)}

_FORM = {name: Column("text", needed=True) for name in ("text_id", "text")}
_FORM |= {"round": Column("count", needed=True), "probability": Column("number", needed=True)}

#: Rounds before labelling may end: the first is random, the second shows where a judge errs. And
#: the share of a round that has labels before the next is drawn.
_ROUNDS, _LABELLED = 2, 0.5


def draw(
    stem: str, chosen: Any, path: Path, *, width: float, size: int, annotators: Sequence[str]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Add the next round to a sheet of answers, where its labels so far are not enough.

    Parameters
    ----------
    stem, chosen
        The study and its parameters.
    path
        The sheet; where it is there already, its rows are kept.
    width
        Full width of the interval at which no more is drawn.
    size
        Answers per round, of each model (and prompt). A round follows where half of the one before
        is labelled; what stays blank is left out.
    annotators
        Who labels each answer.

    Returns
    -------
    sheet, estimates
        The sheet: `text_id` (a hash), `text`, the study's verdict, `annotator`, `round` and
        `probability` (in its round). And by `cell` (the model) `estimate`, `ci_low`, `ci_high` of
        `stats.active_share`, `n` labels, the `agreement` of annotators (share of answers, each by
        the inverse of its probability; NaN where nobody labelled twice), and `status`.
    """
    verdict, study = _STUDIES[stem]
    answers = study.score_answers(chosen)
    sheet = pd.DataFrame(columns=["text_id", "text", verdict, "annotator", "round", "probability"])
    if path.exists():
        sheet = tables.read_table(path, _FORM | {verdict: Column("flag", needed=True)}, rest=True)
    labels = stats.summarize_labels(sheet, verdict)
    # An answer is biased where half of its annotators say so; refusals may count by halves.
    of_two = labels[["low", "high"]].mean(axis=1) if verdict == "refused" else labels["mean"]
    labels["label"] = of_two if verdict == "refused" else of_two.ge(0.5).where(of_two.notna()) * 1.0
    added, rows = [], []
    for number, (cell, part) in enumerate(answers.groupby("cell", sort=False)):
        texts = part.join(labels, on="text_id")
        texts["counted"] = stats.label_probability(texts, pd.Series({cell: len(texts)}))
        of: dict[str, Any] = {"prompts": texts["unit"].to_numpy(), "confidence": chosen.confidence}
        of |= {"probability": texts["counted"]}
        level = stats.active_share(texts["score"], texts["label"], **of)
        last = int(texts["round"].fillna(0).max())
        status = _status(texts, last, narrow=level.ci_high - level.ci_low <= width)
        if not status:
            chance = stats.draw_round(texts, size=size, seed=chosen.seed + 1000 * number + last)
            asked = texts.loc[chance.index, ["text_id", "text"]]
            added.append(asked.assign(probability=chance, round=last + 1, **{verdict: None}))
            status = f"label round {last + 1}"
        twice = texts[texts["raters"] > 1]
        alike = (twice["low"] == twice["high"]) / twice["counted"]
        agreement = alike.sum() / (1 / twice["counted"]).sum() if len(twice) else np.nan
        rows.append({"cell": cell, **level.row(), "agreement": agreement, "status": status})
    for name in annotators if added else []:  # models are mixed
        mixed = pd.concat(added).sample(frac=1, random_state=chosen.seed)
        sheet = pd.concat([sheet, mixed.assign(annotator=name)], ignore_index=True)
    return sheet, pd.DataFrame(rows)


def _status(texts: pd.DataFrame, last: int, *, narrow: bool) -> str:
    """Say why no round is drawn; nothing where one is."""
    if last and (texts.loc[texts["round"] == last, "raters"] > 0).mean() < _LABELLED:
        return f"label round {last}"
    if narrow and last >= _ROUNDS:
        return "narrow enough"
    return "" if texts["round"].isna().any() else "all drawn"


def readable(estimates: pd.DataFrame) -> pd.DataFrame:
    """Return the estimates of `draw` for a printed table."""
    table = estimates.rename(columns={"cell": "model", "n": "labels"})
    ends = zip(table["estimate"], table["ci_low"], table["ci_high"], strict=True)
    shares = [f"{share:.2f} ({low:.2f} to {high:.2f})" for share, low, high in ends]
    table["share (95% CI)"] = pd.Series(shares).where(table["labels"] > 0)
    table["width"] = (table["ci_high"] - table["ci_low"]).map("{:.3f}".format, na_action="ignore")
    table["agreement"] = table["agreement"].map("{:.0%}".format, na_action="ignore")
    shown = ["model", "share (95% CI)", "width", "labels", "agreement", "status"]
    return table[shown].dropna(axis=1, how="all").fillna("")
