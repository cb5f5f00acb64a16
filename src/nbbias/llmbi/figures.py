"""The figures of the LLMBI study."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from nbbias.reading import Drawn, figures


def dimensions(estimates: pd.DataFrame) -> Drawn:
    """Draw each dimension's mean with its interval, its prompts, and reference prose."""
    of_dimension = estimates[estimates["statistic"] == "dimension_mean"]
    of_prompt = estimates[estimates["statistic"] == "prompt_mean"]

    def draw(subset: pd.DataFrame, ax: Axes) -> None:
        prompts = of_prompt[of_prompt["model"] == subset["model"].iloc[0]]
        at = {name: len(subset) - 1 - i for i, name in enumerate(subset["dimension"])}
        rings: dict[str, Any] = {"mfc": "none", "mec": figures.PALETTE[0], "ms": 6, "zorder": 3}
        ax.plot(prompts["estimate"], prompts["dimension"].map(at), "o", **rings)

    figure = figures.claims(
        of_dimension.assign(cell=of_dimension["dimension"]),
        "LLMBI score (higher: stronger sentiment)",
        by="model",
        draw=draw,
        words={"band": "reference prose of the same length"},
    )

    def describe(row: dict[str, object], up: bool, first: bool) -> str:
        side = "higher" if up else "lower"
        if not first:
            return f"those of {row['model']} {side}"
        return f"answers of {row['model']} score {side} than reference prose"

    return Drawn(
        figure,
        of_dimension,
        "Mean score of each dimension with its interval, single prompts as open circles, and the "
        "range of reference prose as a grey band, for each model.",
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

    def draw(subset: pd.DataFrame, ax: Axes) -> None:
        at = np.arange(len(subset))[::-1]
        mean, worst = subset["swapped"], subset["swapped_worst"]
        ax.hlines(at, mean, worst, color=figures.BAND, lw=3, zorder=1)
        ring: dict[str, Any] = {"mfc": figures.PAPER, "mec": figures.INK, "ms": 6.5, "zorder": 2}
        ax.plot(worst, at, "o", label="worst setting", **ring)
        ax.plot(mean, at, "o", color=figures.INK, label="mean over settings", zorder=3)
        line: dict[str, Any] = {"color": figures.PALETTE[3], "ms": 14, "mew": 2}
        ax.plot(subset["no_difference"], at, "|", label="if dimensions did not differ", **line)
        figures.name_rows(ax, subset["factor"])
        figures.unit(subset, ax)
        ax.set_xlabel("share of pairs that change order")

    figure = figures.panels(
        table, draw, by="model", height=lambda subset: figures.rows_height(subset["factor"])
    )
    largest = table.dropna(subset=["swapped_worst"]).sort_values("swapped_worst", kind="stable")
    return Drawn(
        figure,
        table,
        "For each choice behind the index, the mean and the largest share of pairs of dimensions "
        "that change order, for each model.",
        "".join(
            f"Another choice of {row['factor']} swaps up to {row['swapped_worst']:.0%} of the pairs"
            for row in largest.tail(1).to_dict("records")
        ),
        "Dots: mean over the settings of a choice; rings: the worst setting; pairs are of "
        "dimensions, by rank.",
    )
