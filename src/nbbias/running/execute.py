"""Execute one notebook in a process of its own. `run` starts it and listens.

JupyterLab, which `lab` opens, takes the same kernel.
"""

from __future__ import annotations

import builtins
import contextlib
import multiprocessing
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Collection, Iterator, Sequence
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from nbbias import studies, tables
from nbbias.tables import NbbiasError

try:
    import resource
except ModuleNotFoundError:  # Windows has none
    resource = None  # type: ignore[assignment]

KERNEL = "nbbias"
_COUNTED = re.compile(r"(\d+)/(\d+)")
_LIVE = "application/vnd.jupyter.widget-view+json"
_ANSI = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")

#: What a process that was ended from outside cannot say.
KILLED = "it was ended from outside, as a system does whose memory is full"

#: What is meant by errors that do not say it.
_MEANT = {
    "DeadKernelError": f"the kernel died: {KILLED}",
    "MemoryError": "there was too little memory",
}

#: What makes two runs of the same parameters give the same bytes, and no run ask the network.
ENVIRONMENT = {
    "PYTHONHASHSEED": "0",
    "SOURCE_DATE_EPOCH": "0",
    "MPLBACKEND": "agg",
    "HF_HUB_OFFLINE": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "JUPYTER_PREFER_ENV_PATH": "1",
    "PYDEVD_DISABLE_FILE_VALIDATION": "1",
    # Threads sleep while they wait for each other: beside other work, turning in circles took two
    # (torch) to ten (OpenBLAS) times the processor time of what they wait for.
    "OMP_WAIT_POLICY": "PASSIVE",
    "OPENBLAS_THREAD_TIMEOUT": "4",
    # What is freed goes back: else glibc and Arrow keep a quarter of what a corpus once took.
    "MALLOC_ARENA_MAX": "2",
    "MALLOC_MMAP_THRESHOLD_": "1000000",
    "ARROW_DEFAULT_MEMORY_POOL": "system",
}


def install_kernel() -> None:
    """Give this interpreter a Jupyter kernel of its own, unless it has one."""
    from ipykernel.kernelspec import write_kernel_spec
    from jupyter_client.kernelspec import KernelSpecManager, NoSuchKernel

    os.environ["JUPYTER_PREFER_ENV_PATH"] = "1"
    try:
        argv = KernelSpecManager().get_kernel_spec(KERNEL).argv
        if argv[:2] == [sys.executable, "-P"]:
            return
    except NoSuchKernel:
        pass
    with tempfile.TemporaryDirectory() as folder:
        # The kernel's own warnings (it talks over loopback) would stand between ours.
        spec = write_kernel_spec(
            Path(folder) / KERNEL,
            overrides={"display_name": "nbbias"},
            # Modules in the current folder, beside received data, are not imported.
            python_arguments=["-P"],
            extra_arguments=["--IPKernelApp.log_level=CRITICAL", "--IPKernelApp.ignore_cwd=True"],
        )
        KernelSpecManager().install_kernel_spec(spec, KERNEL, prefix=sys.prefix)


#: JupyterLab with settings of its own: it asks nobody for news or updates.
LAB = ("-m", "jupyterlab", f"--LabApp.app_settings_dir={tables.data_path('lab')}")


def lab(arguments: Sequence[str] = ()) -> int:
    """Become JupyterLab, open at the folder of notebooks, params and runs.

    That is a checkout, or what `nbbias new` made. Arguments, such as ``--no-browser``, go to
    JupyterLab. It takes the place of this process, so that what ends the one ends the other; on
    Windows, where a process cannot be replaced, it is waited for. The exit status is its own.
    """
    home = studies.home()
    if home == studies.PACKAGE:
        raise NbbiasError("nbbias lab", "finds no notebooks here; `nbbias new DIR` lays them out")
    install_kernel()
    command = [sys.executable, "-P", *LAB, f"--ServerApp.root_dir={home}", *arguments]
    print(f"notebooks: {home}", file=sys.stderr)
    os.chdir(home)
    if sys.platform == "win32":
        return subprocess.run(command).returncode
    sys.stdout.flush()
    sys.stderr.flush()
    os.execv(sys.executable, command)


class _Progress:
    """A stream that papermill's progress bar writes to; every count goes down the pipe."""

    def __init__(self, pipe: Connection) -> None:
        self.pipe = pipe
        self.started = time.monotonic()

    def write(self, text: str) -> None:
        found = _COUNTED.search(text)
        if found:
            done, total = int(found[1]), int(found[2])
            seconds = time.monotonic() - self.started
            self.pipe.send({"kind": "progress", "done": done, "total": total, "seconds": seconds})

    def flush(self) -> None:
        """Nothing is held back."""


def _end_with(runner: BaseProcess) -> None:
    """End this process, and its kernel, when the runner is gone: nobody else would end them."""

    def watch() -> None:
        wait([runner.sentinel])
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, daemon=True).start()


def execute(
    pipe: Connection,
    source: Path,
    folder: Path,
    values: dict[str, Any],
    start: Path,
    left_out: Collection[str] = (),
) -> None:
    """Run a notebook by papermill and send its progress and its end down the pipe.

    Relative paths among its values start at the folder `start`, of which the notebook is not told.
    Cells with a tag in `left_out` are not part of the run. The last message is ``{"kind":
    "ok"}`` or ``{"kind": "failed", ...}`` with the cell's number and source, the error's name and
    message, and the traceback; both with `peak_mb`, the most memory that the kernel held. A
    process that dies sends neither, and that is a failure too.
    """
    os.environ |= ENVIRONMENT | {"NBBIAS_OUT": str(folder), "NBBIAS_CACHE": tables.default_cache()}
    os.environ[tables.START] = os.path.realpath(start)
    target = folder / "notebook.ipynb"
    if runner := multiprocessing.parent_process():
        _end_with(runner)
    try:
        # A partial notebook is kept whatever happens next.
        tables.write(target, _chosen(source, left_out))
        _papermill(pipe, target, values)
        pipe.send({"kind": "ok", "peak_mb": _peak_mb()})
    except BaseException as error:  # the runner must hear of every end
        with contextlib.suppress(BrokenPipeError):  # the runner may be gone itself
            pipe.send({"kind": "failed", **_failure(error), "peak_mb": _peak_mb()})
    finally:
        _strip(target)


def _chosen(source: Path, left_out: Collection[str]) -> str:
    """Return a notebook's source without the cells of what was not asked for."""
    import nbformat

    node = nbformat.read(source, as_version=4)
    node.cells = [c for c in node.cells if not set(c.metadata.get("tags", [])) & set(left_out)]
    return nbformat.writes(node) + "\n"


def _peak_mb() -> float | None:
    """Return the most memory that any ended child of this process, its kernel, has held."""
    if resource is None:
        return None
    most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    return round(most / (2**20 if sys.platform == "darwin" else 2**10), 1)


def _papermill(pipe: Connection, target: Path, values: dict[str, Any]) -> None:
    import logging

    import papermill

    logging.getLogger("papermill").setLevel(logging.ERROR)
    install_kernel()
    # papermill fills in what stands in braces, in paths too.
    path = str(target).replace("{", "{{").replace("}", "}}")
    papermill.execute_notebook(
        path,
        path,
        parameters=values,
        kernel_name=KERNEL,
        language="python",
        log_output=False,
        record_timing=False,
        start_timeout=120,
        progress_bar={
            "file": _Progress(pipe),
            "bar_format": "{n_fmt}/{total_fmt}",
            "mininterval": 0,
            "miniters": 1,
        },
    )


#: A line of a traceback in this package, as Python and as IPython write it.
_FRAME = re.compile(r'File "?\S*?[\\/]nbbias[\\/](\S+?\.py)(?:", line |:)(\d+)')

#: Errors that are no defect of the package, though they are not its own.
_OUTSIDE = {"MemoryError", "DeadKernelError", "CellTimeoutError", "KeyboardInterrupt"}


def defect(name: str, details: str) -> str:
    """Return where in this package an unforeseen error arose; nothing of one that was foreseen.

    Parameters
    ----------
    name
        The error's class.
    details
        Its traceback.

    Examples
    --------
    >>> defect("IndexError", 'File "/a/nbbias/news/fits.py", line 12, in number')
    'news/fits.py, line 12'
    >>> defect("DataError", 'File "/a/nbbias/news/fits.py", line 12, in number')
    ''
    """
    kind = getattr(builtins, name, None)
    ours = {one.__name__ for one in _kinds(NbbiasError)}
    if name in ours | _OUTSIDE or (
        isinstance(kind, type) and issubclass(kind, OSError | ImportError)
    ):
        return ""
    frames = _FRAME.findall(details)
    return "{}, line {}".format(*frames[-1]) if frames else ""


def _kinds(error: type[BaseException]) -> Iterator[type[BaseException]]:
    yield error
    for one in error.__subclasses__():
        yield from _kinds(one)


def _failure(error: BaseException) -> dict[str, Any]:
    from papermill.exceptions import PapermillExecutionError

    if isinstance(error, PapermillExecutionError):
        details = _ANSI.sub("", "\n".join(error.traceback))
        return {
            "cell": error.cell_index,
            "source": error.source,
            "error": error.ename,
            "message": error.evalue or _MEANT.get(error.ename, ""),
            "traceback": details,
            "defect": defect(error.ename, details),
        }
    name, details = type(error).__name__, traceback.format_exc()
    return {
        "cell": None,
        "source": "",
        "error": name,
        "defect": defect(name, details),
        "message": _MEANT.get(name) or str(error) or name,
        "traceback": details,
    }


def _strip(target: Path) -> None:
    """Take out what differs from run to run, and what is dead: times, paths, ids, live views."""
    import nbformat

    if not target.is_file():
        return
    node = nbformat.read(target, as_version=4)
    node.metadata.pop("papermill", None)
    node.metadata.pop("widgets", None)
    for cell in node.cells:
        cell.metadata.pop("papermill", None)
        cell.metadata.pop("execution", None)
        if cell.cell_type == "code":  # a progress bar, once its kernel is gone
            cell.outputs = [one for one in cell.outputs if _LIVE not in one.get("data", {})]
        if "injected-parameters" in cell.metadata.get("tags", []):
            cell["id"] = "injected-parameters"
    tables.write(target, nbformat.writes(node) + "\n")


def by_section(notebook: Path, clocked: Sequence[tuple[int, float]]) -> dict[str, float]:
    """Add up the seconds of a notebook's cells under its headings.

    Parameters
    ----------
    notebook
        The executed notebook.
    clocked
        Cells done, and the seconds since the start when they were.
    """
    import nbformat

    if not notebook.is_file():
        return {}
    cells = nbformat.read(notebook, as_version=4).cells
    at = dict(clocked)
    found: dict[str, float] = {}
    heading, before = "start", 0.0
    for number, cell in enumerate(cells, start=1):
        if cell.cell_type == "markdown" and cell.source.startswith("#"):
            heading = cell.source.splitlines()[0].lstrip("# ")
        now = at.get(number, before)
        found[heading] = found.get(heading, 0.0) + now - before
        before = now
    return {name: round(seconds, 2) for name, seconds in found.items()}
