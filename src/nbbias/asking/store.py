"""The store of answers: one SQLite file, from which nothing is lost or asked twice.

An answer is filed under the hash of everything that could have changed it: model, base URL,
messages, parameters, and the number of the repeat. One process at a time writes to a store.
"""

from __future__ import annotations

import json
import logging
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pandas as pd
from filelock import AcquireReturnProxy, FileLock, Timeout

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

#: What was asked, and all of an answer; `status`: ``answered`` (refusals too), ``rejected`` for
#: good, ``failed`` for now.
CALL_COLUMNS = ["key", "model", "base_url", "messages", "parameters", "replicate"]
COLUMNS = [
    *(*CALL_COLUMNS, "status", "text", "stop_reason", "refusal", "error", "input_tokens"),
    *("output_tokens", "seconds", "attempts", "asked_at", "run"),
]

#: What SQLite raises, and what reading a damaged text does.
ERRORS = (sqlite3.Error, UnicodeDecodeError)


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
    DataError
        The folder or file cannot be written, is no store, or is damaged.
    """
    with ExitStack() as stack:
        with _explain_errors(path, OSError, NotImplementedError):
            path.parent.mkdir(parents=True, exist_ok=True)
            stack.enter_context(_acquire_lock(path))
            connection = sqlite3.connect(path, timeout=30, isolation_level="IMMEDIATE")
            stack.enter_context(closing(connection))
            (n_tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
            (magic,) = connection.execute("PRAGMA application_id").fetchone()
            if n_tables and magic != _MAGIC:
                message = "is a database of something else; name another store_path"
                raise DataError(str(path), message)
            connection.executescript(_SCHEMA)  # what cannot be written is refused here, unpaid
        with _explain_errors(path):
            yield connection


def _acquire_lock(path: Path) -> AcquireReturnProxy:
    lock = FileLock(path.with_name(f".{path.name}.lock"))
    try:
        return lock.acquire(timeout=0)
    except Timeout:
        _log.warning("another process writes to %s; waiting until it has ended", path)
        return lock.acquire()


@contextmanager
def _explain_errors(path: Path, *errors: type[Exception]) -> Iterator[None]:
    kinds: tuple[type[Exception], ...] = (*ERRORS, *errors)
    try:
        yield
    except kinds as error:
        raise DataError(str(path), explain_error(error)) from None


def explain_error(error: BaseException) -> str:
    """Say what happened to the store and what to do about it."""
    return (
        f"the store cannot be read or written ({error}); make room on the disk, check the rights "
        "of the file and its folder, or name another store_path: it gets the exported answers"
    )


# --- answers ----------------------------------------------------------------------------------


def record(connection: sqlite3.Connection, *answers: Mapping[str, Any]) -> int:
    """File answers in one transaction and return how many were filed.

    An answer that is there already is kept, whoever gave it; an error gives way to anything.
    """
    values = ", ".join(f":{name}" for name in COLUMNS)
    updates = ", ".join(f"{name} = excluded.{name}" for name in COLUMNS[1:])
    rows = [{name: answer.get(name) for name in COLUMNS} for answer in answers]
    insert = f"INSERT INTO answers ({', '.join(COLUMNS)}) VALUES ({values}) ON CONFLICT (key) "
    insert += f"DO UPDATE SET {updates} WHERE answers.status <> 'answered'"
    with connection:
        return connection.executemany(insert, rows).rowcount


def _select(path: Path, query: str, *values: str) -> list[Any]:
    """Return the rows of a query; none is made where there is no store."""
    if not path.is_file() or not path.stat().st_size:
        return []
    with _explain_errors(path):
        connection = sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True, timeout=30)
        with closing(connection):
            return connection.execute(query, values).fetchall()


def read_statuses(path: Path) -> dict[str, str]:
    """Return the status of every key in a store."""
    return dict(_select(path, "SELECT key, status FROM answers"))


def read_answers(path: Path, keys: Iterable[str]) -> pd.DataFrame:
    """Return the rows of some keys, in any order."""
    query = "SELECT * FROM answers WHERE key IN (SELECT value FROM json_each(?))"
    return pd.DataFrame(_select(path, query, json.dumps(list(keys))), columns=COLUMNS)
