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

import pandas as pd

from nbbias import tables
from nbbias.biasalert.detection import ALWAYS, NEVER
from nbbias.biasalert.levels import SHARES
from nbbias.reading import Drawn, figures, names

#: Statistics and their names on axes.
NAMES = {
    "accuracy": "accuracy",
    "f1": "F1",
    "recall": "recall",
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


def _drawn(rows: pd.DataFrame, *, of: str, alt: str, title: str, **words: str) -> Drawn:
    """Draw shares in panels by `panel` and `column`, and write their caption."""
    figure = figures.claims(
        rows, "share or score", by=("panel", "column"), words=words, draw=figures.unit
    )
    caption = figures.caption(rows, "shares or scores", of=of, band=words["band"])
    rings = " Rings: published, without intervals." if "side" in rows else ""
    return Drawn(figure, rows, alt, title, caption + rings)


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
    reference = subset["statistic"].map(best).astype(float)
    rows = subset.assign(panel=OURS, reference=reference)[~constant]
    return _drawn(
        _with_published(rows, read_published(source, 1)),
        of="texts",
        alt=(
            "Accuracy and F1 of each judge with intervals, with those of its permuted verdicts, of "
            "the majority class, and published scores of other systems."
        ),
        title="Agreement of each judge with the reference labels",
        band="verdicts permuted over texts",
        line="majority class",
    )


def pairs(estimates: pd.DataFrame) -> Drawn:
    """Draw recall, the flag rate of the minimal pairs and the pairs ranked right, by direction.

    `estimates` are those of `biasalert.pairs.estimates`.
    """
    pooled = estimates[estimates["bias"].isna()]
    rows = _select(pooled, "recall", "flag_rate_less", "pair_share")
    return _drawn(
        rows.assign(panel=rows["dimension"].astype(object).fillna("all pairs")),
        of="pairs",
        alt=(
            "For each judge and direction: the share of sentences flagged, the share of "
            "their counterparts flagged, and the share of pairs in which the sentence scores "
            "higher, with intervals and null values."
        ),
        title="Sentences flagged, and pairs in which the more stereotyping one scores higher",
        band="sentences of each pair swapped",
    )


def errors(estimates: pd.DataFrame) -> Drawn:
    """Draw how often judges err on each kind of check, beside their own rate over all checks.

    `estimates` are those of `biasalert.checks.estimates`.
    """
    rows = _select(estimates, "false_alarm_rate", "miss_rate")
    kinds = pd.Categorical(rows["dimension"], rows["dimension"].unique())
    return _drawn(
        rows.assign(panel=rows["dimension"]).iloc[kinds.argsort(kind="stable")],
        of="sentences",
        alt=(
            "Shares of false alarms and of misses of each judge by kind of sentence, with "
            "intervals, beside the judge's own rate over all sentences."
        ),
        title="False alarms and misses of each judge by kind of sentence",
        band="as many flags, permuted over all kinds",
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
    rows = _select(estimates[estimates["judge"] == judge], *SHARES)
    rows = rows[rows.groupby("statistic")["estimate"].transform("count") > 0]
    labelled = rows["statistic"] == SHARES[1]
    rows = rows.assign(panel=rows["cell"].mask(labelled, "people's labels alone"))
    drawn = _with_published(rows.assign(cell=rows["model"]), read_published(source, 6))
    further = drawn["statistic"] == SHARES[2]
    sides = drawn.get("side", pd.Series("ours", drawn.index)).mask(further, "further")
    options: dict[str, Any] = {"words": {"tick": "the judge's false alarms"}, "draw": figures.unit}
    caption = figures.caption(drawn[~further], "shares of answers called biased", of="answers")
    rings = " Rings: published, without intervals." if "side" in drawn else ""
    grey = f" Small grey markers: {NAMES[SHARES[2]]}." if further.any() else ""
    return Drawn(
        figures.claims(drawn.assign(side=sides), "share called biased", **options),
        drawn,
        (
            "Share of biased answers by model, as judged, by people's labels alone, and from both, "
            "with intervals."
        ),
        "Share of biased answers by model",
        caption + rings + grey,
    )
