"""Executed notebooks as HTML pages that need no network."""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import unescape
from itertools import groupby
from pathlib import Path
from typing import Any
from urllib.parse import quote

import latex2mathml.converter
import nbformat
from nbconvert import HTMLExporter
from nbconvert.preprocessors import Preprocessor

from nbbias import reading, tables
from nbbias.tables import data_path, escape, visible

_HEADING = re.compile(r'<h2 id="([^"]*)">(.*?)<a class="anchor-link"', re.DOTALL)
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
_TITLE = re.compile(r'class="gt_heading gt_title[^>]*>(.*?)</td>', re.DOTALL)

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


class Fold(Preprocessor):
    """Fold what only a reviewer looks up: cells tagged ``appendix``, a run of them in one fold.

    The fold is named after the tables in it, or after the words that it begins with.
    """

    def preprocess(
        self, nb: nbformat.NotebookNode, resources: dict[str, Any]
    ) -> tuple[nbformat.NotebookNode, dict[str, Any]]:
        tagged = ["appendix" in cell.metadata.get("tags", ()) for cell in nb.cells]
        for folded, numbered in groupby(range(len(nb.cells)), key=tagged.__getitem__):
            if folded:
                run = [nb.cells[number] for number in numbered]
                run[0].metadata["fold"] = _named(run)
                run[-1].metadata["unfold"] = True
        return nb, resources


def _named(cells: list[nbformat.NotebookNode]) -> str:
    shown = [html for cell in cells for html in _html(cell)]
    titles = [found[1] for html in shown for found in _TITLE.finditer(html)]
    if titles:
        return unescape("; ".join(titles))
    words = next((cell.source for cell in cells if cell.cell_type == "markdown"), "more")
    return escape.without_markdown(words.lstrip("# ").splitlines()[0]).split(". ")[0].rstrip(".")


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
        What the run rests on, from `pages.about.about`: it stands in one block at the head, which
        is all in which two pages of the same run may differ; how to cite and to repeat it stands
        at the foot.
    """
    exporter = HTMLExporter(
        template_name="nbbias", extra_template_basedirs=[str(data_path("templates"))],
        preprocessors=[Mathematics, Slim, Fold], exclude_input_prompt=True,
        exclude_output_prompt=True,
    )  # fmt: skip
    node = nbformat.read(notebook, as_version=4)
    node.metadata["title"] = title
    framed = any(_FRAME in shown for cell in node.cells for shown in _html(cell))
    scripts = reading.frames.scripts() if framed else ()
    body, _ = exporter.from_notebook_node(node, {**own(*scripts), "about": about})
    found = _HEADING.findall(body)
    items = "".join(f'<li><a href="#{quote(unescape(id))}">{text}</a></li>' for id, text in found)
    body = body.replace(_CONTENTS, items, 1)
    lead = _CLAIMS.findall(body)
    if about and about["finding"]:
        lead.insert(0, f'<p class="finding">{escape.attribute(about["finding"])}</p>')
    if "</h1>" in body:
        body = _CLAIMS.sub("", body).replace("</h1>", "\n".join(["</h1>", *lead]), 1)
    # Code, what it printed and figures scroll on a phone, so a keyboard must reach them.
    body = body.replace("<pre>", '<pre tabindex="0">').replace("<figure ", '<figure tabindex="0" ')
    # Whatever a cell printed: nothing on a page is unseen, or turns what stands around it.
    return tables.write(target, visible(body))
