"""The figure of the calibration: the limit of each interval's or test's error rate."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes

from nbbias.calibration import sentences
from nbbias.calibration.estimates import ADEQUATE, FAILS, nominal
from nbbias.calibration.params import TOLERANCE
from nbbias.reading import Drawn, figures, prose
from nbbias.tables import escape

_FURTHEST = 20  # points from the nominal level to the end of the axis
_FONT = 7.2  # points; with it, all intervals have room on a first screen


def limits(rows: pd.DataFrame, measure: str) -> Drawn:
    """Draw the worst of all scenarios' limits of each interval or test, by verdict.

    Parameters
    ----------
    rows
        ESTIMATES of the full run (`calibration.shipped`).
    measure
        ``"interval"`` (coverage) or ``"test"`` (false positives).

    Examples
    --------
    >>> from nbbias import calibration
    >>> limits(calibration.shipped(), "interval").title
    'In every scenario, coverage is shown to be above 90% for 16 of 23 measures'
    """
    table = rows[rows["measure"] == measure]
    table = table.sort_values("bound", ascending=measure == "interval", ignore_index=True)
    shares = table[["bound", "estimate", "ci_low", "ci_high"]].add(nominal(table), axis=0).mul(100)
    drawn = table.assign(panel="", **shares, cell=sentences.name_statistics(table))
    figure = figures.panels(drawn, _draw, by="panel", height=0.5 + 0.0182 * _FONT * len(table))
    values = {"what": measure, "n": len(table), "adequate": table["verdict"].isin(ADEQUATE).sum()}
    values["limit"] = 2 * (1 - table["confidence"].iloc[0])
    return Drawn(
        figure,
        table,
        "The worst confidence limit and the interval over all scenarios, by verdict.",
        prose.render_plain("calibration.limits", **values),
        prose.render_plain("calibration.limits_caption", **values),
    )


def _draw(part: pd.DataFrame, ax: Axes) -> None:
    """Draw a row a measure; what is beyond the end of the axis stands there as a number."""
    level = float(100 * nominal(part).mean())
    worse = 1 if level < 50 else -1
    ideal, end = (0, level + _FURTHEST) if worse > 0 else (100, level - _FURTHEST)
    for y, row in zip(range(len(part))[::-1], part.to_dict("records"), strict=True):
        beyond = worse * (row["bound"] - end) > 0
        if not beyond:
            ax.plot([row["bound"], row["estimate"]], [y, y], color=figures.MUTED, lw=0.9)
        ax.hlines(y, row["ci_low"], row["ci_high"], figures.MUTED, lw=4, label="95% CI of all")
        verdict, place = row["verdict"], end if beyond else row["bound"]
        name, mark = verdict.partition(" ")[0], "oX"[verdict in FAILS]
        dots = ax.plot(place, y, mark, mec=figures.INK, ms=5, zorder=4, clip_on=False, label=name)
        dots[0].set_markerfacecolor(figures.PAPER if name == "undecided" else figures.INK)
        if beyond:
            side = "left" if worse < 0 else "right"
            ax.text(end - 0.5 * worse, y, f"{row['bound']:.1f}", va="center", ha=side, size=_FONT)
    ax.axvspan(ideal, 2 * level - ideal, color=figures.BAND, lw=0, zorder=0, label="adequate")
    ax.axvline(level, color=figures.MUTED, lw=1, ls=":", zorder=0, label=f"nominal {level:.0f}%")
    ax.axvline(level + 100 * worse * TOLERANCE, color=figures.MUTED, lw=1, ls="--", zorder=0)
    ax.set_yticks(range(len(part))[::-1], [*part["cell"].map(prose.capitalize).map(escape.drawn)])
    ax.set_ylim(-0.7, len(part) - 0.3)
    ax.set_xlim(*sorted((ideal + 0.3 * -worse, end)))
    ax.tick_params(axis="y", length=0, labelsize=_FONT)
    ax.set_xlabel(f"{'coverage' if worse < 0 else 'false positives'}, % of simulated studies")
