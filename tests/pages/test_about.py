"""What a page says of its run: what was changed, what was used, whom to cite."""

from pathlib import Path
from typing import Any

from bs4 import BeautifulSoup

from nbbias import studies as registry, tables
from nbbias.pages import manifest, page
from nbbias.params.yaml import parse as parse_yaml
from nbbias.studies import STUDIES
from tests.conftest import ROOT
from tests.pages.build import HOSTILE, printing, soup, written

ENDED = {"status": "ok", "started": "2024-05-01T10:20:30+00:00", "seconds": 12.4}


DEFAULTS = registry.validate("llmbi", {})


def about(**values: Any) -> dict[str, Any]:
    """What the page of a run says whose parameters have these values."""
    told = manifest.describe("llmbi", "sample", DEFAULTS, ROOT / "notebooks/llmbi.ipynb")
    return page.foot(told | {"parameters": told["parameters"] | values}, ENDED)


def page_with(folder: Path, content: dict[str, Any]) -> BeautifulSoup:
    written(folder, printing("x"))
    return soup(page.write_page(folder / "a.ipynb", folder / "b.html", title="t", about=content))


def test_what_differs_from_a_default_is_marked() -> None:
    content = about(seed=7, weights={"age": 2.0})
    changed = {row["name"]: row["value"] for row in content["parameters"] if row["changed"]}
    assert changed == {"seed": "7", "weights": "{age: 2.0}"}


def test_a_page_holds_what_repeats_its_run(tmp_path: Path) -> None:
    values = {"seed": 200, "weights": {"1:30": 2.0}}
    footer = page_with(tmp_path, about(**values)).footer
    assert footer.a["href"] == "params.yaml"
    saved = tables.write(tmp_path / "saved.yaml", footer.select("details pre")[-1].get_text())
    stem, read = registry.read(saved)
    assert stem == "llmbi"
    assert registry.validate(stem, read).model_dump() == DEFAULTS.model_dump() | values


def test_hostile_values_are_text(tmp_path: Path) -> None:
    main = page_with(tmp_path, about(answers_path=HOSTILE)).main
    assert main.find(["script", "img"]) is None
    assert main.get_text().count(HOSTILE) == 2


def test_what_to_cite_is_the_papers_of_the_study_and_the_software() -> None:
    path = ROOT / "CITATION.bib"
    entries = page.citations(path, ["llmbi"])
    assert entries[0].startswith("@misc{oketunji2023large,")
    assert any("Zou, G. Y." in entry for entry in entries)
    assert not any("keywords" in entry for entry in entries)
    cited = {stem: page.citations(path, [stem]) for stem in STUDIES}
    papers = dict.fromkeys(STUDIES, 1) | {"counterfactual": 2}
    assert all(len(entries) > papers[stem] for stem, entries in cited.items())
    assert all("nbbias2026" in entries[-1] for entries in cited.values())


def test_the_two_files_of_citations_say_the_same() -> None:
    text = (ROOT / "CITATION.bib").read_text(encoding="utf-8")
    read = parse_yaml((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert text.count("\n@") == len(read["references"]) + 1
    for entry in [*read["references"], read]:
        parts = [str(entry[key]) for key in ("year", "volume", "doi", "version") if key in entry]
        for part in [entry["title"], entry["authors"][0].get("family-names", ""), *parts]:
            assert part in text
