"""Whole runs on hostile inputs: whatever they hold is text, on every page and in every file."""

from __future__ import annotations

import csv
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import nbformat
import pandas as pd
import pytest
from nbconvert.filters import markdown2html
from playwright.sync_api import Page

from nbbias.pages import compare
from tests import hostile, hostile_inputs
from tests.browser.conftest import TOO_WIDE, Heard, grave_violations
from tests.conftest import ROOT

pytestmark = [pytest.mark.browser, pytest.mark.nightly]

RUNS = {
    "news": f"news_bias/{hostile_inputs.NAME}",
    "biased prompts": "biased_prompts/biased",
    "cogs": "cogs/cogs",
    "biasalert": "biasalert/biasalert",
    "llmbi": "llmbi/llmbi",
    "llmbi again": "llmbi/again",
}
PAGES = {
    **{name: f"{folder}/index.html" for name, folder in RUNS.items()},
    "failed": "news_bias/failing/index.html",
    "list": "index.html",
}
every_run = pytest.mark.parametrize("run", RUNS.values(), ids=list(RUNS))

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
        ...html(all('style').filter(one => one.textContent.trim().startsWith('*{'))),
        ...html(all('*').filter(one => [...one.attributes].some(
            own => own.name.startsWith('on')
                || named.test(own.name) && /^\\s*(javascript|vbscript):/i.test(own.value)))),
    ];
}"""
UNDRAWN = "[...document.images].filter(one => one.complete && one.naturalWidth === 0).length"
UNFOLD = """() => {
    const folds = [...document.querySelectorAll('details:not([open]) > summary')];
    folds.forEach(one => one.click());
    return [folds.length, document.querySelectorAll('details:not([open])').length];
}"""


@pytest.mark.parametrize("name", PAGES)
def test_a_page_shows_hostile_texts_as_text(
    page: Page, attacked: Path, name: str, shots: Path
) -> None:
    path = attacked / PAGES[name]
    heard, dialogs = Heard(page), []
    page.on("dialog", lambda one: (dialogs.append(one.message), one.dismiss()))
    page.goto(path.as_uri(), wait_until="load")
    clicked, closed = page.evaluate(UNFOLD)
    assert closed == 0
    assert clicked or "/" not in PAGES[name]
    assert [frame.evaluate(FOREIGN) for frame in page.frames] == [[]] * len(page.frames)
    assert page.evaluate(UNDRAWN) == 0
    assert page.evaluate(TOO_WIDE) <= 0
    assert UNSEEN.findall(path.read_bytes().decode()) == []
    shown = page.locator("main").inner_text()
    assert UNSEEN.findall(shown) == []
    assert hostile.SCRIPT in shown or hostile.IMAGE in shown or "<img src=x" in shown
    width = page.viewport_size["width"] if page.viewport_size else 0
    page.screenshot(path=shots / f"hostile-{name.replace(' ', '-')}-{width}.png")
    assert dialogs == []
    assert heard.requests == []
    assert heard.complaints == []


# --- files --------------------------------------------------------------------------------------


@every_run
def test_no_table_runs_in_a_spreadsheet(attacked: Path, run: str) -> None:
    found = sorted((attacked / run).glob("*/*.csv"))
    assert found
    for path in found:
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.reader(file))
        assert len({len(row) for row in rows}) == 1, path
        cells = {cell for row in rows for cell in row if len(cell) > 1}
        assert [c for c in cells if c[0] in "=+-@\t\r" and not _is_number(c)] == [], path
        # Marks of direction are part of a text; what steers a terminal is not.
        assert [c for c in cells if re.search(r"[\x00-\x08\x0b-\x1f\x7f]", c)] == [], path


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


@every_run
def test_numbers_are_left_alone_and_parquet_is_exact(attacked: Path, run: str) -> None:
    tables = sorted((attacked / run / "tables").glob("*.parquet"))
    assert tables
    texts = set[str]()
    for path in tables:
        exact, twin = pd.read_parquet(path), pd.read_csv(path.with_suffix(".csv"))
        assert list(exact.columns) == list(twin.columns)
        assert len(exact) == len(twin)
        for name in exact.select_dtypes("number"):
            read = pd.to_numeric(twin[name]).astype(float)
            pd.testing.assert_series_equal(exact[name].astype(float), read, check_names=False)
        for name in exact.select_dtypes(["object", "str"]):
            texts |= {one for one in exact[name].dropna() if isinstance(one, str)}
    assert any(hostile.ANSI in one for one in texts)
    assert any(hostile.FORMULA in one and not one.startswith("'") for one in texts)


#: What our escapes are made of, and what a booktabs table is made of.
_ESCAPED = re.compile(
    r"\\text(?:backslash|asciitilde|asciicircum|less|greater|bar|quotedbl)\{\}|\\[{}_%&#$]"
    r"|\{\[\}|\{\]\}|\{\*\}|\$-\$"
)


@pytest.mark.parametrize("run", [RUNS["news"], RUNS["biased prompts"]], ids=["news", "prompts"])
def test_latex_reads_no_command_in_a_text(attacked: Path, run: str) -> None:
    found = sorted((attacked / run / "tables").glob("*.tex"))
    assert found
    for path in found:
        text = path.read_text(encoding="utf-8")
        assert UNSEEN.findall(text) == []
        inside = text.split("\\toprule\n")[1].split("\\bottomrule")[0].replace("\\midrule\n", "")
        lines = [_ESCAPED.sub("", line) for line in inside.splitlines()]
        assert "href" in inside
        assert all(line.endswith(r" \\") for line in lines)
        rest = [line.removesuffix(r"\\") for line in lines]
        assert not any(set(line) & set(r"\{}$%#_^~\"<>|") for line in rest)
        assert len({line.count("&") for line in rest}) == 1
        assert re.fullmatch(
            r"[^\\]*", _ESCAPED.sub("", text.split(r"\caption{")[1].split("}\n")[0])
        )


@every_run
def test_figures_are_whole_and_hold_no_element_of_a_text(attacked: Path, run: str) -> None:
    figures = sorted((attacked / run / "figures").glob("*.svg"))
    assert figures
    drawn = {"svg", "metadata", "RDF", "Work", "type", "format", "creator", "Agent", "title"}
    drawn |= {"defs", "style", "g", "path", "text", "use", "clipPath", "rect", "linearGradient"}
    drawn |= {"stop", "image"}
    for path in figures:
        text = path.read_text(encoding="utf-8")
        assert UNSEEN.findall(text) == []
        tags = {one.tag.rsplit("}", 1)[-1] for one in ElementTree.fromstring(text).iter()}
        assert tags <= drawn, path
        assert path.with_suffix(".pdf").read_bytes().startswith(b"%PDF")


@every_run
def test_an_executed_notebook_is_valid_and_its_outputs_are_text(attacked: Path, run: str) -> None:
    path = attacked / run / "notebook.ipynb"
    node = nbformat.read(path, as_version=4)
    nbformat.validate(node)
    shown = 0
    for cell in node.cells:
        for output in cell.get("outputs", ()):
            data = output.get("data", {})
            if "text/markdown" in data:
                hostile.harmless(markdown2html(data["text/markdown"]))
                shown += 1
            if "text/html" in data and "<img" not in data["text/html"]:
                hostile.harmless(_without_frames(data["text/html"]), frame_ignored=True)
                shown += 1
            assert "application/javascript" not in data
            assert output.output_type != "stream" or not UNSEEN.search(output.text), output
    assert shown > 5


def _without_frames(html: str) -> str:
    """Leave out what stands in a frame of its own, which may run nothing outside it."""
    assert all("sandbox" in frame for frame in re.findall(r"<iframe[^>]*>", html))
    return re.sub(r"<iframe.*?</iframe>", "", html, flags=re.DOTALL)


@pytest.mark.parametrize("run", [*RUNS.values(), "news_bias/failing"], ids=[*RUNS, "failed"])
def test_a_manifest_is_whole(attacked: Path, run: str) -> None:
    described = json.loads((attacked / run / "manifest.json").read_text(encoding="utf-8"))
    assert described["status"] == ("failed" if run.endswith("failing") else "ok")
    assert f"{described['study']}/{described['run']}" == run


def test_terminals_are_told_nothing_unseen(attacked: Path) -> None:
    command = [sys.executable, "-m", "nbbias", "list", "--out", str(attacked)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True)
    assert done.returncode == 0, done.stderr
    told = done.stdout.decode()
    assert UNSEEN.findall(told) == []
    assert "[red]<img src=x onerror=alert(1)> $a$ {{b}} [U+001B][31m[U+202E]" in told
    if not os.environ.get("NBBIAS_ATTACKED"):
        for name in ("stdout", "stderr"):
            assert UNSEEN.findall((attacked.parent / name).read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("name", ["llmbi", "failed", "list"])
def test_a_page_of_hostile_texts_is_accessible(page: Page, attacked: Path, name: str) -> None:
    page.goto((attacked / PAGES[name]).as_uri(), wait_until="load")
    page.evaluate(UNFOLD)
    assert grave_violations(page) == []


def test_hostile_runs_are_compared_as_text(page: Page, attacked: Path, tmp_path: Path) -> None:
    folders = [attacked / RUNS[name] for name in ("llmbi", "llmbi again")]
    target = compare.write(folders, tmp_path / "compare.html")
    heard, dialogs = Heard(page), []
    page.on("dialog", lambda one: (dialogs.append(one.message), one.dismiss()))
    page.goto(target.as_uri(), wait_until="load")
    assert page.evaluate(FOREIGN) == []
    assert UNSEEN.findall(page.locator("main").inner_text()) == []
    assert (dialogs, heard.requests, heard.complaints) == ([], [], [])
