"""Figures: a table in, a Figure out, in panels, with one style.

`claims` draws estimates with their intervals as all studies do; `panels` lays out any other
drawing. Nothing is computed here, and matplotlib's constrained layout places what is drawn.
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

from nbbias.reading import names, significance
from nbbias.reading.prose import count_range, level, render_plain
from nbbias.tables import data_path, escape

#: Colours by role, safe for the colour-blind (words/colours.csv).
PAPER, INK, MUTED, BAND = (names.ROLES[role] for role in ("paper", "ink", "muted", "band"))

#: Inches of a page's lines: a file is shown at this size, so 9 pt are 12 px, or smaller.
WIDTH = 7.3

#: Panels side by side.
_MOST_COLUMNS = 4

#: Half the height of a bar or band, in rows.
_HALF = 0.34

#: Characters on one line of a row's name, and of a title, by the number of panels side by side.
_CHARACTERS = {1: (48, 80), 2: (32, 34), 3: (22, 22), 5: (15, 15)}
_FEWEST = (18, 18)

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
    sns.set_theme(style="ticks", context="paper", palette=names.PALETTE)
    plt.style.use(data_path("figures.mplstyle"))


# --- panels -----------------------------------------------------------------------------------


def panels(
    table: pd.DataFrame,
    draw: Draw,
    *,
    by: str | tuple[str, str],
    height: float | Callable[[pd.DataFrame], float] = 3.0,
    share_x: bool = True,
    columns: int = _MOST_COLUMNS,
) -> Figure:
    """Draw one panel per value of a column, or of two; labelled marks are named above all panels.

    Parameters
    ----------
    table
        Rows of all panels.
    draw
        Called with the rows of a panel and its Axes.
    by
        The column whose values, in order of appearance, are the panels' titles, at most four side
        by side; or the columns that name the rows and the columns of panels.
    height
        Inches that a panel takes, or a function of its rows that returns them.
    share_x
        Whether the panels measure the same quantity.
    columns
        Panels side by side at most, by one column.

    Examples
    --------
    >>> rows = pd.DataFrame({"model": ["a", "b"], "prompt": "p", "mean": [0.4, 0.2]})
    >>> by = ("model", "prompt")
    >>> figure = panels(rows, lambda subset, ax: ax.plot(subset["mean"], [0], "o"), by=by)
    >>> [ax.get_title(loc="left") for ax in figure.axes]
    ['a', 'b']
    """
    if table.empty:
        figure, ax = plt.subplots(figsize=(WIDTH, 1.0))
        ax.set_axis_off()
        ax.text(0.5, 0.5, "nothing was measured", ha="center", color=MUTED)
        return figure
    keys = [by] if isinstance(by, str) else list(by)
    numbers = [pd.factorize(table[key], use_na_sentinel=False)[0] for key in keys]
    if len(keys) == 1:
        numbers = list(divmod(numbers[0], _n_columns(table, by, columns)))
    parts = dict(iter(table.groupby(numbers)))
    labels = [key for key in keys if table[key].nunique(dropna=False) > 1] or keys[-1:]
    size = height if callable(height) else lambda _: height
    sizes = pd.Series({place: size(rows) for place, rows in parts.items()})
    heights = sizes.groupby(level=0).max().to_list()
    shape, inches = (len(heights), numbers[1].max() + 1), (WIDTH, sum(heights))
    options: dict[str, Any] = {"sharex": share_x, "squeeze": False, "height_ratios": heights}
    figure, grid = plt.subplots(*shape, figsize=inches, **options)
    for place, ax in np.ndenumerate(grid):
        if place in parts:
            draw(parts[place], ax)
            _finish(ax, " · ".join(str(parts[place][key].iloc[0]) for key in labels))
        else:
            ax.set_axis_off()
    for line in grid:
        _name_rows_once([ax for ax in line if ax.axison])
    draw_legend(figure)
    return figure


def _n_columns(table: pd.DataFrame, by: str | tuple[str, str], most: int) -> int:
    """Return how many panels stand side by side: of one column, lines of panels alike long."""
    if not isinstance(by, str):
        return table[by[1]].nunique(dropna=False)
    n = table[by].nunique(dropna=False)
    return -(-n // -(-n // most))


def _finish(ax: Axes, title: str) -> None:
    """Give a panel its title; break and escape what is wider than the panel."""
    columns = _columns_beside(ax)
    _, width = _CHARACTERS.get(columns, _FEWEST)
    ax.set_title(wrapped(title, width), loc="left")
    ax.set_xlabel(wrapped(ax.get_xlabel(), width))
    ax.tick_params(axis="x", labelbottom=True)
    if not isinstance(ax.xaxis.get_major_locator(), FixedLocator):
        ax.xaxis.set_major_locator(MaxNLocator(6 if columns < 3 else 3, steps=[1, 2, 5, 10]))


def _columns_beside(ax: Axes) -> int:
    """Return how many panels stand side by side where a panel stands."""
    place = ax.get_subplotspec()
    return 1 if place is None else int(place.get_gridspec().ncols)


def _name_rows_once(line: Sequence[Axes]) -> None:
    """Name the rows of panels side by side at the first, where all panels have the same rows."""
    scales = {(ax.get_ylim(), *(text.get_text() for text in ax.get_yticklabels())) for ax in line}
    if len(scales) == 1:
        for ax in line[1:]:
            ax.tick_params(axis="y", labelleft=False)
            ax.set_ylabel("")


def draw_legend(figure: Figure) -> None:
    """Name each labelled mark of a figure once, above all panels.

    Examples
    --------
    >>> figure, ax = plt.subplots()
    >>> bars = ax.barh([0], [1], label="direct")
    >>> draw_legend(figure)
    >>> [text.get_text() for text in figure.legends[0].get_texts()]
    ['direct']
    """
    entries = [zip(*ax.get_legend_handles_labels(), strict=True) for ax in figure.axes]
    handles = {name: handle for pairs in entries for handle, name in pairs}
    if not handles:
        return
    marks, labels = list(handles.values()), list(handles)
    for lines in range(1, len(handles) + 1):
        columns = -(-len(handles) // lines)
        legend = figure.legend(marks, labels, loc="outside upper left", ncols=columns)
        if columns == 1 or legend.get_window_extent().width <= figure.bbox.width:
            break
        legend.remove()
    figure.set_figheight(figure.get_figheight() + 0.25 * lines)


# --- estimates --------------------------------------------------------------------------------


def claims(
    rows: pd.DataFrame,
    axis: str | Callable[[pd.DataFrame], str] = "",
    *,
    by: str | tuple[str, str] = "panel",
    words: Mapping[str, str] | None = None,
    draw: Draw | None = None,
    hue: str | None = None,
    columns: int = _MOST_COLUMNS,
) -> Figure:
    """Draw estimates with their intervals over their range under the null, a row a name.

    Parameters
    ----------
    rows
        Rows of ESTIMATES with `cell`, their names. A column `side` tells ``"ours"`` from
        ``"printed"`` values, drawn as crosses, and ``"further"`` estimates, small and grey: these
        share the row of their name. A column `truth` has simulated values, drawn as diamonds.
        Markers of tested rows that are not significant are hollow (a column `significant` says
        which are; else the p values), those of rows that are not tested grey squares.
        Where there is a column `reference`, its value in a panel is a dashed line.
    axis
        What is measured; of a panel's rows where panels differ. Those of one measure share a scale.
    by, columns
        As in `panels`.
    words
        What `band` (the range under the null) and `line` (the reference) are. Null values without
        a range are drawn, as ticks, only where `tick` names them. `missing`: what stands where
        there is no estimate. `ours`, `further`: what these sides are.
    draw
        Adds to a panel, such as `unit`.
    hue
        A column of groups, whose colours their estimates have.

    Examples
    --------
    >>> row = {"panel": "gender", "cell": "gpt-4", "estimate": 0.1, "ci_low": 0.0, "ci_high": 0.2}
    >>> rows = pd.DataFrame([row | {"null": 0.0, "null_low": -0.1, "null_high": 0.1}])
    >>> figure = claims(rows, "difference of shares", words={"band": "permuted"})
    >>> [text.get_text() for text in figure.legends[0].get_texts()]
    ['permuted']
    """
    label = axis if callable(axis) else lambda _: axis
    words, rows = words or {}, _marked(rows)
    scales: dict[tuple[str, ...], list[Axes]] = {}

    def draw_panel(subset: pd.DataFrame, ax: Axes) -> None:
        intervals(subset, ax, words=words, hue=hue)
        for value in subset["reference"].dropna().unique()[:1] if "reference" in subset else ():
            line = escape.drawn(words["line"]) if "line" in words else None
            ax.axvline(value, color=MUTED, ls="--", lw=1, zorder=0, label=line)
        ax.set_xlabel(label(subset))
        if draw is not None:
            draw(subset, ax)
        measured = subset["measure"].dropna().unique() if "measure" in subset else ()
        scales.setdefault((label(subset), *measured), []).append(ax)

    def height(subset: pd.DataFrame) -> float:
        cells = subset["cell"].drop_duplicates()
        width, _ = _CHARACTERS.get(_n_columns(rows, by, columns), _FEWEST)
        lines = max((wrapped(cell, width).count("\n") + 1 for cell in cells), default=1)
        return 0.85 + max(0.29, 0.1 + 0.15 * lines) * len(cells)

    figure = panels(rows, draw_panel, by=by, height=height, share_x=False, columns=columns)
    for axes in scales.values():  # panels that measure the same quantity share its scale
        low, high = zip(*(ax.get_xlim() for ax in axes), strict=True)
        # Room for a dot at the end of the scale, unless a panel has limits of its own.
        room = 0.02 * (max(high) - min(low)) * (draw is not unit)
        for ax in axes:
            ax.set_xlim(min(low) - room, max(high) + room)
    return figure


def intervals(table: pd.DataFrame, ax: Axes, *, words: Mapping[str, str], hue: str | None) -> None:
    """Draw estimates with their intervals, over their range under the null.

    Parameters
    ----------
    table
        Rows of ESTIMATES, named by `cell`; the first stands on top. A row without an estimate is
        written as not measured, never drawn at 0.
    words, hue
        As in `claims`.

    Examples
    --------
    >>> rows = pd.DataFrame({"cell": ["a"], "estimate": [0.1], "ci_low": [0.0], "ci_high": [0.2],
    ...     "null": [np.nan], "null_low": [np.nan], "null_high": [np.nan]})
    >>> figure, ax = plt.subplots()
    >>> intervals(rows, ax, words={}, hue=None)
    >>> len(ax.lines)  # the interval and the estimate
    2
    """
    words = {"band": "expected under the null", "missing": "not measured", **words}
    band, tick = (escape.drawn(words.get(kind, "_")) for kind in ("band", "tick"))
    side = _sides(table)
    repeated = table.groupby("cell", dropna=False).cumcount().where(side == "ours", 0)
    line = table.groupby([table["cell"], repeated], sort=False, dropna=False).ngroup()
    for y, kind, row in zip(line.max() - line, side, table.to_dict("records"), strict=True):
        y, half = (y - 0.25, _HALF / 2) if kind == "further" else (y, _HALF)
        ends = [y - half, y + half]
        if np.isfinite(row["null_low"]):
            low, high = row["null_low"], row["null_high"]
            ax.fill_betweenx(ends, low, high, color=BAND, lw=0, zorder=1, label=band)
            ax.plot([row["null"]] * 2, ends, color=PAPER, lw=1.6, zorder=2)
        elif "tick" in words:
            ax.plot(row["null"], y, "|", color=MUTED, ms=11, zorder=2, label=tick)
        untested = kind == "ours" and pd.isna(row.get("significant", True))
        colour, width, size = (names.colour(str(row[hue])) if hue else None) or INK, 1.5, 5.5
        colour = MUTED if untested else colour
        if kind == "further":
            colour, width, size = MUTED, 1.0, 3.5
        for (low, high), lw in ((("ci_low", "ci_high"), width), (significance.SELECTED, 0.6)):
            if np.isfinite(row.get(low, np.nan)):
                ax.plot([row[low], row[high]], [y, y], color=colour, lw=lw, zorder=3)
        if np.isfinite(row.get("truth", np.nan)):
            label = words.get("truth", "simulated value")
            ax.plot(row["truth"], y - 0.28, "d", mfc=PAPER, mec=INK, ms=4, label=label)
        if np.isfinite(row["estimate"]):
            marker = "s" if untested else "ox"[kind == "printed"]
            face = colour if row.get("significant", True) else PAPER
            style: dict[str, Any] = {"color": colour, "mfc": face, "ms": size, "zorder": 4}
            whose = escape.drawn(words[kind]) if kind in words else None
            ax.plot(row["estimate"], y, marker, label=whose, **style)
        elif kind != "further":
            text = "not printed" if kind == "printed" else words["missing"]
            style = {"va": "center", "fontsize": 8.5, "fontstyle": "italic"}
            ax.annotate(text, (0.02, y), xycoords=("axes fraction", "data"), color=MUTED, **style)
    name_rows(ax, table.loc[~line.duplicated(), "cell"])


def _marked(rows: pd.DataFrame) -> pd.DataFrame:
    """Add `significant` to rows of which any was tested."""
    if "significant" in rows or not {"p_adjusted", "p_value", "confidence"} <= {*rows}:
        return rows
    tested = significance.adjusted_p(rows).notna()
    marks = significance.is_significant(rows).astype(object).where(tested, np.nan)
    return rows.assign(significant=marks) if tested.any() else rows


def _sides(rows: pd.DataFrame) -> pd.Series:
    """Return whose each row is; all are ours where nothing is said."""
    return rows["side"].fillna("ours") if "side" in rows else pd.Series("ours", index=rows.index)


def scaled(rows: pd.DataFrame) -> tuple[pd.DataFrame, Callable[[pd.DataFrame], str]]:
    """Return rows of ESTIMATES in the units of their measures, and the name of a panel's axis.

    Examples
    --------
    >>> row = {"study": "news_bias", "measure": "word", "statistic": "share_difference"}
    >>> ends = dict.fromkeys(("ci_low", "ci_high", "null", "null_low", "null_high"), np.nan)
    >>> rows, axis = scaled(pd.DataFrame([row | ends | {"estimate": -0.25}]))
    >>> rows["estimate"].tolist(), axis(rows)
    ([-25.0], 'percentage points')
    """
    factor = [names.unit(row).factor for row in rows.to_dict("records")]
    values = [name for name in rows if name.startswith((*names.SCALED, "truth"))]
    return rows.assign(**rows[values].mul(factor, axis=0)), _axis


def _axis(rows: pd.DataFrame) -> str:
    row = rows.dropna(subset="measure").iloc[0]
    name = names.MEASURES.get(str(row["measure"]), str(row["measure"]))
    unit = names.unit(row.to_dict()).name.strip().replace("%", "percent")
    return unit or f"difference in {name}" + " (score −1 to 1)" * (name == "tone")


def unit(_: pd.DataFrame, ax: Axes) -> None:
    """Show all that a share can be; for `claims`.

    Examples
    --------
    >>> figure, ax = plt.subplots()
    >>> unit(pd.DataFrame(), ax)
    >>> tuple(map(float, ax.get_xlim()))
    (-0.03, 1.03)
    """
    ax.set(xlim=(-0.03, 1.03), xticks=(0, 0.5, 1))
    first, *_, last = ax.get_xticklabels()  # those of neighbouring panels do not touch
    first.set_horizontalalignment("left")
    last.set_horizontalalignment("right")


def zero(_: pd.DataFrame, ax: Axes) -> None:
    """Draw the line of no difference, in the middle of its scale; for `claims`.

    Examples
    --------
    >>> figure, ax = plt.subplots()
    >>> zero(pd.DataFrame(), ax)
    >>> len(ax.lines)
    1
    """
    ax.axvline(0, color=MUTED, lw=1, ls=":", zorder=1)


# --- words ------------------------------------------------------------------------------------


def caption(
    rows: pd.DataFrame, what: str, *, of: str = "", band: str = "", filled: str = ""
) -> str:
    """Write the caption of a figure of `claims`: its dots, their intervals, N and the band.

    Parameters
    ----------
    rows
        Rows of ESTIMATES.
    what
        What the dots are.
    of
        What N counts.
    band, filled
        What the grey band is, and which dots are filled where not all that are significant.

    Examples
    --------
    >>> rows = pd.DataFrame({"estimate": [0.1, 0.2], "ci_low": 0.0, "n": [9, 12],
    ...     "confidence": 0.95, "null_low": 0.0})
    >>> caption(rows, "shares", of="headlines", band="permuted")
    'Dots: shares; lines: 95% CIs; grey band: range under the null (permuted), white line...'
    """
    ours = rows[_sides(rows) == "ours"]
    values: dict[str, Any] = {"what": what, "unit": of, "filled": filled}
    values["level"] = level(ours) if ours["ci_low"].notna().any() else None
    values["band"] = band if rows["null_low"].notna().any() else ""
    values["n"] = count_range(ours.loc[ours["estimate"].notna(), "n"]) if "n" in ours else ""
    marks = _marked(ours).get("significant", pd.Series())
    values |= {"tested": len(marks) > 0, "untested": marks.isna().any()}
    values["selected"] = (ours.get("ci_low_selected", ours["ci_low"]) < ours["ci_low"]).any()
    return render_plain("figures.caption", **values)


# --- parts ------------------------------------------------------------------------------------


def wrapped(text: str, width: int) -> str:
    r"""Break any text into lines for a figure, four at most, and escape it.

    Examples
    --------
    >>> wrapped("a name of five words", 10)
    'a name of\nfive words'
    """
    lines = textwrap.wrap(str(text), width, max_lines=4, placeholder="…")
    return "\n".join(escape.drawn(line) for line in lines)


def name_rows(ax: Axes, labels: pd.Series) -> None:
    """Label rows drawn at n - 1, ..., 0, so that the first stands on top, with room around.

    Examples
    --------
    >>> figure, ax = plt.subplots()
    >>> name_rows(ax, pd.Series(["a", "b"]))
    >>> ax.get_yticks().tolist()
    [1, 0]
    """
    width, _ = _CHARACTERS.get(_columns_beside(ax), _FEWEST)
    ax.set_yticks(np.arange(len(labels))[::-1], [wrapped(name, width) for name in labels])
    ax.set_ylim(-0.7, len(labels) - 0.3)
    ax.tick_params(axis="y", length=0)
