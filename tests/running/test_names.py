"""How runs are called: no run takes the name of a finished one with other parameters."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from nbbias.pages import manifest
from nbbias.running import names, plan as run_plan
from nbbias.tables import NbbiasError, ParameterError
from tests.conftest import ROOT

SAMPLE = ROOT / "params/llmbi/sample.yaml"
ANSWERS = "model,dimension,prompt,response\nm,Gender,Why?,Because it was so.\n"


def named(path: Path, *overrides: str, out: Path, name: str | None = None) -> str:
    (one,) = run_plan.plan([path], overrides=overrides, out=out, name=name)
    assert one.folder == (out / one.label).absolute()
    return one.name


def file(folder: Path, text: str = "", name: str = "own") -> Path:
    path = folder / f"{name}.yaml"
    path.write_text(f"study: llmbi\n{text}\n")
    return path


def run_it(path: Path, *overrides: str, out: Path, status: str = "ok") -> str:
    """Leave what a run of a file does, as far as names are concerned; return its name."""
    (one,) = run_plan.plan([path], overrides=overrides, out=out)
    described = {"study": one.stem, "run": one.name, "parameters": one.parameters.model_dump()}
    described["start"] = names.start_of(one.start, folder=one.folder)
    manifest.write(one.folder, described, status=status, started="2024-01-01T10:00:00")
    (one.folder / "params.yaml").write_text(one.repeats)
    return one.name


def test_the_same_parameters_have_the_same_name(tmp_path: Path) -> None:
    path = file(tmp_path, "seed: 1")
    for _ in range(2):
        assert run_it(path, out=tmp_path) == "own"
    # However they come: by hand what the file says already, or what is the default.
    assert named(path, "seed=1", "draws=2000", out=tmp_path) == "own"
    path.write_text("study: llmbi\ndraws: 2000\nseed: 1\n")
    assert named(path, out=tmp_path) == "own"


def test_what_is_set_by_hand_follows_the_files_name(tmp_path: Path) -> None:
    assert named(SAMPLE, "lambda_factor=0.5", out=tmp_path) == "sample-lambda_factor=0.5"
    both = named(SAMPLE, "draws=300", "lambda_factor=5e-1", out=tmp_path)
    assert both == named(SAMPLE, "lambda_factor=0.5", "draws=300", out=tmp_path)
    assert both == "sample-lambda_factor=0.5,draws=300"


def test_an_edited_file_leaves_the_finished_run_alone(tmp_path: Path) -> None:
    path = file(tmp_path, "seed: 1")
    assert run_it(path, out=tmp_path) == "own"
    path.write_text("study: llmbi\nseed: 2\n")
    assert run_it(path, out=tmp_path) == "own-seed=2"
    assert run_it(path, "draws=300", out=tmp_path) == "own-draws=300"
    path.write_text("study: llmbi\nseed: 3\n")
    assert run_it(path, out=tmp_path) == "own-seed=3"
    # own-draws=300 is of seed 2.
    assert run_it(path, "draws=300", out=tmp_path) == "own-draws=300-seed=3"
    path.write_text("study: llmbi\nseed: 1\n")
    assert named(path, out=tmp_path) == "own"


def test_a_run_that_failed_holds_no_name(tmp_path: Path) -> None:
    path = file(tmp_path, "seed: 1")
    run_it(path, out=tmp_path, status="failed")
    path.write_text("study: llmbi\nseed: 2\n")
    assert named(path, out=tmp_path) == "own"


def test_parameters_that_an_older_run_did_not_know_count_unless_at_their_default(
    tmp_path: Path,
) -> None:
    path = file(tmp_path, "seed: 1")
    run_it(path, out=tmp_path)
    kept = tmp_path / "llmbi/own" / manifest.NAME
    described = json.loads(kept.read_text())
    described["parameters"].pop("draws")
    described["parameters"]["gone"] = 1
    kept.write_text(json.dumps(described))
    assert named(path, out=tmp_path) == "own"
    path.write_text("study: llmbi\nseed: 1\ndraws: 300\n")
    assert named(path, out=tmp_path) == "own-draws=300"


def test_a_path_is_the_same_wherever_the_file_stands_that_sets_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "answers.csv").write_text(ANSWERS)
    out, own = tmp_path / "runs", file(tmp_path / "a", "answers_path: answers.csv")
    assert run_it(own, out=out) == "own"
    monkeypatch.chdir(tmp_path)
    assert named(own, out=out) == "own"
    assert named(own, "answers_path=a/answers.csv", out=out) == "own"
    assert named(file(tmp_path, "answers_path: a/answers.csv"), out=out) == "own"
    assert named(out / "llmbi/own/params.yaml", out=out) == "own"
    # Another file of the same name, told by the same words, is another.
    other = named(file(tmp_path / "b", "answers_path: answers.csv"), out=out)
    assert other.startswith("own-answers_path=answers.csv-")
    assert other == named(own, "answers_path=b/answers.csv", out=out)


def test_a_name_can_be_chosen_and_is_not_taken_twice(tmp_path: Path) -> None:
    assert named(SAMPLE, "lambda_factor=0.5", out=tmp_path, name="half") == "half"
    run_it(file(tmp_path, "seed: 1", name="half"), out=tmp_path)
    with pytest.raises(ParameterError, match=r"other parameters .*lambda_factor=0.5"):
        named(SAMPLE, "lambda_factor=0.5", out=tmp_path, name="half")
    assert named(file(tmp_path, "seed: 1"), out=tmp_path, name="half") == "half"
    with pytest.raises(ParameterError, match="2 were given"):
        run_plan.plan([SAMPLE, file(tmp_path)], out=tmp_path, name="half")


@pytest.mark.parametrize(
    "name",
    [
        *("", "..", ".hidden", "a/b", "a:b", "a\nb", "a.", "x" * 201),
        *("lab", "lab-seed=1", "a.failed", "a\udcff"),
    ],
)
def test_a_name_that_is_no_runs_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="--name"):
        named(SAMPLE, out=tmp_path, name=name)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["lab", ".hidden", "a.failed"])
def test_a_file_whose_name_is_no_runs_needs_one(name: str, tmp_path: Path) -> None:
    path = file(tmp_path, name=name)
    with pytest.raises(ParameterError, match="--name"):
        named(path, out=tmp_path)
    assert named(path, out=tmp_path, name="fine") == "fine"


def test_a_file_called_lab_something_is_no_notebook_by_hand(tmp_path: Path) -> None:
    assert named(file(tmp_path, name="lab-notes"), out=tmp_path) == "lab-notes"


def test_what_failed_is_repeated_under_the_runs_name(tmp_path: Path) -> None:
    folder = tmp_path / "llmbi" / "own.failed"
    folder.mkdir(parents=True)
    file(folder, name="params")
    manifest.write(folder, {"study": "llmbi", "run": "own"}, status="failed")
    assert named(folder / "params.yaml", out=tmp_path) == "own"


def test_problems_of_a_name_and_of_a_file_are_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(NbbiasError) as caught:
        run_plan.plan([file(tmp_path, "sed: 1")], out=tmp_path, name="..")
    assert "--name" in str(caught.value) and "did you mean seed?" in str(caught.value)


@given(st.text(max_size=300))
def test_a_chosen_name_is_refused_or_makes_a_folder(
    tmp_path_factory: pytest.TempPathFactory, name: str
) -> None:
    if not names.name_problem(name, portable=True):
        inside = tmp_path_factory.getbasetemp() / "chosen"
        folder = inside / f".{name}.01234567.new"
        folder.mkdir(parents=True)
        assert folder.parent == inside
        folder.rmdir()
