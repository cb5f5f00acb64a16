"""Results are those of one call, whatever the chunks, the workers and the engine."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pandas as pd
import psutil
import pytest
from hypothesis import given, settings, strategies as st

from nbbias import tables
from nbbias.tables import DataError, ParameterError, parallel
from tests.tables import worked

WORDS = pd.Series([f"{'word ' * (at % 7)}{at}" for at in range(200)], name="text")
LENGTHS = WORDS.str.len().rename("length")


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (parallel.ENGINE, "NBBIAS_CACHE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv(parallel.WORKERS, "1")


def makers(folder: Path) -> list[int]:
    """The process of each chunk that `worked.logged` made."""
    return [int(path.name.split("-")[1]) for path in sorted(folder.iterdir())]


# --- chunks -----------------------------------------------------------------------------------


@settings(max_examples=12)
@given(
    st.lists(st.text(max_size=40) | st.none(), max_size=30),
    st.integers(1, 400),
    st.sampled_from(["str", "object"]),
)
def test_chunks_are_the_rows_in_order_once(texts: list[str | None], size: int, kind: str) -> None:
    rows = pd.Series(texts, index=range(5, 5 + len(texts)), dtype=kind)
    chunks = tables.map_chunks(pd.Series.copy, rows, chunk_bytes=size)
    pd.testing.assert_series_equal(pd.concat(chunks), rows)
    sizes = [sum(8 + (len(t) if isinstance(t, str) else 0) for t in chunk) for chunk in chunks]
    largest = max((8 + len(t or "") for t in texts), default=0)
    assert all(one < size + largest for one in sizes)  # a row is whole, and no chunk is larger
    assert len(chunks) <= 1 + sum(sizes) // size


def test_a_chunk_that_was_made_before_is_not_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NBBIAS_CACHE", str(tmp_path / "cache"))
    (folder := tmp_path / "made").mkdir()
    args = (str(folder),)
    half = tables.map_chunks(worked.logged, WORDS.head(100), args=args, chunk_bytes=300)
    assert len(makers(folder)) == len(half) > 2
    whole = tables.map_chunks(worked.logged, WORDS, args=args, chunk_bytes=300)
    number = len(makers(folder))
    assert number == len(whole) + 1  # the last chunk of the half was a shorter one
    tables.map_chunks(worked.logged, WORDS, args=args, chunk_bytes=300)
    assert len(makers(folder)) == number
    pd.testing.assert_series_equal(pd.concat(whole), LENGTHS)


# --- engines ----------------------------------------------------------------------------------


def test_workers_are_those_of_the_environment_or_the_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(parallel.WORKERS)
    assert tables.count_workers() >= 1
    monkeypatch.setenv(parallel.WORKERS, "3")
    assert tables.count_workers() == 3
    for wrong in ("0", "-1", "two", "1.5"):
        monkeypatch.setenv(parallel.WORKERS, wrong)
        with pytest.raises(ParameterError, match="not a number of workers"):
            tables.count_workers()


def test_an_unknown_engine_is_refused_wherever_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ParameterError, match="no engine 'spark'"), tables.use_engine("spark"):
        pass
    assert parallel.ENGINE not in os.environ
    monkeypatch.setenv(parallel.ENGINE, "spark")
    with pytest.raises(ParameterError, match="no engine 'spark'"):
        tables.map_chunks(worked.lengths, WORDS)


def test_a_function_of_a_notebook_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worked.lengths, "__module__", "__main__")
    with pytest.raises(DataError, match="lengths: is of a script or notebook"):
        tables.map_chunks(worked.lengths, WORDS)


def test_a_worker_of_another_version_makes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    versions = iter(["the notebook's", "the worker's"])
    monkeypatch.setattr(parallel, "measuring_version", lambda module: next(versions))
    monkeypatch.setenv(parallel.WORKERS, "2")
    monkeypatch.setattr(parallel.joblib, "delayed", lambda work: work)
    monkeypatch.setattr(parallel.joblib, "Parallel", lambda **_: list)
    with pytest.raises(DataError, match="a worker has other versions"):
        tables.map_chunks(worked.lengths, WORDS, chunk_bytes=300)


def test_processes_return_what_one_call_does_and_refuse_alike(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(parallel.WORKERS, "2")
    result = tables.map_chunks(worked.logged, WORDS, args=(str(tmp_path),), chunk_bytes=300)
    pd.testing.assert_series_equal(pd.concat(result), LENGTHS)
    assert os.getpid() not in makers(tmp_path)
    # A chunk that maps in its turn does so in its own process.
    processes = tables.map_chunks(worked.nested, WORDS, chunk_bytes=2000)
    assert all(len(one) == 1 for one in processes) and [os.getpid()] not in processes
    with pytest.raises(DataError) as caught:
        tables.map_chunks(worked.refused, WORDS.replace({WORDS[150]: "wrong"}), chunk_bytes=300)
    assert (caught.value.where, caught.value.breaches) == ("mine.csv", ["one", "two"])


@pytest.mark.slow
def test_a_worker_of_a_cluster_that_is_killed_costs_its_chunks_and_moves_no_number(
    tmp_path: Path,
) -> None:
    distributed = pytest.importorskip("distributed")

    def kill() -> None:
        while len(makers(tmp_path)) < 3:
            time.sleep(0.01)
        os.kill(makers(tmp_path)[0], signal.SIGKILL)

    with distributed.LocalCluster(
        n_workers=3, threads_per_worker=1, dashboard_address=None
    ) as cluster:
        with tables.use_engine(cluster.scheduler_address):
            killer = threading.Thread(target=kill)
            killer.start()
            args = (str(tmp_path), 0.3)
            result = tables.map_chunks(worked.logged, WORDS, args=args, chunk_bytes=120)
            killer.join()
            wrong = WORDS.replace({WORDS[150]: "wrong"})
            with pytest.raises(DataError) as caught:
                tables.map_chunks(worked.refused, wrong, chunk_bytes=300)
        parallel._client(cluster.scheduler_address).close()
    pd.testing.assert_series_equal(pd.concat(result), LENGTHS)
    assert caught.value.breaches == ["one", "two"]
    assert os.getpid() not in makers(tmp_path) and len(set(makers(tmp_path))) >= 3
    for nobody in ("tcp://127.0.0.1:1", "tls://127.0.0.1:1"):
        with pytest.raises(ParameterError, match="cannot be reached"), tables.use_engine(nobody):
            pass


_SCRIPT = """
import sys
from nbbias import tables
from tests.tables import test_parallel, worked
args = (sys.argv[1], 0.3)
tables.map_chunks(worked.logged, test_parallel.WORDS, args=args, chunk_bytes=120)
"""


@pytest.mark.slow
def test_a_run_that_is_killed_goes_on_and_leaves_no_worker(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NBBIAS_CACHE", str(tmp_path / "cache"))
    (folder := tmp_path / "made").mkdir()
    script = [sys.executable, "-c", _SCRIPT, str(folder)]
    root = Path(__file__).parents[2]
    with tables.set_environment(NBBIAS_WORKERS="2"), subprocess.Popen(script, cwd=root) as run:
        while len(makers(folder)) < 6:
            time.sleep(0.01)
        workers = {pid: psutil.Process(pid) for pid in makers(folder)}
        run.kill()
    assert len(workers) == 2 and run.pid not in workers
    assert not psutil.wait_procs(workers.values(), timeout=30)[1]
    kept, made = len(list((tmp_path / "cache").glob("*.stage"))), len(makers(folder))
    assert 0 < kept <= made < len(WORDS)
    result = tables.map_chunks(worked.logged, WORDS, args=(str(folder), 0.3), chunk_bytes=120)
    pd.testing.assert_series_equal(pd.concat(result), LENGTHS)
    assert len(makers(folder)) - made == len(result) - kept  # what was not finished, no more


# --- threads ----------------------------------------------------------------------------------


@pytest.mark.parametrize("workers", ["1", "7"])
def test_results_of_threads_are_in_order_whatever_ends_first(
    workers: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(parallel.WORKERS, workers)
    wait = threading.Event()

    def square(n: int) -> int:
        if workers == "7" and n == 0:
            wait.wait(5)
        wait.set()
        return n * n

    assert tables.map_threads(square, range(5)) == [0, 1, 4, 9, 16]
    assert tables.map_threads(square, []) == []
    with pytest.raises(ZeroDivisionError):
        tables.map_threads(lambda n: 1 // n, [1, 0, 2])


def test_threads_of_threads_are_no_more_than_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(parallel.WORKERS, "6")
    assert tables.count_threads() == 6
    assert tables.map_threads(lambda _: tables.count_threads(), range(3)) == [2, 2, 2]
    assert tables.map_threads(lambda _: tables.count_threads(), range(9)) == [1] * 9
    assert tables.count_threads() == 6


def test_a_bar_is_shown_of_several_named_items_where_no_run_records_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shown: list[str] = []
    monkeypatch.setattr("tqdm.tqdm", lambda items, desc, **_: shown.append(desc) or items)
    monkeypatch.delenv("NBBIAS_OUT", raising=False)
    for items, what in ([1, 2], "counting"), ([1, 2], ""), ([1], "counting"):
        assert list(parallel.progress(items, what)) == items
    monkeypatch.setenv("NBBIAS_OUT", "runs")
    assert list(parallel.progress([1, 2], "counting")) == [1, 2]
    assert shown == ["counting"]
