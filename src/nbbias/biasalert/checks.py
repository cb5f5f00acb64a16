"""Where judges go wrong: reported speech, counter-speech, plain mentions, dialect, names of groups.

The checks are sentences written for this project, labelled as the paper's annotation guide says:
who reports a bias, or speaks against it, is not biased; who agrees with it is, and so is who
counters one generalisation with another. They are few and mild: a way to see a weakness, no
benchmark. Templates of praise and blame of one person are filled with each group: whom a sentence
names should not move a judge.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
from scipy.stats import hypergeom

from nbbias import stats, tables
from nbbias.biasalert.detection import Row, score_judgements, tabulate
from nbbias.biasalert.judges.panel import JudgePanel
from nbbias.tables import read_shipped_table
from nbbias.text import lexicons, substitution

MEASURE = "checks"

#: The kind of text of the rates over all checks.
ALL = "all kinds"

#: Error rates: the statistics of texts labelled not biased, and biased.
RATES = ("false_positive_rate", "false_negative_rate")

#: The word lists whose groups are exchanged, and the kinds of templates.
BIASES, KINDS = ("gender", "race", "orientation"), ("praise", "blame")


def read_checks() -> pd.DataFrame:
    """Return the checks as LABELLED.

    Returns
    -------
    DataFrame
        `text_id`, `text`, `biased`, `bias_type`, `group`, `attribute` (missing where none is said);
        `category`; and of dialect only, `pair_id`, which two sentences of one content share, and
        `variety`, the name of a variety or ``"standard"``.

    Examples
    --------
    >>> checked = read_checks()
    >>> sorted(checked.loc[checked["biased"], "category"].unique())
    ['biased counter-speech', 'endorsed report', 'implied prejudice']
    """
    table = read_shipped_table("biasalert/checks.csv").rename(columns={"check_id": "text_id"})
    texts = ["text_id", "text", "category", "bias_type", "group", "attribute", "pair_id", "variety"]
    return table.astype(dict.fromkeys(texts, "str")).astype({"biased": bool})


def estimates(
    judgements: pd.DataFrame, checked: pd.DataFrame, *, confidence: float = stats.CONFIDENCE
) -> pd.DataFrame:
    """Estimate how often judges err on each kind of check.

    Parameters
    ----------
    judgements
        JUDGEMENTS of the checks, of one judge or more.
    checked
        `read_checks`, or sentences of your own with the same columns.
    confidence
        Level of the intervals.

    Returns
    -------
    DataFrame
        ESTIMATES, with the category, or `ALL`, in `dimension`; `n_lost` counts texts without a
        verdict:

        - ``false_positive_rate``: share of the unbiased texts called biased;
          ``false_negative_rate``: share of the biased texts not called so. Wilson intervals, two
          versions of one content sharing a cluster. `null` of a category is the rate over all
          with the same label, with its exact range where categories are permuted among these
          texts; p is that of Fisher's exact test of the category against the others, of texts
          that count as independent.
    """
    scored = score_judgements(judgements)[["text_id", "judge", "instrument", "flagged", "score"]]
    rows: list[Row] = []
    both = checked.merge(scored, on="text_id")
    for key, part in tables.split_groups(both, ["judge", "instrument"]):
        rows += [key | row for row in _errors(part, confidence)]
    table = tabulate(rows, measure=MEASURE, source="checks", confidence=confidence)
    return stats.adjust(table, family=["judge"], where={"statistic": RATES})


def _errors(table: pd.DataFrame, confidence: float) -> list[Row]:
    clusters = table.get("pair_id", table["text_id"]).fillna(table["text_id"])
    table = table.assign(wrong=table["flagged"].sub(table["biased"]).abs(), cluster=clusters)
    both = pd.concat([table, table.assign(category=ALL)])
    rows: list[Row] = []
    for (category, biased), subset in both.groupby(["category", "biased"], sort=False):
        judged = subset.dropna(subset="wrong")
        wrong, clusters = judged["wrong"].to_numpy(float), judged["cluster"].to_numpy()
        share = stats.clustered_share(wrong, clusters, confidence=confidence)
        row: Row = {"dimension": category, "statistic": RATES[biased]} | share.row()
        row["n_lost"] = len(subset) - len(judged)
        if category != ALL and (n := len(judged)):
            same_label = table.loc[table["biased"] == biased, "wrong"].dropna()
            errors = hypergeom(len(same_label), int(same_label.sum()), n)
            low, high = errors.interval(confidence)
            row |= {"null": same_label.mean(), "null_low": low / n, "null_high": high / n}
            row |= stats.exact_p(errors.pmf(np.arange(n + 1)), int(subset["wrong"].sum()))
            row["test"] = "Fisher's exact test"
        rows.append(row)
    return rows


# --- names of groups ----------------------------------------------------------------------------


def fill_templates() -> pd.DataFrame:
    """Return the filled templates as TEXTS, with the columns of `substitution.fill_templates`.

    Examples
    --------
    >>> fill_templates()["text_id"].is_unique
    True
    """
    filled = substitution.fill_templates(lexicons.load_all(BIASES))
    filled = filled[filled["kind"].isin(KINDS)]
    ids = filled[["bias", "template", "group"]].astype(str).agg(" ".join, axis=1)
    return filled.assign(text_id=ids).reset_index(drop=True)


def swap_differences(panel: JudgePanel, *, confidence: float) -> pd.DataFrame:
    """Estimate how a judge differs between groups named in the same sentence.

    Parameters
    ----------
    panel
        The judges.
    confidence
        Level of the intervals.

    Returns
    -------
    DataFrame
        ESTIMATES by `judge`, `bias` and pair of groups (`group`, such as ``female − male``):
        ``swap_difference``, the mean difference of the judge's probability (of its verdict, where
        it gives none) between the sentences about the first and those about the second, in [-1, 1];
        N counts sentences; one-sample t, Holm over the pairs of a judge. By `judge` and `bias`:
        ``verdict_changes``, the share of sentences whose verdict depends on the group, without a
        test.
    """
    filled = fill_templates()
    distinct = filled.drop_duplicates("text")
    judgements, _ = panel.judge(distinct[["text_id", "text"]], "filled templates")
    rows, texts = [], distinct.set_index("text_id")["text"]
    versions = filled[filled["group"] != substitution.NEUTRAL]
    for judge, subset in score_judgements(judgements).groupby("judge", sort=False):
        scored = subset.set_index(subset["text_id"].map(texts))[["flagged", "score"]]
        key: Row = {"judge": judge, "instrument": subset["instrument"].iloc[0]}
        for bias, part in versions.join(scored, on="text").groupby("bias", sort=False):
            changes = part.groupby("template")["flagged"].nunique() > 1
            share = stats.share_interval(changes, confidence=confidence)
            rows.append(key | {"bias": bias, "statistic": "verdict_changes"} | share.row())
            scores = part.pivot_table("score", "template", "group", sort=False)
            for pair in combinations(scores, 2):  # rounded: what no group moves is exactly 0
                difference = (scores[pair[0]] - scores[pair[1]]).round(12)
                result = stats.one_sample(difference, confidence=confidence, bounds=(-1, 1))
                name = {"bias": bias, "group": " − ".join(pair), "null": 0.0}
                rows.append(key | name | {"statistic": "swap_difference"} | result.row())
    table = tabulate(rows, measure=MEASURE, source="templates", confidence=confidence)
    return stats.adjust(table, family=["judge"])
