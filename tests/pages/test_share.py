"""A run as an archive, and the studies in a folder of one's own."""

import html
import json
import os
import zipfile
from pathlib import Path
from typing import Any

import pytest

from nbbias import params, studies as registry, tables
from nbbias.pages import gallery, manifest, share
from nbbias.params.yaml import parse as parse_yaml
from nbbias.running import plan
from nbbias.studies import STUDIES
from nbbias.tables import NbbiasError, ParameterError
from tests.conftest import ROOT, Command
from tests.pages.build import INDEX, PLAIN, claims, finished, run, scores


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    values = {"seed": 7, "weights": {"age": 2.0}}
    data = {"answers_path": {"path": "/home/somebody/a.csv", "sha256": "f" * 64}}
    made = finished(tmp_path / "runs", "a", claims(PLAIN), parameters=values, data=data)
    tables.write(made / "notebook.ipynb", "{}")
    tables.write(made / "figures" / "f.svg", "<svg/>")
    return made


def test_an_archive_holds_what_an_appendix_needs(folder: Path, tmp_path: Path) -> None:
    path, files = share.export(folder, tmp_path / "a.zip")
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        assert archive.testzip() is None
        content = parse_yaml(archive.read("params.yaml").decode())
        assert b"somebody" not in archive.read("manifest.json")
    assert len(names) == len(set(names)) == len(files)
    wanted = {"notebook.ipynb", "tables/estimates.csv", "figures/f.svg", "CITATION.bib"}
    assert wanted | {"lexicons/gender.csv", "params.yaml", "manifest.json"} <= set(names)
    assert content == {"study": "llmbi", "seed": 7, "weights": {"age": 2.0}}


def test_a_run_that_is_replaced_while_it_is_packed_is_not_mixed_with_the_next(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = tables.regular_files

    def replaced(*arguments: Any) -> list[Path]:
        content = manifest.read(folder)
        assert content
        manifest.write(folder, {**content, "started": content["started"] + "0"})
        return plain(*arguments)

    monkeypatch.setattr(tables, "regular_files", replaced)
    with pytest.raises(NbbiasError, match="took its place meanwhile"):
        share.export(folder, tmp_path / "a.zip")
    with pytest.raises(NbbiasError, match="took its place meanwhile"):
        gallery.publish(tmp_path / "runs", tmp_path / "site")
    assert not (tmp_path / "a.zip").exists() and not (tmp_path / "site").exists()


@pytest.fixture
def user_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run of `news_bias` with lists and data of somebody's own."""
    machine = tmp_path / "home" / "some & body"
    monkeypatch.setenv("NBBIAS_DATA", str(machine / "data"))
    for name, content in {
        "data/news.csv": "article_id,text\n1,She said so.\n",
        "secret/made.csv": "article_id,text,model\n1,He said so.,m\n",
        "one/terms.csv": "group,term\nold,elderly\nold,pensioner\nyoung,teen\nyoung,youth\n",
    }.items():
        tables.write(machine / name, content)
    made_path = str(machine / "secret/made.csv")
    values = {
        "originals_path": "${NBBIAS_DATA}/news.csv",
        "generations_path": made_path,
        "biases": ["age"],
        "lexicon_paths": {"age": str(machine / "one/terms.csv")},
        "toxicity_scorer": "~/some & body/checkpoint.pt",
    }
    parameters = registry.validate("news_bias", values)
    made = tmp_path / "runs" / "news_bias" / "own"
    source = [f"generations_path = {made_path!r}", str(machine / "data/news.csv")]
    notebook = tables.write(made / "notebook.ipynb", json.dumps({"source": source}))
    tables.write(made / "index.html", f"<p>{share.TRAIL}&quot;{html.escape(made_path)}&quot;</p>")
    tables.save_table(claims(PLAIN), "estimates", out=made)
    ended = {"status": "ok", "error": None, "started": "2024-05-01T10:00:00", "seconds": 1.0}
    described = manifest.describe("news_bias", "own", parameters, notebook)
    manifest.write(made, described | {"start": str(machine)}, **ended)
    return made


def test_an_archive_tells_no_path_of_this_machine_and_can_be_run(
    user_files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, _ = share.export(user_files, tmp_path)
    there = tmp_path / "there"
    with zipfile.ZipFile(path) as archive:
        assert not [name for name in archive.namelist() if b"some &" in archive.read(name)]
        archive.extractall(there)
    content = parse_yaml((there / "params.yaml").read_text())
    assert content["originals_path"] == "${NBBIAS_DATA}/news.csv"
    assert content["generations_path"] == "made.csv"
    assert content["lexicon_paths"] == {"age": "terms.csv"}
    assert content["toxicity_scorer"] == "checkpoint.pt"
    assert "made.csv" in (there / "notebook.ipynb").read_text()
    assert (there / "index.html").read_text() == "<p>&quot;made.csv&quot;</p>"
    needed = (there / "README.txt").read_text()
    for name in ("news.csv", "made.csv", "terms.csv"):
        assert f"  {name}\n    for " in needed
    gallery.publish(tmp_path / "runs", tmp_path / "site")
    every = [file for file in (tmp_path / "site").rglob("*") if file.is_file()]
    assert tmp_path / "site/news_bias/own/params.yaml" in every
    assert not [file for file in every if b"some &" in file.read_bytes()]
    # With the files that it asks for, it runs.
    monkeypatch.chdir(there)
    with pytest.raises(ParameterError, match="generations_path: no such file"):
        plan.plan([Path("params.yaml")])
    for secret in ("secret/made.csv", "one/terms.csv"):
        source = tmp_path / "home" / "some & body" / secret
        source.rename(there / source.name)
    (planned,) = plan.plan([Path("params.yaml")], overrides=["toxicity_scorer=auto"])
    before = manifest.read(user_files)["data"]  # type: ignore[index]
    files = params.input_files(planned.parameters)
    assert {name: tables.file_sha256(file) for name, file in files.items()} == {
        name: entry["sha256"] for name, entry in before.items()
    }


def test_nothing_outside_a_run_is_published(folder: Path, tmp_path: Path) -> None:
    """Neither what links in it point to, nor what its manifest, which may be forged, names."""
    secret = tables.write(tmp_path / "elsewhere" / "secret.csv", "group,term\na,SECRET\n")
    (folder / "tables" / "link.csv").symlink_to(secret)
    described = manifest.read(folder)
    entry = {"path": str(secret), "sha256": tables.file_sha256(secret)}
    manifest.write(folder, described | {"data": {"names_path": entry}})
    os.mkfifo(folder / "figures" / "pipe.csv")
    path, files = share.export(folder, tmp_path / "a.zip")
    assert not [name for name in files if "link" in name or "secret" in name or "pipe" in name]
    gallery.publish(tmp_path / "runs", tmp_path / "site")
    shown = [one.read_bytes() for one in (tmp_path / "site").rglob("*") if one.is_file()]
    with zipfile.ZipFile(path) as archive:
        shown += [archive.read(name) for name in archive.namelist()]
    assert not any(b"SECRET" in one for one in shown)


def test_what_is_there_is_not_replaced_unasked(folder: Path, tmp_path: Path) -> None:
    mine = tables.write(tmp_path / "thesis.zip", "years of work")
    with pytest.raises(NbbiasError, match="--force"):
        share.export(folder, mine)
    assert mine.read_text() == "years of work"
    share.export(folder, mine, force=True)
    assert zipfile.is_zipfile(mine)
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    with pytest.raises(NbbiasError, match="symbolic links"):
        gallery.publish(folder.parents[1], loop)


def test_a_new_folder_has_every_study_and_its_sample(tmp_path: Path) -> None:
    written = share.new(tmp_path / "mine")
    assert written == len([path for path in (tmp_path / "mine").rglob("*") if path.is_file()])
    for path in (ROOT / "docs/howto").iterdir():
        assert (tmp_path / "mine" / "docs/howto" / path.name).read_bytes() == path.read_bytes()
    for stem in STUDIES:
        assert (tmp_path / "mine" / "notebooks" / f"{stem}.ipynb").is_file()
        read, values = registry.read(tmp_path / "mine" / "params" / stem / "sample.yaml")
        assert read == stem
        registry.validate(stem, values)


def test_only_a_marked_folder_of_the_user_alone_gives_notebooks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mask = os.umask(0)  # others may write what is made
    try:
        share.new(tmp_path / "mine")
    finally:
        os.umask(mask)
    monkeypatch.chdir(tmp_path / "mine" / "params" / "llmbi")  # two below
    assert registry.home() == ROOT
    monkeypatch.chdir(tmp_path / "mine" / "params")
    assert registry.home() == tmp_path / "mine"
    assert len(registry.samples()) == len(STUDIES)
    for within in (".", "notebooks", "notebooks/llmbi.ipynb"):
        mode = (tmp_path / "mine" / within).stat().st_mode
        (tmp_path / "mine" / within).chmod(mode | 0o002)
        assert registry.home() == ROOT
        (tmp_path / "mine" / within).chmod(mode)
    (tmp_path / "mine" / registry.MARK).unlink()
    assert registry.home() == ROOT


def test_claims_are_records_of_every_eval_ever_where_its_schema_has_a_place(
    tmp_path: Path, command: Command
) -> None:
    apart = {"measure": "llmbi", "statistic": "anova"}
    made = run(
        tmp_path / "llmbi" / "new", {"org/<m>": scores(1), "b": scores(2)}, claims=[INDEX, apart]
    )
    assert command("export", made, "--to", tmp_path, "--every-eval-ever").returncode == 0
    found = [json.loads(path.read_text()) for path in sorted(tmp_path.glob("llmbi-*.json"))]
    assert [one["model_info"]["name"] for one in found] == ["b", "org/<m>"]
    (result,) = found[0]["evaluation_results"]
    score, declared = result["score_details"], tables.saved_table(made, "claims")
    assert declared is not None and result["metric_config"]["lower_is_better"] is True
    row = declared.query("model == 'b' and statistic == 'index'").iloc[0]
    assert score["score"] == row["estimate"] and score["uncertainty"]["num_samples"] == row["n"]
    assert score["details"]["claim"] == "1"
    none = run(tmp_path / "none", {"m": scores(1)}, claims=[apart])
    refused = command("export", none, "--every-eval-ever")
    assert refused.returncode == 2 and "index, dimension_mean" in refused.stderr.replace("\n", " ")
