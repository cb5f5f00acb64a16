"""Permutations that go on where a family needs more: valid, as fine as needed, in fixed memory."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
import scipy.stats

from nbbias import stats
from nbbias.stats import InferenceSettings

INFERENCE = InferenceSettings(0.95, n_permutations=100)


def uniform(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.random(n)


def test_what_chance_often_reaches_costs_no_more_and_is_the_tail_of_the_first_deals() -> None:
    asked = []

    def deal(rng: np.random.Generator, n: int) -> np.ndarray:
        asked.append(n)
        return rng.random(n)

    found = stats.permutation_test(0.5, deal, inference=INFERENCE, family=324)
    drawn = np.random.default_rng(INFERENCE.seed).random(100)
    plain = stats.compare_with_null(0.5, drawn, confidence=0.95)
    assert asked == [100]
    assert found == plain | {"p_least": 1 / (1 + 20 * 324 / 0.05)}


def test_what_chance_never_reaches_gets_a_p_that_its_family_can_use_a_thousand_deals_at_once() -> (
    None
):
    asked = []

    def deal(rng: np.random.Generator, n: int) -> np.ndarray:
        asked.append(n)
        return rng.random(n)

    found = stats.permutation_test(2.0, deal, inference=INFERENCE, family=324)
    assert found["p_value"] == found["p_least"] == 1 / 129_601
    assert 324 * found["p_value"] < 0.05 / 19
    assert max(asked) == 1000 and sum(asked) == 129_600
    # The chance level is that of the first deals, as without a family.
    assert {k: v for k, v in found.items() if not k.startswith("p_")} == {
        k: v
        for k, v in stats.permutation_test(2.0, uniform, inference=INFERENCE).items()
        if not k.startswith("p_")
    }


@pytest.mark.parametrize("p", [0.3, 0.02, 0.002, 0.0004])
def test_a_p_is_told_within_its_error(p: float) -> None:
    found = [
        stats.permutation_test(1 - p, uniform, inference=INFERENCE._replace(seed=seed), family=30)[
            "p_value"
        ]
        for seed in range(60)
    ]
    assert np.mean(found) == pytest.approx(p, rel=0.2)


def test_the_stopping_leaves_p_valid_at_every_level() -> None:
    # Nothing differs: the observed value is one more draw. Family 10: 4,000 draws at most.
    rng = np.random.default_rng(3)
    observed = np.concatenate([rng.random(1500), 1 - rng.random(1500) / 50])
    found = np.array(
        [
            stats.permutation_test(one, uniform, inference=INFERENCE._replace(seed=i), family=10)[
                "p_value"
            ]
            for i, one in enumerate(observed)
        ]
    )
    plain, extreme = found[:1500], found[1500:]
    for level in (0.5, 0.2, 0.1, 0.05, 0.02):
        least = scipy.stats.binom.ppf(0.9999, 1500, level) / 1500
        assert (plain <= level).mean() <= least
    # Those above the 98th percentile stand for the two percent at the end, drawn fifty times.
    for level in (0.01, 0.005, 0.001):
        least = scipy.stats.binom.ppf(0.9999, 1500, 50 * level) / 1500
        assert (extreme <= level).mean() <= least


def test_deals_that_measured_nothing_do_not_count() -> None:
    def deal(rng: np.random.Generator, n: int) -> np.ndarray:
        return np.where(rng.random(n) < 0.5, np.nan, rng.random(n))

    found = stats.permutation_test(2.0, deal, inference=INFERENCE, family=10)
    assert 1 / 2200 < found["p_value"] < 1 / 1800
    nothing = stats.permutation_test(
        2.0, lambda rng, n: np.full(n, np.nan), inference=INFERENCE, family=10
    )
    assert np.isnan(list(nothing.values())).all()


def test_all_arrangements_give_the_exact_test_and_what_they_can_tell() -> None:
    gaps = np.array([0.3, 0.1, -0.2, 0.4, 0.5])
    every = np.array([gaps @ signs for signs in product([-1, 1], repeat=5)]) / 5
    found = stats.compare_with_null(
        gaps.mean(), every, confidence=0.9, alternative="two-sided", null=0.0, complete=True
    )
    exact = scipy.stats.permutation_test((gaps,), np.mean, permutation_type="samples").pvalue
    assert found["p_value"] == pytest.approx(exact)
    assert found["p_least"] == 2 / 32  # all up, or all down
