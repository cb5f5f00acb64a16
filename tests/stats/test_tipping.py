"""Tipping points: with the error that they name, the interval reaches 0."""

import numpy as np
import pytest
from scipy.stats import ttest_1samp
from statsmodels.stats.proportion import confint_proportions_2indep

from nbbias import stats


def texts(rng: np.random.Generator, n: int, words: int) -> tuple[np.ndarray, np.ndarray]:
    """Words of the group and of others in pairs of texts that name it alike."""
    share, sizes = rng.beta(2, 3, n), rng.poisson(words, (2, n)) + 1
    first, second = (np.c_[w := rng.binomial(size, share), size - w] for size in sizes)
    return first, second


def test_a_recall_tipping_point_by_missing_words_at_random() -> None:
    rng = np.random.default_rng(2)
    answers, originals = texts(rng, 400, 8)
    originals[:, 1] = rng.binomial(originals[:, 1], 0.5)  # so that answers name the group less
    point, ends = stats.recall_tipping_point(answers, originals, confidence=0.95), []
    for _ in range(50):
        left = np.c_[rng.binomial(originals[:, 0], 1 - point), originals[:, 1]]
        shares = [side[:, 0] / side.sum(axis=1).clip(1) for side in (left, answers)]
        both = (left.sum(axis=1) > 0) & (answers.sum(axis=1) > 0)
        ends.append(ttest_1samp((shares[0] - shares[1])[both], 0).confidence_interval().low)
    assert 0.2 < point < 0.5 and abs(np.mean(ends)) < 0.005


def test_the_least_and_the_largest_errors() -> None:
    alike, alone, none = (np.tile(row, (30, 1)) for row in ([5, 5], [5, 0], [0, 5]))
    assert stats.recall_tipping_point(alike, alike, confidence=0.95) == 0
    for sides in ((none, alone), (alike[:0], alike[:0])):
        assert np.isnan(stats.recall_tipping_point(*sides, confidence=0.95))


def test_error_rates_are_solved_by_hand() -> None:
    # All but alike, so that the interval is the mean: (.6 - x) / (1 - x) is .2 where x = .5, and
    # .2 / (1 - x) is .6 where x = 2/3.
    noise = np.tile([-1e-6, 1e-6], 50)
    points = stats.verdict_tipping_points(0.2 + noise, 0.6 - noise, confidence=0.95)
    assert points == pytest.approx((0.5, 2 / 3), abs=1e-5)


def test_rates_are_subtracted_as_statsmodels_does() -> None:
    rates = [stats.proportion_interval(*counts, confidence=0.95) for counts in ((28, 30), (33, 45))]
    low, high = confint_proportions_2indep(28, 30, 33, 45, method="newcomb")
    assert stats.subtract_rates(*rates) == pytest.approx((28 / 30 - 33 / 45, low, high))
