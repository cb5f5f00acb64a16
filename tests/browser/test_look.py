"""Figures and tables where people read them: on a phone, in the dark, on paper."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Page

from nbbias.studies import STUDIES

pytestmark = pytest.mark.browser

PAGES = [f"{stem}/sample/index.html" for stem in STUDIES]
FIGURE = "figure.drawn img"

#: Tables that are wider than what they stand in; explorers have ways of their own.
WIDER = """() => {
    document.querySelectorAll('.folded').forEach((one) => one.removeAttribute('hidden'));
    document.querySelectorAll('main details').forEach((one) => { one.open = true; });
    return [...document.querySelectorAll('table.gt_table')]
        .filter((one) => one.scrollWidth > one.closest('.output, section, main').clientWidth + 1)
        .map((one) => one.querySelector('.gt_title')?.innerText);
}"""


def corner(page: Page) -> tuple[int, ...]:
    """The colour of a figure's paper."""
    shown = Image.open(BytesIO(page.locator(FIGURE).first.screenshot())).convert("RGB")
    return tuple(np.asarray(shown)[3, 3].tolist())


@pytest.mark.parametrize("name", PAGES)
def test_figures_follow_the_reader_into_the_dark(page: Page, runs: Path, name: str) -> None:
    page.emulate_media(color_scheme="light")
    page.goto((runs / name).as_uri())
    assert corner(page) == (255, 255, 255)
    page.locator("#theme").click()
    assert corner(page) == (22, 24, 28)  # that of the page: no box stands in the dark
    page.emulate_media(color_scheme="dark")
    page.reload()
    assert corner(page) == (22, 24, 28)
    page.locator("#theme").click()
    assert corner(page) == (255, 255, 255)


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("width", [1280, 390])
def test_no_table_is_cut_at_its_right(page: Page, runs: Path, name: str, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    page.goto((runs / name).as_uri())
    assert page.evaluate(WIDER) == []


def test_on_a_phone_rows_of_a_wide_table_are_lists(page: Page, runs: Path) -> None:
    page.set_viewport_size({"width": 390, "height": 800})
    page.goto((runs / PAGES[0]).as_uri())
    page.evaluate(WIDER)
    table = page.locator("table.listed").first
    names = table.locator(".gt_col_heading").all_inner_texts()
    cells = table.locator(".gt_table_body tr").first.locator("td")
    told = [cell.get_attribute("data-label") for cell in cells.all()]
    assert len(told) == len(names) > 2
    assert not table.locator(".gt_col_heading").first.is_visible()
    tops = [box["y"] for cell in cells.all() if (box := cell.bounding_box())]
    assert tops == sorted(tops) and tops[-1] > tops[0]


@pytest.mark.parametrize("name", PAGES)
def test_paper_shows_what_is_open_and_cuts_nothing(page: Page, runs: Path, name: str) -> None:
    page.set_viewport_size({"width": 718, "height": 1000})  # A4 less 10 mm at each side
    page.goto((runs / name).as_uri())
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print", color_scheme="dark")
    assert not any(fold.is_visible() for fold in page.locator(".folded > *").all())
    assert page.locator("details.method:not([open])").count() == 0
    page.emulate_media(media="screen")
    page.get_by_role("button", name="Open all").click()
    page.emulate_media(media="print", color_scheme="dark")
    assert all(fold.is_visible() for fold in page.locator(".folded").all())
    assert page.evaluate("document.documentElement.scrollWidth") <= 718
    assert corner(page) == (255, 255, 255)  # paper is white, whatever the screen
    assert b"/Type /Page" in page.pdf(format="A4", prefer_css_page_size=True)
