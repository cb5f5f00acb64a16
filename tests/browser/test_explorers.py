"""Explorers of a page that has no kernel, by click: folds, tabs and choices answer without one."""

from __future__ import annotations

from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Locator, Page

from tests.browser.conftest import Heard

pytestmark = pytest.mark.browser

APPENDIX = "document.querySelectorAll('h3.fold button').forEach(one => one.click())"
UNFOLD = "document.querySelectorAll('details:not([open]) > summary').forEach(one => one.click())"


@pytest.fixture
def news(page: Page, runs: Path) -> Page:
    page.goto((runs / "news_bias/sample/index.html").as_uri(), wait_until="load")
    page.evaluate(APPENDIX)
    return page


def explorer(page: Page, title: str) -> Locator:
    found = page.locator(".nbx").filter(has=page.locator(".x-title", has_text=title))
    assert found.count() == 1
    return found


def shot(page: Page, shots: Path, name: str) -> None:
    width = page.viewport_size["width"] if page.viewport_size else 0
    page.screenshot(path=shots / f"explorer-{name}-{width}.png")


def test_a_topic_unfolds_and_another_weight_shows_other_words(news: Page, shots: Path) -> None:
    heard = Heard(news)
    fold = explorer(news, "Look into a topic").locator(".x-list > details").first
    words = fold.locator(".x-tabs > .x-panel > p")
    assert not words.first.is_visible()
    fold.locator("summary").first.click()
    (chosen,) = [one for one in words.all() if one.is_visible()]
    before = chosen.inner_text()
    labels = fold.locator(".x-tabs > label")
    other = labels.filter(has_text="λ = 0").first
    other.click()
    (chosen,) = [one for one in words.all() if one.is_visible()]
    assert chosen.inner_text() != before
    assert len(chosen.inner_text().split(", ")) == len(before.split(", "))
    shot(news, shots, "topics")
    assert heard.complaints == []


def test_a_choice_of_group_leaves_its_topics_alone(news: Page) -> None:
    found = explorer(news, "Look into a topic")
    folds = found.locator(".x-list > details")
    everything = sum(one.is_visible() for one in folds.all())
    assert everything == folds.count()
    found.locator('label[for^="x-topics-"]').nth(1).click()
    left = [one for one in folds.all() if one.is_visible()]
    assert 0 < len(left) < everything


def test_a_word_is_seen_in_its_contexts(news: Page, shots: Path) -> None:
    found = explorer(news, "Look into a word list")
    group = found.locator(".x-panel:visible > details").first
    group.locator("summary").first.click()
    word = group.locator("details").filter(has_text="in context").first
    assert not word.locator("table.x-context").is_visible()
    word.locator("summary").click()
    context = word.locator("table.x-context")
    assert context.is_visible()
    named = word.locator("summary").inner_text().split("”")[0].strip("▸▾ “")
    marked = context.locator("mark").all_inner_texts()
    assert marked
    assert all(one.lower() == named.lower() for one in marked)
    shot(news, shots, "words")


def test_a_pair_shows_both_texts_and_another_model_its_own(news: Page, shots: Path) -> None:
    found = explorer(news, "Read the pairs")
    fold = found.locator(".x-panel:visible > details").first
    fold.locator("summary").click()
    sides = fold.locator(".x-sides > div")
    assert sides.count() == 2
    assert all(one.is_visible() and len(one.inner_text()) > 200 for one in sides.all())
    assert sides.locator("mark").count() > 0
    shot(news, shots, "pairs")
    first = found.locator(".x-panel:visible > details > summary").all_inner_texts()
    found.locator(".x-tabs > label").nth(1).click()
    assert found.locator(".x-panel:visible > details > summary").all_inner_texts() != first


def test_a_page_with_every_fold_open_fits(news: Page) -> None:
    news.evaluate(UNFOLD)
    assert news.locator("details:not([open])").count() == 0
    assert news.evaluate("document.scrollingElement.scrollWidth - window.innerWidth") <= 0


@pytest.mark.parametrize("number", range(4))
def test_an_explorer_with_every_fold_open_is_accessible(
    browser: Browser, runs: Path, number: int
) -> None:
    # At one width and one explorer at a time: axe looks at some thousand elements of each.
    page = browser.new_context(viewport={"width": 1280, "height": 900}, offline=True).new_page()
    page.set_default_timeout(200_000)
    page.goto((runs / "news_bias/sample/index.html").as_uri(), wait_until="load")
    page.evaluate(APPENDIX)
    page.evaluate(UNFOLD)
    page.evaluate("document.querySelectorAll('.nbx').forEach((one, at) => one.id = `nbx${at}`)")
    assert page.locator(".nbx").count() == 4
    found = Axe().run(page, context=f"#nbx{number}").response["violations"]
    page.context.close()
    assert [
        (one["id"], [node["html"][:160] for node in one["nodes"][:3]])
        for one in found
        if one["impact"] in {"serious", "critical"}
    ] == []
