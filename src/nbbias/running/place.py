"""The folder of a run: how it is named, so that no run is lost, and how a run takes it.

A run is made in a hidden folder beside its own, and takes the place when it is complete. Two
renames exchange them: whoever is killed, at whatever moment, leaves a complete run in the folder or
hidden beside it, from where the next run of this name brings it back (`lock`).
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

from filelock import FileLock, Timeout

from nbbias import params
from nbbias.pages import manifest, share
from nbbias.params import FAILED, Parameters
from nbbias.tables import NbbiasError

#: What a run writes to its folder. All else there is the user's, and stays.
_PAGE = "notebook.ipynb", "index.html", "finding.json"
_WRITTEN = (manifest.NAME, share.PARAMS, *_PAGE, "tables", "figures")
#: Bytes of a name that every file system takes, with what is added where a run is made or packed.
_LONGEST = 200
#: Where notebooks write that are run by hand or by papermill.
_BY_HAND = re.compile(r"lab(-.+=.*)?", re.DOTALL)
_NOT_PORTABLE = re.compile(r'[/\\:*?"<>|\x00-\x1f\x7f]|[. ]$')


# --- names ------------------------------------------------------------------------------------


def file_name(path: Path) -> str:
    """Name a run after its params file, or after the folder of the run that it repeats."""
    repeats = path.name == share.PARAMS and (path.parent / manifest.NAME).is_file()
    return (path.resolve().parent.name.removesuffix(FAILED) if repeats else "") or path.stem


def name_problem(name: str, *, portable: bool = False) -> str:
    """Say why a run cannot have a name, or return ""; a `portable` one fits every system."""
    if not name or name.startswith("."):
        return "a run's name is not empty and does not begin with a dot"
    if name != name.encode(errors="replace").decode():
        return "a run's name is UTF-8 text"
    if name.endswith(FAILED):
        return f"a name that ends in {FAILED} is that of a failed run"
    if _BY_HAND.fullmatch(name):
        return f"{name!r} is where notebooks write that are run by hand"
    if len(os.fsencode(name)) > _LONGEST:
        return f"a run's name has {_LONGEST} bytes at most"
    if portable and _NOT_PORTABLE.search(name):
        return "a run's name holds none of / \\ : * ? \" < > | and does not end in a dot or space"
    return ""


def choose_name(
    name: str,
    parameters: Parameters,
    *,
    values: Mapping[str, Any],
    changed: Collection[str],
    study: Path,
    start: Path,
) -> str:
    """Add to a run's name what differs from its file, and from finished runs of that name.

    Parameters
    ----------
    name
        After the params file.
    parameters
        Those of the run, checked.
    values, changed
        The file's values, and the names of those that were set over them.
    study
        The folder of the study's runs.
    start
        Where relative paths among the parameters start.
    """
    unchanged = {key: v for key, v in parameters.model_dump().items() if key not in changed}
    in_file = unchanged | {key: values[key] for key in changed if key in values}
    moved = params.relocate(type(parameters), in_file, start=start, to=study / name)
    if suffix := _differing(parameters, moved, study / name, start):
        name = f"{name}-{suffix}"
    while suffix := difference(parameters, study / name, start=start):
        name = f"{name}-{suffix}"
    return name


def difference(parameters: Parameters, folder: Path, *, start: Path) -> str:
    """Name what differs between parameters and those of the finished run in a folder, if any."""
    if not finished(folder):
        return ""
    file = folder / share.PARAMS
    values = params.read_yaml(file) if file.is_file() else {}
    return _differing(parameters, values, folder, start)


def _differing(parameters: Parameters, values: Mapping[str, Any], folder: Path, start: Path) -> str:
    """Name what differs from values whose paths start at a folder."""
    here = params.relocate(type(parameters), parameters.model_dump(), start=start, to=folder)
    return params.name_differences(parameters.model_copy(update=here), values)


# --- folders ----------------------------------------------------------------------------------


@contextlib.contextmanager
def lock(folder: Path) -> Iterator[None]:
    """Lock a run's folder, or refuse it if another process does; a dead process locks none.

    What a killed run left hidden is removed, and a run that it was replacing is brought back.
    """
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
        for target in (place, failed(folder).resolve()):
            shutil.rmtree(_hidden(target, "new"), ignore_errors=True)
            _recover(target)
            for left in (_hidden(target, "new"), _hidden(target, "old")):
                if os.path.lexists(left):
                    message = "is left of a killed run and cannot be removed; remove it"
                    raise NbbiasError(str(left), message)
        yield
    finally:
        file.release()


def create(folder: Path) -> Path:
    """Create the hidden folder in which a run is made."""
    hidden = _hidden(folder.resolve(), "new")
    hidden.mkdir(parents=True)
    return hidden


def _hidden(place: Path, kind: Literal["new", "old"]) -> Path:
    return place.with_name(f".{place.name}.nbbias-{kind}")


def finished(folder: Path) -> bool:
    """Tell whether a folder holds a finished run."""
    return (manifest.read(folder) or {}).get("status") == "ok"


def failed(folder: Path) -> Path:
    """Return where a failed run is kept while the last good one keeps its folder."""
    return folder.with_name(folder.name + FAILED)


def keep(made: Path, folder: Path, *, complete: bool) -> Path:
    """Move a run that has ended to its folder, and return where it is.

    A failed run replaces no finished one; it is kept beside it (`failed`).
    """
    if not complete and finished(folder):
        folder = failed(folder)
    cwd, place = Path.cwd(), folder.resolve()
    if place.exists():
        place.rename(_hidden(place, "old"))
    try:
        made.rename(place)
    finally:
        _recover(place)
    os.chdir(cwd)  # whoever stands in the folder stands in the new one
    if complete:
        _clear(failed(folder))
    return folder


def _recover(place: Path) -> None:
    """Bring a replaced run back if none took its place, else what is the user's of it."""
    if (old := _hidden(place, "old")).is_dir() and not place.exists():
        old.rename(place)
    elif old.is_dir():
        for path in sorted(old.iterdir()):
            if path.name not in _WRITTEN and not os.path.lexists(place / path.name):
                path.rename(place / path.name)
        shutil.rmtree(old, ignore_errors=True)


def _clear(folder: Path) -> None:
    """Remove a run from a folder, first its manifest, and the folder if nothing else is there."""
    for name in _WRITTEN:
        if (path := folder / name).is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    with contextlib.suppress(OSError):  # what else is there stays
        folder.rmdir()
