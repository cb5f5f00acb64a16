"""Words that set two bodies of text apart, without any word list: weighted log-odds.

The log-odds with an informative Dirichlet prior of Monroe, Colaresi and Quinn (2008), *Fightin'
Words*, Political Analysis 16:372-403, doi:10.1093/pan/mpn018; Cheng et al. (2023), *Marked
Personas*, ACL, find with it the words that mark a group.

>>> table = log_odds(np.array([4, 2]), np.array([1, 3]), np.array([60, 40]), prior_size=10)
>>> table["log_odds"].round(2).tolist()
[0.51, -0.51]
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.stats import norm
from sklearn.feature_extraction.text import CountVectorizer

from nbbias import stats
from nbbias.news.corpus import CELL, NEUTRAL, SIDES, Read, distinct_sentences

#: Words of two letters or more and nothing else: an apostrophe or hyphen ends a word, so that the
#: two ways of typing an apostrophe do not make two words of one.
_WORD = r"\b[^\W\d_]{2,}\b"


def log_odds(
    first: np.ndarray, second: np.ndarray, prior: np.ndarray, *, prior_size: float
) -> pd.DataFrame:
    """Compare how often two bodies of text use each word.

    Parameters
    ----------
    first, second, prior
        Counts of the same words in both bodies and in a wider body of text, of which only the
        shares are used.
    prior_size
        Weight of the prior as a number of words (the paper's alpha_0), above 0: the larger, the
        more rare words are drawn towards no difference.

    Returns
    -------
    DataFrame
        By word: `log_odds` (difference of the log odds, Eq. 15; above 0: more in the first) and `z`
        (over its standard deviation, Eq. 18, 20, 22); NaN where a body has no words, the prior does
        not have the word, or there is no other word.
    """
    if not prior_size > 0:
        raise ValueError(f"prior_size must be above 0, but is {prior_size}")
    alpha = prior_size * prior / max(prior.sum(), 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        odds = [
            (counts + alpha) / (counts.sum() + prior_size - counts - alpha)
            for counts in (first, second)
        ]
        difference = np.log(odds[0]) - np.log(odds[1])
        z = difference / np.sqrt(1 / (first + alpha) + 1 / (second + alpha))
    valid = np.isfinite(difference) & (alpha > 0) & (min(first.sum(), second.sum()) > 0)
    table = pd.DataFrame({"log_odds": difference, "z": z})
    table[~valid] = np.nan
    return table


def compare_words(
    read: Read, *, top: int = 10, prior_size: float = 500, min_texts: int = 5
) -> pd.DataFrame:
    """Find the words in a group's sentences that set a model's answers apart from the originals.

    Parameters
    ----------
    read
        What `news.annotate` returned.
    top
        Words to show, by size of z, of every cell and group.
    prior_size
        Weight of the prior (`log_odds`), whose shares are those of all texts.
    min_texts
        Texts of a comparison that must have a word: rarer ones only lengthen the list of tests.

    Returns
    -------
    DataFrame
        By `bias`, `group` and cell: `word`, `more_in` (``"answers"``, ``"originals"``),
        `n_answers` and `n_originals` (texts whose sentences of the group have the word), `log_odds`
        and `z` (above 0: more in answers), two-sided `p_value` and `p_adjusted` (Holm, over all
        words of all comparisons). Compared are the pairs with a sentence of the group on both
        sides; that these share their topics makes z smaller than it could be.
    """
    sentences = distinct_sentences(read)
    counter = CountVectorizer(token_pattern=_WORD, binary=True)
    whole = sentences.groupby(level="text_id").agg(" ".join)
    prior = np.asarray(counter.fit_transform(whole).sum(axis=0)).ravel()
    words = counter.get_feature_names_out()
    usable = read.pairs[read.pairs["lost"].isna()]
    about = read.sentences[read.sentences["group"] != NEUTRAL]
    parts = []
    for (bias, group), named in about.groupby(["bias", "group"], sort=False, observed=True):
        index = pd.MultiIndex.from_frame(named[sentences.index.names])
        documents = sentences.loc[index].groupby(level="text_id").agg(" ".join)
        counts = counter.transform(documents)
        for cell, pairs in usable.groupby(CELL, sort=False):
            pairs = pairs[pairs[[*SIDES.values()]].isin(documents.index).all(axis=1)]
            first, second = (
                np.asarray(counts[documents.index.get_indexer(pairs[side].unique())].sum(axis=0))
                for side in SIDES.values()
            )
            table = log_odds(first.ravel(), second.ravel(), prior, prior_size=prior_size)
            table = table.assign(word=words, n_answers=first.ravel(), n_originals=second.ravel())
            table = table[table["n_answers"] + table["n_originals"] >= min_texts]
            key = {"bias": bias, "group": group, **dict(zip(CELL, cell, strict=True))}
            parts.append(
                table.dropna().assign(**key, p_value=2 * norm.sf(table["z"].abs().dropna()))
            )
    columns = ["bias", "group", *CELL, "word", "more_in", "n_answers", "n_originals", "log_odds"]
    columns += ["z", "p_value", "p_adjusted"]
    if not parts:
        return pd.DataFrame(columns=columns)
    tested = stats.adjust(pd.concat(parts, ignore_index=True))
    tested["more_in"] = np.where(tested["z"] > 0, "answers", "originals")
    tested = tested.sort_values("z", key=np.abs, ascending=False, kind="stable")
    return tested.groupby(["bias", "group", *CELL], sort=False).head(top).sort_index()[columns]
