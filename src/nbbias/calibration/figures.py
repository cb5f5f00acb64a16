"""The figures of the calibration."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from nbbias.calibration import sentences
from nbbias.calibration.grid import POWER
from nbbias.calibration.params import BAND
from nbbias.calibration.tables import called
from nbbias.reading import Drawn, figures
from nbbias.tables import escape

_PANELS = {
    "coverage_error": "intervals: coverage",
    "false_positive_error": "tests: false positives",
    "false_lead_error": "first sentences: false",
}
_OFF, _RIGHT = figures.PALETTE[1], figures.INK
_COLOURS = {True: _OFF, False: _RIGHT}

#: Coverage below this stands at the foot of its panel.
_LOW = 0.6


def errors(estimates: pd.DataFrame) -> Drawn:
    """Draw by how much coverage, false positives and false leads miss their level, by measure.

    Examples
    --------
    >>> from nbbias import tables
    >>> row = {"measure": "interval", "statistic": "coverage_error", "source": "s",
    ...        "dimension": "m", "task": "d", "estimate": -0.1, "ci_low": -0.2, "ci_high": -0.05,
    ...        "n": 40, "null": 0.0}
    >>> drawn = errors(tables.estimates([row], study="calibration", confidence=0.95))
    >>> drawn.title, len(drawn.rows)
    ('1 of 1 interval or test misses its level by more than 2 points, to its harm', 1)
    """
    own = estimates[estimates["topic"].isna() & estimates["prompt"].isna()]
    own = own[own["estimate"].notna()].reset_index(drop=True)
    own = own.assign(
        panel=own["statistic"].map(_PANELS),
        cell=called(own, statistic=False),
        kind=[sentences.kind(row) for row in own.to_dict("records")],
    )
    cells = own["cell"].drop_duplicates()

    def draw(rows: pd.DataFrame, ax: Axes) -> None:
        ax.axvspan(-100 * BAND, 100 * BAND, color=figures.BAND, lw=0, zorder=0)
        ax.axvline(0, color=figures.MUTED, lw=0.8, zorder=1)
        own = rows.groupby("cell", sort=False)
        more = own["cell"].transform("size") - 1
        shift = 0.22 * (1 - 2 * own.cumcount() / more.clip(lower=1)).where(more > 0, 0.0)
        at = {name: len(cells) - 1 - i for i, name in enumerate(cells)}
        y, colours = rows["cell"].map(at) + shift, rows["kind"].eq("worse").map(_COLOURS)
        ax.hlines(y, 100 * rows["ci_low"], 100 * rows["ci_high"], colors=colours, lw=1.1)
        ax.scatter(100 * rows["estimate"], y, 13, colours, lw=0, zorder=2)
        figures.name_rows(ax, cells)
        ax.set_yticks(range(len(cells))[::-1], [escape.drawn(one) for one in cells])
        ax.tick_params(axis="y", labelsize=8)
        ax.set_xlabel("points off its level")

    figure = figures.panels(own, draw, by="panel", share_x=False, height=0.8 + 0.2 * len(cells))
    off = int((own["kind"] == "worse").sum())
    return Drawn(
        figure,
        own,
        "A row a measure, a dot a statistic: by how many points the coverage of its interval, the "
        "false positives of its test and the false first sentences of its pages miss their level.",
        f"{off} of {len(own)} interval{'' if len(own) == 1 else 's'} or "
        f"test{'' if len(own) == 1 else 's'} miss{'es' if off == 1 else ''} "
        f"{'its' if off == 1 else 'their'} level by more than 2 points, to "
        f"{'its' if off == 1 else 'their'} harm",
        "Dots: statistics over all worlds, sizes and numbers of units, with 95% intervals of the "
        "simulation; grey: 2 points around the level; coloured: beyond, and too narrow or too "
        "often false.",
    )


def _in_rows(table: pd.DataFrame, mark: Callable[[pd.DataFrame, Axes, float], None]) -> Figure:
    """Draw a row a measure and in it a line a number of units: the fewest on top, and palest.

    `mark` draws the rows of one number of units at their `y`, in its shade.
    """
    if table.empty:
        return figures.panels(table, lambda rows, ax: None, by="study")
    cells = called(table, statistic=False)
    names, ns = cells.drop_duplicates(), sorted(table["n"].unique())
    at = {name: len(names) - 1 - i for i, name in enumerate(names)}
    rank = table.groupby(cells)["n"].rank("dense") - 1
    most = rank.groupby(cells).transform("max")
    own = table.assign(y=cells.map(at) + (0.3 * (1 - 2 * rank / most.clip(lower=1))), panel="")

    def draw(rows: pd.DataFrame, ax: Axes) -> None:
        for line in range(1, len(names), 2):
            ax.axhspan(line - 0.5, line + 0.5, color=figures.BAND, alpha=0.35, lw=0, zorder=-1)
        for n, shade in zip(ns, np.linspace(0.4, 1, len(ns)), strict=True):
            mark(rows[rows["n"] == n], ax, shade)
            ax.plot([], [], "o", color=_shaded(_RIGHT, shade), ms=4, label=f"N = {n}")
        figures.name_rows(ax, names)
        ax.set_ylim(-0.6, len(names) - 0.4)

    return figures.panels(own, draw, by="panel", height=0.8 + 0.4 * len(names))


def _shaded(colour: str, shade: float) -> str:
    """Return a colour that is paler, and still covers what it lies on."""
    return to_hex(sns.blend_palette([figures.PAPER, colour], as_cmap=True)(shade))


def _coloured(rows: pd.DataFrame, shade: float) -> list[str]:
    """Return the colours of rows: worlds that were held out stand out."""
    shades = {held: _shaded(colour, shade) for held, colour in _COLOURS.items()}
    return [shades[held] for held in rows["held_out"].astype(bool)]


def coverage(outcomes: pd.DataFrame) -> Drawn:
    """Draw the coverage of every interval by number of units, a row a measure.

    Examples
    --------
    >>> row = {"study": "s", "measure": "m", "statistic": "d", "n": 10, "held_out": False,
    ...        "world": "w", "coverage": 0.9, "n_covered": 100, "size": 0.0}
    >>> coverage(pd.DataFrame([row, row | {"n": 80}])).figure.axes[0].get_xlabel()
    'coverage, %'
    """
    keys = ["study", "measure", "statistic", "world", "held_out", "n"]
    own = outcomes[outcomes["n_covered"] > 0] if len(outcomes) else outcomes
    table = own.groupby(keys, sort=False)["coverage"].mean().reset_index() if len(own) else own
    lowest = float(table["coverage"].min()) if len(table) else 1.0

    def mark(rows: pd.DataFrame, ax: Axes, shade: float) -> None:
        low = rows["coverage"] < _LOW
        for some, shape, size in ((rows[~low], "o", 13), (rows[low], "<", 26)):
            share = 100 * some["coverage"].clip(lower=_LOW)
            ax.scatter(share, some["y"], size, _coloured(some, shade), marker=shape, lw=0)
        ax.axvspan(93, 97, color=figures.BAND, lw=0, zorder=0)
        ax.set(xlabel="coverage, %", xlim=(100 * _LOW - 1, 101))
        ax.set_xticks(range(round(100 * _LOW), 101, 10))

    return Drawn(
        _in_rows(table, mark),
        table,
        "Coverage of each interval by number of units, a row a measure, a dot a statistic and "
        "world.",
        f"The lowest coverage of any interval in any world is {lowest:.0%}" if len(table) else "",
        "Dots: a statistic in a world, over sizes and groups; the more units, the lower in its row "
        "and the darker; coloured: worlds that were held out; grey: 93 to 97%; triangles: below "
        f"{_LOW:.0%}.",
    )


def _first(outcomes: pd.DataFrame, needs: str) -> pd.DataFrame:
    """Keep of each measure the first statistic that has what a figure needs."""
    own = outcomes[outcomes[needs].notna()] if len(outcomes) else outcomes
    if own.empty:
        return own
    of = own.groupby(["study", "measure"], sort=False)["statistic"].transform("first")
    return own[own["statistic"] == of]


def recovered(outcomes: pd.DataFrame) -> Drawn:
    """Draw what is found on average against what was planted, a row a measure.

    Examples
    --------
    >>> row = {"study": "s", "measure": "m", "statistic": "d", "n": 10, "held_out": False,
    ...        "truth": 0.1, "estimate": 0.12, "bias": 0.02}
    >>> recovered(pd.DataFrame([row])).figure.axes[0].get_xlabel()
    'found, in units of the largest planted'
    """
    table = _first(outcomes, "bias")

    def mark(rows: pd.DataFrame, ax: Axes, shade: float) -> None:
        truth, found = (rows[name] / rows["largest"] for name in ("truth", "estimate"))
        ax.scatter(truth, rows["y"], 40, figures.MUTED, marker="|", lw=1)
        ax.scatter(found, rows["y"], 13, edgecolors=_coloured(rows, shade), facecolors="none")
        ax.set(xlabel="found, in units of the largest planted")

    of = table.groupby(["study", "measure"])["truth"] if len(table) else None
    drawn = table.assign(largest=of.transform(lambda one: one.abs().max() or 1.0) if of else [])
    return Drawn(
        _in_rows(drawn, mark),
        table,
        "Mean estimate against the truth, a row a measure, a ring a design; on its tick an "
        "estimator is right on average.",
        "What is found on average, against what was planted" if len(table) else "",
        "Ticks: the truth of a design; rings: the mean estimate of its simulated studies, of the "
        "first statistic of a measure; the more units, the lower in its row and the darker; "
        "coloured: worlds that were held out.",
    )


def power(outcomes: pd.DataFrame) -> Drawn:
    """Draw how often a test tells something, by the size of what is planted, a row a measure.

    Examples
    --------
    >>> row = {"study": "s", "measure": "m", "statistic": "d", "n": 10, "planted": 0.1,
    ...        "size": 0.1, "told": 0.5, "n_tested": 40}
    >>> power(pd.DataFrame([row])).figure.axes[0].get_xlabel()
    'told, % of simulated studies'
    """
    table = _first(outcomes, "told")
    if len(table):
        table = table.assign(size_=table["size"].abs().where(table["planted"] != 0, 0.0))
        keys = ["study", "measure", "statistic", "n", "size_"]
        table = table.groupby(keys, sort=False)["told"].mean().reset_index()

    def mark(rows: pd.DataFrame, ax: Axes, shade: float) -> None:
        none = rows["size_"] == 0
        colour, share = _shaded(figures.PALETTE[0], shade), 100 * rows["told"]
        ax.scatter(share[none], rows["y"][none], 16, edgecolors=_RIGHT, facecolors="none")
        area = 8 + 50 * rows["size_"] / rows["largest"]
        ax.scatter(share[~none], rows["y"][~none], area[~none], colour, lw=0)
        for level in (5, 100 * POWER):
            ax.axvline(level, color=figures.MUTED, lw=0.7, ls="--", zorder=0)
        ax.set(xlabel="told, % of simulated studies", xlim=(-3, 103))

    largest = table.groupby(["study", "measure"])["size_"].transform("max") if len(table) else []
    return Drawn(
        _in_rows(table.assign(largest=largest), mark),
        table,
        "Share of simulated studies whose test tells something, a row a measure, a dot a size of "
        "what was planted, by number of units.",
        "How often a test tells what is there, by its size" if len(table) else "",
        "Dots: the larger what was planted, the larger; rings: nothing was; over worlds and "
        "groups, of the first test of a measure; the more units, the lower in its row and the "
        "darker; dashed: 5%, where the rings should be, and 80%.",
    )


def least(table: pd.DataFrame) -> Drawn:
    """Draw the least effect that is told four times of five, by number of units (`grid.least`).

    Examples
    --------
    >>> row = {"study": "s", "measure": "m", "statistic": "d", "n": 10, "least": 0.1,
    ...        "largest": 0.2}
    >>> least(pd.DataFrame([row])).figure.axes[0].get_xlabel()
    'least effect, % of the largest planted'
    """

    def mark(rows: pd.DataFrame, ax: Axes, shade: float) -> None:
        seen = rows["least"].notna()
        share = (100 * rows["least"] / rows["largest"]).fillna(108.0)
        colour = _shaded(figures.PALETTE[0], shade)
        ax.scatter(share[seen], rows["y"][seen], 16, colour, lw=0)
        ax.scatter(
            share[~seen], rows["y"][~seen], 18, edgecolors=colour, facecolors="none", marker=">"
        )
        ax.set(xlabel="least effect, % of the largest planted", xlim=(0, 112))

    return Drawn(
        _in_rows(table, mark),
        table,
        "The least effect that a test tells four times of five, a row a measure, a dot a "
        "statistic, by number of units.",
        "The least effect that is told four times of five shrinks with N" if len(table) else "",
        "Dots: where the power passes 80%, as a share of the largest that was planted; triangles: "
        "not even that is told so often; the more units, the lower in its row and the darker.",
    )
