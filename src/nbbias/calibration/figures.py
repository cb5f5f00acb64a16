"""The figures of the calibration: errors and power."""

from __future__ import annotations

from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import NullFormatter, ScalarFormatter

from nbbias.calibration import sentences
from nbbias.calibration.estimates import POWER
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
    'Coverage of the 5 of 23 intervals that fail'
    """
    table = sentences.overall(rows[rows["measure"] == "interval"])
    failing, of = table[table["kind"].isin(sentences.FAILS)], len(table)
    title = f"Coverage of the {len(failing)} of {of} intervals that fail"
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
        figures.claims(drawn, "coverage, %", words=words),
        table,
        "The coverages of intervals that fail, with their simulation intervals; grey: the nominal "
        "level within the tolerance.",
        title,
        "Black: over all scenarios, effects and N, with 95% intervals; grey: in the worst "
        "scenario, with intervals corrected for its choice.",
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
    every = sorted(table["n"].unique())

    def draw(rows: pd.DataFrame, ax: Axes) -> None:
        for _, part in rows.sort_values("n").groupby(["measure", "statistic"], sort=False):
            shown: dict[str, Any] = {"color": figures.INK, "ms": 4, "lw": 0.7, "alpha": 0.6}
            ax.plot(part["n"], 100 * part["power_largest"], "o-", mew=0, **shown)
        ax.axhline(100 * POWER, color=figures.MUTED, lw=0.7, ls="--", zorder=0)
        ax.set(xscale="log", xlabel="number of units", ylabel="power, % (target: 80)")
        ax.xaxis.set_major_formatter(ScalarFormatter())
        ax.xaxis.set_minor_formatter(NullFormatter())
        ax.set_xticks(sorted(rows["n"].unique()))
        ax.set(xlim=(0.8 * every[0], 1.25 * every[-1]), ylim=(-3, 103))

    drawn = table.assign(study=table["study"].str.replace("_", " "))
    return Drawn(
        figures.panels(drawn, draw, by="study", height=2.4),
        table,
        "Power of each test against the largest simulated effect by number of units.",
        "Power to detect the largest simulated effect grows with N" if len(table) else "",
        "Lines: tests, over scenarios and groups; dashed: 80%, the usual target.",
    )
