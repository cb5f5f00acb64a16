"""A study's twin without a notebook gives the numbers of its notebook, to the last digit."""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path

import pandas as pd
import pytest

from nbbias import studies
from nbbias.tables import Measured
from tests.conftest import ROOT
from tests.running.build import run_file


@pytest.mark.slow
@pytest.mark.parametrize(
    "stem",
    [
        pytest.param(stem, marks=[] if stem == "llmbi" else pytest.mark.nightly)
        for stem in studies.STUDIES
    ],
)
def test_measuring_without_a_notebook_gives_its_estimates(stem: str, tmp_path: Path) -> None:
    path = ROOT / "params" / stem / "sample.yaml"
    assert run_file(path, tmp_path) == {f"{stem}/sample": "ok"}
    module, function = studies.STUDIES[stem].measure.split(":")
    result: Measured = getattr(import_module(module), function)(**studies.read(path)[1])
    saved = tmp_path / stem / "sample" / "tables"
    for name, table in (("estimates", result.estimates), ("chance", result.chance)):
        if len(table):
            expected = pd.read_parquet(saved / f"{name}.parquet")[list(table)]
            pd.testing.assert_frame_equal(table, expected)


def test_every_study_has_a_twin_on_its_face() -> None:
    for stem, study in studies.STUDIES.items():
        module = study.measure.partition(":")[0]
        face = import_module(module.rpartition(".")[0])
        assert face.measure.__module__ == module, stem
        assert os.path.basename(str(import_module(module).__file__)) == "measured.py"
