"""The workflows that `nbbias new --ci` writes, and the project's own: parsed, and run as steps.

No runner is here, so a small one stands in: it runs each `run:` of a job in order, in a scratch git
repository. What only a runner has (checkout, Python, uploads) it leaves out.
"""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nbbias.pages import share
from nbbias.params.yaml import parse as parse_yaml
from nbbias.tables import NbbiasError, data_path
from tests.fake_openai import KEY, FakeOpenAI

ROOT = Path(__file__).parents[2]

#: What only a runner does.
LEFT_OUT = ("actions/checkout", "actions/setup-python", "actions/upload", "actions/deploy")


def read(path: Path) -> dict[str, Any]:
    found = parse_yaml(path.read_text(encoding="utf-8"))
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
    return {
        **os.environ,
        "PATH": f"{tools}:{os.environ['PATH']}",
        "PIP_NO_INDEX": "1",
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"),
    }


def run_job(
    folder: Path, tmp_path: Path, **told: str
) -> tuple[bool, dict[str, subprocess.CompletedProcess[str]]]:
    """Run the job that measures in a fresh checkout; say whether it passed, and what steps said."""
    checkout = tmp_path / "checkout"
    shutil.rmtree(checkout, ignore_errors=True)
    subprocess.run(["git", "clone", "-q", str(folder), str(checkout)], check=True)
    job = read(checkout / ".github/workflows/bias.yml")["jobs"]["measure"]
    env = environment(tmp_path) | {name: _told(value) for name, value in job["env"].items()} | told
    passed, said = True, dict[str, subprocess.CompletedProcess[str]]()
    for step in job["steps"]:
        if not passed and "cancelled()" not in str(step.get("if", "")):
            continue
        if "run" in step:
            done = subprocess.run(
                ["bash", "-e", "-c", step["run"]],
                cwd=checkout,
                env=env,
                capture_output=True,
                text=True,
                check=False,
            )
            said[step["name"]] = done
            passed &= done.returncode == 0
        else:
            assert step["uses"].split("@")[0].startswith(LEFT_OUT)
    return passed, said


_RUNS = iter(range(1, 1000))


def _told(value: str) -> str:
    """Fill in what the runner knows: the number of the run, and the repository's secrets."""
    value = value.replace("${{ github.run_id }}", str(next(_RUNS)))
    value = value.replace("${{ github.run_attempt }}", "1")
    return value.replace("${{ secrets.OPENAI_API_KEY }}", KEY)


def register(name: str, seed: int) -> Callable[[str], str]:
    """Answer by sentences drawn from a shipped register, as a model that samples does."""
    shipped = data_path("sample/llmbi_answers.jsonl").read_text("utf-8").splitlines()
    rows, rng = [json.loads(line) for line in shipped], random.Random(seed)

    def reply(prompt: str) -> str:
        own = [row["text"] for row in rows if row["model"] == name and row["prompt"] in prompt]
        sentences = " ".join(own).rstrip(".").split(". ")
        return ". ".join(rng.sample(sentences, min(5, len(sentences)))) + "."

    return reply


@needs_a_shell
@pytest.mark.slow
def test_a_workflow_asks_anew_and_catches_a_model_that_changed_behind_its_name(
    repository: Path, tmp_path: Path
) -> None:
    with FakeOpenAI(reply=register("plain-register", 1)) as server:
        params = repository / "params" / "llmbi" / "ci.yaml"
        text = params.read_text("utf-8").replace("openai/gpt-4o-mini", "openai-api/fake/my-model")
        params.write_text(f"{text}  base_url: {server.url}\n", encoding="utf-8")
        commit(repository, "our model")
        told = {"NBBIAS_BASE_URL": server.url, "FAKE_API_KEY": KEY}

        passed, said = run_job(repository, tmp_path, **told)
        assert not passed and "Gate" in said, {name: done.stderr for name, done in said.items()}
        assert said["Gate"].returncode == 3
        assert "commit it as accepted/llmbi/ci" in said["Gate"].stdout
        assert (tmp_path / "checkout" / "site" / "index.html").is_file()
        kept = repository / "accepted" / "llmbi" / "ci"
        shutil.copytree(tmp_path / "checkout" / "runs" / "llmbi" / "ci", kept)
        subprocess.run(["git", "add", "-A"], cwd=repository, check=True)
        commit(repository, "accepted")

        server.reply = register("plain-register", 2)  # the same model, sampled anew
        passed, said = run_job(repository, tmp_path, **told)
        assert passed and "not worse" in said["Gate"].stdout, said["Gate"].stdout
        assert sum(server.billed.values()) == 720

        server.reply = register("warm-register", 3)  # another one behind the same name
        passed, said = run_job(repository, tmp_path, **told)
        assert not passed and said["Gate"].returncode == 1
        assert "llmbi/ci is worse than its baseline" in said["Gate"].stdout
        assert "worse than its baseline" in (tmp_path / "summary.md").read_text("utf-8")
        assert (tmp_path / "checkout" / "reports" / "llmbi-ci.xml").is_file()
        assert said["Build the site"].returncode == 0  # whoever looks why finds the page


# --- parsed -------------------------------------------------------------------------------------


def test_a_repository_holds_all_that_its_workflow_names(tmp_path: Path) -> None:
    share.new(tmp_path / "mine", ci="github")
    path = tmp_path / "mine" / ".github/workflows/bias.yml"
    workflow, text = read(path), path.read_text("utf-8")
    for name in ("requirements.txt", "ci/gate.sh", "params/llmbi/ci.yaml"):
        assert name in text and (tmp_path / "mine" / name).is_file()
    for step in workflow["jobs"]["measure"]["steps"]:
        subprocess.run(["bash", "-n", "-c", step.get("run", "")], check=True)
    ignored = (tmp_path / "mine" / ".gitignore").read_text("utf-8").splitlines()
    assert "answers/" in ignored and "accepted/" not in ignored
    assert "nbbias[llm]==" in (tmp_path / "mine" / "requirements.txt").read_text("utf-8")
    assert "OPENAI_API_KEY" in text and "CI_RUN" in text and 'STRICT: "true"' in text


def test_an_unknown_workflow_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NbbiasError, match="there is: github"):
        share.new(tmp_path / "other", ci="jenkins")


@needs_a_shell
@pytest.mark.parametrize(
    ("exits", "env", "status", "told"),
    [
        ({"one": 0, "two": 0}, {}, 0, ""),
        ({"one": 3, "two": 1}, {}, 1, "inconclusive: a/one\n"),
        ({"one": 3}, {"STRICT": "false"}, 0, "inconclusive: a/one\n"),
        ({"one": 3}, {"GITHUB_ACTIONS": "true"}, 3, "::warning title=inconclusive:: a/one\n"),
        ({"new": 0}, {}, 3, "commit it as accepted/a/new\ninconclusive: a/new\n"),
        ({"one": 2, "two": 0}, {}, 1, ""),
        ({}, {}, 3, "inconclusive:no run to gate\n"),
    ],
)
def test_the_gate_of_several_runs(
    tmp_path: Path, exits: dict[str, int], env: dict[str, str], status: int, told: str
) -> None:
    for name in (*exits, "two.failed") if exits else ():
        for folder in ("runs", "accepted"):
            if (folder, name) != ("accepted", "new"):
                (tmp_path / folder / "a" / name).mkdir(parents=True)
                (tmp_path / folder / "a" / name / "manifest.json").write_text(folder)
    command = tmp_path / "nbbias"
    cases = "".join(f"runs/a/{name}) exit {code};;" for name, code in exits.items())
    command.write_text(f'#!/bin/sh\ncase $2 in {cases} *) echo "unexpected $2"; exit 9;; esac\n')
    command.chmod(0o755)
    outside = {name: value for name, value in os.environ.items() if name != "GITHUB_ACTIONS"}
    outside["PATH"] = f"{tmp_path}:{outside['PATH']}"
    script = str(data_path("templates/ci/gate.sh"))
    done = subprocess.run(
        ["sh", script], cwd=tmp_path, capture_output=True, text=True, check=False, env=outside | env
    )
    assert done.returncode == status and done.stdout.endswith(told)


def test_the_projects_own_workflow_tests_each_system_and_python() -> None:
    found = read(ROOT / ".github" / "workflows" / "ci.yml")
    matrix = found["jobs"]["test"]["strategy"]["matrix"]
    assert matrix["python"] == ["3.11", "3.12", "3.13"]
    assert matrix["os"] == ["ubuntu-latest", "macos-latest", "windows-latest"]
    lines = [
        line
        for job in found["jobs"].values()
        for step in job["steps"]
        for line in str(step.get("run", "")).splitlines()
    ]
    made = (ROOT / "Makefile").read_text("utf-8")
    for line in lines:
        if not line.startswith("python -m pip") and "uv pip" not in line:  # what make does, too
            assert line.removeprefix("python ") in made.replace("$(NBBIAS)", "nbbias"), line
    assert {"pull_request", "push"} <= set(found["on"])


def test_what_the_workflows_use_is_pinned_to_a_version() -> None:
    for path in (ROOT / ".github" / "workflows" / "ci.yml", data_path("templates/ci/github.yaml")):
        used = re.findall(r"uses: (\S+)", path.read_text("utf-8"))
        assert used and all(re.fullmatch(r"actions/[\w/-]+@v\d+", one) for one in used)
