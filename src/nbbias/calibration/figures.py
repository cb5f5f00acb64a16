"""The figures of the calibration: error rates by scenario, and power by effect size."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from nbbias.calibration import sentences
from nbbias.calibration.estimates import ADEQUATE, FAILS, POWER, interpolate_power
from nbbias.calibration.params import TOLERANCE
from nbbias.reading import Drawn, figures, prose
from nbbias.tables import escape

_SHARES = ("nominal", "bound", "worst", "decides", "share", "low", "high")
_FURTHEST = {"test": 20, "interval": 15}  # points from the nominal level to the axis' end
_FONT = 8.2  # points; with it, all intervals have room on a first screen


def limits(rows: pd.DataFrame, kind: str) -> Drawn:
    """Draw the error rate of each interval or test in its worst scenario and over all of them.

    Parameters
    ----------
    rows
        Of the full run (`calibration.shipped`).
    kind
        ``"interval"`` (coverage) or ``"test"`` (false positives).

    Examples
    --------
    >>> from nbbias import calibration
    >>> limits(calibration.shipped(), "interval").title
    'In every scenario, coverage is shown to be above 90% for 16 of 23 intervals'
    """
    table = rows[rows["kind"] == kind]
    table = table.sort_values("worst", ascending=kind == "interval", ignore_index=True)
    decides = table["worst_high" if kind == "interval" else "worst_low"]
    shares = table.assign(decides=decides)[[*_SHARES]].mul(100)
    drawn = table.assign(panel="", **shares, cell=sentences.label_statistics(table))
    figure = figures.panels(drawn, _draw, by="panel", height=0.5 + 0.017 * _FONT * len(table))
    values = {"what": kind, "n": len(table), "adequate": table["verdict"].isin(ADEQUATE).sum()}
    values["limit"] = sentences.limit(table)
    values["tolerated"] = values["limit"] / 2 + TOLERANCE
    return Drawn(
        figure,
        table,
        "The worst scenario and the interval over all scenarios of each measure, by verdict.",
        prose.render_plain("calibration.limits", **values),
        prose.render_plain("calibration.limits_caption", **values),
    )


def _draw(part: pd.DataFrame, ax: Axes) -> None:
    """Draw a row a measure; what is beyond the end of the axis stands there as a number."""
    level = float(part["nominal"].iloc[0])
    worse = 1 if level < 50 else -1
    ideal, end = 0 if worse > 0 else 100, level + worse * _FURTHEST[part["kind"].iloc[0]]
    for y, row in zip(range(len(part))[::-1], part.to_dict("records"), strict=True):
        beyond = worse * (row["worst"] - end) > 0
        if not beyond:
            ax.hlines(y, row["bound"], row["decides"], figures.INK, lw=1.2, label="worst scenario")
        ax.hlines(y, row["low"], row["high"], figures.MUTED, lw=5, label="all scenarios")
        verdict, place = row["verdict"], end - 0.5 * worse if beyond else row["worst"]
        name, mark = verdict.partition(" ")[0], "oX"[verdict in FAILS]
        dots = ax.plot(place, y, mark, mec=figures.INK, ms=5, zorder=4, clip_on=False, label=name)
        dots[0].set_markerfacecolor(figures.PAPER if name == "undecided" else figures.INK)
        if beyond:
            side = "left" if worse < 0 else "right"
            text = f"{row['worst']:.1f}"
            if worse * (row["share"] - end) > 0:
                text += f" (all scenarios: {row['share']:.1f})"
            ax.text(end - 1.1 * worse, y, text, va="center", ha=side, size=_FONT)
    name = f"limit in a scenario: {2 * level - ideal:.0f}%"
    ax.axvspan(ideal, 2 * level - ideal, color=figures.BAND, lw=0, zorder=0, label=name)
    ax.axvline(level, color=figures.MUTED, lw=1, ls=":", zorder=0, label=f"nominal {level:.0f}%")
    tolerated = level + 100 * worse * TOLERANCE
    name = f"limit over all: {tolerated:.0f}%"
    ax.axvline(tolerated, color=figures.MUTED, lw=1, ls="--", zorder=0, label=name)
    ax.set_yticks(range(len(part))[::-1], [*part["cell"].map(escape.drawn)])
    ax.set_ylim(-0.7, len(part) - 0.3)
    ax.set_xlim(*sorted((ideal + 0.3 * -worse, end)))
    ax.tick_params(axis="y", length=0, labelsize=_FONT)
    ax.set_xlabel(f"{'coverage' if worse < 0 else 'false positives'}, % of simulated studies")


#: How the lines of the numbers of units are drawn.
_LINES = ("o:", "s--", "^-")


def power(table: pd.DataFrame) -> Drawn:
    """Draw the power of each test with several simulated effects by these, a curve for each N.

    Parameters
    ----------
    table
        Of `calibration.sentences.exclude_failing`.

    Examples
    --------
    >>> from nbbias import calibration
    >>> table = calibration.shipped_power().query("measure == 'rbs'")
    >>> power(table).title
    'Power by simulated effect: at N = 400, 0 of the 1 tests shown reach 80%'
    """
    sizes = [("smallest", "power_smallest"), ("largest", "power_largest")]
    tests = table.assign(test=sentences.label_statistics(table))
    parts = [tests.assign(size=tests[size], power=100 * tests[power]) for size, power in sizes]
    rows = pd.concat(parts)[["test", "n", "size", "power"]].drop_duplicates()
    several = rows.groupby("test")["size"].transform("nunique") > 1
    rows = rows[several].sort_values(["test", "n", "size"], ignore_index=True)

    def draw(part: pd.DataFrame, ax: Axes) -> None:
        effects = np.linspace(part["size"].min(), part["size"].max())
        for style, (n, line) in zip(_LINES, part.groupby("n"), strict=False):
            of_n = line.set_index("size")["power"]
            curve = 100 * interpolate_power(effects, of_n / 100)
            ax.plot(effects, curve, style[1:], color=figures.INK, lw=1)
            ax.plot(of_n.index, of_n, style[0], color=figures.INK, ms=4, label=f"N = {n}")
        ax.axhline(100 * POWER, color=figures.MUTED, lw=1, ls=":", zorder=0)
        ax.set(ylim=(-5, 105), xlim=(0, 1.1 * effects[-1]), yticks=(0, 50, 100))
        ax.set_xticks((0, effects[-1]), ("0", f"{effects[-1]:.2g}"))

    figure = figures.panels(rows, draw, by="test", height=1.7, share_x=False, columns=5)
    figure.supxlabel("simulated effect", size="medium")
    figure.supylabel("power, %", size="medium")
    most = table["n"].max()
    at_most = tests[tests["n"] == most].set_index("test")["power_largest"] >= POWER
    drawn = at_most[at_most.index.isin(rows["test"])]
    values = {"n": most, "k": drawn.sum(), "of": len(drawn)}
    values |= {"all_k": at_most.sum(), "all": len(at_most)}
    return Drawn(
        figure,
        rows,
        "Power of each test by the size of the effect, a curve for each number of units.",
        prose.render_plain("calibration.power_title", **values),
        prose.render_plain("calibration.power_caption"),
    )
