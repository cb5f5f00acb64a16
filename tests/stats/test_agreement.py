"""Multitrait–multimethod correlations and kappa: against libraries, by hand, and a known truth."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.stats
from hypothesis import given, strategies as st
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import cohens_kappa

from nbbias import stats
from nbbias.stats.agreement import MEASURE

#: Two groups of one bias and one of another, each by two scorers.
NAMES = [
    *(("gender", group, scorer) for group in ("female", "male") for scorer in "ab"),
    *(("race", "Black", scorer) for scorer in "ab"),
]


def simulated(
    rng: np.random.Generator, n: int, *, trait: float, method: float, models: int = 1
) -> tuple[pd.DataFrame, np.ndarray]:
    """Measures of `n` articles by shares of variance, half of each shared by an article's texts."""

    def part(k: int) -> np.ndarray:
        shared, own = rng.normal(size=(n, 1, k)), rng.normal(size=(n, models, k))
        return ((shared + own) / np.sqrt(2)).reshape(n * models, k)

    values = np.sqrt(trait) * part(3).repeat(2, axis=1) + np.sqrt(method) * np.tile(part(2), 3)
    values += np.sqrt(1 - trait - method) * part(6)
    columns = pd.MultiIndex.from_tuples(NAMES, names=MEASURE)
    return pd.DataFrame(values, columns=columns), np.arange(n).repeat(models)


def by_statistic(values: pd.DataFrame, articles: np.ndarray, **how: Any) -> pd.DataFrame:
    how = {"confidence": 0.95} | how
    return stats.multitrait_multimethod(values, clusters=articles, **how).set_index("statistic")


def test_correlations_are_those_of_scipy_and_their_means() -> None:
    values, articles = simulated(np.random.default_rng(1), 30, trait=0.4, method=0.2)
    table = stats.multitrait_multimethod(values.rank(), clusters=articles, confidence=0.95)
    pairs = table.dropna(subset="first")
    expected = scipy.stats.spearmanr(values.to_numpy()).statistic
    ends = pairs[["first", "second"]].to_numpy(int).T
    assert pairs["estimate"].to_numpy() == pytest.approx(expected[tuple(ends)])
    # By hand: women, men, Black people by a and b (0 to 5); no woman beside a man.
    convergent = np.mean([expected[0, 1], expected[2, 3], expected[4, 5]])
    discriminant = np.mean([expected[at] for at in ((0, 4), (2, 4), (1, 5), (3, 5))])
    means = table.set_index("statistic")["estimate"]
    assert means["convergent_mean"] == pytest.approx(convergent)
    assert means["discriminant_mean"] == pytest.approx(discriminant)
    assert means["validity_difference"] == pytest.approx(convergent - discriminant)
    assert len(pairs) == 3 + 4 + 4


def test_intervals_are_those_of_a_plain_jackknife_over_articles() -> None:
    values, articles = simulated(np.random.default_rng(2), 25, trait=0.3, method=0.3, models=3)
    models = np.tile(np.arange(3), 25)
    values.iloc[::7, 4] = np.nan
    table = by_statistic(values, articles, strata=models, confidence=0.9)
    deviations = values - values.groupby(models).transform("mean")
    # Women's and men's measures are whole; of Black people's by the first scorer some are missing.
    whole = values.dropna()
    of_four = whole - whole.groupby(models[whole.index]).transform("mean")

    def difference(kept: np.ndarray) -> float:
        def r(first: int, second: int) -> float:
            table = of_four if 4 in (first, second) else deviations
            table = table[kept[table.index]]
            return float(table.iloc[:, first].corr(table.iloc[:, second]))

        discriminant = np.mean([r(0, 4), r(2, 4), r(1, 5), r(3, 5)])
        return float(np.mean([r(0, 1), r(2, 3), r(4, 5)]) - discriminant)

    others = np.array([difference(articles != article) for article in range(25)])
    error = np.sqrt(24 / 25 * ((others - others.mean()) ** 2).sum())
    row = table.loc["validity_difference"]
    half = scipy.stats.t.ppf(0.95, 24) * error
    assert row["estimate"] == pytest.approx(difference(articles >= 0))
    assert row["ci_high"] - row["estimate"] == pytest.approx(half)
    assert row["p_value"] == pytest.approx(2 * scipy.stats.t.sf(abs(row["estimate"]) / error, 24))


def test_what_cannot_be_compared_says_why() -> None:
    values, articles = simulated(np.random.default_rng(4), 30, trait=0.4, method=0.2)
    one_scorer = values.loc[:, values.columns.get_level_values("method") == "a"]
    table = by_statistic(one_scorer, articles)
    assert table.loc["validity_difference", "reason"] == "needs two methods of one trait"
    one_bias = values["gender"]
    one_bias.columns = pd.MultiIndex.from_tuples(NAMES[:4], names=MEASURE)
    table = by_statistic(one_bias, articles)
    assert table.loc["validity_difference", "reason"] == "needs two traits by one method"
    # One article in which a scorer says something is no variance, and few clusters no interval.
    hardly = values.copy()
    hardly.iloc[:, 4] = 0.0
    hardly.iloc[3, 4] = 1.0
    pairs = by_statistic(hardly, articles)
    lost = pairs[(pairs["first"] == 4) | (pairs["second"] == 4)]
    assert lost["estimate"].isna().all()
    assert lost["reason"].str.contains("differ in one").all()
    few = by_statistic(values.head(6).rank(), articles[:6], fewest=4)
    assert few["estimate"].notna().all()
    assert few["ci_low"].isna().all()


# --- kappa ------------------------------------------------------------------------------------


TWO = st.lists(st.tuples(st.booleans(), st.booleans()), min_size=2, max_size=30)


def cells(counts: list[int]) -> tuple[np.ndarray, np.ndarray]:
    first = np.repeat([True, True, False, False], counts)
    return first, np.repeat([True, False, True, False], counts)


def test_kappa_and_its_variance_are_those_of_libraries() -> None:
    counts = [12, 3, 5, 40]
    first, second = cells(counts)
    row = stats.kappa(first, second, confidence=0.9).row()
    assert row["estimate"] == pytest.approx(cohen_kappa_score(first, second))
    more = cohens_kappa(np.array(counts).reshape(2, 2) + 0.5)
    half = scipy.stats.t.ppf(0.95, 59) * np.sqrt(more.var_kappa) / (1 - more.kappa**2)
    ends = np.tanh(np.arctanh(more.kappa) + np.array([-half, half]))
    assert (row["ci_low"], row["ci_high"]) == pytest.approx(tuple(ends))


@given(TWO)
def test_an_interval_holds_its_estimate_whoever_is_first(said: list[tuple[bool, bool]]) -> None:
    first, second = np.array(said).T
    row = stats.kappa(first, second, confidence=0.95).row()
    assert row == pytest.approx(stats.kappa(second, first, confidence=0.95).row(), nan_ok=True)
    if first.all() == second.all() and first.any() == second.any() and first.all() == first.any():
        assert np.isnan(row["estimate"]) and "alike" in row["reason"]
    else:
        assert row["estimate"] == pytest.approx(cohen_kappa_score(first, second))
        assert -1 <= row["ci_low"] <= row["estimate"] <= row["ci_high"] <= 1
        assert row["ci_low"] < row["ci_high"]


def test_nothing_one_unit_and_one_cluster_say_why_there_is_no_interval() -> None:
    none = np.zeros(0, bool)
    assert np.isnan(stats.kappa(none, none, confidence=0.95).estimate)
    one = stats.kappa(np.array([True]), np.array([False]), confidence=0.95).row()
    assert (one["estimate"], one["reason"]) == (0, stats.ONE_VALUE)
    together = stats.kappa(*cells([1, 1, 1, 1]), np.zeros(4), confidence=0.95).row()
    assert (together["estimate"], together["reason"]) == (0, stats.ONE_CLUSTER)
    assert np.isnan(together["ci_low"])


def test_the_variance_of_clusters_is_that_of_their_sums_of_influence() -> None:
    first, second = cells([12, 3, 5, 40])
    clusters = np.arange(60) // 3
    wide = stats.kappa(first, second, clusters=clusters, confidence=0.9)
    narrow = stats.kappa(first, second, confidence=0.9)
    shares = (np.array([12, 3, 5, 40]) + 0.5) / 62

    def kappa_of(shares: np.ndarray) -> float:
        agreement = shares[0] + shares[3]
        yes = (shares[0] + shares[1], shares[0] + shares[2])
        chance = yes[0] * yes[1] + (1 - yes[0]) * (1 - yes[1])
        return float((agreement - chance) / (1 - chance))

    steps = 1e-6 * np.eye(4)
    slopes = np.array([(kappa_of(shares + h) - kappa_of(shares - h)) / 2e-6 for h in steps])
    influence = slopes[2 * (~first) + ~second]
    influence -= influence.mean()
    sums = np.bincount(clusters, weights=influence)
    more = sums @ sums / (influence @ influence) * 20 / 19
    halves = [np.ptp(np.arctanh([row.ci_low, row.ci_high])) for row in (wide, narrow)]
    quantiles = [scipy.stats.t.ppf(0.95, df) for df in (19, 59)]
    ratio = (halves[0] / quantiles[0]) / (halves[1] / quantiles[1])
    assert ratio**2 == pytest.approx(more, rel=1e-4)
