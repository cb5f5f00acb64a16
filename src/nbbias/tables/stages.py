"""Costly stages of a study, kept on disk under the hash of what they were made from.

A run with another setting of figures, or another level of its intervals, scores nothing again. The
key is the hash of the arguments, of the source that measures and of the versions of all packages
that can change a number, so nothing outdated is read. Only runs keep stages (`NBBIAS_CACHE` names
the folder, or is ``off``): elsewhere a function works as if it were not decorated, unless it is
one that is `always` kept. A kept file is Parquet, NumPy arrays and JSON: reading it runs no code.
"""

from __future__ import annotations

import contextlib
import functools
import json
import logging
import os
import re
import time
import zipfile
from collections.abc import Callable, Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import joblib
import numpy as np
import pandas as pd
from platformdirs import user_cache_path

from nbbias.tables import files
from nbbias.tables.errors import DataError
from nbbias.tables.paths import others_write
from nbbias.tables.provenance import measuring_version

P = ParamSpec("P")
T = TypeVar("T")

_MONTH = 30 * 24 * 3600

#: Our files in the folder, unfinished ones too; it may hold others.
_ENTRY = re.compile(r"\.?\w+-[0-9a-f]{32}\.stage(\.\w+)?")

log = logging.getLogger("nbbias")


def default_cache() -> str:
    """Return what a run sets `NBBIAS_CACHE` to, unless the user has: a folder of the user alone.

    Raises
    ------
    DataError
        Others can write to the folder.

    Examples
    --------
    >>> isinstance(default_cache(), str)
    True
    """
    if not (name := os.environ.get("NBBIAS_CACHE")):
        base = user_cache_path("nbbias")
        name = str(base / "stages") if base.is_absolute() else "off"  # of a user without a home
    if name != "off" and Path(name).is_dir():
        _require_private(Path(name))
    return name


def _require_private(folder: Path) -> None:
    """Refuse a folder into which others can put files."""
    if reason := others_write(folder):
        advice = "use a folder of your own, or name one by NBBIAS_CACHE (off keeps nothing)"
        raise DataError(str(folder), f"keeps results between runs, but {reason}; {advice}")


def stage(function: Callable[P, T], *, always: bool = False) -> Callable[P, T]:
    """Cache a function's result under the hash of its arguments.

    The function must depend on its arguments alone: files and weights that it reads by name are
    stamped by `stamp` and given as an argument. It returns a DataFrame, a Series, an array, a
    plain value, or lists and dicts (by text) of these; tuples come back as lists. A kept file that
    is damaged is removed with a warning and made anew. What is kept `always` is kept outside of
    runs, too.

    Examples
    --------
    >>> @stage
    ... def squares(n: int) -> list[int]:
    ...     return [i * i for i in range(n)]
    >>> squares(3)
    [0, 1, 4]
    """

    @functools.wraps(function)
    def staged(*args: P.args, **kwargs: P.kwargs) -> T:
        folder = os.environ.get("NBBIAS_CACHE", "") or (default_cache() if always else "")
        return load_or_call(function, args, kwargs, folder=folder)

    return staged


def load_or_call(
    function: Callable[..., T], args: Sequence[Any], kwargs: Mapping[str, Any], *, folder: str
) -> T:
    """Return what a folder keeps of a call, or call the function and keep what it returns.

    Nothing is kept where the folder is ``""`` or ``"off"``; otherwise as `stage` does.

    Examples
    --------
    >>> load_or_call(sorted, ([2, 1],), {}, folder="off")
    [1, 2]
    """
    if folder in {"", "off"}:
        return function(*args, **kwargs)
    key = [measuring_version(function.__module__), function.__module__, [*args], {**kwargs}]
    try:
        entry = _open_folder(folder) / f"{function.__name__}-{digest(key)}.stage"
    except OSError:  # a full or foreign disk costs time, not the run
        return function(*args, **kwargs)
    with contextlib.suppress(OSError):
        if entry.is_file():
            try:
                result: T = _unpack(entry.read_bytes())
            except Exception as error:  # whatever damage does to a reader
                log.warning("%s: was damaged (%s); it is removed and made anew", entry, error)
                entry.unlink()
            else:
                os.utime(entry)  # used today
                return result
    result = function(*args, **kwargs)
    try:
        content = _pack(result)
    except (TypeError, ValueError) as error:
        log.warning("%s is made in every run: %s", function.__name__, error)
        return result
    with contextlib.suppress(OSError):
        files.write(entry, content)
    unpacked: T = _unpack(content)  # what later runs read, to the kind of each column
    return unpacked


@functools.cache
def _open_folder(folder: str) -> Path:
    """Return the folder, which is the user's alone, without what nobody used for a month."""
    path = Path(folder)
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    _require_private(path)
    for entry in path.iterdir():
        if _ENTRY.fullmatch(entry.name) and entry.lstat().st_mtime < time.time() - _MONTH:
            entry.unlink(missing_ok=True)  # another process may have been first
    return path


def _pack(value: Any) -> bytes:
    """Write a value as a zip of one JSON tree, and a file for each table and array in it."""
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:

        def encode(part: Any) -> Any:
            """Write what JSON has no kind for into a file, and return what stands for it."""
            if isinstance(part, pd.Series):
                return {"$series": part.name, "values": part.to_frame("value")}
            name, member = str(len(archive.namelist())), BytesIO()
            if isinstance(part, pd.DataFrame):
                part.to_parquet(member)
            elif isinstance(part, np.ndarray):
                np.save(member, part, allow_pickle=False)
            else:
                raise TypeError(f"{type(part).__name__} cannot be kept")
            archive.writestr(name, member.getvalue())
            return {"$parquet" if isinstance(part, pd.DataFrame) else "$npy": name}

        archive.writestr("tree.json", json.dumps(value, default=encode))
    return buffer.getvalue()


def _unpack(content: bytes) -> Any:
    """Read what `_pack` wrote."""
    with zipfile.ZipFile(BytesIO(content)) as archive:

        def decode(part: dict[str, Any]) -> Any:
            """Return what an object of the tree stands for; the objects in it are decoded."""
            if "$parquet" in part:
                return pd.read_parquet(BytesIO(archive.read(part["$parquet"])))
            if "$npy" in part:
                return np.load(BytesIO(archive.read(part["$npy"])), allow_pickle=False)
            return part["values"]["value"].rename(part["$series"]) if "$series" in part else part

        return json.loads(archive.read("tree.json"), object_hook=decode)


def digest(value: Any) -> str:
    """Hash a value by its content: two tables that are equal have one hash, however they were made.

    Examples
    --------
    >>> digest(pd.DataFrame({"a": [1]})) == digest(pd.DataFrame({"a": [1]}))
    True
    >>> digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1})
    True
    """
    if isinstance(value, pd.DataFrame):
        return joblib.hash(["frame", list(map(str, value)), [digest(value[n]) for n in value]])
    if isinstance(value, pd.Series):
        hashed = pd.util.hash_pandas_object(value, index=True).to_numpy()
        return joblib.hash(["series", str(value.dtype), str(value.name), hashed])
    if isinstance(value, dict):
        return joblib.hash([(str(k), digest(v)) for k, v in sorted(value.items())])
    if isinstance(value, list | tuple):
        return joblib.hash([type(value).__name__, *map(digest, value)])
    return joblib.hash(value)


def stamp(name: str) -> str:
    """Tell versions of a file or folder apart by name, size and time; a plain name is itself.

    Examples
    --------
    >>> stamp("no file of this name")
    'no file of this name'
    """
    if not (path := Path(name)).exists():
        return name
    paths = sorted(path.rglob("*")) if path.is_dir() else [path]
    status = [(str(p), p.stat().st_size, p.stat().st_mtime_ns) for p in paths if p.is_file()]
    return f"{name} {joblib.hash(status)}"
