"""Runs are planned with every problem at once, and made by real kernels."""

import errno
import os
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import nbformat
import pandas as pd
import psutil
import pytest

from nbbias import llmbi
from nbbias.pages import manifest
from nbbias.running import place, plan as run_plan, run
from nbbias.tables import NbbiasError, ParameterError
from tests.conftest import Command
from tests.running.build import SAMPLE, read_files, read_run, run_file, write_project

posix = pytest.mark.skipif(sys.platform == "win32", reason="signals differ there")


# --- planning ---------------------------------------------------------------------------------


def test_a_cache_that_others_can_write_is_refused_before_a_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NBBIAS_CACHE", str(tmp_path))
    tmp_path.chmod(0o777)
    with pytest.raises(NbbiasError, match=r"chmod go-w .*or name one by NBBIAS_CACHE"):
        run_plan.plan([SAMPLE])


def test_two_files_for_one_folder_are_refused(tmp_path: Path) -> None:
    other = tmp_path / "sample.yaml"
    other.write_text("study: llmbi\n")
    with pytest.raises(ParameterError, match="one folder"):
        run_plan.plan([SAMPLE, other])


# --- what a run does with its notebook --------------------------------------------------------


@pytest.mark.parametrize("broken", ["keep", "write"])
def test_a_run_that_cannot_be_kept_has_failed_and_the_last_good_one_stays(
    tmp_path: Path, broken: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, outcomes = tmp_path / "llmbi" / "sample", list[Any]()
    manifest.write(folder, {"study": "llmbi", "run": "sample", "started": ""}, status="ok")
    before = read_files(folder)

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "a file")

    monkeypatch.setattr(*((place, "keep") if broken == "keep" else (manifest, "write")), full)
    closed = SimpleNamespace(close=lambda: None)
    planned = run_plan.Run("llmbi", "sample", llmbi.params.Llmbi(), Path(), folder, Path())
    job = run.Job(planned, place.create(folder), closed, closed, {}, datetime.now(UTC))
    status = run.finish(job, {"status": "ok"}, lambda _, outcome: outcomes.append(outcome))
    assert status == outcomes[0]["status"] == "failed"
    assert "a file: No space left" in outcomes[0]["message"]
    assert read_files(folder) == before


# --- real kernels -----------------------------------------------------------------------------


CELL = """
import pandas as pd, matplotlib.pyplot as plt
from nbbias import tables
out = tables.folder('llmbi')
table = pd.DataFrame({'x': [0.1 + 0.2, None]})
tables.save_table(table, 'scores', out=out)
tables.save_finding({'sentence': 'Seed {}.'.format(seed), 'figure': 'f'}, out=out)
fig, ax = plt.subplots()
tables.save_figure(fig, 'f', data=table, words={'alt': 'a'}, out=out)
"""


@pytest.mark.slow
@pytest.mark.ci
def test_a_run_leaves_all_that_it_promises_and_a_failing_one_says_where(
    here: Path, command: Command
) -> None:
    cells = (CELL, "1 / (seed - 1)", "after = 1")
    failing = write_project(here, *cells)
    good = write_project(here, *cells, name="good", yaml="seed: 3\n")
    done = command("run", failing, good)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    for part in ("failed", "llmbi/sample", "cell 3", "ZeroDivisionError", "1 / (seed - 1)"):
        assert part in done.stderr
    folder = here / "runs/llmbi/sample"
    described = manifest.read(folder)
    assert (described["status"], described["error"]["error"]) == ("failed", "ZeroDivisionError")
    assert nbformat.read(folder / "notebook.ipynb", as_version=4).cells[-1].outputs == []
    folder = here / "runs/llmbi/good"
    described = manifest.read_finished(folder)
    assert described["error"] is None
    assert described["parameters"]["seed"] == described["seed"] == 3
    assert pd.read_parquet(folder / "tables/scores.parquet")["x"][0] == 0.1 + 0.2
    assert {path.suffix for path in (folder / "figures").iterdir()} >= {".svg", ".png", ".csv"}
    assert "Seed 3." in (here / "runs/index.html").read_text()
    assert 'alt="a"' in (folder / "index.html").read_text()


@pytest.mark.slow
@pytest.mark.ci
@posix
def test_an_interrupted_run_says_so_and_leaves_no_kernel(tmp_path: Path) -> None:
    write_project(tmp_path, "open('started', 'w').close()\nimport time; time.sleep(120)")
    process = subprocess.Popen(
        [sys.executable, "-m", "nbbias", "run", "params/llmbi/sample.yaml"],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # a shell's background job ignores Ctrl-C and hands that on; a terminal's does not
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    deadline = time.monotonic() + 120
    while not (tmp_path / "started").exists():
        assert time.monotonic() < deadline, "the notebook never started"
        time.sleep(0.1)
    family = psutil.Process(process.pid).children(recursive=True)
    assert any("ipykernel" in " ".join(p.cmdline()) for p in family)
    os.killpg(process.pid, signal.SIGINT)  # as the terminal does: the whole group
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "interrupted" in stderr and "Traceback" not in stderr
    assert manifest.read(tmp_path / "runs/llmbi/sample")["status"] == "interrupted"
    _, alive = psutil.wait_procs(family, timeout=15)
    assert alive == []


@pytest.mark.slow
def test_two_runs_are_equal_byte_by_byte(tmp_path: Path) -> None:
    first, second = (tmp_path / name for name in ("first", "second"))
    for out in (first, second):
        assert run_file(SAMPLE, out) == {"llmbi/sample": "ok"}
    contents = [read_run(out / "llmbi/sample") for out in (first, second)]
    assert contents[0].keys() == contents[1].keys()
    assert any(name.endswith(".svg") for name in contents[0])
    assert [name for name in contents[0] if contents[0][name] != contents[1][name]] == []
