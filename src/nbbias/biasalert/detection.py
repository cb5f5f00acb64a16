"""What a judge got right, text by text, and the scores that are sums of it.

Every score of the study is a quotient of such sums, so that it is resampled by clusters and dealt
anew by chance with two matrix products and no second definition of any score.

How good judges are on labelled texts: shares, F1, types, attributions, overall scores.

Judges against each other, on the texts that both gave a verdict on.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import sparse
from statsmodels.stats.contingency_tables import mcnemar

from nbbias import stats, tables, tables as nbbias_tables
from nbbias.biasalert.groups import Canonical, bags, renamed, same, words
from nbbias.tables import ContractError, DataError, need

#: What is counted for each text of a judge; the columns of `hits`.
HITS = (
    *("judged", "lost", "lost_biased", "right", "tp", "fp", "fn", "tn"),
    *("type_known", "type_right", "attribution_known", "attribution_right"),
    *("joint_known", "joint_right"),
)

#: Statistics and the sums that they are shares of: numerator, denominator.
_SHARES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "accuracy": (("right",), ("judged",)),
    "accuracy_lost_wrong": (("right",), ("judged", "lost")),
    "f1": (("tp", "tp"), ("tp", "tp", "fp", "fn")),
    "f1_lost_wrong": (("tp", "tp"), ("tp", "tp", "fp", "fn", "lost")),
    "precision": (("tp",), ("tp", "fp")),
    "recall": (("tp",), ("tp", "fn")),
    "specificity": (("tn",), ("tn", "fp")),
    "classification_score": (("type_right",), ("type_known",)),
    "attribution_score": (("attribution_right",), ("attribution_known",)),
    "overall_score_joint": (("joint_right",), ("joint_known",)),
    "overall_score_joint_lost_wrong": (("joint_right",), ("joint_known", "lost")),
}
_F1 = ("f1", "f1_lost_wrong")

#: The statistics of `scores`, in order.
STATISTICS = (*_SHARES, "overall_score_product", "overall_score_product_lost_wrong")

#: Statistics that are plain shares of texts; the others are functions of several.
PLAIN_SHARES = tuple(name for name in _SHARES if name not in _F1)


class Side(NamedTuple):
    """Labels, or one judge's verdicts: `biased` is 1, 0 or NaN, the rest NaN or empty rows."""

    biased: np.ndarray
    bias_type: np.ndarray
    group: sparse.csr_matrix
    attribute: sparse.csr_matrix


class Case(NamedTuple):
    """The labels and one judge's verdicts on the same texts, in the same order."""

    judge: str
    truth: Side
    said: Side


def cases_of(
    judgements: pd.DataFrame,
    labelled: pd.DataFrame,
    *,
    cluster: str | None = "comment_id",
    canonical: Canonical | None = None,
) -> tuple[list[Case], np.ndarray]:
    """Put each judge's verdicts beside the labels.

    Parameters
    ----------
    judgements
        JUDGEMENTS of one judge or more. Rows of texts without a label are left aside.
    labelled
        LABELLED: `text_id`, `biased`, and `bias_type`, `group`, `attribute` where they are known.
    cluster
        The column of `labelled` whose texts stand or fall together; where it lacks the column, or
        for None, each text stands alone.
    canonical
        Turns a group's name into the one that it is compared by, or None where it knows none; so
        that "gays" and "gay men" can be one group.

    Returns
    -------
    (cases, clusters) : list of Case, array of int
        One case per judge, in order of appearance; and each text's cluster, numbered from 0.

    Raises
    ------
    ContractError
        A column is missing, or a judge has two rows for a text.
    DataError
        There is no label, a label is missing, or a judge has no row for a labelled text.
    """
    tables.need(judgements, ["text_id", "judge", "biased"], where="judgements")
    tables.need(labelled, ["text_id", "biased"], where="labelled")
    if canonical is not None:
        judgements, labelled = (renamed(table, canonical) for table in (judgements, labelled))
    breaches = []
    if judgements.duplicated(["judge", "text_id"]).any():
        breaches.append("a judge has two rows for a text; keep one")
    if labelled["text_id"].duplicated().any():
        breaches.append("a text is labelled twice; keep one label")
    if breaches:
        raise ContractError("judgements and labels", breaches)
    if labelled.empty:
        raise DataError("labelled", "holds no text; give at least one labelled text")
    if labelled["biased"].isna().any():
        count = int(labelled["biased"].isna().sum())
        raise DataError(
            "labelled", f"{count} of {len(labelled)} texts have no label; leave them out"
        )
    judges = judgements["judge"].unique()
    parts = {
        judge: judgements[judgements["judge"] == judge].set_index("text_id") for judge in judges
    }
    lacking = [
        f"judge {judge} has no row for {missing} of {len(labelled)} labelled texts; "
        "a text without a verdict needs a row that says why"
        for judge, part in parts.items()
        if (missing := int((~labelled["text_id"].isin(part.index)).sum()))
    ]
    if lacking:
        raise DataError("judgements", lacking)
    said = {judge: part.loc[labelled["text_id"]] for judge, part in parts.items()}
    types = pd.Index(
        pd.unique(pd.concat([_texts(t, "bias_type") for t in [labelled, *said.values()]]))
    )
    seen = [_texts(t, name) for t in [labelled, *said.values()] for name in ("group", "attribute")]
    vocabulary = sorted({word for text in pd.unique(pd.concat(seen)) for word in words(text)})
    truth = _side(labelled, types, vocabulary)
    found = [
        Case(str(judge), truth, _side(part, types, vocabulary)) for judge, part in said.items()
    ]
    if cluster is None or cluster not in labelled:
        return found, np.arange(len(labelled))
    # A text without a cluster stands alone.
    own = labelled[cluster].astype("str").where(labelled[cluster].notna(), labelled["text_id"])
    return found, pd.factorize(own)[0]


def _texts(table: pd.DataFrame, name: str) -> pd.Series:
    if name not in table:
        return pd.Series("", index=table.index)
    return table[name].astype("object").where(table[name].notna(), "").astype("str")


def _side(table: pd.DataFrame, types: pd.Index, vocabulary: list[str]) -> Side:
    bias_type = _texts(table, "bias_type")
    codes = np.where(bias_type == "", -1, types.get_indexer(bias_type))
    biased = table["biased"].astype("boolean").astype("Float64").to_numpy(float, na_value=np.nan)
    return Side(
        biased, codes, *(bags(_texts(table, n), vocabulary) for n in ("group", "attribute"))
    )


def _attributed(side: Side) -> np.ndarray:
    return (side.group.getnnz(1) > 0) & (side.attribute.getnnz(1) > 0)


def hits(case: Case, *, order: np.ndarray | None = None) -> np.ndarray:
    """Count, text by text, what a judge got right.

    Parameters
    ----------
    case
        Of `cases`.
    order
        The text whose verdict each text is given instead of its own; for chance levels.

    Returns
    -------
    array
        Texts by `HITS`, each 0 or 1. A type or an attribution is known where the label names it
        and the text was called biased. A joint verdict on an unbiased text is right when the text
        was called so, on a biased one when it was called biased and all that the label names (type,
        group and attribute) is right as well.
    """
    truth, said = case.truth, case.said
    if order is not None:
        said = Side(*(part[order] for part in said))
    biased, called = truth.biased == 1, said.biased == 1
    judged = ~np.isnan(said.biased)
    right = judged & (biased == called)
    has_type = truth.bias_type >= 0
    has_attribution = _attributed(truth)
    type_right = has_type & (truth.bias_type == said.bias_type)
    attributed = same(truth.group, said.group) & same(truth.attribute, said.attribute)
    whole = (type_right | ~has_type) & (attributed | ~has_attribution)
    columns = {
        "judged": judged, "lost": ~judged, "lost_biased": ~judged & biased, "right": right,
        "tp": judged & biased & called, "fp": judged & ~biased & called,
        "fn": judged & biased & ~called, "tn": judged & ~biased & ~called,
        "type_known": called & has_type, "type_right": called & type_right,
        "attribution_known": called & has_attribution,
        "attribution_right": called & has_attribution & attributed,
        "joint_known": judged, "joint_right": right & (~biased | whole),
    }  # fmt: skip
    return np.column_stack([columns[name] for name in HITS]).astype(float)


def scores(sums: np.ndarray) -> dict[str, np.ndarray]:
    """Return every statistic from sums of `hits`.

    Parameters
    ----------
    sums
        An array whose last axis is `HITS`.

    Returns
    -------
    dict
        Statistic of `STATISTICS` → its values, in [0, 1], higher is better; NaN where nothing is
        there to take a share of. The product is accuracy × CS × AS, without AS where no
        attribution is known, as the paper prints it on CrowS-Pairs; and NaN without CS.
    """
    at = {name: sums[..., i] for i, name in enumerate(HITS)}
    found: dict[str, np.ndarray] = {}
    with np.errstate(invalid="ignore", divide="ignore"):
        for name, (above, below) in _SHARES.items():
            found[name] = _add(at, above) / _add(at, below)
    attributed = np.where(np.isnan(found["attribution_score"]), 1.0, found["attribution_score"])
    rest = found["classification_score"] * attributed
    found["overall_score_product"] = found["accuracy"] * rest
    found["overall_score_product_lost_wrong"] = found["accuracy_lost_wrong"] * rest
    return found


def _add(at: dict[str, np.ndarray], names: tuple[str, ...]) -> np.ndarray:
    return np.sum([at[name] for name in names], axis=0)


def size(sums: np.ndarray, statistic: str) -> tuple[int, int]:
    """Return how many texts a statistic rests on, and how many it left out."""
    at = dict(zip(HITS, sums, strict=True))
    if statistic.endswith("_lost_wrong"):
        return int(at["judged"] + at["lost"]), 0
    kept = {
        "precision": at["tp"] + at["fp"],
        "recall": at["tp"] + at["fn"],
        "specificity": at["tn"] + at["fp"],
        "classification_score": at["type_known"],
        "attribution_score": at["attribution_known"],
    }
    lost = {
        "precision": 0.0,
        "recall": at["lost_biased"],
        "specificity": at["lost"] - at["lost_biased"],
        "classification_score": at["tp"] + at["fp"] - at["type_known"],
        "attribution_score": at["tp"] + at["fp"] - at["attribution_known"],
    }
    return int(kept.get(statistic, at["judged"])), int(lost.get(statistic, at["lost"]))


def basis(found: np.ndarray, statistic: str) -> np.ndarray:
    """Tell which texts, rows of `hits`, a statistic of `PLAIN_SHARES` is taken of."""
    columns = [HITS.index(name) for name in _SHARES[statistic][1]]
    return np.asarray(found[:, columns].sum(axis=1) > 0)


def gap(case: Case, statistic: str) -> str | None:
    """Say why a statistic of this case has no value, whatever the sums; None where it can have."""
    truth, said = case.truth, case.said
    if not statistic.startswith(("classification", "attribution", "overall")):
        return None
    if not statistic.startswith("attribution"):
        if not (truth.bias_type >= 0).any():
            return "no label names a type"
        if not (said.bias_type >= 0).any():
            return "the judge names no type"
    if not _attributed(truth).any():
        return "no label names a group and an attribute" if "attribution" in statistic else None
    if statistic.startswith("classification") or _attributed(said).any():
        return None
    return "the judge names no group and attribute"


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
                    "instrument": "the same verdict on every text",
                }
            )
            for name in (ALWAYS, NEVER)
        ],
        ignore_index=True,
    )  # fmt: skip


def losses(judgements: pd.DataFrame) -> pd.DataFrame:
    """Count how judging ended.

    Returns
    -------
    DataFrame
        One row per `judge` and `outcome`: `n`, `share` (of all texts of the judge), `reason` (the
        most frequent one of that outcome), and the judge's `instrument`.
    """
    tables.need(judgements, ["judge", "outcome"], where="judgements")
    used = instruments(judgements)
    rows = []
    for judge, own in judgements.groupby("judge", sort=False):
        for outcome, part in own.groupby("outcome", sort=True):
            said = part["reason"].dropna() if "reason" in part else pd.Series(dtype="str")
            reason = said.mode().iloc[0] if len(said) else None
            share = len(part) / len(own)
            rows.append((judge, outcome, len(part), share, reason, used[str(judge)]))
    columns = ["judge", "outcome", "n", "share", "reason", "instrument"]
    return pd.DataFrame(rows, columns=columns)


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
        Turns a group's name into the one that it is compared by; see `cases_of`.
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
        As `biasalert.detection.cases_of`.
    """
    cases, clusters = cases_of(judgements, labelled, cluster=cluster, canonical=canonical)
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
    need(labelled, ["bias_type"], where="labelled")
    tables = []
    for bias_type, own in labelled.groupby("bias_type", sort=True):
        found = estimates(
            judgements, own, source=source, statistics=statistics, cluster=cluster,
            canonical=canonical, confidence=confidence, draws=draws,
            permutations=permutations, seed=seed,
        )  # fmt: skip
        tables.append(found.assign(bias=str(bias_type)))
    return (
        pd.concat(tables, ignore_index=True) if tables else nbbias_tables.estimates([], study=STUDY)
    )


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
        own = hits(case)
        sums = own.sum(axis=0)
        values = scores(sums)
        again = scores(resampled(own, clusters, draws=draws, seed=seed))
        dealt = scores(np.array([hits(case, order=o).sum(axis=0) for o in orders]))
        for name in statistics:
            n, n_lost = size(sums, name)
            row: Row = {"judge": case.judge, "statistic": name, "n": n, "n_lost": n_lost}
            estimate = float(values[name])
            reason = gap(case, name) or (NOTHING if np.isnan(estimate) else None)
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
                units = len(np.unique(clusters[basis(own, name)]))
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
    return tables.estimates(rows, study=STUDY, measure=MEASURE, source=source)


def instruments(judgements: pd.DataFrame) -> dict[str, str]:
    """Return what each judge's numbers were measured with: its `instrument`, else its name."""
    named = judgements["judge"].astype(str)
    used = judgements.get("instrument", named)
    return dict(zip(named, used.where(used.notna(), named), strict=True))


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
        As in `biasalert.detection.estimates`.
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
    cases, clusters = cases_of(judgements, labelled, cluster=cluster)
    used = instruments(judgements)
    rows: list[Row] = []
    for one, other in combinations(cases, 2):
        both = ~np.isnan(one.said.biased) & ~np.isnan(other.said.biased)
        first, second = (c.said.biased[both] == c.truth.biased[both] for c in (one, other))
        row: Row = {
            "judge": f"{one.judge} − {other.judge}", "statistic": "accuracy_difference",
            "n": int(both.sum()), "n_lost": int((~both).sum()), "null": 0.0, "test": "McNemar",
            "instrument": "; ".join(dict.fromkeys([used[one.judge], used[other.judge]])),
        }  # fmt: skip
        if not both.any():
            rows.append(row | {"estimate": np.nan, "reason": "no text has both verdicts"})
            continue
        change = first.astype(float) - second.astype(float)
        estimate = float(change.mean())
        own = np.unique(clusters[both], return_inverse=True)[1]
        sums = resampled(
            np.column_stack([change, np.ones(len(change))]), own, draws=draws, seed=seed
        )
        alone = int((change > 0).sum()), int((change < 0).sum())
        row["estimate"] = estimate
        if not sum(alone):
            rows.append(row | {"reason": "both are right on the same texts: nothing to test"})
            continue
        again = sums[:, 0] / sums[:, 1]
        if np.ptp(again) > 0:
            row["ci_low"], row["ci_high"] = percentiles(
                again, estimate=estimate, confidence=confidence
            )
        else:  # no spread is no certainty
            row["reason"] = ALIKE
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
    return tables.estimates(rows, study=STUDY, measure=MEASURE, source=source)
