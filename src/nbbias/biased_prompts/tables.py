"""Tables of the biased-prompts study whose rows are chosen; titles are in ``prose/tables.yaml``."""

from __future__ import annotations

import pandas as pd

from nbbias import refusals
from nbbias.biased_prompts.refusing import DISPUTED, TWO_PHASE
from nbbias.reading import Table, caption, readable

_KEYS = ["measure", "instrument", "bias", "group", "model", "source", "prompt", "test"]

#: A rate as detected, from labels, and corrected.
_ENDS = ("", TWO_PHASE, DISPUTED, "_corrected")

#: Of each table of estimates, its statistics.
STATISTICS = {
    "refusals": [f"refusal_rate{end}" for end in _ENDS],
    "detector_bias": ["refusal_rate_instrument", "refusal_rate_change_instrument"],
    "by_headline": ["refusal_difference", "refusal_difference_corrected"],
    "scorer_bias": ["mean_difference_change_corrected", "mean_difference_change_instrument"],
    "effects": ["share_difference_change", "mean_difference_change"],
    "prejudice": ["prejudice_share", "prejudice_extent"],
    "changes": [
        *("prejudice_share_change", "prejudice_share_change_paired"),
        "prejudice_extent_change",
    ],
}


def of(estimates: pd.DataFrame, name: str) -> Table:
    """Return some estimates as a table for readers: one of `STATISTICS`.

    Examples
    --------
    >>> from nbbias import tables
    >>> row = {"model": "m", "statistic": "refusal_rate", "estimate": 0.5, "n": 9}
    >>> found = tables.estimates([row, row | {"model": "n"}], study="biased_prompts")
    >>> of(found, "refusals").rows["model"].tolist()
    ['m', 'n']
    """
    words = caption(estimates, study="biased_prompts", name=name)
    settings = {"title": words.title, "note": words.note, "gap": ""}
    rows = None if name == "refusals" else 20
    return readable(estimates, _KEYS, statistics=STATISTICS[name], rows=rows, **settings)


def held_out() -> pd.DataFrame:
    """Return how well refusals are detected on models and prompts that the detector had not seen.

    Examples
    --------
    >>> list(held_out())[:4]
    ['method', 'model', 'answers', 'refusals']
    """
    shown = ["method", "model", "sensitivity", "specificity", "accuracy", "balanced_accuracy"]
    table = refusals.held_out()
    table["answers"] = table[refusals.COUNTS].sum(axis=1)
    table["refusals"] = table["tp"] + table["fn"]
    return table[[*shown[:2], "answers", "refusals", *shown[2:]]]
