"""The sheet in which people label a study's word lists, written beside a run."""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from nbbias import news, studies, tables
from nbbias.pages import share
from nbbias.running import generation
from nbbias.tables import NbbiasError


class LabelSheet(NamedTuple):
    """A sheet that was written: where, its rows, and the accuracy that its labels show so far."""

    path: Path
    rows: pd.DataFrame
    accuracy: pd.DataFrame


def write_sheet(target: Path, *, out: Path | None, words: int, sentences: int) -> LabelSheet:
    """Draw words and sentences to be labelled, and write them; labels that are there are kept.

    Parameters
    ----------
    target
        A run's folder, or a params file.
    out
        The sheet; without it ``labels.csv`` in the run's folder, or beside the params file.
    words, sentences
        How many to ask about, per bias.

    Raises
    ------
    NbbiasError
        There is no such run or file, its study has no lists to be labelled, or the existing sheet
        cannot be read.
    """
    path = target / share.PARAMS if target.is_dir() else target
    if target.is_dir() and not path.is_file():
        raise NbbiasError(str(target), f"is no run: it has no {share.PARAMS}")
    beside = target / "labels.csv" if target.is_dir() else path.with_suffix(".labels.csv")
    out = out or beside
    stem, values = studies.read(path)
    label = studies.study(stem).label
    if not label:
        others = ", ".join(name for name, study in studies.STUDIES.items() if study.label)
        raise NbbiasError(str(target), f"{stem} has no word lists to be labelled; {others} has")
    where, to_come = out.absolute(), (os.path.realpath(out),)  # which the params may name
    with tables.starting_at(path.absolute().parent):
        parameters = studies.validate(
            stem, generation.without_block(values), where=str(path), to_come=to_come
        )
        module, function = label.split(":")
        draw = getattr(import_module(module), function)
        sheet, accuracy = draw(parameters, where, words=words, sentences=sentences)
    tables.write(out, tables.csv(sheet))
    return LabelSheet(out, sheet, accuracy)


def progress(sheet: LabelSheet) -> str:
    """Return a line on how many rows are to be labelled, and how many are."""
    labels = sheet.rows["label"]
    unsure = (labels == news.labels.UNSURE).sum()
    line = f"{sheet.path}  {len(labels):,} to be labelled, {labels.notna().sum():,} are"
    return line + (f", {unsure:,} of them unsure" if unsure else "")


def readable_accuracy(sheet: LabelSheet) -> pd.DataFrame:
    """Return the accuracy that the labels show so far, for a printed table."""
    table = sheet.accuracy
    if sheet.rows["label"].isna().all():
        return table.head(0)
    table = table[table["estimate"].notna() & (table["side"] == "both")]
    shares = [
        f"{row.estimate:.2f} ({row.ci_low:.2f} to {row.ci_high:.2f})" for row in table.itertuples()
    ]
    columns = ["bias", "group", "of", "statistic"]
    return table[columns].assign(**{"share (95% CI)": shares, "labels": table["n"]})
