"""The asking loop when disk, clock or another process fail it: what is paid for is kept."""

from __future__ import annotations

import io
import json
import multiprocessing
import os
import random
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import psutil
import pytest
from rich.console import Console

from nbbias.asking import loop, plan as generate, recorded, store, view
from nbbias.running import generation
from nbbias.tables import NbbiasError
from tests.asking.test_call import ask_of, server as server
from tests.asking.test_loop_killed import filed, params, suite
from tests.fake_openai import FakeOpenAI
from tests.rights import unprivileged

pytestmark = pytest.mark.filterwarnings("ignore:The 'initial' parameter:DeprecationWarning")

LONG = [f"{i} " + "word " * 400 for i in range(24)]


# --- the disk ---------------------------------------------------------------------------------


def command(
    path: Path, *, first: Callable[[], object], **environment: str
) -> subprocess.CompletedProcess[str]:
    """Ask in a process of its own, in which something is done first."""
    return subprocess.run(
        [sys.executable, "-m", "nbbias", "generate", str(path)],
        preexec_fn=first,
        text=True,
        capture_output=True,
        timeout=120,
        check=False,
        env={**os.environ, **environment},
    )


def small_files() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))


def test_what_the_system_does_not_let_be_written_is_rescued_and_taken_in(
    tmp_path: Path, server: FakeOpenAI
) -> None:
    table = suite(24).assign(prompt=LONG)
    path = params(tmp_path, server.url, table)
    (tmp_path / "elsewhere").mkdir()
    ended = command(path, first=small_files, TMPDIR=str(tmp_path / "elsewhere"))
    assert ended.returncode == 1, ended.stderr
    paid = sum(server.billed.values())
    kept = filed(tmp_path)
    (file,) = (tmp_path / "elsewhere").glob("nbbias-rescued-*.jsonl")
    rescued = [json.loads(line) for line in file.read_text().splitlines()]
    assert len(kept) + len(rescued) == paid < 24
    plan = generation.plan_file(path)
    recorded.take_in(plan, file)
    assert generate.ask(plan).answered == 24 - paid
    assert set(server.billed.values()) == {1}


def test_a_line_that_does_not_fit_leaves_those_before_it_whole(tmp_path: Path) -> None:
    path = tmp_path / "rescued.jsonl"
    loop._append(path, b'{"n": 1}\n')

    def full() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (20, 20))
        try:
            loop._append(path, b'{"n": 2, "and": "more"}\n')
        except OSError:
            os._exit(7)

    process = multiprocessing.get_context("fork").Process(target=full)
    process.start()
    process.join(30)
    assert process.exitcode == 7
    assert path.read_bytes() == b'{"n": 1}\n'


def test_an_answer_is_rescued_where_neither_home_nor_a_temporary_folder_is(
    tmp_path: Path, server: FakeOpenAI, monkeypatch: pytest.MonkeyPatch
) -> None:
    def nowhere() -> str:
        raise FileNotFoundError(2, "No usable temporary directory found")

    monkeypatch.setattr(tempfile, "gettempdir", nowhere)
    monkeypatch.setenv("HOME", str(tmp_path / "no such folder"))

    def full(*_: object) -> bool:
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(store, "record", full)
    tally, _ = ask_of(tmp_path, server, ["One.", "Two."])
    (path,) = tally.rescued
    try:
        assert path.parent == Path("/dev/shm")
        assert len(path.read_text().splitlines()) == 2 == tally.answered
    finally:
        path.unlink()
    assert (tally.lost, "the disk is full" in tally.stopped) == (0, True)


@pytest.mark.parametrize("kept", ["store_path", "export_path"])
def test_nothing_is_asked_where_its_answers_could_not_be_kept(
    tmp_path: Path, server: FakeOpenAI, kept: str
) -> None:
    """The record, or the table, in a folder that may only be read."""
    files = {"store_path": "own/a.sqlite", "export_path": "own/a.parquet"}
    files[kept] = files[kept].replace("own", "kept")
    files = {name: str(tmp_path / file) for name, file in files.items()}
    path = params(tmp_path, server.url, suite(3), **files)
    for folder, mode in [("own", 0o755), ("kept", 0o555)]:
        (tmp_path / folder).mkdir(mode=mode)
    ended = command(path, first=unprivileged)
    (tmp_path / "kept").chmod(0o755)
    told = " ".join(ended.stderr.split())
    assert ended.returncode == 2 and f"{files[kept]}: " in told and "written" in told
    assert not server.sent


@pytest.mark.parametrize("damaged", ["answers.sqlite", "answers.parquet"])
def test_a_damaged_record_or_table_is_told(
    tmp_path: Path, server: FakeOpenAI, damaged: str
) -> None:
    path = params(tmp_path, server.url, suite(30))
    quiet = Console(file=io.StringIO())
    assert view.complete(generation.plan_file(path), quiet) == 0
    with closing(sqlite3.connect(tmp_path / "answers.sqlite")) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    file, draw, told = tmp_path / damaged, random.Random(7), set()
    whole = file.read_bytes()
    for _ in range(25):
        content = bytearray(whole)
        for _ in range(draw.choice([1, 5, 50])):
            content[draw.randrange(len(content))] = draw.randrange(256)
        file.write_bytes(content[: draw.choice([None, draw.randrange(1, len(content))])])
        try:
            view.complete(generation.plan_file(path), quiet)
        except NbbiasError as error:
            told.add(str(error))
        for one in tmp_path.glob(f"{damaged}-*"):
            one.unlink()
    assert len(told) > 3
    assert all(one.startswith(f"{file}: ") for one in told)


# --- the clock --------------------------------------------------------------------------------


def test_the_clock_can_be_set_back_while_a_claim_is_held(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The start of a process is told by the clock; who holds a claim must not depend on it."""
    now, boot, started = time.time(), psutil.boot_time(), psutil.Process.create_time
    with closing(store.connect(tmp_path / "a.sqlite")) as connection:
        assert store.claim(connection, "k") == "claimed"
        # It is an hour earlier now, and so is the boot that the system tells.
        monkeypatch.setattr(time, "time", lambda: now - 3600)
        monkeypatch.setattr(psutil, "boot_time", lambda: boot - 3600)
        monkeypatch.setattr(psutil.Process, "create_time", lambda one: started(one) - 3600)
        assert store.claim(connection, "k") == "held"
        store.release(connection)
        assert store.claim(connection, "k") == "claimed"


def test_a_claim_from_before_the_clock_was_set_back_holds_for_a_lease_at_most(
    tmp_path: Path,
) -> None:
    with closing(store.connect(tmp_path / "a.sqlite")) as connection:
        row = ("k", "elsewhere:1:1.0", time.time() + 86_400)
        connection.execute("INSERT INTO claims VALUES (?, ?, ?)", row)
        assert store.claim(connection, "k", lease=0.2) == "held"
        time.sleep(0.3)
        assert store.claim(connection, "k") == "claimed"
