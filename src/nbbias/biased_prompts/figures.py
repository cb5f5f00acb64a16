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

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.patches import Patch

from nbbias import news
from nbbias.biased_prompts.compare import leading
from nbbias.biased_prompts.sentences import EFFECTS, leading_rows
from nbbias.reading import Drawn, figures, forest
from nbbias.tables import escape


def refusals(estimates: pd.DataFrame, *, prompt: str = "biased") -> Drawn:
    """Draw refusal rates of one prompt with their intervals, a panel for each kind of headline.

    The first panel holds all headlines; then come outlets, where there are several, and whom
    headlines name. In grey behind a rate as told stands the corrected one.
    """
    kinds = ["refusal_rate_corrected", "refusal_rate"]
    own = estimates[estimates["statistic"].isin(kinds) & (estimates["prompt"] == prompt)]
    named = own["group"].replace({"nobody named": "nobody"})
    panel = (own["bias"] + ": " + named).where(named.notna(), own["source"])
    panel = panel.replace({"all": "all headlines"})
    rank = np.select([panel == "all headlines", named.isna()], [0, 1], 2)
    table = own.assign(panel=panel, cell=own["model"], rank=rank)
    rows = table.sort_values(["rank", "panel"], kind="stable").drop(columns="rank")
    told = rows["statistic"] == kinds[1]

    def draw(own: pd.DataFrame, ax: Axes) -> None:
        for kind, colour in zip(kinds, (figures.MUTED, figures.INK), strict=True):
            drawn = own[own["statistic"] == kind]
            if len(drawn):
                figures.intervals(drawn, ax, label="cell", colour=colour)
        ax.set_xlabel("share refused")
        ax.set_xlim(-0.03, 1.03)

    figure = figures.panels(rows, draw, by="panel", width=11, height=_height(rows[told]))
    keys = [figures.interval_key(label="share as told, with its interval")]
    if not told.all():
        label = "corrected for the detector's errors"
        keys.append(figures.interval_key(colour=figures.MUTED, label=label))
    figures.legend_below(figure, figure.axes[0], extra=keys)
    return Drawn(
        figure, rows,
        "Share of articles refused under the biased prompt by model, as told with Wilson intervals "
        "and corrected for the detector's errors with wider ones: a panel for all headlines, one "
        "an outlet where there are several, and one for each group that headlines name.",
    )  # fmt: skip


def effects(estimates: pd.DataFrame) -> Drawn:
    """Draw the effect of the prompt on articles answered under both: a panel a level.

    Within a level a panel a group and instrument.
    """
    table = estimates[estimates["statistic"].isin(EFFECTS)]
    panel = table["bias"] + ": " + table["group"] + ", " + _levels(table)
    rows = table.assign(panel=panel, cell=_names(table))

    def draw(own: pd.DataFrame, ax: Axes) -> None:
        figures.intervals(own, ax, label="cell")
        ax.axvline(0, color=figures.MUTED, lw=1, ls=":", zorder=0)
        share = own["statistic"].iloc[0] == EFFECTS[0]
        ax.set_xlabel("change of the group's share" if share else "change of tone")

    alike = rows["measure"].nunique() < 2
    figure = figures.panels(
        rows, draw, by="panel", width=11, height=_height(rows), share_x=alike
    )  # fmt: skip
    which = escape.drawn(str(rows["prompt"].iloc[0])) if len(rows) else "difference"
    key = figures.interval_key(label=f"{which}, same articles, with its interval")
    figures.legend_below(figure, figure.axes[0], extra=[key])
    return Drawn(
        figure, rows,
        "Effect of the prompt on the group's share of words, on the tone towards it and on its "
        "share of topics, on articles answered under both prompts, with intervals, by model; 0 is "
        "no effect.",
    )  # fmt: skip


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
    panel = own["measure"] + ", " + (own["bias"] + " " if several else "") + own["group"]
    rows = own.assign(panel=panel + ": " + what, cell=_names(own) + ", " + own["prompt"])
    # Both prompts of a model stand together, neutral above biased.
    keys = ("statistic", "measure", "bias", "source", "model")
    order = [figures.first_seen(rows[key]) for key in keys]
    rows = rows.iloc[np.lexsort([rows["prompt"] != neutral, *order[::-1]])]

    def draw(own: pd.DataFrame, ax: Axes) -> None:
        figures.intervals(own, ax, label="cell")
        share = own["statistic"].iloc[0] == news.prejudice.KINDS[0]
        ax.set_xlabel("share of articles" if share else "mean change")

    figure = figures.panels(rows, draw, by="panel", width=12, height=_height(rows), share_x=False)
    band = Patch(color=figures.BAND, label="the reference in null")
    figures.legend_below(figure, figure.axes[0], extra=[figures.interval_key(), band])
    return Drawn(
        figure, rows,
        "Share of articles in which the group fares worse than in the original, and the mean "
        "change in those, under the neutral and the biased prompt by model, with intervals and the "
        "range that the reference gives; a panel a measure.",
    )  # fmt: skip


def changes(estimates: pd.DataFrame, printed: pd.DataFrame) -> Drawn:
    """Draw the changes that the paper prints, ours above the printed ones, on one scale.

    Of the same measures and groups. Extents are Student's, as printed; ours are those of the first
    instrument. Printed changes have no interval.
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
                cell=_names(own) if side == "ours" else own["model"], side=side,
                panel=own["measure"] + ", " + own["group"] + ": " + side,
                column=own["statistic"].map(kinds),
            )
            for side, own in sides.items()
        ],
        ignore_index=True,
    ).assign(null_low=np.nan)  # fmt: skip
    order = [figures.first_seen(rows[key]) for key in ("measure", "bias", "side")]
    rows = rows.iloc[np.lexsort(order[::-1])]

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
    return Drawn(
        figure, rows,
        "Change of the share and of the extent of prejudice from the neutral to the biased prompt, "
        "ours with intervals above the printed values of seven models (Figures 8 to 10).",
    )  # fmt: skip


# --- parts ------------------------------------------------------------------------------------


def _levels(table: pd.DataFrame) -> pd.Series:
    """Say by what a row was measured: words, topics, or the short name of an instrument."""
    short = table["instrument"].map(lambda name: re.split(r" [\d(]", name)[0])
    return table["measure"].map({"word": "words", "document": "topics"}).fillna(short)


def _names(own: pd.DataFrame) -> pd.Series:
    """Name cells by model, with their source where there are several."""
    if own["source"].nunique() > 1:
        return own["source"].astype(str) + " · " + own["model"].astype(str)
    return own["model"].astype(str)


def _height(rows: pd.DataFrame) -> float:
    return 1.6 + 0.32 * int(rows["panel"].value_counts().max() if len(rows) else 1)


# --- what leads -------------------------------------------------------------------------------


def finding(declared: pd.DataFrame, *, neutral: str = "neutral") -> Drawn:
    """Draw what leads the page: a panel a measure and group."""
    return forest(leading_rows(declared), reference=f"under the {neutral} prompt")
