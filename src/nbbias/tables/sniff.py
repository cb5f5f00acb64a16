"""Find a user's file, and detect how it is written: its encoding, and the separator of columns."""

from __future__ import annotations

import os
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE, getincrementaldecoder
from pathlib import Path

from nbbias.tables import notes
from nbbias.tables.errors import DataError
from nbbias.tables.paths import is_file, resolve

#: Bytes by which an encoding is detected.
_HEAD = 1 << 26
_MARKS = {BOM_UTF8: "utf-8-sig", BOM_UTF16_LE: "utf-16", BOM_UTF16_BE: "utf-16"}


def detect(path: str) -> str:
    """Add notes to a path on how its file is written, where it has none.

    Raises
    ------
    DataError
        There is no such file, its format is unknown, or it holds no text.

    Examples
    --------
    >>> from nbbias.tables import data_path
    >>> path = str(data_path("datasets.csv"))
    >>> detect(path) == path
    True
    """
    file, written = find_file(path), notes.split(path)[1]
    if (suffix := file.suffix.lower()) in {".parquet", ".eval"}:
        return path
    detected = {}
    encoding = written.get("encoding") or detect_encoding(file)
    if encoding not in {"utf-8", "utf-8-sig"}:
        detected["encoding"] = encoding
    if suffix in {".csv", ".tsv"}:
        with file.open(encoding=encoding, errors="replace") as opened:
            separator = detect_separator(opened.readline(1 << 20))
        if notes.SEPARATORS[separator] != notes.parse(notes.split(path)[0]).separator:
            detected["separator"] = separator
    return notes.add(path, detected | written)


def find_file(path: str) -> Path:
    """Return the file that a path names on this machine, without its notes.

    Raises
    ------
    DataError
        There is no such file, or it is of an unknown format.

    Examples
    --------
    >>> find_file("nowhere.csv")
    Traceback (most recent call last):
        ...
    nbbias.tables.errors.DataError: nowhere.csv: no such file (looked for ...nowhere.csv)
    """
    bare = notes.split(path)[0]
    if not is_file(file := resolve(bare)):
        if os.path.lexists(file):
            raise DataError(bare, "is not a regular file (a folder, a pipe, or a link to nothing)")
        raise DataError(bare, f"no such file (looked for {file.absolute()})")
    if file.suffix.lower() not in notes.SUFFIXES:
        raise DataError(bare, f"unknown format {file.suffix!r}; use {', '.join(notes.SUFFIXES)}")
    return file


def detect_encoding(path: Path) -> str:
    """Return the encoding of a file, or refuse one that holds no text.

    A byte order mark decides; without one it is UTF-8 if possible, then cp1252, which Windows and
    Excel write.

    Raises
    ------
    DataError
        It cannot be read, or is no text.

    Examples
    --------
    >>> from nbbias.tables import data_path
    >>> detect_encoding(data_path("datasets.csv"))
    'utf-8'
    """
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD)
    except OSError as error:
        raise DataError(str(path), f"cannot be read: {error.strerror}") from None
    for mark, name in _MARKS.items():
        if head.startswith(mark):
            return name
    for name in () if b"\0" in head else ("utf-8", "cp1252"):
        try:  # the last character may be cut
            getincrementaldecoder(name)().decode(head, final=len(head) < _HEAD)
        except UnicodeDecodeError:
            continue
        return name
    raise DataError(str(path), "is not text (neither UTF-8 nor cp1252); save its table as CSV")


def detect_separator(text: str) -> str:
    r"""Name the separator that stands most often in the first line of CSV, the columns' names.

    Further lines are not looked at: the commas of prose are no separators.

    Examples
    --------
    >>> detect_separator("id;text\n1;One, two, three\n")
    'semicolon'
    >>> detect_separator("text\nOne; two, three\n")
    'comma'
    """
    header = text.partition("\n")[0]
    return max(notes.SEPARATORS, key=lambda name: header.count(notes.SEPARATORS[name]))
