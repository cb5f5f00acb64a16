"""What people are asked about a study's word lists, laid out in a sheet beside its run."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from nbbias import news, studies, tables
from nbbias.pages import share
from nbbias.tables import NbbiasError, escape


class Asked(NamedTuple):
    """A sheet that was written: where, its rows, and what the labels tell so far."""

    path: Path
    sheet: pd.DataFrame
    accuracy: pd.DataFrame


def lay_out(target: Path, *, out: Path | None, words: int, sentences: int) -> Asked:
    """Draw what people are asked, and write the sheet; no label that is there is lost.

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
        There is no such run or file, its study has no lists to be labelled, or the sheet that is
        there cannot be read.
    """
    of_run = target / share.PARAMS
    path = of_run if target.is_dir() else target
    if target.is_dir() and not of_run.is_file():
        raise NbbiasError(str(target), f"is no run: it has no {share.PARAMS}")
    out = out or (target / "labels.csv" if path == of_run else path.with_suffix(".labels.csv"))
    stem, values = studies.read(path)
    study = studies.study(stem)
    if not study.label:
        known = ", ".join(name for name, one in studies.STUDIES.items() if one.label)
        raise NbbiasError(str(target), f"{stem} has no word lists to be labelled; {known} has")
    values.pop("generate", None)
    # The sheet itself is still to come where the params name it.
    to_come = (str(out.resolve()),)
    where = out.absolute()
    with tables.starting_at(path.absolute().parent):
        chosen = studies.validate(stem, values, where=str(path), to_come=to_come)
        module, function = study.label.split(":")
        draw = getattr(import_module(module), function)
        sheet, accuracy = draw(chosen, where, words=words, sentences=sentences)
    tables.write(out, tables.csv(sheet))
    return Asked(out, sheet, accuracy)


def told(found: Asked) -> tuple[list[str], list[list[str]], list[str]]:
    """Return columns and rows of what the labels tell, and lines on what is to be done."""
    labels = found.sheet["label"].notna().sum()
    unsure = (found.sheet["label"] == news.labels.UNSURE).sum()
    left = f", {unsure:,} of them unsure" if unsure else ""
    lines = [f"{found.path}  {len(found.sheet):,} to be labelled, {labels:,} are{left}"]
    table = found.accuracy
    table = table[table["estimate"].notna() & (table["side"] == "both")] if labels else table[:0]
    names = ["bias", "group", "of", "statistic"]
    rows = [
        [*(escape.terminal(row[name]) for name in names), _interval(row), f"{row['n']:,}"]
        for row in table.to_dict("records")
    ]
    return [*names, "share (95% CI)", "labels"], rows, lines


def _interval(row: dict[str, float]) -> str:
    return f"{row['estimate']:.2f} ({row['ci_low']:.2f} to {row['ci_high']:.2f})"
