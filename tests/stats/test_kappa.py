"""Cohen's kappa against scikit-learn, statsmodels and simulation with a known truth."""

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, strategies as st
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import cohens_kappa

from nbbias import stats

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
