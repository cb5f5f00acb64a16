"""Whether a judge's probabilities are calibrated: of the texts given .8, four fifths are biased."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.metrics import brier_score_loss

from nbbias import stats, tables
from nbbias.biasalert.detection import INFERENCE, STUDY, Case, match_verdicts
from nbbias.stats import InferenceSettings

Row = dict[str, Any]

NO_PROBABILITY = "the judge gives no probabilities"

#: Shares of texts, the most certain ones, on which a judge is also scored.
COVERAGES = (1.0, 0.8, 0.6, 0.4)

#: Bins of equal width, and labels drawn for the null distribution, of the calibration error.
_BINS, _DRAWN = 10, 500


class Probabilities(NamedTuple):
    """A judge's probabilities of bias with the labels and clusters of the texts that have one."""

    case: Case
    p: np.ndarray
    biased: np.ndarray
    clusters: np.ndarray


def _probabilities(
    judgements: pd.DataFrame, labelled: pd.DataFrame, no_probabilities: Mapping[str, str]
) -> Iterator[Probabilities]:
    tables.require_columns(judgements, ["confidence"], where="judgements")
    cases, clusters = match_verdicts(judgements, labelled)
    for case in cases:
        own = judgements[judgements["judge"].astype(str) == case.judge].set_index("text_id")
        p = own["confidence"].reindex(labelled["text_id"]).to_numpy(float)
        known = ~np.isnan(p) & (case.judge not in no_probabilities)
        yield Probabilities(case, p[known], case.truth[known, 0], clusters[known])


def estimates(
    judgements: pd.DataFrame,
    labelled: pd.DataFrame,
    *,
    inference: InferenceSettings = INFERENCE,
    source: str | None = None,
    no_probabilities: Mapping[str, str] | None = None,
) -> pd.DataFrame:
    """Estimate how well probabilities are calibrated.

    Parameters
    ----------
    judgements, labelled, inference, source
        As in `detection.estimates`; `confidence` of a judgement is the probability that the text
        is biased.
    no_probabilities
        Judges whose `confidence` is a score of something else, each with what it is: they are not
        measured.

    Returns
    -------
    DataFrame
        ESTIMATES, one row per judge and statistic; in [0, 1], lower is better; `n_lost` counts the
        texts without a probability:

        - ``brier``: mean squared distance of the probability from the label, with the t interval
          over clusters. `null` is that of a judge that gives every text the share of biased texts,
          p(1 - p).
        - ``calibration_error`` (ECE): mean distance of ten bins' shares from their mean
          probabilities, weighted by their texts. It is above 0 by chance: `null` and its range are
          what a calibrated judge with the same probabilities would have (labels drawn from them).
          It has no interval, because resampling lifts it as well.

    References
    ----------
    Brier 1950; Naeini, Cooper and Hauskrecht 2015 (ECE).

    Examples
    --------
    Four texts of a judge that is surer than it is right: of the two given .9 one is biased.

    >>> from nbbias import biasalert
    >>> labelled = pd.DataFrame({"text_id": list("abcd"), "biased": [False, False, True, False]})
    >>> verdicts = biasalert.detection.judge_constantly(labelled).query("judge == 'never biased'")
    >>> judgements = verdicts.assign(confidence=[0.2, 0.2, 0.9, 0.9])
    >>> estimates(judgements, labelled)["estimate"].round(3).tolist()
    [0.225, 0.3]
    """
    rng = np.random.default_rng([inference.seed, 2])
    others, level = no_probabilities or {}, inference.confidence
    rows: list[Row] = []
    for case, p, biased, clusters in _probabilities(judgements, labelled, others):
        key: Row = {"judge": case.judge, "instrument": case.instrument}
        key |= {"n": len(p), "n_lost": len(labelled) - len(p)}
        if not len(p):
            missing = key | {"estimate": np.nan, "reason": others.get(case.judge, NO_PROBABILITY)}
            rows += [missing | {"statistic": name} for name in ("brier", "calibration_error")]
            continue
        loss = stats.clustered_mean((p - biased) ** 2, clusters, confidence=level, bounds=(0, 1))
        brier = {
            "estimate": brier_score_loss(biased, p),
            "null": biased.mean() * (1 - biased.mean()),
        }
        ends = {end: getattr(loss, end) for end in ("ci_low", "ci_high", "reason")}
        rows.append(key | {"statistic": "brier"} | brier | ends)
        drawn = min(inference.n_permutations, _DRAWN)
        errors = [_calibration_error(p, rng.random(len(p)) < p) for _ in range(drawn)]
        null = stats.compare_with_null(np.nan, np.array(errors), confidence=level)
        row = {
            "statistic": "calibration_error",
            "estimate": _calibration_error(p, biased),
            "reason": "resampling lifts it, so no interval: compare with the null range",
        }
        rows.append(key | row | {name: null[name] for name in ("null", "null_low", "null_high")})
    return tables.estimates(
        rows, study=STUDY, measure="calibration", source=source, confidence=level
    )


def _calibration_error(p: np.ndarray, biased: np.ndarray) -> float:
    # Whole steps are edges: .3 belongs to the bin that begins there, though .3 * 10 is above 3.
    bins = np.minimum(np.round(p * _BINS, 9).astype(int), _BINS - 1)
    return float(np.abs(np.bincount(bins, weights=p - biased)).sum() / len(p))


def risk_coverage(
    judgements: pd.DataFrame,
    labelled: pd.DataFrame,
    *,
    no_probabilities: Mapping[str, str] | None = None,
    inference: InferenceSettings = INFERENCE,
) -> pd.DataFrame:
    """Return how often a judge is right where it abstains from the texts it is least sure of.

    Parameters
    ----------
    judgements, labelled, no_probabilities, inference
        As in `estimates`; a judge without probabilities has no rows.

    Returns
    -------
    DataFrame
        One row per judge and coverage of `COVERAGES`: `judge`, `coverage` (share of its texts with
        a probability that get a verdict, at least: ties get one together), `sure_from` (the least
        probability of the likelier label among them, in [0.5, 1]), `n`, `accuracy` in [0, 1]
        (higher is better; 1 less the risk), Wilson's `ci_low` and `ci_high`, near-duplicates
        counting as one, and `majority_class`, the accuracy of who always says what most of them
        are.

    References
    ----------
    El-Yaniv and Wiener 2010 (risk and coverage).

    Examples
    --------
    >>> from nbbias import biasalert
    >>> biased = [True, True, False, False, True]
    >>> labelled = pd.DataFrame({"text_id": list("abcde"), "biased": biased})
    >>> verdicts = biasalert.detection.judge_constantly(labelled).query("judge == 'always biased'")
    >>> table = risk_coverage(verdicts.assign(confidence=[0.9, 0.8, 0.1, 0.7, 0.6]), labelled)
    >>> table[["coverage", "n", "sure_from", "accuracy"]].values.tolist()
    [[1.0, 5.0, 0.6, 0.8], [0.8, 4.0, 0.7, 0.75], [0.6, 3.0, 0.8, 1.0], [0.4, 2.0, 0.9, 1.0]]
    """
    rows: list[Row] = []
    for case, p, biased, clusters in _probabilities(judgements, labelled, no_probabilities or {}):
        certainty = np.maximum(p, 1 - p).round(9)
        right = ((p >= 0.5) == biased).astype(float)
        for coverage in COVERAGES if len(p) else ():
            least = np.sort(certainty)[::-1][int(np.ceil(coverage * len(p) - 1e-9)) - 1]
            sure = certainty >= least
            share = stats.clustered_share(
                right[sure], clusters[sure], confidence=inference.confidence
            )
            most = biased[sure].mean()
            row: Row = {"judge": case.judge, "coverage": coverage, "sure_from": least, "n": share.n}
            row |= {"accuracy": share.estimate, "ci_low": share.ci_low, "ci_high": share.ci_high}
            rows.append(row | {"majority_class": max(most, 1 - most)})
    names = ["judge", "coverage", "sure_from", "n", "accuracy", "ci_low", "ci_high"]
    return pd.DataFrame(rows, columns=[*names, "majority_class"])
