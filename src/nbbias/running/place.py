"""A run's place: the run is made in a hidden folder beside it and takes it when it is whole.

Whoever is killed, at whatever moment, leaves the last good run or the new one, whole: the two
change places in one step. What lies hidden after that, `tidy` takes away.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
import secrets
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from nbbias.pages import manifest, share
from nbbias.params import FAILED
from nbbias.tables import NbbiasError

#: What a run makes in its folder. All else there is the user's, and goes along.
_OF_A_RUN = (
    manifest.NAME,
    share.PARAMS,
    "notebook.ipynb",
    "index.html",
    "finding.json",
    "tables",
    "figures",
)

#: A folder in which a run is made, and one in which it changes places with the last.
_HIDDEN = re.compile(r"\.(.+)\.[0-9a-f]{8}\.(new|old)")


@contextlib.contextmanager
def held(place: Path) -> Iterator[None]:
    """Hold a place, or refuse it if another process does; a process that is dead holds none."""
    folder = place.resolve()
    lock = FileLock(folder.with_name(f".{folder.name}.lock"))
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        lock.acquire(timeout=0)
    except Timeout:
        told = "is being made by another nbbias run; wait for it, or give this one a --name"
        raise NbbiasError(str(place), told) from None
    except OSError as error:  # some have no file's name
        raise NbbiasError(str(place), f"cannot be locked: {error.strerror or error}") from None
    try:
        yield
    finally:
        lock.release()


def beside(place: Path) -> Path:
    """Make a hidden folder in which a run for a place is made."""
    folder = place.resolve()
    made = folder.with_name(f".{folder.name}.{secrets.token_hex(4)}.new")
    made.mkdir(parents=True)
    return made


def good(place: Path) -> dict[str, Any] | None:
    """Return the manifest of the finished run in a place, or None."""
    described = manifest.read(place)
    return described if described and described["status"] == "ok" else None


def failed(place: Path) -> Path:
    """Return where a failed run is kept when the last good one holds its place."""
    return place.with_name(place.name + FAILED)


def keep(made: Path, place: Path, *, whole: bool) -> Path:
    """Let a run that has ended take its place, if it is whole or none there is; return where it is.

    Otherwise it is kept beside, under a name that says so.
    """
    if not whole and good(place):
        place = failed(place)
    here = Path.cwd()
    _take(made, place.resolve())
    os.chdir(here)  # whoever stands in the place does so still
    if whole:
        _clear(failed(place))
    return place


def tidy(out: Path) -> None:
    """Take away what runs that were killed left hidden; what is being made stays."""
    for left in sorted(out.glob("*/.*.*.*")):
        found = _HIDDEN.fullmatch(left.name)
        if not found or not left.is_dir():
            continue
        place = left.with_name(found[1])
        # What another process holds is being made.
        with contextlib.suppress(NbbiasError), held(place):
            if left.name.endswith(".new"):
                shutil.rmtree(left, ignore_errors=True)
            elif place.exists():
                _carry(left, place)
            else:  # killed between two steps, where there is no single one
                left.rename(place)


def _take(made: Path, place: Path) -> None:
    """Let a finished folder take a place; what the user kept there goes along."""
    if not place.exists():
        made.rename(place)
        return
    aside = made.with_suffix(".old")
    made.rename(aside)  # from here on `tidy` knows that it may hold what is the user's
    try:
        _exchange(aside, place)
    except OSError:
        aside.rename(made)
        place.rename(aside)
        try:
            made.rename(place)
        except OSError:
            aside.rename(place)
            raise
    _carry(aside, place)


def _exchange(one: Path, other: Path) -> None:
    """Let two folders change places in one step; not every system and file system can."""
    paths = os.fsencode(one), os.fsencode(other)
    here, swap = -100, 2  # AT_FDCWD; RENAME_EXCHANGE on Linux and RENAME_SWAP on macOS
    try:
        libc = ctypes.CDLL(None, use_errno=True)
        if sys.platform == "darwin":
            refused = libc.renamex_np(*paths, swap)
        else:
            refused = libc.renameat2(here, paths[0], here, paths[1], swap)
    except (AttributeError, TypeError) as error:
        raise OSError("this system has no such step") from error
    if refused:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def _carry(old: Path, place: Path) -> None:
    """Move what no run made from an old folder to the place, and take the old one away."""
    for path in sorted(old.iterdir()):
        if path.name not in _OF_A_RUN and not os.path.lexists(place / path.name):
            path.rename(place / path.name)
    shutil.rmtree(old, ignore_errors=True)


def _clear(folder: Path) -> None:
    """Take away what a run left in a folder, first its manifest, and the folder if that is all."""
    for name in _OF_A_RUN:
        path = folder / name
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    if folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()
