"""Shares corrected for an instrument's errors: by hand, by draws, and at the ends."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm
from statsmodels.stats.proportion import proportion_confint

from nbbias import stats

COUNTS = pd.DataFrame(
    {"tp": [206, 203, 41], "fn": [5, 27, 8], "tn": [229, 175, 377], "fp": [10, 45, 24]}
)
RATES = stats.estimate_error_rates(COUNTS)
#: Many answers of many models that are alike: the error rates are as good as known.
KNOWN = stats.estimate_error_rates(
    pd.DataFrame({"tp": [9_000] * 40, "fn": 1_000, "tn": [8_000] * 40, "fp": 2_000})
)


def share(refused: int, n: int, rates: stats.ErrorRates = RATES) -> dict[str, float]:
    return stats.correct_share(refused / n, n, rates=rates, confidence=0.95).row()


# --- error rates ------------------------------------------------------------------------------


def test_rates_are_means_over_models_however_many_answers_each_has() -> None:
    assert RATES.sensitivity == pytest.approx(np.mean([206 / 211, 203 / 230, 41 / 49]))
    assert RATES.specificity == pytest.approx(np.mean([229 / 239, 175 / 220, 377 / 401]))
    assert RATES.models == 3


def test_a_further_model_is_expected_where_draws_of_the_random_effects_fall() -> None:
    """By importance sampling: spread and mean from their priors, weighed by the three logits."""
    rng = np.random.default_rng(0)
    hits, misses = (COUNTS[name].to_numpy() + 0.5 for name in ("tp", "fn"))
    logit, error = np.log(hits / misses), 1 / hits + 1 / misses
    spread = np.abs(rng.normal(0, 1, 400_000))
    mean = rng.uniform(-4, 9, 400_000)
    fit = norm.pdf(logit, mean[:, None], np.sqrt(error + spread[:, None] ** 2)).prod(axis=1)
    drawn = rng.choice(400_000, 100_000, p=fit / fit.sum())
    further = 1 / (1 + np.exp(-rng.normal(mean[drawn], spread[drawn])))
    values = np.linspace(-4, 8, len(RATES.of_positives))
    ends, below = values + (values[1] - values[0]) / 2, RATES.of_positives.cumsum()
    assert below[-1] == pytest.approx(1)
    for at in (0.5, 0.6, 0.8, 0.9, 0.97):
        found = np.interp(np.log(at / (1 - at)), ends, below)
        assert found == pytest.approx((further < at).mean(), abs=0.01)


def test_no_model_at_all_is_refused() -> None:
    with pytest.raises(ValueError, match="one model at least"):
        stats.estimate_error_rates(COUNTS.head(0))


# --- shares -----------------------------------------------------------------------------------


def test_a_share_is_rogan_and_gladen_s_by_hand() -> None:
    """Se .9, Sp .8: of a true half .45 + .1 = .55 are called, so .55 gives a half."""
    assert share(550, 1000, KNOWN)["estimate"] == pytest.approx(0.5)


def test_with_known_errors_the_interval_is_that_of_the_share_called() -> None:
    """Wilson's and Jeffreys' ends of 550 of 1,000 nearly agree; each end is corrected alone."""
    found = share(550, 1000, KNOWN)
    low, high = ((end - 0.2) / 0.7 for end in proportion_confint(550, 1000, method="wilson"))
    assert (found["ci_low"], found["ci_high"]) == pytest.approx((low, high), abs=0.01)


@pytest.mark.parametrize("n", [1, 5, 23, 400])
def test_every_share_keeps_within_0_and_1_and_within_its_interval(n: int) -> None:
    for refused in {0, 1, n // 2, n}:
        found = share(refused, n)
        assert 0 <= found["ci_low"] <= found["estimate"] <= found["ci_high"] <= 1
        assert found["ci_low"] < found["ci_high"]


def test_an_instrument_that_tells_nothing_leaves_everything_open() -> None:
    coin = pd.DataFrame({"tp": [50, 52], "fn": [50, 48], "tn": [51, 50], "fp": [49, 50]})
    found = share(30, 60, stats.estimate_error_rates(coin))
    assert (found["ci_low"], found["ci_high"]) == pytest.approx((0, 1), abs=0.02)
    wrong = stats.estimate_error_rates(coin.set_axis(["fn", "tp", "fp", "tn"], axis=1))
    found = share(30, 60, wrong)
    assert np.isnan(found["estimate"]) and "no better than chance" in str(found["reason"])


# --- differences ------------------------------------------------------------------------------


def difference(
    first: float, second: float, half: float, rates: stats.ErrorRates = RATES
) -> dict[str, float]:
    d = first - second
    row = stats.Estimate(d, d - half, d + half)
    shares = [(first, 50.0), (second, 50.0)]
    return stats.correct_difference(row, shares=shares, rates=rates, confidence=0.95).row()


def test_a_difference_is_stretched_by_how_much_the_instrument_tells() -> None:
    """Se .9, Sp .8: rates of .6 and .2 are called .62 and .34, and .28 / .7 is .4."""
    found = difference(0.62, 0.34, 0.07, KNOWN)
    assert found["estimate"] == pytest.approx(0.4, abs=0.01)
    assert (found["ci_low"], found["ci_high"]) == pytest.approx((0.3, 0.5), abs=0.015)


def test_a_difference_s_sign_turns_with_it_and_none_stays_none() -> None:
    up, down = difference(0.5, 0.3, 0.1), difference(0.3, 0.5, 0.1)
    assert up["estimate"] == pytest.approx(-down["estimate"])
    assert up["ci_low"] == pytest.approx(-down["ci_high"], abs=0.003)
    still = difference(0.3, 0.3, 0.1)
    assert still["estimate"] == 0
    assert still["ci_low"] == pytest.approx(-still["ci_high"], abs=0.003)


def test_a_difference_is_no_larger_than_its_two_shares_leave_room_for() -> None:
    shares = (0.62, 0.34)
    one, two = (stats.correct_share(p, 50.0, rates=KNOWN, confidence=0.95) for p in shares)
    found = difference(*shares, 0.9, KNOWN)
    assert found["ci_low"] == one.ci_low - two.ci_high
    assert found["ci_high"] == one.ci_high - two.ci_low


def test_a_difference_without_interval_or_estimate_says_why() -> None:
    row = stats.Estimate(0.3, reason="no spread")
    told = {"shares": [(0.3, 9.0), (0.0, 9.0)], "rates": RATES, "confidence": 0.95}
    found = stats.correct_difference(row, **told).row()
    assert np.isfinite(found["estimate"]) and np.isnan(found["ci_low"])
    assert found["reason"] == "no spread"
    gap = stats.correct_difference(stats.Estimate(reason="no spread"), **told).row()
    assert np.isnan(gap["estimate"]) and gap["reason"] == "no spread"
