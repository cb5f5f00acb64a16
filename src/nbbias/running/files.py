"""A file of texts as it was named: is it there, and how is it written?"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from pathlib import Path

from nbbias import tables
from nbbias.tables import DataError, notes, sniff

#: Endings of files that hold tables.
DATA = (".csv", ".tsv", ".json", ".jsonl", ".parquet")


def noted(path: str) -> str:
    """Write behind a path how its file is written, where nobody has said it.

    Raises
    ------
    DataError
        There is no such file (with the nearest), or it holds no text.

    Examples
    --------
    >>> path = str(tables.data_path("datasets.csv"))
    >>> noted(path) == path
    True
    """
    bare, told = notes.parted(path)
    file = Path(bare)
    if not tables.is_file(file):
        near = difflib.get_close_matches(bare, beside(bare, [file.suffix, ".csv"]), n=1, cutoff=0.5)
        meant = f"; did you mean {near[0]}?" if near else ""
        raise DataError(bare, f"no such file{meant}")
    found = {}
    if file.suffix.lower() in DATA[:-1]:
        encoding = told.get("encoding") or sniff.encoding(file)
        if not encoding:
            raise DataError(bare, "is no text (neither UTF-8, UTF-16 nor cp1252)")
        if encoding not in {"utf-8", "utf-8-sig"}:
            found["encoding"] = encoding
        if file.suffix.lower() in {".csv", ".tsv"}:
            found["separator"] = sniff.separator(_head(file, encoding))
            if notes.SEPARATORS[found["separator"]] == notes.written(bare).separator:
                found.pop("separator")
    return notes.noted(bare, found | told)


def _head(file: Path, encoding: str) -> str:
    with file.open(encoding=encoding, errors="replace", newline="") as opened:
        return opened.read(1 << 20)


def beside(name: str, endings: Iterable[str]) -> list[str]:
    """Return the files that lie where a file was looked for, written as it was."""
    folder = Path(name).parent
    try:
        there = sorted(folder.iterdir())
    except OSError:
        return []
    return [str(one) for one in there if one.suffix.lower() in tuple(endings)]
