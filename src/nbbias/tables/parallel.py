"""Work in parallel: chunks of rows by joblib over processes or a cluster, items over threads.

Neither the number of workers nor which of them does what changes a number. A bar says how far the
work is where somebody waits at a notebook; a run has its own, and its pages show none.
"""

from __future__ import annotations

import contextlib
import functools
import logging
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import joblib
import pandas as pd

from nbbias.tables.errors import DataError, ParameterError
from nbbias.tables.packages import require_packages
from nbbias.tables.paths import set_environment
from nbbias.tables.provenance import measuring_version
from nbbias.tables.stages import load_or_call

T = TypeVar("T")
R = TypeVar("R")

#: Environment variables: workers of this machine, and the engine.
WORKERS, ENGINE = "NBBIAS_WORKERS", "NBBIAS_ENGINE"

#: Bytes of text in a chunk: seconds of work, and a small part of a worker's memory.
_CHUNK_BYTES = 4_000_000


def count_workers() -> int:
    """Return how many processes or threads may work at a time: `NBBIAS_WORKERS`, else the cores.

    Examples
    --------
    >>> count_workers() > 0
    True
    """
    number = os.environ.get(WORKERS, "")
    if number and not (number.isascii() and number.isdigit() and int(number)):
        raise ParameterError(WORKERS, f"{number!r} is not a number of workers")
    return int(number or joblib.cpu_count())


@contextlib.contextmanager
def use_engine(engine: str = "") -> Iterator[None]:
    """Set the engine of `map_chunks` here and in processes started meanwhile.

    ``"loky"`` are processes of this machine; a scheduler's address (``"tcp://…"``) is its cluster;
    ``"dask"`` is one that is started here and shared by all notebooks of a batch. No parameter
    names an engine: whoever controls a scheduler can run code here.

    Parameters
    ----------
    engine
        ``"loky"``, ``"dask"``, or the address of a scheduler.

    Examples
    --------
    >>> with use_engine("loky"):
    ...     os.environ["NBBIAS_ENGINE"]
    'loky'
    """
    with set_environment(**({ENGINE: engine} if engine else {})):
        if engine and _read_engine() != "loky":
            os.environ[ENGINE] = _client(engine).scheduler.address
        yield


def _read_engine() -> str:
    engine = os.environ.get(ENGINE) or "loky"
    if engine not in {"loky", "dask"} and "://" not in engine:
        raise ParameterError(ENGINE, f"no engine {engine!r}; use loky, dask, or tcp://…")
    if engine != "loky":
        require_packages("distributed", where="engine dask")
    return engine


def map_chunks(
    function: Callable[..., T],
    rows: pd.Series | pd.DataFrame,
    *,
    args: tuple[Any, ...] = (),
    chunk_bytes: int = _CHUNK_BYTES,
    label: str = "",
) -> list[T]:
    """Call a function on every chunk of a table's rows; return the results in order.

    Parameters
    ----------
    function
        Takes a chunk and `args`, and depends on these alone. Workers must be able to import it.
        What it returns is kept like a `stage`, so that a killed run goes on where it was.
    rows
        A table or Series; chunks keep its index.
    args
        Further arguments, small ones: every worker gets them with every chunk.
    chunk_bytes
        Approximate bytes of text in a chunk; a row is never divided.
    label
        What a progress bar is called; no bar without a label.

    Returns
    -------
    list
        The result of each chunk; a table without rows is one chunk.

    Raises
    ------
    NbbiasError
        The function raised it, belongs to no module, or a worker has another version of this
        package or of a package that it measures with.

    Examples
    --------
    >>> def total(rows: pd.Series) -> int:
    ...     return int(rows.sum())
    >>> map_chunks(total, pd.Series([1, 2, 3]), chunk_bytes=1000)
    [6]
    """
    if function.__module__ == "__main__":
        reason = "is of a script or notebook, which no worker can import; move it to a module"
        raise DataError(function.__name__, reason)
    engine = _read_engine()
    chunks = _divide(rows, chunk_bytes)
    n_jobs = min(count_workers(), len(chunks))
    steps = progress(chunks, label)
    cache = os.environ.get("NBBIAS_CACHE", "")
    if len(chunks) == 1 or (n_jobs == 1 and engine == "loky"):
        return [load_or_call(function, (chunk, *args), {}, folder=cache) for chunk in steps]
    config: dict[str, Any] = {"backend": "loky", "n_jobs": n_jobs, "idle_worker_timeout": 5}
    if engine != "loky":
        config = {"backend": "dask", "n_jobs": -1, "client": _client(engine)}
    version = measuring_version(function.__module__)
    # One tuple a task: joblib scatters larger arguments over dask's workers, and what lies on a
    # worker that dies would be lost.
    tasks = ((function, (chunk, *args), cache, version, os.getpid()) for chunk in steps)
    with joblib.parallel_config(**config):
        return list(joblib.Parallel(batch_size=1)(joblib.delayed(_work)(task) for task in tasks))


def _divide(rows: pd.Series | pd.DataFrame, chunk_bytes: int) -> list[Any]:
    """Return chunks of about so many bytes of text; a table without rows is one."""
    n_bytes = pd.Series(8, range(len(rows)))
    for _, column in rows.to_frame().items() if isinstance(rows, pd.Series) else rows.items():
        if pd.api.types.is_string_dtype(column.dtype) or column.dtype == object:
            n_bytes += column.str.len().fillna(0).to_numpy(int)
    number = ((n_bytes.cumsum() - n_bytes) // chunk_bytes).to_numpy()
    return [chunk for _, chunk in rows.groupby(number)] or [rows]


@functools.cache
def _client(engine: str) -> Any:
    """Return the one client of a scheduler; without an address, of workers on this machine."""
    from distributed import Client

    logging.getLogger("distributed").setLevel(logging.ERROR)  # it logs each start and slow end
    local = {"n_workers": count_workers(), "threads_per_worker": 1, "dashboard_address": None}
    options: dict[str, Any] = {"address": engine} if "://" in engine else local
    try:
        return Client(timeout=10, set_as_default=False, **options)
    except (OSError, ValueError, TypeError) as error:  # TypeError: tls:// without a key
        raise ParameterError(ENGINE, f"{engine!r} cannot be reached: {error}") from None


#: A worker makes one chunk at a time: spaCy's vocabulary is not for several threads.
_LOCK = threading.Lock()


def _work(task: tuple[Callable[..., T], tuple[Any, ...], str, str, int]) -> T:
    """Make one chunk in a worker, which starts no workers of its own."""
    function, args, cache, version, notebook = task
    if os.getppid() == notebook:
        _end_with(notebook)
    if measuring_version(function.__module__) != version:
        reason = "a worker has other versions of nbbias, Python or packages than this machine"
        raise DataError(function.__module__, f"{reason}; numbers would depend on the worker")
    with _LOCK, set_environment(**{WORKERS: "1", ENGINE: "loky"}):
        return load_or_call(function, args, {}, folder=cache)


@functools.cache
def _end_with(parent: int) -> None:
    """End this worker soon after its parent was killed: loky's would live on for minutes."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


# --- threads ----------------------------------------------------------------------------------

#: How many threads a thread may start in its turn.
_local = threading.local()


def count_threads() -> int:
    """Return how many threads may work here: the run's workers, or this thread's part of them.

    Examples
    --------
    >>> count_threads() > 0
    True
    """
    return getattr(_local, "threads", 0) or count_workers()


def map_threads(function: Callable[[T], R], items: Sequence[T], *, label: str = "") -> list[R]:
    """Call a function on every item in threads; return results in order.

    Use it for compiled code, which releases the lock of the interpreter. A `label` names a
    progress bar.

    Parameters
    ----------
    function
        Called with each item.
    items
        The items.
    label
        Name of a progress bar; none by default.

    Examples
    --------
    >>> map_threads(abs, [-1, 2])
    [1, 2]
    """
    if (at_once := min(count_threads(), len(items))) < 2:
        return [function(item) for item in progress(items, label)]

    def begin(threads: int = count_threads() // at_once) -> None:
        _local.threads = threads

    with ThreadPoolExecutor(at_once, initializer=begin) as pool:
        futures = [pool.submit(function, item) for item in items]
        return [future.result() for future in progress(futures, label)]


# --- progress bars ---------------------------------------------------------------------------


def progress(items: Sequence[T], what: str) -> Iterator[T]:
    """Go through items; where no run records the output, a bar says how far; none without a name.

    Examples
    --------
    >>> list(progress([1, 2], "counting"))
    [1, 2]
    """
    if not what or len(items) < 2 or not is_interactive():
        yield from items
        return
    from IPython.core.getipython import get_ipython
    from tqdm import tqdm

    # A notebook shows what comes by stderr as an error, and no bar below another.
    here = {"file": sys.stdout, "position": 0} if hasattr(get_ipython(), "kernel") else {}
    yield from tqdm(items, desc=what, leave=False, **here)


def is_interactive() -> bool:
    """Tell whether somebody may be watching: a run records its output, and a bar is none.

    Examples
    --------
    >>> import os
    >>> is_interactive() == ("NBBIAS_OUT" not in os.environ)
    True
    """
    return "NBBIAS_OUT" not in os.environ
