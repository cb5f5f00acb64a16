"""Texts to classify, read from a file or a pipe in blocks, and the verdicts as CSV or JSON."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import pandas as pd

from nbbias import tables
from nbbias.tables import Column, DataError, columns, sniff

#: Stands for standard input, and how many of its lines are classified at a time.
PIPE, LINES = "-", 64
#: Endings of files that hold one text a line.
_PLAIN = {".txt", ".text"}


def read_blocks(path: str, *, column: str = "text", size: int = 1024) -> Iterator[pd.DataFrame]:
    """Read texts block by block: `row` or, where the file has it, `text_id`; and `text`.

    Parameters
    ----------
    path
        A table, a file of one text a line, or ``-`` for such lines from standard input.
    column
        The column that holds the texts of a table.
    size
        Texts at a time; of standard input at most `LINES`.

    Raises
    ------
    NbbiasError
        The file cannot be read, or has no such column.
    """
    if path != PIPE:
        return iter(list(_read_file(path, column, size)))  # all problems are reported at once
    if sys.stdin is None:
        raise DataError(path, "nothing can be read from the pipe: it is closed")
    return _read_lines(sys.stdin.buffer, LINES)


def _read_file(path: str, column: str, size: int) -> Iterator[pd.DataFrame]:
    file = tables.resolve(path)
    if file.suffix.lower() in _PLAIN and tables.is_file(file):
        with file.open(encoding=sniff.detect_encoding(file)) as lines:
            yield from _read_lines((line.encode() for line in lines), size)
        return
    also = (*columns.ANSWERED, *columns.SENTENCE) if column == "text" else ()
    form = {
        "text_id": Column("text", also=("id", "uid")),
        column: Column("text", needed=True, also=also),
    }
    table = tables.read_table(sniff.detect(path), form).rename(columns={column: "text"})
    if "text_id" not in table or column == "text_id":
        table = _number_rows(table[["text"]], 1)
    for start in range(0, len(table), size):
        yield table.iloc[start : start + size].reset_index(drop=True)


def _read_lines(lines: Iterable[bytes], size: int) -> Iterator[pd.DataFrame]:
    first, texts = 1, list[str]()
    for number, line in enumerate(lines, start=1):
        try:
            text = line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError:
            message = f"line {number} is no UTF-8; save it in a file, whose encoding is recognised"
            raise DataError(PIPE, message) from None
        texts.append(text.rstrip("\r\n"))
        if len(texts) == size:
            yield _number_rows(pd.DataFrame({"text": texts}), first)
            first, texts = number + 1, []
    if texts:
        yield _number_rows(pd.DataFrame({"text": texts}), first)


def _number_rows(table: pd.DataFrame, first: int) -> pd.DataFrame:
    table = table.reset_index(drop=True)
    table.insert(0, "row", range(first, first + len(table)))
    return table


def format_block(rows: pd.DataFrame, *, json_lines: bool, header: bool) -> str:
    """Return rows as CSV that no spreadsheet executes, or as one JSON object a line.

    Examples
    --------
    >>> rows = pd.DataFrame({"row": [1], "text": ["=1+1"]})
    >>> print(format_block(rows, json_lines=True, header=True), end="")
    {"row":1,"text":"=1+1"}
    """
    if json_lines:  # which escapes the control characters of texts itself
        return rows.to_json(orient="records", lines=True, force_ascii=True, double_precision=6)
    table = tables.csv(rows.round({"confidence": 4}))
    return table if header else table.split("\n", 1)[1]


def is_json_lines(path: Path | None) -> bool:
    """Tell whether a file of this name holds JSON lines.

    Examples
    --------
    >>> is_json_lines(Path("verdicts.jsonl")), is_json_lines(None)
    (True, False)
    """
    return path is not None and path.suffix.lower() in {".jsonl", ".ndjson"}
