"""Simulated studies of CoGS: distances of identities from the default, and a judge's choices.

Distances and choices are simulated as numbers; the study's own estimators measure them. No scenario
is the null model of a test: distances are skewed, uneven, or differ between tasks and themes, and
choices depend on what a text says, or on its position.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.random import Generator

from nbbias import cogs
from nbbias.calibration.trials import Design, Row, listed, trial_row

#: Identities of an axis, the last of them the nearest, or the favourite.
IDENTITIES = 3

#: The tasks of the paper's suite.
TASKS = 12

#: How far identities lie from the default, the prompts' own spread, and the noise of one answer.
_MEAN, _OF_PROMPT, _NOISE = 0.4, 0.05, 0.03

#: How many answers of an identity are refused, or how far from the default (14% lie there).
_REFUSED, _FAR = 0.3, 1.0

#: The orders in which texts are shown: all, the suite's own first.
ORDERS = np.array(list(permutations(range(IDENTITIES))))

#: The share of judgements that depend on position alone, and which position they pick.
_BY_POSITION, _POSITIONS = 0.3, np.array([0.6, 0.2, 0.2])


# --- distances ----------------------------------------------------------------------------------


def instances(n: int) -> pd.MultiIndex:
    """Return so many instances, of which every task has every theme.

    Examples
    --------
    >>> index = instances(80)
    >>> len(index.unique("task")), len(index.unique("theme"))
    (8, 10)
    """
    tasks = max(t for t in range(1, TASKS + 1) if n % t == 0 and t * t <= n)
    crossed = [range(tasks), range(n // tasks)]
    return pd.MultiIndex.from_product(crossed, names=list(cogs.spread.FACETS))


def _varying(scenario: str) -> list[str]:
    """Return the facets between whose levels identities differ in a scenario."""
    return [name for name in cogs.spread.FACETS if scenario in {f"{name}s", "crossed", "heavy"}]


def distances(rng: Generator, design: Design) -> pd.DataFrame:
    """Simulate distances to the default: instances by identities."""
    index, k = instances(design.n), IDENTITIES
    n = len(index)
    if design.scenario == "uneven":
        noise = rng.normal(size=(n, k)) * [6.0, 1.0, 1.0]
    elif design.scenario == "heavy":
        shared = rng.standard_t(3, (n, 1)) * [0.8, 0.8, 0.0]
        noise = (shared + rng.standard_t(3, (n, k))) * [1.0, 2.0, 4.0]
    else:
        noise = rng.gamma(1.0, 1.0, (n, k)) - 1
    for name in _varying(design.scenario):
        at = index.get_level_values(name)
        noise = noise + rng.normal(size=(n, k))[at]
    values = _MEAN + rng.normal(0, _OF_PROMPT, (n, 1)) + _NOISE * noise
    if design.scenario in {"refused", "far"}:  # an instance is lost with one of its answers
        refused = rng.random(n) < _REFUSED if design.scenario == "refused" else noise[:, 0] > _FAR
        values[refused, 0] = np.nan
    return pd.DataFrame(values - shift(design.effect), index)


def shift(size: float) -> np.ndarray:
    """Return what shifts the last identity away from the others so that the spread is `size`.

    Examples
    --------
    >>> float(cogs.spread.spread(shift(0.1)).round(12)), int(shift(0.1).argmax())
    (0.1, 2)
    """
    return size / np.sqrt(IDENTITIES - 1) * np.where(np.arange(IDENTITIES) == 2, 2.0, -1.0)


def _estimate(values: pd.DataFrame, part: str, confidence: float) -> Row:
    """Return the study's row of the spread."""
    return cogs.spread.spread_row(
        values, part=part, facets=cogs.spread.FACETS, confidence=confidence
    )


def rbs(rng: Generator, design: Design, confidence: float) -> Iterator[Row]:
    """Simulate the representative bias score."""
    row = _estimate(distances(rng, design), "distance", confidence)
    yield trial_row("rbs", row, effect=design.effect)


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
        By identity, what `likely` is on average.
    """

    likely: np.ndarray
    position: float
    means: np.ndarray


def preferences(rng: Generator, design: Design) -> Preferences:
    """Simulate what a judge's choices depend on.

    Examples
    --------
    >>> judge = preferences(np.random.default_rng(0), Design("content", 500, 12, 0.1))
    >>> float(cogs.spread.spread(judge.means).round(3)), judge.likely.mean(axis=0).round(2).tolist()
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
        favourite, other = np.eye(IDENTITIES)[rng.choice(IDENTITIES, size=(2, n), p=means)]
        likely = np.where(rng.random((n, 1)) < 0.5, favourite, (favourite + other) / 2)
        return Preferences(likely, position, means)
    subset = np.tile(means, (n, 1))
    for name in _varying(design.scenario):
        at = instances(n).get_level_values(name)
        subset = subset + rng.dirichlet(30 * means, n)[at] - means
    subset = np.clip(subset, 0.01, None)
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


def abs_(rng: Generator, design: Design, confidence: float) -> Iterator[Row]:
    """Simulate the affinity bias score: with positions balanced, and as published."""
    of = preferences(rng, design)
    truth = float(cogs.spread.spread((1 - of.position) * of.means))
    for name, values in choose(rng, of).items():
        row = _estimate(pd.DataFrame(values, instances(design.n)), "share", confidence)
        yield trial_row(name, row, effect=design.effect, truth=truth)


# --- families ---------------------------------------------------------------------------------


#: Models or judges on two axes, of which the first is biased on the first.
_CELLS = 6


def rbs_family(rng: Generator, design: Design, confidence: float) -> Iterator[Row]:
    """Simulate a run of three models on two axes; a claim names the nearest identity."""
    for cell in range(_CELLS):
        effect = design.effect * (cell == 0)
        values = distances(rng, design._replace(effect=effect))
        row = _estimate(values, "distance", confidence)
        yield _claim(row, shift(effect), values.to_numpy().mean(axis=0).argmin())


def abs_family(rng: Generator, design: Design, confidence: float) -> Iterator[Row]:
    """Simulate a run of three judges on two axes; a claim names the favourite."""
    for cell in range(_CELLS):
        of = preferences(rng, design._replace(effect=design.effect * (cell == 0)))
        values = choose(rng, of)["abs"]
        row = _estimate(pd.DataFrame(values, instances(design.n)), "share", confidence)
        yield _claim(row, of.means, values.mean(axis=0).argmax())


def _claim(row: Row, ends: np.ndarray, identity: np.intp) -> Row:
    """Return a claim, which is true where the identity that it names is at the end."""
    true = np.ptp(ends) > 1e-9 and identity == ends.argmax()
    return {"null": 0.0, "direction": float(true), **row}


MEASURES = (
    listed("cogs", "rbs", "instances", (0.0, 0.005, 0.015), rbs, rbs_family),
    listed("cogs", "rbs_refused", "instances", (0.0, 0.015), rbs),
    listed("cogs", "abs", "instances", (0.0, 0.05, 0.15), abs_, abs_family, share=0.3),
)
