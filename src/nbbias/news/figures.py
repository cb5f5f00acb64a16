"""The figures of the news study: estimates in, the figure with its rows and its words out.

>>> from nbbias import news, tables
>>> row = {"source": "s", "model": "m", "measure": "word", "bias": "gender", "group": "female",
...        "statistic": "share_difference_common", "estimate": -0.1, "n": 9}
>>> drawn = news.figures.share_differences(tables.estimates([row], study="news_bias"))
>>> drawn.rows["panel"].tolist()
['women']
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from nbbias import tables
from nbbias.news import claims, misread, replicates, sentences
from nbbias.news.corpus import CELL
from nbbias.news.prejudice import KINDS
from nbbias.reading import Drawn, figures, forest, names, prose

#: The references, the leading one first, and what they are called in a figure.
_BY = {
    "replicate": "texts without a difference between writers",
    "sentences": "sentences dealt anew",
    "words": "words dealt anew",
    "topics": "words of a pair dealt anew",
}

#: What a level measures, as people say it: of a group, and by itself.
_WHAT = {"word": "group words", "document": "topics"}
_MEASURES = _WHAT | {"sentiment": "tone", "toxicity": "toxicity"}


def share_differences(
    estimates: pd.DataFrame, *, statistic: str = "share_difference_common"
) -> Drawn:
    """Draw how far each group's share is from that in the originals, a panel a group."""
    rows = claims.unmirrored(_cells(estimates[estimates["statistic"] == statistic]))
    known = rows.groupby(["bias", "group"])["estimate"].transform("count") > 0
    rows = rows[known] if known.any() else rows  # of a bias that no text speaks of nothing is drawn
    rows = rows.assign(panel=_group_names(rows))
    of = _WHAT[rows["measure"].iloc[0]] if len(rows) else "words"

    def describe(row: dict[str, Any], up: bool, first: bool) -> str:
        side, whose = "larger" if up else "smaller", names.of_people(row["group"])
        if not first:
            return f"{whose} {side}"
        return f"{whose} share of the {of} is {side} than in the originals"

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
            of=_of(rows),
            otherwise=(f"No significant difference in any group's share of the {of}"),
        ),
        figures.caption(
            rows, "mean difference of the group's share, answer less original", of="articles"
        ).removesuffix(".")
        + f"{common}; 0: as in the originals."
        + _mirror(rows),
    )


def _mirror(rows: pd.DataFrame) -> str:
    """Say whose share is not drawn, since it mirrors another's."""
    alone = rows.drop_duplicates(["bias", "group"])
    alone = alone[alone.groupby("bias")["group"].transform("size") == 1]
    told = [f"the other group of {bias} mirrors it" for bias in alone["bias"]]
    return f" {prose.capitalize('; '.join(told))}." if told else ""


def distances(estimates: pd.DataFrame, chance: pd.DataFrame) -> Drawn:
    """Draw the mean distance of each cell beside its leading reference, a panel a bias."""
    rows = _beside(estimates[estimates["statistic"] == "bias"], chance)
    rows = _cells(rows).assign(panel=rows["bias"])
    by = _by(rows)

    def describe(row: dict[str, Any], up: bool, first: bool) -> str:
        if not first:
            return f"by {row['bias']}"
        return f"by {row['bias']}, answers are further from their originals than {by}"

    return Drawn(
        figures.claims(_unreferenced(rows), "mean distance", words={"band": by or "by chance"}),
        rows,
        "Mean distance of each model and prompt with its interval, and the range that "
        f"{by} would give, for each bias.",
        figures.finding_title(
            rows,
            by="panel",
            describe=describe,
            of=_of(rows),
            sides=(True,),
            otherwise=(f"No answers are shown to be further from their originals than {by}"),
        ),
        figures.caption(
            rows,
            "mean distance of an answer's shares from the original's (0: the same)",
            of="articles",
            band=by,
        ),
    )


def corrected(rows: pd.DataFrame) -> Drawn:
    """Draw estimates as counted (rings), and corrected for what the word lists get wrong.

    Parameters
    ----------
    rows
        Of `news.misread.leading`.
    """
    named = _group_names(rows) + ", " + rows["measure"].map({"word": "words"}).fillna("tone")
    gaps = dict.fromkeys(("null", "null_low", "null_high"), np.nan)
    rows = _cells(rows.assign(study="news_bias", panel=named, side="ours", **gaps))
    raw = {name: rows[counted] for name, counted in misread.RAW.items()}
    counted = rows.assign(side="as counted", cell="as counted", **raw)
    # Each below its own.
    both = pd.concat([rows, counted]).sort_index(kind="stable").reset_index(drop=True)
    return Drawn(
        figures.claims(both, "answer less original", draw=figures.zero),
        both,
        "The leading estimates as counted, and corrected for errors of the word lists by people's "
        "labels, with intervals, by model; one panel a measure and group.",
        "The leading estimates, as counted and corrected",
        "Dots: corrected, with intervals that hold what articles and labels leave open. Rings: as "
        "counted. 0: as in the originals.",
    )


def prejudice(estimates: pd.DataFrame, chance: pd.DataFrame, *, focus: Mapping[str, str]) -> Drawn:
    """Draw share and extent of prejudice against one group of each bias, beside a reference."""
    own = _beside(estimates[estimates["statistic"].isin(KINDS)], chance)
    measure = own["measure"].iloc[0] if len(own) else "word"
    rows = _cells(own[own["group"] == own["bias"].map(_focus(own, focus))])
    what = rows["statistic"].str.removeprefix("prejudice_")
    rows = rows.assign(panel=_group_names(rows) + ": " + what)
    by, of = _by(rows), _WHAT[measure]
    often = rows[rows["statistic"] == KINDS[0]]

    def axis(own: pd.DataFrame) -> str:
        share = own["statistic"].iloc[0].startswith("prejudice_share")
        return "share of answers" if share else "mean change of share"

    def describe(row: dict[str, Any], up: bool, first: bool) -> str:
        whose = names.of_people(row["group"])
        return f"{whose} share of the {of} falls more often than {by}" if first else whose

    return Drawn(
        figures.claims(_unreferenced(rows), axis, words={"band": by or "by chance"}, hue="group"),
        rows,
        f"Share of answers in which a group's share of {of} is smaller than in the "
        f"original, and the mean change in those, with the ranges that {by} would give.",
        figures.finding_title(
            often,
            by="panel",
            describe=describe,
            of=_of(rows),
            sides=(True,),
            otherwise=(f"No group's share of the {of} is shown to fall more often than {by}"),
        ),
        figures.caption(
            rows,
            "in how many answers the group's share is smaller than in the original, and the "
            "mean change in those",
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
    rows = _cells(estimates[wanted])
    rows = rows.assign(panel=_group_names(rows))
    # A few articles would stretch the scale and say nothing; they stay in the table.
    shown = rows.assign(estimate=rows["estimate"].where(rows["ci_low"].notna()))
    known = shown.groupby("panel")["estimate"].transform("count") > 0
    few = shown.loc[~known, "panel"].unique()
    shown = shown[known] if known.any() else shown

    def describe(row: dict[str, Any], up: bool, first: bool) -> str:
        side, whom = "warmer" if up else "colder", names.people(row["group"])
        if not first:
            return f"towards {whom} {side}"
        return f"the tone towards {whom} turns {side} than in the originals"

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
            of=_of(rows),
            otherwise=("No significant difference in tone relative to neutral sentences"),
        ),
        figures.caption(
            shown,
            "mean shift of the tone of sentences about the group, answer less original, "
            "beyond that of sentences without a group",
            of="articles",
        )
        + (f" Not drawn, as too few articles differ: {', '.join(few)}." if len(few) else ""),
    )


# --- beside the paper -------------------------------------------------------------------------

#: What the paper's figures show of a measure.
_PRINTED = ("bias", "prejudice_share", "prejudice_extent")


def printed_rows(
    estimates: pd.DataFrame, *, focus: Mapping[str, str], paper: pd.DataFrame | None = None
) -> pd.DataFrame:
    """Return our values and the printed ones of seven models, named by `side`.

    Of every measure what the paper's Figures 2 to 7, A.1 and A.2 show: mean distance, and share and
    extent of prejudice against one group a bias; and its Table 1, the differences of the shares
    of races (`paper`, by default as shipped). Where ours come from a fallback of toxicity the
    printed ones, by Detoxify, are left out: they are on no scale with each other.
    """
    paper = tables.read_published("fang2024") if paper is None else paper
    first = estimates.groupby(["measure", "bias"])["instrument"].transform("first")
    ours = estimates[(estimates["instrument"] == first) & estimates["statistic"].isin(_PRINTED)]
    in_focus = ours["group"].isna() | (ours["group"] == ours["bias"].map(focus))
    races = (estimates["measure"] == "word") & (estimates["bias"] == "race")
    races &= estimates["statistic"] == "share_difference"
    ours = _cells(pd.concat([ours[in_focus], estimates[races]])).assign(side="ours")
    fallback = ours["instrument"].str.contains("fallback")
    theirs = paper[paper["prompt"] == "neutral"].rename(
        columns={"value": "estimate", "model": "cell"}
    )
    theirs = theirs[~theirs["measure"].isin(ours.loc[fallback, "measure"])]
    # What is printed is about one group: with another in focus there is nothing to show.
    keys = ["measure", "bias", "statistic", "group"]
    same = pd.MultiIndex.from_frame(theirs[keys].fillna("")).isin(
        pd.MultiIndex.from_frame(ours[keys].fillna(""))
    )
    gaps = {"null_low": np.nan, "null_high": np.nan, "null": np.nan, "side": "printed"}
    rows = pd.concat([ours, theirs[same].assign(**gaps)], ignore_index=True)
    order = [figures.first_seen(rows[key]) for key in ("measure", "bias", "statistic", "group")]
    return rows.iloc[np.lexsort(order[::-1])].reset_index(drop=True)


def printed(rows: pd.DataFrame) -> Drawn:
    """Draw our mean distances above the printed ones on one scale, a panel a measure and bias.

    `rows` are those of `printed_rows`. The printed models share a row: it is their range that
    ours are seen against.
    """
    own = rows[rows["statistic"] == "bias"]
    panel = own["measure"].map(_MEASURES).fillna(own["measure"]) + ": " + own["bias"]
    own = own.assign(panel=panel).reset_index(drop=True)
    ends = own[own["side"] == "printed"].groupby("panel")["estimate"].agg(["min", "max"])
    ours = own[(own["side"] == "ours") & own["estimate"].notna() & own["panel"].isin(ends.index)]
    ends = ends.reindex(ours["panel"])
    within = ours["estimate"].between(ends["min"].to_numpy(), ends["max"].to_numpy()).sum()
    title = (
        f"{within} of our {len(ours)} mean distances lie between those that the paper prints"
        if len(ours)
        else "Nothing of this is printed in the paper"
    )

    def axis(one: pd.DataFrame) -> str:
        return f"mean distance of {_MEASURES.get(one['measure'].iloc[0], 'measures')}"

    figure = figures.claims(
        figures.in_one_row(own, "{n} printed models"),
        axis,
        draw=figures.rings(own),
        words={"band": "by chance", "unprinted": "by another instrument"},
    )
    return Drawn(
        figure,
        own,
        "Mean distance of our models with chance above the printed values of seven models (gender: "
        "Figures 2, 4 and 6 of the paper, race: 3, 5 and 7; A.1 and A.2 where toxicity is by "
        "Detoxify), a panel a measure and bias.",
        title,
        figures.caption(own, "ours", of="articles", band="the leading reference of chance")
        + (" Rings: printed values, of another corpus and other originals." if len(ours) else ""),
    )


# --- parts ------------------------------------------------------------------------------------


def _cells(estimates: pd.DataFrame) -> pd.DataFrame:
    """Name the rows by what tells cells apart: only the keys that vary."""
    return estimates.assign(cell=figures.cells(estimates))


def _of(rows: pd.DataFrame) -> str:
    """Say what rows of a panel are: models, unless sources or prompts vary, too."""
    varies = any(rows[key].nunique() > 1 for key in ("source", "prompt"))
    return "settings" if varies else "models"


def _focus(rows: pd.DataFrame, focus: Mapping[str, str]) -> dict[str, str]:
    """Return the group drawn for each bias: the chosen one, or the first where none is."""
    groups = rows.groupby("bias", sort=False)["group"].unique()
    return {bias: focus[bias] if focus.get(bias) in own else own[0] for bias, own in groups.items()}


def _group_names(table: pd.DataFrame) -> pd.Series:
    """Name a panel by its people; where biases have a group of one name, by the bias too."""
    shared = table.groupby("group")["bias"].transform("nunique") > 1
    people = table["group"].astype(object).map(names.people)
    return people.where(~shared, table["bias"] + ": " + people)


def _beside(estimates: pd.DataFrame, chance: pd.DataFrame) -> pd.DataFrame:
    """Put the leading reference into the rows, and its name (`reference`)."""
    keys = ["bias", "statistic", "group", "instrument", *CELL]
    rank = chance["reference"].map({name: i for i, name in enumerate(_BY)})
    first = chance.assign(rank=rank).sort_values("rank", kind="stable").drop_duplicates(keys)
    named = estimates[keys].merge(first[[*keys, "reference"]], on=keys, how="left")["reference"]
    rows = tables.with_chance(estimates, chance, lead=list(_BY))
    return rows.assign(reference=named.to_numpy())


def _unreferenced(rows: pd.DataFrame) -> pd.DataFrame:
    """Leave out the names of references, which `figures.claims` would take for values."""
    return rows.drop(columns="reference")


def _by(rows: pd.DataFrame) -> str:
    """Name what the ranges of the rows are by."""
    replicated = rows["reference"] == "replicate"
    kinds = rows.loc[replicated, "test"].map(replicates.named).unique()
    return " or ".join([*kinds, *rows.loc[~replicated, "reference"].dropna().map(_BY).unique()])


# --- what leads -------------------------------------------------------------------------------


def finding(declared: pd.DataFrame) -> Drawn:
    """Draw what leads the page: a panel a measure and group (`news.sentences.leading`)."""
    return forest(sentences.leading(declared), reference="in the human articles")
