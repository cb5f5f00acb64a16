"""JupyterLab with a kernel: a notebook is opened and run, and a live explorer is operated."""

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from nbbias.running import kernel
from tests.conftest import ROOT

pytestmark = [pytest.mark.browser, pytest.mark.nightly]

_PATIENCE = 120_000


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that JupyterLab serves."""
    return tmp_path_factory.mktemp("lab")


@pytest.fixture(scope="module")
def lab(folder: Path) -> Iterator[str]:
    """The address of a JupyterLab on loopback, on a copy of the notebooks."""
    shutil.copytree(ROOT / "notebooks", folder / "notebooks")
    shutil.copytree(ROOT / "params", folder / "params")
    kernel.install()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = {"ip": "127.0.0.1", "port": port, "open_browser": False, "root_dir": folder}
    options |= {"allow_root": True, "log_level": "ERROR"}
    command = [sys.executable, *kernel.LAB, "--IdentityProvider.token="]
    command += [f"--ServerApp.{name}={value}" for name, value in options.items()]
    server = subprocess.Popen(
        command, cwd=folder, stdout=subprocess.DEVNULL, env=os.environ | _own_data(folder)
    )
    address = f"http://127.0.0.1:{port}"
    try:
        _await(f"{address}/api")
        yield address
    finally:
        server.terminate()
        server.wait(timeout=30)


def _own_data(folder: Path) -> dict[str, str]:
    """Keep what is trusted and open here out of the user's own lists of it."""
    workspaces = str(folder / "workspaces")
    return {"JUPYTER_DATA_DIR": str(folder / "data"), "JUPYTERLAB_WORKSPACES_DIR": workspaces}


def _await(address: str) -> None:
    for _ in range(180):
        try:
            urllib.request.urlopen(address, timeout=5)
        except OSError:
            time.sleep(0.5)
        else:
            return
    pytest.fail("JupyterLab did not start")


@pytest.fixture
def window(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1400, "height": 1000})
    page = context.new_page()
    page.set_default_timeout(_PATIENCE)
    yield page
    context.close()


def test_a_notebook_runs_and_its_explorer_answers(lab: str, window: Page, shots: Path) -> None:
    window.goto(f"{lab}/lab/tree/notebooks/news_bias.ipynb")
    # Asked to run before its kernel is there, JupyterLab asks which kernel to take.
    window.get_by_text("nbbias | Idle").wait_for()
    assert window.locator(".jp-Notification-Toast, .Toastify__toast").count() == 0
    window.get_by_role("menuitem", name="Run", exact=True).click()
    window.locator('[data-command="runmenu:run-all"]').first.click()
    window.get_by_text("nbbias | Busy").wait_for()
    window.get_by_text("nbbias | Idle").wait_for(timeout=600_000)  # a busy kernel answers no widget
    choosers = window.locator(".jp-OutputArea .jupyter-widgets select")
    window.evaluate(f"{_PANEL}.scrollTop = 0")
    while not choosers.count() and window.evaluate(_ON):  # cells out of sight are not in the page
        window.wait_for_timeout(300)
    window.wait_for_timeout(1000)  # cells above, now drawn, move those below
    chooser = choosers.filter(has=window.locator("option:nth-child(2)")).first
    chooser.scroll_into_view_if_needed()
    shown = chooser.locator("xpath=ancestor::*[contains(@class, 'jp-OutputArea-output')][1]")
    expect(shown).to_contain_text("Choose a pair")
    chooser.select_option(index=1)
    expect(shown).to_contain_text("Human", timeout=_PATIENCE)
    window.screenshot(path=shots / "lab.png")
    assert window.locator(".jp-RenderedText[data-mime-type*=stderr]").count() == 0


#: What a hostile text would have to become: an element, an address, mathematics.
_BECOME = """() => ({
    images: document.querySelectorAll('img[src="x"], [onerror], [onclick]').length,
    addresses: [...document.querySelectorAll('.jp-OutputArea [href]')]
        .filter(one => /^\\s*javascript:/i.test(one.getAttribute('href'))).length,
    mathematics: document.querySelectorAll('.jp-OutputArea mjx-container').length,
    unseen: /[\\0\\x1b\\u202a-\\u202e\\u2066-\\u2069]/
        .test(document.querySelector('.jp-Notebook').innerText),
    text: document.querySelector('.jp-Notebook').innerText.includes('<script>alert'),
})"""
#: What scrolls; the tab of another notebook, which JupyterLab may restore, has no height.
_PANEL = "[...document.querySelectorAll('.jp-WindowedPanel-outer')].find(one => one.offsetHeight)"
_ON = f"""() => {{
    const panel = {_PANEL};
    const before = panel.scrollTop;
    panel.scrollBy(0, 600);
    return panel.scrollTop > before;
}}"""


def test_a_trusted_hostile_run_is_text_in_jupyterlab(
    lab: str, folder: Path, window: Page, shots: Path, attacked: Path
) -> None:
    copy = folder / "trusted.ipynb"
    shutil.copyfile(attacked / "llmbi" / "llmbi" / "notebook.ipynb", copy)
    command = [sys.executable, "-m", "jupyter", "trust", str(copy)]
    subprocess.run(command, check=True, capture_output=True, env=os.environ | _own_data(folder))
    dialogs: list[str] = []
    window.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    window.goto(f"{lab}/doc/tree/{copy.name}")
    window.locator(".jp-OutputArea-output table").first.wait_for()
    # Cells are drawn as they come into view, and leave when they are out of it.
    views = []
    while window.evaluate(_ON):
        window.wait_for_timeout(400)  # mathematics is typeset late
        views.append(window.evaluate(_BECOME))
    window.screenshot(path=shots / "lab-hostile.png")
    assert dialogs == [] and len(views) > 10
    read = [view.pop("text") for view in views]
    assert any(read)
    harmless = {"images": 0, "addresses": 0, "mathematics": 0, "unseen": False}
    assert [view for view in views if view != harmless] == []
