"""A run as an archive, and the studies in a folder of one's own."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
import yaml

from nbbias import outputs, params, run_plan, share
from nbbias.errors import NbbiasError
from nbbias.studies import STUDIES
from tests.test_gallery import PLAIN, claims, finished, leave


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    values = {"draws": 7, "weights": {"age": 2.0}}
    data = {"answers_path": {"path": "/home/somebody/a.csv", "sha256": "f" * 64}}
    made = finished(tmp_path / "runs", "a", claims(PLAIN), parameters=values, data=data)
    outputs.write(made / "notebook.ipynb", "{}")
    outputs.write(made / "figures" / "f.svg", "<svg/>")
    return made


def test_an_archive_holds_what_an_appendix_needs(folder: Path, tmp_path: Path) -> None:
    path, files = share.export(folder, tmp_path / "a.zip")
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        assert archive.testzip() is None
        told = yaml.safe_load(archive.read("params.yaml"))
        assert b"somebody" not in archive.read("manifest.json")
    assert len(names) == len(set(names)) == files
    wanted = {"notebook.ipynb", "tables/estimates.csv", "figures/f.svg", "CITATION.cff"}
    assert wanted | {"lexicons/gender.csv", "params.yaml", "manifest.json"} <= set(names)
    assert told == {"study": "llmbi", "draws": 7, "weights": {"age": 2.0}}


def test_an_archive_in_a_folder_is_named_after_its_run(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "zips").mkdir()
    path, _ = share.export(folder, tmp_path / "zips")
    assert path == tmp_path / "zips" / "llmbi-a.zip" and path.is_file()
    monkeypatch.chdir(folder)
    path, _ = share.export(Path(), tmp_path)
    assert path == tmp_path / "llmbi-a.zip" and path.is_file()


def test_the_same_run_is_the_same_archive(folder: Path, tmp_path: Path) -> None:
    first, _ = share.export(folder, tmp_path / "a.zip")
    second, _ = share.export(folder, tmp_path / "b.zip")
    assert first.read_bytes() == second.read_bytes()


def test_a_run_that_failed_is_not_packed(tmp_path: Path) -> None:
    made = leave(tmp_path, "a", status="failed", error={"message": "x"})
    for folder in (made, tmp_path / "nowhere"):
        with pytest.raises(NbbiasError, match="no finished run"):
            share.export(folder, tmp_path / "a.zip")
    assert not (tmp_path / "a.zip").exists()


def test_a_new_folder_has_every_study_and_its_sample(tmp_path: Path) -> None:
    written = share.new(tmp_path / "mine")
    assert written == len([path for path in (tmp_path / "mine").rglob("*") if path.is_file()])
    for stem in STUDIES:
        assert (tmp_path / "mine" / "notebooks" / f"{stem}.ipynb").is_file()
        read, values = params.read(tmp_path / "mine" / "params" / stem / "sample.yaml")
        assert read == stem
        params.validate(stem, values)


def test_a_new_folder_is_where_runs_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    share.new(tmp_path / "mine")
    monkeypatch.chdir(tmp_path / "mine")
    assert run_plan.home() == tmp_path / "mine"
    assert len(run_plan.sample_params()) == len(STUDIES)


def test_a_folder_in_use_is_left_alone(tmp_path: Path) -> None:
    outputs.write(tmp_path / "mine" / "thesis.tex", "years of work")
    with pytest.raises(NbbiasError, match="is not empty"):
        share.new(tmp_path / "mine")
    with pytest.raises(NbbiasError, match="is not empty"):
        share.new(tmp_path / "mine" / "thesis.tex")
