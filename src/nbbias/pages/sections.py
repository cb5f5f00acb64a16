"""An executed notebook in the order in which its page is read.

First what leads; then the body, section by section, each under what it found; then the appendix,
what only a reviewer looks up. How something is measured folds where it stands, and a section's code
is one fold at its end. The notebook itself stays as it was executed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import unescape
from typing import Any, NamedTuple

from nbconvert.preprocessors import Preprocessor
from nbformat import NotebookNode

from nbbias.tables import escape

_HEADED = re.compile(r"(#{2,3}) +([^\n]*)\n*(.*)", re.DOTALL)
_TABLE = re.compile("<caption>(.*?)</caption>", re.DOTALL)

#: What folds a cell of how something is measured, where it brings no heading.
METHOD = "How this is measured"


class Section(NamedTuple):
    """A heading of the notebook with the cells below it; `parts` likewise, one level down."""

    question: str
    cells: list[NotebookNode]


class Sections(Preprocessor):
    """Lay out the cells of a notebook as its page reads; see the head of this file."""

    def preprocess(
        self, nb: NotebookNode, resources: dict[str, Any]
    ) -> tuple[NotebookNode, dict[str, Any]]:
        resources["lead"] = [html for cell in nb.cells for html in _taken(cell, "lead")]
        head, *found = _split(nb.cells, "##")
        body, appendix, codes = [], [], list(_codes(head.cells))
        for section in found:
            kept = _without_empty(section)
            codes += _codes(section.cells)
            if not kept:
                continue
            looked_up = [cell for cell in kept if "appendix" in _tags(cell)]
            body_of = [cell for cell in kept if "appendix" not in _tags(cell)]
            read = _without_empty(section._replace(cells=body_of))
            if looked_up:  # what tells of a part that shows nothing here stands with its tables
                silent = [c for c in body_of if c not in read and c.cell_type == "markdown"]
                looked_up = _unheaded([*silent, *looked_up])
            _head(section.question, read)
            if looked_up:
                appendix.append((section.question, looked_up))
            if looked_up and read:
                read[-1].metadata["more"] = {"fold": len(appendix), "holds": _named(looked_up)}
            if read and codes:
                read[-1].metadata["codes"], codes = codes, []
            body += read
        nb.cells = [*head.cells, *body, *_appendix(appendix)]
        if codes and nb.cells:
            nb.cells[-1].metadata["codes"] = codes
        return nb, resources


def _tags(cell: NotebookNode) -> list[str]:
    return list(cell.metadata.get("tags", ()))


def _split(cells: Sequence[NotebookNode], level: str) -> list[Section]:
    """Part cells at headings of a level; what stands before the first has no question."""
    found = [Section("", [])]
    for cell in cells:
        headed = _HEADED.match(cell.source) if cell.cell_type == "markdown" else None
        if headed and headed[1] == level and "method" not in _tags(cell):
            found.append(Section(headed[2].strip(), []))
        found[-1].cells.append(cell)
    return found


def _without_empty(section: Section) -> list[NotebookNode]:
    """Leave out parts that compute, but show nothing; of a section of such, nothing is left.

    What was declared leads a page, wherever it is computed: it stays.
    """
    parts = [part.cells for part in _split(section.cells, "###")]
    kept = [part if _shows(part) else [c for c in part if "claims" in _tags(c)] for part in parts]
    return [cell for part in kept for cell in part]


def _shows(cells: Iterable[NotebookNode]) -> bool:
    code = [cell for cell in cells if cell.cell_type == "code"]
    shown = [cell for cell in code if cell.outputs and "claims" not in _tags(cell)]
    return bool(shown) or not code


def _unheaded(cells: Iterable[NotebookNode]) -> list[NotebookNode]:
    """Take the heading of their section out of cells: their fold has it."""
    kept = []
    for cell in cells:
        headed = _HEADED.match(cell.source) if cell.cell_type == "markdown" else None
        if headed and headed[1] == "##":
            cell.source = headed[3]
        if cell.source.strip():
            kept.append(cell)
    return kept


def _codes(cells: Iterable[NotebookNode]) -> list[str]:
    """Return the code of cells but of those that hold parameters, which stand at the foot."""
    return [
        cell.source
        for cell in cells
        if cell.cell_type == "code"
        and not {"parameters", "injected-parameters"} & {*_tags(cell)}
        and cell.source.strip()
    ]


def _taken(cell: NotebookNode, what: str) -> list[str]:
    """Take out of a cell's outputs those of a kind that `notebook.Notebook` marks."""
    outputs = list(cell.get("outputs", ()))
    found = [one for one in outputs if one.get("metadata", {}).get("nbbias") == what]
    if found:
        cell["outputs"] = [one for one in outputs if one not in found]
    kinds = ("text/html", "text/markdown")
    return [one["data"][kind] for one in found for kind in kinds if kind in one.get("data", {})][:1]


def _head(question: str, cells: list[NotebookNode]) -> None:
    """Head a section by what it found; its question stands above that."""
    results = [text for cell in cells for text in _taken(cell, "result")]
    headed = _HEADED.match(cells[0].source) if cells else None
    if results and headed:
        told = results[0].removeprefix("**").removesuffix("**")
        asked = f'<p class="asks">{escape.attribute(escape.without_markdown(question))}</p>'
        cells[0].source = f"{asked}\n\n## {told}\n\n{headed[3]}"


def _appendix(sections: Sequence[tuple[str, list[NotebookNode]]]) -> list[NotebookNode]:
    """Mark where the appendix and each of its folds begin and end."""
    cells = []
    for number, (question, own) in enumerate(sections, start=1):
        holds = _named(own)
        headed = _HEADED.match(own[0].source) if own[0].cell_type == "markdown" else None
        own[0].source = headed[3] if headed and headed[2].strip() == question else own[0].source
        own[0].metadata["fold"] = {"number": number, "question": _plain(question), "holds": holds}
        own[-1].metadata["unfold"] = True
        cells += own
    if cells:
        folds = [cell.metadata["fold"] for cell in cells if "fold" in cell.metadata]
        cells[0].metadata["appendix"] = folds
        cells[-1].metadata["end"] = True
    return cells


def _named(cells: Iterable[NotebookNode]) -> list[str]:
    """Return the titles of the tables in cells, or the words that they begin with."""
    shown = [
        out.get("data", {}).get("text/html", "") for c in cells for out in c.get("outputs", ())
    ]
    titles = [unescape(found[1]) for html in shown for found in _TABLE.finditer(html)]
    words = [cell.source for cell in cells if cell.cell_type == "markdown"]
    begun = [_plain(text.lstrip("# ").splitlines()[0]).split(". ")[0] for text in words if text]
    return [title for title in titles if title.strip()] or begun[:1]


def _plain(text: str) -> str:
    return escape.without_markdown(text).rstrip(".")


def fold_name(cell: NotebookNode) -> str:
    r"""Name the fold of a cell tagged ``method``: by its heading, which is taken out of it.

    Examples
    --------
    >>> from nbformat.v4 import new_markdown_cell
    >>> named, bare = new_markdown_cell("### The paper\n\nIts text."), new_markdown_cell("So.")
    >>> fold_name(named), fold_name(bare)
    ('The paper', 'How this is measured')
    """
    headed = _HEADED.match(cell.source)
    if not headed:
        return METHOD
    cell.source = headed[3]
    return _plain(headed[2])
