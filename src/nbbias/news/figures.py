"""The figures of the news study: estimates in, the figure with its rows and its words out.

>>> from nbbias import news, tables
>>> row = {"source": "s", "model": "m", "measure": "word", "bias": "gender", "group": "female",
...        "statistic": "share_difference_common", "estimate": -0.1, "n": 9}
>>> drawn = news.figures.share_differences(tables.estimates([row], study="news_bias"))
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

#: What a level's shares are of, as people say it.
_SHARES_OF = {"word": "group words", "document": "topics"}


def finding(declared: pd.DataFrame) -> Drawn:
    """Draw what leads the page: a panel a measure and group (`news.sentences.leading`)."""
    return forest(sentences.leading(declared), reference="in the human articles")


def share_differences(
    estimates: pd.DataFrame, *, statistic: str = "share_difference_common"
) -> Drawn:
    """Draw how far each group's share is from that in the originals, a panel a group."""
    rows = _panels(claims.unmirrored(estimates[estimates["statistic"] == statistic]))
    rows = _measured(rows)
    of = _SHARES_OF[rows["measure"].iloc[0]] if len(rows) else "words"

    def describe(row: dict[str, Any], up: bool, first: bool) -> str:
        side, whose = "larger" if up else "smaller", names.of_people(row["group"])
        if not first:
            return f"{whose} {side}"
        return f"{whose} share of the {of} is {side} than in the originals"

    caption = figures.caption(
        rows, "mean difference of the group's share, answer less original", of="articles"
    ).removesuffix(".")
    common = " that all models answered" if statistic.endswith("common") else ""
    return Drawn(
        figures.claims(rows, "difference of shares", draw=figures.zero, hue="group"),
        rows,
        f"Mean difference of each group's share of {of} between answer and original on common "
        "articles, with intervals, by model and prompt; one panel a group.",
        figures.finding_title(
            rows,
            by="panel",
            describe=describe,
            of=_kind(rows),
            otherwise=f"No significant difference in any group's share of the {of}",
        ),
        f"{caption}{common}; 0: as in the originals.{_mirror(rows)}",
    )


def _mirror(rows: pd.DataFrame) -> str:
    """Say whose share is not drawn, since it mirrors another's."""
    groups = rows.drop_duplicates(["bias", "group"])["bias"].value_counts(sort=False)
    parts = [f"the other group of {bias} mirrors it" for bias in groups.index[groups == 1]]
    return f" {prose.capitalize('; '.join(parts))}." if parts else ""


def distances(estimates: pd.DataFrame, chance: pd.DataFrame) -> Drawn:
    """Draw the mean distance of each cell beside its leading reference, a panel a bias."""
    rows = estimates[estimates["statistic"] == "bias"]
    rows = tables.with_chance(rows, chance, lead=claims.REFERENCES)
    rows = rows.assign(cell=_cells(rows), panel=rows["bias"])
    test = rows.loc[rows["null_low"].notna(), "test"].dropna().str.split(", ").str[0]
    by = " or ".join(test.unique()) or replicates.NOTHING

    def describe(row: dict[str, Any], up: bool, first: bool) -> str:
        if not first:
            return f"by {row['bias']}"
        return f"by {row['bias']}, answers are further from their originals than {by}"

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
            otherwise=f"No answers are shown to be further from their originals than {by}",
        ),
        figures.caption(
            rows,
            "mean distance of an answer's shares from the original's (0: the same)",
            of="articles",
            band=by,
        ),
    )


def tone(estimates: pd.DataFrame) -> Drawn:
    """Draw the shift of each group's tone beyond that of the sentences that name no group.

    By the instrument that leads, the first.
    """
    wanted = estimates["statistic"] == "difference_beyond_neutral"
    wanted &= estimates["instrument"] == estimates["instrument"].iloc[0]
    rows = _panels(estimates[wanted])
    # A few articles would stretch the scale and say nothing; they stay in the table.
    tested = rows.assign(estimate=rows["estimate"].where(rows["ci_low"].notna()))
    shown = _measured(tested)
    few = tested.loc[~tested["panel"].isin(shown["panel"]), "panel"].unique()

    def describe(row: dict[str, Any], up: bool, first: bool) -> str:
        side, whom = "warmer" if up else "colder", names.people(row["group"])
        if not first:
            return f"towards {whom} {side}"
        return f"the tone towards {whom} turns {side} than in the originals"

    caption = figures.caption(
        shown,
        "mean shift of the tone of sentences about the group, answer less original, beyond that of "
        "sentences without a group",
        of="articles",
    )
    return Drawn(
        figures.claims(
            shown,
            "shift of sentiment",
            draw=figures.zero,
            hue="group",
            words={"missing": "too few articles differ"},
        ),
        rows,
        "Mean shift of each group's sentiment between answer and original beyond the shift of "
        "sentences without a group, with intervals, by model and prompt; one panel a group.",
        figures.finding_title(
            shown,
            by="panel",
            describe=describe,
            of=_kind(rows),
            otherwise="No significant difference in tone relative to neutral sentences",
        ),
        caption
        + (f" Not drawn, as too few articles differ: {', '.join(few)}." if len(few) else ""),
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
