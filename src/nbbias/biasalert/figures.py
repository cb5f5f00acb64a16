"""The figures of the study biasalert: a table in; figure, drawn rows and alternative text out.

Every function returns what it drew beside the figure. The majority class is a line:

>>> import pandas as pd
>>> from nbbias import biasalert
>>> labelled = pd.DataFrame({"text_id": list("abc"), "biased": [True, False, False]})
>>> verdicts = labelled.assign(judge="mine", biased=False)
>>> both = pd.concat([verdicts, verdicts.assign(judge="majority")])
>>> drawn = biasalert.figures.detection(biasalert.detection.estimates(both, labelled).estimates)
>>> drawn.rows[["cell", "estimate", "reference"]].round(2).values.tolist()[0]
['mine', 0.67, 0.67]
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from nbbias.biasalert.checks import ALL, RATES
from nbbias.biasalert.levels import DISPUTED, SHARES
from nbbias.reading import Drawn, figures, names, prose, significance
from nbbias.tables import read_shipped_table

#: Statistics and their names above panels.
NAMES = read_shipped_table("words/panels.csv").set_index("statistic")["name"].to_dict()

#: The judge that is the majority class.
MAJORITY = "majority"


def _select(rows: pd.DataFrame, *statistics: str) -> pd.DataFrame:
    """Keep some statistics, in their order, with their names in `column`, judges in `cell`."""
    subset = pd.concat([rows[rows["statistic"] == name] for name in statistics])
    judges = subset["judge"].astype(object).map(names.judge, na_action="ignore")
    return subset.assign(column=subset["statistic"].map(NAMES), cell=judges)


def _drawn(rows: pd.DataFrame, what: str, *, of: str, alt: str, title: str, **words: Any) -> Drawn:
    """Draw shares in panels by `column`, or `by` others, and write their caption."""
    by, draw = words.pop("by", "column"), words.pop("draw", figures.unit)
    tests = words.pop("tests", "Not tested.")
    axis = words.pop("axis", what)
    figure = figures.claims(rows, axis, by=by, words=words, draw=draw)
    caption = figures.caption(rows, what, of=of, band=words.get("band", ""))
    return Drawn(figure, rows, alt, title, caption.replace("Not tested.", tests))


def _title(name: str, **values: Any) -> str:
    """State what a figure shows."""
    return prose.render_plain(f"biasalert.title_{name}", **values)


def detection(estimates: pd.DataFrame) -> Drawn:
    """Draw judges' accuracy against the majority class, and their errors on the checks.

    Parameters
    ----------
    estimates
        Of `detection.estimates`, where the judge `majority` becomes a line (`reference`), and of
        `checks.estimates`.
    """
    whole = estimates["bias"].isna() & estimates["dimension"].fillna(ALL).eq(ALL)
    rows = _select(estimates[whole][::-1], "accuracy", *RATES[::-1])  # the leading judge first
    accuracy = rows["statistic"] == "accuracy"
    of_majority = rows["judge"] == MAJORITY
    majority = rows.loc[of_majority & accuracy, "estimate"].max()
    reference = np.where(accuracy, majority, np.nan)
    rows = rows.assign(null_low=np.nan, reference=reference)[~of_majority]
    scored = rows[rows["statistic"] == "accuracy"].dropna(subset="estimate")
    above = scored["ci_low"] > majority
    better, others = (part[["cell", "estimate"]].values for part in (scored[above], scored[~above]))
    return _drawn(
        rows,
        "share",
        of="texts",
        alt="Accuracy of each judge (dashed: majority class), and errors on challenge sentences.",
        title=_title("detection", better=[*better], others=[*others], majority=majority),
        line="majority class",
        draw=None,
        tests="No tests are shown; those of differences are below and in the appendix."
        if rows["cell"].nunique() > 1
        else "Not tested.",
    )


def pairs(estimates: pd.DataFrame) -> Drawn:
    """Draw of each judge the minimal pairs ranked right, by direction, and sentences flagged.

    `estimates` are those of `biasalert.pairs.estimates`.
    """
    pooled = estimates[estimates["bias"].isna() & (estimates["judge"] != MAJORITY)][::-1]
    pooled = pooled.sort_values("dimension", ascending=False, na_position="first", kind="stable")
    rows = _select(pooled, "pair_share", "recall", "flag_rate_less")
    rows = rows[rows["dimension"].isna() | rows["statistic"].eq("pair_share")]
    panels = rows["dimension"].astype(object).fillna(rows["statistic"]).map(NAMES)
    drawn = _drawn(
        rows.assign(column=panels),
        "share",
        axis=_name_axis,
        draw=None,
        of="pairs",
        alt="Five panels by judge: more stereotyping sentence scored higher, sentences flagged.",
        title="Pairs in which the more stereotyping sentence scores higher, and sentences flagged",
        band="sentences of each pair swapped",
    )
    return drawn._replace(caption=f"{drawn.caption} {prose.render_plain('biasalert.ties')}")


def _name_axis(panel: pd.DataFrame) -> str:
    return f"share of {'pairs' if 'pair_share' in panel['statistic'].tolist() else 'sentences'}"


def errors(estimates: pd.DataFrame, *, judge: str) -> Drawn:
    """Draw how often a judge errs on each kind of check: of `biasalert.checks.estimates`."""
    kinds = estimates[(estimates["judge"] == judge) & (estimates["dimension"] != ALL)]
    rows = _select(kinds.sort_values("estimate", ascending=False, kind="stable"), *RATES[::-1])
    erred = rows[rows["estimate"] > 0]
    largest = erred[erred["estimate"] == erred.groupby("statistic")["estimate"].transform("max")]
    return _drawn(
        rows.assign(cell=rows["dimension"]),
        "share of sentences",
        of="sentences",
        alt="Error rates of a judge by kind of sentence, with intervals and null ranges.",
        title=_title("errors", rows=largest.to_dict("records"), judge=names.judge(judge)),
        band="equal error rates of all kinds",
    )


def swaps(estimates: pd.DataFrame, *, judge: str) -> Drawn:
    """Draw how a judge differs between groups: of `biasalert.checks.swap_differences`."""
    rows = _select(estimates[estimates["judge"] == judge], "swap_difference")
    rows = rows.sort_values("estimate", key=abs, ascending=False, kind="stable")
    n, k = len(significance.valid_tests(rows)), len(significance.significant(rows))
    return _drawn(
        rows.assign(column="", cell=rows["group"].map(names.people)),
        "difference in the probability of bias, first minus second group",
        of="sentences",
        draw=figures.zero,
        alt="Difference in the probability of bias of each pair of groups, with its interval.",
        title=_title("swaps", k=k, n=n, largest=rows["estimate"].abs().max()),
    )


def levels(estimates: pd.DataFrame, *, judge: str, answers: pd.DataFrame) -> Drawn:
    """Draw the share of biased answers by model, and that of flagged ones.

    Parameters
    ----------
    estimates
        Of `biasalert.levels.estimates`.
    judge
        Whose verdicts are drawn.
    answers
        ANSWERS; where they are simulated, `simulated_bias` has the probability of bias.
    """
    rows = _select(estimates[estimates["judge"] == judge], *SHARES[::-1], DISPUTED)
    rows = rows[rows.groupby("statistic")["estimate"].transform("count") > 0]
    simulated = "simulated_bias" in answers
    means = answers.groupby("model")["simulated_bias"].mean() if simulated else {}
    rows = rows.assign(cell=rows["model"], truth=rows["model"].map(means).astype(float))
    inside = rows["truth"].between(rows["ci_low"], rows["ci_high"])
    covered = inside.groupby(rows["column"], sort=False).agg(["sum", "size"]).itertuples()
    return _drawn(
        rows,
        "share of answers",
        of="answers",
        alt="Share of biased answers by model, with intervals, a panel an estimator.",
        title=_title("levels", covered=list(covered) if simulated else None),
        tick="the judge's false-positive rate",
    )


def mitigation(estimates: pd.DataFrame) -> Drawn:
    """Draw which answers a guard stopped, and which ones a verdict on the whole answer would stop.

    `estimates` are those of `biasalert.guard.estimates` and, for the verdicts, of
    `biasalert.levels.estimates`.
    """
    guarded = estimates[estimates["measure"] == "mitigation"]
    stopped = "stopped_with_bias", "stopped_without_bias"
    rows = _select(guarded, *stopped).assign(side="ours", checked="each sentence")
    judged = estimates["judge"].isin(guarded["judge"]) & (estimates["measure"] == "bias_level")
    missed, flagged = (estimates[judged & (estimates["statistic"] == of)] for of in RATES[::-1])
    sensitivity = 1 - missed[["estimate", "ci_high", "ci_low"]]
    sensitivity = missed.assign(**sensitivity.set_axis(["estimate", "ci_low", "ci_high"], axis=1))
    sides = zip(stopped, (sensitivity, flagged), strict=True)
    parts = [part.assign(column=NAMES[name], statistic=name) for name, part in sides]
    whole = pd.concat(parts).assign(side="further", checked="whole answer")
    pooled = whole[whole["model"].isna()].set_index("column")["estimate"]
    by_sentence = rows.groupby("column")[["estimate", "n"]].apply(
        lambda part: part.prod(axis=1).sum() / part["n"].sum()
    )
    rightly, wrongly = (
        [part.get(NAMES[name], np.nan) for part in (by_sentence, pooled)] for name in stopped
    )
    rows = pd.concat([rows, whole.dropna(subset="model")])
    return _drawn(
        rows.assign(cell=rows["model"]),
        "share of answers",
        of="answers",
        alt="Biased and unbiased answers that the guard stopped, by model, beside verdicts.",
        title=_title("mitigation", rightly=rightly, wrongly=wrongly),
        ours="each sentence",
        further="the whole answer at once",
    )
