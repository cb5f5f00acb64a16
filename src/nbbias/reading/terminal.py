"""Terminals that no text can steer: names and messages come from files and models."""

from __future__ import annotations

import logging
from typing import Any

import pandas as pd
from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from nbbias.tables import escape, visible

#: Characters a line, below which five columns would have a letter or two each.
_NARROW = 60


class Terminal(Console):
    """A console that writes out control characters and marks of direction, and no emoji.

    Examples
    --------
    >>> Terminal(width=40).print("bell" + chr(7))
    bell[U+0007]
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(highlight=False, soft_wrap=True, emoji=False, **options)

    def render_str(self, text: str, **options: Any) -> Text:
        """Return a text with what is not seen written out."""
        return super().render_str(visible(text), **options)

    def table(self, table: pd.DataFrame) -> None:
        """Print a table, no letter of it left out; too narrow for columns, a line has a cell.

        Numbers below 1,000 have three digits; what is missing is blank.

        Examples
        --------
        >>> Terminal(width=20).table(pd.DataFrame({"name": ["seed"], "mean_of": [1 / 3]}))
        name: seed
        mean of: 0.333
        <BLANKLINE>
        """
        names = [str(name).replace("_", " ") for name in table]
        cells = table.astype("object").where(table.notna(), "").to_numpy()
        rows = [[escape.terminal(_format(cell)) for cell in row] for row in cells]
        if self.width < _NARROW:
            for row in rows:
                for name, cell in zip(names, row, strict=True):
                    self.print(f"{name}: {cell}", soft_wrap=False, overflow="fold")
                self.print()
            return
        shown = Table(*(Column(name, overflow="fold") for name in names))
        for row in rows:
            shown.add_row(*row)
        self.print(shown)


def _format(cell: object) -> str:
    if isinstance(cell, float) and not cell.is_integer() and abs(cell) < 1000:
        return f"{cell:.3g}"
    return f"{cell:,.0f}" if isinstance(cell, int | float) else str(cell)


class Format(logging.Formatter):
    """Log messages and tracebacks with what is not seen written out.

    Examples
    --------
    >>> record = logging.LogRecord("x", logging.INFO, "x", 1, "bell" + chr(7), (), None)
    >>> Format("%(message)s").format(record)
    'bell[U+0007]'
    """

    def format(self, record: logging.LogRecord) -> str:
        """Return a record's line."""
        return visible(super().format(record))
