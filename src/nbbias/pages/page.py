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


def _html(cell: nbformat.NotebookNode) -> list[str]:
    outputs = [output.get("data", {}) for output in cell.get("outputs", ())]
    return [data["text/html"] for data in outputs if "text/html" in data]


def _number_figures(body: str) -> str:
    """Number figures in the order in which they stand: 1, 2, …, and A1, A2, … in the appendix."""
    number, prefix = 0, ""

    def numbered(match: re.Match[str]) -> str:
        nonlocal number, prefix
        if match[1] is None:
            number, prefix = 0, "A"
            return match[0]
        number += 1
        name = f"{prefix}{number}"
        return (
            f'<figure id="figure-{name}" class="drawn"{match[1]}<figcaption>'
            f'<span class="number">Figure {name}.</span> '
        )

    return _CAPTION.sub(numbered, body)


def _mathml(tex: str, display: str) -> str:
    mathml = latex2mathml.converter.convert(tex.strip(), display=display)
    # A long formula scrolls on a phone, so a keyboard must reach it.
    return mathml.replace("<math ", '<math tabindex="0" ', 1) if display == "block" else mathml


def assets(*scripts: str, images: str = "data:") -> dict[str, str]:
    """Return what every page brings: `style`, `script`, and the `policy` that rules it.

    Parameters
    ----------
    *scripts
        What else may run in it, and in its frames.
    images
        Where images may come from.
    """
    templates = data_path("templates")
    script = (templates / "nbbias/page.js").read_text(encoding="utf-8")
    styles = [templates / "table.css", templates / "nbbias/page.css"]
    return {
        "style": "\n".join(path.read_text(encoding="utf-8") for path in styles),
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
        What the run rests on, of `pages.about.about`, for the foot of the page; in nothing else
        do two pages of the same run differ.
    """
    exporter = HTMLExporter(
        template_name="nbbias",
        extra_template_basedirs=[str(data_path("templates"))],
        preprocessors=[Sections, Mathematics],
        exclude_input_prompt=True,
        exclude_output_prompt=True,
    )
    exporter.register_filter("fold_name", fold_name)
    node = nbformat.read(notebook, as_version=4)
    node.metadata["title"] = title
    framed = any(_FRAME in html for cell in node.cells for html in _html(cell))
    scripts = reading.frames.scripts() if framed else ()
    footer = reading.templates.render("about.html.j2", about=about) if about else ""
    values = {**assets(*scripts), "footer": footer, "trail": share.TRAIL}
    body, resources = exporter.from_notebook_node(node, values)
    items = "".join(
        f'<li><a href="#{quote(unescape(id))}">{question or text}</a></li>'
        for question, id, text in _HEADING.findall(body)
    )
    body = body.replace(_CONTENTS, items, 1)
    lead = [*resources["lead"], *_CLAIMS.findall(body)]
    if "</h1>" in body:
        body = _CLAIMS.sub("", body).replace("</h1>", "\n".join(["</h1>", *lead]), 1)
    # What every output brings for itself, a page has once.
    body = body.replace(reading.templates.style("table.css"), "")
    explorer = reading.templates.style("explorer.css")
    first, *rest = body.split(explorer, 1)
    body = first + explorer + rest[0].replace(explorer, "") if rest else first
    # Whatever a cell printed: nothing on a page is unseen, or turns what stands around it.
    return tables.write(target, visible(focusable(_number_figures(body))))


def focusable(text: str) -> str:
    """Let a keyboard reach what scrolls on a phone: code, what it printed, and figures."""
    return text.replace("<pre>", '<pre tabindex="0">').replace("<figure ", '<figure tabindex="0" ')
