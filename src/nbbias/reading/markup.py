"""Pieces of HTML to explore a result with: marked texts, tabs and folds that need no script.

Texts come from models and corpora. Whatever they hold is shown as text: nothing of it becomes a
tag, an address, mathematics, a colour or a direction of writing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from IPython.display import HTML

from nbbias.reading import names, prose, tables, templates
from nbbias.tables import escape

shown, attribute, visible = escape.html, escape.attribute, escape.visible  # former names


class Span(NamedTuple):
    """A part of a text that is marked; `tone` chooses the colour, `title` says what it is.

    Examples
    --------
    >>> Span(0, 2, 0, "male").title
    'male'
    """

    start: int
    end: int
    tone: int
    title: str


# --- text -------------------------------------------------------------------------------------


def marked(text: str, spans: Iterable[Span], *, start: int = 0, end: int | None = None) -> str:
    """Return a part of a text as HTML, with spans marked; of overlapping ones the first counts.

    Examples
    --------
    >>> marked("He <saw>", [Span(0, 2, 0, "male")])
    '<mark class="x-0" title="male">He</mark> &lt;saw&gt;'
    """
    end = len(text) if end is None else end
    parts, at = [], start
    for span in sorted(spans):
        if span.start < at or span.end > end:
            continue
        parts.append(escape.html(text[at : span.start]))
        said = escape.html(text[span.start : span.end])
        parts.append(
            f'<mark class="x-{span.tone % 5}" title="{escape.attribute(span.title)}">{said}</mark>'
        )
        at = span.end
    return "".join([*parts, escape.html(text[at:end])])


def tones(groups: Sequence[str]) -> dict[str, int]:
    """Give every group the number of its colour.

    Examples
    --------
    >>> tones(["female", "male"])
    {'female': 0, 'male': 1}
    """
    return {group: number for number, group in enumerate(groups)}


def spans(matches: pd.DataFrame, tone: Mapping[str, int]) -> list[Span]:
    """Return the spans of matches: `start`, `end`, `group`.

    Examples
    --------
    >>> matches = pd.DataFrame({"start": [0], "end": [2], "group": ["male"]})
    >>> [tuple(span) for span in spans(matches, tones(["female", "male"]))]
    [(0, 2, 1, 'male')]
    """
    rows = zip(matches["start"], matches["end"], matches["group"], strict=True)
    return [Span(int(start), int(end), tone.get(group, 0), group) for start, end, group in rows]


def legend(groups: Sequence[str]) -> str:
    """Say which colour is whose.

    Examples
    --------
    >>> legend(["female"])
    '<span class="x-soft">Marked: words for</span> <mark class="x-0">women</mark>'
    """
    marks = (
        f'<mark class="x-{tone % 5}">{escape.html(names.people(group))}</mark>'
        for group, tone in tones(groups).items()
    )
    return f'<span class="x-soft">Marked: words for</span> {" ".join(marks)}'


# --- pieces -----------------------------------------------------------------------------------


def number(value: float, *, decimals: int = 3) -> str:
    """Write a number; whole ones without decimals, a missing one as a dash.

    Examples
    --------
    >>> number(-0.5), number(1234), number(float("nan"))
    ('−0.500', '1,234', '–')
    """
    if pd.isna(value):
        return "\N{EN DASH}"
    if isinstance(value, int | np.integer):
        return f"{value:,}"
    return prose.number(float(value), decimals=decimals)


def table(rows: pd.DataFrame, *, html_columns: Collection[str] = ()) -> str:
    """Return a small table; columns in `html_columns` hold HTML already, all others are escaped.

    Examples
    --------
    >>> "she</th>" in table(pd.DataFrame({"word": ["she"]}))
    True
    """
    if rows.empty:
        return note("Nothing to show.")
    whole = tables.Table(rows, "", gap="\N{EN DASH}")
    return tables.table_html(whole, html_columns=html_columns)


def tabs(panels: Mapping[str, str], *, called: str, chosen: int = 0) -> str:
    """Return panels of which one is seen: label → HTML. Without styles all stand in line.

    Examples
    --------
    >>> tabs({"a": "<p>1</p>", "b": "<p>2</p>"}, called="Model").count("<input")
    2
    """
    digest = hashlib.sha256((called + "".join(panels.values())).encode()).hexdigest()[:10]
    parts = [f'<span class="x-called">{escape.html(called)}</span>' if called else ""]
    for i, (label, panel) in enumerate(panels.items()):
        checked = " checked" if i == chosen else ""
        parts.append(
            f'<input type="radio" name="x{digest}" id="x{digest}-{i}"{checked}>'
            f'<label for="x{digest}-{i}">{escape.html(label)}</label>'
            f'<div class="x-panel">{panel}</div>'
        )
    named = escape.attribute(called)
    return f'<div class="x-tabs" role="group" aria-label="{named}">{"".join(parts)}</div>'


def fold(summary: str, body: str, *, opened: bool = False, kind: str = "") -> str:
    """Return a part that opens on a click; `summary` and `body` are HTML.

    Examples
    --------
    >>> fold("more", "<p>1</p>", opened=True)
    '<details open><summary>more</summary><div class="x-body"><p>1</p></div></details>'
    """
    named = f' class="{kind}"' if kind else ""
    is_open = " open" if opened else ""
    inside = f'<summary>{summary}</summary><div class="x-body">{body}</div>'
    return f"<details{named}{is_open}>{inside}</details>"


def note(text: str) -> str:
    """Return a line that says how to read what stands beside it.

    Examples
    --------
    >>> note("0 < 1")
    '<p class="x-note">0 &lt; 1</p>'
    """
    return f'<p class="x-note">{escape.html(text)}</p>'


def framed(body: str, *, title: str, about: str = "") -> HTML:
    """Return a whole explorer, with its style, for the page and for JupyterLab.

    No program that typesets mathematics looks into it.

    Examples
    --------
    >>> "mathjax_ignore" in framed("<p>x</p>", title="Words").data
    True
    """
    named = f'<p class="x-title"><strong>{escape.html(title)}</strong></p>' if title else ""
    head = named + (note(about) if about else "")
    inside = f'<div class="nbx tex2jax_ignore mathjax_ignore">{head}{body}</div>'
    return HTML(templates.style("explorer.css") + templates.style("table.css") + inside)
