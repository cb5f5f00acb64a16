"""The folder of a run: the run is made in a hidden folder beside it, and takes it when complete.

Two renames exchange them. Whoever is killed, at whatever moment, leaves a complete run in the
folder or hidden beside it, from where `tidy` brings it back.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from nbbias.pages import manifest, share
from nbbias.params import FAILED
from nbbias.tables import NbbiasError

#: What a run writes to its folder. All else there is the user's, and stays.
_WRITTEN = (
    manifest.NAME,
    share.PARAMS,
    "notebook.ipynb",
    "index.html",
    "finding.json",
    "tables",
    "figures",
)
#: A folder in which a run is made, and one that a new run replaces.
_HIDDEN = re.compile(r"\.(.+)\.[0-9a-f]{8}\.(new|old)")


@contextlib.contextmanager
def lock(folder: Path) -> Iterator[None]:
    """Lock a run's folder, or refuse it if another process does; a dead process locks none."""
    place = folder.resolve()
    file = FileLock(place.with_name(f".{place.name}.lock"))
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        file.acquire(timeout=0)
    except Timeout:
        message = "is being made by another nbbias run; wait for it, or give this one a --name"
        raise NbbiasError(str(folder), message) from None
    except OSError as error:  # some have no file's name
        raise NbbiasError(str(folder), f"cannot be locked: {error.strerror or error}") from None
    try:
        yield
    finally:
        file.release()


def create(folder: Path) -> Path:
    """Create the hidden folder in which a run is made."""
    hidden = _hidden(folder.resolve(), "new")
    hidden.mkdir(parents=True)
    return hidden


def _hidden(place: Path, kind: str) -> Path:
    return place.with_name(f".{place.name}.{secrets.token_hex(4)}.{kind}")


def finished(folder: Path) -> dict[str, Any] | None:
    """Return the manifest of the finished run in a folder, or None."""
    description = manifest.read(folder)
    return description if description and description["status"] == "ok" else None


def failed(folder: Path) -> Path:
    """Return where a failed run is kept while the last good one keeps its folder."""
    return folder.with_name(folder.name + FAILED)


def keep(made: Path, folder: Path, *, complete: bool) -> Path:
    """Move a run that has ended to its folder, and return where it is.

    A failed run replaces no finished one; it is kept beside it (`failed`).
    """
    if not complete and finished(folder):
        folder = failed(folder)
    cwd = Path.cwd()
    _replace(folder.resolve(), made)
    os.chdir(cwd)  # whoever stands in the folder stands in the new one
    if complete:
        _remove(failed(folder))
    return folder


def tidy(out: Path) -> None:
    """Remove what killed runs left hidden, and bring back a run that was being replaced."""
    for hidden in sorted(out.glob("*/.*.*.*")):
        match = _HIDDEN.fullmatch(hidden.name)
        if not match or not hidden.is_dir():
            continue
        place = hidden.with_name(match[1])
        with contextlib.suppress(NbbiasError), lock(place):  # else another process makes it
            if match[2] == "new":
                shutil.rmtree(hidden, ignore_errors=True)
            elif place.exists():
                _move_rest(hidden, place)
            else:
                hidden.rename(place)


def _replace(place: Path, made: Path) -> None:
    """Put a folder in the place of another; what the user kept there goes along."""
    if not place.exists():
        made.rename(place)
        return
    old = _hidden(place, "old")
    place.rename(old)
    try:
        made.rename(place)
    except OSError:
        old.rename(place)
        raise
    _move_rest(old, place)


def _move_rest(old: Path, place: Path) -> None:
    """Move the user's own files from a replaced folder to the new one, and remove the old one."""
    for path in sorted(old.iterdir()):
        if path.name not in _WRITTEN and not os.path.lexists(place / path.name):
            path.rename(place / path.name)
    shutil.rmtree(old, ignore_errors=True)


def _remove(folder: Path) -> None:
    """Remove a run from a folder, first its manifest, and the folder if nothing else is there."""
    for name in _WRITTEN:
        path = folder / name
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    if folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()
