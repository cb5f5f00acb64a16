"""Notebook sources: stripped, in step with the models, short, and whole when run on real data."""

from __future__ import annotations

import json
from pathlib import Path

import nbformat
import pandas as pd
import pytest

from nbbias import develop, manifest, params, published, run
from nbbias.studies import STUDIES
from tests.conftest import ROOT

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


def test_every_study_has_its_notebook_and_sample() -> None:
    assert {path.stem for path in NOTEBOOKS} == set(STUDIES)
    assert {path.parent.name for path in run.sample_params()} == set(STUDIES)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_source_is_as_the_model_writes_it(path: Path) -> None:
    assert path.read_text(encoding="utf-8") == develop.source_of(path, path.stem), (
        "run `make notebooks`"
    )


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_cells_are_short_and_define_nothing(path: Path) -> None:
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type == "code" and "parameters" not in cell.metadata.get("tags", []):
            assert len(cell.source.splitlines()) <= 12, cell.source
            assert "def " not in cell.source
            assert "plt." not in cell.source


@pytest.mark.parametrize("path", sorted((ROOT / "params").glob("*/*.yaml")), ids=lambda p: p.stem)
def test_shipped_params_are_valid_apart_from_files(path: Path) -> None:
    stem, values = params.read(path)
    assert stem == path.parent.name
    # A block that asks models is checked where it is laid out, in test_generate.
    known = {k: v for k, v in values.items() if k != "generate" and not str(v).startswith("${")}
    params.validate(stem, known, where=str(path))


@pytest.mark.slow
@pytest.mark.data
def test_recorded_answers_give_the_recorded_and_printed_scores(
    data_folder: Path, tmp_path: Path
) -> None:
    plan = run.plan([ROOT / "params/llmbi/gpt4_recorded.yaml"], out=tmp_path)
    assert run.run(plan, out=tmp_path, jobs=1, listen=lambda *_: None) == {
        "llmbi/gpt4_recorded": "ok"
    }
    folder = tmp_path / "llmbi/gpt4_recorded"
    recorded = json.loads((data_folder / "llmbi/gpt4_responses.json").read_text())
    expected = pd.DataFrame(recorded).set_index("prompt")["llmbi_score"]
    for table in (
        pd.read_parquet(folder / "tables/scores.parquet"),
        pd.read_csv(folder / "tables/scores.csv"),
    ):
        ours = table.set_index("prompt")["score"]
        assert len(ours) == 18
        assert (ours - expected).abs().max() < 1e-12
    printed = published.load("oketunji2023").set_index("prompt")["llmbi_score"]
    assert (ours - printed).abs().max() < 1e-4  # printed to four decimals, one of them rounded up
    described = manifest.read(folder)
    assert described is not None
    assert described["data"]["answers_path"]["sha256"] == manifest.file_sha256(
        data_folder / "llmbi/gpt4_responses.json"
    )
