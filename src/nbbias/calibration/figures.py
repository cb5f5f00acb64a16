"""The figure of the calibration: coverage of the intervals that fail."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes

from nbbias.calibration import sentences
from nbbias.calibration.estimates import FAILS
from nbbias.calibration.params import TOLERANCE
from nbbias.reading import Drawn, figures, prose

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
    'Coverage of the 6 of 23 intervals that fail'
    """
    table = rows[rows["measure"] == "interval"]
    failing, of = table[table["verdict"].isin(FAILS)], len(table)
    title = f"Coverage of the {len(failing)} of {of} intervals that fail"
    table = failing.sort_values("worst", ignore_index=True).head(_DRAWN).assign(side="ours")
    worst = table.assign(side="further", estimate=table["worst"])
    worst = worst.assign(ci_low=table["worst_low"], ci_high=table["worst_high"])
    table = pd.concat([table, worst], ignore_index=True)
    level = table["confidence"]
    shares = table[["estimate", "ci_low", "ci_high"]].add(level, axis=0).mul(100)
    none = dict.fromkeys(("null", "null_low", "null_high"), float("nan"))
    cells = sentences.name_statistics(table).map(prose.capitalize)
    drawn = table.assign(cell=cells, panel="", **shares, **none)

    def legend(_: pd.DataFrame, ax: Axes) -> None:
        ax.plot([], [], "o-", color=figures.INK, ms=5.5, lw=1.5, label="all scenarios")
        ax.plot([], [], "o-", color=figures.MUTED, ms=3.5, lw=1.0, label="worst scenario")
        ends = (100 * (level.mean() + side * TOLERANCE) for side in (-1, 1))
        band = f"nominal level ± {100 * TOLERANCE:.0f} points"
        ax.axvspan(*ends, color=figures.BAND, lw=0, zorder=0, label=band)

    figure = figures.claims(drawn, "coverage, %", draw=legend)
    figure.set_figheight(1.1 + 0.2 * len(failing.head(_DRAWN)))  # on a first screen
    return Drawn(
        figure,
        table,
        "The coverages of intervals that fail, with their simulation intervals; grey: the nominal "
        "level within the tolerance.",
        title,
        "Coverage: share of intervals that contain the true value, in all simulated studies and in "
        "the worst scenario. Lines: 95% intervals, corrected for the choice of the worst.",
    )
