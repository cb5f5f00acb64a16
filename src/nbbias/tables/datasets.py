"""Fetch public datasets from their publishers into the folder named by `NBBIAS_DATA`."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from nbbias.tables import files as outputs
from nbbias.tables.errors import DataError
from nbbias.tables.packages import require_packages
from nbbias.tables.paths import data_path
from nbbias.tables.provenance import file_sha256

VARIABLE = "NBBIAS_DATA"
_RECORD = "checksums.json"


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
    base = Path(os.environ.get(VARIABLE, "")) if os.environ.get(VARIABLE) else None
    files["here"] = [
        base is not None and (base / row.name_ / row.file).is_file()
        for row in files.rename(columns={"name": "name_"}).itertuples()
    ]
    grouped = files.groupby("name", sort=False)
    table = grouped[["study", "licence", "about"]].first()
    return table.assign(here=grouped["here"].all()).reset_index()


def fetch(name: str, *, progressbar: bool = False) -> Iterator[tuple[Path, str]]:
    """Download a dataset's files; files that are there with the right checksum stay.

    Parameters
    ----------
    name
        A dataset of `catalogue`.
    progressbar
        Show one per file.

    Yields
    ------
    (Path, str)
        Where the file lies, and what its checksum was compared with.

    Raises
    ------
    DataError
        No such dataset, no network, no right to write, or a file that is not the one it was.
    """
    files = _files()
    names = list(files["name"].unique())
    if name not in names:  # which may be no UTF-8
        raise DataError(name, f"no such dataset; there is: {', '.join(names)}")
    require_packages("pooch", where=f"nbbias data fetch {name}")
    chosen = files[files["name"] == name]
    base = folder()
    logging.getLogger("pooch").setLevel(logging.ERROR)
    for row in chosen.itertuples():
        yield _fetch_one(base / name / row.file, row.url, row.sha256, base, progressbar)


def _fetch_one(
    target: Path, url: str, published: str | float, base: Path, progressbar: bool
) -> tuple[Path, str]:
    import pooch
    import requests

    key = target.relative_to(base).as_posix()
    recorded = _recorded(base)
    expected = published if isinstance(published, str) else recorded.get(key)
    try:
        pooch.retrieve(
            url,
            known_hash=f"sha256:{expected}" if expected else None,
            fname=target.name,
            path=target.parent,
            progressbar=progressbar,
        )
    except requests.RequestException:
        raise DataError(
            key, f"cannot be reached at {url}; where there is no network, put the file at {target}"
        ) from None
    except ValueError:
        raise DataError(
            key,
            f"is not the file that was published or fetched first (SHA-256 {expected}); "
            f"remove {target} and its line in {base / _RECORD} to accept the new one",
        ) from None
    except OSError as error:
        raise DataError(key, f"cannot be written to {target}: {error.strerror}") from None
    if expected:
        source = "the publisher's" if isinstance(published, str) else "the first download's"
        return target, f"checksum equals {source}"
    recorded[key] = file_sha256(target)
    outputs.write(base / _RECORD, json.dumps(recorded, indent=2, sort_keys=True) + "\n")
    return target, "not checked: no checksum is known; this one is recorded for the next time"


def _recorded(base: Path) -> dict[str, str]:
    try:
        return json.loads((base / _RECORD).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
