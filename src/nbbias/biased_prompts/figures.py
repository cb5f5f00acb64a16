"""The figures of the biased-prompts study: table in, figure out."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from nbbias.reading import figures

_LEVELS = ("prejudice_share", "prejudice_extent")
_EFFECTS = ("share_difference_change", "mean_difference_change")


def refusal_rows(estimates: pd.DataFrame, *, prompt: str = "biased") -> pd.DataFrame:
    """Return what `refusals` draws: rates of one prompt, a panel for each kind of headline.

    The first panel holds all headlines; then come outlets, where there are several, and whom
    headlines name.
    """
    own = estimates[(estimates["statistic"] == "refusal_rate") & (estimates["prompt"] == prompt)]
    named = own["group"].replace({"nobody named": "nobody"})
    panel = (own["bias"] + ": " + named).where(named.notna(), own["source"])
    panel = panel.replace({"all": "all headlines"})
    rank = np.select([panel == "all headlines", named.isna()], [0, 1], 2)
    table = own.assign(panel=panel, cell=own["model"], rank=rank)
    return table.sort_values(["rank", "panel"], kind="stable").drop(columns="rank")


def refusals(rows: pd.DataFrame) -> Figure:
    """Draw refusal rates with their intervals, a panel for each kind of headline."""

    def draw(own: pd.DataFrame, ax: Axes) -> None:
        figures.intervals(own, ax, label="cell")
        ax.set_xlabel("share refused")
        ax.set_xlim(-0.03, 1.03)

    figure = figures.panels(rows, draw, by="panel", width=11, height=_height(rows))
    key = figures.interval_key()
    key.set_label("share with its interval")
    figures.legend_below(figure, figure.axes[0], extra=[key])
    return figure


def effect_rows(estimates: pd.DataFrame) -> pd.DataFrame:
    """Return what `effects` draws: the effect of the prompt on articles answered under both."""
    table = estimates[estimates["statistic"].isin(_EFFECTS)]
    panel = table["bias"] + ": " + table["group"]
    if table["instrument"].nunique() > 1:
        panel += ", " + table["instrument"].map(_short)
    return table.assign(panel=panel, cell=_names(table))


def effects(rows: pd.DataFrame) -> Figure:
    """Draw the effect of the prompt by model, a panel a group (and instrument)."""

    def draw(own: pd.DataFrame, ax: Axes) -> None:
        figures.intervals(own, ax, label="cell")
        ax.axvline(0, color=figures.MUTED, lw=1, ls=":", zorder=0)
        share = own["statistic"].iloc[0] == _EFFECTS[0]
        ax.set_xlabel("change of the group's share" if share else "change of tone")

    alike = rows["measure"].nunique() < 2
    figure = figures.panels(
        rows, draw, by="panel", width=11, height=_height(rows), share_x=alike
    )  # fmt: skip
    which = figures.plain(str(rows["prompt"].iloc[0])) if len(rows) else "difference"
    key = figures.interval_key(label=f"{which}, same articles, with its interval")
    figures.legend_below(figure, figure.axes[0], extra=[key])
    return figure


def prejudice_rows(
    estimates: pd.DataFrame, *, measure: str, neutral: str = "neutral", biased: str = "biased"
) -> pd.DataFrame:
    """Return what `prejudice` draws: share and extent under both prompts, by one instrument."""
    own = estimates[
        estimates["statistic"].isin(_LEVELS)
        & (estimates["measure"] == measure)
        & estimates["prompt"].isin([neutral, biased])
    ]
    own = own[own["instrument"] == own["instrument"].iloc[0]] if len(own) else own
    what = own["statistic"].str.removeprefix("prejudice_")
    cell = _names(own) + ", " + own["prompt"]
    table = own.assign(panel=own["group"] + ": " + what, cell=cell)
    # Both prompts of a model stand together, neutral above biased.
    table = table.sort_values("prompt", kind="stable", key=lambda names: names != neutral)
    by = ["bias", "statistic", "source", "model"]
    order = own.drop_duplicates(by)[by]  # as they come in the table
    ranks = {name: {v: i for i, v in enumerate(order[name].unique())} for name in by}
    return table.sort_values(by, kind="stable", key=lambda keys: keys.map(ranks[keys.name]))


def prejudice(rows: pd.DataFrame) -> Figure:
    """Draw share and extent of prejudice under both prompts, beside what chance gives."""

    def draw(own: pd.DataFrame, ax: Axes) -> None:
        figures.intervals(own, ax, label="cell")
        share = own["statistic"].iloc[0] == "prejudice_share"
        ax.set_xlabel("share of answers" if share else f"mean change ({own['measure'].iloc[0]})")

    figure = figures.panels(rows, draw, by="panel", width=11, height=_height(rows), share_x=False)
    band = Patch(color=figures.BAND, label="chance alone")
    figures.legend_below(figure, figure.axes[0], extra=[figures.interval_key(), band])
    return figure


def change_rows(
    estimates: pd.DataFrame, printed: pd.DataFrame, *, measure: str
) -> pd.DataFrame:  # fmt: skip
    """Return what `changes` draws: our changes, and the printed ones of the same measure and group.

    Extents are Student's, as printed; ours are those of the first instrument. Printed changes have
    no interval.
    """
    kinds = {f"{level}_change": "Δ " + level.removeprefix("prejudice_") for level in _LEVELS}
    tables = []
    groups = estimates.loc[estimates["measure"] == measure, ["bias", "group"]].drop_duplicates()
    for table, side in ((estimates, "ours"), (printed, "printed, other corpus")):
        own = table[table["statistic"].isin(kinds) & (table["measure"] == measure)]
        own = own[own["test"] != "Welch's t"].merge(groups, on=["bias", "group"])
        own = own[own["instrument"] == own["instrument"].iloc[0]] if len(own) else own
        cell = _names(own) if side == "ours" else own["model"]
        panel = own["measure"] + ", " + own["group"] + ": " + side
        column = own["statistic"].map(kinds)
        tables.append(own.assign(panel=panel, column=column, cell=cell, side=side))
    whole = pd.concat(tables, ignore_index=True).assign(null_low=np.nan)
    return whole.sort_values(["bias", "side"], kind="stable", key=figures.first_seen)


def changes(rows: pd.DataFrame) -> Figure:
    """Draw the changes that the paper prints, ours above the printed ones, on one scale."""

    def draw(own: pd.DataFrame, ax: Axes) -> None:
        colour = figures.INK if (own["side"] == "ours").all() else figures.PRINTED
        figures.intervals(own, ax, label="cell", colour=colour)
        ax.axvline(0, color=figures.MUTED, lw=1, ls=":", zorder=0)

    figure = figures.grid(rows, draw, rows="panel", columns="column", width=11)
    keys = [figures.interval_key(label="ours, with its interval")]
    if (rows["side"] != "ours").any():
        label = "printed: other corpus, no interval"
        keys.append(figures.interval_key(colour=figures.PRINTED, label=label))
    figures.legend_below(figure, figure.axes[0], extra=keys)
    return figure


def _names(own: pd.DataFrame) -> pd.Series:
    """Name cells by model, with their source where there are several."""
    if own["source"].nunique() > 1:
        return own["source"].astype(str) + " · " + own["model"].astype(str)
    return own["model"].astype(str)


def _short(instrument: str) -> str:
    """Shorten an instrument's name for a title: what stands before its details."""
    return re.split(r" [\d(]", instrument)[0]


def _height(rows: pd.DataFrame) -> float:
    return 1.6 + 0.32 * int(rows["panel"].value_counts().max() if len(rows) else 1)
