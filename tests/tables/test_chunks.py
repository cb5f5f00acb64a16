"""Rows in chunks: whatever the cut, the file and the engine, it is what one call gives."""

from __future__ import annotations

import functools
import http.server
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import psutil
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings, strategies as st

from nbbias import tables
from nbbias.tables import Column, ContractError, DataError, ParameterError, chunks
from tests.tables import worked

FORM = {"text": Column("text", needed=True, also=("body",)), "n": Column("count")}
WORDS = pd.Series([f"{'word ' * (at % 7)}{at}" for at in range(200)], name="text")


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (chunks.ENGINE, chunks.SCHEDULER, "NBBIAS_CACHE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv(chunks.WORKERS, "1")
    monkeypatch.setitem(chunks._chosen, chunks.ENGINE, "loky")


def written(texts: pd.Series, path: Path, *, rows: int) -> Path:
    pq.write_table(pa.table({"id": range(len(texts)), "text": texts}), path, row_group_size=rows)
    return path


# --- cuts -------------------------------------------------------------------------------------


@given(
    st.lists(st.text(max_size=40) | st.none(), max_size=30),
    st.integers(1, 400),
    st.sampled_from(["str", "object"]),
)
def test_chunks_are_the_rows_in_order_each_once(
    texts: list[str | None], size: int, kind: str
) -> None:
    whole = pd.Series(texts, index=range(5, 5 + len(texts)), dtype=kind)
    number, cut = chunks._of_table(whole, size)
    found = list(cut)
    assert len(found) == number > 0
    pd.testing.assert_series_equal(pd.concat(found), whole)
    took = [sum(8 + (len(t) if isinstance(t, str) else 0) for t in one) for one in found]
    most = max((8 + len(t or "") for t in texts), default=0)
    assert all(one < size + most for one in took)  # a row is never cut, and no chunk is larger
    assert len(found) <= 1 + sum(took) // size


def test_a_table_is_cut_by_all_its_texts() -> None:
    table = pd.DataFrame({"a": ["x" * 50] * 4, "b": ["y" * 50] * 4, "n": 1})
    _, cut = chunks._of_table(table, 108)
    assert [len(one) for one in cut] == [1] * 4
    _, cut = chunks._of_table(table[["a"]], 108)
    assert [len(one) for one in cut] == [2, 2]


def test_what_is_appended_leaves_the_chunks_before_it_as_they_were() -> None:
    _, before = chunks._of_table(WORDS, 500)
    _, after = chunks._of_table(pd.concat([WORDS, WORDS], ignore_index=True), 500)
    for one, other in zip(list(before)[:-1], after, strict=False):
        pd.testing.assert_series_equal(one, other)


@pytest.mark.parametrize("size", [1, 300, 10**9])
def test_what_chunks_return_comes_in_order(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    found = tables.map_chunks(worked.lengths, WORDS, size=size)
    pd.testing.assert_series_equal(pd.concat(found), WORDS.str.len().rename("length"))


def test_no_rows_are_one_chunk_without_any() -> None:
    (found,) = tables.map_chunks(worked.lengths, WORDS.head(0))
    assert len(found) == 0


# --- files ------------------------------------------------------------------------------------


@pytest.mark.parametrize("rows", [1, 7, 64, 500])
@pytest.mark.parametrize("size", [1, 400, 10**9])
def test_a_file_is_read_by_its_row_groups_and_numbered_through(
    rows: int, size: int, tmp_path: Path
) -> None:
    path = written(WORDS, tmp_path / "texts.parquet", rows=rows)
    found = tables.map_chunks(worked.lengths, path, form=FORM, size=size)
    pd.testing.assert_series_equal(pd.concat(found), WORDS.str.len().rename("length"))


@settings(max_examples=25)
@given(st.lists(st.text(max_size=30), min_size=1, max_size=20), st.integers(1, 8))
def test_row_groups_hold_what_the_whole_file_does(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], rows: int
) -> None:
    texts = [one.encode("utf-8", "replace").decode() for one in texts]
    path = written(pd.Series(texts), tmp_path_factory.mktemp("f") / "a.parquet", rows=rows)
    whole = tables.read_table(path, FORM)
    parts = [one.read() for one in chunks._of_file(str(path), FORM, 50)]
    pd.testing.assert_frame_equal(pd.concat(parts), whole)


def test_columns_are_found_as_in_a_whole_file_and_wrong_ones_refused(tmp_path: Path) -> None:
    table = pa.table({"Body": ["a", "b"], "n": ["1", "x"]})
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=1)
    path = tmp_path / "a.parquet"
    only = {"text": FORM["text"]}
    (found,) = tables.map_chunks(worked.lengths, path, form=only)
    assert found.tolist() == [1, 1]
    with pytest.raises(ContractError, match=r"a.parquet: column n: .* but row 2 holds 'x'"):
        tables.map_chunks(worked.lengths, path, form=FORM)
    with pytest.raises(ContractError, match=r"from row 2 on: column n: .* row 1 holds 'x'"):
        tables.map_chunks(worked.lengths, path, form=FORM, size=1)
    (named,) = tables.map_chunks(worked.lengths, f"{path}?text=n", form=only)
    assert named.tolist() == [1, 1]


@pytest.mark.parametrize("content", [b"", b"PAR1", b"no parquet at all"])
def test_what_is_no_parquet_is_told(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "a.parquet").write_bytes(content)
    with pytest.raises(DataError, match="cannot be read as parquet"):
        tables.map_chunks(worked.lengths, tmp_path / "a.parquet", form=FORM)
    with pytest.raises(DataError, match="cannot be read as parquet"):
        tables.map_chunks(worked.lengths, "nowhere-at-all://a.parquet", form=FORM)


def test_a_few_bytes_that_stand_for_gigabytes_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(pd.Series(["x" * 1000] * 1000), tmp_path / "a.parquet", rows=100)
    monkeypatch.setattr("nbbias.tables.read._BYTES", 200_000)
    with pytest.raises(DataError, match="holds more than is read"):
        tables.map_chunks(worked.lengths, path, form=FORM)
    found = tables.map_chunks(worked.lengths, path, form=FORM, size=1)  # each group is less
    assert sum(map(len, found)) == 1000


class _Ranges(http.server.SimpleHTTPRequestHandler):
    """A server that hands out ranges of bytes, as object stores do, and counts them."""

    sent = 0

    def do_GET(self) -> None:
        data = Path(self.translate_path(self.path)).read_bytes()
        first, last = 0, len(data) - 1
        if told := self.headers.get("Range"):
            first, last = (int(one) for one in told.removeprefix("bytes=").split("-"))
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {first}-{last}/{len(data)}")
        else:
            self.send_response(200)
        part = data[first : last + 1]
        type(self).sent += len(part)
        self.send_header("Content-Length", str(len(part)))
        self.send_header("Accept-Ranges", "bytes")
        self.end_headers()
        self.wfile.write(part)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def served(tmp_path: Path) -> Iterator[str]:
    handler = functools.partial(_Ranges, directory=str(tmp_path))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_only_what_is_wanted_is_fetched_from_elsewhere(served: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    rows = {"text": WORDS, "other": [rng.bytes(50_000) for _ in WORDS]}
    pq.write_table(pa.table(rows), tmp_path / "a.parquet", row_group_size=50)
    found = tables.map_chunks(worked.lengths, f"{served}/a.parquet", form=FORM, size=1)
    assert len(found) == 4
    assert _Ranges.sent < (tmp_path / "a.parquet").stat().st_size / 2
    pd.testing.assert_series_equal(pd.concat(found), WORDS.str.len().rename("length"))


# --- engines ----------------------------------------------------------------------------------


def test_workers_are_those_of_the_environment_or_the_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(chunks.WORKERS)
    assert tables.count_workers() >= 1
    monkeypatch.setenv(chunks.WORKERS, "3")
    assert tables.count_workers() == 3
    for wrong in ("0", "-1", "two", "1.5"):
        monkeypatch.setenv(chunks.WORKERS, wrong)
        with pytest.raises(ParameterError, match="no number of workers"):
            tables.count_workers()


def test_an_engine_that_there_is_not_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ParameterError, match="no engine 'ray'"):
        tables.set_engine("ray")
    tables.set_engine("loky")
    monkeypatch.setenv(chunks.ENGINE, "spark")
    with pytest.raises(ParameterError, match="no engine 'spark'"):
        tables.map_chunks(worked.lengths, WORDS)


def test_the_engine_of_a_batch_wins_over_parameters_and_lasts_as_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(chunks._chosen, chunks.ENGINE, "dask")
    monkeypatch.setenv(chunks.SCHEDULER, "tcp://10.0.0.1:8786")
    with tables.use_engine("loky"):
        assert chunks._engaged() == ("loky", "")
        assert pd.concat(tables.map_chunks(worked.lengths, WORDS, size=300)).size == len(WORDS)
    with tables.use_engine():
        assert chunks._engaged() == ("dask", "tcp://10.0.0.1:8786")
    assert chunks.ENGINE not in os.environ
    with pytest.raises(ParameterError, match="no engine 'spark'"), tables.use_engine("spark"):
        pass
    assert chunks.ENGINE not in os.environ


def test_a_function_of_a_notebook_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worked.lengths, "__module__", "__main__")
    with pytest.raises(DataError, match="lengths: is of a script or notebook"):
        tables.map_chunks(worked.lengths, WORDS)


def test_what_a_chunk_maps_is_made_where_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(chunks.WORKERS, "2")
    task = chunks._Task(worked.nested, WORDS, (), "", chunks.measuring_version("tests"), 0)
    assert chunks._work(task) == [os.getpid()]
    assert not chunks._within.chunk


def test_a_worker_of_another_version_makes_nothing() -> None:
    with pytest.raises(DataError, match="other versions"):
        chunks._work(chunks._Task(worked.lengths, WORDS, (), "", "0" * 16, 0))
    own = chunks.measuring_version("tests")
    assert chunks._work(chunks._Task(worked.lengths, WORDS, (), "", own, 0)).any()


def test_what_was_made_before_is_not_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NBBIAS_CACHE", str(tmp_path / "kept"))
    (folder := tmp_path / "noted").mkdir()
    half = tables.map_chunks(worked.noted, WORDS.head(100), given=(str(folder),), size=300)
    first = len(list(folder.iterdir()))
    assert first == len(half) > 2
    whole = tables.map_chunks(worked.noted, WORDS, given=(str(folder),), size=300)
    made = len(list(folder.iterdir()))
    assert made - first == len(whole) - len(half) + 1  # the last one of the half was cut short
    tables.map_chunks(worked.noted, WORDS, given=(str(folder),), size=300)
    assert len(list(folder.iterdir())) == made
    assert len(list((tmp_path / "kept").glob("noted-*.stage"))) == made
    pd.testing.assert_series_equal(pd.concat(whole), WORDS.str.len())


@pytest.mark.slow
def test_processes_return_what_one_does_and_refuse_alike(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(chunks.WORKERS, "2")
    (folder := tmp_path / "noted").mkdir()
    found = tables.map_chunks(worked.noted, WORDS, given=(str(folder),), size=300)
    pd.testing.assert_series_equal(pd.concat(found), WORDS.str.len())
    makers = {one.name.split("-")[1] for one in folder.iterdir()}
    assert str(os.getpid()) not in makers
    path = written(WORDS, tmp_path / "texts.parquet", rows=20)
    read = tables.map_chunks(worked.lengths, path, form=FORM, size=300)
    pd.testing.assert_series_equal(pd.concat(read), WORDS.str.len().rename("length"))
    with pytest.raises(DataError) as told:
        tables.map_chunks(worked.refused, WORDS.replace({WORDS[150]: "wrong"}), size=300)
    assert (told.value.where, told.value.breaches) == ("mine.csv", ["one", "two"])


@pytest.mark.slow
def test_a_worker_of_a_cluster_that_is_killed_costs_its_chunks_and_moves_no_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    distributed = pytest.importorskip("distributed")
    (folder := tmp_path / "noted").mkdir()

    def makers() -> list[int]:
        return [int(one.name.split("-")[1]) for one in sorted(folder.iterdir())]

    def kill() -> None:
        while len(made := makers()) < 3:
            time.sleep(0.01)
        os.kill(made[0], signal.SIGKILL)

    with distributed.LocalCluster(
        n_workers=3, threads_per_worker=1, dashboard_address=None
    ) as cluster:
        monkeypatch.setenv(chunks.SCHEDULER, cluster.scheduler_address)
        tables.set_engine("dask")
        killer = threading.Thread(target=kill)
        killer.start()
        found = tables.map_chunks(worked.slowly, WORDS, given=(str(folder),), size=120)
        killer.join()
        path = written(WORDS, tmp_path / "texts.parquet", rows=20)
        read = tables.map_chunks(worked.lengths, path, form=FORM, size=300)
        with pytest.raises(DataError) as told:
            tables.map_chunks(worked.refused, WORDS.replace({WORDS[150]: "wrong"}), size=300)
        chunks._client(cluster.scheduler_address).close()
    pd.testing.assert_series_equal(pd.concat(found), WORDS.str.len())
    pd.testing.assert_series_equal(pd.concat(read), WORDS.str.len().rename("length"))
    assert told.value.breaches == ["one", "two"]
    assert os.getpid() not in makers() and len(set(makers())) >= 3
    assert len(makers()) >= len(found)


@pytest.mark.slow
def test_a_scheduler_that_is_not_there_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed")
    monkeypatch.setenv(chunks.SCHEDULER, "tcp://127.0.0.1:1")
    tables.set_engine("dask")
    with pytest.raises(ParameterError, match="cannot be reached"):
        tables.map_chunks(worked.lengths, WORDS, size=300)


_SCRIPT = """
import sys
from nbbias import tables
from tests.tables import test_chunks, worked
tables.map_chunks(worked.slowly, test_chunks.WORDS, given=(sys.argv[1],), size=120)
"""


@pytest.mark.slow
def test_a_run_that_is_killed_goes_on_and_leaves_no_worker_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NBBIAS_CACHE", str(tmp_path / "kept"))
    (folder := tmp_path / "noted").mkdir()
    root = Path(__file__).parents[2]
    script = [sys.executable, "-c", _SCRIPT, str(folder)]
    with tables.set_environment(NBBIAS_WORKERS="2"), subprocess.Popen(script, cwd=root) as run:
        while len(list(folder.iterdir())) < 6:
            time.sleep(0.01)
        run.kill()
    workers = {int(one.name.split("-")[1]) for one in folder.iterdir()}
    assert len(workers) == 2 and run.pid not in workers
    deadline = time.monotonic() + 10
    while any(map(psutil.pid_exists, workers)) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not any(map(psutil.pid_exists, workers))
    kept = len(list((tmp_path / "kept").glob("slowly-*.stage")))
    made = len(list(folder.iterdir()))
    assert 0 < kept <= made < len(WORDS)
    found = tables.map_chunks(worked.slowly, WORDS, given=(str(folder),), size=120)
    pd.testing.assert_series_equal(pd.concat(found), WORDS.str.len())
    # What was under way when it was killed is made again, and nothing else.
    assert len(list(folder.iterdir())) - made == len(found) - kept
