"""Which words set two bodies of text apart, without any word list.

The weighted log-odds with an informative Dirichlet prior of Monroe, Colaresi and
Quinn (2008), *Fightin' Words*, Political Analysis 16:372-403; Cheng et al. (2023), *Marked
Personas*, ACL, use it to find the words that mark a group ("Marked Words").

>>> import pandas as pd
>>> from nbbias import news
>>> counts = [pd.Series(own) for own in ({"a": 4, "b": 2}, {"a": 1, "b": 3}, {"a": 60, "b": 40})]
>>> table = news.words_apart.log_odds(*counts, prior_size=10)
>>> table.set_index("word")["log_odds"].round(2).to_dict()
{'a': 0.51, 'b': -0.51}
"""

from __future__ import annotations

import re
from array import array
from collections import defaultdict
from itertools import count
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.stats import norm

from nbbias import stats
from nbbias.news.corpus import CELL, NEUTRAL, SIDES, Read

#: Words of two letters or more and nothing else: an apostrophe or hyphen ends a word, so
#: that the two ways of typing an apostrophe do not make two words of one.
_WORD = r"\b[^\W\d_]{2,}\b"

_COLUMNS = [
    *("bias", "group", *CELL, "word", "more_in", "n_answers", "n_originals", "log_odds", "z"),
    *("dispersion", "p_value", "p_adjusted", "z_needed", "pairs", "words", "words_apart", "reason"),
]


def log_odds(
    first_counts: pd.Series, second_counts: pd.Series, prior_counts: pd.Series, *, prior_size: float
) -> pd.DataFrame:
    """Compare how often two bodies of text use each word.

    Parameters
    ----------
    first_counts, second_counts
        Counts by word.
    prior_counts
        Counts by word in a wider body of text; only their shares are used.
    prior_size
        The weight of the prior, as a number of words (the paper's alpha_0), above 0. The prior
        expects `prior_size` times a word's share; the larger it is, the more rare words are
        drawn towards no difference.

    Returns
    -------
    DataFrame
        One row per word that either body has, by word: `word`, `n_first`, `n_second`, `log_odds`
        (difference of the log odds, Eq. 15; above 0: more in the first), `z` (over its
        standard deviation, Eq. 18, 20, 22) and `reason`, why these are NaN.

    Raises
    ------
    ValueError
        `prior_size` is not above 0.

    References
    ----------
    Monroe, Colaresi and Quinn (2008). doi:10.1093/pan/mpn018
    """
    if not prior_size > 0:
        raise ValueError(f"prior_size must be above 0, but is {prior_size}")
    words = first_counts[first_counts > 0].index.union(second_counts[second_counts > 0].index)
    y1, y2, prior = (
        counts.reindex(words).fillna(0).to_numpy(float)
        for counts in (first_counts, second_counts, prior_counts)
    )
    alpha = prior_size * prior / max(float(prior_counts.sum()), 1.0)
    return _odds(words, y1, y2, alpha, prior_size)


def _odds(
    words: pd.Index, y1: np.ndarray, y2: np.ndarray, alpha: np.ndarray, prior_size: float
) -> pd.DataFrame:
    """Return the table of `log_odds`, of counts of the same words; of the prior, `alpha`."""
    n1, n2 = float(y1.sum()), float(y2.sum())
    reason = pd.Series(pd.NA, index=range(len(words)), dtype="str")
    reason[alpha == 0] = "the prior does not know the word"
    if min(n1, n2) == 0:
        reason[:] = "one side has no words"
    # The odds of a word that is all there is have no bound: NaN, not infinity.
    rest1, rest2 = n1 + prior_size - y1 - alpha, n2 + prior_size - y2 - alpha
    reason[(np.minimum(rest1, rest2) <= 0) & reason.isna()] = "there is no other word"
    measured = reason.isna().to_numpy()
    delta = np.full(len(words), np.nan)
    variance = np.full(len(words), np.nan)
    a, b, al = y1[measured], y2[measured], alpha[measured]
    delta[measured] = np.log((a + al) / rest1[measured]) - np.log((b + al) / rest2[measured])
    variance[measured] = 1 / (a + al) + 1 / (b + al)
    return pd.DataFrame(
        {
            "word": words.astype("str"),
            "n_first": y1.astype(int),
            "n_second": y2.astype(int),
            "log_odds": delta,
            "z": delta / np.sqrt(variance),
            "reason": reason,
        }
    )


def words_apart(
    read: Read,
    *,
    top: int = 10,
    prior_size: float = 500,
    min_texts: int = 5,
    confidence: float = 0.95,
) -> pd.DataFrame:
    """Find the words in a group's sentences that set a model's answers apart from the originals.

    Parameters
    ----------
    read
        What `news.annotate` returned.
    top
        The most words to show, by size of z, of every cell and group.
    prior_size
        The weight of the prior (`log_odds`); its shares are those of all texts of the table.
    min_texts
        A word must be in as many texts of a comparison, both sides together. Rarer ones cannot
        stand out and would only lengthen the list of tests.
    confidence
        Level of the test of one word: 0.95 asks for a z beyond 1.96 on either side.

    Returns
    -------
    DataFrame
        For every `bias`, `group` and cell the words beyond that z, largest first: `word`, `more_in`
        (``"answers"``, ``"originals"``), `n_answers` and `n_originals` (occurrences), `log_odds`
        and `z` (above 0: more in answers), two-sided `p_value`, `p_adjusted` (Holm, over all words
        of all comparisons of the table) and `z_needed` (Bonferroni over the same: a z beyond it
        cannot well be put down to the number of tests).

        `dispersion`: how much more a word varies from text to text than independent draws would
        (Pearson, 1 or more). Words come in bursts: an article on one wedding says "wedding" ten
        times, and is one witness, not ten. So z is divided by the root of `dispersion`.

        `pairs`: compared, those whose answer and original both have a sentence of the group, so
        that both sides are about the same articles; `words`: tested; `words_apart`: beyond the
        first z, of which `top` are shown. Where there are none, one row says so in `reason`.

    Notes
    -----
    An original that serves two pairs of a cell counts once. Both sides are taken as independent;
    that they share their topics makes z smaller than it could be.
    """
    words, prior, counts, rows = _count_sentences(read)
    alpha = prior_size * prior / max(float(prior.sum()), 1.0)
    texts = read.texts.index
    usable = read.pairs[read.pairs["lost"].isna()]
    usable = usable[CELL].assign(
        **{side: texts.get_indexer(usable[column]) for side, column in SIDES.items()}
    )
    cells = dict(iter(usable.groupby(CELL)))
    tables: list[pd.DataFrame] = []
    compared: list[dict[str, Any]] = []
    grouped = rows.groupby(["bias", "group"], sort=False, observed=True)
    for (bias, group), own in grouped:
        of_text = _by_text(own, counts, len(texts))
        for cell, _ in read.pairs.groupby(CELL, sort=False):
            here = cells.get(cell, usable.iloc[:0])
            here = here[here["h"].isin(own["text"]) & here["o"].isin(own["text"])]
            sides = [of_text[here[side].unique()] for side in SIDES]
            tested = _compare(sides, words, alpha, prior_size=prior_size, min_texts=min_texts)
            tables.append(tested.assign(comparison=len(compared)))
            key = {"bias": bias, "group": group} | dict(zip(CELL, cell, strict=True))
            compared.append(key | {"pairs": len(here), "words": len(tested)})
    return _shown(compared, tables, top=top, confidence=confidence)


def _count_sentences(read: Read) -> tuple[pd.Index, np.ndarray, sparse.csr_array, pd.DataFrame]:
    """Count the words of each sentence once, of however many biases it has a group.

    Returns the words, how often they stand in all texts, the counts of sentences by words (of
    those without a group all 0), and which of these (`said`) stands in which text (`text`), by
    `bias` and `group`.
    """
    rows = read.sentences
    text = read.texts.index.get_indexer(rows["text_id"])
    number = rows["sentence_id"].to_numpy(np.int64)
    number = text * (1 + number.max(initial=0)) + number
    _, first, said = np.unique(number, return_index=True, return_inverse=True)
    found, sizes, words = _words(read.texts, text[first], rows.iloc[first])
    prior = np.bincount(found, minlength=len(words))
    rows = rows[["bias", "group"]].assign(said=said, text=text)[rows["group"] != NEUTRAL]
    kept = np.bincount(rows["said"], minlength=len(sizes)) > 0
    found, ends = found[np.repeat(kept, sizes)], np.cumsum(np.where(kept, sizes, 0))
    parts = (np.ones(len(found), dtype=np.int32), found, np.concatenate([[0], ends]))
    return words, prior, sparse.csr_array(parts, (len(sizes), len(words))), rows


def _words(
    texts: pd.Series, text: np.ndarray, places: pd.DataFrame
) -> tuple[np.ndarray, np.ndarray, pd.Index]:
    """Return the words of sentences end to end, by number, how many each has, and what they are."""
    numbers: defaultdict[str, int] = defaultdict(count().__next__)
    found, sizes, find = array("i"), array("i"), re.compile(_WORD).findall
    whole, before = "", -1
    for one, start, end in zip(text.tolist(), places["start"], places["end"], strict=True):
        if one != before:
            whole, before = texts.iloc[one], one
        own = find(whole[start:end].lower())
        found.extend(map(numbers.__getitem__, own))
        sizes.append(len(own))
    words = pd.Index(list(numbers), dtype="str")
    order = words.argsort()
    ranks = np.empty(len(order), dtype=np.int32)
    ranks[order] = np.arange(len(order))
    return ranks[np.asarray(found)], np.asarray(sizes), words[order]


def _by_text(rows: pd.DataFrame, counts: sparse.csr_array, n_texts: int) -> sparse.csr_array:
    """Add up the counts of some sentences by text: texts by words."""
    shape = (n_texts, counts.shape[0])
    has = sparse.csr_array((np.ones(len(rows), dtype=int), (rows["text"], rows["said"])), shape)
    return has @ counts


def _compare(
    sides: list[sparse.csr_array],
    words: pd.Index,
    alpha: np.ndarray,
    *,
    prior_size: float,
    min_texts: int,
) -> pd.DataFrame:
    """Compare two sides, each texts by words; return the words that are in enough texts."""
    first, second = (side.sum(axis=0).astype(float) for side in sides)
    spread = sum((side > 0).sum(axis=0) for side in sides)
    enough = (spread >= min_texts) & (first + second > 0)
    found = _odds(words, first, second, alpha, prior_size)[enough]
    found = found.assign(dispersion=_dispersion(sides)[enough])
    found["z"] /= np.sqrt(found["dispersion"])
    return found[found["z"].notna()]


def _dispersion(sides: list[sparse.csr_array]) -> np.ndarray:
    """Pearson's chi-squared over its degrees of freedom, of every word over texts; at least 1."""
    chi2, df = np.zeros(sides[0].shape[1]), 0
    for side in sides:
        length, count = side.sum(axis=1), side.sum(axis=0)
        share = count / max(count.sum(), 1)
        # Sum over texts of (count - length * share)^2 / (length * share), multiplied out.
        squares = side.power(2).multiply(1 / np.maximum(length, 1)[:, None]).sum(axis=0)
        chi2 += np.divide(squares, share, out=np.zeros(len(share)), where=share > 0) - count
        df += max(side.shape[0] - 1, 0)
    return np.maximum(chi2 / max(df, 1), 1.0)


def _shown(
    compared: list[dict[str, Any]], tables: list[pd.DataFrame], *, top: int, confidence: float
) -> pd.DataFrame:
    """Correct the whole family of tests, then keep what stands out of each comparison."""
    if not compared:
        return pd.DataFrame(columns=_COLUMNS)
    tested = pd.concat(tables, ignore_index=True)
    tested = tested.rename(columns={"n_first": "n_answers", "n_second": "n_originals"})
    tested["p_value"] = 2 * norm.sf(tested["z"].abs())
    tested = stats.adjust(tested)
    tested["more_in"] = np.where(tested["z"] > 0, "answers", "originals")
    beyond = tested[tested["z"].abs() > norm.ppf((1 + confidence) / 2)].drop(columns="reason")
    beyond = beyond.sort_values("z", key=np.abs, ascending=False, kind="stable")
    table = pd.DataFrame(compared).rename_axis("comparison").reset_index()
    apart = beyond["comparison"].value_counts()
    table["words_apart"] = table["comparison"].map(apart).fillna(0).astype(int)
    table["z_needed"] = norm.isf((1 - confidence) / 2 / len(tested)) if len(tested) else np.nan
    table = table.merge(beyond.groupby("comparison").head(top), on="comparison", how="left")
    table["reason"] = pd.Series(pd.NA, index=table.index, dtype="str")
    empty = table["word"].isna()
    table.loc[empty, "reason"] = "no word stands out"
    table.loc[empty & (table["words"] == 0), "reason"] = "no word is in enough texts"
    nobody = "no pair has a sentence of the group on both sides"
    table.loc[empty & (table["pairs"] == 0), "reason"] = nobody
    return table[_COLUMNS]
