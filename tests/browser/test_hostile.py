"""Whole runs on hostile inputs: whatever they hold is text, on every page and in every file."""

import csv
import os
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pandas as pd
import pytest
from nbconvert.filters import markdown2html
from playwright.sync_api import Page

from tests import hostile, hostile_inputs
from tests.browser.conftest import TOO_WIDE, Heard, grave_violations
from tests.conftest import ROOT

pytestmark = [pytest.mark.browser, pytest.mark.nightly]

RUNS = [f"news_bias/{hostile_inputs.NAME}", "biasalert/biasalert", "llmbi/llmbi"]
PAGES = [*(f"{run}/index.html" for run in [*RUNS, "biasalert/failing"]), "index.html"]
every_run = pytest.mark.parametrize("run", RUNS)

#: Nothing of this may reach a page: a terminal or a line of text would obey it.
UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]"
)

#: What is on a page that our own code does not put there.
FOREIGN = """() => {
    const all = (chosen) => [...document.querySelectorAll(chosen)];
    const html = (found) => found.map(one => one.outerHTML.slice(0, 200));
    const named = /^(href|src|action|formaction|data|xlink:href)$/;
    return [
        ...html(all('object, embed, base, form:not(#filter), link, script[src]')),
        ...html(all('meta[http-equiv]').slice(1)),
        ...html(all('script').filter(one => !one.textContent.startsWith('"use strict";'))),
        ...html(all('img').filter(
            one => !/^(data:image|[^:]*figures)/.test(one.getAttribute('src')))),
        ...html(all('*').filter(one => [...one.attributes].some(
            own => own.name.startsWith('on')
                || named.test(own.name) && /^\\s*(javascript|vbscript):/i.test(own.value)))),
    ];
}"""
UNFOLD = "document.querySelectorAll('details').forEach(one => { one.open = true; })"


@pytest.mark.parametrize("name", PAGES)
def test_a_page_shows_hostile_texts_as_text(
    page: Page, attacked: Path, name: str, shots: Path
) -> None:
    dialogs: list[str] = []
    page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    heard = Heard(page, attacked / name)
    page.evaluate(UNFOLD)
    assert [frame.evaluate(FOREIGN) for frame in page.frames] == [[]] * len(page.frames)
    assert page.evaluate(TOO_WIDE) <= 0
    assert UNSEEN.findall((attacked / name).read_bytes().decode()) == []
    shown = page.locator("main").inner_text()
    assert UNSEEN.findall(shown) == []
    assert hostile.SCRIPT in shown or hostile.IMAGE in shown or "<img src=x" in shown
    shot = f"hostile-{name.replace('/', '-')}-{page.viewport_size['width']}.png"
    page.screenshot(path=shots / shot)
    assert (dialogs, heard.requests, heard.complaints) == ([], [], [])
    if "llmbi" in name:
        assert grave_violations(page) == []


# --- files --------------------------------------------------------------------------------------


@every_run
def test_no_table_runs_in_a_spreadsheet_and_parquet_is_exact(attacked: Path, run: str) -> None:
    for path in sorted((attacked / run).glob("*/*.csv")):
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.reader(file))
        assert len({len(row) for row in rows}) == 1, path
        cells = {cell for row in rows for cell in row if len(cell) > 1}
        number = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?|-?inf|nan", re.IGNORECASE)
        assert [c for c in cells if c[0] in "=+-@\t\r" and not number.fullmatch(c)] == [], path
        # Marks of direction are part of a text; what steers a terminal is not.
        assert [c for c in cells if re.search(r"[\x00-\x08\x0b-\x1f\x7f]", c)] == [], path
    texts = set[str]()
    for path in (attacked / run / "tables").glob("*.parquet"):
        exact = pd.read_parquet(path)
        for name in exact.select_dtypes(["object", "str"]):
            texts |= {text for text in exact[name].dropna() if isinstance(text, str)}
    assert any(hostile.ANSI in text for text in texts)
    assert any(hostile.FORMULA in text and not text.startswith("'") for text in texts)


@every_run
def test_an_executed_notebook_is_valid_and_its_outputs_are_text(attacked: Path, run: str) -> None:
    node = nbformat.read(attacked / run / "notebook.ipynb", as_version=4)
    nbformat.validate(node)
    data = [o.get("data", {}) for cell in node.cells for o in cell.get("outputs", ())]
    assert len(data) > 5 and not any("application/javascript" in entry for entry in data)
    for entry in data:
        if "text/markdown" in entry:
            hostile.harmless(markdown2html(entry["text/markdown"]))
        if "text/html" in entry and "<img" not in entry["text/html"]:
            # What stands in a frame of its own may run nothing outside it.
            frames = re.findall(r"<iframe[^>]*>", entry["text/html"])
            assert all("sandbox" in frame for frame in frames)
            bare = re.sub(r"<iframe.*?</iframe>", "", entry["text/html"], flags=re.DOTALL)
            hostile.harmless(bare, frame_ignored=True)


def test_terminals_are_told_nothing_unseen(attacked: Path) -> None:
    command = [sys.executable, "-m", "nbbias", "list", "--runs", str(attacked)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True)
    assert done.returncode == 0, done.stderr
    printed = done.stdout.decode()
    assert UNSEEN.findall(printed) == []
    assert "[red]<img src=x onerror=alert(1)> $a$ {{b}} [U+001B][31m[U+202E]" in printed
    if not os.environ.get("NBBIAS_ATTACKED"):
        for name in ("stdout", "stderr"):
            assert UNSEEN.findall((attacked.parent / name).read_text(encoding="utf-8")) == []
