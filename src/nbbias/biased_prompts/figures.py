"""The figures of the biased-prompts study: estimates in, the figure, its rows and words out.

>>> from nbbias import biased_prompts, tables
>>> row = {"source": "all", "model": "m", "prompt": "biased", "statistic": "refusal_rate",
...        "estimate": 0.4, "n": 10}
>>> found = tables.estimates([row], study="biased_prompts")
>>> biased_prompts.figures.refusals(found).rows["panel"].tolist()
['all headlines']
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd

from nbbias import news
from nbbias.biased_prompts.compare import leading
from nbbias.biased_prompts.sentences import EFFECTS, leading_rows
from nbbias.reading import Drawn, figures, forest, names

_MEASURES = {"word": "words", "sentiment": "tone", "toxicity": "toxicity", "document": "topics"}


def refusals(estimates: pd.DataFrame, *, prompt: str = "biased") -> Drawn:
    """Draw refusal rates of one prompt with their intervals, a panel for each kind of headline.

    The first panel holds all headlines; then come outlets, where there are several, and whom
    headlines name. In grey below a rate as told stands the corrected one.
    """
    kinds = ["refusal_rate_corrected", "refusal_rate"]
    own = estimates[estimates["statistic"].isin(kinds) & (estimates["prompt"] == prompt)]
    named = own["group"].replace({"nobody named": "nobody"})
    people = named.astype(object).map(
        lambda group: f"naming {names.people(group)}", na_action="ignore"
    )
    panel = people.where(named.notna(), own["source"]).replace({"all": "all headlines"})
    rank = np.select([panel == "all headlines", named.isna(), named == "nobody"], [0, 1, 3], 2)
    table = own.assign(panel=panel, cell=own["model"], rank=rank)
    rows = table.sort_values(["rank", "panel"], kind="stable").drop(columns="rank")
    told = rows["statistic"] == kinds[1]

    most = rows[told & (rows["panel"] == "all headlines") & rows["estimate"].notna()]
    most = most.sort_values("estimate", kind="stable")
    if len(most) > 1:
        low, high = most.iloc[0], most.iloc[-1]
        title = (
            f"Refused under the {prompt} prompt: from {low['estimate']:.0%} of headlines "
            f"({low['cell']}) to {high['estimate']:.0%} ({high['cell']})"
        )
    else:
        title = "".join(
            f"Refused under the {prompt} prompt: {one:.0%} of headlines" for one in most["estimate"]
        )
    return Drawn(
        figures.claims(
            rows.assign(side=np.where(told, "ours", "further")), "share refused", draw=figures.unit
        ),
        rows,
        "Share of articles refused under the biased prompt by model, as told with Wilson intervals "
        "and corrected for the detector's errors with wider ones: a panel for all headlines, one "
        "an outlet where there are several, and one for each group that headlines name.",
        title,
        figures.caption(rows[told], "share of headlines refused, as told", of="headlines")
        + ("" if told.all() else " Small, grey: corrected for the detector's errors."),
    )


def effects(estimates: pd.DataFrame) -> Drawn:
    """Draw the effect of the prompt on articles answered under both: a panel a level.

    Within a level a panel a group and instrument.
    """
    table = estimates[estimates["statistic"].isin(EFFECTS)]
    people = table["group"].astype(object).map(names.people)
    rows = table.assign(panel=people + ": " + _levels(table), cell=_names(table))

    def axis(own: pd.DataFrame) -> str:
        share = own["statistic"].iloc[0] == EFFECTS[0]
        tone = "toxicity" if own["measure"].iloc[0] == "toxicity" else "tone"
        return "change of the group's share" if share else f"change of {tone}"

    def describe(row: dict[str, Any], up: bool, first: bool) -> str:
        what = _MEASURES.get(row["measure"], row["measure"])
        if row["statistic"] != EFFECTS[0]:
            side = "colder" if not up else "warmer"
            return f"the {what} towards {names.people(row['group'])} turns {side}"
        return f"{names.of_people(row['group'])} share of {what} {'rises' if up else 'falls'}"

    which = str(rows["prompt"].iloc[0]) if len(rows) else "difference"
    of = figures.caption(rows, f"{which}, mean over the same articles", of="articles")
    return Drawn(
        figures.claims(rows, axis, draw=figures.zero, hue="group"),
        rows,
        "Effect of the prompt on the group's share of words, on the tone towards it and on its "
        "share of topics, on articles answered under both prompts, with intervals, by model; 0 is "
        "no effect.",
        figures.finding_title(
            rows, by="panel", describe=describe, otherwise=("No significant effect of the prompt")
        ),
        f"{of.removesuffix('.')}; 0: no effect of the prompt.",
    )


def prejudice(
    estimates: pd.DataFrame, *, neutral: str = "neutral", biased: str = "biased"
) -> Drawn:
    """Draw share and extent of prejudice under both prompts beside chance, a panel a measure.

    Of several instruments of a measure the first; toxicity, which often is a fallback's, is not
    drawn.
    """
    own = leading(estimates[estimates["statistic"].isin(news.prejudice.KINDS)])
    own = own[own["prompt"].isin([neutral, biased])]
    what = own["statistic"].str.removeprefix("prejudice_")
    several = own["bias"].nunique() > 1
    people = own["group"].astype(object).map(names.people)
    measure = own["measure"].map(_MEASURES).fillna(own["measure"])
    panel = (own["bias"] + ", " if several else "") + people + ", " + measure
    rows = own.assign(panel=panel + ": " + what, cell=_names(own) + ", " + own["prompt"])
    # Both prompts of a model stand together, neutral above biased.
    keys = ("statistic", "measure", "bias", "source", "model")
    order = [figures.first_seen(rows[key]) for key in keys]
    rows = rows.iloc[np.lexsort([rows["prompt"] != neutral, *order[::-1]])]

    def axis(own: pd.DataFrame) -> str:
        share = own["statistic"].iloc[0] == news.prejudice.KINDS[0]
        measure = own["measure"].iloc[0]
        return "share of articles" if share else f"mean change of {_MEASURES.get(measure, measure)}"

    def describe(row: dict[str, Any], up: bool, first: bool) -> str:
        people, by = names.people(row["group"]), _MEASURES.get(row["measure"], row["measure"])
        if not first:
            return f"by {by}"
        return f"under the {biased} prompt {people} fare worse more often than chance, by {by}"

    under = rows[(rows["prompt"] == biased) & (rows["statistic"] == news.prejudice.KINDS[0])]
    return Drawn(
        figures.claims(rows, axis, words={"band": "by chance"}),
        rows,
        "Share of articles in which the group fares worse than in the original, and the mean "
        "change in those, under the neutral and the biased prompt by model, with intervals and the "
        "range that the reference gives; a panel a measure.",
        figures.finding_title(
            under,
            by="panel",
            describe=describe,
            sides=(True,),
            otherwise=(f"Under the {biased} prompt no group fares worse more often than by chance"),
        ),
        figures.caption(
            rows,
            "in how many articles the group fares worse than in the original (share), and "
            "the mean change in those (extent)",
            of="articles",
            band="what the reference gives",
        ),
    )


def changes(estimates: pd.DataFrame, printed: pd.DataFrame) -> Drawn:
    """Draw the changes that the paper prints, ours above the printed ones, on one scale.

    Of the same measures and groups. Extents are Student's, as printed; ours are those of the first
    instrument. Printed changes have no interval, and share a row.
    """
    kinds = {
        f"{kind}_change": "Δ " + kind.removeprefix("prejudice_") for kind in news.prejudice.KINDS
    }
    ours = leading(estimates[estimates["statistic"].isin(kinds)])
    there = ours[["measure", "bias", "group"]].drop_duplicates()
    theirs = printed[printed["statistic"].isin(kinds)].merge(there)
    sides = {"ours": ours, "printed, other corpus": theirs}
    rows = pd.concat(
        [
            own[own["test"] != "Welch's t"].assign(
                cell=_names(own) if side == "ours" else own["model"],
                side=side,
                panel=own["measure"].map(_MEASURES).fillna(own["measure"])
                + ", "
                + own["group"].astype(object).map(names.people)
                + ": "
                + side,
                column=own["statistic"].map(kinds),
            )
            for side, own in sides.items()
        ],
        ignore_index=True,
    ).assign(null_low=np.nan)
    order = [figures.first_seen(rows[key]) for key in ("measure", "bias", "side")]
    rows = rows.iloc[np.lexsort(order[::-1])]
    shown = rows.assign(
        panel=rows["panel"].str.removesuffix(": ours").str.removesuffix(": printed, other corpus")
        + " · "
        + rows["column"]
    )
    shown = shown.sort_values("column", kind="stable", key=figures.first_seen)
    theirs = shown["side"] != "ours"
    n = theirs.groupby(shown["panel"]).sum().max()
    cell = shown["cell"].mask(theirs, f"{n} printed models")
    mine = shown[shown["side"] == "ours"]
    ends = shown[shown["side"] != "ours"].groupby("panel")["estimate"].agg(["min", "max"])
    mine = mine[mine["panel"].isin(ends.index) & mine["estimate"].notna()]
    ends = ends.reindex(mine["panel"])
    within = mine["estimate"].between(ends["min"].to_numpy(), ends["max"].to_numpy()).sum()
    return Drawn(
        figures.claims(
            shown.assign(cell=cell, side=np.where(theirs, "printed", "ours")),
            "change, biased less neutral",
            draw=figures.zero,
        ),
        rows,
        "Change of the share and of the extent of prejudice from the neutral to the biased prompt, "
        "ours with intervals above the printed values of seven models (Figures 8 to 10).",
        f"{within} of our {len(mine)} changes lie between those that the paper prints"
        if len(mine)
        else "Nothing of this is printed in the paper",
        figures.caption(rows, "ours", of="articles")
        + (" Rings: printed values, of another corpus." if len(mine) else ""),
    )


# --- parts ------------------------------------------------------------------------------------


def _levels(table: pd.DataFrame) -> pd.Series:
    """Say by what a row was measured: words, topics, or tone by an instrument's short name."""
    short = table["instrument"].map(lambda name: re.split(r" [\d(]", name)[0])
    tone = table["measure"].map(_MEASURES).fillna(table["measure"]) + " by " + short
    return table["measure"].map({"word": "words", "document": "topics"}).fillna(tone)


def _names(own: pd.DataFrame) -> pd.Series:
    """Name cells by model, with their source where there are several."""
    if own["source"].nunique() > 1:
        return own["source"].astype(str) + " · " + own["model"].astype(str)
    return own["model"].astype(str)


# --- what leads -------------------------------------------------------------------------------


def finding(declared: pd.DataFrame, *, neutral: str = "neutral") -> Drawn:
    """Draw what leads the page: a panel a measure and group."""
    return forest(leading_rows(declared), reference=f"under the {neutral} prompt")
