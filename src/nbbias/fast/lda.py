"""gensim's LdaModel, compiled: the same random numbers and the same steps, several times as fast.

gensim infers one text after the other over all topics, and goes through all words at each step.
Here the texts of a chunk are inferred in one compiled loop, on threads, and a chunk's step reads
and changes the rows of its own words alone. A topic whose exp(E[log θ]) falls below 1e-19 adds
less to a text's γ than float32 can tell from the prior: it is dropped for this text, of 250 topics
most are after a few steps. What differs from gensim is float32 rounding. Priors are those given,
never learned.
"""

from __future__ import annotations

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
        """Train as gensim does, by the settings of the model alone.

        The rows of words that a chunk lacks only shrink, all alike: `scale` is by how much.
        """
        size = min(len(corpus), self.chunksize)
        chunks = [_own_words(_bags(corpus, at, at + size)) for at in range(0, len(corpus), size)]
        eta = np.broadcast_to(self.eta, (self.num_topics, self.num_terms)).T
        statistics, scale = np.ascontiguousarray(self.state.sstats.T), 1.0
        prior, total = eta.sum(axis=0, dtype=float), statistics.sum(axis=0, dtype=float)
        for number in range(self.passes):
            for words, bags in chunks:
                # The first weights are those of the random statistics alone.
                begun = np.float32(number + self.num_updates > 0)
                rows = np.float32(scale) * statistics[words] + begun * eta[words]
                weights = _weigh_rows(rows, total + begun * prior)
                gamma, theta, ratio = self._infer(bags, weights)
                collected = np.zeros_like(weights)
                _collect(*bags, theta, ratio, collected)
                collected *= weights
                rho = pow(self.offset + number + self.num_updates / size, -self.decay)
                scale *= 1 - rho
                if scale < _LEAST:
                    statistics *= np.float32(scale)
                    scale = 1.0
                share = rho * len(corpus) / len(gamma)
                statistics[words] += np.float32(share / scale) * collected
                total = (1 - rho) * total + share * collected.sum(axis=0, dtype=float)
                if self.num_topics > 5:  # gensim draws the topics that it logs
                    self.random_state.rand(self.num_topics)
                self.num_updates += 0 if number else len(gamma)
        self.state.sstats = (statistics * np.float32(scale)).T
        self.state.numdocs += len(corpus)
        self.sync_state()

    def sync_state(self, *args: Any, **kwargs: Any) -> None:
        """Make the weights that inference goes by of the statistics, words by topics in memory."""
        rows = np.add(self.eta, self.state.sstats).T.astype(np.float32, order="C")
        self.expElogbeta = _weigh_rows(rows, rows.sum(axis=0, dtype=float)).T

    def inference(self, chunk: Sparse2Corpus, *_: Any) -> tuple[np.ndarray, None]:
        """Infer the texts' γ, as gensim does."""
        return self._infer(_bags(chunk, 0, len(chunk)), self.expElogbeta.T)[0], None

    def _infer(self, bags: Bags, weights: np.ndarray) -> tuple[np.ndarray, ...]:
        """Return each text's γ from a random start, its exp(E[log θ]) and its words' ratios."""
        drawn = self.random_state.gamma(100.0, 1.0 / 100.0, (len(bags[2]) - 1, self.num_topics))
        gamma = drawn.astype(np.float32, copy=False)
        theta, ratio = np.empty_like(gamma), np.empty_like(bags[1])
        settings = (self.iterations, np.float32(self.gamma_threshold))

        def infer(first: int, end: int) -> None:
            at, starts = slice(first, end), bags[2][first : end + 1]
            _infer(*bags[:2], starts, weights, self.alpha, gamma[at], theta[at], ratio, settings)

        _on_threads(infer, len(gamma))
        return gamma, theta, ratio


def _bags(corpus: Sparse2Corpus, first: int, end: int) -> Bags:
    """Return the words of some texts, how often each stands there, and where each text begins."""
    part = corpus.sparse[:, first:end]
    return part.indices.astype(np.int32), part.data.astype(np.float32), part.indptr.astype(np.int64)


def _own_words(bags: Bags) -> tuple[np.ndarray, Bags]:
    """Return the distinct words of texts, and the texts with their words numbered by these."""
    words, number = np.unique(bags[0], return_inverse=True)
    return words, (number.astype(np.int32), *bags[1:])


def _on_threads(function: Callable[[int, int], None], size: int) -> None:
    """Call a function on parts of a range, which threads share."""
    parts = min(size, 4 * count_threads()) if count_threads() > 1 else 1
    edges = np.linspace(0, size, parts + 1).astype(int).tolist()
    map_threads(lambda span: function(*span), list(pairwise(edges)))


def _weigh_rows(rows: np.ndarray, total: np.ndarray) -> np.ndarray:
    """Return exp(E[log β]) of words, from their rows of λ and its sums over all words."""
    weights, scale = np.empty_like(rows), np.empty(len(total), np.float32)
    _exp_psi(total.astype(np.float32), len(total), scale)
    _on_threads(lambda first, end: _weigh(first, end, rows, scale, weights), len(rows))
    return weights


# --- compiled ---------------------------------------------------------------------------------

_compile = numba.njit(cache=True, nogil=True, fastmath=True, error_model="numpy")

#: exp(-i / 8).
_EXP = np.exp(-np.arange(641) / 8).astype(np.float32)


@_compile
def _exp_psi(x: Any, n: int, out: Any) -> None:
    """Write exp(ψ(x)) of positive numbers in float32; below 1e-30 it is 0.

    ψ(x) = ψ(x + 6) - Σ 1 / (x + i), and exp(ψ(z + ½)) = z + 1/(24 z) - …. The library's exp takes
    one number at a time; eighths from a table and a polynomial take several.
    """
    f = np.float32
    for i in range(n):
        v = x[i]
        fall = f(1) / v + (f(2) * v + f(3)) / ((v + f(1)) * (v + f(2)))
        fall += (f(2) * v + f(7)) / ((v + f(3)) * (v + f(4))) + f(1) / (v + f(5))
        fall = min(fall, f(80))
        z = v + f(5.5)
        w = f(1) / z
        series = z + w * (f(1 / 24) + w * w * (f(-37 / 5760) + w * w * f(10313 / 2903040)))
        eighths = np.int32(fall * f(8))
        r = fall - f(eighths) * f(1 / 8)
        rest = f(1 / 2) - r * (f(1 / 6) - r * (f(1 / 24) - r * f(1 / 120)))
        out[i] = _EXP[eighths] * (f(1) - r * (f(1) - r * rest)) * series


@_compile
def _infer(
    words: Any,
    counts: Any,
    starts: Any,
    weights: Any,
    alpha: Any,
    gamma: Any,
    thetas: Any,
    ratios: Any,
    settings: Any,
) -> None:
    """Infer the γ of texts; write each text's exp(E[log θ]) and its words' ratios, too."""
    iterations, threshold = settings
    zero, topics = np.float32(0), len(alpha)
    longest = 1
    for d in range(len(gamma)):
        longest = max(longest, starts[d + 1] - starts[d])
    columns = np.empty((topics, longest), np.float32)  # the weights of the topics that are left
    ratio = np.empty(longest, np.float32)  # how often a word stands there, over how probable it is
    left = np.empty(topics, np.int64)
    prior, new = np.empty(topics, np.float32), np.empty(topics, np.float32)
    now, theta = np.empty(topics + 1, np.float32), np.empty(topics + 1, np.float32)
    for d in range(len(gamma)):
        start, length = starts[d], starts[d + 1] - starts[d]
        n, resting, change, total = topics, zero, zero, zero
        for k in range(topics):
            left[k], prior[k], now[k] = k, alpha[k], gamma[d, k]
            total += now[k]
        for i in range(length):
            row = weights[words[start + i]]
            for k in range(topics):
                columns[k, i] = row[k]
        for step in range(iterations + 1):
            now[n] = total
            _exp_psi(now, n + 1, theta)
            scale, n_left = np.float32(1) / theta[n], 0
            for k in range(n):
                value = theta[k] * scale
                theta[k] = value if value >= _LEAST else zero
                n_left += value >= _LEAST
            done = step == iterations or (step > 0 and change < threshold * topics)
            change = zero
            if not done and n_left <= _MOST_LEFT * n:  # the others have come to rest at their prior
                at = 0
                for k in range(n):
                    if theta[k] == zero:
                        gamma[d, left[k]] = prior[k]
                        change += abs(now[k] - prior[k])
                        resting += prior[k]
                        continue
                    for i in range(length):
                        columns[at, i] = columns[k, i]
                    left[at], prior[at], now[at], theta[at] = left[k], prior[k], now[k], theta[k]
                    at += 1
                n = n_left
            ratio[:length] = _EPSILON
            for k in range(n):
                for i in range(length):
                    ratio[i] += theta[k] * columns[k, i]
            for i in range(length):
                ratio[i] = counts[start + i] / ratio[i]
            for k in range(n):
                new[k] = zero
                for i in range(length):
                    new[k] += ratio[i] * columns[k, i]
            if done:
                break
            total = resting
            for k in range(n):
                value = prior[k] + theta[k] * new[k]
                change += abs(value - now[k])
                now[k] = value
                total += value
        thetas[d] = zero
        for k in range(n):
            gamma[d, left[k]], thetas[d, left[k]] = now[k], theta[k]
        ratios[start : start + length] = ratio[:length]


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
def _weigh(first: int, end: int, rows: Any, scale: Any, weights: Any) -> None:
    for w in range(first, end):
        _exp_psi(rows[w], len(scale), weights[w])
        for k in range(len(scale)):
            value = weights[w, k] / scale[k]
            weights[w, k] = value if value >= _LEAST else np.float32(0)
