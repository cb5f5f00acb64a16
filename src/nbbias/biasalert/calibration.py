"""Whether a judge's probabilities are kept: of the texts given .8, four fifths are biased."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from nbbias import stats, tables
from nbbias.biasalert import detection
from nbbias.biasalert.detection import cases_of

Row = dict[str, Any]

NO_PROBABILITY = "the judge gives no probabilities"


def curve(
    judgements: pd.DataFrame, labelled: pd.DataFrame, *,
    no_probabilities: Mapping[str, str] | None = None, bins: int = 10, confidence: float = 0.95,
) -> pd.DataFrame:  # fmt: skip
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
    confidence
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
            here = place == i
            share = stats.proportion_interval(
                int(biased[known][here].sum()), int(here.sum()), confidence=confidence
            )
            mean = float(given[known][here].mean()) if here.any() else np.nan
            rows.append(
                {
                    "judge": judge, "low": edges[i], "high": edges[i + 1], "n": share["n"],
                    "mean_confidence": mean, "share_biased": share["estimate"],
                    "ci_low": share["ci_low"], "ci_high": share["ci_high"],
                    "n_lost": int((~known).sum()),
                }
            )  # fmt: skip
    return pd.DataFrame(rows)


def estimates(
    judgements: pd.DataFrame,
    labelled: pd.DataFrame,
    *,
    source: str | None = None,
    no_probabilities: Mapping[str, str] | None = None,
    bins: int = 10,
    cluster: str | None = "comment_id",
    confidence: float = 0.95,
    draws: int = 2000,
    seed: int = 0,
) -> pd.DataFrame:
    """Estimate how well probabilities are kept.

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
    rng = np.random.default_rng([seed, 2])
    _, clusters = cases_of(judgements, labelled, cluster=cluster)
    used = detection.instruments(judgements)
    tails = [(1 - confidence) / 2, (1 + confidence) / 2]
    rows: list[Row] = []
    others = no_probabilities or {}
    for judge, (given, biased) in _pairs(judgements, labelled, others).items():
        known = ~np.isnan(given)
        base: Row = {
            "judge": judge, "n": int(known.sum()), "n_lost": int((~known).sum()),
            "instrument": used[judge],
        }  # fmt: skip
        if not known.any():
            gap = base | {"estimate": np.nan, "reason": others.get(judge, NO_PROBABILITY)}
            rows += [gap | {"statistic": name} for name in ("brier", "calibration_error")]
            continue
        p, y = given[known], biased[known].astype(float)
        loss = (p - y) ** 2
        own = np.unique(clusters[known], return_inverse=True)[1]
        sums = detection.resampled(
            np.column_stack([loss, np.ones(len(loss))]), own, draws=draws, seed=seed
        )
        brier = float(loss.mean())
        row = base | {"statistic": "brier", "estimate": brier, "null": y.mean() * (1 - y.mean())}
        if np.ptp(sums[:, 0] / sums[:, 1]) > 0:
            row["ci_low"], row["ci_high"] = detection.percentiles(
                sums[:, 0] / sums[:, 1], estimate=brier, confidence=confidence
            )
        else:
            row["reason"] = detection.ALIKE
        rows.append(row)
        place = _places(p, bins)
        chance = np.array(
            [_distance(p, rng.random(len(p)) < p, place, bins) for _ in range(min(draws, 500))]
        )
        low, high = np.quantile(chance, tails)
        rows.append(
            base | {
                "statistic": "calibration_error", "estimate": _distance(p, y, place, bins),
                "null": chance.mean(), "null_low": low, "null_high": high,
                "reason": "resampling lifts it, so no interval: compare with chance",
            }
        )  # fmt: skip
    return tables.estimates(rows, study=detection.STUDY, measure="calibration", source=source)


def _pairs(
    judgements: pd.DataFrame, labelled: pd.DataFrame, others: Mapping[str, str]
) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    tables.need(judgements, ["confidence"], where="judgements")
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
