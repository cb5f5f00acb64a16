"""Simulated studies of bias classifiers: accuracy, and the bias level of a model.

Texts are hard or easy for all classifiers alike, and may come in comments; answers have verdicts,
and some have labels. The study's own functions measure them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.random import Generator

from nbbias import biasalert, stats
from nbbias.calibration.trials import Design, Row, listed, trial_row, unequal_clusters

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


def benchmark(rng: Generator, design: Design, *, right: Sequence[float]) -> Benchmark:
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
    elif design.scenario == "topics":
        clusters = unequal_clusters(rng, n)
    elif design.scenario == "viral":
        clusters = np.repeat(np.arange(n), np.minimum(rng.zipf(2.0, n), n // 3))[:n]
    # Half of the texts are as hard for one as for another, and all texts of a comment are.
    hard = rng.random(clusters.max() + 1)[clusters]
    biased = rng.random(n) < (0.1 if design.scenario == "rare" else _BIASED)
    if design.scenario == "topics":
        biased = (rng.random(clusters.max() + 1) < _BIASED)[clusters]
    hits = [np.where(rng.random(n) < 0.5, hard, rng.random(n)) < share for share in right]
    return Benchmark(biased, np.array(hits), clusters)


def classifying(rng: Generator, design: Design, confidence: float) -> Iterator[Row]:
    """Simulate a classifier's accuracy, how far another is behind, and a change between runs."""
    effect = design.effect
    best = min(0.95, 1 - effect) if design.scenario == "rare" else _RIGHT + effect
    of = benchmark(rng, design, right=[best, best - effect])
    first, second = of.right * 1.0
    row = stats.clustered_share(first, of.clusters, confidence=confidence).row()
    yield trial_row("accuracy", row, effect=best, null=np.nan)
    row = biasalert.detection.compared(first > 0, second > 0, of.clusters, confidence=confidence)
    yield trial_row("accuracy_difference", row, effect=effect)
    both = pd.DataFrame({"first": second, "second": first, "cluster": of.clusters})
    row = stats.paired_change(both, confidence=confidence).row()
    yield trial_row("accuracy_change", row, effect=effect)


def family(rng: Generator, design: Design, confidence: float) -> Iterator[Row]:
    """Simulate a run: a classifier against the majority class, and against its equal."""
    rare = design.scenario == "rare"  # where nine in ten texts have the majority label
    share = 0.9 + design.effect / 4 if rare else 1 - _BIASED + design.effect
    of = benchmark(rng, design, right=[share, share])
    first, second = of.right
    for other, direction in ((~of.biased, -float(np.sign(design.effect))), (second, 0.0)):
        row = biasalert.detection.compared(other, first, of.clusters, confidence=confidence)
        yield {"direction": direction, "null": 0.0, **row}


#: How much worse a gate accepts, and the runs that are compared with the one that was accepted.
_MARGIN, _LOOKS = 0.05, 20


def gating(rng: Generator, design: Design, confidence: float) -> Iterator[Row]:
    """Simulate a gate before runs that are all worse by its margin and the effect.

    The p value is the least over the runs, as `nbbias gate --look` weighs them: below the level
    where the gate calls any of them worse.
    """
    accepted = _RIGHT + 0.3
    worse = accepted - _MARGIN - design.effect
    of = benchmark(rng, design, right=[accepted, *[worse] * _LOOKS])
    first, *later = of.right * 1.0
    p_values, changes = [], []
    for look, second in enumerate(later, start=1):
        both = pd.DataFrame({"first": first, "second": second, "cluster": of.clusters})
        test = stats.noninferiority_test(both, worse="lower", margin=_MARGIN)
        p_values.append(test["p_worse"] * look * (look + 1))
        changes.append(test["worsening"])
    row = {"estimate": np.mean(changes), "p_value": min(1.0, *p_values)}
    truth = _MARGIN + design.effect
    yield trial_row("worsening", row, effect=design.effect, truth=truth, null=_MARGIN)


#: Answers for each labelled one, and a classifier's sensitivity and specificity.
_ANSWERS, _ERRORS = 4, (0.8, 0.9)


def levels(rng: Generator, design: Design) -> pd.DataFrame:
    """Simulate answers of one model: verdicts on all, labels on a random sample.

    Returns
    -------
    DataFrame
        `flagged`, `label` (NaN outside the sample), `prompt_id`.
    """
    n = design.n * _ANSWERS
    errors = np.array((0.6, 0.7) if design.scenario == "poor" else _ERRORS)
    prompts = np.arange(n) // 3 if design.scenario == "prompts" else np.arange(n)
    share = np.full(n, design.effect)
    sensitivity, specificity = (np.full(n, rate) for rate in errors)
    if design.scenario == "domains":  # more errors of both kinds where more is biased
        worse = np.arange(n) % 4 == 0
        share = np.where(worse, 2.5 * design.effect, 0.5 * design.effect)
        sensitivity, specificity = np.where(worse, 0.6, 0.9), np.where(worse, 0.75, 0.95)
    by_prompt = rng.random(n)[prompts]
    biased = np.where(rng.random(n) < 0.5, by_prompt, rng.random(n)) < share
    flagged = np.where(biased, rng.random(n) < sensitivity, rng.random(n) >= specificity)
    labelled = rng.permutation(n) < design.n
    label = np.where(labelled, biased * 1.0, np.nan)
    return pd.DataFrame({"flagged": flagged * 1.0, "label": label, "prompt_id": prompts})


def level(rng: Generator, design: Design, confidence: float) -> Iterator[Row]:
    """Simulate the bias level by labels and verdicts; `n` counts labels."""
    table = levels(rng, design)
    prompts = table["prompt_id"].to_numpy() if design.scenario == "prompts" else None
    flagged, label = table["flagged"], table["label"]
    row = stats.two_phase(flagged, label, prompts=prompts, confidence=confidence).row()
    yield trial_row("biased_share_two_phase", row, effect=design.effect, null=np.nan)


MEASURES = (
    listed("biasalert", "judges", "texts", (0.0, 0.1, 0.2), classifying, family, share=0.5),
    listed("biasalert", "gate", "texts", (0.0, 0.1), gating, n=(30, 80, 400), share=0.5),
    listed("biasalert", "bias_level", "labels", (0.0, 0.05, 0.2), level, share=0.5),
)
