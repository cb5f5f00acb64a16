"""Terminals that no text can steer: names and messages come from files and models."""

from __future__ import annotations

import logging
from textwrap import fill, indent
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len
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

    def lines(self, *lines: object) -> None:
        """Print lines, whatever stands in them."""
        for line in lines:
            self.print(str(line))

    def table(self, table: pd.DataFrame) -> None:
        """Print a table, no letter of it left out and no word broken.

        A table that is too wide for that is printed as one block a row: its first column, and
        below it the others that have a value. Numbers below 1,000 have three digits; what is
        missing is blank.

        Examples
        --------
        >>> import pandas as pd
        >>> seeds = pd.DataFrame({"name": ["seed"], "mean_of": [1 / 3], "about": [""]})
        >>> Terminal(width=40).table(seeds[["name", "mean_of"]])
        ┏━━━━━━┳━━━━━━━━━┓
        ┃ name ┃ mean of ┃
        ┡━━━━━━╇━━━━━━━━━┩
        │ seed │ 0.333   │
        └──────┴─────────┘
        >>> Terminal(width=16).table(seeds)
        seed
            mean of:
            0.333
        """
        cells = table.astype("object").where(table.notna(), "").map(_format)
        names = [str(name).replace("_", " ") for name in cells]
        words = [" ".join([name, *cells.iloc[:, at]]).split() for at, name in enumerate(names)]
        widths = [max(map(cell_len, map(visible, of_column)), default=0) for of_column in words]
        if sum(widths) + 3 * len(names) + 1 > self.width:
            return self.blocks(cells)
        columns = zip(names, widths, strict=True)
        shown = Table(*(Column(name, overflow="fold", min_width=width) for name, width in columns))
        for row in cells.to_numpy():
            shown.add_row(*row)
        self.print(shown)

    def blocks(self, cells: pd.DataFrame) -> None:
        """Print each row as a block: the first cell, and below it the others that are not empty.

        Examples
        --------
        >>> import pandas as pd
        >>> row = {"name": ["seed"], "": ["start of the generator"], "range": ["0 to 9"]}
        >>> Terminal(width=20).blocks(pd.DataFrame(row))
        seed
            start of the
            generator;
            range: 0 to 9
        """
        names = [f"{name}: ".replace("_", " ").removeprefix(": ") for name in cells]
        width = max(self.width - 4, 1)
        for first, *rest in cells.to_numpy():
            parts = zip(names[1:], rest, strict=True)
            body = "; ".join(name + cell for name, cell in parts if cell)
            wrapped = [fill(visible(line), width) for line in (first, body) if line]
            self.print(indent("\n".join(wrapped), " " * 4)[4:])


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
