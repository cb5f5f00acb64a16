"""The sheet in which people label a study's word lists, written beside a run."""

from __future__ import annotations

import os
from pathlib import Path

import pandas as pd

from nbbias import news, params, studies, tables
from nbbias.pages import share
from nbbias.running import generation
from nbbias.tables import NbbiasError


def write_sheet(
    target: Path, *, out: Path | None, words: int, sentences: int
) -> tuple[Path, pd.DataFrame, pd.DataFrame]:
    """Draw words and sentences to be labelled, and write them; labels that are there are kept.

    Parameters
    ----------
    target
        A run's folder, or a params file, of `news_bias`.
    out
        The sheet; without it ``labels.csv`` in the run's folder, or beside the params file.
    words, sentences
        How many to ask about, per bias.

    Returns
    -------
    path, sheet, accuracy
        Where it was written, its rows, and the accuracy that its labels show so far.

    Raises
    ------
    NbbiasError
        There is no such run or file, its study has no lists to be labelled, or the existing sheet
        cannot be read.
    """
    path = target / share.PARAMS if target.is_dir() else target
    if target.is_dir() and not path.is_file():
        raise NbbiasError(str(target), f"is no run: it has no {share.PARAMS}")
    default = target / "labels.csv" if target.is_dir() else path.with_suffix(".labels.csv")
    stem, values = studies.read(path)
    if stem != news.params.STUDY.stem:
        message = f"{stem} has no word lists to be labelled; {news.params.STUDY.stem} has"
        raise NbbiasError(str(target), message)
    out = (out or default).absolute()
    to_come = (os.path.realpath(out),)  # which the params may name
    with tables.starting_at(path.absolute().parent):
        model, study_values = news.params.NewsBias, generation.without_block(values)
        chosen = params.validate(model, study_values, where=str(path), to_come=to_come)
        sheet, accuracy = news.measured.label(chosen, out, words=words, sentences=sentences)
    tables.write(out, tables.csv(sheet))
    return out, sheet, accuracy


def describe_progress(labels: pd.Series) -> str:
    """Say how many rows are to be labelled, and how many are."""
    unsure = (labels == news.labels.UNSURE).sum()
    line = f"{len(labels):,} to be labelled, {labels.notna().sum():,} are"
    return line + (f", {unsure:,} of them unsure" if unsure else "")


def readable(accuracy: pd.DataFrame) -> pd.DataFrame:
    """Return the accuracy that the labels show so far, for a printed table."""
    table = accuracy[accuracy["estimate"].notna() & (accuracy["side"] == "both")]
    shares = [
        f"{row.estimate:.2f} ({row.ci_low:.2f} to {row.ci_high:.2f})" for row in table.itertuples()
    ]
    return table[["bias", "group", "of", "statistic"]].assign(
        **{"share (95% CI)": shares, "labels": table["n"]}
    )
