"""The store: what it keeps, what it gives out, and whom it believes."""

from __future__ import annotations

import multiprocessing
import os
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import psutil
import pytest

from nbbias.asking import store
from nbbias.asking.store import StoreError

ASKED = ("m", "", [{"role": "user", "content": "Why?"}], {"temperature": 1.0}, 1)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "deep" / "answers.sqlite"


@pytest.fixture
def connection(path: Path) -> Iterator[sqlite3.Connection]:
    with closing(store.connect(path)) as one:
        yield one


def answer(key: str = "k", **further: object) -> dict[str, object]:
    return {
        "key": key,
        "model": "m",
        "base_url": "",
        "messages": "[]",
        "parameters": "{}",
        "replicate": 1,
        "status": "answered",
        "text": "Because.",
        "asked_at": store.now(),
        "run": "r",
        **further,
    }


# --- keys -------------------------------------------------------------------------------------


def test_the_key_is_the_same_tomorrow() -> None:
    """Filed answers are found only by the same hash: these digits must never change."""
    assert store.key(*ASKED) == "0a9b4be1941662f45b842734c6de307f6eb2a8d9533af66b306ac2ea193848e8"
    reordered = ("m", "", [{"content": "Why?", "role": "user"}], {"temperature": 1.0}, 1)
    assert store.key(*reordered) == store.key(*ASKED)


@pytest.mark.parametrize(
    ("place", "other"),
    [
        (0, "n"),
        (1, "http://127.0.0.1/v1"),
        (2, [{"role": "user", "content": "Why? "}]),
        (2, [{"role": "system", "content": "Why?"}]),
        (3, {"temperature": 0.9}),
        (3, {"temperature": 1.0, "max_tokens": 5}),
        (3, {}),
        (4, 2),
    ],
)
def test_whatever_differs_gives_another_key(place: int, other: object) -> None:
    changed = [*ASKED]
    changed[place] = other
    assert store.key(*changed) != store.key(*ASKED)


# --- answers ----------------------------------------------------------------------------------


def test_an_answer_comes_back_as_it_was(connection: sqlite3.Connection) -> None:
    text = "Ünïcode, \x00 nul, \u202e marks, \U0001f600, 'quotes' and \"more\"\r\n" + "x" * 100_000
    store.record(connection, answer(text=text, input_tokens=3, output_tokens=5))
    row = store.answers(connection, ["k", "not there", "k"]).iloc[0]
    assert row["text"] == text
    assert (row["input_tokens"], row["output_tokens"], row["status"]) == (3, 5, "answered")
    assert len(store.answers(connection, ["k", "not there", "k"])) == 1


def test_an_answer_is_never_overwritten(connection: sqlite3.Connection) -> None:
    assert store.record(connection, answer())
    assert not store.record(connection, answer(text="Otherwise."))
    assert not store.record(connection, answer(status="failed", text=None))
    assert store.answers(connection, ["k"])["text"].tolist() == ["Because."]


@pytest.mark.parametrize("status", ["failed", "rejected"])
def test_an_error_gives_way_to_an_answer(connection: sqlite3.Connection, status: str) -> None:
    store.record(connection, answer(status=status, text=None, error="no"))
    assert store.record(connection, answer())
    row = store.answers(connection, ["k"]).iloc[0]
    assert (row["status"], row["text"], row["error"]) == ("answered", "Because.", None)


def test_thousands_are_found_at_once(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA synchronous = OFF")
    for i in range(1203):
        store.record(connection, answer(str(i)))
    assert len(store.answers(connection, map(str, range(2000)))) == 1203


def test_no_answers_are_an_empty_table(connection: sqlite3.Connection) -> None:
    assert list(store.answers(connection, []).columns) == list(store.COLUMNS)


def test_looking_makes_no_file(path: Path) -> None:
    assert store.look(path) == ({}, {})
    assert not path.parent.exists()


def test_looking_tells_statuses_and_mean_tokens(path: Path, connection: sqlite3.Connection) -> None:
    store.record(connection, answer("a", output_tokens=10))
    store.record(connection, answer("b", output_tokens=20))
    store.record(connection, answer("c", status="rejected", output_tokens=None))
    assert store.look(path) == ({"a": "answered", "b": "answered", "c": "rejected"}, {"m": 15.0})


# --- claims -----------------------------------------------------------------------------------


def held_by(connection: sqlite3.Connection, who: str, *, until: float = 60) -> None:
    connection.execute(
        "INSERT OR REPLACE INTO claims VALUES ('k', ?, ?)", (who, time.time() + until)
    )


def test_a_claim_holds_until_it_is_given_back_or_answered(connection: sqlite3.Connection) -> None:
    assert store.claim(connection, "k") == "claimed"
    assert store.claim(connection, "k") == "held"
    store.release(connection, "k")
    assert store.claim(connection, "k") == "claimed"
    store.record(connection, answer())
    assert store.claim(connection, "k") == "done"
    assert connection.execute("SELECT count(*) FROM claims").fetchone()[0] == 0


def test_release_gives_back_only_ones_own(connection: sqlite3.Connection) -> None:
    held_by(connection, "elsewhere:1:1.0")
    store.claim(connection, "other")
    store.release(connection)
    keys = [row[0] for row in connection.execute("SELECT key FROM claims")]
    assert keys == ["k"]


def test_a_rejected_prompt_is_claimed_only_again(connection: sqlite3.Connection) -> None:
    store.record(connection, answer(status="rejected", text=None))
    assert store.claim(connection, "k") == "done"
    assert store.claim(connection, "k", again=True) == "claimed"


def test_the_claim_of_another_machine_holds_until_it_runs_out(
    connection: sqlite3.Connection,
) -> None:
    held_by(connection, "elsewhere:1:1.0")
    assert store.claim(connection, "k") == "held"
    held_by(connection, "elsewhere:1:1.0", until=-1)
    assert store.claim(connection, "k") == "claimed"


def test_the_claim_of_a_dead_process_is_taken_over_at_once(connection: sqlite3.Connection) -> None:
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    who = store.owner(process.pid)
    held_by(connection, who)
    assert store.claim(connection, "k") == "held"
    process.kill()
    while psutil.Process(process.pid).status() != psutil.STATUS_ZOMBIE:
        time.sleep(0.01)
    assert store.claim(connection, "k") == "claimed"  # dead, though nobody has buried it
    held_by(connection, who)
    process.wait()
    assert store.claim(connection, "k") == "claimed"


def test_a_process_id_that_was_given_out_again_is_another_process(
    connection: sqlite3.Connection,
) -> None:
    held_by(connection, f"{socket.gethostname()}:{os.getpid()}:12345.00")
    assert store.claim(connection, "k") == "claimed"


def test_renewing_keeps_a_claim(connection: sqlite3.Connection) -> None:
    store.claim(connection, "k", lease=0.05)
    store.renew(connection, lease=60)
    time.sleep(0.1)
    assert store.claim(connection, "k") == "held"


def _race(path: Path, barrier: object, results: object) -> None:
    barrier.wait()
    with closing(store.connect(path)) as connection:
        won = [k for k in map(str, range(60)) if store.claim(connection, k) == "claimed"]
        time.sleep(0.5)  # alive while the others look: a dead one's claims are free
        results.put(won)
        barrier.wait()


def test_no_two_processes_ever_win_one_claim(path: Path) -> None:
    context = multiprocessing.get_context("fork")
    barrier, results = context.Barrier(3), context.Queue()
    racers = [context.Process(target=_race, args=(path, barrier, results)) for _ in range(3)]
    for racer in racers:
        racer.start()
    won = [key for _ in racers for key in results.get(timeout=30)]
    for racer in racers:
        racer.join()
    assert sorted(won, key=int) == list(map(str, range(60)))


def test_a_store_that_another_makes_while_this_one_looks_is_a_store(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Slow(sqlite3.Connection):
        """Another process makes the store between this one's first look and its second."""

        looks = 0

        def execute(self, *args: Any) -> sqlite3.Cursor:
            Slow.looks += 1
            if Slow.looks == 2:
                store.connect(path).close()
            return super().execute(*args)

    plain = sqlite3.connect
    kinds = iter([Slow])
    monkeypatch.setattr(
        sqlite3,
        "connect",
        lambda *args, **how: plain(*args, factory=next(kinds, sqlite3.Connection), **how),
    )
    with closing(store.connect(path)) as connection:
        assert Slow.looks > 2
        assert store.claim(connection, "k") == "claimed"


# --- files that are no store ------------------------------------------------------------------


def test_a_file_that_is_no_store_is_refused_and_left_alone(tmp_path: Path) -> None:
    text = tmp_path / "a.sqlite"
    text.write_text("Dear diary, " * 200)
    with pytest.raises(StoreError, match="no store"):
        store.connect(text)
    assert text.read_text().startswith("Dear diary")
    foreign = tmp_path / "b.sqlite"
    with closing(sqlite3.connect(foreign)) as connection:
        connection.execute("CREATE TABLE recipes (name TEXT)")
    with pytest.raises(StoreError, match="something else"):
        store.connect(foreign)


def test_a_place_that_cannot_be_written_is_refused() -> None:
    with pytest.raises(StoreError, match=r"cannot be (written|used)"):
        store.connect(Path("/proc/nowhere/answers.sqlite"))


def _open_without_rights(path: Path, results: object) -> None:
    if os.geteuid() == 0:  # root may write anything
        os.setuid(65534)
    try:
        store.connect(path)
    except StoreError as error:
        results.put(str(error))
    else:
        results.put("opened")


def test_a_store_that_may_only_be_read_is_refused(path: Path, tmp_path: Path) -> None:
    with closing(store.connect(path)) as connection:
        store.record(connection, answer())
    for folder in (tmp_path, *tmp_path.parents[:2], path.parent):
        os.chmod(folder, 0o755)
    os.chmod(path, 0o444)
    os.chmod(path.parent, 0o555)
    context = multiprocessing.get_context("fork")
    results = context.Queue()
    context.Process(target=_open_without_rights, args=(path, results)).start()
    told = results.get(timeout=30)
    os.chmod(path.parent, 0o755)
    assert "the store cannot be written" in told
