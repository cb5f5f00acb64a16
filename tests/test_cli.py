"""Errors as a user meets them: a message, exit status 2, no traceback."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pandas as pd
import pytest

from nbbias import cli, studies as registry
from nbbias.llmbi.params import Llmbi
from nbbias.pages import gallery, share
from nbbias.running import kernel
from nbbias.tables import NbbiasError
from tests.conftest import Command
from tests.pages.build import PLAIN, claims, finished
from tests.running.build import SAMPLE


@pytest.mark.parametrize(
    ("yaml", "told"),
    [
        ("lamda_factor: 2.0", "did you mean lambda_factor?"),
        ("draws: 1e3", "valid integer, but got 1000.0"),
        ("answers_path: nowhere.json", "no such file"),
        ("answers_path: ${NBBIAS_NOWHERE}/a.json", "set the environment variable NBBIAS_NOWHERE"),
        ("draws: 3", "greater than or equal to 100"),
        ("bias_scorer: true", "put it in quotes"),
        ("bias_scorer: yes", "'textblob' or 'vader', but got 'yes'"),
        ("seed: 1:30", "1:30"),
        ("seed: 1\nseed: 2", 'line 3: found duplicate key "seed"'),
        ("- seed", "name: value"),
        ("seed: [", "not readable as YAML"),
    ],
)
def test_a_mistake_in_params_is_explained(
    tmp_path: Path, yaml: str, told: str, command: Command
) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("study: llmbi\n" + yaml if not yaml.startswith("-") else yaml)
    done = command("run", path, "--out", tmp_path / "runs")
    assert done.returncode == 2
    assert told in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("short.csv", "prompt,n\nWhy?,Because.\n", "needs the column"),
        ("empty.csv", "", "the file is empty"),
        ("bare.json", "[]", "holds no rows"),
    ],
)
def test_answers_that_cannot_be_used_are_refused_before_a_run(
    tmp_path: Path, name: str, content: str, told: str, command: Command
) -> None:
    answers = tmp_path / name
    answers.write_text(content)
    out = tmp_path / "runs"
    done = command("run", SAMPLE, "-p", f"answers_path={answers}", "--out", out)
    assert done.returncode == 2
    assert told in done.stderr
    assert "Traceback" not in done.stderr
    assert "nbbias params" not in done.stderr  # it is no parameter that is wrong
    assert not out.exists()


@pytest.mark.skipif(sys.platform != "linux", reason="nothing can be written to /proc")
@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["run", str(SAMPLE), "--out", "{}/afile"], "afile: is no folder"),
        (["run", str(SAMPLE), "--out", "{}/afile/runs"], "afile is no folder"),
        (["studies", "--out", "{}/afile"], "afile: is no folder"),
        (["run", str(SAMPLE), "--out", "/proc/x"], "/proc/x: nothing can be written there"),
        (["site", "--runs", "{}/runs", "--out", "{}/afile"], "afile: is not empty"),
        (["site", "--runs", "{}/runs", "--out", "/proc/x"], "/proc/x: nothing can be written"),
        (["export", "{}/runs/llmbi/a", "--to", "/proc/x.zip"], "/proc/x.zip: "),
        (["export", "{}/runs/llmbi/a", "--to", "{}/afile/x.zip"], "afile"),
        (["new", "/proc/new"], "/proc/new: nothing can be written there"),
        (["new", "{}/afile"], "is not empty"),
    ],
)
def test_a_place_that_cannot_be_written_to_is_refused(
    arguments: list[str], told: str, tmp_path: Path, command: Command
) -> None:
    (tmp_path / "afile").write_text("mine")
    finished(tmp_path / "runs", "a", claims(PLAIN))
    done = command(*(part.format(tmp_path) for part in arguments))
    assert "Traceback" not in done.stderr
    assert told in done.stderr
    assert done.returncode == 2
    assert (tmp_path / "afile").read_text() == "mine"


NBBIAS = [sys.executable, "-m", "nbbias"]


def shell(line: str, cwd: Path, **env: str) -> subprocess.CompletedProcess[bytes]:
    """Run a line of a POSIX shell in which `$NBBIAS` is the command."""
    given = {**os.environ, "NBBIAS": " ".join(NBBIAS), **env}
    return subprocess.run(["sh", "-c", line], cwd=cwd, env=given, capture_output=True, check=False)


@pytest.mark.skipif(sys.platform == "win32", reason="lines of a POSIX shell")
@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("mkdir gone; cd gone; rmdir ../gone; $NBBIAS list", b"the current folder is gone"),
        ("$NBBIAS detect - <&-", b"it is closed"),
        ("$NBBIAS data fetch $(printf '\\377\\376')", b"no such dataset"),
        ("mkdir $(printf '\\377'); $NBBIAS report $(printf '\\377')", b"error"),
        ("mkdir $(printf '\\377'); $NBBIAS run llmbi $(printf '\\377')/a.csv", b"error"),
        ("ln -s loop loop; $NBBIAS report x --out loop", b"error"),
        ("touch a.csv; ln -s loop loop; $NBBIAS detect a.csv --out loop", b"no regular file"),
        ("$NBBIAS report x --out .", b"error"),
        ("touch afile; $NBBIAS list --out afile", b"afile: is no folder"),
        ("$NBBIAS run $(printf '%05000d' 7)", b" \\u2026 "),
    ],
)
def test_an_odd_shell_is_told_what_is_wrong(line: str, told: bytes, tmp_path: Path) -> None:
    done = shell(
        line,
        tmp_path,
        NBBIAS_DATA=str(tmp_path),
        LC_ALL="C",
        PYTHONUTF8="0",
        PYTHONCOERCECLOCALE="0",
    )
    assert b"Traceback" not in done.stderr and len(done.stderr) < 2000
    assert told in done.stderr and done.returncode == 2


@pytest.mark.parametrize(
    "env",
    [
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"PYTHONIOENCODING": "cp1252"},
    ],
)
def test_a_terminal_that_lacks_letters_is_told_all_the_same(
    env: dict[str, str], tmp_path: Path
) -> None:
    done = subprocess.run(
        [*NBBIAS, "params", "llmbi"],
        cwd=tmp_path,
        env=os.environ | env,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0 and b"\\u2265 0" in done.stdout and not done.stderr


def test_a_defect_says_that_it_is_one_where_and_how_to_report_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object) -> None:
        raise IndexError("list index out of range")

    monkeypatch.setattr(cli.params, "describe", broken)
    monkeypatch.setattr("sys.argv", ["nbbias", "params", "generate"])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 2  # 1 is a verdict of `nbbias gate`
    said = " ".join(capsys.readouterr().err.split())
    assert "list index out of range" in said and "Traceback" not in said
    assert "a defect in nbbias (cli.py, line" in said and "report it" in said


@pytest.mark.parametrize("content", ["{not json", "[]", '{"sentence": 1}', "\udcff"])
def test_a_broken_finding_is_no_finding(content: str, tmp_path: Path) -> None:
    folder = finished(tmp_path, "a", claims(PLAIN))
    (folder / "finding.json").write_bytes(content.encode("utf-8", "surrogateescape"))
    (found,) = gallery.runs(tmp_path)
    assert found["finding"] in {"", "1"}
    assert gallery.write(tmp_path).is_file()


class ReplacedError(Exception):
    """Raised where the process would have become another."""


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[list[str]]:
    """The commands that this process would have become, in a folder of one's own."""
    given: list[list[str]] = []

    def become(program: str, command: list[str]) -> None:
        assert (program, Path.cwd()) == (sys.executable, tmp_path / "mine")
        given.append(command)
        raise ReplacedError

    monkeypatch.setattr(kernel, "install", lambda: None)
    monkeypatch.setattr(kernel.os, "execv", become)
    share.new(tmp_path / "mine")
    monkeypatch.chdir(tmp_path / "mine" / "params")
    return given


def test_lab_becomes_jupyterlab_at_the_folder_of_notebooks_params_and_runs(
    opened: list[list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ReplacedError):
        kernel.open_lab(["--no-browser", "--port", "9999", "a.ipynb"])
    (given,) = opened
    assert given[1:4] == ["-P", "-m", "jupyterlab"]
    assert given[-5] == f"--ServerApp.root_dir={tmp_path / 'mine'}"
    assert given[-4:] == ["--no-browser", "--port", "9999", "a.ipynb"]


def test_further_arguments_of_lab_go_to_jupyterlab(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernel, "open_lab", lambda arguments: len(arguments))
    assert command("lab", "--no-browser", "--port", "9999", "a.ipynb").returncode == 4


def test_lab_shows_no_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "home", lambda: registry.PACKAGE)
    with pytest.raises(NbbiasError, match="nbbias new DIR"):
        kernel.open_lab()


def test_params_prints_every_parameter(command: Command) -> None:
    done = command("params", "llmbi")
    assert done.returncode == 0
    for name in Llmbi.model_fields:
        assert name[:9] in done.stdout


@pytest.mark.parametrize(
    "started",
    [[sys.executable, "-m", "nbbias"], [str(Path(sysconfig.get_path("scripts")) / "nbbias")]],
    ids=["module", "script"],
)
def test_an_unknown_study_is_refused_with_the_known_ones(started: list[str]) -> None:
    """In a process of its own, whose exit status is the command's."""
    done = subprocess.run([*started, "params", "llmb"], capture_output=True, text=True)
    assert done.returncode == 2
    assert "llmbi" in done.stderr
    assert "Traceback" not in done.stderr
    assert subprocess.run([*started, "--version"], capture_output=True).returncode == 0


def test_list_names_studies_and_params_files(command: Command) -> None:
    done = command("list")
    assert done.returncode == 0
    assert "llmbi" in done.stdout
    assert "params/llmbi/sample.yaml" in done.stdout


def test_a_release_becomes_one_table_and_says_what_was_found(
    tmp_path: Path, command: Command
) -> None:
    (tmp_path / "news_data").mkdir()
    (tmp_path / "news_data" / "gpt2.json").write_text('{"1": "She said so.", "2": "He came."}')
    to = tmp_path / "answers.parquet"
    done = command("data", "release", tmp_path, to)
    assert done.returncode == 0 and "gpt2" in done.stdout
    table = pd.read_parquet(to)
    assert table["text"].tolist() == ["She said so.", "He came."]
    assert set(table["prompt"]) == {"neutral"}
    again = command("data", "release", tmp_path, to)
    assert again.returncode == 2 and "--force" in again.stderr
    refused = command("data", "release", tmp_path / "nowhere", to, "--force")
    assert refused.returncode == 2 and "news_data" in refused.stderr
    assert "Traceback" not in refused.stderr


def test_params_of_a_corpus_that_is_not_here_say_where_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Command
) -> None:
    monkeypatch.setenv("NBBIAS_DATA", str(tmp_path))
    done = command("run", "params/news_bias/fang2024.yaml")
    assert done.returncode == 2
    assert "no such file" in done.stderr and "the comments in the file" in done.stderr
    bare = tmp_path / "bare.yaml"  # which tells nothing
    bare.write_text("study: llmbi\nanswers_path: nowhere.json\n")
    done = command("run", bare)
    assert "no such file" in done.stderr and "told in the file" not in done.stderr
