"""What others published: datasets, fetched into the folder that `NBBIAS_DATA` names, and figures.

The figures that the papers print are shipped, to stand beside ours.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from nbbias.tables.errors import DataError
from nbbias.tables.layouts import VARIABLE, layouts, write_table
from nbbias.tables.packages import require_packages
from nbbias.tables.paths import data_path
from nbbias.tables.provenance import file_sha256


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
    table = grouped[["study", "licence", "about"]].first()
    base = folder() if os.environ.get(VARIABLE) else Path(os.devnull)
    paths = {
        name: _tables(str(name)) or [f"{name}/{file}" for file in files]
        for name, files in grouped["file"]
    }
    here = [all((base / path).is_file() for path in of) for of in paths.values()]
    return table.assign(here=here).reset_index()


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
    rows = files[files["name"] == name]
    if rows.empty:
        raise DataError(name, f"no such dataset; there is: {', '.join(files['name'].unique())}")
    require_packages("pooch", where=f"nbbias data fetch {name}")
    parts = []
    for row in rows.fillna("").to_dict("records"):
        path = folder() / name / row["file"]
        if row["account"] and not path.is_file():
            reason = f"{row['account']} asks for an account: download {path.name} at {row['url']}"
            raise DataError(name, f"{reason}, put it at {path}, and repeat this command")
        yield _fetch_file(path, row["url"], row["sha256"], progressbar)
        parts.append((path, dict(one.split("=") for one in row["set"].split(";") if one)))
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
    known = f"sha256:{sha256}" if sha256 else None
    try:
        pooch.retrieve(url, known, fname=path.name, path=path.parent, progressbar=progressbar)
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
