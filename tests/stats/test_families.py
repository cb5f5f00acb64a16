"""Families of tests: Holm, selection, equivalence and shrinkage against statsmodels and by hand."""

import numpy as np
import pandas as pd
import pytest
import scipy.stats
from hypothesis import given, strategies as st
from scipy.stats import binomtest, norm, t
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint
from statsmodels.stats.weightstats import ttost_paired

from nbbias import stats, tables

P = st.floats(0, 1) | st.just(np.nan)
ROWS = st.lists(st.tuples(P, st.sampled_from(["x", "y", None])), min_size=1)


def table(p: list[float], **columns: list) -> pd.DataFrame:
    return pd.DataFrame({"p_value": p, **columns})


@given(ROWS)
def test_each_family_is_corrected_as_statsmodels_does_a_gap_being_one_too(
    rows: list[tuple],
) -> None:
    p, names = map(list, zip(*rows, strict=True))
    found = stats.adjust(table(p, task=names), family=["task"])
    assert found.loc[np.isnan(p), "p_adjusted"].isna().all()
    for name in set(names):
        own = found[[one == name for one in names]].dropna(subset=["p_value"])
        if len(own):
            expected = multipletests(own["p_value"], method="holm")[1]
            assert own["p_adjusted"].tolist() == pytest.approx(expected)


def test_rows_outside_keep_what_they_have_and_do_not_count() -> None:
    rows = table([0.01, 0.02, 0.03], statistic=["a", "b", "c"])
    once = stats.adjust(rows, where={"statistic": ["a", "b"]})
    assert once["p_adjusted"].tolist() == pytest.approx([0.02, 0.02, np.nan], nan_ok=True)
    twice = stats.adjust(once, where=rows["statistic"] == "c")
    assert twice["p_adjusted"].tolist() == pytest.approx([0.02, 0.02, 0.03])
    assert "p_adjusted" not in rows


def test_images_are_matched_within_their_own_family_instrument_and_cell() -> None:
    columns = {"group": ["she", "he"] * 2, "instrument": list("iijj"), "statistic": ["d"] * 4}
    rows = table([0.01, 0.01, 0.03, 0.03], **columns)
    found = stats.adjust(rows, family=["instrument"], mirror="group")
    assert found["p_adjusted"].tolist() == pytest.approx([0.01, 0.01, 0.03, 0.03])
    whole = stats.adjust(rows, mirror="group")
    assert whole["p_adjusted"].tolist() == pytest.approx([0.02, 0.02, 0.03, 0.03])


def test_no_row_is_no_error() -> None:
    none = table([]).astype(float)
    assert stats.adjust(none.assign(group=[]), mirror="group")["p_adjusted"].tolist() == []
    assert stats.adjust(none)["p_adjusted"].tolist() == []
    assert stats.adjust(none.assign(task=[]), family=["task"])["p_adjusted"].tolist() == []


def test_a_row_that_no_outcome_could_bring_below_the_level_says_so() -> None:
    rows = [{"estimate": 1.0, "p_value": 1 / 16, "p_least": 1 / 16, "n": 4}] * 3
    rows += [{"estimate": 1.0, "p_value": 0.3, "p_least": 1e-4, "n": 30}]
    table = stats.adjust(tables.estimates(rows, study="cogs", confidence=0.95))
    assert table["reason"][:3].tolist() == [f"{tables.UNTESTABLE}0.19"] * 3
    assert table["reason"].isna().tolist()[3]  # it can be told, and was not
    assert table["p_adjusted"].tolist() == pytest.approx([4 / 16] * 3 + [0.3])
    # Alone, and at a lower level, one sixteenth is enough.
    alone = stats.adjust(tables.estimates(rows[:1], study="cogs", confidence=0.9))
    assert alone["reason"].isna().all()


def test_what_was_not_tested_takes_no_p_from_another_group() -> None:
    rows = table([0.01, 0.2, np.nan], group=list("abc"), statistic=["d"] * 3)
    found = stats.adjust(rows, where={"statistic": "d"}, mirror="group")
    assert found["p_adjusted"].tolist()[:2] == pytest.approx([0.02, 0.2])
    assert np.isnan(found["p_adjusted"][2])


# --- selection --------------------------------------------------------------------------------


@given(st.lists(st.floats(-6, 6), min_size=1, max_size=12))
def test_no_interval_of_a_claim_that_holm_selects_holds_0(t: list[float]) -> None:
    rows = pd.DataFrame({"estimate": t, "df": 30.0, "confidence": 0.95})
    half = scipy.stats.t.isf(0.025, 30)
    rows = rows.assign(ci_low=rows["estimate"] - half, ci_high=rows["estimate"] + half)
    rows = stats.adjust(rows.assign(p_value=2 * scipy.stats.t.sf(np.abs(t), 30)))
    ends = stats.selection_interval(rows).dropna()
    significant = (rows["p_adjusted"] < 0.05).sum()
    assert len(ends) == significant * (significant < len(rows))  # if all are, none is selected
    assert (np.sign(ends["ci_low_selected"]) == np.sign(ends["ci_high_selected"])).all()
    # Benjamini and Yekutieli (2005): of m, R selected, each at 1 - alpha R / m.
    halves = ends["ci_high_selected"] - rows.loc[ends.index, "estimate"]
    expected = scipy.stats.t.isf(0.025 * len(ends) / len(rows), 30)
    assert halves.tolist() == pytest.approx([expected] * len(ends))


# --- equivalence and shrinkage ----------------------------------------------------------------


def rows_of(means: np.ndarray, errors: np.ndarray, df: float = np.nan) -> pd.DataFrame:
    """Return rows of ESTIMATES with 95% intervals of t, or of the normal distribution."""
    half = t.ppf(0.975, np.inf if np.isnan(df) else df) * errors
    table = {"estimate": means, "ci_low": means - half, "ci_high": means + half}
    return pd.DataFrame(table | {"df": df, "confidence": 0.95, "null": 0.0})


# --- standard errors --------------------------------------------------------------------------


def test_an_interval_that_is_cut_still_tells_by_its_longer_half() -> None:
    rows = rows_of(np.array([0.9]), np.array([0.1])).assign(ci_high=1.0)
    assert stats.standard_errors(rows).tolist() == pytest.approx([0.1])


def test_without_an_interval_or_a_spread_no_standard_error_is_known() -> None:
    rows = rows_of(np.array([0.1, 0.2]), np.array([0.0, np.nan]))
    assert stats.standard_errors(rows).isna().all()


# --- equivalence ------------------------------------------------------------------------------


@pytest.mark.parametrize(("seed", "bound"), [(0, 0.02), (1, 0.1), (2, 0.4)])
def test_two_one_sided_tests_are_those_of_statsmodels(seed: int, bound: float) -> None:
    first, second = np.random.default_rng(seed).normal(0.05, 0.2, (2, 25))
    row = stats.paired_difference(pd.Series(first), pd.Series(second), confidence=0.95).row()
    found = stats.equivalence_test(
        pd.DataFrame([row | {"confidence": 0.95}]), within=pd.Series([bound])
    )
    p, lower, upper = ttost_paired(first, second, -bound, bound)
    assert found["p_within"].iloc[0] == pytest.approx(p)
    # Beyond the bounds: the two-sided test against the nearer one.
    nearer = upper[0] if row["estimate"] > 0 else -lower[0]
    assert found["p_beyond"].iloc[0] == pytest.approx(min(2 * t.sf(nearer, 24), 1))


def test_without_a_bound_nothing_is_tested() -> None:
    rows = rows_of(np.array([0.1, 0.2]), np.array([0.05, 0.05]))
    found = stats.equivalence_test(rows, within=pd.Series([np.nan, 0.1]))
    assert found.isna().all(axis=1).tolist() == [True, False]


def test_the_half_of_the_interval_that_faces_the_bound_decides() -> None:
    """97 of 120 intervals of 95% hold: Wilson's interval, less the level, is longer downwards."""
    low, high = proportion_confint(97, 120, method="wilson")
    middle, below, above = (end - 0.95 for end in (97 / 120, low, high))
    row = {"estimate": middle, "ci_low": below, "ci_high": above, "df": np.nan, "confidence": 0.95}
    turned = row | {"estimate": -middle, "ci_low": -above, "ci_high": -below}
    found = stats.equivalence_test(pd.DataFrame([row, turned]), within=pd.Series([0.02, 0.02]))
    error = (high - 97 / 120) / norm.ppf(0.975)
    expected = 2 * norm.sf((0.95 - 97 / 120 - 0.02) / error)
    assert found["p_beyond"].tolist() == pytest.approx([expected] * 2)
    assert expected == pytest.approx(9e-5, rel=0.3)  # an exact binomial test has 9e-6
    assert binomtest(97, 120, 0.93, alternative="less").pvalue < expected
    # Within bounds it is the half that faces outwards.
    near = row | {"estimate": -0.01, "ci_low": -0.03, "ci_high": -0.001}
    found = stats.equivalence_test(pd.DataFrame([near]), within=pd.Series([0.05]))
    assert found["p_within"].iloc[0] == pytest.approx(norm.cdf(-0.04 / (0.02 / norm.ppf(0.975))))


# --- the largest of many ----------------------------------------------------------------------


def test_estimates_are_shrunken_to_their_posterior_means() -> None:
    means, errors = np.array([-0.2, 0.0, 0.1, 0.4]), np.array([0.1, 0.05, 0.1, 0.15])
    found = stats.shrink_estimates(rows_of(means, errors))
    # Paule and Mandel: the spread at which the weighted squares are as many as they should be.
    spreads = np.linspace(0, 0.2, 200_001)
    weights = 1 / (errors**2 + spreads[:, None])
    centre = (weights * means).sum(axis=1) / weights.sum(axis=1)
    squares = (weights * (means - centre[:, None]) ** 2).sum(axis=1)
    at = np.abs(squares - 3).argmin()
    # The posterior by a grid, each true effect normal about the centre.
    grid = np.linspace(-1, 1, 20_001)
    prior = norm.pdf(grid, centre[at], np.sqrt(spreads[at]))
    likelihood = norm.pdf(means[:, None], grid, errors[:, None])
    posterior = (prior * likelihood * grid).sum(axis=1) / (prior * likelihood).sum(axis=1)
    assert found.tolist() == pytest.approx(posterior, abs=1e-4)


@pytest.mark.parametrize(
    ("count", "n", "within"), [(101, 125, 0.02), (393, 400, 0.02), (380, 400, 0.06)]
)
def test_shares_are_equivalent_to_a_level_by_exact_tails(count: int, n: int, within: float) -> None:
    row = {"estimate": count / n - 0.95, "n": n, "nominal": 0.95, "df": np.nan, "confidence": 0.95}
    rows = pd.DataFrame([row | {"ci_low": -0.1, "ci_high": 0.1}])
    found = stats.equivalence_test(rows, within=pd.Series([within]))

    def p(bound: float, side: str) -> float:
        return float(binomtest(count, n, min(bound, 1), alternative=side).pvalue)

    low, high = 0.95 - within, 0.95 + within
    # No share exceeds 1, so a bound above it is kept by all.
    expected = max(p(low, "greater"), p(high, "less") if high < 1 else 0)
    assert found["p_within"].item() == pytest.approx(expected)
    expected = min(1, 2 * min(p(low, "less"), p(high, "greater")))
    assert found["p_beyond"].item() == pytest.approx(expected)
