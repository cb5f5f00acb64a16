"""Where a run failed, and what to do, for its card in the list of runs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import nbformat

from nbbias.pages import about, manifest
from nbbias.params import FAILED

_LONGEST = 500  # letters of a message; the run's own page has all of it

#: Said of an error that nobody foresaw; the place is in the package.
DEFECT = (
    "This is a defect in nbbias ({}), not a mistake of yours. Please report it to its developers, "
    "with this message and the traceback {}; then try other parameters"
)


def describe(folder: Path, content: Mapping[str, Any]) -> dict[str, Any]:
    """Describe where a run that did not end well stopped.

    Parameters
    ----------
    folder
        The run's folder.
    content
        Its manifest.

    Returns
    -------
    dict
        `where`: the cell and its section, as far as they are known; `message`; `todo` and, where
        the run lies below the current folder, the `command`; `good`, the name of the finished run
        whose place it did not take, or None.
    """
    error = content.get("error") or {}
    cell = error.get("cell")
    section = _section(folder / "notebook.ipynb") or _last_section(content)
    parts = [f"cell {cell}" if cell is not None else "", f"section “{section}”" if section else ""]
    where = ", ".join(filter(None, parts))
    message = str(error.get("message") or "")
    good = folder.with_name(folder.name.removesuffix(FAILED))
    return {
        "where": f"in {where}" if where else "",
        "message": message if len(message) <= _LONGEST else message[:_LONGEST] + " …",
        "todo": _advice(content["status"], error),
        "command": about.command(folder),
        "good": good.name if good != folder and good.is_dir() else None,
    }


def _advice(status: str, error: Mapping[str, Any]) -> str:
    if status == "interrupted":
        return "Run it again"
    if status == manifest.UNREADABLE:
        return "Its files are damaged, or of another version: delete its folder, or run it again"
    if error.get("defect"):
        return DEFECT.format(error["defect"], "in notebook.ipynb")
    return "Mend what it names, then run it again"


def _section(notebook: Path) -> str:
    """Return the heading above the cell with an error."""
    try:
        cells = nbformat.read(notebook, as_version=4).cells
    except (OSError, ValueError, nbformat.ValidationError):
        return ""
    heading = ""
    for cell in cells:
        if cell.cell_type == "markdown" and cell.source.startswith("#"):
            heading = cell.source.splitlines()[0].lstrip("# ")
        if any(output.output_type == "error" for output in cell.get("outputs", ())):
            return heading
    return ""


def _last_section(content: Mapping[str, Any]) -> str:
    """Return the last section that took any time: all that is known of a process that died."""
    seconds = content.get("seconds_by_section") or {}
    return next((name for name in reversed(seconds) if seconds[name] > 0 and name != "start"), "")
