"""Run studies that `running.plan` has checked: one process a notebook, the manifest last.

A run is made beside its place (`place`): what stands there stays until the new one is whole.
"""

from __future__ import annotations

import contextlib
import logging
import multiprocessing
import signal
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from pathlib import Path
from typing import Any

from filelock import FileLock

from nbbias import tables
from nbbias.pages import manifest, share
from nbbias.running import execute, names, place
from nbbias.running.plan import Run, refuse
from nbbias.studies import home
from nbbias.tables import NbbiasError

log = logging.getLogger("nbbias")

#: Called with a run and a message: ``progress``, ``ok``, ``failed`` or ``interrupted``.
Listener = Callable[[Run, Mapping[str, Any]], None]


@dataclass
class _Live:
    run: Run
    folder: Path
    process: SpawnProcess
    pipe: Connection
    description: dict[str, Any]
    started: datetime
    clock: float
    end: Mapping[str, Any] | None = None
    clocked: list[tuple[int, float]] = field(default_factory=list)


def run(runs: Sequence[Run], *, out: Path, jobs: int, listen: Listener) -> dict[str, str]:
    """Execute runs, several at a time, and return each one's status by label.

    Ctrl-C (or SIGTERM) ends what is running, kernels included, and records it
    as ``interrupted``; runs that had not started stay as they were.

    Parameters
    ----------
    runs
        The plan.
    out
        The folder of all runs; its index is written at the end.
    jobs
        Notebooks at a time.
    listen
        Hears of progress and of every end.

    Returns
    -------
    dict
        ``ok``, ``failed``, ``interrupted`` or ``not started``, by label.

    Raises
    ------
    NbbiasError
        Another process makes one of them; nothing was run.
    """
    with contextlib.ExitStack() as held:
        place.tidy(out)
        _hold(runs, held)
        return _run(runs, out=out, jobs=jobs, listen=listen)


def _hold(runs: Sequence[Run], held: contextlib.ExitStack) -> None:
    """Hold the places of all runs, and look again at what came there since they were planned."""
    problems = []
    for one in runs:
        try:
            held.enter_context(place.held(one.folder))
            if names.taken(one.parameters, one.folder, start=one.start):
                told = "now holds a run with other parameters; run again"
                raise NbbiasError(str(one.folder), told)
        except NbbiasError as error:
            problems.append(error)
    refuse(problems)


def _run(runs: Sequence[Run], *, out: Path, jobs: int, listen: Listener) -> dict[str, str]:
    from nbbias.pages import (
        gallery,  # nbconvert takes seconds to import: a refused file shall not wait
    )

    statuses = dict.fromkeys((r.label for r in runs), "not started")
    waiting, live = list(runs), list[_Live]()
    workers = max(1, tables.count_workers() // max(1, min(jobs, len(runs))))

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    execute.install_kernel()
    try:
        while waiting or live:
            while waiting and len(live) < jobs:
                live.append(_start(waiting.pop(0), workers))
            for one in _hear(live, listen):
                live.remove(one)
                statuses[one.run.label] = _finish(one, listen)
    except BaseException as error:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # a second Ctrl-C must not leave kernels
        for one in live:
            _end(one.process)
            one.end = {"kind": "interrupted", "message": "stopped by the user"}
            statuses[one.run.label] = _finish(one, listen)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        if not isinstance(error, KeyboardInterrupt):
            raise
    finally:
        signal.signal(signal.SIGTERM, before)
        with FileLock(out / ".lock"):  # whoever writes last has seen all
            gallery.write(out)
    return statuses


def _start(one: Run, workers: int) -> _Live:
    """Start a notebook's process, which may have as many workers of its own."""
    folder = place.beside(one.folder)
    with tables.starting_at(one.start):
        description = manifest.describe(one.stem, one.name, one.parameters, one.notebook)
    description["start"] = names.start_of(one.start, folder=one.folder)
    tables.write(folder / share.PARAMS, one.repeats)
    share.keep_lists(folder, description)
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe(duplex=False)
    process = context.Process(
        target=execute.execute,
        args=(there, one.notebook, folder, dict(one.values), one.start, one.parameters.left_out()),
        name=one.label,
    )
    # Ctrl-C reaches the whole group of processes; only this one decides what it means.
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Files are written as UTF-8, by papermill and kernels too, whatever the locale.
    with tables.set_environment(PYTHONUTF8="1", NBBIAS_WORKERS=str(workers)):
        process.start()
    signal.signal(signal.SIGINT, before)
    there.close()
    log.info("started %s (process %s)", one.label, process.pid)
    return _Live(one, folder, process, here, description, datetime.now(UTC), time.monotonic())


def _hear(live: Sequence[_Live], listen: Listener) -> list[_Live]:
    """Wait for a message; return the runs whose process has ended."""
    ended = []
    ready = wait([one.pipe for one in live], timeout=1.0)
    for one in live:
        if one.pipe in ready:
            try:
                message = one.pipe.recv()
            except EOFError:
                one.process.join()
                ended.append(one)
                continue
            if message["kind"] == "progress":
                one.clocked.append((message["done"], message["seconds"]))
                listen(one.run, message)
            else:
                one.end = message
    return ended


def _end(process: SpawnProcess) -> None:
    """End a notebook's process; its kernel ends with it, asked first and then made to."""
    process.terminate()
    process.join(timeout=15)
    if process.is_alive():
        process.kill()
        process.join()


def _finish(one: _Live, listen: Listener) -> str:
    """Write the page and, last, the manifest, and let the run take its place.

    Success is what the process said, nothing else.
    """
    from nbbias.pages import about as pages_about, page

    end = one.end or {
        "kind": "failed",
        "cell": None,
        "error": "ProcessDied",
        "source": "",
        "traceback": "",
        "message": f"the notebook's process ended without a word: {execute.KILLED} "
        f"(exit {one.process.exitcode})",
    }
    if end["kind"] == "ok" and (changed := manifest.changed(one.description)):
        told = f"{', '.join(changed)} changed while the run read it; run again"
        end = {"kind": "failed", "cell": None, "error": "DataError", "message": told}
    status = str(end["kind"])
    folder = one.folder
    outcome: dict[str, Any] = {
        "started": one.started.isoformat(timespec="seconds"),
        "seconds": round(time.monotonic() - one.clock, 2),
    }
    try:
        if (folder / "notebook.ipynb").is_file():
            about = pages_about.about(
                folder,
                one.description,
                {**outcome, "status": status},
                home=home(),
                place=one.run.folder,
            )
            page.write_page(
                folder / "notebook.ipynb",
                folder / "index.html",
                title=f"nbbias: {one.run.label}",
                about=about,
            )
    except Exception as error:  # a page that cannot be written is a failed run, not a lost one
        log.debug("no page for %s", one.run.label, exc_info=True)
        status = "failed"
        name, told = type(error).__name__, f"no page was written: {error}"
        where = execute.defect(name, traceback.format_exc())
        end = {**end, "error": name, "message": told, "defect": where}
    kept = {k: v for k, v in end.items() if k not in {"kind", "source", "traceback", "peak_mb"}}
    try:
        manifest.write(
            folder,
            one.description,
            **outcome,
            status=status,
            error=kept or None,
            peak_mb=end.get("peak_mb"),
            seconds_by_section=execute.by_section(folder / "notebook.ipynb", one.clocked),
        )
        folder = place.keep(folder, one.run.folder, whole=status == "ok")
    except OSError as error:
        status = "failed"
        told = f"could not be kept: {error.filename or one.run.folder}: {error.strerror}"
        end = {**end, "error": type(error).__name__, "message": told}
    listen(
        one.run, {**end, "kind": status, "seconds": time.monotonic() - one.clock, "folder": folder}
    )
    one.pipe.close()
    one.process.close()
    return status
