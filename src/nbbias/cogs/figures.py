"""The figures of the CoGS study: distances and scores, preferences, who judged whom."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from nbbias.cogs import tables as cogs_tables
from nbbias.reading import figures

#: What the grey band of a figure is.
PERMUTED = "if identities meant nothing"


def distances(estimates: pd.DataFrame) -> Figure:
    """Draw each identity's mean distance to the default, a panel a model.

    Parameters
    ----------
    estimates
        Of `cogs.rbs.rbs`, or of `cogs.reference.reference_estimates`.

    Returns
    -------
    Figure
        A dot with its interval over the range of permuted identities; a dashed line at the floor,
        the distance between two default answers, where there is one.
    """
    own = cogs_tables.by_setting(cogs_tables.whole(estimates))
    rows = own[own["statistic"] == "distance"]
    floors = own[own["statistic"] == "floor"].groupby("model")["estimate"].mean()

    def draw(part: pd.DataFrame, ax: Axes) -> None:
        figures.intervals(part, ax, label="group")
        floor = floors.get(part["model"].iloc[0], np.nan)
        if np.isfinite(floor):
            ax.axvline(floor, color=figures.MUTED, ls="--", lw=1, zorder=0)
        ax.xaxis.set_major_locator(MaxNLocator(4))
        ax.set_xlabel("mean distance, 1 − cosine (lower: nearer)")

    height = 1.4 + 0.27 * rows.groupby("model").size().max()
    figure = figures.panels(rows, draw, by="model", height=height, width=_width(rows, "model"))
    extra: list[Patch | Line2D] = [Patch(color=figures.BAND, label=PERMUTED)]
    if floors.notna().any():
        extra.append(
            Line2D([], [], color=figures.MUTED, ls="--", lw=1, label="two default answers")
        )
    figures.legend_below(figure, figure.axes[0], extra=[*extra, figures.interval_key()])
    return figure


def _width(rows: pd.DataFrame, by: str) -> float:
    """Return inches that leave room for names of models with their temperature."""
    return 4.0 * min(max(rows[by].nunique(), 2), 4)


def spreads(estimates: pd.DataFrame, *, statistic: str, by: str = "model") -> Figure:
    """Draw a score of each axis with its interval and its chance level.

    Parameters
    ----------
    estimates
        Of `cogs.rbs.rbs` or `cogs.affinity.abs_estimates`.
    statistic
        ``"rbs"``, ``"abs"``, ….
    by
        The column whose values are the panels: ``"model"`` or ``"evaluator"``.
    """
    rows = cogs_tables.by_setting(estimates[estimates["statistic"] == statistic])
    part_of = next((name for name in ("task", "topic") if rows[name].notna().any()), None)
    label = rows["bias"] if part_of is None else rows["bias"] + ", " + rows[part_of].astype(str)
    rows = rows.assign(row=label)

    def draw(own: pd.DataFrame, ax: Axes) -> None:
        figures.intervals(own, ax, label="row")
        ax.xaxis.set_major_locator(MaxNLocator(4))
        ax.set_xlabel(f"{statistic.split('_')[0].upper()} (0: all identities alike)")

    height = 1.3 + 0.3 * rows.groupby(by).size().max()
    figure = figures.panels(rows, draw, by=by, height=height, width=_width(rows, by))
    figure.axes[0].set_xlim(left=0)  # shared; set last, or the first panel's range would be all's
    band = Patch(color=figures.BAND, label=PERMUTED)
    figures.legend_below(figure, figure.axes[0], extra=[band, figures.interval_key()])
    return figure


def _aligned(rows: pd.DataFrame, down: str, across: str) -> pd.DataFrame:
    """Give all panels of a row the same cells in the same order; those that are not there as gaps.

    Rows are named at the left panel alone.
    """
    cells = rows[[down, "cell"]].drop_duplicates()
    return cells.merge(rows[[across]].drop_duplicates(), how="cross").merge(
        rows, how="left", on=[down, "cell", across]
    )


def references(estimates: pd.DataFrame) -> Figure:
    """Draw each group's distance to the centroid, or to a group: a row a reference, a column a
    model.

    Parameters
    ----------
    estimates
        Of `cogs.reference.groupings`.
    """
    rows = cogs_tables.whole(estimates)
    rows = rows[rows["statistic"] == "distance"]
    told = rows["instrument"].str.split("reference: ").str[-1]
    panel = rows["bias"].str.replace("_", " and ") + ": to " + told
    rows = _aligned(rows.assign(cell=rows["group"], panel=panel), "panel", "model")

    def draw(own: pd.DataFrame, ax: Axes) -> None:
        figures.intervals(own, ax, label="cell", missing="no texts")

    figure = figures.grid(rows, draw, rows="panel", columns="model", width=11, row_height=0.24)
    band = Patch(color=figures.BAND, label="if groups meant nothing")
    key = figures.interval_key(label="mean distance, 1 − cosine (lower: nearer)")
    figures.legend_below(figure, figure.axes[0], extra=[band, key])
    return figure


def printed(rows: pd.DataFrame, *, label: str) -> Figure:
    """Draw our scores and the printed ones on one scale, with the identity at the end of each.

    Parameters
    ----------
    rows
        Of `cogs.tables.printed_rows`.
    label
        What sets the printed values apart, for the legend.
    """

    def draw(own: pd.DataFrame, ax: Axes) -> None:
        colour = figures.PRINTED if (own["side"] == "printed").all() else figures.INK
        figures.intervals(own, ax, label="cell", colour=colour)
        ax.set_xlim(left=0)
        measured = own.assign(y=np.arange(len(own))[::-1]).dropna(subset=["estimate"])
        for row in measured.itertuples():
            ax.annotate(
                figures.plain(str(row.identity)), (row.estimate, row.y), xytext=(0, 5),
                textcoords="offset points", ha="left", fontsize=7, color=figures.MUTED,
            )  # fmt: skip

    rows = _aligned(rows.assign(cell=rows["who"]), "side", "axis")
    figure = figures.grid(rows, draw, rows="side", columns="axis", width=10, row_height=0.36)
    keys = [
        figures.interval_key(label="ours, with its interval"),
        Patch(color=figures.BAND, label=PERMUTED),
        figures.interval_key(colour=figures.PRINTED, label=label),
    ]
    figures.legend_below(figure, figure.axes[0], extra=keys)
    return figure


def visibility(table: pd.DataFrame) -> Figure:
    """Draw the shares of obvious, nuanced and imperceptible answers, a panel a model.

    Parameters
    ----------
    table
        Of `cogs.visible.visibility`.
    """
    colours = [figures.INK, "#8c8c8c", figures.BAND]
    terms = {name: name for name in ("obvious", "nuanced", "imperceptible")}

    def draw(own: pd.DataFrame, ax: Axes) -> None:
        figures.stacked_terms(own, ax, label="identity", terms=terms, colours=colours)
        ax.set_xlim(0, 1)
        ax.set_xticks([0, 0.5, 1], ["0", ".5", "1"])
        ax.set_xlabel("share of answers")

    height = 1.4 + 0.27 * table.groupby("model").size().max()
    figure = figures.panels(table, draw, by="model", height=height)
    figures.legend_below(figure, figure.axes[0])
    return figure


def preferences(estimates: pd.DataFrame, *, statistic: str = "share") -> Figure:
    """Draw each judge's shares as dots with intervals over what chance gives, a panel a judge.

    Parameters
    ----------
    estimates
        Of `cogs.affinity.abs_estimates` or `cogs.people.beside_models`, of one `model`.
    statistic
        Which shares: ``"share"`` (orders balanced), ``"share_raw"`` or ``"position_share"``.
    """
    rows = cogs_tables.whole(estimates)
    rows = rows[rows["statistic"] == statistic]
    of_position = statistic == "position_share"
    rows = rows.assign(row=rows["bias"] + ", " + rows["group"] if of_position else rows["group"])

    def draw(own: pd.DataFrame, ax: Axes) -> None:
        figures.intervals(own, ax, label="row")
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
    """Draw the ABS in two ways and the spread over positions: a row an axis, a column a judge.

    A judge that goes by position has an ABS as published and a spread over positions, and no
    ABS where orders are balanced; one that goes by identity has the ABS in both ways.
    """
    named = {"abs_raw": "as published", "abs": "orders balanced", "position": "position"}
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
        figures.intervals(own, ax, label="cell")
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
        Of `cogs.affinity.grid`. A cell that was not measured is left blank and says so.
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
