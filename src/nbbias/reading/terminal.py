"""Terminals that no text can steer: names and messages come from files and models."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from typing import Any

from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from nbbias.tables import visible

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

    def table(self, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
        """Print a table, no letter of it left out; too narrow for columns, a line has a cell.

        Examples
        --------
        >>> Terminal(width=20).table(["name", "range"], [["seed", "≥ 0"]])
        name: seed
        range: ≥ 0
        <BLANKLINE>
        """
        if self.width < _NARROW:
            for row in rows:
                for name, cell in zip(columns, row, strict=True):
                    self.print(f"{name}: {cell}", soft_wrap=False, overflow="fold")
                self.print()
            return
        table = Table(*(Column(name, overflow="fold") for name in columns))
        for row in rows:
            table.add_row(*row)
        self.print(table)


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
