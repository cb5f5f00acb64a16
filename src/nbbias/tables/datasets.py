"""What others published: datasets, fetched into the folder that `NBBIAS_DATA` names, and figures.

Of a dataset's files, as its publisher lays them out, the tables are made that params files read:
what each is made of stands in ``data/layouts.yaml``. The figures that the papers print are
shipped, to stand beside ours.
"""

from __future__ import annotations

import io
import itertools
import json
import os
import re
import tarfile
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from nbbias.tables.columns import ONE_SOURCE
from nbbias.tables.errors import DataError
from nbbias.tables.files import write_parquet
from nbbias.tables.packages import require_packages
from nbbias.tables.paths import data_path
from nbbias.tables.provenance import file_sha256
from nbbias.tables.read import ONLY_EMPTY, parse_json, read_shipped_yaml

VARIABLE = "NBBIAS_DATA"

#: Bytes of a file within an archive, at most.
_MOST = 2**30

#: RuntimeError: encrypted, packed in an unknown way, or nested too deeply.
_DAMAGED = (tarfile.TarError, zipfile.BadZipFile, zlib.error, RuntimeError)

_LAID_OUT = "is not laid out as it was when this version of nbbias was made"


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


def folder() -> Path:
    """Return the data folder, or say how to name one."""
    if not os.environ.get(VARIABLE):
        raise DataError(VARIABLE, f"is not set; try: export {VARIABLE}=$HOME/nbbias-data")
    return Path(os.environ[VARIABLE]).expanduser()


def _files() -> pd.DataFrame:
    return pd.read_csv(data_path("datasets.csv"), dtype="str")


def _tables(name: str) -> list[str]:
    """Return the tables that params files read of a dataset; none where they read its files."""
    return [table for table, layout in layouts().items() if layout["dataset"] == name]


def catalogue() -> pd.DataFrame:
    """Return the datasets, one row each: `name`, `study`, `licence`, `about`, `here`.

    `here` tells whether all that params files read of the dataset lies in the data folder.

    Examples
    --------
    >>> list(catalogue())
    ['name', 'study', 'licence', 'about', 'here']
    """
    grouped = _files().groupby("name", sort=False)
    base = folder() if os.environ.get(VARIABLE) else Path(os.devnull)
    here = [
        all((base / path).is_file() for path in _tables(str(name)) or f"{name}/" + files)
        for name, files in grouped["file"]
    ]
    return grouped[["study", "licence", "about"]].first().assign(here=here).reset_index()


def fetch(name: str, *, progressbar: bool = False) -> Iterator[tuple[Path, str]]:
    """Download a dataset's files, and make of them the tables that params files read.

    Files that are there, with the right checksum, stay, and so do tables.

    Parameters
    ----------
    name
        A dataset of `catalogue`.
    progressbar
        Show one per file.

    Yields
    ------
    (Path, str)
        Where a file lies, and whether its checksum was compared with the publisher's; then each
        table, and its number of rows.

    Raises
    ------
    DataError
        No such dataset, no network, no right to write, or a file that is not the one it was, or
        not laid out as it was.
    """
    files = _files()
    if (rows := files[files["name"] == name]).empty:
        raise DataError(name, f"no such dataset; there is: {', '.join(files['name'].unique())}")
    require_packages("pooch", where=f"nbbias data fetch {name}")
    parts = []
    for row in rows.fillna("").to_dict("records"):
        path = folder() / name / row["file"]
        if row["account"] and not path.is_file():
            reason = f"{row['account']} asks for an account: download {path.name} at {row['url']}"
            raise DataError(name, f"{reason}, put it at {path}, and repeat this command")
        yield _fetch_file(path, row["url"], row["sha256"], progressbar)
        parts.append((path, dict(pair.split("=") for pair in row["set"].split(";") if pair)))
    for table in _tables(name):
        path = folder() / table
        if path.is_file():
            yield path, "was there, and stays; delete it to make it anew"
        else:
            yield path, f"{write_table(table, parts, path):,} rows, which params files read"


def _fetch_file(path: Path, url: str, sha256: str, progressbar: bool) -> tuple[Path, str]:
    import pooch
    import requests

    pooch.get_logger().setLevel("ERROR")
    where = f"{path.parent.name}/{path.name}"
    digest = f"sha256:{sha256}" if sha256 else None
    try:
        pooch.retrieve(url, digest, fname=path.name, path=path.parent, progressbar=progressbar)
    except requests.RequestException:
        reason = f"cannot be reached at {url}; where there is no network, put the file at {path}"
        raise DataError(where, reason) from None
    except ValueError:
        reason = f"is not the file that was published (SHA-256 {sha256}), and is not kept"
        raise DataError(where, reason) from None
    unknown = f"not checked: no checksum was published (SHA-256 {file_sha256(path)})"
    return path, "checksum equals the publisher's" if sha256 else unknown


def read_published(name: str) -> pd.DataFrame:
    """Return a paper's printed figures as a table.

    Parameters
    ----------
    name
        A file of ``data/published``, such as ``"oketunji2023"``.

    Examples
    --------
    >>> len(read_published("oketunji2023"))
    18
    """
    return pd.read_csv(data_path(f"published/{name}.csv"))


# --- tables of publishers' files ----------------------------------------------------------------


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
    table = pd.concat([_select(*file, layout) for file in files], ignore_index=True)
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
    write_parquet(table, target)
    return len(table)


def _read(path: Path, layout: dict[str, Any]) -> pd.DataFrame:
    """Read a publisher's file as text; objects of JSON by the names at each level."""
    try:
        if path.suffix == ".zip":
            return _read_release(path, layout["members"])
        if path.suffix == ".gz":
            lines = pd.read_json(path, lines=True, dtype=False)
            return pd.json_normalize(lines.to_dict("records")).astype("str")
        if path.suffix == ".json":
            rows = list(_flatten(json.loads(path.read_text(encoding="utf-8"))))
            last = {len(rows[0]) - 1: "value"}
            return pd.DataFrame(rows).rename(columns=last).rename(columns=str)
        file = _extract(path, layout["member"]) if "member" in layout else path
        return pd.read_csv(file, dtype="str", encoding_errors="replace", **ONLY_EMPTY)
    except (ValueError, OSError, EOFError, LookupError, *_DAMAGED) as error:
        raise DataError(str(path), f"{_LAID_OUT}: {error}") from None


def _extract(path: Path, member: str) -> io.BytesIO:
    """Return a file within an archive, to a bound and without links."""
    with tarfile.open(path) as archive:
        for entry in archive:
            if entry.isfile() and Path(entry.name).name == member and entry.size <= _MOST:
                return io.BytesIO(archive.extractfile(entry).read())  # type: ignore[union-attr]
    raise KeyError(f"no {member} within")


def _read_release(path: Path, members: dict[str, str]) -> pd.DataFrame:
    """Read an archive's files of JSON: a model's texts each, by article or outlet and article."""
    rows = []
    with zipfile.ZipFile(path) as archive:
        if sum(entry.file_size for entry in archive.infolist()) > _MOST:
            raise ValueError(f"it holds more than {_MOST:,} bytes")
        for name, (prompt, pattern) in itertools.product(archive.namelist(), members.items()):
            if match := re.fullmatch(pattern, name):
                texts = list(_flatten(parse_json(archive.read(name).decode("utf-8-sig"))))
                whole = all(isinstance(row[-1], str | None) for row in texts)
                if not whole or {len(row) for row in texts} not in ({2}, {3}):
                    raise ValueError(f"{name} holds neither texts by article nor by outlet")
                rows += [(*(ONE_SOURCE, *row)[-3:], match[1], prompt) for row in texts]
    columns = ["source", "article_id", "text", "model", "prompt"]
    return pd.DataFrame(rows, columns=columns).astype("str")


def _flatten(content: Any, *names: str) -> Iterator[tuple[Any, ...]]:
    if isinstance(content, list):
        content = {str(at): item for at, item in enumerate(content, start=1)}
    if not isinstance(content, dict):
        yield (*names, content)
        return
    for name, item in content.items():
        yield from _flatten(item, *names, name)


def _select(path: Path, values: dict[str, str], layout: dict[str, Any]) -> pd.DataFrame:
    """Keep the rows and columns of a layout, by our names."""
    table = _read(path, layout).assign(**values)
    columns = {ours: theirs.removesuffix("?") for ours, theirs in layout["columns"].items()}
    optional = {theirs[:-1] for theirs in layout["columns"].values() if theirs.endswith("?")}
    needed = {*columns.values(), *layout.get("keep", {}), *layout.get("unlike", {})}
    if missing := sorted(needed - set(table) - optional):
        available = ", ".join(map(str, table.columns[:12]))
        raise DataError(str(path), f"{_LAID_OUT}: no {', '.join(missing)}; it has {available}")
    for column, allowed in layout.get("keep", {}).items():
        table = table[table[column].isin(allowed)]
    for column, other in layout.get("unlike", {}).items():
        table = table[table[column].notna() & (table[column] != table[other])]
    return table.reindex(columns=list(columns.values())).set_axis(list(columns), axis=1)
