"""A specification curve drawn and told: sorted estimates above, the choices behind each below.

>>> import pandas as pd
>>> from nbbias import stats
>>> values = pd.DataFrame({0: [0.1, 0.3, 0.2, 0.4, 0.5], 1: [0.2, 0.3, 0.1, 0.3, 0.6]})
>>> rows = stats.curve(values, confidence=0.95).assign(
...     words=["all", "no names"], declared=[True, False], null=0.0, null_low=-0.1, null_high=0.1,
...     confidence=0.95)
>>> tests = stats.joint(values, sure=stats.Sure(draws=100)).tests
>>> claim = {"study": "mine", "measure": "word", "statistic": "my_share"}
>>> shown = drawn(rows, ["words"], claim=claim, tests=tests)
>>> len(shown.figure.axes)
2
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from nbbias.reading import figures, names, plain
from nbbias.reading.figures import BAND, INK, MUTED, PALETTE, PAPER, Drawn
from nbbias.reading.sentences import interval, number, p_value

#: Inches of the curve, and of a line of the grid of choices.
_CURVE, _LINE = 2.5, 0.185


@figures.twice
def drawn(
    rows: pd.DataFrame, choices: Sequence[str], *, claim: Mapping[str, Any], tests: pd.DataFrame,
    unit: str = "articles",
) -> Drawn:  # fmt: skip
    """Draw a curve, and under each estimate the choices that it was measured by.

    Parameters
    ----------
    rows
        Specifications in the order of their estimates: a column for each of `choices`; `declared`,
        whether it is as the run has it; rows of `stats.curve`; `null_low`, `null_high`.
    choices
        Columns that hold choices. Those with one value are not drawn.
    claim
        What is asked: `study`, `measure`, `statistic`, `group`.
    tests
        The table of `stats.joint`.
    unit
        What N counts.
    """
    figures.use_style()
    own = rows[rows["estimate"].notna()].reset_index(drop=True)
    several = [name for name in choices if rows[name].nunique() > 1]
    lines = sum(1 + rows[name].nunique() for name in several)
    tall = [_CURVE, max(lines, 1) * _LINE]
    figure, (above, below) = plt.subplots(
        2, 1, sharex=True, figsize=(figures.PHONE if figures.on_phone() else figures.WIDE,
                                    sum(tall) + 0.35), height_ratios=tall,
    )  # fmt: skip
    _estimates(own, above, claim)
    _choices(own, rows, several, below)
    below.set_xlabel("" if len(own) else "nothing of this was measured")
    told = sentences(rows, claim=claim, tests=tests, unit=unit)
    level = f"{rows['confidence'].iloc[0]:.0%}" if len(rows) else ""
    return Drawn(
        figure, rows, f"{told[0]} A point a specification, sorted, with the choices of each below.",
        told[0],
        f"Means over {unit} with {level} intervals, a column a specification; grey: where the "
        f"interval holds 0. Band: where {level} of sorted curves lie if the sides of each "
        "pair of texts are swapped at random. Ring: as the study has it.",
    )  # fmt: skip


def _estimates(own: pd.DataFrame, ax: Any, claim: Mapping[str, Any]) -> None:
    scale = 100.0 if _in_points(claim) else 1.0
    at = np.arange(len(own))
    ends = own[["estimate", "ci_low", "ci_high", "null_low", "null_high"]].astype(float) * scale
    ax.fill_between(at, ends["null_low"], ends["null_high"], color=BAND, lw=0, zorder=0)
    ax.axhline(0, color=MUTED, lw=0.8, zorder=1)
    clear = ((ends["ci_low"] > 0) | (ends["ci_high"] < 0)).to_numpy()
    for which, colour in ((~clear, MUTED), (clear, PALETTE[0])):
        one = ends[which]
        ax.vlines(at[which], one["ci_low"], one["ci_high"], color=colour, lw=0.9, alpha=0.55)
        ax.plot(at[which], one["estimate"], "o", color=colour, ms=3, ls="none", zorder=3)
    run = own["declared"].to_numpy(bool)
    ax.plot(at[run], ends["estimate"][run], "o", mfc=PAPER, mec=INK, mew=1.4, ms=6.5, zorder=4)
    # Intervals of a few texts would press all others flat; what is cut goes on at the edge.
    shown = ends["estimate"].abs().max() if len(ends) else 1.0
    widest = np.nanquantile(ends[["ci_low", "ci_high"]].abs(), 0.95) if len(ends) else 1.0
    reach = 1.08 * np.nanmax([shown, widest, 1e-6])
    ax.set_ylim(-reach, reach)
    what = names.measure(claim)
    label = f"{what}: shift" + (" (points)" if scale > 1 else "")
    ax.set_ylabel(figures.wrapped(label, 26))
    ax.tick_params(axis="x", length=0, labelbottom=False)
    ax.spines["bottom"].set_visible(False)


def _in_points(claim: Mapping[str, Any]) -> bool:
    return "points" in names.quantity({**claim, "estimate": 0.1, "ci_low": 0.0, "ci_high": 0.2})


def _choices(own: pd.DataFrame, rows: pd.DataFrame, several: Sequence[str], ax: Any) -> None:
    at, y = np.arange(len(own)), 0.0
    places, labels = [], []
    size = float(np.clip(260 / max(len(own), 1), 1.6, 6))
    for name in several:
        y -= 1
        places.append(y)
        labels.append((name.replace("_", " "), True))
        for value in rows.sort_index()[name].drop_duplicates().sort_values(key=_order):
            y -= 1
            has = (own[name] == value).to_numpy()
            clear = (own["ci_low"] > 0) | (own["ci_high"] < 0)
            for which, colour in ((has & ~clear, MUTED), (has & clear, PALETTE[0])):
                ax.plot(at[which], np.full(which.sum(), y), "|", color=colour, ms=5.5,
                        mew=min(size, 2.2), ls="none")  # fmt: skip
            places.append(y)
            labels.append((str(value).replace("_", " "), False))
    ax.set_yticks(
        places, [figures.wrapped(told, 18 if figures.on_phone() else 28, 1) for told, _ in labels]
    )
    for tick, (_, head) in zip(ax.get_yticklabels(), labels, strict=True):
        tick.set_fontsize(8)
        tick.set_fontweight("bold" if head else "normal")
    ax.tick_params(axis="both", length=0, labelbottom=False)
    ax.set_ylim(y - 0.7, -0.3)
    ax.set_xlim(-0.8, max(len(own), 1) - 0.2)
    for side in ("left", "bottom"):
        ax.spines[side].set_visible(False)


def _order(values: pd.Series) -> pd.Series:
    """Sort numbers as numbers, before words."""
    numbers = pd.to_numeric(values, errors="coerce")
    return pd.Series([(np.isnan(n), n if n == n else 0.0, str(v))
                      for n, v in zip(numbers, values, strict=True)], values.index)  # fmt: skip


def sentences(
    rows: pd.DataFrame, *, claim: Mapping[str, Any], tests: pd.DataFrame, unit: str = "articles"
) -> list[str]:
    """Say what a curve shows: its joint test, its sides, its ends, and what was not measured.

    Examples
    --------
    >>> from nbbias import stats
    >>> values = pd.DataFrame({0: [0.1, 0.3, 0.2, 0.4, 0.5], 1: [0.2, 0.3, 0.1, 0.3, 0.6]})
    >>> rows = stats.curve(values, confidence=0.95).assign(confidence=0.95, declared=[True, False])
    >>> tests = stats.joint(values, sure=stats.Sure(draws=100)).tests
    >>> claim = {"study": "mine", "measure": "word", "statistic": "my_share"}
    >>> sentences(rows, claim=claim, tests=tests)[2]
    '2 of 2 specifications have the commoner sign, above 0 (by chance 0.96 of them on average; \
p = .931).'
    """
    row = {**claim, "estimate": np.nan}
    known = rows[rows["estimate"].notna()]
    what, lost = plain.capital(names.measure(claim)), len(rows) - len(known)
    if known.empty:
        return [f"{what}: none of {len(rows)} specifications could be measured."]
    by = tests.set_index("statistic")
    median, sign, hits = (by.loc[one] for one in ("median", "share of one sign",
                                                  "share significant"))  # fmt: skip
    level = 1 - float(rows["confidence"].iloc[0])
    size = names.quantity(row | {"estimate": median["estimate"]})
    shown = median["p_value"] <= level
    told = [
        f"{what}: the median of {len(known)} specifications is {size}, "
        + ("further from 0 than swapped sides give" if shown
           else "no further from 0 than swapped sides give")
        + f" ({_p(median)}).",
    ]  # fmt: skip
    ends = [names.quantity(row | {"estimate": known["estimate"].iloc[i]}) for i in (0, -1)]
    n = sorted({int(one) for one in known["n"]})
    counted = f"{n[0]:,} to {n[-1]:,}" if len(n) > 1 else f"{n[0]:,}"
    told.append(f"Estimates go from {ends[0]} to {ends[1]}, of {counted} {unit} each.")
    side = "above" if (known["estimate"] > 0).sum() >= (known["estimate"] < 0).sum() else "below"
    for test, have in ((sign, "have the commoner sign"),
                       (hits, "have it and an interval without 0")):  # fmt: skip
        count = round(float(test["estimate"]) * len(known))
        far = f", {side} 0" if test is sign else ""
        told.append(
            f"{count} of {len(known)} specifications {have}{far} (by chance "
            f"{number(test['null'])} of them on average; {_p(test)})."
        )
    run = rows[rows["declared"]].iloc[0]
    if np.isfinite(run["ci_low"]):
        told.append(f"As the study has it: {number(run['estimate'], decimals=3)}, "
                    f"{interval(run.to_dict(), decimals=3)}, N = {int(run['n']):,}.")  # fmt: skip
    if lost:
        told.append(f"{lost} of {len(rows)} specifications measure nothing here.")
    return told


def _p(test: pd.Series) -> str:
    least = test["p_value"] <= test["p_least"] * (1 + 1e-9)
    return f"p ≤ {test['p_least']:.4f}".replace("0.", ".") if least else p_value(test["p_value"])
