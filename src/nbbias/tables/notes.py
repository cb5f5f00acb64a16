"""Notes behind a path: how the file is written, and which of its columns is which.

``essays.csv?encoding=cp1252&separator=semicolon&text=body`` is a file whose column ``body`` is the
text. So one line of a params file says all that is needed to read a file as somebody keeps it.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import unquote

#: Endings of files that hold tables.
SUFFIXES = (".csv", ".tsv", ".json", ".jsonl", ".parquet", ".eval")

_ENDINGS = "|".join(map(re.escape, SUFFIXES))
_NOTED = re.compile(rf"(?is)(.*(?:{_ENDINGS}))\?(\w+=[^&]*(?:&\w+=[^&]*)*)")
#: Characters with a meaning in notes and paths, and their escapes.
_ESCAPES = {code: f"%{code:02X}" for code in (*b"%&=?#$~/\\", *range(32), 127)}

SEPARATORS = {"comma": ",", "semicolon": ";", "tab": "\t", "bar": "|"}


class Layout(NamedTuple):
    """How a file is written, and its columns by the names that a reader has for them.

    A column without a name is not read.

    Examples
    --------
    >>> Layout().separator
    ','
    """

    encoding: str = "utf-8-sig"
    separator: str = ","
    columns: Mapping[str, str] = {}


def split(path: str) -> tuple[str, dict[str, str]]:
    """Return a path without its notes, and the notes.

    Examples
    --------
    >>> split("essays.csv?encoding=cp1252&text=the%26body")
    ('essays.csv', {'encoding': 'cp1252', 'text': 'the&body'})
    >>> split("what?.csv")
    ('what?.csv', {})
    """
    if not (match := _NOTED.fullmatch(path)):
        return path, {}
    pairs = (pair.partition("=") for pair in match[2].split("&"))
    return match[1], {name: unquote(value) for name, _, value in pairs}


def add(path: str, notes: Mapping[str, str]) -> str:
    """Write notes behind a path, over those that it has.

    Examples
    --------
    >>> add("essays.csv?text=body", {"model": "which one?"})
    'essays.csv?text=body&model=which one%3F'
    """
    bare, before = split(path)
    pairs = {**before, **notes}.items()
    written = "&".join(f"{name}={value.translate(_ESCAPES)}" for name, value in pairs)
    return f"{bare}?{written}" if written else bare


def parse(path: str) -> Layout:
    r"""Return the layout that the notes behind a path describe; the default is UTF-8 and commas.

    Raises
    ------
    ValueError
        There is no such encoding or separator.

    Examples
    --------
    >>> parse("essays.csv?separator=tab&text=body")
    Layout(encoding='utf-8-sig', separator='\t', columns={'text': 'body'})
    """
    bare, notes = split(path)
    encoding = notes.pop("encoding", Layout().encoding)
    separator = notes.pop("separator", "tab" if bare.lower().endswith(".tsv") else "comma")
    try:
        "".encode(encoding)
        if codecs.lookup(encoding).name == "utf-8":
            encoding = Layout().encoding
    except LookupError:
        raise ValueError(f"there is no encoding {encoding!r}; such as cp1252") from None
    if separator not in SEPARATORS:
        raise ValueError(f"no separator is called {separator!r}; there is {', '.join(SEPARATORS)}")
    return Layout(encoding, SEPARATORS[separator], notes)
