"""Argument and return types on API pages, from the annotations of the functions themselves."""

from __future__ import annotations

import collections.abc
import inspect
import re
import types
import typing
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sphinx.application import Sphinx

#: Types of the annotations by the words of numpydoc.
_WORDS = {
    "Any": "any type",
    "PathLike": "path",
    "Path": "path",
    "PosixPath": "path",
    "NoneType": "None",
    "Mapping": "mapping",
    "Sequence": "sequence",
    "Iterable": "iterable",
    "Iterator": "iterator",
    "Collection": "collection",
    "Callable": "callable",
    "ndarray": "array",
}
_SECTION = re.compile(r"^(\w[\w ]*)$")


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("autodoc-process-docstring", add_types, priority=200)  # before numpydoc
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def readable(annotation: object) -> str:
    """Return a type in words.

    Examples
    --------
    >>> readable(dict[str, float] | None), readable(typing.Literal["a", "b"])
    ('dict of str to float or None', "{'a', 'b'}")
    """
    origin, args = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Annotated:
        return readable(args[0])
    if origin in (typing.Union, types.UnionType):
        return " or ".join(dict.fromkeys(map(readable, args)))
    if origin is typing.Literal:
        return "{" + ", ".join(map(repr, args)) + "}"
    if origin in (collections.abc.Callable, type):
        return "callable" if origin is not type else "class"
    if origin is not None:
        name = _name(origin)
        inner = [readable(one) for one in args if one is not Ellipsis]
        if name in ("array", "ndarray") or not inner or set(inner) == {"any type"}:
            return name
        if "mapping" in name or "dict" in name:
            return f"{name} of {' to '.join(inner)}"
        return f"{name} of {', '.join(dict.fromkeys(inner))}"
    return _name(annotation)


def _name(thing: object) -> str:
    name = thing if isinstance(thing, str) else getattr(thing, "__name__", str(thing))
    return _WORDS.get(name, name)


def annotated(thing: Any) -> dict[str, str]:
    """Return the type of each argument, and of what is returned, in words."""
    known = {**vars(collections.abc), "pd": pd, "np": np, "Path": Path, "Any": Any}
    try:
        hints = typing.get_type_hints(thing, localns=known)
    except (NameError, TypeError):  # imported for type checkers alone
        hints = {name: str(hint) for name, hint in inspect.get_annotations(thing).items()}
    words = {}
    parameters = inspect.signature(thing).parameters
    for name, hint in hints.items():
        word = readable(hint)
        if name in parameters and parameters[name].default is not inspect.Parameter.empty:
            word = f"{word.removesuffix(' or None')}, optional"
        words[name] = word
    return words


def add_types(
    app: Sphinx, what: str, name: str, thing: object, options: object, lines: list[str]
) -> None:
    """Write the types into the sections of a docstring, and the sections that it lacks."""
    if not inspect.isfunction(thing):
        return
    words = annotated(thing)
    named = [one for one in inspect.signature(thing).parameters if one != "self"]
    if "Parameters" not in lines and any(one in words for one in named):
        at = next((at for at, line in enumerate(lines) if _begins(lines, at)), len(lines))
        new = ["Parameters", "----------", *(one for one in named if one in words), ""]
        lines[at:at] = new if not at or not lines[at - 1] else ["", *new]
    returned = words.get("return", "None")
    if not {"Returns", "Yields"} & set(lines) and returned != "None":
        lines += ["", "Returns", "-------", returned]
    section = ""
    for at, line in enumerate(lines):
        if _begins(lines, at):
            section = line
        names = line.strip().split(", ")
        if section == "Parameters" and not line.startswith(" ") and set(names) <= set(words):
            typed = list(dict.fromkeys(words[one] for one in names))
            lines[at] = f"{line} : {'; '.join(typed)}"


def _begins(lines: list[str], at: int) -> bool:
    return at + 1 < len(lines) and bool(_SECTION.match(lines[at])) and set(lines[at + 1]) == {"-"}
