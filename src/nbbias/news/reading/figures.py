"""The figures of the news study: estimates in, the figure with its rows and its words out.

>>> from nbbias import news, tables
>>> row = {"source": "s", "model": "m", "measure": "word", "bias": "gender", "group": "female",
...        "statistic": "share_difference_common", "estimate": -0.1, "n": 9}
>>> drawn = news.figures.differences(tables.estimates([row], study="news_bias"), "word")
>>> drawn.rows["panel"].tolist()
['women']
"""

from __future__ import annotations

from typing import Any

import pandas as pd

from nbbias import tables
from nbbias.news import claims, replicates, sentences
from nbbias.news.corpus import CELL
from nbbias.reading import Drawn, figures, forest, names, prose

#: By measure: the axis, what the dots are, what differs, the sides below and above 0.
_WORDS = {
    "word": ("difference of shares", "share of group words", ("smaller", "larger")),
    "document": ("difference of shares", "share of content on topics", ("smaller", "larger")),
    "sentiment": ("shift of sentiment", "tone relative to neutral sentences", ("lower", "higher")),
}


def finding(declared: pd.DataFrame) -> Drawn:
    """Draw what leads the page: a panel a measure and group (`news.sentences.leading`)."""
    return forest(sentences.leading(declared), reference="in the human articles")


def differences(estimates: pd.DataFrame, measure: str) -> Drawn:
    """Draw each group's difference from the originals by the first instrument, a panel a group.

    Parameters
    ----------
    estimates
        ESTIMATES.
    measure
        ``"word"``, ``"document"`` or ``"sentiment"``.
    """
    axis, what, sides = _WORDS[measure]
    rows = estimates[estimates["measure"] == measure]
    rows = rows[rows["statistic"] == sentences.LEADS[measure]]
    rows = rows[rows["instrument"].isin(rows["instrument"].head(1))]
    mirrored = ""
    if measure == "sentiment":
        # A few articles would stretch the scale and say nothing; they stay in the table.
        rows = rows.assign(estimate=rows["estimate"].where(rows["ci_low"].notna()))
    else:
        rows = claims.unmirrored(rows)
        mirrored = _mirrored(rows)
    shown = _measured(_panels(rows))
    caption = f"mean difference of {what}, answers minus originals"

    def describe(row: dict[str, Any], up: bool, first: bool) -> str:
        subject = f"{names.of_people(row['group'])} {what}" if first else names.people(row["group"])
        return f"{subject} {'is ' if first else ''}{sides[up]}"

    return Drawn(
        figures.claims(
            shown,
            axis,
            draw=figures.zero,
            hue="group",
            words={"missing": "too few articles differ"} if measure == "sentiment" else None,
        ),
        shown,
        f"Mean difference of each group's {what} between answers and originals, with intervals, by "
        "model and prompt; one panel a group; 0: as in the originals.",
        figures.finding_title(
            shown,
            by="panel",
            describe=describe,
            of=_kind(rows),
            otherwise=f"No significant difference in {what}",
        ),
        figures.caption(shown, caption, of="articles") + mirrored,
    )


def _mirrored(rows: pd.DataFrame) -> str:
    """Say whose share is not drawn, since it mirrors another's."""
    groups = rows.drop_duplicates(["bias", "group"])["bias"].value_counts(sort=False)
    parts = [f"the other group of {bias} mirrors it" for bias in groups.index[groups == 1]]
    return f" {prose.capitalize('; '.join(parts))}." if parts else ""


def distances(estimates: pd.DataFrame, chance: pd.DataFrame) -> Drawn:
    """Draw the words' mean distances with their leading reference, a panel a bias."""
    rows = estimates[(estimates["statistic"] == "bias") & (estimates["measure"] == "word")]
    rows = tables.with_chance(rows, chance, lead=claims.REFERENCES)
    rows = rows.assign(cell=_cells(rows), panel=rows["bias"])
    test = rows.loc[rows["null_low"].notna(), "test"].dropna().str.split(", ").str[0]
    by = " or ".join(test.unique()) or replicates.NOTHING

    def describe(row: dict[str, Any], up: bool, first: bool) -> str:
        return f"{'distances by ' if first else ''}{row['bias']} exceed the baseline"

    return Drawn(
        figures.claims(rows, "mean distance", words={"band": by}),
        rows,
        "Mean distance of each model and prompt with its interval, and the range that "
        f"{by} would give, for each bias.",
        figures.finding_title(
            rows,
            by="panel",
            describe=describe,
            of=_kind(rows),
            sides=(True,),
            otherwise="No mean distance exceeds the same-writer baseline",
        ),
        figures.caption(
            rows,
            "mean distance of an answer's shares from the original's (0: the same)",
            of="articles",
            band=by,
        ),
    )


def _panels(rows: pd.DataFrame) -> pd.DataFrame:
    """Name cells by the keys that vary, panels by people, and by bias where these share a name."""
    shared = rows.groupby("group")["bias"].transform("nunique") > 1
    people = rows["group"].astype(object).map(names.people)
    panel = people.where(~shared, rows["bias"] + ": " + people)
    return rows.assign(cell=_cells(rows), panel=panel)


def _cells(rows: pd.DataFrame) -> list[str]:
    return [names.subject(row, rows) for row in rows.to_dict("records")]


def _measured(rows: pd.DataFrame) -> pd.DataFrame:
    """Leave out groups of which nothing was measured, unless that is all of them."""
    measured = rows.groupby(["bias", "group"])["estimate"].transform("count") > 0
    return rows[measured] if measured.any() else rows


def _kind(rows: pd.DataFrame) -> str:
    """Say what rows of a panel are: models, unless sources or prompts vary, too."""
    varies = any(rows[key].nunique() > 1 for key in CELL if key != "model")
    return "settings" if varies else "models"
