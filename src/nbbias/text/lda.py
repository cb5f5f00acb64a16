"""gensim's LdaModel, compiled: the same random numbers, the same steps, in a fraction of the time.

gensim infers one text after the other, each over all K topics, with arrays of K by all words. Here
bags of words lie end to end, a word's K weights lie beside each other, and two facts save most of
the work. A topic whose exp(E[log θ]) falls below 1e-19 adds less to a text's γ than float32 can
tell from the prior, so it stays at the prior for good: it is dropped, and the few topics that a
text is left with are gone through alone. And exp(ψ(x)) has a closed form without a logarithm. What
remains of a difference to gensim is float32 rounding, in another order of sums.

A text's numbers depend on no other text and a word's on the texts in their order, so threads, among
which both are dealt out, change nothing. `LdaModel` itself is the reference, in the tests. Priors
are those given, never learned.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any, NamedTuple

import numba
import numpy as np
from gensim.models import LdaModel

from nbbias.tables import count_threads, map_threads

_LEAST = np.float32(1e-19)  # below it exp(E[log θ]) and exp(E[log β]) add nothing in float32
_EPSILON = np.float32(np.finfo(np.float32).eps)
_ALL_BUT = 0.8  # topics are dropped when at most this share of them is left


class Bags(NamedTuple):
    """Bags of words of many texts, end to end.

    Text i has the words `ids[starts[i]:starts[i + 1]]`, ascending, each `counts` times.
    """

    ids: np.ndarray
    counts: np.ndarray
    starts: np.ndarray

    @property
    def texts(self) -> int:
        return len(self.starts) - 1

    @property
    def sizes(self) -> np.ndarray:
        """Different words of every text."""
        return np.diff(self.starts)

    @classmethod
    def of_words(cls, ids: np.ndarray, starts: np.ndarray) -> Bags:
        """Count the words of texts: text i is `ids[starts[i]:starts[i + 1]]`; below 0: no word."""
        own, counts = np.empty(len(ids), np.int32), np.empty(len(ids), np.float32)
        edges = np.zeros(len(starts), np.int64)
        _count(ids, starts, own, counts, edges)
        return cls(own[: edges[-1]].copy(), counts[: edges[-1]].copy(), edges)

    @classmethod
    def of_bows(cls, bows: Iterable[Iterable[tuple[int, float]]]) -> Bags:
        """Lay gensim's bags of words, lists of (word, count), end to end."""
        pairs = [np.array(list(bow), dtype=float).reshape(-1, 2) for bow in bows]
        both = np.concatenate(pairs) if pairs else np.empty((0, 2))
        starts = np.cumsum([0, *map(len, pairs)])
        return cls(both[:, 0].astype(np.int32), both[:, 1].astype(np.float32), starts)

    def part(self, start: int, end: int) -> Bags:
        """Return the texts from `start` to before `end`."""
        edges = self.starts[start : end + 1]
        rows = slice(edges[0], edges[-1])
        return Bags(self.ids[rows], self.counts[rows], edges - edges[0])

    def full(self) -> Bags:
        """Return the texts that have a word."""
        return self._replace(starts=np.append(self.starts[:-1][self.sizes > 0], self.starts[-1]))


class Lda(LdaModel):
    """gensim's LdaModel, which trains and infers from `Bags` (or gensim's bags) compiled."""

    expElogbeta: np.ndarray  # noqa: N815  (gensim's name)

    def update(self, corpus: Any, *args: Any, **kwargs: Any) -> None:
        """Train as `LdaModel.update` does, by the settings of the model alone."""
        bags = corpus if isinstance(corpus, Bags) else Bags.of_bows(corpus)
        size = min(bags.texts, self.chunksize)
        chunks = [bags.part(at, min(at + size, bags.texts)) for at in range(0, bags.texts, size)]
        by_word = [_by_word(chunk, self.num_terms) for chunk in chunks]
        sstats = np.ascontiguousarray(self.state.sstats.T)
        weights = _flushed(self.expElogbeta.T)
        for number in range(self.passes):
            for chunk, order in zip(chunks, by_word, strict=True):
                gamma = self._start(chunk.texts)
                theta, ratio = np.empty_like(gamma), np.empty_like(chunk.counts)
                self._infer(chunk, weights, gamma, (theta, ratio))
                rho = pow(self.offset + number + self.num_updates / size, -self.decay)
                scale = bags.texts / chunk.texts
                self._maximise(sstats, weights, (order, theta, ratio), (1 - rho, rho * scale))
                if self.num_topics > 5:  # gensim draws the topics that it logs
                    self.random_state.rand(self.num_topics)
                self.num_updates += 0 if number else chunk.texts
        self.state.sstats, self.state.numdocs = sstats.T, self.state.numdocs + bags.texts
        self.expElogbeta = weights.T

    def sync_state(self, _: Any = None) -> None:
        """Make the weights that inference goes by of the statistics, as training does."""
        sstats = np.ascontiguousarray(self.state.sstats.T)
        weights = np.empty_like(sstats)
        self._weigh(sstats, weights)
        self.expElogbeta = weights.T

    def inference(self, chunk: Any, collect_sstats: bool = False) -> tuple[np.ndarray, Any]:
        """Infer the texts' γ, as gensim does."""
        if collect_sstats:
            return super().inference(chunk, collect_sstats)
        bags = chunk if isinstance(chunk, Bags) else Bags.of_bows(chunk)
        gamma = self._start(bags.texts)
        self._infer(bags, np.ascontiguousarray(self.expElogbeta.T), gamma, None)
        return gamma, None

    def _start(self, texts: int) -> np.ndarray:
        drawn = self.random_state.gamma(100.0, 1.0 / 100.0, (texts, self.num_topics))
        return drawn.astype(np.float32, copy=False)

    def _infer(
        self,
        bags: Bags,
        weights: np.ndarray,
        gamma: np.ndarray,
        told: tuple[np.ndarray, np.ndarray] | None,
    ) -> None:
        theta, ratio = told or (np.empty((0, 0), np.float32), np.empty(0, np.float32))
        settings = (self.iterations, np.float32(self.gamma_threshold))

        def part(start: int, end: int) -> None:
            _expect(*bags, (start, end), weights, self.alpha, gamma, theta, ratio, settings)

        _dealt(part, bags.texts)

    def _maximise(
        self,
        sstats: np.ndarray,
        weights: np.ndarray,
        found: tuple[Any, np.ndarray, np.ndarray],
        blend: tuple[float, float],
    ) -> None:
        """Blend what a chunk's texts tell of words into `sstats`, and make the weights anew."""
        (order, text, edges), theta, ratio = found
        told = (order, text, edges, theta, ratio, np.float32(blend[0]), np.float32(blend[1]))
        _dealt(lambda start, end: _blend((start, end), sstats, weights, *told), len(sstats))
        self._weigh(sstats, weights)

    def _weigh(self, sstats: np.ndarray, weights: np.ndarray) -> None:
        """Write exp(E[log β]), words by topics."""
        eta = np.broadcast_to(self.eta, (self.num_topics, len(sstats))).T
        total = np.empty(self.num_topics, np.float32)
        _totals(sstats, eta, total)
        scale = 1 / exp_psi(total)
        _dealt(lambda a, b: _weigh((a, b), sstats, eta, scale, weights), len(sstats))


def _dealt(part: Callable[[int, int], None], size: int) -> None:
    """Call a function on parts of a range, which threads share."""
    parts = min(size, 4 * count_threads()) if count_threads() > 1 else 1
    edges = np.linspace(0, size, parts + 1).astype(int).tolist()
    map_threads(lambda span: part(*span), list(pairwise(edges)))


def _flushed(weights: np.ndarray) -> np.ndarray:
    return np.where(weights < _LEAST, np.float32(0), weights).astype(np.float32, order="C")


def _by_word(bags: Bags, words: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return where the words stand, word after word, in which texts, and where a word begins."""
    order = np.argsort(bags.ids, kind="stable")
    text = np.repeat(np.arange(bags.texts), bags.sizes)[order].astype(np.int32)
    edges = np.searchsorted(bags.ids[order], np.arange(words + 1))
    return order, text, edges


def exp_psi(values: np.ndarray) -> np.ndarray:
    """Return exp(ψ(x)) of positive numbers, in float32; below 1e-30 it is 0.

    Examples
    --------
    >>> [round(float(one), 3) for one in exp_psi(np.array([1.0, 100.0]))]
    [0.561, 99.5]
    """
    x = np.ascontiguousarray(values, np.float32).ravel()
    out, room = np.empty_like(x), np.empty_like(x)
    _exp_psi(x, len(x), out, room)
    return out.reshape(np.shape(values))


# --- compiled ---------------------------------------------------------------------------------

_compiled = numba.njit(cache=True, nogil=True, fastmath=True, error_model="numpy")

_LOG2E, _LN2 = np.float32(1.4426950408889634), (np.float32(0.693359375), np.float32(-2.12194440e-4))
_LN2_HIGH, _LN2_LOW = _LN2


@_compiled
def _exp_psi(x: np.ndarray, n: int, out: np.ndarray, room: np.ndarray) -> None:
    """Write exp(ψ(x)): ψ(x) = ψ(x + 6) - Σ 1 / (x + i), exp(ψ(z + ½)) = z + 1/(24 z) - …

    Written such that compilers make vectors of it: exp is a polynomial, times a power of two that
    is set in the bits of `room`.
    """
    f = np.float32
    bits = room.view(np.int32)
    for i in range(n):
        v = x[i]
        fall = f(1) / v + (f(2) * v + f(3)) / ((v + f(1)) * (v + f(2)))
        fall += (f(2) * v + f(7)) / ((v + f(3)) * (v + f(4))) + f(1) / (v + f(5))
        z = v + f(5.5)
        w = f(1) / z
        risen = z + w * (f(1 / 24) + w * w * (f(-37 / 5760) + w * w * f(10313 / 2903040)))
        fall = min(fall, f(80))
        power = np.floor(f(0.5) - fall * _LOG2E)
        r = -fall - power * _LN2_HIGH - power * _LN2_LOW
        e = f(1 / 720) + r * f(1 / 5040)
        e = f(0.5) + r * (f(1 / 6) + r * (f(1 / 24) + r * (f(1 / 120) + r * e)))
        out[i] = (f(1) + r * (f(1) + r * e)) * risen
        bits[i] = (np.int32(power) + np.int32(127)) << np.int32(23)
    for i in range(n):
        out[i] *= room[i]


@_compiled
def _count(
    ids: np.ndarray, starts: np.ndarray, own: np.ndarray, counts: np.ndarray, edges: np.ndarray
) -> None:
    """Write the different words of every text, how often it has them, and where they begin."""
    at = 0
    for d in range(len(starts) - 1):
        last = -1
        for word in np.sort(ids[starts[d] : starts[d + 1]]):
            if word < 0:
                continue
            if word != last:
                own[at], counts[at], last = word, np.float32(0), word
                at += 1
            counts[at - 1] += np.float32(1)
        edges[d + 1] = at


@_compiled
def _expect(
    ids: np.ndarray,
    counts: np.ndarray,
    starts: np.ndarray,
    span: tuple[int, int],
    weights: np.ndarray,
    alpha: np.ndarray,
    gamma: np.ndarray,
    thetas: np.ndarray,
    ratios: np.ndarray,
    settings: tuple[int, float],
) -> None:
    """Infer the γ of the texts of a span; with `thetas`, what they tell of their words, too."""
    iterations, threshold = settings
    zero, topics = np.float32(0), len(alpha)
    longest = 1
    for d in range(span[0], span[1]):
        longest = max(longest, starts[d + 1] - starts[d])
    rows = np.empty((longest, topics), np.float32)  # a word's weights beside each other
    columns = np.empty((topics, longest), np.float32)  # a topic's
    ratio = np.empty(longest, np.float32)
    left, stays = np.empty(topics, np.int64), np.empty(topics, np.int64)
    prior, now = np.empty(topics, np.float32), np.empty(topics, np.float32)
    new, theta = np.empty(topics, np.float32), np.empty(topics, np.float32)
    room = np.empty(topics, np.float32)
    one, told = np.empty(1, np.float32), np.empty(1, np.float32)
    for d in range(span[0], span[1]):
        start, words = starts[d], starts[d + 1] - starts[d]
        count = counts[start : start + words]
        n, by_topic, resting, settled, total = topics, False, zero, zero, zero
        for k in range(topics):
            left[k], prior[k], now[k] = k, alpha[k], gamma[d, k]
            total += now[k]
        for i in range(words):
            rows[i] = weights[ids[start + i]]
        for step in range(iterations + 1):
            one[0] = total
            _exp_psi(one, 1, told, room)
            _exp_psi(now, n, theta, room)
            scale, kept = np.float32(1) / told[0], 0
            for k in range(n):
                value = theta[k] * scale
                theta[k] = value if value >= _LEAST else zero
                kept += value >= _LEAST
            if step == iterations or (step and settled < threshold * topics):
                break
            settled = zero
            if kept <= _ALL_BUT * n:  # the others have come to rest at their prior
                at = 0
                for k in range(n):
                    if theta[k] == zero:
                        gamma[d, left[k]] = prior[k]
                        settled += abs(now[k] - prior[k])
                        resting += prior[k]
                    else:
                        stays[at], left[at], prior[at] = k, left[k], prior[k]
                        now[at], theta[at] = now[k], theta[k]
                        at += 1
                n = kept
                _drop(stays[:n], words, rows, columns, by_topic)
                if not by_topic and 2 * n <= words:
                    by_topic = True
                    columns[:n, :words] = rows[:words, :n].T
            _ratios(theta, n, count, rows, columns, by_topic, ratio)
            _sums(ratio, n, words, rows, columns, by_topic, new)
            total = resting
            for k in range(n):
                value = prior[k] + theta[k] * new[k]
                settled += abs(value - now[k])
                now[k] = value
                total += value
        for k in range(n):
            gamma[d, left[k]] = now[k]
        if len(thetas):
            thetas[d] = zero
            for k in range(n):
                thetas[d, left[k]] = theta[k]
            _ratios(theta, n, count, rows, columns, by_topic, ratios[start : start + words])


@_compiled
def _drop(
    stays: np.ndarray, words: int, rows: np.ndarray, columns: np.ndarray, by_topic: bool
) -> None:
    """Move the weights of the topics that stay, ascending, to the front."""
    if by_topic:
        for at in range(len(stays)):
            if stays[at] != at:
                columns[at, :words] = columns[stays[at], :words]
    else:
        for i in range(words):
            row = rows[i]
            for at in range(len(stays)):
                row[at] = row[stays[at]]


@_compiled
def _ratios(
    theta: np.ndarray,
    n: int,
    count: np.ndarray,
    rows: np.ndarray,
    columns: np.ndarray,
    by_topic: bool,
    ratio: np.ndarray,
) -> None:
    """Write how often each word stands in a text, over how probable its topics make it."""
    words = len(count)
    if by_topic:
        for i in range(words):
            ratio[i] = _EPSILON
        for k in range(n):
            share, own = theta[k], columns[k]
            for i in range(words):
                ratio[i] += share * own[i]
        for i in range(words):
            ratio[i] = count[i] / ratio[i]
    else:
        for i in range(words):
            expected, own = _EPSILON, rows[i]
            for k in range(n):
                expected += theta[k] * own[k]
            ratio[i] = count[i] / expected


@_compiled
def _sums(
    ratio: np.ndarray,
    n: int,
    words: int,
    rows: np.ndarray,
    columns: np.ndarray,
    by_topic: bool,
    new: np.ndarray,
) -> None:
    """Write the sum of the ratios by topic, each weighed by the word's weight in the topic."""
    if by_topic:
        for k in range(n):
            found, own = np.float32(0), columns[k]
            for i in range(words):
                found += ratio[i] * own[i]
            new[k] = found
    else:
        new[:n] = np.float32(0)
        for i in range(words):
            share, own = ratio[i], rows[i]
            for k in range(n):
                new[k] += share * own[k]


@_compiled
def _blend(
    span: tuple[int, int],
    sstats: np.ndarray,
    weights: np.ndarray,
    order: np.ndarray,
    text: np.ndarray,
    edges: np.ndarray,
    theta: np.ndarray,
    ratio: np.ndarray,
    old: float,
    new: float,
) -> None:
    """Blend into the statistics of the words of a span what a chunk's texts say."""
    topics = sstats.shape[1]
    told = np.empty(topics, np.float32)
    for w in range(span[0], span[1]):
        row = sstats[w]
        if edges[w] == edges[w + 1]:
            for k in range(topics):
                row[k] *= old
            continue
        told[:] = np.float32(0)
        for at in range(edges[w], edges[w + 1]):
            share, own = ratio[order[at]], theta[text[at]]
            for k in range(topics):
                told[k] += share * own[k]
        weight = weights[w]
        for k in range(topics):
            row[k] = row[k] * old + new * (told[k] * weight[k])


@_compiled
def _totals(sstats: np.ndarray, eta: np.ndarray, total: np.ndarray) -> None:
    """Sum the topics' λ, word after word as gensim does."""
    total[:] = np.float32(0)
    for w in range(len(sstats)):
        for k in range(len(total)):
            total[k] += eta[w, k] + sstats[w, k]


@_compiled
def _weigh(
    span: tuple[int, int],
    sstats: np.ndarray,
    eta: np.ndarray,
    scale: np.ndarray,
    weights: np.ndarray,
) -> None:
    """Write exp(E[log β]) of the words of a span."""
    topics = sstats.shape[1]
    posterior, room = np.empty(topics, np.float32), np.empty(topics, np.float32)
    for w in range(span[0], span[1]):
        row = weights[w]
        for k in range(topics):
            posterior[k] = eta[w, k] + sstats[w, k]
        _exp_psi(posterior, topics, row, room)
        for k in range(topics):
            value = row[k] * scale[k]
            row[k] = value if value >= _LEAST else np.float32(0)
