"""Claims on what is about to be asked, so that two processes never pay for one answer.

A claim has an owner and runs out; those of a process that is no more are taken over.
"""

from __future__ import annotations

import os
import socket
import sqlite3
import time
from typing import Literal

import psutil

from nbbias import store

#: Seconds until a claim that is not renewed may be taken over.
LEASE = 90.0


def owner() -> str:
    """Return who this process is: host, process id, and when it started."""
    started = psutil.Process().create_time()
    return f"{socket.gethostname()}:{os.getpid()}:{started:.2f}"


def _is_dead(who: str) -> bool:
    """Tell whether an owner is a process of this machine that is no more."""
    host, pid, started = who.rsplit(":", 2)
    if host != socket.gethostname():
        return False
    try:
        process = psutil.Process(int(pid))
        another = abs(process.create_time() - float(started)) > 1
        return another or process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True
    except psutil.Error:
        return False


def claim(
    connection: sqlite3.Connection, wanted: str, *, again: bool = False, lease: float | None = None
) -> Literal["claimed", "done", "held"]:
    """Claim a key: ``done`` is answered (or rejected, unless `again`), ``held`` somebody else's.

    The claim of a process that is no more, or has not renewed it, is taken over.
    """
    connection.execute("BEGIN IMMEDIATE")
    try:
        done = connection.execute(
            "SELECT 1 FROM answers WHERE key = ? AND (status = 'answered' OR status = ?)",
            (wanted, "" if again else "rejected"),
        ).fetchone()
        held = connection.execute(
            "SELECT owner, until FROM claims WHERE key = ?", (wanted,)
        ).fetchone()
        free = held is None or held["until"] < time.time() or _is_dead(held["owner"])
        if done or not free:
            connection.execute("ROLLBACK")
            return "done" if done else "held"
        connection.execute(
            "INSERT OR REPLACE INTO claims VALUES (?, ?, ?)",
            (wanted, owner(), time.time() + (lease or LEASE)),
        )
        connection.execute("COMMIT")
        return "claimed"
    except BaseException:
        store.roll_back(connection)
        raise


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
