"""Intervals and tests: statsmodels and scipy, returned as small labelled tables.

Plain samples: two without a common unit, values in clusters, and what n units could show.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy import stats
from scipy.optimize import brentq
from scipy.stats import bootstrap, ttest_ind
from statsmodels.stats.power import TTestPower
from statsmodels.stats.proportion import proportion_confint
from statsmodels.stats.weightstats import DescrStatsW

#: A spread this small beside the values is rounding, not spread.
_ROUNDING = 1e-12

ONE_VALUE = "one value has no spread, so no interval"


def all_alike(values: np.ndarray) -> bool:
    """Tell whether values differ by rounding alone, so that there is no spread to test."""
    return bool(np.ptp(values) <= _ROUNDING * max(1.0, float(np.abs(values).max())))


def mean_interval(
    values: pd.Series | np.ndarray, *, confidence: float, bounds: tuple[float, float] | None = None
) -> dict[str, Any]:
    """Return a mean with its t interval.

    Parameters
    ----------
    values
        Numbers; NaN are left out and counted as lost.
    confidence
        Level of the interval, in (0, 1).
    bounds
        The least and the largest value that the mean can have; the interval stays within.

    Returns
    -------
    dict
        `estimate`, `ci_low`, `ci_high`, `n`, `n_lost`, `reason`. Without values the
        estimate is NaN, with one value the interval is; `reason` says so.
    """
    values = np.asarray(values, dtype=float)
    kept = values[~np.isnan(values)]
    row = {"n": len(kept), "n_lost": len(values) - len(kept)}
    if len(kept) == 0:
        return row | dict.fromkeys(("estimate", "ci_low", "ci_high"), np.nan) | {
            "reason": "no value was measured"
        }  # fmt: skip
    if len(kept) == 1:
        return row | {
            "estimate": float(kept[0]), "ci_low": np.nan, "ci_high": np.nan, "reason": ONE_VALUE,
        }  # fmt: skip
    described = DescrStatsW(kept)
    low, high = np.clip(
        described.tconfint_mean(alpha=1 - confidence), *(bounds or (-np.inf, np.inf))
    )
    return row | {
        "estimate": float(described.mean), "ci_low": low, "ci_high": high, "reason": None,
    }  # fmt: skip


def one_sample(
    values: pd.Series | np.ndarray, *, confidence: float, bounds: tuple[float, float] | None = None
) -> dict[str, Any]:
    """Test a mean against 0.

    Returns
    -------
    dict
        As `mean_interval`, with the t-test's `test`, `statistic_value`, `df`, `p_value`
        (two-sided) and `effect_size`, Cohen's d (the mean over the standard deviation, signed).
        The test is NaN where there are fewer than two values or all are alike.
    """
    row = mean_interval(values, confidence=confidence, bounds=bounds) | {
        "test": "one-sample t", "statistic_value": np.nan, "df": np.nan, "p_value": np.nan,
        "effect_size": np.nan,
    }  # fmt: skip
    kept = np.asarray(values, dtype=float)
    kept = kept[~np.isnan(kept)]
    if len(kept) < 2:
        return row
    spread = kept.std(ddof=1)
    if all_alike(kept):
        return row | {"reason": "all values are alike: no test"}
    t, p, df = DescrStatsW(kept).ttest_mean(0)
    return row | {
        "statistic_value": t, "df": df, "p_value": p, "effect_size": kept.mean() / spread,
    }  # fmt: skip


def paired_difference(first: pd.Series, second: pd.Series, *, confidence: float) -> dict[str, Any]:
    """Test the mean of `first - second` over the units that both have.

    Parameters
    ----------
    first, second
        Values indexed by unit. Units with a value on one side only are counted as lost.
    confidence
        Level of the interval.

    Returns
    -------
    dict
        As `mean_interval`, with the paired t-test's `test`, `statistic_value`,
        `df`, `p_value` (two-sided) and `effect_size`, Cohen's d of the differences
        (their mean over their standard deviation, signed).
    """
    both = pd.concat([first, second], axis=1, keys=["first", "second"])
    row = one_sample(both["first"] - both["second"], confidence=confidence)
    return row | {"test": "paired t"}


def swaps(settings: pd.DataFrame, *, reference: pd.Series) -> np.ndarray:
    """Tell which pairs of ranked items change places under other settings.

    Parameters
    ----------
    settings
        One row per alternative setting, one column per item, values ranked.
    reference
        The items' values under the reference setting, by item.

    Returns
    -------
    array of bool
        Settings by pairs. A pair is one that the reference orders; True where the setting
        orders it strictly the other way round. Pairs that the reference ties have no
        order to swap and are left out.
    """
    first, second = np.triu_indices(len(reference), k=1)
    # Rounded, so that noise in the last digits neither orders a tie nor swaps it.
    base = reference.to_numpy(float).round(12)
    values = settings[list(reference.index)].to_numpy(float).round(12)
    was = np.sign(base[first] - base[second])
    now = np.sign(values[:, first] - values[:, second])
    ordered = (was != 0) & ~np.isnan(was)
    return (now * was < 0)[:, ordered]


def rank_correlation(first: pd.Series, second: pd.Series, *, confidence: float) -> dict[str, float]:
    """Spearman's rank correlation with an interval.

    Returns
    -------
    dict
        `rho`, `ci_low`, `ci_high`, `n` (pairs without a gap) and `p_value` (two-sided). The
        interval is Fisher's z with the variance of Bonett and Wright (2000). NaN with fewer
        than four pairs or where one side does not vary.
    """
    both = pd.concat([first, second], axis=1).dropna().to_numpy()
    n = len(both)
    if n < 4 or (both.std(axis=0) == 0).any():
        return dict.fromkeys(("rho", "ci_low", "ci_high"), np.nan) | {"n": n, "p_value": np.nan}
    rho, p = stats.spearmanr(both[:, 0], both[:, 1])
    half = stats.norm.ppf((1 + confidence) / 2) * np.sqrt((1 + rho**2 / 2) / (n - 3))
    z = np.arctanh(np.clip(rho, -0.999999, 0.999999))
    return {
        "rho": float(rho), "ci_low": float(np.tanh(z - half)), "ci_high": float(np.tanh(z + half)),
        "n": n, "p_value": float(p),
    }  # fmt: skip


def proportion_interval(count: int, total: int, *, confidence: float) -> dict[str, Any]:
    """Return a share with its Wilson interval; NaN with a reason when there is nothing to share."""
    if total == 0:
        return dict.fromkeys(("estimate", "ci_low", "ci_high"), np.nan) | {
            "n": 0, "reason": "no unit to take a share of",
        }  # fmt: skip
    low, high = proportion_confint(count, total, alpha=1 - confidence, method="wilson")
    return {"estimate": count / total, "ci_low": low, "ci_high": high, "n": total, "reason": None}


Row = dict[str, Any]


def two_sample(
    first: pd.Series | np.ndarray, second: pd.Series | np.ndarray, *, confidence: float = 0.95
) -> pd.DataFrame:
    """Compare two independent samples by Student's and by Welch's t-test.

    The values of `first` and `second` share no unit; NaN are left out. Returns a DataFrame:
    two rows, by `test`: `estimate` (mean of the first minus that of the second), `ci_low`,
    `ci_high`, `statistic_value`, `df`, two-sided `p_value`, `effect_size` (Cohen's d
    with the pooled standard deviation, the same in both), `n_first`, `n_second`, `reason`.
    """
    a, b = (np.asarray(side, dtype=float) for side in (first, second))
    a, b = a[~np.isnan(a)], b[~np.isnan(b)]
    reason = "needs two values on each side" if min(len(a), len(b)) < 2 else None
    if reason is None and max(np.ptp(a), np.ptp(b)) <= 1e-12 * max(1.0, np.abs([*a, *b]).max()):
        reason = "on each side all values are alike: no test"
    rows = []
    for test, pooled in (("Student's t, pooled", True), ("Welch's t", False)):
        row: Row = {"test": test, "n_first": len(a), "n_second": len(b), "reason": reason}
        row["estimate"] = a.mean() - b.mean() if len(a) and len(b) else np.nan
        if reason is None:
            found = ttest_ind(a, b, equal_var=pooled)
            row |= {"statistic_value": found.statistic, "df": found.df, "p_value": found.pvalue}
            row["ci_low"], row["ci_high"] = found.confidence_interval(confidence)
            squares = len(a) * a.var() + len(b) * b.var()
            row["effect_size"] = row["estimate"] / np.sqrt(squares / (len(a) + len(b) - 2))
        rows.append(row)
    names = ["test", "estimate", "ci_low", "ci_high", "statistic_value", "df", "p_value"]
    names += ["effect_size", "n_first", "n_second", "reason"]
    return pd.DataFrame(rows).reindex(columns=names)


def cluster_bootstrap(
    values: pd.Series | np.ndarray, clusters: pd.Series | np.ndarray,
    *, draws: int, confidence: float, seed: int,
) -> Row:  # fmt: skip
    """Return a mean with its percentile interval when values come in clusters.

    `clusters` names the cluster of each value, such as its article: whole clusters are drawn, as
    often as `draws` says. With fewer than about 20 clusters the interval is too narrow. Returns
    `estimate` (mean of all values), `ci_low`, `ci_high`, `n`, `clusters`, `n_lost`, `reason`.
    """
    data = pd.DataFrame({"value": np.asarray(values, float), "cluster": np.asarray(clusters)})
    kept = data[data["value"].notna()]
    by = kept.groupby("cluster")["value"].agg(["sum", "size"])
    row: Row = {"estimate": np.nan, "ci_low": np.nan, "ci_high": np.nan}
    row |= {"n": len(kept), "clusters": len(by), "n_lost": len(data) - len(kept), "reason": None}
    if kept.empty:
        return row | {"reason": "no value was measured"}
    row["estimate"] = float(kept["value"].mean())
    if len(by) < 2:
        return row | {"reason": "one cluster has no spread, so no interval"}
    found = bootstrap(
        (by["sum"].to_numpy(float), by["size"].to_numpy(float)),
        lambda total, size, axis: total.sum(axis=axis) / size.sum(axis=axis),
        paired=True, vectorized=True, method="percentile", n_resamples=draws, batch=200,
        confidence_level=confidence, rng=np.random.default_rng(seed),
    ).confidence_interval  # fmt: skip
    return row | {"ci_low": float(found.low), "ci_high": float(found.high)}


def minimum_detectable_effect(n: int, *, power: float = 0.8, alpha: float = 0.05) -> float:
    """Return the smallest effect that a two-sided one-sample or paired t-test would likely find.

    For `n` units or pairs, in standard deviations (of the differences, for pairs); `power`: how
    likely it would be found at level `alpha`. NaN for fewer than two units.
    """
    if n < 2:
        return np.nan
    test = TTestPower()  # whose own solver gives up at few units and strict levels
    # Where an effect is so large that scipy gives up on its power, the power is 1.
    missed = lambda d: power - np.nan_to_num(test.power(d, n, alpha), nan=1.0)  # noqa: E731
    return float(brentq(missed, 0, 1e4))
