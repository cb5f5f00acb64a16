"""Every study's page in a real browser: no network, no complaint, accessible, dark, folded."""

import json
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from PIL import Image
from playwright.sync_api import Page

from nbbias.studies import STUDIES
from tests.browser.conftest import TOO_WIDE, Heard, grave_violations

pytestmark = pytest.mark.browser

PAGES = [*(f"{stem}/sample/index.html" for stem in STUDIES), "index.html"]
LLMBI = "llmbi/sample/index.html"

WITHOUT_ALT = "[...document.images].filter(one => !one.alt).length"
UNDRAWN = "[...document.images].filter(one => one.complete && one.naturalWidth === 0).length"


@pytest.mark.ci
@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_accessible_and_asks_for_nothing(
    page: Page, runs: Path, name: str, shots: Path
) -> None:
    heard = Heard(page, runs / name)
    assert (heard.requests, heard.complaints) == ([], [])
    assert page.evaluate(WITHOUT_ALT) == page.evaluate(UNDRAWN) == 0
    assert page.evaluate(TOO_WIDE) <= 0
    assert (runs / name).stat().st_size < 10_000_000
    page.screenshot(path=shots / f"{name.replace('/', '-')}-{page.viewport_size['width']}.png")
    assert grave_violations(page) == []


@pytest.mark.ci
@pytest.mark.parametrize("stem", STUDIES)
def test_the_first_screen_answers(page: Page, runs: Path, stem: str) -> None:
    page.set_viewport_size({"width": 1280, "height": 800})
    Heard(page, runs / stem / "sample" / "index.html")
    finding = json.loads((runs / stem / "sample" / "finding.json").read_text(encoding="utf-8"))
    plain = page.locator("h1 + .output .lead .plain").all_inner_texts()
    assert [text.replace("\N{NO-BREAK SPACE}", " ") for text in plain] == finding["plain"]
    assert 1 <= page.locator(".numbers li").count() <= 3
    for part in (".lead .key img", ".lead .numbers"):
        box = page.locator(part).bounding_box()
        assert box is not None and box["y"] + box["height"] <= 800
    captions = page.locator("figure.drawn figcaption .number").all_text_contents()
    body = [caption for caption in captions if "A" not in caption]
    assert body == [f"Figure {n}." for n in range(1, len(body) + 1)]


@pytest.mark.parametrize("name", [LLMBI, "news_bias/sample/index.html"])
def test_a_page_follows_the_reader_into_the_dark_and_prints_light(
    page: Page, runs: Path, name: str
) -> None:
    def corner() -> list[int]:
        # The lower one: a legend may stand in the upper.
        image = Image.open(BytesIO(page.locator("figure.drawn img").first.screenshot()))
        return list(np.asarray(image.convert("RGB"))[-4, 3].tolist())

    page.emulate_media(color_scheme="dark")
    Heard(page, runs / name)
    assert corner() == [22, 24, 28]  # that of the page: no box stands in the dark
    assert "color-contrast" not in [v["id"] for v in Axe().run(page).response["violations"]]
    page.emulate_media(media="print", color_scheme="dark")
    assert corner() == [255, 255, 255]
    assert not page.locator(".contents").is_visible()
    assert page.locator("h1").is_visible()


def test_a_fold_of_the_appendix_opens_by_click_and_link(page: Page, runs: Path) -> None:
    Heard(page, runs / LLMBI)
    fold = page.locator("details.fold").first
    table = fold.locator("table").first
    assert not table.is_visible()
    fold.locator("summary").first.click()
    assert table.is_visible()
    fold.locator("summary").first.click()
    page.locator('p.more a[href="#a1"]').first.click()
    assert table.is_visible()
    page.goto("about:blank")
    page.goto(f"{(runs / LLMBI).as_uri()}#a1")
    assert page.locator("#a1 td").first.is_visible()
    page.get_by_role("button", name="Expand all").click()
    assert page.locator("details.fold:not([open])").count() == 0


def test_every_fold_and_tab_of_explorers_opens_and_fits(page: Page, runs: Path) -> None:
    heard = Heard(page, runs / "news_bias/sample/index.html")
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    assert page.evaluate(TOO_WIDE) <= 0
    tabs = page.locator(".nbx .x-tabs > label:visible")
    panel = page.locator(".nbx .x-panel:visible").first.inner_text()
    tabs.nth(1).click()
    assert page.locator(".nbx .x-panel:visible").first.inner_text() != panel
    page.locator("iframe").scroll_into_view_if_needed()
    inside = page.frame_locator("iframe")
    inside.locator("circle").first.wait_for(state="attached")
    assert inside.locator("circle").count() > 3
    assert (heard.requests, heard.complaints) == ([], [])
