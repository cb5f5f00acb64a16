"""Executed notebooks and runs as HTML pages that need no network."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import jinja2
import latex2mathml.converter
import nbformat
from nbconvert import HTMLExporter
from nbconvert.preprocessors import Preprocessor

from nbbias import manifest, outputs
from nbbias.corpus import data_path

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


def _mathml(tex: str, display: str) -> str:
    return latex2mathml.converter.convert(tex.strip(), display=display)


def write_page(notebook: Path, target: Path, *, title: str) -> Path:
    """Write the page of an executed notebook.

    Parameters
    ----------
    notebook
        An executed notebook; a partial one shows what it has, errors included.
    target
        The page, written whole or not at all.
    title
        Shown by the browser.
    """
    exporter = HTMLExporter(
        template_name="nbbias", extra_template_basedirs=[str(data_path("templates"))],
        preprocessors=[Mathematics], exclude_input_prompt=True, exclude_output_prompt=True,
    )  # fmt: skip
    node = nbformat.read(notebook, as_version=4)
    node.metadata["title"] = title
    body, _ = exporter.from_notebook_node(node)
    return outputs.write(target, body)


def runs(out: Path) -> list[dict[str, Any]]:
    """Return every run under a folder, by study and name, with what its manifest says."""
    found = []
    for path in sorted(out.glob(f"*/*/{manifest.NAME}")):
        folder = path.parent
        described = manifest.read(folder)
        if described is None:
            continue
        finding = outputs.read_finding(folder)
        thumbnail = folder / "figures" / f"{finding['figure']}.png"
        found.append({
            **described, "finding": finding["sentence"], "page": (folder / "index.html").is_file(),
            "folder": folder.relative_to(out).as_posix(),
            "thumbnail": thumbnail.relative_to(out).as_posix() if thumbnail.is_file() else None,
        })  # fmt: skip
    return found


def write_index(out: Path) -> Path:
    """Write `index.html`, the list of all runs under a folder."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(data_path("templates")), autoescape=True
    )
    environment.filters["markdown_plain"] = plain
    page = environment.get_template("runs.html.j2").render(runs=runs(out))
    return outputs.write(out / "index.html", page)


def plain(markdown: str) -> str:
    """Drop the Markdown of a finding: emphasis and the backslashes that escape it."""
    text = re.sub(r"(?<!\\)\*+", "", markdown)
    return re.sub(r"\\(.)", r"\1", text)
