"""What others published: datasets, fetched into the folder that `NBBIAS_DATA` names, and figures.

The figures that the papers print are shipped, to stand beside ours.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from nbbias.tables.errors import DataError
from nbbias.tables.packages import require_packages
from nbbias.tables.paths import data_path
from nbbias.tables.provenance import file_sha256

VARIABLE = "NBBIAS_DATA"


def folder() -> Path:
    """Return the data folder, or say how to name one."""
    if not os.environ.get(VARIABLE):
        raise DataError(VARIABLE, f"is not set; try: export {VARIABLE}=$HOME/nbbias-data")
    return Path(os.environ[VARIABLE]).expanduser()


def _files() -> pd.DataFrame:
    return pd.read_csv(data_path("datasets.csv"), dtype="str")


def catalogue() -> pd.DataFrame:
    """Return the datasets, one row each: `name`, `study`, `licence`, `about`, `here`.

    `here` tells whether every file of the dataset lies in the data folder.

    Examples
    --------
    >>> list(catalogue())
    ['name', 'study', 'licence', 'about', 'here']
    """
    files = _files()
    paths = files["name"] + "/" + files["file"]
    files["here"] = [bool(os.environ.get(VARIABLE)) and (folder() / p).is_file() for p in paths]
    grouped = files.groupby("name", sort=False)
    table = grouped[["study", "licence", "about"]].first()
    return table.assign(here=grouped["here"].all()).reset_index()


def fetch(name: str, *, progressbar: bool = False) -> Iterator[tuple[Path, str]]:
    """Download a dataset's files; files that are there, with the right checksum, stay.

    Parameters
    ----------
    name
        A dataset of `catalogue`.
    progressbar
        Show one per file.

    Yields
    ------
    (Path, str)
        Where the file lies, and whether its checksum was compared with the publisher's.

    Raises
    ------
    DataError
        No such dataset, no network, no right to write, or a file that is not the one it was.
    """
    files = _files()
    rows = files[files["name"] == name]
    if rows.empty:
        raise DataError(name, f"no such dataset; there is: {', '.join(files['name'].unique())}")
    require_packages("pooch", where=f"nbbias data fetch {name}")
    target = folder() / name
    for row in rows.itertuples():
        yield _fetch_file(target / row.file, row.url, row.sha256, progressbar)


def _fetch_file(path: Path, url: str, sha256: str | float, progressbar: bool) -> tuple[Path, str]:
    import pooch
    import requests

    logging.getLogger("pooch").setLevel(logging.ERROR)
    where, expected = f"{path.parent.name}/{path.name}", sha256 if isinstance(sha256, str) else None
    known = f"sha256:{expected}" if expected else None
    try:
        pooch.retrieve(url, known, fname=path.name, path=path.parent, progressbar=progressbar)
    except requests.RequestException:
        reason = f"cannot be reached at {url}; where there is no network, put the file at {path}"
        raise DataError(where, reason) from None
    except ValueError:
        reason = f"is not the file that was published (SHA-256 {expected}), and is not kept"
        raise DataError(where, reason) from None
    unknown = f"not checked: no checksum was published (SHA-256 {file_sha256(path)})"
    return path, "checksum equals the publisher's" if expected else unknown


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
