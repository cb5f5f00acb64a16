"""Costly stages of a study, kept on disk under the hash of what they were made from.

A run with another figure setting, or another level of its intervals, scores nothing again. The key
is the hash of the arguments, of the source that measures and of the versions of all that can move
a number: nothing stale is ever read, and a changed label measures nothing anew. Only runs keep
stages (`NBBIAS_CACHE` names the folder, or is ``off``): a function called from elsewhere works as
if it were not decorated, unless it is one that is `always` kept.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import logging
import os
import re
import time
import typing
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from types import MappingProxyType
from typing import Any, ParamSpec, TypeVar, cast, overload

import joblib
import pandas as pd
from platformdirs import user_cache_path

from nbbias.tables import files, packed
from nbbias.tables.errors import DataError
from nbbias.tables.paths import others_write
from nbbias.tables.provenance import measuring_version

P = ParamSpec("P")
T = TypeVar("T")

_KEPT = timedelta(days=30)

#: Files of ours in the folder, those that were never finished too; it may hold others.
_ENTRY = re.compile(r"\.?\w+-[0-9a-f]{32}\.stage(\.\w+)?")

log = logging.getLogger("nbbias")


def default_cache() -> str:
    """Return what a run sets `NBBIAS_CACHE` to, unless the user has: a folder of the user's own.

    Raises
    ------
    DataError
        The folder is not the user's alone.

    Examples
    --------
    >>> isinstance(default_cache(), str)
    True
    """
    named = os.environ.get("NBBIAS_CACHE")
    if not named:
        own = user_cache_path("nbbias")
        named = str(own / "stages") if own.is_absolute() else "off"  # of a user without a home
    if named != "off" and Path(named).is_dir():
        _of_the_user_alone(Path(named))
    return named


def _of_the_user_alone(folder: Path) -> None:
    """Refuse a folder into which others can put what would be read as ours."""
    if told := others_write(folder):
        raise DataError(
            str(folder),
            f"keeps results between runs, but {told}; use a folder of your own, or "
            "name one by NBBIAS_CACHE (off keeps nothing)",
        )


@overload
def stage(function: Callable[P, T]) -> Callable[P, T]: ...


@overload
def stage(
    *, whole: Callable[..., bool] | None = None, always: bool = False
) -> Callable[[Callable[P, T]], Callable[P, T]]: ...


def stage(
    function: Callable[..., Any] | None = None,
    *,
    whole: Callable[..., bool] | None = None,
    always: bool = False,
) -> Any:
    """Keep what a function returns, under the hash of what it was given.

    The function must depend on its arguments alone: files and weights that it reads by name are
    stamped by `stamp` and given as an argument. What it returns is of the type that it is said to
    return, and of what `packed.pack` takes. A kept file that is cut, damaged, of another type or
    not `whole` (called with what was kept, then the arguments) is told once, removed, and made
    anew. What is kept `always` is kept outside of runs, too.

    Examples
    --------
    >>> @stage
    ... def squares(n: int) -> list[int]:
    ...     return [i * i for i in range(n)]
    >>> squares(3)
    [0, 1, 4]
    """
    if function is None:
        return functools.partial(stage, whole=whole, always=always)

    @functools.wraps(function)
    def kept(*args: Any, **kwargs: Any) -> Any:
        folder = os.environ.get("NBBIAS_CACHE", "") or (default_cache() if always else "")
        return keep(function, args, kwargs, folder=folder, whole=whole)

    return kept


def keep(
    function: Callable[..., T],
    args: Sequence[Any],
    kwargs: Mapping[str, Any] = MappingProxyType({}),
    *,
    folder: str,
    whole: Callable[..., bool] | None = None,
) -> T:
    """Call a function, or return what is kept in a folder of what it made of the same arguments.

    Nothing is kept where the folder is ``""`` or ``"off"``; otherwise as of `stage`.

    Examples
    --------
    >>> keep(sorted, ([2, 1],), folder="off")
    [1, 2]
    """
    if folder in {"", "off"}:
        return function(*args, **kwargs)
    given = [measuring_version(function.__module__), function.__module__, list(args), dict(kwargs)]
    name = f"{function.__name__}-{digest(given)}.stage"
    try:
        entry = _opened(folder) / name
    except OSError:  # a full or foreign disk costs time, not the run
        return function(*args, **kwargs)
    kind = typing.get_type_hints(function).get("return", Any)
    found = _read(entry, kind, lambda it: whole is None or whole(it, *args, **kwargs))
    if found:
        return cast(T, found[0])
    made = function(*args, **kwargs)
    try:
        content = packed.pack(made)
        with contextlib.suppress(OSError):
            files.write(entry, _seal(name, content) + content)
    except TypeError as error:
        log.warning("%s is made in every run: %s", function.__name__, error)
    return made


@functools.cache
def _opened(folder: str) -> Path:
    """Open the folder, which is the user's alone; what nobody has used for a month goes."""
    path = Path(folder)
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    _of_the_user_alone(path)
    oldest = time.time() - _KEPT.total_seconds()
    for one in path.iterdir():
        if _ENTRY.fullmatch(one.name) and one.lstat().st_mtime < oldest:
            one.unlink(missing_ok=True)  # another process may have been first
    return path


def _seal(name: str, content: bytes) -> bytes:
    """Return the hash that a kept file begins with: of its name too, since files can be renamed."""
    return hashlib.sha256(name.encode() + b"\0" + content).digest()


def _read(entry: Path, kind: Any, whole: Callable[[Any], bool]) -> list[Any]:
    """Return what is kept in a list, or an empty one: nothing is, or nothing that can be used."""
    try:
        data = entry.read_bytes()
    except OSError:
        return []
    try:
        seal, content = data[:32], data[32:]
        if seal != _seal(entry.name, content):
            raise ValueError("its hash is another")
        found = packed.unpack(content, kind)
        if not whole(found):
            raise ValueError("its numbers are not what they must be")
    except Exception as error:  # whatever damage does to a reader
        log.warning("%s: was damaged (%s) and is removed; it is made anew", entry, error)
        with contextlib.suppress(OSError):
            entry.unlink()
        return []
    with contextlib.suppress(OSError):
        os.utime(entry)  # used today
    return [found]


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
        if value.dtype == object and any(type(one) is list for one in value):
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
