"""Terminals that no text can steer: names and messages come from files and models."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from nbbias import params  # which load when used
from nbbias.tables import visible

if TYPE_CHECKING:
    import pandas as pd  # every command would wait for it


class Terminal(Console):
    """A console that writes out control characters and marks of direction, no emoji, no mark-up.

    Examples
    --------
    >>> Terminal(width=40).print("bell" + chr(7))
    bell[U+0007]
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(highlight=False, soft_wrap=True, emoji=False, markup=False, **options)

    def render_str(self, text: str, **options: Any) -> Text:
        """Return a text with what is not seen written out."""
        return super().render_str(visible(text), **options)

    def table(self, table: pd.DataFrame) -> None:
        """Print a table, no letter of it left out.

        Numbers below 1,000 have three digits; what is missing is blank.

        Examples
        --------
        >>> import pandas as pd
        >>> Terminal(width=40).table(pd.DataFrame({"name": ["seed"], "mean_of": [1 / 3]}))
        ┏━━━━━━┳━━━━━━━━━┓
        ┃ name ┃ mean of ┃
        ┡━━━━━━╇━━━━━━━━━┩
        │ seed │ 0.333   │
        └──────┴─────────┘
        """
        shown = Table(*(Column(str(name).replace("_", " "), overflow="fold") for name in table))
        for row in table.astype("object").where(table.notna(), "").to_numpy():
            shown.add_row(*(_format(cell) for cell in row))
        self.print(shown)


def _format(cell: object) -> str:
    if isinstance(cell, float) and not cell.is_integer() and abs(cell) < 1000:
        return f"{cell:.3g}"
    return f"{cell:,.0f}" if isinstance(cell, int | float) else str(cell)


class Format(logging.Formatter):
    """Log messages and tracebacks without keys, and with what is not seen written out.

    Examples
    --------
    >>> record = logging.LogRecord("x", logging.INFO, "x", 1, "bell" + chr(7), (), None)
    >>> Format("%(message)s").format(record)
    'bell[U+0007]'
    """

    def format(self, record: logging.LogRecord) -> str:
        """Return a record's line."""
        return visible(params.redact(super().format(record)))
