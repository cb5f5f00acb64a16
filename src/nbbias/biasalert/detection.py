"""How often judges agree with the reference labels, and how they differ from each other.

Every score is the mean of one value by text (`score_texts`): 1 where the judge is right, 0 where it
is wrong, NaN where the text does not count for the score.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial, reduce
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from nbbias import stats, tables
from nbbias.biasalert.knowledge.groups import canonical_groups, match_names
from nbbias.stats import InferenceSettings

Row = dict[str, Any]

#: `tables.estimates` of this study.
tabulate = partial(tables.estimates, study="biasalert")

#: The defaults of this study.
INFERENCE = InferenceSettings(n_permutations=2000)

#: Permutations of the verdicts behind each null range, and permuted verdicts in memory at a time.
_PERMUTATIONS, _BLOCK = 200, 1_000_000

#: The test of two judges where texts share clusters.
SIGN_FLIP = "exact test over clusters"

#: Clusters in which two judges differ: a t interval over fewer is too narrow.
MIN_DIFFER = 5

NOTHING = "no text to take it of"

PRODUCT = "overall_score_product"

#: What labels and verdicts name beside the verdict.
NAMED = ("bias_type", "group", "attribute")

#: The scores whose values by text are saved, and those that are estimated by type.
UNIT_SCORES = ("accuracy", "recall", "specificity")
SCORES_BY_TYPE = ("accuracy", "f1", "recall", "specificity")


class Case(NamedTuple):
    """The labels and one judge's verdicts on the same texts, in the same order.

    Attributes
    ----------
    judge, instrument : str
        The judge, and what it measures with.
    truth, verdicts : array
        Texts by `biased` (1, 0 or NaN), `bias_type`, `group` and `attribute` (codes of names; -1
        where none is given).
    matches : dict
        Name of a column → whether the name of a verdict matches that of a label: labels' codes by
        verdicts' codes, with a last row and column of False for code -1.
    """

    judge: str
    instrument: str
    truth: np.ndarray
    verdicts: np.ndarray
    matches: Mapping[str, np.ndarray]


def match_verdicts(
    judgements: pd.DataFrame, labelled: pd.DataFrame
) -> tuple[list[Case], np.ndarray]:
    """Match each judge's verdicts with the labels.

    Parameters
    ----------
    judgements
        JUDGEMENTS of one judge or more. Rows of texts without a label are left aside.
    labelled
        LABELLED: `text_id`, `biased`, and `bias_type`, `group`, `attribute` where they are known.

    Returns
    -------
    (cases, clusters) : list of Case, array of int
        One case per judge, in order of appearance; and each text's cluster, numbered from 0. Groups
        are compared by their canonical names.

    Raises
    ------
    DataError
        A text has no label or two, or a judge has no row for a text or two.
    """
    if labelled["text_id"].duplicated().any() or labelled["biased"].isna().any():
        raise tables.DataError("labelled", "a text has no label, or two; give each one")
    require_one_row(judgements, labelled["text_id"])
    table = judgements.assign(instrument=name_instruments(judgements))
    cases = []
    for judge, part in table.groupby("judge", sort=False):
        verdicts = part.set_index("text_id").loc[labelled["text_id"]]
        cases.append(_case(str(judge), part["instrument"].iloc[0], labelled, verdicts))
    return cases, pd.factorize(_clusters(labelled))[0]


def require_one_row(judgements: pd.DataFrame, text_ids: pd.Series) -> None:
    """Refuse judgements of which a judge has not one row for each text."""
    rows = judgements[judgements["text_id"].isin(text_ids)]
    counts = rows.groupby("judge", sort=False)["text_id"].agg(["size", "nunique"])
    counts = counts.reindex(judgements["judge"].unique(), fill_value=0)
    for judge, n in counts[(counts != len(text_ids)).any(axis=1)]["nunique"].head(1).items():
        message = f"judge {judge} needs one row for each of {len(text_ids)} texts, and judges {n}"
        raise tables.DataError("judgements", message)


def _clusters(labelled: pd.DataFrame) -> pd.Series:
    """Return the cluster of each text, by `text_id`: its `comment_id`, else the text itself."""
    ids = labelled["text_id"].astype("str")
    comments = labelled.get("comment_id", ids)
    return comments.astype("str").where(comments.notna(), ids).set_axis(ids)


def _case(judge: str, instrument: str, labelled: pd.DataFrame, verdicts: pd.DataFrame) -> Case:
    columns, matches = [(flags(labelled["biased"]), flags(verdicts["biased"]))], {}
    for name in NAMED:
        sides = [table.get(name, pd.Series(None, table.index)) for table in (labelled, verdicts)]
        if name == "group":
            sides = [canonical_groups(side) for side in sides]
        (truth, labels), (predicted, names) = (
            pd.factorize(side.astype(object).where(side.notna() & (side != ""))) for side in sides
        )
        matches[name] = np.pad(match_names(list(labels), list(names)), (0, 1))
        columns.append((truth, predicted))
    truth, predicted = (np.column_stack(side) for side in zip(*columns, strict=True))
    return Case(judge, instrument, truth, predicted, matches)


def flags(biased: pd.Series) -> np.ndarray:
    """Return verdicts or labels as 1, 0 and NaN.

    Examples
    --------
    >>> flags(pd.Series([True, None, False])).tolist()
    [1.0, nan, 0.0]
    """
    return biased.astype("boolean").to_numpy(float, na_value=np.nan)


def score_texts(case: Case, order: np.ndarray | None = None) -> dict[str, np.ndarray]:
    """Score a judge text by text.

    Parameters
    ----------
    case
        Of `match_verdicts`.
    order
        The text whose verdict each text is given instead of its own, for permutations: an array of
        as many places as there are texts, or several such, one a row.

    Returns
    -------
    dict
        Score → its values by text (the last axis), 1, 0, or NaN where the text does not count: see
        `estimates`. Of `f1` they are those of the share J of true positives among the texts that
        are biased or called so: F1 is 2J / (1 + J).
    """
    truth, verdicts = case.truth, case.verdicts if order is None else case.verdicts[order]
    biased, called = truth[:, 0] == 1, verdicts[..., 0] == 1
    judged = ~np.isnan(verdicts[..., 0])
    labels, predicted = truth[:, 1:].astype(int), verdicts[..., 1:].astype(int)
    types, groups, attributes = (
        match[labels[:, i], predicted[..., i]] for i, match in enumerate(case.matches.values())
    )
    has_type, has_pair = labels[:, 0] >= 0, (labels[:, 1:] >= 0).all(axis=1)
    counted = {
        "accuracy": (biased == called, judged),
        "f1": (biased & called, judged & (biased | called)),
        "recall": (called, judged & biased),
        "specificity": (~called, judged & ~biased),
        "classification_score": (types, called & has_type),
        "attribution_score": (groups & attributes, called & has_pair),
    }
    return {name: np.where(counts, hit, np.nan) for name, (hit, counts) in counted.items()}


def _summarize(values: Mapping[str, np.ndarray]) -> dict[str, Any]:
    """Return every score from its values by text; NaN where no text counts.

    The product is accuracy × CS × AS, without AS where no attribution counts, as the paper prints
    it on CrowS-Pairs.
    """
    counts = {name: (~np.isnan(column)).sum(axis=-1) for name, column in values.items()}
    scores = {
        name: np.nansum(column, axis=-1) / np.where(counts[name], counts[name], np.nan)
        for name, column in values.items()
    }
    scores["f1"] = _f1(scores["f1"])
    pairs = np.nan_to_num(scores["attribution_score"], nan=1.0)
    return scores | {PRODUCT: scores["accuracy"] * scores["classification_score"] * pairs}


def _f1(share: Any) -> Any:
    return 2 * share / (1 + share)


def _reasons(case: Case) -> dict[str, str]:
    """Return why a judge has no scores of what it names, whatever its verdicts."""
    reasons = {}
    parts = {"attribution_score": ("group and attribute", [2, 3])}
    parts |= {"classification_score": ("type", [1])}
    for score, (what, columns) in parts.items():
        sides = (case.truth[:, columns], case.verdicts[:, columns])
        labels, verdicts = ((side >= 0).all(axis=1).any() for side in sides)
        if not labels:
            reasons[score] = f"no label names a {what}"
        elif not verdicts:
            reasons[score] = reasons[PRODUCT] = f"the judge names no {what}"
    return reasons


def count_losses(judgements: pd.DataFrame) -> pd.DataFrame:
    """Count how judging ended: by `judge` and `outcome`, `n`, `share` and the commonest `reason`.

    Examples
    --------
    >>> rows = {"judge": "mine", "outcome": ["judged", "refused"], "reason": [None, "no comment"]}
    >>> count_losses(pd.DataFrame(rows))["share"].tolist()
    [0.5, 0.5]
    """
    grouped = judgements.groupby(["judge", "outcome"], sort=False)
    table = grouped.size().rename("n").to_frame()
    table["share"] = table["n"] / table.groupby(level="judge")["n"].transform("sum")
    table["reason"] = grouped["reason"].agg(lambda reasons: next(iter(reasons.mode()), None))
    return table.reset_index()


def estimates(
    judgements: pd.DataFrame, labelled: pd.DataFrame, *, inference: InferenceSettings = INFERENCE
) -> tables.Estimated:
    """Estimate how good each judge is.

    Parameters
    ----------
    judgements
        JUDGEMENTS of one judge or more; every judge has a row for every labelled text.
    labelled
        LABELLED; texts that share a `comment_id` are one cluster.
    inference
        Level of the intervals, start of the draws.

    Returns
    -------
    Estimated
        ESTIMATES, one row per judge and score, `bias` and `group` empty; all in [0, 1], higher is
        better; and UNITS. N counts the texts that count, `n_lost` those left out.

        - ``accuracy``, ``f1``, ``recall``, ``specificity``: over the texts with a verdict.
        - ``classification_score``: the type is right, of the texts called biased whose type the
          label names (also false alarms, where the label names the topic), as in the paper.
        - ``attribution_score``: group and attribute are right, of the texts called biased whose
          label names both. A name is right when all its words stand in the label's, or the label's
          words in a name at most twice as long. That is lenient with long labels: compare with
          the null value.
        - ``overall_score_product``: accuracy × CS × AS, which the paper's Table 1 prints.

        Intervals are Wilson's by clusters (`stats.clustered_share`); that of F1 follows from that
        of J, the product has none. `null` is the mean, `null_low` to `null_high` the range, of
        verdicts permuted over the texts. The judge ``"majority"`` is the other baseline.
    """
    cases, clusters = match_verdicts(judgements, labelled)
    # The same permutations for every judge, so that judges can be compared.
    rng = np.random.default_rng([inference.seed, 1])
    orders = np.array([rng.permutation(len(clusters)) for _ in range(_PERMUTATIONS)])
    rows = [
        {"judge": case.judge, "instrument": case.instrument} | row
        for case in cases
        for row in _rows(case, labelled["text_id"], clusters, orders, inference.confidence)
    ]
    return _estimated(rows, labelled, confidence=inference.confidence)


def _estimated(rows: list[Row], labelled: pd.DataFrame, **common: Any) -> tables.Estimated:
    common |= {"study": "biasalert", "measure": "detection"}
    return tables.estimates_and_units(rows, clusters=_clusters(labelled).to_dict(), **common)


def _rows(
    case: Case, text_ids: pd.Series, clusters: np.ndarray, orders: np.ndarray, confidence: float
) -> list[Row]:
    values = score_texts(case)
    observed, reasons = _summarize(values), _reasons(case)
    blocks = np.array_split(orders, 1 + orders.size // _BLOCK)
    permuted = pd.concat(pd.DataFrame(_summarize(score_texts(case, block))) for block in blocks)
    called, biased = case.verdicts[:, 0] == 1, case.truth[:, 0] == 1
    among = {"recall": biased, "specificity": ~biased}
    among |= {"classification_score": called, "attribution_score": called}
    # What F1 and the product leave out are the texts without a verdict.
    counted = values | dict.fromkeys(("f1", PRODUCT), values["accuracy"])
    rows = []
    for name, estimate in observed.items():
        missing = np.isnan(counted[name])
        n, n_lost = int((~missing).sum()), int((missing & among.get(name, True)).sum())
        row: Row = {"statistic": name, "n": n, "n_lost": n_lost, "estimate": estimate}
        if reason := reasons.get(name) or (NOTHING if np.isnan(estimate) else None):
            empty = {"estimate": np.nan, "n": 0, "n_lost": n + n_lost, "reason": reason}
            rows.append(row | empty)
            continue
        if name != PRODUCT:
            scored = ~np.isnan(values[name])
            hits, units = values[name][scored], clusters[scored]
            share = stats.clustered_share(hits, units, confidence=confidence)
            row |= {end: getattr(share, end) for end in ("ci_low", "ci_high", "reason")}
        if name == "f1":
            row |= {end: _f1(row[end]) for end in ("ci_low", "ci_high")}
        row |= stats.null_range(permuted[name].to_numpy(), confidence=confidence)
        if name in UNIT_SCORES:
            row["values"] = pd.Series(values[name], text_ids.to_numpy())
        rows.append(row)
    return rows


def estimate_by_type(
    judgements: pd.DataFrame, labelled: pd.DataFrame, **options: Any
) -> tables.Estimated:
    """Estimate how good each judge is on the texts of each bias type.

    Parameters
    ----------
    judgements, labelled, **options
        As in `estimates`.

    Returns
    -------
    Estimated
        As of `estimates` (accuracy, F1, recall, specificity), with the type in `bias`; verdicts are
        permuted within a type. A text belongs to the type that its label names, be it biased or
        not; texts of no type are left aside.
    """
    parts = [_estimated([], labelled)]
    for bias_type, subset in labelled.groupby("bias_type", sort=True):
        result = estimates(judgements, subset, **options)
        shown = result.estimates["statistic"].isin(SCORES_BY_TYPE)
        rows = result.estimates[shown].assign(bias=str(bias_type))
        parts.append(tables.Estimated(rows, result.units.assign(bias=str(bias_type))))
    return tables.concatenate(parts)


def name_instruments(judgements: pd.DataFrame) -> pd.Series:
    """Return what the judge of each row measures with: its `instrument`, else its name."""
    judges = judgements["judge"].astype(str)
    return judgements.get("instrument", judges).fillna(judges)


def score_judgements(judgements: pd.DataFrame) -> pd.DataFrame:
    """Return JUDGEMENTS with `flagged`, 1, 0 or NaN, and each judge's `score` of a text.

    It is its probability, or its verdict where it gives none (`by`); NaN without a verdict.
    """
    flagged = pd.Series(flags(judgements["biased"]), judgements.index)
    probability = judgements["confidence"].astype(float)
    has_probability = probability.notna().groupby(judgements["judge"]).transform("any")
    return judgements.assign(
        instrument=name_instruments(judgements),
        flagged=flagged,
        score=probability.where(has_probability, flagged).where(flagged.notna()),
        by=has_probability.map({True: "confidence", False: "verdicts"}),
    )


def estimate_retrieval(
    evidence: pd.DataFrame,
    labelled: pd.DataFrame,
    *,
    instrument: str,
    inference: InferenceSettings = INFERENCE,
) -> pd.DataFrame:
    """Estimate how often retrieved statements match a text's bias type, or group.

    Parameters
    ----------
    evidence, labelled
        EVIDENCE of LABELLED texts. Texts without a statement, or whose label names no type (or no
        group), are excluded. Groups are compared by their canonical names.
    instrument
        The encoder, and the version of the knowledge.
    inference
        As in `estimates`.

    Returns
    -------
    DataFrame
        ESTIMATES in [0, 1], higher is better, `dimension` ``"bias type"`` or ``"group"``:
        ``match_first``, the share of texts whose most similar statement matches, and
        ``match_any``, the share with any that matches. Wilson intervals over clusters; `null`,
        with its range: statements permuted over the texts.

    Examples
    --------
    >>> texts = pd.DataFrame({"text_id": ["a", "b"], "bias_type": ["race", "age"], "group": None})
    >>> statements = pd.DataFrame({"text_id": ["a", "b", "b"], "rank": [1, 1, 2], "group": None})
    >>> statements = statements.assign(bias_type=["race", "race", "age"])
    >>> estimate_retrieval(statements, texts, instrument="mine")["estimate"].tolist()
    [0.5, 1.0, nan, nan]
    """
    rng, confidence = np.random.default_rng([inference.seed, 3]), inference.confidence
    rows: list[Row] = []
    for name in ("bias_type", "group"):
        subset = labelled.dropna(subset=name)
        texts = subset[subset["text_id"].isin(evidence["text_id"])]
        ranked = evidence.pivot(index="text_id", columns="rank", values=name)
        entries = ranked.loc[texts["text_id"]].apply(canonical_groups).to_numpy()
        truth = canonical_groups(texts[name]).to_numpy()[:, None]
        clusters = _clusters(texts).to_numpy()
        orders = [rng.permutation(len(texts)) for _ in range(_PERMUTATIONS)]
        for statistic, k in (("match_first", 1), ("match_any", None)):
            hits = (entries[:, :k] == truth).any(axis=1)
            row: Row = {"statistic": statistic, "dimension": name.replace("_", " ")}
            row |= stats.clustered_share(hits.astype(float), clusters, confidence=confidence).row()
            row |= {"instrument": instrument, "n_lost": len(subset) - len(texts)}
            if len(texts):
                permuted = [(entries[order, :k] == truth).any(axis=1).mean() for order in orders]
                row |= stats.null_range(np.array(permuted), confidence=confidence)
            rows.append(row)
    return tabulate(rows, measure="retrieval", confidence=confidence)


# --- judges against each other ------------------------------------------------------------------


def estimate_differences(
    judgements: pd.DataFrame, labelled: pd.DataFrame, *, inference: InferenceSettings = INFERENCE
) -> tables.Estimated:
    """Compare the accuracy of every two judges on the texts that both gave a verdict on.

    Parameters
    ----------
    judgements, labelled, inference
        As in `estimates`.

    Returns
    -------
    Estimated
        ESTIMATES, one row per pair; `judge` is ``"first − second"``, `statistic`
        ``accuracy_difference`` in [-1, 1], above 0 where the first is more often right: the judge
        that stands later in the judgements; `null` 0.
        N counts the texts that both judged, `n_lost` the others. Interval and test: `compared`
        (no interval where texts share clusters and fewer than five clusters differ); Holm over
        all pairs. And UNITS.
    """
    cases, clusters = match_verdicts(judgements, labelled)
    rows = []
    for second, first in combinations(cases, 2):  # baselines come first, and are subtracted
        right = [score_texts(case)["accuracy"] for case in (first, second)]
        change = right[0] - right[1]
        both = ~np.isnan(change)
        row: Row = {
            "judge": f"{first.judge} − {second.judge}",
            "statistic": "accuracy_difference",
            "instrument": "; ".join(dict.fromkeys([first.instrument, second.instrument])),
            "n": int(both.sum()),
            "n_lost": int((~both).sum()),
            "null": 0.0,
            "test": "McNemar",
            "values": pd.Series(change, labelled["text_id"].to_numpy()),
        }
        if both.any():
            first_right, second_right = (side[both] == 1 for side in right)
            units, level = clusters[both], inference.confidence
            row |= compared(first_right, second_right, units, confidence=level)
        else:
            row |= {"estimate": np.nan, "reason": "no text has both verdicts"}
        rows.append(row)
    result = _estimated(rows, labelled, confidence=inference.confidence)
    return result._replace(estimates=stats.adjust(result.estimates))


def compared(
    first: np.ndarray, second: np.ndarray, clusters: np.ndarray, *, confidence: float
) -> Row:
    """Test whether one share is larger than another on the same units.

    Parameters
    ----------
    first, second
        Whether it is so of each unit, such as whether either judge is right on a text.
    clusters
        Each unit's cluster.
    confidence
        Level of the interval.

    Returns
    -------
    dict
        `stats.paired_shares`. Where units share clusters, the interval is the t interval over their
        sums (`stats.clustered_mean`), if `MIN_DIFFER` of these differ from 0: of fewer it is
        too narrow. p is exact: it flips the signs of the clusters' sums of differences, all alike
        likely where the shares are equal.

    Examples
    --------
    >>> right, wrong = np.array([True] * 8), np.array([True] * 2 + [False] * 6)
    >>> row = compared(right, wrong, np.arange(8), confidence=0.95)
    >>> row["estimate"], round(row["p_value"], 3)
    (0.75, 0.014)
    """
    change = first.astype(float) - second.astype(float)
    if len(np.unique(clusters)) == len(change):
        result = stats.paired_shares(first, second, confidence=confidence)
        return result.replace(n=None, n_lost=None).row()
    if not change.any():
        n = len(np.unique(clusters))
        limit = np.ceil(1000 * (1 - (1 - confidence) ** (1 / n))) / 10
        reason = f"both err on the same texts: accuracy differs in none of {n} clusters of "
        reason += f"similar texts (such clusters: at most {limit}%, one-sided "
        reason += f"{100 * confidence:.4g}% limit)"
        return {"estimate": 0.0, "reason": reason}
    result = stats.clustered_mean(change, clusters, confidence=confidence, bounds=(-1, 1))
    if (test := _flip_signs(change, clusters))["p_least"] > least_p(MIN_DIFFER):
        result = result.replace(ci_low=np.nan, ci_high=np.nan)
    return result.row() | {"test": SIGN_FLIP, **test}


def least_p(discordant: int) -> float:
    """Return the least p of an exact sign or McNemar test of so many discordant units.

    Examples
    --------
    >>> least_p(5), least_p(0)
    (0.0625, 1.0)
    """
    return float(min(1.0, 2 * 0.5**discordant))


def _flip_signs(change: np.ndarray, clusters: np.ndarray) -> Row:
    """Test a sum of whole numbers exactly, by all signs that its clusters' sums could have."""
    sums = np.rint(np.bincount(clusters, weights=change)).astype(int)
    sizes = np.abs(sums[sums != 0])
    signs = [np.r_[0.5, np.zeros(2 * size - 1), 0.5] for size in sizes]
    chance = reduce(np.convolve, signs, np.ones(1))  # of totals from -sizes.sum() to sizes.sum()
    p = chance[np.abs(np.arange(len(chance)) - sizes.sum()) >= abs(sums.sum())].sum()
    return {"p_value": float(min(p, 1.0)), "p_least": least_p(len(sizes))}
