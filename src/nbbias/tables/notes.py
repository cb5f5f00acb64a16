"""What stands behind a path: how its file is written, and which of its columns is which.

``essays.csv?encoding=cp1252&separator=semicolon&text=body`` is a file whose column ``body`` is the
text. So one line of a params file says all that is needed to read a file as somebody keeps it.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import unquote

_NOTED = re.compile(r"(?is)(.*\.(?:csv|tsv|jsonl?|parquet))\?(\w+=[^&]*(?:&\w+=[^&]*)*)")
#: What would end a note, a path or a line, or stand for something else in a path.
_APART = re.compile(r"[%&=?#$~/\\\x00-\x1f\x7f]")

SEPARATORS = {"comma": ",", "semicolon": ";", "tab": "\t", "bar": "|"}


class Written(NamedTuple):
    """How a file is written, and its columns by the names that a reader has for them.

    An empty name stands for none: such a column is not read.

    Examples
    --------
    >>> Written().separator
    ','
    """

    encoding: str = "utf-8-sig"
    separator: str = ","
    columns: Mapping[str, str] = {}


def parted(path: str) -> tuple[str, dict[str, str]]:
    """Return a path without its notes, and these.

    Examples
    --------
    >>> parted("essays.csv?encoding=cp1252&text=the%26body")
    ('essays.csv', {'encoding': 'cp1252', 'text': 'the&body'})
    >>> parted("what?.csv")
    ('what?.csv', {})
    """
    found = _NOTED.fullmatch(path)
    if not found:
        return path, {}
    pairs = (one.partition("=") for one in found[2].split("&"))
    return found[1], {name: unquote(value) for name, _, value in pairs}


def noted(path: str, notes: Mapping[str, str]) -> str:
    """Write notes behind a path, over those that it has.

    Examples
    --------
    >>> noted("essays.csv?text=body", {"model": "which one?"})
    'essays.csv?text=body&model=which one%3F'
    """
    path, before = parted(path)
    told = "&".join(f"{name}={_escaped(value)}" for name, value in (before | dict(notes)).items())
    return f"{path}?{told}" if told else path


def _escaped(value: str) -> str:
    return _APART.sub(lambda found: f"%{ord(found[0]):02X}", value)


def written(path: str) -> Written:
    r"""Return what the notes behind a path say; without any it is UTF-8, by comma.

    Raises
    ------
    ValueError
        An encoding or a separator that there is not.

    Examples
    --------
    >>> written("essays.csv?separator=tab&text=body")
    Written(encoding='utf-8-sig', separator='\t', columns={'text': 'body'})
    """
    bare, notes = parted(path)
    encoding = notes.pop("encoding", Written().encoding)
    usual = "tab" if bare.lower().endswith(".tsv") else "comma"
    separator = notes.pop("separator", usual)
    try:
        "".encode(encoding)
        codecs.lookup(encoding)
    except LookupError:
        raise ValueError(f"there is no encoding {encoding!r}; such as cp1252") from None
    if separator not in SEPARATORS:
        raise ValueError(f"no separator is called {separator!r}; there is {', '.join(SEPARATORS)}")
    if codecs.lookup(encoding).name == "utf-8":
        encoding = Written().encoding
    return Written(encoding, SEPARATORS[separator], notes)
