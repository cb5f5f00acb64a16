"""The articles' values behind the means of a saved run, for words and tone.

Topics are fitted anew in every run, so their values have no common unit: the document level has
none. Nor has the extent of prejudice, whose articles the outcome selects.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from nbbias import tables
from nbbias.news import claims, prejudice, tone, words

#: Where a statistic is worse: a shift to either side of 0 is a bias.
WORSE = {
    **dict.fromkeys(("share_difference", "share_difference_common"), "apart"),
    **dict.fromkeys(("mean_difference", "difference_beyond_neutral"), "apart"),
    **dict.fromkeys(("bias", "prejudice_share"), "higher"),
}

Block = tuple[dict[str, Any], pd.Series]

_DIFFERENCE = "difference_"


def values(run: Path, parameters: Mapping[str, Any]) -> pd.DataFrame:
    """Return each article's value, over its repeats, behind every mean of words and tone.

    Parameters
    ----------
    run
        The run's folder, with ``tables/scores`` and ``tables/scores_sentence`` or one of them.
    parameters
        Those of the run; `min_pairs` says which models are compared on common articles.

    Examples
    --------
    >>> values(Path("no such run"), {}).empty
    True
    """
    blocks: list[Block] = []
    scores = tables.saved_table(run, "scores")
    for bias, groups, own in per_bias(scores):
        every = claims.per_article(own, words.pooling(groups))
        blocks += _named(_words(every, groups, int(parameters.get("min_pairs", 1))), bias, "word")
    scores = tables.saved_table(run, "scores_sentence")
    for bias, groups, own in per_bias(scores):
        for (measure, _), of in own.groupby(["measure", "instrument"], sort=False):
            blocks += _named(_tone(claims.per_article(of, tone.POOLING), groups), bias, measure)
    return tables.units(blocks, study="news_bias")


def per_bias(scores: pd.DataFrame | None) -> Iterator[tuple[str, list[str], pd.DataFrame]]:
    """Yield every bias with its groups and its rows; nothing where a level was left out.

    Examples
    --------
    >>> scores = pd.DataFrame({"bias": "gender", "h_she": [1], "h_he": [0], "h_Black": [None]})
    >>> [(bias, groups) for bias, groups, _ in per_bias(scores)]
    [('gender', ['she', 'he'])]
    """
    if scores is None:
        return
    for bias, own in scores.groupby("bias", sort=False):
        named = [name for name in own if name.startswith("h_") and name != "h_neutral"]
        groups = [
            name.removeprefix("h_")
            for name in named
            if own[f"n{name}" if f"n{name}" in own else name].notna().any()
        ]
        yield str(bias), groups, own


def _named(
    blocks: Iterator[tuple[dict[str, Any], pd.DataFrame, pd.Series]], bias: str, measure: Any
) -> Iterator[Block]:
    for key, own, found in blocks:
        if len(own):
            common = {"bias": bias, "measure": measure, "instrument": own["instrument"].iloc[0]}
            yield common | key, found.astype(float).set_axis(own["article_id"].astype(str))


def _words(
    scores: pd.DataFrame, groups: list[str], min_pairs: int
) -> Iterator[tuple[dict[str, Any], pd.DataFrame, pd.Series]]:
    for key, own in claims.cells(scores[scores["reason"].isna()], None):
        yield key | {"statistic": "bias"}, own, own["score"]
        for group in groups:
            change = own[f"{_DIFFERENCE}{group}"]
            yield key | {"statistic": "share_difference", "group": group}, own, change
            fell = prejudice.fell(change.where(own[f"o_{group}"] > 0))
            yield key | {"statistic": "prejudice_share", "group": group}, own, fell
    for key, _, own, _ in claims.common_articles(scores, min_pairs=min_pairs):
        for group in groups:
            named = key | {"statistic": "share_difference_common", "group": group}
            yield named, own, own[f"{_DIFFERENCE}{group}"]


def _tone(
    scores: pd.DataFrame, groups: list[str]
) -> Iterator[tuple[dict[str, Any], pd.DataFrame, pd.Series]]:
    worse = prejudice.WORSE.get(str(scores["measure"].iloc[0]), -1)
    for key, own in claims.cells(scores[scores["reason"].isna()], None):
        yield key | {"statistic": "bias"}, own, own["score"]
        for group in groups:
            change = own[f"{_DIFFERENCE}{group}"].astype(float)
            yield key | {"statistic": "mean_difference", "group": group}, own, change
            fell = prejudice.fell(change, worse=worse)
            yield key | {"statistic": "prejudice_share", "group": group}, own, fell
            if own["measure"].iloc[0] == "sentiment":
                named = key | {"statistic": "difference_beyond_neutral", "group": group}
                yield named, own, own[f"beyond_neutral_{group}"]
