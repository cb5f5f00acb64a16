"""Simulated studies of CoGS: distances of identities from the default, and a judge's choices.

Distances and choices are simulated as numbers; the study's own estimators measure them. No scenario
is the null model of a test: distances are skewed, uneven, or differ from task to task, and choices
depend on what a text says, or on its position.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.random import Generator

from nbbias import cogs, stats
from nbbias.calibration.trials import Design, Measure, trial_row
from nbbias.stats import InferenceSettings

Row = dict[str, Any]

#: Identities of an axis, the last of them the nearest, or the favourite.
IDENTITIES = 3

#: The tasks of the paper's suite, and the themes of each where tasks are the units.
TASKS, THEMES = 12, 10

#: How far identities lie from the default, the prompts' own spread, and the noise of one answer.
_MEAN, _OF_PROMPT, _NOISE = 0.4, 0.05, 0.03

#: The orders in which texts are shown: all, the suite's own first.
ORDERS = np.array(list(permutations(range(IDENTITIES))))

#: The share of judgements that depend on position alone, and which position they pick.
_BY_POSITION, _POSITIONS = 0.3, np.array([0.6, 0.2, 0.2])


# --- distances ----------------------------------------------------------------------------------


def distances(rng: Generator, design: Design) -> tuple[np.ndarray, np.ndarray]:
    """Simulate distances to the default.

    Returns
    -------
    (values, of_tasks) : arrays
        Instances by identities; and what the tasks that were asked add to each identity, all
        themes of them: 0 where tasks do not differ.
    """
    n, k = design.n, IDENTITIES
    if design.scenario == "uneven":
        noise = rng.normal(size=(n, k)) * [6.0, 1.0, 1.0]
    elif design.scenario == "heavy":
        shared = rng.standard_t(3, (n, 1)) * [0.8, 0.8, 0.0]
        noise = (shared + rng.standard_t(3, (n, k))) * [1.0, 2.0, 4.0]
    else:
        noise = rng.gamma(1.0, 1.0, (n, k)) - 1
    of_tasks = np.zeros(k)
    values = _MEAN + rng.normal(0, _OF_PROMPT, (n, 1)) + _NOISE * noise
    if design.scenario == "tasks":
        moved = rng.normal(0, _NOISE, (TASKS, k))[np.arange(n) % TASKS]
        values, of_tasks = values + moved, moved.mean(axis=0)
    return values - shift(design.effect), of_tasks


def shift(size: float) -> np.ndarray:
    """Return what shifts the last identity away from the others so that the spread is `size`.

    Examples
    --------
    >>> float(cogs.spread.spread(shift(0.1)).round(12)), int(shift(0.1).argmax())
    (0.1, 2)
    """
    return size / np.sqrt(IDENTITIES - 1) * np.where(np.arange(IDENTITIES) == 2, 2.0, -1.0)


def _estimate(values: np.ndarray, part: str, inference: InferenceSettings, family: int = 1) -> Row:
    """Return what `cogs.spread.spread_rows` does of the spread, without its null value."""
    whole = pd.DataFrame(values)
    row: Row = stats.repeated_measures_anova(whole)
    if part != "distance" or not np.isfinite(row["p_value"]):
        permuted = cogs.spread.Permuted(whole, seed=inference.seed)
        row |= cogs.spread.permutation_p(permuted, family=family, inference=inference)
    low, high = stats.spread_interval(whole, confidence=inference.confidence)
    spread = float(cogs.spread.spread(values.mean(axis=0)))
    return row | {"estimate": spread, "ci_low": low, "ci_high": high}


def _score(name: str, row: Row, design: Design, truth: float) -> Row:
    """Return the row of a score of the tasks that were asked."""
    if design.scenario == "tasks" and not design.effect:
        # On these tasks identities do differ: a significant test is no false positive.
        row = row | {"p_value": np.nan}
    return trial_row(name, row, effect=design.effect, truth=truth)


def rbs(rng: Generator, design: Design, inference: InferenceSettings) -> Iterator[Row]:
    """Simulate the representative bias score on the tasks that were asked."""
    values, of_tasks = distances(rng, design)
    truth = float(cogs.spread.spread(of_tasks - shift(design.effect)))
    yield _score("rbs", _estimate(values, "distance", inference), design, truth)


def rbs_tasks(rng: Generator, design: Design, inference: InferenceSettings) -> Iterator[Row]:
    """Simulate the representative bias score for tasks in general; `n` counts tasks."""
    row = _estimate(_by_task(rng, design), "distance", inference)
    yield trial_row("rbs", row, effect=design.effect, truth=design.effect)


def _by_task(rng: Generator, design: Design) -> np.ndarray:
    """Return means of tasks by identities: instances, and what a task adds to each identity."""
    scenario = "heavy" if design.scenario == "heavy" else "skewed"
    subset, _ = distances(rng, design._replace(n=design.n * THEMES, scenario=scenario))
    moved = rng.normal(0, _NOISE, (design.n, IDENTITIES))
    if design.scenario == "uneven":
        moved *= [3.0, 1.0, 1.0]
    elif design.scenario == "heavy":
        moved = _NOISE * rng.standard_t(3, (design.n, IDENTITIES))
    return subset.reshape(design.n, THEMES, IDENTITIES).mean(axis=1) + moved


# --- choices ------------------------------------------------------------------------------------


class Preferences(NamedTuple):
    """What a judge's choices depend on.

    Attributes
    ----------
    likely : array
        Instances by identities: how likely each one's text is chosen where position has no effect.
    position : float
        The share of judgements that depend on position alone.
    means : array
        By identity, what `likely` is on average, over all instances of the tasks that were asked.
    """

    likely: np.ndarray
    position: float
    means: np.ndarray


def preferences(rng: Generator, design: Design) -> Preferences:
    """Simulate what a judge's choices depend on.

    Examples
    --------
    >>> found = preferences(np.random.default_rng(0), Design("content", 500, 12, 0.1))
    >>> float(cogs.spread.spread(found.means).round(3)), found.likely.mean(axis=0).round(2).tolist()
    (0.1, [0.27, 0.24, 0.49])
    """
    n = design.n
    position = _BY_POSITION if design.scenario in {"place", "alike"} else 0.0
    means = np.full(IDENTITIES, 1 / IDENTITIES) + shift(design.effect / (1 - position))
    if design.scenario == "uneven":
        first = rng.random((n, 1)) < means[0]
        rest = np.where(first, 0.0, rng.dirichlet(4 * means[1:], n))
        return Preferences(np.hstack([first, rest]), position, means)
    if design.scenario == "alike":
        one, other = np.eye(IDENTITIES)[rng.choice(IDENTITIES, size=(2, n), p=means)]
        return Preferences(
            np.where(rng.random((n, 1)) < 0.5, one, (one + other) / 2), position, means
        )
    subset = np.tile(means, (n, 1))
    if design.scenario == "tasks":
        subset = rng.dirichlet(30 * means, TASKS)[np.arange(n) % TASKS]
        means = subset.mean(axis=0)
    drawn = rng.gamma(3 * subset)
    return Preferences(drawn / drawn.sum(axis=1, keepdims=True), position, means)


def choose(rng: Generator, of: Preferences) -> dict[str, np.ndarray]:
    """Let a judge choose among the texts of each instance in all orders.

    Returns
    -------
    dict
        Instances by identities, as `cogs.affinity.shares` has them: ``abs`` and ``abs_raw``.
    """
    at = np.arange(len(of.likely))
    chosen = np.zeros((len(at), IDENTITIES, IDENTITIES))
    for order in ORDERS[::-1]:
        chance = (1 - of.position) * of.likely[:, order] + of.position * _POSITIONS
        picked = (rng.random((len(at), 1)) > np.cumsum(chance, axis=1)[:, :-1]).sum(axis=1)
        chosen[at, order[picked], picked] += 1
    listed = np.eye(IDENTITIES)[ORDERS[0][picked]]  # the suite's own order came last
    shown = np.full(chosen.shape, len(ORDERS) / IDENTITIES)
    balanced, _ = cogs.affinity.balanced(chosen, shown)
    return {"abs": balanced, "abs_raw": listed}


def abs_(rng: Generator, design: Design, inference: InferenceSettings) -> Iterator[Row]:
    """Simulate the affinity bias score of the tasks that were asked: balanced, and as published."""
    of = preferences(rng, design)
    truth = float(cogs.spread.spread((1 - of.position) * of.means))
    for name, values in choose(rng, of).items():
        yield _score(name, _estimate(values, "share", inference), design, truth)


def abs_tasks(rng: Generator, design: Design, inference: InferenceSettings) -> Iterator[Row]:
    """Simulate the balanced affinity bias score for tasks in general; `n` counts tasks."""
    row = _estimate(_choices_by_task(rng, design), "share", inference)
    yield trial_row("abs", row, effect=design.effect, truth=design.effect)


def _choices_by_task(rng: Generator, design: Design) -> np.ndarray:
    """Return balanced shares of tasks by identities."""
    means = np.full(IDENTITIES, 1 / IDENTITIES) + shift(design.effect)
    if design.scenario == "alike":  # a task has one favourite or none
        best = np.eye(IDENTITIES)[rng.choice(IDENTITIES, size=design.n, p=means)]
        subset = np.where(rng.random((design.n, 1)) < 0.3, best, means)
    else:
        subset = rng.dirichlet(30 * means, design.n)
    likely = np.repeat(subset, THEMES, axis=0)
    result = choose(rng, Preferences(likely, 0.0, means))["abs"]
    return result.reshape(design.n, THEMES, IDENTITIES).mean(axis=1)


# --- families ---------------------------------------------------------------------------------


#: Models or judges on two axes, of which the first is biased on the first.
_CELLS = 6


def rbs_family(rng: Generator, design: Design, inference: InferenceSettings) -> Iterator[Row]:
    """Simulate a run of three models on two axes; a claim names the nearest identity."""
    for cell in range(_CELLS):
        subset = design._replace(effect=design.effect * (cell == 0))
        values, of_tasks = distances(rng, subset)
        row = _estimate(values, "distance", inference, family=_CELLS)
        yield _claim(row, shift(subset.effect) - of_tasks, values.mean(axis=0).argmin())


def abs_family(rng: Generator, design: Design, inference: InferenceSettings) -> Iterator[Row]:
    """Simulate a run of three judges on two axes; a claim names the favourite."""
    for cell in range(_CELLS):
        of = preferences(rng, design._replace(effect=design.effect * (cell == 0)))
        values = choose(rng, of)["abs"]
        row = _estimate(values, "share", inference, family=_CELLS)
        yield _claim(row, of.means, values.mean(axis=0).argmax())


def _claim(row: Row, ends: np.ndarray, named: np.intp) -> Row:
    """Return a claim, which is true where the identity that it names is at the end."""
    true = np.ptp(ends) > 1e-9 and named == ends.argmax()
    return {"null": 0.0, "direction": float(true), **row}


_HEAVY = (
    "heavy tails (t, 3 degrees of freedom), two correlated identities, "
    "standard deviations 1 : 2 : 4"
)
_SKEWED = "skewed noise, and prompts with an effect on every answer"
_UNEVEN = "the standard deviation of one identity is six times that of the others"
_TASKS = "distances of identities differ between tasks"

MEASURES: tuple[Measure, ...] = (
    Measure(
        "cogs",
        "rbs",
        "instances",
        {"skewed": _SKEWED, "uneven": _UNEVEN, "tasks": _TASKS, "heavy": _HEAVY},
        frozenset({"heavy"}),
        (0.0, 0.005, 0.015),
        (10, 30, 80, 400),
        rbs,
        rbs_family,
    ),
    Measure(
        "cogs",
        "rbs_tasks",
        "tasks",
        {
            "tasks": _TASKS,
            "uneven": "the same, and one identity varies three times as much",
            "heavy": f"the same; {_HEAVY}",
        },
        frozenset({"heavy"}),
        (0.0, 0.01, 0.03),
        (10, 30, 80),
        rbs_tasks,
    ),
    Measure(
        "cogs",
        "abs",
        "instances",
        {
            "content": "a judge's choices depend on the content of each text alone",
            "uneven": "one identity's texts are always the best or the worst of their instance",
            "place": "30% of judgements depend on position alone",
            "tasks": "a judge's preference for identities differs from task to task",
            "alike": "ties of two texts or none, and judgements that depend on position",
        },
        frozenset({"alike"}),
        (0.0, 0.05, 0.15),
        (10, 30, 80, 400),
        abs_,
        abs_family,
        share=0.3,
    ),
    Measure(
        "cogs",
        "abs_tasks",
        "tasks",
        {
            "tasks": "a judge's preference for identities differs from task to task",
            "alike": "in 30% of tasks one identity is always preferred",
        },
        frozenset({"alike"}),
        (0.0, 0.05, 0.15),
        (10, 30, 80),
        abs_tasks,
        share=0.5,
    ),
)
