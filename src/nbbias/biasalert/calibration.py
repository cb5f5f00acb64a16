"""Whether a judge's probabilities are kept: of the texts given .8, four fifths are biased.

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

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from nbbias import stats, tables
from nbbias.biasalert import detection
from nbbias.biasalert.detection import INFERENCE, cases_of
from nbbias.stats import InferenceSettings

Row = dict[str, Any]

NO_PROBABILITY = "the judge gives no probabilities"

#: Shares of texts, the surest, on which a judge is also scored.
COVERAGES = (1.0, 0.8, 0.6, 0.4)

#: Labels drawn for the chance level of the calibration error.
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
        One row per judge and bin: `judge`, `low`, `high`, `n`, `mean_confidence`, `share_biased`
        with Wilson's `ci_low` and `ci_high`, and `n_lost`, the judge's texts without a
        probability. An empty bin has NaN. A calibrated judge has `share_biased` equal to
        `mean_confidence`.
    """
    if bins < 2:
        raise ValueError(f"bins must be at least 2, but is {bins}")
    edges = np.linspace(0, 1, bins + 1)
    rows: list[Row] = []
    for judge, (given, biased) in _pairs(judgements, labelled, no_probabilities or {}).items():
        known = ~np.isnan(given)
        place = _places(given[known], bins)
        for i in range(bins):
            p, y = given[known][place == i], biased[known][place == i]
            share = stats.proportion_interval(
                int(y.sum()), len(y), confidence=inference.confidence
            ).row()
            rows.append(
                {
                    "judge": judge,
                    "low": edges[i],
                    "high": edges[i + 1],
                    "n": len(y),
                    "mean_confidence": float(p.mean()) if len(p) else np.nan,
                    "share_biased": share["estimate"],
                    "ci_low": share["ci_low"],
                    "ci_high": share["ci_high"],
                    "n_lost": int((~known).sum()),
                }
            )
    return pd.DataFrame(rows)


def estimates(
    judgements: pd.DataFrame,
    labelled: pd.DataFrame,
    *,
    inference: InferenceSettings = INFERENCE,
    source: str | None = None,
    no_probabilities: Mapping[str, str] | None = None,
    bins: int = 10,
) -> pd.DataFrame:
    """Estimate how well probabilities are kept.

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
          weighted by their texts. It is above 0 by chance: `null` and its range are what a judge
          with the same probabilities would have were they kept exactly (labels drawn from them).
          It has no interval, because resampling lifts it as well.

    References
    ----------
    Brier 1950; Naeini, Cooper and Hauskrecht 2015 (ECE).
    """
    rng = np.random.default_rng([inference.seed, 2])
    _, clusters = cases_of(judgements, labelled)
    used = detection.instruments(judgements)
    others = no_probabilities or {}
    rows: list[Row] = []
    for judge, (given, biased) in _pairs(judgements, labelled, others).items():
        known = ~np.isnan(given)
        base: Row = {
            "judge": judge,
            "n": int(known.sum()),
            "n_lost": int((~known).sum()),
            "instrument": used[judge],
        }
        if not known.any():
            gap = base | {"estimate": np.nan, "reason": others.get(judge, NO_PROBABILITY)}
            rows += [gap | {"statistic": name} for name in ("brier", "calibration_error")]
            continue
        p, y = given[known], biased[known].astype(float)
        loss = (p - y) ** 2
        row = {"statistic": "brier", "estimate": loss.mean(), "null": y.mean() * (1 - y.mean())}
        again = detection.resampled_mean(loss, clusters[known], inference=inference)
        rows.append(base | row | detection.spread(again, loss.mean(), inference.confidence))
        place = _places(p, bins)
        kept = [
            _distance(p, rng.random(len(p)) < p, place, bins)
            for _ in range(min(inference.n_permutations, _DRAWN))
        ]
        chance = stats.compare_with_null(np.nan, np.array(kept), confidence=inference.confidence)
        row = {
            "statistic": "calibration_error",
            "estimate": _distance(p, y, place, bins),
            "reason": "resampling lifts it, so no interval: compare with chance",
        }
        rows.append(base | row | {name: chance[name] for name in ("null", "null_low", "null_high")})
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
        counting as one, and `commoner`, the accuracy of who always says what most of them are.

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
    >>> said = asked.assign(confidence=chances, biased=[one > 0.5 for one in chances])
    >>> found = biasalert.calibration.risk_coverage(said, labelled)
    >>> found[["coverage", "n", "sure_from", "accuracy"]].values.tolist()
    [[1.0, 5.0, 0.6, 0.8], [0.8, 4.0, 0.7, 0.75], [0.6, 3.0, 0.8, 1.0], [0.4, 2.0, 0.9, 1.0]]
    """
    clusters = cases_of(judgements, labelled)[1]
    rows: list[Row] = []
    for judge, (given, biased) in _pairs(judgements, labelled, no_probabilities or {}).items():
        known = ~np.isnan(given)
        likelier = np.maximum(given, 1 - given).round(9)[known]
        right = ((given >= 0.5) == biased)[known].astype(float)
        for coverage in COVERAGES if known.any() else ():
            least = np.sort(likelier)[::-1][int(np.ceil(coverage * len(likelier) - 1e-9)) - 1]
            own = likelier >= least
            share = stats.clustered_share(
                right[own], clusters[known][own], confidence=inference.confidence
            ).row()
            most = biased[known][own].mean()
            rows.append(
                {
                    "judge": judge,
                    "coverage": coverage,
                    "sure_from": least,
                    "n": int(own.sum()),
                    "accuracy": share["estimate"],
                    "ci_low": share["ci_low"],
                    "ci_high": share["ci_high"],
                    "commoner": max(most, 1 - most),
                }
            )
    names = ["judge", "coverage", "sure_from", "n", "accuracy", "ci_low", "ci_high", "commoner"]
    return pd.DataFrame(rows, columns=names)


def _pairs(
    judgements: pd.DataFrame, labelled: pd.DataFrame, others: Mapping[str, str]
) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    tables.require_columns(judgements, ["confidence"], where="judgements")
    found = {}
    for case in cases_of(judgements, labelled, cluster=None)[0]:
        own = judgements[judgements["judge"].astype(str) == case.judge].set_index("text_id")
        given = own["confidence"].reindex(labelled["text_id"]).to_numpy(float)
        if case.judge in others:
            given = np.full(len(given), np.nan)
        found[case.judge] = (given, case.truth.biased == 1)
    return found


def _places(given: np.ndarray, bins: int) -> np.ndarray:
    # Whole steps are edges: .3 belongs to the bin that begins there, though .3 * 10 is above 3.
    return np.minimum((np.round(given * bins, 9)).astype(int), bins - 1)


def _distance(p: np.ndarray, y: np.ndarray, place: np.ndarray, bins: int) -> float:
    off = np.bincount(place, weights=p - y, minlength=bins)
    return float(np.abs(off).sum() / len(p))
