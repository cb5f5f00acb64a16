"""Models against each other: the pairs' scores of all levels in one table, and what N could see.

The tests themselves are those of `stats.models`; this module brings the levels into one shape.

>>> import pandas as pd
>>> from nbbias import news
>>> key = {"source": "s", "model": "m", "prompt": "p", "measure": "word", "bias": "gender",
...        "instrument": "word list", "reason": None, "score": 0.2}
>>> scores = pd.DataFrame([key | {"article_id": "1", "difference_female": -0.2}])
>>> news.models.units([scores], focus={"gender": "female"})[["group", "difference"]].values.tolist()
[['female', -0.2]]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from nbbias import stats
from nbbias.news import claims, tone, words
from nbbias.news.corpus import CELL
from nbbias.stats import (
    anova_tukey as anova_tukey,
    mixed_model as mixed_model,
    paired_models as paired_models,
)

_UNIT = [*CELL, "article_id", "measure", "bias", "instrument"]


def units(scores: Sequence[pd.DataFrame], *, focus: Mapping[str, str]) -> pd.DataFrame:
    """Bring the pairs' scores of several levels into one table, one row per article and model.

    Parameters
    ----------
    scores
        SCORES of `pair_scores` of `news.words` and `news.tone`; of several instruments of a
        measure the first counts. Those of `news.topics` are left out: these tests would take the
        topics of a fit as given, and `news.topics.estimates` does not.
    focus
        The group of a bias whose signed difference is compared; the first where none is named.

    Returns
    -------
    DataFrame
        `source`, `model`, `prompt`, `article_id`, `measure`, `bias`, `group`, `instrument`,
        `distance` (the paper's, NaN where a pair does not count) and `difference` (of the
        group, answer minus original). Repeated answers are pooled.
    """
    tables = []
    for table in (one for one in scores if "seed" not in one):
        first = table.groupby(["measure", "bias"])["instrument"].transform("first")
        for bias, own in table[table["instrument"] == first].groupby("bias", sort=False):
            columns = own.columns[own.columns.str.startswith("difference_")]
            groups = [c.removeprefix("difference_") for c in columns if own[c].notna().any()]
            if not groups:
                continue
            group = focus.get(str(bias), groups[0])
            group = group if f"difference_{group}" in own else groups[0]
            word = own["measure"].iloc[0] == "word"
            own = claims.per_article(own, words.pooling(groups) if word else tone.POOLING)
            counted = own["reason"].isna()
            found = own[_UNIT].assign(
                group=group,
                distance=own["score"].where(counted),
                difference=own[f"difference_{group}"].where(counted),
            )
            tables.append(found)
    columns = [*_UNIT, "group"]
    if not tables:
        return pd.DataFrame(columns=[*columns, "distance", "difference"])
    both = pd.concat(tables, ignore_index=True)
    return both.groupby(columns, sort=False, as_index=False)[["distance", "difference"]].mean()


_KEYS = ["measure", "bias", "group", "instrument"]


def overall(units: pd.DataFrame, *, value: str, inference: stats.InferenceSettings) -> pd.DataFrame:
    """Average each model over all its prompts, with articles as clusters.

    Returns
    -------
    DataFrame
        By measure, bias, group, instrument and `model`: `estimate` (mean over all pairs of the
        model), its bootstrap interval with whole articles drawn, `n` pairs, `clusters` (articles),
        `n_lost`, `reason`. Models had different prompts: this describes each, and ranks none.
    """
    rows: list[dict[str, Any]] = []
    for key, own in units.groupby([*_KEYS, "model"], sort=False):
        article = own["source"].astype(str) + "\x1f" + own["article_id"].astype(str)
        result = stats.cluster_bootstrap(own[value], article, inference=inference)
        row = result.row() | {"clusters": article[own[value].notna()].nunique()}
        rows.append(dict(zip([*_KEYS, "model"], key, strict=True)) | row)
    columns = ["estimate", "ci_low", "ci_high", "n", "clusters", "n_lost", "reason"]
    return pd.DataFrame(rows, columns=[*_KEYS, "model", *columns])


def detectable(units: pd.DataFrame, *, value: str, confidence: float) -> pd.DataFrame:
    """Say how large a mean difference must be for this many pairs to likely show it.

    Returns
    -------
    DataFrame
        By measure, bias, group, instrument and cell: `n` pairs, `sd` of the value,
        `detectable` (the smallest mean, in the value's unit, that a two-sided t-test at level
        1 - `confidence` finds with a probability of 0.8) and `detectable_corrected` (where the
        level is divided by the cells of the table's measure and bias, the first step of Holm's
        method). NaN with fewer than two pairs.
    """
    grouped = units.groupby([*_KEYS, *CELL], sort=False)[value]
    table = grouped.agg(n="count", sd="std").reset_index()
    cells = table.groupby(_KEYS)["n"].transform("size")
    alpha = 1 - confidence
    for name, levels in {
        "detectable": cells * 0 + alpha,
        "detectable_corrected": alpha / cells,
    }.items():
        effects = [
            stats.minimum_detectable_effect(int(n), alpha=float(level))
            for n, level in zip(table["n"], levels, strict=True)
        ]
        table[name] = effects * table["sd"]
    return table
