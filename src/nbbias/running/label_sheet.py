"""The sheet in which people label a study's word lists or answers, written beside a run.

Answers may be drawn round by round, until an interval is narrow enough.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from nbbias import biasalert, biased_prompts, news, params, stats, studies, tables
from nbbias.pages import share
from nbbias.running import generation
from nbbias.tables import Column, NbbiasError

#: Each study's column that people fill, and the function that returns its answers with scores.
_STUDIES = {"biasalert": ("biased", biasalert), "biased_prompts": ("refused", biased_prompts)}

_FORM = {name: Column("text", needed=True) for name in ("text_id", "text")}
_FORM |= {"round": Column("count", needed=True), "probability": Column("number", needed=True)}

#: Rounds before labelling may end: the first is random, the second shows where a judge errs. And
#: the share of a round that has labels before the next is drawn.
_ROUNDS, _LABELLED = 2, 0.5

#: Why labels of answers may not be a random sample.
_CHANGED = "rows of round 1 or answers were added or removed since it was drawn; restore them, or "
_CHANGED += "begin a new sheet (--out)"


def write_sheet(
    target: Path,
    *,
    out: Path | None,
    words: int,
    sentences: int,
    answers: int,
    until: float | None = None,
    annotators: Sequence[str] = ("",),
) -> tuple[Path, pd.DataFrame, pd.DataFrame]:
    """Draw what is to be labelled, and write it; labels that are there are kept.

    Parameters
    ----------
    target
        A run's folder, or a params file, of `news_bias` (words and sentences), `biasalert`
        (answers) or, with `until`, `biased_prompts` (answers).
    out
        The sheet; without it ``labels.csv`` in the run's folder, or beside the params file.
    words, sentences
        How many to ask about, per bias.
    answers
        How many to ask about, per model; with `until`, in each round.
    until
        Width of the interval at which labelling ends: answers are drawn in rounds
        (`draw_round`).
    annotators
        Who labels each answer of a round.

    Returns
    -------
    path, sheet, accuracy
        Where it was written, its rows of this run, and the accuracy that its labels of words show
        so far; with `until` the estimates of `draw_round`.

    Raises
    ------
    NbbiasError
        There is no such run or file, its study has nothing to be labelled, or the existing sheet
        cannot be read.
    """
    path = target / share.PARAMS if target.is_dir() else target
    if target.is_dir() and not path.is_file():
        raise NbbiasError(str(target), f"is not a run: it has no {share.PARAMS}")
    default = target / "labels.csv" if target.is_dir() else path.with_suffix(".labels.csv")
    stem, values = studies.read(path)
    stems = ("biasalert", "biased_prompts" if until else "news_bias")
    if stem not in stems or values.get("answers_path") == params.NONE:
        message = f"{stem} has nothing to be labelled; news_bias has words, biasalert has answers"
        message += ", and with --until so has biased_prompts"
        raise NbbiasError(str(target), message)
    out = (out or default).absolute()
    mine: Any = slice(None)
    to_come = (os.path.realpath(out),)  # which the params may name
    with tables.starting_at(path.absolute().parent):
        study_values = generation.without_block(values)
        model: Any = studies.study(stem).parameters
        chosen: Any = params.validate(model, study_values, where=str(path), to_come=to_come)
        if until:
            settings: dict[str, Any] = {"width": until, "size": answers, "annotators": annotators}
            sheet, accuracy, mine = draw_round(stem, chosen, out, **settings)
        elif stem == "biasalert":
            asked = biasalert.inputs.read_answers(chosen)
            sheet = biasalert.corpus.draw_sheet(asked, out, size=answers, seed=chosen.seed)
            accuracy = pd.DataFrame({"estimate": [], "side": []})
        else:
            sheet, accuracy = news.measured.label(chosen, out, words=words, sentences=sentences)
    tables.write(out.resolve(), tables.csv(sheet))  # behind a link, which stays
    return out, sheet[mine], accuracy.assign(confidence=chosen.confidence)


def draw_round(
    stem: str, chosen: Any, path: Path, *, width: float, size: int, annotators: Sequence[str]
) -> tuple[pd.DataFrame, pd.DataFrame, pd.Series]:
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
    sheet, estimates, is_asked
        The sheet: `text_id` (a hash), `text`, the study's verdict, `annotator`, `round` and
        `probability` (in its round). And by `cell` (the model) `estimate`, `ci_low`, `ci_high` of
        `stats.active_share`, `n` labels, the `agreement` of annotators (share of answers, each by
        the inverse of its probability; NaN where nobody labelled twice), and `status`. And which
        rows of the sheet are of these answers.
    """
    verdict, study = _STUDIES[stem]
    answers = study.score_answers(chosen)
    sheet = pd.DataFrame(columns=["text_id", "text", verdict, "annotator", "round", "probability"])
    if path.exists():
        sheet = tables.read_table(path, _FORM | {verdict: Column("flag", needed=True)}, rest=True)
    cells = answers.set_index("text_id")["cell"]
    labels = stats.summarize_labels(sheet, verdict, cells=cells, where=str(path))
    first = labels[labels["round"] == 1].groupby("cell")["probability"].agg(["size", "sum"])
    if not np.allclose(first["sum"] * cells.value_counts()[first.index], first["size"] ** 2):
        raise NbbiasError(str(path), _CHANGED)
    labels = labels.drop(columns="cell")
    # An answer is biased where half of its annotators say so; refusals may count by halves.
    of_two = labels[["low", "high"]].mean(axis=1) if verdict == "refused" else labels["mean"]
    labels["label"] = of_two if verdict == "refused" else of_two.ge(0.5).where(of_two.notna()) * 1.0
    added, rows = [], []
    for number, (cell, part) in enumerate(answers.groupby("cell", sort=False)):
        texts = part.join(labels, on="text_id")
        of: dict[str, Any] = {"prompts": texts["unit"].to_numpy(), "confidence": chosen.confidence}
        of |= {"probability": texts["counted"]}
        level = stats.active_share(texts["score"], texts["label"], **of)
        last = int(texts["round"].fillna(0).max())
        if not (status := _status(texts, last, narrow=level.ci_high - level.ci_low <= width)):
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
    return sheet, pd.DataFrame(rows), sheet["text_id"].isin(cells.index)


def _status(texts: pd.DataFrame, last: int, *, narrow: bool) -> str:
    """Say why no round is drawn; nothing where one is."""
    if last and (texts.loc[texts["round"] == last, "raters"] > 0).mean() < _LABELLED:
        return f"label round {last}"
    if narrow and last >= _ROUNDS:
        return "narrow enough"
    return "" if texts["round"].isna().any() else "all drawn"


def describe_progress(sheet: pd.DataFrame) -> str:
    """Say how many rows are to be labelled, and how many are."""
    labels = sheet.filter(["label", "biased", "refused"]).iloc[:, 0].replace("", None)
    unsure = (labels == news.labels.UNSURE).sum()
    line = f"{len(labels):,} to be labelled, {labels.notna().sum():,} labelled"
    return line + (f", {unsure:,} of them unsure" if unsure else "")


def readable(accuracy: pd.DataFrame) -> pd.DataFrame:
    """Return the accuracy, or the shares, that the labels show so far, for a printed table."""
    if not (by_round := "status" in accuracy):
        accuracy = accuracy[accuracy["estimate"].notna() & (accuracy["side"] == "both")]
    table = accuracy.rename(columns={"cell": "model", "n": "labels"})
    share = f"share ({100 * table['confidence'].max():.4g}% CI)"
    table[share] = [
        f"{row.estimate:.2f} ({row.ci_low:.2f} to {row.ci_high:.2f})" if row.labels else None
        for row in table.itertuples()
    ]
    if not by_round:
        return table.filter(["bias", "group", "of", "statistic", share, "labels"])
    table["width"] = (table["ci_high"] - table["ci_low"]).map("{:.3f}".format, na_action="ignore")
    table["agreement"] = table["agreement"].map("{:.0%}".format, na_action="ignore")
    shown = ["model", share, "width", "labels", "agreement", "status"]
    return table[shown].dropna(axis=1, how="all").fillna("")
