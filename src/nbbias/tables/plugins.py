"""What other packages add by entry points: studies, judges, instruments; loaded when asked for.

Which names there are is read from the packages' metadata, without importing any of them. A plugin
that cannot be loaded, or that takes a name which stands, is left out; `LEFT_OUT` says why.
"""

from __future__ import annotations

from collections.abc import Callable, ItemsView, Iterator, Mapping, MutableMapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Generic, NamedTuple, TypeVar

from nbbias.tables.errors import NbbiasError

T = TypeVar("T")

#: The plugins that were left out: what and whose each is, and why.
LEFT_OUT: dict[str, str] = {}


class PluginError(NbbiasError, KeyError):
    """What another package adds cannot be used."""


@cache
def points(group: str) -> tuple[EntryPoint, ...]:
    """Return the entry points of a group, in the order of their packages' names.

    Examples
    --------
    >>> points("nbbias.nothing")
    ()
    """
    return tuple(sorted(entry_points(group=group), key=lambda one: (package(one), one.name)))


def package(point: EntryPoint) -> str:
    """Return whose an entry point is: the package's name."""
    return point.dist.name if point.dist is not None else point.module.partition(".")[0]


class Late(NamedTuple, Generic[T]):
    """An entry of our own that takes a while to load, and is loaded when it is first read.

    Examples
    --------
    >>> Registry("nbbias.nothing", {"one": Late(lambda: 1)}, int)["one"]
    1
    """

    load: Callable[[], T]


class _Theirs(NamedTuple):
    """An entry of a plugin that was not loaded yet.

    The type of `point` does not tell it: where the backport importlib_metadata was imported, entry
    points are of a class of that.
    """

    point: EntryPoint


class Registry(MutableMapping[str, T], Generic[T]):
    """Our entries by name, and after them those of plugins, each loaded when it is first read.

    Parameters
    ----------
    group
        The entry points, such as ``"nbbias.judges"``.
    own
        What this package has, or what loads it (`Late`).
    kind
        The type that an entry is of.
    family
        The beginning of the names of those entry points of the group that belong here.
    called
        What an entry calls itself, where it does: that must be its entry point's name.

    Examples
    --------
    >>> known = Registry("nbbias.nothing", {"one": 1}, int)
    >>> list(known), known["one"], "two" in known
    (['one'], 1, False)
    """

    def __init__(
        self,
        group: str,
        own: Mapping[str, T | Late[T]],
        kind: type[T],
        *,
        family: str = "",
        called: Callable[[T], str] | None = None,
    ) -> None:
        self.own = dict(own)
        self._what = group.rpartition(".")[2]
        self._kind, self._called = kind, called
        self._known: dict[str, T | Late[T] | _Theirs] = dict(own)
        for point in points(group):
            name = point.name.removeprefix(family)
            if not point.name.startswith(family):
                continue
            if name in self._known:
                held = self._known[name]
                whose = package(held.point) if isinstance(held, _Theirs) else "nbbias"
                self._leave_out(name, point, f"the name stands already: it is one of {whose}'s")
            else:
                self._known[name] = _Theirs(point)

    def __getitem__(self, name: str) -> T:
        found = self._known[name]
        if isinstance(found, Late):
            found = self._known[name] = found.load()
        return self._loaded(name, found.point) if isinstance(found, _Theirs) else found

    def __setitem__(self, name: str, value: T) -> None:
        self._known[name] = value

    def __delitem__(self, name: str) -> None:
        del self._known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(list(self._known))

    def __len__(self) -> int:
        return len(self._known)

    def __contains__(self, name: object) -> bool:
        return name in self._known

    def items(self) -> ItemsView[str, T]:
        """Return names and entries, without those that cannot be loaded."""
        return {name: self[name] for name in self if self._sound(name)}.items()

    def values(self) -> Any:
        """Return the entries, without those that cannot be loaded."""
        return dict(self.items()).values()

    def notes(self, note: Callable[[T], str]) -> dict[str, str]:
        """Return a note on each entry; of a plugin that was not loaded yet, whose it is."""
        return {
            name: f"of the package {package(one.point)}"
            if isinstance(one, _Theirs)
            else note(self[name])
            for name, one in list(self._known.items())
        }

    def _sound(self, name: str) -> bool:
        try:
            self[name]
        except PluginError:
            return False
        return True

    def _loaded(self, name: str, point: EntryPoint) -> T:
        told = ""
        try:
            found = point.load()
        except Exception as error:  # whatever another's module raises
            reason = (str(error) or type(error).__name__).splitlines()[0]
            told = f"{point.value} cannot be loaded: {type(error).__name__}: {reason}"
        else:
            if not isinstance(found, self._kind):
                told = f"{point.value} is {type(found).__name__} in place of {self._kind.__name__}"
            elif self._called is not None and self._called(found) != name:
                told = f"{point.value} calls itself {self._called(found)!r}"
        if told:
            del self._known[name]
            raise self._leave_out(name, point, told)
        self._known[name] = found
        return found

    def _leave_out(self, name: str, point: EntryPoint, told: str) -> PluginError:
        where = f"{self._what}: {name!r} of the package {package(point)}"
        LEFT_OUT[where] = told
        return PluginError(where, f"{told}; it is left out")
