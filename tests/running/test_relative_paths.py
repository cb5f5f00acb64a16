"""Relative paths: of a file from its folder, of `-p` from the current one, wherever one stands."""

from pathlib import Path

import pytest

from nbbias import params, tables
from nbbias.params.yaml import as_yaml, parse as parse_yaml
from nbbias.running import generation, plan as run_plan
from nbbias.tables import ParameterError
from tests.conftest import Command

ANSWERS = "prompt,response,model,dimension\nWhy?,Because.,a,Age\n"


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with params and data in it; one stands beside it."""
    folder = tmp_path / "study"
    (folder / "data").mkdir(parents=True)
    (folder / "data/answers.csv").write_text(ANSWERS)
    (folder / "mine.yaml").write_text("study: llmbi\nanswers_path: data/answers.csv\n")
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return folder


def files(run: run_plan.Run) -> dict[str, Path]:
    """Return the files that a run reads."""
    with tables.starting_at(run.start):
        return params.input_files(run.parameters)


def test_a_files_paths_start_at_its_folder_and_stay_as_written(study: Path) -> None:
    (one,) = run_plan.plan([Path("../study/mine.yaml")])
    assert files(one) == {"answers_path": study / "data/answers.csv"}
    assert one.values["answers_path"] == "data/answers.csv"


def test_a_missing_file_is_told_with_the_place_looked_at_and_where_it_lies(study: Path) -> None:
    (study / "mine.yaml").write_text("study: llmbi\nanswers_path: near.csv\n")
    with pytest.raises(ParameterError) as caught:
        run_plan.plan([study / "mine.yaml"])
    assert f"no such file: {study / 'near.csv'}" in str(caught.value)
    assert "paths start" not in str(caught.value)
    Path("near.csv").write_text(ANSWERS)
    with pytest.raises(ParameterError) as caught:
        run_plan.plan([study / "mine.yaml"])
    assert "of the one here, write ../here/near.csv" in str(caught.value)
    (study / "mine.yaml").write_text("study: llmbi\nanswers_path: ../here/near.csv\n")
    run_plan.plan([study / "mine.yaml"])


def test_lists_mappings_and_folders_of_models_are_paths_too(study: Path) -> None:
    (study / "axes.yaml").write_text("axes: {class: {identities: {poor: poor, rich: rich}}}")
    (study / "net").mkdir()
    (study / "cogs.yaml").write_text("suite_paths: [axes.yaml]\nembedding_model: net\nstudy: cogs")
    (one,) = run_plan.plan([study / "cogs.yaml"])
    assert files(one) == {"suite_paths.1": study / "axes.yaml"}
    told = parse_yaml(one.repeats)
    assert told["suite_paths"] == ["../../../../study/axes.yaml"]
    assert told["embedding_model"] == "../../../../study/net"
    assert told["answers_path"] == "sample"
    values = {"replies_paths": {"a": "x.csv"}, "evaluation_path": "none", "toxicity_scorer": "auto"}
    moved = generation.moved("biasalert", values, start=study, to=study / "runs")
    assert moved == values | {"replies_paths": {"a": "../x.csv"}}


def test_the_block_of_what_is_asked_starts_at_its_file_too(study: Path, command: Command) -> None:
    (study / "ask.csv").write_text("prompt_id,prompt,dimension\n1,Why?,Gender\n")
    block = {"models": ["openai/a"], "prompts": "table", "prompts_path": "ask.csv"}
    given = {"study": "llmbi", "answers_path": "answers/answers.parquet", "generate": block}
    (study / "mine.yaml").write_text(as_yaml(given))
    laid_out = generation.plan_file(study / "mine.yaml")
    assert laid_out.export_path == study / "answers/answers.parquet"
    assert laid_out.store_path == study / "answers/answers.sqlite"
    (one,) = run_plan.plan([Path("../study/mine.yaml")])
    assert one.calls.export_path == laid_out.export_path
    assert len(laid_out.calls) == 1
    done = command("generate", "../study/mine.yaml", "--dry-run")
    assert done.returncode == 0
    assert "user: Why?" in done.stdout
