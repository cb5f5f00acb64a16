"""What a page says of its run: what was changed, what was used, whom to cite."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from bs4 import BeautifulSoup

from nbbias import params, studies as registry, tables
from nbbias.pages import about as page_about, page
from nbbias.params.yaml import parse as parse_yaml
from nbbias.studies import STUDIES
from tests.conftest import ROOT
from tests.pages.build import HOSTILE, printing, written

ENDED = {"status": "ok", "started": "2024-05-01T10:20:30+00:00", "seconds": 12.4}


def described(**changes: Any) -> dict[str, Any]:
    values = registry.validate("llmbi", {}).model_dump()
    return {
        "study": "llmbi",
        "run": "sample",
        "parameters": values,
        "data": {},
        "claims_sha256": params.claims_sha256(values["claims"]),
        "versions": {"nbbias": "0.1.0", "python": "3.12.0"},
        "git": {"commit": "0123456789abcdef", "dirty": False},
    } | changes


def told(folder: Path, **changes: Any) -> dict[str, Any]:
    return page_about.about(folder, described(**changes), ENDED, home=registry.home())


def test_defaults_are_not_changed(tmp_path: Path) -> None:
    found = told(tmp_path)
    assert found["changed"] == 0
    assert [row["name"] for row in found["parameters"]] == list(registry.describe("llmbi")["name"])


@pytest.mark.parametrize("stem", STUDIES)
def test_values_and_defaults_are_written_as_a_params_file_would(stem: str) -> None:
    defaults = dict(zip(*registry.describe(stem)[["name", "default"]].to_numpy().T, strict=True))
    for row in page_about.parameters(stem, defaults):
        assert row["value"] == row["default"]
        assert parse_yaml(row["default"]) == defaults[row["name"]]


def test_what_differs_from_a_default_is_marked(tmp_path: Path) -> None:
    values = {**described()["parameters"], "draws": 7, "weights": {"age": 2.0}}
    rows = told(tmp_path, parameters=values)["parameters"]
    assert {row["name"]: row["value"] for row in rows if row["changed"]} == {
        "draws": "7",
        "weights": "{age: 2.0}",
    }


def test_models_and_instruments_are_those_of_the_estimates(tmp_path: Path) -> None:
    table = pd.DataFrame({"model": ["b", "a", "b", None], "instrument": ["x", "x", "y", "x"]})
    tables.save_table(table, "estimates", out=tmp_path)
    found = dict(told(tmp_path)["provenance"])
    assert found["Models"] == ["b", "a"]
    assert found["Instruments"] == ["x", "y"]


def test_instruments_that_are_compared_stand_one_by_one(tmp_path: Path) -> None:
    table = pd.DataFrame({"instrument": ["x", "x; y", "z; x"]})
    tables.save_table(table, "estimates", out=tmp_path)
    assert dict(told(tmp_path)["provenance"])["Instruments"] == ["x", "y", "z"]


def test_a_long_list_says_how_many_more(tmp_path: Path) -> None:
    table = pd.DataFrame({"model": [f"m{i}" for i in range(20)]})
    tables.save_table(table, "estimates", out=tmp_path)
    assert dict(told(tmp_path)["provenance"])["Models"][-1] == "and 12 more"


def test_a_run_without_estimates_names_no_models(tmp_path: Path) -> None:
    assert "Models" not in dict(told(tmp_path)["provenance"])


def test_data_are_named_by_file_and_hash_not_by_path(tmp_path: Path) -> None:
    data = {"answers_path": {"path": "/home/somebody/a.csv", "sha256": "f" * 64}}
    found = dict(told(tmp_path, data=data)["provenance"])["Data"]
    assert found == [f"a.csv (SHA-256 {'f' * 12})"]


@pytest.mark.parametrize(
    ("git", "says"),
    [
        ({"commit": None, "dirty": None}, "no repository"),
        ({"commit": "0123456789abcdef", "dirty": False}, "commit 0123456789ab"),
        ({"commit": "0123456789abcdef", "dirty": True}, "with uncommitted changes"),
    ],
)
def test_the_code_is_named_by_its_commit(git: dict[str, Any], says: str, tmp_path: Path) -> None:
    assert dict(told(tmp_path, git=git)["provenance"])["Code"][0].endswith(says)


def test_two_runs_differ_in_one_block_only(tmp_path: Path) -> None:
    written(tmp_path, printing("x"))
    pages = []
    for started in ("2024-05-01T10:20:30+00:00", "2025-06-02T11:21:31+00:00"):
        about = page_about.about(
            tmp_path, described(), {**ENDED, "started": started}, home=registry.home()
        )
        made = page.write_page(tmp_path / "a.ipynb", tmp_path / "b.html", title="t", about=about)
        found = BeautifulSoup(made.read_text(encoding="utf-8"), "html.parser")
        found.select_one("dl.provenance").decompose()
        pages.append(str(found))
    assert pages[0] == pages[1]
    assert "Oketunji" in pages[0]  # what is compared holds the head and the foot


def test_the_command_leads_to_the_file_of_parameters(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for folder, words in {
        "runs/llmbi/a": ["runs/llmbi/a/params.yaml"],
        "my runs/llmbi/a$b": ["my runs/llmbi/a$b/params.yaml", "--out", "my runs"],
    }.items():
        told = page_about.command(tmp_path / folder)
        assert told is not None
        assert shlex.split(told) == ["nbbias", "run", *words]
    monkeypatch.chdir("/")
    assert page_about.command(Path("/runs/llmbi/a")) == "nbbias run runs/llmbi/a/params.yaml"
    monkeypatch.chdir(tmp_path)
    assert page_about.command(Path("/home/somebody/runs/llmbi/a")) is None


@pytest.mark.parametrize("here", [True, False])
def test_a_page_holds_what_repeats_its_run(
    here: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if here:
        monkeypatch.chdir(tmp_path)
    folder = tmp_path / "runs" / "llmbi" / "a"
    folder.mkdir(parents=True)
    written(folder, printing("x"))
    values = {**described()["parameters"], "draws": 200, "weights": {"1:30": 2.0}}
    about = told(folder, parameters=values)
    made = page.write_page(folder / "a.ipynb", folder / "b.html", title="t", about=about)
    found = BeautifulSoup(made.read_text(encoding="utf-8"), "html.parser").footer
    assert (f"nbbias run {folder.relative_to(tmp_path)}/params.yaml" in found.get_text()) == here
    assert found.a["href"] == "params.yaml"
    saved = tables.write(tmp_path / "saved.yaml", found.select("footer details pre")[-1].get_text())
    stem, read = registry.read(saved)
    assert (stem, registry.validate(stem, read).model_dump()) == ("llmbi", values)


def test_hostile_values_are_text(tmp_path: Path) -> None:
    table = pd.DataFrame({"model": [HOSTILE]})
    tables.save_table(table, "estimates", out=tmp_path)
    values = {**described()["parameters"], "answers_path": HOSTILE}
    about = told(tmp_path, parameters=values, run=HOSTILE)
    written(tmp_path, printing("x"))
    made = page.write_page(tmp_path / "a.ipynb", tmp_path / "b.html", title="t", about=about)
    found = BeautifulSoup(made.read_text(encoding="utf-8"), "html.parser")
    assert found.main.find(["script", "img"]) is None
    assert found.main.get_text().count(HOSTILE) == 3


def test_the_head_says_whether_the_declared_claims_are_those_that_lead(tmp_path: Path) -> None:
    values = described()["parameters"]
    sha256 = params.claims_sha256(values["claims"])[:12]
    other = params.claims_sha256([{"statistic": "index"}])[:12]
    for shown, text in ((sha256, "those that lead"), (other, "not shown below")):
        (tmp_path / "notebook.ipynb").write_text(f"Hash of the claims: {shown}.")
        (line,) = dict(told(tmp_path)["provenance"])["Claims"]
        assert line == f"2 default claims of this study (SHA-256 {sha256}), {text}"
    none = told(tmp_path, parameters=values | {"claims": []})
    assert dict(none["provenance"])["Claims"] == ["none: all is exploratory"]


def test_what_to_cite_is_the_papers_of_the_study_and_the_software() -> None:
    path = ROOT / "CITATION.bib"
    entries = page_about.citations(path, ["llmbi"])
    assert [entry.splitlines()[0] for entry in entries] == [
        "@misc{oketunji2023large,",
        "@misc{nbbias2026,",
    ]
    assert len(page_about.citations(path, ["llmbi", "cogs"])) == 3
    assert all(len(page_about.citations(path, [stem])) == 2 for stem in STUDIES)


def test_the_two_files_of_citations_say_the_same() -> None:
    text = (ROOT / "CITATION.bib").read_text(encoding="utf-8")
    read = parse_yaml((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert text.count("\n@") == len(read["references"]) + 1
    for entry in [*read["references"], read]:
        keywords = ", ".join(entry["keywords"]) if entry is not read else ", ".join(STUDIES)
        numbers = [
            str(entry[name]) for name in ("year", "volume", "doi", "version") if name in entry
        ]
        for part in [entry["title"], entry["authors"][0].get("family-names", ""), *numbers]:
            assert part in text
        assert set(keywords.split(", ")) <= set(
            text.replace("{", ", ").replace("}", ", ").split(", ")
        )
