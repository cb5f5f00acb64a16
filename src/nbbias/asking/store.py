"""The store of answers: one SQLite file, from which nothing is lost or asked twice.

An answer is filed under the hash of everything that could have changed it: model, base URL,
messages, parameters, and the number of the repeat. One process at a time writes to a store.
"""

from __future__ import annotations

import json
import logging
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pandas as pd
from filelock import FileLock, Timeout

from nbbias import tables
from nbbias.tables import DataError

_log = logging.getLogger(__name__)

_MAGIC = 0x6E626273  # "nbbs", in the header field where SQLite says what a file is
_SCHEMA = f"""
PRAGMA journal_mode = WAL;
PRAGMA synchronous = FULL;
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS answers (
    key TEXT PRIMARY KEY, model TEXT NOT NULL, base_url TEXT NOT NULL, messages TEXT NOT NULL,
    parameters TEXT NOT NULL, replicate INTEGER NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('answered', 'rejected', 'failed')),
    text TEXT, stop_reason TEXT, refusal TEXT, error TEXT,
    input_tokens INTEGER, output_tokens INTEGER, seconds REAL, attempts INTEGER,
    asked_at TEXT NOT NULL, run TEXT NOT NULL
) STRICT;
PRAGMA application_id = {_MAGIC};
COMMIT;
"""

#: An answer. `status`: ``answered`` (refusals too), ``rejected`` for good, ``failed`` for now.
COLUMNS = [
    *("key", "model", "base_url", "messages", "parameters", "replicate", "status", "text"),
    *("stop_reason", "refusal", "error", "input_tokens", "output_tokens", "seconds"),
    *("attempts", "asked_at", "run"),
]

#: What SQLite raises, and what reading a damaged text does.
Broken = (sqlite3.Error, UnicodeDecodeError)


class StoreError(DataError):
    """The store cannot be opened, read or written."""


def hash_call(
    model: str,
    base_url: str,
    messages: Sequence[Mapping[str, str]],
    parameters: Mapping[str, Any],
    replicate: int,
) -> str:
    """Return the key of an answer: a SHA-256 of everything that could change it."""
    parts = [model, base_url, list(map(dict, messages)), dict(parameters), replicate]
    return tables.hash_json(parts)


def dump_json(value: Any) -> str:
    """Write a value as JSON, always in the same way: hashes rest on it."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def read_clock() -> str:
    """Return the time in UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


# --- opening ----------------------------------------------------------------------------------


@contextmanager
def open_store(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a store to write to it, and make it where it is missing.

    While another process writes to it, this one waits, and says so. The lock is the system's and
    ends with its process, however that ends.

    Raises
    ------
    StoreError
        The folder or file cannot be written, is no store, or is damaged.
    """
    with ExitStack() as stack:
        with _explaining(path, OSError, NotImplementedError):
            path.parent.mkdir(parents=True, exist_ok=True)
            stack.callback(_acquire_lock(path).release)
            connection = sqlite3.connect(path, timeout=30, isolation_level="IMMEDIATE")
            stack.callback(connection.close)
            _prepare(connection, path)
        with _explaining(path):
            yield connection


def _acquire_lock(path: Path) -> FileLock:
    lock = FileLock(path.with_name(f".{path.name}.lock"))
    try:
        lock.acquire(timeout=0)
    except Timeout:
        _log.warning("another process writes to %s; waiting until it has ended", path)
        lock.acquire()
    return lock


def _prepare(connection: sqlite3.Connection, path: Path) -> None:
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    (magic,) = connection.execute("PRAGMA application_id").fetchone()
    if tables and magic != _MAGIC:
        raise StoreError(str(path), "is a database of something else; name another store_path")
    connection.executescript(_SCHEMA)  # a file that cannot be written is refused here, unpaid


@contextmanager
def read_store(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a store to read it, also where its folder cannot be written."""
    with _explaining(path):
        for mode in ("mode=ro", "immutable=1"):
            connection = sqlite3.connect(f"file:{quote(str(path))}?{mode}", uri=True, timeout=30)
            with suppress(sqlite3.OperationalError):
                connection.execute("SELECT 1 FROM sqlite_master")
                break
        with closing(connection):
            yield connection


@contextmanager
def _explaining(path: Path, *errors: type[Exception]) -> Iterator[None]:
    kinds: tuple[type[Exception], ...] = (*Broken, *errors)
    try:
        yield
    except kinds as error:
        raise StoreError(str(path), explain(error)) from None


def explain(error: BaseException) -> str:
    """Say what befell the store and what to do about it."""
    text = str(error)
    if "readonly" in text or "unable to open" in text or isinstance(error, PermissionError):
        return "the store cannot be written; check the rights of the file and of its folder"
    if "full" in text or "disk I/O" in text or getattr(error, "errno", None) == 28:
        return "the disk is full, or over a quota; make room and run the same command again"
    if "not a database" in text or "malformed" in text or "decode" in text:
        return (
            f"is no store, or a damaged one ({text}); name another store_path: into an empty "
            "store the answers of the exported table are taken"
        )
    return f"the store cannot be used: {text}"


# --- answers ----------------------------------------------------------------------------------


def record(connection: sqlite3.Connection, *answers: Mapping[str, Any]) -> int:
    """File answers in one transaction and return how many were filed.

    An answer that is there already is kept, whoever gave it; an error gives way to anything.
    """
    marks = ", ".join(f":{name}" for name in COLUMNS)
    updates = ", ".join(f"{name} = excluded.{name}" for name in COLUMNS[1:])
    rows = [{name: answer.get(name) for name in COLUMNS} for answer in answers]
    with connection:
        return connection.executemany(
            f"INSERT INTO answers ({', '.join(COLUMNS)}) VALUES ({marks}) "
            f"ON CONFLICT (key) DO UPDATE SET {updates} WHERE answers.status <> 'answered'",
            rows,
        ).rowcount


def read_statuses(connection: sqlite3.Connection) -> dict[str, str]:
    """Return the status of every key in the store."""
    return dict(connection.execute("SELECT key, status FROM answers").fetchall())


def read_answers(connection: sqlite3.Connection, keys: Iterable[str]) -> pd.DataFrame:
    """Return the rows of some keys, in any order."""
    names = ", ".join(COLUMNS)
    query = f"SELECT {names} FROM answers WHERE key IN (SELECT value FROM json_each(?))"
    rows = connection.execute(query, [json.dumps(list(keys))]).fetchall()
    return pd.DataFrame(rows, columns=COLUMNS)


def summarise(path: Path) -> tuple[dict[str, str], dict[str, float]]:
    """Look into a store without making or changing one.

    Returns
    -------
    statuses, output_tokens
        Key → status, and model → mean tokens of its answers; both empty where there is no store.
    """
    if not path.is_file() or not path.stat().st_size:
        return {}, {}
    query = (
        "SELECT model, avg(output_tokens) FROM answers WHERE output_tokens IS NOT NULL "
        "AND status = 'answered' GROUP BY model"
    )
    with read_store(path) as connection:
        return read_statuses(connection), dict(connection.execute(query).fetchall())
