"""How a run is called: after its file, and after what differs, so that no other run is lost."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
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
    name: str, parameters: Parameters, *, filed: Mapping[str, Any], changed: Mapping[str, Any],
    beside: Path,
) -> str:  # fmt: skip
    """Return the name of a run whose file is called `name`, with what differs after it.

    Parameters
    ----------
    name
        After the params file.
    parameters
        Those of the run, checked.
    filed, changed
        What the file says, and what was set over it.
    beside
        The folder of the study's runs: a finished one stays, if its parameters are others.
    """
    kept = {key: value for key, value in parameters.model_dump().items() if key not in changed}
    before = kept | {key: filed[key] for key in changed if key in filed}
    found = _with(name, params.differing(parameters, before))
    while other := taken(parameters, beside / found):
        found = _with(found, other)
    return found


def _with(name: str, differs: str) -> str:
    return f"{name}-{differs}" if differs else name


def taken(parameters: Parameters, folder: Path) -> str:
    """Name what parameters have otherwise than the finished run in a folder; "" if nothing.

    A file of the same content is the same, wherever it lies.
    """
    described = place.good(folder)
    if described is None:
        return ""
    before, given = dict(described.get("parameters", {})), parameters.model_dump()
    hashes = {name: one.get("sha256") for name, one in described.get("data", {}).items()}
    for whole, files in _by_parameter(params.input_files(parameters)).items():
        then = _by_parameter(hashes).get(whole, {})
        if before.get(whole) != given[whole] and files.keys() == then.keys():
            same = all(tables.file_sha256(path) == then[name] for name, path in files.items())
            before |= {whole: given[whole]} if same else {}
    return params.differing(parameters, before)


def _by_parameter(named: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Group what stands under names such as ``suite_paths.1`` by the parameter."""
    found: dict[str, dict[str, Any]] = {}
    for name, value in named.items():
        found.setdefault(name.partition(".")[0], {})[name] = value
    return found
