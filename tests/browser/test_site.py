"""The documentation site: built without a warning, read and searched with no network."""

import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from bs4 import BeautifulSoup
from playwright.sync_api import Browser

from tests.browser.conftest import OWN
from tests.conftest import ROOT


class _Page:
    """What a built page asks for when it is opened, where it leads, and where it can be entered."""

    def __init__(self, text: str) -> None:
        page = BeautifulSoup(text, "html.parser")
        loads = page.select('link[rel~="stylesheet"], link[rel~="icon"], link[rel~="preload"]')
        self.asked = {one["href"] for one in loads} | {one["src"] for one in page.select("[src]")}
        self.leads = {one["href"] for one in page.select("a[href]")}
        self.ids = {one[key] for key in ("id", "name") for one in page.select(f"[{key}]")}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built as `make docs` does, in a copy so that no cache takes part."""
    if find_spec("sphinx") is None:
        if os.environ.get("CI"):
            pytest.fail("the extra `docs` is not installed")
        pytest.skip("the extra `docs` is not installed")
    folder = tmp_path_factory.mktemp("site")
    for name in ("docs", "figures", "tests/golden"):
        left = shutil.ignore_patterns("_build", "_made", "__pycache__")
        shutil.copytree(ROOT / name, folder / name, ignore=left)
    for name in ("README.md", "CHANGELOG.md"):
        shutil.copy(ROOT / name, folder)
    build = [sys.executable, "-m", "sphinx", "-b", "html", "-n", "-q", "-W", "--keep-going"]
    build += ["docs", "docs/_build/html"]
    env = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(build, cwd=folder, capture_output=True, text=True, env=env)
    assert done.returncode == 0, done.stderr[-4000:]
    return folder / "docs/_build/html"


@pytest.mark.slow
def test_built_pages_lead_somewhere_and_ask_for_nothing_outside(site: Path) -> None:
    built = [path for path in site.rglob("*.html") if "_static" not in path.parts]
    pages = {path: _Page(path.read_text(encoding="utf-8")) for path in built}
    assert len(pages) > 40
    lost = set()
    for path, page in pages.items():
        for target in page.asked | page.leads:
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                if target in page.asked and parts.scheme != "data":
                    lost.add(f"{path.relative_to(site)} asks for {target}")
                continue
            to = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            place = unquote(parts.fragment)
            known = pages[to].ids if to in pages else {place}
            if not to.exists() or (place and place not in known):
                lost.add(f"{path.relative_to(site)} leads to {target}")
    assert not lost


@pytest.mark.browser
def test_the_site_is_read_and_searched_from_a_folder_with_the_network_cut(
    site: Path, browser: Browser
) -> None:
    context = browser.new_context(offline=True, viewport={"width": 390, "height": 800})
    page = context.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    for name in ("index.html", "start.html", "compared.html", "search.html?q=Wasserstein"):
        page.goto(f"{site.as_uri()}/{name}")
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, name
    page.wait_for_selector("#search-results li p.context")
    for query, first in {
        "paired t-test": "measures/inference.html",
        "own texts": "howto/own-texts.html",
        "load csv": "howto/own-texts.html",
        "StereoSet": "howto/own-texts.html",
        "power": "howto/plan.html",
        "refusal": "measures/biased_prompts.html",
        "llmbi.measure": "_made/api/llmbi.html",
    }.items():
        page.goto(f"{site.as_uri()}/search.html?q={query}")
        leads = page.locator("#search-results li a").first.get_attribute("href")
        assert str(leads).partition("#")[0] == first, query
    assert not [url for url in asked if not url.startswith(OWN)]
    context.close()
