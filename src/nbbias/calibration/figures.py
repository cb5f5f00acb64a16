"""The figures of the calibration: errors, coverage and power."""

from __future__ import annotations

from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import NullFormatter, ScalarFormatter

from nbbias.calibration import sentences
from nbbias.calibration.params import TOLERANCE
from nbbias.reading import Drawn, figures

_DRAWN = 6  # intervals that a first screen has room for


def errors(rows: pd.DataFrame) -> Drawn:
    """Draw the coverage of the intervals that fail, on average and in the worst scenario.

    Parameters
    ----------
    rows
        ESTIMATES of the full run (`calibration.shipped`).

    Examples
    --------
    >>> from nbbias import calibration
    >>> drawn = errors(calibration.shipped())
    >>> drawn.title
    '5 of 23 kinds of interval cover too little, on average or in one scenario'
    """
    table = sentences.overall(rows[rows["measure"] == "interval"])
    failing, of = table[table["kind"].isin(sentences.FAILS)], len(table)
    title = f"{len(failing) or 'None'} of {of} kinds of interval cover too little, on average or "
    table = failing.sort_values("worst", ignore_index=True).head(_DRAWN).assign(side="ours")
    worst = table.assign(side="further", estimate=table["worst"])
    worst = worst.assign(ci_low=table["worst_low"], ci_high=table["worst_high"])
    table = pd.concat([table, worst], ignore_index=True)
    level = table["confidence"]
    band = {"null": level, "null_low": level - TOLERANCE, "null_high": level + TOLERANCE}
    shares = table[["estimate", "ci_low", "ci_high"]].add(level, axis=0)
    drawn = table.assign(cell=table["name"], panel="", **shares, **band)
    drawn[[*shares, *band]] *= 100
    words = {"band": f"95% (nominal) ± {100 * TOLERANCE:.0f} points"}
    return Drawn(
        figures.narrow(figures.claims(drawn, "coverage, %", words=words)),
        table,
        "The coverages of intervals that fail, with their simulation intervals; grey: the nominal "
        "level within the tolerance.",
        f"{title}in one scenario",
        "Black: over all scenarios, effects and N, with 95% intervals; grey: in the worst "
        "scenario, with intervals corrected for its choice. The table below has all.",
    )


def _by_n(table: pd.DataFrame, column: str, label: str, held_out: str) -> figures.Figure:
    """Draw shares by number of units, a panel a study; `held_out` names the coloured lines."""
    covers, every = column == "coverage", sorted(table["n"].unique())
    low = 100 * table[column].min() - 3 if covers and len(table) else -3

    def draw(rows: pd.DataFrame, ax: Axes) -> None:
        keys = [name for name in ("measure", "statistic", "scenario") if name in rows]
        for _, part in rows.sort_values("n").groupby(keys, sort=False):
            coloured = bool(part["coloured"].iloc[0])
            colour = figures.PALETTE[1] if coloured else figures.INK
            shown: dict[str, Any] = {"color": colour, "label": held_out if coloured else "_"}
            ax.plot(part["n"], 100 * part[column], "o-", ms=4, lw=0.7, alpha=0.6, mew=0, **shown)
        if covers:
            ax.axhspan(93, 97, color=figures.BAND, lw=0, zorder=0)
        ax.axhline(95 if covers else 80, color=figures.MUTED, lw=0.7, ls="--", zorder=0)
        ax.set(xscale="log", xlabel="number of units", ylabel=label)
        ax.xaxis.set_major_formatter(ScalarFormatter())
        ax.xaxis.set_minor_formatter(NullFormatter())
        ax.set_xticks(sorted(rows["n"].unique()))
        ax.set(xlim=(0.8 * every[0], 1.25 * every[-1]), ylim=(low, 103))

    table = table.assign(study=table["study"].str.replace("_", " "))
    return figures.panels(table, draw, by="study", height=2.4)


def coverage(outcomes: pd.DataFrame) -> Drawn:
    """Draw the coverage of intervals by number of units, a panel a study.

    Examples
    --------
    >>> row = {"study": "s", "measure": "m", "statistic": "d", "n": 10, "held_out": False,
    ...        "scenario": "w", "coverage": 0.9, "n_covered": 100, "effect": 0.0}
    >>> coverage(pd.DataFrame([row, row | {"n": 80}])).title
    'The lowest coverage of any interval in any scenario is 90%'
    """
    keys = ["study", "measure", "statistic", "scenario", "held_out", "n"]
    rows = outcomes[outcomes["n_covered"] > 0]
    table = rows.groupby(keys, sort=False)["coverage"].mean().reset_index()
    drawn = table.assign(coloured=table["held_out"].astype(bool))
    figure = _by_n(drawn, "coverage", "coverage, % (nominal: 95)", "held-out scenario")
    return Drawn(
        figure,
        table,
        "Coverage of each interval by number of units, a panel a study.",
        f"The lowest coverage of any interval in any scenario is {table['coverage'].min():.0%}"
        if len(table)
        else "",
        "Lines: intervals in a scenario, over effects and groups; coloured: held-out scenarios; "
        "dashed: the nominal level; grey: within 2 points of it.",
    )


def power(table: pd.DataFrame) -> Drawn:
    """Draw how often tests detect the largest simulated effect, by number of units.

    Parameters
    ----------
    table
        Of `calibration.shipped_power`, or `minimum_detectable_effects` of a run.

    Examples
    --------
    >>> from nbbias import calibration
    >>> float(power(calibration.shipped_power()).rows["power_largest"].max())
    1.0
    """
    figure = _by_n(table.assign(coloured=False), "power_largest", "power, % (target: 80)", "")
    return Drawn(
        figure,
        table,
        "Power of each test against the largest simulated effect by number of units.",
        "Power to detect the largest simulated effect grows with N" if len(table) else "",
        "Lines: kinds of test, over scenarios and groups; dashed: 80%, the usual target.",
    )
