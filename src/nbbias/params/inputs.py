"""Inputs of a function that measures without a notebook: tables or files, and parameters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias, TypeVar

import pandas as pd
import pyarrow as pa

from nbbias.params.base import Parameters
from nbbias.params.values import validate
from nbbias.tables import ContractError, NbbiasError, ParameterError, write_parquet

Chosen = TypeVar("Chosen", bound=Parameters)

#: A table, or the path of a file of one; None leaves the parameter at its default.
Input: TypeAlias = "pd.DataFrame | str | Path | None"


@contextmanager
def validate_inputs(
    model: type[Chosen], values: Mapping[str, Any], **inputs: Input
) -> Iterator[Chosen]:
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
    >>> with validate_inputs(Llmbi, {"seed": 200}, answers_path=answers) as chosen:
    ...     chosen.seed, len(pd.read_parquet(chosen.answers_path))
    (200, 1)
    """
    contents = {name: content for name, content in inputs.items() if content is not None}
    if twice := [name for name in contents if name in values]:
        raise ParameterError("parameters", f"{', '.join(twice)}: is given already, as a table")
    with TemporaryDirectory() as folder:
        paths = {
            name: _write(content, Path(folder) / f"{name.removesuffix('_path')}.parquet")
            for name, content in contents.items()
        }
        try:
            yield validate(model, {**values, **paths})
        except NbbiasError as error:
            # A message calls a table by its name, where it has the file that it stands in.
            for path in paths.values():
                name = Path(path).stem if path.startswith(folder) else path
                error.where = error.where.replace(path, name)
                error.breaches = [breach.replace(path, name) for breach in error.breaches]
            raise


def _write(content: Any, path: Path) -> str:
    """Return the path of a file, or write a table and return where."""
    if isinstance(content, str | Path):
        return str(content)
    if not isinstance(content, pd.DataFrame):
        problem = f"is {type(content).__name__}; give a table or the path of a file"
        raise ParameterError(path.stem, problem)
    try:
        return str(write_parquet(content.rename(columns=str), path))
    except (pa.ArrowException, ValueError, TypeError) as error:
        problem = f"a column holds values of several kinds: {str(error).splitlines()[0][:300]}"
        raise ContractError(path.stem, problem) from None
