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
from nbbias.reading.sentences import number
from nbbias.tables import UNTESTABLE

Row = Mapping[str, Any]

#: How likely a difference is told, of which it is said that it would have been.
POWER = 0.8


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


def decided(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows that were tested and could be told at their N.

    Examples
    --------
    >>> why = [None, UNTESTABLE + "3", "few"]
    >>> rows = pd.DataFrame({"p_adjusted": [0.01, 1.0, None], "reason": why})
    >>> len(decided(rows))
    1
    """
    return rows[rows["p_adjusted"].notna() & ~_untold(rows)]


def _untold(rows: pd.DataFrame) -> pd.Series:
    return rows["reason"].astype("str").str.startswith(UNTESTABLE, na=False)


def shown(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows told apart from their reference after correction, the surest first.

    Examples
    --------
    >>> rows = pd.DataFrame({"p_adjusted": [0.04, 0.5, 0.01], "confidence": 0.95, "reason": None})
    >>> shown(rows)["p_adjusted"].tolist()
    [0.01, 0.04]
    """
    own = decided(rows)
    return own[own["p_adjusted"] < 1 - own["confidence"]].sort_values("p_adjusted", kind="stable")


# --- what N can show --------------------------------------------------------------------------


def reach(rows: pd.DataFrame) -> pd.Series:
    """Return how far from its reference each estimate had to lie to be shown with power 0.8.

    Parameters
    ----------
    rows
        Rows of ESTIMATES, a whole family: the level is that of the first step of Holm's method.

    Returns
    -------
    Series
        In the estimate's unit, from its standard error and the *t* distribution, or, where p
        comes from permutations, from the range that they gave the reference; NaN where a row was
        not tested.

    Examples
    --------
    >>> rows = pd.DataFrame([{"estimate": 0.0, "ci_low": -0.1, "ci_high": 0.1, "confidence": 0.95,
    ...     "df": 70.0, "p_adjusted": 1.0, "reason": None}])
    >>> reach(rows).round(3).tolist()
    [0.142]
    """
    tests = _tests(rows)
    quantiles = t.ppf(1 - tests["alpha"] / 2, tests["df"]) + t.ppf(POWER, tests["df"])
    return (tests["error"] * quantiles).reindex(rows.index)


_NEEDED = ("p_value", "df", "statistic_value", "null", "null_low", "null_high", "n")


def _tests(rows: pd.DataFrame) -> pd.DataFrame:
    """Return of rows that were tested the standard `error`, `df` and first `alpha` of a family.

    A row that is not corrected is a family of its own. Where p is not of a *t* test the error is
    that of the reference, which was dealt.
    """
    known = {name: rows.get(name, pd.Series(np.nan, rows.index)) for name in _NEEDED}
    every = rows.assign(**known)
    own = every[every[["p_adjusted", "p_value"]].notna().any(axis=1) & ~_untold(rows)]
    family = own["p_adjusted"].notna()
    alpha = (1 - own["confidence"]) / np.where(family, max(family.sum(), 1), 1)
    dealt = own["null_low"].notna() & own["statistic_value"].isna()
    df = own["df"].astype(float).mask(dealt).fillna(np.inf)
    half = np.maximum(own["null_high"] - own["null"], own["null"] - own["null_low"])
    spread = half / t.ppf((1 + own["confidence"]) / 2, np.inf)
    error = stats.standard_errors(own.assign(df=df)).mask(dealt, spread.where(spread > 0))
    return pd.DataFrame({"error": error, "df": df, "alpha": alpha, "n": own["n"]})


def needed(rows: pd.DataFrame, *, size: pd.Series) -> pd.Series:
    """Return how many units would show a difference of a size with power 0.8.

    Parameters
    ----------
    rows
        Rows of ESTIMATES, a whole family; see `reach`.
    size
        The difference that matters, by row.

    Returns
    -------
    Series
        Units that count, at the spread that was seen, which few units show badly; NaN where it is
        not known.

    Examples
    --------
    >>> row = {"estimate": 0.0, "ci_low": -0.1, "ci_high": 0.1, "confidence": 0.95, "df": 70.0,
    ...        "n": 71, "p_adjusted": 1.0, "reason": None}
    >>> needed(pd.DataFrame([row]), size=pd.Series([0.142])).tolist()
    [72.0]
    """
    tests = _tests(rows)
    many = np.unique(np.geomspace(2, 1e7, 20_000).astype(int))
    found = []
    for row, wanted in zip(tests.itertuples(), size.reindex(tests.index), strict=True):
        df = np.inf if np.isinf(row.df) else many - 1
        quantiles = t.ppf(1 - row.alpha / 2, df) + t.ppf(POWER, df)
        enough = row.error * np.sqrt(row.n / many) * quantiles <= wanted
        found.append(many[np.argmax(enough)] if enough.any() else np.nan)
    return pd.Series(found, index=tests.index, dtype=float).reindex(rows.index)


def about(n: float) -> str:
    """Write a number of units with two digits that count, rounded up.

    Examples
    --------
    >>> about(71), about(1234)
    ('71', '1,300')
    """
    step = 10 ** max(len(str(math.ceil(n))) - 2, 0)
    return f"{math.ceil(n / step) * step:,}"


def lacking(
    rows: pd.DataFrame, *, name: Callable[[Row], str], unit: str, decimals: int = 2, most: int = 3
) -> list[str]:
    """Say of the rows that are not told apart what N tells, of `most` one by one, and what more.

    More is of the smallest effect that a claim names, else of half of what N tells: of what was
    seen, where nothing was told, no number of units could be had. Nothing is said where nothing
    was declared, and of what was not tested, which says why where it stands.

    Parameters
    ----------
    rows
        Rows that were declared (`claims.declared`), a whole family.
    name
        What a row is called.
    unit
        What `n` counts.
    decimals
        Of the sizes.
    most
        Those of which least is told come first; the others are counted.

    Examples
    --------
    >>> row = {"estimate": 0.1, "ci_low": -0.1, "ci_high": 0.3, "confidence": 0.95, "df": 39.0,
    ...        "n": 40, "p_adjusted": 0.6, "reason": None, "model": "plain", "claim": 1}
    >>> lacking(pd.DataFrame([row]), name=lambda row: row["model"], unit="prompts")
    ['plain: 40 prompts tell 0.28 or more; half as much takes about 160.']
    """
    if CLAIM not in rows:
        return []
    asked = rows.get(SMALLEST, pd.Series(np.nan, rows.index))
    table = rows.assign(far=reach(rows), asked=asked)
    table["units"] = needed(rows, size=asked.fillna(table["far"] / 2))
    tested = table.loc[_tests(rows).index]
    left = tested[np.array([not told(row) for row in tested.to_dict("records")], dtype=bool)]
    left = left.sort_values("far", ascending=False, kind="stable", na_position="first")
    found = []
    for row in left.head(most).to_dict("records"):
        text = f"{name(row)}: {row['n']:,.0f} {unit}"
        if not np.isfinite(row["far"]):  # no interval, or a range without a width
            found.append(f"{text} do not say what they could tell.")
            continue
        text += f" tell {number(row['far'], decimals=decimals)} or more"
        size = number(row["asked"], decimals=decimals) if np.isfinite(row["asked"]) else ""
        which = f"{size}, which matters," if size else "half as much"
        more = f"; {which} takes about {about(row['units'])}" if row["units"] > row["n"] else ""
        found.append(f"{text}{more}.")
    return found + ([f"{len(left) - most} others tell less."] if len(left) > most else [])
