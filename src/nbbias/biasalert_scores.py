"""How good judges are on labelled texts: shares, F1, types, attributions, overall scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from nbbias import biasalert_counts as counts
from nbbias import contracts, stats
from nbbias.biasalert_counts import PLAIN_SHARES, STATISTICS, Case
from nbbias.biasalert_names import Canonical

Row = dict[str, Any]

STUDY, MEASURE = "biasalert", "detection"

#: Two judges that read nothing: the levels that any judge has to beat.
ALWAYS, NEVER = "always biased", "never biased"

#: Rounds of resampling that are held in memory at once.
_AT_ONCE = 64

NOTHING = "no text to take it of"
ALIKE = "every resample gives the same"


def constants(labelled: pd.DataFrame) -> pd.DataFrame:
    """Return the JUDGEMENTS of two judges that read nothing: one flags every text, one none."""
    return pd.concat(
        [
            pd.DataFrame(
                {
                    "text_id": labelled["text_id"], "judge": name,
                    "biased": pd.array([name == ALWAYS] * len(labelled), dtype="boolean"),
                    "bias_type": None, "group": None, "attribute": None, "confidence": np.nan,
                    "explanation": None, "evidence_ids": "", "knowledge": "",
                    "outcome": "judged", "reason": None, "raw": None,
                }
            )
            for name in (ALWAYS, NEVER)
        ],
        ignore_index=True,
    )  # fmt: skip


def losses(judgements: pd.DataFrame) -> pd.DataFrame:
    """Count how judging ended: one row per judge and `outcome`, with `n`, `share` and a `reason`.

    `reason` is the most frequent one of that outcome. Shares are of all texts of the judge.
    """
    contracts.need(judgements, ["judge", "outcome"], where="judgements")
    rows = []
    for judge, own in judgements.groupby("judge", sort=False):
        for outcome, part in own.groupby("outcome", sort=True):
            said = part["reason"].dropna() if "reason" in part else pd.Series(dtype="str")
            reason = said.mode().iloc[0] if len(said) else None
            rows.append((judge, outcome, len(part), len(part) / len(own), reason))
    return pd.DataFrame(rows, columns=["judge", "outcome", "n", "share", "reason"])


def estimates(
    judgements: pd.DataFrame,
    labelled: pd.DataFrame,
    *,
    source: str | None = None,
    statistics: Sequence[str] = STATISTICS,
    cluster: str | None = "comment_id",
    canonical: Canonical | None = None,
    confidence: float = 0.95,
    draws: int = 2000,
    permutations: int = 200,
    seed: int = 0,
) -> pd.DataFrame:
    """Estimate how good each judge is.

    Parameters
    ----------
    judgements
        JUDGEMENTS of one judge or more; every judge has a row for every labelled text.
    labelled
        LABELLED.
    source
        The name of the labelled texts.
    statistics
        Some of `STATISTICS`.
    cluster
        The column of `labelled` whose texts are resampled together.
    canonical
        Turns a group's name into the one that it is compared by; see `biasalert_counts.cases`.
    confidence, draws, seed
        Level of the intervals, resamples behind them, start of the draws.
    permutations
        Times that verdicts are dealt anew for the chance level.

    Returns
    -------
    DataFrame
        ESTIMATES, one row per judge and statistic, `bias` and `group` empty; all in [0, 1], higher
        is better. N counts the texts that a statistic rests on.

        - ``accuracy``, ``f1``, ``precision``, ``recall``, ``specificity``: over the texts with a
          verdict; `n_lost` counts the others.
        - ``…_lost_wrong``: the same where a text without a verdict counts as wrong.
        - ``classification_score``: the type is right, of the texts called biased whose type the
          label names (also false alarms, where the label names the topic), as in the paper.
        - ``attribution_score``: group and attribute are right, of the texts called biased whose
          label names both. A name is right when all its words stand in the label's, or the label's
          words in a name at most twice as long. That is lenient with long labels: compare with
          chance.
        - ``overall_score_joint``: the share of texts right in all respects, as the paper's text
          says; ``overall_score_product``: accuracy × CS × AS, which is what its Table 1 prints.

        The interval is the percentile interval over resampled clusters; a share that is 0 or 1 in
        every resample has Wilson's over the clusters that hold a text it is taken of. `null` is the
        mean, `null_low` to `null_high` the range, when verdicts are dealt to other texts. The
        judges ``"always biased"`` and ``"never biased"`` are the other chance level: the better
        accuracy of the two is that of the majority class.

    Raises
    ------
    ContractError, DataError
        As `biasalert_counts.cases`.
    """
    cases, clusters = counts.cases(judgements, labelled, cluster=cluster, canonical=canonical)
    rows = _rows(
        cases, clusters, statistics=statistics, confidence=confidence, draws=draws,
        permutations=permutations, seed=seed,
    )  # fmt: skip
    return _table(rows, judgements, source)


def by_type(
    judgements: pd.DataFrame,
    labelled: pd.DataFrame,
    *,
    source: str | None = None,
    statistics: Sequence[str] = ("accuracy", "f1", "recall", "specificity"),
    cluster: str | None = "comment_id",
    canonical: Canonical | None = None,
    confidence: float = 0.95,
    draws: int = 2000,
    permutations: int = 200,
    seed: int = 0,
) -> pd.DataFrame:
    """Estimate how good each judge is on the texts of each bias type.

    Returns
    -------
    DataFrame
        ESTIMATES as of `estimates`, with the type in `bias`; chance deals verdicts within a type.
        A text belongs to the type that its label names, be it biased or not; texts of no type are
        left aside.
    """
    contracts.need(labelled, ["bias_type"], where="labelled")
    tables = []
    for bias_type, own in labelled.groupby("bias_type", sort=True):
        found = estimates(
            judgements, own, source=source, statistics=statistics, cluster=cluster,
            canonical=canonical, confidence=confidence, draws=draws,
            permutations=permutations, seed=seed,
        )  # fmt: skip
        tables.append(found.assign(bias=str(bias_type)))
    return pd.concat(tables, ignore_index=True) if tables else contracts.estimates([], study=STUDY)


# --- the machinery ------------------------------------------------------------------------------


def resampled(values: np.ndarray, clusters: np.ndarray, *, draws: int, seed: int) -> np.ndarray:
    """Sum the rows of a matrix over resampled clusters.

    Parameters
    ----------
    values
        Texts by columns.
    clusters
        Each text's cluster, numbered from 0.

    Returns
    -------
    array
        Draws by columns. Each draw takes as many clusters as there are, with replacement.
    """
    count = int(clusters.max()) + 1
    by_cluster = np.zeros((count, values.shape[1]))
    np.add.at(by_cluster, clusters, values)
    rng = np.random.default_rng(seed)
    found = []
    for start in range(0, draws, _AT_ONCE):
        rounds = min(_AT_ONCE, draws - start)
        places = rng.integers(count, size=(rounds, count))
        places += np.arange(rounds)[:, None] * count
        times = np.bincount(places.ravel(), minlength=rounds * count).reshape(rounds, count)
        found.append(times @ by_cluster)
    return np.concatenate(found)


def percentiles(values: np.ndarray, *, estimate: float, confidence: float) -> tuple[float, float]:
    """Return the percentile interval of resampled values, which holds the estimate."""
    known = values[~np.isnan(values)]
    if len(known) == 0 or np.isnan(estimate):
        return np.nan, np.nan
    low, high = np.quantile(known, [(1 - confidence) / 2, (1 + confidence) / 2])
    return min(float(low), estimate), max(float(high), estimate)


def _rows(
    cases: Sequence[Case], clusters: np.ndarray, *, statistics: Sequence[str], confidence: float,
    draws: int, permutations: int, seed: int,
) -> list[Row]:  # fmt: skip
    # The same resamples and the same deals for every judge, so that judges can be compared.
    rng = np.random.default_rng([seed, 1])
    orders = [rng.permutation(len(clusters)) for _ in range(permutations)]
    tails = [(1 - confidence) / 2, (1 + confidence) / 2]
    rows = []
    for case in cases:
        own = counts.hits(case)
        sums = own.sum(axis=0)
        values = counts.scores(sums)
        again = counts.scores(resampled(own, clusters, draws=draws, seed=seed))
        dealt = counts.scores(np.array([counts.hits(case, order=o).sum(axis=0) for o in orders]))
        for name in statistics:
            n, n_lost = counts.size(sums, name)
            row: Row = {"judge": case.judge, "statistic": name, "n": n, "n_lost": n_lost}
            estimate = float(values[name])
            reason = counts.gap(case, name) or (NOTHING if np.isnan(estimate) else None)
            if reason:
                rows.append(
                    row | {"estimate": np.nan, "reason": reason, "n": 0, "n_lost": n + n_lost}
                )
                continue
            row["estimate"] = estimate
            if np.nanmin(again[name]) < np.nanmax(again[name]):
                row["ci_low"], row["ci_high"] = percentiles(
                    again[name], estimate=estimate, confidence=confidence
                )
            elif name in PLAIN_SHARES and estimate in (0.0, 1.0):
                units = len(np.unique(clusters[counts.basis(own, name)]))
                row |= stats.proportion_interval(
                    round(estimate * units), units, confidence=confidence
                ) | {"n": n}
            else:
                row["reason"] = ALIKE
            chance = dealt[name][~np.isnan(dealt[name])]
            if len(chance):
                row["null"] = chance.mean()
                row["null_low"], row["null_high"] = np.quantile(chance, tails)
            rows.append(row)
    return rows


def _table(rows: list[Row], judgements: pd.DataFrame, source: str | None) -> pd.DataFrame:
    used = instruments(judgements)
    for row in rows:
        row["instrument"] = used[row["judge"]]
    return contracts.estimates(rows, study=STUDY, measure=MEASURE, source=source)


def instruments(judgements: pd.DataFrame) -> dict[str, str]:
    """Return what each judge's numbers were measured with: the judge and its knowledge."""
    used = {}
    for judge, own in judgements.groupby("judge", sort=False):
        versions = own["knowledge"].dropna() if "knowledge" in own else pd.Series(dtype="str")
        known = sorted(set(versions.astype(str)) - {""})
        used[str(judge)] = f"{judge}, knowledge {' and '.join(known)}" if known else str(judge)
    used |= {name: "the same verdict on every text" for name in (ALWAYS, NEVER) if name in used}
    return used
