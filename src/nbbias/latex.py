"""Tables for papers: a DataFrame as a LaTeX booktabs table that compiles, whatever its text."""

from __future__ import annotations

import re
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd

from nbbias.visible import visible

MISSING = "n/m"
_NOTE = r"\par\smallskip\footnotesize n/m: not measured"

#: What LaTeX reads as a command, or prints as another sign. Brackets and stars are commands only
#: after a line's end, where a cell may stand.
_ESCAPES = str.maketrans({
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "_": r"\_", "%": r"\%", "&": r"\&",
    "#": r"\#", "$": r"\$", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", '"': r"\textquotedbl{}",
    "[": "{[}", "]": "{]}", "*": "{*}", "\N{MINUS SIGN}": "$-$",
})  # fmt: skip


def table(frame: pd.DataFrame, *, caption: str, label: str, decimals: int = 3) -> str:
    r"""Write a table for a LaTeX paper; it needs the package booktabs.

    Parameters
    ----------
    frame
        The rows and columns to print, in order; the index is left out.
    caption
        What the table says. Escaped, like every cell and heading.
    label
        What ``\ref`` names it: letters, digits and ``:._-`` only.
    decimals
        Decimals of the fractional columns; columns of whole numbers have none.

    Returns
    -------
    str
        A ``table`` environment. Numbers stand on the right, with true minus signs and without a
        minus before a rounded zero; a number that is missing or infinite is ``n/m``, and then a
        note under the table says that it was not measured. A missing text stays empty. The same
        table always gives the same string.

    Raises
    ------
    ValueError
        The label has other characters, or the table has no column.
    """
    if not re.fullmatch(r"[A-Za-z0-9:._-]+", label):
        raise ValueError(f"label {label!r} may only have letters, digits and :._-")
    if not len(frame.columns):
        raise ValueError("a table needs a column")
    columns = [_column(frame.iloc[:, i], decimals) for i in range(frame.shape[1])]
    printed = pd.DataFrame({i: cells for i, (cells, _) in enumerate(columns)}, dtype=object)
    headings = dict(enumerate(escape(name) for name in frame.columns))
    styled = printed.style.hide(axis="index").format_index(headings.get, axis="columns")
    written = styled.to_latex(
        column_format="".join("r" if numeric else "l" for _, numeric in columns),
        hrules=True, caption=escape(caption), label=label, position="htbp",
        position_float="centering",
    )  # fmt: skip
    has_gap = any(MISSING in cells for cells, numeric in columns if numeric)
    end = "\\end{table}"
    return written.replace(end, f"{_NOTE}\n{end}") if has_gap else written


def escape(text: object) -> str:
    """Make any text print as itself, on one line."""
    return visible(" ".join(str(text).split())).translate(_ESCAPES)


def _column(values: pd.Series, decimals: int) -> tuple[list[str], bool]:
    """Return a column's cells, and whether they are numbers."""
    present = [value for value in values if not pd.isna(value)]
    known = all(_is_number(value) for value in present)
    # A column with no value at all is one of numbers only if it was made for them.
    numeric = known if present else pd.api.types.is_numeric_dtype(values)
    whole = all(float(v).is_integer() for v in present if _is_number(v) and np.isfinite(v))
    places = 0 if whole else decimals
    return [_cell(value, places, gap=MISSING if numeric else "") for value in values], numeric


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool | np.bool_)


def _cell(value: Any, places: int, *, gap: str) -> str:
    if pd.isna(value):
        return gap
    if not _is_number(value):
        return escape(value)
    if not np.isfinite(value):
        return MISSING
    # Adding 0 takes the sign from a rounded zero.
    shown = f"{round(float(value), places) + 0:,.{places}f}"
    return escape(shown.replace("-", "\N{MINUS SIGN}"))
