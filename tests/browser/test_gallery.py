"""The list of runs, models side by side, and the report, in a real browser."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from nbbias import tables
from nbbias.pages import gallery, report
from tests.browser.conftest import Heard
from tests.pages.test_gallery import LEAD, PLAIN, WARM, claims, finished, leave
from tests.pages.test_report import led

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sixty finished runs of two studies and models, one that failed, and a report."""
    out = tmp_path_factory.mktemp("many") / "runs"
    table = {"plain": claims(PLAIN), "warm": claims(WARM), "both": claims(PLAIN, WARM)}
    for number in range(60):
        model = ["plain", "warm", "both"][number % 3]
        day = f"2024-{1 + number // 28:02}-{1 + number % 28:02}T10:00:00+00:00"
        study = "llmbi" if number % 2 else "cogs"
        folder = finished(out, f"r{number}", table[model], study=study, started=day)
        told = LEAD | {"plain": [f"Finding {number} of a {model} model.", "Against that."]}
        tables.save_finding(told, out=folder)
        tables.write(folder / "index.html", "")
    leave(out, "broken", status="failed", error={"cell": 3, "message": "no column"})
    led(out, "z")
    tables.save_figure(
        plt.figure(), "means", data=pd.DataFrame(), out=out / "llmbi/z", words={"alt": "Dots."}
    )
    gallery.write(out)
    report.write([out / "llmbi/z"], out / "report.html")
    return out


def at(page: Page, many: Path, name: str) -> Heard:
    heard = Heard(page)
    page.goto((many / name).as_uri())
    return heard


def shown(page: Page) -> int:
    return page.locator(".cards > li:visible").count()


def test_runs_are_found_by_study_model_status_and_words(page: Page, many: Path) -> None:
    heard = at(page, many, "index.html")
    count = page.get_by_role("status")
    expect(count).to_have_text("62 runs")
    page.get_by_role("combobox", name="Study").select_option("llmbi")
    expect(count).to_have_text("32 of 62 runs")
    page.get_by_role("combobox", name="Model").select_option("warm")
    expect(count).to_have_text("21 of 62 runs")
    assert shown(page) == 21
    page.get_by_role("searchbox", name="Search").fill("finding BOTH")
    expect(count).to_have_text("10 of 62 runs")
    page.get_by_role("button", name="Show all").click()
    expect(count).to_have_text("62 runs")
    page.get_by_role("combobox", name="Status").select_option("failed")
    assert shown(page) == 1
    expect(page.locator(".cards > li:visible")).to_contain_text("Failed in cell 3: no column")
    assert (heard.requests, heard.complaints) == ([], [])


def test_sixty_runs_are_filtered_at_once(page: Page, many: Path) -> None:
    at(page, many, "index.html")
    spent = page.evaluate(
        """() => { const box = document.querySelector("#filter input"); box.value = "model";
        const began = performance.now();
        for (let i = 0; i < 20; i++) box.dispatchEvent(new Event("input", { bubbles: true }));
        document.body.offsetHeight;
        return (performance.now() - began) / 20; }"""
    )
    assert spent < 50  # milliseconds for a letter typed
    loaded = page.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd")
    assert loaded < 3000


def test_the_list_is_used_by_keyboard(page: Page, many: Path) -> None:
    at(page, many, "index.html")
    for _ in range(6):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.name") == "text":
            break
    page.keyboard.type("finding 37")
    expect(page.get_by_role("status")).to_have_text("1 of 62 runs")
    page.keyboard.press("Enter")  # asks nobody
    expect(page).to_have_url((many / "index.html").as_uri())


def test_without_a_script_all_runs_are_shown(browser: Browser, many: Path) -> None:
    context = browser.new_context(java_script_enabled=False)
    opened = context.new_page()
    opened.goto((many / "index.html").as_uri())
    assert shown(opened) == 62
    assert not opened.locator("#filter").is_visible()
    context.close()


def test_what_was_asked_for_stays_when_the_reader_comes_back(page: Page, many: Path) -> None:
    at(page, many, "index.html")
    page.get_by_role("combobox", name="Study").select_option("cogs")
    page.locator(".cards > li:visible h2 a").first.click()
    page.go_back()
    expect(page.get_by_role("status")).to_have_text("30 of 62 runs")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["index.html", "leaders.html", "report.html"])
def test_pages_about_runs_are_accessible(
    page: Page, many: Path, name: str, scheme: str, shots: Path
) -> None:
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    heard = at(page, many, name)
    grave = [
        (one["id"], [node["html"][:160] for node in one["nodes"][:3]])
        for one in Axe().run(page).response["violations"]
        if one["impact"] in {"serious", "critical"}
    ]
    assert grave == []
    assert (heard.requests, heard.complaints) == ([], [])
    assert page.evaluate("document.scrollingElement.scrollWidth - window.innerWidth") <= 0
    width = page.viewport_size["width"] if page.viewport_size else 0
    page.screenshot(path=shots / f"{name}-many-{scheme}-{width}.png")


def test_references_are_copied(page: Page, many: Path) -> None:
    at(page, many, "report.html")
    page.evaluate(
        "navigator.clipboard.writeText = async (text) => { window.copied = text; }"
    )  # no clipboard without a window
    page.get_by_role("button", name="Copy BibTeX").click()
    expect(page.locator("button[data-copies=cite-bibtex]")).to_have_text("Copied")
    assert page.evaluate("window.copied").count("\n@") == 1  # two entries
    page.get_by_role("button", name="Copy references").click()
    assert page.evaluate("window.copied").count("\n") == 1


def test_a_report_is_printed_a_page_a_study(many: Path, tmp_path: Path) -> None:
    target = tmp_path / "report.pdf"
    # In a process of its own: here a browser is open already.
    words = [many / "llmbi/z"] * 3 + ["--out", tmp_path / "report.html", "--pdf", target]
    done = subprocess.run(
        [sys.executable, "-m", "nbbias", "report", *words], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    printed = target.read_bytes()
    assert printed.startswith(b"%PDF")
    # The summary, three studies, and what to cite.
    assert len(re.findall(rb"/Type\s*/Page\b", printed)) == 5
