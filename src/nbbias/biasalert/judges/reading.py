"""What the quick judge says of a text, by what it has learnt: words and numbers.

scikit-learn fits the judge (`judges.classifier`) and would say the same, but takes longer to load
than hundreds of texts take to judge.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from nbbias.biasalert import grams

#: How near two vectors are: exp(-GAMMA d²) of their distance d.
GAMMA = 1.5

#: What a vector counts beside the words and pieces of a text, in the classifier that reads both.
VECTOR = 1.5

Learnt = Mapping[str, Any]


def scores(learnt: Sequence[Learnt], texts: Sequence[str], vectors: np.ndarray) -> np.ndarray:
    """Return what the parts that read texts say: texts by 2, log-odds that a text is biased.

    Parameters
    ----------
    learnt
        What `classifier.Fitted` holds: of the words counted, the linear and the kernel classifier.
    texts, vectors
        Texts, and their embeddings.
    """
    counted, linear, kernel = learnt[:3]
    weights, at = linear["coef_"][0], 0
    own = np.full(len(texts), float(linear["intercept_"][0]))
    for name, read in (("words", grams.words), ("characters", grams.pieces)):
        part = counted[name]
        size = len(part["idf_"])
        own += [_sum(read(text), part, weights[at : at + size]) for text in texts]
        at += size
    own += VECTOR * (vectors @ weights[at:])
    return np.column_stack([own, near_odds(kernel, vectors)])


def _sum(found: Iterable[str], part: Learnt, weights: np.ndarray) -> float:
    """Return the weights of a text's features, each by the log of its number and its rarity."""
    places = part["vocabulary_"]
    counts = Counter(places[one] for one in found if one in places)
    if not counts:
        return 0.0
    at = np.fromiter(counts, int)
    values = (1 + np.log(np.fromiter(counts.values(), float))) * part["idf_"][at]
    return float(values @ weights[at] / np.linalg.norm(values))


def near_odds(kernel: Learnt, vectors: np.ndarray) -> np.ndarray:
    """Return what the kernel classifier says, as log-odds: by the landmarks that are near."""
    near = nearness(vectors, kernel["landmarks"])
    return near @ kernel["coefficients"] + kernel["intercept"][0]


def nearness(vectors: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return how near vectors are to others: from 0 to 1, the same.

    Examples
    --------
    >>> nearness(np.array([[0.0, 1.0]]), np.array([[0.0, 1.0], [1.0, 1.0]])).round(4).tolist()
    [[1.0, 0.2231]]
    """
    one, two = np.asarray(vectors, dtype=float), np.asarray(others, dtype=float)
    # In place: of thousands of texts these are the largest numbers that there are.
    apart = one @ (-2 * two.T)
    apart += np.square(one).sum(axis=1)[:, None]
    apart += np.square(two).sum(axis=1)
    np.maximum(apart, 0, out=apart)
    apart *= -GAMMA
    return np.exp(apart, out=apart)


def probability(learnt: Learnt, weighed: np.ndarray) -> np.ndarray:
    """Return the calibrated probability that a text is biased.

    Parameters
    ----------
    learnt
        What the last part has learnt, which weighs the others' `scores` and the evidence.
    weighed
        Both as numbers, texts by features.
    """
    scaled, last = learnt["standardscaler"], learnt["logisticregression"]
    odds = ((weighed - scaled["mean_"]) / scaled["scale_"]) @ last["coef_"][0]
    return 1 / (1 + np.exp(-(odds + last["intercept_"][0])))
