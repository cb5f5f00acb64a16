"""How strongly worded answers are: studies that never were, of sentiment's size by prompt.

The index is the size of an answer's sentiment, so what is simulated are sizes: skewed, with prompts
that call for strong words from every model, and windows of neutral prose beside them. The study's
own means and tests measure them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from nbbias import llmbi, stats
from nbbias.calibration.leads import TEXTS, pages, saying, sayings, side_of, start
from nbbias.calibration.trials import Design, Measure
from nbbias.stats import InferenceSettings

Row = dict[str, Any]

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
        Scores of neutral prose of the same length.
    """

    scores: np.ndarray
    dimension: np.ndarray
    windows: np.ndarray


def answers(rng: np.random.Generator, design: Design, *, planted: Sequence[float]) -> Answers:
    """Simulate answers; each model's index lies by what was planted above neutral prose.

    Examples
    --------
    >>> design = Design("skewed", 9000, 12, 0.0)
    >>> found = answers(np.random.default_rng(0), design, planted=[0.0, 0.1])
    >>> found.scores.mean(axis=(1, 2)).round(2).tolist()
    [0.45, 0.55]
    """
    n = design.n
    dimension = np.arange(n) % DIMENSIONS
    level = np.linspace(*((0.2, 1.8) if design.world == "uneven" else (0.7, 1.3)), DIMENSIONS)
    # A dimension's mean is its level; all of them weigh alike, however many prompts each has.
    sizes = _SIZE * level[dimension] + np.array(planted)[:, None] / _SLOPE
    repeats = 5 if design.world == "repeats" else 1
    shape = (*sizes.shape, repeats)
    if design.world == "silent":  # of four answers one has no word that the instrument knows
        of_answer = rng.lognormal(-0.32, 0.8, shape) * (rng.random(shape) < 0.75) / 0.75
    else:
        of_answer = rng.gamma(_OF_ANSWER, 1 / _OF_ANSWER, shape)
    of_prompt = rng.gamma(_OF_PROMPT, 1 / _OF_PROMPT, (n, 1))
    windows = rng.gamma(_OF_ANSWER, 1 / _OF_ANSWER, WINDOWS)
    windows = _SIZE * windows * rng.gamma(_OF_PROMPT, 1 / _OF_PROMPT, WINDOWS)
    scores = PENALTY + _SLOPE * sizes[:, :, None] * of_prompt * of_answer
    return Answers(scores, dimension, PENALTY + _SLOPE * windows)


def mean_row(own: np.ndarray, of: Answers, *, only: int | None, confidence: float) -> Row:
    """Return the row of one model's index, or of one dimension, as the study estimates it.

    Parameters
    ----------
    own
        Scores of one model, prompts by repeated answers.
    of
        The run.
    only
        The dimension; None for the index.
    confidence
        Level of the interval.
    """
    units = own.mean(axis=1)
    if only is None:
        n, (estimate, error, df) = len(units), stats.mean_of_means(units, of.dimension)
    else:
        means, errors, within = stats.group_means(units, of.dimension)
        n, estimate = int((of.dimension == only).sum()), float(means[only])
        error, df = float(errors[only]), float(within)
    # Each window is a text of its own.
    prose = llmbi.neutral.Prose(
        float(of.windows.mean()), float(of.windows.std(ddof=1) / np.sqrt(len(of.windows)))
    )
    found = llmbi.neutral.beside(
        estimate, error, df, prose, floor=PENALTY, ratio=only is None, confidence=confidence
    )
    return {"n": n, "estimate": estimate, **found}


def _difference(of: Answers, *, confidence: float) -> Row:
    first, second = of.scores[:2].mean(axis=2)
    return {"null": 0.0, **stats.one_sample(first - second, confidence=confidence).row()}


def trial(design: Design, repeats: int, inference: InferenceSettings) -> pd.DataFrame:
    """Return TRIALS of the index and of one dimension, beside prose, and of two models.

    Examples
    --------
    >>> found = trial(Design("skewed", 18, 12, 0.05), 2, InferenceSettings(n_permutations=100))
    >>> found.groupby("statistic", sort=False)["truth"].first().round(2).to_dict()
    {'index': 0.5, 'dimension_mean': 0.5, 'difference': 0.05}
    """
    rng, rows = start(design, inference), []
    middle = DIMENSIONS // 2  # its level is that of all
    for _ in range(repeats):
        of = answers(rng, design, planted=[design.planted, 0.0])
        found = {
            "index": (
                mean_row(of.scores[0], of, only=None, confidence=inference.confidence),
                NEUTRAL,
            ),
            "dimension_mean": (
                mean_row(of.scores[0], of, only=middle, confidence=inference.confidence),
                NEUTRAL,
            ),
            "difference": (_difference(of, confidence=inference.confidence), 0.0),
        }
        for statistic, (row, null) in found.items():
            kept = {name: row[name] for name in ("estimate", "ci_low", "ci_high", "p_value")}
            key = {"statistic": statistic, "group": None, "planted": design.planted}
            rows.append(key | {"truth": null + design.planted, "null": null} | kept)
    return pd.DataFrame(rows)


# --- what leads -----------------------------------------------------------------------------------

_MODELS = ("m1", "m2", "m3")


def run(rng: np.random.Generator, design: Design, inference: InferenceSettings) -> list[Row]:
    """Simulate a run: rows of ESTIMATES of three models, of which the first is planted on."""
    of = answers(rng, design, planted=[design.planted, 0.0, 0.0])
    rows = [
        {"statistic": "index", "model": model, "test": "t-test against neutral prose"}
        | mean_row(own, of, only=None, confidence=inference.confidence)
        for model, own in zip(_MODELS, of.scores, strict=True)
    ]
    for first, second in ((1, 0), (2, 0), (2, 1)):
        pair = of._replace(scores=of.scores[[first, second]])
        row = _difference(pair, confidence=inference.confidence)
        key = {"statistic": "difference", "model": _MODELS[first], "group": _MODELS[second]}
        rows.append(key | row)
    return rows


def _other(row: Row) -> str:
    """Return the model that a row compares with; empty for reference prose."""
    return row["group"] if isinstance(row["group"], str) else ""


def lead(design: Design, repeats: int, inference: InferenceSettings) -> pd.DataFrame:
    """Return SAYINGS of pages with three models, of which the first alone is strongly worded.

    Examples
    --------
    >>> said = lead(Design("skewed", 90, 12, 0.4), 1, InferenceSettings(n_permutations=100))
    >>> said[["told", "false"]].iloc[0].tolist()
    [True, False]
    """
    rng, found = start(design, inference), []
    true = [("m1", "", "more")] + [(other, "m1", "less") for other in _MODELS[1:]]
    true = true if design.planted else []
    for rows in pages(
        [run(rng, design, inference) for _ in range(repeats)],
        claims=llmbi.params.Llmbi.model_fields["claims"].default,
        study="llmbi",
        measure="llmbi",
        instrument="simulated",
        confidence=inference.confidence,
    ):
        lead = llmbi.sentences.lead(rows, texts=TEXTS)
        claims = lead.claims.to_dict("records")
        claimed = {(row["model"], _other(row), side_of(row)) for row in claims}
        found.append(saying(design, lead.plain, claimed=claimed, true=true))
    return sayings(found)


MEASURES: tuple[Measure, ...] = (
    Measure(
        "llmbi",
        "index",
        "prompts",
        {
            "skewed": "skewed sizes; some prompts call for strong words from every model",
            "uneven": "dimensions that differ ninefold in mean and spread",
            "repeats": "five answers to each prompt",
            "silent": "of four answers one has no word that the instrument knows, others heavy "
            "tails",
        },
        frozenset({"silent"}),
        (0.0, 0.05, 0.15),
        (18, 30, 80, 400),
        trial,
        lead,
        share=0.3,
    ),
)
