"""The pattern of a new study: twelve cells that run, and say what a study must say."""

import json
from pathlib import Path

import pandas as pd
import papermill
import pytest

from nbbias import tables
from nbbias.pages import page
from nbbias.running import kernel
from tests.conftest import ROOT

SOURCE = ROOT / "docs/howto/new_study.ipynb"


@pytest.mark.slow
@pytest.mark.ci
def test_it_runs_and_leaves_what_a_study_leaves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NBBIAS_OUT", str(tmp_path))
    kernel.install()
    target = tmp_path / "notebook.ipynb"
    papermill.execute_notebook(SOURCE, target, {"draws": 200}, progress_bar=False)
    estimates = pd.read_parquet(tmp_path / "tables" / "estimates.parquet")
    tables.check(estimates, tables.ESTIMATES)
    scores = pd.read_parquet(tmp_path / "tables" / "scores.parquet")
    means = scores.groupby("model")["score"].mean()
    assert estimates.set_index("model")["estimate"].to_dict() == pytest.approx(means.to_dict())
    assert (estimates["null"] > 0).all()
    declared = pd.read_parquet(tmp_path / "tables" / "claims.parquet")
    assert declared["estimate"].tolist() == estimates["estimate"].tolist()
    assert set(declared["claim"]) == {1}
    assert tables.read_finding(tmp_path)["figure"] == "means"
    assert json.loads((tmp_path / "finding.json").read_text())["sentence"]
    assert page.write_page(target, tmp_path / "index.html", title="new").stat().st_size > 10_000
