"""The measures that are calibrated, those of every study, by ``study/name``."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec

from nbbias import tables
from nbbias.calibration.trials import Measure

#: Rooms of this package, one for each package of a study.
ROOMS = ("news", "biased_prompts", "cogs", "llmbi", "biasalert")


def _collected() -> dict[str, Measure]:
    names = [f"nbbias.calibration.{room}" for room in ROOMS]
    rooms = [import_module(name) for name in names if find_spec(name)]
    return {f"{one.study}/{one.name}": one for room in rooms for one in room.MEASURES}


#: Filled when it is first asked for, since studies take a while to load.
_found: dict[str, Measure] = {}


def measures() -> Mapping[str, Measure]:
    """Return the measures that are calibrated, by ``study/name``.

    Examples
    --------
    >>> all(name == f"{one.study}/{one.name}" for name, one in measures().items())
    True
    """
    if not _found:
        _found.update(_collected())
    return _found


def chosen(names: list[str]) -> dict[str, Measure]:
    """Return the measures of these names, in this order; all, where none is named.

    Raises
    ------
    ParameterError
        Those that are not there, each with the nearest.

    Examples
    --------
    >>> chosen([]) == measures()
    True
    """
    every = measures()
    wrong = [
        f"no measure {name!r}; {tables.closest_match(name, every)}"
        for name in names
        if name not in every
    ]
    if wrong:
        raise tables.ParameterError("measures", wrong)
    return {name: every[name] for name in names or every}
