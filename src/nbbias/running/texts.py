"""Texts to classify, read from a table or a pipe."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from nbbias import tables
from nbbias.tables import Column, DataError, columns, notes, sniff


def read_texts(path: str) -> pd.DataFrame:
    """Read texts: `row` or, where the file has it, `text_id`; and `text`.

    Parameters
    ----------
    path
        A table, or ``-`` for standard input, each line of which is a text.

    Raises
    ------
    NbbiasError
        The file cannot be read, or has no such column.
    """
    if path == "-":
        if sys.stdin is None:
            raise DataError(path, "nothing can be read from the pipe: it is closed")
        try:
            content = sys.stdin.buffer.read().decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = error.object[: error.start].count(b"\n") + 1
            message = f"line {line} is no UTF-8; save it in a file, whose encoding is recognised"
            raise DataError(path, message) from None
        lines = content.removesuffix("\n").split("\n") if content else []
        return _number([line.removesuffix("\r") for line in lines])
    file = Path(path.split("?")[0])
    if " " in path and file.suffix.lower() not in notes.SUFFIXES and not tables.is_file(file):
        message = "no such file; classify a sentence by: echo 'It rains.' | nbbias detect -"
        raise DataError(path, message)
    form = {
        "text_id": Column("text", also=("id", "uid")),
        "text": Column("text", needed=True, also=(*columns.ANSWERED, *columns.SENTENCE)),
    }
    table = tables.read_table(sniff.detect(path), form)
    return table if "text_id" in table else _number(table["text"].tolist())


def combine(paths: Sequence[str]) -> pd.DataFrame:
    """Return the rows of tables or logs of several models as one table: `model`, `text`, all else.

    Parameters
    ----------
    paths
        Files of `tables.read_table`; one without a column `model` is one model's, named after it.
    """
    form = {
        "model": Column("text", also=columns.MODEL, without="file"),
        "text": Column("text", also=(*columns.ANSWERED, *columns.WRITTEN)),
    }
    detected = tables.attempt_all(sniff.detect, paths)
    read = [tables.read_table(path, form, rest=True) for path in detected]
    table = pd.concat(read, ignore_index=True)
    if "input" in table:  # several logs of one model
        table["sample"] = table.groupby(["model", "input"], dropna=False).cumcount() + 1
    return table


def _number(texts: Sequence[str]) -> pd.DataFrame:
    return pd.DataFrame({"row": range(1, len(texts) + 1), "text": texts})
