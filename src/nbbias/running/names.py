"""How a run is called: after its file, and after what differs, so that no other run is lost."""

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

#: With what stands around it where a run is made or packed, every file system takes this many.
_LONGEST = 200
#: Where notebooks write that are run by hand or by papermill.
_BY_HAND = re.compile(r"lab(-.+=.*)?", re.DOTALL)
_HOSTILE = re.compile(r'[/\\:*?"<>|\x00-\x1f\x7f]|[. ]$')


def of_file(path: Path) -> str:
    """Name a run after its params file, or after the folder of the run that it repeats."""
    repeats = path.name == share.PARAMS and (path.parent / manifest.NAME).is_file()
    folder = path.resolve().parent.name.removesuffix(FAILED)
    return (folder if repeats else "") or path.stem


def unfit(name: str, *, chosen: bool = False) -> str:
    """Say why a run cannot have a name, or return ""; one that was `chosen` fits every system."""
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
    if chosen and _HOSTILE.search(name):
        return "a run's name holds none of / \\ : * ? \" < > | and does not end in a dot or space"
    return ""


def own(
    name: str,
    parameters: Parameters,
    *,
    filed: Mapping[str, Any],
    changed: Collection[str],
    beside: Path,
    start: Path,
) -> str:
    """Return a run's name: with what was changed, and other than a finished run's with others.

    Parameters
    ----------
    name
        After the params file.
    parameters
        Those of the run, checked.
    filed, changed
        What the file says, and the names of what was set over it.
    beside
        The folder of the study's runs.
    start
        Where relative paths among the parameters start.
    """
    kept = {key: one for key, one in parameters.model_dump().items() if key not in changed}
    before = kept | {key: filed[key] for key in changed if key in filed}
    name = _with(name, _apart(parameters, before, start=start, then=start, folder=beside / name))
    while other := taken(parameters, beside / name, start=start):
        name = _with(name, other)
    return name


def _with(name: str, differs: str) -> str:
    return f"{name}-{differs}" if differs else name


def taken(parameters: Parameters, folder: Path, *, start: Path) -> str:
    """Name what parameters have otherwise than the finished run in a folder; "" if nothing."""
    described = place.good(folder)
    if described is None:
        return ""
    then = folder / described.get("start", Path.cwd())
    before = described.get("parameters", {})
    return _apart(parameters, before, start=start, then=then, folder=folder)


def _apart(
    parameters: Parameters, than: Mapping[str, Any], *, start: Path, then: Path, folder: Path
) -> str:
    """Name what differs; a path is the same wherever the file stood that set it."""
    model = type(parameters)
    given = params.moved(model, parameters.model_dump(), start=start, to=folder)
    before = params.moved(model, than, start=then, to=folder)
    return params.differing(parameters.model_copy(update=given), before)


def start_of(start: Path, *, folder: Path) -> str:
    """Return for a run's manifest where its relative paths start, as seen from its folder."""
    return tables.written_from(".", start=start, to=folder)
