"""Articles crossed with fits: against an analysis of variance, one fit, and by simulation."""

import numpy as np
import pandas as pd
import pytest
import scipy.stats
from statsmodels.formula.api import ols
from statsmodels.stats.anova import anova_lm

from nbbias import stats


def test_one_fit_is_the_plain_test() -> None:
    values = np.random.default_rng(0).normal(0.1, 1, 25)
    found = stats.pooled_mean(pd.DataFrame({0: values}), confidence=0.9).row()
    assert found == stats.one_sample(values, confidence=0.9).row() | {"n_lost": 0}
    hits = pd.DataFrame({0: [1.0, 0, 0, 1, np.nan]})
    share = stats.proportion_interval(2, 4, confidence=0.9).row() | {"n_lost": 1}
    assert stats.pooled_share(hits, confidence=0.9).row() == share


@pytest.mark.parametrize("of_fits", [0.0, 0.3, 2.0])
def test_the_variance_is_that_of_the_two_way_analysis_of_variance(of_fits: float) -> None:
    n, m = 12, 4
    rng = np.random.default_rng(5)
    values = pd.DataFrame(rng.normal(size=(n, 1)) + rng.normal(0, of_fits, m))
    values += rng.normal(0, 0.5, (n, m))
    long = values.rename_axis("unit").reset_index().melt("unit", var_name="fit")
    table = anova_lm(ols("value ~ C(unit) + C(fit)", long).fit())
    of_units, fits, rest = table["mean_sq"] / (n * m)
    total = of_units + max(fits - rest, 0)
    df = total**2 / (of_units**2 / (n - 1) + (fits**2 / (m - 1) if fits > rest else 0))
    found = stats.pooled_mean(values, confidence=0.95).row()
    assert found["statistic_value"] == pytest.approx(found["estimate"] / np.sqrt(total))
    assert found["df"] == pytest.approx(df)
    half = scipy.stats.t.ppf(0.975, df) * np.sqrt(total)
    assert found["ci_high"] - found["estimate"] == pytest.approx(half)
    assert found["test"].startswith("one-sample t, 4 of 4 fits pooled, same sign in ")


def test_of_two_samples_with_one_fit_each_side_is_welch_s() -> None:
    """Fits alike: the articles alone have a variance, and it is that of Welch's test."""
    rng = np.random.default_rng(6)
    a, b = rng.normal(0.4, 1, 12), rng.normal(0, 2, 9)
    tables = [pd.DataFrame({1: own, 2: own, 3: own}) for own in (a, b)]
    found = stats.pooled_difference(*tables, confidence=0.95).row()
    welch = scipy.stats.ttest_ind(a, b, equal_var=False)
    assert found["statistic_value"] == pytest.approx(welch.statistic)
    assert (found["estimate"], found["n"]) == (pytest.approx(a.mean() - b.mean()), 21)
    assert found["df"] == 19
    none = pd.DataFrame({1: [np.nan], 2: [np.nan], 3: [np.nan]})
    nothing = stats.pooled_difference(tables[0], none, confidence=0.95).row()
    assert np.isnan(nothing["estimate"]) and nothing["reason"] == "no value was measured"


def test_nothing_measured_is_missing_with_its_reason() -> None:
    nothing = pd.DataFrame({1: [np.nan], 2: [np.nan]})
    for pooled in (stats.pooled_mean, stats.pooled_share):
        found = pooled(nothing, confidence=0.95)
        assert np.isnan(found.estimate) and found.reason
        assert (found.n, found.n_lost) == (0, 1)
    assert stats.pooled_mean(pd.DataFrame(), confidence=0.95).n == 0


def test_a_fit_without_values_does_not_count_and_is_told() -> None:
    values = pd.DataFrame(np.random.default_rng(1).normal(size=(9, 4))).assign(nothing=np.nan)
    found = stats.pooled_mean(values, confidence=0.95).row()
    without = stats.pooled_mean(values.drop(columns="nothing"), confidence=0.95).row()
    assert found["estimate"] == without["estimate"] and found["ci_low"] == without["ci_low"]
    assert found["reason"] == "measured in 4 of 5 fits" and without["reason"] is None


@pytest.mark.parametrize(("measured", "fits"), [(1, 3), (2, 3), (1, 2), (2, 4), (3, 5)])
def test_what_few_fits_measure_is_shown_and_not_told(measured: int, fits: int) -> None:
    """One fit of three used to be the surest of all: its t interval over articles alone."""
    values = pd.DataFrame(np.random.default_rng(2).normal(-0.25, 0.2, (71, fits)))
    values.iloc[:, measured:] = np.nan
    found = stats.pooled_mean(values, confidence=0.95).row()
    share = stats.pooled_share((values < 0).where(values.notna()), confidence=0.95).row()
    two = stats.pooled_difference(values, values + 1, confidence=0.95).row()
    assert found["estimate"] == pytest.approx(values.stack().mean()) and found["n"] == 71
    for row in (found, share, two):
        assert row["reason"] == f"not stable over fits: measured in {measured} of {fits} fits"
        assert np.isnan([row["ci_low"], row["ci_high"]]).all()
    assert np.isnan(found["p_value"]) and np.isnan(two["p_value"])


def test_units_that_a_fit_did_not_measure_are_left_out_of_that_fit() -> None:
    values = pd.DataFrame(np.random.default_rng(3).normal(0.2, 1, (30, 4)))
    values.iloc[:5, 0] = np.nan
    values.iloc[7, 1:] = np.nan  # of this unit one fit is left
    found = stats.pooled_mean(values, confidence=0.95).row()
    assert found["estimate"] == pytest.approx(values.mean().mean())
    assert (found["n"], found["n_lost"]) == (25, 5) and found["reason"] is None


def test_alike_values_have_no_test_and_no_hits_a_wilson_interval() -> None:
    found = stats.pooled_mean(pd.DataFrame({1: [0.0] * 4, 2: [0.0] * 4}), confidence=0.95).row()
    assert found["estimate"] == 0 and np.isnan(found["p_value"])
    assert "no variance" in found["reason"]
    found = stats.pooled_share(pd.DataFrame({1: [0.0] * 40, 2: [0.0] * 40}), confidence=0.95).row()
    assert found["estimate"] == found["ci_low"] == 0 and 0 < found["ci_high"] < 0.1
    one = stats.pooled_mean(pd.DataFrame({1: [0.2], 2: [0.4]}), confidence=0.95).row()
    assert one["estimate"] == pytest.approx(0.3) and np.isnan(one["ci_low"]) and one["reason"]


def test_the_effect_size_is_the_fits_mean_and_none_where_a_fit_has_no_spread() -> None:
    values = pd.DataFrame(np.random.default_rng(5).normal(0.3, 1, (12, 3)))
    values.iloc[:4, 1] = np.nan
    row = stats.pooled_mean(values, confidence=0.95).row()
    flat = stats.pooled_mean(values.assign(flat=0.2), confidence=0.95).row()
    alone = [stats.one_sample(values[fit], confidence=0.95).effect_size for fit in values]
    assert row["effect_size"] == pytest.approx(np.mean(alone))
    assert np.isnan(flat["effect_size"])
