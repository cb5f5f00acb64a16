"""Pages that lead: what the first screen says, what the body costs, what the appendix hides."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Page

from nbbias.studies import STUDIES

pytestmark = pytest.mark.browser

#: A reader's screen; a page is read in ten minutes where its body takes no more of them than this.
WIDE, HIGH, SCREENS, TABLES = 1280, 800, 12, 12

#: Names of columns and statistics, which no reader should have to decipher.
INTERNAL = re.compile(r"\b[a-z]+(?:_[a-z]+)+\b")

SEEN = "one => one.checkVisibility({contentVisibilityAuto: true, visibilityProperty: true})"


def opened(page: Page, runs: Path, stem: str) -> Page:
    page.set_viewport_size({"width": WIDE, "height": HIGH})
    page.goto((runs / stem / "sample" / "index.html").as_uri())
    return page


def bottom(page: Page, selector: str) -> float:
    box = page.locator(selector).first.bounding_box()
    assert box is not None
    return float(box["y"] + box["height"])


@pytest.mark.ci
@pytest.mark.parametrize("stem", STUDIES)
def test_the_first_screen_answers(page: Page, runs: Path, stem: str) -> None:
    opened(page, runs, stem)
    found = json.loads((runs / stem / "sample" / "finding.json").read_text(encoding="utf-8"))
    assert page.locator("h1 + .lead .plain").all_inner_texts() == found["plain"]
    assert len(found["plain"]) == 2 and found["technical"]
    assert found["texts"] == STUDIES[stem].sample._asdict()
    assert found["texts"]["told"] in page.locator(".lead .texts").inner_text()
    numbers = page.locator(".numbers li").all_inner_texts()
    assert 1 <= len(numbers) <= 3
    assert all(" CI " in one and "N = " in one for one in numbers)
    assert set(found["card"]) == {"measures", "groups", "N", "instrument", "not"}
    assert bottom(page, ".lead .key img") <= HIGH
    assert bottom(page, ".lead .numbers") <= HIGH


@pytest.mark.ci
@pytest.mark.parametrize("stem", STUDIES)
def test_the_body_is_read_in_ten_minutes(page: Page, runs: Path, stem: str) -> None:
    opened(page, runs, stem)
    end = page.evaluate(
        "document.querySelector('#appendix').getBoundingClientRect().top + window.scrollY"
    )
    assert end <= SCREENS * HIGH
    tables = f"[...document.querySelectorAll('main table')].filter({SEEN}).length"
    assert page.evaluate(tables) <= TABLES


@pytest.mark.ci
@pytest.mark.parametrize("stem", STUDIES)
def test_no_reader_meets_the_name_of_a_column(page: Page, runs: Path, stem: str) -> None:
    opened(page, runs, stem)
    text = page.evaluate("""() => {
        const told = document.querySelector('main').cloneNode(true);
        told.querySelectorAll('code, pre, footer, #appendix, details.method, .texts, .bar')
            .forEach(one => one.remove());
        return told.innerText;
    }""")
    assert INTERNAL.findall(text) == []


@pytest.mark.ci
@pytest.mark.parametrize("stem", STUDIES)
def test_every_figure_can_be_referred_to(page: Page, runs: Path, stem: str) -> None:
    opened(page, runs, stem)
    figures = page.locator("figure.drawn")
    captions = figures.locator("figcaption")
    assert captions.count() == figures.count() > 0
    shown = captions.locator(".number").all_text_contents()
    body = [one for one in shown if "A" not in one]
    assert body == [f"Figure {n}." for n in range(1, len(body) + 1)]
    assert shown[len(body) :] == [f"Figure A{n}." for n in range(1, len(shown) - len(body) + 1)]
    assert all(captions.locator("b").all_text_contents())


def test_a_fold_of_the_appendix_opens_by_button_link_and_search(page: Page, runs: Path) -> None:
    opened(page, runs, "llmbi")
    fold, button = page.locator(".folded").first, page.locator("h3.fold button").first
    assert (
        fold.get_attribute("hidden") == "until-found"
        and not fold.locator("table").first.is_visible()
    )
    button.click()
    assert (
        fold.locator("table").first.is_visible() and button.get_attribute("aria-expanded") == "true"
    )
    button.click()
    assert fold.get_attribute("hidden") == "until-found"
    page.locator("p.more a").first.click()
    assert fold.locator("table").first.is_visible()
    button.click()
    fold.dispatch_event("beforematch")  # what a browser sends before it shows what it found
    assert button.get_attribute("aria-expanded") == "true"


def test_a_link_into_a_fold_opens_it(page: Page, runs: Path) -> None:
    opened(page, runs, "llmbi")
    page.goto(page.url + "#a1")
    assert page.locator("#a1-body td").first.is_visible()


@pytest.mark.parametrize("stem", STUDIES)
def test_a_page_on_other_texts_says_nothing_of_simulated_ones(attacked: Path, stem: str) -> None:
    pages = [
        one / "index.html"
        for one in sorted((attacked / stem).glob("*"))
        if (one / "finding.json").is_file()
    ]
    for path in pages:
        found = json.loads((path.parent / "finding.json").read_text(encoding="utf-8"))
        assert found["texts"]["kind"] == "own"
        told = re.sub(r"<[^>]*>", " ", path.read_text(encoding="utf-8"))
        assert not re.search(
            r"simulated from templates|was planted|registers? .{0,30}by hand", told
        )
