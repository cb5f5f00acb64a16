"""YAML that a user wrote, read by ruamel's safe loader: YAML 1.2, bounded, without anchors."""

from __future__ import annotations

import os
import re
from io import StringIO
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.constructor import SafeConstructor
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.events import CollectionEndEvent, CollectionStartEvent, NodeEvent
from ruamel.yaml.nodes import ScalarNode
from ruamel.yaml.representer import SafeRepresenter

from nbbias.tables import ParameterError, is_file

#: Bytes of a file; the longest that is shipped has 7,000.
LARGEST = 250_000
#: Values, names and lists in it, and lists or mappings within one another.
VALUES, DEPTH = 5_000, 50
#: Characters of a file or an assignment that a message quotes.
_QUOTED = 200


class _Constructor(SafeConstructor):
    """Makes plain values only; a date stays the text that it is."""


_Constructor.add_constructor("tag:yaml.org,2002:timestamp", SafeConstructor.construct_yaml_str)


class _Representer(SafeRepresenter):
    """Writes text in quotes, unless nothing in it can mean anything else."""

    def represent_str(self, text: str) -> ScalarNode:
        style = None if re.fullmatch(r"[\w./$~ -]+", text, re.ASCII) else '"'
        return self.represent_scalar("tag:yaml.org,2002:str", text, style=style)

    def ignore_aliases(self, data: Any) -> bool:
        return True


_Representer.add_representer(str, _Representer.represent_str)


def _yaml() -> YAML:
    yaml = YAML(typ="safe", pure=True)
    yaml.Constructor, yaml.Representer = _Constructor, _Representer
    yaml.sort_base_mapping_type_on_output = False  # type: ignore[assignment]
    yaml.width = 10_000
    return yaml


def as_yaml(value: object, *, flow: bool = False) -> str:
    """Write a value as a params file holds it, or (`flow`) as ``-p name=value`` takes it.

    Examples
    --------
    >>> as_yaml({"draws": 200, "biases": ["race"]}, flow=True)
    '{draws: 200, biases: [race]}'
    """
    yaml, text = _yaml(), StringIO()
    yaml.default_flow_style = flow
    yaml.dump(value, text)
    return text.getvalue().removesuffix("\n...\n").strip() + ("" if flow else "\n")


def parse(text: str, *, where: str = "text") -> Any:
    """Read the one value that a text of YAML 1.2 holds.

    Raises
    ------
    ParameterError
        The text is no YAML, holds too much, or holds an anchor or an alias: with its line.
    """
    try:
        _check_events(text)
        return _yaml().load(text)
    except (YAMLError, ValueError, LookupError, TypeError) as error:
        raise ParameterError(where, f"not readable as YAML: {_describe(error)}") from None


def _check_events(text: str) -> None:
    """Refuse what is too much, before anything is made of the text."""
    depth = values = 0
    for event in _yaml().parse(text):
        values += isinstance(event, NodeEvent)
        depth += isinstance(event, CollectionStartEvent) - isinstance(event, CollectionEndEvent)
        problem = None
        if getattr(event, "anchor", None):
            problem = "anchors and aliases (& and *) are not read; write the value twice"
        elif getattr(event, "version", None) not in {None, (1, 2)}:
            problem = "only YAML 1.2 is read; leave the directive out"
        elif values > VALUES:
            problem = f"more than {VALUES:,} values stand here; name files for so many"
        elif any("\ud800" <= letter <= "\udfff" for letter in getattr(event, "value", None) or ""):
            problem = "half a character (a lone surrogate) is not text; write the character itself"
        elif depth > DEPTH:
            problem = f"more than {DEPTH} lists or mappings stand within one another"
        if problem:
            raise MarkedYAMLError(problem=problem, problem_mark=event.start_mark)


def _describe(error: Exception) -> str:
    if not isinstance(error, MarkedYAMLError):
        return str(error)[:_QUOTED]
    line = f"line {error.problem_mark.line + 1}: " if error.problem_mark else ""
    problem = str(error.problem).partition("\n")[0][:_QUOTED]
    # What was expected stands before what was found.
    return f"{line}{error.context}, {problem}" if problem.startswith("but ") else line + problem


def read_yaml(path: Path) -> dict[str, Any]:
    """Read the names and values of a file.

    Raises
    ------
    ParameterError
        The file is missing, is none, is too large, or is no YAML mapping.

    Examples
    --------
    >>> from nbbias import tables
    >>> list(read_yaml(tables.data_path("cogs/suite.yaml")))
    ['templates', 'axes', 'topics', 'tasks']
    """
    where = str(path)
    if not is_file(path):  # a pipe or a device would be waited for, or never end
        problem = "is not a file" if os.path.lexists(path) else "no such file"
        raise ParameterError(where, f"{problem} (looked for {path.absolute()})")
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST + 1)
    except OSError as error:
        raise ParameterError(where, f"cannot be read: {error.strerror}") from None
    if len(content) > LARGEST:
        raise ParameterError(where, f"holds more than {LARGEST:,} bytes, the most that is read")
    try:
        values = parse(content.decode("utf-8"), where=where)
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ParameterError(where, f"is not UTF-8 text (line {line}); save it as UTF-8") from None
    if values is None:
        return {}
    if not isinstance(values, dict) or not all(isinstance(name, str) for name in values):
        raise ParameterError(where, "must hold lines of the form 'name: value'")
    return values


def override(assignment: str) -> tuple[str, Any]:
    """Read ``name=value`` from the command line; the value is read as YAML.

    Examples
    --------
    >>> override("lambda_factor=0.5")
    ('lambda_factor', 0.5)
    """
    name, equals, value = assignment.partition("=")
    where = f"-p {assignment[:_QUOTED]}"
    if not equals or not name.strip():
        raise ParameterError(where, "write it as name=value")
    return name.strip(), parse(value, where=where)
