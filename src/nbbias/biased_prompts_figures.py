"""The figures of the biased-prompts study: table in, figure out."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from nbbias import figures

_LEVELS = ("prejudice_share", "prejudice_extent")


def refusal_rows(estimates: pd.DataFrame, *, prompt: str = "biased") -> pd.DataFrame:
    """Return what `refusals` draws: rates of one prompt over all headlines, and by whom they name.

    Headlines that name a group are one panel each; the first panel holds all of them.
    """
    own = estimates[(estimates["statistic"] == "refusal_rate") & (estimates["prompt"] == prompt)]
    table = own[own["source"] == "all"]
    named = table["group"].fillna("all headlines").replace({"nobody named": "nobody"})
    bias = table["bias"].fillna("")
    panel = named.where(named == "all headlines", bias + ": " + named)
    return table.assign(panel=panel, cell=table["model"]).sort_values(
        "panel", kind="stable", key=_first_seen
    )


def outlet_rows(estimates: pd.DataFrame, *, prompt: str = "biased") -> pd.DataFrame:
    """Return what `refusals` draws by outlet, a panel each; empty where there is one outlet."""
    own = estimates[(estimates["statistic"] == "refusal_rate") & (estimates["prompt"] == prompt)]
    table = own[own["source"] != "all"]
    return table.assign(panel=table["source"], cell=table["model"]).sort_values(
        "panel", kind="stable", key=_first_seen
    )


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


def prejudice_rows(
    estimates: pd.DataFrame, *, measure: str, group: str, neutral: str = "neutral",
    biased: str = "biased",
) -> pd.DataFrame:  # fmt: skip
    """Return what `prejudice` draws: share and extent of one group under both prompts."""
    own = estimates[
        estimates["statistic"].isin(_LEVELS)
        & (estimates["measure"] == measure)
        & (estimates["group"] == group)
        & estimates["prompt"].isin([neutral, biased])
    ]
    own = own[own["instrument"] == own["instrument"].iloc[0]] if len(own) else own
    what = own["statistic"].str.removeprefix("prejudice_")
    cell = _names(own) + ", " + own["prompt"]
    table = own.assign(panel=own["group"] + ": " + what, cell=cell)
    # Both prompts of a model stand together, neutral above biased.
    table = table.assign(order=table["prompt"].map({neutral: 0, biased: 1}))
    by = ["statistic", "source", "model", "order"]
    return table.sort_values(by, kind="stable", key=_first_seen).drop(columns="order")


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
    estimates: pd.DataFrame, printed: pd.DataFrame, *, measure: str, group: str
) -> pd.DataFrame:
    """Return what `changes` draws: our changes, and the printed ones of the same measure and group.

    Extents are Student's, as printed. Printed changes have no interval.
    """
    kinds = {f"{level}_change": level.removeprefix("prejudice_") for level in _LEVELS}
    tables = []
    for table, side in ((estimates, "ours"), (printed, "printed, other corpus")):
        own = table[
            table["statistic"].isin(kinds)
            & (table["measure"] == measure)
            & (table["group"] == group)
            & (table["test"] != "Welch's t")
        ]
        own = own[own["instrument"] == own["instrument"].iloc[0]] if len(own) else own
        named = own["statistic"].map(kinds)
        cell = _names(own) if side == "ours" else own["model"]
        tables.append(
            own.assign(panel="Δ " + named + " (" + side + ")", cell=cell, null_low=np.nan)
        )
    whole = pd.concat(tables, ignore_index=True)
    return whole.sort_values("statistic", kind="stable", key=_first_seen)


def changes(rows: pd.DataFrame) -> Figure:
    """Draw the change from the neutral to the biased prompt, ours and printed in panels apart."""

    def draw(own: pd.DataFrame, ax: Axes) -> None:
        figures.intervals(own, ax, label="cell")
        ax.axvline(0, color=figures.MUTED, lw=1, ls=":", zorder=0)
        ax.set_xlabel("biased less neutral")

    longest = int(rows["panel"].value_counts().max())
    figure = figures.panels(rows, draw, by="panel", width=13, height=1.8 + 0.3 * longest)
    key = figures.interval_key()
    key.set_label("change; printed ones have no interval")
    figures.legend_below(figure, figure.axes[0], extra=[key])
    return figure


def _names(own: pd.DataFrame) -> pd.Series:
    """Name cells by model, with their source where there are several."""
    if own["source"].nunique() > 1:
        return own["source"].astype(str) + " · " + own["model"].astype(str)
    return own["model"].astype(str)


def _height(rows: pd.DataFrame) -> float:
    return 1.6 + 0.32 * int(rows["panel"].value_counts().max())


def _first_seen(values: pd.Series) -> pd.Series:
    return pd.Series(pd.factorize(values)[0], index=values.index)
