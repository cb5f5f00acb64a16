"""gensim's LdaModel, compiled: the same random numbers and the same steps in a twelfth of the time.

gensim infers one text after the other over all topics. Here the texts of a chunk are inferred in
one compiled loop, on threads. A topic whose exp(E[log θ]) falls below 1e-19 adds less to a text's
γ than float32 can tell from the prior: it is dropped for this text, of 250 topics most are after
a few steps. What differs from gensim is float32 rounding. Priors are those given, never learned.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import gensim.models
import numba
import numpy as np
from gensim.matutils import Sparse2Corpus

from nbbias.tables import count_threads, map_threads

#: Below it exp(E[log θ]) and exp(E[log β]) add nothing in float32.
_LEAST = np.float32(1e-19)
#: A factor of statistics below it is applied to them, or they would grow beyond float32.
_LEAST_SCALE = 1e-6
_EPSILON = np.float32(np.finfo(np.float32).eps)

#: Topics are dropped when at most this share of them is left.
_MOST_LEFT = 0.8

#: Words of texts, how often each stands there, and where each text begins.
Bags = tuple[np.ndarray, np.ndarray, np.ndarray]


class LdaModel(gensim.models.LdaModel):
    """`gensim.models.LdaModel`, which trains on and infers from a `Sparse2Corpus`, compiled."""

    expElogbeta: np.ndarray  # noqa: N815  (gensim's name)

    def update(self, corpus: Sparse2Corpus, *args: Any, **kwargs: Any) -> None:
        """Train as gensim does, by the settings of the model alone.

        A chunk touches its own words only: the statistics of all others fade by one factor,
        `scale`, so that the time does not grow with the vocabulary.
        """
        size = min(len(corpus), self.chunksize)
        chunks = [_chunk(corpus, at, at + size) for at in range(0, len(corpus), size)]
        eta = np.broadcast_to(self.eta, self.state.sstats.shape).T
        prior = eta.sum(axis=0, dtype=float)
        # gensim leaves the prior out of its random start.
        statistics, scale = np.ascontiguousarray(self.state.sstats.T - eta), 1.0
        total = prior + statistics.sum(axis=0, dtype=float)
        for number in range(self.passes):
            for words, bags in chunks:
                texts = len(bags[2]) - 1
                weights = _flush(_exp_psi_of(eta[words] + scale * statistics[words]))
                weights = _flush(weights / _exp_psi_of(total))
                gamma = self._start(texts)
                theta, ratio = np.empty_like(gamma), np.empty_like(bags[1])
                self._infer(bags, weights, gamma, theta, ratio)
                collected = np.zeros_like(weights)
                _collect(*bags, theta, ratio, collected)
                rho = pow(self.offset + number + self.num_updates / size, -self.decay)
                collected *= weights * (rho * len(corpus) / texts)
                total = prior + (total - prior) * (1 - rho) + collected.sum(axis=0)
                scale *= 1 - rho
                if scale < _LEAST_SCALE:
                    statistics, scale = statistics * np.float32(scale), 1.0
                statistics[words] += collected / scale
                if self.num_topics > 5:  # gensim draws the topics that it logs
                    self.random_state.rand(self.num_topics)
                self.num_updates += 0 if number else texts
        self.state.sstats = (statistics * np.float32(scale)).T
        self.state.numdocs += len(corpus)
        self.sync_state()

    def inference(
        self, chunk: Sparse2Corpus, collect_sstats: bool = False
    ) -> tuple[np.ndarray, Any]:
        """Infer the texts' γ, as gensim does."""
        if collect_sstats or not isinstance(chunk, Sparse2Corpus):
            return super().inference(chunk, collect_sstats)
        words, bags = _chunk(chunk, 0, len(chunk))
        gamma = self._start(len(chunk))
        none = np.empty((0, 0), np.float32), np.empty(0, np.float32)
        self._infer(bags, _flush(self.expElogbeta[:, words].T), gamma, *none)
        return gamma, None

    def _start(self, texts: int) -> np.ndarray:
        drawn = self.random_state.gamma(100.0, 1.0 / 100.0, (texts, self.num_topics))
        return drawn.astype(np.float32, copy=False)

    def _infer(
        self, bags: Bags, weights: np.ndarray, gamma: np.ndarray, theta: Any, ratio: Any
    ) -> None:
        settings = (self.iterations, np.float32(self.gamma_threshold))

        def infer(first: int, end: int) -> None:
            _infer(bags, first, end, weights, self.alpha, gamma, theta, ratio, settings)

        parts = min(len(gamma), 4 * count_threads())  # texts are of different lengths
        edges = np.linspace(0, len(gamma), parts + 1).astype(int).tolist()
        map_threads(lambda span: infer(*span), list(pairwise(edges)))


def _chunk(corpus: Sparse2Corpus, first: int, end: int) -> tuple[np.ndarray, Bags]:
    """Return the distinct words of some texts, and their bags of these words by place."""
    part = corpus.sparse[:, first:end]
    words, places = np.unique(part.indices, return_inverse=True)
    counts, starts = part.data.astype(np.float32), part.indptr.astype(np.int64)
    return words, (places.astype(np.int32), counts, starts)


def _flush(weights: np.ndarray) -> np.ndarray:
    return np.where(weights < _LEAST, np.float32(0), weights).astype(np.float32, order="C")


# --- compiled ---------------------------------------------------------------------------------

_compile = numba.njit(cache=True, nogil=True, fastmath=True, error_model="numpy")


@_compile
def _exp_psi(x: Any) -> Any:
    """Return exp(ψ(x)) of a positive number in float32; below 1e-30 it is 0.

    ψ(x) = ψ(x + 6) - Σ 1 / (x + i), and exp(ψ(z + ½)) = z + 1/(24 z) - …
    """
    f = np.float32
    x = f(x)
    fall = f(1) / x + (f(2) * x + f(3)) / ((x + f(1)) * (x + f(2)))
    fall += (f(2) * x + f(7)) / ((x + f(3)) * (x + f(4))) + f(1) / (x + f(5))
    z = x + f(5.5)
    w = f(1) / z
    series = z + w * (f(1 / 24) + w * w * (f(-37 / 5760) + w * w * f(10313 / 2903040)))
    return f(math.exp(-min(fall, f(80)))) * series


def _exp_psi_of(values: np.ndarray) -> np.ndarray:
    array = np.array(values, np.float32, order="C")
    _exp_psi_each(array.ravel())
    return array


@_compile
def _exp_psi_each(values: Any) -> None:
    for i in range(len(values)):
        values[i] = _exp_psi(values[i])


@_compile
def _infer(
    bags: Any,
    first: int,
    end: int,
    weights: Any,
    alpha: Any,
    gamma: Any,
    thetas: Any,
    ratios: Any,
    settings: Any,
) -> None:
    """Infer the γ of texts; with `thetas`, write each text's exp(E[log θ]) and words' ratios."""
    (words, counts, starts), (iterations, threshold) = bags, settings
    zero, topics = np.float32(0), len(alpha)
    longest = 1
    for d in range(first, end):
        longest = max(longest, starts[d + 1] - starts[d])
    rows = np.empty((longest, topics), np.float32)  # the weights of the topics that are left
    ratio, left = np.empty(longest, np.float32), np.empty(topics, np.int64)
    prior, now = np.empty(topics, np.float32), np.empty(topics, np.float32)
    theta, new = np.empty(topics, np.float32), np.empty(topics, np.float32)
    for d in range(first, end):
        start, length = starts[d], starts[d + 1] - starts[d]
        n, resting, change, total = topics, zero, zero, zero
        for k in range(topics):
            left[k], prior[k], now[k] = k, alpha[k], gamma[d, k]
            total += now[k]
        for i in range(length):
            rows[i] = weights[words[start + i]]
        for step in range(iterations + 1):
            scale, n_left = np.float32(1) / _exp_psi(total), 0
            for k in range(n):
                value = _exp_psi(now[k]) * scale
                theta[k] = value if value >= _LEAST else zero
                n_left += value >= _LEAST
            if step == iterations or (step and change < threshold * topics):
                break
            change = zero
            if n_left <= _MOST_LEFT * n:  # the others have come to rest at their prior
                at = 0
                for k in range(n):
                    if theta[k] == zero:
                        gamma[d, left[k]] = prior[k]
                        change += abs(now[k] - prior[k])
                        resting += prior[k]
                    else:
                        for i in range(length):
                            rows[i, at] = rows[i, k]
                        left[at], prior[at] = left[k], prior[k]
                        now[at], theta[at] = now[k], theta[k]
                        at += 1
                n = n_left
            _weigh_words(theta, n, counts[start : start + length], rows, ratio)
            new[:n] = zero
            for i in range(length):
                for k in range(n):
                    new[k] += ratio[i] * rows[i, k]
            total = resting
            for k in range(n):
                value = prior[k] + theta[k] * new[k]
                change += abs(value - now[k])
                now[k] = value
                total += value
        for k in range(n):
            gamma[d, left[k]] = now[k]
        if len(thetas):
            thetas[d] = zero
            for k in range(n):
                thetas[d, left[k]] = theta[k]
            _weigh_words(
                theta, n, counts[start : start + length], rows, ratios[start : start + length]
            )


@_compile
def _weigh_words(theta: Any, n: int, count: Any, rows: Any, ratio: Any) -> None:
    """Write how often each word stands in a text, over how probable its topics make it."""
    for i in range(len(count)):
        expected, row = _EPSILON, rows[i]
        for k in range(n):
            expected += theta[k] * row[k]
        ratio[i] = count[i] / expected


@_compile
def _collect(words: Any, _: Any, starts: Any, theta: Any, ratio: Any, collected: Any) -> None:
    """Add up over texts what each says of its words, by topic."""
    for d in range(len(starts) - 1):
        topics = np.flatnonzero(theta[d])
        for at in range(starts[d], starts[d + 1]):
            row = collected[words[at]]
            for k in topics:
                row[k] += ratio[at] * theta[d, k]
