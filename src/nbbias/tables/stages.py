"""Costly stages of a study, kept on disk under the hash of what they were made from.

A run with another figure setting, or another level of its intervals, scores nothing again. The key
is the hash of the arguments, of the source that measures and of the versions of all that can move
a number: nothing stale is ever read, and a changed label measures nothing anew. Only runs keep
stages (`NBBIAS_CACHE` names the folder, or is ``off``): a function called from elsewhere works as
if it were not decorated.
"""

from __future__ import annotations

import functools
import logging
import os
import warnings
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import joblib
import pandas as pd
from platformdirs import user_cache_path

from nbbias.tables.provenance import measuring_version

P = ParamSpec("P")
T = TypeVar("T")

_KEPT = timedelta(days=30)


def default_cache() -> str:
    """Return what a run sets `NBBIAS_CACHE` to, unless the user has: a folder of the user's own.

    It holds pickles, so it is no part of what a run leaves behind and may be passed on.

    Examples
    --------
    >>> isinstance(default_cache(), str)
    True
    """
    return os.environ.get("NBBIAS_CACHE") or str(user_cache_path("nbbias") / "stages")


def stage(function: Callable[P, T]) -> Callable[P, T]:
    """Keep what a function returns, under the hash of what it was given.

    The function must depend on its arguments alone: files and weights that it reads by name are
    stamped by `stamp` and given as an argument.

    Examples
    --------
    >>> @stage
    ... def squares(n: int) -> list[int]:
    ...     return [i * i for i in range(n)]
    >>> squares(3)
    [0, 1, 4]
    """
    package = function.__module__.removeprefix("nbbias.").split(".")[0]

    @functools.wraps(function)
    def kept(*args: P.args, **kwargs: P.kwargs) -> T:
        folder = os.environ.get("NBBIAS_CACHE", "")
        if folder in {"", "off"}:
            return function(*args, **kwargs)
        given = [measuring_version(package), function.__module__, list(args), kwargs]
        key = f"{function.__qualname__} {digest(given)}"
        try:
            return _kept(folder)(key, lambda: function(*args, **kwargs))
        except OSError:  # a full or foreign disk costs time, not the run
            return function(*args, **kwargs)

    return kept


@functools.cache
def _kept(folder: str) -> Callable[[str, Callable[[], T]], T]:
    """Open the folder; what nobody has used for a month goes.

    What cannot be kept, or read again, is no matter of the notebook: nothing is printed into it.
    """
    logging.getLogger("joblib").setLevel(logging.ERROR)
    warnings.filterwarnings("ignore", message="Unable to cache to disk")
    memory = joblib.Memory(folder, compress=1, verbose=0)
    memory.reduce_size(age_limit=_KEPT)
    return memory.cache(_make, ignore=["make"])


def _make(key: str, make: Callable[[], T]) -> T:
    return make()


def digest(value: Any) -> str:
    """Hash a value by its content: two tables that are equal have one hash, however they were made.

    What is no table, list, tuple, dict or plain value says what it consists of by a method `parts`.

    Examples
    --------
    >>> digest(pd.DataFrame({"a": [1]})) == digest(pd.DataFrame({"a": [1]}))
    True
    >>> digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1})
    True
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
    """Tell versions of a file or folder apart by name, size and time; a plain name is itself.

    Examples
    --------
    >>> stamp("no file of this name")
    'no file of this name'
    """
    path = Path(name)
    if not path.exists():
        return name
    files = sorted(path.rglob("*")) if path.is_dir() else [path]
    seen = [(str(f), f.stat().st_size, f.stat().st_mtime_ns) for f in files if f.is_file()]
    return f"{name} {joblib.hash(seen)}"
