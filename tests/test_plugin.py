"""Packages from outside, installed for real, add a study, a judge and an instrument."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from tests.conftest import ROOT

pytestmark = pytest.mark.slow

#: A package of two modules beside its metadata: a judge and an instrument of sentiment.
JUDGE = """
from nbbias.biasalert.judges.attribution import Verdicts, judgements
from nbbias.biasalert.judges.registry import Entry

def make(given):
    def judge(texts, evidence=None):
        loud = texts["text"].fillna("").str.contains("!")
        return judgements(texts, Verdicts(loud), judge="shouting", attributes_named=False)
    return judge, "exclamation marks"

SHOUTING = Entry("tiny_judge:make", "whether a text has an exclamation mark")
"""
INSTRUMENT = """
from nbbias.text.instruments import Instrument

def load():
    def assess(texts):
        counts = [(text.count(":)"), text.count(":(")) for text in texts]
        return [(up - down) / max(up + down, 1) for up, down in counts], [sum(c) for c in counts]
    return assess

SMILES = Instrument("smiles of nbbias-tiny {}", "nbbias-tiny", load)
"""
METADATA = "Metadata-Version: 2.1\nName: {}\nVersion: 0.1.0\n"
POINTS = """[nbbias.judges]
shouting = tiny_judge:SHOUTING
[nbbias.instruments]
sentiment.smiles = tiny_instrument:SMILES
"""


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two packages: the example's, as pip installs it, and a tiny one."""
    folder = tmp_path_factory.mktemp("installed")
    pip = ("-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index")
    line = [sys.executable, *pip, "--target", folder, ROOT / "examples" / "marked_personas"]
    subprocess.run(line, check=True)
    (folder / "tiny_judge.py").write_text(JUDGE)
    (folder / "tiny_instrument.py").write_text(INSTRUMENT)
    about = folder / "nbbias_tiny-0.1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(METADATA.format("nbbias-tiny"))
    (about / "entry_points.txt").write_text(POINTS)
    return folder


def nbbias(target: Path, *given: str, cwd: Path, **more: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(ROOT / "src"), str(target)])
    environment = {**os.environ, "PYTHONPATH": path, "NBBIAS_CACHE": "off", **more}
    command = [sys.executable, "-m", "nbbias", *given]
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True)


def test_its_study_stands_beside_ours_and_runs(target: Path, tmp_path: Path) -> None:
    listed = nbbias(target, "list", cwd=tmp_path).stdout
    assert "Which groups are described in the words used for all?" in listed
    sample = target / "nbbias_marked_personas" / "params" / "marked_personas" / "sample.yaml"
    assert "params/marked_personas/sample.yaml" in listed
    done = nbbias(target, "run", str(sample), "--out", str(tmp_path / "runs"), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    run = tmp_path / "runs" / "marked_personas" / "sample"
    assert (run / "index.html").is_file()
    assert json.loads((run / "finding.json").read_text())["figure"] == "distances"
    assert len(pd.read_parquet(run / "tables" / "estimates.parquet"))
    measured = nbbias(target, "measure", "marked_personas", cwd=tmp_path)
    assert measured.returncode == 0, measured.stderr


def test_its_judge_and_instrument_are_named_where_ours_are(target: Path, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("text\nHello!\nHello.\n")
    judged = nbbias(target, "detect", "a.csv", "--judge", "shouting", cwd=tmp_path)
    assert judged.returncode == 0, judged.stderr
    verdicts = [line.split(",")[2] for line in judged.stdout.splitlines()[1:]]
    assert verdicts == ["biased", "not biased"]
    told = nbbias(target, "params", "biasalert", cwd=tmp_path, COLUMNS="1000").stdout
    assert "shouting (of the package nbbias-tiny)" in told
    assert "smiles" in nbbias(target, "params", "llmbi", cwd=tmp_path, COLUMNS="1000").stdout
    measured = nbbias(target, "measure", "llmbi", "-p", "bias_scorer=smiles", cwd=tmp_path)
    assert measured.returncode == 0, measured.stderr
