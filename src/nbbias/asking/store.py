"""The store of answers: one SQLite file a corpus, from which nothing is lost or asked twice.

An answer is filed under the hash of everything that could have changed it: model, base URL,
messages, parameters, and the number of the repeat. Whoever wants to ask claims the key first, so
that two processes never pay for one answer. A claim has an owner and runs out; those of a process
that is no more are taken over.
"""

from __future__ import annotations

import hashlib
import json
import socket
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote

import pandas as pd
import psutil

from nbbias.tables import DataError

_MAGIC = 0x6E626273  # "nbbs", SQLite's own place for saying what a file is
_SCHEMA = f"""
CREATE TABLE IF NOT EXISTS answers (
    key TEXT PRIMARY KEY, model TEXT NOT NULL, base_url TEXT NOT NULL, messages TEXT NOT NULL,
    parameters TEXT NOT NULL, replicate INTEGER NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('answered', 'rejected', 'failed')),
    text TEXT, stop_reason TEXT, refusal TEXT, error TEXT,
    input_tokens INTEGER, output_tokens INTEGER, seconds REAL, attempts INTEGER,
    asked_at TEXT NOT NULL, run TEXT NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS claims (
    key TEXT PRIMARY KEY, owner TEXT NOT NULL, until REAL NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS runs (
    run TEXT PRIMARY KEY, started TEXT NOT NULL, ended TEXT, outcome TEXT,
    version TEXT NOT NULL, parameters TEXT NOT NULL
) STRICT;
PRAGMA application_id = {_MAGIC};
"""

#: An answer. `status`: ``answered`` (refusals too), ``rejected`` for good, ``failed`` for now.
COLUMNS = (
    *("key", "model", "base_url", "messages", "parameters", "replicate", "status", "text"),
    *("stop_reason", "refusal", "error", "input_tokens", "output_tokens", "seconds"),
    *("attempts", "asked_at", "run"),
)


#: Seconds until a claim that is not renewed may be taken over.
LEASE = 90.0


#: What SQLite raises, and what reading a damaged text does.
Broken = (sqlite3.Error, UnicodeDecodeError)


class StoreError(DataError):
    """The store cannot be opened, read or written."""


def key(
    model: str,
    base_url: str,
    messages: Sequence[Mapping[str, str]],
    parameters: Mapping[str, Any],
    replicate: int,
) -> str:
    """Return what an answer is filed under: a SHA-256 of all that could change it."""
    parts = [model, base_url, list(map(dict, messages)), dict(parameters), replicate]
    return hashlib.sha256(canonical(parts).encode()).hexdigest()


def canonical(value: Any) -> str:
    """Write a value as JSON in the one way that hashes rest on."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def now() -> str:
    """Return the time in UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


# --- opening ----------------------------------------------------------------------------------


def connect(path: Path, *, readonly: bool = False) -> sqlite3.Connection:
    """Open a store, and make it where it is missing.

    Raises
    ------
    StoreError
        The folder or file cannot be written, is no store, or is damaged.
    """
    try:
        if readonly:
            found = _for_reading(path)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            found = sqlite3.connect(path, timeout=30, isolation_level=None)
            _prepare(found, path)
        found.row_factory = sqlite3.Row
        return found
    except (*Broken, OSError) as error:
        raise in_words(error, path) from None


def _for_reading(path: Path) -> sqlite3.Connection:
    """Open a store to read it, also where its folder cannot be written."""
    for mode in ("mode=ro", "immutable=1"):
        found = sqlite3.connect(f"file:{quote(str(path))}?{mode}", uri=True, timeout=30)
        with suppress(sqlite3.OperationalError):
            found.execute("SELECT 1 FROM sqlite_master")
            break
    return found


def _prepare(connection: sqlite3.Connection, path: Path) -> None:
    # In this order: tables that another process has just made came with their mark.
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    (magic,) = connection.execute("PRAGMA application_id").fetchone()
    if tables and magic != _MAGIC:
        raise StoreError(str(path), "is a database of something else; name another store_path")
    for patience in range(50):  # SQLite does not wait for the lock that this change needs
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            break
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or patience == 49:
                raise
            time.sleep(0.1)
    connection.execute("PRAGMA synchronous = FULL")
    if magic != _MAGIC:
        connection.executescript(f"BEGIN IMMEDIATE; {_SCHEMA} COMMIT;")
    # A file that cannot be written is refused here, before anything is paid for.
    connection.executescript("BEGIN IMMEDIATE; DELETE FROM claims WHERE until < 0; COMMIT;")


def in_words(error: BaseException, path: Path) -> StoreError:
    """Say what befell the store and what to do about it."""
    text = str(error)
    if "readonly" in text or "unable to open" in text or isinstance(error, PermissionError):
        told = "the store cannot be written; check the rights of the file and of its folder"
    elif "full" in text or getattr(error, "errno", None) == 28:
        told = "the disk is full; make room and run the same command again"
    elif "disk I/O" in text:
        told = "the disk takes no more (full, over a quota, or gone); make room and run it again"
    elif "not a database" in text or "malformed" in text or "decode" in text:
        told = f"is no store, or a damaged one ({text}); name another store_path: into an empty "
        told += "store the answers of the exported table are taken"
    elif "locked" in text:
        told = "another process holds the store; try again when it has ended"
    else:
        told = f"the store cannot be used: {text}"
    return StoreError(str(path), told)


@contextmanager
def opened(path: Path, *, readonly: bool = False) -> Iterator[sqlite3.Connection]:
    """Open a store, say in words what befalls it meanwhile, and close it; as `connect`."""
    with closing(connect(path, readonly=readonly)) as connection:
        try:
            yield connection
        except Broken as error:
            raise in_words(error, path) from None


@contextmanager
def _at_once(connection: sqlite3.Connection) -> Iterator[None]:
    """Do all of it, before any other process does anything, or nothing."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


# --- claims -----------------------------------------------------------------------------------


def owner(pid: int | None = None) -> str:
    """Return who a process of this machine (this one) is: host, its id, and when it started."""
    process = psutil.Process(pid)
    return f"{socket.gethostname()}:{process.pid}:{_started(process):.2f}"


def _started(process: psutil.Process) -> float:
    """Return when a process started: the same whatever happens to the clock meanwhile."""
    started = process.create_time()
    # There it is told as so long after the boot, which moves with the clock.
    return started - psutil.boot_time() if psutil.LINUX else started


def _is_dead(who: str) -> bool:
    """Tell whether an owner is a process of this machine that is no more."""
    try:
        host, pid, started = who.rsplit(":", 2)
        if host != socket.gethostname():
            return False
        process = psutil.Process(int(pid))
        another = abs(_started(process) - float(started)) > 2
        return another or process.status() == psutil.STATUS_ZOMBIE
    except (psutil.NoSuchProcess, ValueError):  # a damaged name is nobody's
        return True
    except psutil.Error:
        return False


def claim(
    connection: sqlite3.Connection, wanted: str, *, again: bool = False, lease: float | None = None
) -> Literal["claimed", "done", "held"]:
    """Claim a key: ``done`` is answered (or rejected, unless `again`), ``held`` somebody else's.

    The claim of a process that is no more, or has not renewed it, is taken over. None holds for
    longer than a lease: one from a clock that was set back since would hold for as long as that.
    """
    ends = time.time() + (lease or LEASE)
    with _at_once(connection):
        connection.execute(
            "UPDATE claims SET until = ?2 WHERE key = ?1 AND until > ?2", (wanted, ends)
        )
        done = connection.execute(
            "SELECT 1 FROM answers WHERE key = ? AND (status = 'answered' OR status = ?)",
            (wanted, "" if again else "rejected"),
        ).fetchone()
        held = connection.execute(
            "SELECT owner, until FROM claims WHERE key = ?", (wanted,)
        ).fetchone()
        free = held is None or held["until"] < time.time() or _is_dead(held["owner"])
        if done or not free:
            return "done" if done else "held"
        connection.execute(
            "INSERT OR REPLACE INTO claims VALUES (?, ?, ?)", (wanted, owner(), ends)
        )
        return "claimed"


def renew(connection: sqlite3.Connection, *, lease: float | None = None) -> None:
    """Keep the claims of this process for another while."""
    connection.execute(
        "UPDATE claims SET until = ? WHERE owner = ?", (time.time() + (lease or LEASE), owner())
    )


def release(connection: sqlite3.Connection, wanted: str | None = None) -> None:
    """Give back a claim of this process, or all of them."""
    connection.execute(
        "DELETE FROM claims WHERE owner = ? AND (?2 IS NULL OR key = ?2)", (owner(), wanted)
    )


# --- answers ----------------------------------------------------------------------------------


def record(connection: sqlite3.Connection, *answers: Mapping[str, Any]) -> int:
    """File answers and give back their claims, in one transaction.

    An answer that is there already is kept, whoever gave it; an error gives way to anything.

    Returns
    -------
    int
        How many were filed.
    """
    marks = ", ".join(f":{name}" for name in COLUMNS)
    news = ", ".join(f"{name} = excluded.{name}" for name in COLUMNS[1:])
    rows = [{name: answer.get(name) for name in COLUMNS} for answer in answers]
    with _at_once(connection):
        filed = connection.executemany(
            f"INSERT INTO answers ({', '.join(COLUMNS)}) VALUES ({marks}) "
            f"ON CONFLICT (key) DO UPDATE SET {news} WHERE answers.status <> 'answered'",
            rows,
        ).rowcount
        connection.executemany("DELETE FROM claims WHERE key = :key", rows)
        return filed


def statuses(connection: sqlite3.Connection) -> dict[str, str]:
    """Return the status of every key in the store."""
    return dict(connection.execute("SELECT key, status FROM answers").fetchall())


def answers(connection: sqlite3.Connection, keys: Iterable[str]) -> pd.DataFrame:
    """Return the rows of some keys, in any order."""
    wanted = list(dict.fromkeys(keys))
    rows: list[tuple[Any, ...]] = []
    for start in range(0, len(wanted), 500):
        part = wanted[start : start + 500]
        marks = ", ".join("?" * len(part))
        query = f"SELECT {', '.join(COLUMNS)} FROM answers WHERE key IN ({marks})"
        rows += map(tuple, connection.execute(query, part))
    return pd.DataFrame(rows, columns=list(COLUMNS))


# --- runs -------------------------------------------------------------------------------------


def begin(connection: sqlite3.Connection, run: str, *, version: str, parameters: str) -> None:
    """Note that a run has begun, with the parameters it was given."""
    connection.execute(
        "INSERT INTO runs VALUES (?, ?, NULL, NULL, ?, ?)", (run, now(), version, parameters)
    )


def end(connection: sqlite3.Connection, run: str, outcome: str) -> None:
    """Note how a run ended. One that was killed has no end."""
    connection.execute(
        "UPDATE runs SET ended = ?, outcome = ? WHERE run = ?", (now(), outcome, run)
    )


def look(path: Path) -> tuple[dict[str, str], dict[str, float]]:
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
    with opened(path, readonly=True) as connection:
        return statuses(connection), dict(connection.execute(query).fetchall())
