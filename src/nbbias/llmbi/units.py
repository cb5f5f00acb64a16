"""The prompts' scores behind the index of a saved run.

>>> from pathlib import Path
>>> values(Path("no such run"), {}).empty
True
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations
from pathlib import Path
from typing import Any

import pandas as pd

from nbbias import tables
from nbbias.llmbi.estimates import by_prompt

#: Where a statistic is worse. Two models that differ more are not worse, so the rest has none.
WORSE = {"index": "higher", "dimension_mean": "higher"}

Block = tuple[dict[str, Any], pd.Series]


def values(run: Path, parameters: Mapping[str, Any]) -> pd.DataFrame:
    """Return each prompt's score, over its repeats, behind index, dimensions and differences.

    Parameters
    ----------
    run
        The run's folder, with ``tables/scores``.
    parameters
        Those of the run; `aggregation` says how the index adds up.
    """
    scores = tables.saved_table(run, "scores")
    if scores is None:
        return tables.units([], study="llmbi")
    return tables.units(_blocks(scores, parameters.get("aggregation")), study="llmbi")


def _blocks(scores: pd.DataFrame, aggregation: object) -> Iterator[Block]:
    common = {"measure": "llmbi", "instrument": scores["instrument"].iloc[0]}
    whole: dict[str, pd.Series] = {}
    for model, own in scores.groupby("model", sort=False):
        key = common | {"model": model}
        factor = own["dimension"].nunique() if aggregation == "sum" else 1
        composite = by_prompt(own, own["score"] + (factor - 1) * own["weighted_bias"]).dropna()
        # Dimensions weigh alike, however many of their prompts were scored.
        sizes = composite.groupby("dimension")["prompt"].transform("size")
        weights = len(composite) / composite["dimension"].nunique() / sizes
        whole[str(model)] = composite.set_index("prompt")["value"]
        yield (
            key | {"statistic": "index"},
            (composite["value"] * weights).set_axis(composite["prompt"]),
        )
        for dimension, of in by_prompt(own, own["score"]).groupby("dimension", sort=False):
            own_key = key | {"statistic": "dimension_mean", "dimension": dimension}
            yield own_key, of.set_index("prompt")["value"]
    for other, model in combinations(whole, 2):
        key = common | {"statistic": "difference", "model": model, "group": other}
        yield key, whole[model] - whole[other]
