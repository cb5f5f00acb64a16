"""How runs are called: no run takes the name of a finished one with other parameters."""

from pathlib import Path

import pytest

from nbbias.pages import manifest, share
from nbbias.running import plan as run_plan
from nbbias.tables import ParameterError
from tests.pages import build
from tests.running.build import SAMPLE

ANSWERS = "model,dimension,prompt,response\nm,Gender,Why?,Because it was so.\n"


def name_of(path: Path, *overrides: str, out: Path, name: str | None = None) -> str:
    (run,) = run_plan.plan([path], overrides=overrides, out=out, name=name)
    assert run.folder == (out / run.label).absolute()
    return run.name


def file(folder: Path, text: str = "", name: str = "mine") -> Path:
    path = folder / f"{name}.yaml"
    path.write_text(f"study: llmbi\n{text}\n")
    return path


def leave(path: Path, *overrides: str, out: Path, status: str = "ok") -> str:
    """Leave what a run of a file does, as far as names are concerned; return its name."""
    (run,) = run_plan.plan([path], overrides=overrides, out=out)
    build.leave(out, run.name, status=status)
    (run.folder / share.PARAMS).write_text(run.repeats)
    return run.name


def test_the_same_parameters_have_the_same_name(tmp_path: Path) -> None:
    path = file(tmp_path, "seed: 1")
    for _ in range(2):
        assert leave(path, out=tmp_path) == "mine"
    # However they come: by hand what the file says already, or what is the default.
    assert name_of(path, "seed=1", "aggregation=mean", out=tmp_path) == "mine"
    file(tmp_path, "aggregation: mean\nseed: 1")
    assert name_of(path, out=tmp_path) == "mine"


def test_an_edited_file_leaves_the_finished_run_alone(tmp_path: Path) -> None:
    path = file(tmp_path, "seed: 1")
    assert leave(path, out=tmp_path) == "mine"
    file(tmp_path, "seed: 2")
    assert leave(path, out=tmp_path) == "mine-seed=2"
    assert leave(path, "aggregation=sum", out=tmp_path) == "mine-aggregation=sum"
    file(tmp_path, "seed: 3")
    # mine-aggregation=sum is of seed 2.
    assert leave(path, "aggregation=sum", out=tmp_path) == "mine-aggregation=sum-seed=3"
    file(tmp_path, "seed: 1")
    assert name_of(path, out=tmp_path) == "mine"


def test_a_path_is_the_same_wherever_the_file_stands_that_sets_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "answers.csv").write_text(ANSWERS)
    out, path = tmp_path / "runs", file(tmp_path / "a", "answers_path: answers.csv")
    assert leave(path, out=out) == "mine"
    monkeypatch.chdir(tmp_path)
    assert name_of(path, "answers_path=a/answers.csv", out=out) == "mine"
    assert name_of(file(tmp_path, "answers_path: a/answers.csv"), out=out) == "mine"
    assert name_of(out / "llmbi/mine/params.yaml", out=out) == "mine"
    # Another file of the same name is another.
    other = name_of(file(tmp_path / "b", "answers_path: answers.csv"), out=out)
    assert other.startswith("mine-answers_path=answers.csv-")
    assert other == name_of(path, "answers_path=b/answers.csv", out=out)


def test_a_name_can_be_chosen_and_is_not_taken_twice(tmp_path: Path) -> None:
    assert name_of(SAMPLE, "lambda_factor=0.5", out=tmp_path, name="half") == "half"
    leave(file(tmp_path, "seed: 1", name="half"), out=tmp_path)
    with pytest.raises(ParameterError, match=r"other parameters .*lambda_factor=0.5"):
        name_of(SAMPLE, "lambda_factor=0.5", out=tmp_path, name="half")
    assert name_of(file(tmp_path, "seed: 1"), out=tmp_path, name="half") == "half"
    with pytest.raises(ParameterError, match="names one run, but 2 were given"):
        run_plan.plan([SAMPLE, file(tmp_path)], out=tmp_path, name="half")


@pytest.mark.parametrize("name", ["", "a/b", "x" * 201])
def test_a_name_that_is_no_runs_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="--name"):
        name_of(SAMPLE, out=tmp_path, name=name)
    assert list(tmp_path.iterdir()) == []


def test_a_file_whose_name_is_no_runs_needs_one(tmp_path: Path) -> None:
    for name in ("lab", ".hidden", "a.failed"):
        with pytest.raises(ParameterError, match="--name"):
            name_of(file(tmp_path, name=name), out=tmp_path)
        assert name_of(file(tmp_path, name=name), out=tmp_path, name="fine") == "fine"
    assert name_of(file(tmp_path, name="lab-notes"), out=tmp_path) == "lab-notes"


@pytest.mark.parametrize("name", ["mine", "mine.failed"])
def test_the_params_file_in_a_run_s_folder_repeats_that_run(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = build.leave(tmp_path, name, status="failed" if "." in name else "ok")
    path = file(folder, name="params")
    assert name_of(path, out=tmp_path) == "mine"
    monkeypatch.chdir(folder)
    assert name_of(Path("params.yaml"), out=tmp_path) == "mine"
    (folder / manifest.NAME).unlink()  # a file of that name alone is like any other
    assert name_of(path, out=tmp_path) == "params"
