"""How a file is written that nobody said it of: its encoding, and what parts its columns."""

from __future__ import annotations

import codecs
import csv
import difflib
import os
from collections.abc import Iterable
from itertools import islice
from pathlib import Path

from nbbias.tables import notes
from nbbias.tables.errors import DataError
from nbbias.tables.notes import SEPARATORS
from nbbias.tables.paths import is_file, resolve

#: Bytes that are looked at, and rows.
_HEAD, _ROWS = 1 << 26, 200
_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}


#: Endings of files that hold tables.
DATA = (".csv", ".tsv", ".json", ".jsonl", ".parquet")
#: How files begin that are no text, whatever their names end in, and what to do with them.
_PACKED = {
    b"PK": "is an archive or a workbook; save its table as CSV",
    b"\x1f\x8b": "is packed by gzip; unpack it",
    b"PAR1": "is Parquet; let its name end in .parquet",
}


def noted(path: str) -> str:
    """Write behind a path how its file is written, where nobody has said it.

    Raises
    ------
    DataError
        There is no such file (with the nearest), or it holds no text.

    Examples
    --------
    >>> from nbbias.tables import data_path
    >>> path = str(data_path("datasets.csv"))
    >>> noted(path) == path
    True
    """
    bare, told = notes.parted(path)
    file = resolve(bare)
    if not is_file(file):
        if os.path.lexists(file):
            raise DataError(bare, "is no regular file (a folder, a pipe, or a link to nothing)")
        near = difflib.get_close_matches(bare, beside(bare, [file.suffix, ".csv"]), n=1, cutoff=0.5)
        meant = f"; did you mean {near[0]}?" if near else ""
        raise DataError(bare, f"no such file{meant}")
    if file.suffix.lower() not in DATA:
        raise DataError(bare, f"unknown format {file.suffix!r}; use {', '.join(DATA)}")
    if file.suffix.lower() == ".parquet":
        return path
    found = {}
    written = told.get("encoding") or text_encoding(file)
    if written not in {"utf-8", "utf-8-sig"}:
        found["encoding"] = written
    if file.suffix.lower() in {".csv", ".tsv"}:
        with file.open(encoding=written, errors="replace", newline="") as opened:
            found["separator"] = separator(opened.read(1 << 20))
        if SEPARATORS[found["separator"]] == notes.written(bare).separator:
            found.pop("separator")
    return notes.noted(bare, found | told)


def beside(name: str, endings: Iterable[str]) -> list[str]:
    """Return the files that lie where a file was looked for, written as it was."""
    folder = Path(name).parent
    try:
        there = sorted(folder.iterdir())
    except OSError:
        return []
    return [str(one) for one in there if one.suffix.lower() in tuple(endings)]


def packed(head: bytes) -> str:
    """Say what a file is that begins like this and is no text; nothing where that is not known.

    Examples
    --------
    >>> packed(b"PK01")
    'is an archive or a workbook; save its table as CSV'
    """
    return next((told for sign, told in _PACKED.items() if head.startswith(sign)), "")


def text_encoding(path: Path) -> str:
    """Return how the letters of a file of text are written, or refuse one that holds no text.

    Raises
    ------
    DataError
        It cannot be read, or is no text.
    """
    try:
        found = encoding(path)
        if not found:
            with path.open("rb") as file:
                told = packed(file.read(4)) or "is no text (neither UTF-8, UTF-16 nor cp1252)"
            raise DataError(str(path), told)
    except OSError as error:
        raise DataError(str(path), f"cannot be read: {error.strerror}") from None
    return found


def encoding(path: Path) -> str:
    """Return how a file's letters are written, or "" where it holds no text.

    A byte order mark tells; without one it is UTF-8 if it can be, then UTF-16 if every other byte
    is 0, then cp1252, which Windows and Excel write.

    Examples
    --------
    >>> from nbbias.tables import data_path
    >>> encoding(data_path("datasets.csv"))
    'utf-8'
    """
    with path.open("rb") as file:
        head = file.read(_HEAD)
    for mark, name in _MARKS.items():
        if head.startswith(mark):
            return name
    if b"\0" in head:
        halves = {"utf-16-be": head[::2], "utf-16-le": head[1::2]}
        mostly = [name for name, half in halves.items() if half.count(0) > len(half) / 2]
        return mostly[0] if mostly else ""
    for name in ("utf-8", "cp1252"):
        try:  # the last character may be cut
            codecs.getincrementaldecoder(name)().decode(head, final=len(head) < _HEAD)
        except UnicodeDecodeError:
            continue
        return name
    return ""


def separator(text: str) -> str:
    r"""Name what parts the columns of CSV: what parts most rows as often as the first.

    Examples
    --------
    >>> separator("id;text\n1;One, two, three\n2;Four\n")
    'semicolon'
    >>> separator("text\nOne; two, three\n")
    'comma'
    """
    found = {}
    for name, sign in SEPARATORS.items():
        rows = _rows(text, sign)
        width = len(rows[0]) if rows else 0
        alike = sum(len(row) == width for row in rows)
        found[name] = (alike / len(rows), width) if width > 1 else (0.0, 0)
    # Of two that part all rows alike, the one that parts them in more.
    best = max(found, key=lambda name: found[name])
    return best if found[best][1] else "comma"


def _rows(text: str, sign: str) -> list[list[str]]:
    limit = csv.field_size_limit(1 << 30)
    try:
        rows = csv.reader(text.splitlines(keepends=True), delimiter=sign)
        return [row for row in islice(rows, _ROWS) if row]
    except csv.Error:
        return []
    finally:
        csv.field_size_limit(limit)
