"""The plain ways: what everyone would write first, by the libraries themselves.

Each is an oracle as well: what the package finds must be equal, or as near as its row says. Texts
are split and searched, and sentences toned, by `text.plain`, `text.blob` and `text.vader`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd

# --- tone -------------------------------------------------------------------------------------


def textblob(texts: Iterable[str]) -> np.ndarray:
    """Return each text's polarity by what TextBlob's own pages name."""
    from textblob import TextBlob

    return np.array([TextBlob(text).sentiment_assessments.polarity for text in texts])


def profanity(texts: Sequence[str], *, batch: int = 32) -> np.ndarray:
    """Return each text's probability of being offensive, some texts at a time."""
    from profanity_check import predict_prob

    parts = [predict_prob(texts[i : i + batch]) for i in range(0, len(texts), batch)]
    return np.concatenate(parts)


# --- topics -----------------------------------------------------------------------------------


def bags(tokens: pd.Series, *, no_below: int = 5) -> tuple[Any, list[Any]]:
    """Return gensim's dictionary of some texts, and their bags of words."""
    from gensim.corpora import Dictionary

    dictionary = Dictionary(tokens)
    dictionary.filter_extremes(no_below=no_below, no_above=1.0, keep_n=None)
    return dictionary, [bow for bow in map(dictionary.doc2bow, tokens) if bow]


def lda(tokens: pd.Series, *, workers: int | None = None, **settings: Any) -> Any:
    """Fit topics by LdaModel, or by LdaMulticore with some workers."""
    from gensim.models import LdaModel, LdaMulticore

    dictionary, bows = bags(tokens)
    settings |= {"eval_every": None}
    if workers:
        return LdaMulticore(bows, id2word=dictionary, workers=workers, **settings)
    return LdaModel(bows, id2word=dictionary, **settings)


def same_model(topics: Any) -> Any:
    """Return gensim's own LdaModel with the topics and the fixed start of one of ours."""
    from gensim.models import LdaModel

    own = topics.model
    model = LdaModel(id2word=topics.dictionary, num_topics=own.num_topics, alpha=own.alpha)
    model.expElogbeta = np.ascontiguousarray(own.expElogbeta)
    model.random_state = own.random_state
    return model


def largest_topics(model: Any, dictionary: Any, tokens: pd.Series) -> np.ndarray:
    """Give each sentence its largest topic by `get_document_topics`; -1 without a known word."""
    found = []
    for words in tokens:
        bow = dictionary.doc2bow(words)
        shares = model.get_document_topics(bow, minimum_probability=0) if bow else [(-1, 1.0)]
        found.append(max(shares, key=lambda one: one[1])[0])
    return np.array(found)


# --- chance and models ------------------------------------------------------------------------


def expected_differences(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return what `stats.expected_differences` does, by scipy's probabilities."""
    from scipy.stats import hypergeom

    n, m = first.sum(axis=1), second.sum(axis=1)
    found = np.empty((4, *first.shape))
    known: dict[tuple[int, int, int], Any] = {}
    for pair, group in np.ndindex(*first.shape):
        key = int(n[pair]), int(m[pair]), int(first[pair, group] + second[pair, group])
        if key not in known:
            a, b, k = key
            x = np.arange(max(0, k - b), min(a, k) + 1)
            p = hypergeom.pmf(x, a + b, k, a)
            d = x / a - (k - x) / b
            down = x * b < (k - x) * a
            known[key] = p @ np.abs(d), p[down].sum(), p[down] @ d[down], p[k > x].sum()
        found[:, pair, group] = known[key]
    return found


def mixed_model(scores: pd.DataFrame, *, value: str) -> pd.DataFrame:
    """Fit a random intercept for every article by statsmodels; models against the first."""
    from statsmodels.formula.api import mixedlm

    spread = scores[value].std()
    data = pd.DataFrame({"y": scores[value] / spread, "model": scores["model"].astype(str)})
    model = mixedlm("y ~ C(model)", data, groups=scores["article_id"].astype(str))
    found = model.fit(reml=True, method="powell")
    both = {"estimate": found.fe_params * spread, "error": found.bse_fe * spread}
    return pd.DataFrame(both).reset_index(drop=True)
