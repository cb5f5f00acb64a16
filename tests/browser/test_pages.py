"""Every page in a real browser: no network, no complaint, readable, explorable, accessible."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pandas as pd
import pytest
from axe_playwright_python.sync_playwright import Axe
from bs4 import BeautifulSoup
from playwright.sync_api import Page

from nbbias import params, studies as registry
from nbbias.pages import manifest
from nbbias.reading.claims import EXPLORATORY
from nbbias.studies import STUDIES
from tests.browser.conftest import Heard

pytestmark = pytest.mark.browser

PAGES = [*(f"{stem}/sample/index.html" for stem in STUDIES), "index.html", "leaders.html"]

#: Wider than the window, a page cannot be read on a phone without moving it about.
TOO_WIDE = "document.scrollingElement.scrollWidth - window.innerWidth"
WITHOUT_ALT = "[...document.images].filter(one => !one.hasAttribute('alt')).length"
BLANK_FIGURES = "[...document.querySelectorAll('figure img')].filter(one => !one.alt).length"
UNDRAWN = "[...document.images].filter(one => one.complete && one.naturalWidth === 0).length"


def opened(page: Page, runs: Path, name: str) -> Heard:
    heard = Heard(page)
    page.goto((runs / name).as_uri(), wait_until="load")
    return heard


@pytest.mark.ci
@pytest.mark.parametrize("name", PAGES)
def test_a_page_asks_for_nothing_and_complains_of_nothing(
    page: Page, runs: Path, name: str, shots: Path
) -> None:
    heard = opened(page, runs, name)
    assert heard.requests == []
    assert heard.complaints == []
    assert page.evaluate(WITHOUT_ALT) == 0
    assert page.evaluate(BLANK_FIGURES) == 0
    assert page.evaluate(UNDRAWN) == 0
    assert page.evaluate(TOO_WIDE) <= 0
    assert (runs / name).stat().st_size < 10_000_000
    width = page.viewport_size["width"] if page.viewport_size else 0
    page.screenshot(path=shots / f"{name.replace('/', '-')}-{width}.png")


@pytest.mark.ci
@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_accessible(page: Page, runs: Path, name: str) -> None:
    opened(page, runs, name)
    grave = [
        (one["id"], one["impact"], [node["html"][:160] for node in one["nodes"][:3]])
        for one in Axe().run(page).response["violations"]
        if one["impact"] in {"serious", "critical"}
    ]
    assert grave == []


@pytest.mark.ci
@pytest.mark.parametrize("stem", STUDIES)
def test_the_body_of_a_page_holds_small_tables_only(runs: Path, stem: str) -> None:
    """What is larger is for whoever looks it up, and folds; explorers are no printed tables."""
    read = (runs / stem / "sample" / "index.html").read_text(encoding="utf-8")
    body = BeautifulSoup(read, "html.parser")
    for aside in body.select("details, .nbx, .folded"):
        aside.decompose()
    tables = body.select("table.gt_table")
    assert tables
    for table in tables:
        rows = table.select("tbody tr")
        wide = max((len(row.select("td, th")) for row in rows), default=0)
        assert len(rows) <= 12 and wide <= 8, table.get_text(" ")[:80]


@pytest.mark.ci
@pytest.mark.parametrize("stem", STUDIES)
def test_what_was_declared_leads_and_is_what_the_manifest_hashed(runs: Path, stem: str) -> None:
    folder = runs / stem / "sample"
    body = BeautifulSoup((folder / "index.html").read_text(encoding="utf-8"), "html.parser")
    lead, claims = body.select_one("h1").find_next_siblings(limit=2)  # type: ignore[union-attr]
    assert "lead" in lead["class"] and claims["class"] == ["claims"]
    described = manifest.read(folder) or {}
    given = described["parameters"]["claims"]
    assert described["claims_sha256"] == params.claims_sha256(given)
    assert described["claims_sha256"][:12] in claims.select_one(".gt_sourcenote").get_text()  # type: ignore[union-attr]
    assert described["claims_sha256"][:12] in body.select_one(".provenance").get_text()  # type: ignore[union-attr]
    assert EXPLORATORY.replace("**", "") in claims.get_text()
    saved = pd.read_parquet(folder / "tables" / "claims.parquet")
    assert set(saved["claim"]) == set(range(1, len(given) + 1))
    assert (saved["verdict"] != "not measured").any()


@pytest.mark.ci
@pytest.mark.parametrize("stem", STUDIES)
def test_every_statistic_that_a_study_estimates_can_be_declared(runs: Path, stem: str) -> None:
    found = pd.read_parquet(runs / stem / "sample" / "tables" / "estimates.parquet")
    known = STUDIES[stem].parameters.statistics
    assert {(m, s) for m, s in zip(found["measure"], found["statistic"], strict=True)} <= {
        (measure, statistic) for measure, names in known.items() for statistic in names
    }


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_light_and_dark_change_hands_by_a_click(page: Page, runs: Path, scheme: str) -> None:
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    opened(page, runs, "llmbi/sample/index.html")
    ink = "getComputedStyle(document.body).color"
    before = page.evaluate(ink)
    button = page.locator("#theme")
    assert button.inner_text() == {"light": "Dark", "dark": "Light"}[scheme]
    button.click()
    assert page.evaluate(ink) != before
    button.click()
    assert page.evaluate(ink) == before


def test_dark_pages_have_contrast(page: Page, runs: Path) -> None:
    page.emulate_media(color_scheme="dark")
    opened(page, runs, "llmbi/sample/index.html")
    found = [one["id"] for one in Axe().run(page).response["violations"]]
    assert "color-contrast" not in found


def test_contents_lead_to_the_sections(page: Page, runs: Path) -> None:
    opened(page, runs, "llmbi/sample/index.html")
    if page.locator(".contents details").get_attribute("open") is None:
        page.locator(".contents summary").click()
    asked = page.locator(".asks").nth(2)
    page.locator(".contents a", has_text=asked.inner_text()).first.click()
    assert asked.bounding_box()["y"] < 400  # type: ignore[index]


def test_code_and_parameters_unfold(page: Page, runs: Path) -> None:
    opened(page, runs, "llmbi/sample/index.html")
    code = page.locator("details.code").first
    assert not code.locator(".highlight").first.is_visible()
    code.locator("summary").click()
    assert code.locator(".highlight").first.is_visible()
    page.locator(".about summary").click()
    assert page.locator(".about table").is_visible()


def test_a_table_is_saved_as_it_is_shown(page: Page, runs: Path) -> None:
    opened(page, runs, "llmbi/sample/index.html")
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Save the table as CSV").first.click()
    text = Path(waiting.value.path()).read_text(encoding="utf-8-sig")
    table = page.locator("table.gt_table").first
    shown = [row.locator("td").all_inner_texts() for row in table.locator("tbody tr").all()]
    rows = list(csv.reader(io.StringIO(text)))
    assert len(rows) == len(shown) + 1
    # A page keeps "< .001" on one line; a file has plain spaces.
    assert rows[1:] == [[cell.strip().replace("\xa0", " ") for cell in row] for row in shown]
    assert waiting.value.suggested_filename == "what-was-declared-before-data-were-read.csv"


def test_every_leading_estimate_of_a_sample_stands_side_by_side(page: Page, runs: Path) -> None:
    opened(page, runs, "leaders.html")
    assert page.locator(".side figure img").count() == len(registry.leads())
    shown = page.locator("table .gt_title").all_text_contents()  # folded below the figures
    named = registry.leads()
    assert [what for what in named["what"] if f"{what}, sample" not in shown] == []


def test_printing_shows_the_text_alone(page: Page, runs: Path) -> None:
    opened(page, runs, "llmbi/sample/index.html")
    page.emulate_media(media="print")
    for hidden in (".contents", "#theme", ".tools", "details.code"):
        assert not page.locator(hidden).first.is_visible()
    assert page.locator("h1").is_visible()
