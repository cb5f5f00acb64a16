"""How a file is written that nobody said it of: its encoding, and what parts its columns."""

from __future__ import annotations

import codecs
import csv
from itertools import islice
from pathlib import Path

from nbbias.tables.notes import SEPARATORS

#: Bytes that are looked at, and rows.
_HEAD, _ROWS = 1 << 26, 200
_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16",
}  # fmt: skip


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
