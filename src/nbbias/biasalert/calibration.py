"""Whether a judge's probabilities are calibrated: of the texts given .8, four fifths are biased."""

from __future__ import annotations

import numpy as np
import pandas as pd

from nbbias import stats
from nbbias.biasalert.detection import INFERENCE, Row, match_verdicts, tabulate
from nbbias.biasalert.judges.registry import JUDGES
from nbbias.stats import InferenceSettings

#: Bins of equal width, and labels drawn for the null distribution, of the calibration error.
_BINS, _DRAWN = 10, 500


def estimates(
    judgements: pd.DataFrame, labelled: pd.DataFrame, *, inference: InferenceSettings = INFERENCE
) -> pd.DataFrame:
    """Estimate how well probabilities are calibrated.

    Parameters
    ----------
    judgements, labelled, inference
        As in `detection.estimates`; `confidence` of a judgement is the probability that the text
        is biased. Judges whose confidence is another score (`judges.registry`) are not measured.

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

    >>> labelled = pd.DataFrame({"text_id": list("abcd"), "biased": [False, False, True, False]})
    >>> judgements = labelled.assign(judge="mine", confidence=[0.2, 0.2, 0.9, 0.9])
    >>> estimates(judgements, labelled)["estimate"].round(3).tolist()
    [0.225, 0.3]
    """
    rng = np.random.default_rng([inference.seed, 2])
    level, rows = inference.confidence, list[Row]()
    cases, clusters = match_verdicts(judgements, labelled)
    by_judge = judgements.set_index(["judge", "text_id"])["confidence"].astype(float)
    for case in cases:
        p = by_judge[case.judge].loc[labelled["text_id"]].to_numpy()
        other = JUDGES[case.judge].score if case.judge in JUDGES else None
        valid = ~np.isnan(p) & (other is None)
        p, biased, units = p[valid], case.truth[valid, 0], clusters[valid]
        key: Row = {"judge": case.judge, "instrument": case.instrument}
        key |= {"n": len(p), "n_lost": len(labelled) - len(p)}
        if not len(p):
            reason = other or "the judge gives no probabilities"
            missing = key | {"estimate": np.nan, "reason": reason}
            rows += [missing | {"statistic": name} for name in ("brier", "calibration_error")]
            continue
        loss = stats.clustered_mean((p - biased) ** 2, units, confidence=level, bounds=(0, 1))
        brier = {"statistic": "brier", "null": biased.mean() * (1 - biased.mean())}
        rows.append(loss.replace(test=None).row() | key | brier)
        drawn = min(inference.n_permutations, _DRAWN)
        errors = [_calibration_error(p, rng.random(len(p)) < p) for _ in range(drawn)]
        null = stats.null_range(np.array(errors), confidence=level)
        row = {"statistic": "calibration_error", "estimate": _calibration_error(p, biased)}
        rows.append(key | row | null | {"reason": "resampling biases it upwards"})
    return tabulate(rows, measure="calibration", confidence=level)


def _calibration_error(p: np.ndarray, biased: np.ndarray) -> float:
    # Whole steps are edges: .3 belongs to the bin that begins there, though .3 * 10 is above 3.
    bins = np.minimum(np.round(p * _BINS, 9).astype(int), _BINS - 1)
    return float(np.abs(np.bincount(bins, weights=p - biased)).sum() / len(p))
