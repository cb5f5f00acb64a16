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
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.stats import norm
from sklearn.feature_extraction.text import CountVectorizer

from nbbias import stats
from nbbias.news.corpus import CELL, NEUTRAL, SENTENCE, SIDES, Read, said

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
    n1, n2 = float(y1.sum()), float(y2.sum())
    reason = pd.Series(pd.NA, index=range(len(words)), dtype="str")
    reason[prior == 0] = "the prior does not know the word"
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
    return pd.DataFrame({
        "word": words.astype("str"), "n_first": y1.astype(int), "n_second": y2.astype(int),
        "log_odds": delta, "z": delta / np.sqrt(variance), "reason": reason,
    })  # fmt: skip


def words_apart(
    read: Read, *, top: int = 10, prior_size: float = 500, min_texts: int = 5,
    confidence: float = 0.95,
) -> pd.DataFrame:  # fmt: skip
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
    words, counts, rows = _count_sentences(read)
    texts = read.texts.index
    usable = read.pairs[read.pairs["lost"].isna()]
    usable = usable[CELL].assign(
        **{side: texts.get_indexer(usable[column]) for side, column in SIDES.items()}
    )
    cells = dict(iter(usable.groupby(CELL)))
    distinct = rows.drop_duplicates(["text", "start", "end"])
    prior = pd.Series(_by_text(distinct, counts, len(texts)).sum(axis=0), index=words)
    tables: list[pd.DataFrame] = []
    compared: list[dict[str, Any]] = []
    for (bias, group), own in rows[rows["group"] != NEUTRAL].groupby(["bias", "group"], sort=False):
        of_text = _by_text(own, counts, len(texts))
        for cell, _ in read.pairs.groupby(CELL, sort=False):
            here = cells.get(cell, usable.iloc[:0])
            here = here[here["h"].isin(own["text"]) & here["o"].isin(own["text"])]
            sides = [of_text[here[side].unique()] for side in SIDES]
            tested = _compare(sides, words, prior, prior_size=prior_size, min_texts=min_texts)
            tables.append(tested.assign(comparison=len(compared)))
            key = {"bias": bias, "group": group} | dict(zip(CELL, cell, strict=True))
            compared.append(key | {"pairs": len(here), "words": len(tested)})
    return _shown(compared, tables, top=top, confidence=confidence)


def _count_sentences(read: Read) -> tuple[pd.Index, sparse.csr_array, pd.DataFrame]:
    """Count the words of each distinct sentence once, however many texts and biases have it.

    Returns the words, the counts (distinct sentences by words), and which of these (`said`) stands
    in which text (`text`), by `bias` and `group`.
    """
    words = said(read)
    numbers, distinct = pd.factorize(words)
    of_sentence = pd.Series(numbers, words.index, name="said")
    rows = read.sentences[[*SENTENCE, "bias", "group", "start", "end"]].join(
        of_sentence, on=SENTENCE
    )
    rows["text"] = read.texts.index.get_indexer(rows["text_id"])
    if not any(re.search(_WORD, one) for one in distinct):
        return pd.Index([], dtype="str"), sparse.csr_array((len(distinct), 0), dtype=int), rows
    counter = CountVectorizer(lowercase=True, token_pattern=_WORD)
    counts = sparse.csr_array(counter.fit_transform(distinct))
    return pd.Index(counter.get_feature_names_out(), dtype="str"), counts, rows


def _by_text(rows: pd.DataFrame, counts: sparse.csr_array, n_texts: int) -> sparse.csr_array:
    """Add up the counts of some sentences by text: texts by words."""
    shape = (n_texts, counts.shape[0])
    has = sparse.csr_array((np.ones(len(rows), dtype=int), (rows["text"], rows["said"])), shape)
    return has @ counts


def _compare(
    sides: list[sparse.csr_array], words: pd.Index, prior: pd.Series,
    *, prior_size: float, min_texts: int,
) -> pd.DataFrame:  # fmt: skip
    """Compare two sides, each texts by words; return the words that are in enough texts."""
    first, second = (pd.Series(side.sum(axis=0), index=words) for side in sides)
    found = log_odds(first, second, prior, prior_size=prior_size).set_index("word")
    spread = pd.Series(sum((side > 0).sum(axis=0) for side in sides), index=words)
    found = found[(spread[found.index] >= min_texts) & found["z"].notna()]
    dispersion = pd.Series(_dispersion(sides), index=words)[found.index]
    return found.assign(dispersion=dispersion, z=found["z"] / np.sqrt(dispersion)).reset_index()


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
