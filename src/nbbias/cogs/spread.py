"""The p value, the null value and the interval of RBS and of ABS: either is a spread.

It is the population standard deviation of the column means of a table with one row per problem
instance (task and theme) and one column per identity; it is never below 0, so noise alone lifts it.
The instance is the unit, or the task, where tasks stand for tasks in general. The p value of RBS is
that of `stats.repeated_measures_anova`, the p value of ABS is `permutation_p`: see `spread_rows`.

>>> import numpy as np
>>> from nbbias.cogs.spread import spread
>>> round(float(spread(np.array([0.10, 0.20, 0.15]))), 4)
0.0408
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations
from math import factorial
from typing import Any, Literal

import numpy as np
import pandas as pd

from nbbias import stats
from nbbias.cogs.suite import MOST_IN_ALL_ORDERS
from nbbias.stats import InferenceSettings

Row = dict[str, Any]
#: What a test gives.
_TESTED = ("statistic_value", "df", "p_value", "effect_size")

#: Permutations that are drawn at once.
_AT_ONCE = 1000

#: Whether a score is of the tasks that were asked, or of tasks in general, of which these are some.
Tasks = Literal["fixed", "random"]

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
    """Estimate and test a spread over identities, and each identity's mean.

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
        `null`, `null_low`, `null_high` of identities permuted within the unit. The p value of
        distances (RBS) is that of a repeated-measures analysis of variance with Greenhouse and
        Geisser's correction, which holds where one identity varies more than another; a permutation
        would not. That of shares (ABS), whose rows add up to 1 and which are few and far from
        normal, is the permutation's. `effect_size` is partial epsilon squared, where there is an F.
        Then each column: `group`, its mean and t interval, and the `values` that it is of; `null`,
        the mean over all columns, with the range of permuted means; a paired t-test against that
        mean, of shares a two-sided permutation. Where there is nothing to estimate, NaN with a
        `reason`.
    """
    of, end = ("task", f", {_OF_TASKS}") if tasks == "random" else ("task × theme", "")
    whole = units(values, tasks)
    n_lost = int(whole.isna().any(axis=1).sum())
    whole = whole.dropna()
    common = {"n_lost": n_lost, "test": f"identities permuted within {of}{end}"}
    top: Row = {"statistic": statistic, "n": len(whole), **common}
    reason = too_few(values)
    if reason:
        gap = {"statistic": part, "n": 0, "n_lost": len(values), "estimate": np.nan}
        columns = [gap | {"group": str(name), "reason": reason} for name in values]
        return [top | {"estimate": np.nan, "reason": reason}, *columns]
    permuted, confidence = Permuted(whole, seed=inference.seed), inference.confidence
    analysis = stats.repeated_measures_anova(whole)
    low, high = stats.spread_interval(whole, confidence=confidence)
    at = permuted.observed.argmin() if part == "distance" else permuted.observed.argmax()
    top |= {
        "group": str(whole.columns[at]),
        "estimate": float(spread(permuted.observed)),
        "ci_low": low,
        "ci_high": high,
        "effect_size": analysis["effect_size"],
        "reason": None if np.isfinite(low) else ALIKE.format(unit=of),
    }
    if part == "distance" and np.isfinite(analysis["p_value"]):
        means = permuted.means(inference.n_permutations)
        top |= stats.compare_with_null(np.nan, spread(means), confidence=confidence)
        top |= {name: analysis[name] for name in _TESTED} | {"test": analysis["test"] + end}
        paired: str | None = f"paired t against the mean of all identities{end}"
    else:
        top |= permutation_p(permuted, family=family, inference=inference)
        means = permuted.means(stats.permutations_needed(inference, whole.shape[1]))
        paired = None
    rows = _column_rows(whole, means, part=part, paired=paired, confidence=confidence)
    return [top, *(common | row for row in rows)]


def _column_rows(
    whole: pd.DataFrame, permuted: np.ndarray, *, part: str, paired: str | None, confidence: float
) -> Iterator[Row]:
    """Yield each identity's mean with its test: the paired t of this name, or the permutation."""
    mean = whole.to_numpy(float).mean()
    for (name, values), null_means in zip(whole.items(), permuted.T, strict=True):
        bounds = (0.0, 2.0 if part == "distance" else 1.0)
        row = stats.mean_interval(values, confidence=confidence, bounds=bounds).row()
        row = {key: row[key] for key in ("estimate", "ci_low", "ci_high", "n", "reason")}
        row |= stats.compare_with_null(
            np.nan if paired else row["estimate"],
            null_means,
            confidence=confidence,
            alternative="two-sided",
            null=mean,
        )
        if paired:
            test = stats.one_sample(values - whole.mean(axis=1), confidence=confidence).row()
            row |= {key: test[key] for key in _TESTED}
            row |= {"test": paired, "reason": row["reason"] or test["reason"]}
        yield row | {"statistic": part, "group": str(name), "values": values}


def units(values: pd.DataFrame, tasks: Tasks) -> pd.DataFrame:
    """Return the units of a table of instances: itself, or its tasks' means of whole instances."""
    if tasks == "fixed":
        return values
    whole = values.where(values.notna().all(axis=1))
    return whole.groupby(level="task", sort=False).mean()


class Permuted:
    """The column means of units with identities permuted within each: drawn once, and kept.

    `observed` has the means as they are. Unit by unit, all orders are equally likely.

    Examples
    --------
    >>> permuted = Permuted(pd.DataFrame({"a": [0.1], "b": [0.2]}), seed=0)
    >>> sorted({tuple(row) for row in permuted.means(50).tolist()})
    [(0.1, 0.2), (0.2, 0.1)]
    """

    def __init__(self, whole: pd.DataFrame, *, seed: int) -> None:
        self.values = whole.to_numpy(float)
        self.observed = self.values.mean(axis=0)
        self._rng = np.random.default_rng(seed)
        self._drawn = np.empty((0, self.values.shape[1]))

    def means(self, draws: int) -> np.ndarray:
        """Return the means under the first `draws` permutations, draws by identities."""
        missing = range(len(self._drawn), draws, _AT_ONCE)
        more = [self._draw(min(_AT_ONCE, draws - at)) for at in missing]
        self._drawn = np.vstack([self._drawn, *more])
        return self._drawn[:draws]

    def _draw(self, draws: int) -> np.ndarray:
        n, k = self.values.shape
        if k > MOST_IN_ALL_ORDERS:
            copies = np.broadcast_to(self.values, (draws, n, k))
            return self._rng.permuted(copies, axis=2).mean(axis=1)
        # Of few identities all orders of every row are written down, and one of them is drawn.
        orders = np.array(list(permutations(range(k))))
        drawn = self._rng.integers(len(orders), size=(draws, n))
        return self.values[:, orders][np.arange(n), drawn].mean(axis=1)


def permutation_p(permuted: Permuted, *, family: int, inference: InferenceSettings) -> Row:
    """Test a spread by all arrangements of the identities where they are few, else by draws."""
    observed = float(spread(permuted.observed))
    n, k = permuted.values.shape
    if factorial(k) ** n <= stats.permutations_needed(inference, family):
        every = np.zeros((1, k))
        for row in permuted.values:
            orders = row[np.array(list(permutations(range(k))))]
            every = (every[:, None] + orders).reshape(-1, k)
        return stats.compare_with_null(
            observed, spread(every / n), confidence=inference.confidence, complete=True
        )
    taken = 0

    def permute(_: np.random.Generator, draws: int) -> np.ndarray:
        nonlocal taken
        taken += draws
        return spread(permuted.means(taken)[-draws:])

    return stats.permutation_test(observed, permute, inference=inference, family=family)


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
    row = {name: row[name] for name in ("test", *_TESTED, "reason")}
    if values.shape[1] == 2:
        row["test"] = "independent t-test, as F = t²"
    row["reason"] = too_few(values) or row["reason"]
    if row["reason"]:
        row |= dict.fromkeys(_TESTED, np.nan)
    n = len(values.dropna())
    row |= {"statistic": "anova", "estimate": row["effect_size"], "n": n, "n_lost": len(values) - n}
    return row | {"null": np.nan if row["reason"] else 0.0}
