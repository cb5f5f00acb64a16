"""What other packages add: known by metadata, loaded when read, left out with a reason."""

from __future__ import annotations

import sys
from importlib.metadata import EntryPoint

import pytest

from nbbias.tables import REJECTED_PLUGINS, NbbiasError, PluginError, Registry, packages

GROUP = "nbbias.things"


@pytest.fixture
def added(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """Entry points of the group, as pairs of name and value; a package is its value's module."""
    pairs: list[tuple[str, str]] = []

    def entry_points(group: str) -> tuple[EntryPoint, ...]:
        return tuple(EntryPoint(name, value, group) for name, value in pairs)

    monkeypatch.setattr(packages, "entry_points", entry_points)
    monkeypatch.setattr(packages, "REJECTED_PLUGINS", {})
    return pairs


def test_ours_come_first_and_others_are_loaded_when_they_are_read(
    added: list[tuple[str, str]],
) -> None:
    added += [("version", "sys:version_info"), ("absent", "no_such_package:thing")]
    known = Registry(GROUP, {"own": (1,)}, tuple)
    assert list(known) == ["own", "absent", "version"]
    assert "absent" in known and len(known) == 3
    assert known.describe(lambda one: f"{len(one)} long") == {
        "own": "1 long",
        "absent": "of the package no_such_package",
        "version": "of the package sys",
    }
    assert known["version"] is sys.version_info


def test_what_cannot_be_loaded_is_told_and_left_out(added: list[tuple[str, str]]) -> None:
    added += [("absent", "no_such_package:thing"), ("text", "sys:platform"), ("fine", "sys:path")]
    known = Registry(GROUP, {}, list)
    assert [name for name, _ in known.items()] == ["fine"]
    assert list(known) == ["fine"]
    told = packages.REJECTED_PLUGINS
    assert "ModuleNotFoundError" in told["things: 'absent' of the package no_such_package"]
    assert "sys:platform is str in place of list" in told["things: 'text' of the package sys"]


def test_reading_one_that_is_broken_is_a_mistake_in_words(added: list[tuple[str, str]]) -> None:
    added.append(("absent", "no_such_package:thing"))
    known = Registry(GROUP, {}, list)
    with pytest.raises(PluginError, match="'absent' of the package no_such_package") as caught:
        known["absent"]
    assert isinstance(caught.value, NbbiasError) and isinstance(caught.value, KeyError)
    assert "it is left out" in str(caught.value)
    assert known.get("absent") is None


def test_a_name_that_is_taken_is_refused(added: list[tuple[str, str]]) -> None:
    added += [("own", "json:dumps"), ("new", "json:loads"), ("new", "csv:reader")]
    known = Registry(GROUP, {"own": print}, type(print))
    assert known["own"] is print
    assert known["new"].__module__ == "_csv"  # packages stand in the order of their names
    assert packages.REJECTED_PLUGINS == {
        "things: 'own' of the package json": "the name is taken",
        "things: 'new' of the package json": "the name is taken",
    }


def test_a_family_has_the_entry_points_whose_names_begin_with_it(
    added: list[tuple[str, str]],
) -> None:
    added += [("tone.flags", "sys:flags"), ("taste.path", "sys:path")]
    assert list(Registry(GROUP, {}, object, family="tone.")) == ["flags"]
    assert not packages.REJECTED_PLUGINS


def test_a_test_may_put_one_in_and_take_it_out(monkeypatch: pytest.MonkeyPatch) -> None:
    known = Registry("nbbias.nothing", {"a": 1}, int)
    with monkeypatch.context() as patch:
        patch.setitem(known, "b", 2)
        assert known["b"] == 2
    assert list(known) == ["a"]


def test_nothing_is_left_out_here() -> None:
    assert not REJECTED_PLUGINS
