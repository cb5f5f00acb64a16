"""The store: what it keeps, what it gives out, and who may write to it."""

import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from nbbias.asking import store
from nbbias.tables import DataError


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "deep" / "answers.sqlite"


@pytest.fixture
def connection(path: Path) -> Iterator[sqlite3.Connection]:
    with store.open_store(path) as opened:
        yield opened


def answer(key: str = "k", **further: object) -> dict[str, object]:
    return {
        **{"key": key, "model": "m", "base_url": "", "messages": "[]", "parameters": "{}"},
        **{"replicate": 1, "status": "answered", "text": "Because.", "run": "r"},
        **{"asked_at": store.read_clock(), **further},
    }


# --- answers ----------------------------------------------------------------------------------


def test_an_answer_comes_back_as_it_was(path: Path, connection: sqlite3.Connection) -> None:
    text = "Ünïcode, \x00 nul, \u202e marks, \U0001f600, 'quotes' and \"more\"\r\n" + "x" * 100_000
    assert store.record(connection, answer(text=text, input_tokens=3, output_tokens=5)) == 1
    (row,) = store.read_answers(path, ["k", "not there", "k"]).to_dict("records")
    assert row["text"] == text
    assert (row["input_tokens"], row["output_tokens"], row["status"]) == (3, 5, "answered")
    assert list(store.read_answers(path, []).columns) == store.COLUMNS


def test_an_answer_is_never_overwritten(path: Path, connection: sqlite3.Connection) -> None:
    assert store.record(connection, answer()) == 1
    assert store.record(connection, answer(text="Otherwise."), answer("new")) == 1
    assert store.record(connection, answer(status="failed", text=None)) == 0
    assert store.read_answers(path, ["k"])["text"].tolist() == ["Because."]


# --- who writes -------------------------------------------------------------------------------


def test_a_second_process_waits_until_the_first_has_ended(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    code = (
        "import sys, time, pathlib; from nbbias.asking import store\n"
        "with store.open_store(pathlib.Path(sys.argv[1])): print('open', flush=True); input()"
    )
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", code, str(path)], **pipes) as process:
        assert process.stdout.readline() == "open\n"
        subprocess.Popen(["sh", "-c", f"sleep 1; kill -9 {process.pid}"])
        start = time.monotonic()
        with store.open_store(path) as connection:
            waited = time.monotonic() - start
            store.record(connection, answer())
    assert waited > 0.5
    assert any("waiting until it has ended" in message for message in caplog.messages)


# --- files that are no store ------------------------------------------------------------------


def test_a_file_that_is_no_store_is_refused_and_left_alone(tmp_path: Path) -> None:
    text, foreign = tmp_path / "a.sqlite", tmp_path / "b.sqlite"
    text.write_text("Dear diary, " * 200)
    with closing(sqlite3.connect(foreign)) as connection:
        connection.execute("CREATE TABLE recipes (name TEXT)")
    for path, reason in ((text, "not a database"), (foreign, "something else")):
        before = path.read_bytes()
        with pytest.raises(DataError, match=reason), store.open_store(path):
            pass
        assert path.read_bytes() == before
