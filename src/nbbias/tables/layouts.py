"""The tables that params files read, made of files as their publishers lay them out.

What a table is made of stands in ``data/layouts.yaml``.
"""

from __future__ import annotations

import io
import json
import re
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd

from nbbias.tables.errors import DataError
from nbbias.tables.files import write_parquet
from nbbias.tables.read import read_shipped_yaml

VARIABLE = "NBBIAS_DATA"

#: Bytes of a file within an archive, at most.
_MOST = 2**30

_LAID_OUT = "is not laid out as it was when this version of nbbias was made"


@cache
def layouts() -> dict[str, dict[str, Any]]:
    """Return the layouts, by the table's path below the data folder."""
    return read_shipped_yaml("layouts.yaml")


def advise(path: str) -> str:
    """Say which command brings a file that a params file names, or nothing.

    Examples
    --------
    >>> advise("${NBBIAS_DATA}/bold/bold_prompts.parquet")
    '; `nbbias data fetch bold` brings it'
    >>> advise("mine.csv")
    ''
    """
    layout = layouts().get(re.sub(rf"^\$\{{?{VARIABLE}\}}?/", "", path))
    return f"; `nbbias data fetch {layout['dataset']}` brings it" if layout else ""


def write_table(name: str, files: Sequence[tuple[Path, dict[str, str]]], target: Path) -> int:
    """Make a table of a publisher's files, and return its number of rows.

    Parameters
    ----------
    name
        Of `layouts`.
    files
        Each file, and the columns that it stands for, such as ``{"domain": "gender"}``.
    target
        Where the table is written, whole or not at all.

    Raises
    ------
    DataError
        A file is laid out otherwise, or holds no row that counts.
    """
    layout = layouts()[name]
    parts = [_select(path, values, layout) for path, values in files]
    table = pd.concat(parts, ignore_index=True)
    if "sides" in layout:
        keys = [column for column in table if column != "text"]  # of halves in files of their own
        table = table.set_index(keys)["text"].unstack(layout["sides"]).reset_index()
        table = table.drop(columns="n").rename_axis(columns=None)
    if "distinct" in layout:
        table = table.drop_duplicates(layout["distinct"], ignore_index=True)
    for column, pattern in layout.get("remove", {}).items():
        table[column] = table[column].str.replace(rf"^(?:{pattern})", "", regex=True)
    for column in layout.get("numbers", ()):
        table[column] = pd.to_numeric(table[column])
    if table.empty:
        raise DataError(name, "no row of the publisher's files counts")
    write_parquet(table, target)
    return len(table)


def _read(path: Path, member: str | None) -> pd.DataFrame:
    """Read a publisher's file as text; objects of JSON by the names at each level."""
    try:
        if member:
            return _csv(_extract(path, member))
        if path.suffix == ".gz":
            lines = pd.read_json(path, lines=True, dtype=False)
            return pd.json_normalize(lines.to_dict("records")).astype("str")
        if path.suffix == ".json":
            rows = list(_flatten(json.loads(path.read_text(encoding="utf-8"))))
            last = {len(rows[0]) - 1: "value"}
            return pd.DataFrame(rows).rename(columns=last).rename(columns=str)
        return _csv(path)
    except (ValueError, OSError, EOFError, KeyError, IndexError, tarfile.TarError) as error:
        raise DataError(str(path), f"{_LAID_OUT}: {error}") from None


def _csv(file: Any) -> pd.DataFrame:
    nothing: dict[str, Any] = {"keep_default_na": False, "na_values": [""]}
    return pd.read_csv(file, dtype="str", encoding_errors="replace", **nothing)


def _extract(path: Path, member: str) -> io.BytesIO:
    """Return a file within an archive, to a bound and without links."""
    with tarfile.open(path) as archive:
        for entry in archive:
            if entry.isfile() and Path(entry.name).name == member and entry.size <= _MOST:
                return io.BytesIO(archive.extractfile(entry).read())  # type: ignore[union-attr]
    raise KeyError(f"no {member} within")


@contextmanager
def unpacked(path: Path) -> Iterator[Path]:
    """Unpack an archive's folder to one that lives as long as this; a folder stays as it is."""
    if path.suffix != ".zip":
        yield path
        return
    with tempfile.TemporaryDirectory() as target:
        try:
            with zipfile.ZipFile(path) as archive:
                if sum(entry.file_size for entry in archive.infolist()) > _MOST:
                    raise ValueError(f"it holds more than {_MOST:,} bytes")
                archive.extractall(target)  # writes nothing outside, and no links
            (folder,) = Path(target).iterdir()
        except (OSError, ValueError, zipfile.BadZipFile) as error:
            raise DataError(str(path), f"cannot be unpacked: {error}") from None
        yield folder


def _flatten(content: Any, *names: str) -> Iterator[tuple[Any, ...]]:
    if isinstance(content, list):
        content = {str(at): item for at, item in enumerate(content)}
    if not isinstance(content, dict):
        yield (*names, content)
        return
    for name, item in content.items():
        yield from _flatten(item, *names, name)


def _select(path: Path, values: dict[str, str], layout: dict[str, Any]) -> pd.DataFrame:
    """Keep the rows and columns of a layout, by our names."""
    table = _read(path, layout.get("member")).assign(**values)
    columns = {ours: theirs.removesuffix("?") for ours, theirs in layout["columns"].items()}
    optional = {theirs[:-1] for theirs in layout["columns"].values() if theirs.endswith("?")}
    needed = {*columns.values(), *layout.get("keep", {}), *layout.get("unlike", {})}
    if missing := sorted(needed - set(table) - optional):
        known = ", ".join(map(str, table.columns[:12]))
        raise DataError(str(path), f"{_LAID_OUT}: no {', '.join(missing)}; it has {known}")
    for column, kept in layout.get("keep", {}).items():
        table = table[table[column].isin(kept)]
    for column, other in layout.get("unlike", {}).items():
        table = table[table[column].notna() & (table[column] != table[other])]
    return table.reindex(columns=list(columns.values())).set_axis(list(columns), axis=1)
