"""Judges against each other, and one judge on a type of bias that it has never seen."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from statsmodels.stats.contingency_tables import mcnemar

from nbbias import biasalert_counts as counts
from nbbias import biasalert_scores as scores
from nbbias import contracts, stats
from nbbias.errors import DataError

Row = dict[str, Any]

#: Learns from LABELLED and returns a judge: TEXTS → JUDGEMENTS.
Fit = Callable[[pd.DataFrame], Callable[[pd.DataFrame], pd.DataFrame]]

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
        N counts the texts that both judged, `n_lost` the others. The interval resamples clusters.
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
        row["ci_low"], row["ci_high"] = scores.percentiles(
            sums[:, 0] / sums[:, 1], estimate=estimate, confidence=confidence
        )
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


def leave_one_type_out(
    labelled: pd.DataFrame, fit: Fit, *, cluster: str = "comment_id"
) -> pd.DataFrame:
    """Judge the texts of each bias type by a judge that was fitted on the others.

    Parameters
    ----------
    labelled
        LABELLED with `bias_type`. Where it has a column `split`, only rows of ``"train"`` are
        learnt from and only rows of ``"test"`` judged.
    fit
        Called with the LABELLED rows of the other types; returns a judge, which is called with the
        TEXTS of the type that was held out (only `text_id` and `text`).
    cluster
        Rows whose cluster is among those to be judged are not learnt from.

    Returns
    -------
    DataFrame
        JUDGEMENTS of every judged text, with `held_out`, the type that was not learnt from, and
        `n_train`. `biasalert_scores.by_type` makes estimates of it, with the texts of
        `split == "test"` as its labels.

    Raises
    ------
    DataError
        There are fewer than two types, or what is left to learn from has one class only.

    References
    ----------
    Fan et al. 2024, appendix A.2, which holds religion out.
    """
    contracts.need(labelled, ["text_id", "text", "biased", "bias_type"], where="labelled")
    split = "split" in labelled
    learnt = labelled[labelled["split"] == "train"] if split else labelled
    judged = labelled[labelled["split"] == "test"] if split else labelled
    types = sorted(judged["bias_type"].dropna().unique())
    if labelled["bias_type"].nunique() < 2:
        raise DataError("labelled", "has fewer than two bias types, so none can be left out")
    plans = []
    breaches = []
    for held_out in types:
        asked = judged[judged["bias_type"] == held_out]
        rest = learnt[learnt["bias_type"].notna() & (learnt["bias_type"] != held_out)]
        if cluster in labelled:
            rest = rest[~rest[cluster].isin(asked[cluster].dropna())]
        if rest["biased"].nunique() < 2:
            breaches.append(f"without {held_out} there are not both biased and other texts")
        plans.append((held_out, rest, asked))
    if breaches:
        raise DataError("labelled", breaches)
    tables = [
        fit(rest.reset_index(drop=True))(asked[["text_id", "text"]].reset_index(drop=True)).assign(
            held_out=held_out, n_train=len(rest)
        )
        for held_out, rest, asked in plans
    ]
    return pd.concat(tables, ignore_index=True)
