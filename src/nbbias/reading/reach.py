"""How sure a number is in plain words, what size a run could have told, and what more would take.

A p value is written as a frequency, a claim that is not told apart with the size that would have
been, and with about as many units as would tell what was seen.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import t

from nbbias import stats
from nbbias.params import SMALLEST
from nbbias.reading.claims import CLAIM
from nbbias.reading.sentences import escape, number

Row = Mapping[str, Any]

#: How likely the smallest effect would be told; as `stats.minimum_detectable_effect` has it.
_POWER = 0.8


def likely(row: Row) -> float:
    """Return the p value that counts: corrected, where it was; NaN where nothing was tested.

    Examples
    --------
    >>> likely({"p_adjusted": math.nan, "p_value": 0.03})
    0.03
    """
    corrected = float(row["p_adjusted"])
    return corrected if np.isfinite(corrected) else float(row["p_value"])


def told(row: Row) -> bool:
    """Tell whether a row is told apart from its reference.

    Examples
    --------
    >>> told({"p_adjusted": 0.04, "p_value": 0.02, "confidence": 0.95})
    True
    """
    return likely(row) < 1 - row["confidence"]


def clearest(rows: Sequence[Row]) -> Row:
    """Return the row that is least likely by chance; of untested ones the first.

    Examples
    --------
    >>> rows = [{"p_adjusted": p, "p_value": p, "group": g} for p, g in ((0.2, "a"), (0.1, "b"))]
    >>> clearest(rows)["group"]
    'b'
    """
    return min(rows, key=lambda row: np.nan_to_num(likely(row), nan=2.0))


def by_chance(rows: Row | Sequence[Row]) -> str:
    """Say in how many of such runs chance alone would give as much, at most.

    A corrected p is no smaller than the p itself, so the sentence holds for both; of several rows
    it holds for each.

    Parameters
    ----------
    rows
        A row of ESTIMATES, or some.

    Examples
    --------
    >>> by_chance({"p_adjusted": 0.0002}), by_chance({"p_adjusted": 0.0312})
    ('in fewer than 1 of 1,000 such runs', 'in at most 4 of 100 such runs')
    """
    given = [rows] if isinstance(rows, Mapping) else rows
    p = max((likely(row) for row in given), default=math.nan)
    if not np.isfinite(p):
        return "in a share of runs that was not computed"
    if p < 0.001:
        return "in fewer than 1 of 1,000 such runs"
    runs = 1000 if p < 0.01 else 100
    # A p that is whole but for rounding is not lifted to the next run.
    return f"in at most {math.ceil(round(p * runs, 6))} of {runs:,} such runs"


def smallest(row: Row) -> float:
    """Return the smallest distance from the reference that a row could have told.

    Where the reference has a range, what lies beyond it; else what a two-sided *t* test of the
    estimate's standard error finds four times of five. NaN where neither is known.

    Examples
    --------
    >>> row = {"null": 0.44, "null_low": 0.37, "null_high": 0.5}
    >>> round(smallest(row), 2)
    0.07
    """
    if np.isfinite(row["null_low"]):
        return float(max(row["null_high"] - row["null"], row["null"] - row["null_low"]))
    own = pd.DataFrame([{"df": np.nan, **row}]).astype({"df": float})
    error = stats.standard_errors(own).iloc[0]
    df = own["df"].fillna(np.inf).iloc[0]
    quantiles = t.ppf((1 + row["confidence"]) / 2, df) + t.ppf(_POWER, df)
    return float(quantiles * error)


def needed(row: Row, *, size: float) -> float:
    """Return about how many units would tell a distance from the reference; NaN: unknown.

    What a run can tell shrinks with the root of N.

    Examples
    --------
    >>> row = {"null": 0.44, "null_low": 0.37, "null_high": 0.5, "n": 18}
    >>> needed(row, size=0.035)
    72.0
    """
    return float(np.ceil(round(row["n"] * (smallest(row) / size) ** 2, 6)))


def more(row: Row, *, what: str, unit: str, decimals: int = 2) -> str:
    """Say of a row that is not told apart what size could have been, and what more would take.

    That is of the smallest effect that its claim names, else of half of what N tells: of what was
    seen, where nothing was told, no number of units could be had.

    Parameters
    ----------
    row
        A row of ESTIMATES, declared or not.
    what
        The row, as it is called.
    unit
        What `n` counts.
    decimals
        Of the sizes.

    Examples
    --------
    >>> row = {"estimate": 0.48, "null": 0.44, "null_low": 0.37, "null_high": 0.5, "n": 18}
    >>> more(row, what="The index of plain", unit="prompts")
    'The index of plain: 18 prompts tell 0.07 or more; half as much takes about 72.'
    """
    if not np.isfinite(row["estimate"]):
        return f"{what}: not measured ({escape(row['reason'])})."
    far = smallest(row)
    text = f"{what}: {row['n']:,.0f} {unit}"
    if not far > 0:  # no interval, or a range without a width
        return f"{text} do not say what they could tell."
    asked = float(row.get(SMALLEST, math.nan))
    named = np.isfinite(asked)
    size = f"{number(asked, decimals=decimals)}, which matters," if named else "half as much"
    count = needed(row, size=asked if named else far / 2)
    text += f" tell {number(far, decimals=decimals)} or more"
    return f"{text}; {size} takes about {count:,.0f}." if count > row["n"] else f"{text}."


def lacking(
    rows: pd.DataFrame, *, name: Callable[[Row], str], unit: str, decimals: int = 2, most: int = 3
) -> list[str]:
    """Say of the rows that are not told apart what more would take, of `most` one by one.

    What was not measured says why where it stands. Nothing is said where nothing was declared.

    Parameters
    ----------
    rows
        Rows that were declared (`claims.declared`).
    name
        What a row is called.
    unit, decimals
        As of `more`.
    most
        Those of which least is told come first; the others are counted.

    Examples
    --------
    >>> row = {"estimate": 0.48, "null": 0.44, "null_low": 0.37, "null_high": 0.5, "n": 18,
    ...        "p_value": 0.3, "p_adjusted": 0.3, "confidence": 0.95, "model": "plain",
    ...        "claim": 1}
    >>> lacking(pd.DataFrame([row]), name=lambda row: row["model"], unit="prompts")
    ['plain: 18 prompts tell 0.07 or more; half as much takes about 72.']
    """
    if CLAIM not in rows:
        return []
    known = rows[rows["estimate"].notna()].to_dict("records")
    left = [row for row in known if not told(row)]
    left.sort(key=lambda row: np.nan_to_num(smallest(row), nan=np.inf))
    found = [more(row, what=name(row), unit=unit, decimals=decimals) for row in left[:most]]
    return found + ([f"{len(left) - most} others tell less."] if len(left) > most else [])
