"""YAML that a user wrote: read within limits that are kept before anything is made of it.

No more is read of a file than may stand in one, each value is counted as it is met, and an alias
as all that it stands for. So no file takes long, or nests deeper than Python can follow. It holds
text, numbers, truths, nothing, lists and mappings; no other kind is made.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.composer import Composer, ComposerError
from ruamel.yaml.constructor import SafeConstructor
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.events import AliasEvent
from ruamel.yaml.nodes import CollectionNode, MappingNode, Node, ScalarNode
from ruamel.yaml.reader import ReaderError
from ruamel.yaml.representer import SafeRepresenter

from nbbias import tables
from nbbias.tables import ParameterError

#: Bytes of a file; the longest that is shipped has 7,000.
LARGEST = 250_000
#: Values, names and lists in it, those that aliases stand for counted each time; the longest that
#: is shipped has 393.
NODES = 5_000
#: Lists or mappings within one another.
DEPTH = 50
#: Characters of a name, and of a number.
NAME, NUMBER = 200, 40


class _Composer(Composer):
    """Lays out values while there are not too many, nor too deep, under names of one line."""

    def __init__(self, loader: Any = None) -> None:
        super().__init__(loader=loader)
        self.warn_double_anchors = False
        self.nodes = self.level = 0

    def compose_node(self, parent: Any, index: Any) -> Node:
        event = self.parser.peek_event()
        known = self.anchors.get(event.anchor) if isinstance(event, AliasEvent) else None
        if isinstance(known, CollectionNode) and known.end_mark is None:
            raise _error(event, f"*{event.anchor} stands within what it stands for")
        self.level += 1
        self._count(known, self.level, event)
        node: Node = super().compose_node(parent, index)
        self.level -= 1
        return node

    def _count(self, node: Node | None, level: int, event: Any) -> None:
        """Count one value, or all that is known already of the one that an alias stands for."""
        self.nodes += 1
        if self.nodes > NODES:
            raise _error(event, f"more than {NODES:,} values stand here; name files for so many")
        if level > DEPTH:
            raise _error(event, f"more than {DEPTH} lists or mappings stand within one another")
        inner = node.value if isinstance(node, CollectionNode) else []
        for one in inner:
            for part in one if isinstance(one, tuple) else (one,):
                self._count(part, level + 1, event)

    def compose_mapping_node(self, anchor: Any) -> MappingNode:
        node: MappingNode = super().compose_mapping_node(anchor)
        for name, _ in node.value:
            if not isinstance(name, ScalarNode) or _kind(name) not in _NAME_KINDS:
                told = "a name must be text; put it in quotes"
                shown = f"{name.value[:NUMBER]!r}: " if isinstance(name, ScalarNode) else ""
                raise _error(name, shown + told)
            if len(name.value) > NAME:
                raise _error(name, f"a name of {len(name.value):,} characters; {NAME} is the most")
        return node


def _error(at: Any, told: str) -> YAMLError:
    """Return the error of a node or an event, which has the line in which it stands."""
    return ComposerError(None, None, told, at.start_mark)


class _Constructor(SafeConstructor):
    """Makes the seven kinds of values that parameters are; a date stays the text that it is."""

    def construct_scalar(self, node: Any) -> str:
        text = str(super().construct_scalar(node))
        try:  # both halves side by side, as JSON writes them, are one character
            return text.encode("utf-16", "surrogatepass").decode("utf-16")
        except UnicodeDecodeError:
            raise _error(node, "half a character (a lone surrogate) is no text") from None

    def plain(self, node: Any) -> int | float | bool | None:
        """Make a number, a truth or nothing; a number can be written down and counted with."""
        text, kind = self.construct_scalar(node), _kind(node)
        if len(text) > NUMBER:
            raise _error(node, f"{kind} of {len(text):,} characters; {NUMBER} is the most")
        try:
            made: int | float | bool | None = _PLAIN_KINDS[kind](self, node)
        except (ValueError, LookupError):
            raise _error(node, f"{text!r} is no {kind}") from None
        if made is not None and not math.isfinite(made):
            raise _error(node, f"{text!r} is no finite number; put it in quotes if it is text")
        return made

    def check_mapping_key(
        self, node: Any, key_node: Any, mapping: Any, key: Any, value: Any
    ) -> bool:
        if key in mapping:  # the library would quote both values, however long
            raise _error(key_node, f'found duplicate key "{key}"; keep one')
        return True

    def construct_undefined(self, node: Any) -> None:
        told = f"no parameter is of the kind {_kind(node)[:NUMBER]!r}"
        raise _error(node, f"{told}; put it in quotes if it is text")


def _kind(node: Any) -> str:
    return str(node.tag).removeprefix("tag:yaml.org,2002:")


#: The kinds that names can have: one that reads as a date is text, and `<<` takes over others.
_NAME_KINDS = {"str", "timestamp", "merge"}
_PLAIN_KINDS: dict[str, Callable[..., Any]] = {
    "int": SafeConstructor.construct_yaml_int,
    "float": SafeConstructor.construct_yaml_float,
    "bool": SafeConstructor.construct_yaml_bool,
    "null": SafeConstructor.construct_yaml_null,
}
_KINDS: dict[str, Callable[..., Any]] = {
    **dict.fromkeys(_PLAIN_KINDS, _Constructor.plain),
    **dict.fromkeys(["str", "timestamp"], _Constructor.construct_scalar),
    "seq": SafeConstructor.construct_yaml_seq,
    "map": SafeConstructor.construct_yaml_map,
}
_Constructor.yaml_constructors = {
    None: _Constructor.construct_undefined,
    **{f"tag:yaml.org,2002:{kind}": make for kind, make in _KINDS.items()},
}


class _Representer(SafeRepresenter):
    """How YAML is written: text in quotes, unless nothing in it can mean anything else."""

    def represent_str(self, text: str) -> ScalarNode:
        style = None if _PLAIN.fullmatch(text) else '"'
        return self.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_PLAIN = re.compile(r"[\w./$~ -]+", re.ASCII)
_Representer.add_representer(str, _Representer.represent_str)


def _yaml() -> YAML:
    """Return YAML 1.2, in which ``1:30``, ``yes`` and ``no`` are text and no key stands twice."""
    yaml = YAML(typ="safe", pure=True)
    yaml.Composer, yaml.Constructor = _Composer, _Constructor
    yaml.Representer = _Representer
    yaml.sort_base_mapping_type_on_output = False  # type: ignore[assignment]
    yaml.width = 10_000  # a folded line would be read as another
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


def parse(text: str, *, where: str) -> Any:
    """Read the one value that a text of YAML 1.2 holds.

    Raises
    ------
    ParameterError
        The text is no YAML, or holds what no parameter is: with its line.
    """
    try:
        return _yaml().load(text)
    except (YAMLError, ValueError, LookupError) as error:
        raise ParameterError(where, f"not readable as YAML: {_in_words(error, text)}") from None


def _in_words(error: Exception, text: str) -> str:
    if isinstance(error, ReaderError):
        number = text.count("\n", 0, error.position) + 1
        return f"line {number}: the character U+{ord(text[error.position]):04X} cannot stand in it"
    if not isinstance(error, MarkedYAMLError):  # the library met what it does not know
        return f"it asks for what is not known here: {error}"
    line = f"line {error.problem_mark.line + 1}: " if error.problem_mark else ""
    problem = str(error.problem).partition("\n")[0]
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
    >>> list(read_yaml(tables.data_path("cogs/suite.yaml")))
    ['templates', 'axes', 'topics', 'tasks']
    """
    where = str(path)
    if not tables.is_file(path):  # a pipe or a device would be waited for, or never end
        told = "is no file" if os.path.lexists(path) else "no such file"
        raise ParameterError(where, f"{told} (looked for {path.absolute()})")
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
    values = {} if values is None else values
    if not isinstance(values, dict):
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
    if not equals or not name.strip():
        raise ParameterError(f"-p {assignment[:NAME]}", "write it as name=value")
    return name.strip(), parse(value, where=f"-p {assignment[:NAME]}")
