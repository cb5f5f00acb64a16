"""How good judges are on labelled texts, and how they stand against each other.

What a judge got right is counted text by text (`hits`), and every score is a quotient of such sums
(`scores`), so that it is resampled by clusters and dealt anew by chance with two matrix products
and no second definition of any score.
"""

from __future__ import annotations

from collections.abc import Sequence
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
    """A statistic as sums of hits: what it is a share of, what it left out, and its N."""

    above: tuple[str, ...]
    below: tuple[str, ...]
    lost: tuple[str, ...] = ("lost",)
    n: tuple[str, ...] | None = None  # where it is not `below`


_BOTH = ("judged", "lost")
_SHARES = {
    "accuracy": _Share(("right",), ("judged",)),
    "accuracy_lost_wrong": _Share(("right",), _BOTH, ()),
    "f1": _Share(("tp", "tp"), ("tp", "tp", "fp", "fn"), n=("judged",)),
    "f1_lost_wrong": _Share(("tp", "tp"), ("tp", "tp", "fp", "fn", "lost"), (), n=_BOTH),
    "precision": _Share(("tp",), ("tp", "fp"), ()),
    "recall": _Share(("tp",), ("tp", "fn"), ("lost_biased",)),
    "specificity": _Share(("tn",), ("tn", "fp"), ("lost_fine",)),
    "classification_score": _Share(("type_right",), ("type_known",), ("type_unknown",)),
    "attribution_score": _Share(
        ("attribution_right",), ("attribution_known",), ("attribution_unknown",)
    ),
    "overall_score_joint": _Share(("joint_right",), ("judged",)),
    "overall_score_joint_lost_wrong": _Share(("joint_right",), _BOTH, ()),
}
#: Functions of several shares, with the texts that they rest on and leave out.
_PRODUCTS = {
    "overall_score_product": _Share((), ("judged",)),
    "overall_score_product_lost_wrong": _Share((), _BOTH, ()),
}

#: The statistics of `scores`, in order.
STATISTICS = (*_SHARES, *_PRODUCTS)

#: Those that `by_type` gives.
_OF_TYPES = ("accuracy", "f1", "recall", "specificity")


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
    judgements: pd.DataFrame, labelled: pd.DataFrame, *, cluster: str | None = "comment_id"
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

    Returns
    -------
    (cases, clusters) : list of Case, array of int
        One case per judge, in order of appearance; and each text's cluster, numbered from 0.
        Groups are compared by one name each (`biasalert.groups.canonical`).

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
        told = f"{count} of {len(labelled)} texts have no label; leave them out"
        raise DataError("labelled", told)
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
        Of `cases_of`.
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
    biased, called, judged = truth.biased == 1, said.biased == 1, ~np.isnan(said.biased)
    right = judged & (biased == called)
    has_type, has_attribution = truth.bias_type >= 0, _attributed(truth)
    type_right = has_type & (truth.bias_type == said.bias_type)
    attributed = same(truth.group, said.group) & same(truth.attribute, said.attribute)
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


def _dealt(case: Case, orders: Sequence[np.ndarray]) -> np.ndarray:
    """Return the sums of `hits` with verdicts dealt in each of some orders, many at a time."""
    n, sums, start = len(case.truth.biased), [], 0
    for size in stats.split_batches(len(orders), size_each=n * len(HITS)):
        part = orders[start : start + size]
        texts = np.tile(np.arange(n), size)
        several = case._replace(truth=Side(*(one[texts] for one in case.truth)))
        found = hits(several, order=np.concatenate(part))
        sums.append(found.reshape(size, n, -1).sum(axis=1))
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
        found = {name: _sum(sums, s.above) / _sum(sums, s.below) for name, s in _SHARES.items()}
    attributed = np.where(np.isnan(found["attribution_score"]), 1.0, found["attribution_score"])
    rest = found["classification_score"] * attributed
    for suffix in ("", "_lost_wrong"):
        found[f"overall_score_product{suffix}"] = found[f"accuracy{suffix}"] * rest
    return found


def _sum(sums: np.ndarray, names: tuple[str, ...]) -> np.ndarray:
    return sums[..., [HITS.index(name) for name in names]].sum(axis=-1)


def _gap(case: Case, statistic: str) -> str | None:
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


def constants(labelled: pd.DataFrame) -> pd.DataFrame:
    """Return the JUDGEMENTS of two judges that read nothing: one flags every text, one none.

    Examples
    --------
    >>> constants(pd.DataFrame({"text_id": ["a"]}))[["judge", "biased"]].values.tolist()
    [['always biased', True], ['never biased', False]]
    """
    return pd.concat(
        [
            pd.DataFrame(
                {
                    "text_id": labelled["text_id"],
                    "judge": name,
                    "biased": pd.array([name == ALWAYS] * len(labelled), dtype="boolean"),
                    "bias_type": None,
                    "group": None,
                    "attribute": None,
                    "confidence": np.nan,
                    "explanation": None,
                    "evidence_ids": "",
                    "knowledge": "",
                    "outcome": "judged",
                    "reason": None,
                    "raw": None,
                    "instrument": "the same verdict on every text",
                }
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
        - ``accuracy_selected``: where there are several judges, one row of the most accurate
          (texts without a verdict count as wrong), less what having chosen it adds: the mean over
          resampled clusters of what the best judge there gains on what it has on all texts.

        Intervals of shares are Wilson's by clusters (`stats.clustered_share`). F1 is 2J/(1 + J)
        of the share J of true positives among the texts that are biased or called so, and its
        interval that of J; the product has the percentile interval over resampled clusters. `null`
        is the mean, `null_low` to `null_high` the range, when verdicts are dealt to other texts.
        The judges ``"always biased"`` and ``"never biased"`` are the other chance level: the
        better accuracy of the two is that of the majority class.

    Raises
    ------
    ContractError, DataError
        As `biasalert.detection.cases_of`.
    """
    cases, clusters = cases_of(judgements, labelled, cluster=cluster)
    used = instruments(judgements)
    # The same resamples and the same deals for every judge, so that judges can be compared.
    rng = np.random.default_rng([inference.seed, 1])
    orders = [rng.permutation(len(clusters)) for _ in range(permutations)]
    rows = [
        {"judge": case.judge, "instrument": used[case.judge]} | row
        for case in cases
        for row in _rows(case, clusters, orders, inference)
    ]
    able = [case for case in cases if case.judge not in (ALWAYS, NEVER)]
    if len(able) > 1:
        best, row = _selected(able, clusters, inference)
        rows.append({"judge": best, "instrument": used[best]} | row)
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
        chance deals verdicts within a type. A text belongs to the type that its label names, be it
        biased or not; texts of no type are left aside.
    """
    require_columns(labelled, ["bias_type"], where="labelled")
    found = [
        estimates(judgements, own, **options).assign(bias=str(bias_type))
        for bias_type, own in labelled.groupby("bias_type", sort=True)
    ]
    if not found:
        return tables.estimates([], study=STUDY)
    whole = pd.concat(found, ignore_index=True)
    return whole[whole["statistic"].isin(_OF_TYPES)].reset_index(drop=True)


def _rows(
    case: Case, clusters: np.ndarray, orders: list[np.ndarray], inference: InferenceSettings
) -> list[Row]:
    own = hits(case)
    sums = own.sum(axis=0)
    values, again = scores(sums), scores(resampled(own, clusters, inference=inference))
    dealt = scores(_dealt(case, orders))
    rows = []
    for name, share in (_SHARES | _PRODUCTS).items():
        estimate = float(values[name])
        n, n_lost = int(_sum(sums, share.n or share.below)), int(_sum(sums, share.lost))
        row: Row = {"statistic": name, "estimate": estimate, "n": n, "n_lost": n_lost}
        reason = _gap(case, name) or (NOTHING if np.isnan(estimate) else None)
        if reason:
            row |= {"estimate": np.nan, "reason": reason, "n": 0, "n_lost": n + n_lost}
            rows.append(row)
            continue
        if name in _SHARES:
            row |= _interval(own, share, clusters, inference.confidence)
        else:
            row |= spread(again[name], estimate, inference.confidence)
        chance = stats.compare_with_null(np.nan, dealt[name], confidence=inference.confidence)
        rows.append(row | {key: chance[key] for key in ("null", "null_low", "null_high")})
    return rows


def _interval(own: np.ndarray, share: _Share, clusters: np.ndarray, confidence: float) -> Row:
    """Return Wilson's interval of a share by clusters; of F1, that of its share J."""
    counted = own[:, [HITS.index(name) for name in dict.fromkeys(share.below)]].max(axis=1) > 0
    hits = own[counted][:, HITS.index(share.above[0])]
    row = stats.clustered_share(hits, clusters[counted], confidence=confidence).row()
    twice = len(share.above) > 1  # hits count twice above and below
    low, high = (2 * end / (1 + end) if twice else end for end in (row["ci_low"], row["ci_high"]))
    return {"ci_low": low, "ci_high": high, "reason": row["reason"]}


def _selected(
    cases: list[Case], clusters: np.ndarray, inference: InferenceSettings
) -> tuple[str, Row]:
    """Return the most accurate judge, and its accuracy less what having chosen it adds."""
    right = np.column_stack([hits(case)[:, HITS.index("right")] for case in cases])
    accuracy = right.mean(axis=0)
    best = int(accuracy.argmax())
    sums = resampled(np.column_stack([right, np.ones(len(right))]), clusters, inference=inference)
    again = sums[:, :-1] / sums[:, -1:]
    gain = float((again.max(axis=1) - accuracy[again.argmax(axis=1)]).mean())
    share = float(np.clip(accuracy[best] - max(gain, 0), 0, 1))
    off = (right[:, best] - accuracy[best]) / len(right)
    size = stats.effective_size(off, clusters, size=len(right), confidence=inference.confidence)
    row = stats.wilson(share, size, confidence=inference.confidence).row()
    return cases[best].judge, row | {"statistic": "accuracy_selected", "n": len(right), "n_lost": 0}


# --- the machinery ------------------------------------------------------------------------------


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
    found = []
    for start in range(0, inference.n_permutations, _AT_ONCE):
        rounds = min(_AT_ONCE, inference.n_permutations - start)
        places = rng.integers(count, size=(rounds, count))
        places += np.arange(rounds)[:, None] * count
        times = np.bincount(places.ravel(), minlength=rounds * count).reshape(rounds, count)
        found.append(times @ by_cluster)
    return np.concatenate(found)


def resampled_mean(
    values: np.ndarray, clusters: np.ndarray, *, inference: InferenceSettings
) -> np.ndarray:
    """Return the means of values over resampled clusters (any labels), one per draw.

    Examples
    --------
    >>> means = resampled_mean(
    ...     np.array([0.0, 1.0]), np.array(["a", "b"]),
    ...     inference=InferenceSettings(n_permutations=50)
    ... )
    >>> set(means.tolist()) == {0.0, 0.5, 1.0}
    True
    """
    numbers = np.unique(clusters, return_inverse=True)[1]
    sums = resampled(np.column_stack([values, np.ones(len(values))]), numbers, inference=inference)
    return sums[:, 0] / sums[:, 1]


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


def least_p(apart: int) -> float:
    """Return the least p of an exact sign or McNemar test of so many units that differ.

    Examples
    --------
    >>> least_p(5), least_p(0)
    (0.0625, 1.0)
    """
    return float(min(1.0, 2 * 0.5**apart))


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
        N counts the texts that both judged, `n_lost` the others. The interval is a t over the sums
        of clusters (`stats.clustered_mean`); there is none where these do not differ.
        Where texts share clusters, `p_value` is exact: it flips the signs of the clusters' sums of
        (first right less second right), all alike likely where the judges are equally good. Where
        each text stands alone it is McNemar's, which that is then (exact below 25 texts on which
        one alone is right, else chi squared with the continuity correction).

    References
    ----------
    McNemar 1947, Psychometrika 12(2).
    """
    cases, clusters = cases_of(judgements, labelled, cluster=cluster)
    used = instruments(judgements)
    rows = [
        {
            "judge": f"{one.judge} − {other.judge}",
            "statistic": "accuracy_difference",
            "instrument": "; ".join(dict.fromkeys([used[one.judge], used[other.judge]])),
        }
        | _difference(one, other, clusters, inference)
        for one, other in combinations(cases, 2)
    ]
    found = tables.estimates(
        rows, study=STUDY, measure=MEASURE, source=source, confidence=inference.confidence
    )
    return stats.adjust(found, method=correction)


def _difference(one: Case, other: Case, clusters: np.ndarray, inference: InferenceSettings) -> Row:
    both = ~np.isnan(one.said.biased) & ~np.isnan(other.said.biased)
    row: Row = {"n": int(both.sum()), "n_lost": int((~both).sum()), "null": 0.0, "test": "McNemar"}
    if not both.any():
        return row | {"estimate": np.nan, "reason": "no text has both verdicts"}
    first, second = (c.said.biased[both] == c.truth.biased[both] for c in (one, other))
    return row | compared(first, second, clusters[both], confidence=inference.confidence)


def compared(
    first: np.ndarray, second: np.ndarray, clusters: np.ndarray, *, confidence: float
) -> dict[str, Any]:
    """Test whether one judge is more often right than another on the same texts.

    Parameters
    ----------
    first, second
        Whether either is right on each text.
    clusters
        Each text's cluster; where each has its own, the test is McNemar's.
    confidence
        Level of the interval.

    Returns
    -------
    dict
        Of a row of `differences`: `estimate`, the interval, `test`, `p_value` and what belongs to
        it; or the `reason` why there is none.

    Examples
    --------
    >>> right, wrong = np.array([True] * 8), np.array([True] * 2 + [False] * 6)
    >>> row = compared(right, wrong, np.arange(8), confidence=0.95)
    >>> row["estimate"], row["p_value"]
    (0.75, 0.03125)
    """
    row: Row = {"test": "McNemar"}
    change = first.astype(float) - second.astype(float)
    alone = int((change > 0).sum()), int((change < 0).sum())
    row["estimate"] = float(change.mean())
    if not sum(alone):
        return row | {"reason": "both are right on the same texts: nothing to test"}
    row |= stats.clustered_mean(change, clusters, confidence=confidence, bounds=(-1.0, 1.0)).row()
    if len(np.unique(clusters)) < len(change):
        return row | {"test": FLIPPED, **_flipped(change, clusters)}
    exact = sum(alone) < _EXACT_BELOW
    table = [[int((first & second).sum()), alone[0]], [alone[1], int((~first & ~second).sum())]]
    result = mcnemar(table, exact=exact, correction=True)
    row["p_value"] = min(float(result.pvalue), 1.0)
    if exact:
        row["p_least"] = least_p(sum(alone))
    return row if exact else row | {"statistic_value": float(result.statistic), "df": 1.0}


def _flipped(change: np.ndarray, clusters: np.ndarray) -> Row:
    """Test a sum of whole numbers exactly, by all signs that its clusters' sums could have."""
    sums = np.rint(np.bincount(clusters, weights=change)).astype(int)
    sizes = np.abs(sums[sums != 0])
    chance = np.ones(1)  # of each total, from -sizes.sum() to sizes.sum()
    for size in sizes:
        ends = np.zeros(len(chance) + 2 * size)
        ends[: len(chance)] += chance / 2
        ends[2 * size :] += chance / 2
        chance = ends
    totals = np.arange(len(chance)) - sizes.sum()
    p = chance[np.abs(totals) >= abs(sums.sum())].sum()
    return {"p_value": float(min(p, 1.0)), "p_least": least_p(len(sizes))}
