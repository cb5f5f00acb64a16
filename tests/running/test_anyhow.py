"""A notebook gives one result, whatever executes it: a run, papermill alone, or Run All."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

from nbbias import params
from nbbias.running import plan as run_plan, run
from nbbias.studies import STUDIES
from tests.conftest import ROOT

pytestmark = pytest.mark.slow

#: As little of each sample as makes every cell run that runs by default.
SMALL: dict[str, dict[str, Any]] = {
    "llmbi": {"draws": 200},
    "cogs": {"draws": 100, "axes": ["orientation"]},
    "biasalert": {"draws": 100, "training_runs": 2},
    "news_bias": {"n_topics": [8], "topic_fits": 2, "chance_pairs": 10, "deals": 5, "draws": 200},
    "biased_prompts": {"n_topics": [8], "topic_fits": 2, "chance_pairs": 10, "deals": 5},
    "calibration": {"repeats": 2, "lead_n": [10], "lead_repeats": 2, "n": [10], "draws": 20},
}


def papermill(stem: str, *arguments: object, cwd: Path) -> subprocess.Popen[str]:
    """Start papermill's own command, on a plain kernel, with nothing set that a run sets."""
    environment = {k: v for k, v in os.environ.items() if k not in run.ENVIRONMENT}
    notebook = ROOT / "notebooks" / f"{stem}.ipynb"
    command = [sys.executable, "-m", "papermill", str(notebook), *map(str, arguments)]
    return subprocess.Popen(
        [*command, "-k", "python3"],
        cwd=cwd,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def run_all(stem: str, values: Mapping[str, Any], folder: Path) -> nbformat.NotebookNode:
    """Edit the cell of parameters and run all cells, in the notebook's folder as JupyterLab."""
    (folder / "notebooks").mkdir(parents=True)
    node = nbformat.read(ROOT / "notebooks" / f"{stem}.ipynb", as_version=4)
    (cell,) = (c for c in node.cells if "parameters" in c.metadata.get("tags", []))
    cell.source = "\n".join([cell.source, *(f"{name} = {one!r}" for name, one in values.items())])
    where = {"metadata": {"path": str(folder / "notebooks")}}
    NotebookClient(node, timeout=600, resources=where).execute()
    return node


def left(folder: Path) -> dict[str, bytes]:
    """Return what a notebook left behind: its tables, figures and finding, by name."""
    found = [*folder.glob("tables/*"), *folder.glob("figures/*"), folder / "finding.json"]
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}


@pytest.mark.parametrize("stem", STUDIES)
def test_run_papermill_alone_and_run_all_give_the_same_bytes(stem: str, tmp_path: Path) -> None:
    values = SMALL[stem]
    file = tmp_path / "small.yaml"
    file.write_text(f"study: {stem}\n" + params.as_yaml(values))
    plan = run_plan.plan([file], out=tmp_path)
    assert run.run(plan, out=tmp_path, jobs=1, report=lambda *_: None) == {f"{stem}/small": "ok"}
    expected = left(tmp_path / stem / "small")
    assert f"{Path('tables') / 'estimates.csv'}" in expected

    (tmp_path / "elsewhere").mkdir()
    started = papermill(stem, "out.ipynb", "-f", file, cwd=tmp_path / "elsewhere")
    node = run_all(stem, values, tmp_path / "lab")
    told = started.communicate()[1]
    assert started.returncode == 0, told
    name = f"lab-{params.differing(plan[0].parameters)}"
    assert left(tmp_path / "elsewhere" / "runs" / stem / name) == expected
    assert left(tmp_path / "lab" / "runs" / stem / name) == expected

    # What the run left out has its heading here, and below it one line that says why.
    left_out = plan[0].parameters.left_out()
    for cell in (c for c in node.cells if c.cell_type == "code"):
        if tags := set(cell.metadata.get("tags", [])) & set(left_out):
            (output,) = cell.outputs
            assert any(f"`{left_out[tag]}`" in output.data["text/markdown"] for tag in tags)


def test_a_batch_by_papermill_writes_each_set_of_parameters_to_its_own_folder(
    tmp_path: Path,
) -> None:
    given = {
        "lab-lambda_factor=0.5,draws=200": ("-p", "lambda_factor", "0.5", "-p", "draws", "200"),
        "lab-lambda_factor=0.7,draws=200": ("-y", "{lambda_factor: 0.7, draws: 200}"),
    }
    started = []
    for number, arguments in enumerate(given.values()):
        (tmp_path / str(number)).mkdir()
        for cwd in (tmp_path, tmp_path / str(number)):  # beside the other, and alone
            started.append(papermill("llmbi", f"{number}.ipynb", *arguments, cwd=cwd))
    for one in started:
        told = one.communicate()[1]
        assert one.returncode == 0, told
    alone = {
        name: left(tmp_path / str(number) / "runs" / "llmbi" / name)
        for number, name in enumerate(given)
    }
    first, second = alone.values()
    assert first["tables/estimates.csv"] != second["tables/estimates.csv"]
    folders = sorted((tmp_path / "runs" / "llmbi").iterdir())
    assert {folder.name: left(folder) for folder in folders} == alone


def test_papermill_stops_at_a_misspelt_name_and_writes_nothing(tmp_path: Path) -> None:
    one = papermill("llmbi", "out.ipynb", "-p", "lambda_factr", "0.5", cwd=tmp_path)
    told = one.communicate()[1]
    assert one.returncode != 0
    assert "lambda_factr: unknown parameter; did you mean lambda_factor?" in told
    assert not (tmp_path / "runs").exists()
