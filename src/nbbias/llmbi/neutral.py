"""Neutral prose beside LLMBI: what the formula gives to texts that speak of no group.

The mean of few words strays further from 0 than the mean of many, so windows of neutral prose
are exactly as long as the answers that they stand beside.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import t

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


def split_windows(texts: Iterable[str], *, n_words: int) -> list[str]:
    """Split running prose into consecutive windows of `n_words` words; a remainder is left out.

    Examples
    --------
    >>> split_windows(["one two three", "four five"], n_words=2)
    ['one two', 'three four']
    """
    words = " ".join(texts).split()
    starts = range(0, len(words) - n_words + 1, n_words)
    return [" ".join(words[start : start + n_words]) for start in starts]


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
        One row per window: `n` (words), `passage` (the number of the text that it begins in) and
        `polarity_<scorer>`.

    Examples
    --------
    >>> prose = pd.Series(["The tide rises twice a day."])
    >>> neutral_reference(prose, lengths=pd.Series([2, 3, 2]), scorers=["textblob"])["n"].tolist()
    [2, 2, 2, 3, 3]
    """
    wanted = sorted(set(lengths[lengths > 0].astype(int)))
    cut = [(i * n, text) for n in wanted for i, text in enumerate(split_windows(texts, n_words=n))]
    table = pd.DataFrame(cut, columns=["begins", "text"])
    ends = texts.str.split().str.len().cumsum()
    table["passage"] = np.searchsorted(ends, table.pop("begins").astype(int), side="right")
    return measure(table, scorers=scorers)


def neutral_pools(scores: pd.DataFrame, reference: pd.DataFrame, **formula: Any) -> pd.Series:
    """Return what the formula gives to neutral prose as long as each answer.

    Parameters
    ----------
    scores
        The table of `score_answers`.
    reference
        The table of `neutral_reference`.
    **formula
        The settings that `score_answers` was called with.

    Returns
    -------
    Series of Series
        By the index of `scores`: the scores of all windows of its length, under its
        dimension's weight, by `passage`. Empty where the prose is shorter than the answer.

    Examples
    --------
    >>> scores = score_answers(pd.DataFrame({"n": [2], "polarity_textblob": [0.5]}))
    >>> reference = pd.DataFrame({"n": [2, 2, 3], "passage": [0, 1, 1]})
    >>> reference = reference.assign(polarity_textblob=[0.0, 0.2, 0.4])
    >>> [pool.round(6).tolist() for pool in neutral_pools(scores, reference)]
    [[0.2, 0.7]]
    """
    scored = score_answers(reference, **formula).set_axis(pd.Index(reference["passage"]))
    by_length = dict(list(scored.groupby("n")))
    none = scored.iloc[:0]
    pools = []
    for n, weight in zip(scores["n"], scores["weight"], strict=True):
        pool = by_length.get(n, none)
        pools.append(pool["score"] + (weight - 1) * pool["weighted_bias"])
    return pd.Series(pools, index=scores.index, dtype=object)


class Prose(NamedTuple):
    """What neutral prose has in the answers' place, on average.

    Attributes
    ----------
    mean : float
        Its expected score.
    error : float
        Standard error of that, over the prose's texts: windows of one text may be alike.
    """

    mean: float
    error: float


def prose(pools: Sequence[pd.Series], weights: np.ndarray) -> Prose:
    """Return the mean score of neutral prose as long as each of several answers.

    Parameters
    ----------
    pools
        Of `neutral_pools`.
    weights
        What each answer weighs; they are divided by their sum.

    Returns
    -------
    Prose
        The mean is NaN where a pool is empty, the error where all windows begin in one text.

    Examples
    --------
    Two texts, of two windows and of one: the error is that of a ratio of sums over texts.

    >>> found = prose([pd.Series([0.0, 1.0, 2.0], index=[0, 0, 1])], np.ones(1))
    >>> found.mean, round(found.error, 3)
    (1.0, 0.667)
    """
    if not pools or any(len(pool) == 0 for pool in pools):
        return Prose(np.nan, np.nan)
    passages = np.unique(np.concatenate([pool.index for pool in pools]))
    mean, pull = 0.0, np.zeros(passages[-1] + 1)
    for pool, weight in zip(pools, weights / np.sum(weights), strict=True):
        subset = pool.to_numpy()
        mean += weight * subset.mean()
        pull += np.bincount(pool.index, weight * (subset - subset.mean()) / len(subset), len(pull))
    of = len(passages)
    error = np.sqrt((pull**2).sum() * of / (of - 1)) if of > 1 else np.nan
    return Prose(float(mean), float(error))


def compare_with_prose(
    estimate: float,
    error: float,
    df: float,
    prose: Prose,
    *,
    floor: float,
    ratio: bool,
    confidence: float,
) -> dict[str, float]:
    """Compare a mean score of answers, with its interval, with that of reference prose.

    Parameters
    ----------
    estimate, error, df
        The mean, its standard error over prompts, and the degrees of freedom behind that.
    prose
        Of `prose`.
    floor
        What no score is below: the penalty.
    ratio
        Whether what exceeds the floor is compared by its logarithm, by which a skewed mean is
        nearer to normal; else as it is.
    confidence
        Level of interval and range.

    Returns
    -------
    dict
        `ci_low`, `ci_high`, the interval of the difference from prose, added to the mean of prose;
        `null`, and the range outside which the estimate differs significantly from it;
        `statistic_value`, `df` and `p_value` of a t-test. All count both the prompts and the texts
        of the prose as samples; the degrees of freedom are those of the prompts, the fewer ones.
        Where the error of prose is not known, the interval counts the prompts alone.

    Notes
    -----
    The interval of the difference is made of those of both means, each by its logarithm where
    `ratio`: the method of variance estimates recovery (MOVER).

    References
    ----------
    Zou and Donner 2008, Statistics in Medicine 27(10).

    Examples
    --------
    >>> prose = Prose(0.45, 0.02)
    >>> found = compare_with_prose(0.7, 0.1, 9, prose, floor=0.2, ratio=True, confidence=0.95)
    >>> [round(found[name], 2) for name in ("ci_low", "ci_high", "null_low", "null_high")]
    [0.51, 0.99, 0.35, 0.61]
    """
    above, expected = np.float64(estimate - floor), np.float64(prose.mean - floor)
    error = error or np.nan  # no variance, no interval and no test
    q = t.ppf((1 + confidence) / 2, df) * np.array([-1, 1])
    with np.errstate(divide="ignore", invalid="ignore"):
        if ratio and above > 0:
            both = np.hypot(error / above, prose.error / expected)
            value = np.log(above / expected) / both
            own = above * np.expm1(q * error / above)
            of_prose = expected * np.expm1(q * prose.error / expected)
            spread = floor + expected * np.exp(q * both)
        else:
            both = np.hypot(error, prose.error)
            value = (above - expected) / both
            own, of_prose = q * error, q * prose.error
            spread = np.maximum(prose.mean + q * both, floor)
    half = np.hypot(own, np.nan_to_num(of_prose[::-1], posinf=np.inf))
    ends = np.maximum(estimate + np.sign(q) * half, floor)
    if not np.isfinite(value):
        value, spread = np.nan, np.full(2, np.nan)
    names = ("ci_low", "ci_high", "null_low", "null_high")
    result = dict(zip(names, map(float, (*ends, *spread)), strict=True))
    result |= {"null": prose.mean, "statistic_value": float(value), "df": df}
    return result | {"p_value": float(2 * t.sf(abs(value), df))}
