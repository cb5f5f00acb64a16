"""Executed notebooks as HTML pages that need no network."""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import quote

import latex2mathml.converter
import nbformat
from nbconvert import HTMLExporter
from nbconvert.preprocessors import Preprocessor

from nbbias import reading, tables
from nbbias.pages import share
from nbbias.pages.sections import Sections, fold_name
from nbbias.tables import data_path, visible

#: A section's heading; its question, where that stands above it, is what the contents list.
_HEADING = re.compile(
    r'(?:<p class="asks">([^<]*)</p>\s*)?<h2 id="([^"]*)">(.*?)(?:<a class="anchor-link"|</h2>)',
    re.DOTALL,
)
_CAPTION = re.compile(
    r'<section [^>]*id="appendix"|<figure class="drawn"(.*?)<figcaption>', re.DOTALL
)
#: The styles that every printed table brings along; a page has one for all.
_TABLE_STYLE = re.compile(r"<style>\s*#t[0-9a-f]{10} .*?</style>", re.DOTALL)
#: What every cell of such a table says of itself: most of a page would be this.
_TABLE_CELL = re.compile(
    r'<td (?:style="([^"]*)" )?(?:headers="[^"]*" )?class="gt_row gt_(left|right|center)">'
)
#: What holds a view of others, which runs scripts of theirs.
_FRAME = "<iframe "
_CONTENTS = "<!-- contents -->"
#: What was declared leads a page, wherever its notebook computes it.
_CLAIMS = re.compile(r'<section [^>]*class="claims".*?</section>', re.DOTALL)

_DISPLAY = re.compile(r"\$\$(.+?)\$\$", re.DOTALL)
_INLINE = re.compile(r"(?<![\\$])\$([^$\n]+?)(?<!\\)\$")


class Mathematics(Preprocessor):
    """Turn TeX in Markdown cells into MathML, which browsers draw without a script."""

    def preprocess_cell(
        self, cell: nbformat.NotebookNode, resources: dict[str, Any], index: int
    ) -> tuple[nbformat.NotebookNode, dict[str, Any]]:
        if cell.cell_type == "markdown":
            text = _DISPLAY.sub(lambda m: _mathml(m[1], "block"), cell.source)
            cell.source = _INLINE.sub(lambda m: _mathml(m[1], "inline"), text)
        return cell, resources


class Slim(Preprocessor):
    """Leave out what each printed table repeats: a page styles them all."""

    def preprocess_cell(
        self, cell: nbformat.NotebookNode, resources: dict[str, Any], index: int
    ) -> tuple[nbformat.NotebookNode, dict[str, Any]]:
        for output in cell.get("outputs", ()):
            data = output.get("data", {})
            if "text/html" in data:
                data["text/html"] = slim(data["text/html"])
        return cell, resources


def _html(cell: nbformat.NotebookNode) -> list[str]:
    shown = [output.get("data", {}) for output in cell.get("outputs", ())]
    return [data["text/html"] for data in shown if "text/html" in data]


def slim(text: str) -> str:
    """Take out of HTML the styles that printed tables bring along, of tables and of cells."""
    return _TABLE_CELL.sub(_cell, _TABLE_STYLE.sub("", text))


def _cell(found: re.Match[str]) -> str:
    style, side = found[1] or "", found[2]
    names = [] if side == "left" else [f"gt_{side}"]
    if "min-width" in style:
        names.append("wide")
    elif style and side == "left":
        names.append("line")
    return f'<td class="{" ".join(names)}">' if names else "<td>"


def _numbered(body: str) -> str:
    """Number figures in the order in which they stand: 1, 2, …, and A1, A2, … in the appendix."""
    number, of = 0, ""

    def told(found: re.Match[str]) -> str:
        nonlocal number, of
        if found[1] is None:
            number, of = 0, "A"
            return found[0]
        number += 1
        name = f"{of}{number}"
        return (
            f'<figure id="figure-{name}" class="drawn"{found[1]}<figcaption>'
            f'<span class="number">Figure {name}.</span> '
        )

    return _CAPTION.sub(told, body)


def _mathml(tex: str, display: str) -> str:
    found = latex2mathml.converter.convert(tex.strip(), display=display)
    # A long formula scrolls on a phone, so a keyboard must reach it.
    return found.replace("<math ", '<math tabindex="0" ', 1) if display == "block" else found


def own(*scripts: str, images: str = "data:") -> dict[str, str]:
    """Return what every page has of its own: `style`, `script`, and the `policy` that rules it.

    Parameters
    ----------
    *scripts
        What else may run in it, and in its frames.
    images
        Where images may come from.
    """
    templates = data_path("templates/nbbias")
    script = (templates / "page.js").read_text(encoding="utf-8")
    return {
        "style": (templates / "page.css").read_text(encoding="utf-8"),
        "script": script,
        "policy": reading.policy.policy(script, *scripts, images=images),
    }


def write_page(
    notebook: Path, target: Path, *, title: str, about: Mapping[str, Any] | None = None
) -> Path:
    """Write the page of an executed notebook.

    Parameters
    ----------
    notebook
        An executed notebook; a partial one shows what it has, errors included.
    target
        The page, written whole or not at all.
    title
        Shown by the browser.
    about
        What the run rests on, from `pages.about.about`: it stands at the foot, in one block, which
        is all in which two pages of the same run may differ, and how to cite and to repeat it.
    """
    exporter = HTMLExporter(
        template_name="nbbias",
        extra_template_basedirs=[str(data_path("templates"))],
        preprocessors=[Sections, Mathematics, Slim],
        exclude_input_prompt=True,
        exclude_output_prompt=True,
    )
    exporter.register_filter("fold_name", fold_name)
    node = nbformat.read(notebook, as_version=4)
    node.metadata["title"] = title
    framed = any(_FRAME in shown for cell in node.cells for shown in _html(cell))
    scripts = reading.frames.scripts() if framed else ()
    given = {**own(*scripts), "about": about, "trail": share.TRAIL}
    body, resources = exporter.from_notebook_node(node, given)
    items = "".join(
        f'<li><a href="#{quote(unescape(id))}">{asked or text}</a></li>'
        for asked, id, text in _HEADING.findall(body)
    )
    body = body.replace(_CONTENTS, items, 1)
    lead = [*resources["lead"], *_CLAIMS.findall(body)]
    if "</h1>" in body:
        body = _CLAIMS.sub("", body).replace("</h1>", "\n".join(["</h1>", *lead]), 1)
    body = _numbered(body)
    # Whatever a cell printed: nothing on a page is unseen, or turns what stands around it.
    return tables.write(target, visible(reached(body)))


def reached(text: str) -> str:
    """Let a keyboard reach what scrolls on a phone: code, what it printed, and figures."""
    return text.replace("<pre>", '<pre tabindex="0">').replace("<figure ", '<figure tabindex="0" ')
