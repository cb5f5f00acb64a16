"""Tables that a reader of the LLMBI study needs; titles are in ``prose/tables.yaml``."""

from __future__ import annotations

import numpy as np
import pandas as pd

from nbbias import reading
from nbbias.reading import Table
from nbbias.stats import PARTS

#: Of tables that are not of the statistic of their name, the statistics.
STATISTICS = {"split": [name + part for name in ("index", "difference") for part in PARTS]}


def typical(answers: pd.DataFrame, scores: pd.DataFrame) -> pd.DataFrame:
    """Choose a typical pair of answers: of the models with the highest and the lowest mean.

    Parameters
    ----------
    answers
        ANSWERS.
    scores
        Of a run (`llmbi.measure`).

    Returns
    -------
    DataFrame
        For `reading.markup.quotes`, with `prompt` and `score`: the two answers to one prompt whose
        scores differ most nearly as on average; of one model, that nearest to its mean.

    Examples
    --------
    >>> answers = pd.DataFrame({"model": list("abab"), "prompt": list("ppqq"), "sample": 1,
    ...                         "text": list("wxyz")})
    >>> scores = answers.assign(score=[0.2, 0.6, 0.2, 1.6], neutral=0.4).drop(columns="text")
    >>> typical(answers, scores)[["head", "prompt", "score"]].values.tolist()
    [['b', 'p', 0.6], ['a', 'p', 0.2]]
    """
    keys = ["model", "prompt", "sample"]
    scored = scores.dropna(subset="score").drop_duplicates(keys)
    if scored.empty:
        return pd.DataFrame(columns=["head", "text", "told", "prompt", "score"])
    by_model = scored.pivot(index=keys[1:], columns="model", values="score")
    highest, lowest = by_model.mean().idxmax(), by_model.mean().idxmin()
    difference = by_model[highest] - (by_model[lowest] if highest != lowest else 0.0)
    example = (difference - difference.mean()).abs().fillna(np.inf).idxmin()
    chosen = scored.merge(answers[[*keys, "text"]], on=keys).set_index(keys[1:]).loc[[example]]
    chosen = chosen.reset_index().drop_duplicates("model").set_index("model")
    chosen = chosen.reindex(dict.fromkeys([highest, lowest])).dropna(subset="score").reset_index()
    score, neutral = (chosen[name].map(reading.number) for name in ("score", "neutral"))
    told = "LLMBI " + score + "; reference prose of this length " + neutral
    quotes = chosen[["model", "text", "prompt", "score"]].rename(columns={"model": "head"})
    return quotes.assign(told=told)


def of(estimates: pd.DataFrame, name: str) -> Table:
    """Return some estimates as a table for readers: of one statistic, or of `STATISTICS`.

    Examples
    --------
    >>> from nbbias import tables
    >>> row = {"model": "m", "statistic": "dimension_mean", "dimension": "Age", "estimate": 0.9,
    ...        "ci_low": 0.6, "ci_high": 1.2, "n": 2, "null": 0.4, "p_adjusted": 0.01}
    >>> table = tables.estimates([row, row | {"dimension": "Race"}], study="llmbi", confidence=0.95)
    >>> of(table, "dimension_mean").rows["estimate"][0]
    '0.900 [0.600, 1.200]'
    """
    words = reading.caption(estimates, study="llmbi", name=name)
    settings = {"title": words.title, "note": words.note, "labels": words.labels}
    keys = ["model", "group", "dimension"]
    return reading.readable(
        estimates, keys, statistics=STATISTICS.get(name, [name]), rows=None, **settings
    )
