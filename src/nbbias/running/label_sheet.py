"""The sheet in which people label a study's word lists or answers, written beside a run."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from nbbias import biasalert, news, params, studies, tables
from nbbias.pages import share
from nbbias.running import generation, label_rounds
from nbbias.tables import NbbiasError


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
        (`label_rounds.draw`).
    annotators
        Who labels each answer of a round.

    Returns
    -------
    path, sheet, accuracy
        Where it was written, its rows, and the accuracy that its labels of words show so far; with
        `until` the estimates of `label_rounds.draw`.

    Raises
    ------
    NbbiasError
        There is no such run or file, its study has nothing to be labelled, or the existing sheet
        cannot be read.
    """
    path = target / share.PARAMS if target.is_dir() else target
    if target.is_dir() and not path.is_file():
        raise NbbiasError(str(target), f"is no run: it has no {share.PARAMS}")
    default = target / "labels.csv" if target.is_dir() else path.with_suffix(".labels.csv")
    stem, values = studies.read(path)
    stems = ("biasalert", "biased_prompts" if until else "news_bias")
    if stem not in stems or values.get("answers_path") == params.NONE:
        message = f"{stem} has nothing to be labelled; news_bias has words, biasalert has answers"
        message += ", and with --until so has biased_prompts"
        raise NbbiasError(str(target), message)
    out = (out or default).absolute()
    to_come = (os.path.realpath(out),)  # which the params may name
    with tables.starting_at(path.absolute().parent):
        study_values = generation.without_block(values)
        model: Any = studies.study(stem).parameters
        chosen: Any = params.validate(model, study_values, where=str(path), to_come=to_come)
        if until:
            settings: dict[str, Any] = {"width": until, "size": answers, "annotators": annotators}
            sheet, accuracy = label_rounds.draw(stem, chosen, out, **settings)
        elif stem == "biasalert":
            read = biasalert.corpus.read_answers
            asked = read(chosen.answers_path, size=chosen.answers_size, seed=chosen.seed)
            sheet = biasalert.corpus.draw_sheet(asked, out, size=answers, seed=chosen.seed)
            accuracy = pd.DataFrame({"estimate": [], "side": []})
        else:
            sheet, accuracy = news.measured.label(chosen, out, words=words, sentences=sentences)
    tables.write(out, tables.csv(sheet))
    return out, sheet, accuracy


def describe_progress(sheet: pd.DataFrame) -> str:
    """Say how many rows are to be labelled, and how many are."""
    labels = sheet.filter(["label", "biased", "refused"]).iloc[:, 0].replace("", None)
    unsure = (labels == news.labels.UNSURE).sum()
    line = f"{len(labels):,} to be labelled, {labels.notna().sum():,} are"
    return line + (f", {unsure:,} of them unsure" if unsure else "")


def readable(accuracy: pd.DataFrame) -> pd.DataFrame:
    """Return the accuracy, or the shares, that the labels show so far, for a printed table."""
    if "status" in accuracy:
        return label_rounds.readable(accuracy)
    table = accuracy[accuracy["estimate"].notna() & (accuracy["side"] == "both")]
    if table.empty:
        return table
    shares = [
        f"{row.estimate:.2f} ({row.ci_low:.2f} to {row.ci_high:.2f})" for row in table.itertuples()
    ]
    return table[["bias", "group", "of", "statistic"]].assign(
        **{"share (95% CI)": shares, "labels": table["n"]}
    )
