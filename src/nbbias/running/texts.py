"""Texts to judge as they come, from a file or a pipe, and what is said of them as it goes out."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import pandas as pd

from nbbias import tables
from nbbias.tables import Column, DataError, columns, sniff

#: What stands for the pipe, and how many of its lines are judged at a time.
PIPE, LINES = "-", 64

#: Endings of files that hold one text a line.
_PLAIN = {".txt", ".text"}


def blocks(path: str, *, column: str = "text", size: int = 1024) -> Iterator[pd.DataFrame]:
    """Return texts, block by block: `row` or, where the file has it, `text_id`; and `text`.

    Parameters
    ----------
    path
        A table, a text file of one text a line, or ``-`` for such lines from the pipe.
    column
        Where the texts stand in a table.
    size
        Texts at a time; of a pipe, `LINES` at most.

    Raises
    ------
    NbbiasError
        The file cannot be read, or has no such column.
    """
    if path != PIPE:
        return iter(list(_of_file(path, column, size)))  # what is wrong with it is told at once
    if sys.stdin is None:
        raise DataError(path, "nothing can be read from the pipe: it is closed")
    return _lines(sys.stdin.buffer, LINES)


def _of_file(path: str, column: str, size: int) -> Iterator[pd.DataFrame]:
    found = tables.resolve(path)
    if found.suffix.lower() in _PLAIN and tables.is_file(found):
        with found.open(encoding=sniff.text_encoding(found)) as file:
            yield from _lines((line.encode() for line in file), size)
        return
    also = (*columns.ANSWERED, *columns.SENTENCE) if column == "text" else ()
    form = {
        "text_id": Column("text", also=("id", "uid")),
        column: Column("text", needed=True, also=also),
    }
    table = tables.read_table(sniff.noted(path), form).rename(columns={column: "text"})
    if "text_id" not in table or column == "text_id":
        table = _numbered(table[["text"]], 1)
    for start in range(0, len(table), size):
        yield table.iloc[start : start + size].reset_index(drop=True)


def _lines(file: Iterable[bytes], size: int) -> Iterator[pd.DataFrame]:
    number, held = 1, list[str]()
    for line in file:
        try:
            text = line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError:
            told = (
                f"line {number + len(held)} is no UTF-8; save it in a file, whose encoding is found"
            )
            raise DataError(PIPE, told) from None
        held.append(text.rstrip("\r\n"))
        if len(held) == size:
            yield _numbered(pd.DataFrame({"text": held}), number)
            number, held = number + len(held), []
    if held:
        yield _numbered(pd.DataFrame({"text": held}), number)


def _numbered(table: pd.DataFrame, first: int) -> pd.DataFrame:
    table = table.reset_index(drop=True)
    table.insert(0, "row", range(first, first + len(table)))
    return table


def written(found: pd.DataFrame, *, lines: bool, head: bool) -> str:
    """Return rows as CSV that no spreadsheet runs, or as one JSON object a line.

    Examples
    --------
    >>> print(written(pd.DataFrame({"row": [1], "text": ["=1+1"]}), lines=True, head=True), end="")
    {"row":1,"text":"=1+1"}
    """
    if lines:
        # JSON writes the control characters of texts as escapes itself.
        return found.to_json(orient="records", lines=True, force_ascii=True, double_precision=6)
    table = tables.csv(found.round({"confidence": 4}))
    return table if head else table.split("\n", 1)[1]


def is_lines(path: Path | None) -> bool:
    """Tell whether a file of this name is of JSON lines.

    Examples
    --------
    >>> is_lines(Path("found.jsonl")), is_lines(None)
    (True, False)
    """
    return path is not None and path.suffix.lower() in {".jsonl", ".ndjson"}
