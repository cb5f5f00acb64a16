"""A late package is imported without being run, and is itself once something of it is used."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from nbbias import tables


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], str]:
    """Write a package that nobody has loaded, and return its name."""

    def write(name: str, source: str) -> str:
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text(source)
        (tmp_path / name / "inner.py").write_text(f"from {name} import VALUE\n")
        importlib.invalidate_caches()
        for one in (name, f"{name}.inner"):  # so that what is loaded by then is forgotten
            monkeypatch.setitem(sys.modules, one, ModuleType(one))
            monkeypatch.delitem(sys.modules, one)
        return name

    monkeypatch.syspath_prepend(str(tmp_path))
    return write


def test_it_runs_once_and_when_something_of_it_is_used(
    package: Callable[[str, str], str], capsys: pytest.CaptureFixture[str]
) -> None:
    name = package("nbbias_late_one", "print('run')\nVALUE = 7\n")
    tables.late(name)
    first, again = importlib.import_module(name), __import__(name)
    assert first is again
    assert not capsys.readouterr().out
    assert (first.VALUE, again.VALUE, type(first)) == (7, 7, ModuleType)
    tables.late(name)  # it stays what it is
    assert sys.modules[name] is first
    assert capsys.readouterr().out == "run\n"


def test_a_module_within_it_loads_it_first(package: Callable[[str, str], str]) -> None:
    name = package("nbbias_late_outer", "VALUE = 8\n")
    tables.late(name)
    assert importlib.import_module(f"{name}.inner").VALUE == 8


def test_what_fails_as_it_loads_is_forgotten_and_what_is_not_there_is_left(
    package: Callable[[str, str], str],
) -> None:
    name = package("nbbias_late_broken", "raise ImportError('no wheel')\n")
    tables.late(name, "nbbias_late_nowhere")
    assert "nbbias_late_nowhere" not in sys.modules
    with pytest.raises(ImportError, match="no wheel"):
        _ = importlib.import_module(name).VALUE
    assert name not in sys.modules
