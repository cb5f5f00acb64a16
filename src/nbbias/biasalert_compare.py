"""Judges against each other, on the texts that both gave a verdict on."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from statsmodels.stats.contingency_tables import mcnemar

from nbbias import biasalert_counts as counts
from nbbias import biasalert_scores as scores
from nbbias import contracts, stats

Row = dict[str, Any]

#: Fewer texts on which two judges disagree than this are tested exactly.
_EXACT_BELOW = 25


def differences(
    judgements: pd.DataFrame,
    labelled: pd.DataFrame,
    *,
    source: str | None = None,
    cluster: str | None = "comment_id",
    confidence: float = 0.95,
    correction: str = "holm",
    draws: int = 2000,
    seed: int = 0,
) -> pd.DataFrame:
    """Compare the accuracy of every two judges on the texts that both gave a verdict on.

    Parameters
    ----------
    judgements, labelled, source, cluster, confidence, draws, seed
        As in `biasalert_scores.estimates`.
    correction
        ``"holm"`` or ``"fdr_bh"``, over all pairs.

    Returns
    -------
    DataFrame
        ESTIMATES, one row per pair; `judge` is ``"first − second"``, `statistic`
        ``accuracy_difference`` in [-1, 1], above 0 where the first is more often right; `null` 0.
        N counts the texts that both judged, `n_lost` the others. The interval resamples clusters;
        there is none where every resample gives the same.
        `p_value` is McNemar's (exact below 25 texts on which one alone is right, else chi squared
        with the continuity correction); it takes texts for independent, the interval does not.

    References
    ----------
    McNemar 1947, Psychometrika 12(2).
    """
    cases, clusters = counts.cases(judgements, labelled, cluster=cluster)
    used = scores.instruments(judgements)
    rows: list[Row] = []
    for one, other in combinations(cases, 2):
        both = ~np.isnan(one.said.biased) & ~np.isnan(other.said.biased)
        first, second = (c.said.biased[both] == c.truth.biased[both] for c in (one, other))
        row: Row = {
            "judge": f"{one.judge} − {other.judge}", "statistic": "accuracy_difference",
            "n": int(both.sum()), "n_lost": int((~both).sum()), "null": 0.0, "test": "McNemar",
            "instrument": f"{used[one.judge]}; {used[other.judge]}",
        }  # fmt: skip
        if not both.any():
            rows.append(row | {"estimate": np.nan, "reason": "no text has both verdicts"})
            continue
        change = first.astype(float) - second.astype(float)
        estimate = float(change.mean())
        own = np.unique(clusters[both], return_inverse=True)[1]
        sums = scores.resampled(
            np.column_stack([change, np.ones(len(change))]), own, draws=draws, seed=seed
        )
        alone = int((change > 0).sum()), int((change < 0).sum())
        row["estimate"] = estimate
        if not sum(alone):
            rows.append(row | {"reason": "both are right on the same texts: nothing to test"})
            continue
        again = sums[:, 0] / sums[:, 1]
        if np.ptp(again) > 0:
            row["ci_low"], row["ci_high"] = scores.percentiles(
                again, estimate=estimate, confidence=confidence
            )
        else:  # no spread is no certainty
            row["reason"] = scores.ALIKE
        exact = sum(alone) < _EXACT_BELOW
        table = [[int((first & second).sum()), alone[0]], [alone[1], int((~first & ~second).sum())]]
        result = mcnemar(table, exact=exact, correction=True)
        row["p_value"] = min(float(result.pvalue), 1.0)
        if not exact:
            row |= {"statistic_value": float(result.statistic), "df": 1.0}
        rows.append(row)
    corrected = stats.adjusted(
        pd.Series([row.get("p_value", np.nan) for row in rows], dtype=float), method=correction
    )
    for row, value in zip(rows, corrected, strict=True):
        row["p_adjusted"] = value
    return contracts.estimates(rows, study=scores.STUDY, measure=scores.MEASURE, source=source)
