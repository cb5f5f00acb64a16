"""Means and shares that were measured several times over, each time by another fit of topics.

A fit depends on its seed, so an estimate has two sources of uncertainty: the articles, and the
fit. Rubin's rules (Rubin 1987; degrees of freedom by Barnard and Rubin 1999) add the two.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import norm, t
from statsmodels.stats.proportion import proportion_confint

from nbbias import stats

Row = dict[str, Any]


class _Total(NamedTuple):
    estimate: float
    variance: float  # of the estimate: within fits and between them
    df: float
    n: int
    fits: int


def mean(
    values: pd.DataFrame, *, confidence: float, bounds: tuple[float, float] | None = None
) -> Row:
    """Return a mean over units and fits, its interval and its test against 0.

    Parameters
    ----------
    values
        Units by fits; NaN where a unit was not measured in a fit.
    confidence
        Level of the interval.
    bounds
        The least and the largest value that the mean can have; the interval stays within.

    Returns
    -------
    dict
        As `stats.one_sample`, which it equals for one fit: the `estimate` is the mean of the fits'
        means; its variance is the mean of theirs plus (1 + 1/m) times the variance between
        the m fits. `n` is the least number of units that a fit measured (fits that measured none
        do not count); `effect_size` the mean of the fits'; `test` says how many fits there were.
    """
    columns = [values[name].dropna().to_numpy(float) for name in values]
    measured = [own for own in columns if len(own)]
    if len(measured) < 2:
        only = measured[0] if measured else np.array([])
        row = stats.one_sample(only, confidence=confidence, bounds=bounds)
        return row | {"n_lost": 0} | _fits(len(measured), len(columns), row)
    per_fit = [stats.one_sample(own, confidence=confidence) for own in measured]
    total = _combine(measured, [_variance_of_mean(own) for own in measured])
    row = {"estimate": total.estimate, "ci_low": np.nan, "ci_high": np.nan, "n": total.n}
    row |= {"n_lost": 0, "test": "one-sample t", "reason": None}
    row |= dict.fromkeys(("statistic_value", "df", "p_value"), np.nan)
    row["effect_size"] = float(np.mean([own["effect_size"] for own in per_fit]))
    if not np.isfinite(total.variance):
        row["reason"] = stats.ONE_VALUE
    elif total.variance <= 1e-24:
        row |= {"ci_low": total.estimate, "ci_high": total.estimate}
        row["reason"] = "all values are alike: no test"
    else:
        error = np.sqrt(total.variance)
        half = t.ppf((1 + confidence) / 2, total.df) * error
        low, high = np.clip(
            [total.estimate - half, total.estimate + half], *(bounds or (-np.inf, np.inf))
        )
        value = total.estimate / error
        row |= {"ci_low": low, "ci_high": high, "statistic_value": value, "df": total.df}
        row["p_value"] = float(2 * t.sf(abs(value), total.df))
    return row | _fits(total.fits, len(columns), row)


def share(hits: pd.DataFrame, *, confidence: float) -> Row:
    """Return a share over units and fits with its Wilson interval.

    Parameters
    ----------
    hits
        Units by fits: 1 where it is so, 0 where not, NaN where it was not measured.
    confidence
        Level of the interval.

    Returns
    -------
    dict
        `estimate`, `ci_low`, `ci_high`, `n`, `reason`. Wilson's interval at the number of
        independent units that would give the pooled variance of `mean`; with one fit it is that
        of `stats.proportion_interval`.
    """
    columns = [hits[name].dropna().to_numpy(float) for name in hits]
    measured = [own for own in columns if len(own)]
    if len(measured) < 2:
        only = measured[0] if measured else np.array([])
        row = stats.proportion_interval(int(only.sum()), len(only), confidence=confidence)
        return row | _fits(len(measured), len(columns), row)
    total = _combine(measured, [own.mean() * (1 - own.mean()) / len(own) for own in measured])
    n: float = total.n
    if total.variance > 0:
        n = total.estimate * (1 - total.estimate) / total.variance
        upper = (1 + confidence) / 2
        n *= (norm.ppf(upper) / t.ppf(upper, total.df)) ** 2  # few fits: their spread is not known
    low, high = proportion_confint(total.estimate * n, n, alpha=1 - confidence, method="wilson")
    row = {"estimate": total.estimate, "ci_low": low, "ci_high": high, "n": total.n, "reason": None}
    return row | _fits(total.fits, len(columns), row)


def _variance_of_mean(own: np.ndarray) -> float:
    return float(own.var(ddof=1) / len(own)) if len(own) > 1 else np.nan


def _combine(measured: list[np.ndarray], variances: list[float]) -> _Total:
    """Apply Rubin's rules to two fits or more."""
    m, n = len(measured), min(map(len, measured))
    means = np.array([own.mean() for own in measured])
    within, between = float(np.mean(variances)), (1 + 1 / m) * float(means.var(ddof=1))
    variance = within + between
    part = between / variance if variance > 0 else 0.0
    complete = max(n - 1, 1)
    observed = (complete + 1) / (complete + 3) * complete * (1 - part)
    df = observed if part == 0 else 1 / (1 / max(observed, 1e-9) + part**2 / (m - 1))
    return _Total(float(means.mean()), variance, max(df, 1.0), n, m)


def _fits(measured: int, fits: int, row: Row) -> Row:
    """Say over how many fits a row was pooled, and where some measured nothing."""
    found: Row = {}
    if "test" in row:
        found["test"] = (
            f"{row['test']}, {measured} of {fits} fits pooled" if fits > 1 else row["test"]
        )
    if 0 < measured < fits and not row["reason"]:
        found["reason"] = f"measured in {measured} of {fits} fits"
    return found
