"""A package of somebody else's, installed for real, adds a study, a judge and an instrument."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from nbbias.tables import provenance
from tests.conftest import ROOT

pytestmark = pytest.mark.slow

BROKEN = """[nbbias.studies]
llmbi = broken_example:STUDY
[nbbias.judges]
nothing = broken_example:JUDGE
"""


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with nbbias-example in it, as pip installs it from its own build."""
    folder = tmp_path_factory.mktemp("installed")
    pip = ("-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index")
    subprocess.run(
        [sys.executable, *pip, "--target", folder, ROOT / "tests" / "plugin"], check=True
    )
    return folder


def nbbias(target: Path, *given: str, cwd: Path, **more: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(ROOT / "src"), str(target)])
    environment = {**os.environ, "PYTHONPATH": path, "NBBIAS_CACHE": "off", **more}
    command = [sys.executable, "-m", "nbbias", *given]
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True)


def test_its_study_stands_beside_ours_and_runs(target: Path, tmp_path: Path) -> None:
    listed = nbbias(target, "list", cwd=tmp_path).stdout
    assert "How often do answers exclaim?" in listed
    sample = target / "nbbias_example" / "params" / "exclamations" / "sample.yaml"
    assert "params/exclamations/sample.yaml" in listed
    done = nbbias(target, "run", str(sample), "--out", str(tmp_path / "runs"), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    run = tmp_path / "runs" / "exclamations" / "sample"
    assert (run / "index.html").is_file()
    assert json.loads((run / "finding.json").read_text())["figure"] == "means"
    kept = pd.read_parquet(run / "tables" / "estimates.parquet")
    out = ("--out", str(tmp_path))
    measured = nbbias(target, "measure", "exclamations", *out, cwd=tmp_path)
    assert measured.returncode == 0, measured.stderr
    again = pd.read_parquet(tmp_path / "tables" / "estimates.parquet")
    pd.testing.assert_frame_equal(kept, again)


def test_nothing_of_it_is_imported_for_a_help_text(target: Path, tmp_path: Path) -> None:
    done = nbbias(target, "--help", cwd=tmp_path, PYTHONPROFILEIMPORTTIME="1")
    assert done.returncode == 0 and "nbbias_example" not in done.stderr
    assert "nbbias.cli" in done.stderr


def test_its_judge_and_its_instrument_are_named_where_ours_are(
    target: Path, tmp_path: Path
) -> None:
    (tmp_path / "a.txt").write_text("Hello!\nHello.\n")
    judged = nbbias(target, "detect", "a.txt", "--judge", "shouting", cwd=tmp_path)
    assert judged.returncode == 0, judged.stderr
    assert [line.split(",")[2] for line in judged.stdout.splitlines()[1:]] == [
        "biased",
        "not biased",
    ]
    told = nbbias(target, "params", "biasalert", cwd=tmp_path, COLUMNS="1000").stdout
    assert "shouting (of the package nbbias-example)" in told
    assert "smiles" in nbbias(target, "params", "llmbi", cwd=tmp_path, COLUMNS="1000").stdout
    own = ("-p", "bias_scorer=smiles", "-p", "draws=100")
    measured = nbbias(target, "measure", "llmbi", *own, "--out", "found", cwd=tmp_path)
    assert measured.returncode == 0, measured.stderr
    table = pd.read_parquet(tmp_path / "found" / "tables" / "estimates.parquet")
    assert table["instrument"].str.contains("smiles of nbbias-example 0.1.0").any()


def test_a_broken_one_is_told_and_left_out(target: Path, tmp_path: Path) -> None:
    about = tmp_path / "broken_example-1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: broken-example\nVersion: 1\n")
    (about / "entry_points.txt").write_text(BROKEN)
    (tmp_path / "broken_example.py").write_text("raise RuntimeError('nobody can load this')\n")
    done = nbbias(tmp_path, "list", cwd=tmp_path)
    assert done.returncode == 0 and "Traceback" not in done.stderr
    assert "'llmbi' of the package broken-example: the name is taken" in done.stderr
    (tmp_path / "a.txt").write_text("Hello.\n")
    done = nbbias(tmp_path, "detect", "a.txt", "--judge", "nothing", cwd=tmp_path)
    assert done.returncode == 2 and "Traceback" not in done.stderr
    assert "'nothing' of the package broken-example" in done.stderr
    assert "RuntimeError: nobody can load this" in done.stderr


def test_a_stage_of_its_rests_on_all_of_its_source(
    target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(target))
    found = {path.name for path in provenance._sources("nbbias_example")}
    assert found == {"__init__.py", "study.py", "judge.py", "instrument.py"}
