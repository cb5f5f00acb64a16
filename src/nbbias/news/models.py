"""Models against each other: the pairs' scores of words and tone in one table.

The comparison itself is `stats.mixed_model`: a linear mixed model with a random intercept for every
article. Models wrote about the same articles; an analysis of variance with Tukey's comparisons
would take their articles as unrelated, and paired tests only the articles that two models share.

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

import pandas as pd

from nbbias.news import claims, tone, words
from nbbias.news.corpus import CELL
from nbbias.stats import mixed_model as mixed_model

_UNIT = [*CELL, "article_id", "measure", "bias", "instrument"]


def units(scores: Sequence[pd.DataFrame], *, focus: Mapping[str, str]) -> pd.DataFrame:
    """Bring the pairs' scores of several levels into one table, one row per article and model.

    Parameters
    ----------
    scores
        SCORES of `pair_scores` of `news.words` and `news.tone`; of several instruments of a
        measure the first counts. Those of `news.topics` are left out: the model would take the
        topics of a fit as given, and `news.topics.estimates` does not.
    focus
        The group of a bias whose signed difference is compared; the first where none is named.

    Returns
    -------
    DataFrame
        `source`, `model`, `prompt`, `article_id`, `measure`, `bias`, `instrument`, `group` and its
        `difference`, answer minus original. Repeated answers are pooled.
    """
    tables = []
    for table in (table for table in scores if "seed" not in table):
        first = table.groupby(["measure", "bias"])["instrument"].transform("first")
        by = ["measure", "bias"]
        for (measure, bias), rows in table[table["instrument"] == first].groupby(by, sort=False):
            groups = [
                name.removeprefix("difference_")
                for name in rows
                if name.startswith("difference_") and rows[name].notna().any()
            ]
            if not groups:
                continue
            group = focus[bias] if focus.get(bias) in groups else groups[0]
            pooling = words.pooling(groups) if measure == "word" else tone.POOLING
            pooled = claims.per_article(rows, pooling)
            difference = pooled[f"difference_{group}"].where(pooled["reason"].isna())
            tables.append(pooled[_UNIT].assign(group=group, difference=difference))
    if not tables:
        return pd.DataFrame(columns=[*_UNIT, "group", "difference"])
    return pd.concat(tables, ignore_index=True)
