"""Word-level scores: the shares of group words in an answer and its original, pair by pair."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from nbbias import contracts, lexicons, text
from nbbias.news import CELL

#: Why a pair has no word-level score, beyond what `news.pair` lost already.
NO_WORDS = {
    (False, True): "no group words in the answer",
    (True, False): "no group words in the original",
    (False, False): "no group words in either",
}


def side_texts(pairs: pd.DataFrame) -> pd.Series:
    """Return both sides' texts of the pairs that can be measured, each text once.

    Returns
    -------
    Series
        Indexed by the text itself: a text that serves several pairs is read once.
    """
    usable = pairs[pairs["lost"].isna()]
    both = pd.concat([usable["original_text"], usable["generated_text"]]).drop_duplicates()
    return pd.Series(both.to_numpy(), index=pd.Index(both.to_numpy(), name="text_id"))


def word_scores(
    pairs: pd.DataFrame, matches: pd.DataFrame, *, lexicon: pd.DataFrame
) -> pd.DataFrame:
    """Score every pair at the word level, for every bias of a lexicon.

    Parameters
    ----------
    pairs
        PAIRS of `news.pair`.
    matches
        The table of `text.annotate` over `side_texts`.
    lexicon
        The lists that were searched; each bias has M ≥ 2 groups.

    Returns
    -------
    DataFrame
        SCORES, one row per pair and bias, lost ones too: the pair's keys; counts `h_<group>`
        (answer) and `o_<group>` (original); `n` (group words of both); `score`, the Wasserstein
        distance with 0/1 ground metric (Eq. 3: total variation, in [0, 1], 0: equal shares);
        `difference_<group>` (share in the answer minus share in the original, in [-1, 1]; below
        0: a smaller share); `squared`, free of text length: sum over groups of (p - q)^2 less
        p(1-p)/(n_h-1) and q(1-q)/(n_o-1), halved, so that for two groups it is one group's squared
        difference. If words are drawn independently, its expectation is the squared distance of
        the underlying shares (so it may be negative); NaN where a side has one group word;
        and `reason`, why a score is NaN. Columns of other biases' groups are NaN.
    """
    tables = [
        _score_bias(pairs, matches, bias=bias, groups=lexicons.groups(lexicon, bias))
        for bias in lexicon["bias"].unique()
    ]
    return contracts.check(pd.concat(tables, ignore_index=True), contracts.SCORES)


def _score_bias(
    pairs: pd.DataFrame, matches: pd.DataFrame, *, bias: str, groups: Sequence[str]
) -> pd.DataFrame:
    own = matches[matches["bias"] == bias]
    counts = text.count(own, by=["text_id"], groups=groups).set_index("text_id")
    table = pairs[["pair_id", *CELL, "article_id", "sample", "lost"]].assign(bias=bias)
    for side, texts in (("h", pairs["generated_text"]), ("o", pairs["original_text"])):
        found = counts.reindex(texts).fillna(0).to_numpy(dtype=int)
        table = table.assign(**{f"{side}_{group}": found[:, i] for i, group in enumerate(groups)})
    return measure(table, groups).drop(columns="lost")


def measure(counted: pd.DataFrame, groups: Sequence[str]) -> pd.DataFrame:
    """Add what Eq. 1 to 3 make of the counts `h_<group>`, `o_<group>`; see `word_scores`."""
    h, o = sides(counted, groups)
    n_h, n_o = h.sum(axis=1), o.sum(axis=1)
    p, q = _shares(h), _shares(o)
    d = p - q
    reason = counted["lost"].copy()
    for (has_h, has_o), why in NO_WORDS.items():
        reason[reason.isna() & ((n_h > 0) == has_h) & ((n_o > 0) == has_o)] = why
    there = reason.isna().to_numpy()
    squared = ((d**2).sum(axis=1) - noise(p, n_h) - noise(q, n_o)) / 2
    return counted.assign(
        measure="word", n=n_h + n_o, score=np.where(there, np.abs(d).sum(axis=1) / 2, np.nan),
        **{f"difference_{g}": np.where(there, d[:, i], np.nan) for i, g in enumerate(groups)},
        squared=np.where(there, squared, np.nan), instrument="word list", reason=reason,
    )  # fmt: skip


def pooled(scores: pd.DataFrame, groups: Sequence[str]) -> pd.DataFrame:
    """Pool repeated answers to one article: the article is the unit, not the answer.

    The group words of all samples are counted together, as if they were one answer; a lost sample
    adds none. Without repeats the table stays as it is.
    """
    keys = [*CELL, "article_id"]
    if not scores.duplicated(keys).any():
        return scores
    counts = {f"h_{g}": "sum" for g in groups} | {f"o_{g}": "first" for g in groups}
    usable = scores.assign(lost=scores["reason"].where(~scores["reason"].isin(NO_WORDS.values())))
    # Samples that can be used come first, so that one of them stands for the article.
    first = usable.sort_values("lost", na_position="first", kind="stable")
    one = first.groupby(keys, sort=False)[["pair_id", "bias", "lost"]].first(skipna=False)
    kept = usable[usable["lost"].isna()].groupby(keys, sort=False).agg(counts)
    table = one.join(kept).fillna(dict.fromkeys(counts, 0)).reset_index()
    return measure(table, groups)


def _shares(counts: np.ndarray) -> np.ndarray:
    total = counts.sum(axis=1, keepdims=True)
    return np.divide(counts, total, out=np.full(counts.shape, np.nan), where=total > 0)


def noise(shares: np.ndarray, n: np.ndarray) -> np.ndarray:
    """Return what sampling n words adds to a squared difference: the sum of p(1-p)/(n-1)."""
    spread = (shares * (1 - shares)).sum(axis=1)
    return np.divide(spread, n - 1, out=np.full(len(n), np.nan), where=n > 1)


def sides(counted: pd.DataFrame, groups: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    h, o = (counted[[f"{side}_{g}" for g in groups]].to_numpy(dtype=int) for side in "ho")
    return h, o
