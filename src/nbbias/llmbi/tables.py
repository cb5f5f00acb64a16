"""Tables that a reader of the LLMBI study needs, each with its title and its note."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import pandas as pd

from nbbias import reading
from nbbias.llmbi.estimates import CORRECTED, SCORER_BIAS, SPLIT
from nbbias.reading import Table


def answers(table: pd.DataFrame) -> pd.DataFrame:
    """Count answers by model: `prompts`, `answers`, `samples` (the most of one prompt), `words`.

    Examples
    --------
    >>> from nbbias import llmbi
    >>> table = llmbi.tables.answers(llmbi.read_answers("sample"))
    >>> table[["model", "prompts", "samples"]].to_dict("records")[0]
    {'model': 'plain-register', 'prompts': 18, 'samples': 2}
    """
    counted = table.assign(words=table["text"].fillna("").str.split().str.len())
    grouped = counted.groupby("model", sort=False)
    columns = {
        "dimensions": grouped["dimension"].nunique(),
        "prompts": grouped["prompt"].nunique(),
        "answers": grouped.size(),
        "samples": counted.groupby(["model", "prompt"]).size().groupby("model").max(),
        "words": grouped["words"].mean(),
    }
    return pd.DataFrame(columns).reset_index()


def scores(table: pd.DataFrame) -> pd.DataFrame:
    """Select the columns of scores (`llmbi.neutral.add_neutral`) that readers compare."""
    columns = ["model", "dimension", "prompt", "sample", "n", "score"]
    return table[[*columns, "neutral", "neutral_low", "neutral_high", "neutral_windows"]]


def typical(answers: pd.DataFrame, scores: pd.DataFrame) -> pd.DataFrame:
    """Choose the answers that stand for a run: the two furthest models' to a typical prompt.

    Parameters
    ----------
    answers
        ANSWERS.
    scores
        Of `llmbi.neutral.add_neutral`.

    Returns
    -------
    DataFrame
        For `reading.markup.quotes`, with `prompt` and `score`. Of the models with the highest and
        the lowest mean, the prompt on which they differ most nearly as on average; of one model,
        that whose score is nearest to its mean.

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
    means = scored.groupby("model", sort=False)["score"].mean().sort_values(ascending=False)
    models = list(dict.fromkeys([*means.index[:1], *means.index[-1:]]))
    if not models:
        return pd.DataFrame(columns=["head", "text", "told", "prompt", "score"])
    wide = scored.groupby(["prompt", "model"], sort=False)["score"].mean().unstack()
    difference = wide[models[0]] - (wide[models[-1]] if len(models) > 1 else 0.0)
    distance = (difference - difference.mean()).abs().dropna()
    prompt = distance.idxmin() if len(distance) else scored["prompt"].iloc[0]
    chosen = scored[(scored["prompt"] == prompt) & scored["model"].isin(models)]
    chosen = chosen.drop_duplicates("model").merge(answers[[*keys, "text"]], on=keys)
    chosen = chosen.set_index("model").reindex(models).reset_index().dropna(subset="text")
    captions = [
        f"LLMBI {reading.number(row.score)}; reference prose of this length "
        f"{reading.number(row.neutral)}"
        for row in chosen.itertuples()
    ]
    return pd.DataFrame({"head": chosen["model"], "text": chosen["text"], "told": captions}).assign(
        prompt=chosen["prompt"], score=chosen["score"]
    )


def of(estimates: pd.DataFrame, statistic: str) -> Table:
    """Show the ``dimension_mean`` or the ``index`` of each model, with reference prose.

    Examples
    --------
    >>> from nbbias import tables
    >>> row = {"model": "m", "statistic": "dimension_mean", "dimension": "Age", "estimate": 0.9,
    ...        "ci_low": 0.6, "ci_high": 1.2, "n": 2, "null": 0.4, "p_adjusted": 0.01}
    >>> table = tables.estimates([row, row | {"dimension": "Race"}], study="llmbi", confidence=0.95)
    >>> of(table, "dimension_mean").rows["estimate"][0]
    '0.900 [0.600, 1.200]'
    """
    words = reading.caption(estimates, study="llmbi", name=statistic)
    settings = {"title": words.title, "note": words.note, "labels": words.labels}
    keys = ["model", "dimension"]
    return reading.readable(estimates, keys, statistics=[statistic], rows=None, **settings)


def split(estimates: pd.DataFrame) -> pd.DataFrame:
    """Show raw estimates beside their two parts: corrected, and scorer bias.

    Examples
    --------
    >>> from nbbias import tables
    >>> row = {"model": "m", "statistic": "index", "estimate": 0.5, "ci_low": 0.4, "ci_high": 0.6}
    >>> rows = [row | {"statistic": f"index{part}"} for part in ("", "_corrected", "_instrument")]
    >>> table = tables.estimates(rows, study="llmbi", confidence=0.95)
    >>> split(table).drop(columns="N").iloc[0].tolist()
    ['index', 'm', '0.500 [0.400, 0.600]', '0.500 [0.400, 0.600]', '0.500 [0.400, 0.600]']
    """
    parts = {"raw": "", "corrected": CORRECTED, "scorer bias": SCORER_BIAS}
    keys = ["model", "group", "dimension"]
    rows = []
    for statistic in SPLIT:
        table = pd.DataFrame()
        for name, suffix in parts.items():
            subset = estimates[estimates["statistic"] == statistic + suffix].set_index(keys)
            table[name] = pd.Series([_cell(row) for row in subset.to_dict("records")], subset.index)
        moved = subset["estimate"].ne(0)  # of the scorer bias, which comes last
        table = table.assign(N=subset["n"]).loc[moved[moved].index].reset_index()
        rows.append(table.assign(what=statistic.replace("_mean", "")))
    result = pd.concat(rows, ignore_index=True).rename(columns={"group": "less"})
    varying = [key for key in ("model", "less", "dimension") if result[key].notna().any()]
    return result[["what", *varying, *parts, "N"]]


def _cell(row: dict[Hashable, Any]) -> str:
    if pd.isna(row["estimate"]):
        return "not measured"
    estimate, low, high = (
        reading.number(row[name], decimals=3) for name in ("estimate", "ci_low", "ci_high")
    )
    return f"{estimate} [{low}, {high}]" if pd.notna(row["ci_low"]) else estimate
