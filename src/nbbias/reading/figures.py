"""Figures: a table in, a Figure out, in panels, with marks, words at the marks and one style.

`claims` draws estimates with their intervals as all studies do; where a figure needs more, `panels`
and `grid` lay out panels and the marks draw into given Axes. Nothing is computed here. What
`twice` decorates is drawn for a page and once more for a phone, with panels below one another.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Any, NamedTuple, ParamSpec

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.gridspec import SubplotSpec
from matplotlib.ticker import FixedLocator, MaxNLocator

from nbbias.reading import names
from nbbias.tables import escape

#: Colours by role, safe for the colour-blind; each has a twin in the dark (words/colours.csv).
PAPER, INK, MUTED, BAND = (names.ROLES[role] for role in ("paper", "ink", "muted", "band"))
PALETTE = names.PALETTE

drawn = escape.drawn  # at hand for those who write into a figure

#: Inches: of a page's lines, and of a phone's; files are shown at this size, so 9 pt are 12 px.
WIDE, PHONE = 7.3, 3.75

#: Characters of a row's name on one line: on a page by panels abreast, beside marks on a phone.
_NAME, _BESIDE = {1: 48, 2: 32, 3: 22}, 18

#: How a column is named beside the name of a row.
_BESIDE_TITLE: dict[str, Any] = {"fontweight": "normal", "fontsize": 9}

#: Inches that a line of small print takes.
_LINE = 0.155

_PANELS_ABREAST = 4

Draw = Callable[[pd.DataFrame, Axes], object]

_P = ParamSpec("_P")

_on_phone: ContextVar[bool] = ContextVar("on_phone", default=False)
_abreast: ContextVar[int] = ContextVar("abreast", default=_PANELS_ABREAST)


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


def twice(draw: Callable[_P, Drawn]) -> Callable[_P, Drawn]:
    """Draw a figure for a page, and once more for a phone: `Drawn.narrow`.

    Examples
    --------
    >>> @twice
    ... def one(rows):
    ...     return Drawn(panels(rows, lambda own, ax: None, by="model"), rows, "Nothing.")
    >>> drawn = one(pd.DataFrame({"model": ["a", "b"]}))
    >>> [float(figure.get_figwidth()) for figure in (drawn.figure, drawn.narrow)]
    [7.3, 3.75]
    """

    @wraps(draw)
    def both(*args: _P.args, **kwargs: _P.kwargs) -> Drawn:
        drawn = draw(*args, **kwargs)
        with _phone():
            return drawn._replace(narrow=draw(*args, **kwargs).figure)

    return both


def on_phone() -> bool:
    """Tell whether what is drawn is for a phone (`twice`).

    Examples
    --------
    >>> on_phone()
    False
    """
    return _on_phone.get()


@contextmanager
def _phone() -> Iterator[None]:
    token = _on_phone.set(True)
    try:
        yield
    finally:
        _on_phone.reset(token)


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
            # Of one width, letter by letter: text stays text, and one of them is everywhere.
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
    """Draw one panel per value of a column: side by side, four at most; on a phone one a line.

    Parameters
    ----------
    table
        Rows of all panels.
    draw
        Called with the rows of a panel and its Axes.
    by
        The column whose values, in order of appearance, are the panels' titles.
    height
        Inches that a panel takes, or what says so of its rows.
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
        return _nothing()
    parts = {str(value): own for value, own in table.groupby(by, sort=False, dropna=False)}
    lines = len(parts) if _on_phone.get() else -(-len(parts) // _PANELS_ABREAST)
    abreast = -(-len(parts) // lines)
    _abreast.set(abreast)
    each = [height(own) if callable(height) else height for own in parts.values()]
    tall = [max(each[i * abreast : (i + 1) * abreast]) for i in range(lines)]
    figure, grid = plt.subplots(
        lines,
        abreast,
        figsize=(_width(), sum(tall)),
        sharex=share_x,
        squeeze=False,
        height_ratios=tall,
    )
    axes = list(grid.flat)
    for (value, own), ax in zip(parts.items(), axes, strict=False):
        draw(own, ax)
        ax.set_title(value, loc="left")
        if ax is not axes[0] and ax.get_legend():
            ax.get_legend().remove()
    for ax in axes[len(parts) :]:
        ax.set_axis_off()
    _share_rows(grid, len(parts))
    _fit(figure)
    return figure


def grid(table: pd.DataFrame, draw: Draw, *, rows: str, columns: str) -> Figure:
    """Draw one panel per value of two columns; panels below one another share their scale.

    On a phone all panels stand below one another, those of a column together.

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
        return _nothing()
    down, across = list(table[rows].unique()), list(table[columns].unique())
    _abreast.set(len(across))
    parts = {
        (i, j): own
        for j, other in enumerate(across)
        for i, value in enumerate(down)
        if len(own := table[(table[rows] == value) & (table[columns] == other)])
    }
    lines = [own["cell"].nunique() * _row(own["cell"]) + 0.7 for own in parts.values()]
    if _on_phone.get():
        figure, stacked = plt.subplots(
            len(parts), 1, squeeze=False, figsize=(PHONE, sum(lines)), height_ratios=lines
        )
        places = dict(zip(parts, stacked.flat, strict=True))
    else:
        tall = [
            max(line for (at, _), line in zip(parts, lines, strict=True) if at == i)
            for i in range(len(down))
        ]
        figure, crossed = plt.subplots(
            len(down),
            len(across),
            squeeze=False,
            figsize=(WIDE, 0.3 + sum(tall)),
            height_ratios=tall,
        )
        places = {(i, j): ax for (i, j), ax in np.ndenumerate(crossed)}
    for (i, j), ax in places.items():
        if (i, j) not in parts:
            ax.set_axis_off()
            continue
        draw(parts[i, j], ax)
        above, beside = (str(down[i]) if len(down) > 1 else "", str(across[j]))
        if _on_phone.get():
            ax.set_title(" · ".join(filter(None, (above, beside))), loc="left")
        else:
            first = j == min(at for line, at in parts if line == i)
            ax.tick_params(axis="y", labelleft=first)
            ax.set_title(above if first else "", loc="left")
            ax.set_title(beside, loc="right")
    for j in range(len(across)):
        own = [places[at] for at in parts if at[1] == j]
        low, high = zip(*(ax.get_xlim() for ax in own), strict=True)
        for ax in own:
            ax.set_xlim(min(low), max(high))
            if ax is not own[-1]:
                ax.set_xlabel("")
    _fit(figure)
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
    >>> figure = claims(rows, "difference of shares", words={"band": "dealt anew"})
    >>> [text.get_text() for text in figure.axes[0].texts]
    ['dealt anew']
    """
    named = {"band": "by chance", **(words or {})}
    label = axis if callable(axis) else lambda _: axis
    drawn: list[tuple[Axes, pd.DataFrame]] = []

    def each(own: pd.DataFrame, ax: Axes) -> None:
        gaps = named.get("missing", "not measured"), named.get("unprinted", "not printed")
        intervals(own, ax, label="cell", missing=gaps, hue=hue)
        if "tick" in named:
            for y, (null, low) in zip(_places(own), own[["null", "null_low"]].values, strict=True):
                if np.isnan(low):
                    ax.plot(null, y, "|", color=MUTED, ms=11, zorder=2)
        for value in own["reference"].dropna().unique()[:1] if "reference" in own else ():
            ax.axvline(value, color=MUTED, ls="--", lw=1, zorder=0)
        ax.set_xlabel(label(own))
        if draw is not None:
            draw(own, ax)
        drawn.append((ax, own))

    if isinstance(by, tuple):
        figure = grid(rows, each, rows=by[0], columns=by[1])
    else:
        figure = panels(
            rows,
            each,
            by=by,
            height=lambda own: rows_height(own["cell"]),
            share_x=len({label(own) for _, own in rows.groupby(by, sort=False)}) < 2,
        )
        scales: dict[str, list[Axes]] = {}
        for ax, own in drawn:
            scales.setdefault(label(own), []).append(ax)
        for alike in scales.values():  # what measures the same is on one scale
            low, high = zip(*(ax.get_xlim() for ax in alike), strict=True)
            for ax in alike:
                ax.set_xlim(min(low), max(high))
    _name_marks(drawn, named)
    return figure


def _printed(rows: pd.DataFrame) -> pd.Series:
    return rows["side"] != "ours" if "side" in rows else pd.Series(False, index=rows.index)


def _name_marks(drawn: Sequence[tuple[Axes, pd.DataFrame]], named: Mapping[str, str]) -> None:
    """Write above the first row of the first panel that has them what band, line and tick are."""
    found: list[tuple[Axes, float, str]] = []
    for kind, marks in _MARKS.items():
        if kind not in named:
            continue
        for ax, own in drawn:
            at = marks(own).dropna()
            if len(at):
                found.append((ax, float(at.iloc[0]), named[kind]))
                break
    for ax in dict.fromkeys(ax for ax, _, _ in found):
        name_marks(ax, [(x, text) for other, x, text in found if other is ax])


#: Where the marks of a panel's rows stand that need a name.
_MARKS: dict[str, Callable[[pd.DataFrame], pd.Series]] = {
    "band": lambda own: own["null"].where(own["null_high"] > own["null_low"]),
    "tick": lambda own: own["null"].where(own["null_low"].isna()),
    "line": lambda own: own["reference"] if "reference" in own else pd.Series(dtype=float),
}


def name_marks(ax: Axes, marks: Sequence[tuple[float, str]]) -> None:
    """Name marks above a panel's first row, each at its place on the scale, and make room.

    Examples
    --------
    >>> rows = pd.DataFrame({"model": ["a"], "name": "x", "mean": 0.1, "worst": 0.4})
    >>> figure = panels(rows, lambda own, ax: shares(own, ax, label="name", mean="mean",
    ...     worst="worst"), by="model")
    >>> name_marks(figure.axes[0], [(0.1, "mean"), (0.4, "worst")])
    >>> [text.get_text() for text in figure.axes[0].texts]
    ['mean', 'worst']
    """
    low, high = ax.get_xlim()
    bottom, top = ax.get_ylim()
    figure, place, tall = _placed(ax)
    level = [one for one in figure.axes if one.axison and _placed(one)[1].rowspan == place.rowspan]
    line = _LINE * (top - bottom) / max(tall - 0.55 - _LINE * _more_lines(level), 0.3)  # in rows
    y, lines = top - 0.1, 0
    for x, text in sorted(marks):
        at = (x - low) / (high - low)
        side = "left" if at < 0.4 else "right" if at > 0.6 else "center"
        told = textwrap.fill(escape.drawn(text), max(12, int(_room(figure, place) * 12)))
        ax.annotate(
            told,
            (min(max(x, low), high), y),
            ha=side,
            va="bottom",
            color=MUTED,
            fontsize=8.5,
            fontstyle="italic",
            annotation_clip=False,
            bbox={"facecolor": PAPER, "edgecolor": "none", "pad": 0.6},
            zorder=5,
        )
        lines += told.count("\n") + 1
        y = top - 0.1 + line * lines
    for other in level:  # those beside it stay level
        other.set_ylim(other.get_ylim()[0], max(other.get_ylim()[1], y + 0.1 * line))
    _grow(figure, place, _LINE * lines)


def _placed(ax: Axes) -> tuple[Figure, SubplotSpec, float]:
    """Return a panel's figure, its place there, and how tall it is, before the layout is."""
    figure, place = ax.get_figure(root=True), ax.get_subplotspec()
    assert figure is not None and place is not None  # of panels and grid
    return figure, place, _heights(place)[place.rowspan.start]


def _heights(place: SubplotSpec) -> list[float]:
    """Return the inches that each line of panels takes."""
    return [float(inches) for inches in np.ravel(place.get_gridspec().get_height_ratios())]


def _grow(figure: Figure, place: SubplotSpec, inches: float) -> None:
    """Make a line of panels taller, and the figure with it."""
    heights = _heights(place)
    heights[place.rowspan.start] += inches
    place.get_gridspec().set_height_ratios(heights)
    figure.set_figheight(figure.get_figheight() + inches)


def _room(figure: Figure, place: SubplotSpec) -> float:
    """Return the inches that a panel is wide, or about that."""
    names = 0.4 if _on_phone.get() else 1.2
    return float(figure.get_figwidth() - names) / place.get_gridspec().ncols


def _more_lines(level: Sequence[Axes]) -> int:
    """Count the lines that titles and names of scales of panels beside one another take more."""
    titles = ((ax.get_title(loc="left"), ax.get_title(loc="right")) for ax in level)
    above = max((text.count("\n") for pair in titles for text in pair), default=0)
    return above + max((ax.get_xlabel().count("\n") for ax in level), default=0)


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
    theirs = _printed(rows)
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
        values = rows.loc[_printed(rows) & rows[by].isin(own[by]), "estimate"]
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
        at = dict(zip(own["cell"], _places(own), strict=True))
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
    """Say under a figure of `claims` what is drawn: the dots, their intervals, N, the band.

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
    >>> caption(rows, "shares", of="headlines", band="dealt anew")
    'Dots: shares; lines: 95% intervals; grey: dealt anew. N = 9 to 12 headlines.'
    """
    ours = rows[~_printed(rows)]
    levels = ours["confidence"].dropna().unique() if "confidence" in ours else []
    level = f"{levels[0]:.0%} intervals" if len(levels) == 1 else "intervals"
    parts = [f"Dots: {what}"]
    if ours["ci_low"].notna().any():
        parts.append(f"lines: {level}")
    if band and rows["null_low"].notna().any():
        parts.append(f"grey: {band}")
    counts = ours.loc[ours["estimate"].notna(), "n"].dropna() if "n" in ours else pd.Series([])
    if counts.empty:
        return f"{'; '.join(parts)}."
    low, high = (f"{count:,.0f}" for count in (counts.min(), counts.max()))
    n = low if low == high else f"{low} to {high}"
    return f"{'; '.join(parts)}. N = {n}{f' {of}' if of else ''}."


def apart(rows: pd.DataFrame) -> pd.Series:
    """Tell which rows of ESTIMATES lie apart from their reference.

    By their corrected p; where nothing was tested by the range of chance, and without one by their
    interval.

    Examples
    --------
    >>> rows = pd.DataFrame({"estimate": [0.1, 0.1], "ci_low": [0.05, -0.1], "ci_high": 0.2,
    ...     "null": 0.0, "null_low": np.nan, "null_high": np.nan, "p_adjusted": np.nan,
    ...     "confidence": 0.95})
    >>> apart(rows).tolist()
    [True, False]
    """
    null = rows["null"].fillna(0)
    by_interval = (rows["ci_low"] > null) | (rows["ci_high"] < null)
    by_band = (rows["estimate"] > rows["null_high"]) | (rows["estimate"] < rows["null_low"])
    untested = by_band.where(rows["null_low"].notna(), by_interval)
    tested = rows["p_adjusted"] < 1 - rows["confidence"].fillna(0.95)
    return tested.where(rows["p_adjusted"].notna(), untested).astype(bool)


def stated(
    rows: pd.DataFrame,
    *,
    by: str,
    told: Callable[[dict[str, Any], bool, bool], str],
    otherwise: str,
    of: str = "models",
    sides: Sequence[bool] = (False, True),
) -> str:
    """State what the rows show: of whom most lie apart from the reference, and on which side.

    Parameters
    ----------
    rows
        Rows of ESTIMATES; each of its `by` counts.
    by
        The column that tells apart what is counted over.
    told
        Says it of a row: called with the row, whether it lies above, and whether it comes first,
        where more words are needed.
    otherwise
        What is said where no row lies apart.
    of
        What rows are.
    sides
        Which sides count: below the reference, above it.

    Examples
    --------
    >>> rows = pd.DataFrame({"group": "women", "estimate": [-0.1, -0.2, 0.1], "null": 0.0,
    ...     "ci_low": [-0.2, -0.3, -0.1], "ci_high": [-0.05, -0.1, 0.3], "null_low": np.nan,
    ...     "null_high": np.nan, "p_adjusted": np.nan, "confidence": 0.95})
    >>> stated(rows, by="group", otherwise="Nothing is told apart",
    ...     told=lambda row, up, first: f"{row['group']} are named {'more' if up else 'less'}")
    'Women are named less in 2 of 3 models'
    """
    measured = rows[rows["estimate"].notna()]
    found = []
    for _, own in measured.groupby(by, sort=False, dropna=False):
        out, up = apart(own), own["estimate"] > own["null"].fillna(0)
        for side in sides:
            there = own[out & (up == side)]
            if len(there):
                found.append((len(there), len(own), there.iloc[0].to_dict(), side))
    if not found:
        return otherwise
    found.sort(key=lambda one: -one[0])
    parts = [
        f"{told(row, side, not i)} {counted(k, n, of)}"
        for i, (k, n, row, side) in enumerate(found[:2])
    ]
    return upper("; ".join(parts))


def upper(sentence: str) -> str:
    """Begin a sentence with a capital, and leave its other letters as they are.

    Examples
    --------
    >>> upper("share of BOLD")
    'Share of BOLD'
    """
    return sentence[:1].upper() + sentence[1:]


def counted(count: int, total: int, of: str) -> str:
    """Say in how many of some something is.

    Examples
    --------
    >>> [counted(k, 5, "models") for k in (0, 3, 5)], counted(1, 1, "models")
    (['in none of 5 models', 'in 3 of 5 models', 'in all 5 models'], 'in the one model')
    """
    where = "by" if of.startswith("judge") else "in"
    if total == 1:
        one = f"{where} the one {of.removesuffix('s')}"
        return one if count else f"not {one}"
    if count == total:
        return f"{where} all {total} {of}" if total > 2 else f"{where} both {of}"
    return f"{where} {count or 'none'} of {total} {of}"


def _nothing() -> Figure:
    figure, ax = plt.subplots(figsize=(_width(), 1.0))
    ax.set_axis_off()
    ax.text(0.5, 0.5, "nothing of this was measured", ha="center", color=MUTED)
    return figure


def _width() -> float:
    return PHONE if _on_phone.get() else WIDE


def _fit(figure: Figure) -> None:
    """Break titles and names of scales that are wider than their panel; escape them."""
    lines: dict[int, list[Axes]] = {}
    for ax in figure.axes:
        _, place, _ = _placed(ax)
        room = _room(figure, place)
        lines.setdefault(place.rowspan.start, []).append(ax)
        if not isinstance(ax.xaxis.get_major_locator(), FixedLocator):
            ax.xaxis.set_major_locator(MaxNLocator(max(2, min(6, int(room * 2)))))
        left, right = (ax.get_title(loc=side) for side in ("left", "right"))
        over = bool(right) and len(left) + len(right) > room * 11.5
        title = wrapped(left, int(room * 10.5)) + ("\n" if over and left else "")
        ax.set_title(title, loc="left")
        ax.set_title(wrapped(right, int(room * 11.5)), loc="right", **_BESIDE_TITLE)
        ax.set_xlabel(wrapped(ax.get_xlabel(), int(room * 11.5)))
    for level in lines.values():
        _grow(figure, _placed(level[0])[1], _LINE * _more_lines(level))


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


def _share_rows(grid: np.ndarray, count: int) -> None:
    """Name rows once a line where its panels name them alike; show a scale under every column."""
    drawn = list(grid.flat)[:count]
    if _on_phone.get():
        told = {ax.get_xlabel() for ax in drawn}
        for ax in drawn:
            ax.tick_params(axis="x", labelbottom=True)
            if len(told) == 1 and ax is not drawn[-1]:
                ax.set_xlabel("")
        return
    for ax in drawn:
        ax.tick_params(axis="x", labelbottom=True)
    for line in (drawn[i : i + grid.shape[1]] for i in range(0, count, grid.shape[1])):
        named = {
            tuple(text.get_text() for text in ax.get_yticklabels())
            for ax in line
            if isinstance(ax.yaxis.get_major_locator(), FixedLocator)
        }
        if len(named) > 1:
            continue
        low, high = zip(*(ax.get_ylim() for ax in line), strict=True)
        for ax in line:
            ax.set_ylim(min(low), max(high))
        for ax in line[1:]:
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
        ncols=1 if _on_phone.get() else len(handles),
        handlelength=1.2,
        borderaxespad=0.1,
        borderpad=0.1,
        columnspacing=1.6,
    )


def _places(rows: pd.DataFrame) -> np.ndarray:
    """Return where rows are drawn: n - 1, ..., 0, so that the first stands on top."""
    return np.arange(len(rows))[::-1].astype(float)


def _longest(labels: pd.Series) -> int:
    return max((len(str(name)) for name in labels), default=0)


def _row(labels: pd.Series) -> float:
    """Return inches that a row takes with its name, which may be broken or stand above it."""
    if _on_phone.get():
        over = _longest(labels) > _BESIDE
        return 0.44 + 0.15 * (_longest(labels) > 48) if over else 0.27
    lines = max(
        (wrapped(name, _NAME.get(_abreast.get(), 18)).count("\n") + 1 for name in labels), default=1
    )
    return 0.29 if lines == 1 else 0.1 + 0.15 * lines


def rows_height(labels: pd.Series) -> float:
    """Return inches that a panel takes whose rows have these names.

    Examples
    --------
    >>> rows_height(pd.Series(["a", "b"])) > rows_height(pd.Series(["a"]))
    True
    """
    return 0.75 + _row(labels) * len(labels)


def _half(labels: pd.Series) -> float:
    return 0.17 if _on_phone.get() and _longest(labels) > _BESIDE else 0.34


def name_rows(ax: Axes, labels: pd.Series) -> None:
    """Label rows drawn at n - 1, ..., 0, so that the first stands on top, with room around.

    On a phone long names stand above their rows, which leaves the width to the marks.

    Examples
    --------
    >>> figure, ax = plt.subplots()
    >>> name_rows(ax, pd.Series(["a", "b"]))
    >>> ax.get_yticks().tolist()
    [1, 0]
    """
    at = np.arange(len(labels))[::-1]
    over = _half(labels) < 0.3
    room = _BESIDE if _on_phone.get() else _NAME.get(_abreast.get(), 18)
    shown = [wrapped(name, 48 if over else room) for name in labels]
    ax.set_yticks(at, [""] * len(shown) if over else shown)
    broken = 0.2 * (over and any("\n" in name for name in shown))
    ax.set_ylim(-0.45 if over else -0.7, len(labels) - 0.3 + broken)
    ax.tick_params(axis="y", length=0)
    if over:
        for y, name in zip(at, shown, strict=True):
            ax.annotate(
                name,
                (0.0, y + 0.2),
                xycoords=("axes fraction", "data"),
                xytext=(3, 0),
                textcoords="offset points",
                va="bottom",
                fontsize=8.5,
                linespacing=1.0,
            )


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
    at = _places(table)
    left = np.zeros(len(table))
    for (column, name), colour in zip(terms.items(), colours, strict=True):
        values = table[column].fillna(0).to_numpy()
        ax.barh(
            at,
            values,
            left=left,
            height=2 * _half(table[label]),
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
    half = _half(table[label])
    ring = _printed(table).to_numpy()
    for i, (y, row) in enumerate(zip(_places(table), table.to_dict("records"), strict=True)):
        own = (names.colour(str(row[hue])) if hue else None) or colour
        if np.isfinite(row["null_low"]):
            ends = row["null_low"], row["null_high"]
            ax.fill_betweenx([y - half, y + half], *ends, color=BAND, lw=0, zorder=1)
            middle = [row["null"], row["null"]]
            ax.plot(middle, [y - half, y + half], color=PAPER, lw=1.6, zorder=2)
        if np.isfinite(row["ci_low"]):
            ax.plot([row["ci_low"], row["ci_high"]], [y, y], color=own, lw=1.5, zorder=3)
        if np.isfinite(row["estimate"]):
            fill = PAPER if ring[i] else own
            ax.plot(row["estimate"], y, "o", color=own, mfc=fill, mec=own, ms=5.5, zorder=4)
        else:
            _not_measured(ax, y, missing[int(ring[i])])
    name_rows(ax, table[label])
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
        What a unit is.

    Examples
    --------
    >>> units = pd.DataFrame({"name": ["a", "a", "b"], "value": [1, 2, 3]})
    >>> figure, ax = plt.subplots()
    >>> points(units, ax, x="value", label="name", rows=pd.Series(["a", "b"]), name="one prompt")
    <Axes: >
    """
    at = {value: len(rows) - 1 - i for i, value in enumerate(rows)}
    ax.plot(
        table[x],
        table[label].map(at),
        "o",
        mfc="none",
        mec=PALETTE[0],
        mew=1.2,
        ms=6,
        ls="none",
        label=name,
        zorder=3,
    )
    return ax


def beside(table: pd.DataFrame, ax: Axes, *, label: str, printed: str = "printed") -> Axes:
    """Draw our value and the printed one in a row each, on one scale.

    Parameters
    ----------
    table
        `ours`, `printed` (NaN where the paper prints none) and the label column;
        the first row stands on top.
    printed
        What the printed values are.

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
        table["printed"],
        at,
        "o",
        mfc=PAPER,
        mec=INK,
        mew=1.3,
        ms=6.5,
        ls="none",
        label=printed,
        zorder=2,
    )
    ax.plot(table["ours"], at, "o", color=INK, ms=5, ls="none", label="ours", zorder=3)
    name_rows(ax, table[label])
    return ax


def agreement(table: pd.DataFrame, ax: Axes, *, x: str, y: str) -> Axes:
    """Draw two instruments against each other, one point a text, zero lines through both.

    Examples
    --------
    >>> rows = pd.DataFrame({"one": [0.1, 0.2], "other": [0.2, 0.1]})
    >>> figure, ax = plt.subplots()
    >>> agreement(rows, ax, x="one", y="other").get_xlabel()
    'one'
    """
    ax.axhline(0, color=BAND, lw=1, zorder=0)
    ax.axvline(0, color=BAND, lw=1, zorder=0)
    ax.plot(table[x], table[y], "o", color=INK, ms=4.5, alpha=0.7, mew=0, ls="none")
    ax.set(xlabel=x, ylabel=y)
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
        table[worst], at, "o", mfc=PAPER, mec=INK, ms=6, ls="none", label="worst setting", zorder=2
    )
    name_rows(ax, table[label])
    return ax
