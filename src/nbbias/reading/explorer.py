"""Look through a run's estimates: every measure and bias, each row drawn beside its numbers.

Two forms show the same table: tabs and folds that need no kernel, for pages and recorded runs; and
in an open notebook a choice of statistic and models, which the drawn table follows.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import ipywidgets as widgets
import numpy as np
import pandas as pd
from IPython.display import HTML

from nbbias import tables
from nbbias.reading import live as explorer_live, markup
from nbbias.reading.tables import p_in_table
from nbbias.tables import ESTIMATE_KEYS, escape

#: By measure and statistic, what `group` holds where it is a finding.
Found = Mapping[tuple[str, str], str]

#: Rows of one statistic that a page shows; the table of estimates holds all.
_ROWS = 150

_TITLE = "Look through all estimates"
_ABOUT = (
    "Dot and line: the estimate with its interval. Grey band: where it would lie by its reference: "
    "chance, a lower bound of it, replicates, neutral prose. Dashed: 0. N: units of the estimate; "
    "lost: those that could not enter. p adjusted: as the study corrects, see the section of the "
    "measure."
)
_WIDTH, _MIDDLE = 200, 9


def estimates(table: pd.DataFrame, *, found: Found = MappingProxyType({})) -> HTML | widgets.VBox:
    """Look through a table of ESTIMATES.

    Parameters
    ----------
    table
        ESTIMATES of one study.
    found
        By measure and statistic, what `group` is called where it is a finding of the row, not
        what the row is about, such as ``"nearest identity"``.

    Returns
    -------
    HTML or VBox
        Tabs and folds in a recorded run; in an open notebook statistic and models can be chosen.

    Examples
    --------
    >>> row = {"model": "gpt-4", "measure": "llmbi", "statistic": "index", "estimate": 0.5}
    >>> shown = still(tables.estimates([row], study="llmbi"))
    >>> "<circle" in shown.data, "gpt-4" in shown.data
    (True, True)
    """
    if table.empty:
        return markup.framed(markup.note("There is no estimate."), title=_TITLE)
    return live(table, found=found) if tables.watched() else still(table, found=found)


# --- without a kernel -------------------------------------------------------------------------


def still(table: pd.DataFrame, *, found: Found = MappingProxyType({})) -> HTML:
    """Return the form that needs no kernel: a tab a measure and bias, a fold a statistic."""
    panels = {}
    for label, family in claim_families(table).items():
        panels[label] = "".join(
            markup.fold(
                f"{escape.html(name)} <small>· {_counted(rows)}</small>",
                _drawn(rows, found),
                opened=not i,
            )
            for i, (name, rows) in enumerate(claims(family).items())
        )
    return markup.framed(markup.tabs(panels, called="Measure"), title=_TITLE, about=_ABOUT)


def _counted(rows: pd.DataFrame) -> str:
    return "1 row" if len(rows) == 1 else f"{len(rows):,} rows"


def _drawn(rows: pd.DataFrame, found: Found) -> str:
    """Return rows as a table with a drawing of each."""
    cut = rows.head(_ROWS)
    more = len(rows) - len(cut)
    keys = row_keys(cut)
    low, high = reach(cut)
    group = found.get((cut["measure"].iloc[0], cut["statistic"].iloc[0]), "group")
    named = [group if key == "group" else key for key in keys]
    head = "".join(f'<th scope="col">{escape.html(name)}</th>' for name in named)
    head += f'<th scope="col" aria-label="drawn">{_axis(low, high)}</th>'
    numbers = ("estimate", "interval", "chance or reference", "N", "lost", "p", "p adjusted")
    head += "".join(f'<th scope="col">{name}</th>' for name in numbers)
    body = "".join(_row(row, keys, low, high) for row in cut.to_dict("records"))
    told = markup.note(f"{more:,} more rows are in tables/estimates.csv.") if more else ""
    return (
        f'<div class="x-scroll" tabindex="0"><table class="x-drawn"><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>{told}"
    )


def _row(row: dict[str, Any], keys: list[str], low: float, high: float) -> str:
    named = "".join(markup.cell(row[key]) for key in keys)
    if pd.isna(row["estimate"]):
        why = escape.html(f"not measured: {row['reason']}")
        return f'<tr>{named}<td class="x-soft" colspan="8">{why}</td></tr>'
    interval = _range(row["ci_low"], row["ci_high"])
    chance = _range(row["null_low"], row["null_high"]) or markup.number(row["null"])
    cells = [markup.number(row["estimate"]), interval or markup.number(float("nan")), chance]
    cells += [f"{row[count]:,.0f}" for count in ("n", "n_lost")]
    cells += [
        markup.number(row[p]) if pd.isna(row[p]) else escape.html(p_in_table(row, p))
        for p in ("p_value", "p_adjusted")
    ]
    told = "".join(f"<td>{cell}</td>" for cell in cells)
    return f"<tr>{named}<td>{_dots(row, low, high)}</td>{told}</tr>"


def _range(low: float, high: float) -> str:
    if pd.isna(low) or pd.isna(high):
        return ""
    return f"{markup.number(low)} to {markup.number(high)}"


# --- drawings ---------------------------------------------------------------------------------


def _at(value: float, low: float, high: float) -> str:
    return f"{_WIDTH * (value - low) / (high - low):.1f}".removesuffix(".0")


def _dots(row: dict[str, Any], low: float, high: float) -> str:
    """Draw one row: band of chance, 0, interval, estimate. The numbers stand beside it."""
    parts = []
    if pd.notna(row["null_low"]):
        left, right = _at(row["null_low"], low, high), _at(row["null_high"], low, high)
        parts.append(f'<path class="x-band" d="M{left} 2H{right}V16H{left}z"/>')
    parts.append(f'<path class="x-zero" d="M{_at(0.0, low, high)} 0V18"/>')
    if pd.notna(row["ci_low"]):
        ends = _at(row["ci_low"], low, high), _at(row["ci_high"], low, high)
        parts.append(f'<path d="M{ends[0]} {_MIDDLE}H{ends[1]}"/>')
    parts.append(f'<circle cx="{_at(row["estimate"], low, high)}" cy="{_MIDDLE}" r="3.5"/>')
    return _svg("".join(parts))


def _axis(low: float, high: float) -> str:
    ends = "".join(
        f'<text x="{_at(value, low, high)}" y="13">{markup.number(value, decimals=2)}</text>'
        for value in dict.fromkeys((low, high))
    )
    return _svg(ends)


def _svg(inside: str) -> str:
    return f'<svg class="x-dots" viewBox="0 0 {_WIDTH} 18" aria-hidden="true">{inside}</svg>'


# --- with a kernel ----------------------------------------------------------------------------


def live(table: pd.DataFrame, *, found: Found) -> widgets.VBox:
    """Return the form of an open notebook: one statistic at a time, of the models chosen.

    Nothing is corrected anew: a correction chosen after the fact would be no correction.
    """
    parts = {
        f"{family}: {name}": rows
        for family, own in claim_families(table).items()
        for name, rows in claims(own).items()
    }
    claim = explorer_live.chooser("Statistic", explorer_live.options(parts), wide=True)
    models = widgets.SelectMultiple(rows=5)
    shown = widgets.HTML()

    def choose(*_: object) -> None:
        whose = whose_claims(parts[claim.value])
        models.description = f"{whose.name}s".capitalize()
        models.options = explorer_live.options(whose.unique())
        models.value = tuple(whose.unique())
        draw()

    def draw(*_: object) -> None:
        rows = parts[claim.value]
        whose = whose_claims(rows)
        rows = rows[whose.isin(models.value or whose)]
        shown.value = markup.framed(_drawn(rows, found), title=claim.label, about=_ABOUT).data

    claim.observe(choose, "value")
    models.observe(draw, "value")
    choose()
    return explorer_live.Live(
        [explorer_live.row(claim, models), shown], still=lambda: still(table, found=found)
    )


# --- choosing ---------------------------------------------------------------------------------

_FAMILY = ["measure", "bias"]
_CLAIM = ["statistic", "instrument"]


def claim_families(estimates: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return the estimates by measure and bias, under a label; all rows stay.

    Examples
    --------
    >>> row = {"measure": "word", "bias": "gender", "statistic": "bias", "estimate": 0.1}
    >>> list(claim_families(tables.estimates([row], study="news_bias")))
    ['word, gender']
    """
    return _by(estimates, _FAMILY)


def claims(estimates: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return one family's estimates by statistic, and by instrument where a judge has several.

    Examples
    --------
    >>> rows = [{"statistic": name, "estimate": 0.1} for name in ("bias", "share_difference")]
    >>> list(claims(tables.estimates(rows, study="news_bias")))
    ['bias', 'share difference']
    """
    judges = estimates.groupby(["statistic", "judge"], dropna=False)["instrument"]
    several = bool((judges.nunique() > 1).any())
    return _by(estimates, _CLAIM if several else _CLAIM[:1])


def _by(estimates: pd.DataFrame, keys: list[str]) -> dict[str, pd.DataFrame]:
    found = {}
    for key, own in estimates.groupby(keys, sort=False, dropna=False):
        label = ", ".join(str(part).replace("_", " ") for part in key if pd.notna(part))
        found[label] = own
    return found


def row_keys(rows: pd.DataFrame) -> list[str]:
    """Return the keys that tell the rows apart; the model in any case, unless none is named.

    Examples
    --------
    >>> rows = [{"model": name, "source": "CNN", "estimate": 0.1} for name in "ab"]
    >>> row_keys(tables.estimates(rows, study="news_bias"))
    ['model']
    """
    keys = [k for k in ESTIMATE_KEYS if k in rows and k not in {"study", *_FAMILY, "statistic"}]
    found = [k for k in keys if rows[k].nunique(dropna=False) > 1]
    named = rows["model"].notna().any() or not found
    return [k for k in keys if k in found or (k == "model" and named)]


def whose_claims(rows: pd.DataFrame) -> pd.Series:
    """Return each row's model, or judge where no row has a model.

    Returns
    -------
    Series
        Its name is the key, ``"model"`` or ``"judge"``; rows without one are about all of them, and
        say so (``"all models"``).

    Examples
    --------
    >>> rows = [{"model": "a", "estimate": 0.1}, {"estimate": 0.2}]
    >>> whose_claims(tables.estimates(rows, study="news_bias")).tolist()
    ['a', 'all models']
    """
    named = [key for key in ("model", "judge") if key in rows and rows[key].notna().any()]
    key = named[0] if named else "model"
    return rows[key].astype(object).fillna(f"all {key}s")


def reach(rows: pd.DataFrame) -> tuple[float, float]:
    """Return the least and the largest value that a drawing of the rows must hold; 0 is in it.

    Examples
    --------
    >>> reach(tables.estimates([{"estimate": 0.5}], study="news_bias"))
    (0.0, 0.5)
    """
    columns = ["estimate", "ci_low", "ci_high", "null_low", "null_high"]
    values = rows[columns].to_numpy(dtype=float)
    values = np.append(values[np.isfinite(values)], 0.0)
    low, high = float(values.min()), float(values.max())
    return (low, high) if high > low else (low - 0.5, high + 0.5)
