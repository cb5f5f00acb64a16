"""Marks drawn into given Axes: bars, intervals, points. Nothing is computed here."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes

from nbbias.figures import BAND, INK, MUTED, PALETTE, PRINTED, plain


def _name_rows(ax: Axes, names: pd.Series) -> None:
    """Label rows drawn at n - 1, ..., 0, so that the first stands on top, with room around."""
    ax.set_yticks(np.arange(len(names))[::-1], [plain(str(name)) for name in names])
    ax.set_ylim(-0.7, len(names) - 0.3)
    ax.tick_params(axis="y", length=0)


def _not_measured(ax: Axes, y: float, text: str = "not measured") -> None:
    ax.annotate(
        text, (0.02, y), xycoords=("axes fraction", "data"),
        va="center", color=MUTED, fontsize=8, fontstyle="italic",
    )  # fmt: skip


def stacked_terms(
    table: pd.DataFrame, ax: Axes, *, label: str, terms: dict[str, str], colours: Sequence[str]
) -> Axes:
    """Draw the terms that add up to a score as stacked bars, one bar a row.

    Parameters
    ----------
    table
        One row per bar.
    label
        The column that names the bars; the first row stands on top.
    terms
        Column → its name in the legend, from the axis outwards.
    colours
        One per term.
    """
    at = np.arange(len(table))[::-1]
    left = np.zeros(len(table))
    for (column, name), colour in zip(terms.items(), colours, strict=True):
        values = table[column].fillna(0).to_numpy()
        ax.barh(at, values, left=left, height=0.68, color=colour, label=name)
        left += values
    for y, missing in zip(at, table[list(terms)].isna().all(axis=1), strict=True):
        if missing:
            _not_measured(ax, y)
    _name_rows(ax, table[label])
    return ax


def intervals(
    table: pd.DataFrame, ax: Axes, *, label: str, missing: str = "not measured", colour: str = INK
) -> Axes:
    """Draw estimates with their intervals, and the range that chance or neutral prose gives.

    Parameters
    ----------
    table
        Rows of ESTIMATES; the first stands on top. A row without an estimate is written
        as not measured, never drawn at 0.
    label
        The column that names the rows.
    missing
        What is written where there is no estimate.
    colour
        That of the estimates.
    """
    at = np.arange(len(table))[::-1].astype(float)
    for y, row in zip(at, table.itertuples(), strict=True):
        if np.isfinite(row.null_low):
            ax.fill_betweenx(
                [y - 0.34, y + 0.34], row.null_low, row.null_high, color=BAND, lw=0, zorder=1
            )
            ax.plot([row.null, row.null], [y - 0.34, y + 0.34], color="white", lw=1.6, zorder=2)
        if np.isfinite(row.ci_low):
            ax.plot([row.ci_low, row.ci_high], [y, y], color=colour, lw=1.4, zorder=3)
        if np.isfinite(row.estimate):
            ax.plot(row.estimate, y, "o", color=colour, ms=5, zorder=4)
        else:
            _not_measured(ax, y, missing)
    _name_rows(ax, table[label])
    return ax


def points(
    table: pd.DataFrame, ax: Axes, *, x: str, label: str, rows: pd.Series, name: str
) -> Axes:
    """Add single units as small open circles to the rows that `intervals` drew.

    Parameters
    ----------
    table
        One row per unit, at the value in column `x`.
    label
        The column that says which row a unit belongs to.
    rows
        The names of the rows, from the top.
    name
        The units' name in the legend.
    """
    at = {value: len(rows) - 1 - i for i, value in enumerate(rows)}
    ax.plot(
        table[x], table[label].map(at), "o", mfc="none", mec=PALETTE[0], mew=1.2, ms=6,
        ls="none", label=name, zorder=3,
    )  # fmt: skip
    return ax


def beside(table: pd.DataFrame, ax: Axes, *, label: str, printed: str = "printed") -> Axes:
    """Draw our value and the printed one in a row each, on one scale.

    Parameters
    ----------
    table
        `ours`, `printed` (NaN where the paper prints none) and the label column;
        the first row stands on top.
    printed
        What the printed values are, for the legend.
    """
    at = np.arange(len(table))[::-1]
    ax.hlines(at, table["ours"], table["printed"], color=BAND, lw=3, zorder=1)
    ax.plot(
        table["printed"], at, "D", mfc="none", mec=PRINTED, mew=1.5, ms=9, ls="none",
        label=printed, zorder=2,
    )  # fmt: skip
    ax.plot(table["ours"], at, "o", color=INK, ms=4.5, ls="none", label="ours", zorder=3)
    _name_rows(ax, table[label])
    return ax


def agreement(table: pd.DataFrame, ax: Axes, *, x: str, y: str, hue: str) -> Axes:
    """Draw two instruments against each other, one point a text, zero lines through both."""
    ax.axhline(0, color=BAND, lw=1, zorder=0)
    ax.axvline(0, color=BAND, lw=1, zorder=0)
    named = table.assign(**{hue: table[hue].astype(str).map(plain)})
    sns.scatterplot(data=named, x=x, y=y, hue=hue, style=hue, s=38, alpha=0.85, ax=ax)
    ax.legend(title=None, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return ax


def shares(table: pd.DataFrame, ax: Axes, *, label: str, mean: str, worst: str) -> Axes:
    """Draw a mean share and the largest one as a dot and an open ring on a line, one row each."""
    at = np.arange(len(table))[::-1]
    ax.hlines(at, table[mean], table[worst], color=BAND, lw=3, zorder=1)
    ax.plot(table[mean], at, "o", color=INK, ms=6, ls="none", label="mean over settings", zorder=3)
    ax.plot(
        table[worst],
        at,
        "o",
        mfc="white",
        mec=INK,
        ms=6,
        ls="none",
        label="worst setting",
        zorder=2,
    )
    _name_rows(ax, table[label])
    return ax
