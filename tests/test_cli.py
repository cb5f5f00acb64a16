"""Errors as a user meets them: a message, exit status 2, no traceback."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from nbbias import cli, execute, gallery, outputs, run_plan
from nbbias.studies import Llmbi
from tests.conftest import ROOT
from tests.test_gallery import PLAIN, claims, finished
from tests.test_run import SAMPLE, nbbias


@pytest.mark.parametrize(
    ("yaml", "told"),
    [
        ("lamda_factor: 2.0", "did you mean lambda_factor?"),
        ("diversity_penalty: 1e-3", "write 0.001"),
        ("answers_path: nowhere.json", "no such file"),
        ("answers_path: ${NBBIAS_NOWHERE}/a.json", "set the environment variable NBBIAS_NOWHERE"),
        ("draws: 3", "greater than or equal to 100"),
        ("bias_scorer: yes", "put it in quotes"),
        ("seed: 1:30", "1:30"),
        ("seed: 1\nseed: 2", "stands twice"),
        ("- seed", "name: value"),
        ("seed: [", "not readable as YAML"),
    ],
)
def test_a_mistake_in_params_is_explained(tmp_path: Path, yaml: str, told: str) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("study: llmbi\n" + yaml if not yaml.startswith("-") else yaml)
    done = nbbias("run", str(path), "--out", str(tmp_path / "runs"))
    assert done.returncode == 2
    assert told in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "runs").exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("short.csv", "prompt,response\nWhy?,Because.\n", "needs the column"),
        ("empty.csv", "", "the file is empty"),
        ("bare.json", "[]", "holds no rows"),
    ],
)
def test_answers_that_cannot_be_used_fail_the_run(
    tmp_path: Path, name: str, content: str, told: str
) -> None:
    answers = tmp_path / name
    answers.write_text(content)
    out = tmp_path / "runs"
    done = nbbias("run", str(SAMPLE), "-p", f"answers_path={answers}", "--out", str(out))
    assert done.returncode == 1
    assert told in done.stderr
    assert "Traceback" not in done.stderr
    assert (out / "llmbi/sample/notebook.ipynb").is_file()


def refused(*arguments: str, told: str, **options: Any) -> None:
    done = nbbias(*arguments, **options)
    assert "Traceback" not in done.stderr
    assert told in done.stderr
    assert done.returncode == 2


@pytest.mark.skipif(sys.platform != "linux", reason="nothing can be written to /proc")
@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["run", str(SAMPLE), "--out", "{}/afile"], "afile: is no folder"),
        (["run", str(SAMPLE), "--out", "{}/afile/runs"], "afile is no folder"),
        (["studies", "--out", "{}/afile"], "afile: is no folder"),
        (["run", str(SAMPLE), "--out", "/proc/x"], "/proc/x: nothing can be written there"),
        (["run", str(SAMPLE), "--out", "{}/site"], "is a site"),
        (["site", "--runs", "{}/runs", "--out", "{}/afile"], "afile: is a file"),
        (["site", "--runs", "{}/runs", "--out", "/proc/x"], "/proc/x: nothing can be written"),
        (["export", "{}/runs/llmbi/a", "--to", "/proc/x.zip"], "/proc/x.zip: "),
        (["export", "{}/runs/llmbi/a", "--to", "{}/afile/x.zip"], "afile"),
        (["new", "/proc/new"], "/proc/new: nothing can be written there"),
        (["new", "{}/afile"], "is not empty"),
    ],
)
def test_a_place_that_cannot_be_written_to_is_refused(
    arguments: list[str], told: str, tmp_path: Path
) -> None:
    (tmp_path / "afile").write_text("mine")
    outputs.write(tmp_path / "site" / run_plan.SITE, "[]")
    finished(tmp_path / "runs", "a", claims(PLAIN))
    refused(*(part.format(tmp_path) for part in arguments), told=told)
    assert (tmp_path / "afile").read_text() == "mine"


def test_a_mistake_of_ours_is_not_taken_for_one_of_the_user(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken() -> None:
        raise OSError("of no file")

    monkeypatch.setattr(cli, "app", broken)
    with pytest.raises(OSError, match="of no file"):
        cli.main()


@pytest.mark.parametrize("content", ["{not json", "[]", '{"sentence": 1}', "\udcff"])
def test_a_broken_finding_is_no_finding(content: str, tmp_path: Path) -> None:
    folder = finished(tmp_path, "a", claims(PLAIN))
    (folder / "finding.json").write_bytes(content.encode("utf-8", "surrogateescape"))
    (found,) = gallery.runs(tmp_path)
    assert found["finding"] in {"", "1"}
    assert gallery.write(tmp_path).is_file()


def test_further_arguments_of_lab_go_to_jupyterlab(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[list[str]] = []

    def ended(command: list[str], **_: Any) -> subprocess.CompletedProcess[str]:
        given.append(command)
        return subprocess.CompletedProcess(command, 3)

    monkeypatch.setattr(execute, "install_kernel", lambda: None)
    monkeypatch.setattr(execute.subprocess, "run", ended)
    monkeypatch.setattr(sys, "argv", ["nbbias", "lab", "--no-browser", "--port", "9999", "a.ipynb"])
    with pytest.raises(SystemExit) as caught:
        cli.main()
    assert caught.value.code == 3
    (command,) = given
    assert command[-5:-1] == ["--no-browser", "--port", "9999", "a.ipynb"]
    assert command[-1] == str(ROOT / "notebooks")


def test_params_prints_every_parameter() -> None:
    done = nbbias("params", "llmbi")
    assert done.returncode == 0
    for name in Llmbi.model_fields:
        assert name[:9] in done.stdout


def test_an_unknown_study_is_refused_with_the_known_ones() -> None:
    done = nbbias("params", "llmb")
    assert done.returncode == 2
    assert "llmbi" in done.stderr


def test_list_names_studies_and_params_files() -> None:
    done = nbbias("list")
    assert done.returncode == 0
    assert "llmbi" in done.stdout
    assert "params/llmbi/sample.yaml" in done.stdout


def test_a_release_becomes_one_table_and_says_what_was_found(tmp_path: Path) -> None:
    (tmp_path / "news_data").mkdir()
    (tmp_path / "news_data" / "gpt2.json").write_text('{"1": "She said so.", "2": "He came."}')
    to = tmp_path / "answers.parquet"
    done = nbbias("data", "release", str(tmp_path), str(to))
    assert done.returncode == 0 and "gpt2" in done.stdout
    table = pd.read_parquet(to)
    assert table["text"].tolist() == ["She said so.", "He came."]
    assert set(table["prompt"]) == {"neutral"}
    refused = nbbias("data", "release", str(tmp_path / "nowhere"), str(to))
    assert refused.returncode == 2 and "news_data" in refused.stderr
    assert "Traceback" not in refused.stderr


def test_params_of_a_corpus_that_is_not_here_say_where_to_get_it(tmp_path: Path) -> None:
    done = nbbias(
        "run", "params/news_bias/fang2024.yaml", env=os.environ | {"NBBIAS_DATA": str(tmp_path)}
    )
    assert done.returncode == 2
    assert "no such file" in done.stderr and "is told in the file" in done.stderr
    bare = tmp_path / "bare.yaml"  # which tells nothing
    bare.write_text("study: llmbi\nanswers_path: nowhere.json\n")
    done = nbbias("run", str(bare))
    assert "no such file" in done.stderr and "told in the file" not in done.stderr
