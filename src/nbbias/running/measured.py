"""A study's measures without a notebook, by its name, its files and ``name=value`` pairs."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

from nbbias import params, reading, studies
from nbbias.params import CLAIM_KEYS
from nbbias.running import own
from nbbias.tables import Measured, NbbiasError, ParameterError, escape, refuse

#: Rows that are printed; a folder gets all.
_PRINTED = 30


def measure(stem: str, files: Sequence[str] = (), overrides: Sequence[str] = ()) -> Measured:
    """Measure what a study measures: `tables.Measured`.

    Parameters
    ----------
    stem
        The study.
    files
        Its texts, as the record's `inputs` are in order; how each is written is found out.
    overrides
        ``name=value`` pairs.

    Raises
    ------
    NbbiasError
        All that is wrong with names, parameters and files.
    """
    study = studies.study(stem, where="nbbias measure")
    if not study.measure:
        raise ParameterError("nbbias measure", f"{stem} measures in its notebook only: nbbias run")
    problems: list[NbbiasError] = []
    values: dict[str, Any] = {**own.inputs(study, files, columns=())}
    for one in overrides:
        try:
            values |= [params.override(one)]
        except NbbiasError as error:
            problems.append(error)
    refuse(problems)
    module, function = study.measure.split(":")
    found: Measured = getattr(import_module(module), function)(**values)
    return found


def printed(found: Measured) -> tuple[list[str], list[list[str]], str]:
    """Return columns, rows and note of the estimates, as they are printed for readers."""
    table = reading.readable(found.estimates, CLAIM_KEYS, rows=_PRINTED)
    labels = table.labels or {}
    columns = [labels.get(name, name).replace("_", " ") for name in table.rows]
    cells = [[escape.terminal(cell) for cell in row] for row in table.rows.to_numpy()]
    return columns, cells, table.note or ""
