"""What a page says first: the finding in sentences, its figure, three numbers, and a card."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import jinja2
import pandas as pd

from nbbias.params import Texts
from nbbias.reading import names
from nbbias.tables import ESTIMATE_KEYS, data_path, escape, visible

#: Numbers of ESTIMATES that stand beside a name.
_VALUES = ("estimate", "ci_low", "ci_high", "confidence", "n", "null", "null_low", "null_high")

#: Numbers that lead.
_LEADING = 3


class Lead(NamedTuple):
    """What the first screen of a page says.

    Parameters
    ----------
    plain
        Two to four sentences: what differs, from which reference, by how much. Markdown.
    technical
        The same as a paper says it. Markdown.
    figure
        The name of a saved figure.
    numbers
        Up to three rows of ESTIMATES, with a column `name`: what people call them.
    card
        What is measured (`measures`), whose (`groups`), `N`, `instrument`, and what not to
        conclude (`not`).
    texts
        Where the texts are from.
    claims
        The rows of ESTIMATES that the sentences call significant, where a study gives them.

    Examples
    --------
    >>> rows = pd.DataFrame()
    >>> Lead(("It is so.", "Against that."), "p", "means", rows, {}, Texts("own", "a.csv")).figure
    'means'
    """

    plain: tuple[str, ...]
    technical: str
    figure: str
    numbers: pd.DataFrame
    card: Mapping[str, str]
    texts: Texts
    claims: pd.DataFrame = pd.DataFrame()


def to_dict(lead: Lead) -> dict[str, Any]:
    """Return a lead as it is saved with a run, without Markdown; NaN is None.

    Examples
    --------
    >>> rows = pd.DataFrame({"study": "llmbi", "measure": "llmbi", "statistic": "index",
    ...     "name": "a", "estimate": [0.5], "ci_low": 0.25, "ci_high": 0.75, "confidence": 0.95,
    ...     "n": 18})
    >>> kept = to_dict(Lead(("**It** is so.",), "", "means", rows, {}, Texts("own", "a.csv")))
    >>> kept["sentence"], kept["numbers"][0]["value"], kept["numbers"][0]["null"]
    ('It is so.', '0.50', None)
    """
    plain = [escape.without_markdown(one) for one in lead.plain]
    return {
        "sentence": " ".join(plain),
        "plain": plain,
        "technical": escape.without_markdown(lead.technical),
        "figure": lead.figure,
        "numbers": [number(row) for row in lead.numbers.head(_LEADING).to_dict("records")],
        "card": {name: escape.without_markdown(text) for name, text in lead.card.items()},
        "texts": lead.texts._asdict(),
    }


def number(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row of ESTIMATES with a `name` as it leads a page: its values, and in words.

    Examples
    --------
    >>> row = {"study": "llmbi", "measure": "llmbi", "statistic": "index", "name": "gpt-4"}
    >>> row |= {"estimate": 0.5, "ci_low": 0.25, "ci_high": 0.75, "confidence": 0.95, "n": 18}
    >>> number(row)["interval"]
    '95% CI 0.25 to 0.75'
    """
    values = {key: row.get(key) for key in (*ESTIMATE_KEYS, *_VALUES)}
    kept = {key: None if pd.isna(value) else value for key, value in values.items()}
    known = kept["ci_low"] is not None
    low, high = (names.quantity(row, end) for end in ("ci_low", "ci_high")) if known else ("", "")
    between = (
        f"{row['confidence']:.0%} CI {low.split(' ')[0]} to {high}" if known else "no interval"
    )
    return {
        "name": str(row["name"]),
        "value": names.quantity(row),
        "interval": between,
        "N": f"N = {row['n']:,.0f}",
        **kept,
    }


def render(kept: Mapping[str, Any], *, figure: str = "") -> str:
    """Return the first screen as HTML, of a saved lead (`to_dict`) and the figure's HTML.

    Examples
    --------
    >>> kept = {"plain": ["It is < 1."], "texts": {"kind": "own", "told": "a.csv"}}
    >>> "It is &lt; 1." in render(kept)
    True
    >>> "nul[U+0000]" in render(kept | {"plain": ["nul" + chr(0)]})
    True
    """
    loader = jinja2.FileSystemLoader(data_path("templates"))
    template = jinja2.Environment(loader=loader, autoescape=True).get_template("lead.html.j2")
    return visible(template.render(lead=kept, figure=figure))
