"""The workflows that `nbbias new --ci` writes, and the project's own: parsed, and run as steps.

No runner is here, so a small one stands in: it runs each `run:` of a job in order, in a scratch git
repository, and does what the cache actions do. What only a runner has (checkout, Python, uploads)
it leaves out.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from nbbias.pages import share
from nbbias.tables import NbbiasError, data_path

ROOT = Path(__file__).parents[2]

#: What only a runner does.
LEFT_OUT = ("actions/checkout", "actions/setup-python", "actions/upload", "actions/deploy")


def read(path: Path) -> dict[str, Any]:
    found = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert isinstance(found, dict)
    return found


needs_a_shell = pytest.mark.skipif(sys.platform == "win32", reason="steps run in a POSIX shell")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A scratch repository of what `nbbias new --ci github` writes."""
    folder = tmp_path / "repository"
    share.new(folder, ci="github")
    for command in (["init", "-q", "-b", "main"], ["add", "-A"]):
        subprocess.run(["git", *command], cwd=folder, check=True)
    commit(folder, "as it was written")
    return folder


def commit(folder: Path, message: str) -> None:
    who = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    subprocess.run(["git", *who, "commit", "-qam", message], cwd=folder, check=True)


def environment(tmp_path: Path) -> dict[str, str]:
    """Return what steps see: this Python and this package by the names that a runner has."""
    tools = tmp_path / "tools"
    tools.mkdir(exist_ok=True)
    for name, call in (("nbbias", "-m nbbias "), ("python", "")):
        path = tools / name
        path.write_text(f'#!/bin/sh\nexec "{sys.executable}" {call}"$@"\n')
        path.chmod(0o755)
    return {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}", "PIP_NO_INDEX": "1",
            "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md")}  # fmt: skip


def run_job(
    folder: Path, tmp_path: Path, *, branch: str = "main"
) -> tuple[bool, dict[str, subprocess.CompletedProcess[str]]]:
    """Run the job that measures in a fresh checkout; say whether it passed, and what steps said."""
    checkout = tmp_path / "checkout"
    shutil.rmtree(checkout, ignore_errors=True)
    subprocess.run(["git", "clone", "-q", "-b", branch, str(folder), str(checkout)], check=True)
    job = read(checkout / share.WORKFLOWS["github"])["jobs"]["measure"]
    accepts = branch == "main"
    env = environment(tmp_path) | {
        name: _told(value, checkout, accepts=accepts) for name, value in job["env"].items()
    }
    passed, said = True, dict[str, subprocess.CompletedProcess[str]]()
    for step in job["steps"]:
        wanted = str(step.get("if", "success()"))
        if ("success()" in wanted and not passed) or ("ACCEPT" in wanted and not accepts):
            continue
        if "run" in step:
            done = subprocess.run(["bash", "-e", "-c", step["run"]], cwd=checkout, env=env,
                                  capture_output=True, text=True, check=False)  # fmt: skip
            said[step["name"]] = done
            passed &= done.returncode == 0
        else:
            _act(step, checkout, tmp_path / "caches")
    return passed, said


def _told(value: str, checkout: Path, *, accepts: bool) -> str:
    value = value.replace("${{ github.workspace }}", str(checkout))
    return re.sub(r"\$\{\{.*'yes' \|\| 'no' \}\}", "yes" if accepts else "no", value)


def _act(step: Mapping[str, Any], checkout: Path, caches: Path) -> None:
    """Do what an action does that caches."""
    action, path = step["uses"].split("@")[0], step.get("with", {}).get("path", "")
    if action.startswith(LEFT_OUT):
        return
    assert action in {"actions/cache", "actions/cache/restore", "actions/cache/save"}
    here, kept = checkout / path, caches / path
    if action == "actions/cache/save":
        shutil.copytree(here, kept, dirs_exist_ok=True)
    elif kept.is_dir():
        shutil.copytree(kept, here)


def answers(folder: Path, words: str) -> None:
    """Write the model's answers anew: those of one of the shipped registers."""
    shipped = data_path("sample/llmbi_answers.jsonl").read_text("utf-8").splitlines()
    rows = [json.loads(line) for line in shipped]
    own = [row | {"model": "mine"} for row in rows if row["model"] == words]
    lines = "".join(json.dumps(row) + "\n" for row in own)
    (folder / "answers.jsonl").write_text(lines, encoding="utf-8")
    params = folder / "params" / "llmbi" / "ci.yaml"
    text = params.read_text("utf-8").replace("answers_path: sample",
                                             "answers_path: ../../answers.jsonl")  # fmt: skip
    params.write_text(text, encoding="utf-8")
    subprocess.run(["git", "add", "-A"], cwd=folder, check=True)


@needs_a_shell
@pytest.mark.slow
def test_a_workflow_accepts_shuts_and_opens(repository: Path, tmp_path: Path) -> None:
    answers(repository, "plain-register")
    commit(repository, "our model's answers")
    passed, said = run_job(repository, tmp_path)
    assert passed, {name: done.stderr for name, done in said.items()}
    assert list(said) == ["Install", "Run the batch", "Gate", "Build the site"]
    assert "llmbi/ci: no accepted run yet\nllmbi/ci: accepted" in said["Gate"].stdout
    assert (tmp_path / "checkout" / "site" / "index.html").is_file()

    subprocess.run(["git", "checkout", "-q", "-b", "warmer"], cwd=repository, check=True)
    answers(repository, "warm-register")
    commit(repository, "a warmer model")
    passed, said = run_job(repository, tmp_path, branch="warmer")
    assert not passed and said["Gate"].returncode == 1
    assert "llmbi/ci is worse than its baseline" in said["Gate"].stdout
    assert "nbbias gate: worse" in (tmp_path / "summary.md").read_text("utf-8")
    assert (tmp_path / "checkout" / "reports" / "llmbi-ci.xml").is_file()
    assert said["Build the site"].returncode == 0  # whoever looks why finds the page

    answers(repository, "plain-register")
    commit(repository, "back to the plain one")
    passed, said = run_job(repository, tmp_path, branch="warmer")
    assert passed and "not worse" in said["Gate"].stdout
    assert "accepted" not in said["Gate"].stdout  # on the default branch alone


# --- parsed -------------------------------------------------------------------------------------


@pytest.mark.parametrize("who", sorted(share.WORKFLOWS))
def test_a_repository_holds_all_that_its_workflow_names(who: str, tmp_path: Path) -> None:
    share.new(tmp_path / "mine", ci=who)
    found = read(tmp_path / "mine" / share.WORKFLOWS[who])
    text = (tmp_path / "mine" / share.WORKFLOWS[who]).read_text("utf-8")
    for name in ("requirements.txt", "ci/gate.sh", "params/llmbi/ci.yaml"):
        assert name in text and (tmp_path / "mine" / name).is_file()
    lines = (
        [step["run"] for step in found["jobs"]["measure"]["steps"] if "run" in step]
        if who == "github" else found["measure"]["script"]
    )  # fmt: skip
    for line in lines:
        subprocess.run(["bash", "-n", "-c", line], check=True)
    assert ".nbbias" in (tmp_path / "mine" / ".gitignore").read_text("utf-8")


def test_gitlab_measures_gates_and_publishes(tmp_path: Path) -> None:
    share.new(tmp_path / "mine", ci="gitlab")
    found = read(tmp_path / "mine" / share.WORKFLOWS["gitlab"])
    assert found["measure"]["script"][-1] == "sh ci/gate.sh"
    assert found["measure"]["artifacts"]["reports"]["junit"] == "reports/*.xml"
    assert {cache["key"] for cache in found["measure"]["cache"]} == {"nbbias", "accepted"}
    assert found["pages"]["artifacts"]["paths"] == ["public"]


def test_without_a_workflow_none_is_written_and_an_unknown_one_is_refused(tmp_path: Path) -> None:
    share.new(tmp_path / "mine")
    assert not (tmp_path / "mine" / ".github").exists()
    assert not (tmp_path / "mine" / "ci").exists()
    with pytest.raises(NbbiasError, match="there is: github, gitlab"):
        share.new(tmp_path / "other", ci="jenkins")


@needs_a_shell
@pytest.mark.parametrize(("exits", "status", "told"), [
    ({"one": 0, "two": 0}, 0, "a/one: accepted"),
    ({"one": 1, "two": 0}, 1, "a/two: accepted"),
    ({"one": 3, "two": 0}, 0, "::warning::a/one: too few units to tell"),
    ({"one": 2, "two": 0}, 1, "a/two: accepted"),
])  # fmt: skip
def test_the_gate_of_several_runs(
    tmp_path: Path, exits: dict[str, int], status: int, told: str
) -> None:
    for name in (*exits, "two.failed"):
        for folder in ("runs", "accepted"):
            own = tmp_path / folder / "a" / name
            own.mkdir(parents=True)
            (own / "manifest.json").write_text(folder)
    command = tmp_path / "nbbias"
    cases = "".join(f"runs/a/{name}) exit {code};;" for name, code in exits.items())
    command.write_text(f'#!/bin/sh\ncase $2 in {cases} *) echo "unexpected $2"; exit 9;; esac\n')
    command.chmod(0o755)
    env = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "ACCEPT": "yes"}
    script = str(data_path("templates/ci/gate.sh"))
    done = subprocess.run(["sh", script], cwd=tmp_path, env=env, capture_output=True, text=True,
                          check=False)  # fmt: skip
    assert done.returncode == status and told in done.stdout
    for name, code in exits.items():
        kept = (tmp_path / "accepted" / "a" / name / "manifest.json").read_text()
        assert kept == ("runs" if code == 0 else "accepted")


def test_the_projects_own_workflow_tests_each_system_and_python() -> None:
    found = read(ROOT / ".github" / "workflows" / "ci.yml")
    matrix = found["jobs"]["test"]["strategy"]["matrix"]
    assert matrix["python"] == ["3.11", "3.12", "3.13"]
    assert matrix["os"] == ["ubuntu-latest", "macos-latest", "windows-latest"]
    lines = [
        line for job in found["jobs"].values() for step in job["steps"]
        for line in str(step.get("run", "")).splitlines()
    ]  # fmt: skip
    made = (ROOT / "Makefile").read_text("utf-8")
    for line in lines:
        if not line.startswith("python -m pip") and "uv pip" not in line:  # what make does, too
            assert line.removeprefix("python ") in made.replace("$(NBBIAS)", "nbbias"), line
    assert {"pull_request", "push"} <= set(found[True])  # YAML 1.1 reads "on" as true


def test_what_the_workflows_use_is_pinned_to_a_version() -> None:
    for path in (ROOT / ".github" / "workflows" / "ci.yml", data_path("templates/ci/github.yaml")):
        used = re.findall(r"uses: (\S+)", path.read_text("utf-8"))
        assert used and all(re.fullmatch(r"actions/[\w/-]+@v\d+", one) for one in used)
