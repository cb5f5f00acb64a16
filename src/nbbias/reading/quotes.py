"""Texts shown as they are, side by side: what a number was measured on.

Every text is escaped; one that may hurt stands folded, behind a line that says what it is.
"""

from __future__ import annotations

import pandas as pd
from IPython.display import HTML

from nbbias.tables import escape

#: Characters of a text that are shown.
_MOST = 900

_BESIDE = "display:flex;flex-wrap:wrap;gap:0 1.6rem;align-items:flex-start"
_ONE = (
    "flex:1 1 17rem;min-width:0;margin:0.6rem 0;padding-left:0.8rem;"
    "border-left:3px solid var(--jp-border-color2, #d3d3d3)"
)


def quotes(rows: pd.DataFrame, *, beside: bool = True) -> HTML:
    """Show texts, each below a heading and above a line that says what was measured.

    Parameters
    ----------
    rows
        `head`, `text` and `told`, as they are read; where there is a column `folded`, a text with
        words there stands behind them.
    beside
        Whether texts stand beside each other where there is room, or below each other.

    Examples
    --------
    >>> rows = pd.DataFrame({"head": ["plain"], "text": ["2 < 3"], "told": ["0.20"]})
    >>> "2 &lt; 3" in quotes(rows).data
    True
    """
    parts = [_quote(row) for row in rows.to_dict("records")]
    style = f' style="{_BESIDE}"' if beside else ""
    return HTML(f'<div class="quotes tex2jax_ignore mathjax_ignore"{style}>{"".join(parts)}</div>')


def _quote(row: dict[str, object]) -> str:
    text = str(row["text"])
    cut = text if len(text) <= _MOST else f"{text[:_MOST].rsplit(' ', 1)[0]} …"
    shown = f'<p style="margin:0.3rem 0">{escape.html(cut)}</p>'
    folded = row.get("folded")
    if isinstance(folded, str) and folded:
        shown = f"<details><summary>{escape.html(folded)}</summary>{shown}</details>"
    return (
        f'<div class="quote" style="{_ONE}"><strong>{escape.html(row["head"])}</strong>'
        f"{shown}<small>{escape.html(row['told'])}</small></div>"
    )
