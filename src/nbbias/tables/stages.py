"""Costly stages of a study, kept on disk under the hash of what they were made from.

A run with another figure setting, or another level of its intervals, scores nothing again. The key
is the hash of the arguments, of this package's source and of the versions of all that can move a
number; so nothing stale is ever read. Only runs keep stages (`NBBIAS_CACHE` names the folder, or is
``off``): a function called from elsewhere works as if it were not decorated.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import joblib
import pandas as pd
from platformdirs import user_cache_path

P = ParamSpec("P")
T = TypeVar("T")

_KEPT_DAYS = 30


def default_cache() -> str:
    """Return what a run sets `NBBIAS_CACHE` to, unless the user has: a folder of the user's own.

    It holds pickles, so it is no part of what a run leaves behind and may be passed on.
    """
    return os.environ.get("NBBIAS_CACHE") or str(user_cache_path("nbbias") / "stages")


def stage(function: Callable[P, T]) -> Callable[P, T]:
    """Keep what a function returns, under the hash of what it was given.

    The function must depend on its arguments alone: files and weights that it reads by name are
    stamped by `stamp` and given as an argument.
    """

    @functools.wraps(function)
    def kept(*args: P.args, **kwargs: P.kwargs) -> T:
        folder = os.environ.get("NBBIAS_CACHE", "")
        if folder in {"", "off"}:
            return function(*args, **kwargs)
        key = digest([function.__module__, function.__qualname__, list(args), kwargs])
        path = Path(folder) / _version() / f"{function.__name__}-{key}.joblib"
        with contextlib.suppress(Exception):  # missing, cut off or damaged: compute it
            found: T = joblib.load(path)
            return found
        result = function(*args, **kwargs)
        with contextlib.suppress(OSError):  # a full disk costs time, not the run
            _write(path, result)
        return result

    return kept


def _write(path: Path, result: object) -> None:
    if not path.parent.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        _prune(path.parent.parent)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".")
    os.close(handle)
    try:
        joblib.dump(result, temporary, compress=1)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _prune(folder: Path) -> None:
    """Remove what other versions kept and nobody has used for a month."""
    for old in folder.iterdir():
        if old.is_dir() and time.time() - old.stat().st_mtime > _KEPT_DAYS * 86_400:
            shutil.rmtree(old, ignore_errors=True)


@functools.cache
def _version() -> str:
    """Hash this package's source and the versions of what its numbers rest on."""
    from nbbias.pages import manifest

    found = hashlib.sha256(repr(sorted(manifest.versions().items())).encode())
    folder = Path(__file__).parents[1]
    for path in sorted(folder.rglob("*.py")):
        found.update(path.read_bytes())
    return found.hexdigest()[:16]


def digest(value: Any) -> str:
    """Hash a value by its content: two tables that are equal have one hash, however they were made.

    What is no table, list, tuple, dict or plain value says what it consists of by a method `parts`.
    """
    if hasattr(value, "parts"):
        return joblib.hash([type(value).__name__, digest(value.parts())])
    if isinstance(value, pd.DataFrame):
        columns = [digest(value[name]) for name in value]
        return joblib.hash(["frame", list(map(str, value.columns)), columns])
    if isinstance(value, pd.Series):
        if value.map(type).eq(list).any():
            value = value.map("\x1f".join)
        hashed = pd.util.hash_pandas_object(value, index=True).to_numpy()
        return joblib.hash(["series", str(value.dtype), str(value.name), hashed])
    if isinstance(value, dict):
        return joblib.hash([(str(k), digest(v)) for k, v in sorted(value.items())])
    if isinstance(value, list | tuple):
        return joblib.hash([type(value).__name__, *map(digest, value)])
    return joblib.hash(value)


def stamp(name: str) -> str:
    """Tell versions of a file or folder apart by name, size and time; a plain name is itself."""
    path = Path(name)
    if not path.exists():
        return name
    files = sorted(path.rglob("*")) if path.is_dir() else [path]
    seen = [(str(f), f.stat().st_size, f.stat().st_mtime_ns) for f in files if f.is_file()]
    return f"{name} {joblib.hash(seen)}"
