"""gensim's LdaModel, compiled: the same random numbers and the same steps in a twelfth of the time.

gensim infers one text after the other over all topics. Here the texts of a chunk are inferred in
one compiled loop, on threads. A topic whose exp(E[log θ]) falls below 1e-19 adds less to a text's
γ than float32 can tell from the prior: it is dropped for this text, of 250 topics most are after
a few steps. What differs from gensim is float32 rounding. Priors are those given, never learned.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import gensim.models
import numba
import numpy as np
from gensim.matutils import Sparse2Corpus

from nbbias.tables import count_threads, map_threads

#: Below it exp(E[log θ]) and exp(E[log β]) add nothing in float32.
_LEAST = np.float32(1e-19)
_EPSILON = np.float32(np.finfo(np.float32).eps)

#: Topics are dropped when at most this share of them is left.
_MOST_LEFT = 0.8

Bags = tuple[np.ndarray, np.ndarray, np.ndarray]


class LdaModel(gensim.models.LdaModel):
    """`gensim.models.LdaModel`, which trains on and infers from a `Sparse2Corpus`, compiled."""

    expElogbeta: np.ndarray  # noqa: N815  (gensim's name)

    def update(self, corpus: Sparse2Corpus, *args: Any, **kwargs: Any) -> None:
        """Train as gensim does, by the settings of the model alone."""
        size = min(len(corpus), self.chunksize)
        chunks = [_bags(corpus, at, at + size) for at in range(0, len(corpus), size)]
        statistics = np.ascontiguousarray(self.state.sstats.T)
        weights = _flush(self.expElogbeta.T)
        for number in range(self.passes):
            for bags in chunks:
                texts = len(bags[2]) - 1
                gamma = self._start(texts)
                theta, ratio = np.empty_like(gamma), np.empty_like(bags[1])
                self._infer(bags, weights, gamma, theta, ratio)
                rho = pow(self.offset + number + self.num_updates / size, -self.decay)
                collected = np.zeros_like(statistics)
                _collect(*bags, theta, ratio, collected)
                blend = (np.float32(1 - rho), np.float32(rho * len(corpus) / texts))
                self._maximise(statistics, collected, weights, blend)
                if self.num_topics > 5:  # gensim draws the topics that it logs
                    self.random_state.rand(self.num_topics)
                self.num_updates += 0 if number else texts
        self.state.sstats, self.state.numdocs = statistics.T, self.state.numdocs + len(corpus)
        self.expElogbeta = weights.T

    def inference(
        self, chunk: Sparse2Corpus, collect_sstats: bool = False
    ) -> tuple[np.ndarray, Any]:
        """Infer the texts' γ, as gensim does."""
        if collect_sstats or not isinstance(chunk, Sparse2Corpus):
            return super().inference(chunk, collect_sstats)
        bags = _bags(chunk, 0, len(chunk))
        gamma = self._start(len(chunk))
        none = np.empty((0, 0), np.float32), np.empty(0, np.float32)
        self._infer(bags, _flush(self.expElogbeta.T), gamma, *none)
        return gamma, None

    def _start(self, texts: int) -> np.ndarray:
        drawn = self.random_state.gamma(100.0, 1.0 / 100.0, (texts, self.num_topics))
        return drawn.astype(np.float32, copy=False)

    def _infer(
        self, bags: Bags, weights: np.ndarray, gamma: np.ndarray, theta: Any, ratio: Any
    ) -> None:
        settings = (self.iterations, np.float32(self.gamma_threshold))

        def infer(first: int, end: int) -> None:
            _infer(*bags, first, end, weights, self.alpha, gamma, theta, ratio, settings)

        _on_threads(infer, len(gamma))

    def _maximise(
        self,
        statistics: np.ndarray,
        collected: np.ndarray,
        weights: np.ndarray,
        blend: tuple[np.float32, np.float32],
    ) -> None:
        """Blend what a chunk says of words into the statistics; make the weights exp(E[log β])."""
        eta = np.broadcast_to(self.eta, (self.num_topics, len(statistics))).T
        _on_threads(
            lambda first, end: _blend(first, end, statistics, collected, weights, *blend),
            len(statistics),
        )
        total = (eta + statistics).sum(axis=0, dtype=np.float32)
        scale = (1 / np.array([_exp_psi(value) for value in total])).astype(np.float32)
        _on_threads(
            lambda first, end: _weigh(first, end, statistics, eta, scale, weights), len(statistics)
        )


def _bags(corpus: Sparse2Corpus, first: int, end: int) -> Bags:
    """Return the words of some texts, how often each stands there, and where each text begins."""
    part = corpus.sparse[:, first:end]
    return part.indices.astype(np.int32), part.data.astype(np.float32), part.indptr.astype(np.int64)


def _on_threads(function: Callable[[int, int], None], size: int) -> None:
    """Call a function on parts of a range, which threads share."""
    parts = min(size, 4 * count_threads()) if count_threads() > 1 else 1
    edges = np.linspace(0, size, parts + 1).astype(int).tolist()
    map_threads(lambda span: function(*span), list(pairwise(edges)))


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


@_compile
def _infer(
    words: Any,
    counts: Any,
    starts: Any,
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
    iterations, threshold = settings
    zero, topics = np.float32(0), len(alpha)
    longest = 1
    for d in range(first, end):
        longest = max(longest, starts[d + 1] - starts[d])
    rows = np.empty((longest, topics), np.float32)  # the weights of the topics that are left
    left = np.empty(topics, np.int64)
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
                        left[at], prior[at], now[at], theta[at] = (
                            left[k],
                            prior[k],
                            now[k],
                            theta[k],
                        )
                        at += 1
                n = n_left
            new[:n] = zero
            for i in range(length):  # how often a word stands there, over how probable it is
                row, expected = rows[i], _EPSILON
                for k in range(n):
                    expected += theta[k] * row[k]
                share = counts[start + i] / expected
                for k in range(n):
                    new[k] += share * row[k]
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


@_compile
def _blend(
    first: int, end: int, statistics: Any, collected: Any, weights: Any, old: Any, new: Any
) -> None:
    for w in range(first, end):
        for k in range(statistics.shape[1]):
            value = new * (collected[w, k] * weights[w, k])
            statistics[w, k] = statistics[w, k] * old + value


@_compile
def _weigh(first: int, end: int, statistics: Any, eta: Any, scale: Any, weights: Any) -> None:
    for w in range(first, end):
        for k in range(statistics.shape[1]):
            value = _exp_psi(eta[w, k] + statistics[w, k]) * scale[k]
            weights[w, k] = value if value >= _LEAST else np.float32(0)
