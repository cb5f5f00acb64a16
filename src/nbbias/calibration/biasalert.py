"""How good judges are, and how many answers are biased: studies that never were.

Texts are hard or easy for all judges alike, and may come in comments; answers have verdicts, and
some have labels. The study's own functions measure them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from nbbias import biasalert, stats
from nbbias.calibration.leads import TEXTS, pages, saying, sayings, start
from nbbias.calibration.trials import Design, Measure
from nbbias.stats import InferenceSettings

Row = dict[str, Any]

ENDS = ("estimate", "ci_low", "ci_high", "p_value")


# --- judges -------------------------------------------------------------------------------------

#: How often texts are biased, and how often judges are right where nothing is planted.
_BIASED, _RIGHT = 0.4, 0.6


class Bench(NamedTuple):
    """Texts with labels, and which judges are right on them.

    Attributes
    ----------
    biased : array
        Each text's label.
    right : array
        Judges by texts.
    clusters : array
        Each text's comment, numbered from 0.
    """

    biased: np.ndarray
    right: np.ndarray
    clusters: np.ndarray


def bench(rng: np.random.Generator, design: Design, *, right: Sequence[float]) -> Bench:
    """Simulate judges of the same texts, each right on a share of them.

    Examples
    --------
    >>> found = bench(np.random.default_rng(0), Design("single", 20_000, 12, 0.0), right=[0.6, 0.8])
    >>> found.right.mean(axis=1).round(1).tolist()
    [0.6, 0.8]
    """
    n = design.n
    clusters = np.arange(n)
    if design.world == "comments":
        clusters = clusters // 3
    elif design.world == "topics":  # comments of one text to nine
        sizes = rng.choice([1, 1, 2, 4, 9], size=n)
        clusters = np.repeat(np.arange(n), sizes)[:n]
    rare = design.world == "rare"
    # Half of the texts are as hard for one judge as for another, and all texts of a comment are.
    hard = rng.random(clusters.max() + 1)[clusters]
    biased = rng.random(n) < (0.1 if rare else _BIASED)
    if design.world == "topics":
        biased = (rng.random(clusters.max() + 1) < _BIASED)[clusters]
    found = []
    for share in right:
        own = np.where(rng.random(n) < 0.5, hard, rng.random(n))
        found.append(own < share)
    return Bench(biased, np.array(found), clusters)


def _shares(of: Bench, confidence: float) -> dict[str, Row]:
    """Return the first judge's accuracy and F1 as `biasalert.detection.estimates` has them."""
    right, clusters = of.right[0], of.clusters
    called = right == of.biased
    found: dict[str, Row] = {
        "accuracy": stats.clustered_share(right * 1.0, clusters, confidence=confidence).row()
    }
    counted = of.biased | called
    hits = (of.biased & called)[counted]
    if counted.any():
        row = stats.clustered_share(hits * 1.0, clusters[counted], confidence=confidence).row()
        found["f1"] = row | {
            name: 2 * row[name] / (1 + row[name]) for name in ("estimate", "ci_low", "ci_high")
        }
    return found


def _row(statistic: str, row: Row, *, planted: float, truth: float, null: float) -> Row:
    said = {"statistic": statistic, "group": None, "planted": planted, "truth": truth, "null": null}
    return said | {name: row.get(name, np.nan) for name in ENDS}


def judging(design: Design, repeats: int, inference: InferenceSettings) -> pd.DataFrame:
    """Return TRIALS of a judge's accuracy and F1, and of how far another is behind.

    Examples
    --------
    >>> found = judging(Design("single", 80, 12, 0.2), 2, InferenceSettings(n_permutations=100))
    >>> found.groupby("statistic", sort=False)["truth"].first().round(2).to_dict()
    {'accuracy': 0.8, 'f1': 0.76, 'accuracy_difference': 0.2}
    """
    rng, rows = start(design, inference), []
    first = (0.95 - _RIGHT if design.world == "rare" else 0.0) + _RIGHT
    first = min(first, 1 - design.planted) if design.world == "rare" else first + design.planted
    share = 0.1 if design.world == "rare" else _BIASED
    true = {"accuracy": first, "f1": 2 * share * first / (2 * share * first + 1 - first)}
    for _ in range(repeats):
        of = bench(rng, design, right=[first, first - design.planted])
        for statistic, row in _shares(of, inference.confidence).items():
            truth = true[statistic]
            rows.append(_row(statistic, row, planted=truth, truth=truth, null=np.nan))
        apart = biasalert.detection.compared(
            of.right[0], of.right[1], of.clusters, confidence=inference.confidence
        )
        rows.append(
            _row(
                "accuracy_difference", apart, planted=design.planted, truth=design.planted, null=0.0
            )
        )
    return pd.DataFrame(rows)


# --- bias levels ----------------------------------------------------------------------------------

#: Answers for each that is labelled, and how often a judge flags biased ones and passes others.
_ANSWERS, _ERRORS = 4, (0.8, 0.9)


def levels(rng: np.random.Generator, design: Design) -> pd.DataFrame:
    """Simulate answers of one model: verdicts on all, labels on a random sample.

    Returns
    -------
    DataFrame
        `flagged`, `label` (NaN outside the sample) and, where prompts were asked three times,
        `prompt_id`; `biased`, which nobody sees.
    """
    n = design.n * _ANSWERS
    errors = np.array((0.6, 0.7) if design.world == "poor" else _ERRORS)
    prompts = np.arange(n) // 3 if design.world == "prompts" else np.arange(n)
    share = np.full(n, design.planted)
    se, sp = (np.full(n, one) for one in errors)
    if design.world == "domains":  # where more is biased, a judge misses more, and flags more
        dear = np.arange(n) % 4 == 0
        share = np.where(dear, 2.5 * design.planted, 0.5 * design.planted)
        se, sp = np.where(dear, 0.6, 0.9), np.where(dear, 0.75, 0.95)
    by_prompt = rng.random(n)[prompts]
    biased = np.where(rng.random(n) < 0.5, by_prompt, rng.random(n)) < share
    flagged = np.where(biased, rng.random(n) < se, rng.random(n) >= sp)
    labelled = rng.permutation(n) < design.n
    table = pd.DataFrame({"flagged": flagged * 1.0, "biased": biased * 1.0, "prompt_id": prompts})
    return table.assign(label=table["biased"].where(labelled))


@cache
def _truths(design: Design) -> dict[str, float]:
    """Return what is true of very many answers."""
    own = levels(np.random.default_rng(0), design._replace(n=100_000))
    both = own.assign(label=own["biased"]).drop(columns="prompt_id")
    agreed, kappa = biasalert.levels.shared(both)
    return {
        "biased_share": float(own["flagged"].mean()),
        "agreement": agreed["estimate"],
        "kappa": kappa["estimate"],
        "biased_share_labelled": design.planted,
        "biased_share_two_phase": design.planted,
    }


def level(design: Design, repeats: int, inference: InferenceSettings) -> pd.DataFrame:
    """Return TRIALS of bias levels and of a judge's agreement with people; `n` counts labels.

    Examples
    --------
    >>> found = level(Design("single", 30, 12, 0.2), 1, InferenceSettings(n_permutations=100))
    >>> found["statistic"].tolist()[:3]
    ['biased_share', 'biased_share_labelled', 'biased_share_two_phase']
    """
    rng, rows, true = start(design, inference), [], _truths(design._replace(n=1, length=0))
    for _ in range(repeats):
        own = levels(rng, design)
        several = design.world == "prompts"
        prompts = own["prompt_id"].to_numpy() if several else None
        flagged, label = own["flagged"], own["label"]
        judged = (
            stats.clustered_share(
                flagged.to_numpy(),
                prompts,
                weights=stats.equal_weights(prompts),
                confidence=inference.confidence,
            ).row()
            if prompts is not None
            else stats.share_interval(flagged, confidence=inference.confidence).row()
        )
        found = {
            "biased_share": judged,
            "biased_share_labelled": stats.two_phase(
                flagged * np.nan, label, prompts=prompts, confidence=inference.confidence
            ).row(),
            "biased_share_two_phase": stats.two_phase(
                flagged, label, prompts=prompts, confidence=inference.confidence
            ).row(),
        }
        labelled = own[label.notna()]
        labelled = labelled if several else labelled.drop(columns="prompt_id")
        agreed, kappa = biasalert.levels.shared(labelled, confidence=inference.confidence)
        found |= {"agreement": agreed, "kappa": kappa}
        rows += [
            _row(name, row, planted=true[name], truth=true[name], null=np.nan)
            for name, row in found.items()
        ]
    return pd.DataFrame(rows)


# --- what leads -----------------------------------------------------------------------------------

_CLASSIFIER, _ALONE, _MAJORITY = "classifier", "classifier_alone", "majority"


def run(rng: np.random.Generator, design: Design, inference: InferenceSettings) -> list[Row]:
    """Simulate a run: a classifier, one that is as good, and the commoner label for all."""
    rare = design.world == "rare"  # where nine in ten texts have the commoner label
    share = 0.9 + design.planted / 4 if rare else 1 - _BIASED + design.planted
    of = bench(rng, design, right=[share, share])
    first, second = of.right
    majority = ~of.biased
    row = _shares(of, inference.confidence)["accuracy"]
    rows: list[Row] = [{"statistic": "accuracy", "judge": _CLASSIFIER} | row]
    for judge, right in ((_MAJORITY, majority), (_ALONE, second)):
        apart = biasalert.detection.compared(
            right, first, of.clusters, confidence=inference.confidence
        )
        key = {"statistic": "accuracy_difference", "judge": f"{judge} − {_CLASSIFIER}"}
        rows.append(key | {"n": design.n, "null": 0.0} | apart)
    return rows


def lead(design: Design, repeats: int, inference: InferenceSettings) -> pd.DataFrame:
    """Return SAYINGS of pages on a classifier, beside another as good and the commoner label.

    Examples
    --------
    >>> said = lead(Design("single", 400, 12, 0.2), 1, InferenceSettings(n_permutations=100))
    >>> said[["told", "false"]].iloc[0].tolist()
    [True, False]
    """
    rng, found = start(design, inference), []
    true = [(_MAJORITY, "more")] if design.planted else []
    test = pd.DataFrame({"biased": [True, False]})
    for rows in pages(
        [run(rng, design, inference._replace(seed=at)) for at in range(repeats)],
        claims=biasalert.params.Biasalert.model_fields["claims"].default,
        study="biasalert",
        measure="detection",
        instrument="simulated",
        confidence=inference.confidence,
    ):
        lead = biasalert.sentences.lead(rows, test=test, texts=TEXTS)
        claimed = {
            (str(row["judge"]).split(" − ")[1], "more" if row["estimate"] > 0 else "less")
            for row in lead.claims.to_dict("records")
        }
        found.append(saying(design, lead.plain, claimed=claimed, true=true))
    return sayings(found)


_SINGLE = "texts that are hard for one judge are hard for another"

MEASURES: tuple[Measure, ...] = (
    Measure(
        "biasalert",
        "judges",
        "texts",
        {
            "single": _SINGLE,
            "comments": f"{_SINGLE}; three texts of each comment",
            "rare": "one text in ten is biased, and judges are right on 95%",
            "topics": "comments of one text to nine, biased or not as a whole",
        },
        frozenset({"topics"}),
        (0.0, 0.1, 0.2),
        (10, 30, 80, 400),
        judging,
        lead,
        share=0.3,
    ),
    Measure(
        "biasalert",
        "bias_level",
        "labels",
        {
            "single": "a judge that flags 80% of the biased answers and passes 90% of the others",
            "poor": "one that flags 60% and passes 70%",
            "prompts": "every prompt asked three times, half of the answers decided by it",
            "domains": "a judge that errs more where more is biased",
        },
        frozenset({"domains"}),
        (0.0, 0.05, 0.2),
        (10, 30, 80, 400),
        level,
        share=0.3,
    ),
)
