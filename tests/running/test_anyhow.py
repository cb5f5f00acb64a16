"""A notebook gives one result, whatever executes it: a run, papermill alone, or Run All."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

from nbbias import params
from nbbias.running import plan as run_plan, run
from tests.conftest import ROOT
from tests.running.build import run_file

pytestmark = pytest.mark.slow

#: As little of each sample as makes every cell run that runs by default.
SMALL: dict[str, dict[str, Any]] = {
    "llmbi": {"draws": 200},
    "cogs": {"draws": 100, "axes": ["orientation"]},
    "biasalert": {"draws": 100},
    "news_bias": {"n_topics": [8], "topic_fits": 2, "draws": 200},
    "biased_prompts": {"n_topics": [8], "topic_fits": 2},
    "calibration": {"repeats": 2, "lead_n": [10], "lead_repeats": 2, "n": [10], "draws": 20},
}
SLOWER = [pytest.param(stem, marks=pytest.mark.nightly) for stem in SMALL if stem != "llmbi"]


def papermill(stem: str, *arguments: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run papermill's own command, on a plain kernel, with nothing set that a run sets."""
    environment = {k: v for k, v in os.environ.items() if k not in run.ENVIRONMENT}
    notebook = ROOT / "notebooks" / f"{stem}.ipynb"
    command = [sys.executable, "-m", "papermill", notebook, *map(str, arguments), "-k", "python3"]
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True)


def read_results(folder: Path) -> dict[str, bytes]:
    """Return what a notebook left behind: its tables, figures and finding, by name."""
    files = [*folder.glob("tables/*"), *folder.glob("figures/*"), folder / "finding.json"]
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


@pytest.mark.parametrize("stem", ["llmbi", *SLOWER])
def test_run_papermill_alone_and_run_all_give_the_same_bytes(stem: str, tmp_path: Path) -> None:
    values = SMALL[stem]
    file = tmp_path / "small.yaml"
    file.write_text(params.as_yaml({"study": stem, **values}))
    (planned,) = run_plan.plan([file], out=tmp_path)
    assert run_file(file, tmp_path) == {f"{stem}/small": "ok"}
    expected = read_results(tmp_path / stem / "small")
    assert "tables/estimates.csv" in expected
    name = f"lab-{params.name_differences(planned.parameters)}"

    done = papermill(stem, "out.ipynb", "-f", file, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert read_results(tmp_path / "runs" / stem / name) == expected

    folder = tmp_path / "lab" / "notebooks"
    folder.mkdir(parents=True)
    node = nbformat.read(ROOT / "notebooks" / f"{stem}.ipynb", as_version=4)
    (cell,) = (c for c in node.cells if "parameters" in c.metadata.get("tags", []))
    cell.source = "\n".join([cell.source, *(f"{key} = {v!r}" for key, v in values.items())])
    where = {"metadata": {"path": str(folder)}}
    NotebookClient(node, timeout=600, resources=where).execute()
    assert read_results(tmp_path / "lab" / "runs" / stem / name) == expected

    # What the run left out has its heading here, and below it one line that says why.
    left_out = planned.parameters.left_out()
    for cell in (c for c in node.cells if c.cell_type == "code"):
        if tags := set(cell.metadata.get("tags", [])) & set(left_out):
            (output,) = cell.outputs
            assert any(f"`{left_out[tag]}`" in output.data["text/markdown"] for tag in tags)


def test_papermill_stops_at_a_misspelt_name_and_writes_nothing(tmp_path: Path) -> None:
    done = papermill("llmbi", "out.ipynb", "-p", "lambda_factr", "0.5", cwd=tmp_path)
    assert done.returncode != 0
    assert "lambda_factr: unknown parameter; did you mean lambda_factor?" in done.stderr
    assert not (tmp_path / "runs").exists()
