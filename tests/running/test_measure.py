"""A study's twin without a notebook gives the numbers of its notebook, to the last digit."""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from nbbias import studies
from nbbias.running import plan, run
from nbbias.tables import Measured
from tests.conftest import ROOT

#: What makes a sample's run shorter; the nightly tests take the samples as they are.
QUICK: dict[str, dict[str, Any]] = {"llmbi": {"draws": 100}}


def measured(stem: str, **parameters: Any) -> Measured:
    module, function = studies.STUDIES[stem].measure.split(":")
    found: Measured = getattr(import_module(module), function)(**parameters)
    return found


def alike(stem: str, changed: dict[str, Any], folder: Path) -> None:
    path = ROOT / "params" / stem / "sample.yaml"
    overrides = [f"{name}={value}" for name, value in changed.items()]
    planned = plan.plan([path], overrides=overrides, out=folder, name="twin")
    assert set(run.run(planned, out=folder, jobs=1, report=lambda *_: None).values()) == {"ok"}
    found = measured(stem, **studies.read(path)[1] | changed)
    saved = folder / stem / "twin" / "tables"
    pd.testing.assert_frame_equal(
        found.estimates, pd.read_parquet(saved / "estimates.parquet")[list(found.estimates)]
    )
    if len(found.chance):
        pd.testing.assert_frame_equal(found.chance, pd.read_parquet(saved / "chance.parquet"))


@pytest.mark.slow
@pytest.mark.parametrize("stem", QUICK)
def test_the_twin_gives_the_notebook_s_estimates(stem: str, tmp_path: Path) -> None:
    alike(stem, QUICK[stem], tmp_path)


@pytest.mark.nightly
@pytest.mark.parametrize("stem", studies.STUDIES)
def test_every_twin_gives_its_notebook_s_estimates(
    stem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NBBIAS_CACHE", str(tmp_path / "stages"))
    alike(stem, {}, tmp_path)


def test_every_study_has_a_twin_on_its_face() -> None:
    for stem, study in studies.STUDIES.items():
        module = study.measure.partition(":")[0]
        face = import_module(module.rpartition(".")[0])
        assert face.measure.__module__ == module, stem
        assert os.path.basename(str(import_module(module).__file__)) == "measured.py"
