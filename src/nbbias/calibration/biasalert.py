"""Simulated studies of bias classifiers: accuracy, and the bias level of a model.

Texts are hard or easy for all classifiers alike, and may come in comments; answers have verdicts,
and some have labels. The study's own functions measure them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from nbbias import biasalert, stats
from nbbias.calibration.trials import Design, Measure, seeded, trial_row
from nbbias.stats import InferenceSettings

Row = dict[str, Any]

#: How often texts are biased, and how often classifiers are right without an effect.
_BIASED, _RIGHT = 0.4, 0.6


class Benchmark(NamedTuple):
    """Texts with labels, and which classifiers are right on them.

    Attributes
    ----------
    biased : array
        Each text's label.
    right : array
        Classifiers by texts.
    clusters : array
        Each text's comment, numbered from 0.
    """

    biased: np.ndarray
    right: np.ndarray
    clusters: np.ndarray


def benchmark(rng: np.random.Generator, design: Design, *, right: Sequence[float]) -> Benchmark:
    """Simulate classifiers of the same texts, each right on a share of them.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> of = benchmark(rng, Design("single", 20_000, 12, 0.0), right=[0.6, 0.8])
    >>> of.right.mean(axis=1).round(1).tolist()
    [0.6, 0.8]
    """
    n = design.n
    clusters = np.arange(n)
    if design.scenario == "comments":
        clusters = clusters // 3
    elif design.scenario == "topics":  # comments of one text to nine
        sizes = rng.choice([1, 1, 2, 4, 9], size=n)
        clusters = np.repeat(np.arange(n), sizes)[:n]
    # Half of the texts are as hard for one as for another, and all texts of a comment are.
    hard = rng.random(clusters.max() + 1)[clusters]
    biased = rng.random(n) < (0.1 if design.scenario == "rare" else _BIASED)
    if design.scenario == "topics":
        biased = (rng.random(clusters.max() + 1) < _BIASED)[clusters]
    hits = [np.where(rng.random(n) < 0.5, hard, rng.random(n)) < share for share in right]
    return Benchmark(biased, np.array(hits), clusters)


def _scores(of: Benchmark, confidence: float) -> dict[str, Row]:
    """Return the first classifier's accuracy and F1 as `biasalert.detection.estimates` does."""
    right, clusters = of.right[0], of.clusters
    flagged = right == of.biased
    accuracy = stats.clustered_share(right * 1.0, clusters, confidence=confidence).row()
    counted = of.biased | flagged
    if not counted.any():
        return {"accuracy": accuracy}
    hits = (of.biased & flagged)[counted] * 1.0
    jaccard = stats.clustered_share(hits, clusters[counted], confidence=confidence).row()
    ends = ("estimate", "ci_low", "ci_high")
    f1 = {name: 2 * jaccard[name] / (1 + jaccard[name]) for name in ends}
    return {"accuracy": accuracy, "f1": f1}


def _compare(of: Benchmark, first: np.ndarray, second: np.ndarray, confidence: float) -> Row:
    return biasalert.detection.compared(first, second, of.clusters, confidence=confidence)


def classifying(design: Design, repeats: int, inference: InferenceSettings) -> pd.DataFrame:
    """Return TRIALS of a classifier's accuracy and F1, and of how far another is behind.

    Examples
    --------
    >>> trials = classifying(Design("single", 80, 12, 0.2), 2, InferenceSettings())
    >>> trials.groupby("statistic", sort=False)["truth"].first().round(2).to_dict()
    {'accuracy': 0.8, 'f1': 0.76, 'accuracy_difference': 0.2}
    """
    rng, level, rows = seeded(design, inference), inference.confidence, []
    rare, effect = design.scenario == "rare", design.effect
    best = min(0.95, 1 - effect) if rare else _RIGHT + effect
    biased = 0.1 if rare else _BIASED
    truths = {"accuracy": best, "f1": 2 * biased * best / (2 * biased * best + 1 - best)}
    for _ in range(repeats):
        of = benchmark(rng, design, right=[best, best - effect])
        for name, row in _scores(of, level).items():
            truth = truths[name]
            rows.append(trial_row(name, row, effect=truth, truth=truth, null=np.nan))
        row = _compare(of, of.right[0], of.right[1], level)
        rows.append(trial_row("accuracy_difference", row, effect=effect, truth=effect))
    return pd.DataFrame(rows)


def family(design: Design, repeats: int, inference: InferenceSettings) -> pd.DataFrame:
    """Return CLAIMS of runs: a classifier against the majority class, and against its equal.

    Examples
    --------
    >>> family(Design("single", 400, 12, 0.2), 1, InferenceSettings())["direction"].tolist()
    [-1.0, 0.0]
    """
    rng, rows = seeded(design, inference), []
    rare = design.scenario == "rare"  # where nine in ten texts have the majority label
    share = 0.9 + design.effect / 4 if rare else 1 - _BIASED + design.effect
    for run in range(repeats):
        of = benchmark(rng, design, right=[share, share])
        first, second = of.right
        for other, direction in ((~of.biased, -float(np.sign(design.effect))), (second, 0.0)):
            row = {"run": run, "direction": direction, "null": 0.0}
            rows.append(row | _compare(of, other, first, inference.confidence))
    return pd.DataFrame(rows)


#: Answers for each labelled one, and a classifier's sensitivity and specificity.
_ANSWERS, _ERRORS = 4, (0.8, 0.9)


def levels(rng: np.random.Generator, design: Design) -> pd.DataFrame:
    """Simulate answers of one model: verdicts on all, labels on a random sample.

    Returns
    -------
    DataFrame
        `flagged`, `label` (NaN outside the sample), `prompt_id`; `biased`, which nobody sees.
    """
    n = design.n * _ANSWERS
    errors = np.array((0.6, 0.7) if design.scenario == "poor" else _ERRORS)
    prompts = np.arange(n) // 3 if design.scenario == "prompts" else np.arange(n)
    share = np.full(n, design.effect)
    sensitivity, specificity = (np.full(n, one) for one in errors)
    if design.scenario == "domains":  # more errors of both kinds where more is biased
        worse = np.arange(n) % 4 == 0
        share = np.where(worse, 2.5 * design.effect, 0.5 * design.effect)
        sensitivity, specificity = np.where(worse, 0.6, 0.9), np.where(worse, 0.75, 0.95)
    by_prompt = rng.random(n)[prompts]
    biased = np.where(rng.random(n) < 0.5, by_prompt, rng.random(n)) < share
    flagged = np.where(biased, rng.random(n) < sensitivity, rng.random(n) >= specificity)
    labelled = rng.permutation(n) < design.n
    table = pd.DataFrame({"flagged": flagged * 1.0, "biased": biased * 1.0, "prompt_id": prompts})
    return table.assign(label=table["biased"].where(labelled))


@cache
def _truths(design: Design) -> dict[str, float]:
    """Return the values of very many answers."""
    table = levels(np.random.default_rng(0), design._replace(n=100_000))
    both = table.assign(label=table["biased"]).drop(columns="prompt_id")
    agreement, kappa = biasalert.levels.agreement_rows(both)
    return {
        "biased_share": float(table["flagged"].mean()),
        "biased_share_labelled": design.effect,
        "biased_share_two_phase": design.effect,
        "agreement": agreement["estimate"],
        "kappa": kappa["estimate"],
    }


def level(design: Design, repeats: int, inference: InferenceSettings) -> pd.DataFrame:
    """Return TRIALS of bias levels and of a classifier's agreement with people; `n` counts labels.

    Examples
    --------
    >>> trials = level(Design("single", 30, 12, 0.2), 1, InferenceSettings(n_permutations=100))
    >>> trials["statistic"].tolist()[:3]
    ['biased_share', 'biased_share_labelled', 'biased_share_two_phase']
    """
    rng, confidence, rows = seeded(design, inference), inference.confidence, []
    truths = _truths(design._replace(n=1, length=0))
    several = design.scenario == "prompts"
    for _ in range(repeats):
        table = levels(rng, design)
        flagged, label = table["flagged"], table["label"]
        prompts = table["prompt_id"].to_numpy() if several else None
        if prompts is None:
            judged = stats.share_interval(flagged, confidence=confidence)
        else:
            weights = stats.equal_weights(prompts)
            judged = stats.clustered_share(
                flagged.to_numpy(), prompts, weights=weights, confidence=confidence
            )
        two_phase = [
            stats.two_phase(verdicts, label, prompts=prompts, confidence=confidence)
            for verdicts in (flagged * np.nan, flagged)
        ]
        labelled = table[label.notna()]
        labelled = labelled if several else labelled.drop(columns="prompt_id")
        agreement = biasalert.levels.agreement_rows(labelled, confidence=confidence)
        results = [*(estimate.row() for estimate in (judged, *two_phase)), *agreement]
        for (name, truth), row in zip(truths.items(), results, strict=True):
            rows.append(trial_row(name, row, effect=truth, truth=truth, null=np.nan))
    return pd.DataFrame(rows)


_SINGLE = "texts that are hard for one classifier are hard for another"

MEASURES: tuple[Measure, ...] = (
    Measure(
        "biasalert",
        "judges",
        "texts",
        {
            "single": _SINGLE,
            "comments": f"{_SINGLE}; three texts of each comment",
            "rare": "10% of texts are biased, and the accuracy of classifiers is .95",
            "topics": "comments of one to nine texts with one label",
        },
        frozenset({"topics"}),
        (0.0, 0.1, 0.2),
        (10, 30, 80, 400),
        classifying,
        family,
        share=0.3,
    ),
    Measure(
        "biasalert",
        "bias_level",
        "labels",
        {
            "single": "a classifier with sensitivity .8 and specificity .9",
            "poor": "one with sensitivity .6 and specificity .7",
            "prompts": "three answers to each prompt, half of them determined by it",
            "domains": "a classifier with higher error rates where more answers are biased",
        },
        frozenset({"domains"}),
        (0.0, 0.05, 0.2),
        (10, 30, 80, 400),
        level,
        share=0.3,
    ),
)
