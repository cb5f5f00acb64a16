"""What other packages add: known by metadata, loaded when read, left out with a reason."""

from __future__ import annotations

import sys
from importlib.metadata import EntryPoint

import pytest

from nbbias.tables import LEFT_OUT, NbbiasError, PluginError, Registry, plugins

GROUP = "nbbias.things"


@pytest.fixture
def added(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """Entry points of the group, as pairs of name and value; a package is its value's module."""
    pairs: list[tuple[str, str]] = []

    def points(group: str) -> tuple[EntryPoint, ...]:
        return tuple(EntryPoint(name, value, group) for name, value in pairs)

    monkeypatch.setattr(plugins, "points", points)
    monkeypatch.setattr(plugins, "LEFT_OUT", {})
    return pairs


def test_ours_come_first_and_others_are_loaded_when_they_are_read(
    added: list[tuple[str, str]],
) -> None:
    added += [("version", "sys:version_info"), ("absent", "no_such_package:thing")]
    known = Registry(GROUP, {"own": (1,)}, tuple)
    assert list(known) == ["own", "version", "absent"]
    assert "absent" in known and len(known) == 3
    assert known.notes(lambda one: f"{len(one)} long") == {
        "own": "1 long",
        "version": "of the package sys",
        "absent": "of the package no_such_package",
    }
    assert known["version"] is sys.version_info
    assert known.own == {"own": (1,)}


def test_what_cannot_be_loaded_is_told_and_left_out(added: list[tuple[str, str]]) -> None:
    added += [("absent", "no_such_package:thing"), ("text", "sys:platform"), ("fine", "sys:path")]
    known = Registry(GROUP, {}, list)
    assert [name for name, _ in known.items()] == ["fine"]
    assert list(known) == ["fine"]
    told = plugins.LEFT_OUT
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


def test_a_name_that_stands_is_refused_with_who_has_it(added: list[tuple[str, str]]) -> None:
    added += [("own", "json:dumps"), ("new", "json:loads"), ("new", "csv:reader")]
    known = Registry(GROUP, {"own": print}, object)
    assert known["own"] is print
    assert "one of nbbias's" in plugins.LEFT_OUT["things: 'own' of the package json"]
    assert "one of json's" in plugins.LEFT_OUT["things: 'new' of the package csv"]


def test_what_calls_itself_otherwise_is_left_out(added: list[tuple[str, str]]) -> None:
    added.append(("path", "sys:platform"))
    known = Registry(GROUP, {}, str, called=lambda one: one)
    assert not dict(known.items())
    assert "calls itself" in next(iter(plugins.LEFT_OUT.values()))


def test_a_family_has_the_entry_points_whose_names_begin_with_it(
    added: list[tuple[str, str]],
) -> None:
    added += [("tone.flags", "sys:flags"), ("taste.path", "sys:path")]
    assert list(Registry(GROUP, {}, object, family="tone.")) == ["flags"]
    assert not plugins.LEFT_OUT


def test_a_test_may_put_one_in_and_take_it_out(monkeypatch: pytest.MonkeyPatch) -> None:
    known = Registry("nbbias.nothing", {"a": 1}, int)
    with monkeypatch.context() as patch:
        patch.setitem(known, "b", 2)
        assert known["b"] == 2
    assert list(known) == ["a"]


def test_nothing_is_left_out_here() -> None:
    assert not LEFT_OUT


def test_entry_points_may_be_of_another_class(monkeypatch: pytest.MonkeyPatch) -> None:
    class Point:  # as the backport's
        name, value, group, dist, module = "theirs", "math:pi", GROUP, None, "math"

        def load(self) -> float:
            return 3.14

    monkeypatch.setattr(plugins, "points", lambda group: (Point(),))
    things = Registry(GROUP, {"ours": 1.0}, float)
    assert things.notes(str) == {"ours": "1.0", "theirs": "of the package math"}
    assert things["theirs"] == 3.14
