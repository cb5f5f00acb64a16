"""Sections of all pages as a script, by which the search ranks results and shows excerpts.

A browser lets a page read no other page of a folder, but it loads scripts.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

_NAME = "passages.js"


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("html-page-context", load)
    app.connect("build-finished", write)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def load(app: Sphinx, page: str, template: str, context: dict[str, Any], tree: object) -> None:
    if page == "search":
        app.add_js_file(_NAME)


def write(app: Sphinx, error: Exception | None) -> None:
    if error is None:
        pages = {name: sections(app.env.get_doctree(name)) for name in sorted(app.env.found_docs)}
        script = f"const PASSAGES = {json.dumps(pages, ensure_ascii=False)};\n"
        Path(app.outdir, "_static", _NAME).write_text(script, encoding="utf-8")


def sections(tree: nodes.document) -> list[tuple[str, str, str]]:
    """Return each section's anchor, its title, and its text without that of sections in it."""
    found = []
    for section in tree.findall(nodes.section):
        title, *body = section.children
        parts = [
            " ".join(leaf.astext().split())
            for part in body
            if not isinstance(part, nodes.section)
            for leaf in part.findall(nodes.TextElement)
            if not isinstance(leaf, nodes.Inline | nodes.comment)
        ]
        found.append((section["ids"][0], title.astext(), " · ".join(filter(None, parts))))
    return found
