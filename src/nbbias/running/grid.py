"""What is set on the command line, ``-p name=value``; several values make a run for each."""

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
        ``name=a,b,c`` gives three values where the parameter holds one; of one that is a list by
        its type, ``name=[a, b]`` is one value and ``name=[a],[a, b]`` are two. A comma within
        quotes, or in the name of a file that is there, parts nothing.
    model
        The parameters that they are of; without it nothing is a list.

    Raises
    ------
    ParameterError
        All pairs that cannot be read; or there are more combinations than anybody looks at.

    Examples
    --------
    >>> from nbbias.llmbi.params import Llmbi
    >>> combinations(["lambda_factor=0.5,1", "seed=1,2"], model=Llmbi)[1:3]
    [{'lambda_factor': 0.5, 'seed': 2}, {'lambda_factor': 1, 'seed': 1}]
    >>> combinations(["weights={Age: 2, Race: 1}"], model=Llmbi)
    [{'weights': {'Age': 2, 'Race': 1}}]
    """
    given: dict[str, list[Any]] = {}
    problems: list[NbbiasError] = []
    for assignment in assignments:
        try:
            given |= [_values(assignment, model)]
        except NbbiasError as error:
            problems.append(error)
    tables.refuse(problems)
    if (size := math.prod(map(len, given.values()))) > MOST:
        raise ParameterError("-p", f"makes {size:,} runs; {MOST} are the most")
    return [dict(zip(given, chosen, strict=True)) for chosen in itertools.product(*given.values())]


def of_file(path: Path, assignments: Sequence[str]) -> list[dict[str, Any]]:
    """Return the combinations for a params file; one, as it is, where the file cannot be read."""
    if not assignments:
        return [{}]
    try:
        model = studies.study(studies.read(path)[0]).parameters
    except NbbiasError:  # told where the run is planned
        return [{}]
    return combinations(assignments, model=model)


def _values(assignment: str, model: type[Parameters] | None) -> tuple[str, list[Any]]:
    name, _, text = (part.strip() for part in assignment.partition("="))
    if "," in text and not tables.is_file(Path(text)):
        with contextlib.suppress(ParameterError):
            _, several = params.override(f"{name}=[{text}]")
            inner = [isinstance(one, list | Mapping) for one in several]
            whole = len(several) > 1 and all(inner)
            if whole if _holds_several(model, name) else not any(inner):
                return name, list({str(one): one for one in several}.values())
    name, whole_value = params.override(assignment)
    return name, [whole_value]


def _holds_several(model: type[Parameters] | None, name: str) -> bool:
    """Tell whether a parameter is a list or a mapping by its type; one that is not known is not."""
    schema = model.model_json_schema()["properties"].get(name, {}) if model else {}
    return schema.get("type") in {"array", "object"}
