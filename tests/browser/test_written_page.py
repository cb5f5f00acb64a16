"""What the script and the style of a page do, on a page written for it: saving, printing, width."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import nbformat
import pandas as pd
import pytest
from IPython.display import HTML
from playwright.sync_api import Page

from nbbias import reading
from nbbias.news.explore import topics
from nbbias.pages import page as pages
from nbbias.reading import markup
from tests.pages.test_about import told

pytestmark = pytest.mark.browser

#: What is shown → what a spreadsheet is given.
CELLS = {
    "-": "-",
    "\N{EN DASH}": "\N{EN DASH}",
    "1,256": "1256",
    "1,234,567.5": "1234567.5",
    "+0.12": "+0.12",
    "\N{MINUS SIGN}0.5": "-0.5",
    "\N{MINUS SIGN}1e-05": "-1e-05",
    "\N{MINUS SIGN}.05": "-.05",
    "\N{MINUS SIGN}3%": "-3%",
    "\N{MINUS SIGN}0.05 to 0.10": "-0.05 to 0.10",
    "\N{MINUS SIGN}0.05 to \N{MINUS SIGN}0.01": "-0.05 to -0.01",
    "\N{MINUS SIGN}0.05 (\N{MINUS SIGN}0.10, 1,000)": "-0.05 (-0.10, 1000)",
    "moved by \N{MINUS SIGN}0.05": "moved by -0.05",
    "biased \N{MINUS SIGN} neutral": "biased \N{MINUS SIGN} neutral",
    "1,2345": "1,2345",
    "gpt-4, 1,256": "gpt-4, 1,256",
    "=1+1": "'=1+1",
    "=A1": "'=A1",
    "+A1": "'+A1",
    "@SUM(A1)": "'@SUM(A1)",
    "-x": "'-x",
    "- x": "'- x",
    "-2+3": "'-2+3",
    "\N{MINUS SIGN}2+3+cmd|' /C calc'!A0": "'-2+3+cmd|' /C calc'!A0",
    "+1-2": "'+1-2",
    "5-2": "5-2",
}


def output(shown: HTML) -> nbformat.NotebookNode:
    data = nbformat.v4.new_output("display_data", {"text/html": shown.data})
    return nbformat.v4.new_code_cell("shown", outputs=[data])


@pytest.fixture
def opened(page: Page, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Page:
    monkeypatch.setenv("NBBIAS_OUT", str(tmp_path))
    wide = pd.DataFrame({f"column_{i}": ["a text"] for i in range(40)})
    frame = markup.framed(topics.frame("<p>drawn</p>", title="LDAvis"), title="Topics")
    cells = [
        output(reading.show(pd.DataFrame({"text": list(CELLS)}), title="Cells")),
        output(reading.show(wide, title="Wide")),
        output(frame),
    ]
    notebook = nbformat.v4.new_notebook(cells=cells)
    nbformat.write(notebook, tmp_path / "a.ipynb")
    about = told(tmp_path)
    target = pages.write_page(tmp_path / "a.ipynb", tmp_path / "a.html", title="t", about=about)
    page.goto(target.as_uri(), wait_until="load")
    return page


def saved(page: Page, label: str) -> tuple[str, list[list[str]]]:
    with page.expect_download() as waiting:
        page.get_by_role("button", name=f"Save the table as CSV: {label}", exact=True).click()
    text = Path(waiting.value.path()).read_text(encoding="utf-8-sig")
    return waiting.value.suggested_filename, list(csv.reader(io.StringIO(text)))


def test_numbers_are_saved_as_numbers_and_no_text_as_a_formula(opened: Page) -> None:
    _, (head, *rows) = saved(opened, "Cells")
    assert head == ["text"]
    assert dict(zip(CELLS, [row[0] for row in rows], strict=True)) == CELLS


def test_a_page_turned_dark_prints_as_a_light_one(opened: Page) -> None:
    ink = "getComputedStyle(document.body).color"
    opened.emulate_media(color_scheme="light")
    light = opened.evaluate(ink)
    opened.locator("#theme").click()
    assert opened.evaluate(ink) != light
    opened.emulate_media(media="print", color_scheme="light")
    assert opened.evaluate(ink) == light
    opened.emulate_media(media="print", color_scheme="dark")
    assert opened.evaluate(ink) == light


def test_what_was_set_is_printed_and_folds_again(opened: Page) -> None:
    table = opened.locator(".about table")
    for before in (False, True):
        assert table.is_visible() == before
        opened.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert table.is_visible()
        opened.evaluate("dispatchEvent(new Event('afterprint'))")
        assert table.is_visible() == before
        opened.locator(".about summary").click()


def test_a_frame_keeps_its_width_and_moves_within_the_page(opened: Page) -> None:
    frame = opened.locator("iframe")
    assert frame.evaluate("one => one.offsetWidth") >= 740
    assert opened.evaluate("document.scrollingElement.scrollWidth - innerWidth") <= 0
    around = frame.locator("xpath=..")
    around.evaluate("one => { one.scrollLeft = 9999; }")
    end = around.evaluate("one => one.scrollLeft + one.clientWidth - one.scrollWidth")
    assert abs(end) <= 1


def test_a_table_of_many_columns_wraps_and_hides_nothing_behind_an_edge(opened: Page) -> None:
    around = opened.locator("div[tabindex]").filter(has_text="Wide")
    assert around.evaluate("one => one.scrollWidth - one.clientWidth") <= 1
    assert around.locator("table").evaluate("one => one.scrollWidth - one.clientWidth") <= 1
    assert opened.get_by_role("button", name="Copy the table: Wide").is_visible()


def test_on_a_phone_alone_a_shade_says_that_there_is_more(opened: Page) -> None:
    shade = "one => getComputedStyle(one).backgroundAttachment"
    found = opened.locator(".scroll, .x-scroll, div[style*=overflow][tabindex]").all()
    assert len(found) > 4
    phone = (opened.viewport_size or {})["width"] < 640
    expected = "local, local, scroll, scroll" if phone else "scroll"
    assert {one.evaluate(shade) for one in found} == {expected}
