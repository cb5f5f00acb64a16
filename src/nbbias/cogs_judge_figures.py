"""The figures of judges: preferences, identity beside position, who judged whom."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from nbbias import cogs_tables, figures, figures_marks
from nbbias.cogs_figures import PERMUTED

#: The three ways to the ABS, from the published one to the corrected ones.
WAYS = {"abs_raw": "as published", "abs": "orders balanced", "abs_model": "conditional logit"}


def preferences(estimates: pd.DataFrame, *, statistic: str = "share") -> Figure:
    """Draw each judge's shares as dots with intervals over what chance gives, a panel a judge.

    Parameters
    ----------
    estimates
        Of `cogs_affinity.abs_estimates` or `cogs_people.beside_models`, of one `model`.
    statistic
        Which shares: ``"share"`` (orders balanced), ``"share_raw"``, ``"share_model"`` or
        ``"position_share"``.
    """
    rows = cogs_tables.whole(estimates)
    rows = rows[rows["statistic"] == statistic]
    of_position = statistic == "position_share"
    rows = rows.assign(row=rows["bias"] + ", " + rows["group"] if of_position else rows["group"])

    def draw(own: pd.DataFrame, ax: Axes) -> None:
        figures_marks.intervals(own, ax, label="row")
        ax.set_xlim(0, 1)
        ax.set_xticks([0, 0.5, 1], ["0", ".5", "1"])
        ax.set_xlabel("share preferred")
        ax.tick_params(axis="x", labelbottom=True)

    height = 1.4 + 0.28 * rows.groupby("evaluator").size().max()
    figure = figures.panels(rows, draw, by="evaluator", height=height, width=9.5)
    band = Patch(color=figures.BAND, label=PERMUTED)
    figures.legend_below(figure, figure.axes[0], extra=[band, figures.interval_key()])
    return figure


def identity_or_position(estimates: pd.DataFrame) -> Figure:
    """Draw the ABS in three ways and the spread over positions: a row an axis, a column a judge.

    A judge that goes by position has an ABS as published and a spread over positions, and no
    ABS where orders are balanced; one that goes by identity has the ABS in all three ways.
    """
    named = {**WAYS, "position": "position"}
    rows = cogs_tables.whole(estimates)
    rows = rows[rows["statistic"].isin(list(named))]
    order = {name: i for i, name in enumerate(named)}
    rows = rows.sort_values("statistic", key=lambda s: s.map(order), kind="stable")
    for key in ("evaluator", "bias"):
        first = [name for name in pd.unique(estimates[key]) if isinstance(name, str)]
        kinds = pd.Categorical(rows[key], categories=first, ordered=True)
        rows = rows.assign(**{key: kinds}).sort_values(key, kind="stable")
    rows = rows.assign(cell=rows["statistic"].map(named))
    ends = rows[["estimate", "ci_high", "null_high"]].max().max()

    def draw(own: pd.DataFrame, ax: Axes) -> None:
        figures_marks.intervals(own, ax, label="cell")
        ax.set_xlim(0, 1.05 * ends if np.isfinite(ends) else 1)

    figure = figures.grid(
        rows.astype({"evaluator": "str", "bias": "str"}), draw, rows="bias", columns="evaluator",
        width=10,
    )  # fmt: skip
    band = Patch(color=figures.BAND, label="by chance")
    dots = figures.interval_key(label="spread of shares (0: all alike)")
    figures.legend_below(figure, figure.axes[0], extra=[band, dots])
    return figure


def grid(table: pd.DataFrame) -> Figure:
    """Draw who judged whose texts: ABS beyond chance, and the favourite, a panel an axis.

    Parameters
    ----------
    table
        Of `cogs_affinity.grid`. A cell that was not measured is left blank and says so.
    """
    axes = list(table["axis"].unique())
    judges, writers = list(table["evaluator"].unique()), list(table["model"].unique())
    figure, panels = plt.subplots(
        1, len(axes), figsize=(3.2 * len(axes), 1.2 + 0.5 * len(judges)), squeeze=False, sharey=True
    )
    top = float(np.nanmax([0.01, *table["excess"].abs()]))
    image = None
    for name, ax in zip(axes, panels.flat, strict=True):
        own = table[table["axis"] == name].set_index(["evaluator", "model"])
        cells = own["excess"].unstack().reindex(index=judges, columns=writers)
        image = ax.imshow(cells, cmap="PuOr_r", vmin=-top, vmax=top, aspect="auto")
        for (judge, writer), row in own.iterrows():
            measured = np.isfinite(row["excess"])
            text = str(row["favourite"]) if measured else "not\nmeasured"
            strong = measured and abs(row["excess"]) > 0.6 * top
            ax.text(
                writers.index(writer), judges.index(judge), figures.plain(text), ha="center",
                va="center", fontsize=8, color="white" if strong else figures.INK,
                fontweight="bold" if row["own"] == "yes" else "normal",
            )  # fmt: skip
        ax.set_xticks(range(len(writers)), [figures.plain(w) for w in writers], rotation=20)
        ax.set_yticks(range(len(judges)), [figures.plain(j) for j in judges])
        ax.set_title(figures.plain(name))
        ax.set_xlabel("who wrote")
    panels.flat[0].set_ylabel("who judged")
    if image is not None:
        figure.colorbar(image, ax=list(panels.flat), label="ABS beyond chance")
    return figure
