"""Values on the command line: one run for each, by what a parameter holds."""

from __future__ import annotations

from pathlib import Path

import pytest

from nbbias.llmbi.params import Llmbi
from nbbias.news.params import NewsBias
from nbbias.running import grid, plan as run_plan
from nbbias.tables import NbbiasError, ParameterError
from tests.conftest import Command
from tests.running.build import SAMPLE


@pytest.mark.parametrize(
    ("assignment", "values"),
    [
        ("levels=[word, sentence]", [["word", "sentence"]]),
        ("levels=[word],[word, sentence]", [["word"], ["word", "sentence"]]),
        ("levels=word,sentence", ["word,sentence"]),  # refused later, with what to write
        ("levels=[word]", [["word"]]),
        ("focus={gender: male}", [{"gender": "male"}]),
        ("focus={gender: male},{race: Asian}", [{"gender": "male"}, {"race": "Asian"}]),
        ("draws=200", [200]),
        ("draws=200, 300,200", [200, 300]),
        ("toxicity_scorer=auto,offline", ["auto", "offline"]),
        ('toxicity_scorer="a,b"', ["a,b"]),
        ("draws=1,[2]", ["1,[2]"]),
        ("unknown=1,2", [1, 2]),
        ("originals_path=a.csv?text=one,b.csv", ["a.csv?text=one", "b.csv"]),
    ],
)
def test_commas_part_values_of_what_holds_one(assignment: str, values: list[object]) -> None:
    name = assignment.partition("=")[0]
    found = grid.combinations([assignment], model=NewsBias)
    assert [one[name] for one in found] == values


def test_a_file_whose_name_has_a_comma_is_one(tmp_path: Path) -> None:
    (tmp_path / "a,b.csv").touch()
    path = f"{tmp_path}/a,b.csv"
    assert grid.combinations([f"answers_path={path}"], model=Llmbi) == [{"answers_path": path}]


def test_several_make_a_run_for_each_combination_in_order() -> None:
    found = grid.combinations(["seed=1,2", "lambda_factor=0,1", "seed=3,4"], model=Llmbi)
    assert found == [{"seed": s, "lambda_factor": x} for s in (3, 4) for x in (0, 1)]


def test_nothing_set_is_one_run() -> None:
    assert grid.combinations([], model=Llmbi) == [{}]


def test_more_runs_than_anybody_looks_at_are_refused() -> None:
    many = ",".join(map(str, range(11)))
    with pytest.raises(ParameterError, match="makes 121 runs; 100 are the most"):
        grid.combinations([f"seed={many}", f"lambda_factor={many}"], model=Llmbi)


def test_all_that_cannot_be_read_is_told() -> None:
    with pytest.raises(NbbiasError) as caught:
        grid.combinations(["seed", "=3", "seed=[1"], model=Llmbi)
    assert len(caught.value.breaches) == 3


def test_a_grid_is_planned_under_names_of_what_differs(tmp_path: Path) -> None:
    assigned = ["draws=200", "lambda_factor=0.5,1.5", "aggregation=mean,sum"]
    runs = run_plan.plan([SAMPLE], overrides=assigned, out=tmp_path)
    assert [run.name for run in runs] == [
        "sample-lambda_factor=0.5,draws=200",
        "sample-aggregation=sum,lambda_factor=0.5,draws=200",
        "sample-draws=200",
        "sample-aggregation=sum,draws=200",
    ]
    assert {run.base for run in runs} == {"sample"}


def test_what_is_wrong_with_all_of_a_grid_is_told_once(tmp_path: Path, command: Command) -> None:
    done = command("run", SAMPLE, "-p", "seed=1,2", "-p", "lamda=3", "--out", tmp_path)
    assert done.returncode == 2
    assert done.stderr.count("did you mean lambda_factor?") == 1


def test_one_name_is_not_for_several_runs(tmp_path: Path, command: Command) -> None:
    done = command("run", SAMPLE, "-p", "seed=1,2", "--name", "mine", "--out", tmp_path)
    assert done.returncode == 2
    assert "--name mine: names one run, but 2 were given" in done.stderr
