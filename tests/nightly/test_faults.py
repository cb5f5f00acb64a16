"""What a machine does to a run: each fault has a status, a message and loses nothing.

docs/decisions/what-can-be-lost-or-run.md has the table.
"""

import contextlib
import os
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import psutil
import pytest

from nbbias.tables import data_path
from tests.conftest import ROOT
from tests.rights import unprivileged
from tests.running.build import read_files, write_project

pytestmark = pytest.mark.nightly

Ended = subprocess.CompletedProcess[str]

RUN, PLACE = "params/llmbi/mine.yaml", "runs/llmbi/mine"

#: What a notebook does that is told to by the environment, after it has left a table.
CELL = """
import os, signal, time
from pathlib import Path
import psutil
fault = os.environ.get("FAULT")
tables = Path(os.environ["NBBIAS_OUT"], "tables")
tables.mkdir(parents=True, exist_ok=True)
(tables / "n.csv").write_text(f"n\\n{fault}\\n")
if fault == "memory":
    bytearray(2**62)
if fault == "kernel":
    os.kill(os.getpid(), signal.SIGKILL)
if fault == "input":
    with open("answers.jsonl", "a") as file:
        file.write(chr(10))
if fault == "disk":
    (tables / "large.csv").write_bytes(bytes(3_000_000))
if fault == "exit":
    os._exit(1)
if fault == "process":
    Path("kernel").write_text(str(os.getpid()))
    os.kill(psutil.Process().ppid(), signal.SIGKILL)
    time.sleep(100)
print("größer → 日本", end="")
"""


def nbbias(
    *arguments: object, cwd: Path = ROOT, env: Mapping[str, str | None] | None = None, **how: Any
) -> Ended:
    """Run the command line as a user does; None takes a variable out of the environment."""
    given = {**os.environ, "PYTHONPATH": str(ROOT / "src"), **(env or {})}
    told = {"encoding": "utf-8", "errors": "replace", "capture_output": True, "timeout": 300}
    told["env"] = {name: value for name, value in given.items() if value is not None}
    command = [sys.executable, "-m", "nbbias", *map(str, arguments)]
    return subprocess.run(command, cwd=cwd, check=False, **told, **how)


def said(ended: Ended) -> str:
    """Return all that was said, on one line, which is never a traceback."""
    told = " ".join(f"{ended.stdout or ''} {ended.stderr or ''}".split())
    assert "Traceback" not in told, told
    return told


def small_files() -> None:
    """Let no file grow beyond a megabyte, as a disk does that is nearly full."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000))


# --- with a kernel ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with a good run."""
    folder = tmp_path_factory.mktemp("good")
    write_project(folder, CELL, name="mine", yaml="answers_path: ../../answers.jsonl\n")
    shutil.copy(data_path("sample/llmbi_answers.jsonl"), folder / "answers.jsonl")
    ended = nbbias("run", RUN, cwd=folder)
    assert ended.returncode == 0, said(ended)
    return folder


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        ("memory", "MemoryError: there was too little memory"),
        ("kernel", "the kernel died: it was ended from outside, as a system does whose memory"),
        ("exit", "the kernel died"),
        ("process", "ended without a word: it was ended from outside"),
        ("input", "answers.jsonl changed while the run read it; run again"),
        ("disk", "File too large"),
    ],
)
def test_a_run_that_fails_says_why_and_the_good_one_stays(
    good: Path, fault: str, expected: str
) -> None:
    before = read_files(good / PLACE)
    how = {"preexec_fn": small_files} if fault == "disk" else {}
    ended = nbbias("run", RUN, cwd=good, env={"FAULT": fault}, **how)
    assert ended.returncode == 1, said(ended)
    assert expected in said(ended)
    assert read_files(good / PLACE) == before
    if fault == "process":  # its kernel does not outlive it
        with contextlib.suppress(psutil.NoSuchProcess):
            psutil.Process(int((good / "kernel").read_text())).wait(60)


# --- before a kernel ----------------------------------------------------------------------------


def test_a_folder_that_cannot_be_written_is_named_first(good: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(good, tmp_path / "it")
    (folder / "shut").mkdir(0o500)
    (folder / "runs").chmod(0o500)
    before = read_files(folder)
    for arguments in (["run", RUN], ["site", "--out", "shut/site"], ["new", "runs/x"]):
        ended = nbbias(*arguments, cwd=folder, preexec_fn=unprivileged)
        assert ended.returncode == 2 and "Permission denied" in said(ended)
    (folder / "runs").chmod(0o700)
    assert read_files(folder) == before


def test_files_and_folders_that_are_none_are_refused(
    tmp_path: Path, command: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NBBIAS_DATA", "da ta///\n")
    Path("loop.yaml").symlink_to("loop.yaml")
    os.mkfifo("pipe.yaml")
    Path("file").write_text("mine")
    for name in ("loop", "pipe"):
        Path(f"{name}-input.yaml").write_text(f"study: llmbi\nanswers_path: {name}.yaml\n")
    Path("data.yaml").write_text("study: llmbi\nanswers_path: ${NBBIAS_DATA}/a.jsonl\n")
    sample = ROOT / "params/llmbi/sample.yaml"
    signal.alarm(300)  # whoever waits for a pipe, waits for ever
    for name, message in (
        ("loop.yaml", "is not a file"),
        ("pipe.yaml", "is not a file"),
        ("loop-input.yaml", "answers_path: no such file"),
        ("pipe-input.yaml", "answers_path: no such file"),
        ("data.yaml", "answers_path"),
        ("/".join(["x" * 200] * 25) + ".yaml", "no such file"),
    ):
        ended = command("run", name)
        assert ended.returncode == 2 and message in said(ended), name
    for name in ("loop.yaml", "file/below", "x" * 300):
        for arguments in (("run", sample, "--out", name), ("site", "--out", name), ("new", name)):
            ended = command(*arguments)
            assert ended.returncode == 2 and said(ended), arguments
    signal.alarm(0)
    assert Path("file").read_text() == "mine"
