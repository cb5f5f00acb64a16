"""A real browser for the pages: Debian's Chromium, driven by playwright, with no network."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from filelock import FileLock
from playwright.sync_api import Browser, Page, sync_playwright

from tests import hostile_inputs
from tests.conftest import ROOT

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")

#: Wider than the window, a page cannot be read on a phone without moving it about.
TOO_WIDE = "document.scrollingElement.scrollWidth - window.innerWidth"

#: What a page may ask for: nothing but itself.
OWN = ("file:", "data:", "blob:", "about:")


# Not for the session: while it is open, its loop lets no other test of the worker run one.
@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A browser; without Chromium tests are skipped, but fail in CI."""
    if CHROMIUM is None:
        message = "no chromium here: install it to test pages in a browser"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield launched
        launched.close()


@pytest.fixture(scope="session")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every study's executed sample: those named by NBBIAS_PAGES, or made once for all workers."""
    return _made(tmp_path_factory, "pages", lambda _: ["studies"])


@pytest.fixture(scope="session")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs on hostile inputs: those named by NBBIAS_ATTACKED, or made once for all workers.

    Beside them stands what the command said: ``../stdout`` and ``../stderr``.
    """
    # One of them is made to fail, so that an error's page is seen too.
    return _made(
        tmp_path_factory, "attacked", lambda at: ["run", *hostile_inputs.write(at).values()], 1
    )


def _made(
    factory: pytest.TempPathFactory,
    name: str,
    command: Callable[[Path], Sequence[str | Path]],
    status: int = 0,
) -> Path:
    """Run nbbias in a folder that all workers share: the first one does, the others wait."""
    if named := os.environ.get(f"NBBIAS_{name.upper()}"):
        return Path(named).absolute()
    shared = factory.getbasetemp().parent / name
    shared.mkdir(exist_ok=True)
    with FileLock(shared / "lock"):
        if not (shared / "runs").is_dir():
            line = [sys.executable, "-m", "nbbias", *command(shared / "inputs"), "--jobs", "2"]
            line += ["--out", shared / "runs"]
            done = subprocess.run(line, cwd=ROOT, capture_output=True, text=True)
            (shared / "stdout").write_text(done.stdout)
            (shared / "stderr").write_text(done.stderr)
            assert done.returncode == status, done.stderr
    return shared / "runs"


@pytest.fixture
def shots() -> Path:
    """Where screenshots are kept for people to look at."""
    folder = Path(os.environ.get("NBBIAS_SHOTS", ROOT / "runs" / "screenshots"))
    folder.mkdir(parents=True, exist_ok=True)
    return folder


class Heard:
    """A page that is opened: what it asked for and complained about."""

    def __init__(self, page: Page, path: Path) -> None:
        self.requests, self.complaints = list[str](), list[str]()
        page.on("request", lambda one: one.url.startswith(OWN) or self.requests.append(one.url))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("console", lambda said: said.type == "error" and self.complaints.append(said.text))
        page.goto(path.as_uri(), wait_until="load")


def grave_violations(page: Page) -> list[tuple[str, list[str]]]:
    """Return what axe finds that keeps people from reading a page."""
    return [
        (one["id"], [node["html"][:160] for node in one["nodes"][:3]])
        for one in Axe().run(page).response["violations"]
        if one["impact"] in {"serious", "critical"}
    ]


@pytest.fixture(params=[(1280, 900), (390, 844)], ids=["desktop", "phone"])
def page(browser: Browser, request: pytest.FixtureRequest) -> Iterator[Page]:
    """A page with the network cut, at desktop and at phone width."""
    width, height = request.param
    size = {"width": width, "height": height}
    context = browser.new_context(viewport=size, offline=True, reduced_motion="reduce")
    opened = context.new_page()
    opened.set_default_timeout(60_000)
    yield opened
    context.close()
