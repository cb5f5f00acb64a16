"""Parameters checked and described, whatever they are of."""

from __future__ import annotations

import os
import reprlib
from collections.abc import Callable, Mapping
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeAlias, TypeVar, Union, get_args, get_origin

import pandas as pd
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from nbbias import tables
from nbbias.params.base import NONE, Parameters

Model = TypeVar("Model", bound=BaseModel)

#: What a leaf becomes, by its name, itself and its JSON schema.
Change: TypeAlias = Callable[[str, Any, Mapping[str, Any]], Any]

# --- validation -----------------------------------------------------------------------------


def validate(
    model: type[Model],
    values: Mapping[str, Any],
    *,
    where: str = "parameters",
    listed: str = "",
    **context: Any,
) -> Model:
    """Check values against a strict model and report every breach at once.

    Parameters
    ----------
    model
        The parameters of a study, or another strict model.
    values
        Parameter names and values; those left out take their defaults.
    where
        The file that holds them, for the message.
    listed
        What `nbbias params` lists them by.
    **context
        Context of the validators, such as `to_come`, files that need not be there yet.

    Raises
    ------
    ParameterError
        Unknown names (with the nearest known one), wrong types, values out of
        range, files that are not there.
    """
    try:
        return model.model_validate(dict(values), context=context)
    except ValidationError as error:
        errors = error.errors(include_url=False)
        breaches = [breach for e in errors for breach in _in_words(e, model, listed)]
        raise tables.ParameterError(where, breaches) from None


def written_files(parameters: BaseModel) -> dict[str, str]:
    """Return the data files that a parameter set names, by parameter, as they are written."""
    files = dict[str, str]()

    def note(name: str, path: str, kind: str) -> str:
        if kind in _FILES:
            files[name] = path
        return path

    map_paths(type(parameters), dict(parameters), note)
    return files


def input_files(parameters: BaseModel) -> dict[str, Path]:
    """Return the data files that a parameter set names, by parameter."""
    return {name: tables.resolve(path) for name, path in written_files(parameters).items()}


def analysis_sha256(parameters: BaseModel) -> str:
    """Return the SHA-256 of an analysis: all parameters, and what is in the files that they name.

    Of two runs with the same hash the second can show nothing else; claims alone do not say with
    which scorers, word lists and texts they are tested.
    """

    def digest(_: str, path: str, kind: str) -> str:
        return tables.file_sha256(tables.resolve(path)) if kind in _FILES else path

    return tables.hash_json(map_paths(type(parameters), parameters.model_dump(), digest))


def relocate(
    model: type[BaseModel], values: Mapping[str, Any], *, start: Path, to: Path
) -> dict[str, Any]:
    """Return values whose relative paths start at one folder, written from another.

    What is a model's name or a folder's (`ModelName`) is a folder where there is one.

    Examples
    --------
    >>> from nbbias.llmbi.params import Llmbi
    >>> values = {"answers_path": "a.csv", "seed": 200}
    >>> relocate(Llmbi, values, start=Path("/studies"), to=Path("/studies/runs/llmbi"))
    {'answers_path': '../../a.csv', 'seed': 200}
    """

    def write(_: str, path: str, kind: str) -> str:
        is_name = kind == "name or folder" and not os.path.lexists(start / path)
        return path if is_name else tables.written_from(path, start=start, to=to)

    return map_paths(model, values, write)


def walk(value: Any, change: Change, *, name: str = "", schema: Any = None) -> Any:
    """Return nested values with each leaf changed, by its name, itself and its JSON schema.

    Examples
    --------
    >>> walk({"a": [1, 2], "b": {"c": 3}}, lambda name, leaf, schema: f"{name}={leaf}")
    {'a': ['a.1=1', 'a.2=2'], 'b': {'c': 'b.c=3'}}
    """
    schema = schema if isinstance(schema, Mapping) else {}
    prefix = f"{name}." if name else ""
    if isinstance(value, Mapping):
        inner, fields = schema.get("additionalProperties"), schema.get("properties", {})
        return {
            key: walk(item, change, name=f"{prefix}{key}", schema=fields.get(key, inner))
            for key, item in value.items()
        }
    if isinstance(value, list) and value:
        inner, numbered = schema.get("items"), enumerate(value, start=1)
        return [walk(item, change, name=f"{prefix}{n}", schema=inner) for n, item in numbered]
    return change(name, value, schema)


def map_paths(
    model: type[BaseModel], values: Mapping[str, Any], change: Callable[[str, str, str], str]
) -> dict[str, Any]:
    """Return values with each path replaced by what `change(name, path, kind)` returns.

    `kind` is what the model says of it: ``"file"``, ``"file or none"``, ``"new file"`` or ``"name
    or folder"``.
    """

    def change_path(name: str, value: Any, schema: Mapping[str, Any]) -> Any:
        kind = schema.get("format", "")
        is_path = isinstance(value, str) and value not in {tables.SAMPLE, NONE} and kind
        return change(name, value, kind) if is_path else value

    return dict(walk(values, change_path, schema=model.model_json_schema()))


def _in_words(error: ErrorDetails, model: type[BaseModel], listed: str) -> list[str]:
    name = ".".join(str(part) for part in error["loc"])
    if (kind := error["type"]) == "extra_forbidden":
        hint = tables.closest_match(name, model.model_fields)
        more = f" See `nbbias params {listed}`" if listed else ""
        return [f"{name}: unknown parameter; {hint}{more}"]
    if kind == "value_error":  # whose arguments are all that is wrong
        prefix = f"{name}: " if name else ""
        return [f"{prefix}{sentence}" for sentence in error["ctx"]["error"].args]
    return [f"{name}: {error['msg'].lower()}, but got {shorten(error['input'])}"]


_SHORT = reprlib.Repr()
_SHORT.maxstring, _SHORT.maxother, _SHORT.maxlevel = 100, 100, 3


def shorten(value: object) -> str:
    """Return a value as Python writes it, shortened where it is long or deep.

    Examples
    --------
    >>> shorten("1e-3"), shorten(list(range(9)))
    ("'1e-3'", '[0, 1, 2, 3, 4, 5, ...]')
    """
    try:
        return _SHORT.repr(value)
    except ValueError:
        return "a number of thousands of digits"


# --- description ----------------------------------------------------------------------------


def describe(model: type[BaseModel]) -> pd.DataFrame:
    """Return the parameters of a strict model, one row each: name, type, default, range, meaning.

    Those that all studies share come last.
    """
    schema, fields = model.model_json_schema()["properties"], model.model_fields
    shared = [name for name in Parameters.model_fields if name in fields]
    rows = [
        {
            "name": name,
            "type": _type(fields[name].annotation),
            "default": "required" if fields[name].is_required() else fields[name].get_default(),
            "range": _range(schema[name]),
            "meaning": fields[name].description,
        }
        for name in [*(name for name in fields if name not in shared), *shared]
    ]
    return pd.DataFrame(rows, dtype="object")  # whole numbers stay whole


def _type(annotation: Any) -> str:
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _type(arguments[0])
    if origin in {Union, UnionType}:
        return " | ".join(map(_type, arguments))
    kind = type(arguments[0]) if origin is Literal else origin or annotation
    return "None" if kind is NoneType else str(kind.__name__)


def _range(schema: Mapping[str, Any]) -> str:
    if any_of := schema.get("anyOf") or schema.get("oneOf"):
        return _range(any_of[0])
    if "enum" in schema:
        return " | ".join(map(str, schema["enum"]))
    if isinstance(inner := schema.get("additionalProperties"), dict) and (limit := _range(inner)):
        return f"{limit} each"
    bounds = {"exclusiveMinimum": ">", "minimum": "≥", "exclusiveMaximum": "<", "maximum": "≤"}
    limits = [(sign, schema[bound]) for bound, sign in bounds.items() if bound in schema]
    written = [f"{sign} {n:g}" if abs(n) < 1e6 else f"{sign} {n:,}" for sign, n in limits]
    return ", ".join(written) or _FILES.get(schema.get("format", ""), "")


_FILES = {
    "file": "a file, or 'sample' for the shipped one",
    "file or none": "a file, 'sample' for the shipped one, or 'none'",
}


def cell_source(model: type[BaseModel]) -> str:
    """Return the source of the notebook's `parameters` cell: ``name: type = value  # help``."""
    lines = []
    for row in describe(model).itertuples():
        choices = f"; {row.range}" if row.range and row.type != "dict" else ""
        lines.append(f"{row.name}: {row.type} = {row.default!r}  # {row.meaning}{choices}")
    return "\n".join(lines)
