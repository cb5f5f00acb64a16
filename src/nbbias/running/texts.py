"""Texts to classify, read from a file or a pipe, and the verdicts as CSV or JSON lines."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from nbbias import tables
from nbbias.tables import Column, DataError, columns, sniff

#: Stands for standard input.
PIPE = "-"
#: Endings of files that hold one text a line.
_PLAIN = {".txt", ".text"}


def read_texts(path: str, *, column: str = "text") -> pd.DataFrame:
    """Read texts: `row` or, where the file has it, `text_id`; and `text`.

    Parameters
    ----------
    path
        A table, a file of one text a line, or ``-`` for such lines from standard input.
    column
        The column that holds the texts of a table.

    Raises
    ------
    NbbiasError
        The file cannot be read, or has no such column.
    """
    if path == PIPE:
        if sys.stdin is None:
            raise DataError(path, "nothing can be read from the pipe: it is closed")
        try:
            return _number_lines(sys.stdin.buffer.read().decode("utf-8-sig"))
        except UnicodeDecodeError as error:
            line = error.object[: error.start].count(b"\n") + 1
            message = f"line {line} is no UTF-8; save it in a file, whose encoding is recognised"
            raise DataError(path, message) from None
    file = tables.resolve(path)
    if file.suffix.lower() in _PLAIN and tables.is_file(file):
        return _number_lines(file.read_text(encoding=sniff.detect_encoding(file)))
    also = (*columns.ANSWERED, *columns.SENTENCE) if column == "text" else ()
    form = {
        "text_id": Column("text", also=("id", "uid")),
        column: Column("text", needed=True, also=also),
    }
    table = tables.read_table(sniff.detect(path), form).rename(columns={column: "text"})
    is_keyed = "text_id" in table and column != "text_id"
    return table if is_keyed else _number(table["text"].tolist())


def _number_lines(content: str) -> pd.DataFrame:
    lines = content.removesuffix("\n").split("\n") if content else []
    return _number([line.removesuffix("\r") for line in lines])


def _number(texts: Sequence[str]) -> pd.DataFrame:
    return pd.DataFrame({"row": range(1, len(texts) + 1), "text": texts})


def format_verdicts(rows: pd.DataFrame, *, json_lines: bool) -> str:
    """Return rows as CSV that no spreadsheet executes, or as one JSON object a line.

    Examples
    --------
    >>> rows = pd.DataFrame({"row": [1], "text": ["=1+1"]})
    >>> print(format_verdicts(rows, json_lines=True), end="")
    {"row":1,"text":"=1+1"}
    """
    if json_lines:  # which escapes the control characters of texts itself
        return rows.to_json(orient="records", lines=True, force_ascii=True, double_precision=6)
    return tables.csv(rows.round({"confidence": 4}))


def is_json_lines(path: Path | None) -> bool:
    """Tell whether a file of this name holds JSON lines.

    Examples
    --------
    >>> is_json_lines(Path("verdicts.jsonl")), is_json_lines(None)
    (True, False)
    """
    return path is not None and path.suffix.lower() in {".jsonl", ".ndjson"}
