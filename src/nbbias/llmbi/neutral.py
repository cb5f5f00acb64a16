"""Neutral prose beside LLMBI: what the formula gives to texts that speak of no group.

The mean of few words strays further from 0 than the mean of many, so windows of neutral prose
are exactly as long as the answers that they stand beside.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from nbbias import stats
from nbbias.llmbi.scoring import measure, score_answers
from nbbias.tables import Column, DataError, data_path, read_table

_SHIPPED = "neutral_prose.jsonl"


def read_neutral(path: str | Path) -> pd.Series:
    """Read the neutral prose that scores are compared with: the column `text` of a table.

    Examples
    --------
    >>> len(read_neutral("sample")) > 10
    True
    """
    form = {"text": Column("text", needed=True)}
    texts = read_table(data_path(_SHIPPED) if path == "sample" else path, form)["text"].dropna()
    if not texts.str.strip().any():
        raise DataError(str(path), "holds no text")
    return texts


def neutral_reference(
    texts: pd.Series, *, lengths: pd.Series, scorers: Sequence[str]
) -> pd.DataFrame:
    """Measure windows of neutral prose that are exactly as long as the answers.

    The mean of few words strays further from 0 than the mean of many, so ``|polarity|``
    depends on length: only windows of an answer's own length are its reference.

    Parameters
    ----------
    texts
        Neutral prose, cut into consecutive windows.
    lengths
        The answers' lengths in words; each distinct one above 0 is cut once.

    Returns
    -------
    DataFrame
        One row per window: `n` (words) and `polarity_<scorer>`.

    Examples
    --------
    >>> prose = pd.Series(["The tide rises twice a day."])
    >>> neutral_reference(prose, lengths=pd.Series([2, 3, 2]), scorers=["textblob"])["n"].tolist()
    [2, 2, 2, 3, 3]
    """
    wanted = sorted(set(lengths[lengths > 0]))
    cut = [(n, window) for n in wanted for window in stats.windows(texts, n_words=int(n))]
    table = pd.DataFrame(cut, columns=["n", "text"])
    return measure(table[["text"]], scorers=scorers)


def neutral_pools(
    scores: pd.DataFrame, reference: pd.DataFrame, *, bias_factor: float = 1.0, **formula: Any
) -> list[np.ndarray]:
    """Return what the formula gives to neutral prose as long as each answer.

    Parameters
    ----------
    scores
        The table of `score_answers`.
    reference
        The table of `neutral_reference`.
    bias_factor
        What the bias term counts beside its weight: the number of dimensions where
        their terms are summed.
    **formula
        The settings that `score_answers` was called with.

    Returns
    -------
    list of array
        One per row of `scores`: the scores of all windows of its length, under its
        dimension's weight. Empty where the prose is shorter than the answer.

    Examples
    --------
    >>> scores = score_answers(pd.DataFrame({"n": [2], "polarity_textblob": [0.5]}))
    >>> reference = pd.DataFrame({"n": [2, 2, 3], "polarity_textblob": [0.0, 0.2, 0.4]})
    >>> [pool.round(6).tolist() for pool in neutral_pools(scores, reference)]
    [[0.2, 0.7]]
    """
    by_length = dict(list(score_answers(reference, **formula).groupby("n")))
    none = pd.DataFrame({"score": [], "weighted_bias": []}, dtype=float)
    pools = []
    for n, weight in zip(scores["n"], scores["weight"], strict=True):
        pool = by_length.get(n, none)
        pools.append(
            (pool["score"] + (weight * bias_factor - 1) * pool["weighted_bias"]).to_numpy()
        )
    return pools


def add_neutral(scores: pd.DataFrame, pools: Sequence[np.ndarray]) -> pd.DataFrame:
    """Put beside every score what the formula gives to neutral prose.

    Returns
    -------
    DataFrame
        `scores` with `neutral` (mean of its pool), `neutral_low` and `neutral_high` (the
        2.5% and 97.5% quantiles) and `neutral_windows` (how many there were).

    Examples
    --------
    >>> scores = pd.DataFrame({"score": [0.9]})
    >>> beside = add_neutral(scores, [np.array([0.25, 0.75])])
    >>> beside[["neutral", "neutral_windows"]].to_dict("records")
    [{'neutral': 0.5, 'neutral_windows': 2}]
    """
    rows = [
        (pool.mean(), *np.quantile(pool, [0.025, 0.975]), len(pool))
        if len(pool) else (np.nan, np.nan, np.nan, 0)
        for pool in pools
    ]  # fmt: skip
    columns = ["neutral", "neutral_low", "neutral_high", "neutral_windows"]
    return scores.join(pd.DataFrame(rows, columns=columns, index=scores.index))
