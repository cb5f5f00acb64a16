"""How many units a study takes before anything is asked: power in simulated studies.

A study is as many units drawn from a pool of simulated ones, tested as the package tests it: the
article (prompt, text) is the unit, whatever stands within it; a claim is told where its p value is
below the level after Holm's correction over all that is declared with it.

>>> pool = np.random.default_rng(0).normal(0.5, 1, (20_000, 1))
>>> found = needed(of_means(pool), wanted=0.8, sure=Sure(draws=500))
>>> 30 < found.n < 38, found.low < 0.8 < found.high
(True, True)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np

from nbbias import stats
from nbbias.calibration import repeated
from nbbias.stats import Sure

#: Given units, studies and a generator: which of so many simulated studies tell what is there.
Told: TypeAlias = Callable[[int, int, np.random.Generator], np.ndarray]

#: Units of a pool that studies are drawn from.
POOL = 20_000

#: Units above which no study is planned.
MOST = 50_000


class Found(NamedTuple):
    """The units of a study and its power, the share of simulated studies, with its interval.

    Examples
    --------
    >>> Found(80, 0.8, 0.78, 0.82).n
    80
    """

    n: int
    power: float
    low: float
    high: float


def power(told: Told, n: int, *, sure: Sure) -> Found:
    """Return how often studies of so many units tell what is there.

    Parameters
    ----------
    told
        Simulates studies.
    n
        Units of each.
    sure
        Level of the interval; simulated studies, and their start.

    Examples
    --------
    >>> even = lambda n, studies, rng: rng.random(studies) < 0.5
    >>> 0.4 < power(even, 10, sure=Sure(draws=500)).power < 0.6
    True
    """
    hits = told(n, sure.draws, np.random.default_rng([sure.seed, n]))
    row = stats.proportion_interval(int(hits.sum()), len(hits), confidence=sure.confidence)
    return Found(n, row["estimate"], row["ci_low"], row["ci_high"])


def needed(told: Told, *, wanted: float, sure: Sure) -> Found | None:
    """Return the least number of units that reaches a power, to about a hundredth.

    Parameters
    ----------
    told
        Simulates studies.
    wanted
        The power.
    sure
        As in `power`.

    Returns
    -------
    Found or None
        None where `MOST` units do not reach it.

    Examples
    --------
    >>> needed(lambda n, studies, rng: np.zeros(studies, bool), wanted=0.8, sure=Sure()) is None
    True
    """

    def enough(n: int) -> bool:
        return power(told, n, sure=sure).power >= wanted

    n = stats.least(enough, most=MOST)
    # Studies of its own: those that stopped the search were chosen for their power.
    return None if n is None else power(told, n, sure=sure._replace(seed=sure.seed + 1))


def of_means(
    pool: np.ndarray, *, confidence: float = 0.95, others: int = 0, fewest: int = 2
) -> Told:
    """Simulate studies that test means against 0, and tell of the first model what is there.

    Parameters
    ----------
    pool
        Units by models; NaN where a unit is lost, which it is for all models: they are compared on
        common units.
    confidence
        1 less it is the level of the tests.
    others
        Further tests in the family, of which nothing is true.
    fewest
        Units that must be left for a test.

    Examples
    --------
    >>> told = of_means(np.random.default_rng(0).normal(1, 1, (500, 3)))
    >>> told(100, 20, np.random.default_rng(1)).all()
    np.True_
    """
    values = np.where(np.isfinite(pool).all(axis=1, keepdims=True), pool, np.nan)

    def told(n: int, studies: int, rng: np.random.Generator) -> np.ndarray:
        found = []
        for size in stats.blocks(studies, each=n * pool.shape[1]):
            drawn = values[rng.integers(len(pool), size=(size, n))]
            rows = [repeated.means(own, confidence=confidence) for own in np.moveaxis(drawn, 2, 0)]
            p = [row["p_value"].where(row["n"] >= fewest).fillna(1.0) for row in rows]
            found.append(first_of_family(np.column_stack(p), others, confidence, rng))
        return np.concatenate(found)

    return told


def first_of_family(
    p: np.ndarray, others: int, confidence: float, rng: np.random.Generator
) -> np.ndarray:
    """Tell where the first of several tests is below the level after Holm's correction.

    Parameters
    ----------
    p
        Studies by tests.
    others
        Further tests of each family, independent, of which nothing is true.
    confidence
        1 less it is the level.
    rng
        Draws the others.

    Examples
    --------
    >>> p = np.array([[0.01, 0.2], [0.03, 0.2], [0.03, 0.02]])
    >>> first_of_family(p, 0, 0.95, np.random.default_rng(0)).tolist()
    [True, False, True]
    """
    family = np.hstack([p, rng.random((len(p), others))])
    ordered = np.sort(family, axis=1)
    passed = ordered * np.arange(family.shape[1], 0, -1) < 1 - confidence
    told = np.logical_and.accumulate(passed, axis=1).sum(axis=1)
    last = np.take_along_axis(ordered, np.maximum(told - 1, 0)[:, None], axis=1)[:, 0]
    return (told > 0) & (p[:, 0] <= last)
