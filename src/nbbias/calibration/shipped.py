"""What the package ships of a whole calibration: a row a statistic, for the measurement cards."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from nbbias import stats
from nbbias.calibration.estimates import by_design

#: What is on a card, and the column of what it is a share of.
_SHARES = {"coverage": ("coverage", "n_covered"), "false_positives": ("told", "n_tested")}


def shipped(outcomes: pd.DataFrame, *, confidence: float) -> pd.DataFrame:
    """Sum up a run's `outcomes`, statistic by statistic.

    Parameters
    ----------
    outcomes
        Of `grid.simulate`.
    confidence
        Level of the intervals.

    Returns
    -------
    DataFrame
        `study`, `measure`, `statistic`, `studies` simulated; `coverage` and `false_positives`
        (where nothing is planted), each with `_low` and `_high`, its worst share over worlds and
        numbers of units (`_worst`) and where that was (`_at`); gaps where nothing is known.

    Examples
    --------
    >>> row = {"study": "s", "measure": "m", "unit": "u", "world": "w", "held_out": False, "n": 10,
    ...        "length": 12, "size": 0.1, "statistic": "d", "planted": 0.1, "repeats": 40,
    ...        "estimate": 0.1,
    ...        "coverage": 0.9, "n_covered": 40, "told": 0.5, "n_tested": 40}
    >>> found = shipped(pd.DataFrame([row, row | {"n": 80, "coverage": 1.0}]), confidence=0.95)
    >>> found[["studies", "coverage", "coverage_worst", "coverage_at"]].values.tolist()
    [[80, 0.95, 0.9, 'N = 10, w']]
    """
    rows = []
    keys = ["study", "measure", "statistic"]
    for key, own in outcomes.groupby(keys, sort=False):
        row: dict[str, Any] = dict(zip(keys, key, strict=True))
        row["studies"] = int(by_design(own, "estimate", "repeats")["count"].sum())
        for name, (share, counted) in _SHARES.items():
            some = own[own[counted] > 0]
            some = some if name == "coverage" else some[some["planted"] == 0]
            row |= _summed(by_design(some, share, counted), name, confidence)
        rows.append(row)
    return pd.DataFrame(rows)


def _summed(table: pd.DataFrame, name: str, confidence: float) -> dict[str, Any]:
    if table.empty:
        return dict.fromkeys((name, *(f"{name}_{end}" for end in ("low", "high", "worst", "at"))))
    whole = float(np.average(table["share"], weights=table["count"]))
    found = stats.wilson(whole, float(table["count"].sum()), confidence=confidence).row()
    weighted = table.assign(hits=table["share"] * table["count"])
    cells = weighted.groupby(["n", "world"], sort=False)[["hits", "count"]].sum()
    shares = cells["hits"] / cells["count"]
    n, world = shares.idxmin() if name == "coverage" else shares.idxmax()
    told = {f"{name}_worst": float(shares[(n, world)]), f"{name}_at": f"N = {n}, {world}"}
    return {name: whole, f"{name}_low": found["ci_low"], f"{name}_high": found["ci_high"]} | told
