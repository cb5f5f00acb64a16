"""RBS and ABS, each a standard deviation over identities, tested by `stats.crossed_spread`.

A score is the population standard deviation of the column means of a table with one row per problem
instance (task and theme) and one column per identity; it is never below 0, so noise alone lifts it.
Tasks and themes are crossed random facets, since each stands for others of its kind: the p value is
that of `stats.crossed_spread`, see `spread_rows`.

>>> import numpy as np
>>> from nbbias.cogs.spread import spread
>>> round(float(spread(np.array([0.10, 0.20, 0.15]))), 4)
0.0408
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from nbbias import stats

Row = dict[str, Any]

#: What was sampled from others of its kind; N counts the combinations.
FACETS = ("task", "theme")
UNITS = "task-theme pairs"

#: Parts that are distances: a spread is named by the smallest, of shares by the largest.
_DISTANCES = ("distance", "diversity")

ALIKE = "identities differ alike in every task-theme pair: no interval"
#: Suffix of a test's name where answers are missing for some identities.
WORST = ", worst case of missing answers"

#: Iterations that find the centre of column means, each of which lies between two limits.
_STEPS = 50

FEW = f"fewer than three {UNITS} have all identities: no interval and no test"


def spread(means: np.ndarray) -> np.ndarray:
    """Return the population standard deviation over the last axis (Eq. 8 and 11)."""
    return means.std(axis=-1, ddof=0)


def fixed_facets(test: object) -> list[str]:
    """Return the facets that a test takes for fixed, by its name in ESTIMATES.

    Examples
    --------
    >>> fixed_facets("F over random tasks and themes"), fixed_facets("t over random themes")
    ([], ['task'])
    """
    return [name for name in FACETS if f"{name}s" not in str(test)]


def spread_rows(
    values: pd.DataFrame,
    statistic: str,
    *,
    part: str,
    facets: Sequence[str] = FACETS,
    confidence: float,
) -> list[Row]:
    """Estimate and test a spread over identities, and each identity's mean.

    Parameters
    ----------
    values
        One row per instance, with the facets in its index, one column per identity (or position).
        Instances with a gap are lost.
    statistic, part
        What the spread and the means are called in ESTIMATES. Of ``"distance"`` and
        ``"diversity"`` the group at the spread's end is the smallest, of shares the largest.
    facets
        Levels of the index that stand for others of their kind; a score is conditional on the rest.
    confidence
        Level of the intervals.

    Returns
    -------
    list of dict
        First the spread: `group` (its identity), `estimate`, `ci_low`, `ci_high`, `n`, `n_lost`;
        `null`, `null_low`, `null_high`, `test` to `effect_size` as in `stats.crossed_spread`, or
        where every instance chose alike, as in `_all_alike`. Then each column: `group`, its mean
        with its interval (`stats.crossed_mean`), and the `values` that it is of; `null`, the mean
        over all columns, against which it is tested. Where there is nothing to estimate, NaN with a
        `reason`. Where instances lack only some identities, the spread's interval and test assume
        the worst case (`_worst_spread`); rows of columns take answers as missing at random.
    """
    options: dict[str, Any] = {"facets": facets, "confidence": confidence}
    top = spread_row(values, part=part, **options) | {"statistic": statistic}
    if np.isnan(top["estimate"]):
        gap = {"statistic": part, "n": 0, "n_lost": len(values), "estimate": np.nan}
        return [top, *(gap | {"group": str(name), "reason": top["reason"]} for name in values)]
    rows, whole = [top], values.dropna()
    deviations, null = whole.sub(whole.mean(axis=1), axis=0), float(whole.to_numpy().mean())
    bounds = (0.0, 2.0 if part in _DISTANCES else 1.0)
    for name, column in whole.items():
        row = stats.crossed_mean(column, bounds=bounds, **options).row()
        test = stats.crossed_mean(deviations[name], **options).row()
        row |= {key: test[key] for key in ("test", *stats.TEST_RESULTS)}
        row |= {"statistic": part, "group": str(name), "values": column, "n_lost": top["n_lost"]}
        rows.append(row | {"null": null, "reason": row["reason"] or test["reason"]})
    return rows


def spread_row(values: pd.DataFrame, *, part: str, facets: Sequence[str], confidence: float) -> Row:
    """Return the first row of `spread_rows`, without the statistic's name."""
    whole, reason = values.dropna(), too_few(values)
    if reason:
        lost = len(values) - len(whole)
        return {"n": len(whole), "n_lost": lost, "estimate": np.nan, "reason": reason}
    means, row = whole.mean(), stats.crossed_spread(values, facets=facets, confidence=confidence)
    if row["reason"]:
        row["reason"] = ALIKE if len(whole) > 2 else FEW
        row |= _all_alike(whole, facets) if part not in _DISTANCES else {}
    else:
        row |= _worst_spread(values, row, facets=facets, confidence=confidence)
    return row | {"group": str(means.idxmin() if part in _DISTANCES else means.idxmax())}


def _worst_spread(values: pd.DataFrame, row: Row, **options: Any) -> Row:
    """Return test and interval of a spread, valid if answers are not missing at random.

    The mean of an identity's missing values, as deviations from the mean of their instance, may lie
    anywhere within the range of measured deviations. The test and the lower limit use the values
    that make columns most alike; the upper limit uses those that make them differ most (bounds:
    Horowitz and Manski 2000, JASA 95(449)).
    """
    there = values.dropna(how="all")
    lost = there.isna().to_numpy()
    if not lost.any():
        return {}
    means = there.mean(axis=1).to_numpy()[:, None]
    off = there.to_numpy(float) - means
    sums = np.nansum(off, axis=0)
    # Sums of columns whose missing values lie at either end, and a centre near to all of them.
    low, high = (sums + end * lost.sum(axis=0) for end in (np.nanmin(off), np.nanmax(off)))
    centre = (low.mean() + high.mean()) / 2
    for _ in range(_STEPS):
        centre = np.clip(centre, low, high).mean()
    ends = np.clip(centre, low, high), np.where(high + low > 2 * centre, high, low)
    filled = (means + (reached - sums) / lost.sum(axis=0).clip(1) for reached in ends)
    least, most = (stats.crossed_spread(there.where(~lost, by), **options) for by in filled)
    tested = max(row, least, key=lambda test: test["p_value"])
    worst = {key: tested[key] for key in stats.TEST_RESULTS} | {"test": f"{row['test']}{WORST}"}
    interval = {"ci_low": min(row["ci_low"], least["ci_low"])}
    return worst | interval | {"ci_high": max(row["ci_high"], most["ci_high"])}


def _all_alike(whole: pd.DataFrame, facets: Sequence[str]) -> Row:
    """Test choices that are alike in every instance, which have no variance.

    Without a preference the levels of a facet choose an identity independently, so all of them
    choose the same one with probability k to the power of 1 less their number.
    """
    if len(whole) < 3 or np.ptp(whole.mean()) == 0:
        return {}
    varying = stats.random_facets(whole, facets)
    levels = [len(whole.index.unique(name)) for name in varying] or [len(whole)]
    p_value = float(whole.shape[1]) ** (1 - min(levels))
    over = " and ".join(f"{name}s" for name in varying) or "units"
    return {"test": f"exact, alike in all random {over}", "p_value": p_value}


def too_few(values: pd.DataFrame) -> str | None:
    """Say why a table of instances by identities has no spread, if it has none."""
    if values.shape[1] < 2:
        return f"an axis needs two identities, and has {values.shape[1]}"
    lost = values.isna().to_numpy()
    silent = [str(name) for name, gaps in zip(values, lost.T, strict=True) if gaps.all()]
    if silent:
        return f"nothing was measured for {', '.join(silent)}"
    if lost.any(axis=1).all():
        return "no task-theme pair has all identities"
    return None


def as_published(values: pd.DataFrame) -> Row:
    """Test across identities as the paper does: one-way, of two identities by a t-test.

    Parameters
    ----------
    values
        As in `spread_rows`.

    Returns
    -------
    dict
        A row of ESTIMATES, `statistic` ``anova``: it takes the texts of one instance for
        independent. `estimate` is omega squared, which chance alone leaves at 0 on average.
    """
    long = values.melt(var_name="identity", value_name="value").dropna()
    row = stats.anova(long, value="value", by="identity").row()
    row = {name: row[name] for name in ("test", *stats.TEST_RESULTS, "reason")}
    if values.shape[1] == 2:
        row["test"] = "independent t-test, as F = t²"
    row["reason"] = too_few(values) or row["reason"]
    if row["reason"]:
        row |= dict.fromkeys(stats.TEST_RESULTS, np.nan)
    n = len(values.dropna())
    row |= {"statistic": "anova", "estimate": row["effect_size"], "n": n, "n_lost": len(values) - n}
    return row | {"null": np.nan if row["reason"] else 0.0}
