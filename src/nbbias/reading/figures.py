"""Figures: a table in, a Figure out, in panels, with marks, a legend and one style.

`claims` draws estimates with their intervals as all studies do; where a figure needs more, `panels`
and `grid` lay out panels and the marks draw into given Axes. Nothing is computed here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FixedLocator, MaxNLocator

from nbbias.reading import names
from nbbias.tables import escape

#: Colour-blind-safe colours by role; every figure uses the same.
INK, MUTED, BAND = "#222222", "#6b6b6b", "#e3e3e3"
PALETTE = names.PALETTE
PRINTED = PALETTE[1]

plain = escape.drawn  # former name

_PANELS_ABREAST = 4

Draw = Callable[[pd.DataFrame, Axes], object]


class Drawn(NamedTuple):
    """A figure with the rows that it draws, and what who cannot see it should hear.

    `title` states what it shows, `caption` says what is drawn; `narrow` is the same for a phone.

    Examples
    --------
    >>> rows = pd.DataFrame({"name": ["a"], "mean": [0.1], "worst": [0.4]})
    >>> figure, ax = plt.subplots()
    >>> _ = shares(rows, ax, label="name", mean="mean", worst="worst")
    >>> Drawn(figure, rows, "Mean and largest share of each choice.").alt
    'Mean and largest share of each choice.'
    """

    figure: Figure
    rows: pd.DataFrame
    alt: str
    title: str = ""
    caption: str = ""
    narrow: Figure | None = None


def use_style() -> None:
    """Set the look of all figures, and what makes their files repeat byte by byte.

    Examples
    --------
    >>> use_style()
    >>> plt.rcParams["legend.frameon"]
    False
    """
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

    Examples
    --------
    >>> rows = pd.DataFrame({"model": ["a", "b"], "name": "x", "mean": 0.1, "worst": [0.4, 0.2]})
    >>> figure = panels(rows, lambda own, ax: shares(own, ax, label="name", mean="mean",
    ...     worst="worst"), by="model")
    >>> [ax.get_title(loc="left") or ax.get_title() for ax in figure.axes]
    ['a', 'b']
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
        ax.set_title(escape.drawn(str(value)))
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

    Examples
    --------
    >>> rows = pd.DataFrame({"side": ["ours", "printed"], "score": "RBS", "cell": "x", "value": 1})
    >>> figure = grid(rows, lambda own, ax: ax.plot(own["value"], [0], "o"), rows="side",
    ...     columns="score")
    >>> len(figure.axes)
    2
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
            ax.set_title(escape.drawn(str(value) if j == 0 else ""))
    for j, other in enumerate(across):
        lowest = next(ax for ax in reversed(axes[:, j]) if ax.axison)
        lowest.set_xlabel(escape.drawn(str(other)))
    return figure


def claims(
    rows: pd.DataFrame, axis: str | Callable[[pd.DataFrame], str] = "", *,
    by: str | tuple[str, str] = "panel", words: Mapping[str, str] | None = None,
    draw: Draw | None = None, width: float = 11.0,
) -> Figure:  # fmt: skip
    """Draw estimates with their intervals over what chance gives, with one legend below.

    Parameters
    ----------
    rows
        Rows of ESTIMATES with `cell`, their names. Where there is a column `side`, all but
        ``"ours"`` are printed values, in their colour; where there is a column `reference`, its
        value in a panel is a dashed line.
    axis
        What is measured; of a panel's rows where panels differ, which then share no scale.
    by
        The column whose values are the panels, or the two columns whose values name rows and
        columns of panels.
    words
        What the legend calls `estimate`, `band` (the range of chance), `printed`, `line` (the
        reference) and `tick`: chance levels without a range are drawn only where they have a name.
        What is not drawn is not named. `missing`: what stands where there is no estimate.
    draw
        Adds to a panel, such as `unit`.

    Examples
    --------
    >>> row = {"panel": "gender", "cell": "gpt-4", "estimate": 0.1, "ci_low": 0.0, "ci_high": 0.2}
    >>> rows = pd.DataFrame([row | {"null": 0.0, "null_low": -0.1, "null_high": 0.1}])
    >>> figure = claims(rows, "difference of shares", words={"band": "by chance"})
    >>> [text.get_text() for text in figure.legends[0].get_texts()]
    ['mean with its interval', 'by chance']
    """
    named = {"estimate": "mean with its interval", "band": "by chance", **(words or {})}
    label = axis if callable(axis) else lambda _: axis

    def each(own: pd.DataFrame, ax: Axes) -> None:
        printed = _printed(own).all()
        gap = "not printed" if printed else named.get("missing", "not measured")
        intervals(own, ax, label="cell", missing=gap, colour=PRINTED if printed else INK)
        if "tick" in named:
            for y, (null, low) in zip(_places(own), own[["null", "null_low"]].values, strict=True):
                if np.isnan(low):
                    ax.plot(null, y, "|", color=MUTED, ms=11, zorder=2)
        for value in own["reference"].dropna().unique()[:1] if "reference" in own else ():
            ax.axvline(value, color=MUTED, ls="--", lw=1, zorder=0)
        ax.set_xlabel(label(own))
        if draw is not None:
            draw(own, ax)

    if isinstance(by, tuple):
        figure = grid(rows, each, rows=by[0], columns=by[1], width=width)
    else:
        groups = [own for _, own in rows.groupby(by, sort=False)]
        figure = panels(
            rows, each, by=by, width=width, height=1.5 + 0.3 * max(map(len, groups), default=1),
            share_x=len({label(own) for own in groups}) < 2,
        )  # fmt: skip
    if len(rows):
        legend_below(figure, figure.axes[0], extra=_keys(rows, named))
    return figure


def _printed(rows: pd.DataFrame) -> pd.Series:
    return rows["side"] != "ours" if "side" in rows else pd.Series(False, index=rows.index)


def _keys(rows: pd.DataFrame, named: Mapping[str, str]) -> list[Artist]:
    """Return the legend's entries for what the rows hold."""
    printed = _printed(rows)
    drawn: dict[str, tuple[bool, Callable[[str], Artist]]] = {
        "estimate": (not printed.all(), lambda label: interval_key(label=label)),
        "band": (rows["null_low"].notna().any(), band_key),
        "tick": ((rows["null"].notna() & rows["null_low"].isna()).any(),
                 lambda label: Line2D([], [], color=MUTED, marker="|", ls="none", ms=9,
                                      label=label)),
        "line": ("reference" in rows and rows["reference"].notna().any(),
                 lambda label: Line2D([], [], color=MUTED, ls="--", lw=1, label=label)),
        "printed": (printed.any(), lambda label: interval_key(colour=PRINTED, label=label)),
    }  # fmt: skip
    return [key(named[kind]) for kind, (there, key) in drawn.items() if there and kind in named]


def unit(_: pd.DataFrame, ax: Axes) -> None:
    """Show all that a share can be; for `claims`.

    Examples
    --------
    >>> figure, ax = plt.subplots()
    >>> unit(pd.DataFrame(), ax)
    >>> tuple(map(float, ax.get_xlim()))
    (-0.03, 1.03)
    """
    ax.set_xlim(-0.03, 1.03)
    ax.xaxis.set_major_locator(MaxNLocator(5))


def cells(rows: pd.DataFrame, keys: Sequence[str] = ("source", "model", "prompt")) -> pd.Series:
    """Name rows by the keys that tell them apart, or by their model where none does.

    Examples
    --------
    >>> rows = pd.DataFrame({"source": "CNN", "model": ["a", "b"], "prompt": ["x", "y"]})
    >>> cells(rows).tolist()
    ['a · x', 'b · y']
    """
    varying = [key for key in keys if rows[key].nunique() > 1]
    return rows[varying or ["model"]].astype(str).agg(" · ".join, axis=1)


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
    """Number values by first appearance: a key to sort by that keeps names in their order.

    Examples
    --------
    >>> first_seen(pd.Series(["b", "a", "b"])).tolist()
    [0, 1, 0]
    """
    return pd.Series(pd.factorize(values)[0], index=values.index)


def legend_below(figure: Figure, ax: Axes, *, extra: Sequence[Artist] = ()) -> None:
    """Put one legend for all panels under the figure.

    Examples
    --------
    >>> figure, ax = plt.subplots()
    >>> legend_below(figure, ax, extra=[band_key("by chance")])
    >>> len(figure.legends)
    1
    """
    handles, names = ax.get_legend_handles_labels()
    for handle in extra:
        handles.append(handle)
        names.append(str(handle.get_label()))
    figure.legend(handles, names, loc="outside lower center", ncols=len(handles))


def interval_key(*, colour: str = INK, label: str = "mean with its interval") -> Line2D:
    """Return the legend's entry for an estimate and its interval.

    Examples
    --------
    >>> interval_key(label="share with its interval").get_label()
    'share with its interval'
    """
    return Line2D([], [], color=colour, marker="o", ms=5, lw=1.4, label=label)


def band_key(label: str = "by chance") -> Patch:
    """Return the legend's entry for the range that chance gives.

    Examples
    --------
    >>> band_key("neutral prose").get_label()
    'neutral prose'
    """
    return Patch(color=BAND, label=label)


def _places(rows: pd.DataFrame) -> np.ndarray:
    """Return where rows are drawn: n - 1, ..., 0, so that the first stands on top."""
    return np.arange(len(rows))[::-1].astype(float)


def _name_rows(ax: Axes, names: pd.Series) -> None:
    """Label rows drawn at n - 1, ..., 0, so that the first stands on top, with room around."""
    ax.set_yticks(np.arange(len(names))[::-1], [escape.drawn(str(name)) for name in names])
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

    Examples
    --------
    >>> rows = pd.DataFrame({"name": ["a", "b"], "said": [0.2, 0.5], "hinted": [0.3, 0.1]})
    >>> figure, ax = plt.subplots()
    >>> terms = {"said": "said", "hinted": "hinted"}
    >>> len(stacked_terms(rows, ax, label="name", terms=terms, colours=[INK, BAND]).patches)
    4
    """
    at = _places(table)
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

    Examples
    --------
    >>> rows = pd.DataFrame({"name": ["a"], "estimate": [0.1], "ci_low": [0.0], "ci_high": [0.2],
    ...     "null": [np.nan], "null_low": [np.nan], "null_high": [np.nan]})
    >>> figure, ax = plt.subplots()
    >>> len(intervals(rows, ax, label="name").lines)  # the interval and the estimate
    2
    """
    at = _places(table)
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

    Examples
    --------
    >>> units = pd.DataFrame({"name": ["a", "a", "b"], "value": [1, 2, 3]})
    >>> figure, ax = plt.subplots()
    >>> points(units, ax, x="value", label="name", rows=pd.Series(["a", "b"]), name="one prompt")
    <Axes: >
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

    Examples
    --------
    >>> rows = pd.DataFrame({"name": ["a"], "ours": [1.0], "printed": [1.5]})
    >>> figure, ax = plt.subplots()
    >>> [one.get_label() for one in beside(rows, ax, label="name").lines]
    ['printed', 'ours']
    """
    at = _places(table)
    ax.hlines(at, table["ours"], table["printed"], color=BAND, lw=3, zorder=1)
    ax.plot(
        table["printed"], at, "D", mfc="none", mec=PRINTED, mew=1.5, ms=9, ls="none",
        label=printed, zorder=2,
    )  # fmt: skip
    ax.plot(table["ours"], at, "o", color=INK, ms=4.5, ls="none", label="ours", zorder=3)
    _name_rows(ax, table[label])
    return ax


def agreement(table: pd.DataFrame, ax: Axes, *, x: str, y: str, hue: str) -> Axes:
    """Draw two instruments against each other, one point a text, zero lines through both.

    Examples
    --------
    >>> rows = pd.DataFrame({"one": [0.1, 0.2], "other": [0.2, 0.1], "model": ["a", "b"]})
    >>> figure, ax = plt.subplots()
    >>> agreement(rows, ax, x="one", y="other", hue="model").get_xlabel()
    'one'
    """
    ax.axhline(0, color=BAND, lw=1, zorder=0)
    ax.axvline(0, color=BAND, lw=1, zorder=0)
    named = table.assign(**{hue: table[hue].astype(str).map(escape.drawn)})
    sns.scatterplot(data=named, x=x, y=y, hue=hue, style=hue, s=38, alpha=0.85, ax=ax)
    ax.legend(title=None, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return ax


def shares(table: pd.DataFrame, ax: Axes, *, label: str, mean: str, worst: str) -> Axes:
    """Draw a mean share and the largest one as a dot and an open ring on a line, one row each.

    Examples
    --------
    >>> rows = pd.DataFrame({"name": ["a"], "mean": [0.1], "worst": [0.4]})
    >>> figure, ax = plt.subplots()
    >>> drawn = shares(rows, ax, label="name", mean="mean", worst="worst")
    >>> [one.get_label() for one in drawn.lines]
    ['mean over settings', 'worst setting']
    """
    at = _places(table)
    ax.hlines(at, table[mean], table[worst], color=BAND, lw=3, zorder=1)
    ax.plot(table[mean], at, "o", color=INK, ms=6, ls="none", label="mean over settings", zorder=3)
    ax.plot(
        table[worst], at, "o", mfc="white", mec=INK, ms=6, ls="none", label="worst setting",
        zorder=2,
    )  # fmt: skip
    _name_rows(ax, table[label])
    return ax
