"""What differs between two sets of parameters, as part of a folder's name."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import PurePosixPath, PureWindowsPath
from typing import Any

from nbbias.params.base import Parameters
from nbbias.tables import hash_json

#: The end of the name under which a failed run is kept beside the last good one.
FAILED = ".failed"

#: Letters of a name's part: with the run's own name before it, every file system takes it.
LONGEST = 80

#: Text that stands in a name as it is. Capitals do not: some file systems take them for small.
_PLAIN = re.compile(r"(?!(?:true|false|null)$)[a-z][a-z0-9_.-]*")
#: Characters that some file system refuses in a name.
_NOT_PORTABLE = re.compile(r"[^\w.=,+-]+", re.ASCII)


def name_differences(parameters: Parameters, than: Mapping[str, Any] | None = None) -> str:
    """Name what differs from other parameters, such as ``lambda_factor=0.5``; "" for nothing.

    Sets that differ have names that differ: where a value cannot stand in a name as it is, or the
    name would grow long, it is shortened and a hash of the values follows.

    Parameters
    ----------
    parameters
        A study's, checked.
    than
        Other values by name; what it does not hold, or all without it, has its default.

    Examples
    --------
    >>> from nbbias import llmbi, params
    >>> params.name_differences(llmbi.params.Llmbi(lambda_factor=0.5))
    'lambda_factor=0.5'
    >>> params.name_differences(llmbi.params.Llmbi(seed=3), {"seed": 3, "aggregation": "sum"})
    'aggregation=mean'
    """
    defaults = type(parameters).model_construct().model_dump()
    values, other = _as_json(parameters.model_dump()), _as_json(defaults | dict(than or {}))
    differ = {name: value for name, value in values.items() if value != other[name]}
    parts = {name: _in_words(value) for name, value in differ.items()}
    name = ",".join(f"{name}={text}" for name, (text, _) in parts.items())
    whole = all(whole for _, whole in parts.values()) and not name.endswith((".", FAILED))
    if whole and len(name) <= LONGEST:
        return name
    return f"{_NOT_PORTABLE.sub('_', name)[: LONGEST - 9]}-{hash_json(differ)[:8]}"


def _as_json(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return values as a manifest holds them: lists and tuples are alike, and so are 0 and -0."""
    text = json.dumps(values, default=str)
    return dict(json.loads(text, parse_float=lambda number: float(number) + 0.0))


def _in_words(value: Any) -> tuple[str, bool]:
    """Write a value as a name can hold it, and say whether that tells it from every other."""
    if isinstance(value, str):
        # Of a path only the last part: where it lies is nobody else's.
        name = PurePosixPath(PureWindowsPath(value).name).name
        return name, _PLAIN.fullmatch(value) is not None
    if isinstance(value, list) and not any(isinstance(item, list | dict) for item in value):
        parts = [_in_words(item) for item in value]
        return "+".join(text for text, _ in parts), all(whole for _, whole in parts)
    if isinstance(value, list | dict):
        return str(len(value)), False
    return json.dumps(value), True
