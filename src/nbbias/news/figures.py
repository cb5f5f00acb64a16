"""The figures of the news study."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from nbbias.reading import figures


def _cells(estimates: pd.DataFrame) -> pd.DataFrame:
    """Name the rows by what tells cells apart: only the keys that vary."""
    keys = [key for key in ("source", "model", "prompt") if estimates[key].nunique() > 1]
    names = estimates[keys or ["model"]].astype(str).agg(" · ".join, axis=1)
    return estimates.assign(cell=names)


def _height(estimates: pd.DataFrame) -> float:
    rows = len(estimates.drop_duplicates(["source", "model", "prompt"]))
    return 1.6 + 0.32 * rows


def difference_rows(
    estimates: pd.DataFrame, *, statistic: str = "share_difference_common"
) -> pd.DataFrame:
    """Return what `share_differences` draws: of two groups one, the other is its mirror image."""
    table = _cells(estimates[estimates["statistic"] == statistic])
    both = table.groupby("bias")["group"].transform("nunique") == 2
    first = table.groupby("bias")["group"].transform("first")
    table = table[~both | (table["group"] == first)]
    return table.assign(panel=table["bias"] + ": " + table["group"])


def share_differences(rows: pd.DataFrame) -> Figure:
    """Draw how far each group's share is from that in the originals, a panel a group."""

    def draw(own: pd.DataFrame, ax: Axes) -> None:
        figures.intervals(own, ax, label="cell")
        ax.axvline(0, color=figures.MUTED, lw=1, ls=":", zorder=0)
        ax.set_xlabel("difference of shares")

    figure = figures.panels(rows, draw, by="panel", width=11, height=_height(rows))
    figures.legend_below(figure, figure.axes[0], extra=[figures.interval_key()])
    return figure


def distance_rows(estimates: pd.DataFrame, *, measure: str = "word") -> pd.DataFrame:
    """Return what `distances` draws: mean distances, with every chance level that there is."""
    kinds = {"bias": ", by words", "bias_by_sentence": ", by sentences"}
    rows = estimates[(estimates["measure"] == measure) & estimates["statistic"].isin(kinds)]
    table = _cells(rows)
    several = table["statistic"].nunique() > 1
    titles = table["bias"] + (table["statistic"].map(kinds) if several else "")
    return table.assign(panel=titles).sort_values("bias", kind="stable", key=figures.first_seen)


def distances(rows: pd.DataFrame) -> Figure:
    """Draw the mean distance of each cell beside what chance gives, by words and by sentences."""

    def draw(own: pd.DataFrame, ax: Axes) -> None:
        figures.intervals(own, ax, label="cell")
        ax.set_xlabel("mean distance")

    return _with_chance(figures.panels(rows, draw, by="panel", width=11, height=_height(rows)))


def prejudice_rows(
    estimates: pd.DataFrame, *, focus: Mapping[str, str], measure: str = "word"
) -> pd.DataFrame:
    """Return what `prejudice` draws: one group a bias, with chance by sentences at word level."""
    suffix = "_by_sentence" if measure == "word" else ""
    kinds = [f"prejudice_share{suffix}", f"prejudice_extent{suffix}"]
    rows = estimates[(estimates["measure"] == measure) & estimates["statistic"].isin(kinds)]
    table = _cells(rows[rows["group"] == rows["bias"].map(_focus(rows, focus))])
    what = table["statistic"].str.removeprefix("prejudice_").str.removesuffix("_by_sentence")
    return table.assign(panel=_group_names(table) + ": " + what)


def prejudice(rows: pd.DataFrame) -> Figure:
    """Draw share and extent of prejudice against one group of each bias, beside chance."""

    def draw(own: pd.DataFrame, ax: Axes) -> None:
        figures.intervals(own, ax, label="cell")
        share = own["statistic"].iloc[0].startswith("prejudice_share")
        ax.set_xlabel("share of answers" if share else "mean change of share")

    return _with_chance(
        figures.panels(rows, draw, by="panel", width=11, height=_height(rows), share_x=False)
    )


def _focus(rows: pd.DataFrame, focus: Mapping[str, str]) -> dict[str, str]:
    """Return the group drawn for each bias: the chosen one, or the first where none is."""
    groups = rows.groupby("bias", sort=False)["group"].unique()
    return {bias: focus[bias] if focus.get(bias) in own else own[0] for bias, own in groups.items()}


def _group_names(table: pd.DataFrame) -> pd.Series:
    """Name groups for a title; with their bias where two biases have a group of one name."""
    shared = table.groupby("group")["bias"].transform("nunique") > 1
    return table["group"].where(~shared, table["bias"] + " " + table["group"])


def _with_chance(figure: Figure) -> Figure:
    figures.legend_below(figure, figure.axes[0], extra=[figures.interval_key(), _band()])
    return figure


def _band() -> Patch:
    return Patch(color=figures.BAND, label="chance alone")


def tone_rows(estimates: pd.DataFrame, *, instrument: str) -> pd.DataFrame:
    """Return what `tone` draws: every group's shift, and what is left beyond neutral sentences'."""
    kinds = {"mean_difference": "shift", "difference_beyond_neutral": "beyond neutral"}
    wanted = estimates["statistic"].isin(kinds) & (estimates["instrument"] == instrument)
    table = _cells(estimates[wanted])
    return table.assign(panel=_group_names(table) + ": " + table["statistic"].map(kinds))


def tone(rows: pd.DataFrame) -> Figure:
    """Draw the shift of each group's tone, and what is left beyond the neutral sentences' shift."""

    def draw(own: pd.DataFrame, ax: Axes) -> None:
        # A single pair would stretch the scale and say nothing; it stays in the table.
        shown = own.assign(estimate=own["estimate"].where(own["n"] > 1))
        figures.intervals(shown, ax, label="cell", missing="fewer than 2 pairs")
        ax.axvline(0, color=figures.MUTED, lw=1, ls=":", zorder=0)
        ax.set_xlabel(f"difference of {own['measure'].iloc[0]}")

    figure = figures.panels(rows, draw, by="panel", width=11, height=_height(rows))
    figures.legend_below(figure, figure.axes[0], extra=[figures.interval_key()])
    return figure


#: The panels of the paper's figures of a measure, from left to right.
_PANELS = {
    "bias": "mean distance", "prejudice_share": "share of prejudice",
    "prejudice_extent": "extent of prejudice",
}  # fmt: skip


def printed_rows(
    estimates: pd.DataFrame, paper: pd.DataFrame, *, measure: str, focus: Mapping[str, str]
) -> pd.DataFrame:
    """Return what `printed` draws: our values of a measure, and the printed ones of seven models.

    The paper's three panels of a figure: mean distance, and share and extent of prejudice against
    one group a bias. Where ours come from a fallback of toxicity the printed ones, by Detoxify, are
    left out: they are on no scale with each other.
    """
    ours = estimates[(estimates["measure"] == measure) & estimates["statistic"].isin(_PANELS)]
    ours = ours[ours["instrument"] == ours.groupby("bias")["instrument"].transform("first")]
    in_focus = ours["group"].isna() | (ours["group"] == ours["bias"].map(focus))
    ours = _cells(ours[in_focus])
    if ours["instrument"].str.contains("fallback").any():
        paper = paper.head(0)
    theirs = paper[(paper["measure"] == measure) & (paper["prompt"] == "neutral")]
    theirs = theirs[theirs["statistic"].isin(_PANELS) & theirs["bias"].isin(set(ours["bias"]))]
    # What is printed is about one group: with another in focus there is nothing to show.
    same = theirs["group"].isna() | (theirs["group"] == theirs["bias"].map(focus))
    return _beside(ours, theirs[same], by="statistic", names=_PANELS)


def printed_table_rows(estimates: pd.DataFrame, paper: pd.DataFrame) -> pd.DataFrame:
    """Return what `printed` draws of the paper's Table 1: differences of the shares of races."""
    ours = estimates[(estimates["measure"] == "word") & (estimates["bias"] == "race")]
    ours = _cells(ours[ours["statistic"] == "share_difference"])
    theirs = paper[(paper["statistic"] == "share_difference") & (paper["bias"] == "race")]
    theirs = theirs[(theirs["prompt"] == "neutral") & theirs["group"].isin(set(ours["group"]))]
    return _beside(ours, theirs, by="group", names={g: str(g) for g in ours["group"].unique()})


def _beside(
    ours: pd.DataFrame, theirs: pd.DataFrame, *, by: str, names: Mapping[str, str]
) -> pd.DataFrame:
    theirs = theirs.rename(columns={"value": "estimate", "model": "cell"}).assign(
        null_low=float("nan"), null_high=float("nan"), null=float("nan"), side="printed"
    )
    table = pd.concat([ours.assign(side="ours"), theirs], ignore_index=True)
    if table.empty:
        return table.assign(panel=[], column=[])
    order = list(names)
    table = table.sort_values(by, kind="stable", key=lambda keys: keys.map(order.index))
    table = table.sort_values(["bias"], kind="stable", key=figures.first_seen)
    table = table.assign(panel=table["bias"] + ": " + table["side"], column=table[by].map(names))
    ranks = table["side"].eq("printed") + 2 * figures.first_seen(table["bias"])
    return table.assign(rank=ranks).sort_values("rank", kind="stable").drop(columns="rank")


def printed(rows: pd.DataFrame) -> Figure:
    """Draw our values and the printed ones on one scale, in panels that say which is which."""
    ends = rows.groupby("column")["estimate"].agg(["min", "max"])
    signed = set(ends.index[(ends["min"] < 0) & (ends["max"] > 0)])

    def draw(own: pd.DataFrame, ax: Axes) -> None:
        colour = figures.PRINTED if (own["side"] == "printed").all() else figures.INK
        figures.intervals(own, ax, label="cell", colour=colour)
        if own["column"].iloc[0] in signed:
            ax.axvline(0, color=figures.MUTED, lw=1, ls=":", zorder=0)

    figure = figures.grid(rows, draw, rows="panel", columns="column", width=13)
    keys: list[Artist] = [figures.interval_key(label="ours, with its interval")]
    if rows["null_low"].notna().any():
        keys.append(_band())
    if (rows["side"] == "printed").any():
        label = "printed: other corpus, other human side"
        keys.append(figures.interval_key(colour=figures.PRINTED, label=label))
    figures.legend_below(figure, figure.axes[0], extra=keys)
    return figure
