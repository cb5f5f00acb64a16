"""What other packages add: known by metadata, loaded when read, left out with a reason."""

import sys
from importlib.metadata import EntryPoint

import pytest

from nbbias.tables import NbbiasError, PluginError, Registry, packages

GROUP = "nbbias.things"


@pytest.fixture
def added(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """Entry points of the group, as pairs of name and value; a package is its value's module."""
    pairs: list[tuple[str, str]] = []

    def entry_points(group: str) -> tuple[EntryPoint, ...]:
        return tuple(EntryPoint(name, value, group) for name, value in pairs)

    monkeypatch.setattr(packages, "entry_points", entry_points)
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


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("no_such_package:thing", "cannot be loaded: ModuleNotFoundError"),
        ("sys:platform", "sys:platform is str in place of list"),
    ],
)
def test_reading_one_that_is_broken_is_a_mistake_in_words(
    added: list[tuple[str, str]], value: str, reason: str
) -> None:
    added.append(("broken", value))
    registry = Registry(GROUP, {"own": [1]}, list)
    with pytest.raises(PluginError, match="'broken' of the package") as caught:
        registry["broken"]
    assert isinstance(caught.value, NbbiasError) and reason in str(caught.value)
    assert registry["own"] == [1] and registry.get("broken") is None
    assert list(registry.items()) == [("own", [1])]


def test_ours_stay_and_a_family_has_the_names_that_begin_with_it(
    added: list[tuple[str, str]],
) -> None:
    added += [("tone.own", "json:dumps"), ("tone.flags", "sys:flags"), ("taste.path", "sys:path")]
    registry = Registry(GROUP, {"own": print}, object, family="tone.")
    assert list(registry) == ["own", "flags"] and registry["own"] is print


def test_of_two_packages_with_one_name_the_same_one_counts_and_the_other_is_named(
    added: list[tuple[str, str]], caplog: pytest.LogCaptureFixture
) -> None:
    for pairs in ([("d", "json:dumps"), ("d", "ast:dump")], [("d", "ast:dump"), ("d", "json:x")]):
        added[:] = pairs
        registry = Registry(GROUP, {"own": print}, object)
        assert registry.packages == {"d": "ast"} and list(registry) == ["own", "d"]
        assert caplog.messages == ["left out d of json: the name exists"]
        caplog.clear()
