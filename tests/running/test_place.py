"""A run takes its folder: whoever is killed, and whatever fails, leaves a complete run."""

import errno
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nbbias import tables
from nbbias.pages import manifest
from nbbias.running import place
from nbbias.tables import NbbiasError
from tests.running.build import read_files

MINE = {"my_picks.csv": b"mine", "notes/one.md": b"mine, too"}
needs_fork = pytest.mark.skipif(sys.platform == "win32", reason="needs fork")


def leave(folder: Path, content: str, *, status: str = "ok") -> dict[str, bytes]:
    """Leave in a folder what a run does; return its files."""
    for name in ("index.html", "notebook.ipynb", "tables/a.csv", f"tables/only-{content}.csv"):
        tables.write(folder / name, content)
    about = {"study": "llmbi", "run": "sample", "started": "2026-01-01", "seconds": 1}
    manifest.write(folder, about, status=status, content=content)
    return read_files(folder)


def of_runs(folder: Path) -> dict[str, bytes]:
    return {name: content for name, content in read_files(folder).items() if name not in MINE}


def hidden(out: Path) -> list[str]:
    return [path.name for path in out.glob("*/.*") if not path.name.endswith(".lock")]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a good run and two files of the user's."""
    folder = tmp_path / "llmbi" / "sample"
    leave(folder, "old")
    for name, content in MINE.items():
        tables.write(folder / name, content)
    return folder


# --- taking it --------------------------------------------------------------------------------


def test_a_failed_run_is_kept_beside_the_last_good_one_until_one_is_complete(folder: Path) -> None:
    before = read_files(folder)
    for content in ("first", "second"):
        made = place.create(folder)
        new = leave(made, content, status="failed")
        assert place.keep(made, folder, complete=False) == place.failed(folder)
        assert read_files(folder) == before
        assert read_files(place.failed(folder)) == new
    tables.write(place.failed(folder) / "notes.md", "mine")
    made = place.create(folder)
    new = leave(made, "third")
    place.keep(made, folder, complete=True)
    assert read_files(folder) == new | MINE
    assert read_files(place.failed(folder)) == {"notes.md": b"mine"}


# --- killed, or refused by the disk, at every step --------------------------------------------

#: Calls of the system that change something.
_STEPS = {"os.rename", "os.remove", "os.rmdir", "os.mkdir"}


def run_to_step(number: int, act: Callable[[], None], do: Callable[[], Any]) -> bool:
    """Do something in a process of its own, and `act` before its nth step and every later one.

    Returns whether there was an nth step.
    """
    pid = os.fork()
    if pid:
        return os.waitpid(pid, 0)[1] != 0
    steps = 0

    def count(event: str, _: object) -> None:
        nonlocal steps
        if event in _STEPS:
            steps += 1
            if steps >= number:
                act()

    try:
        sys.addaudithook(count)
        do()
    except OSError:
        pass
    finally:
        os._exit(steps >= number)


def be_killed() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def fill_disk() -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@needs_fork
@pytest.mark.parametrize(
    ("act", "complete"), [(be_killed, True), (fill_disk, True), (be_killed, False)]
)
def test_at_every_step_a_complete_run_is_there_and_nothing_of_the_user_s_is_lost(
    folder: Path, act: Callable[[], None], complete: bool
) -> None:
    out, number, stopped = folder.parents[1], 0, True
    leave(place.failed(folder), "an earlier failure", status="failed")
    while stopped:
        number += 1
        old = of_runs(folder)
        made = place.create(folder)
        new = leave(made, f"run {number}", status="ok" if complete else "failed")
        stopped = run_to_step(number, act, lambda: place.keep(made, folder, complete=complete))  # noqa: B023
        # Between the two renames nothing is there for a moment.
        assert of_runs(folder) in ([old, new, {}] if complete else [old])
        with place.lock(folder):  # as the next run does
            pass
        assert of_runs(folder) in ([old, new] if complete else [old])
        assert read_files(folder).items() >= MINE.items()
        assert hidden(out) == []
    assert of_runs(folder) == (new if complete else old)
    assert number > 4


# --- two at once ------------------------------------------------------------------------------


def test_a_folder_is_locked_by_one_process(tmp_path: Path) -> None:
    folder = tmp_path / "llmbi" / "sample"
    for _ in range(2):
        other, refused = folder.with_name("other"), pytest.raises(NbbiasError, match="by another")
        with place.lock(folder), place.lock(other), refused, place.lock(folder):
            pass


@needs_fork
def test_a_dead_process_locks_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "llmbi" / "sample"
    pid = os.fork()
    if not pid:
        with place.lock(folder):
            os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(pid, 0)
    with place.lock(folder):
        pass


def test_what_a_killed_run_left_and_cannot_be_removed_is_named_before_anything_runs(
    folder: Path,
) -> None:
    made = place.create(folder)
    moved = made.rename(folder.with_name("elsewhere"))
    made.symlink_to(moved)
    for _ in range(2):  # the lock is free again
        with pytest.raises(NbbiasError, match="cannot be removed"), place.lock(folder):
            pass
    assert moved.is_dir()
