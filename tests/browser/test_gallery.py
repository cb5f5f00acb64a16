"""The list of runs and the report in a real browser."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from nbbias import tables
from nbbias.pages import gallery, report
from tests.browser.conftest import TOO_WIDE, Heard, grave_violations
from tests.pages.build import LEAD, PLAIN, WARM, claims, finished, leave
from tests.pages.test_report import led

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twenty finished runs of two studies and models, one that failed, and a report."""
    out = tmp_path_factory.mktemp("many") / "runs"
    table = {"plain": claims(PLAIN), "warm": claims(WARM), "both": claims(PLAIN, WARM)}
    for number in range(20):
        model = ["plain", "warm", "both"][number % 3]
        study = "llmbi" if number % 2 else "cogs"
        started = f"2024-01-{1 + number:02}T10:00:00+00:00"
        folder = finished(out, f"r{number}", table[model], study=study, started=started)
        lead = LEAD | {"plain": [f"Finding {number} of a {model} model.", "Against that."]}
        tables.save_finding(lead, out=folder)
        tables.write(folder / "index.html", "")
    leave(out, "broken", status="failed", error={"cell": 3, "message": "no column"})
    led(out, "z")
    gallery.write(out)
    report.write([out / "llmbi/z"] * 3, out / "report.html")
    return out


def test_runs_are_found_by_study_model_status_and_words(page: Page, many: Path) -> None:
    heard = Heard(page, many / "index.html")
    count = page.get_by_role("status")
    expect(count).to_have_text("22 runs")
    page.get_by_role("combobox", name="Study").select_option("llmbi")
    expect(count).to_have_text("12 of 22 runs")
    page.get_by_role("combobox", name="Model").select_option("warm")
    expect(count).to_have_text("8 of 22 runs")
    assert page.locator(".cards > li:visible").count() == 8
    page.locator(".cards > li:visible h2 a").first.click()
    page.go_back()
    expect(count).to_have_text("8 of 22 runs")  # what was chosen stays
    page.get_by_role("searchbox", name="Search").fill("finding BOTH")
    expect(count).to_have_text("3 of 22 runs")
    page.get_by_role("button", name="Show all").click()
    expect(count).to_have_text("22 runs")
    page.get_by_role("combobox", name="Status").select_option("failed")
    expect(page.locator(".cards > li:visible")).to_contain_text("Failed in cell 3: no column")
    assert (heard.requests, heard.complaints) == ([], [])


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["index.html", "report.html"])
def test_pages_about_runs_are_accessible(
    page: Page, many: Path, name: str, scheme: str, shots: Path
) -> None:
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    heard = Heard(page, many / name)
    assert grave_violations(page) == []
    assert (heard.requests, heard.complaints) == ([], [])
    assert page.evaluate(TOO_WIDE) <= 0
    page.screenshot(path=shots / f"{name}-many-{scheme}-{page.viewport_size['width']}.png")
