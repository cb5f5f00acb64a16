"""Whether a judge's probabilities are calibrated: of the texts given .8, four fifths are biased.

Four texts of a judge that is surer than it is right: of the two that it gave .9, one is biased.

>>> import pandas as pd
>>> from nbbias import biasalert
>>> labelled = pd.DataFrame({"text_id": list("abcd"), "text": list("abcd"),
...                          "biased": [False, False, True, False]})
>>> asked = biasalert.detection.constants(labelled).query("judge == 'never biased'")
>>> judgements = asked.assign(confidence=[0.2, 0.2, 0.9, 0.9], biased=[False, False, True, True])
>>> curve = biasalert.calibration.curve(judgements, labelled, bins=2)
>>> curve[["low", "high", "n", "mean_confidence", "share_biased"]].values.tolist()
[[0.0, 0.5, 2.0, 0.2, 0.0], [0.5, 1.0, 2.0, 0.9, 0.5]]
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from nbbias import stats, tables
from nbbias.biasalert import detection
from nbbias.biasalert.detection import INFERENCE, cases_of
from nbbias.stats import InferenceSettings

Row = dict[str, Any]

NO_PROBABILITY = "the judge gives no probabilities"

#: Shares of texts, the most certain ones, on which a judge is also scored.
COVERAGES = (1.0, 0.8, 0.6, 0.4)

#: Labels drawn for the null distribution of the calibration error.
_DRAWN = 500


def curve(
    judgements: pd.DataFrame,
    labelled: pd.DataFrame,
    *,
    no_probabilities: Mapping[str, str] | None = None,
    bins: int = 10,
    inference: InferenceSettings = INFERENCE,
) -> pd.DataFrame:
    """Return the calibration curve of each judge.

    Parameters
    ----------
    judgements, labelled
        As in `detection.estimates`; `confidence` of a judgement is the probability that the text
        is biased.
    no_probabilities
        Judges whose `confidence` is a score of something else, each with what it is: they are not
        measured.
    bins
        Bins of equal width from 0 to 1, at least 2. A bin holds its lower edge; the last one
        holds 1 too.
    inference
        Level of the intervals.

    Returns
    -------
    DataFrame
        One row per judge and bin that holds a text: `judge`, `low`, `high`, `n`,
        `mean_confidence`, and `share_biased` with Wilson's `ci_low` and `ci_high`. A calibrated
        judge has `share_biased` equal to `mean_confidence`.
    """
    if bins < 2:
        raise ValueError(f"bins must be at least 2, but is {bins}")
    rows: list[Row] = []
    for judge, p, biased, _ in _measured(judgements, labelled, no_probabilities or {}):
        place = _bin(p, bins)
        for i in np.unique(place):
            share = stats.share_interval(biased[place == i], confidence=inference.confidence)
            row: Row = {"judge": judge, "low": i / bins, "high": (i + 1) / bins, "n": share.n}
            row |= {"mean_confidence": p[place == i].mean(), "share_biased": share.estimate}
            rows.append(row | {"ci_low": share.ci_low, "ci_high": share.ci_high})
    names = ["judge", "low", "high", "n", "mean_confidence", "share_biased", "ci_low", "ci_high"]
    return pd.DataFrame(rows, columns=names)


def estimates(
    judgements: pd.DataFrame,
    labelled: pd.DataFrame,
    *,
    inference: InferenceSettings = INFERENCE,
    source: str | None = None,
    no_probabilities: Mapping[str, str] | None = None,
    bins: int = 10,
) -> pd.DataFrame:
    """Estimate how well probabilities are calibrated.

    Parameters
    ----------
    judgements, labelled, no_probabilities, bins
        As in `curve`.
    inference, source
        As in `biasalert.detection.estimates`.

    Returns
    -------
    DataFrame
        ESTIMATES, one row per judge and statistic; in [0, 1], lower is better; `n_lost` counts the
        texts without a probability:

        - ``brier``: mean squared distance of the probability from the label. Interval over
          resampled clusters. `null` is that of a judge that gives every text the share of biased
          texts, p(1 - p).
        - ``calibration_error`` (ECE): mean distance of bins' shares from their mean probabilities,
          weighted by their texts. It is above 0 by chance: `null` and its range are what a
          calibrated judge with the same probabilities would have (labels drawn from them).
          It has no interval, because resampling lifts it as well.

    References
    ----------
    Brier 1950; Naeini, Cooper and Hauskrecht 2015 (ECE).
    """
    rng = np.random.default_rng([inference.seed, 2])
    used = detection.instruments(judgements)
    others = no_probabilities or {}
    rows: list[Row] = []
    for judge, p, biased, clusters in _measured(judgements, labelled, others):
        key: Row = {"judge": judge, "n": len(p), "n_lost": len(labelled) - len(p)}
        key["instrument"] = used[judge]
        if not len(p):
            missing = key | {"estimate": np.nan, "reason": others.get(judge, NO_PROBABILITY)}
            rows += [missing | {"statistic": name} for name in ("brier", "calibration_error")]
            continue
        y = biased.astype(float)
        loss = (p - y) ** 2
        row = {"statistic": "brier", "estimate": loss.mean(), "null": y.mean() * (1 - y.mean())}
        sums = detection.resampled(
            np.column_stack([loss, np.ones(len(loss))]), clusters, inference=inference
        )
        interval = detection.spread(sums[:, 0] / sums[:, 1], loss.mean(), inference.confidence)
        rows.append(key | row | interval)
        calibrated = [
            _distance(p, rng.random(len(p)) < p, bins)
            for _ in range(min(inference.n_permutations, _DRAWN))
        ]
        null = stats.compare_with_null(
            np.nan, np.array(calibrated), confidence=inference.confidence
        )
        row = {
            "statistic": "calibration_error",
            "estimate": _distance(p, y, bins),
            "reason": "resampling lifts it, so no interval: compare with the null range",
        }
        rows.append(key | row | {name: null[name] for name in ("null", "null_low", "null_high")})
    return tables.estimates(
        rows,
        study=detection.STUDY,
        measure="calibration",
        source=source,
        confidence=inference.confidence,
    )


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
    judgements, labelled, no_probabilities
        As in `curve`; a judge without probabilities has no rows.
    inference
        Level of the intervals.

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
    >>> labelled = pd.DataFrame({"text_id": list("abcde"), "text": list("abcde"),
    ...                          "biased": [True, True, False, False, True]})
    >>> asked = biasalert.detection.constants(labelled).query("judge == 'always biased'")
    >>> chances = [0.9, 0.8, 0.1, 0.7, 0.6]
    >>> judgements = asked.assign(confidence=chances, biased=[p > 0.5 for p in chances])
    >>> table = biasalert.calibration.risk_coverage(judgements, labelled)
    >>> table[["coverage", "n", "sure_from", "accuracy"]].values.tolist()
    [[1.0, 5.0, 0.6, 0.8], [0.8, 4.0, 0.7, 0.75], [0.6, 3.0, 0.8, 1.0], [0.4, 2.0, 0.9, 1.0]]
    """
    rows: list[Row] = []
    for judge, p, biased, clusters in _measured(judgements, labelled, no_probabilities or {}):
        likelier = np.maximum(p, 1 - p).round(9)
        right = ((p >= 0.5) == biased).astype(float)
        for coverage in COVERAGES if len(p) else ():
            least = np.sort(likelier)[::-1][int(np.ceil(coverage * len(p) - 1e-9)) - 1]
            kept = likelier >= least
            share = stats.clustered_share(
                right[kept], clusters[kept], confidence=inference.confidence
            )
            most = biased[kept].mean()
            row: Row = {"judge": judge, "coverage": coverage, "sure_from": least, "n": share.n}
            row |= {"accuracy": share.estimate, "ci_low": share.ci_low, "ci_high": share.ci_high}
            rows.append(row | {"majority_class": max(most, 1 - most)})
    names = ["judge", "coverage", "sure_from", "n", "accuracy", "ci_low", "ci_high"]
    return pd.DataFrame(rows, columns=[*names, "majority_class"])


def _measured(
    judgements: pd.DataFrame, labelled: pd.DataFrame, others: Mapping[str, str]
) -> Iterator[tuple[str, np.ndarray, np.ndarray, np.ndarray]]:
    """Yield each judge, and of texts with a probability that, the label and the cluster."""
    tables.require_columns(judgements, ["confidence"], where="judgements")
    cases, clusters = cases_of(judgements, labelled)
    for case in cases:
        own = judgements[judgements["judge"].astype(str) == case.judge].set_index("text_id")
        p = own["confidence"].reindex(labelled["text_id"]).to_numpy(float)
        known = ~np.isnan(p) & (case.judge not in others)
        numbers = np.unique(clusters[known], return_inverse=True)[1]
        yield case.judge, p[known], case.truth.biased[known] == 1, numbers


def _bin(p: np.ndarray, bins: int) -> np.ndarray:
    # Whole steps are edges: .3 belongs to the bin that begins there, though .3 * 10 is above 3.
    return np.minimum((np.round(p * bins, 9)).astype(int), bins - 1)


def _distance(p: np.ndarray, y: np.ndarray, bins: int) -> float:
    differences = np.bincount(_bin(p, bins), weights=p - y, minlength=bins)
    return float(np.abs(differences).sum() / len(p))
