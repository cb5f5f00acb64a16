"""Evidence of a drift: scores by enumeration, evidence by integration, and simulated errors."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy import stats as scipy_stats
from scipy.integrate import quad

from nbbias import stats
from nbbias.stats import InferenceSettings

FEW = InferenceSettings(n_permutations=99)


def test_the_first_score_is_that_of_all_sign_flips() -> None:
    change = np.array([0.9, 0.4, -0.1, 0.7, 0.3, 0.2, -0.05])
    values = pd.DataFrame({0: 0.0, 1: change})
    (score,) = stats.drift_scores(values, inference=InferenceSettings(n_permutations=40_000))
    flips = np.array(list(product([1, -1], repeat=len(change)))) * change
    t = flips.mean(axis=1) / flips.std(axis=1)
    reached = [(t > t[0] + 1e-9).mean(), (t > t[0] - 1e-9).mean()]  # without, and with ties
    low, high = scipy_stats.norm.isf(reached[::-1])
    assert low - 0.05 <= score <= high + 0.05
    (mirrored,) = stats.drift_scores(-values, inference=InferenceSettings(n_permutations=40_000))
    assert -high - 0.05 <= mirrored <= -low + 0.05


def bet(scores: list[float]) -> float:
    """Return the mixture over the drift's size, N(0, 2²), of bets on scores in a row."""

    def integrand(size: float) -> float:
        gain = np.exp(sum(size * z - size**2 / 2 for z in scores))
        return float(gain * scipy_stats.norm.pdf(size, scale=2))

    return quad(integrand, -30, 30, points=[0])[0]


def test_evidence_is_a_mixture_of_bets_and_expected_to_stay_as_it_is() -> None:
    scores = [0.7, -1.1, 2.3]
    by_hand = [
        bet(scores[:1]) / 2 + 1 / 2,
        bet(scores[:2]) / 2 + bet(scores[1:2]) / 6 + 1 / 3,
        bet(scores) / 2 + bet(scores[1:]) / 6 + bet(scores[2:]) / 12 + 1 / 4,
    ]
    assert 10 ** stats.drift_evidence(np.array(scores)) == pytest.approx(by_hand)

    def next_evidence(z: float) -> float:
        path = stats.drift_evidence(np.array([*scores, z]))
        return float(10 ** path[-1] * scipy_stats.norm.pdf(z))

    assert quad(next_evidence, -12, 12)[0] == pytest.approx(by_hand[-1], rel=1e-4)


def test_scores_are_standard_normal_and_independent_where_nothing_changed() -> None:
    rng, scores = np.random.default_rng(1), []
    for number in range(60):
        rate = rng.beta(0.5, 5, (15, 1))  # few yes, so most values are ties
        values = pd.DataFrame((rng.random((15, 16)) < rate).astype(float)).mask(
            rng.random((15, 16)) < 0.1
        )
        scores.append(stats.drift_scores(values, inference=FEW._replace(seed=number)))
    flat = np.array(scores)
    tested = flat[flat != 0]
    assert len(tested) > 800
    assert scipy_stats.kstest(tested, "norm").pvalue > 0.001
    assert abs(np.corrcoef(flat[:, :-1].ravel(), flat[:, 1:].ravel())[0, 1]) < 0.12


def test_later_runs_change_no_score_and_constant_values_have_none() -> None:
    rng = np.random.default_rng(3)
    values = pd.DataFrame(rng.normal(size=(12, 7))).mask(rng.random((12, 7)) < 0.2)
    whole = stats.drift_scores(values)
    assert stats.drift_scores(values.iloc[:, :5]).tolist() == whole[:4].tolist()
    more = pd.concat([values, pd.DataFrame({6: [1.0, 2.0]}, index=[90, 91])])  # new units
    assert stats.drift_scores(more).tolist() == whole.tolist()
    constant = np.repeat(rng.normal(size=(30, 1)), 8, axis=1)
    rounded = constant + rng.choice([0, 1e-15], constant.shape)
    assert stats.drift_scores(pd.DataFrame(rounded)).tolist() == [0.0] * 7
    assert stats.drift_scores(values.iloc[:1]).tolist() == [0.0] * 6


def test_a_change_is_detected_in_as_many_runs_as_were_said_and_dated() -> None:
    rng, needed, detected, start = np.random.default_rng(4), [], [], []
    for _ in range(25):
        values = pd.DataFrame(rng.normal(size=(30, 24)))
        before = values.iloc[:, :8]
        scores = stats.drift_scores(before)
        (n,) = {stats.runs_needed(before, scores, margin=0.5, log10_evidence=1.3)}
        assert n
        values.iloc[:, 8:] += 0.5
        scores = stats.drift_scores(values.iloc[:, : 8 + n])
        detected.append((stats.drift_evidence(scores) >= 1.3).any())
        start.append(stats.drift_start(scores) + 1)
        needed.append(n)
    assert np.median(needed) < 10
    assert 0.65 <= np.mean(detected) <= 1
    assert abs(np.median(start) - 8) <= 1
