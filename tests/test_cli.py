"""The command line: help, exit statuses, and errors as a user meets them, without a traceback."""

import os
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest
from typer.main import get_command

from nbbias import cli, running, studies as registry
from nbbias.pages import share
from nbbias.running import kernel
from nbbias.tables import NbbiasError
from tests.conftest import Command, Golden
from tests.pages.build import PLAIN, claims, finished
from tests.running.build import SAMPLE

NBBIAS = [sys.executable, "-m", "nbbias"]
#: A terminal that has ASCII alone.
ASCII = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
posix = pytest.mark.skipif(sys.platform == "win32", reason="lines of a POSIX shell")


# --- help -------------------------------------------------------------------------------------


def test_help_says(golden: Golden) -> None:
    def pages(path: str, command: Any) -> list[str]:
        context = click.Context(command, info_name=path, terminal_width=80)
        subcommands = getattr(command, "commands", {}).items()
        below = [page for name, sub in subcommands for page in pages(f"{path} {name}", sub)]
        return [command.get_help(context), "", *below]

    golden("help", pages("nbbias", get_command(cli.app)))


def test_list_names_studies_params_files_and_runs(command: Command, tmp_path: Path) -> None:
    finished(tmp_path / "runs", "a", claims(PLAIN))
    done = command("list", "--runs", tmp_path / "runs")
    assert done.returncode == 0
    assert "params/llmbi/sample.yaml" in done.stdout
    assert "1 run in" in done.stdout and "ok          llmbi/a  " in done.stdout
    (tmp_path / "runs/llmbi/a/finding.json").write_text("{not json")
    assert "ok          llmbi/a  " in command("list", "--runs", tmp_path / "runs").stdout


def test_params_and_files_reach_what_is_measured(command: Command) -> None:
    assert "lambda_factor" in command("params", "llmbi").stdout
    assert "nowhere.csv: no such file" in command("measure", "llmbi", "nowhere.csv").stderr


# --- a run, with a runner that runs nothing ---------------------------------------------------

Runner = Callable[..., None]


@pytest.fixture
def runner(monkeypatch: pytest.MonkeyPatch) -> Runner:
    """Let every run end as is wanted, without a kernel."""

    def end(status: str, **outcome: Any) -> None:
        def run(runs: Any, *, out: Path, jobs: int, report: Any) -> dict[str, str]:
            statuses = {}
            for planned in runs:
                statuses[planned.label] = status
                ended = {"status": status, "seconds": 2.4, "folder": planned.folder}
                if status != "not started":
                    report(planned, ended | outcome)
            return statuses

        monkeypatch.setattr(running.run, "run", run)

    return end


def test_a_run_that_is_ok_prints_its_page_and_the_index(
    runner: Runner, command: Command, tmp_path: Path
) -> None:
    runner("ok")
    done = command("run", SAMPLE, "-p", "seed=1,2", "--out", tmp_path)
    assert (done.returncode, done.stdout) == (0, f"{tmp_path / 'index.html'}\n")
    assert "Running 2 studies ..." in done.stderr
    for seed in (1, 2):
        page = tmp_path / f"llmbi/sample-seed={seed}/index.html"
        assert f"ok llmbi/sample-seed={seed} in 2 s: {page}" in done.stderr


def test_a_run_that_failed_prints_its_cell_and_where_its_notebook_is(
    runner: Runner, command: Command, tmp_path: Path
) -> None:
    failed = tmp_path / "llmbi/sample.failed"
    finished(tmp_path, "sample", claims(PLAIN))
    failed.mkdir()
    (failed / "notebook.ipynb").touch()
    why = {"error": "ValueError", "message": "[no]", "source": "a\nb"}
    runner("failed", cell=3, folder=failed, **why)
    done = command("run", SAMPLE, "--out", tmp_path, "--name", "sample")
    assert done.returncode == 1
    lines = [line.strip() for line in done.stderr.splitlines()]
    start = lines.index("failed llmbi/sample after 2 s in cell 3")
    assert lines[start + 1] == "ValueError: [no]"
    assert lines[start + 2 : start + 4] == ["| a", "| b"]
    assert lines[start + 4].endswith(str(failed / "notebook.ipynb"))
    assert f"stays in {tmp_path / 'llmbi/sample'}; this one is kept in {failed}" in lines[start + 5]


def test_runs_that_were_interrupted_or_not_started_exit_with_130(
    runner: Runner, command: Command, tmp_path: Path
) -> None:
    for status, told in (("interrupted", "interrupted "), ("not started", "not started: ")):
        runner(status, message="stopped by the user")
        done = command("run", SAMPLE, "--out", tmp_path)
        assert done.returncode == 130 and f"{told}llmbi/sample" in done.stderr


# --- mistakes ---------------------------------------------------------------------------------


@pytest.mark.skipif(sys.platform != "linux", reason="nothing can be written to /proc")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", str(SAMPLE), "--out", "{}/afile/runs"], "afile is not a folder"),
        (["list", "--runs", "{}/afile"], "afile: is not a folder"),
        (["site", "--runs", "{}/runs", "--out", "{}/afile"], "afile: is not empty"),
        (["export", "{}/runs/llmbi/a", "--to", "/proc/x.zip"], "/proc/x.zip: "),
        (["new", "/proc/new"], "/proc/new: nothing can be written there"),
    ],
)
def test_a_place_that_cannot_be_written_to_is_refused(
    arguments: list[str], message: str, tmp_path: Path, command: Command
) -> None:
    (tmp_path / "afile").write_text("mine")
    finished(tmp_path / "runs", "a", claims(PLAIN))
    done = command(*(part.format(tmp_path) for part in arguments))
    assert done.returncode == 2
    assert message in done.stderr and "Traceback" not in done.stderr
    assert (tmp_path / "afile").read_text() == "mine"


@posix
@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "message", "status"),
    [
        ("mkdir gone; cd gone; rmdir ../gone; $NBBIAS list", b"error the current folder, or", {2}),
        ("$NBBIAS detect - <&-", b"it is closed", {2}),
        ("mkdir $(printf '\\377'); $NBBIAS run llmbi $(printf '\\377')/a.csv", b"error", {2}),
        ("$NBBIAS run $(printf '%05000d' 7)", b" \\u2026 ", {2}),
        ("$NBBIAS run nowhere.yaml <&-", b"nowhere.yaml", {2}),
        ("$NBBIAS params llmbi > /dev/full", b"No space left on device", {2}),
        ("$NBBIAS params llmbi >&- 2>&-", b"", {0}),
        ("$NBBIAS params llmbi | head -1; exit ${PIPESTATUS[0]}", b"", {0, 1}),
        ("$NBBIAS run nowhere.yaml 2>&1 | head -0; exit ${PIPESTATUS[0]}", b"", {1, 2}),
    ],
)
def test_an_odd_shell_gets_a_message(
    line: str, message: bytes, status: set[int], tmp_path: Path
) -> None:
    environment = {**os.environ, **ASCII, "NBBIAS": " ".join(NBBIAS), "NBBIAS_DATA": str(tmp_path)}
    done = subprocess.run(["bash", "-c", line], cwd=tmp_path, env=environment, capture_output=True)
    assert b"Traceback" not in done.stderr and len(done.stderr) < 2000
    assert message in done.stderr and done.returncode in status


@pytest.mark.slow
def test_the_script_runs_and_a_terminal_that_lacks_letters_shows_their_codes() -> None:
    script = Path(sysconfig.get_path("scripts")) / "nbbias"
    assert subprocess.run([script, "--version"], capture_output=True).returncode == 0
    done = subprocess.run([*NBBIAS, "params", "llmbi"], env=os.environ | ASCII, capture_output=True)
    assert done.returncode == 0 and b"\\u2265 0" in done.stdout and not done.stderr


def test_an_unforeseen_error_is_a_defect_with_status_2(
    monkeypatch: pytest.MonkeyPatch, command: Command
) -> None:
    for error in (OSError("of no file"), IndexError("too far")):

        def fail(*_: object, error: Exception = error) -> None:
            raise error

        monkeypatch.setattr(cli.params, "describe", fail)
        assert "Traceback" in command("--verbose", "params", "generate").stderr
        done = command("params", "generate")
        assert done.returncode == 2  # 1 is a verdict of `nbbias gate`
        assert str(error) in done.stderr and "Traceback" not in done.stderr
        assert "defect in nbbias" in done.stderr and "--verbose" in done.stderr


# --- data and JupyterLab ----------------------------------------------------------------------


def test_lab_becomes_jupyterlab_at_the_folder_of_notebooks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Command
) -> None:
    started: list[list[str]] = []

    def become(program: str, line: list[str]) -> None:
        started.append([program, str(Path.cwd()), *line])
        sys.exit(7)

    monkeypatch.setattr(kernel, "install", lambda: None)
    monkeypatch.setattr(kernel.os, "execv", become)
    share.new(tmp_path / "mine")
    monkeypatch.chdir(tmp_path / "mine" / "params")
    assert command("lab", "--no-browser", "a.ipynb").returncode == 7
    (line,) = started
    assert line[:2] == [sys.executable, str(tmp_path / "mine")]
    assert line[3:6] == ["-P", "-m", "jupyterlab"]
    assert line[-3:] == [f"--ServerApp.root_dir={tmp_path / 'mine'}", "--no-browser", "a.ipynb"]
    monkeypatch.setattr(registry, "home", lambda: registry.PACKAGE)
    with pytest.raises(NbbiasError, match="nbbias new DIR"):
        kernel.open_lab()
