"""Rows in chunks, over the cores of a machine or the machines of a cluster; nothing done twice.

A chunk is some rows of a table, or some row groups of a Parquet file, which the worker reads
itself. What came of it is a stage of its own (`stages`), so that a run that was killed goes on
where it was. A worker that dies on a cluster costs the chunks that it had; which worker had which
moves no number.
"""

from __future__ import annotations

import contextlib
import functools
import logging
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar

import joblib
import numpy as np
import pandas as pd

from nbbias.tables import notes, read
from nbbias.tables.columns import Form
from nbbias.tables.errors import ContractError, DataError, ParameterError
from nbbias.tables.extras import require_packages
from nbbias.tables.provenance import measuring_version
from nbbias.tables.stages import keep
from nbbias.tables.waiting import progress

T = TypeVar("T")
Engine = Literal["loky", "dask"]

#: Environment variables: workers of this machine; by what is mapped, and the scheduler's address.
WORKERS, ENGINE, SCHEDULER = "NBBIAS_WORKERS", "NBBIAS_ENGINE", "NBBIAS_SCHEDULER"

#: Bytes of text in a chunk: some seconds of work, and few enough that no worker's memory matters.
_SIZE = 8_000_000

#: What `set_engine` chose; the environment, which is the runner's, wins over it.
_chosen: dict[str, str] = {}


def count_workers() -> int:
    """Return how many processes or threads may work at a time: `NBBIAS_WORKERS`, else the cores.

    Examples
    --------
    >>> count_workers() > 0
    True
    """
    given = os.environ.get(WORKERS, "")
    if given and not (given.isascii() and given.isdigit() and int(given)):
        raise ParameterError(WORKERS, f"{given!r} is no number of workers")
    return int(given or joblib.cpu_count())


def set_engine(engine: str = "loky") -> None:
    """Choose by what `map_chunks` maps from now on: ``"loky"``, processes here, or ``"dask"``.

    Where the environment names an engine (`nbbias run --engine`), that one is taken. The address
    of a cluster's scheduler is read from the environment alone (`NBBIAS_SCHEDULER`), never from
    parameters: its workers can run code here. Without one dask starts workers on this machine.

    Examples
    --------
    >>> set_engine("loky")
    """
    _chosen[ENGINE] = engine
    if _engaged()[0] == "dask":
        require_packages("distributed", where="engine dask")


@contextlib.contextmanager
def use_engine(engine: str = "", scheduler: str = "") -> Iterator[None]:
    """Let processes that are started meanwhile map by an engine, whatever their parameters say.

    All of them use one cluster: that of the scheduler, or one that is started here.

    Examples
    --------
    >>> with use_engine("loky"):
    ...     os.environ["NBBIAS_ENGINE"]
    'loky'
    """
    if scheduler and not engine:
        engine = "dask"
    if not engine:
        yield
        return
    with set_environment(**{ENGINE: engine, SCHEDULER: scheduler}):
        if _engaged()[0] == "dask":
            address = _client(scheduler).scheduler.address
            os.environ[SCHEDULER] = address
        yield


@contextlib.contextmanager
def set_environment(**values: str) -> Iterator[None]:
    """Set variables for as long as it lasts, for the processes that are started meanwhile.

    Examples
    --------
    >>> with set_environment(NBBIAS_WORKERS="2"):
    ...     count_workers()
    2
    """
    before = {name: os.environ.get(name) for name in values}
    os.environ |= values
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            os.environ |= {name: value} if value is not None else {}


def _engaged() -> tuple[str, str]:
    engine = os.environ.get(ENGINE) or _chosen.get(ENGINE, "loky")
    if engine not in {"loky", "dask"}:
        raise ParameterError(ENGINE, f"no engine {engine!r}; there is loky, and dask")
    return engine, os.environ.get(SCHEDULER, "")


def map_chunks(
    function: Callable[..., T],
    rows: pd.Series | pd.DataFrame | str | Path,
    *,
    given: tuple[Any, ...] = (),
    form: Form | None = None,
    size: int = _SIZE,
    what: str = "",
) -> list[T]:
    """Call a function on every chunk of some rows; return what it returns, in order.

    Parameters
    ----------
    function
        Of a chunk, then of what is `given`; of a module that workers can import. What it returns
        must depend on these alone, and be of what `tables.stage` keeps: each chunk's is.
    rows
        A table or Series, whose index is kept; or the path of a Parquet file, of which the workers
        read row groups: of this machine, or an address such as ``s3://bucket/texts.parquet``
        (fsspec). Its rows are numbered through.
    given
        Further arguments, small ones: every worker gets them with every chunk.
    form
        The columns of a file that are read, as in `tables.read_table`.
    size
        Bytes of text in a chunk, about; a row, or a row group, is never cut.
    what
        What a bar calls this, which tells how many chunks have been begun; no bar without.

    Returns
    -------
    list
        What the function returned of each chunk; of no rows at all, of one chunk without rows.

    Raises
    ------
    NbbiasError
        What the function raises; it is of no module; the file cannot be read; a worker has another
        version of this package, or of what it measures with.

    Examples
    --------
    >>> def total(some: pd.Series) -> int:
    ...     return int(some.sum())
    >>> map_chunks(total, pd.Series([1, 2, 3]), size=1000)
    [6]
    """
    if function.__module__ == "__main__":
        told = "is of a script or notebook, which no worker can import; move it to a module"
        raise DataError(function.__name__, told)
    version, folder = measuring_version(function.__module__), os.environ.get("NBBIAS_CACHE", "")
    if isinstance(rows, str | Path):
        files = _of_file(str(rows), form or {}, size)
        number, cut = len(files), iter(files)
    else:
        number, cut = _of_table(rows, size)
    begun = progress(cut, what, of=number) if what else cut
    tasks = (_Task(function, one, given, folder, version, os.getpid()) for one in begun)
    engine, scheduler = _engaged()
    n_jobs = min(count_workers(), number)
    if number == 1 or (n_jobs == 1 and engine == "loky") or _within.chunk:
        return [_work(one) for one in tasks]
    # What they know of words is some hundred megabytes: idle ones do not stay.
    how: dict[str, Any] = {"backend": "loky", "n_jobs": n_jobs, "idle_worker_timeout": 30}
    if engine == "dask":
        how = {"backend": "dask", "client": _client(scheduler), "n_jobs": -1}
    # A task is one tuple, since joblib scatters larger arguments over dask's workers: what lies on
    # one that dies would be lost.
    with joblib.parallel_config(**how):
        return list(joblib.Parallel(batch_size=1)(joblib.delayed(_work)(one) for one in tasks))


@functools.cache
def _client(scheduler: str) -> Any:
    """Return the one client of a scheduler; without an address, that of workers on this machine."""
    require_packages("distributed", where="engine dask")
    from distributed import Client, LocalCluster

    logging.getLogger("distributed").setLevel(logging.WARNING)  # it tells of each start and end
    logging.getLogger("distributed.nanny").setLevel(logging.ERROR)  # and of a slow end
    if scheduler:
        try:
            return Client(scheduler, timeout=10, set_as_default=False)
        except (OSError, ValueError) as error:
            raise ParameterError(SCHEDULER, f"{scheduler!r} cannot be reached: {error}") from None
    here = LocalCluster(n_workers=count_workers(), threads_per_worker=1, dashboard_address=None)
    return Client(here, set_as_default=False)


#: One chunk at a time in a process: what caches words is no work of several threads.
_ALONE = threading.RLock()


class _Within(threading.local):
    """Whether a thread makes a chunk: what that maps in its turn, it makes itself."""

    chunk = False


_within = _Within()


class _Task(NamedTuple):
    """What a worker is given: what to make of what, where that is kept, and for whom."""

    function: Callable[..., Any]
    chunk: Any
    given: tuple[Any, ...]
    folder: str
    version: str
    process: int


def _work(task: _Task) -> Any:
    """Make one chunk in a worker, or read what was made of it."""
    function, chunk, given, folder, version, process = task
    if os.getppid() == process:
        _end_with(process)
    if measuring_version(function.__module__) != version:
        told = "a worker has other versions of nbbias, Python or packages than this machine"
        raise DataError(function.__module__, f"{told}; numbers would depend on who made them")
    with _ALONE:
        before, _within.chunk = _within.chunk, True
        try:
            held = chunk.read() if isinstance(chunk, _Groups) else chunk
            return keep(function, (held, *given), folder=folder)
        finally:
            _within.chunk = before


@functools.cache
def _end_with(parent: int) -> None:
    """End this worker when the process is gone that started it: nobody else would for minutes.

    What it learns of words is no leak, for which loky would end it after a chunk.
    """
    from joblib.externals.loky import process_executor as loky  # or all of joblib would load

    loky._MAX_MEMORY_LEAK_SIZE = sys.maxsize

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


# --- tables -----------------------------------------------------------------------------------


def _of_table(
    rows: pd.Series | pd.DataFrame, size: int
) -> tuple[int, Iterator[pd.Series | pd.DataFrame]]:
    """Cut rows by what their texts take, each chunk when it is wanted."""
    columns = [rows] if isinstance(rows, pd.Series) else [rows[name] for name in rows]
    bytes_ = np.full(len(rows), 8)
    for one in columns:
        if one.dtype == "str" or one.dtype == object:
            bytes_ += one.str.len().fillna(0).to_numpy(int)
    starts = _starts(bytes_, size)
    ends = [*starts[1:], len(rows)]
    return len(starts), (rows.iloc[a:b] for a, b in zip(starts, ends, strict=True))


# --- files ------------------------------------------------------------------------------------


class _Groups(NamedTuple):
    """Some row groups of a Parquet file, of which the first row has the number `start`."""

    path: str
    groups: range
    start: int
    form: Form

    def read(self) -> pd.DataFrame:
        try:
            table = read.row_groups(self.path, self.form, self.groups)
        except ContractError as error:
            where = f"{self.path}, from row {self.start + 1} on" if self.start else self.path
            raise ContractError(where, error.breaches) from None
        return table.set_axis(pd.RangeIndex(self.start, self.start + len(table)))


def _of_file(path: str, form: Form, size: int) -> list[_Groups]:
    """Put neighbouring row groups together, up to the size of a chunk."""
    if "://" not in path:  # a worker may start elsewhere
        bare, told = notes.parted(path)
        path = notes.noted(str(read.resolve(bare).absolute()), told)
    counted = np.array(read.row_group_sizes(path, form)).reshape(-1, 2)
    starts = _starts(counted[:, 1], size)
    rows = [0, *counted[:, 0].cumsum()]
    ends = [*starts[1:], len(counted)]
    return [
        _Groups(path, range(a, b), int(rows[a]), form) for a, b in zip(starts, ends, strict=True)
    ]


def _starts(bytes_: np.ndarray, size: int) -> list[int]:
    """Return where chunks of about a size begin; there is one chunk at least."""
    number = (bytes_.cumsum() - bytes_) // size
    return np.flatnonzero(np.diff(number, prepend=-1)).tolist() or [0]
