"""Topics in words: the most relevant words of each, and which topics of two fits are alike.

The module describes what `topics.fit` returned and, like `topics`, knows nothing of bias.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

from nbbias.topics import TopicModel


def words(topics: TopicModel, *, relevance_lambda: float = 0.6, top: int = 10) -> pd.DataFrame:
    """Describe topics by their most relevant words (Sievert and Shirley 2014, LDAvis).

    Parameters
    ----------
    topics
        What `topics.fit` returned.
    relevance_lambda
        Weight λ in [0, 1] of λ·log p(w|t) + (1-λ)·log(p(w|t) / p(w)): at 1 words that are
        frequent in the topic lead, at 0 those that are rare elsewhere.
    top
        Words per topic.

    Returns
    -------
    DataFrame
        `topic`, `rank` (1 is the most relevant), `word`, `relevance`, `probability` (p(w|t)).
    """
    given = topics.model.get_topics().astype(float)
    n = len(topics.dictionary)
    counts = np.array([topics.dictionary.cfs[i] for i in range(n)], dtype=float)
    lift = np.log(given) - np.log(counts / counts.sum())
    relevance = relevance_lambda * np.log(given) + (1 - relevance_lambda) * lift
    rows = [
        (topic, rank + 1, topics.dictionary[int(word)], own[word], given[topic, word])
        for topic, own in enumerate(relevance)
        for rank, word in enumerate(np.argsort(-own, kind="stable")[:top])
    ]
    return pd.DataFrame(rows, columns=["topic", "rank", "word", "relevance", "probability"])


def match(first: TopicModel, second: TopicModel) -> pd.DataFrame:
    """Match the topics of two fits one to one, at the least total distance (Hungarian method).

    Returns
    -------
    DataFrame
        `first`, `second` (topics), `distance`: Jensen-Shannon distance (the root of the
        divergence to base 2) of their words' probabilities, in [0, 1], 0: the same words alike. A
        word that one fit does not know has probability 0 there. With unequal numbers of topics
        some of the larger fit have no match and no row.
    """
    both = [_by_word(topics) for topics in (first, second)]
    vocabulary = both[0].columns.union(both[1].columns)
    p, q = (one.reindex(columns=vocabulary, fill_value=0).to_numpy() for one in both)
    # Between alike rows rounding can give the root of less than 0.
    distance = np.nan_to_num(cdist(p, q, metric="jensenshannon")) / np.sqrt(np.log(2))
    rows, columns = linear_sum_assignment(distance)
    found = {"first": rows, "second": columns, "distance": distance[rows, columns]}
    return pd.DataFrame(found)


def _by_word(topics: TopicModel) -> pd.DataFrame:
    names = [topics.dictionary[i] for i in range(len(topics.dictionary))]
    return pd.DataFrame(topics.model.get_topics().astype(float), columns=names)
