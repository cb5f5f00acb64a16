"""Stopped midway by whatever it is and taken up again: no answer lost, none paid for twice."""

import io
import os
import random
import resource
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pandas as pd
import pytest

from nbbias.asking import view
from nbbias.reading import Terminal
from nbbias.running import generation
from nbbias.tables import NbbiasError
from tests.asking.build import make_prompts, read_filed, write_params
from tests.asking.conftest import NBBias
from tests.fake_openai import FAULTS, FakeOpenAI
from tests.rights import unprivileged


def start(path: Path, *, first: Callable[[], object] | None = None) -> subprocess.Popen[str]:
    """Ask in a process of its own, in which something is done first."""
    line = [sys.executable, "-m", "nbbias", "generate", str(path)]
    pipes = dict.fromkeys(("stdout", "stderr"), subprocess.PIPE)
    return subprocess.Popen(line, preexec_fn=first, text=True, **pipes)


def complete(path: Path) -> int:
    return view.complete(generation.plan_file(path), Terminal(file=io.StringIO()))


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.3, 0.7])
def test_a_killed_run_is_taken_up_without_loss(
    tmp_path: Path, server: FakeOpenAI, share: float
) -> None:
    server.faults, server.delay, server.hang, server.random = FAULTS, 0.02, 1, random.Random(3)
    limits = {"max_retries": 8, "first_wait": 0.05, "attempt_timeout": 5}
    path = write_params(tmp_path, server.url, make_prompts(n=8), limit=8, **limits)
    assert complete(path) == 0
    pilot = pd.read_parquet(tmp_path / "answers.parquet")
    path = write_params(tmp_path, server.url, make_prompts(n=60), **limits)
    process = start(path)
    while len(read_filed(tmp_path)) < 60 * share and process.poll() is None:
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    before = read_filed(tmp_path)
    assert 8 < len(before) < 60
    # Whoever looks finds the old table, never half of a new one.
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "answers.parquet"), pilot)
    assert complete(path) == 0
    after = read_filed(tmp_path)
    assert len(after) == 60
    assert before.items() <= after.items()
    # Billed: one each, those whose answer the server itself spoiled, and those in flight when
    # the process was killed; nothing else.
    spoiled = sum(server.sent[kind] for kind in ("drop", "truncated", "no_json", "no_choices"))
    assert sum(server.billed.values()) <= 60 + spoiled + 8
    table = pd.read_parquet(tmp_path / "answers.parquet")
    assert dict(zip(table["asked"], table["text"], strict=True)) == after


def interrupt(told: Callable[[], bool], number: int = signal.SIGINT) -> None:
    """Send this process a signal half a second after something is so."""

    def wait() -> None:
        while not told():
            time.sleep(0.02)
        time.sleep(0.5)
        os.kill(os.getpid(), number)

    threading.Thread(target=wait, daemon=True).start()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_waits_for_what_is_paid_and_keeps_it(
    tmp_path: Path, server: FakeOpenAI, nbbias: NBBias, number: int
) -> None:
    server.delay = 0.2
    interrupt(lambda: sum(server.billed.values()) >= 8, number)
    path = write_params(tmp_path, server.url, make_prompts(n=500), concurrency=4)
    code, printed = nbbias("generate", path)
    assert code == 130, printed
    assert "stopped: interrupted" in printed
    answers = pd.read_parquet(tmp_path / "answers.parquet")["text"].notna().sum()
    assert answers == sum(server.billed.values()) < 500


def test_ctrl_c_does_not_wait_for_the_next_attempt(
    tmp_path: Path, server: FakeOpenAI, nbbias: NBBias
) -> None:
    """Which the server wants to be in a minute."""
    server.retry_after = 60
    interrupt(lambda: bool(server.sent["429"]))
    path = write_params(tmp_path, server.url, make_prompts("[fault:429]"))
    code, printed = nbbias("generate", path)
    assert code == 130, printed
    assert "waiting 60 s" in printed and "stopped: interrupted" in printed
    assert server.sent["429"] == 1


def test_a_full_disk_ends_it_in_a_sentence_and_what_is_stored_is_kept(
    tmp_path: Path, server: FakeOpenAI
) -> None:
    """A file may have 100 kB: what the system does not let be written is as on a full disk."""
    prompts = make_prompts(*(f"{i} " + "word " * 400 for i in range(40)))
    path = write_params(tmp_path, server.url, prompts, concurrency=2)
    most = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    process = start(path, first=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, most)))
    printed = " ".join("".join(process.communicate(timeout=120)).split())
    assert process.returncode == 1, printed
    assert "Traceback" not in printed
    assert "make room on the disk" in printed
    stored, paid = len(read_filed(tmp_path)), sum(server.billed.values())
    assert 0 < stored < paid <= stored + 2  # those in flight
    assert f"{paid - stored} paid for, but could not be stored" in printed
    assert complete(path) == 0
    assert sum(server.billed.values()) == 40 + paid - stored


@pytest.mark.parametrize("kept", ["store_path", "export_path"])
def test_nothing_is_asked_where_its_answers_could_not_be_kept(
    tmp_path: Path, server: FakeOpenAI, kept: str
) -> None:
    """The store, or the table, in a folder that may only be read."""
    files = {"store_path": "own/a.sqlite", "export_path": "own/a.parquet"}
    files[kept] = files[kept].replace("own", "locked")
    files = {name: str(tmp_path / file) for name, file in files.items()}
    path = write_params(tmp_path, server.url, **files)
    for folder, mode in [("own", 0o755), ("locked", 0o555)]:
        (tmp_path / folder).mkdir(mode=mode)
    process = start(path, first=unprivileged)
    printed = " ".join(process.communicate(timeout=120)[1].split())
    (tmp_path / "locked").chmod(0o755)
    assert process.returncode == 2
    assert f"{files[kept]}: " in printed and "written" in printed
    assert not server.sent


@pytest.mark.parametrize("damaged", ["answers.sqlite", "answers.parquet"])
def test_a_damaged_store_or_table_is_an_error_in_words(
    tmp_path: Path, server: FakeOpenAI, damaged: str
) -> None:
    path = write_params(tmp_path, server.url, make_prompts(n=30))
    assert complete(path) == 0
    with closing(sqlite3.connect(tmp_path / "answers.sqlite")) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    file, draw, errors = tmp_path / damaged, random.Random(7), set()
    whole = file.read_bytes()
    for _ in range(12):
        content = bytearray(whole)
        for _ in range(draw.choice([1, 5, 50])):
            content[draw.randrange(len(content))] = draw.randrange(256)
        file.write_bytes(content[: draw.choice([None, draw.randrange(1, len(content))])])
        try:
            complete(path)
        except NbbiasError as error:
            errors.add(str(error))
        for left in tmp_path.glob(f"{damaged}-*"):
            left.unlink()
    assert len(errors) > 1
    assert all(error.startswith(f"{file}: ") for error in errors)
