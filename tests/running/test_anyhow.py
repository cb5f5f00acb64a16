"""A notebook gives one result, whatever executes it: a run, Run All, or no notebook at all."""

from pathlib import Path

import nbformat
import pandas as pd
import pytest
from nbclient import NotebookClient

from nbbias import studies
from tests.conftest import ROOT
from tests.running.build import read_files, run_file

OTHERS = [stem for stem in studies.STUDIES if stem != "llmbi"]


def read_results(folder: Path) -> dict[str, bytes]:
    """Return what a notebook left behind: its tables, figures and finding, by name."""
    parts = ("tables/", "figures/", "finding.json")
    return {name: data for name, data in read_files(folder).items() if name.startswith(parts)}


@pytest.mark.slow
@pytest.mark.parametrize(
    "stem", ["llmbi", *(pytest.param(stem, marks=pytest.mark.nightly) for stem in OTHERS)]
)
def test_a_run_run_all_and_measure_give_the_same_tables(stem: str, tmp_path: Path) -> None:
    path = ROOT / "params" / stem / "sample.yaml"
    assert run_file(path, tmp_path) == {f"{stem}/sample": "ok"}
    expected = read_results(tmp_path / stem / "sample")
    assert "tables/estimates.csv" in expected

    folder = tmp_path / "lab" / "notebooks"
    folder.mkdir(parents=True)
    node = nbformat.read(ROOT / "notebooks" / f"{stem}.ipynb", as_version=4)
    values = studies.read(path)[1]
    (cell,) = (c for c in node.cells if "parameters" in c.metadata.get("tags", []))
    cell.source = "\n".join([cell.source, *(f"{key} = {v!r}" for key, v in values.items())])
    NotebookClient(node, timeout=600, resources={"metadata": {"path": str(folder)}}).execute()
    (by_hand,) = (tmp_path / "lab" / "runs" / stem).iterdir()
    assert read_results(by_hand) == expected

    result = studies.STUDIES[stem].measure(**values)
    if len(result.estimates):
        saved = pd.read_parquet(tmp_path / stem / "sample" / "tables" / "estimates.parquet")
        pd.testing.assert_frame_equal(result.estimates, saved[list(result.estimates)])
