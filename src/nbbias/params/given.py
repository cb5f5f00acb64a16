"""What a function is given that measures without a notebook: tables or files, and parameters."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias, TypeVar

import pandas as pd
import pyarrow as pa

from nbbias import tables
from nbbias.params.base import Parameters
from nbbias.params.values import validate
from nbbias.tables import ContractError, NbbiasError, ParameterError

Chosen = TypeVar("Chosen", bound=Parameters)

#: A table, or the path of a file of one; None leaves the parameter at its default.
Input: TypeAlias = "pd.DataFrame | str | Path | None"


@contextmanager
def given(model: type[Chosen], values: Mapping[str, Any], **inputs: Input) -> Iterator[Chosen]:
    """Validate parameters of which some are tables; as long as it lasts, tables stand in files.

    So that a table is read by what reads files, and is held to the same.

    Parameters
    ----------
    model
        The study's parameters.
    values
        Those that are set by name.
    **inputs
        By the parameter that names a file: the table, or the file.

    Raises
    ------
    NbbiasError
        Parameters that are not as the model has them, and what readers refuse meanwhile: of a
        table, by its name.

    Examples
    --------
    >>> from nbbias.llmbi.params import Llmbi
    >>> answers = pd.DataFrame({"prompt": ["Why?"], "model": ["m"], "text": ["So."]})
    >>> with given(Llmbi, {"draws": 200}, answers_path=answers) as chosen:
    ...     chosen.draws, len(pd.read_parquet(chosen.answers_path))
    (200, 1)
    """
    twice = [name for name, content in inputs.items() if content is not None and name in values]
    if twice:
        raise ParameterError("parameters", f"{', '.join(twice)}: is given already, as a table")
    with TemporaryDirectory() as folder:
        paths = {
            name: _written(content, Path(folder) / f"{name.removesuffix('_path')}.parquet")
            for name, content in inputs.items()
            if content is not None
        }
        try:
            yield validate(model, {**values, **paths})
        except NbbiasError as error:
            error.where = _named(error.where, folder)
            error.breaches = [_named(breach, folder) for breach in error.breaches]
            raise


def _written(given: Any, path: Path) -> str:
    if isinstance(given, str | Path):
        return str(given)
    name = path.stem
    if not isinstance(given, pd.DataFrame):
        problem = f"is {type(given).__name__}; give a table or the path of a file"
        raise ParameterError(name, problem)
    if given.empty:
        raise ContractError(name, "holds no rows")
    try:
        return str(tables.write_parquet(given.rename(columns=str).reset_index(drop=True), path))
    except (pa.ArrowException, ValueError, TypeError) as error:
        reason = str(error).splitlines()[0][:300]
        raise ContractError(name, f"a column holds values of several kinds: {reason}") from None


def _named(problem: str, folder: str) -> str:
    """Call a table by its name where a message has the file that it stands in."""
    shortened = problem.replace(f"{folder}{os.sep}", "")
    return shortened.replace(".parquet", "") if shortened != problem else problem
