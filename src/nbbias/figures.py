"""Figures: a table in, a Figure out: panels, legends and their style. Nothing is computed here."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, MaxNLocator

from nbbias.visible import visible

#: Colour-blind-safe colours by role; every figure uses the same.
INK, MUTED, BAND = "#222222", "#6b6b6b", "#e3e3e3"
PALETTE = sns.color_palette("colorblind").as_hex()
PRINTED = PALETTE[1]

_PANELS_ABREAST = 4

Draw = Callable[[pd.DataFrame, Axes], object]


def use_style() -> None:
    """Set the look of all figures, and what makes their files repeat byte by byte."""
    sns.set_theme(
        style="ticks", context="notebook", palette=PALETTE, font="DejaVu Sans",
        rc={
            "axes.spines.top": False, "axes.spines.right": False, "axes.edgecolor": MUTED,
            "axes.labelcolor": INK, "axes.labelsize": 10, "axes.titlesize": 11,
            "axes.titleweight": "bold", "axes.titlelocation": "left", "text.color": INK,
            "xtick.color": MUTED, "ytick.color": MUTED, "xtick.labelcolor": INK,
            "ytick.labelcolor": INK, "xtick.labelsize": 9, "ytick.labelsize": 9,
            "legend.fontsize": 9, "legend.frameon": False, "figure.facecolor": "white",
            "savefig.bbox": "tight", "svg.hashsalt": "nbbias",
            "figure.constrained_layout.use": True,
        },
    )  # fmt: skip


def panels(
    table: pd.DataFrame, draw: Draw, *, by: str, width: float = 8.0, height: float = 3.4,
    share_x: bool = True,
) -> Figure:  # fmt: skip
    """Draw one panel per value of a column, side by side and four abreast at most.

    Parameters
    ----------
    table
        Rows of all panels.
    draw
        Called with the rows of a panel and its Axes.
    by
        The column whose values, in order of appearance, are the panels' titles.
    share_x
        Whether the panels measure the same quantity.
    """
    if table.empty:
        return _nothing(width)
    values = list(table[by].unique())
    lines = -(-len(values) // _PANELS_ABREAST)
    abreast = -(-len(values) // lines)
    figure, grid = plt.subplots(
        lines, abreast, figsize=(width, height * lines), sharex=share_x, squeeze=False
    )
    axes = list(grid.flat)
    for value, ax in zip(values, axes, strict=False):
        draw(table[table[by] == value], ax)
        ax.set_title(plain(str(value)))
        if ax is not axes[0] and ax.get_legend():
            ax.get_legend().remove()
    for ax in axes[len(values) :]:
        ax.set_axis_off()
    _share_rows(grid, len(values))
    return figure


def grid(
    table: pd.DataFrame, draw: Draw, *, rows: str, columns: str, width: float = 12.0,
    row_height: float = 0.3,
) -> Figure:  # fmt: skip
    """Draw one panel per value of two columns; panels below one another share their scale.

    Parameters
    ----------
    table
        Rows of all panels, each named by the column `cell`.
    draw
        Called with the rows of a panel and its Axes.
    rows, columns
        The columns whose values, in order of appearance, name the rows and columns of panels.
    row_height
        Inches that a drawn row takes.
    """
    if table.empty:
        return _nothing(width)
    down, across = list(table[rows].unique()), list(table[columns].unique())
    lines = [int(table.loc[table[rows] == value, "cell"].nunique()) for value in down]
    figure, axes = plt.subplots(
        len(down), len(across), sharex="col", squeeze=False,
        figsize=(width, 1.3 + sum(0.55 + row_height * n for n in lines)),
        height_ratios=[0.55 + row_height * n for n in lines],
    )  # fmt: skip
    for i, value in enumerate(down):
        for j, other in enumerate(across):
            ax = axes[i, j]
            own = table[(table[rows] == value) & (table[columns] == other)]
            if own.empty:
                ax.set_axis_off()
                continue
            draw(own, ax)
            ax.tick_params(axis="y", labelleft=j == 0)
            ax.tick_params(axis="x", labelbottom=True)
            ax.xaxis.set_major_locator(MaxNLocator(6))
            ax.set_xlabel("")
            ax.set_title(plain(str(value) if j == 0 else ""))
    for j, other in enumerate(across):
        lowest = next(ax for ax in reversed(axes[:, j]) if ax.axison)
        lowest.set_xlabel(plain(str(other)))
    return figure


def _nothing(width: float) -> Figure:
    figure, ax = plt.subplots(figsize=(width, 1.0))
    ax.set_axis_off()
    ax.text(0.5, 0.5, "nothing of this was measured", ha="center", color=MUTED)
    return figure


def _share_rows(grid: np.ndarray, count: int) -> None:
    """Name rows once a line where its panels name them alike; show a scale under every column."""
    drawn = list(grid.flat)[:count]
    low, high = zip(*(ax.get_ylim() for ax in drawn), strict=True)
    named = {
        tuple(text.get_text() for text in ax.get_yticklabels())
        for ax in drawn
        if isinstance(ax.yaxis.get_major_locator(), FixedLocator)
    }
    alike = len(named) <= 1
    for i, ax in enumerate(drawn):
        if alike:
            ax.set_ylim(min(low), max(high))
            if i % grid.shape[1]:
                ax.tick_params(axis="y", labelleft=False)
                ax.set_ylabel("")
        if i + grid.shape[1] >= count:
            ax.tick_params(axis="x", labelbottom=True)


def first_seen(values: pd.Series) -> pd.Series:
    """Number values by first appearance: a key to sort by that keeps names in their order."""
    return pd.Series(pd.factorize(values)[0], index=values.index)


def plain(text: str) -> str:
    """Keep matplotlib from reading dollar signs in a name as mathematics, and SVG from breaking.

    XML has no place for control characters; and a name that begins with an underscore would be
    left out of legends, so a thin space stands before it.
    """
    name = visible(text).replace("$", r"\$")
    return f"\u2009{name}" if name.startswith("_") else name


def legend_below(figure: Figure, ax: Axes, *, extra: Sequence[Artist] = ()) -> None:
    """Put one legend for all panels under the figure."""
    handles, names = ax.get_legend_handles_labels()
    for handle in extra:
        handles.append(handle)
        names.append(str(handle.get_label()))
    figure.legend(handles, names, loc="outside lower center", ncols=len(handles))


def interval_key(*, colour: str = INK, label: str = "mean with its interval") -> Line2D:
    """Return the legend's entry for an estimate and its interval."""
    return Line2D([], [], color=colour, marker="o", ms=5, lw=1.4, label=label)
