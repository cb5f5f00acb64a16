"""Texts at equal length: shares of group words, and texts without any.

A short text has few group words, and may have none, whoever writes it. So the longer text of a
pair is read in all its passages that are as long as the shorter text, in sentences, and their mean
is compared with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from nbbias import stats
from nbbias.news.corpus import SIDES, Read
from nbbias.text import annotate

#: Articles whose texts must differ in having group words for a test of omissions.
FEWEST = 5


def compare(read: Read, bias: str, groups: Sequence[str]) -> pd.DataFrame:
    """Compare the texts of every pair at equal length.

    Parameters
    ----------
    read
        What `news.annotate` returned.
    bias, groups
        Whose words are counted.

    Returns
    -------
    DataFrame
        By the index of `read.pairs`: `passage_<group>`, the group's share of group words in the
        answer less that in the original, each a mean over the passages with group words; and
        `omission`, the share of passages without group words, answer less original. In [-1, 1];
        NaN where a text has no group words, or the pair is lost.
    """
    matches = read.matches[read.matches["bias"] == bias]
    counts = annotate.count(matches, by=["text_id", "sentence_id"], groups=groups)
    texts, starts = np.unique(counts["text_id"], return_index=True)
    counted = (counts["sentence_id"], counts[[f"n_{group}" for group in groups]])
    parts = (np.split(table.to_numpy(dtype=int), starts[1:]) for table in counted)
    rows = dict(zip(texts, zip(*parts, strict=True), strict=False))
    lengths = read.sentences.groupby("text_id").size().to_dict()

    def upto(text_id: int) -> np.ndarray:
        """Return the group words before each sentence of a text, and before its end."""
        words = np.zeros((lengths.get(text_id, 0) + 1, len(groups)), dtype=int)
        if text_id in rows:
            sentences, found = rows[text_id]
            words[sentences + 1] = found
        return words.cumsum(axis=0)

    columns = [*(f"passage_{group}" for group in groups), "omission"]
    result = np.full((len(read.pairs), len(columns)), np.nan)
    whole = read.pairs["lost"].isna().to_numpy()
    ids = read.pairs[[SIDES["h"], SIDES["o"]]].to_numpy()
    for place in np.flatnonzero(whole):
        answer, original = map(upto, ids[place])
        if original[-1].any():
            size = min(len(answer), len(original)) - 1
            result[place] = _shares(answer, size) - _shares(original, size)
    return pd.DataFrame(result, read.pairs.index, columns)


def _shares(upto: np.ndarray, size: int) -> np.ndarray:
    """Return the mean share of each group in a text's passages, and that of empty passages."""
    words = upto[size:] - upto[: len(upto) - size]
    total = words.sum(axis=1)
    named = total > 0
    shares = np.full(words.shape[1], np.nan)
    if named.any():
        shares = (words[named] / total[named, None]).mean(axis=0)
    return np.append(shares, 1 - named.mean())


def omissions(
    units: pd.DataFrame, groups: Sequence[str], *, confidence: float
) -> list[dict[str, Any]]:
    """Compare how often answers have no group words, by the group that the original names most.

    Parameters
    ----------
    units
        A cell's articles, with `article_id`, `o_<group>` and `omission`.
    groups
        The groups of the bias.
    confidence
        Level of the intervals.

    Returns
    -------
    list of dict
        Rows of ESTIMATES, `statistic` ``omission_difference``: mean `omission` of the articles
        whose original names a group most, less that of the articles that name another one most;
        Welch's *t*. Above 0 answers to the group's articles have no group words more often than
        others, at equal length. No test where fewer than `FEWEST` articles differ. The estimate
        is the mean of its `values`, one an article.
    """
    original = units[[f"o_{group}" for group in groups]].to_numpy(float)
    most = original.max(axis=1)
    named = units["omission"].notna().to_numpy() & ((most == original.T).sum(axis=0) == 1)
    articles = units.loc[named, "article_id"]
    omission = units["omission"].to_numpy()[named]
    few = (np.abs(omission) > 0).sum() < FEWEST
    rows = []
    for group, column in zip(groups, original.T, strict=True):
        own = (column == most)[named]
        result = stats.two_sample(
            omission[own], omission[~own], pooled=False, confidence=confidence
        )
        if few:
            test = dict.fromkeys(("ci_low", "ci_high", "statistic_value", "df", "p_value"), np.nan)
            reason = f"fewer than {FEWEST} articles differ: no test"
            result = result.replace(**test, reason=result.reason or reason)
        row: dict[str, Any] = {"statistic": "omission_difference", "group": group, "null": 0.0}
        if np.isfinite(result.estimate):
            weight = len(own) * np.where(own, 1 / own.sum(), -1 / (~own).sum())
            row["values"] = pd.Series(weight * omission, articles)
        rows.append(row | result.row() | {"n_lost": len(units) - (result.n or 0)})
    return rows
