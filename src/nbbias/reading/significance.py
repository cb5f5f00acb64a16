"""Which estimates differ significantly from their null value, and what size a run can detect."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy.stats import t

from nbbias import stats
from nbbias.reading import names
from nbbias.tables import UNIT_KEYS, UNTESTABLE

#: Columns of the interval of a significant claim, adjusted for its selection.
SELECTED = ("ci_low_selected", "ci_high_selected")

#: The power at which a difference counts as detectable.
POWER = 0.8

#: The one-sided test: of `counterfactual.estimates`.
ONE_SIDED = "versions permuted within prompt"


def adjusted_p(rows: pd.DataFrame) -> pd.Series:
    """Return the adjusted p value of each row, or its p value if that was not adjusted.

    NaN if the row was not tested.

    Examples
    --------
    >>> adjusted_p(pd.DataFrame({"p_adjusted": [0.06, np.nan], "p_value": 0.03})).tolist()
    [0.06, 0.03]
    """
    return rows["p_adjusted"].fillna(rows["p_value"])


def is_significant(rows: pd.DataFrame) -> pd.Series:
    """Return whether each row differs significantly from its null value.

    Examples
    --------
    >>> rows = pd.DataFrame({"p_adjusted": [0.04, 0.5, np.nan], "p_value": 0.04})
    >>> is_significant(rows.assign(confidence=0.95)).tolist()
    [True, False, True]
    """
    return stats.is_significant(adjusted_p(rows), rows["confidence"])


def valid_tests(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows that were tested and could be significant at their N.

    Examples
    --------
    >>> why = [None, UNTESTABLE + "3", "few"]
    >>> len(valid_tests(pd.DataFrame({"p_adjusted": [0.01, 1.0, None], "reason": why})))
    1
    """
    return rows[rows["p_adjusted"].notna() & ~never_significant(rows)]


def never_significant(rows: pd.DataFrame) -> pd.Series:
    """Mark the rows that could not be significant at their N, whatever the data.

    Examples
    --------
    >>> never_significant(pd.DataFrame({"reason": [None, UNTESTABLE + "3"]})).tolist()
    [False, True]
    """
    return rows["reason"].astype("str").str.startswith(UNTESTABLE, na=False)


def significant(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows that are significant after correction, the smallest p value first.

    Examples
    --------
    >>> rows = pd.DataFrame({"p_adjusted": [0.04, 0.5, 0.01, 0.001], "confidence": 0.95})
    >>> significant(rows.assign(reason=[*[None] * 3, UNTESTABLE + "3"]))["p_adjusted"].tolist()
    [0.01, 0.04]
    """
    tested = valid_tests(rows).sort_values("p_adjusted", kind="stable")
    return tested[stats.is_significant(tested["p_adjusted"], tested["confidence"])]


def with_selection(rows: pd.DataFrame) -> pd.DataFrame:
    """Return claims with the intervals that are adjusted for selection, where there are any.

    Examples
    --------
    >>> rows = pd.DataFrame({"ci_low": [0.1, 0.1], "ci_high": 0.3,
    ...     "ci_low_selected": [0.05, np.nan], "ci_high_selected": [0.35, np.nan]})
    >>> with_selection(rows)["ci_low"].tolist()
    [0.05, 0.1]
    """
    if SELECTED[0] not in rows:
        return rows
    ends = {name: rows[f"{name}_selected"].fillna(rows[name]) for name in ("ci_low", "ci_high")}
    return rows.assign(**ends)


def minus_null(rows: pd.DataFrame, where: pd.Series | bool = True) -> pd.DataFrame:
    """Return rows as differences from their null values, in place of scores.

    Examples
    --------
    >>> minus_null(pd.DataFrame({"estimate": [0.9], "ci_low": 0.7, "null": 0.5})).round(1).values
    array([[0.4, 0.2, 0. ]])
    """
    if rows.empty:
        return rows
    values = rows.filter(regex="^(estimate|null(_low|_high)?|ci_(low|high)(_selected)?)$")
    return rows.assign(**values.sub(rows["null"].fillna(0) * where, axis=0))


def minus_prose(rows: pd.DataFrame) -> pd.DataFrame:
    """Return scores tested against reference prose as differences: the intervals are of these."""
    tested = rows["test"].astype("str").str.contains("neutral prose")
    labels = rows["model"].mask(tested, rows["model"] + " \N{MINUS SIGN} reference prose")
    ends = {end: rows[end].mask(tested) for end in ("null_low", "null_high")}
    return minus_null(rows.assign(model=labels, **ends), tested)


def is_mirrored(rows: pd.DataFrame, *, values: Sequence[str] = ("estimate",)) -> pd.Series:
    """Mark, of two groups of which one gains what the other loses, the second.

    Parameters
    ----------
    rows
        Rows of ESTIMATES; rows that differ in nothing but their group are compared.
    values
        The columns that are to mirror each other.

    Examples
    --------
    >>> rows = pd.DataFrame({"group": ["women", "men"], "estimate": [-0.1, 0.1], "model": "m"})
    >>> is_mirrored(rows).tolist()
    [False, True]
    """
    keys = [key for key in (*UNIT_KEYS, "run") if key in rows and key != "group"]
    same = rows.groupby(keys, dropna=False, sort=False)
    mirrored = same["group"].transform("size").eq(2) & same.cumcount().eq(1) & rows["group"].notna()
    for name in values:
        mirrored &= same[name].transform("sum").abs() < 1e-9
    return mirrored


# --- power ------------------------------------------------------------------------------------


def minimum_detectable_effect(rows: pd.DataFrame) -> pd.Series:
    """Return the smallest difference from the null value that is detected with power 0.8.

    Parameters
    ----------
    rows
        Rows of ESTIMATES, a whole family: the level is that of the first step of Holm's method.

    Returns
    -------
    Series
        In the estimate's unit, from its standard error and the *t* distribution, or, for a
        permutation test, from the range of the null distribution; NaN for a row without a test,
        and where the estimate would be above its unit's `maximum`.

    Examples
    --------
    >>> rows = pd.DataFrame([{"estimate": 0.0, "ci_low": -0.1, "ci_high": 0.1, "confidence": 0.95,
    ...     "df": 70.0, "p_adjusted": 1.0, "reason": None}])
    >>> minimum_detectable_effect(rows).round(3).tolist()
    [0.142]
    """
    whole = rows.reindex(columns=rows.columns.union(_NEEDED, sort=False))
    has_test = whole[["p_adjusted", "p_value"]].notna().any(axis=1) & ~never_significant(rows)
    tested = whole[has_test]
    family = tested["p_adjusted"].notna()
    alpha = stats.alpha(tested["confidence"]) / np.where(family, max(family.sum(), 1), 1)
    permuted = tested["null_low"].notna() & tested["statistic_value"].isna()
    df = tested["df"].astype(float).mask(permuted).fillna(np.inf)
    half = np.maximum(tested["null_high"] - tested["null"], tested["null"] - tested["null_low"])
    spread = half / t.ppf((1 + tested["confidence"]) / 2, np.inf)
    error = stats.standard_errors(tested.assign(df=df)).mask(permuted, spread.where(spread > 0))
    sides = 2 - tested["test"].eq(ONE_SIDED)
    effects = error * (t.ppf(1 - alpha / sides, df) + t.ppf(POWER, df))
    most = pd.Series([names.unit(row).maximum for row in tested.to_dict("records")], tested.index)
    if "nominal" in rows:  # a rate less its nominal level cannot exceed what is left above it
        most = most.fillna(np.inf).clip(upper=(1 - tested["nominal"]).fillna(np.inf))
    return effects.where(tested["null"].fillna(0) + effects <= most).reindex(rows.index)


_NEEDED = ("test", "p_value", "df", "statistic_value", "null", "null_low", "null_high")
