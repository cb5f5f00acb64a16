"""The figures of the LLMBI study."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from nbbias.reading import Drawn, figures
from nbbias.text import sentiment

_TERMS = {
    "penalty": "penalty P",
    "weighted_bias": "weighted bias wB",
    "sentiment_term": "sentiment term λS",
}


def components(table: pd.DataFrame) -> Drawn:
    """Draw the three terms of each dimension's score, a panel a model.

    Examples
    --------
    >>> table = pd.DataFrame({"model": "m", "dimension": ["Age"], "penalty": [0.2],
    ...                       "weighted_bias": [0.1], "sentiment_term": [0.15]})
    >>> drawn = components(table)
    >>> drawn.title
    'The penalty, the same in every bar, is 44% of the index of m'
    >>> [text.get_text() for text in drawn.figure.legends[0].get_texts()]
    ['penalty P', 'weighted bias wB', 'sentiment term λS']
    """

    def draw(own: pd.DataFrame, ax: Axes) -> None:
        figures.stacked_terms(
            own,
            ax,
            label="dimension",
            terms=_TERMS,
            colours=[figures.PALETTE[7], figures.PALETTE[0], figures.PALETTE[1]],
        )
        ax.set_xlabel("mean score")

    figure = figures.panels(
        table, draw, by="model", height=lambda own: figures.rows_height(own["dimension"])
    )
    if len(table):
        figures.key_above(figure, figure.axes[0])
    means = table.groupby("model", sort=False)[list(_TERMS)].mean()
    parts = (means["penalty"] / means.sum(axis=1)).dropna()
    told = " and ".join(f"{part:.0%} of the index of {model}" for model, part in parts.items())
    if len(parts) > 3:
        told = f"{parts.min():.0%} to {parts.max():.0%} of the index"
    return Drawn(
        figure,
        table,
        "Stacked bars, one a dimension, of the three terms of the index for each model. The "
        "penalty is equal in every bar.",
        f"The penalty, the same in every bar, is {told}" if told else "",
        "Bars: the three terms of the mean score of each dimension, which add up to it.",
    )


def dimensions(estimates: pd.DataFrame) -> Drawn:
    """Draw each dimension's mean with its interval, its prompts, and what neutral prose gives."""
    of_dimension = estimates[estimates["statistic"] == "dimension_mean"]
    of_prompt = estimates[estimates["statistic"] == "prompt_mean"]

    def draw(own: pd.DataFrame, ax: Axes) -> None:
        prompts = of_prompt[of_prompt["model"] == own["model"].iloc[0]]
        at = {name: len(own) - 1 - i for i, name in enumerate(own["dimension"])}
        rings: dict[str, Any] = {"mfc": "none", "mec": figures.PALETTE[0], "ms": 6, "zorder": 3}
        ax.plot(prompts["estimate"], prompts["dimension"].map(at), "o", **rings)

    figure = figures.claims(
        of_dimension.assign(cell=of_dimension["dimension"]),
        "LLMBI score (higher: stronger sentiment)",
        by="model",
        draw=draw,
        words={"band": "neutral prose of the same length"},
    )

    def describe(row: dict[str, object], up: bool, first: bool) -> str:
        side = "stronger" if up else "milder"
        if not first:
            return f"those of {row['model']} {side}"
        return f"answers of {row['model']} are worded {side} than neutral prose"

    return Drawn(
        figure,
        of_dimension,
        "Mean score of each dimension with its interval, single prompts as open circles, and the "
        "range that neutral prose gives as a grey band, for each model.",
        figures.finding_title(
            of_dimension,
            by="model",
            describe=describe,
            of="dimensions",
            otherwise=("No dimension's score differs significantly from reference prose"),
        ),
        figures.caption(
            of_dimension,
            "mean score of a dimension",
            of="prompts",
            band="range under the null (reference prose of the same length)",
        )
        + (" Rings: single prompts." if len(of_prompt) else ""),
    )


def agreement(measured: pd.DataFrame, *, first: str, second: str) -> Drawn:
    """Draw the signed polarity of every answer by two instruments, a panel a model."""
    x, y = f"polarity_{first}", f"polarity_{second}"
    named = f"by {sentiment.instrument(first)}", f"by {sentiment.instrument(second)}"

    def draw(own: pd.DataFrame, ax: Axes) -> None:
        ax.axhline(0, color=figures.BAND, lw=1, zorder=0)
        ax.axvline(0, color=figures.BAND, lw=1, zorder=0)
        ax.plot(own[x], own[y], "o", color=figures.INK, ms=4.5, alpha=0.7, mew=0)
        ax.set(xlabel=f"polarity {named[0]}", ylabel=f"polarity {named[1]}", ylim=(-1.08, 1.08))

    both = measured[[x, y]].dropna()
    alike = int((np.sign(both[x]) == np.sign(both[y])).sum())
    return Drawn(
        figures.panels(measured, draw, by="model", height=3.2),
        measured.drop(columns="text", errors="ignore"),
        "Signed polarity of every answer by the two instruments, one point an answer.",
        f"The two instruments agree on the sign of {alike} of {len(both)} answers",
        f"Dots: answers, by their signed polarity {named[0]} and {named[1]}.",
    )


def _mark_pairs(dots: pd.Series, rings: pd.Series, ax: Axes, dot: str, ring: str) -> None:
    """Draw a dot and a ring on a line in each row, the first row on top."""
    at = np.arange(len(dots))[::-1]
    ax.hlines(at, dots, rings, color=figures.BAND, lw=3, zorder=1)
    ax.plot(rings, at, "o", mfc=figures.PAPER, mec=figures.INK, ms=6.5, label=ring, zorder=2)
    ax.plot(dots, at, "o", color=figures.INK, ms=6, label=dot, zorder=3)


def ranking_swaps(table: pd.DataFrame) -> Drawn:
    """Draw the share of pairs of dimensions that change order, by what was changed.

    Examples
    --------
    >>> table = pd.DataFrame({"model": "m", "factor": ["prompts"], "swapped": [0.2],
    ...                       "swapped_worst": [0.5], "no_difference": [0.25]})
    >>> drawn = ranking_swaps(table)
    >>> drawn.figure.axes[0].get_xlabel(), drawn.title
    ('share of pairs that change order', 'Another choice of prompts swaps up to 50% of the pairs')
    """

    def draw(own: pd.DataFrame, ax: Axes) -> None:
        _mark_pairs(own["swapped"], own["swapped_worst"], ax, "mean over settings", "worst setting")
        figures.name_rows(ax, own["factor"])
        ax.plot(
            own["no_difference"],
            np.arange(len(own))[::-1],
            "|",
            color=figures.PALETTE[3],
            ms=14,
            mew=2,
            label="if dimensions did not differ",
        )
        figures.unit(own, ax)
        ax.set_xlabel("share of pairs that change order")

    figure = figures.panels(
        table, draw, by="model", height=lambda own: figures.rows_height(own["factor"])
    )
    if len(table):
        figures.key_above(figure, figure.axes[0])
    worst = table.dropna(subset=["swapped_worst"]).sort_values("swapped_worst", kind="stable")
    return Drawn(
        figure,
        table,
        "For each choice behind the index, the mean and the largest share of pairs of dimensions "
        "that change order, for each model.",
        "".join(
            f"Another choice of {row['factor']} swaps up to {row['swapped_worst']:.0%} of the pairs"
            for row in worst.tail(1).to_dict("records")
        ),
        "Dots: mean over the settings of a choice; rings: the worst setting; pairs are of "
        "dimensions, by rank.",
    )


#: A score that differs by less is printed alike, with four decimals.
_AS_PRINTED = 5e-5


def printed(table: pd.DataFrame) -> Drawn:
    """Draw our score and the printed one for every prompt, a panel a model."""
    writer = table["printed_model"].iloc[0]

    def draw(own: pd.DataFrame, ax: Axes) -> None:
        _mark_pairs(own["ours"], own["printed"], ax, "ours", f"printed, {writer}")
        figures.name_rows(ax, own["prompt"])
        ax.set_xlabel("LLMBI score")

    figure = figures.panels(
        table, draw, by="model", height=lambda own: figures.rows_height(own["prompt"])
    )
    first = table[table["model"] == table["model"].iloc[0]].iloc[0]
    marks = [(first["ours"], "ours"), (first["printed"], f"printed, {writer}")]
    figures.name_marks(figure.axes[0], [(x, text) for x, text in marks if np.isfinite(x)])
    both = table[["model", "ours", "printed"]].dropna(subset=["ours", "printed"])
    again = both["model"].eq(writer).all()  # the model whose answers were printed
    equal = int((both["ours"] - both["printed"]).abs().lt(_AS_PRINTED).sum())
    above = int((both["ours"] > both["printed"]).sum())
    title, whose = f"{above} of our {len(both)} scores are above the printed ones", "other answers"
    if again:
        title = f"{equal} of {len(both)} scores equal the printed ones to four decimals"
        whose = "the same answers"
    return Drawn(
        figure,
        table,
        "Our score of every prompt as a dot and the printed score of GPT-4 as a ring, on one "
        "scale, for each model.",
        title,
        f"Dots: our scores; rings: those printed for {writer}, of {whose}.",
    )
