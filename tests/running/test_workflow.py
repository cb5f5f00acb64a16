"""The workflows that `nbbias new --ci` writes, and the project's own: parsed, and the gate run."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from nbbias import tables
from nbbias.pages import share
from nbbias.params.yaml import parse as parse_yaml
from nbbias.tables import data_path


def read(path: Path) -> dict[str, Any]:
    found = parse_yaml(path.read_text(encoding="utf-8"))
    assert isinstance(found, dict)
    return found


needs_a_shell = pytest.mark.skipif(sys.platform == "win32", reason="steps run in a POSIX shell")


def test_a_repository_holds_all_that_its_workflow_names(tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    share.new(mine, ci="github")
    path, night = (mine / f".github/workflows/{name}.yml" for name in ("bias", "nightly"))
    workflow, nightly, text = read(path), read(night), path.read_text("utf-8")
    for name in ("requirements.txt", "ci/gate.sh", "params/llmbi/ci.yaml"):
        assert name in text and (mine / name).is_file()
    for name in ("params/llmbi/ci.yaml", "params/llmbi/anchors.yaml"):
        assert f"nbbias run {name}" in night.read_text("utf-8")
    measured, fixed = (read(mine / f"params/llmbi/{name}.yaml") for name in ("ci", "anchors"))
    other = {"answers_path": "", "generate": ""}
    assert measured | other == fixed | other
    for step in workflow["jobs"]["measure"]["steps"] + nightly["jobs"]["watch"]["steps"]:
        subprocess.run(["bash", "-n", "-c", step.get("run", "")], check=True)
    ignored = (mine / ".gitignore").read_text("utf-8").splitlines()
    assert "answers/" in ignored and "accepted/" not in ignored
    assert "nbbias[llm]==" in (mine / "requirements.txt").read_text("utf-8")
    assert "OPENAI_API_KEY" in text and "CI_RUN" in text and 'STRICT: "true"' in text


@needs_a_shell
@pytest.mark.parametrize(
    ("exits", "env", "status", "told"),
    [
        ({"one": 0, "two": 0}, {}, 0, ""),
        ({"one": 3, "two": 1}, {}, 1, "inconclusive: a/one\n"),
        ({"one": 3}, {"STRICT": "false"}, 0, "inconclusive: a/one\n"),
        ({"new": 0}, {}, 3, "commit it as accepted/a/new\ninconclusive: a/new\n"),
        ({}, {}, 3, "inconclusive:no run to gate\n"),
        ({"one": 0, "first": 1}, {}, 1, ""),
    ],
)
def test_the_gate_of_several_runs(
    tmp_path: Path, exits: dict[str, int], env: dict[str, str], status: int, told: str
) -> None:
    first = exits.pop("first", None)  # against the first accepted run
    names = [*exits, "two.failed"] if exits else []
    places = [f"{folder}/a/{name}" for folder in ("runs", "accepted") for name in names]
    places += [] if first is None else ["first/a/one"]
    for place in {*places} - {"accepted/a/new"}:
        tables.write(tmp_path / place / "manifest.json", place.partition("/")[0])
    cases = "".join(f"runs/a/{name}/accepted) exit {code};;" for name, code in exits.items())
    cases += f'runs/a/one/first) exit {first};; *) echo "unexpected $2"; exit 9;;'
    command = tables.write(tmp_path / "nbbias", f"#!/bin/sh\ncase $2/${{4%%/*}} in {cases} esac\n")
    command.chmod(0o755)
    outside = {name: value for name, value in os.environ.items() if name != "GITHUB_ACTIONS"}
    outside["PATH"] = f"{tmp_path}:{outside['PATH']}"
    script = str(data_path("templates/ci/ci/gate.sh"))
    done = subprocess.run(
        ["sh", script], cwd=tmp_path, capture_output=True, text=True, check=False, env=outside | env
    )
    assert done.returncode == status and done.stdout.endswith(told)
