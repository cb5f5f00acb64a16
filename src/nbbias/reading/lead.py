"""What a page says first: the finding in sentences, its figure, three numbers, and a card.

A study's function `lead` (in `sentences.py`; in `page.py` of `llmbi` and `counterfactual`) makes
a `Lead`; `notebook.Notebook.lead` saves and shows it.

>>> from nbbias import tables
>>> row = {"model": "m", "measure": "word", "statistic": "my_share", "group": "x", "estimate": 0.1,
...        "ci_low": 0.0, "ci_high": 0.2, "null": 0.0, "n": 9}
>>> table = tables.estimates([row], study="mine", confidence=0.95)
>>> forest(table, reference="in the originals").rows["panel"].tolist()
['My share']
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import pandas as pd
from markupsafe import Markup

from nbbias.params import Texts
from nbbias.reading import figures, names, phrases, prose, significance, templates, tipping
from nbbias.reading.claims import CLAIM
from nbbias.tables import ESTIMATE_KEYS, escape

#: Numbers of ESTIMATES that stand beside a name.
_VALUES = ("estimate", "ci_low", "ci_high", "confidence", "n", "null", "null_low", "null_high")

#: Numbers that lead.
_LEADING = 3


class Lead(NamedTuple):
    """What the first screen of a page says.

    Parameters
    ----------
    plain
        Two to six sentences: what differs, from which reference, by how much. Markdown.
    technical
        The same as a paper says it. Markdown.
    figure
        The name of a saved figure.
    numbers
        Up to three rows of ESTIMATES, with a column `name`: what people call them; of a difference
        a column `levels` may have the two values that it is of (`levels`), shown in its place.
        `counted` may say what N counts, and `lost_as` what the excluded units are called.
    card
        What is measured (`measures`), whose (`groups`), `N`, `instrument`, and what not to
        conclude (`not`).
    texts
        Where the texts are from.

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


def to_dict(lead: Lead) -> dict[str, Any]:
    """Return a lead as it is saved with a run, without Markdown; NaN is None.

    `note` says what the numbers of significant claims, and p values, are adjusted for.

    Examples
    --------
    >>> rows = pd.DataFrame({"study": "llmbi", "measure": "llmbi", "statistic": "index",
    ...     "name": "a", "estimate": [0.5], "ci_low": 0.25, "ci_high": 0.75, "confidence": 0.95,
    ...     "n": 18})
    >>> saved = to_dict(Lead(("**It** is so.",), "", "means", rows, {}, Texts("own", "a.csv")))
    >>> saved["sentence"], saved["numbers"][0]["value"], saved["numbers"][0]["null"]
    ('It is so.', '0.50', None)
    """
    plain = [escape.without_markdown(sentence) for sentence in lead.plain]
    rows, note = lead.numbers.head(_LEADING), ""
    stated = any(f"p {sign} " in text for text in plain for sign in "=<≤")
    if CLAIM in rows and (stated or significance.is_significant(rows).any()):
        selected = rows.get("confidence_selected", pd.Series()).max() > rows["confidence"].max()
        values = {"study": rows["study"].iloc[0], "least": any("≤" in text for text in plain)}
        note = prose.render_plain("claims.adjusted", selected=selected, **values)
    return {
        "sentence": " ".join([*plain, note]).strip(),
        "plain": plain,
        "note": note,
        "technical": escape.without_markdown(lead.technical),
        "figure": lead.figure,
        "numbers": [number(row) for row in rows.to_dict("records")],
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
    low, high, level = prose.confidence_interval(row)
    row = {**row, "ci_low": low, "ci_high": high}
    values = {k: None if pd.isna(row.get(k)) else row[k] for k in (*ESTIMATE_KEYS, *_VALUES)}
    factor, decimals, *_ = names.unit(row)
    lost, lost_as = row.get("n_lost", 0), row.get("lost_as", "excluded")
    start = prose.number(factor * low, decimals=decimals)
    between = f"{level} {start} to {names.quantity(row, 'ci_high')}"
    return {
        "name": str(row["name"]),
        "value": names.quantity(row),
        "interval": "no interval" if values["ci_low"] is None else between,
        "N": f"N = {row['n']:,.0f}{row.get('counted', '')}"
        + (f", {lost:,.0f} {lost_as}" if lost > 0 else ""),
        "levels": row["levels"] if isinstance(row.get("levels"), dict) else None,
        **values,
    }


def levels(first: float, second: float, *, of: str) -> dict[str, str]:
    """Return the two shares that a difference is of, and what they are, for its key number.

    Examples
    --------
    >>> levels(0.384, 0.244, of="women's share, human articles → gpt-4")
    {'value': '38.4% → 24.4%', 'of': "Women's share, human articles → gpt-4"}
    """
    return {"value": f"{first:.1%} \N{RIGHTWARDS ARROW} {second:.1%}", "of": prose.capitalize(of)}


def shares_of_words(row: Mapping[str, Any], scores: pd.DataFrame) -> tuple[float, float]:
    """Return a group's mean shares whose difference a row is, the reference first, by SCORES."""
    table, _ = tipping.count_words(row, scores)
    second, first = (table[:, ::2] / (table[:, ::2] + table[:, 1::2])).mean(axis=0)
    return first, second


def render(saved: Mapping[str, Any], *, figure: str = "") -> str:
    """Return the first screen as HTML, of a saved lead (`to_dict`) and the figure's HTML.

    Examples
    --------
    >>> saved = {"plain": ["It is < 1."], "texts": {"kind": "own", "told": "a.csv"}}
    >>> "It is &lt; 1." in render(saved)
    True
    >>> "nul[U+0000]" in render(saved | {"plain": ["nul" + chr(0)]})
    True
    """
    return templates.render("lead.html.j2", lead=saved, figure=figure)


# --- the figure that leads --------------------------------------------------------------------


def sort_models(
    rows: pd.DataFrame, estimates: pd.DataFrame, leading: Callable[[pd.DataFrame], phrases.Parts]
) -> pd.DataFrame:
    """Sort rows by model as `forest` does what leads: first what is significant, by size.

    Parameters
    ----------
    rows
        Rows of ESTIMATES.
    estimates
        All rows; where some are claims, these lead.
    leading
        Returns, of what leads, its parts.

    Examples
    --------
    >>> rows = pd.DataFrame({"model": ["a", "b"], "estimate": 0.1, "p_adjusted": [0.9, 0.01]})
    >>> rows = rows.assign(confidence=0.95, reason=None)
    >>> sort_models(rows, rows, lambda rows: [rows])["model"].tolist()
    ['b', 'a']
    """
    parts = leading(estimates[estimates[CLAIM].notna()] if CLAIM in estimates else estimates)
    significant = map(significance.significant, parts)
    by_size = [part.sort_values("estimate", key=abs, ascending=False) for part in significant]
    models = pd.concat([*by_size, *parts, rows])["model"].unique()
    return rows.sort_values("model", key=lambda of: of.map([*models].index), kind="stable")


#: Panels that a reader takes in at once.
_PANELS = 4


def forest(rows: pd.DataFrame, *, reference: str) -> figures.Drawn:
    """Draw the rows that lead a page, a panel a measure and group, around their reference.

    Parameters
    ----------
    rows
        Rows of ESTIMATES, of `reading.claims.declared` or those of one measure.
    reference
        What 0 stands for, such as ``"in the originals"``. N counts articles.

    Returns
    -------
    Drawn
        With `panel` and `cell` in its rows; what is significant first, of a panel the largest.

    Examples
    --------
    >>> from nbbias import tables
    >>> row = {"model": "m", "measure": "word", "statistic": "my_share", "estimate": 0.1, "n": 9}
    >>> drawn = forest(tables.estimates([row], study="mine"), reference="in the originals")
    >>> drawn.rows["cell"].tolist()
    ['m']
    """
    rows = rows.assign(panel=[prose.capitalize(names.measure(r)) for r in rows.to_dict("records")])
    rows = rows[rows.groupby("panel")["estimate"].transform("count") > 0]
    panels = dict(iter(rows.groupby("panel")))
    cells = [names.subject(row, panels[row["panel"]]) for row in rows.to_dict("records")]
    rows = rows.assign(cell=cells)
    tested = significance.valid_tests(rows)
    leading = significance.significant(rows).sort_index()
    order = list(pd.concat([leading["panel"], rows["panel"]]).unique())
    by_size = leading.sort_values("estimate", key=abs, ascending=False, kind="stable")
    by_size = by_size.sort_values("panel", key=lambda of: of.map(order.index), kind="stable")
    first = pd.concat([by_size["cell"], rows["cell"]]).drop_duplicates()
    drawn = [rows[rows["panel"] == panel] for panel in order[:_PANELS]]
    rows = pd.concat(drawn or [rows], ignore_index=True)
    shown, axis = figures.scaled(rows)
    # Panels side by side have the same rows in the same order; missing rows are gaps.
    places = rows[["panel"]].drop_duplicates().merge(first.to_frame(), how="cross")
    shown = places.merge(shown, how="left", on=["panel", "cell"])
    figure = figures.claims(shown, axis, draw=figures.zero, hue="group")
    differ = Markup(prose.render("figures.differences", declared=CLAIM in rows))
    none, untested = (prose.render(f"figures.{of}") for of in ("no_difference", "untested"))
    title = phrases.heading(rows, what=differ, none=none, untested=untested, most=2)
    alt = prose.render_plain("figures.forest_alt", reference=reference)
    caption = figures.caption(rows, f"mean differences from the values {reference}", of="articles")
    if rest := order[_PANELS:]:
        counts = [len(rest), *(len({*rest} & {*of["panel"]}) for of in (tested, leading))]
        caption += " " + prose.render_plain("figures.left_out", counts=counts)
    return figures.Drawn(figure, rows, alt, escape.without_markdown(title), caption)
