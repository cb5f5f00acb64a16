"""Means and shares that were measured several times over, each time by another fit of topics.

A fit depends on its seed, so an estimate has two sources of uncertainty: the articles, and the
fit. Rubin's rules (Rubin 1987; degrees of freedom by Barnard and Rubin 1999) add the two.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import norm, t
from statsmodels.stats.proportion import proportion_confint

from nbbias.stats import intervals

Row = dict[str, Any]


#: A variance this small is rounding.
_NO_SPREAD = 1e-24


class _Total(NamedTuple):
    estimate: float
    variance: float  # of the estimate: within fits and between them
    df: float
    n: int
    fits: int


def pooled_mean(
    values: pd.DataFrame, *, confidence: float, bounds: tuple[float, float] | None = None,
    tested: bool = True,
) -> Row:  # fmt: skip
    """Return a mean over units and fits, its interval and its test against 0.

    Parameters
    ----------
    values
        Units by fits (one column where nothing is fitted); NaN where a unit was not measured.
    confidence
        Level of the interval.
    bounds
        The least and the largest value that the mean can have; the interval stays within.
    tested
        Whether it is tested against 0; without, a row as of `stats.mean_interval`.

    Returns
    -------
    dict
        As `stats.one_sample`, which it equals for one fit: the `estimate` is the mean of the fits'
        means; its variance is the mean of theirs plus (1 + 1/m) times the variance between
        the m fits. `n` is the least number of units that a fit measured (fits that measured none
        do not count), `n_lost` all others; `effect_size` the mean of the fits'; `test` says how
        many fits there were.

    Examples
    --------
    >>> values = pd.DataFrame({"fit 1": [0.0, 1.0, 2.0], "fit 2": [1.0, 2.0, 3.0]})
    >>> row = pooled_mean(values, confidence=0.95)
    >>> row["estimate"], row["n"], row["test"]
    (1.5, 3, 'one-sample t, 2 of 2 fits pooled')
    >>> pooled_mean(values[["fit 1"]], confidence=0.95, tested=False)["estimate"]
    1.0
    """
    columns = [values[name].dropna().to_numpy(float) for name in values]
    measured = [own for own in columns if len(own)]
    if len(measured) < 2:
        only = measured[0] if measured else np.array([])
        function = intervals.one_sample if tested else intervals.mean_interval
        row = function(only, confidence=confidence, bounds=bounds)
        row["n_lost"] = len(values) - row["n"]
        return row | _fits(len(measured), len(columns), row)
    total = _total(measured, [_variance_of_mean(own) for own in measured])
    row = {"estimate": total.estimate, "ci_low": np.nan, "ci_high": np.nan, "n": total.n}
    row |= {"n_lost": len(values) - total.n, "reason": None}
    if not np.isfinite(total.variance):
        row["reason"] = intervals.ONE_VALUE
    elif total.variance <= _NO_SPREAD:
        row |= {"ci_low": total.estimate, "ci_high": total.estimate}
        row["reason"] = "all values are alike: no test" if tested else None
    test = dict.fromkeys(("statistic_value", "df", "p_value"), np.nan)
    if total.variance > _NO_SPREAD and np.isfinite(total.variance):
        test = _tested(total, confidence)
        ends = [test.pop("ci_low"), test.pop("ci_high")]
        row["ci_low"], row["ci_high"] = np.clip(ends, *(bounds or (-np.inf, np.inf)))
    if tested:
        sizes = [intervals.one_sample(own, confidence=confidence) for own in measured]
        row |= {"test": "one-sample t", **test}
        row["effect_size"] = float(np.mean([own["effect_size"] for own in sizes]))
    return row | _fits(total.fits, len(columns), row)


def pooled_share(hits: pd.DataFrame, *, confidence: float) -> Row:
    """Return a share over units and fits with its Wilson interval.

    Parameters
    ----------
    hits
        Units by fits (one column where nothing is fitted): 1 where it is so, 0 where not, NaN
        where it was not measured.
    confidence
        Level of the interval.

    Returns
    -------
    dict
        `estimate`, `ci_low`, `ci_high`, `n`, `n_lost`, `reason`. Wilson's interval at the number of
        independent units that would give the pooled variance of `pooled_mean`; with one fit it is
        that of `stats.share_interval`.

    Examples
    --------
    >>> hits = pd.DataFrame({"fit 1": [1, 0, 0, 1], "fit 2": [1, 0, 0, 0]})
    >>> row = pooled_share(hits, confidence=0.95)
    >>> row["estimate"], row["n"], row["n_lost"]
    (0.375, 4, 0)
    """
    columns = [hits[name].dropna().to_numpy(float) for name in hits]
    measured = [own for own in columns if len(own)]
    if len(measured) < 2:
        only = measured[0] if measured else np.array([])
        row = intervals.share_interval(only, confidence=confidence)
        row["n_lost"] = len(hits) - row["n"]
        return row | _fits(len(measured), len(columns), row)
    total = _total(measured, [own.mean() * (1 - own.mean()) / len(own) for own in measured])
    low, high = _wilson(total, confidence)
    row = {"estimate": total.estimate, "ci_low": low, "ci_high": high, "n": total.n}
    row |= {"n_lost": len(hits) - total.n, "reason": None}
    return row | _fits(total.fits, len(columns), row)


def _variance_of_mean(own: np.ndarray) -> float:
    return float(own.var(ddof=1) / len(own)) if len(own) > 1 else np.nan


def _total(measured: list[np.ndarray], variances: list[float]) -> _Total:
    means = np.array([own.mean() for own in measured])
    return _combine(means, np.array(variances), min(map(len, measured)), None)


def _combine(means: np.ndarray, variances: np.ndarray, n: int, df: float | None) -> _Total:
    """Apply Rubin's rules to two fits or more; `df` is that of one fit, by default n - 1."""
    m = len(means)
    within, between = float(np.mean(variances)), (1 + 1 / m) * float(means.var(ddof=1))
    variance = within + between
    part = between / variance if variance > 0 else 0.0
    complete = max(n - 1 if df is None else df, 1)
    observed = (complete + 1) / (complete + 3) * complete * (1 - part)
    found = observed if part == 0 else 1 / (1 / max(observed, 1e-9) + part**2 / (m - 1))
    return _Total(float(means.mean()), variance, max(found, 1.0), n, m)


def _tested(total: _Total, confidence: float) -> Row:
    """Return the pooled t interval, and the test against 0."""
    error = np.sqrt(total.variance)
    half, value = t.ppf((1 + confidence) / 2, total.df) * error, total.estimate / error
    row = {"ci_low": total.estimate - half, "ci_high": total.estimate + half}
    return row | {
        "statistic_value": value, "df": total.df, "p_value": float(2 * t.sf(abs(value), total.df)),
    }  # fmt: skip


def _wilson(total: _Total, confidence: float) -> tuple[float, float]:
    """Return Wilson's interval at the number of units that would give the pooled variance."""
    n: float = total.n
    if total.variance > 0:
        n = total.estimate * (1 - total.estimate) / total.variance
        upper = (1 + confidence) / 2
        n *= (norm.ppf(upper) / t.ppf(upper, total.df)) ** 2  # few fits: their spread is not known
    low, high = proportion_confint(total.estimate * n, n, alpha=1 - confidence, method="wilson")
    return min(low, total.estimate), max(high, total.estimate)  # rounding at 0 and 1


def pooled_claims(rows: Sequence[Row], *, confidence: float) -> Row:
    """Pool one claim that every fit made on its own.

    Parameters
    ----------
    rows
        One row of ESTIMATES to be for each fit, of the same claim. A row's variance is read off its
        interval (with its `df`, or `n` - 1); that of a share is p (1 - p) / n, where the row has
        neither `test` nor `df` and its `statistic` begins with ``"prejudice_share"``.
    confidence
        Level of the rows' intervals, and of the pooled one.

    Returns
    -------
    dict
        The first row with `estimate`, interval, `statistic_value`, `df`, `p_value` and the largest
        `n_lost`, pooled as in `mean` and `share`; `reason` says where some fits measured nothing.
        With one fit its row.

    Examples
    --------
    >>> values = pd.Series([0, 1, 2]), pd.Series([1, 2, 3])
    >>> fits = [intervals.one_sample(own, confidence=0.95) for own in values]
    >>> row = pooled_claims([{"statistic": "x"} | one for one in fits], confidence=0.95)
    >>> row["estimate"], row["n"]
    (1.5, 3)

    Notes
    -----
    `pooled_mean` and `pooled_share` know the units, this only what a fit said of them: of claims
    such as the difference of two shares no table of units by fits exists. Where there is one, they
    are better: an interval that was cut at its bounds no longer tells the variance.
    """
    measured = [row for row in rows if np.isfinite(row["estimate"])]
    if len(rows) < 2 or not measured:
        return dict(rows[0])
    row = dict(measured[0]) | {"n_lost": max(one.get("n_lost") or 0 for one in measured)}
    row |= {"reason": row.get("reason"), "n": min(one["n"] for one in measured)}
    if len(measured) == 1:
        return row | _some(1, len(rows), row)
    share = "test" not in row and str(row["statistic"]).startswith("prejudice_share")
    upper = (1 + confidence) / 2
    variances, degrees = [], []
    for one in measured:
        found = one.get("df")
        df = float(found) if found is not None and np.isfinite(found) else one["n"] - 1.0
        p, low, high = one["estimate"], one.get("ci_low", np.nan), one.get("ci_high", np.nan)
        # Newcombe's interval of two shares is one of large samples.
        quantile = norm.ppf(upper) if one.get("test", "").startswith("two") else t.ppf(upper, df)
        variances.append(p * (1 - p) / one["n"] if share else ((high - low) / 2 / quantile) ** 2)
        degrees.append(df)
    total = _combine(
        np.array([one["estimate"] for one in measured]), np.array(variances), row["n"], min(degrees)
    )
    row |= dict.fromkeys(("statistic_value", "df", "p_value", "effect_size"), np.nan)
    row |= {"estimate": total.estimate, "ci_low": np.nan, "ci_high": np.nan}
    if share:
        row["ci_low"], row["ci_high"] = _wilson(total, confidence)
    elif total.variance > _NO_SPREAD:
        tested = _tested(total, confidence)
        row |= tested if "test" in row else {key: tested[key] for key in ("ci_low", "ci_high")}
    elif not np.isfinite(total.variance):
        row["reason"] = intervals.ONE_VALUE
    return row | _some(total.fits, len(rows), row)


def _fits(measured: int, fits: int, row: Row) -> Row:
    """Say over how many fits a row was pooled, and where some measured nothing."""
    found: Row = {}
    if "test" in row:
        found["test"] = (
            f"{row['test']}, {measured} of {fits} fits pooled" if fits > 1 else row["test"]
        )
    return found | _some(measured, fits, row)


def _some(measured: int, fits: int, row: Row) -> Row:
    if 0 < measured < fits and not row["reason"]:
        return {"reason": f"measured in {measured} of {fits} fits"}
    return {}
