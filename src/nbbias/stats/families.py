"""Families of estimates: adjusted p-values, equivalence tests, and shrinkage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from scipy import stats
from statsmodels.stats.meta_analysis import combine_effects

from nbbias.stats.inference import alpha, is_significant
from nbbias.tables import ESTIMATE_KEYS, UNTESTABLE

Where: TypeAlias = Mapping[str, Any] | pd.Series

#: Estimates from which a family's spread can be estimated.
_FEWEST = 3


def adjust(
    estimates: pd.DataFrame,
    *,
    family: Sequence[str | pd.Series] = (),
    where: Where | None = None,
    mirror: str | None = None,
) -> pd.DataFrame:
    """Adjust the p-values of a table by Holm's method for the number of tests in each family.

    Parameters
    ----------
    estimates
        One row per test, with `p_value`; NaN stays NaN and does not count.
    family
        Columns (or Series, such as ``table["task"].isna()``) whose values name a family, NaN among
        them. Without any, all rows are one family.
    where
        Rows that are tested: column → its value or values, or a Series of bool. The others keep
        their values. None: all.
    mirror
        Column whose two values, where a bias of a family has just two, are mirror images of one
        test: the first is tested, and its p-value stands for both.

    Returns
    -------
    DataFrame
        A copy with `p_adjusted`, in [`p_value`, 1]. A row of ESTIMATES that no outcome could have
        made significant in its family (by its adjusted `p_least`) says so in `reason`, with its N.

    Examples
    --------
    >>> table = pd.DataFrame(
    ...     {
    ...         "statistic": ["bias", "bias", "difference", "difference"],
    ...         "group": ["all", "all", "she", "he"],
    ...         "model": ["a", "b", "a", "a"],
    ...         "p_value": [0.01, 0.04, 0.03, 0.03],
    ...     }
    ... )
    >>> adjust(table)["p_adjusted"].tolist()
    [0.04, 0.09, 0.09, 0.09]
    >>> adjust(table, family=["statistic"])["p_adjusted"].tolist()
    [0.02, 0.04, 0.06, 0.06]
    >>> adjust(table, where={"statistic": "bias"})["p_adjusted"].tolist()
    [0.02, 0.04, nan, nan]

    The shares of two groups sum to 1, so both differences are one test:

    >>> adjust(table, where={"statistic": "difference"}, mirror="group")["p_adjusted"].tolist()
    [nan, nan, 0.03, 0.03]
    """
    rows = estimates.reset_index(drop=True)
    selected = _select(rows, where)
    keys = [key if isinstance(key, str) else key.set_axis(rows.index) for key in family]
    number = rows.groupby(keys, dropna=False).ngroup() if keys else pd.Series(0, rows.index)
    p = pd.to_numeric(rows["p_value"]).astype(float).where(selected)
    if mirror is not None:
        values = rows[mirror].where(selected)
        biases = [rows["bias"]] if "bias" in rows else []
        by = values.groupby([number, *biases], dropna=False)
        is_image = (by.transform("nunique") == 2) & (values != by.transform("first"))
        p = p.mask(is_image & values.notna())
    least = rows.get("p_least", pd.Series(np.nan, rows.index)).astype(float).fillna(0.0)
    adjusted, least = p.copy(), least.where(p.notna())
    for at in number.groupby(number).indices.values():
        for column in (adjusted, least):
            column.iloc[at] = _adjust_family(column.iloc[at].to_numpy())
    if mirror is not None:
        # The two images have all keys but that one in common.
        same = [key for key in (*ESTIMATE_KEYS, "instrument") if key in rows and key != mirror]
        images = adjusted.groupby([number, *(rows[key] for key in same)], dropna=False)
        tested = selected & rows["p_value"].notna()
        adjusted = adjusted.fillna(images.transform("first")).where(tested)
    values = adjusted.where(selected, rows.get("p_adjusted", np.nan))
    table = estimates.assign(p_adjusted=values.to_numpy(dtype=float))
    if {"reason", "confidence", "n"} <= set(rows):
        untestable = (least >= alpha(rows["confidence"].astype(float))) & rows["reason"].isna()
        reasons = [f"{UNTESTABLE}{p:.2g}" for p in least]
        column = pd.Series(reasons, index=rows.index, dtype=rows["reason"].dtype)
        table["reason"] = rows["reason"].mask(untestable, column).set_axis(table.index)
    return table


def _select(rows: pd.DataFrame, where: Where | None) -> pd.Series:
    if isinstance(where, pd.Series):
        return where.set_axis(rows.index).astype(bool)
    selected = pd.Series(True, index=rows.index)
    for name, wanted in (where or {}).items():
        selected &= rows[name].isin([wanted] if isinstance(wanted, str) else wanted)
    return selected


def _adjust_family(p_values: np.ndarray) -> np.ndarray:
    """Adjust the p-values of one family by Holm's method; NaN stay NaN and do not count."""
    adjusted, tested = np.full(len(p_values), np.nan), ~np.isnan(p_values)
    p = p_values[tested]
    # statsmodels' multipletests collects garbage at every call: most of a study's time.
    order = np.argsort(p)
    steps = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    adjusted[np.flatnonzero(tested)[order]] = np.minimum(steps, 1.0)
    return adjusted


def standard_errors(rows: pd.DataFrame) -> pd.Series:
    """Return the standard error of each estimate, computed from its interval.

    Parameters
    ----------
    rows
        Rows of ESTIMATES.

    Returns
    -------
    Series
        Half the interval's length over its quantile: of *t* with the row's `df`, of the normal
        distribution where it has none. An interval may be cut at a bound of its statistic, so its
        longer half counts. NaN without an interval.

    Examples
    --------
    >>> row = {"estimate": 0.1, "ci_low": -0.096, "ci_high": 0.296, "df": np.nan}
    >>> standard_errors(pd.DataFrame([row | {"confidence": 0.95}])).round(3).tolist()
    [0.1]
    """
    longer = np.maximum(rows["ci_high"] - rows["estimate"], rows["estimate"] - rows["ci_low"])
    quantile = stats.t.ppf((1 + rows["confidence"]) / 2, rows["df"].fillna(np.inf))
    return (longer / quantile).where(longer > 0)


def equivalence_test(rows: pd.DataFrame, *, within: pd.Series) -> pd.DataFrame:
    """Test signed estimates for equivalence to 0 within bounds, and for lying beyond them.

    Parameters
    ----------
    rows
        Rows of ESTIMATES of statistics that are 0 where there is no difference. Where a column
        `nominal` has a value, the estimate is a share of `n` independent units less that value.
    within
        By row, the smallest effect that matters, above 0, in the estimate's unit; NaN: no test.

    Returns
    -------
    DataFrame
        By row `p_within` (small: nearer to 0 than the smallest effect) and `p_beyond` (small:
        further from 0 than that). NaN where there is no bound or no interval.

    Notes
    -----
    Two one-sided *t* tests (TOST; Schuirmann 1987) and the two-sided test against the nearer bound,
    from the estimate, its standard error and its degrees of freedom; of shares, exact binomial
    tails, twice the smaller one for `p_beyond`.

    Examples
    --------
    >>> row = {"estimate": 0.01, "ci_low": -0.03, "ci_high": 0.05, "df": 40, "confidence": 0.95}
    >>> equivalence_test(pd.DataFrame([row]), within=pd.Series([0.06])).round(3).to_dict("records")
    [{'p_within': 0.008, 'p_beyond': 1.0}]
    """
    df, size = rows["df"].fillna(np.inf), rows["estimate"].abs()
    # Of the two one-sided tests that against the nearer bound decides, and the half of the interval
    # that faces it: an interval of a share is longer on the side of one half.
    outwards = (size < within) == (rows["estimate"] >= 0)
    halves = (rows["ci_high"] - rows["estimate"]).where(outwards, rows["estimate"] - rows["ci_low"])
    quantile = stats.t.ppf((1 + rows["confidence"]) / 2, df)
    errors = (halves / quantile).where(halves > 0, standard_errors(rows))
    nearer = stats.t.cdf((size - within) / errors, df)
    beyond = np.minimum(2 * stats.t.sf((size - within) / errors, df), 1.0)
    if "nominal" in rows:
        counted, exact = rows["nominal"].notna(), _exact_tails(rows, within)
        nearer, beyond = (np.where(counted, *p) for p in zip(exact, (nearer, beyond), strict=True))
    return pd.DataFrame({"p_within": nearer, "p_beyond": beyond}, index=rows.index)


def _exact_tails(rows: pd.DataFrame, within: pd.Series) -> tuple[np.ndarray, np.ndarray]:
    """Return `p_within` and `p_beyond` of shares by binomial tails at either bound."""
    n, low, high = rows["n"], rows["nominal"] - within, rows["nominal"] + within
    count = ((rows["estimate"] + rows["nominal"]) * n).round(6)  # a mean over groups is no count
    at_least, at_most = np.floor(count) - 1, np.ceil(count)
    bottom, top = np.maximum(low, 0), np.minimum(high, 1)
    nearer = np.maximum(
        np.where(high < 1, stats.binom.cdf(at_most, n, top), 0.0),
        np.where(low > 0, stats.binom.sf(at_least, n, bottom), 0.0),
    )
    further = np.minimum(stats.binom.sf(at_least, n, top), stats.binom.cdf(at_most, n, bottom))
    missing = within.isna() | rows["estimate"].isna()
    return np.where(missing, np.nan, nearer), np.where(missing, np.nan, np.minimum(2 * further, 1))


def selection_interval(rows: pd.DataFrame) -> pd.DataFrame:
    """Widen the intervals of significant estimates, which were selected for being far from 0.

    Parameters
    ----------
    rows
        Rows of ESTIMATES that were tested as one family, with `p_adjusted`.

    Returns
    -------
    DataFrame
        By row `ci_low_selected`, `ci_high_selected` and their level, `confidence_selected`; NaN
        where the row is not significant, or where all are: then nothing was selected.

    Notes
    -----
    Of m tested rows, R of them significant, the intervals have confidence 1 - αR/m, so that the
    expected share of them that miss their parameter is at most α (false coverage rate; Benjamini
    and Yekutieli 2005, JASA 100(469)). After Holm's correction none of them holds the null value.
    Each half of the interval is scaled by the ratio of the quantiles of *t*; of a statistic that
    is never below 0, such as a standard deviation, the interval stays at 0 or above.

    Examples
    --------
    >>> row = {"estimate": 0.3, "ci_low": 0.1, "ci_high": 0.5, "df": 40, "confidence": 0.95}
    >>> rows = pd.DataFrame([row | {"p_adjusted": p} for p in (0.01, 0.5, 0.9, 0.9)])
    >>> selection_interval(rows).round(3).iloc[0].tolist()
    [0.041, 0.559, 0.988]
    """
    selected = is_significant(rows["p_adjusted"], rows["confidence"])
    share = selected.sum() / max(rows["p_adjusted"].notna().sum(), 1)
    tail, df = alpha(rows["confidence"]) / 2, rows["df"].fillna(np.inf)
    factor = (stats.t.isf(tail * share, df) / stats.t.isf(tail, df)) if share else 1.0
    ends = {
        f"{end}_selected": rows["estimate"] + factor * (rows[end] - rows["estimate"])
        for end in ("ci_low", "ci_high")
    }
    selected &= share < 1
    result = pd.DataFrame({**ends, "confidence_selected": 1 - 2 * tail * share}).where(selected)
    if "null_low" in rows:  # a range under the null: no signed difference
        positive = rows["null_low"].ge(0) & rows["ci_low"].ge(0)
        result = result.clip(lower=0).where(positive, result)
    return result


def shrink_estimates(rows: pd.DataFrame) -> pd.Series:
    r"""Shrink the estimates of a family towards their mean, to correct for selecting the largest.

    Parameters
    ----------
    rows
        Rows of ESTIMATES, comparable with each other; where there is a `null`, what lies beyond it
        is shrunken, and the `null` added again. A row whose `null` has a range is left out: its
        interval is not that of what lies beyond the `null`.

    Returns
    -------
    Series
        By row; all NaN where fewer than three rows have a standard error.

    Notes
    -----
    Empirical Bayes, normal-normal: the posterior mean
    :math:`\mu + (y_i - \mu) \tau^2 / (\tau^2 + s_i^2)` does not depend on how a row was selected.
    The variance :math:`\tau^2` of true effects is Paule and Mandel's, by statsmodels.

    Examples
    --------
    >>> row = {"ci_low": -0.2, "ci_high": 0.2, "df": np.nan, "confidence": 0.95, "null": 0.0}
    >>> rows = [row | {"estimate": y, "ci_low": y - 0.2, "ci_high": y + 0.2} for y in (-0.1, 0, .4)]
    >>> shrink_estimates(pd.DataFrame(rows)).round(2).tolist()
    [-0.07, 0.01, 0.36]
    """
    shrunken = pd.Series(np.nan, index=rows.index)
    nulls = rows["null"].fillna(0.0)
    variances = standard_errors(rows) ** 2
    usable = variances.notna() & rows["estimate"].notna()
    if "null_low" in rows:  # an estimated null value: the difference has another error
        usable &= rows["null_low"].isna()
    if usable.sum() < _FEWEST:
        return shrunken
    y, variance = (rows["estimate"] - nulls)[usable].to_numpy(), variances[usable].to_numpy()
    with np.errstate(divide="ignore"):  # of its I², where all estimates are equal
        meta = combine_effects(y, variance, method_re="iterated")
    tau2 = max(float(meta.tau2), 0.0)
    means = meta.mean_effect_re + (y - meta.mean_effect_re) * tau2 / (tau2 + variance)
    shrunken[usable] = means + nulls[usable]
    return shrunken
