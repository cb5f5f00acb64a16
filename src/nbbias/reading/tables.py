"""Tables for readers: numbers aligned and rounded, gaps written out, every text escaped.

`readable` chooses from ESTIMATES the few columns that a reader needs; `show` prints any table.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from great_tables import GT, html, loc, style
from IPython.display import HTML

from nbbias.reading import names
from nbbias.reading.sentences import number, p_value
from nbbias.tables import ESTIMATE_KEYS, escape, visible

_ROWS_AT_ONCE = 30
_SHORT = 30  # characters that stay on one line
_COLUMNS = 8  # of a table that is read, not looked up
_EXPLORATORY = "Exploratory: p is corrected over all rows of this kind, declared ones too."
_THEME = (
    "background: var(--jp-layout-color0, #fff); color: var(--jp-content-font-color1, #333); "
    "border-color: var(--jp-border-color2, #d3d3d3);"
)


class Table(NamedTuple):
    """A table with what a reader needs beside it: what functions for readers return.

    Parameters
    ----------
    rows
        The rows and columns to show, in order.
    title
        What the table says.
    note
        A line under the table: units, N, direction, what is missing.
    labels
        Column → heading; other columns show their name with spaces.
    decimals
        Decimals of the fractional columns; whole numbers keep none.
    gap
        What stands for a missing number.

    Examples
    --------
    >>> table = Table(pd.DataFrame({"model": ["gpt-4"], "n": [18]}), "Answers by model")
    >>> table.gap
    'not measured'
    """

    rows: pd.DataFrame
    title: str
    note: str | None = None
    labels: Mapping[str, str] | None = None
    decimals: int = 3
    gap: str = "not measured"


# --- of estimates -----------------------------------------------------------------------------


def readable(
    estimates: pd.DataFrame,
    keys: Sequence[str],
    *,
    statistics: Sequence[str] | None = None,
    rows: int | None = 12,
    **told: Any,
) -> Table:
    """Choose the columns of ESTIMATES that a reader needs: eight at most.

    Parameters
    ----------
    estimates
        ESTIMATES.
    keys
        Columns that tell rows apart, in the order of their weight. Those that are alike in all
        rows go to the note, and `statistic` joins them where there are several.
    statistics
        Which to show; all where None.
    rows
        Where there are more, those with the smallest p stand in the table (of alike ones, and
        where nothing was tested, those furthest from `null`, or from 0), and the note counts the
        others. None: all rows.
    **told
        `title`, `note`, `labels`, `decimals` and `gap` of `Table`. `labels` names the columns by
        those of ESTIMATES: ``{"null": "neutral prose"}``, ``{"n": "prompts"}``.

    Returns
    -------
    Table
        The keys that vary (the last ones in one column where there is no room), ``estimate [95%
        CI]`` in one cell, with the reason where something was not measured, `n`,
        `n_lost` where there is any, `null` with its range where it says more than 0, and
        `p_adjusted` (or `p_value`, where nothing was adjusted). Rows that are alike in all keys
        but the last stand together, in the order in which they came.

    Examples
    --------
    >>> from nbbias import tables
    >>> row = {"model": "gpt-4", "statistic": "index", "estimate": -0.5, "ci_low": -0.75,
    ...        "ci_high": -0.25, "n": 18, "null": 0.3, "instrument": "TextBlob"}
    >>> rows = [row, {**row, "model": "llama"}]
    >>> found = tables.estimates(rows, study="llmbi", confidence=0.95)
    >>> table = readable(found, ["model", "instrument"], title="Index")
    >>> table.rows.iloc[0].to_dict()
    {'model': 'gpt-4', 'estimate': '−0.500 [−0.750, −0.250]', 'n': 18, 'null': '0.300'}
    >>> table.note
    'All rows: instrument TextBlob.'
    """
    whole = Table(estimates, **{"title": "", "gap": "not tested", **told})
    own = estimates if statistics is None else estimates[estimates["statistic"].isin(statistics)]
    own = own.reset_index(drop=True)
    if own["statistic"].nunique() > 1 and "statistic" not in keys:
        keys = [*keys, "statistic"]
    labels = {"n": "N", "n_lost": "lost", "null": "by chance", **(whole.labels or {})}
    labels = {name: name.replace("_", " ") for name in ESTIMATE_KEYS} | labels
    named = [key for key in keys if own[key].notna().any()] or list(keys)[:1]
    varying = [key for key in named if own[key].nunique(dropna=False) > 1] or named[:1]
    constant = [
        f"{labels.get(key, key)} {_in_words(key, own[key].iloc[0])}"
        for key in named
        if len(own) and key not in varying
    ]
    note = [whole.note] if whole.note else []
    note += [f"All rows: {'; '.join(constant)}."] if constant else []
    if rows is not None and len(own) > rows:
        p = own["p_adjusted"].fillna(own["p_value"])
        far = -(own["estimate"] - own["null"].fillna(0)).abs()
        first = pd.DataFrame({"p": p, "far": far}).sort_values(["p", "far"]).index[:rows]
        which = (
            "least likely by chance"
            if p.notna().any()
            else f"furthest from {_reference(own, labels['null'])}"
        )
        note.append(f"The {rows} rows {which}; {len(own) - rows:,} more in tables/estimates.csv.")
        own = own.loc[first]
    else:
        together = varying[:-1]
        if together:
            own = own.sort_values(together, kind="stable", key=lambda v: pd.factorize(v)[0])
    shown, headings = _cells(own, whole.decimals, labels)
    if {"p_value", "p_adjusted"} & {*shown} and "claim" not in own:
        note.append(_EXPLORATORY)
    named = _named(own, varying, room=_COLUMNS - len(shown.columns), labels=labels)
    frame = pd.concat([named, shown], axis=1).reset_index(drop=True)
    return whole._replace(rows=frame, note=" ".join(note) or None, labels=labels | headings)


def _cells(
    own: pd.DataFrame, decimals: int, labels: Mapping[str, str]
) -> tuple[pd.DataFrame, dict[str, str]]:
    """Return the columns with numbers, and the heading of that of the estimates."""
    levels = own["confidence"].dropna().unique()
    level = f"{levels[0]:.0%} CI" if len(levels) == 1 else "CI"
    cells = {"estimate": [_estimate(row, decimals) for row in own.to_dict("records")]}
    cells["n"] = own["n"].astype(int).to_list()
    if own["n_lost"].any():
        cells["n_lost"] = own["n_lost"].astype(int).to_list()
    if own["null"].fillna(0).ne(0).any() or own["null_low"].notna().any():
        cells["null"] = [
            "" if pd.isna(null) else number(null, decimals=decimals) + _range(low, high, decimals)
            for null, low, high in own[["null", "null_low", "null_high"]].itertuples(index=False)
        ]
    p = "p_adjusted" if own["p_adjusted"].notna().any() else "p_value"
    if own[p].notna().any():
        cells[p] = p_column(own, p).to_list()
    heading = f"{labels.get('estimate', 'estimate')} [{level}]"
    return pd.DataFrame(cells, index=own.index), {"estimate": heading}


def _estimate(row: Mapping[str, Any], decimals: int) -> str:
    why = row["reason"] if isinstance(row["reason"], str) else ""
    if not np.isfinite(row["estimate"]):
        return f"not measured: {why}"
    told = number(row["estimate"], decimals=decimals)
    told += _range(row["ci_low"], row["ci_high"], decimals)
    no_interval = "" if np.isfinite(row["ci_low"]) else "no interval: "
    return f"{told} ({no_interval}{why})" if why else told


def _range(low: float, high: float, decimals: int) -> str:
    if not np.isfinite(low):
        return ""
    return f" [{number(low, decimals=decimals)}, {number(high, decimals=decimals)}]"


def _reference(own: pd.DataFrame, named: str) -> str:
    if not own["null"].fillna(0).any():
        return "0"
    return f"what is {named}" if named.startswith("by ") else named


def _named(
    own: pd.DataFrame, keys: Sequence[str], *, room: int, labels: dict[str, str]
) -> pd.DataFrame:
    """Return the keys as texts, the last ones in one column where there is no room for each."""
    texts = {key: [_in_words(key, value) for value in own[key]] for key in keys}
    table = pd.DataFrame(texts, index=own.index)
    if len(keys) <= room:
        return table
    alone, joined = list(keys[: room - 1]), list(keys[room - 1 :])
    name = " / ".join(labels.get(key, key) for key in joined)
    labels[name] = name
    both = [" / ".join(filter(None, row)) for row in table[joined].itertuples(index=False)]
    return table[alone].assign(**{name: both})


def _in_words(key: str, value: object) -> str:
    if pd.isna(value):
        return ""
    if key in {"measure", "statistic"}:
        return str(value).replace("_", " ")
    return {"group": names.people, "judge": names.judge}.get(key, str)(str(value))


# --- any table --------------------------------------------------------------------------------


def show(table: pd.DataFrame | Table, **told: Any) -> HTML:
    """Show a table: numbers aligned and rounded, gaps written out, every text escaped.

    Parameters
    ----------
    table
        The rows and columns to show, in order; or a `Table`, which says the rest itself.
    **told
        `title`, `note`, `labels`, `decimals` and `gap` of `Table`.

    Examples
    --------
    >>> page = show(pd.DataFrame({"share": [0.5, None]}), title="Shares <b>")
    >>> "Shares &lt;b&gt;" in page.data, "not measured" in page.data
    (True, True)
    """
    if isinstance(table, Table):
        table, title, note, labels, decimals, gap = table._replace(**told)
    else:
        table, title, note, labels, decimals, gap = Table(table, **told)
    plain = _seen(table.reset_index(drop=True))
    named = {name: (labels or {}).get(name, str(name).replace("_", " ")) for name in plain}
    # A name made from the content: the same table gets the same HTML in every run.
    content = visible(title + plain.to_csv(index=False))
    digest = hashlib.sha256(content.encode()).hexdigest()[:10]
    printed = GT(plain, id=f"t{digest}").tab_header(title=_text(title))
    printed = printed.cols_label({name: _text(label) for name, label in named.items()})
    numeric = plain.select_dtypes("number")
    whole = [name for name in numeric if (numeric[name].dropna() % 1 == 0).all()]
    p_values = [name for name in numeric if str(name).startswith("p_")]
    whole = [name for name in whole if name not in p_values]
    fractional = [name for name in numeric if name not in {*whole, *p_values}]
    written = [n for n in plain.columns.difference(numeric.columns) if str(n).startswith("p_")]
    if written:
        printed = printed.cols_align("right", columns=written)
    if p_values:
        printed = printed.fmt(lambda p: escape.printed(p_in_table(p)), columns=p_values)
    if fractional:
        printed = printed.fmt_number(columns=fractional, decimals=decimals)
    if whole:
        printed = printed.fmt_integer(columns=whole)
    texts = [name for name in plain.columns if name not in numeric]
    if texts:
        printed = printed.fmt(escape.printed, columns=texts)
    for columns, missing in ((list(numeric), gap), (texts, "")):
        if columns:
            printed = printed.sub_missing(columns=columns, missing_text=_text(missing))
    printed = printed.tab_options(
        table_font_size="13px",
        heading_align="left",
        heading_title_font_size="14px",
        data_row_padding="4px",
        table_width="auto",
        table_margin_left="0",
        # Colours of JupyterLab's theme, where there is one; it paints rows itself else.
        table_additional_css=[f"#t{digest} table.gt_table :is(tr, th, td) {{ {_THEME} }}"],
    )
    short = [
        name
        for name in plain.columns.difference(numeric.columns)
        if plain[name].dropna().astype(str).str.len().max() <= _SHORT
    ]
    wordy = list(plain.columns.difference([*numeric.columns, *short]))
    if wordy:
        printed = printed.tab_style(style.css("min-width: 14em"), loc.body(columns=wordy))
    if short:
        printed = printed.tab_style(style.css("white-space: nowrap"), loc.body(columns=short))
    if note:
        printed = printed.tab_source_note(_text(note))
    scroll = "overflow:auto;max-height:32rem" if len(plain) > _ROWS_AT_ONCE else "overflow-x:auto"
    # No program that typesets mathematics looks into it.
    return HTML(
        f'<div class="tex2jax_ignore mathjax_ignore" style="{scroll}" tabindex="0">'
        f"{printed.as_raw_html()}</div>"
    )


def p_in_table(p: float | Mapping[str, Any], of: str = "p_adjusted") -> str:
    """Write a p value as `p_value` does, below a heading that says what it is.

    Examples
    --------
    >>> p_in_table(0.0312)
    '.031'
    """
    return p_value(p, of).removeprefix("p").lstrip(" =").replace(" ", "\N{NO-BREAK SPACE}")


def p_column(rows: pd.DataFrame, of: str = "p_adjusted") -> pd.Series:
    """Return a column of p values of ESTIMATES for readers: as texts where any is at its floor.

    Examples
    --------
    >>> rows = pd.DataFrame({"p_value": [0.002, 0.04], "p_least": 0.002})
    >>> [text.split() for text in p_column(rows, "p_value")]
    [['≤', '.002'], ['.040']]
    """
    # Tables of models, too, are read: tests without a floor do not name it.
    least = rows.get("p_least", pd.Series(np.nan, rows.index))
    at_floor = rows["p_value"] <= least * (1 + 1e-9)
    if not (at_floor & (rows[of] >= 0.001)).any():
        return rows[of]
    texts = ["" if pd.isna(row[of]) else p_in_table(row, of) for row in rows.to_dict("records")]
    return pd.Series(texts, index=rows.index)


def _text(text: object) -> Any:
    """Return any text as Great Tables prints it, which reads nothing in it."""
    return html(escape.printed(text))


def _seen(table: pd.DataFrame) -> pd.DataFrame:
    """Write out in every text what is not seen."""
    texts = table.select_dtypes(["object", "str", "category"]).columns
    shown = table.copy()
    for name in texts:
        shown[name] = (
            table[name].astype(object).map(lambda v: visible(v) if isinstance(v, str) else v)
        )
    return shown
