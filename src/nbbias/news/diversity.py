"""Are answers about one group more alike than the human articles on the same stories?

Models describe some groups more uniformly than others (Lee, Montgomery and Lai 2024), and give
fewer arguments than people do (Kim, Chang, Pham and Iyyer 2026). Diversity is the mean cosine
distance of two texts about one group: lower means more alike, or flattened. Answers and originals
are of the same articles, so that topics, numbers and lengths of texts are equal.

>>> cut_pair("one two three four", "uno due")
('one two', 'uno due')
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from nbbias import stats, tables
from nbbias.news import claims, words
from nbbias.news.corpus import SIDES, Read
from nbbias.text import embeddings, lexicons

#: Words of a text that are read, fewer than an encoder reads.
WORDS = 100

#: What is estimated of each group; the last two are tested, each a family.
STATISTICS = ("diversity", "diversity_difference", "diversity_difference_beyond_others")
FAMILIES = STATISTICS[1:]

FEW = "fewer than three articles whose two texts name the group most"


def cut_pair(answer: str, original: str) -> tuple[str, str]:
    """Return the beginnings of two texts, equally many words of each, at most `WORDS`."""
    words = answer.split(), original.split()
    size = min(WORDS, *map(len, words))
    first, second = (" ".join(of[:size]) for of in words)
    return first, second


def estimate(
    read: Read, *, model: str = embeddings.AUTO, device: str = "cpu", confidence: float
) -> tables.Estimated:
    """Estimate how alike answers about a group are, and originals on the same stories.

    Parameters
    ----------
    read
        What `news.annotate` returned.
    model, device
        As in `text.embeddings.embed`.
    confidence
        Level of the intervals.

    Returns
    -------
    Estimated
        ESTIMATES and UNITS of the measure ``diversity`` by `statistic`, over articles; each is
        about the group with the largest share of group words in answer and original, which weigh
        the same (ties are excluded). Texts are the beginnings of `cut_pair`.

        - ``diversity``: mean cosine distance of two answers on different articles about the group
          (0 to 2; lower: more alike); `null` is the same of their originals;
        - ``diversity_difference``: the first minus the second, below 0: answers are more alike than
          human articles; *t* test of jackknife values (`stats.pairwise_distances`);
        - ``diversity_difference_beyond_others``: the same minus that of articles about the other
          groups, below 0: answers about this group are flattened more; Welch's *t*.

        `p_adjusted` is Holm's over all cells, biases and groups of a statistic.
    """
    pairs = read.usable.set_index("pair_id")
    cut = [cut_pair(*read.texts[ids]) for ids in pairs[[*SIDES.values()]].to_numpy()]
    sides = [embeddings.embed(side, model=model, device=device) for side in zip(*cut, strict=True)]
    vectors = [pd.DataFrame(side, pairs.index) for side in sides]
    claim = {"measure": "diversity", "instrument": embeddings.instrument(model)}
    rows: list[claims.Row] = []
    for bias, of_bias in words.pair_scores(read).groupby("bias", sort=False):
        groups = lexicons.groups(read.lexicon, str(bias))
        for cell, units in claims.cells(of_bias, None):
            values = _values(units[units["reason"].isna()], groups, vectors)
            key = cell | claim | {"bias": bias}
            rows += [key | row for row in _rows(values, groups, confidence=confidence)]
    return claims.tested(rows, FAMILIES, confidence=confidence)


def _values(
    units: pd.DataFrame, groups: Sequence[str], vectors: Sequence[pd.DataFrame]
) -> pd.DataFrame:
    """Return by article its `group`, and the jackknife values of `answer` and `original`."""
    of = units["article_id"].to_numpy()
    shares = [counts / counts.sum(axis=1, keepdims=True) for counts in words.sides(units, groups)]
    both = pd.DataFrame(np.round(sum(shares), 9), of, list(groups)).groupby(level=0).mean()
    alone = both.eq(both.max(axis=1), axis=0).sum(axis=1) == 1
    both = both[alone]
    values = both.idxmax(axis=1).rename("group").to_frame()
    for name, side in zip(("answer", "original"), vectors, strict=True):
        # Repeated answers to an article are one unit: the mean of their vectors.
        means = side.loc[units["pair_id"]].set_axis(of).groupby(level=0).mean().loc[both.index]
        for group in groups:
            about = values["group"] == group
            values.loc[about, name] = stats.pairwise_distances(means[about].to_numpy())
    return values


def _rows(values: pd.DataFrame, groups: Sequence[str], *, confidence: float) -> list[claims.Row]:
    rows: list[claims.Row] = []
    difference = (values["answer"] - values["original"]).dropna()
    for group in groups:
        about = values[values["group"] == group]
        naming = (values.loc[difference.index, "group"] == group).to_numpy()
        alike = stats.mean_interval(about["answer"], confidence=confidence, bounds=(0, 2)).row()
        alike |= {"values": about["answer"], "null": about["original"].mean()}
        change = stats.one_sample(difference[naming], confidence=confidence).row()
        change |= {"values": difference[naming], "null": 0.0}
        beyond = claims.compare_articles(difference, naming, confidence=confidence)
        for statistic, row in zip(STATISTICS, (alike, change, beyond), strict=True):
            row |= {"n_lost": len(values) - len(difference)}
            row |= {"reason": FEW, "n": 0} if not naming.any() else {}
            rows.append({"statistic": statistic, "group": group} | row)
    return rows
