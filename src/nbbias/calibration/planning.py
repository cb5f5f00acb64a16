"""How many units a study takes before anything is asked: power in simulated studies.

A study is as many units drawn from a pool of simulated ones, tested as the package tests it: the
article (prompt, text) is the unit, whatever stands within it; a claim is told where its p value is
below the level after Holm's correction over all that is declared with it.

>>> pool = np.random.default_rng(0).normal(0.5, 1, (20_000, 1))
>>> found = needed(of_means(pool), wanted=0.8, inference=InferenceSettings(n_permutations=500))
>>> 30 < found.n < 38, found.low < 0.8 < found.high
(True, True)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np
from scipy.stats import binom, chi2, f
from statsmodels.stats.proportion import proportion_confint

from nbbias import stats
from nbbias.calibration import repeated
from nbbias.stats import InferenceSettings

#: Given units, studies and a generator: which of so many simulated studies tell what is there.
Told: TypeAlias = Callable[[int, int, np.random.Generator], np.ndarray]

#: As in `stats.two_phase`.
_DRAWN = 2

#: Units of a pool that studies are drawn from.
POOL = 20_000

#: Units above which no study is planned.
MOST = 50_000

#: Units that a step of the search simulates at most: of large studies fewer are needed.
_SEARCHED = 40_000_000


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


def power(told: Told, n: int, *, inference: InferenceSettings) -> Found:
    """Return how often studies of so many units tell what is there.

    Parameters
    ----------
    told
        Simulates studies.
    n
        Units of each.
    inference
        Level of the interval; simulated studies, and their start.

    Examples
    --------
    >>> even = lambda n, studies, rng: rng.random(studies) < 0.5
    >>> 0.4 < power(even, 10, inference=InferenceSettings(n_permutations=500)).power < 0.6
    True
    """
    hits = told(n, inference.n_permutations, np.random.default_rng([inference.seed, n]))
    row = stats.proportion_interval(
        int(hits.sum()), len(hits), confidence=inference.confidence
    ).row()
    return Found(n, row["estimate"], row["ci_low"], row["ci_high"])


def needed(told: Told, *, wanted: float, inference: InferenceSettings) -> Found | None:
    """Return the least number of units that reaches a power, to about a hundredth.

    Parameters
    ----------
    told
        Simulates studies.
    wanted
        The power.
    inference
        As in `power`.

    Returns
    -------
    Found or None
        None where `MOST` units do not reach it.

    Examples
    --------
    >>> never = lambda n, studies, rng: np.zeros(studies, bool)
    >>> needed(never, wanted=0.8, inference=InferenceSettings()) is None
    True
    """

    def enough(n: int) -> bool:
        studies = max(min(inference.n_permutations, _SEARCHED // n), 100)
        return power(told, n, inference=inference._replace(n_permutations=studies)).power >= wanted

    n = stats.smallest_sufficient(enough, most=MOST)
    # Studies of its own: those that stopped the search were chosen for their power.
    return (
        None if n is None else power(told, n, inference=inference._replace(seed=inference.seed + 1))
    )


def of_means(
    pool: np.ndarray,
    *,
    confidence: float = 0.95,
    others: int = 0,
    fewest: int = 2,
    common: bool = True,
) -> Told:
    """Simulate studies that test means against 0, and tell of the first model what is there.

    Parameters
    ----------
    pool
        Units by models; NaN where a unit is lost.
    confidence
        1 less it is the level of the tests.
    others
        Further tests in the family, of which nothing is true.
    fewest
        Units that must be left for a test.
    common
        Whether a unit that one model loses is lost to all: they are compared on common units.

    Examples
    --------
    >>> told = of_means(np.random.default_rng(0).normal(1, 1, (500, 3)))
    >>> told(100, 20, np.random.default_rng(1)).all()
    np.True_
    """
    whole = np.isfinite(pool).all(axis=1, keepdims=True)
    values = np.where(whole | (not common), pool, np.nan)

    def told(n: int, studies: int, rng: np.random.Generator) -> np.ndarray:
        found = []
        for size in stats.split_batches(studies, size_each=n * pool.shape[1]):
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


# --- the tests of many studies at once --------------------------------------------------------


def within_units(values: np.ndarray) -> np.ndarray:
    """Return the p values of `stats.repeated_measures_anova`: studies by units by conditions.

    Examples
    --------
    >>> table = [[8.0, 7, 1], [9, 5, 2], [6, 2, 3], [5, 3, 1], [8, 4, 5]]
    >>> within_units(np.array([table])).round(4).tolist()
    [0.0171]
    """
    _, n, k = values.shape
    if n < 3:
        return np.ones(len(values))
    means = values.mean(axis=1)
    grand = means.mean(axis=1)
    rest = values - means[:, None] - values.mean(axis=2)[:, :, None] + grand[:, None, None]
    between = n * ((means - grand[:, None]) ** 2).sum(axis=1) / (k - 1)
    within = (rest**2).sum(axis=(1, 2)) / ((k - 1) * (n - 1))
    # What is left is centred both ways: its covariances are those of Greenhouse and Geisser.
    spread = np.einsum("sni,snj->sij", rest, rest)
    trace = np.trace(spread, axis1=1, axis2=2)
    even = trace**2 / ((k - 1) * (spread**2).sum(axis=(1, 2)))
    return f.sf(between / within, even * (k - 1), even * (k - 1) * (n - 1))


def permuted_within(values: np.ndarray) -> np.ndarray:
    """Return p values of column means by permutation within rows, in their limit of many rows.

    Under permutation the sum of squares of the means is a chi-squared on the scale of the rows'
    own variances. Where no row varies nothing is told: 1.

    Parameters
    ----------
    values
        Studies by units by conditions.

    Examples
    --------
    >>> permuted_within(np.array([[[1.0, 0], [1, 0], [1, 0], [0, 1]]])).round(3).tolist()
    [0.317]
    """
    _, n, k = values.shape
    means = values.mean(axis=1)
    between = n**2 * ((means - means.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)
    rows = values.var(axis=2, ddof=1).sum(axis=1)
    ratio = np.divide(between, rows, out=np.zeros(len(values)), where=rows > 0)
    return chi2.sf(ratio, k - 1)


def mcnemar(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return McNemar's p of texts on which just the first, or just the second, judge is right.

    Exact below 25 of them, else with the continuity correction, as `biasalert` tests.

    Examples
    --------
    >>> mcnemar(np.array([6, 40]), np.array([0, 20])).round(4).tolist()
    [0.0312, 0.0142]
    """
    both, more = first + second, np.maximum(first, second)
    exact = np.minimum(2 * binom.sf(more - 1, both, 0.5), 1.0)
    gap = np.abs(first - second) - 1
    square = np.divide(gap**2, both, out=np.zeros(len(both)), where=both > 0)
    return np.where(both < 25, exact, chi2.sf(square, 1))


def two_phase(
    kinds: np.ndarray, labelled: np.ndarray, *, confidence: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of `stats.two_phase`, of a judge that judged every answer.

    Parameters
    ----------
    kinds
        Studies by four counts of answers: biased and flagged, biased and passed, unbiased and
        flagged, unbiased and passed.
    labelled
        The same of the answers that people labelled, at least one a study.
    confidence
        Level of the interval.

    Examples
    --------
    >>> ends = two_phase(np.array([[30, 0, 0, 70]]), np.array([[6, 0, 0, 14]]), confidence=0.95)
    >>> [float(end[0].round(2)) for end in ends]
    [0.18, 0.45]
    """
    answers = kinds.sum(axis=1)[:, None]
    size = (kinds[:, :2] + kinds[:, 2:]) / answers
    held = labelled[:, :2] + labelled[:, 2:]
    labels = held.sum(axis=1)[:, None]
    overall = labelled[:, :2].sum(axis=1)[:, None] / labels
    rate = np.where(held > 0, labelled[:, :2] / np.maximum(held, 1), overall)
    middle = (overall * labels + 0.5) / (labels + 1)
    drawn = (held * rate + _DRAWN * middle) / (held + _DRAWN)
    about = (size * drawn).sum(axis=1)
    within = (size * drawn * (1 - drawn)).sum(axis=1)
    between = (size * (drawn - about[:, None]) ** 2).sum(axis=1)
    labels, answers = labels[:, 0], answers[:, 0]
    worth = np.clip(about * (1 - about) / (within / labels + between / answers), labels, answers)
    share = (size * rate).sum(axis=1).clip(0, 1)
    return proportion_confint(share * worth, worth, alpha=1 - confidence, method="wilson")
