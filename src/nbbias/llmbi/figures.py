"""The figures of the LLMBI study."""

from __future__ import annotations

import matplotlib.pyplot as plt
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
    >>> [text.get_text() for text in components(table).figure.legends[0].get_texts()]
    ['penalty P', 'weighted bias wB', 'sentiment term λS']
    """

    def draw(own: pd.DataFrame, ax: Axes) -> None:
        figures.stacked_terms(
            own, ax, label="dimension", terms=_TERMS,
            colours=["#bdbdbd", figures.PALETTE[0], figures.PALETTE[9]],
        )  # fmt: skip
        ax.set_xlabel("mean score")

    figure = figures.panels(table, draw, by="model", height=3.7)
    figures.legend_below(figure, figure.axes[0])
    return Drawn(
        figure, table,
        "Stacked bars, one a dimension, of the three terms of the index for each model. The "
        "penalty is equal in every bar.",
    )  # fmt: skip


def dimensions(estimates: pd.DataFrame) -> Drawn:
    """Draw each dimension's mean with its interval, its prompts, and what neutral prose gives."""
    of_dimension = estimates[estimates["statistic"] == "dimension_mean"]
    of_prompt = estimates[estimates["statistic"] == "prompt_mean"]

    def draw(own: pd.DataFrame, ax: Axes) -> None:
        prompts = of_prompt[of_prompt["model"] == own["model"].iloc[0]]
        figures.points(
            prompts, ax, x="estimate", label="dimension", rows=own["dimension"], name="one prompt"
        )

    figure = figures.claims(
        of_dimension.assign(cell=of_dimension["dimension"]),
        "LLMBI score (higher: stronger sentiment)", by="model", draw=draw,
        words={"band": "neutral prose of the same length"},
    )  # fmt: skip
    return Drawn(
        figure, of_dimension,
        "Mean score of each dimension with its interval, single prompts as open circles, and the "
        "range that neutral prose gives as a grey band, for each model.",
    )  # fmt: skip


def agreement(measured: pd.DataFrame, *, first: str, second: str) -> Drawn:
    """Draw the signed polarity of every answer by two instruments."""
    figure, ax = plt.subplots(figsize=(8.0, 4.0))
    figures.agreement(measured, ax, x=f"polarity_{first}", y=f"polarity_{second}", hue="model")
    ax.set_xlabel(f"polarity by {sentiment.instrument(first)}")
    ax.set_ylabel(f"polarity by {sentiment.instrument(second)}")
    told = "Signed polarity of every answer by the two instruments, one point an answer."
    return Drawn(figure, measured.drop(columns="text", errors="ignore"), told)


def ranking_swaps(table: pd.DataFrame) -> Drawn:
    """Draw the share of pairs of dimensions that change order, by what was changed.

    Examples
    --------
    >>> table = pd.DataFrame({"model": "m", "factor": ["prompts"], "swapped": [0.2],
    ...                       "swapped_worst": [0.5], "no_difference": [0.25]})
    >>> ranking_swaps(table).figure.axes[0].get_xlabel()
    'share of pairs that change order'
    """

    def draw(own: pd.DataFrame, ax: Axes) -> None:
        figures.shares(own, ax, label="factor", mean="swapped", worst="swapped_worst")
        at = len(own) - 1 - own.reset_index()["no_difference"].dropna().index.to_numpy()
        ax.plot(
            own["no_difference"].dropna(), at, "|", color=figures.PRINTED, ms=16, mew=2,
            label="if dimensions did not differ",
        )  # fmt: skip
        ax.set_xlim(-0.03, 1.03)
        ax.set_xlabel("share of pairs that change order")

    figure = figures.panels(table, draw, by="model", height=2.9)
    figures.legend_below(figure, figure.axes[0])
    return Drawn(
        figure, table,
        "For each choice behind the index, the mean and the largest share of pairs of dimensions "
        "that change order, for each model.",
    )  # fmt: skip


def printed(table: pd.DataFrame) -> Drawn:
    """Draw our score and the printed one for every prompt, a panel a model."""
    writer = table["printed_model"].iloc[0]

    def draw(own: pd.DataFrame, ax: Axes) -> None:
        figures.beside(own, ax, label="prompt", printed=f"printed, {writer}")
        ax.set_xlabel("LLMBI score")

    figure = figures.panels(table, draw, by="model", width=9.5, height=5.2)
    figures.legend_below(figure, figure.axes[0])
    return Drawn(
        figure, table,
        "Our score of every prompt as a dot and the printed score of GPT-4 as a diamond, on one "
        "scale, for each model.",
    )  # fmt: skip
