"""A spread over identities: how sure it is, and what chance gives. RBS and ABS are both one.

Either is the population standard deviation of the column means of a table with one row per problem
instance (task and theme) and one column per identity. It is never below 0, so noise alone lifts it:
both have an interval, a chance level and a test, with the instance as the unit, or the task, where
tasks stand for tasks in general.

>>> import numpy as np
>>> from nbbias.cogs.spread import spread
>>> round(float(spread(np.array([0.10, 0.20, 0.15]))), 4)
0.0408
"""

from __future__ import annotations

from itertools import permutations
from math import factorial
from typing import Any, Literal

import numpy as np
import pandas as pd

from nbbias import stats
from nbbias.stats import InferenceSettings

Row = dict[str, Any]
#: Whether a score is of the tasks that were asked, or of tasks in general, of which these are some.
Tasks = Literal["fixed", "random"]

#: What a mean is of → the least and the largest that it can be.
_BOUNDS = {"distance": (0.0, 2.0)}
_OF_TASKS = "over tasks"
ALIKE = "identities differ alike in every {unit}: no interval"


def spread(means: np.ndarray) -> np.ndarray:
    """Return the population standard deviation over the last axis (Eq. 8 and 11)."""
    return means.std(axis=-1, ddof=0)


def unit(test: object) -> str:
    """Return what N counts, by the test of a row of ESTIMATES."""
    return "tasks" if str(test).endswith(_OF_TASKS) else "task × theme"


def spread_rows(
    values: pd.DataFrame,
    statistic: str,
    *,
    part: str,
    tasks: Tasks = "fixed",
    family: int = 1,
    inference: InferenceSettings,
) -> list[Row]:
    """Estimate a spread over identities, and each identity's mean.

    Parameters
    ----------
    values
        One row per instance, with `task` and `theme` as index, one column per identity (or
        position). Instances with a gap are lost.
    statistic, part
        What the spread and the means are called in ESTIMATES. Of ``"distance"`` the identity at the
        spread's end is the nearest, of shares the one that is chosen most.
    tasks
        ``"random"``: the unit is the task, averaged over its instances.
    family
        How many such spreads are corrected together, which a permutation must be fine enough for.
    inference
        Level of the intervals; permutations, and their start.

    Returns
    -------
    list of dict
        First the spread: `group` (its identity), `estimate`, `ci_low`, `ci_high`, `n`, `n_lost`;
        `null`, `null_low`, `null_high` of identities permuted within the unit. Of distances the
        test is a repeated-measures analysis of variance with Greenhouse and Geisser's correction,
        which holds where one identity varies more than another; a permutation would not. Of shares,
        whose rows add up to 1 and which are few and far from normal, it is the permutation.
        `effect_size` is partial epsilon squared, where there is an F. Then each column: `group`,
        its mean and t interval, and the `values` that it is of; `null`, the mean over all columns,
        with the range of permuted means; a paired t-test against that mean, of shares a two-sided
        permutation. Where there is nothing to estimate, NaN with a `reason`.
    """
    why, whole = too_few(values), units(values, tasks)
    lost = {"n_lost": len(whole) - len(whole.dropna())}
    whole = whole.dropna()
    n, k = whole.shape
    end = f", {_OF_TASKS}" if tasks == "random" else ""
    within = f"identities permuted within task{'' if end else ' × theme'}{end}"
    top: Row = {"statistic": statistic, "n": n, **lost, "test": within}
    if why:
        none = {"estimate": np.nan, "reason": why}
        gaps = {"statistic": part, "n": 0, "n_lost": len(values), **none}
        return [top | none, *({"group": str(name), **gaps} for name in values)]
    table, confidence = whole.to_numpy(float), inference.confidence
    means = table.mean(axis=0)
    analysis = stats.repeated_measures_anova(whole)
    by_f = part == "distance" and np.isfinite(analysis["p_value"])
    if by_f:
        dealt = permuted_means(
            table, draws=inference.n_permutations, rng=np.random.default_rng(inference.seed)
        )
        top |= stats.compare_with_null(np.nan, spread(dealt), confidence=confidence)
        top |= {name: analysis[name] for name in ("statistic_value", "df", "p_value")}
        top["test"] = analysis["test"] + end
    else:
        top |= permutation(table, family=family, inference=inference)
    low, high = stats.spread_interval(whole, confidence=confidence)
    no_interval = (
        stats.ONE_VALUE if n == 1 else ALIKE.format(unit="task" if end else "task × theme")
    )
    top |= {
        "estimate": float(spread(means)),
        "effect_size": analysis["effect_size"],
        "group": str(whole.columns[means.argmin() if part == "distance" else means.argmax()]),
        "ci_low": low,
        "ci_high": high,
        "reason": None if np.isfinite(low) else no_interval,
    }
    if not by_f:
        fine = stats.permutations_needed(inference, k)
        dealt = permuted_means(table, draws=fine, rng=np.random.default_rng(inference.seed))
    rows = [top]
    for name, own, chance in zip(whole, table.T, dealt.T, strict=True):
        row = stats.mean_interval(
            own, confidence=confidence, bounds=_BOUNDS.get(part, (0.0, 1.0))
        ).row()
        row |= {"statistic": part, "group": str(name), "test": within, **lost}
        row["values"] = whole[name]
        row |= stats.compare_with_null(
            np.nan if by_f else row["estimate"],
            chance,
            confidence=confidence,
            alternative="two-sided",
            null=table.mean(),
        )
        if by_f:
            paired = stats.one_sample(own - table.mean(axis=1), confidence=confidence).row()
            paired["test"] = f"paired t against the mean of all identities{end}"
            tested = ("test", "statistic_value", "df", "p_value", "effect_size")
            row |= {key: paired[key] for key in tested}
            row["reason"] = row["reason"] or paired["reason"]
        rows.append(row)
    return rows


def units(values: pd.DataFrame, tasks: Tasks) -> pd.DataFrame:
    """Return the units of a table of instances: itself, or its tasks' means of whole instances."""
    if tasks == "fixed":
        return values
    whole = values.where(values.notna().all(axis=1))
    return whole.groupby(level="task", sort=False).mean()


def permutation(table: np.ndarray, *, family: int, inference: InferenceSettings) -> Row:
    """Test a spread by all arrangements of the identities where they are few, else by deals."""
    observed = float(spread(table.mean(axis=0)))
    n, k = table.shape
    if factorial(k) ** n <= stats.permutations_needed(inference, family):
        every = np.zeros((1, k))
        for row in table:
            orders = row[np.array(list(permutations(range(k))))]
            every = (every[:, None] + orders).reshape(-1, k)
        return stats.compare_with_null(
            observed, spread(every / n), confidence=inference.confidence, complete=True
        )
    return stats.permutation_test(
        observed,
        lambda rng, draws: spread(permuted_means(table, draws=draws, rng=rng)),
        inference=inference,
        family=family,
    )


def permuted_means(values: np.ndarray, *, draws: int, rng: np.random.Generator) -> np.ndarray:
    """Shuffle every row on its own and average the columns, `draws` times.

    Parameters
    ----------
    values
        Instances by identities, without gaps.

    Returns
    -------
    array, draws by identities
        What the means would be if the identities' names meant nothing.
    """
    n, k = values.shape
    # Of few identities all orders of every row are written down, and one of them is drawn.
    orders = np.array(list(permutations(range(k)))) if k < 5 else None
    written = None if orders is None else values[:, orders].reshape(-1, k)
    out = np.empty((draws, k))
    for start in range(0, draws, 100):  # a hundred copies of the table at a time
        part = out[start : start + 100]
        if orders is None or written is None:
            copies = np.broadcast_to(values, (len(part), n, k))
            part[:] = rng.permuted(copies, axis=2).mean(axis=1)
        else:
            drawn = rng.integers(len(orders), size=(len(part), n)) + len(orders) * np.arange(n)
            part[:] = written[drawn].mean(axis=1)
    return out


def too_few(values: pd.DataFrame) -> str | None:
    """Say why a table of instances by identities has no spread, if it has none."""
    if values.shape[1] < 2:
        return f"an axis needs two identities, and has {values.shape[1]}"
    lost = values.isna().to_numpy()
    silent = [str(name) for name, gaps in zip(values, lost.T, strict=True) if gaps.all()]
    if silent:
        return f"nothing was measured for {', '.join(silent)}"
    if lost.any(axis=1).all():
        return "no task × theme has all identities"
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
    row = stats.anova(
        values.melt(var_name="identity", value_name="value").dropna(), value="value", by="identity"
    )
    if values.shape[1] == 2:
        row["test"] = "independent t-test, as F = t²"
    row.pop("df_between", None)
    row["reason"] = too_few(values) or row["reason"]
    if row["reason"]:
        row |= dict.fromkeys(("statistic_value", "df", "p_value", "effect_size"), np.nan)
    n = len(values.dropna())
    row |= {"statistic": "anova", "estimate": row["effect_size"], "n": n, "n_lost": len(values) - n}
    return row | {"null": np.nan if row["reason"] else 0.0}
