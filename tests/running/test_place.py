"""A run takes its place: whoever is killed, and whatever fails, leaves one whole run in it."""

from __future__ import annotations

import errno
import os
import signal
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from nbbias import llmbi, tables
from nbbias.pages import gallery, manifest
from nbbias.running import place, plan as run_plan, run
from nbbias.tables import NbbiasError

MINE = {"my_picks.csv": b"mine", "notes/one.md": b"mine, too"}


def leave(folder: Path, told: str, *, status: str = "ok") -> dict[str, bytes]:
    """Leave in a folder what a run does; return its files."""
    for name in ("index.html", "notebook.ipynb", "tables/a.csv", "figures/f.svg"):
        tables.write(folder / name, told)
    tables.write(folder / "tables" / f"only-{told}.csv", told)
    about = {"study": "llmbi", "run": "sample", "started": "2026-01-01", "seconds": 1}
    manifest.write(folder, about, status=status, told=told)
    return files(folder)


def files(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def of_runs(folder: Path) -> dict[str, bytes]:
    return {name: content for name, content in files(folder).items() if name not in MINE}


def hidden(out: Path) -> list[str]:
    return [path.name for path in out.glob("*/.*") if not path.name.endswith(".lock")]


@pytest.fixture
def there(tmp_path: Path) -> Path:
    """A place with a good run and two files of the user's."""
    folder = tmp_path / "llmbi" / "sample"
    leave(folder, "old")
    for name, content in MINE.items():
        tables.write(folder / name, content)
    return folder


@pytest.fixture(params=[True, False], ids=["in one step", "in two"])
def swap(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether the system lets two folders change places in one step."""
    if not request.param:

        def cannot(*_: Path) -> None:
            raise OSError(errno.ENOSYS, "no such step")

        monkeypatch.setattr(place, "_exchange", cannot)
    elif sys.platform not in {"linux", "darwin"}:
        pytest.skip("this system has no such step")
    return bool(request.param)


# --- taking it --------------------------------------------------------------------------------


def test_the_first_run_takes_its_place(tmp_path: Path) -> None:
    folder = tmp_path / "llmbi" / "sample"
    made = place.beside(folder)
    new = leave(made, "new")
    assert gallery.runs(tmp_path) == []  # what is being made is no run
    assert place.keep(made, folder, whole=True) == folder
    assert files(folder) == new
    assert hidden(tmp_path) == []


@pytest.mark.usefixtures("swap")
def test_a_whole_run_takes_the_place_of_the_last_and_the_users_files_stay(there: Path) -> None:
    made = place.beside(there)
    new = leave(made, "new")
    place.keep(made, there, whole=True)
    assert files(there) == new | MINE
    assert hidden(there.parents[1]) == []


def test_a_failed_run_is_kept_beside_the_last_good_one_until_one_is_whole(there: Path) -> None:
    before, out = files(there), there.parents[1]
    for told in ("first", "second"):
        made = place.beside(there)
        left = leave(made, told, status="failed")
        assert place.keep(made, there, whole=False) == place.failed(there)
        assert files(there) == before
        assert files(place.failed(there)) == left
    listed = {one["run"]: one["status"] for one in gallery.runs(out)}
    assert listed == {"sample": "ok", "sample.failed": "failed"}
    assert gallery.write(out).is_file()
    tables.write(place.failed(there) / "notes.md", "mine")
    made = place.beside(there)
    new = leave(made, "third")
    place.keep(made, there, whole=True)
    assert files(there) == new | MINE
    assert files(place.failed(there)) == {"notes.md": b"mine"}


def test_without_a_good_one_a_failed_run_takes_the_place(tmp_path: Path) -> None:
    folder = tmp_path / "llmbi" / "sample"
    for told, status in (("a", "failed"), ("b", "interrupted"), ("c", "ok")):
        made = place.beside(folder)
        left = leave(made, told, status=status)
        assert place.keep(made, folder, whole=status == "ok") == folder
        assert files(folder) == left
    assert not place.failed(folder).exists()


def test_a_place_that_is_a_link_stays_one(tmp_path: Path) -> None:
    elsewhere, folder = tmp_path / "disk" / "big", tmp_path / "runs" / "llmbi" / "sample"
    leave(elsewhere, "old")
    folder.parent.mkdir(parents=True)
    folder.symlink_to(elsewhere)
    made = place.beside(folder)
    new = leave(made, "new")
    place.keep(made, folder, whole=True)
    assert folder.is_symlink()
    assert files(elsewhere) == new


def test_whoever_stands_in_the_place_stands_there_still(
    there: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(there)
    made = place.beside(there)
    leave(made, "new")
    place.keep(made, there, whole=True)
    assert Path("index.html").read_text() == "new"


@pytest.mark.parametrize("broken", ["keep", "write"])
def test_a_run_that_cannot_be_kept_has_failed_and_the_last_good_one_stays(
    there: Path, broken: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, heard = files(there), []

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "a file")

    monkeypatch.setattr(*((place, "keep") if broken == "keep" else (manifest, "write")), full)
    ended = SimpleNamespace(close=lambda: None)
    one = run_plan.Run("llmbi", "sample", llmbi.params.Llmbi(), Path(), there, Path())
    live = run._Live(
        one, place.beside(there), ended, ended, {}, datetime.now(UTC), 0.0, {"kind": "ok"}
    )
    assert run._finish(live, lambda _, message: heard.append(message)) == "failed"
    assert "a file: No space left" in heard[0]["message"]
    assert files(there) == before


# --- killed, or refused by the disk, at every step --------------------------------------------

#: What `place` asks of the system that changes anything.
_STEPS = {"os.rename", "os.remove", "os.rmdir", "os.mkdir", "ctypes.dlsym"}


def from_step(number: int, act: Callable[[], None], do: Callable[[], Any]) -> bool:
    """Do something in a process of its own, and `act` before its nth step and every later one.

    Returns whether there was an nth step.
    """
    pid = os.fork()
    if pid:
        return os.waitpid(pid, 0)[1] != 0
    steps = 0

    def hear(event: str, _: object) -> None:
        nonlocal steps
        if event in _STEPS:
            steps += 1
            if steps >= number:
                act()

    try:
        sys.addaudithook(hear)
        do()
    except OSError:
        pass
    finally:
        os._exit(steps >= number)


def killed() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def full() -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.skipif(sys.platform == "win32", reason="needs fork")
@pytest.mark.parametrize("act", [killed, full])
def test_at_every_step_one_whole_run_is_there_and_nothing_of_the_users_is_lost(
    there: Path, act: Callable[[], None], swap: bool
) -> None:
    out, number, came = there.parents[1], 0, True
    tables.write(place.failed(there) / "index.html", "an earlier failure")
    while came:
        number += 1
        old = of_runs(there)
        made = place.beside(there)
        new = leave(made, f"run {number}")

        def take(made: Path = made) -> None:
            place.keep(made, there, whole=True)

        came = from_step(number, act, take)
        found = of_runs(there)
        # Between two steps, where there is no single one, nothing is there for a moment.
        assert found in ([old, new] if swap else [old, new, {}])
        place.tidy(out)  # as the next run does
        assert of_runs(there) in [old, new]
        assert files(there).items() >= MINE.items()
        assert hidden(out) == []
    assert of_runs(there) == new
    assert number > 5


@pytest.mark.skipif(sys.platform == "win32", reason="needs fork")
def test_at_every_step_of_keeping_a_failed_run_the_good_one_stays(there: Path) -> None:
    out, number, came, good = there.parents[1], 0, True, files(there)
    while came:
        number += 1
        made = place.beside(there)
        leave(made, f"run {number}", status="failed")
        came = from_step(number, killed, lambda: place.keep(made, there, whole=False))  # noqa: B023
        assert files(there) == good
        place.tidy(out)
        assert files(there) == good
        assert hidden(out) == []


# --- two at once ------------------------------------------------------------------------------


def test_a_place_is_held_by_one(tmp_path: Path) -> None:
    folder = tmp_path / "llmbi" / "sample"
    for _ in range(2):
        other, refused = folder.with_name("other"), pytest.raises(NbbiasError, match="by another")
        with place.held(folder), place.held(other), refused, place.held(folder):
            pass


@pytest.mark.skipif(sys.platform == "win32", reason="needs fork")
def test_a_dead_process_holds_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "llmbi" / "sample"
    pid = os.fork()
    if not pid:
        with place.held(folder):
            os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(pid, 0)
    with place.held(folder):
        pass


def test_what_another_process_makes_is_not_taken_away(there: Path) -> None:
    out = there.parents[1]
    made = place.beside(there)
    with place.held(there):
        place.tidy(out)
        assert made.is_dir()
    place.tidy(out)
    assert not made.exists()
    assert files(there).items() >= MINE.items()


def test_hidden_files_of_others_stay(there: Path) -> None:
    kept = [there.parent / name for name in (".a.b.new", ".sample.12345678.mine")]
    for path in kept:
        path.mkdir()
    place.tidy(there.parents[1])
    assert all(path.is_dir() for path in kept)
