"""Analysis of variance against scipy and sums by hand; distances of all pairs by scipy."""

import numpy as np
import pandas as pd
import pytest
import scipy.stats
from scipy.spatial.distance import pdist
from statsmodels.formula.api import ols

from nbbias import stats


def grouped(**groups: list[float]) -> pd.DataFrame:
    rows = [(name, float(value)) for name, values in groups.items() for value in values]
    return pd.DataFrame(rows, columns=["group", "value"])


FIVE = grouped(a=[1, 2, 4], b=[2, 5, 3], c=[7, 4, 6], d=[1, 1, 2], e=[3, 9, 4])
#: Two groups of two: means 2 and 4, pooled variance (2 + 8) / 2 = 5 on 2 degrees of freedom.
TWO = grouped(a=[1, 3], b=[2, 6])


# --- anova ------------------------------------------------------------------------------------


def test_the_effect_size_of_two_groups_is_omega_squared_by_hand() -> None:
    # Between 2 (2-3)^2 + 2 (4-3)^2 = 4 on 1; within 10 on 2; total 14. F: `cogs.rbs`, by scipy.
    result = stats.anova(TWO, value="value", by="group")
    assert result.estimate == result.effect_size == pytest.approx((4 - 1 * 5) / (14 + 5))
    assert (result.df, result.n) == (2, 4)


@pytest.mark.parametrize(
    "table", [FIVE.head(0), grouped(a=[1, 2, 3]), grouped(a=[1], b=[2], c=[5])]
)
def test_anova_says_why_it_cannot_be_run(table: pd.DataFrame) -> None:
    result = stats.anova(table, value="value", by="group")
    assert np.isnan([result.statistic_value, result.p_value, result.effect_size]).all()
    assert result.reason


# --- means of groups --------------------------------------------------------------------------


def coded(table: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    return table["value"].to_numpy(), table["group"].factorize()[0]


def test_group_means_share_the_pooled_variance_of_five() -> None:
    means, errors, df = stats.group_means(*coded(FIVE))
    fitted = ols("value ~ 0 + group", data=FIVE).fit()
    assert means == pytest.approx(fitted.params.to_numpy())
    assert errors == pytest.approx(fitted.bse.to_numpy())
    assert df == 10


def test_the_mean_of_two_groups_means_is_welchs() -> None:
    # The negative of one group turns half of a difference into a mean of means; Welch's plain
    # degrees of freedom differ from the unbiased ones.
    estimate, error, df = stats.mean_of_means(*coded(grouped(a=[-1, -3, -4], b=[2, 6])))
    expected = scipy.stats.ttest_ind([2, 6], [1, 3, 4], equal_var=False)
    assert estimate / error == pytest.approx(expected.statistic)
    v = np.array([7 / 3 / 3, 8 / 2]) / 4
    assert df == pytest.approx(np.clip(v.sum() ** 2 / (v**2 / [4, 3]).sum() - 2, 1, 3))


def test_a_group_of_one_borrows_the_variance_of_the_others() -> None:
    estimate, error, df = stats.mean_of_means(*coded(grouped(a=[1, 3], b=[2, 6], c=[9])))
    assert estimate == pytest.approx((2 + 4 + 9) / 3)
    assert error == pytest.approx(np.sqrt(2 / 2 + 8 / 2 + 5) / 3)
    assert 1 <= df <= 2


def test_groups_of_one_and_equal_values_have_no_spread() -> None:
    estimate, error, df = stats.mean_of_means(*coded(grouped(a=[1], b=[3])))
    assert (estimate, df) == (2, 0) and np.isnan(error)
    assert np.isnan(stats.group_means(*coded(grouped(a=[1], b=[3])))[1]).all()
    assert stats.mean_of_means(*coded(grouped(a=[1, 1], b=[1, 1]))) == (1, 0, 2)


# --- ratios of spreads ------------------------------------------------------------------------


@pytest.mark.parametrize("n", [10, 80])
def test_the_interval_of_a_ratio_of_spreads_covers_it_in_clusters(n: int) -> None:
    rng = np.random.default_rng(n)
    held, clusters = 0, np.repeat(np.arange(n), 6)
    for _ in range(300):
        common = rng.normal(0, 0.5, n)[clusters]
        drawn = common + rng.laplace(0, 0.7, (2, 6 * n))
        first, second = pd.Series(1.6 * drawn[0]), pd.Series(drawn[1])
        row = stats.spread_ratio(first, second, clusters=(clusters, clusters), confidence=0.95)
        held += row.ci_low <= 1.6 <= row.ci_high
        assert row.estimate == pytest.approx(np.std(first) / np.std(second))
    assert 0.9 <= held / 300 <= 0.99


def test_a_side_that_does_not_vary_has_no_ratio() -> None:
    values, equal = pd.Series([1.0, 2.0, 3.0]), pd.Series([0.1] * 3)  # whose deviation is 1e-17
    row = stats.spread_ratio(values, equal, clusters=("abc", "abc"), confidence=0.95)
    assert np.isnan(row.estimate) and row.reason


# --- pairwise_distances ------------------------------------------------------------------------


def unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


def test_jackknife_values_are_those_of_leaving_one_text_out() -> None:
    texts = unit(np.random.default_rng(1).standard_normal((2, 7, 5)) + 0.5)
    for of, found in zip(texts, stats.pairwise_distances(texts), strict=True):
        every = pdist(of, "cosine").mean()
        left = [pdist(np.delete(of, i, axis=0), "cosine").mean() for i in range(7)]
        np.testing.assert_allclose(found, 7 * every - 6 * np.array(left))
        np.testing.assert_allclose(found.mean(), np.trace(np.cov(of.T)))
    assert np.isnan(stats.pairwise_distances(texts[:, :2])).all()


def test_neither_number_of_texts_nor_of_repeats_moves_the_mean() -> None:
    rng, means = np.random.default_rng(2), {}
    for texts, repeats in ((3, 1), (12, 1), (6, 4)):
        drawn = unit(rng.standard_normal((4000, texts, repeats, 6)) + np.eye(6)[0])
        # Texts on one theme share it: what differs between its repeats is averaged.
        means[texts, repeats] = stats.pairwise_distances(drawn.mean(axis=2)).mean(axis=1)
    true = 1 - np.linalg.norm(unit(rng.standard_normal((400_000, 6)) + np.eye(6)[0]).mean(0)) ** 2
    for found in means.values():
        assert abs(found.mean() - true) < 4 * found.std() / np.sqrt(len(found))
