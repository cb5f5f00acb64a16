"""Values set on the command line, ``-p name=value``; several values make a run for each."""

from __future__ import annotations

import contextlib
import itertools
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from nbbias import params, studies, tables
from nbbias.params import Parameters
from nbbias.tables import NbbiasError, ParameterError

#: Runs of one grid.
MOST = 100


def combinations(
    assignments: Sequence[str], *, model: type[Parameters] | None = None
) -> list[dict[str, Any]]:
    """Return every combination of the values that ``name=value`` pairs give.

    Parameters
    ----------
    assignments
        ``name=a,b,c`` gives three values of a parameter that holds one. Of a parameter that is a
        list by its type, ``name=[a, b]`` is one value and ``name=[a],[a, b]`` are two. Commas
        within quotes, or in the name of an existing file, separate nothing.
    model
        The parameters' model; without it no parameter is a list.

    Raises
    ------
    ParameterError
        All pairs that cannot be read; or there are more than `MOST` combinations.

    Examples
    --------
    >>> from nbbias.llmbi.params import Llmbi
    >>> combinations(["lambda_factor=0.5,1", "seed=1,2"], model=Llmbi)[1:3]
    [{'lambda_factor': 0.5, 'seed': 2}, {'lambda_factor': 1, 'seed': 1}]
    >>> combinations(["weights={Age: 2, Race: 1}"], model=Llmbi)
    [{'weights': {'Age': 2, 'Race': 1}}]
    """
    choices: dict[str, list[Any]] = {}
    problems: list[NbbiasError] = []
    for assignment in assignments:
        if pair := tables.attempt(problems, _read_values, assignment, model):
            choices |= [pair]
    tables.refuse(problems)
    if (size := math.prod(map(len, choices.values()))) > MOST:
        raise ParameterError("-p", f"makes {size:,} runs; {MOST} are the most")
    products = itertools.product(*choices.values())
    return [dict(zip(choices, values, strict=True)) for values in products]


def of_file(path: Path, assignments: Sequence[str]) -> list[dict[str, Any]]:
    """Return the combinations for a params file; none where the file cannot be read."""
    if not assignments:
        return [{}]
    try:
        model = studies.study(studies.read(path)[0]).parameters
    except NbbiasError:  # reported where the run is planned
        return [{}]
    return combinations(assignments, model=model)


def _read_values(assignment: str, model: type[Parameters] | None) -> tuple[str, list[Any]]:
    name, _, text = (part.strip() for part in assignment.partition("="))
    if "," in text and not tables.is_file(Path(text)):
        with contextlib.suppress(ParameterError):
            _, values = params.override(f"{name}=[{text}]")
            nested = [isinstance(value, list | Mapping) for value in values]
            schema = model.model_json_schema()["properties"].get(name, {}) if model else {}
            is_list = schema.get("type") in {"array", "object"}
            if (len(values) > 1 and all(nested)) if is_list else not any(nested):
                return name, list({str(value): value for value in values}.values())
    name, value = params.override(assignment)
    return name, [value]
