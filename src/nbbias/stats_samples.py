"""Plain samples: two without a common unit, values in clusters, and what n units could show."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy.optimize import brentq
from scipy.stats import bootstrap, ttest_ind
from statsmodels.stats.power import TTestPower

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
