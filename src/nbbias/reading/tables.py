"""Tables for readers: numbers aligned and rounded, gaps written out, every text escaped.

`readable` chooses from ESTIMATES the few columns that a reader needs; `show` prints any table.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from IPython.display import HTML
from markupsafe import Markup

from nbbias.reading import names, significance, templates
from nbbias.reading.prose import count_range, level, number, p_value
from nbbias.tables import ESTIMATE_KEYS, read_shipped_yaml

_SHORT = 30  # characters that stay on one line
_CLAIM = "\N{DAGGER} Pre-specified: p and interval as in their table"
#: Rows of a choice by p that stay where all p are 1.
_FEWEST = 3


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


def caption(rows: pd.DataFrame, *, study: str, name: str) -> Table:
    """Return a table under the title, note and labels of ``data/prose/tables.yaml``.

    Where its note says ``[CI``, it is given the level of the rows.

    Parameters
    ----------
    rows
        The rows to show.
    study, name
        Study and table whose entry is taken.

    Examples
    --------
    >>> caption(pd.DataFrame({"model": ["m"]}), study="llmbi", name="losses").title
    'Answers read, excluded and scored'
    """
    return Table(rows, **_read_words(study, name, rows))


def _read_words(study: str, name: str, estimates: pd.DataFrame) -> dict[str, Any]:
    words = read_shipped_yaml("prose/tables.yaml")[study][name]
    stated = f"[{level(estimates)} CI".replace("[ ", "[")
    return {**words, "note": words.get("note", "").replace("[CI", stated) or None}


# --- of estimates -----------------------------------------------------------------------------


def readable(
    estimates: pd.DataFrame,
    keys: Sequence[str],
    *,
    statistics: Sequence[str] | None = None,
    rows: int | None = 12,
    words: tuple[str, str] | None = None,
    **options: Any,
) -> Table:
    """Choose the columns of ESTIMATES that a reader needs.

    Parameters
    ----------
    estimates
        ESTIMATES.
    keys
        Columns that distinguish rows, the most important first. Those with one value go to the
        note, and `statistic` joins them where there are several.
    statistics
        Which to show; all where None.
    rows
        Where there are more, the table holds those with the smallest p (of equal p, and where
        nothing was tested, those furthest from `null`, or from 0), and the note counts the others.
        None: all rows.
    words
        The study and the table's name, as in `caption`.
    **options
        `title`, `note`, `labels`, `decimals` and `gap` of `Table`. `labels` names the columns by
        those of ESTIMATES: ``{"null": "neutral prose"}``, ``{"n": "prompts"}``.

    Returns
    -------
    Table
        The keys that vary, ``estimate [95% CI]`` in one cell, with the reason where something was
        not measured, `n`, `n_lost` where there is any, `null` with its range where it is not just
        0, and
        `p_adjusted` (or `p_value`, where nothing was adjusted). Rows with the same keys but for
        the last are adjacent, in their order. Claims have a mark (`reading.claims.with_claims`).

    Examples
    --------
    >>> from nbbias import tables
    >>> row = {"model": "gpt-4", "statistic": "index", "estimate": -0.5, "ci_low": -0.75,
    ...        "ci_high": -0.25, "n": 18, "null": 0.3, "instrument": "TextBlob"}
    >>> rows = [row, {**row, "model": "llama"}]
    >>> estimates = tables.estimates(rows, study="llmbi", confidence=0.95)
    >>> table = readable(estimates, ["model", "instrument"], title="Index")
    >>> table.rows.iloc[0].to_dict()
    {'model': 'gpt-4', 'estimate': '−0.500 [−0.750, −0.250]', 'n': 18, 'null': '0.300'}
    >>> table.note
    'All rows: instrument TextBlob.'
    """
    fields = _read_words(*words, estimates) if words else {"title": ""}
    whole = Table(estimates, **{"gap": "not tested", **fields, **options})
    shown = estimates.reset_index(drop=True)
    if statistics is not None:
        shown = shown[shown["statistic"].isin(statistics)]
    if shown["statistic"].nunique() > 1 and "statistic" not in keys:
        keys = [*keys, "statistic"]
    labels = {name: name.replace("_", " ") for name in ESTIMATE_KEYS}
    null = "null value" + f" [{level(shown)} range]" * bool(shown["null_low"].notna().any())
    labels |= {"n": "N", "n_lost": "excluded", "null": null, **(whole.labels or {})}
    present = [key for key in keys if shown[key].notna().any()] or list(keys)[:1]
    varying = [key for key in present if shown[key].nunique(dropna=False) > 1] or present[:1]
    note = [whole.note] if whole.note else []
    if constant := {key: shown[key].iloc[0] for key in present if key not in varying}:
        values = (f"{labels.get(key, key)} {_in_words(key, v)}" for key, v in constant.items())
        note.append(f"All rows: {'; '.join(values)}.")
    if rows is not None and len(shown) > rows:
        shown, remark = _leading(shown, rows)
        note.append(remark)
    elif varying[:-1]:
        shown = shown.sort_values(varying[:-1], kind="stable", key=lambda v: pd.factorize(v)[0])
    alone = "verdict" in shown  # the table of claims itself
    claims = shown.get("claim", pd.Series(np.nan, index=shown.index)).notna() & (not alone)
    shown = significance.with_selection(shown)
    interval = f"{level(shown)} CI {labels.pop('interval', '')}".strip()
    labels["estimate"] = f"{labels.get('estimate', 'estimate')} [{interval}]"
    numbers = _number_columns(shown, whole.decimals)
    tested = bool({"p_value", "p_adjusted"} & {*numbers})
    further = tested and not claims.all()  # rows of which p is adjusted elsewhere
    stated = "Holm" in str(whole.note) or not further
    family = "." if stated else "; p adjusted over all rows of a statistic."
    if claims.any():
        pairs = zip(numbers["estimate"], claims, strict=True)
        numbers["estimate"] = [cell + " \N{DAGGER}" * claim for cell, claim in pairs]
        note.append(_CLAIM + "; other rows: exploratory" * further + family)
    elif tested and not alone:
        note.append(f"Exploratory{family}")
    texts = {key: [_in_words(key, value) for value in shown[key]] for key in varying}
    frame = pd.DataFrame({**texts, **numbers})
    return whole._replace(rows=frame, note=" ".join(note) or None, labels=labels)


def wide(
    rows: pd.DataFrame, keys: list[str], columns: str, *, words: tuple[str, str], of: str
) -> Table:
    """Lay out estimates with their intervals in columns; a star marks significant ones.

    Where the interval is adjusted for selection, the mark is ‡.

    Parameters
    ----------
    rows
        Rows of ESTIMATES, in whose order keys and columns stand.
    keys, columns
        What names a row of the table, and its columns.
    words
        The study and the table's name, as in `readable`.
    of
        What N counts.

    Examples
    --------
    >>> from nbbias import tables
    >>> row = {"judge": "a", "measure": "detection", "estimate": 0.5, "n": 9}
    >>> rows = [row | {"statistic": name} for name in ("accuracy", "f1")]
    >>> estimates = tables.estimates(rows, study="biasalert", confidence=0.95)
    >>> table = wide(estimates, ["judge"], "statistic", words=("biasalert", "scores"), of="texts")
    >>> table.rows.to_dict("records")
    [{'judge': 'a', 'accuracy': '50.0% (no interval)', 'f1': '0.500 (no interval)'}]
    """
    shown = significance.with_selection(rows).to_dict("records")
    selected = rows.get("ci_low_selected", pd.Series(np.nan, rows.index)).notna()
    marks = np.where(significance.is_significant(rows), np.where(selected, " ‡", " *"), "")
    cells = [estimate_cell(names.scaled(row)) for row in shown] + marks.astype(object)
    texts = {key: [_in_words(key, value) for value in rows[key]] for key in keys}
    frame = rows.assign(cell=cells, **texts)
    table = frame.pivot_table("cell", keys, columns, aggfunc="first", sort=False)
    whole = Table(table.reset_index(), **_read_words(*words, rows))
    labels = {str(name): _in_words(columns, name) for name in table} | {**(whole.labels or {})}
    note = f"{whole.note or ''} N = {count_range(rows['n'])} {of}.".strip()
    return whole._replace(labels=labels, note=note)


def labelled(rows: pd.DataFrame, names: Sequence[str], **options: Any) -> Table:
    """Return all rows as `readable` does, each under a name of its own (column `statistic`)."""
    table = readable(rows, ["statistic"], rows=None, **options)
    return table._replace(rows=table.rows.assign(statistic=names))


def _leading(rows: pd.DataFrame, most: int) -> tuple[pd.DataFrame, str]:
    """Return the rows with the smallest p, or furthest from the null value, and a note on these."""
    p = significance.adjusted_p(rows)
    if p.notna().any():  # of rows whose p is 1 after correction a few
        most = max(_FEWEST, min(most, (p < 1).sum()))
    distance = (rows["estimate"] - rows["null"].fillna(0)).abs()
    order = pd.DataFrame({"p": p, "distance": -distance}).sort_values(["p", "distance"]).index
    which = "smallest p" if p.notna().any() else "largest difference"
    more = f"{len(rows) - most:,} more in tables/estimates.csv"
    return rows.loc[order[:most]], f"The {most} rows with the {which}; {more}."


def _number_columns(rows: pd.DataFrame, decimals: int) -> dict[str, list[Any]]:
    """Return the columns with numbers: those in which any row says something."""
    scaled = [names.scaled(row, decimals=decimals) for row in rows.to_dict("records")]
    cells: dict[str, list[Any]] = {"estimate": [estimate_cell(row) for row in scaled]}
    cells["n"] = rows["n"].astype(int).to_list()
    if rows["n_lost"].any():
        cells["n_lost"] = rows["n_lost"].astype(int).to_list()
    if rows["null"].fillna(0).ne(0).any() or rows["null_low"].notna().any():
        cells["null"] = [
            "" if pd.isna(row["null"]) else _with_range(row, "null", "null_low", "null_high")
            for row in scaled
        ]
    tested = [p for p in ("p_value", "p_adjusted") if rows[p].notna().any()]
    shown = tested if "verdict" in rows else tested[-1:]  # of claims both
    return cells | {p: p_column(rows, p).to_list() for p in shown}


def estimate_cell(row: Mapping[str, Any]) -> str:
    """Write an estimate with its interval, or why there is none, of a row as `names.scaled` gives.

    Examples
    --------
    >>> row = {"estimate": 21.1, "ci_low": 6.7, "ci_high": 35.5, "reason": None}
    >>> estimate_cell(row | {"short": " pp", "decimals": 1})
    '21.1 pp [6.7, 35.5]'
    """
    decimals = row["decimals"]
    reason = row["reason"] if isinstance(row["reason"], str) else ""
    if not np.isfinite(row["estimate"]):
        return f"not measured: {reason}"
    width = row["ci_high"] - row["ci_low"]
    if 0 < width < 10.0**-decimals:  # as many digits as tell the ends apart
        decimals = min(int(np.ceil(-np.log10(width))), 6)
    cell = _with_range({**row, "decimals": decimals}, "estimate", "ci_low", "ci_high")
    missing = "" if row["ci_low"] < row["ci_high"] else "no interval"
    why = ": ".join(filter(None, (missing, reason)))
    return f"{cell} ({why})" if why else cell


def _with_range(row: Mapping[str, Any], name: str, *ends: str) -> str:
    value, low, high = (number(row[of], decimals=row["decimals"]) for of in (name, *ends))
    has_range = row[ends[0]] < row[ends[1]]  # neither missing nor without any variance
    return f"{value}{row['short']}" + f" [{low}, {high}]" * has_range


def _in_words(key: str, value: object) -> str:
    return "" if pd.isna(value) else names.in_words(key, str(value))


# --- any table --------------------------------------------------------------------------------


def show(table: pd.DataFrame | Table, **options: Any) -> HTML:
    """Show a table in a notebook: numbers aligned and rounded, every text escaped.

    Parameters
    ----------
    table
        The rows and columns to show, in order; or a `Table`, which brings the rest along.
    **options
        `title`, `note`, `labels`, `decimals` and `gap` of `Table`.

    Examples
    --------
    >>> page = show(pd.DataFrame({"share": [0.5, None]}), title="Shares <b>")
    >>> "Shares &lt;b&gt;" in page.data, "not measured" in page.data
    (True, True)
    """
    whole = table._replace(**options) if isinstance(table, Table) else Table(table, **options)
    return HTML(templates.style("table.css") + table_html(whole))


def results_html(results: tuple[Any, ...]) -> str:
    """Return a study's results for a notebook: ten estimates, and what tables there are.

    Those with the smallest p value are shown; `results.estimates` has all.

    Parameters
    ----------
    results
        A study's `Results`: a NamedTuple of tables, with ESTIMATES among them.

    Examples
    --------
    >>> from nbbias import llmbi, tables
    >>> row = {"statistic": "index", "model": "m", "estimate": 0.5, "n": 18, "p_adjusted": 0.01}
    >>> rows = tables.estimates([row] * 12, study="llmbi", measure="llmbi", confidence=0.95)
    >>> html = results_html(llmbi.measured.Results(rows, *[rows[:0]] * 5))
    >>> "LLM Bias Index" in html, "scores (0)" in html, html.count("<tr>")
    (True, True, 11)
    """
    by_name: dict[str, pd.DataFrame | None] = results._asdict()  # type: ignore[attr-defined]
    estimates = by_name["estimates"]
    assert estimates is not None
    shown = estimates.dropna(subset="estimate").sort_values("p_adjusted", kind="stable")[:10]
    listed = [f"{name} ({len(rows):,})" for name, rows in by_name.items() if rows is not None]
    title = f"{len(shown)} of {len(estimates):,} estimates, by p value"
    labels = [names.label(row, shown) for row in shown.to_dict("records")]
    note = f"Tables, with their rows: {', '.join(listed)}."
    return str(show(labelled(shown, labels, title=title, note=note)).data)


def table_html(table: Table) -> str:
    """Return a table as HTML without its style, which a page holds once.

    Cells that are `Markup` are HTML already; all others are escaped.

    Examples
    --------
    >>> html = table_html(Table(pd.DataFrame({"word": ["<b>"], "n": [1200]}), "Words"))
    >>> "&lt;b&gt;</th>" in html, ">1,200</td>" in html
    (True, True)
    """
    columns = write_columns(table)
    rows = list(zip(*(column["cells"] for column in columns), strict=True))
    values = {"title": table.title, "note": table.note or "", "columns": columns, "rows": rows}
    return templates.render("table.html.j2", **values)


def write_columns(table: Table) -> list[dict[str, Any]]:
    """Return of each column its heading, kind and cells, as a page shows them.

    Examples
    --------
    >>> write_columns(Table(pd.DataFrame({"n": [1200]}), "Words"))
    [{'heading': 'n', 'kind': 'number', 'cells': ['1,200']}]
    """
    shown = table.rows.loc[:, table.rows.notna().any() | (table.rows.columns != "reason")]
    return [_column(str(name), values, table) for name, values in shown.items()]


def _column(name: str, values: pd.Series, table: Table) -> dict[str, Any]:
    """Write a column for the template; one of whole numbers has no decimals.

    Its kind is its class: number, line (short texts) or wide.
    """
    heading = (table.labels or {}).get(name, name.replace("_", " "))
    if pd.api.types.is_numeric_dtype(values) and not pd.api.types.is_bool_dtype(values):
        values = values.astype(float)
        whole = (values[np.isfinite(values)] % 1 == 0).all()
        write: Callable[[float], str] = partial(number, decimals=0 if whole else table.decimals)
        if name.startswith("p_"):
            write = p_in_table
        elif name.endswith("_share"):
            write = "{:.1%}".format
        cells = [write(value) if np.isfinite(value) else table.gap for value in values]
        return {"heading": heading, "kind": "number", "cells": cells}
    missing = values.isna()
    if name in {"group", "measure"} or (name == "statistic" and name not in (table.labels or {})):
        values = values.map(partial(names.in_words, name), na_action="ignore")
    texts = [cell if isinstance(cell, Markup) else str(cell) for cell in values]
    cells = ["" if gap else cell for gap, cell in zip(missing, texts, strict=True)]
    short = max(map(len, cells), default=0) <= _SHORT
    kind = "number" if name == "mde" or name.startswith("p_") else "line" if short else "wide"
    return {"heading": heading, "kind": kind, "cells": cells}


def p_in_table(p: float | Mapping[str, Any], of: str = "p_adjusted") -> str:
    """Write a p value as `p_value` does, below a heading that says what it is.

    Examples
    --------
    >>> p_in_table(0.0312)
    '.031'
    """
    return p_value(p, of).removeprefix("p").lstrip(" =").replace(" ", "\N{NO-BREAK SPACE}")


def p_column(rows: pd.DataFrame, of: str = "p_adjusted") -> pd.Series:
    """Return a column of p values of ESTIMATES: as texts where any is a bound or rounds to .05.

    Examples
    --------
    >>> rows = pd.DataFrame({"p_value": [0.002, 0.04], "p_least": 0.002})
    >>> [text.split() for text in p_column(rows, "p_value")]
    [['≤', '.002'], ['.040']]
    """
    texts = ["" if pd.isna(row[of]) else p_in_table(row, of) for row in rows.to_dict("records")]
    special = any(re.match("\N{LESS-THAN OR EQUAL TO}|\\.\\d{4}", text) for text in texts)
    return pd.Series(texts, index=rows.index) if special else rows[of]
