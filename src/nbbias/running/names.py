"""Names of runs: after the params file, and after what differs, so that no other run is lost."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from nbbias import params, tables
from nbbias.pages import manifest, share
from nbbias.params import FAILED, Parameters
from nbbias.running import place

#: Bytes of a name that every file system takes, with what is added where a run is made or packed.
_LONGEST = 200
#: Where notebooks write that are run by hand or by papermill.
_BY_HAND = re.compile(r"lab(-.+=.*)?", re.DOTALL)
_HOSTILE = re.compile(r'[/\\:*?"<>|\x00-\x1f\x7f]|[. ]$')


def file_name(path: Path) -> str:
    """Name a run after its params file, or after the folder of the run that it repeats."""
    repeats = path.name == share.PARAMS and (path.parent / manifest.NAME).is_file()
    folder = path.resolve().parent.name.removesuffix(FAILED)
    return (folder if repeats else "") or path.stem


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
    if portable and _HOSTILE.search(name):
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
    filed = unchanged | {key: values[key] for key in changed if key in values}
    suffix = _differing(parameters, filed, start=start, other_start=start, folder=study / name)
    if suffix:
        name = f"{name}-{suffix}"
    while suffix := difference(parameters, study / name, start=start):
        name = f"{name}-{suffix}"
    return name


def difference(parameters: Parameters, folder: Path, *, start: Path) -> str:
    """Name what differs between parameters and those of the finished run in a folder, if any."""
    description = place.finished(folder)
    if description is None:
        return ""
    other_start = folder / description.get("start", Path.cwd())
    values = description.get("parameters", {})
    return _differing(parameters, values, start=start, other_start=other_start, folder=folder)


def _differing(
    parameters: Parameters,
    values: Mapping[str, Any],
    *,
    start: Path,
    other_start: Path,
    folder: Path,
) -> str:
    """Name what differs; a path is the same wherever the file lies that sets it."""
    model = type(parameters)
    moved = params.moved(model, parameters.model_dump(), start=start, to=folder)
    other = params.moved(model, values, start=other_start, to=folder)
    return params.differing(parameters.model_copy(update=moved), other)


def start_of(start: Path, *, folder: Path) -> str:
    """Return for a run's manifest where its relative paths start, as seen from its folder."""
    return tables.written_from(".", start=start, to=folder)
