"""Figures: a table in, a Figure out, in panels, with marks, words at the marks and one style.

`claims` draws estimates with their intervals as all studies do; where a figure needs more, `panels`
and `grid` lay out panels and the marks draw into given Axes. Nothing is computed here, and
matplotlib's constrained layout places the panels.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, MaxNLocator

from nbbias.reading import names
from nbbias.reading.prose import capitalize, render_plain
from nbbias.tables import escape

#: Colours by role, safe for the colour-blind (words/colours.csv).
PAPER, INK, MUTED, BAND = (names.ROLES[role] for role in ("paper", "ink", "muted", "band"))
PALETTE = names.PALETTE

#: Inches of a page's lines: a file is shown at this size, so 9 pt are 12 px, or smaller.
WIDTH = 7.3

#: Inches that a line of small print takes.
_LINE = 0.155

_MOST_COLUMNS = 4

#: Half the height of a bar or band, in rows.
_HALF = 0.34

#: Characters of a row's name, and of a title, on one line, by the number of panels side by side.
_ROW_NAME, _TITLE = {1: 48, 2: 32, 3: 22}, {1: 80, 2: 34, 3: 22}

Draw = Callable[[pd.DataFrame, Axes], object]


class Drawn(NamedTuple):
    """A figure with the rows that it draws and its words.

    `title` states what the figure shows, `caption` what is drawn, and `alt` describes the figure
    for readers who cannot see it.

    Examples
    --------
    >>> figure, ax = plt.subplots()
    >>> Drawn(figure, pd.DataFrame(), "Mean share of each model.").alt
    'Mean share of each model.'
    """

    figure: Figure
    rows: pd.DataFrame
    alt: str
    title: str = ""
    caption: str = ""


def use_style() -> None:
    """Set the look of all figures, and what makes their files repeat byte by byte.

    Examples
    --------
    >>> use_style()
    >>> plt.rcParams["legend.frameon"]
    False
    """
    sns.set_theme(
        style="ticks",
        context="notebook",
        palette=PALETTE,
        rc={
            # Two fonts of the same letter widths, one of which every system has.
            "font.family": "sans-serif",
            "font.sans-serif": ["DejaVu Sans", "Verdana"],
            "svg.fonttype": "none",
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.edgecolor": MUTED,
            "axes.labelcolor": INK,
            "axes.labelsize": 9,
            "axes.titlesize": 9.5,
            "axes.titleweight": "bold",
            "axes.titlelocation": "left",
            "text.color": INK,
            "axes.linewidth": 0.8,
            "xtick.major.width": 0.8,
            "xtick.major.size": 3.5,
            "xtick.color": MUTED,
            "ytick.color": MUTED,
            "xtick.labelcolor": INK,
            "ytick.labelcolor": INK,
            "xtick.labelsize": 8.5,
            "ytick.labelsize": 9,
            "legend.fontsize": 8.5,
            "legend.frameon": False,
            "figure.facecolor": PAPER,
            "axes.facecolor": PAPER,
            "savefig.bbox": "tight",
            "savefig.pad_inches": 0.04,
            "svg.hashsalt": "nbbias",
            "figure.constrained_layout.use": True,
        },
    )


def panels(
    table: pd.DataFrame,
    draw: Draw,
    *,
    by: str,
    height: float | Callable[[pd.DataFrame], float] = 3.0,
    share_x: bool = True,
) -> Figure:
    """Draw one panel per value of a column, at most four side by side.

    Parameters
    ----------
    table
        Rows of all panels.
    draw
        Called with the rows of a panel and its Axes.
    by
        The column whose values, in order of appearance, are the panels' titles.
    height
        Inches that a panel takes, or a function of its rows that returns them.
    share_x
        Whether the panels measure the same quantity.

    Examples
    --------
    >>> rows = pd.DataFrame({"model": ["a", "b"], "mean": [0.4, 0.2]})
    >>> figure = panels(rows, lambda subset, ax: ax.plot(subset["mean"], [0], "o"), by="model")
    >>> [ax.get_title(loc="left") for ax in figure.axes]
    ['a', 'b']
    """
    if table.empty:
        return _empty_figure()
    parts = {str(value): rows for value, rows in table.groupby(by, sort=False, dropna=False)}
    columns = _n_columns(len(parts))
    heights = [height(rows) if callable(height) else height for rows in parts.values()]
    tallest = [max(heights[i : i + columns]) for i in range(0, len(parts), columns)]
    figure, grid = plt.subplots(
        len(tallest),
        columns,
        figsize=(WIDTH, sum(tallest)),
        sharex=share_x,
        squeeze=False,
        height_ratios=tallest,
    )
    axes = list(grid.flat)
    for (title, rows), ax in zip(parts.items(), axes, strict=False):
        draw(rows, ax)
        _finish(ax, title)
        if ax is not axes[0] and ax.get_legend():
            ax.get_legend().remove()
    for ax in axes[len(parts) :]:
        ax.set_axis_off()
    for start in range(0, len(parts), columns):
        _share_row_names(axes[start : min(start + columns, len(parts))])
    return figure


def _n_columns(n_panels: int) -> int:
    """Return how many of some panels stand side by side, lines of panels alike long."""
    return -(-n_panels // -(-n_panels // _MOST_COLUMNS))


def _finish(ax: Axes, title: str, *, column: str = "") -> None:
    """Give a panel its title; break and escape what is wider than the panel."""
    columns = _columns_beside(ax)
    width = _TITLE.get(columns, 18)
    above = "\n" if column and len(title) + len(column) > width else ""  # then below the title
    ax.set_title(wrapped(title, width) + above * bool(title), loc="left")
    ax.set_title(wrapped(column, width), loc="right", fontweight="normal", fontsize=9)
    ax.set_xlabel(wrapped(ax.get_xlabel(), width))
    ax.tick_params(axis="x", labelbottom=True)
    if not isinstance(ax.xaxis.get_major_locator(), FixedLocator):
        ax.xaxis.set_major_locator(MaxNLocator(6 if columns < 3 else 3))


def _columns_beside(ax: Axes) -> int:
    """Return how many panels stand side by side where a panel stands."""
    place = ax.get_subplotspec()
    return 1 if place is None else int(place.get_gridspec().ncols)


def grid(table: pd.DataFrame, draw: Draw, *, rows: str, columns: str) -> Figure:
    """Draw one panel per value of two columns; panels below one another share their scale.

    Parameters
    ----------
    table
        Rows of all panels, each named by the column `cell`.
    draw
        Called with the rows of a panel and its Axes.
    rows, columns
        The columns whose values, in order of appearance, name the rows and columns of panels.

    Examples
    --------
    >>> rows = pd.DataFrame({"side": ["ours", "printed"], "score": "RBS", "cell": "x", "value": 1})
    >>> figure = grid(rows, lambda own, ax: ax.plot(own["value"], [0], "o"), rows="side",
    ...     columns="score")
    >>> len(figure.axes)
    2
    """
    if table.empty:
        return _empty_figure()
    down, across = table[rows].unique(), table[columns].unique()
    n_cells = table.groupby([rows, columns], sort=False)["cell"].nunique()
    heights = [0.7 + row_height(table["cell"], len(across)) * n_cells[one].max() for one in down]
    figure, axes = plt.subplots(
        len(down),
        len(across),
        squeeze=False,
        sharex="col",
        figsize=(WIDTH, 0.3 + sum(heights)),
        height_ratios=heights,
    )
    for i, above in enumerate(down):
        drawn: list[Axes] = []
        for ax, beside in zip(axes[i], across, strict=True):
            subset = table[(table[rows] == above) & (table[columns] == beside)]
            if subset.empty:
                ax.set_axis_off()
                continue
            draw(subset, ax)
            title = str(above) if len(down) > 1 and not drawn else ""
            _finish(ax, title, column=str(beside))
            ax.tick_params(axis="y", labelleft=not drawn)
            drawn.append(ax)
    return figure


def claims(
    rows: pd.DataFrame,
    axis: str | Callable[[pd.DataFrame], str] = "",
    *,
    by: str | tuple[str, str] = "panel",
    words: Mapping[str, str] | None = None,
    draw: Draw | None = None,
    hue: str | None = None,
) -> Figure:
    """Draw estimates with their intervals over what chance gives, which is named where it is.

    Parameters
    ----------
    rows
        Rows of ESTIMATES with `cell`, their names. Where there is a column `side`, all but
        ``"ours"`` are printed values, drawn as rings; where there is a column `reference`, its
        value in a panel is a dashed line.
    axis
        What is measured; of a panel's rows where panels differ. Those alike share a scale.
    by
        The column whose values are the panels, or the two columns whose values name rows and
        columns of panels.
    words
        What is written at `band` (the range of chance), `line` (the reference) and `tick`: chance
        levels without a range are drawn only where they have a name. What is not drawn is not
        named. `missing`, `unprinted`: what stands where there is no estimate.
    draw
        Adds to a panel, such as `unit`.
    hue
        A column of groups, whose colours their estimates have.

    Examples
    --------
    >>> row = {"panel": "gender", "cell": "gpt-4", "estimate": 0.1, "ci_low": 0.0, "ci_high": 0.2}
    >>> rows = pd.DataFrame([row | {"null": 0.0, "null_low": -0.1, "null_high": 0.1}])
    >>> figure = claims(rows, "difference of shares", words={"band": "permuted"})
    >>> [text.get_text() for text in figure.axes[0].texts]
    ['permuted']
    """
    named = {"band": "expected under the null", **(words or {})}
    label = axis if callable(axis) else lambda _: axis
    drawn: list[tuple[Axes, pd.DataFrame]] = []

    def draw_panel(subset: pd.DataFrame, ax: Axes) -> None:
        missing = named.get("missing", "not measured"), named.get("unprinted", "not printed")
        intervals(subset, ax, label="cell", missing=missing, hue=hue)
        if "tick" in named:
            ticks = subset["null"].where(subset["null_low"].isna())
            ax.plot(ticks, _positions(subset), "|", color=MUTED, ms=11, zorder=2)
        for value in subset["reference"].dropna().unique()[:1] if "reference" in subset else ():
            ax.axvline(value, color=MUTED, ls="--", lw=1, zorder=0)
        ax.set_xlabel(label(subset))
        if draw is not None:
            draw(subset, ax)
        drawn.append((ax, subset))

    if isinstance(by, tuple):
        figure = grid(rows, draw_panel, rows=by[0], columns=by[1])
    else:
        columns = _n_columns(max(rows[by].nunique(dropna=False), 1))
        figure = panels(
            rows,
            draw_panel,
            by=by,
            height=lambda subset: rows_height(subset["cell"], columns),
            share_x=False,
        )
        scales: dict[str, list[Axes]] = {}
        for ax, subset in drawn:
            scales.setdefault(label(subset), []).append(ax)
        for axes in scales.values():  # panels that measure the same quantity share its scale
            low, high = zip(*(ax.get_xlim() for ax in axes), strict=True)
            for ax in axes:
                ax.set_xlim(min(low), max(high))
    _name_marks(drawn, named)
    return figure


def _is_printed(rows: pd.DataFrame) -> pd.Series:
    return rows["side"] != "ours" if "side" in rows else pd.Series(False, index=rows.index)


def _name_marks(drawn: Sequence[tuple[Axes, pd.DataFrame]], named: Mapping[str, str]) -> None:
    """Write above the first panel that has them what band, line and tick are."""
    marks: dict[Axes, list[tuple[float, str]]] = {}
    for kind, positions in _MARKS.items():
        if kind not in named:
            continue
        for ax, rows in drawn:
            at = positions(rows).dropna()
            if len(at):
                marks.setdefault(ax, []).append((float(at.iloc[0]), named[kind]))
                break
    for ax, texts in marks.items():
        name_marks(ax, texts)


#: Where the marks of a panel's rows stand that need a name.
_MARKS: dict[str, Callable[[pd.DataFrame], pd.Series]] = {
    "band": lambda rows: rows["null"].where(rows["null_high"] > rows["null_low"]),
    "tick": lambda rows: rows["null"].where(rows["null_low"].isna()),
    "line": lambda rows: rows["reference"] if "reference" in rows else pd.Series(dtype=float),
}


def name_marks(ax: Axes, marks: Sequence[tuple[float, str]]) -> None:
    """Name marks above a panel, each at its place on the scale, one below another.

    Examples
    --------
    >>> figure, ax = plt.subplots()
    >>> name_marks(ax, [(0.1, "mean"), (0.4, "worst")])
    >>> [text.get_text() for text in ax.texts]
    ['mean', 'worst']
    """
    low, high = ax.get_xlim()
    figure = ax.get_figure(root=True)
    assert figure is not None
    height = 0
    for x, text in sorted(marks):
        at = (x - low) / (high - low)
        lines = textwrap.fill(escape.drawn(text), _TITLE.get(_columns_beside(ax), 18))
        ax.annotate(
            lines,
            (min(max(at, 0), 1), 1),
            xycoords="axes fraction",
            xytext=(0, 2 + 72 * height * _LINE),
            textcoords="offset points",
            ha="left" if at < 0.4 else "right" if at > 0.6 else "center",
            va="bottom",
            color=MUTED,
            fontsize=8.5,
            fontstyle="italic",
        )
        height += lines.count("\n") + 1
    for other in _beside(ax):  # titles stay level
        title = other.get_title(loc="left")
        other.set_title(title, loc="left", pad=6 + 72 * height * _LINE)
    figure.set_figheight(figure.get_figheight() + height * _LINE)


def _beside(ax: Axes) -> list[Axes]:
    """Return the panels of a panel's line, itself among them."""
    figure, place = ax.get_figure(root=True), ax.get_subplotspec()
    if figure is None or place is None:
        return [ax]
    places = ((other, other.get_subplotspec()) for other in figure.axes)
    return [other for other, at in places if at is not None and at.rowspan == place.rowspan]


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


def in_one_row(rows: pd.DataFrame, name: str, *, by: str = "panel") -> pd.DataFrame:
    """Keep of a panel's printed values the first, named for all; `rings` draws them all.

    Examples
    --------
    >>> rows = pd.DataFrame({"panel": "a", "side": ["ours", "printed", "printed"],
    ...     "cell": list("mno"), "estimate": [1.0, 2.0, 3.0]})
    >>> in_one_row(rows, "{n} printed")["cell"].tolist()
    ['m', '2 printed']
    """
    theirs = _is_printed(rows)
    counts = rows.loc[theirs, by].value_counts()
    if counts.empty:
        return rows
    named = rows.assign(cell=rows["cell"].where(~theirs, name.format(n=counts.max())))
    named = named[~(theirs & named.duplicated([by, "cell"]))]
    # A panel without any says so in the same row.
    last = named.drop_duplicates(by, keep="last")
    gaps = dict.fromkeys(("estimate", "ci_low", "ci_high", "null", "null_low", "null_high"), np.nan)
    lacking = last[last["side"] == "ours"].assign(
        side="printed", cell=name.format(n=counts.max()), **gaps
    )
    both = pd.concat([named, lacking], ignore_index=True)
    return both.sort_values(by, kind="stable", key=lambda v: v.map(list(rows[by].unique()).index))


def rings(rows: pd.DataFrame, *, by: str = "panel") -> Draw:
    """Draw all printed values of a panel in its last row; for `claims` of `in_one_row`.

    Examples
    --------
    >>> rows = pd.DataFrame({"panel": "a", "side": "printed", "estimate": [2.0, 3.0]})
    >>> figure, ax = plt.subplots()
    >>> rings(rows)(rows, ax)
    >>> ax.lines[0].get_xdata().tolist()
    [2.0, 3.0]
    """

    def draw(own: pd.DataFrame, ax: Axes) -> None:
        values = rows.loc[_is_printed(rows) & rows[by].isin(own[by]), "estimate"]
        if len(values):
            ax.plot(values, np.zeros(len(values)), "o", mfc=PAPER, mec=INK, ms=5.5, zorder=4)

    return draw


def also(rows: pd.DataFrame, *, by: str = "panel") -> Draw:
    """Draw further estimates of the same cells, small and grey below the others; for `claims`.

    Examples
    --------
    >>> row = {"panel": "a", "cell": "m", "estimate": 0.2, "ci_low": 0.1, "ci_high": 0.3}
    >>> figure, ax = plt.subplots()
    >>> also(pd.DataFrame([row]))(pd.DataFrame([row]), ax)
    >>> len(ax.lines)
    2
    """

    def draw(own: pd.DataFrame, ax: Axes) -> None:
        at = dict(zip(own["cell"], _positions(own), strict=True))
        there = rows[rows[by].isin(own[by]) & rows["cell"].isin(list(at))]
        for row in there.to_dict("records"):
            y = at[row["cell"]] - 0.25
            ax.plot([row["ci_low"], row["ci_high"]], [y, y], color=MUTED, lw=1, zorder=2)
            ax.plot(row["estimate"], y, "o", color=MUTED, ms=3.5, zorder=2)

    return draw


def together(*draws: Draw) -> Draw:
    """Let several draw into a panel; for `claims`.

    Examples
    --------
    >>> figure, ax = plt.subplots()
    >>> together(zero, unit)(pd.DataFrame(), ax)
    >>> len(ax.lines)
    1
    """

    def draw(own: pd.DataFrame, ax: Axes) -> None:
        for one in draws:
            one(own, ax)

    return draw


def zero(_: pd.DataFrame, ax: Axes) -> None:
    """Draw the line of no difference, in the middle of its scale; for `claims`.

    Examples
    --------
    >>> figure, ax = plt.subplots()
    >>> zero(pd.DataFrame(), ax)
    >>> len(ax.lines)
    1
    """
    ax.axvline(0, color=MUTED, lw=1, ls=":", zorder=0)


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


def caption(rows: pd.DataFrame, what: str, *, of: str = "", band: str = "") -> str:
    """Write the caption of a figure of `claims`: its dots, their intervals, N and the band.

    Parameters
    ----------
    rows
        Rows of ESTIMATES.
    what
        What the dots are.
    of
        What N counts.
    band
        What the grey band is.

    Examples
    --------
    >>> rows = pd.DataFrame({"estimate": [0.1, 0.2], "ci_low": 0.0, "n": [9, 12],
    ...     "confidence": 0.95, "null_low": 0.0})
    >>> caption(rows, "shares", of="headlines", band="permuted")
    'Dots: shares; lines: 95% intervals; grey: permuted. N = 9 to 12 headlines.'
    """
    ours = rows[~_is_printed(rows)]
    levels = ours["confidence"].dropna().unique() if "confidence" in ours else []
    level = f"{levels[0]:.0%}" if len(levels) == 1 else ""
    counts = ours.loc[ours["estimate"].notna(), "n"].dropna() if "n" in ours else pd.Series([])
    ends = [f"{count:,.0f}" for count in (counts.min(), counts.max())] if len(counts) else []
    return render_plain(
        "figures.caption",
        what=what,
        level=level if ours["ci_low"].notna().any() else None,
        band=band if rows["null_low"].notna().any() else "",
        n=" to ".join(dict.fromkeys(ends)),
        unit=of,
    )


def is_beyond_null(rows: pd.DataFrame) -> pd.Series:
    """Mark the rows of ESTIMATES that differ from their null value.

    By their adjusted p; where nothing was tested by the range under the null, and without one by
    their interval.

    Examples
    --------
    >>> rows = pd.DataFrame({"estimate": [0.1, 0.1], "ci_low": [0.05, -0.1], "ci_high": 0.2,
    ...     "null": 0.0, "null_low": np.nan, "null_high": np.nan, "p_adjusted": np.nan,
    ...     "confidence": 0.95})
    >>> is_beyond_null(rows).tolist()
    [True, False]
    """
    null = rows["null"].fillna(0)
    by_interval = (rows["ci_low"] > null) | (rows["ci_high"] < null)
    by_band = (rows["estimate"] > rows["null_high"]) | (rows["estimate"] < rows["null_low"])
    untested = by_band.where(rows["null_low"].notna(), by_interval)
    tested = rows["p_adjusted"] < 1 - rows["confidence"].fillna(0.95)
    return tested.where(rows["p_adjusted"].notna(), untested).astype(bool)


def finding_title(
    rows: pd.DataFrame,
    *,
    by: str,
    describe: Callable[[dict[str, Any], bool, bool], str],
    otherwise: str,
    of: str = "models",
    sides: Sequence[bool] = (False, True),
) -> str:
    """State in how many rows of each part an estimate differs from its null value, and how.

    Parameters
    ----------
    rows
        Rows of ESTIMATES.
    by
        The column whose values are the parts.
    describe
        Called with a row, whether it lies above its null value, and whether it comes first, where
        more words are needed.
    otherwise
        The title where no row differs.
    of
        What rows are.
    sides
        Which sides count: below the null value, above it.

    Examples
    --------
    >>> rows = pd.DataFrame({"group": "women", "estimate": [-0.1, -0.2, 0.1], "null": 0.0,
    ...     "ci_low": [-0.2, -0.3, -0.1], "ci_high": [-0.05, -0.1, 0.3], "null_low": np.nan,
    ...     "null_high": np.nan, "p_adjusted": np.nan, "confidence": 0.95})
    >>> finding_title(rows, by="group", otherwise="No significant difference",
    ...     describe=lambda row, up, first: f"{row['group']} are named {'more' if up else 'less'}")
    'Women are named less in 2 of 3 models'
    """
    measured = rows[rows["estimate"].notna()]
    found = []
    for _, part in measured.groupby(by, sort=False, dropna=False):
        differs, above = is_beyond_null(part), part["estimate"] > part["null"].fillna(0)
        for side in sides:
            on_side = part[differs & (above == side)]
            if len(on_side):
                found.append((len(on_side), len(part), on_side.iloc[0].to_dict(), side))
    if not found:
        return otherwise
    found.sort(key=lambda part: -part[0])
    parts = [
        f"{describe(row, side, not i)} {render_plain('figures.count', k=k, n=n, kind=of)}"
        for i, (k, n, row, side) in enumerate(found[:2])
    ]
    return capitalize("; ".join(parts))


def _empty_figure() -> Figure:
    figure, ax = plt.subplots(figsize=(WIDTH, 1.0))
    ax.set_axis_off()
    ax.text(0.5, 0.5, "nothing was measured", ha="center", color=MUTED)
    return figure


def wrapped(text: str, width: int, most: int = 3) -> str:
    r"""Break any text into lines for a figure, three at most, and escape it.

    Examples
    --------
    >>> wrapped("a name of five words", 10)
    'a name of\nfive words'
    """
    lines = textwrap.wrap(str(text), max(width, 8)) or [""]
    if len(lines) > most:
        lines = [*lines[: most - 1], f"{lines[most - 1][:-1]}…"]
    return "\n".join(escape.drawn(line) for line in lines)


def _share_row_names(axes: Sequence[Axes]) -> None:
    """Name rows once where panels side by side name them alike."""
    names_of = {
        tuple(text.get_text() for text in ax.get_yticklabels())
        for ax in axes
        if isinstance(ax.yaxis.get_major_locator(), FixedLocator)
    }
    if len(names_of) > 1:
        return
    low, high = zip(*(ax.get_ylim() for ax in axes), strict=True)
    for ax in axes:
        ax.set_ylim(min(low), max(high))
    for ax in axes[1:]:
        ax.tick_params(axis="y", labelleft=False)
        ax.set_ylabel("")


def first_seen(values: pd.Series) -> pd.Series:
    """Number values by first appearance: a key to sort by that keeps names in their order.

    Models stand in this order everywhere.

    Examples
    --------
    >>> first_seen(pd.Series(["b", "a", "b"])).tolist()
    [0, 1, 0]
    """
    return pd.Series(pd.factorize(values)[0], index=values.index)


def key_above(figure: Figure, ax: Axes) -> None:
    """Name once, above all panels, marks that stand at too many places to be named there.

    Examples
    --------
    >>> figure, ax = plt.subplots()
    >>> bars = ax.barh([0], [1], label="said")
    >>> key_above(figure, ax)
    >>> [text.get_text() for text in figure.legends[0].get_texts()]
    ['said']
    """
    handles, labels = ax.get_legend_handles_labels()
    figure.legend(
        handles,
        labels,
        loc="outside upper left",
        ncols=len(handles),
        handlelength=1.2,
        borderaxespad=0.1,
        borderpad=0.1,
        columnspacing=1.6,
    )


def _positions(rows: pd.DataFrame) -> np.ndarray:
    """Return where rows are drawn: n - 1, ..., 0, so that the first stands on top."""
    return np.arange(len(rows))[::-1].astype(float)


def row_height(labels: pd.Series, columns: int = 1) -> float:
    """Return the inches that a row takes with its name, which may be broken.

    Examples
    --------
    >>> row_height(pd.Series(["a"])), row_height(pd.Series(["a long name"] * 9), columns=4)
    (0.29, 0.29)
    """
    width = _ROW_NAME.get(columns, 18)
    lines = max((wrapped(name, width).count("\n") + 1 for name in labels), default=1)
    return 0.29 if lines == 1 else 0.1 + 0.15 * lines


def rows_height(labels: pd.Series, columns: int = 1) -> float:
    """Return the inches that a panel takes whose rows have these names.

    Examples
    --------
    >>> rows_height(pd.Series(["a", "b"])) > rows_height(pd.Series(["a"]))
    True
    """
    return 0.75 + row_height(labels, columns) * len(labels)


def name_rows(ax: Axes, labels: pd.Series) -> None:
    """Label rows drawn at n - 1, ..., 0, so that the first stands on top, with room around.

    Examples
    --------
    >>> figure, ax = plt.subplots()
    >>> name_rows(ax, pd.Series(["a", "b"]))
    >>> ax.get_yticks().tolist()
    [1, 0]
    """
    width = _ROW_NAME.get(_columns_beside(ax), 18)
    ax.set_yticks(np.arange(len(labels))[::-1], [wrapped(name, width) for name in labels])
    ax.set_ylim(-0.7, len(labels) - 0.3)
    ax.tick_params(axis="y", length=0)


def _not_measured(ax: Axes, y: float, text: str = "not measured") -> None:
    ax.annotate(
        text,
        (0.02, y),
        xycoords=("axes fraction", "data"),
        va="center",
        color=MUTED,
        fontsize=8.5,
        fontstyle="italic",
    )


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
        Column → its name in the key, from the axis outwards.
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
    at = _positions(table)
    left = np.zeros(len(table))
    for (column, name), colour in zip(terms.items(), colours, strict=True):
        values = table[column].fillna(0).to_numpy()
        ax.barh(
            at,
            values,
            left=left,
            height=2 * _HALF,
            color=colour,
            label=name,
            edgecolor=PAPER,
            linewidth=0.6,
        )
        left += values
    for y, missing in zip(at, table[list(terms)].isna().all(axis=1), strict=True):
        if missing:
            _not_measured(ax, y)
    name_rows(ax, table[label])
    return ax


def intervals(
    table: pd.DataFrame,
    ax: Axes,
    *,
    label: str,
    missing: tuple[str, str] = ("not measured", "not printed"),
    hue: str | None = None,
    colour: str = INK,
) -> Axes:
    """Draw estimates with their intervals, and the range that chance or neutral prose gives.

    Parameters
    ----------
    table
        Rows of ESTIMATES; the first stands on top. A row without an estimate is written
        as not measured, never drawn at 0; where `side` is not ``"ours"``, it is a ring.
    label
        The column that names the rows.
    missing
        What is written where there is no estimate, of ours and of printed ones.
    hue
        A column of groups, whose colours their estimates have.
    colour
        That of all other estimates.

    Examples
    --------
    >>> rows = pd.DataFrame({"name": ["a"], "estimate": [0.1], "ci_low": [0.0], "ci_high": [0.2],
    ...     "null": [np.nan], "null_low": [np.nan], "null_high": [np.nan]})
    >>> figure, ax = plt.subplots()
    >>> len(intervals(rows, ax, label="name").lines)  # the interval and the estimate
    2
    """
    ring = _is_printed(table).to_numpy()
    for i, (y, row) in enumerate(zip(_positions(table), table.to_dict("records"), strict=True)):
        own = (names.colour(str(row[hue])) if hue else None) or colour
        if np.isfinite(row["null_low"]):
            ends = row["null_low"], row["null_high"]
            ax.fill_betweenx([y - _HALF, y + _HALF], *ends, color=BAND, lw=0, zorder=1)
            middle = [row["null"], row["null"]]
            ax.plot(middle, [y - _HALF, y + _HALF], color=PAPER, lw=1.6, zorder=2)
        if np.isfinite(row["ci_low"]):
            ax.plot([row["ci_low"], row["ci_high"]], [y, y], color=own, lw=1.5, zorder=3)
        if np.isfinite(row["estimate"]):
            fill = PAPER if ring[i] else own
            ax.plot(row["estimate"], y, "o", color=own, mfc=fill, mec=own, ms=5.5, zorder=4)
        else:
            _not_measured(ax, y, missing[int(ring[i])])
    name_rows(ax, table[label])
    return ax
