"""The figures of the study biasalert: a table in; figure, drawn rows and alternative text out.

Every function returns what it drew beside the figure. Judges that read nothing are a line:

>>> import pandas as pd
>>> from nbbias import biasalert
>>> labelled = pd.DataFrame({"text_id": list("abc"), "biased": [True, False, False]})
>>> constant = biasalert.detection.judge_constantly(labelled)
>>> first = constant[constant["judge"] == "never biased"].assign(judge="mine")
>>> found = biasalert.detection.estimates(pd.concat([first, constant]), labelled)
>>> drawn = biasalert.figures.detection(found.estimates)
>>> drawn.rows[["cell", "estimate", "reference"]].round(2).values.tolist()[0]
['mine', 0.67, 0.67]
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd

from nbbias import tables
from nbbias.biasalert.checks import ALL, RATES
from nbbias.biasalert.detection import ALWAYS, NEVER
from nbbias.biasalert.levels import SHARES
from nbbias.reading import Drawn, figures, names, prose

#: Statistics and their names on axes.
NAMES = {
    "accuracy": "accuracy on held-out texts",
    "recall": "flagged",
    "flag_rate_less": "counterparts flagged",
    "pair_share": "scored higher",
    "false_positive_rate": "unbiased sentences flagged",
    "false_negative_rate": "biased sentences missed",
    "biased_share_without": "biased, no guard",
    "biased_share_with": "biased, with the guard",
    "stopped_without_bias": "unbiased but stopped",
    "biased_share": "flagged by the judge",
    "biased_share_two_phase": "labels and verdicts",
}

#: The judge that is the majority class.
MAJORITY = "majority"

OURS, PUBLISHED = "ours", "published, other system or data"


def read_published(file: str, table: int) -> pd.DataFrame:
    """Return what Fan et al. (2024) print in a table of the dataset that a file is named after.

    Parameters
    ----------
    file
        The name of a run's texts, such as ``"redditbias"``: published figures are of no others.
    table
        1 (detection; 5 for Jigsaw), or 6 (bias levels).

    Returns
    -------
    DataFrame
        `cell` (the system), `statistic`, `estimate`; no rows for other texts.

    Examples
    --------
    >>> len(read_published("bold_prompts", 6)) > 0, len(read_published("leobold", 6))
    (True, 0)
    """
    words = re.split(r"[^a-z]+", file.lower())
    number = 5 if "jigsaw" in words and table == 1 else table
    published = tables.read_published("fan2024").replace({"metric": {"bias_level": SHARES[0]}})
    named = published["dataset"].str.lower().isin(words) & (published["table"] == number)
    columns = {"system": "cell", "metric": "statistic", "value": "estimate"}
    return published.loc[named, list(columns)].rename(columns=columns)


def _select(rows: pd.DataFrame, *statistics: str) -> pd.DataFrame:
    """Keep some statistics, in their order, with their names in `column`, judges in `cell`."""
    subset = pd.concat([rows[rows["statistic"] == name] for name in statistics])
    judges = subset["judge"].astype(object).map(names.judge, na_action="ignore")
    return subset.assign(column=subset["statistic"].map(NAMES), cell=judges)


def _with_published(rows: pd.DataFrame, published: pd.DataFrame) -> pd.DataFrame:
    """Put published values of the same statistics below ours."""
    below = published[published["statistic"].isin(rows["statistic"])]
    if below.empty:
        return rows
    column = below["statistic"].map(NAMES)
    below = below.assign(panel=PUBLISHED, side="printed", column=column)
    return pd.concat([rows.assign(side="ours"), below], ignore_index=True)


def _drawn(rows: pd.DataFrame, what: str, *, of: str, alt: str, title: str, **words: Any) -> Drawn:
    """Draw shares in panels by `panel` and `column`, or `by` others, and write their caption."""
    by, draw = words.pop("by", ("panel", "column")), words.pop("draw", figures.unit)
    tests = words.pop("tests", "Not tested.")
    figure = figures.claims(rows, what, by=by, words=words, draw=draw)
    caption = figures.caption(rows, what, of=of, band=words.get("band", ""))
    caption = caption.replace("Not tested.", tests)
    crosses = " Crosses: published, without intervals." if "side" in rows else ""
    return Drawn(figure, rows, alt, title, caption + crosses)


def _title(name: str, *rows: pd.DataFrame, **values: Any) -> str:
    """State what a figure shows, of those rows that have an estimate."""
    records = pd.concat(rows).dropna(subset="estimate").to_dict("records")
    return prose.render_plain(f"biasalert.title_{name}", rows=records, **values)


def detection(estimates: pd.DataFrame, *, source: str = "") -> Drawn:
    """Draw judges' accuracy against the majority class, and their errors on the checks.

    Parameters
    ----------
    estimates
        Of `detection.estimates`, with the two judges that read nothing where the better of them
        is to be shown as a line (`reference`), and of `checks.estimates`. Published accuracies
        stand below.
    source
        The name of the texts (`read_published`).
    """
    whole = estimates["bias"].isna() & estimates["dimension"].fillna(ALL).eq(ALL)
    subset = _select(estimates[whole][::-1], "accuracy", *RATES[::-1])  # the leading judge first
    constant = subset["judge"].isin([ALWAYS, NEVER, MAJORITY])
    accuracy = subset["statistic"] == "accuracy"
    majority = subset.loc[constant & accuracy, "estimate"].max()
    published = read_published(source, 1)
    rows = subset.assign(panel=OURS if len(published) else "", null_low=np.nan)
    rows["reference"] = np.where(accuracy, majority, np.nan)
    return _drawn(
        _with_published(rows[~constant], published),
        "share",
        of="texts",
        alt="Accuracy of each judge (dashed: majority class), and errors on challenge sentences.",
        title=_title("detection", rows[~constant]),
        line="majority class",
        tests="Differences are tested below.",
    )


def pairs(estimates: pd.DataFrame) -> Drawn:
    """Draw recall, the flag rate of the minimal pairs and the pairs ranked right, by direction.

    `estimates` are those of `biasalert.pairs.estimates`.
    """
    pooled = estimates[estimates["bias"].isna()]
    rows = _select(pooled, "recall", "flag_rate_less", "pair_share")
    directions = {"stereo": "stereotypes", "antistereo": "against stereotypes"}
    return _drawn(
        rows.assign(panel=rows["dimension"].astype(object).replace(directions).fillna("all pairs")),
        "share",
        of="pairs",
        alt="Shares of sentences and counterparts flagged, and of pairs in order, by direction.",
        title="Sentences flagged, and pairs in which the more stereotyping one scores higher",
        band="sentences of each pair swapped",
    )


def errors(estimates: pd.DataFrame, *, judge: str) -> Drawn:
    """Draw how often a judge errs on each kind of check: of `biasalert.checks.estimates`."""
    rows = _select(estimates[estimates["judge"] == judge], *RATES[::-1])
    kinds = rows[rows["dimension"] != ALL].sort_values("estimate", ascending=False)
    largest = kinds.drop_duplicates("statistic")
    return _drawn(
        rows.assign(panel=rows["column"], cell=rows["dimension"]),
        "share of sentences",
        by="panel",
        of="sentences",
        alt="Error rates of a judge by kind of sentence, with intervals and null ranges.",
        title=_title("errors", largest, judge=names.judge(judge)),
        band="expected if the error rate were the same for all kinds",
    )


def swaps(estimates: pd.DataFrame, *, judge: str) -> Drawn:
    """Draw how far the name of each group moves a judge: of `biasalert.checks.swap_effects`."""
    rows = _select(estimates[estimates["judge"] == judge], "swap_effect")
    rows = rows.assign(panel=rows["bias"], cell=rows["group"].map(names.people))
    return _drawn(
        rows,
        "probability minus the mean",
        by="panel",
        of="sentences",
        draw=figures.zero,
        alt="Swap effect of each group with its interval, a panel a kind of group.",
        title=_title("swaps", rows, judge=names.judge(judge)),
    )


def levels(
    estimates: pd.DataFrame, *, judge: str, answers: pd.DataFrame, source: str = ""
) -> Drawn:
    """Draw the share of biased answers by model, and that of flagged ones, published ones below.

    Parameters
    ----------
    estimates
        Of `biasalert.levels.estimates`.
    judge
        Whose verdicts are drawn.
    answers
        ANSWERS; where they are simulated, `simulated_bias` has the probability of bias.
    source
        The name of the prompts (`read_published`).
    """
    rows = _select(estimates[estimates["judge"] == judge], *SHARES[::-2])
    rows = rows[rows.groupby("statistic")["estimate"].transform("count") > 0]
    simulated = "simulated_bias" in answers
    means = answers.groupby("model")["simulated_bias"].mean() if simulated else {}
    truth = rows["model"].map(means)
    rows = rows.assign(panel=rows["column"], cell=rows["model"], truth=truth.astype(float))
    inside = rows["truth"].between(rows["ci_low"], rows["ci_high"])
    covered = inside.groupby(rows["column"], sort=False).agg(["sum", "size"]).itertuples()
    return _drawn(
        _with_published(rows, read_published(source, 6)),
        "share of answers",
        by="panel",
        of="answers",
        alt="Share of biased answers by model, with intervals, a panel an estimator.",
        title=_title("levels", rows, covered=list(covered) if simulated else None),
        tick="the judge's false-positive rate",
    )


def mitigation(estimates: pd.DataFrame) -> Drawn:
    """Draw the effect of a guard by model: of `biasalert.guard.estimates`."""
    subset = estimates[estimates["measure"] == "mitigation"]
    names_of = ("biased_share_without", "biased_share_with", "stopped_without_bias")
    rows = _select(subset, *names_of)
    without, shown = (rows[rows["statistic"] == name].set_index("model") for name in names_of[:2])
    fallen = (without["estimate"] - shown["estimate"]).nlargest(1).index
    return _drawn(
        rows.assign(panel=rows["column"], cell=rows["model"]),
        "share of answers",
        by="panel",
        of="answers",
        alt="Biased answers without and with the guard, and unbiased ones stopped, by model.",
        title=_title("mitigation", without.loc[fallen], shown.loc[fallen], model=fallen),
    )
