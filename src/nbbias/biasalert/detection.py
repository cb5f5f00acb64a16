"""How good judges are on labelled texts, and how they differ from each other.

What a judge got right is counted text by text (`hits`), and every score is a quotient of such sums
(`scores`), so that it can be resampled by clusters and permuted over texts.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import sparse
from statsmodels.stats.contingency_tables import mcnemar

from nbbias import stats, tables
from nbbias.biasalert.groups import bags, renamed, same, words
from nbbias.stats import InferenceSettings
from nbbias.tables import ContractError, DataError, require_columns

Row = dict[str, Any]

STUDY, MEASURE = "biasalert", "detection"

#: Two judges that read nothing: the levels that any judge has to beat.
ALWAYS, NEVER = "always biased", "never biased"

#: Resamples and level where nothing else is said.
INFERENCE = InferenceSettings(n_permutations=2000)

#: Rounds of resampling that are held in memory at once.
_AT_ONCE = 64

#: Fewer texts on which two judges disagree than this are tested exactly.
_EXACT_BELOW = 25

#: The test of two judges where texts share clusters.
FLIPPED = "exact test over clusters"

NOTHING = "no text to take it of"
ALIKE = "every resample gives the same"

#: What is counted for each text of a judge; the columns of `hits`.
HITS = (
    *("judged", "lost", "lost_biased", "lost_fine", "right", "tp", "fp", "fn", "tn"),
    *("type_known", "type_unknown", "type_right"),
    *("attribution_known", "attribution_unknown", "attribution_right", "joint_right"),
)


class _Share(NamedTuple):
    """A statistic as sums of hits: what it is a share of, and what it leaves out."""

    above: str
    below: tuple[str, ...]
    lost: str = "lost"


#: Shares; F1 is 2J / (1 + J) of its share J of true positives among what is biased or called so.
_SHARES = {
    "accuracy": _Share("right", ("judged",)),
    "f1": _Share("tp", ("tp", "fp", "fn")),
    "recall": _Share("tp", ("tp", "fn"), "lost_biased"),
    "specificity": _Share("tn", ("tn", "fp"), "lost_fine"),
    "classification_score": _Share("type_right", ("type_known",), "type_unknown"),
    "attribution_score": _Share("attribution_right", ("attribution_known",), "attribution_unknown"),
    "overall_score_joint": _Share("joint_right", ("judged",)),
}
PRODUCT = "overall_score_product"

#: The statistics of `scores`, in order, and those that `by_type` gives.
STATISTICS = (*_SHARES, PRODUCT)
OF_TYPES = ("accuracy", "f1", "recall", "specificity")


class Side(NamedTuple):
    """Labels, or one judge's verdicts: `biased` is 1, 0 or NaN, the rest -1 or empty rows."""

    biased: np.ndarray
    bias_type: np.ndarray
    group: sparse.csr_matrix
    attribute: sparse.csr_matrix


class Case(NamedTuple):
    """The labels and one judge's verdicts on the same texts, in the same order."""

    judge: str
    truth: Side
    verdicts: Side


def cases_of(
    judgements: pd.DataFrame, labelled: pd.DataFrame, *, cluster: str | None = "comment_id"
) -> tuple[list[Case], np.ndarray]:
    """Match each judge's verdicts with the labels.

    Parameters
    ----------
    judgements
        JUDGEMENTS of one judge or more. Rows of texts without a label are left aside.
    labelled
        LABELLED: `text_id`, `biased`, and `bias_type`, `group`, `attribute` where they are known.
    cluster
        The column of `labelled` whose texts are resampled together; where it lacks the column, or
        for None, each text is its own cluster.

    Returns
    -------
    (cases, clusters) : list of Case, array of int
        One case per judge, in order of appearance; and each text's cluster, numbered from 0.
        Groups are compared by their canonical names (`biasalert.groups.canonical`).

    Raises
    ------
    ContractError
        A column is missing, or a judge has two rows for a text.
    DataError
        There is no label, a label is missing, or a judge has no row for a labelled text.
    """
    require_columns(judgements, ["text_id", "judge", "biased"], where="judgements")
    require_columns(labelled, ["text_id", "biased"], where="labelled")
    judgements, labelled = renamed(judgements), renamed(labelled)
    _require_labels(labelled)
    parts = dict(list(judgements.groupby("judge", sort=False)))
    breaches = []
    for judge, part in parts.items():
        if part["text_id"].duplicated().any():
            raise ContractError("judgements", "a judge has two rows for a text; keep one")
        if missing := int((~labelled["text_id"].isin(part["text_id"])).sum()):
            breaches.append(
                f"judge {judge} has no row for {missing} of {len(labelled)} labelled texts; "
                "a text without a verdict needs a row that says why"
            )
    if breaches:
        raise DataError("judgements", breaches)
    matched = {
        str(judge): part.set_index("text_id").loc[labelled["text_id"]]
        for judge, part in parts.items()
    }
    every = [labelled, *matched.values()]
    types = pd.Index(pd.unique(pd.concat([_texts(one, "bias_type") for one in every])))
    names = pd.concat([_texts(one, name) for one in every for name in ("group", "attribute")])
    vocabulary = sorted({word for name in pd.unique(names) for word in words(name)})
    truth, *verdicts = (_side(one, types, vocabulary) for one in every)
    cases = [Case(judge, truth, side) for judge, side in zip(matched, verdicts, strict=True)]
    if cluster is None or cluster not in labelled:
        return cases, np.arange(len(labelled))
    numbers = labelled[cluster].astype("str").where(labelled[cluster].notna(), labelled["text_id"])
    return cases, pd.factorize(numbers)[0]


def _require_labels(labelled: pd.DataFrame) -> None:
    if labelled["text_id"].duplicated().any():
        raise ContractError("labels", "a text is labelled twice; keep one label")
    if labelled.empty:
        raise DataError("labelled", "holds no text; give at least one labelled text")
    if count := int(labelled["biased"].isna().sum()):
        problem = f"{count} of {len(labelled)} texts have no label; leave them out"
        raise DataError("labelled", problem)


def _texts(table: pd.DataFrame, name: str) -> pd.Series:
    if name not in table:
        return pd.Series("", index=table.index)
    return table[name].astype("object").where(table[name].notna(), "").astype("str")


def _side(table: pd.DataFrame, types: pd.Index, vocabulary: list[str]) -> Side:
    bias_type = _texts(table, "bias_type")
    codes = np.where(bias_type == "", -1, types.get_indexer(bias_type))
    names = (bags(_texts(table, name), vocabulary) for name in ("group", "attribute"))
    return Side(flags(table["biased"]), codes, *names)


def flags(biased: pd.Series) -> np.ndarray:
    """Return verdicts or labels as 1, 0 and NaN.

    Examples
    --------
    >>> flags(pd.Series([True, None, False])).tolist()
    [1.0, nan, 0.0]
    """
    return biased.astype("boolean").to_numpy(float, na_value=np.nan)


def _attributed(side: Side) -> np.ndarray:
    return (side.group.getnnz(1) > 0) & (side.attribute.getnnz(1) > 0)


def hits(case: Case, *, order: np.ndarray | None = None) -> np.ndarray:
    """Count, text by text, what a judge got right.

    Parameters
    ----------
    case
        Of `cases_of`.
    order
        The text whose verdict each text is given instead of its own, for permutations.

    Returns
    -------
    array
        Texts by `HITS`, each 0 or 1. A type or an attribution is known where the label names it
        and the text was called biased. A joint verdict on an unbiased text is right when the text
        was called so, on a biased one when it was called biased and all that the label names (type,
        group and attribute) is right as well.
    """
    truth, verdicts = case.truth, case.verdicts
    if order is not None:
        verdicts = Side(*(part[order] for part in verdicts))
    biased, called = truth.biased == 1, verdicts.biased == 1
    judged = ~np.isnan(verdicts.biased)
    right = judged & (biased == called)
    has_type, has_attribution = truth.bias_type >= 0, _attributed(truth)
    type_right = has_type & (truth.bias_type == verdicts.bias_type)
    attributed = same(truth.group, verdicts.group) & same(truth.attribute, verdicts.attribute)
    whole = (type_right | ~has_type) & (attributed | ~has_attribution)
    columns = {
        "judged": judged,
        "right": right,
        "lost": ~judged,
        "lost_biased": ~judged & biased,
        "lost_fine": ~judged & ~biased,
        "tp": judged & biased & called,
        "fp": judged & ~biased & called,
        "fn": judged & biased & ~called,
        "tn": judged & ~biased & ~called,
        "type_known": called & has_type,
        "type_unknown": called & ~has_type,
        "type_right": called & type_right,
        "attribution_known": called & has_attribution,
        "attribution_unknown": called & ~has_attribution,
        "attribution_right": called & has_attribution & attributed,
        "joint_right": right & (~biased | whole),
    }
    return np.column_stack([columns[name] for name in HITS]).astype(float)


def _permuted(case: Case, orders: list[np.ndarray]) -> np.ndarray:
    """Return the sums of `hits` with verdicts in each of some orders, many orders at a time."""
    n, sums, start = len(case.truth.biased), [], 0
    for size in stats.split_batches(len(orders), size_each=n * len(HITS)):
        texts = np.tile(np.arange(n), size)
        repeated = case._replace(truth=Side(*(part[texts] for part in case.truth)))
        counted = hits(repeated, order=np.concatenate(orders[start : start + size]))
        sums.append(counted.reshape(size, n, -1).sum(axis=1))
        start += size
    return np.concatenate(sums)


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
    with np.errstate(invalid="ignore", divide="ignore"):
        values = {name: _sum(sums, s.above) / _sum(sums, *s.below) for name, s in _SHARES.items()}
    values["f1"] = _f1(values["f1"])
    attributed = np.where(np.isnan(values["attribution_score"]), 1.0, values["attribution_score"])
    values[PRODUCT] = values["accuracy"] * values["classification_score"] * attributed
    return values


def _f1(share: Any) -> Any:
    return 2 * share / (1 + share)


def _sum(sums: np.ndarray, *names: str) -> np.ndarray:
    return sums[..., [HITS.index(name) for name in names]].sum(axis=-1)


def _missing(case: Case, statistic: str) -> str | None:
    """Say why a statistic of this case has no value, whatever the sums; None where it can have."""
    truth, verdicts = case.truth, case.verdicts
    if not statistic.startswith(("classification", "attribution", "overall")):
        return None
    if not statistic.startswith("attribution"):
        if not (truth.bias_type >= 0).any():
            return "no label names a type"
        if not (verdicts.bias_type >= 0).any():
            return "the judge names no type"
    if not _attributed(truth).any():
        return "no label names a group and an attribute" if "attribution" in statistic else None
    if statistic.startswith("classification") or _attributed(verdicts).any():
        return None
    return "the judge names no group and attribute"


def constants(labelled: pd.DataFrame) -> pd.DataFrame:
    """Return the JUDGEMENTS of two judges that read nothing: one flags every text, one none.

    Examples
    --------
    >>> constants(pd.DataFrame({"text_id": ["a"]}))[["judge", "biased"]].values.tolist()
    [['always biased', True], ['never biased', False]]
    """
    empty = dict.fromkeys(("bias_type", "group", "attribute", "explanation", "reason", "raw"))
    fixed = {"confidence": np.nan, "evidence_ids": "", "knowledge": "", "outcome": "judged"}
    fixed |= {"instrument": "the same verdict on every text"}
    return pd.concat(
        [
            labelled[["text_id"]].assign(
                judge=name,
                biased=pd.array([name == ALWAYS] * len(labelled), dtype="boolean"),
                **empty,
                **fixed,
            )
            for name in (ALWAYS, NEVER)
        ],
        ignore_index=True,
    )


def losses(judgements: pd.DataFrame) -> pd.DataFrame:
    """Count how judging ended.

    Returns
    -------
    DataFrame
        One row per `judge` and `outcome`: `n`, `share` (of all texts of the judge), `reason` (the
        most frequent one of that outcome), and the judge's `instrument`.
    """
    require_columns(judgements, ["judge", "outcome"], where="judgements")
    used = instruments(judgements)
    rows = []
    for judge, own in judgements.groupby("judge", sort=False):
        for outcome, part in own.groupby("outcome", sort=True):
            reasons = part["reason"].dropna() if "reason" in part else pd.Series(dtype="str")
            reason = reasons.mode().iloc[0] if len(reasons) else None
            rows.append((judge, outcome, len(part), len(part) / len(own), reason, used[str(judge)]))
    columns = ["judge", "outcome", "n", "share", "reason", "instrument"]
    return pd.DataFrame(rows, columns=columns)


def estimates(
    judgements: pd.DataFrame,
    labelled: pd.DataFrame,
    *,
    inference: InferenceSettings = INFERENCE,
    source: str | None = None,
    cluster: str | None = "comment_id",
    permutations: int = 200,
) -> pd.DataFrame:
    """Estimate how good each judge is.

    Parameters
    ----------
    judgements
        JUDGEMENTS of one judge or more; every judge has a row for every labelled text.
    labelled
        LABELLED.
    inference
        Level of the intervals, resamples behind them, start of the draws.
    source
        The name of the labelled texts.
    cluster
        The column of `labelled` whose texts are resampled together.
    permutations
        Permutations of the verdicts for the null distribution.

    Returns
    -------
    DataFrame
        ESTIMATES, one row per judge and statistic, `bias` and `group` empty; all in [0, 1], higher
        is better. N counts the texts that a statistic rests on, `n_lost` those left out.

        - ``accuracy``, ``f1``, ``recall``, ``specificity``: over the texts with a verdict.
        - ``classification_score``: the type is right, of the texts called biased whose type the
          label names (also false alarms, where the label names the topic), as in the paper.
        - ``attribution_score``: group and attribute are right, of the texts called biased whose
          label names both. A name is right when all its words stand in the label's, or the label's
          words in a name at most twice as long. That is lenient with long labels: compare with
          the null value.
        - ``overall_score_joint``: the share of texts right in all respects, as the paper's text
          says; ``overall_score_product``: accuracy × CS × AS, which is what its Table 1 prints.

        Intervals of shares are Wilson's by clusters (`stats.clustered_share`). F1 is 2J/(1 + J)
        of the share J of true positives among the texts that are biased or called so, and its
        interval that of J; the product has the percentile interval over resampled clusters. `null`
        is the mean, `null_low` to `null_high` the range, of verdicts permuted over the texts.
        The judges ``"always biased"`` and ``"never biased"`` are the other baseline: the better
        accuracy of the two is that of the majority class.

    Raises
    ------
    ContractError, DataError
        As `biasalert.detection.cases_of`.
    """
    cases, clusters = cases_of(judgements, labelled, cluster=cluster)
    used = instruments(judgements)
    # The same resamples and permutations for every judge, so that judges can be compared.
    rng = np.random.default_rng([inference.seed, 1])
    orders = [rng.permutation(len(clusters)) for _ in range(permutations)]
    rows = [
        {"judge": case.judge, "instrument": used[case.judge]} | row
        for case in cases
        for row in _rows(case, clusters, orders, inference)
    ]
    return tables.estimates(
        rows, study=STUDY, measure=MEASURE, source=source, confidence=inference.confidence
    )


def by_type(judgements: pd.DataFrame, labelled: pd.DataFrame, **options: Any) -> pd.DataFrame:
    """Estimate how good each judge is on the texts of each bias type.

    Parameters
    ----------
    judgements, labelled, **options
        As in `estimates`.

    Returns
    -------
    DataFrame
        ESTIMATES as of `estimates` (accuracy, F1, recall, specificity), with the type in `bias`;
        verdicts are permuted within a type. A text belongs to the type that its label names, be it
        biased or not; texts of no type are left aside.
    """
    require_columns(labelled, ["bias_type"], where="labelled")
    parts = [
        estimates(judgements, own, **options).assign(bias=str(bias_type))
        for bias_type, own in labelled.groupby("bias_type", sort=True)
    ]
    if not parts:
        return tables.estimates([], study=STUDY)
    whole = pd.concat(parts, ignore_index=True)
    return whole[whole["statistic"].isin(OF_TYPES)].reset_index(drop=True)


def _rows(
    case: Case, clusters: np.ndarray, orders: list[np.ndarray], inference: InferenceSettings
) -> list[Row]:
    counted = hits(case)
    sums, confidence = counted.sum(axis=0), inference.confidence
    values, permuted = scores(sums), scores(_permuted(case, orders))
    rows = []
    for name in STATISTICS:
        estimate = float(values[name])
        share = _SHARES.get(name, _SHARES["accuracy"])
        n = int(_sum(sums, *(("judged",) if name == "f1" else share.below)))
        lost = int(_sum(sums, share.lost))
        row: Row = {"statistic": name, "estimate": estimate, "n": n, "n_lost": lost}
        reason = _missing(case, name) or (NOTHING if np.isnan(estimate) else None)
        if reason:
            rows.append(row | {"estimate": np.nan, "reason": reason, "n": 0, "n_lost": n + lost})
            continue
        if name == PRODUCT:
            again = scores(resampled(counted, clusters, inference=inference))[PRODUCT]
            row |= spread(again, estimate, confidence)
        else:
            row |= _interval(counted, share, clusters, confidence)
            if name == "f1":
                row |= {end: _f1(row[end]) for end in ("ci_low", "ci_high")}
        null = stats.compare_with_null(np.nan, permuted[name], confidence=confidence)
        rows.append(row | {key: null[key] for key in ("null", "null_low", "null_high")})
    return rows


def _interval(counted: np.ndarray, share: _Share, clusters: np.ndarray, confidence: float) -> Row:
    """Return Wilson's interval of a share by clusters."""
    rows = _sum(counted, *share.below) > 0
    row = stats.clustered_share(
        _sum(counted[rows], share.above), clusters[rows], confidence=confidence
    ).row()
    return {name: row[name] for name in ("ci_low", "ci_high", "reason")}


def resampled(
    values: np.ndarray, clusters: np.ndarray, *, inference: InferenceSettings
) -> np.ndarray:
    """Sum the rows of a matrix over resampled clusters.

    Parameters
    ----------
    values
        Texts by columns.
    clusters
        Each text's cluster, numbered from 0.
    inference
        Rounds, and start of the draws.

    Returns
    -------
    array
        Draws by columns. Each draw takes as many clusters as there are, with replacement.
    """
    count = int(clusters.max()) + 1
    by_cluster = np.zeros((count, values.shape[1]))
    np.add.at(by_cluster, clusters, values)
    rng = np.random.default_rng(inference.seed)
    draws = []
    for start in range(0, inference.n_permutations, _AT_ONCE):
        rounds = min(_AT_ONCE, inference.n_permutations - start)
        places = rng.integers(count, size=(rounds, count))
        times = np.stack([np.bincount(row, minlength=count) for row in places])
        draws.append(times @ by_cluster)
    return np.concatenate(draws)


def spread(values: np.ndarray, estimate: float, confidence: float) -> Row:
    """Return the percentile interval of resampled values, which holds the estimate.

    Returns
    -------
    dict
        `ci_low` and `ci_high`; or `reason`, where all values are alike: no spread is no certainty.

    Examples
    --------
    >>> spread(np.array([0.2, 0.2]), 0.2, 0.95)["reason"]
    'every resample gives the same'
    """
    known = values[~np.isnan(values)]
    if not len(known) or known.min() == known.max():
        return {"ci_low": np.nan, "ci_high": np.nan, "reason": ALIKE}
    low, high = stats.percentile_interval(known, estimate=estimate, confidence=confidence)
    return {"ci_low": low, "ci_high": high}


def instruments(judgements: pd.DataFrame) -> dict[str, str]:
    """Return what each judge's numbers were measured with: its `instrument`, else its name."""
    named = judgements["judge"].astype(str)
    used = judgements.get("instrument", named)
    return dict(zip(named, used.where(used.notna(), named), strict=True))


def least_p(discordant: int) -> float:
    """Return the least p of an exact sign or McNemar test of so many discordant units.

    Examples
    --------
    >>> least_p(5), least_p(0)
    (0.0625, 1.0)
    """
    return float(min(1.0, 2 * 0.5**discordant))


# --- judges against each other ------------------------------------------------------------------


def differences(
    judgements: pd.DataFrame,
    labelled: pd.DataFrame,
    *,
    inference: InferenceSettings = INFERENCE,
    source: str | None = None,
    cluster: str | None = "comment_id",
    correction: str = "holm",
) -> pd.DataFrame:
    """Compare the accuracy of every two judges on the texts that both gave a verdict on.

    Parameters
    ----------
    judgements, labelled, inference, source, cluster
        As in `biasalert.detection.estimates`.
    correction
        ``"holm"`` or ``"fdr_bh"``, over all pairs.

    Returns
    -------
    DataFrame
        ESTIMATES, one row per pair; `judge` is ``"first − second"``, `statistic`
        ``accuracy_difference`` in [-1, 1], above 0 where the first is more often right; `null` 0.
        N counts the texts that both judged, `n_lost` the others. Interval and test: `compared`.
    """
    cases, clusters = cases_of(judgements, labelled, cluster=cluster)
    used = instruments(judgements)
    rows = []
    for one, other in combinations(cases, 2):
        both = ~np.isnan(one.verdicts.biased) & ~np.isnan(other.verdicts.biased)
        row: Row = {
            "judge": f"{one.judge} − {other.judge}",
            "statistic": "accuracy_difference",
            "instrument": "; ".join(dict.fromkeys([used[one.judge], used[other.judge]])),
            "n": int(both.sum()),
            "n_lost": int((~both).sum()),
            "null": 0.0,
            "test": "McNemar",
        }
        if both.any():
            first, second = (
                case.verdicts.biased[both] == case.truth.biased[both] for case in (one, other)
            )
            row |= compared(first, second, clusters[both], confidence=inference.confidence)
        else:
            row |= {"estimate": np.nan, "reason": "no text has both verdicts"}
        rows.append(row)
    table = tables.estimates(
        rows, study=STUDY, measure=MEASURE, source=source, confidence=inference.confidence
    )
    return stats.adjust(table, method=correction)


def compared(
    first: np.ndarray, second: np.ndarray, clusters: np.ndarray, *, confidence: float
) -> Row:
    """Test whether one judge is more often right than another on the same texts.

    Parameters
    ----------
    first, second
        Whether either is right on each text.
    clusters
        Each text's cluster.
    confidence
        Level of the interval.

    Returns
    -------
    dict
        Of a row of `differences`: `estimate`; the t interval over the sums of clusters
        (`stats.clustered_mean`), or the `reason` why there is none; `test` and `p_value`. Where
        texts share clusters, p is exact: it flips the signs of the clusters' sums of (first right
        less second right), all alike likely where the judges are equally good. Where each text is
        its own cluster, that is McNemar's test (exact below 25 texts on which one alone is right,
        else chi squared with the continuity correction).

    References
    ----------
    McNemar 1947, Psychometrika 12(2).

    Examples
    --------
    >>> right, wrong = np.array([True] * 8), np.array([True] * 2 + [False] * 6)
    >>> row = compared(right, wrong, np.arange(8), confidence=0.95)
    >>> row["estimate"], row["p_value"]
    (0.75, 0.03125)
    """
    change = first.astype(float) - second.astype(float)
    alone = int((change > 0).sum()), int((change < 0).sum())
    row: Row = {"test": "McNemar", "estimate": float(change.mean())}
    if not sum(alone):
        return row | {"reason": "both are right on the same texts: nothing to test"}
    row |= stats.clustered_mean(change, clusters, confidence=confidence, bounds=(-1.0, 1.0)).row()
    if len(np.unique(clusters)) < len(change):
        return row | {"test": FLIPPED, **_flip_signs(change, clusters)}
    exact = sum(alone) < _EXACT_BELOW
    result = mcnemar([[0, alone[0]], [alone[1], 0]], exact=exact, correction=True)
    row["p_value"] = min(float(result.pvalue), 1.0)
    if exact:
        return row | {"p_least": least_p(sum(alone))}
    return row | {"statistic_value": float(result.statistic), "df": 1.0}


def _flip_signs(change: np.ndarray, clusters: np.ndarray) -> Row:
    """Test a sum of whole numbers exactly, by all signs that its clusters' sums could have."""
    sums = np.rint(np.bincount(clusters, weights=change)).astype(int)
    sizes = np.abs(sums[sums != 0])
    chance = np.ones(1)  # of each total, from -sizes.sum() to sizes.sum()
    for size in sizes:
        step = np.zeros(2 * size + 1)
        step[[0, -1]] = 0.5
        chance = np.convolve(chance, step)
    totals = np.arange(len(chance)) - sizes.sum()
    p = chance[np.abs(totals) >= abs(sums.sum())].sum()
    return {"p_value": float(min(p, 1.0)), "p_least": least_p(len(sizes))}
