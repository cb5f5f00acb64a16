"""An executed notebook in the order in which its page is read.

Below the title stands what leads, then the question, and what was declared. A section is headed by
its result, with its question above, and ends with its code in one fold. Every heading of the
appendix, which ends a notebook, is a fold. Sections that show nothing are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import count

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell

from nbbias.tables import escape

_HEADING = re.compile(r"(#{1,3}) +([^\n]*)\n*(.*)", re.DOTALL)

#: The name of a fold of how something is measured, where it brings no heading.
METHOD = "How this is measured"


def arrange(cells: Iterable[NotebookNode]) -> list[NotebookNode]:
    r"""Lay out the cells of an executed notebook for its page; see the head of this file.

    Returns
    -------
    list
        Cells whose metadata the template reads: `code`, the sources that a section ends with;
        `fold`, number and name of the fold that begins here, and `unfold`, that it ends; `more`,
        the number of the fold that adds to this section; `method`, the name of its fold.

    Examples
    --------
    >>> cells = [new_markdown_cell("# T\n\nText."), new_markdown_cell("## Why?")]
    >>> [cell.source for cell in arrange(cells) if cell.source]
    ['# T', 'Text.', '## Why?']
    """
    head, *sections = _split(cells)
    everything = [*head, *(cell for section in sections for cell in section)]
    lead = _take_outputs(everything, "lead")
    claims = _take_outputs([cell for cell in everything if "claims" in _tags(cell)])
    body, code = _open_with(head, lead, claims), _code(head)
    last = dict[str, NotebookNode]()
    numbers = count(1)
    for section in sections:
        code += _code(section)
        if not _is_shown(section):
            continue
        level, heading, text = _HEADING.match(section[0].source).groups()  # type: ignore[union-attr]
        question = escape.without_markdown(heading)
        if level == "###":
            fold = {"number": next(numbers), "name": question}
            section[0].update(source=text)
            section[0].metadata["fold"], section[-1].metadata["unfold"] = fold, True
            if question in last:
                last[question].metadata["more"] = fold["number"]
        elif results := _take_outputs(section, "result"):
            result = results[0]["data"]["text/markdown"].removeprefix("**").removesuffix("**")
            above = f'<p class="asks">{escape.attribute(question)}</p>'
            section[0].source = f"{above}\n\n## {result}\n\n{text}"
        section[-1].metadata["code"], code = code, []
        last[question] = section[-1]
        body += section
    body[-1].metadata["code"] = [*body[-1].metadata.get("code", []), *code]
    return body


def _open_with(
    head: list[NotebookNode], lead: list[NotebookNode], claims: list[NotebookNode]
) -> list[NotebookNode]:
    """Put what leads below the title, and what was declared below the text that asks."""
    top = [new_code_cell(outputs=lead)]
    if claims:
        top.append(new_code_cell(outputs=claims, metadata={"tags": ["claims"]}))
    title = _HEADING.match(head[0].source) if head and head[0].cell_type == "markdown" else None
    if not title:
        return [*top, *head]
    asked = new_markdown_cell(title[3])
    return [new_markdown_cell(f"# {title[2]}"), top[0], asked, *top[1:], *head[1:]]


def _tags(cell: NotebookNode) -> list[str]:
    return list(cell.metadata.get("tags", ()))


def _split(cells: Iterable[NotebookNode]) -> list[list[NotebookNode]]:
    """Split cells at the headings of sections, and in the appendix at those of its folds.

    Cells tagged ``method`` are folds of their own, named by their heading.
    """
    sections: list[list[NotebookNode]] = [[]]
    for cell in cells:
        heading = _HEADING.match(cell.source) if cell.cell_type == "markdown" else None
        if "method" in _tags(cell):
            cell.metadata["method"] = escape.without_markdown(heading[2]) if heading else METHOD
            cell.source = heading[3] if heading else cell.source
        elif heading and (heading[1] == "##" or "appendix" in _tags(cell)):
            sections.append([])
        sections[-1].append(cell)
    return sections


def _is_shown(section: list[NotebookNode]) -> bool:
    """Tell whether a section shows anything but, in the appendix, its heading."""
    if code := [cell for cell in section if cell.cell_type == "code"]:
        return any(cell.outputs for cell in code)
    return not section[0].source.startswith("###") or len(section) > 1 or "\n" in section[0].source


def _code(cells: Iterable[NotebookNode]) -> list[str]:
    """Return the code of cells but of those of parameters, which stand at the foot."""
    parameters = {"parameters", "injected-parameters"}
    code = [cell for cell in cells if cell.cell_type == "code" and not parameters & {*_tags(cell)}]
    return [cell.source for cell in code if cell.source.strip()]


def _take_outputs(cells: Iterable[NotebookNode], kind: str | None = None) -> list[NotebookNode]:
    """Take the outputs out of cells that `notebook.Notebook` marks as of a kind; all if None."""
    taken = []
    for cell in cells:
        outputs = cell.get("outputs", [])
        marked = [o for o in outputs if kind in (None, o.get("metadata", {}).get("nbbias"))]
        taken += marked
        if marked:
            cell.outputs = [output for output in outputs if output not in marked]
    return taken
