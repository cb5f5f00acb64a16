"""Executed notebooks as HTML pages that need no network; at the foot, what a run rests on."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping
from functools import partial
from html import unescape
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import quote

import latex2mathml.converter
import nbformat
from nbconvert import HTMLExporter

from nbbias import params, reading, studies, tables
from nbbias.pages import sections, share

#: A section's heading; its question, where that stands above it, is what the contents list.
_HEADING = re.compile(
    r'(?:<p class="asks">([^<]*)</p>\s*)?<h2 id="([^"]*)">(.*?)(?:<a class="anchor-link"|</h2>)',
    re.DOTALL,
)
_CAPTION = re.compile(r'<figure class="drawn".*?<figcaption>', re.DOTALL)
#: A table's name in text (where the next tag does not end an attribute), or in a link of its own.
#: No path that ends so.
_TABLE = re.compile(r"(<a [^>]*>)?(?<![\w/\\.~-])(tables/\w+\.csv)\b(?=[^<>]*<)")
_APPENDIX = '<details class="fold">'
_CONTENTS = "<!-- contents -->"
_STYLES = ("table.css", "explorer.css")

#: Formulas in Markdown: displayed, and inline.
_TEX = re.compile(r"\$\$(.+?)\$\$|(?<![\\$])\$([^$\n]+?)(?<!\\)\$", re.DOTALL)


def assets(*scripts: str, images: str = "data:") -> dict[str, str]:
    """Return what every page brings: `style`, `script`, and the `policy` that rules it.

    Parameters
    ----------
    *scripts
        What else may run in it, and in its frames.
    images
        Where images may come from.
    """
    templates = tables.data_path("templates")
    script = (templates / "nbbias/page.js").read_text(encoding="utf-8")
    styles = [templates / name for name in (*_STYLES, "nbbias/page.css")]
    return {
        "style": "\n".join(path.read_text(encoding="utf-8") for path in styles),
        "script": script,
        "policy": reading.templates.policy(script, *scripts, images=images),
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
        What the run rests on, of `foot`, for the foot of the page; in nothing else
        do two pages of the same run differ.
    """
    templates = [str(tables.data_path("templates"))]
    exporter = HTMLExporter(template_name="nbbias", extra_template_basedirs=templates)
    node = nbformat.read(notebook, as_version=4)
    node.metadata["title"] = title
    node.cells = sections.arrange(node.cells)
    for cell in node.cells:
        if cell.cell_type == "markdown":
            cell.source = _TEX.sub(_mathml, cell.source)
    outputs = [output for cell in node.cells for output in cell.get("outputs", ())]
    # A frame holds a view of others, which runs scripts of theirs.
    framed = any("<iframe " in output.get("data", {}).get("text/html", "") for output in outputs)
    footer = reading.templates.render("about.html.j2", about=about) if about else ""
    values = assets(*(reading.templates.scripts() if framed else ()))
    values |= {"footer": footer, "trail": share.TRAIL}
    body, _ = exporter.from_notebook_node(node, values)
    item, headings = '<li><a href="#{}">{}</a></li>'.format, _HEADING.findall(body)
    items = [item(quote(unescape(id)), question or text) for question, id, text in headings]
    body = body.replace(_CONTENTS, "".join(items), 1)
    for name in _STYLES:  # what every output brings for itself, a page has once
        body = body.replace(reading.templates.style(name), "")
    main, appendix, folds = body.partition(_APPENDIX)
    body = _number_figures(main) + appendix + _number_figures(folds, prefix="A")
    # Whatever a cell printed: nothing on a page is unseen, or turns what stands around it.
    body = _TABLE.sub(lambda match: _linked(match, target), finished(body))
    return tables.write(target, tables.visible(body))


def _linked(match: re.Match[str], page: Path) -> str:
    """Link the name of a table that the run has, where it stands as text and is no link yet."""
    there = not match[1] and (page.parent / match[2]).is_file()
    return f'<a href="{match[2]}">{match[2]}</a>' if there else match[0]


def _mathml(match: re.Match[str]) -> str:
    """Turn TeX into MathML, which browsers draw without a script."""
    tex, display = match[1] or match[2], "block" if match[1] else "inline"
    mathml = latex2mathml.converter.convert(tex.strip(), display=display)
    # A long formula scrolls on a phone, so a keyboard must reach it.
    return mathml.replace("<math ", '<math tabindex="0" ', 1) if match[1] else mathml


def _number_figures(body: str, *, prefix: str = "") -> str:
    """Number figures in the order in which they stand."""
    numbers, label = count(1), '<span class="number">Figure {}{}.</span> '.format
    return _CAPTION.sub(lambda match: match[0] + label(prefix, next(numbers)), body)


def write(target: Path, template: str, **values: Any) -> Path:
    """Fill the template of a page with what every page brings and values of its own; write it."""
    return tables.write(target, finished(reading.templates.render(template, **assets() | values)))


def finished(text: str) -> str:
    """Keep numbers on one line with their units, and let a keyboard reach what scrolls."""
    text = tables.escape.tie(text)
    return text.replace("<pre>", '<pre tabindex="0">').replace("<figure ", '<figure tabindex="0" ')


def link(folder: Path, target: Path) -> str | None:
    """Return the way from a page to a run's, where that lies below the page's folder."""
    linked, base = (folder / "index.html").resolve(), target.resolve().parent
    near = linked.is_file() and linked.is_relative_to(base)
    return Path(os.path.relpath(linked, base)).as_posix() if near else None


# --- the foot -----------------------------------------------------------------------------------


def foot(description: Mapping[str, Any], outcome: Mapping[str, Any]) -> dict[str, Any]:
    """Collect what the foot of a run's page shows, for its template.

    Parameters
    ----------
    description
        What the run started from, of `pages.manifest.describe`.
    outcome
        How it ended: `status`, `started`, `seconds`.

    Returns
    -------
    dict
        `run`, description and outcome; `files`, the data with their hashes; `parameters`, with
        their defaults; `cite`, of `citations`; `yaml`, the content of the file of parameters.
    """
    study = str(description["study"])
    data = description["data"].values()
    files = [f"{Path(file['path']).name} (SHA-256 {file['sha256'][:12]})" for file in data]
    return {
        "run": {**description, **outcome},
        "files": list(dict.fromkeys(files)),
        "parameters": _parameters(study, description["parameters"]),
        "cite": citations(studies.home() / "CITATION.bib", [study]),
        "yaml": params.as_yaml({"study": study, **description["parameters"]}),
    }


def citations(path: Path, stems: Collection[str]) -> list[str]:
    """Return the entries of a BibTeX file that name one of the studies, without its name.

    Examples
    --------
    >>> citations(Path("no such file"), ["llmbi"])
    []
    """
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    entries = re.findall(r"^@.*?^\}", text, re.DOTALL | re.MULTILINE)
    keywords = re.compile(r"\n  keywords = \{(.*)\},")
    cited = [e for e in entries if {*stems} & {*", ".join(keywords.findall(e)).split(", ")}]
    return [keywords.sub("", entry) for entry in cited]


def _parameters(stem: str, values: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return a study's parameters with the run's values; `changed` where one is not the default.

    Value and default are written as in a params file.
    """
    rows = params.describe(studies.study(stem).parameters).to_dict("records")
    write = partial(params.as_yaml, flow=True)
    for row in rows:
        value, default = values.get(row["name"], row["default"]), row["default"]
        row |= {"value": write(value), "default": write(default), "changed": value != default}
    return rows
