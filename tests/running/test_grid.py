"""Values on the command line: one run for each, by what a parameter holds."""

from pathlib import Path

import pytest

from nbbias.running import plan as run_plan
from nbbias.running.plan import combine_values
from nbbias.tables import NbbiasError, ParameterError
from tests.conftest import Command
from tests.running.build import SAMPLE


@pytest.mark.parametrize(
    ("assignment", "values"),
    [
        ("levels=[word],[word, sentence]", [["word"], ["word", "sentence"]]),
        ("focus={gender: male},{race: Asian}", [{"gender": "male"}, {"race": "Asian"}]),
        ("draws=200, 300,200", [200, 300]),
        ('toxicity_scorer="a,b"', ["a,b"]),
        ("originals_path=a.csv?text=one,b.csv", ["a.csv?text=one", "b.csv"]),
    ],
)
def test_commas_separate_values_of_what_holds_one(assignment: str, values: list[object]) -> None:
    name = assignment.partition("=")[0]
    assert [chosen[name] for chosen in combine_values([assignment])] == values


def test_too_many_runs_and_all_that_cannot_be_read_are_refused() -> None:
    many = ",".join(map(str, range(11)))
    with pytest.raises(ParameterError, match="makes 121 runs; 100 are the most"):
        combine_values([f"seed={many}", f"lambda_factor={many}"])
    with pytest.raises(NbbiasError) as caught:
        combine_values(["seed", "=3", "seed=[1"])
    assert len(caught.value.breaches) == 3


def test_a_grid_is_planned_under_names_of_what_differs(tmp_path: Path) -> None:
    assigned = ["seed=200", "lambda_factor=0.5,1.5", "aggregation=mean,sum"]
    assert [run.name for run in run_plan.plan([SAMPLE], overrides=assigned, out=tmp_path)] == [
        "sample-seed=200,lambda_factor=0.5",
        "sample-seed=200,aggregation=sum,lambda_factor=0.5",
        "sample-seed=200",
        "sample-seed=200,aggregation=sum",
    ]


def test_a_mistake_of_a_whole_grid_is_reported_once(tmp_path: Path, command: Command) -> None:
    done = command("run", SAMPLE, "-p", "seed=1,2", "-p", "lamda=3", "--out", tmp_path)
    assert done.returncode == 2
    assert done.stderr.count("did you mean lambda_factor?") == 1
