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
from matplotlib.figure import Figure

from nbbias import tables
from nbbias.biasalert.detection import ALWAYS, NEVER
from nbbias.biasalert.levels import SHARES
from nbbias.reading import Drawn, figures, names, prose

#: Statistics and their names on axes.
NAMES = {
    "accuracy": "accuracy",
    "f1": "F1",
    "recall": "recall",
    "specificity": "specificity",
    "flag_rate_less": "flagged: sent_less",
    "pair_share": "sent_more higher",
    "false_alarm_rate": "false alarms",
    "miss_rate": "misses",
    "biased_share": "share called biased",
    "biased_share_labelled": "labels alone",
    "biased_share_two_phase": "labels and verdicts",
}

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
        `system`, `metric`, `value`; no rows for other texts.

    Examples
    --------
    >>> len(read_published("bold_prompts", 6)) > 0, len(read_published("leobold", 6))
    (True, 0)
    """
    words = re.split(r"[^a-z]+", file.lower())
    number = 5 if "jigsaw" in words and table == 1 else table
    published = tables.read_published("fan2024")
    named = published["dataset"].str.lower().isin(words) & (published["table"] == number)
    return published.loc[named, ["system", "metric", "value"]].reset_index(drop=True)


def _select(rows: pd.DataFrame, *statistics: str) -> pd.DataFrame:
    """Keep some statistics, in their order, with their names in `column`, judges in `cell`."""
    subset = rows[rows["statistic"].isin(statistics)]
    rank = {name: number for number, name in enumerate(statistics)}
    order = subset["statistic"].map(rank).sort_values(kind="stable").index
    subset = subset.loc[order]
    return subset.assign(column=subset["statistic"].map(NAMES), cell=_judges(subset))


def _judges(rows: pd.DataFrame) -> pd.Series:
    return rows["judge"].astype(object).map(lambda judge: names.judge(str(judge)))


def _with_published(rows: pd.DataFrame, published: pd.DataFrame, metrics: Any) -> pd.DataFrame:
    """Put published values, renamed by `metrics`, below ours; what is not published is missing."""
    if published.empty:
        return rows
    below = published.assign(statistic=published["metric"].map(metrics)).dropna(subset="statistic")
    below = below.rename(columns={"system": "cell", "value": "estimate"})
    empty = ("ci_low", "ci_high", "null", "null_low", "null_high", "reference")
    below = below.assign(panel=PUBLISHED, side="printed", **dict.fromkeys(empty, np.nan))
    below["column"] = below["statistic"].map(NAMES)
    return pd.concat([rows.assign(side="ours"), below], ignore_index=True)


def _draw(rows: pd.DataFrame, **options: Any) -> Figure:
    return figures.claims(rows, "share or score", draw=figures.unit, **options)


def _caption(rows: pd.DataFrame, what: str, **options: str) -> str:
    ring = " Rings: published, without intervals." if "side" in rows else ""
    return figures.caption(rows, what, **options) + ring


def detection(estimates: pd.DataFrame, *, source: str = "") -> Drawn:
    """Draw judges' accuracy and F1 with their null ranges, published scores below.

    Parameters
    ----------
    estimates
        Of `detection.estimates`, with the two judges that read nothing where the better of them
        is to be shown as a line (`reference`).
    source
        The name of the texts (`read_published`).
    """
    subset = _select(estimates[estimates["bias"].isna()], "accuracy", "f1")
    constant = subset["judge"].isin([ALWAYS, NEVER])
    best = subset[constant].groupby("statistic")["estimate"].max()
    rows = subset[~constant].assign(
        panel=OURS, reference=subset["statistic"].map(best).astype(float)
    )
    metrics = {name: name for name in ("accuracy", "f1")}
    drawn = _with_published(rows, read_published(source, 1), metrics)
    return Drawn(
        _draw(
            drawn,
            by=("panel", "column"),
            words={"band": "verdicts permuted over texts", "line": "majority class"},
        ),
        drawn,
        (
            "Accuracy and F1 of each judge with intervals, with those of its permuted verdicts, of "
            "the majority class, and published scores of other systems."
        ),
        _highest(rows[rows["statistic"] == "accuracy"].dropna(subset=["estimate"])),
        _caption(drawn, "scores of a judge", of="texts", band="permuted verdicts"),
    )


def _highest(rows: pd.DataFrame) -> str:
    """Say which judges are most accurate, all of them where several round to the same."""
    if rows.empty:
        return ""
    best = rows[rows["estimate"].round(2) == round(rows["estimate"].max(), 2)]
    listed = prose.listed([f"the {cell}" for cell in best["cell"]])
    title = f"Accuracy is {'highest' if len(best) == 1 else 'the same'} for {listed}"
    title += f", {rows['estimate'].max():.2f}"
    reference = best["reference"].iloc[0]
    return f"{title}; majority class {reference:.2f}" if np.isfinite(reference) else title


def confusion(estimates: pd.DataFrame, *, judge: str) -> Drawn:
    """Draw recall and specificity of each judge.

    Parameters
    ----------
    estimates
        Of `detection.estimates`.
    judge
        Whom the title is about.
    """
    pooled = estimates[estimates["bias"].isna() & ~estimates["judge"].isin([ALWAYS, NEVER])]
    rows = _select(pooled, "recall", "specificity")
    both = rows[rows["judge"] == judge].set_index("statistic")["estimate"].dropna()
    title = ""
    if len(both) == 2:
        title = (
            f"The {names.judge(judge)} flags {both['recall']:.0%} of the biased texts and passes "
            f"{both['specificity']:.0%} of the others"
        )
    return Drawn(
        _draw(rows, by="column", words={"band": "verdicts permuted over texts"}),
        rows,
        (
            "For each judge: the share of biased texts that it flags (recall), and the share of "
            "the others that it passes (specificity), with intervals and null ranges."
        ),
        title,
        _caption(rows, "shares", of="texts", band="permuted verdicts"),
    )


def pairs(estimates: pd.DataFrame) -> Drawn:
    """Draw recall, the flag rate of the minimal pairs and the pairs ranked right, by direction.

    `estimates` are those of `biasalert.pairs.estimates`.
    """
    pooled = estimates[estimates["bias"].isna()]
    rows = _select(pooled, "recall", "flag_rate_less", "pair_share")
    rows = rows.assign(panel=rows["dimension"].astype(object).fillna("all pairs"))

    def describe(row: dict[str, Any], up: bool, first: bool) -> str:
        begin = "the sentence that stereotypes more scores " if first else ""
        return f"{begin}{'higher' if up else 'lower'} by the {names.judge(row['judge'])}"

    return Drawn(
        _draw(rows, by=("panel", "column"), words={"band": "sentences of each pair swapped"}),
        rows,
        (
            "For each judge and direction: the share of sentences flagged, the share of "
            "their counterparts flagged, and the share of pairs in which the sentence scores "
            "higher, with intervals and null values."
        ),
        figures.finding_title(
            rows[rows["statistic"] == "pair_share"],
            by="judge",
            describe=describe,
            of="directions",
            otherwise="No judge's ranking of the sentences of a pair is significant",
        ),
        _caption(rows, "shares of a judge", of="pairs", band="sentences of a pair swapped"),
    )


def errors(estimates: pd.DataFrame) -> Drawn:
    """Draw how often judges err on each kind of check, beside their own rate over all checks.

    `estimates` are those of `biasalert.checks.estimates`.
    """
    rows = _select(estimates, "false_alarm_rate", "miss_rate")
    order = {name: number for number, name in enumerate(rows["dimension"].unique())}
    rows = rows.assign(panel=rows["dimension"])
    rows = rows.sort_values("panel", kind="stable", key=lambda panels: panels.map(order))

    def describe(row: dict[str, Any], up: bool, first: bool) -> str:
        what = "false alarms" if row["statistic"] == "false_alarm_rate" else "misses"
        side = "more" if up else "fewer"
        return f"{what} are {side} than under permutation on {row['dimension']}"

    return Drawn(
        _draw(
            rows, by=("panel", "column"), words={"band": "as many flags, permuted over all kinds"}
        ),
        rows,
        (
            "Shares of false alarms and of misses of each judge by kind of sentence, with "
            "intervals, beside the judge's own rate over all sentences."
        ),
        figures.finding_title(
            rows.assign(kind=rows["statistic"] + rows["dimension"]),
            by="kind",
            describe=describe,
            of="judges",
            otherwise="On no kind of sentence do a judge's errors differ significantly",
        ),
        _caption(
            rows,
            "share of a judge's errors on a kind of sentence",
            of="sentences",
            band="as many flags, permuted over all kinds",
        ),
    )


def levels(estimates: pd.DataFrame, *, judge: str, source: str = "") -> Drawn:
    """Draw the share of biased answers by model, as judged and labelled, published ones below.

    Parameters
    ----------
    estimates
        Of `biasalert.levels.estimates`.
    judge
        Whose verdicts are drawn.
    source
        The name of the prompts (`read_published`).
    """
    subset = _select(estimates[estimates["topic"].isna() & (estimates["judge"] == judge)], *SHARES)
    measured = subset.groupby("statistic")["estimate"].transform("count") > 0
    subset = subset[measured]
    labelled = subset["statistic"] == SHARES[1]
    panel = subset["cell"].where(~labelled, "people's labels alone")
    rows = subset.assign(panel=panel, cell=subset["model"], reference=np.nan)
    drawn = _with_published(rows, read_published(source, 6), {"bias_level": SHARES[0]})
    further = drawn["statistic"] == SHARES[2]
    ours = rows[rows["statistic"] == SHARES[0]].dropna(subset=["estimate"])
    shares = [f"{row.estimate:.0%} of {row.cell}" for row in ours.itertuples()]
    sides = drawn.get("side", pd.Series("ours", drawn.index)).where(~further, "further")
    caption = _caption(
        drawn[~further], "share of a model's answers that is called biased", of="answers"
    )
    return Drawn(
        figures.claims(
            drawn.assign(side=sides),
            "share called biased",
            words={"tick": "the judge's false alarms"},
            draw=figures.unit,
        ),
        drawn,
        (
            "Share of biased answers by model, as judged, by people's labels alone, and from both, "
            "with intervals."
        ),
        f"Share of answers flagged: {'; '.join(shares)}" if 0 < len(shares) < 5 else "",
        caption + (f" Small, grey: {NAMES[SHARES[2]]}." if further.any() else ""),
    )
