"""Rubin's rules by hand, against one fit, and by simulation."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
import scipy.stats
from hypothesis import given, settings, strategies as st

from nbbias import stats


def test_one_fit_is_the_plain_test() -> None:
    values = np.random.default_rng(0).normal(0.1, 1, 25)
    found = stats.pooled_mean(pd.DataFrame({0: values}), confidence=0.9)
    assert found == stats.one_sample(values, confidence=0.9) | {"n_lost": 0}
    hits = pd.DataFrame({0: [1.0, 0, 0, 1, np.nan]})
    share = stats.proportion_interval(2, 4, confidence=0.9) | {"n_lost": 1}
    assert stats.pooled_share(hits, confidence=0.9) == share


@pytest.mark.parametrize("fits", [1, 3])
def test_a_mean_that_is_not_tested_is_the_same_mean(fits: int) -> None:
    values = pd.DataFrame(np.random.default_rng(4).normal(0.1, 1, (12, fits)))
    values.iloc[2] = np.nan
    bounds = (-0.1, 0.1)
    tested = stats.pooled_mean(values, confidence=0.9, bounds=bounds)
    found = stats.pooled_mean(values, confidence=0.9, bounds=bounds, tested=False)
    assert found == {name: tested[name] for name in found}
    assert set(tested) - set(found) == {
        "test", "statistic_value", "df", "p_value", "effect_size",
    }  # fmt: skip
    assert (found["n"], found["n_lost"]) == (11, 1)


def test_values_alike_that_are_not_tested_give_no_reason() -> None:
    values = pd.DataFrame({1: [0.2] * 4, 2: [0.2] * 4})
    found = stats.pooled_mean(values, confidence=0.95, tested=False)
    assert found["reason"] is None
    assert found["ci_low"] == found["ci_high"] == pytest.approx(0.2)


def test_two_fits_by_hand() -> None:
    # Means 1 and 2; variances of the means 1/3 each; between: (1 + 1/2) * 1/2 = 3/4.
    values = pd.DataFrame({1: [0.0, 1, 2], 2: [1.0, 2, 3]})
    found = stats.pooled_mean(values, confidence=0.95)
    total = 1 / 3 + 3 / 4
    part = (3 / 4) / total
    observed = 3 / 5 * 2 * (1 - part)
    df = max(1.0, 1 / (1 / observed + part**2 / 1))
    assert found["estimate"] == 1.5 and found["n"] == 3
    assert found["statistic_value"] == pytest.approx(1.5 / math.sqrt(total))
    assert found["df"] == pytest.approx(df)
    half = scipy.stats.t.ppf(0.975, df) * math.sqrt(total)
    assert (found["ci_low"], found["ci_high"]) == pytest.approx((1.5 - half, 1.5 + half))
    assert found["test"] == "one-sample t, 2 of 2 fits pooled"


def test_nothing_measured_is_missing_with_its_reason() -> None:
    nothing = pd.DataFrame({1: [np.nan], 2: [np.nan]})
    found = stats.pooled_mean(nothing, confidence=0.95)
    assert np.isnan(found["estimate"]) and found["n"] == 0 and found["reason"]
    found = stats.pooled_share(nothing, confidence=0.95)
    assert np.isnan(found["estimate"]) and found["n"] == 0 and found["reason"]
    assert stats.pooled_mean(pd.DataFrame(), confidence=0.95)["n"] == 0


def test_a_fit_without_values_does_not_count_and_is_told() -> None:
    values = pd.DataFrame({1: [0.1, 0.2, 0.4], 2: [np.nan] * 3, 3: [0.3, 0.5, 0.1]})
    found = stats.pooled_mean(values, confidence=0.95)
    without = stats.pooled_mean(values[[1, 3]], confidence=0.95)
    assert found["estimate"] == without["estimate"] and found["ci_low"] == without["ci_low"]
    assert found["reason"] == "measured in 2 of 3 fits"


def test_alike_values_have_no_test_and_no_hits_a_wilson_interval() -> None:
    found = stats.pooled_mean(pd.DataFrame({1: [0.0] * 4, 2: [0.0] * 4}), confidence=0.95)
    assert found["estimate"] == 0 and np.isnan(found["p_value"]) and "alike" in found["reason"]
    found = stats.pooled_share(pd.DataFrame({1: [0.0] * 40, 2: [0.0] * 40}), confidence=0.95)
    assert found["estimate"] == found["ci_low"] == 0 and 0 < found["ci_high"] < 0.1
    one = stats.pooled_mean(pd.DataFrame({1: [0.2], 2: [0.4]}), confidence=0.95)
    assert one["estimate"] == pytest.approx(0.3) and np.isnan(one["ci_low"]) and one["reason"]


@given(st.integers(2, 5), st.integers(3, 30), st.integers(0, 10**6))
@settings(max_examples=50, deadline=None)
def test_fits_only_widen_an_interval(m: int, n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = pd.DataFrame(rng.normal(size=(n, m)))
    pooled = stats.pooled_mean(values, confidence=0.95)
    lengths = [np.ptp(scipy.stats.t.interval(0.95, n - 1, 0, values[i].sem())) for i in values]
    assert pooled["ci_high"] - pooled["ci_low"] >= np.sqrt(np.mean(np.square(lengths))) * 0.999
    assert pooled["ci_low"] <= pooled["estimate"] <= pooled["ci_high"]
    hits = (values > 0).astype(float)
    share = stats.pooled_share(hits, confidence=0.95)
    assert 0 <= share["ci_low"] <= share["estimate"] <= share["ci_high"] <= 1


def test_intervals_cover_what_no_fit_alone_does() -> None:
    """Every fit adds an error of its own to all units, as large as that of the articles."""
    rng = np.random.default_rng(1)
    covered = {"one fit": 0, "pooled": 0}
    repeats = 400
    for _ in range(repeats):
        units = rng.normal(0.5, 1, size=(50, 1))
        values = pd.DataFrame(units + rng.normal(0, 0.2, size=4) + rng.normal(0, 0.1, (50, 4)))
        for name, table in {"one fit": values[[0]], "pooled": values}.items():
            found = stats.pooled_mean(table, confidence=0.95)
            covered[name] += found["ci_low"] < 0.5 < found["ci_high"]
    # 400 draws at 0.95: three standard errors are 0.033.
    assert covered["pooled"] / repeats > 0.917
    assert covered["one fit"] / repeats < 0.9


# --- claims -----------------------------------------------------------------------------------

FITS = np.random.default_rng(3).normal([0.1, 0.2, 0.3], 1.0, (30, 3))


def test_a_claim_of_means_is_the_pooled_mean() -> None:
    """Each fit's own t interval holds all that the pooling of its values knows."""
    rows = [{"statistic": "x"} | stats.one_sample(own, confidence=0.9) for own in FITS.T]
    found = stats.pooled_claims(rows, confidence=0.9)
    expected = stats.pooled_mean(pd.DataFrame(FITS), confidence=0.9)
    for name in ("estimate", "ci_low", "ci_high", "statistic_value", "df", "p_value", "n"):
        assert found[name] == pytest.approx(expected[name])
    assert found["test"] == "one-sample t" and found["reason"] is None


def test_a_claim_of_shares_is_the_pooled_share() -> None:
    hits = pd.DataFrame((FITS > 0).astype(float))
    rows = [
        {"statistic": "prejudice_share"}
        | stats.proportion_interval(int(own.sum()), len(own), confidence=0.9)
        for _, own in hits.items()
    ]
    found = stats.pooled_claims(rows, confidence=0.9)
    expected = stats.pooled_share(hits, confidence=0.9)
    for name in ("estimate", "ci_low", "ci_high", "n"):
        assert found[name] == pytest.approx(expected[name])


def test_a_claim_of_one_fit_is_its_own() -> None:
    row = {"statistic": "x", "n_lost": 2} | stats.one_sample(FITS[:, 0], confidence=0.9)
    assert stats.pooled_claims([row], confidence=0.9) == row


def test_a_fit_that_could_not_make_a_claim_does_not_count_and_is_told() -> None:
    rows = [
        {"statistic": "x"} | stats.one_sample(own, confidence=0.9)
        for own in (FITS[:, 0], FITS[:0, 0], FITS[:, 1])
    ]
    found = stats.pooled_claims(rows, confidence=0.9)
    assert found["estimate"] == pytest.approx(FITS[:, :2].mean())
    assert found["reason"] == "measured in 2 of 3 fits"
    alone = stats.pooled_claims(rows[:2], confidence=0.9)
    assert alone["estimate"] == rows[0]["estimate"]
    assert alone["reason"] == "measured in 1 of 2 fits"
    nothing = stats.pooled_claims([rows[1], rows[1]], confidence=0.9)
    assert np.isnan(nothing["estimate"]) and nothing["reason"] == "no value was measured"


def test_fits_that_agree_exactly_have_no_test() -> None:
    row = {"statistic": "x"} | stats.one_sample(np.ones(5), confidence=0.9)
    found = stats.pooled_claims([row, row], confidence=0.9)
    assert found["estimate"] == 1 and np.isnan(found["p_value"])
