"""Whose experience a model takes for normal, and whom a judge prefers: studies that never were.

Distances and choices are simulated as numbers; the study's own estimators measure them. No world
is the null model of a test: distances are skewed, uneven, or differ from task to task, and choices
go by what a text says, or by where it stands.
"""

from __future__ import annotations

from itertools import permutations
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from nbbias import cogs, stats
from nbbias.calibration.leads import TEXTS, pages, saying, sayings, start
from nbbias.calibration.trials import Design, Measure
from nbbias.stats import InferenceSettings

Row = dict[str, Any]

#: Identities of the axis that is planted on, the last of them the nearest, or the favourite; and
#: those of an axis on which nothing is planted.
AXES = {"gender": ("man", "woman", "non-binary"), "race": ("white", "black", "asian")}
IDENTITIES = 3

#: The tasks of the paper's suite, and the themes of each where tasks are the units.
TASKS, THEMES = 12, 10

#: How far identities lie from the default, the prompts' own spread, and the noise of one answer.
_MEAN, _OF_PROMPT, _NOISE = 0.4, 0.05, 0.03

#: The orders in which texts are shown: all, the suite's own first.
ORDERS = np.array(list(permutations(range(IDENTITIES))))

#: The share of judgements that go by place alone, where place counts, and which place they pick.
_BY_PLACE, _PLACES = 0.3, np.array([0.6, 0.2, 0.2])


# --- distances ----------------------------------------------------------------------------------


def distances(rng: np.random.Generator, design: Design) -> tuple[np.ndarray, np.ndarray]:
    """Simulate distances to the default.

    Returns
    -------
    (values, of_tasks) : arrays
        Instances by identities; and what the tasks that were asked add to each identity, all
        themes of them: 0 where tasks do not differ.
    """
    n, k = design.n, IDENTITIES
    if design.world == "uneven":
        noise = rng.normal(size=(n, k)) * [6.0, 1.0, 1.0]
    elif design.world == "heavy":
        shared = rng.standard_t(3, (n, 1)) * [0.8, 0.8, 0.0]
        noise = (shared + rng.standard_t(3, (n, k))) * [1.0, 2.0, 4.0]
    else:
        noise = rng.gamma(1.0, 1.0, (n, k)) - 1
    of_tasks = np.zeros(k)
    values = _MEAN + rng.normal(0, _OF_PROMPT, (n, 1)) + _NOISE * noise
    if design.world == "tasks":
        moved = rng.normal(0, _NOISE, (TASKS, k))[np.arange(n) % TASKS]
        values, of_tasks = values + moved, moved.mean(axis=0)
    return values - shift(design.planted), of_tasks


def shift(size: float) -> np.ndarray:
    """Return what moves the last identity away from the others so that the spread is `size`.

    Examples
    --------
    >>> float(cogs.spread.spread(shift(0.1)).round(12)), int(shift(0.1).argmax())
    (0.1, 2)
    """
    return size / np.sqrt(IDENTITIES - 1) * np.where(np.arange(IDENTITIES) == 2, 2.0, -1.0)


def _tested(values: np.ndarray, *, part: str, family: int = 1, inference: InferenceSettings) -> Row:
    """Return what `cogs.spread.spread_rows` says of the spread; without its chance level."""
    whole = pd.DataFrame(values)
    row: Row = stats.repeated_measures_anova(whole)
    if part != "distance" or not np.isfinite(row["p_value"]):
        row |= cogs.spread.permutation(values, family=family, inference=inference)
    low, high = stats.spread_interval(whole, confidence=inference.confidence)
    means = values.mean(axis=0)
    end = means.argmin() if part == "distance" else means.argmax()
    return row | {
        "estimate": float(cogs.spread.spread(means)),
        "ci_low": low,
        "ci_high": high,
        "end": int(end),
    }


def _row(statistic: str, row: Row, *, planted: float, truth: float) -> Row:
    kept = {name: row[name] for name in ("estimate", "ci_low", "ci_high", "p_value")}
    said = {"statistic": statistic, "group": None, "planted": planted, "truth": truth, "null": 0.0}
    return said | kept


def _of_these(statistic: str, row: Row, design: Design, truth: float) -> list[Row]:
    """Return the row of a score of the tasks that were asked, and how it reads for other tasks."""
    if design.world != "tasks":
        return [_row(statistic, row, planted=design.planted, truth=truth)]
    # Of these tasks identities do differ: a test that says so is no false positive.
    these = row if design.planted else row | {"p_value": np.nan}
    return [
        _row(statistic, these, planted=design.planted, truth=truth),
        _row(
            f"{statistic}, read for other tasks", row, planted=design.planted, truth=design.planted
        ),
    ]


def rbs(design: Design, repeats: int, inference: InferenceSettings) -> pd.DataFrame:
    """Return TRIALS of the representative bias score on the tasks that were asked.

    Examples
    --------
    >>> found = rbs(Design("skewed", 30, 12, 0.02), 5, InferenceSettings())
    >>> found["statistic"].unique().tolist(), found["truth"].unique().round(3).tolist()
    (['rbs'], [0.02])
    """
    rng, rows = start(design, inference), []
    for _ in range(repeats):
        values, of_tasks = distances(rng, design)
        truth = float(cogs.spread.spread(of_tasks - shift(design.planted)))
        rows += _of_these(
            "rbs", _tested(values, part="distance", inference=inference), design, truth
        )
    return pd.DataFrame(rows)


def rbs_tasks(design: Design, repeats: int, inference: InferenceSettings) -> pd.DataFrame:
    """Return TRIALS of the representative bias score for tasks in general; `n` counts tasks.

    Examples
    --------
    >>> len(rbs_tasks(Design("tasks", 12, 12, 0.0), 5, InferenceSettings()))
    5
    """
    rng, rows = start(design, inference), []
    for _ in range(repeats):
        own = _tested(_by_task(rng, design), part="distance", inference=inference)
        rows.append(_row("rbs", own, planted=design.planted, truth=design.planted))
    return pd.DataFrame(rows)


def _by_task(rng: np.random.Generator, design: Design) -> np.ndarray:
    """Return means of tasks by identities: instances, and what a task adds to each identity."""
    world = "heavy" if design.world == "heavy" else "skewed"
    own, _ = distances(rng, design._replace(n=design.n * THEMES, world=world))
    moved = rng.normal(0, _NOISE, (design.n, IDENTITIES))
    if design.world == "uneven":
        moved *= [3.0, 1.0, 1.0]
    elif design.world == "heavy":
        moved = _NOISE * rng.standard_t(3, (design.n, IDENTITIES))
    return own.reshape(design.n, THEMES, IDENTITIES).mean(axis=1) + moved


# --- choices ------------------------------------------------------------------------------------


class Taste(NamedTuple):
    """What a judge goes by.

    Attributes
    ----------
    likely : array
        Instances by identities: how likely each one's text is picked where place counts nothing.
    place : float
        The share of judgements that go by place alone.
    means : array
        By identity, what `likely` is on average, over all instances of the tasks that were asked.
    """

    likely: np.ndarray
    place: float
    means: np.ndarray


def taste(rng: np.random.Generator, design: Design) -> Taste:
    """Simulate what a judge goes by.

    Examples
    --------
    >>> found = taste(np.random.default_rng(0), Design("content", 500, 12, 0.1))
    >>> float(cogs.spread.spread(found.means).round(3)), found.likely.mean(axis=0).round(2).tolist()
    (0.1, [0.27, 0.24, 0.49])
    """
    n = design.n
    place = _BY_PLACE if design.world in {"place", "alike"} else 0.0
    means = np.full(IDENTITIES, 1 / IDENTITIES) + shift(design.planted / (1 - place))
    if design.world == "uneven":
        first = rng.random((n, 1)) < means[0]
        rest = np.where(first, 0.0, rng.dirichlet(4 * means[1:], n))
        return Taste(np.hstack([first, rest]), place, means)
    if design.world == "alike":
        one, other = np.eye(IDENTITIES)[rng.choice(IDENTITIES, size=(2, n), p=means)]
        return Taste(np.where(rng.random((n, 1)) < 0.5, one, (one + other) / 2), place, means)
    own = np.tile(means, (n, 1))
    if design.world == "tasks":
        own = rng.dirichlet(30 * means, TASKS)[np.arange(n) % TASKS]
        means = own.mean(axis=0)
    drawn = rng.gamma(3 * own)
    return Taste(drawn / drawn.sum(axis=1, keepdims=True), place, means)


def judged(rng: np.random.Generator, of: Taste) -> dict[str, np.ndarray]:
    """Let a judge choose among the texts of each instance in all orders.

    Returns
    -------
    dict
        Instances by identities or positions, as `cogs.affinity.shares` has them: ``abs``,
        ``abs_raw`` and ``position``.
    """
    at = np.arange(len(of.likely))
    chosen = np.zeros((len(at), IDENTITIES, IDENTITIES))
    for order in ORDERS[::-1]:
        chance = (1 - of.place) * of.likely[:, order] + of.place * _PLACES
        picked = (rng.random((len(at), 1)) > np.cumsum(chance, axis=1)[:, :-1]).sum(axis=1)
        chosen[at, order[picked], picked] += 1
    listed = np.eye(IDENTITIES)[ORDERS[0][picked]]  # the suite's own order came last
    shown = np.full(chosen.shape, len(ORDERS) / IDENTITIES)
    identities, positions = cogs.affinity.balanced(chosen, shown)
    return {"abs": identities, "abs_raw": listed, "position": positions}


def abs_(design: Design, repeats: int, inference: InferenceSettings) -> pd.DataFrame:
    """Return TRIALS of the affinity bias score: balanced, as published, and of positions.

    Examples
    --------
    >>> found = abs_(Design("place", 30, 12, 0.0), 5, InferenceSettings(n_permutations=100))
    >>> found.groupby("statistic")["truth"].first().round(3).to_dict()
    {'abs': 0.0, 'abs_raw': 0.0, 'position': 0.057}
    """
    rng, rows = start(design, inference), []
    for _ in range(repeats):
        of = taste(rng, design)
        truth = float(cogs.spread.spread((1 - of.place) * of.means))
        for name, values in judged(rng, of).items():
            own = _tested(values, part="share", inference=inference)
            if name == "position":
                place = float(cogs.spread.spread(of.place * _PLACES))
                rows.append(_row(name, own, planted=place, truth=place))
            else:
                rows += _of_these(name, own, design, truth)
    return pd.DataFrame(rows)


def abs_tasks(design: Design, repeats: int, inference: InferenceSettings) -> pd.DataFrame:
    """Return TRIALS of the balanced affinity bias score for tasks in general; `n` counts tasks.

    Examples
    --------
    >>> len(abs_tasks(Design("tasks", 12, 12, 0.0), 5, InferenceSettings(n_permutations=100)))
    5
    """
    rng, rows = start(design, inference), []
    for _ in range(repeats):
        own = _tested(_tastes_by_task(rng, design), part="share", inference=inference)
        rows.append(_row("abs", own, planted=design.planted, truth=design.planted))
    return pd.DataFrame(rows)


def _tastes_by_task(rng: np.random.Generator, design: Design) -> np.ndarray:
    """Return balanced shares of tasks by identities."""
    means = np.full(IDENTITIES, 1 / IDENTITIES) + shift(design.planted)
    if design.world == "alike":  # a task has one favourite or none
        best = np.eye(IDENTITIES)[rng.choice(IDENTITIES, size=design.n, p=means)]
        own = np.where(rng.random((design.n, 1)) < 0.3, best, means)
    else:
        own = rng.dirichlet(30 * means, design.n)
    likely = np.repeat(own, THEMES, axis=0)
    found = judged(rng, Taste(likely, 0.0, means))["abs"]
    return found.reshape(design.n, THEMES, IDENTITIES).mean(axis=1)


# --- what leads -----------------------------------------------------------------------------------

#: Of each half: whose rows they are, and the table.
_LEADS = {"rbs": ("model", "distance"), "abs": ("evaluator", "share")}
_WHO = ("m1", "m2", "m3")


class Run(NamedTuple):
    """A simulated run of one half: of three models or judges on two axes.

    Attributes
    ----------
    rows : list
        Rows of ESTIMATES.
    true : set
        Who has which identity at the end of its spread on the tasks that were asked; nobody where
        identities do not differ.
    """

    rows: list[Row]
    true: set[tuple[str, str]]


def run(half: str, design: Design, rng: np.random.Generator, inference: InferenceSettings) -> Run:
    """Simulate a run: the effect is on the first one's last identity of the first axis."""
    key, part = _LEADS[half]
    found: list[Row] = []
    true = set()
    for who in _WHO:
        for axis, identities in AXES.items():
            own = design._replace(planted=design.planted * (who == _WHO[0] and axis == "gender"))
            if half == "rbs":
                values, of_tasks = distances(rng, own)
                ends = shift(own.planted) - of_tasks
            else:
                of = taste(rng, own)
                values, ends = judged(rng, of)["abs"], of.means
            if np.ptp(ends) > 1e-9:
                true.add((who, identities[int(ends.argmax())]))
            row = _tested(values, part=part, family=len(_WHO) * len(AXES), inference=inference)
            if half == "rbs":  # what the sentence says of chance; the test needs no deal
                dealt = cogs.spread.permuted_means(values, draws=20, rng=rng)
                row["null"] = float(cogs.spread.spread(dealt).mean())
            row |= {"statistic": half, "bias": axis, "group": identities[row.pop("end")]}
            found.append(row | {"model": "writer", key: who})
    return Run(found, true)


def _lead(half: str, design: Design, repeats: int, inference: InferenceSettings) -> pd.DataFrame:
    key, _ = _LEADS[half]
    rng, found = start(design, inference), []
    in_general = {(_WHO[0], AXES["gender"][-1])} if design.planted else set()
    runs = [run(half, design, rng, inference) for _ in range(repeats)]
    led = pages(
        [own.rows for own in runs],
        claims=cogs.params.Cogs.model_fields["claims"].default,
        study="cogs",
        measure=half,
        instrument="simulated",
        confidence=inference.confidence,
    )
    for own, rows in zip(runs, led, strict=True):
        lead = cogs.sentences.lead(rows, texts=TEXTS)
        claimed = lead.claims[[key, "group"]].itertuples(index=False, name=None)
        fixed = cogs.spread.unit(rows["test"].iloc[0]) != "tasks"
        true = own.true if fixed else in_general
        found.append(saying(design, lead.plain, claimed=claimed, true=true))
    return sayings(found)


def rbs_lead(design: Design, repeats: int, inference: InferenceSettings) -> pd.DataFrame:
    """Return SAYINGS of pages that measure representative bias alone.

    Examples
    --------
    >>> said = rbs_lead(Design("skewed", 80, 12, 0.05), 1, InferenceSettings())
    >>> said[["told", "false"]].iloc[0].tolist()
    [True, False]
    """
    return _lead("rbs", design, repeats, inference)


def abs_lead(design: Design, repeats: int, inference: InferenceSettings) -> pd.DataFrame:
    """Return SAYINGS of pages that measure affinity bias alone.

    Examples
    --------
    >>> said = abs_lead(Design("content", 80, 12, 0.3), 1, InferenceSettings(n_permutations=100))
    >>> said[["told", "false"]].iloc[0].tolist()
    [True, False]
    """
    return _lead("abs", design, repeats, inference)


_HEAVY = (
    "heavy tails (t, 3 degrees of freedom), two identities that move together, spreads 1 : 2 : 4"
)
_SKEWED = "skewed noise, and prompts that move every answer"
_UNEVEN = "one identity varies six times as much as the others"
_TASKS = "identities lie differently far off from task to task"

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
        rbs_lead,
    ),
    Measure(
        "cogs",
        "rbs_tasks",
        "tasks",
        {
            "tasks": _TASKS,
            "uneven": "the same, of one identity three times as much",
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
            "content": "a judge goes by what each text says, which no identity has a part in",
            "uneven": "one identity's texts are all the best or the worst of their instance",
            "place": "three judgements in ten go by place alone",
            "tasks": "a judge's taste in identities differs from task to task",
            "alike": "two texts in doubt or none, and judgements that go by place",
        },
        frozenset({"alike"}),
        (0.0, 0.05, 0.15),
        (10, 30, 80, 400),
        abs_,
        abs_lead,
        share=0.3,
    ),
    Measure(
        "cogs",
        "abs_tasks",
        "tasks",
        {
            "tasks": "a judge's taste in identities differs from task to task",
            "alike": "in three tasks of ten one identity is always preferred",
        },
        frozenset({"alike"}),
        (0.0, 0.05, 0.15),
        (10, 30, 80),
        abs_tasks,
        share=0.5,
    ),
)
