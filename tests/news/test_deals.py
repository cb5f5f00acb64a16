"""Permutations and cuts of sentences against every one of them, and against another way."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, pairwise, product

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings, strategies as st

from nbbias.news import deals as news_deals
from nbbias.news.prejudice import ROUNDING

# --- every deal -------------------------------------------------------------------------------


def deals(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Differences of means of every deal of the scores, deals by instruments."""
    both = np.vstack([first, second])
    rows = []
    for chosen in combinations(range(len(both)), len(first)):
        rest = [i for i in range(len(both)) if i not in chosen]
        rows.append(both[list(chosen)].mean(axis=0) - both[rest].mean(axis=0))
    return np.array(rows)


@pytest.mark.parametrize(("n", "m"), [(1, 1), (2, 3), (3, 2), (1, 4), (3, 3)])
def test_deals_are_those_of_brute_force_each_as_likely(n: int, m: int) -> None:
    values = np.random.default_rng(n * 10 + m).normal(size=(n + m, 2))
    draws = 6000
    first, second = news_deals.means(values, np.array([0, n, n + m]), draws, of(4))
    found = first - second
    every = deals(values[:n], values[n:])
    assert found.shape == (draws, 2)
    # Both instruments are dealt together, and sizes are kept: each row is one of the deals.
    at = np.abs(found[:, None] - every[None]).max(axis=2)
    assert at.min(axis=1).max() < 1e-12
    seen = np.bincount(at.argmin(axis=1), minlength=len(every))
    assert scipy.stats.chisquare(seen).pvalue > 1e-4
    error = np.abs(found).std(axis=0) / np.sqrt(draws)
    assert (np.abs(np.abs(found).mean(0) - np.abs(every).mean(0)) <= 4 * error + 1e-12).all()


def test_scores_that_are_alike_give_no_difference() -> None:
    found = news_deals.means(np.full((5, 1), 0.7), np.array([0, 3, 5]), 50, of(1))
    assert np.abs(found - 0.7).max() < 1e-12


def test_three_texts_share_out_all_their_scores_and_one_without_any_has_no_mean() -> None:
    scores = np.array([[1.0], [2], [4], [8], [16], [32]])
    a, b, none, c = news_deals.means(scores, np.array([0, 2, 3, 3, 6]), 200, of(1))
    assert (2 * a + b + 3 * c) == pytest.approx(63)
    assert len(np.unique(b)) == 6
    assert np.isnan(none).all()


# --- the same in plain numpy ------------------------------------------------------------------


def of(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def permuted_means(
    texts: Sequence[np.ndarray], *, draws: int, rng: np.random.Generator
) -> np.ndarray:
    if len(texts[0].T) > 1 and any(np.isnan(text).any() for text in texts):
        columns = zip(*(text.T for text in texts), strict=True)  # each instrument by itself
        parts = [[one[~np.isnan(one)][:, None] for one in column] for column in columns]
        return np.concatenate([permuted_means(p, draws=draws, rng=rng) for p in parts], axis=2)
    ends = np.cumsum([0, *map(len, texts)])
    both = np.vstack(texts)
    order = rng.random((draws, len(both))).argsort(axis=1)
    means = [
        both[order[:, start:end]].mean(axis=1)
        if end > start
        else np.full((draws, both.shape[1]), np.nan)
        for start, end in pairwise(ends)
    ]
    return np.stack(means)


def of_measured(answers: np.ndarray) -> np.ndarray:
    there = (~np.isnan(answers)).sum(axis=0)
    return np.where(there > 0, np.nansum(answers, axis=0) / np.maximum(there, 1), np.nan)


def dealt(
    texts: Sequence[np.ndarray], groups: int, draws: int, worse: np.ndarray, seed: int
) -> list[np.ndarray]:
    """One article's sums, group by group: how often worse, by how much, distance, measured."""
    shape, rng = (draws, len(worse)), of(seed)
    fell, change = np.zeros((groups, *shape)), np.zeros((groups, *shape))
    largest = np.full((len(texts) - 1, *shape), np.nan)
    for group in range(groups):
        own = [text[text[:, 0] == group, 1:] for text in texts]
        there = np.array([len(one) > 0 for one in own[:-1]], dtype=bool)
        if not len(own[-1]) or not there.any():
            continue
        means = permuted_means([one for one in own if len(one)], draws=draws, rng=rng)
        d = means[:-1] - means[-1]
        largest[there] = np.fmax(largest[there], np.abs(d))
        moved = of_measured(d)
        fell[group] = moved * worse > ROUNDING
        change[group] = np.where(fell[group] > 0, moved, 0.0)
    distance = of_measured(largest)
    return [fell, change, np.nan_to_num(distance), (~np.isnan(distance)).astype(float)]


score = st.floats(-1, 1).map(lambda one: round(one, 2)) | st.just(float("nan"))


@settings(max_examples=60, deadline=None)
@given(data=st.data(), width=st.integers(1, 3), seed=st.integers(0, 9))
def test_an_articles_deals_are_those_of_plain_numpy(
    data: st.DataObject, width: int, seed: int
) -> None:
    sentence = st.tuples(st.integers(0, 2), *[score] * width)
    texts = data.draw(st.lists(st.lists(sentence, max_size=30), min_size=2, max_size=4))
    whole = [np.array(one, dtype=float).reshape(-1, width + 1) for one in texts]
    worse, draws = np.resize([-1, 1], width), 20
    sums = [
        np.zeros((3, draws, width)),
        np.zeros((3, draws, width)),
        np.zeros((draws, width)),
        np.zeros((draws, width)),
    ]
    ends = np.cumsum([0, *map(len, whole)])
    news_deals.add(np.concatenate(whole), ends, worse, of(seed), tuple(sums))
    for found, expected in zip(sums, dealt(whole, 3, draws, worse, seed), strict=True):
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


# --- the floor --------------------------------------------------------------------------------


def text(*scores: Sequence[float]) -> np.ndarray:
    """A text's sentences: the scores of its first group, of its second and so on."""
    return np.array([(i, score) for i, own in enumerate(scores) for score in own])


def test_the_largest_of_cuts_is_that_of_every_choice_of_them() -> None:
    base, other = text([0.1, 0.3], [0.5]), text([0.0, 0.4, -0.8], [1.0, -0.2])
    beside = text([0.0, 0.0], [0.0])
    # Two of three sentences of the first group in a row, one of two of the second.
    every = [max(abs(0.2 - one), abs(0.5 - two)) for one, two in product([0.2, -0.2], [1.0, -0.2])]
    found = news_deals.apart(base, other, beside)
    assert found.tolist() == pytest.approx([np.mean(every)])
    # A group that one of the three lacks does not count; with none left nothing was measured.
    found = news_deals.apart(base, other, text([], [0.0]))
    assert found.tolist() == pytest.approx([(0.5 + 0.7) / 2])
    assert np.isnan(news_deals.apart(base, text([0.1]), text([], [0.0]))).all()


def apart(base: np.ndarray, text: np.ndarray, beside: np.ndarray) -> np.ndarray:
    of_groups = []
    for number in np.unique(base[:, 0]):
        own, other = (one[one[:, 0] == number, 1:] for one in (base, text))
        size = min(len(other), (beside[:, 0] == number).sum())
        if size:
            whole = np.vstack([np.zeros((1, other.shape[1])), other.cumsum(axis=0)])
            of_groups.append(np.abs(own.mean(axis=0) - (whole[size:] - whole[:-size]) / size))
    if not of_groups:
        return np.full(base.shape[1] - 1, np.nan)
    values = np.sort(np.vstack(of_groups), axis=0)
    reached = np.prod([(one[:, None] <= values).mean(axis=0) for one in of_groups], axis=0)
    return np.asarray((values * np.diff(reached, axis=0, prepend=0)).sum(axis=0))


@settings(max_examples=60, deadline=None)
@given(data=st.data(), width=st.integers(1, 3))
def test_cuts_are_those_of_plain_numpy(data: st.DataObject, width: int) -> None:
    sentence = st.tuples(st.integers(0, 2), *[score] * width)
    drawn = [data.draw(st.lists(sentence, max_size=20)) for _ in range(3)]
    texts = [np.array(one, dtype=float).reshape(-1, width + 1) for one in drawn]
    found = news_deals.apart(*texts)
    np.testing.assert_allclose(found, apart(*texts), rtol=0, atol=1e-12)


def shares(base: np.ndarray, text: np.ndarray, beside: np.ndarray, answers: bool) -> np.ndarray:
    size = min(len(text), len(beside))
    whole = np.vstack([np.zeros((1, text.shape[1]), dtype=int), text.cumsum(axis=0)])
    cut, kept = whole[size:] - whole[:-size], base.sum(axis=0, keepdims=True)
    h, o = (kept, cut) if answers else (cut, kept)
    n_h, n_o = h.sum(axis=1, keepdims=True), o.sum(axis=1, keepdims=True)
    d = h / n_h - o / n_o
    fell = h * n_o < o * n_h
    parts = [np.ones((len(cut), 1)), np.abs(d).sum(axis=1, keepdims=True) / 2]
    parts += [np.broadcast_to(o > 0, d.shape), fell, np.where(fell, d, 0.0)]
    return np.hstack(parts).mean(axis=0)


@settings(max_examples=60, deadline=None)
@given(data=st.data(), groups=st.integers(1, 5), answers=st.booleans())
def test_shares_of_cuts_are_those_of_plain_numpy(
    data: st.DataObject, groups: int, answers: bool
) -> None:
    words = st.lists(st.integers(0, 3), min_size=groups, max_size=groups).filter(any)
    drawn = [data.draw(st.lists(words, min_size=1, max_size=12)) for _ in range(3)]
    texts = [np.array(one) for one in drawn]
    found = news_deals.shares(*texts, answers)
    np.testing.assert_allclose(found, shares(*texts, answers), rtol=0, atol=1e-12)
