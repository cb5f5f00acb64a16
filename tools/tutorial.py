"""Take the tutorial's pictures, docs/tutorial/{page,parts,phone}.png, from the page it leads to.

cd docs/tutorial && nbbias run news_bias originals.csv generations.csv --name first
python tools/tutorial.py docs/tutorial/runs/news_bias/first/index.html
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

FOLDER = Path(__file__).parents[1] / "docs/tutorial"
#: What the numbers of the picture stand at, in the order of the tutorial's list.
PARTS = (
    *(".texts", ".lead > p.plain", ".lead > ul", ".key figure"),
    *(".key .numbers", ".card", ".lead > details"),
)
_NUMBER = """([selector, number]) => {
  const place = document.querySelector(selector).getBoundingClientRect();
  const mark = document.body.appendChild(document.createElement("b"));
  mark.textContent = number;
  mark.style = `position:absolute;width:24px;height:24px;border-radius:12px;font:700 15px/24px
    sans-serif;text-align:center;background:#0b5d66;color:#fff;
    left:${place.left - 27}px;top:${place.top + scrollY + 2}px`;
}"""


def main(page: Path) -> None:
    """Write the first screen of a page, without and with numbers at its parts."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"))
        tab = browser.new_page(viewport={"width": 1012, "height": 900})
        tab.goto(page.resolve().as_uri())
        first, last = (tab.locator(place).bounding_box() for place in ("h1", ".lead > details"))
        assert first and last, "the page has no first screen"
        top = first["y"]
        clip = {"x": 0, "y": top, "width": 1012, "height": last["y"] + last["height"] + 20 - top}
        tab.screenshot(path=FOLDER / "page.png", clip=clip)
        for number, selector in enumerate(PARTS, start=1):
            tab.evaluate(_NUMBER, [selector, number])
        tab.screenshot(path=FOLDER / "parts.png", clip=clip)
        tab.set_viewport_size({"width": 372, "height": 900})
        tab.reload()
        tab.add_style_tag(content="figure.drawn::before { display: none }")  # "Tap to enlarge"
        first, last = (tab.locator(place).bounding_box() for place in ("h1", ".key figure img"))
        assert first and last, "the page has no figure"
        top, bottom = first["y"], last["y"] + last["height"] + 10
        clip = {"x": 0, "y": top, "width": 372, "height": bottom - top}
        tab.screenshot(path=FOLDER / "phone.png", clip=clip, full_page=True)
        browser.close()
    for name in ("page", "parts", "phone"):  # half the size
        with Image.open(FOLDER / f"{name}.png") as picture:
            picture.quantize(128, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).save(
                FOLDER / f"{name}.png", optimize=True
            )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
