"""The figures of the news study: estimates in, the figure with its rows and its words out.

>>> from nbbias import news, tables
>>> row = {"source": "s", "model": "m", "measure": "word", "bias": "gender", "group": "female",
...        "statistic": "share_difference_common", "estimate": -0.1, "n": 9}
>>> drawn = news.figures.share_differences(tables.estimates([row], study="news_bias"))
>>> drawn.rows["panel"].tolist()
['gender: female']
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from nbbias import tables
from nbbias.news import claims, replicates, sentences
from nbbias.news.corpus import CELL
from nbbias.news.prejudice import KINDS
from nbbias.reading import Drawn, figures, forest

#: The references, the leading one first, and what they are called in a legend.
_BY = {
    "replicate": "texts without a difference between writers", "sentences": "sentences dealt anew",
    "words": "words dealt anew", "topics": "words of a pair dealt anew",
}  # fmt: skip

_WHAT = {"word": "words", "document": "topics"}


def share_differences(
    estimates: pd.DataFrame, *, statistic: str = "share_difference_common"
) -> Drawn:  # fmt: skip
    """Draw how far each group's share is from that in the originals, a panel a group."""
    rows = claims.unmirrored(_cells(estimates[estimates["statistic"] == statistic]))
    rows = rows.assign(panel=rows["bias"] + ": " + rows["group"])

    def draw(own: pd.DataFrame, ax: Axes) -> None:
        figures.intervals(own, ax, label="cell")
        _zero(ax)
        ax.set_xlabel("difference of shares")

    figure = figures.panels(rows, draw, by="panel", width=11, height=_height(rows))
    figures.legend_below(figure, figure.axes[0], extra=[figures.interval_key()])
    of = _WHAT[rows["measure"].iloc[0]] if len(rows) else "words"
    return Drawn(
        figure, rows,
        f"Mean difference of each group's share of {of} between answer and original on common "
        "articles, with intervals, by model and prompt; one panel a group.",
    )  # fmt: skip


def distances(estimates: pd.DataFrame, chance: pd.DataFrame) -> Drawn:
    """Draw the mean distance of each cell beside its leading reference, a panel a bias."""
    rows = _beside(estimates[estimates["statistic"] == "bias"], chance)
    rows = _cells(rows).assign(panel=rows["bias"])

    def draw(own: pd.DataFrame, ax: Axes) -> None:
        figures.intervals(own, ax, label="cell")
        ax.set_xlabel("mean distance")

    figure = figures.panels(rows, draw, by="panel", width=11, height=_height(rows))
    by = _by(rows)
    return Drawn(
        _with_chance(figure, by), rows,
        "Mean distance of each model and prompt with its interval, and the range that "
        f"{by} would give, for each bias.",
    )  # fmt: skip


def prejudice(estimates: pd.DataFrame, chance: pd.DataFrame, *, focus: Mapping[str, str]) -> Drawn:
    """Draw share and extent of prejudice against one group of each bias, beside a reference."""
    own = _beside(estimates[estimates["statistic"].isin(KINDS)], chance)
    measure = own["measure"].iloc[0] if len(own) else "word"
    rows = _cells(own[own["group"] == own["bias"].map(_focus(own, focus))])
    what = rows["statistic"].str.removeprefix("prejudice_")
    rows = rows.assign(panel=_group_names(rows) + ": " + what)

    def draw(own: pd.DataFrame, ax: Axes) -> None:
        figures.intervals(own, ax, label="cell")
        share = own["statistic"].iloc[0].startswith("prejudice_share")
        ax.set_xlabel("share of answers" if share else "mean change of share")

    figure = figures.panels(
        rows, draw, by="panel", width=11, height=_height(rows), share_x=False
    )  # fmt: skip
    by = _by(rows)
    return Drawn(
        _with_chance(figure, by), rows,
        f"Share of answers in which a group's share of {_WHAT[measure]} is smaller than in the "
        f"original, and the mean change in those, with the ranges that {by} would give.",
    )  # fmt: skip


def tone(estimates: pd.DataFrame) -> Drawn:
    """Draw the shift of each group's tone beyond that of the sentences that name no group.

    By the instrument that leads, the first.
    """
    wanted = estimates["statistic"] == "difference_beyond_neutral"
    wanted &= estimates["instrument"] == estimates["instrument"].iloc[0]
    rows = _cells(estimates[wanted])
    rows = rows.assign(panel=_group_names(rows))

    def draw(own: pd.DataFrame, ax: Axes) -> None:
        # A few articles would stretch the scale and say nothing; they stay in the table.
        shown = own.assign(estimate=own["estimate"].where(own["ci_low"].notna()))
        figures.intervals(shown, ax, label="cell", missing="too few articles differ")
        _zero(ax)
        ax.set_xlabel("shift of sentiment")

    figure = figures.panels(rows, draw, by="panel", width=11, height=_height(rows))
    figures.legend_below(figure, figure.axes[0], extra=[figures.interval_key()])
    return Drawn(
        figure, rows,
        "Mean shift of each group's sentiment between answer and original beyond the shift of "
        "sentences without a group, with intervals, by model and prompt; one panel a group.",
    )  # fmt: skip


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
    paper = tables.printed("fang2024") if paper is None else paper
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
    """Draw our mean distances and the printed ones on one scale, a panel a measure and bias.

    `rows` are those of `printed_rows`.
    """
    own = rows[rows["statistic"] == "bias"]
    own = own.assign(panel=own["measure"] + ": " + own["bias"]).reset_index(drop=True)

    def draw(own: pd.DataFrame, ax: Axes) -> None:
        colours = {"ours": figures.INK, "printed": figures.PRINTED}
        figures.intervals(own, ax, label="cell")
        theirs = own["side"] == "printed"
        at = np.arange(len(own))[::-1]
        ax.plot(own["estimate"][theirs], at[theirs], "o", color=colours["printed"], ms=5, zorder=5)
        ax.set_xlabel("mean distance")

    figure = figures.panels(
        own, draw, by="panel", width=13, height=0.9 + 0.24 * _most(own), share_x=False
    )
    keys: list[Artist] = [figures.interval_key(label="ours, with its interval")]
    if own["null_low"].notna().any():
        keys.append(_band("the leading reference of chance"))
    if (own["side"] == "printed").any():
        label = "printed: other corpus, other human side"
        keys.append(figures.interval_key(colour=figures.PRINTED, label=label))
    figures.legend_below(figure, figure.axes[0], extra=keys)
    return Drawn(
        figure, own,
        "Mean distance of our models with chance above the printed values of seven models (Figures "
        "2, 4 and 6 of the paper, A.1 where toxicity is by Detoxify), a panel a measure and bias.",
    )  # fmt: skip


# --- parts ------------------------------------------------------------------------------------


def _cells(estimates: pd.DataFrame) -> pd.DataFrame:
    """Name the rows by what tells cells apart: only the keys that vary."""
    keys = [key for key in ("source", "model", "prompt") if estimates[key].nunique() > 1]
    names = estimates[keys or ["model"]].astype(str).agg(" · ".join, axis=1)
    return estimates.assign(cell=names)


def _height(estimates: pd.DataFrame) -> float:
    rows = len(estimates.drop_duplicates(["source", "model", "prompt"]))
    return 1.6 + 0.32 * rows


def _most(rows: pd.DataFrame) -> int:
    return int(rows["panel"].value_counts().max()) if len(rows) else 1


def _focus(rows: pd.DataFrame, focus: Mapping[str, str]) -> dict[str, str]:
    """Return the group drawn for each bias: the chosen one, or the first where none is."""
    groups = rows.groupby("bias", sort=False)["group"].unique()
    return {bias: focus[bias] if focus.get(bias) in own else own[0] for bias, own in groups.items()}


def _group_names(table: pd.DataFrame) -> pd.Series:
    """Name a panel by its group; where biases have a group of one name, by the bias too."""
    shared = table.groupby("group")["bias"].transform("nunique") > 1
    return table["group"].where(~shared, table["bias"] + " " + table["group"])


def _zero(ax: Axes) -> None:
    ax.axvline(0, color=figures.MUTED, lw=1, ls=":", zorder=0)


def _beside(estimates: pd.DataFrame, chance: pd.DataFrame) -> pd.DataFrame:
    """Put the leading reference into the rows, and its name (`reference`)."""
    keys = ["bias", "statistic", "group", "instrument", *CELL]
    rank = chance["reference"].map({name: i for i, name in enumerate(_BY)})
    first = chance.assign(rank=rank).sort_values("rank", kind="stable").drop_duplicates(keys)
    names = estimates[keys].merge(first[[*keys, "reference"]], on=keys, how="left")["reference"]
    rows = tables.with_chance(estimates, chance, lead=list(_BY))
    return rows.assign(reference=names.to_numpy())


def _by(rows: pd.DataFrame) -> str:
    """Name what the ranges of the rows are by."""
    replicated = rows["reference"] == "replicate"
    kinds = rows.loc[replicated, "test"].map(replicates.named).unique()
    return " or ".join([*kinds, *rows.loc[~replicated, "reference"].dropna().map(_BY).unique()])


def _with_chance(figure: Figure, by: str) -> Figure:
    extra = [figures.interval_key(), _band(by or "chance alone")]
    figures.legend_below(figure, figure.axes[0], extra=extra)
    return figure


def _band(by: str) -> Patch:
    return Patch(color=figures.BAND, label=by)


# --- what leads -------------------------------------------------------------------------------


def finding(declared: pd.DataFrame) -> Drawn:
    """Draw what leads the page: a panel a measure and group (`news.sentences.leading`)."""
    return forest(sentences.leading(declared), reference="in the human articles")
