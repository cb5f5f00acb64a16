"""Terminals that no text can steer: names and messages come from files and models."""

from __future__ import annotations

import logging
import re
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from nbbias import params  # which load when used
from nbbias.tables import visible

if TYPE_CHECKING:
    import pandas as pd  # every command would wait for it

#: Cells up to this width stay on one line.
_SHORT = 24

#: How a number begins, a p value or an interval too.
_NUMBER = re.compile(r"[<≤\s]*[\N{MINUS SIGN}+.]?\d")


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

        Short cells stay on one line; long texts are wrapped. A table that is too wide for that is
        printed as one block a row: its first column, and below it the others that have a value.
        Numbers below 1,000 have three digits; what is missing is blank.

        Examples
        --------
        >>> import pandas as pd
        >>> seeds = pd.DataFrame({"name": ["seed"], "mean_of": [1 / 3], "about": [""]})
        >>> Terminal(width=40).table(seeds[["name", "mean_of"]])
        name  mean of
        seed    0.333
        >>> Terminal(width=12).table(seeds)
        seed
            mean of:
            0.333
        """
        cells = table.astype("object").where(table.notna(), "").map(_format)
        shown = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
        for name, texts in cells.items():
            heading = str(name).replace("_", " ")
            whole = max(map(cell_len, [heading, *texts]))
            justify: Any = "right" if all(_NUMBER.match(t) for t in texts if t) else "left"
            width = whole if whole <= _SHORT else None
            shown.add_column(heading, overflow="fold", min_width=width, justify=justify)
        for row in cells.to_numpy():
            shown.add_row(*row)
        needed = self.measure(shown, options=self.options.update_width(1_000_000))
        if needed.minimum > self.width:
            return self.blocks(cells)
        shown.padding = (0, 2, int(needed.maximum > self.width), 0)  # blank lines where rows wrap
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
        for first, *rest in cells.to_numpy():
            parts = zip(names[1:], rest, strict=True)
            body = "; ".join(name + cell for name, cell in parts if cell)
            self.lines(*Text(visible(first or "\N{EN DASH}")).wrap(self, self.width))
            for line in Text(visible(body)).wrap(self, max(self.width - 4, 1)):
                self.lines(f"    {line.plain.rstrip()}")


def _format(cell: object) -> str:
    """Write a cell on one line: a number with three digits or, from 1,000, with none after it."""
    if not isinstance(cell, int | float) or isinstance(cell, bool):
        return " ".join(visible(cell).split())
    whole = float(cell).is_integer() or abs(cell) >= 1000
    text = f"{cell:,.0f}" if whole and abs(cell) < 1e15 else f"{cell:.3g}"
    return text.replace("-", "\N{MINUS SIGN}", text.startswith("-"))


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
