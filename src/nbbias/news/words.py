"""The words: which share of a text's group words is whose, answer against original.

The word level of Fang et al. (2024), *Bias of AI-generated content*, Scientific Reports 14:5224:
the share of each group among a text's group words (Eq. 1, 2), how far the shares of a generated
text h lie from those of its original o (Eq. 3), on average over pairs (Eq. 4).

Two texts by one writer differ, too: what their distance is, `news.replicates` says.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from nbbias import stats
from nbbias.news import claims, replicates, shares
from nbbias.news.corpus import CELL, SIDES, Read
from nbbias.tables import SCORES, check
from nbbias.text import annotate, lexicons

#: Why a pair has no word-level score, beyond what `news.corpus.pair` lost already.
NO_WORDS = "no group words"


def level(
    read: Read, *, inference: stats.InferenceSettings, second_texts: Read | None = None
) -> claims.Level:
    """Measure the words of a corpus: scores, losses, estimates and what chance gives.

    Parameters
    ----------
    read
        What `news.annotate` returned.
    inference
        Level of the intervals, permutations behind each null value, and their seed.
    second_texts
        Further human texts on the same stories: what `news.annotate` made of `news.second_texts`.

    Returns
    -------
    Level
        The tables of `pair_scores`, `claims.losses`, `shares.estimate` and, for distances and
        prejudice, the references ``"permutation"`` and ``"replicate"`` (`news.replicates`), which
        leads where it can be had.

    Examples
    --------
    >>> from nbbias import news, stats, text
    >>> pairs = news.pair(*news.sample.corpus({"fewer": {"female": -0.3}}, seed=1))
    >>> read = news.annotate(pairs, lexicon=text.lexicons.load("gender"))
    >>> words = news.words.level(read, inference=stats.InferenceSettings(n_permutations=100))
    >>> of = words.estimates.set_index(["statistic", "group"])["estimate"]
    >>> bool(of["share_difference", "female"] < -0.1)
    True
    >>> list(words.chance["reference"].unique())
    ['permutation']
    """
    scores = pair_scores(read)
    result = shares.estimate(scores, pooling=pooling, lexicon=read.lexicon, inference=inference)
    references = replicates.references(
        result.estimates, scores, read, DISTANCE, second_texts=second_texts, inference=inference
    )
    return claims.level(scores, result, references)


# --- pairs ------------------------------------------------------------------------------------


def pair_scores(read: Read) -> pd.DataFrame:
    """Score every pair at the word level, for every bias of the lexicon.

    Returns
    -------
    DataFrame
        SCORES, one row per pair and bias, lost ones too: the pair's keys; counts `h_<group>`
        (answer) and `o_<group>` (original); `n` (group words of both); `score`, the Wasserstein
        distance with 0/1 ground metric (Eq. 3: total variation, in [0, 1], 0: equal shares);
        `difference_<group>` (share in the answer minus share in the original, in [-1, 1]; below
        0: a smaller share); `passage_<group>` and `omission`, of texts at equal length
        (`compare_passages`); `first_<group>`, whether the answer names the group first, minus the
        same of the original (`first_mentions`); and `reason`, why a score is NaN. Columns of
        other biases' groups are NaN.
    """
    parts = [_score_bias(read, bias) for bias in read.lexicon["bias"].unique()]
    return check(pd.concat(parts, ignore_index=True), SCORES)


def _score_bias(read: Read, bias: str) -> pd.DataFrame:
    groups = lexicons.groups(read.lexicon, bias)
    of_bias = read.matches[read.matches["bias"] == bias]
    counts = annotate.count(of_bias, by=["text_id"], groups=groups).set_index("text_id")
    table = read.pairs[["pair_id", *CELL, "article_id", "sample", "lost"]].assign(bias=bias)
    for side, column in SIDES.items():
        values = counts.reindex(read.pairs[column]).fillna(0).to_numpy(dtype=int)
        table = table.assign(**{f"{side}_{group}": values[:, i] for i, group in enumerate(groups)})
    table = measure(table, groups).drop(columns="lost").join(compare_passages(read, bias, groups))
    first = first_mentions(of_bias, groups)
    answer, original = (first.reindex(read.pairs[text]).to_numpy() for text in SIDES.values())
    change = pd.DataFrame(answer - original, table.index, groups)
    return table.join(change.where(table["reason"].isna()).add_prefix("first_"))


def first_mentions(matches: pd.DataFrame, groups: Sequence[str]) -> pd.DataFrame:
    """Return whom each text names first, of the matches of one bias in the order of the texts.

    Returns
    -------
    DataFrame
        By text, a column a group: 1 where it is named before all others, 0 where another one is;
        NaN where the text does not name it, or names no other.

    Examples
    --------
    >>> matches = pd.DataFrame({"text_id": [1, 1, 2], "group": ["b", "a", "a"]})
    >>> first_mentions(matches, ["a", "b"]).to_numpy().tolist()
    [[0.0, 1.0], [nan, nan]]
    """
    first = matches[["text_id", "group"]].astype({"group": str}).drop_duplicates()
    places = first.assign(at=first.groupby("text_id").cumcount())
    places = places.pivot(index="text_id", columns="group", values="at").reindex(columns=groups)
    return places.eq(0).astype(float).where(places.notna().mul(places.count(axis=1) > 1, axis=0))


def measure(counted: pd.DataFrame, groups: Sequence[str]) -> pd.DataFrame:
    """Add what Eq. 1 to 3 make of the counts `h_<group>`, `o_<group>`; see `pair_scores`."""
    h, o = sides(counted, groups)
    n_h, n_o = h.sum(axis=1), o.sum(axis=1)
    d = subtract_shares(h.T, o.T)
    reason = counted["lost"].copy()
    claims.lack(reason, n_h > 0, n_o > 0, NO_WORDS)
    there = reason.isna().to_numpy()
    return counted.assign(
        measure="word",
        n=n_h + n_o,
        score=np.where(there, np.abs(d).sum(axis=0) / 2, np.nan),
        **{f"difference_{g}": np.where(there, d[i], np.nan) for i, g in enumerate(groups)},
        instrument="word list",
        reason=reason,
    )


def pooling(groups: Sequence[str]) -> claims.Pooling:
    """Count the group words of all answers to an article together, as if they were one answer.

    An answer without group words adds none.
    """

    def again(pooled: pd.DataFrame) -> pd.DataFrame:
        return measure(pooled.assign(lost=pooled["reason"]), groups)[list(pooled.columns)]

    return claims.Pooling(
        dict.fromkeys(("passage_", "omission", "first_"), "mean") | {"h_": "sum"},
        again,
        [f"{NO_WORDS} in {text}" for text in claims.LACKING.values()],
    )


def subtract_shares(h: np.ndarray, o: np.ndarray) -> np.ndarray:
    """Return the differences of shares, of counts of groups by texts; NaN where a side has none."""
    return np.asarray(claims.ratio(h, h.sum(axis=0)) - claims.ratio(o, o.sum(axis=0)))


def sides(counted: pd.DataFrame, groups: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    h, o = (counted[[f"{side}_{g}" for g in groups]].to_numpy(dtype=int) for side in "ho")
    return h, o


# --- texts at equal length ----------------------------------------------------------------------


def compare_passages(read: Read, bias: str, groups: Sequence[str]) -> pd.DataFrame:
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
    rows = _sentences(read, bias, groups)
    lengths = (read.sentences.groupby("text_id")["sentence_id"].max() + 1).to_dict()

    def upto(text_id: int) -> np.ndarray:
        """Return the group words before each sentence of a text, and before its end."""
        words = np.zeros((lengths.get(text_id, 0) + 1, len(groups)), dtype=int)
        if text_id in rows:
            words[rows[text_id][:, 0] + 1] = rows[text_id][:, 1:]
        return words.cumsum(axis=0)

    columns = [*(f"passage_{group}" for group in groups), "omission"]
    result = np.full((len(read.pairs), len(columns)), np.nan)
    whole = read.pairs["lost"].isna().to_numpy()
    ids = read.pairs[[SIDES["h"], SIDES["o"]]].to_numpy()
    for place in np.flatnonzero(whole):
        result[place] = subtract_passages(*map(upto, ids[place]))
    return pd.DataFrame(result, read.pairs.index, columns)


def _sentences(read: Read, bias: str, groups: Sequence[str]) -> dict[Any, np.ndarray]:
    """Return every text's sentences that have group words, in order: number and words by groups."""
    matches = read.matches[read.matches["bias"] == bias]
    counts = annotate.count(matches, by=["text_id", "sentence_id"], groups=groups)
    texts, starts = np.unique(counts["text_id"], return_index=True)
    rows = counts[["sentence_id", *(f"n_{group}" for group in groups)]].to_numpy(dtype=int)
    return dict(zip(texts, np.split(rows, starts[1:]), strict=False))


def subtract_passages(answer: np.ndarray, original: np.ndarray) -> np.ndarray:
    """Return a pair's values of `compare_passages`, NaN where the original has no group words.

    `answer`, `original`: group words before each sentence and before the end, by groups.

    Examples
    --------
    >>> subtract_passages(np.array([[0, 0], [1, 0]]), np.array([[0, 0], [1, 0], [1, 1]])).tolist()
    [0.5, -0.5, 0.0]
    """
    if not original[-1].any():
        return np.full(original.shape[1] + 1, np.nan)
    size = min(len(answer), len(original)) - 1
    return _passage_shares(answer, size) - _passage_shares(original, size)


def _passage_shares(upto: np.ndarray, size: int) -> np.ndarray:
    """Return the mean share of each group in a text's passages, and that of empty passages."""
    words = upto[size:] - upto[: len(upto) - size]
    total = words.sum(axis=1)
    mask = total > 0
    shares = np.full(words.shape[1], np.nan)
    if mask.any():
        shares = (words[mask] / total[mask, None]).mean(axis=0)
    return np.append(shares, 1 - mask.mean())


# --- distances of texts by their sentences ----------------------------------------------------


def _texts(read: Read, bias: str) -> replicates.Texts:
    """Return every text's sentences that have group words, in order: sentences by groups."""
    rows = _sentences(read, bias, lexicons.groups(read.lexicon, bias))
    return {text: words[:, 1:] for text, words in rows.items()}


def compare(base: np.ndarray, text: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """Return how far two texts' shares of groups differ, the second cut to a third's length.

    Parameters
    ----------
    base, text, reference
        Group words: sentences by groups, at least one word a sentence.

    Returns
    -------
    array
        One distance: the mean over all runs of sentences in a row.

    Examples
    --------
    >>> she, he = [1, 0], [0, 1]
    >>> compare(np.array([she]), np.array([she, he]), np.array([he])).tolist()
    [0.5]
    """
    size = min(len(text), len(reference))
    upto = np.insert(text.cumsum(axis=0), 0, 0, axis=0)
    runs = upto[size:] - upto[: len(upto) - size]
    d = subtract_shares(runs.T, base.sum(axis=0)[:, None])
    return np.abs(d).sum(axis=0).mean(keepdims=True) / 2


def _permute(
    answer: np.ndarray, original: np.ndarray, draws: int, rng: np.random.Generator
) -> np.ndarray:
    h, o = stats.permute_units(answer, original, n_permutations=draws, rng=rng)
    return np.abs(subtract_shares(h.T, o.T)).sum(axis=0)[:, None] / 2


#: Answers to one article are pooled, as `pooling` does.
_COLUMNS = [{"measure": "word", "instrument": "word list", "reach": 1.0}]
DISTANCE = replicates.Distance(_texts, compare, _permute, _COLUMNS, pooled=True)
