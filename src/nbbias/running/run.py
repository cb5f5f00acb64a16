"""Make runs: papermill executes each notebook in a process of its own.

`run` starts a process for each planned run, waits for its outcome, writes page and manifest, and
lets the finished folder take its place (`place`): the last good run stays until the new one is
complete.
"""

from __future__ import annotations

import contextlib
import logging
import multiprocessing
import os
import signal
import threading
import traceback
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from pathlib import Path
from typing import Any

from filelock import FileLock

from nbbias import pages, tables
from nbbias.running import kernel, place
from nbbias.running.plan import Run

log = logging.getLogger("nbbias")

#: How a run ended: `status` (``ok``, ``failed``, ``interrupted``), `seconds`, `folder`, and of a
#: failure `cell`, `source`, `error`, `message` and `traceback`.
Outcome = Mapping[str, Any]

#: Called with each run when it has ended.
Report = Callable[[Run, Outcome], None]

#: What nbformat would import to check addresses in JSON, of which notebooks have none: a second.
SLOW = "rfc3987_syntax"

_KILLED = "it was ended from outside, as a system does whose memory is full"
#: Messages of errors that bring none.
_MESSAGES = {
    "DeadKernelError": f"the kernel died: {_KILLED}",
    "MemoryError": "there was too little memory",
}


@dataclass
class Job:
    """A run whose notebook is being executed, in a hidden folder."""

    run: Run
    folder: Path
    process: SpawnProcess
    connection: Connection
    description: dict[str, Any]
    started: datetime


def run(runs: Sequence[Run], *, out: Path, jobs: int, report: Report) -> dict[str, str]:
    """Execute runs, several at a time, and return the status of each by its label.

    Ctrl-C or SIGTERM ends what is running, kernels included, and records it as ``interrupted``.

    Parameters
    ----------
    runs
        The plan.
    out
        The folder of all runs; its index is written at the end.
    jobs
        Notebooks at a time.
    report
        Called with each run that has ended and its `Outcome`.

    Returns
    -------
    dict
        ``ok``, ``failed``, ``interrupted`` or ``not started``, by label.

    Raises
    ------
    NbbiasError
        Another process makes one of these runs; none was started.
    """
    with contextlib.ExitStack() as locks:
        tables.attempt_all(partial(_lock, locks), runs, where="nothing was run")
        kernel.install()
        handler = signal.signal(signal.SIGTERM, signal.default_int_handler)
        try:
            return _execute_all(runs, jobs=jobs, report=report)
        finally:
            signal.signal(signal.SIGTERM, handler)
            with FileLock(out / ".lock"):  # the last writer of the index has seen all runs
                pages.gallery.write(out)


def _lock(locks: contextlib.ExitStack, planned: Run) -> None:
    """Lock the folder of a run, and check what other processes left there since the plan."""
    locks.enter_context(place.lock(planned.folder))
    if place.difference(planned.parameters, planned.folder, start=planned.start):
        message = "now holds a run with other parameters; run again"
        raise tables.NbbiasError(str(planned.folder), message)


def _execute_all(runs: Sequence[Run], *, jobs: int, report: Report) -> dict[str, str]:
    statuses = dict.fromkeys((planned.label for planned in runs), "not started")
    pending, active = list(enumerate(runs)), list[Job]()
    workers = max(1, tables.count_workers() // max(1, min(jobs, len(runs))))
    try:
        while pending or active:
            while pending and len(active) < jobs:
                number, planned = pending.pop(0)
                active.append(_start(planned, workers=workers, bar=number % jobs))
            # The timeout lets Windows notice Ctrl-C.
            for connection in wait([job.connection for job in active], timeout=1.0):
                job = next(job for job in active if job.connection is connection)
                active.remove(job)
                statuses[job.run.label] = finish(job, receive(job), report)
    except KeyboardInterrupt:
        pass
    finally:
        handler = signal.signal(signal.SIGINT, signal.SIG_IGN)  # a second one leaves no kernel
        for job in active:
            job.process.terminate()  # its kernel ends with it
            job.process.join(timeout=15)
            job.process.kill()
            job.process.join()
            outcome = {"status": "interrupted", "message": "stopped by the user"}
            statuses[job.run.label] = finish(job, outcome, report)
        signal.signal(signal.SIGINT, handler)
    return statuses


def _start(planned: Run, *, workers: int, bar: int) -> Job:
    """Start the process of a run, whose kernel may start some workers of its own."""
    folder = place.create(planned.folder)
    with tables.starting_at(planned.start):
        description = pages.manifest.describe(
            planned.stem, planned.name, planned.parameters, planned.notebook
        )
    description["earlier"] = pages.manifest.earlier(description, planned.folder)
    tables.write(folder / pages.share.PARAMS, planned.repeats)
    settled = tables.read_shipped_yaml("environment.yaml")
    variables = {
        "NBBIAS_OUT": str(folder),
        "NBBIAS_CACHE": tables.default_cache(),
        "NBBIAS_WORKERS": str(workers),
        tables.START: os.path.realpath(planned.start),
    }
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    settings = {"skipped_tags": set(planned.parameters.left_out()), "bar": bar}
    arguments = (sender, planned.notebook, folder, dict(planned.values), planned.label)
    process = context.Process(target=execute, args=arguments, kwargs=settings)
    # Ctrl-C reaches the whole group of processes; only this one decides what it means.
    handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
    with tables.set_environment(**settled, **variables):
        process.start()
    signal.signal(signal.SIGINT, handler)
    sender.close()
    log.info("started %s (process %s)", planned.label, process.pid)
    return Job(planned, folder, process, receiver, description, datetime.now(UTC))


def receive(job: Job) -> dict[str, Any]:
    """Receive how a process ended; one that is gone without a message was killed."""
    try:
        outcome: dict[str, Any] = job.connection.recv()
    except EOFError:
        job.process.join()
        message = f"the notebook's process ended without a word: {_KILLED}"
        message += f" (exit {job.process.exitcode})"
        return {"status": "failed", "cell": None, "error": "ProcessDied", "message": message}
    job.process.join()
    return outcome


def finish(job: Job, outcome: dict[str, Any], report: Report) -> str:
    """Write the page and, last, the manifest, and let the run take its place."""
    if outcome["status"] == "ok" and (files := pages.manifest.changed(job.description)):
        message = f"{', '.join(files)} changed while the run read it; run again"
        outcome |= {"status": "failed", "cell": None, "error": "DataError", "message": message}
    folder, notebook = job.folder, job.folder / "notebook.ipynb"
    seconds = round((datetime.now(UTC) - job.started).total_seconds(), 2)
    times = {"started": job.started.isoformat(timespec="seconds"), "seconds": seconds}
    try:
        if notebook.is_file():
            clean(notebook)
            about = pages.page.foot(job.description, {**times, "status": outcome["status"]})
            title, page = f"nbbias: {job.run.label}", folder / "index.html"
            pages.page.write_page(notebook, page, title=title, about=about)
    except Exception as error:  # a run without a page has failed, but is not lost
        log.debug("no page for %s", job.run.label, exc_info=True)
        outcome |= {**_failure(error), "message": f"no page was written: {error}"}
    failure = {name: outcome[name] for name in ("cell", "error", "message") if name in outcome}
    ended = {**times, "status": outcome["status"], "error": failure or None}
    try:
        pages.manifest.write(folder, job.description, **ended)
        folder = place.keep(folder, job.run.folder, complete=outcome["status"] == "ok")
    except OSError as error:
        message = f"could not be kept: {error.filename or job.run.folder}: {error.strerror}"
        outcome |= {"status": "failed", "error": type(error).__name__, "message": message}
    report(job.run, {**outcome, "seconds": times["seconds"], "folder": folder})
    job.connection.close()
    job.process.close()
    return str(outcome["status"])


# --- in the process of a notebook -----------------------------------------------------------------


def execute(
    connection: Connection,
    source: Path,
    folder: Path,
    values: dict[str, Any],
    label: str,
    *,
    skipped_tags: Collection[str] = (),
    bar: int = 0,
) -> None:
    """Execute a notebook by papermill, and send how it ended through a connection.

    The executed notebook is kept whatever happens, up to the cell that failed.

    Parameters
    ----------
    connection
        Receives one `Outcome`, without `seconds` and `folder`.
    source, folder
        The notebook, and the folder of the run.
    values
        Its parameters.
    label, bar
        Name and line of the progress bar in a terminal.
    skipped_tags
        Cells with one of these tags are not part of the run.
    """
    with tables.hide_package(SLOW):
        import papermill

    threading.Thread(target=_end_with_parent, daemon=True).start()
    logging.getLogger("papermill").setLevel(logging.ERROR)
    target = folder / "notebook.ipynb"
    # papermill replaces what stands in braces, in paths too.
    path = str(target).replace("{", "{{").replace("}", "}}")
    # `disable=None`: no bar where stderr is no terminal.
    progress = {"desc": tables.visible(label), "position": bar, "leave": False, "disable": None}
    how = {"kernel_name": kernel.NAME, "language": "python", "progress_bar": progress}
    outcome: dict[str, Any] = {"status": "ok"}
    try:
        tables.write(target, without_cells(source, skipped_tags))
        papermill.execute_notebook(path, path, values, start_timeout=120, **how)
    except BaseException as error:  # the runner must hear of every end
        outcome = _failure(error)
    with contextlib.suppress(BrokenPipeError):  # the runner may be gone itself
        connection.send(outcome)


def _end_with_parent() -> None:
    """End this process, and with it its kernel, when the runner is gone."""
    if parent := multiprocessing.parent_process():
        wait([parent.sentinel])
        os.kill(os.getpid(), signal.SIGTERM)


def without_cells(notebook: Path, tags: Collection[str]) -> str:
    """Return a notebook's source without the cells that have one of some tags."""
    import nbformat

    node = nbformat.read(notebook, as_version=4)
    node.cells = [c for c in node.cells if not set(c.metadata.get("tags", [])) & set(tags)]
    return nbformat.writes(node) + "\n"


_WIDGET = "application/vnd.jupyter.widget-view+json"


def clean(notebook: Path) -> None:
    """Remove what differs from run to run, and widgets whose kernel is gone, from a notebook."""
    import nbformat

    node = nbformat.read(notebook, as_version=4)
    for name in ("papermill", "widgets"):
        node.metadata.pop(name, None)
    for cell in node.cells:
        for name in ("papermill", "execution"):
            cell.metadata.pop(name, None)
        if cell.cell_type == "code":
            cell.outputs = [out for out in cell.outputs if _WIDGET not in out.get("data", {})]
        if "injected-parameters" in cell.metadata.get("tags", []):
            cell["id"] = "injected-parameters"
    tables.write(notebook, nbformat.writes(node) + "\n")


# --- failures -------------------------------------------------------------------------------------


def _failure(error: BaseException) -> dict[str, Any]:
    """Describe an error: the cell that raised it, its class, message and traceback."""
    from nbconvert.filters.ansi import strip_ansi
    from papermill.exceptions import PapermillExecutionError

    name, details, cell, source = type(error).__name__, traceback.format_exc(), None, ""
    message = _MESSAGES.get(name) or str(error) or name
    if isinstance(error, PapermillExecutionError):
        cell, source, name = error.cell_index, error.source, error.ename
        message = error.evalue or _MESSAGES.get(name, "")
        details = strip_ansi("\n".join(error.traceback))
    outcome = {"status": "failed", "cell": cell, "source": source, "error": name}
    return outcome | {"message": message, "traceback": details}
