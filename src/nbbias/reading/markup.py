"""Pieces of HTML to explore a result with: marked texts, tabs and folds that need no script.

Texts come from models and corpora. Whatever they hold is shown as text: nothing of it becomes a
tag, an address, mathematics, a colour or a direction of writing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
from IPython.display import HTML

from nbbias.reading import names, tables, templates
from nbbias.tables import escape, hash_text

# --- text -------------------------------------------------------------------------------------


def marked(text: str, matches: pd.DataFrame, groups: Sequence[str], *, start: int, end: int) -> str:
    """Return a part of a text as HTML, with matches marked; of overlapping ones the first counts.

    Parameters
    ----------
    text
        Any text.
    matches
        `start`, `end` and `group` of each match.
    groups
        Their order gives every group its colour.
    start, end
        The part of the text.

    Examples
    --------
    >>> matches = pd.DataFrame({"start": [0], "end": [2], "group": ["male"]})
    >>> marked("He <saw>", matches, ["female", "male"], start=0, end=8)
    '<mark class="x-1" title="male">He</mark> &lt;saw&gt;'
    """
    parts, at = [], start
    for match in matches.sort_values(["start", "end"]).itertuples():
        if match.start < at or match.end > end:
            continue
        title, colour = escape.attribute(match.group), _colour(groups, match.group)
        word = escape.html(text[match.start : match.end])
        parts.append(escape.html(text[at : match.start]))
        parts.append(f'<mark class="{colour}" title="{title}">{word}</mark>')
        at = match.end
    return "".join([*parts, escape.html(text[at:end])])


def _colour(groups: Sequence[str], group: str) -> str:
    return f"x-{list(groups).index(group) % 5 if group in groups else 0}"


def legend(groups: Sequence[str]) -> str:
    """Say which colour is whose.

    Examples
    --------
    >>> legend(["female"])
    '<span class="x-soft">Marked: words for</span> <mark class="x-0">women</mark>'
    """
    mark = '<mark class="{}">{}</mark>'.format
    marks = [mark(_colour(groups, group), escape.html(names.people(group))) for group in groups]
    return f'<span class="x-soft">Marked: words for</span> {" ".join(marks)}'


def quotes(rows: pd.DataFrame, *, beside: bool = True) -> HTML:
    """Show texts, each below a heading and above a line that says what was measured.

    Parameters
    ----------
    rows
        `head`, `text` and `caption`. A text with words in the optional column `folded` is folded
        behind them, since it may be offensive.
    beside
        Whether texts stand beside each other where there is room, or below each other.

    Examples
    --------
    >>> rows = pd.DataFrame({"head": ["plain"], "text": ["2 < 3"], "caption": ["0.20"]})
    >>> "2 &lt; 3" in quotes(rows).data
    True
    """
    return HTML(templates.render("quotes.html.j2", rows=rows.to_dict("records"), beside=beside))


# --- pieces -----------------------------------------------------------------------------------


def table(rows: pd.DataFrame, *, decimals: int = 3) -> str:
    """Return a small table (`reading.tables.table_html`).

    Examples
    --------
    >>> "she</th>" in table(pd.DataFrame({"word": ["she"]}))
    True
    """
    if rows.empty:
        return note("Nothing to show.")
    return tables.table_html(tables.Table(rows, "", decimals=decimals, gap="\N{EN DASH}"))


def tabs(panels: Mapping[str, str], *, called: str) -> str:
    """Return panels of which one is seen: label → HTML. Without styles all stand in line.

    Examples
    --------
    >>> tabs({"a": "<p>1</p>", "b": "<p>2</p>"}, called="Model").count("<input")
    2
    """
    digest = hash_text(called + "".join(panels.values()))[:10]
    return templates.render("tabs.html.j2", panels=panels, called=called, id=digest)


def sides(texts: Sequence[tuple[str, str]]) -> str:
    """Return texts side by side, each below its name; names are text, texts are HTML.

    Examples
    --------
    >>> sides([("a < b", "<mark>she</mark>")]).count("<mark>")
    1
    """
    columns = "".join(
        f"<div><strong>{escape.html(name)}</strong>"
        f'<div dir="auto" class="x-text">{text}</div></div>'
        for name, text in texts
    )
    return f'<div class="x-sides">{columns}</div>'


def fold(summary: str, body: str) -> str:
    """Return a part that opens on a click; `summary` and `body` are HTML.

    Examples
    --------
    >>> fold("more", "<p>1</p>")
    '<details><summary>more</summary><div class="x-body"><p>1</p></div></details>'
    """
    return f'<details><summary>{summary}</summary><div class="x-body">{body}</div></details>'


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

    Examples
    --------
    >>> "mathjax_ignore" in framed("<p>x</p>", title="Words").data
    True
    """
    values = {"styles": "".join(map(templates.style, ("explorer.css", "table.css")))}
    values |= {"title": title, "about": about, "body": body}
    return HTML(templates.render("explorer.html.j2", **values))
