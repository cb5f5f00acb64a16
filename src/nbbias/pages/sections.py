"""An executed notebook in the order in which its page is read.

A section is headed by its result, its question stands above it, and its code is one fold at its
end. The appendix, which ends a notebook, is a fold for each of its headings. Sections that show
nothing are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import unescape
from typing import Any

from nbconvert.preprocessors import Preprocessor
from nbformat import NotebookNode

from nbbias.tables import escape

_HEADING = re.compile(r"(#{2,3}) +([^\n]*)\n*(.*)", re.DOTALL)
_CAPTION = re.compile("<caption>(.*?)</caption>", re.DOTALL)

#: The name of a fold of how something is measured, where it brings no heading.
METHOD = "How this is measured"


class Sections(Preprocessor):
    """Lay out the cells of a notebook for its page; see the head of this file."""

    def preprocess(
        self, nb: NotebookNode, resources: dict[str, Any]
    ) -> tuple[NotebookNode, dict[str, Any]]:
        resources["lead"] = [html for cell in nb.cells for html in _take_outputs(cell, "lead")]
        head, *sections = _split(nb.cells)
        body, folds, code = list(head), [], _code(head)
        ends: dict[str, NotebookNode] = {}
        for section in sections:
            code += _code(section)
            if not _shows(section):
                # What was declared leads a page, wherever it is computed.
                body += [cell for cell in section if "claims" in _tags(cell)]
            elif "appendix" in _tags(section[0]):
                folds.append(section)
            else:
                ends[_head(section)] = section[-1]
                section[-1].metadata["code"], code = code, []
                body += section
        for number, fold in enumerate(folds, start=1):
            question = _fold(fold, number)
            if question in ends:
                ends[question].metadata["more"] = fold[0].metadata["fold"]
        nb.cells = [*body, *(cell for fold in folds for cell in fold)]
        if folds:
            folds[0][0].metadata["appendix"] = [fold[0].metadata["fold"] for fold in folds]
            folds[-1][-1].metadata["end"] = True
        if code and nb.cells:
            nb.cells[-1].metadata["code"] = code
        return nb, resources


def _tags(cell: NotebookNode) -> list[str]:
    return list(cell.metadata.get("tags", ()))


def _split(cells: Iterable[NotebookNode]) -> list[list[NotebookNode]]:
    """Split cells at the headings of sections, in the appendix at those of its folds."""
    sections: list[list[NotebookNode]] = [[]]
    for cell in cells:
        heading = _HEADING.match(cell.source) if cell.cell_type == "markdown" else None
        tags = _tags(cell)
        if heading and "method" not in tags and (heading[1] == "##" or "appendix" in tags):
            sections.append([])
        sections[-1].append(cell)
    return sections


def _shows(cells: list[NotebookNode]) -> bool:
    code = [cell for cell in cells if cell.cell_type == "code"]
    if not code and "appendix" in _tags(cells[0]):  # the heading of the appendix itself
        return len(cells) > 1 or "\n" in cells[0].source
    return not code or any(cell.outputs and "claims" not in _tags(cell) for cell in code)


def _code(cells: Iterable[NotebookNode]) -> list[str]:
    """Return the code of cells but of those of parameters, which stand at the foot."""
    return [
        cell.source
        for cell in cells
        if cell.cell_type == "code"
        and not {"parameters", "injected-parameters"} & {*_tags(cell)}
        and cell.source.strip()
    ]


def _take_outputs(cell: NotebookNode, kind: str) -> list[str]:
    """Take out of a cell the outputs of a kind that `notebook.Notebook` marks."""
    outputs = list(cell.get("outputs", ()))
    marked = [output for output in outputs if output.get("metadata", {}).get("nbbias") == kind]
    if marked:
        cell["outputs"] = [output for output in outputs if output not in marked]
    data = [output.get("data", {}) for output in marked]
    return [one.get("text/html", one.get("text/markdown", "")) for one in data]


def _head(section: list[NotebookNode]) -> str:
    """Head a section by its result, below its question, which is returned."""
    results = [text for cell in section for text in _take_outputs(cell, "result")]
    heading = _HEADING.match(section[0].source)
    assert heading is not None
    question = _plain(heading[2])
    if results:
        result = results[0].removeprefix("**").removesuffix("**")
        above = f'<p class="asks">{escape.attribute(question)}</p>'
        section[0].source = f"{above}\n\n## {result}\n\n{heading[3]}"
    return question


def _fold(cells: list[NotebookNode], number: int) -> str:
    """Mark where a fold of the appendix begins and ends, and return its question."""
    heading = _HEADING.match(cells[0].source)
    assert heading is not None
    outputs = [output.get("data", {}) for cell in cells for output in cell.get("outputs", ())]
    titles = [_CAPTION.findall(data.get("text/html", "")) for data in outputs]
    tables = [unescape(title) for table in titles for title in table]
    question, cells[0].source = _plain(heading[2]), heading[3]
    cells[0].metadata["fold"] = {"number": number, "question": question, "tables": tables}
    cells[-1].metadata["unfold"] = True
    return question


def _plain(text: str) -> str:
    return escape.without_markdown(text.strip())


def fold_name(cell: NotebookNode) -> str:
    r"""Name the fold of a cell tagged ``method``: by its heading, which is taken out of it.

    Examples
    --------
    >>> from nbformat.v4 import new_markdown_cell
    >>> named, bare = new_markdown_cell("### The paper\n\nIts text."), new_markdown_cell("So.")
    >>> fold_name(named), fold_name(bare)
    ('The paper', 'How this is measured')
    """
    heading = _HEADING.match(cell.source)
    if not heading:
        return METHOD
    cell.source = heading[3]
    return _plain(heading[2])
