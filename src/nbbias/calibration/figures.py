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
    """Draw the coverage of the worst intervals, the lowest on top.

    Parameters
    ----------
    rows
        ESTIMATES of the full run (`calibration.shipped`).

    Examples
    --------
    >>> from nbbias import calibration
    >>> drawn = errors(calibration.shipped())
    >>> drawn.rows["estimate"].is_monotonic_increasing, drawn.title.partition(" of ")[2][-24:]
    (True, 'too rarely in simulation')
    """
    table = sentences.overall(rows)
    table = table[table["measure"] == "interval"].sort_values("estimate", ignore_index=True)
    off, of = int(table["kind"].eq("harmful").sum()), len(table)
    table = table.head(_DRAWN)
    level = table["confidence"]
    band = {"null": level, "null_low": level - TOLERANCE, "null_high": level + TOLERANCE}
    shares = table[["estimate", "ci_low", "ci_high"]].add(level, axis=0)
    cell = table["name"].str.partition(", ")[2]  # without the study's
    drawn = table.assign(cell=cell, panel="", **shares, **band)
    drawn[[*shares, *band]] *= 100
    words = {"band": f"95% (nominal) ± {100 * TOLERANCE:.0f} points"}
    return Drawn(
        figures.narrow(figures.claims(drawn, "coverage, %", words=words)),
        table,
        "The lowest coverages of intervals over all scenarios, with their simulation intervals; "
        "grey: the nominal level within the tolerance.",
        f"{off or 'None'} of {of} intervals contained the true value too rarely in simulation"
        if of
        else "No interval was simulated",
        f"The {len(table)} lowest; the table below has all. Dots: share of intervals that "
        "contained the true value, over all scenarios, effects and numbers of units; lines: 95% "
        "intervals.",
    )


def _by_n(table: pd.DataFrame, column: str, label: str, held_out: str) -> figures.Figure:
    """Draw shares by number of units, a panel a study; `held_out` names the coloured dots."""

    def draw(rows: pd.DataFrame, ax: Axes) -> None:
        for coloured, name in ((False, ""), (True, held_out)):
            part = rows[rows["coloured"] == coloured]
            colour = figures.PALETTE[1] if coloured else figures.INK
            shown: dict[str, Any] = {"color": colour, "label": name or "_"}
            ax.plot(part["n"], 100 * part[column], "o", ms=4, alpha=0.6, mew=0, **shown)
        if column == "coverage":
            ax.axhspan(93, 97, color=figures.BAND, lw=0, zorder=0)
        ax.axhline(
            95 if column == "coverage" else 80, color=figures.MUTED, lw=0.7, ls="--", zorder=0
        )
        ax.set(xscale="log", xlabel="number of units", ylabel=label)
        ax.xaxis.set_major_formatter(ScalarFormatter())
        ax.xaxis.set_minor_formatter(NullFormatter())
        ax.set_xticks(sorted(rows["n"].unique()))

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
        "Dots: intervals in a scenario, over effects and groups; coloured: held-out scenarios; "
        "dashed: the nominal level; grey: within 2 points of it.",
    )


def power(outcomes: pd.DataFrame) -> Drawn:
    """Draw how often tests detect the largest simulated effect, by number of units.

    Examples
    --------
    >>> row = {"study": "s", "measure": "m", "statistic": "d", "n": 10, "true_effect": 0.1,
    ...        "effect": 0.1, "rejected": 0.5, "n_tested": 40}
    >>> power(pd.DataFrame([row]))[1]["rejected"].tolist()
    [0.5]
    """
    rows = outcomes[(outcomes["true_effect"] != 0) & (outcomes["n_tested"] > 0)]
    size, keys = rows["true_effect"].abs(), ["study", "measure", "statistic"]
    rows = rows[size == size.groupby([rows[key] for key in keys]).transform("max")]
    table = rows.groupby([*keys, "n"], sort=False)["rejected"].mean().reset_index()
    figure = _by_n(table.assign(coloured=False), "rejected", "power, % (target: 80)", "")
    return Drawn(
        figure,
        table,
        "Power of each test against the largest simulated effect by number of units.",
        "Power to detect the largest simulated effect grows with N" if len(table) else "",
        "Dots: tests, over scenarios and groups; dashed: 80%, the usual target.",
    )
