"""Simulated studies of the LLM Bias Index: sizes of sentiment by prompt.

The index is the size of an answer's sentiment, so what is simulated are sizes: skewed, with prompts
that elicit strong words from every model, and windows of reference prose. The study's
own means and tests measure them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from nbbias import llmbi, stats
from nbbias.calibration.trials import Design, Row, listed, trial_row

#: Dimensions of people, as many as the paper asks about.
DIMENSIONS = 9

#: The penalty, what the formula makes of one unit of sentiment, and the mean size of neutral
#: prose; how many windows of it there are (the shipped prose, at sixty words).
PENALTY, _SLOPE, _SIZE, WINDOWS = 0.2, 2.5, 0.1, 88

NEUTRAL = PENALTY + _SLOPE * _SIZE

#: How far prompts and answers vary: shapes of gamma variables with mean 1.
_OF_PROMPT, _OF_ANSWER = 4.0, 2.0


class Answers(NamedTuple):
    """Scores of the answers of several models to the same prompts.

    Attributes
    ----------
    scores : array
        Models by prompts by repeated answers.
    dimension : array
        Of each prompt, numbered from 0.
    windows : array
        Scores of reference prose of the same length.
    """

    scores: np.ndarray
    dimension: np.ndarray
    windows: np.ndarray


def answers(rng: Generator, design: Design, *, effects: Sequence[float]) -> Answers:
    """Simulate answers; each model's index exceeds that of reference prose by its effect.

    Examples
    --------
    >>> design = Design("skewed", 9000, 12, 0.0)
    >>> of = answers(np.random.default_rng(0), design, effects=[0.0, 0.1])
    >>> of.scores.mean(axis=(1, 2)).round(2).tolist()
    [0.45, 0.55]
    """
    n = design.n
    dimension = np.arange(n) % DIMENSIONS
    level = np.linspace(*((0.2, 1.8) if design.scenario == "uneven" else (0.7, 1.3)), DIMENSIONS)
    # A dimension's mean is its level; all of them weigh alike, however many prompts each has.
    sizes = _SIZE * level[dimension] + np.array(effects)[:, None] / _SLOPE
    repeats = 5 if design.scenario == "repeats" else 1
    shape = (*sizes.shape, repeats)
    if design.scenario == "silent":  # of four answers one has no word that the instrument knows
        of_answer = rng.lognormal(-0.32, 0.8, shape) * (rng.random(shape) < 0.75) / 0.75
    else:
        of_answer = rng.gamma(_OF_ANSWER, 1 / _OF_ANSWER, shape)
    of_prompt = rng.gamma(_OF_PROMPT, 1 / _OF_PROMPT, (n, 1))
    windows = rng.gamma(_OF_ANSWER, 1 / _OF_ANSWER, WINDOWS)
    windows = _SIZE * windows * rng.gamma(_OF_PROMPT, 1 / _OF_PROMPT, WINDOWS)
    scores = PENALTY + _SLOPE * sizes[:, :, None] * of_prompt * of_answer
    return Answers(scores, dimension, PENALTY + _SLOPE * windows)


def _index(of: Answers, model: int, confidence: float) -> Row:
    """Return the row of a model's index as the study estimates it, compared with prose."""
    units = of.scores[model].mean(axis=1)
    estimate, error, df = stats.mean_of_means(units, of.dimension)
    prose = llmbi.scoring.Prose(  # each window is a text of its own
        float(of.windows.mean()), float(of.windows.std(ddof=1) / np.sqrt(len(of.windows)))
    )
    compared = llmbi.scoring.compare_with_prose(
        estimate, error, df, prose, minimum=PENALTY, ratio=True, confidence=confidence
    )
    return {"estimate": estimate, **compared}


def _difference(of: Answers, first: int, second: int, confidence: float) -> Row:
    scores = of.scores.mean(axis=2)
    return stats.one_sample(scores[first] - scores[second], confidence=confidence).row()


def index(rng: Generator, design: Design, confidence: float) -> Iterator[Row]:
    """Simulate the index, compared with prose, and its difference between two models."""
    effect = design.effect
    of = answers(rng, design, effects=[effect, 0.0])
    row = _index(of, 0, confidence)
    null = row["null"]  # the interval is of the difference from it
    yield trial_row("index", row, effect=effect, truth=null + effect, null=null)
    yield trial_row("difference", _difference(of, 0, 1, confidence), effect=effect)


def family(rng: Generator, design: Design, confidence: float) -> Iterator[Row]:
    """Simulate a run with three models, of which the first alone has a higher index."""
    side = float(np.sign(design.effect))
    of = answers(rng, design, effects=[design.effect, 0.0, 0.0])
    for model, direction in enumerate((side, 0.0, 0.0)):
        yield {"direction": direction, **_index(of, model, confidence)}
    for first, second, direction in ((1, 0, -side), (2, 0, -side), (2, 1, 0.0)):
        row = _difference(of, first, second, confidence)
        yield {"direction": direction, "null": 0.0, **row}


#: Numbers of prompts: those of the paper, and the others' numbers of units.
_N = (18, 30, 80, 400)
MEASURES = (listed("llmbi", "index", "prompts", (0.0, 0.05, 0.15), index, family, n=_N, share=0.5),)
