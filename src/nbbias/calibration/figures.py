"""The figures of the calibration: intervals that fail, and what does not fail."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes

from nbbias.calibration import sentences
from nbbias.calibration.estimates import ADEQUATE, FAILS, nominal
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
    'In the worst scenario, the 5 of 23 intervals that fail cover the true value in 17.8 to 89.7%'
    """
    table = rows[rows["measure"] == "interval"]
    failing = table[table["verdict"].isin(FAILS)].sort_values("worst", ignore_index=True)
    shares = (failing["worst"] + nominal(failing)).round(4).mul(100)
    title = (
        f"In the worst scenario, the {len(failing)} of {len(table)} intervals that fail cover the "
        f"true value in {shares.min():.1f} to {shares.max():.1f}%"
    )
    table = failing.head(_DRAWN)
    worst = {"estimate": "worst", "ci_low": "worst_low", "ci_high": "worst_high"}
    figure = figures.claims(_with(table, **worst), "coverage, %", draw=_draw_level)
    figure.set_figheight(1.1 + 0.2 * len(table))  # on a first screen
    return Drawn(
        figure,
        table,
        "The coverages of intervals that fail, with their simulation intervals, and the nominal "
        "level.",
        title,
        "Coverage: share of simulated studies whose interval contains the true value. Lines: 95% "
        "CIs; worst scenario: Bonferroni-corrected, because the worst was selected.",
    )


def sound(rows: pd.DataFrame) -> Drawn:
    """Draw coverage and false positives that do not fail (`sentences.split`).

    Examples
    --------
    >>> from nbbias import calibration
    >>> sound(calibration.shipped()).title
    'Undecided: coverage down to 87.1% or false positives up to 18.8% cannot be ruled out'
    """
    table = sentences.split(rows)[0].sort_values(["measure", "bound"], ignore_index=True)
    drawn = _with(table, estimate="bound", ci_low="bound", ci_high="bound")
    panels = drawn["measure"].map({"interval": "coverage", "test": "false positives"})
    drawn = drawn.assign(panel=panels, significant=drawn["verdict"].isin(ADEQUATE))
    undecided = drawn[~drawn["significant"] & (drawn["side"] == "further")]
    limits = undecided["estimate"].groupby(undecided["measure"]).agg(["min", "max"]).round(1)
    title = prose.render_plain("calibration.limits", limits=limits.to_dict("index"))
    # Panels side by side have the same rows.
    places = drawn[["panel"]].drop_duplicates().merge(drawn[["cell"]].drop_duplicates(), "cross")
    drawn = places.merge(drawn, "left", on=["panel", "cell"])

    figure = figures.claims(drawn, draw=_draw_limit, words={"missing": "–"})
    return Drawn(
        figure,
        table,
        "Coverage and false positives of each measure over all scenarios, and the deciding limit.",
        title,
        "Limit: one-sided 97.5% confidence limit. Adequate (filled): the small dot is in the grey "
        "area, and the whole line (95% CI) of the large one beyond the dashed line. Hollow: "
        "undecided; –: fails, or not simulated.",
    )


def _with(rows: pd.DataFrame, **further: str) -> pd.DataFrame:
    """Return shares in percent with names, and the columns `further` as further rows."""
    more = rows.assign(side="further", **{end: rows[column] for end, column in further.items()})
    table = pd.concat([rows.assign(side="ours"), more], ignore_index=True)
    shares = table[[*further]].add(nominal(table), axis=0).mul(100)
    none = dict.fromkeys(("null", "null_low", "null_high"), float("nan"))
    cells = sentences.name_statistics(table).map(prose.capitalize)
    return table.assign(cell=cells, panel="", **shares, **none)


def _draw_level(part: pd.DataFrame, ax: Axes, name: str = "worst scenario") -> float:
    """Draw the nominal level, which is returned, and name the dots."""
    ax.plot([], [], "o-", color=figures.INK, ms=5.5, lw=1.5, label="all scenarios")
    ax.plot([], [], "o", color=figures.MUTED, ms=3.5, label=name)
    level = 100 * nominal(part).mean()
    ax.axvline(level, color=figures.MUTED, lw=1, ls=":", zorder=0, label="nominal level")
    return float(level)


def _draw_limit(part: pd.DataFrame, ax: Axes) -> None:
    """Draw where the limits of adequate measures are, and name the axis."""
    ax.set_xlabel(f"{part['panel'].iloc[0]}, % of simulated studies")
    level = _draw_level(part, ax, "limit in the worst scenario")
    end, side = (0, 1) if level < 50 else (100, -1)
    ax.axvspan(end, 2 * level - end, color=figures.BAND, lw=0, zorder=0, label="adequate")
    worse = level + 100 * side * TOLERANCE
    ax.axvline(worse, color=figures.MUTED, lw=1, ls="--", zorder=0, label=f"{worse:.0f}%")
