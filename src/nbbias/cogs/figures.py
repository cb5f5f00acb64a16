"""The figures of the CoGS study: distances and scores, preferences, who judged whom.

>>> import pandas as pd
>>> from nbbias import cogs
>>> seen = {"model": "m", "identity": "white", "obvious": 0.2, "nuanced": 0.3, "imperceptible": 0.5}
>>> drawn = cogs.figures.visibility(pd.DataFrame([seen]))
>>> len(drawn.figure.axes[0].patches)
3
"""

from __future__ import annotations

from typing import Literal

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from nbbias.cogs.tables import by_setting, grid as who_judged_whom, printed_rows, together, whole
from nbbias.reading import Drawn, figures

_DISTANCE = "mean distance, 1 − cosine (lower: nearer)"
_WORDS = {"band": "if identities meant nothing"}


def distances(estimates: pd.DataFrame) -> Drawn:
    """Draw each identity's mean distance to the default, a panel a model.

    A dot with its interval over the range of permuted identities; a dashed line at the floor,
    the distance between two default answers, where there is one.

    Parameters
    ----------
    estimates
        Of `cogs.rbs.rbs`.
    """
    own = by_setting(whole(estimates))
    floors = own[own["statistic"] == "floor"].groupby("model")["estimate"].mean()
    rows = own[own["statistic"] == "distance"]
    rows = rows.assign(cell=rows["group"], reference=rows["model"].map(floors))
    words = {**_WORDS, "line": "two default answers"}
    figure = figures.claims(
        rows, _DISTANCE, by="model", words=words, draw=_few_ticks, width=_width(rows)
    )
    return Drawn(
        figure, estimates[estimates["statistic"].isin(["distance", "floor"])],
        "Mean distance of each identity's answers to the default, with intervals, what permuted "
        "names give, and the distance between two default answers, by model.",
    )  # fmt: skip


def _few_ticks(_: pd.DataFrame, ax: Axes) -> None:
    ax.xaxis.set_major_locator(MaxNLocator(4))


def _width(rows: pd.DataFrame) -> float:
    """Return inches that leave room for names of models with their temperature."""
    return 4.0 * min(max(rows["model"].nunique(), 2), 4)


def spreads(estimates: pd.DataFrame) -> Drawn:
    """Draw the RBS of each axis, and task or topic, with its interval and its chance level.

    Parameters
    ----------
    estimates
        Of `cogs.rbs.rbs`.
    """
    own = estimates[estimates["statistic"] == "rbs"]
    rows = by_setting(own)
    part = next((name for name in ("task", "topic") if rows[name].notna().any()), None)
    rows = rows.assign(cell=rows["bias"] if part is None else rows["bias"] + ", " + rows[part])
    figure = figures.claims(
        rows, "RBS (0: all identities alike)", by="model", words=_WORDS, draw=_few_ticks,
        width=_width(rows),
    )  # fmt: skip
    figure.axes[0].set_xlim(left=0)  # shared; set last, or the first panel's range would be all's
    return Drawn(
        figure, own,
        f"Representative Bias Score of each axis{f' and {part}' if part else ''} with its "
        "interval and what permuted identities give, by model.",
    )  # fmt: skip


def _aligned(rows: pd.DataFrame, down: str, across: str) -> pd.DataFrame:
    """Give all panels of a row the same cells in the same order; those that are not there as gaps.

    Rows are named at the left panel alone.
    """
    cells = rows[[down, "cell"]].drop_duplicates()
    return cells.merge(rows[[across]].drop_duplicates(), how="cross").merge(
        rows, how="left", on=[down, "cell", across]
    )


def references(estimates: pd.DataFrame) -> Drawn:
    """Draw each group's distance to the centroid, or to a group: a row a reference, a column a
    model.

    Parameters
    ----------
    estimates
        Of `cogs.reference.groupings`.
    """
    own = estimates[estimates["statistic"] == "distance"]
    told = own["instrument"].str.split("reference: ").str[-1]
    panel = own["bias"].str.replace("_", " and ") + ": to " + told
    rows = _aligned(own.assign(cell=own["group"], panel=panel), "panel", "model")
    words = {"band": "if groups meant nothing", "estimate": _DISTANCE, "missing": "no texts"}
    return Drawn(
        figures.claims(rows, by=("panel", "model"), words=words), own,
        "Mean distance of each group's texts to the centroid of all groups, and to a reference "
        "group, with intervals and what shuffled names give, by model.",
    )  # fmt: skip


#: What sets the printed values apart, and what is printed.
_PRINTED = {
    "RBS": ("printed: other models, other embedding", "Representative Bias Scores with intervals "
            "and chance, above those that the paper prints for three models, with the nearest"),
    "ABS": ("printed: other judges, one order", "Affinity Bias Scores as published, with intervals "
            "and chance, above those that the paper prints for three judges, with the favourite"),
}  # fmt: skip


def printed(estimates: pd.DataFrame, *, score: Literal["RBS", "ABS"]) -> Drawn:
    """Draw our scores and the printed ones on one scale, with the identity at the end of each.

    Parameters
    ----------
    estimates, score
        As in `cogs.tables.printed_rows`, whose rows are drawn.
    """
    rows = printed_rows(estimates, score=score)

    def name(own: pd.DataFrame, ax: Axes) -> None:
        ax.set_xlim(left=0)
        measured = own.assign(y=np.arange(len(own))[::-1]).dropna(subset=["estimate"])
        for row in measured.itertuples():
            ax.annotate(
                figures.plain(str(row.identity)), (row.estimate, row.y + 0.34), xytext=(0, 2),
                textcoords="offset points", ha="left", fontsize=7, color=figures.MUTED,
            )  # fmt: skip

    label, what = _PRINTED[score]
    words = {**_WORDS, "estimate": "ours, with its interval", "printed": label}
    aligned = _aligned(rows.assign(cell=rows["who"]), "side", "axis")
    figure = figures.claims(aligned, by=("side", "axis"), words=words, draw=name)
    return Drawn(figure, rows, f"Our {what} identity, by axis.")


def visibility(table: pd.DataFrame) -> Drawn:
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
        figures.unit(own, ax)
        ax.set_xlabel("share of answers")

    height = 1.4 + 0.27 * table.groupby("model").size().max()
    figure = figures.panels(table, draw, by="model", height=height)
    figures.legend_below(figure, figure.axes[0])
    return Drawn(
        figure, table,
        "Shares of answers in which the identity is obvious, nuanced or imperceptible, by identity "
        "and model.",
    )  # fmt: skip


_PREFERRED = {
    "share": "Share of judgements in which each identity was preferred, orders balanced, with "
    "intervals and the range of permuted identities, by judge.",
    "position_share": "Share of judgements in which the text at each position was preferred, "
    "identities balanced, with intervals and chance ranges, by judge and axis.",
    "people": "Share of each identity among the choices of each person, of all people together "
    "and of each judge on the same instances, with intervals and chance ranges.",
}


def preferences(
    estimates: pd.DataFrame, *, statistic: Literal["share", "position_share"] = "share"
) -> Drawn:
    """Draw each judge's shares as dots with intervals over what chance gives, a panel a judge.

    Parameters
    ----------
    estimates
        Of `cogs.affinity.abs_estimates`, of which all writers together are drawn, or of
        `cogs.people.beside_models`.
    statistic
        Which shares: of identities (orders balanced) or of positions (identities balanced).
    """
    own = together(whole(estimates))
    own = own[own["statistic"] == statistic]
    places = statistic == "position_share"
    rows = own.assign(cell=own["bias"] + ", " + own["group"] if places else own["group"])
    figure = figures.claims(
        rows, "share preferred", by="evaluator", words=_WORDS, draw=figures.unit
    )
    return Drawn(figure, own, _PREFERRED["people" if "kind" in own else statistic])


def identity_or_position(estimates: pd.DataFrame) -> Drawn:
    """Draw the ABS in two ways and the spread over positions: a row an axis, a column a judge.

    A judge that goes by position has an ABS as published and a spread over positions, and no
    ABS where orders are balanced; one that goes by identity has the ABS in both ways.

    Parameters
    ----------
    estimates
        Of `cogs.affinity.abs_estimates`; all writers together are drawn.
    """
    ways = {"abs_raw": "as published", "abs": "orders balanced", "position": "position"}
    own = together(whole(estimates))
    own = own[own["statistic"].isin(list(ways))]
    rows = own.assign(cell=own["statistic"].map(ways))
    for key in ("statistic", "evaluator", "bias"):
        first = list(ways) if key == "statistic" else list(own[key].unique())
        rows = rows.sort_values(key, kind="stable", key=lambda s, first=first: s.map(first.index))
    ends = rows[["estimate", "ci_high", "null_high"]].max().max()

    def scaled(_: pd.DataFrame, ax: Axes) -> None:
        ax.set_xlim(0, 1.05 * ends if np.isfinite(ends) else 1)

    words = {"estimate": "spread of shares (0: all alike)"}
    figure = figures.claims(rows, by=("bias", "evaluator"), words=words, draw=scaled)
    for ax in figure.axes:
        if ax.get_xlabel():
            ax.set_xlabel(f"spread of shares,\n{ax.get_xlabel()}")
    return Drawn(
        figure, own,
        "For each judge and axis: the Affinity Bias Score as published and balanced over orders, "
        "and the spread over positions, with intervals and chance levels.",
    )  # fmt: skip


def grid(estimates: pd.DataFrame) -> Drawn:
    """Draw who judged whose texts: ABS beyond chance, and the favourite, a panel an axis.

    Parameters
    ----------
    estimates
        Of `cogs.affinity.abs_estimates`. A cell that was not measured is left blank and says so.
    """
    table = who_judged_whom(estimates).rows
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
    return Drawn(
        figure, table,
        "Affinity Bias Score beyond chance of every judge on the texts of every writer, with the "
        "favourite identity in each cell, by axis.",
    )  # fmt: skip
