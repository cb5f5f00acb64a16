"""A run as others can read and repeat it: its parameters as YAML, and no path of this machine."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

import yaml

#: The file in a run's folder that repeats it.
PARAMS = "params.yaml"

_TEXTS = {".html", ".ipynb", ".json", ".csv", ".tex", ".svg", ".yaml"}


def yaml_of(stem: str, parameters: Mapping[str, Any]) -> str:
    """Return all parameters of a run as a params file."""
    values = {"study": stem, **parameters}
    return yaml.safe_dump(values, sort_keys=False, allow_unicode=True)


def names(
    described: Mapping[str, Any], *, packed: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Return what stands for each path of a run where others read of it.

    Parameters
    ----------
    described
        The run's manifest.
    packed
        Parameters, such as ``lexicon_paths.gender``, whose files come along, and where they lie.

    Returns
    -------
    dict
        Path as typed or as resolved → where the file lies, if it comes along; else the path as
        typed, where that starts with a variable such as ``${NBBIAS_DATA}``; else the file's name.
    """
    parameters, found = described.get("parameters", {}), dict[str, str]()
    for name, entry in described.get("data", {}).items():
        typed = typed_path(parameters, name) or entry["path"]
        if packed and name in packed:
            shown = packed[name]
        elif typed.startswith("$"):
            shown = typed
        else:
            shown = PureWindowsPath(typed).name
            if shown in found.values() and found.get(typed) != shown:
                shown = f"{name}-{shown}"  # two files of one name
        found |= {typed: shown, entry["path"]: shown}
    for value in _texts(parameters):
        if value not in found and _of_this_machine(value):
            found[value] = PureWindowsPath(value).name
    return {path: shown for path, shown in found.items() if path != shown}


def typed_path(parameters: Mapping[str, Any], name: str) -> str | None:
    """Return a path as it was typed, by its name in a manifest, such as ``suite_paths.1``."""
    whole, _, part = name.partition(".")
    value = parameters.get(whole)
    if isinstance(value, list) and part.isdigit() and 0 < int(part) <= len(value):
        value = value[int(part) - 1]
    elif isinstance(value, Mapping):
        value = value.get(part)
    return value if isinstance(value, str) else None


def manifest(described: Mapping[str, Any], shown: Mapping[str, str]) -> dict[str, Any]:
    """Return a run's manifest with names in place of paths, those of its parameters too."""
    data = {
        name: {**entry, "path": Path(shown.get(entry["path"], entry["path"])).name}
        for name, entry in described.get("data", {}).items()
    }
    parameters = _replaced(described.get("parameters", {}), shown)
    return {**described, "parameters": parameters, "data": data}


def content(path: Path, shown: Mapping[str, str]) -> bytes:
    """Return a file of a run, with names in place of paths where it is text."""
    if path.suffix not in _TEXTS or not shown:
        return path.read_bytes()
    return _in_text(shown)(path.read_bytes().decode("utf-8", "surrogateescape")).encode(
        "utf-8", "surrogateescape"
    )


def _in_text(shown: Mapping[str, str]) -> Callable[[str], str]:
    """Return what replaces paths in a text, be it plain, in JSON, in HTML, or JSON in HTML."""
    written: dict[str, str] = {}
    for path, name in shown.items():
        if not re.search(r"[/\\]", path):
            continue
        for one in (str, _json, html.escape, lambda text: html.escape(_json(text)),
                    lambda text: _json(_json(text))):  # fmt: skip
            written.setdefault(one(path), one(name))
    if not written:
        return str
    # A relative path may be the end of another; one that names this machine goes everywhere.
    patterns = [
        (r"" if _of_this_machine(path) else r"(?<![\w./\\~$}-])") + re.escape(path) + r"(?![\w-])"
        for path in sorted(written, key=len, reverse=True)
    ]
    every = re.compile("|".join(patterns))
    return lambda text: every.sub(lambda found: written[found[0]], text)


def _json(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1]


def _of_this_machine(value: str) -> bool:
    absolute = PurePosixPath(value).is_absolute() or PureWindowsPath(value).is_absolute()
    return len(value) > 1 and (absolute or value.startswith(("~", "..")))


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list):
        for one in value.values() if isinstance(value, Mapping) else value:
            yield from _texts(one)


def _replaced(value: Any, shown: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        return shown.get(value, value)
    if isinstance(value, Mapping):
        return {name: _replaced(one, shown) for name, one in value.items()}
    return [_replaced(one, shown) for one in value] if isinstance(value, list) else value
