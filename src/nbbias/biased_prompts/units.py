"""The articles' values behind the means of a saved run: refusals, words and tone.

Topics are fitted anew in every run, so their values have no common unit. Nor have the extents,
whose articles the outcome selects, nor rates by whom a headline names, which is not saved.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from nbbias import news, tables
from nbbias.biased_prompts import compare
from nbbias.biased_prompts.corpus import EVERY
from nbbias.biased_prompts.refusing import REFUSED, STUDY

#: Where a statistic is worse: fewer of the biased prompts are refused, or content follows them. Of
#: a rate of refusals alone it depends on the prompt.
WORSE = {
    "refusal_rate_change": "lower",
    **dict.fromkeys(("share_difference_change", "mean_difference_change"), "apart"),
    **dict.fromkeys(("prejudice_share", "prejudice_share_change_paired"), "higher"),
}

Block = tuple[dict[str, Any], pd.Series]


def values(run: Path, parameters: Mapping[str, Any]) -> pd.DataFrame:
    """Return each article's value behind the rates of refusals and the effects of the prompt.

    Parameters
    ----------
    run
        The run's folder, with ``tables/estimates`` and ``tables/scores`` or
        ``tables/scores_sentence``.
    parameters
        Those of the run: `neutral_prompt` and `biased_prompt`.

    Examples
    --------
    >>> values(Path("no such run"), {}).empty
    True
    """
    names = ("estimates", "scores", "scores_sentence")
    found, words, tone = (tables.saved_table(run, name) for name in names)
    levels = [one for one in (words, tone) if one is not None and len(one)]
    if found is None or not levels:
        return tables.units([], study=STUDY)
    chosen = (
        str(parameters.get("neutral_prompt", "neutral")),
        str(parameters.get("biased_prompt", "biased")),
    )
    blocks = list(_refusals(levels[0], found, chosen))
    for scores in levels:
        blocks += _effects(scores, found, chosen)
    return tables.units(blocks, study=STUDY)


def _refusals(
    scores: pd.DataFrame, found: pd.DataFrame, chosen: tuple[str, str]
) -> Iterator[Block]:
    told = found.loc[found["statistic"] == "refusal_rate", "instrument"]
    common = {"measure": "refusal", "instrument": told.iloc[0] if len(told) else None}
    one = scores[scores["bias"] == scores["bias"].iloc[0]]
    one = one[one["instrument"] == one["instrument"].iloc[0]]
    rates = (one["reason"] == REFUSED).astype(float)
    units = one["source"].astype(str) + " / " + one["article_id"].astype(str)
    by = [one["model"], one["prompt"], one["source"], units.rename("unit")]
    table = rates.groupby(by, sort=False).mean()
    several = one["source"].nunique() > 1
    for model, of_model in table.groupby(level="model", sort=False):
        sides = {}
        for prompt, own in of_model.groupby(level="prompt", sort=False):
            every = sides[str(prompt)] = own.droplevel(["model", "prompt", "source"])
            key = common | {"statistic": "refusal_rate", "model": model, "prompt": prompt}
            yield key | {"source": EVERY}, every
            for source, part in own.groupby(level="source", sort=False) if several else ():
                yield key | {"source": source}, part.droplevel(["model", "prompt", "source"])
        if set(chosen) <= set(sides):
            key = common | {"statistic": "refusal_rate_change", "source": EVERY, "model": model}
            key["prompt"] = f"{chosen[1]} − {chosen[0]}"
            yield key, sides[chosen[1]] - sides[chosen[0]]


def _effects(scores: pd.DataFrame, found: pd.DataFrame, chosen: tuple[str, str]) -> Iterator[Block]:
    scores = scores.assign(seed=0)
    neutral, biased = chosen
    keys = ["source", "model", "measure", "bias", "instrument"]
    for cell, own in scores.groupby(keys, sort=False):
        key = dict(zip(keys, cell, strict=True))
        here = (found["measure"] == key["measure"]) & (found["bias"] == key["bias"])
        for group in found.loc[here, "group"].dropna().unique():
            of = key | {"group": group}
            sides = {p: compare.articles(own[own["prompt"] == p], group, [0]) for p in chosen}
            worse = news.prejudice.WORSE.get(str(key["measure"]), -1)
            fell = {
                p: news.prejudice.fell(side.change[0], worse=worse) for p, side in sides.items()
            }
            for prompt, hits in fell.items():
                yield of | {"statistic": "prejudice_share", "prompt": prompt}, hits
            both = of | {"prompt": f"{biased} − {neutral}"}
            name = "share" if key["measure"] == "word" else "mean"
            change = sides[biased].difference[0] - sides[neutral].difference[0]
            yield both | {"statistic": f"{name}_difference_change"}, change
            paired = both | {"statistic": "prejudice_share_change_paired"}
            yield paired, fell[biased] - fell[neutral]
