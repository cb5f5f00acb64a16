"""The figures of the calibration."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, NullLocator

from nbbias.calibration import sentences
from nbbias.calibration.grid import POWER
from nbbias.calibration.params import BAND
from nbbias.calibration.tables import called
from nbbias.reading import Drawn, figures

_PANELS = {
    "coverage_error": "intervals: coverage", "false_positive_error": "tests: false positives",
    "false_lead_error": "first sentences: false",
}  # fmt: skip
_OFF, _RIGHT = figures.PALETTE[1], figures.INK

#: Coverage below this stands at the foot of its panel.
_LOW = 0.6


@figures.twice
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
        panel=own["statistic"].map(_PANELS), cell=called(own, statistic=False),
        kind=[sentences.kind(row) for row in own.to_dict("records")],
    )  # fmt: skip
    cells = own["cell"].drop_duplicates()

    def draw(rows: pd.DataFrame, ax: Axes) -> None:
        ax.axvspan(-100 * BAND, 100 * BAND, color=figures.BAND, lw=0, zorder=0)
        ax.axvline(0, color=figures.MUTED, lw=0.8, zorder=1)
        at = {name: len(cells) - 1 - i for i, name in enumerate(cells)}
        for name, some in rows.groupby("cell", sort=False):
            off = np.linspace(0.22, -0.22, len(some)) if len(some) > 1 else np.zeros(1)
            for shift, row in zip(off, some.to_dict("records"), strict=True):
                colour = _OFF if row["kind"] == "worse" else _RIGHT
                y = at[name] + shift
                ax.plot([100 * row["ci_low"], 100 * row["ci_high"]], [y, y], color=colour, lw=1.1)
                ax.plot(100 * row["estimate"], y, "o", color=colour, ms=3.6)
        figures.name_rows(ax, cells)
        if not figures.on_phone():  # a row a line: all of it is on the first screen
            ax.set_yticks(range(len(cells))[::-1], [figures.drawn(one) for one in cells])
            ax.tick_params(axis="y", labelsize=8)
        ax.set_xlabel("points off its level")

    figure = figures.panels(
        own, draw, by="panel", share_x=False,
        height=figures.rows_height(cells) if figures.on_phone() else 0.8 + 0.2 * len(cells),
    )  # fmt: skip
    off = int((own["kind"] == "worse").sum())
    return Drawn(
        figure, own,
        "A row a measure, a dot a statistic: by how many points the coverage of its interval, the "
        "false positives of its test and the false first sentences of its pages miss their level.",
        f"{off} of {len(own)} interval{'' if len(own) == 1 else 's'} or "
        f"test{'' if len(own) == 1 else 's'} miss{'es' if off == 1 else ''} "
        f"{'its' if off == 1 else 'their'} level by more than 2 points, to "
        f"{'its' if off == 1 else 'their'} harm",
        "Dots: statistics over all worlds, sizes and numbers of units, with 95% intervals of the "
        "simulation; grey: 2 points around the level; coloured: beyond, and too narrow or too "
        "often false.",
    )  # fmt: skip


def _by_n(ax: Axes, ns: list[int]) -> None:
    """Let numbers of units stand alike far apart, each with its number."""
    ax.set_xscale("log")
    ax.xaxis.set_major_locator(FixedLocator(ns))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.set_xticks(ns, [f"{n}" for n in ns])


def _panelled(rows: pd.DataFrame) -> pd.DataFrame:
    return rows.assign(panel=called(rows, statistic=False))


@figures.twice
def coverage(outcomes: pd.DataFrame) -> Drawn:
    """Draw the coverage of every interval by number of units, a panel a measure.

    Examples
    --------
    >>> row = {"study": "s", "measure": "m", "statistic": "d", "n": 10, "held_out": False,
    ...        "world": "w", "coverage": 0.9, "n_covered": 100, "size": 0.0}
    >>> coverage(pd.DataFrame([row, row | {"n": 80}])).figure.axes[0].get_ylabel()
    'coverage, %'
    """
    keys = ["study", "measure", "statistic", "world", "held_out", "n"]
    own = outcomes[outcomes["n_covered"] > 0] if len(outcomes) else outcomes
    table = own.groupby(keys, sort=False)["coverage"].mean().reset_index() if len(own) else own
    lowest = float(table["coverage"].min()) if len(table) else 1.0

    def draw(rows: pd.DataFrame, ax: Axes) -> None:
        ns = sorted(rows["n"].unique())
        ax.axhspan(93, 97, color=figures.BAND, lw=0, zorder=0)
        for (_, held), some in rows.groupby(["world", "held_out"], sort=False):
            for _, line in some.groupby("statistic", sort=False):
                line = line.sort_values("n")
                colour = _OFF if held else _RIGHT
                at = 100 * line["coverage"].clip(lower=_LOW)
                ax.plot(line["n"], at, "o-", color=colour, ms=3, lw=0.9, alpha=0.7)
                below = line["coverage"] < _LOW
                ax.plot(line["n"][below], at[below], "v", color=colour, ms=6)
        _by_n(ax, ns)
        ax.set(ylabel="coverage, %", xlabel="units", ylim=(100 * _LOW - 3, 102))

    figure = figures.panels(_panelled(table), draw, by="panel", height=2.3, share_x=False)
    return Drawn(
        figure, table,
        "Coverage of each interval by number of units, a line a statistic and world, a panel a "
        "measure.",
        f"The lowest coverage of any interval in any world is {lowest:.0%}" if len(table) else "",
        "Lines: statistics in a world, over sizes and groups; coloured: worlds that were held out; "
        f"grey: 93 to 97%; triangles: below {_LOW:.0%}.",
    )  # fmt: skip


def _first(outcomes: pd.DataFrame, needs: str) -> pd.DataFrame:
    """Keep of each measure the first statistic that has what a figure needs."""
    own = outcomes[outcomes[needs].notna()] if len(outcomes) else outcomes
    if own.empty:
        return own.assign(panel=[])
    of = own.groupby(["study", "measure"], sort=False)["statistic"].transform("first")
    return _panelled(own[own["statistic"] == of])


@figures.twice
def recovered(outcomes: pd.DataFrame) -> Drawn:
    """Draw what is found on average against what was planted, a panel a measure.

    Examples
    --------
    >>> row = {"study": "s", "measure": "m", "statistic": "d", "n": 10, "held_out": False,
    ...        "truth": 0.1, "estimate": 0.12, "bias": 0.02}
    >>> recovered(pd.DataFrame([row])).figure.axes[0].get_xlabel()
    'planted'
    """
    table = _first(outcomes, "bias")
    largest = table.groupby("panel")["truth"].transform(lambda of: of.abs().max() or 1.0)

    def draw(rows: pd.DataFrame, ax: Axes) -> None:
        share = rows[["truth", "estimate"]].div(largest[rows.index], axis=0)
        ends = [float(share["truth"].min()) - 0.1, float(share["truth"].max()) + 0.1]
        ax.plot(ends, ends, color=figures.MUTED, lw=0.8)
        for held, some in share.groupby(rows["held_out"]):
            ax.plot(some["truth"], some["estimate"], "o", ms=4, mfc="none",
                    color=_OFF if held else _RIGHT)  # fmt: skip
        ax.set(xlabel="planted", ylabel="found")
        ax.locator_params(nbins=4)

    figure = figures.panels(table, draw, by="panel", height=2.3, share_x=False)
    return Drawn(
        figure, table.drop(columns="panel"),
        "Mean estimate against the truth, a ring a design, a panel a measure; on the line an "
        "estimator is right on average.",
        "What is found on average, against what was planted" if len(table) else "",
        "Rings: mean estimate of a design's simulated studies, of the first statistic of a "
        "measure, in units of the largest that was planted; coloured: worlds that were held out; "
        "line: what was planted.",
    )  # fmt: skip


@figures.twice
def power(outcomes: pd.DataFrame) -> Drawn:
    """Draw how often a test tells something, by the size of what is planted, a panel a measure.

    Examples
    --------
    >>> row = {"study": "s", "measure": "m", "statistic": "d", "n": 10, "planted": 0.1,
    ...        "size": 0.1, "told": 0.5, "n_tested": 40}
    >>> power(pd.DataFrame([row])).figure.axes[0].get_ylabel()
    'told, %'
    """
    table = _first(outcomes, "told")
    if len(table):
        table = table.assign(size_=table["size"].abs().where(table["planted"] != 0, 0.0))
        keys = ["panel", "study", "measure", "statistic", "n", "size_"]
        table = table.groupby(keys, sort=False)["told"].mean().reset_index()
    ns = sorted(table["n"].unique()) if len(table) else []
    shades = dict(zip(ns, np.linspace(0.3, 1, len(ns)), strict=True))

    def draw(rows: pd.DataFrame, ax: Axes) -> None:
        for level in (5, 100 * POWER):
            ax.axhline(level, color=figures.MUTED, lw=0.7, ls="--", zorder=0)
        for n, line in rows.groupby("n"):
            line = line.sort_values("size_")
            ax.plot(line["size_"], 100 * line["told"], "o-", ms=3, lw=1.2, alpha=shades[n],
                    color=figures.PALETTE[0], label=f"N = {n}")  # fmt: skip
        ax.set(xlabel="planted", ylabel="told, %", ylim=(-3, 103))
        ax.locator_params(axis="x", nbins=4)

    figure = figures.panels(table, draw, by="panel", height=2.3, share_x=False)
    if len(table):
        figures.key_above(figure, max(figure.axes, key=lambda ax: len(ax.lines)))
    return Drawn(
        figure, table.drop(columns="panel"),
        "Share of simulated studies whose test tells something, by the size of what was planted, a "
        "line a number of units, a panel a measure.",
        "How often a test tells what is there, by its size" if len(table) else "",
        "Lines: numbers of units, over worlds and groups, of the first test of a measure; dashed: "
        "5%, which it should be at 0, and 80%.",
    )  # fmt: skip


@figures.twice
def least(table: pd.DataFrame) -> Drawn:
    """Draw the least effect that is told four times of five, by number of units (`grid.least`).

    Examples
    --------
    >>> row = {"study": "s", "measure": "m", "statistic": "d", "n": 10, "least": 0.1,
    ...        "largest": 0.2}
    >>> least(pd.DataFrame([row])).figure.axes[0].get_xlabel()
    'units'
    """

    def draw(rows: pd.DataFrame, ax: Axes) -> None:
        ns = sorted(rows["n"].unique())
        for at, (_, line) in enumerate(rows.groupby("statistic", sort=False)):
            line = line.sort_values("n")
            colour = figures.PALETTE[at % len(figures.PALETTE)]
            share = 100 * line["least"] / line["largest"]
            ax.plot(line["n"], share, "o-", ms=3.5, lw=1.1, color=colour)
            unseen = line["n"][line["least"].isna()]
            ax.plot(unseen, np.full(len(unseen), 108.0), "^", ms=5, mfc="none", color=colour)
        _by_n(ax, ns)
        ax.set(xlabel="units", ylabel="least effect, %", ylim=(0, 115))

    figure = figures.panels(_panelled(table) if len(table) else table, draw, by="panel", height=2.3)
    return Drawn(
        figure, table,
        "The least effect that a test tells four times of five, by number of units, a line a "
        "statistic, a panel a measure.",
        "The least effect that is told four times of five shrinks with N" if len(table) else "",
        "Dots: where the power passes 80%, as a share of the largest that was planted; triangles: "
        "not even that is told so often.",
    )  # fmt: skip
