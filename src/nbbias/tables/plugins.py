"""What other packages add by entry points: studies, judges and instruments.

Names are read from the packages' metadata; a plugin is imported when it is first used. One that
cannot be loaded, is of another type, or takes a name of ours is left out, and `REJECTED_PLUGINS`
says why.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, ItemsView, Iterator, Mapping, MutableMapping
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Generic, TypeVar, cast

from nbbias.tables.errors import NbbiasError

T = TypeVar("T")

#: Why a plugin was left out, by its name and package.
REJECTED_PLUGINS: dict[str, str] = {}


class PluginError(NbbiasError, KeyError):
    """A plugin cannot be used."""


class Registry(MutableMapping[str, T], Generic[T]):
    """Our entries by name, and after them those of plugins, each loaded when it is first read.

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

    def __init__(
        self,
        group: str,
        entries: Mapping[str, T | Callable[[], T]],
        kind: type[T],
        *,
        family: str = "",
    ) -> None:
        self._kind = kind
        self._entries: dict[str, T | Callable[[], T]] = dict(entries)
        #: The package of each plugin, by its name.
        self.packages: dict[str, str] = {}
        points = sorted(entry_points(group=group), key=lambda point: (_package(point), point.name))
        for point in points:
            if not point.name.startswith(family):
                continue
            name = point.name.removeprefix(family)
            label = f"{group.rpartition('.')[2]}: {name!r} of the package {_package(point)}"
            if name in self._entries:
                REJECTED_PLUGINS[label] = "the name is taken"
                continue
            self._entries[name] = functools.partial(_load, point, kind, label)
            self.packages[name] = _package(point)

    def __getitem__(self, name: str) -> T:
        entry = self._entries[name]
        if isinstance(entry, self._kind):
            return entry
        try:
            value = cast(Callable[[], T], entry)()
        except PluginError:
            del self._entries[name]
            raise
        self._entries[name] = value
        return value

    def __setitem__(self, name: str, value: T) -> None:
        self._entries[name] = value

    def __delitem__(self, name: str) -> None:
        del self._entries[name]

    def __iter__(self) -> Iterator[str]:
        return iter(list(self._entries))

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def items(self) -> ItemsView[str, T]:
        """Return names and entries, without those that cannot be loaded."""
        loaded: dict[str, T] = {}
        for name in self:
            with contextlib.suppress(PluginError):
                loaded[name] = self[name]
        return loaded.items()

    def values(self) -> Any:
        """Return the entries, without those that cannot be loaded."""
        return dict(self.items()).values()

    def describe(self, note: Callable[[T], str]) -> dict[str, str]:
        """Return a note on each of our entries, and the package of each plugin."""
        return {
            name: f"of the package {self.packages[name]}"
            if name in self.packages
            else note(self[name])
            for name in self
        }


def _package(point: EntryPoint) -> str:
    return point.dist.name if point.dist is not None else point.module.partition(".")[0]


def _load(point: EntryPoint, kind: type[T], label: str) -> T:
    """Load a plugin, or say why it is left out."""
    try:
        value = point.load()
    except Exception as error:  # whatever another's module raises
        message = (str(error) or type(error).__name__).splitlines()[0]
        reason = f"{point.value} cannot be loaded: {type(error).__name__}: {message}"
    else:
        if isinstance(value, kind):
            return value
        reason = f"{point.value} is {type(value).__name__} in place of {kind.__name__}"
    REJECTED_PLUGINS[label] = reason
    raise PluginError(label, f"{reason}; it is left out")
