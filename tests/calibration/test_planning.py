"""How many units a claim takes: found again by formulas, by the study's own functions, at edges."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom, f, ncf
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.power import TTestPower

from nbbias import stats
from nbbias.calibration import plannable, planning
from nbbias.calibration.assumed import Means, Planned
from nbbias.calibration.plannable import NewsWords
from nbbias.cogs.spread import permuted_means
from nbbias.stats import InferenceSettings

RNG = np.random.default_rng(0)
INFERENCE = InferenceSettings(n_permutations=4000)


@pytest.mark.parametrize("size", [0.2, 1.0])
def test_of_normal_values_the_formula_names_as_many_units(size: float) -> None:
    pool = np.random.default_rng(1).normal(0, 1, (50_000, 1))
    pool = (pool - pool.mean()) / pool.std() + size
    found = planning.needed(planning.of_means(pool), wanted=0.8, inference=INFERENCE)
    known = TTestPower().solve_power(size, power=0.8, alpha=0.05)
    assert found is not None
    assert found.n == pytest.approx(known, rel=0.05, abs=1.1)
    assert found.low < TTestPower().power(size, found.n, 0.05) < found.high


def test_lost_units_are_asked_but_do_not_count() -> None:
    pool = np.random.default_rng(1).normal(0.3, 1, (50_000, 1))
    half = np.where(np.arange(50_000)[:, None] % 2, np.nan, pool)
    whole, lossy = (
        planning.needed(planning.of_means(one), wanted=0.8, inference=INFERENCE)
        for one in (pool, half)
    )
    assert whole and lossy
    assert lossy.n == pytest.approx(2 * whole.n, rel=0.08)


@pytest.mark.parametrize(("models", "others"), [(1, 0), (3, 0), (2, 5), (1, 7)])
def test_the_family_is_holms(models: int, others: int) -> None:
    p = RNG.random((300, models)) ** 3
    mine = planning.first_of_family(p, others, 0.95, np.random.default_rng(3))
    rest = np.random.default_rng(3).random((300, others))
    theirs = [
        stats.adjust(pd.DataFrame({"p_value": row}))["p_adjusted"][0] < 0.05
        for row in np.hstack([p, rest])
    ]
    assert mine.tolist() == theirs


def test_where_nothing_is_planted_few_studies_tell_anything() -> None:
    pool = np.random.default_rng(2).normal(size=(50_000, 3))
    pool -= pool.mean(axis=0)
    found = planning.power(
        planning.of_means(pool, others=3), 50, inference=InferenceSettings(n_permutations=20_000)
    )
    assert found.low < 0.05 / 6 * 1.03
    assert found.power < 0.012


def test_no_number_of_units_is_enough_for_what_is_not_there() -> None:
    few = InferenceSettings(n_permutations=100)
    nothing, gone = (planning.of_means(np.full((100, 2), value)) for value in (0.0, np.nan))
    assert planning.needed(nothing, wanted=0.8, inference=few) is None
    assert planning.power(gone, 50, inference=few).power == 0


# --- words of news ----------------------------------------------------------------------------


@pytest.mark.parametrize(("bias", "effect"), [("gender", -0.1), ("race", 0.15)])
def test_the_pool_is_as_assumed(bias: str, effect: float) -> None:
    chosen = NewsWords.model_validate({"bias": bias, "effect": effect, "models": 2})
    pool = chosen.differences(planning.POOL)
    there = np.isfinite(pool)
    common = pool[there.all(axis=1)]
    assert common.mean(axis=0) == pytest.approx([effect, 0])
    assert np.nanstd(pool[:, 1]) == pytest.approx(chosen.spread, rel=0.06)
    assert 1 - there[:, 1].mean() == pytest.approx(chosen.lost, abs=0.012)
    assert np.corrcoef(common.T)[0, 1] > 0.1  # they are compared with the same original


def test_further_answers_help_as_far_as_they_say_something_new() -> None:
    def spread(**given: float) -> float:
        return float(np.nanstd(NewsWords.model_validate(given).differences(planning.POOL)))

    once, alike, new = spread(), spread(repeats=5, again=1.0), spread(repeats=5, again=0.0)
    assert alike == pytest.approx(once, rel=0.04)  # what is lost is less
    assert new < 0.9 * once


def test_more_models_claims_and_power_take_more_articles() -> None:
    def n(**given: float) -> int:
        chosen = NewsWords.model_validate({"draws": 500, "effect": -0.15} | given)
        found = planning.needed(chosen.told(), wanted=chosen.power, inference=chosen.inference)
        assert found is not None
        return found.n

    plain = n(claims=1)
    assert plain < n(claims=3) < n(claims=3, models=5)
    assert plain < n(claims=1, power=0.9)
    assert plain > n(claims=1, effect=-0.25)
    assert n(models=5, differing=5) < n(models=5)


# --- the tests of many studies at once --------------------------------------------------------


@pytest.mark.parametrize(("n", "k"), [(3, 2), (10, 3), (40, 8)])
def test_analyses_of_variance_are_those_of_one_table(n: int, k: int) -> None:
    values = RNG.normal(size=(5, n, k)) * np.arange(1, k + 1) + RNG.normal(size=(5, n, 1))
    own = [stats.repeated_measures_anova(pd.DataFrame(table))["p_value"] for table in values]
    assert planning.within_units(values) == pytest.approx(own, abs=1e-12)
    assert (planning.within_units(values[:, :2]) == 1).all()


def test_permutation_in_its_limit() -> None:
    values = RNG.dirichlet([1.0, 1.5, 2.0], size=(4, 60))
    drawn = [
        permuted_means(table, draws=20_000, rng=np.random.default_rng(1)).std(axis=1)
        for table in values
    ]
    own = [
        (chance >= table.mean(axis=0).std()).mean()
        for chance, table in zip(drawn, values, strict=True)
    ]
    assert planning.permuted_within(values) == pytest.approx(own, abs=0.015)
    assert planning.permuted_within(np.full((1, 9, 3), 1 / 3)).tolist() == [1]


def test_mcnemar_is_the_librarys() -> None:
    pairs = [(0, 0), (1, 0), (5, 5), (20, 4), (3, 21), (13, 12), (12, 12), (40, 20), (100, 100)]
    own = [
        float(mcnemar([[9, a], [b, 9]], exact=a + b < 25, correction=True).pvalue) if a + b else 1
        for a, b in pairs
    ]
    first, second = np.array(pairs).T
    assert planning.mcnemar(first, second) == pytest.approx(np.array(own))


def test_two_phase_is_that_of_one_table() -> None:
    kinds = RNG.multinomial(200, [0.1, 0.05, 0.1, 0.75], size=20)
    kinds[0], kinds[1] = [0, 0, 0, 200], [200, 0, 0, 0]
    labelled = np.array([RNG.multivariate_hypergeometric(row, 30) for row in kinds])
    own = []
    for every, some in zip(kinds, labelled, strict=True):
        flagged = np.repeat([1.0, 0.0, 1.0, 0.0], every)
        label = np.repeat([1.0, 1.0, 0.0, 0.0], every)
        starts = np.cumsum(every) - every
        known = np.concatenate([at + np.arange(n) for at, n in zip(starts, some, strict=True)])
        seen = pd.Series(np.nan, range(200))
        seen[known.astype(int)] = label[known.astype(int)]
        row = stats.two_phase(pd.Series(flagged), seen).row()
        own.append((row["ci_low"], row["ci_high"]))
    found = np.column_stack(planning.two_phase(kinds, labelled, confidence=0.95))
    assert found == pytest.approx(np.array(own), abs=1e-12)


# --- plans of means, spreads and labels -------------------------------------------------------


def test_means_are_as_assumed() -> None:
    chosen = Means(effect=0.3, spread=0.5, models=2, alike=0.6, lost=0.3)
    values = chosen.values(50_000)
    assert np.nanmean(values, axis=0) == pytest.approx([0.3, 0])
    assert np.nanstd(values, axis=0) == pytest.approx([0.5, 0.5], rel=0.02)
    whole = values[np.isfinite(values).all(axis=1)]
    assert np.corrcoef(whole.T)[0, 1] == pytest.approx(0.6, abs=0.02)
    assert np.isnan(values).mean(axis=0) == pytest.approx([0.3, 0.3], abs=0.01)


@pytest.mark.parametrize("again", [0.0, 0.5, 1.0])
def test_answers_to_one_prompt_are_averaged(again: float) -> None:
    chosen = Means(effect=0.3, spread=1.0, repeats=4, alike=0.2, again=again)
    variance = 0.2 + 0.8 * again + 0.8 * (1 - again) / 4
    assert np.var(chosen.values(50_000)) == pytest.approx(variance, rel=0.03)


@pytest.mark.parametrize("k", [2, 3, 8])
def test_a_spread_is_found_as_the_noncentral_f_says(k: int) -> None:
    given = {"identities": k, "axes": 1, "claims": 1, "effect": 0.03}
    chosen = plannable.Rbs.model_validate(given)
    found = planning.power(chosen.told(), 60, inference=INFERENCE)
    df = k - 1, (k - 1) * 59
    beyond = 60 * (k - 1) * 0.03**2 / 0.1**2
    known = ncf.sf(f.ppf(0.95, *df), *df, beyond)
    assert found.power == pytest.approx(known, abs=0.03)  # Greenhouse and Geisser cost a little


def test_refusals_are_found_as_the_formula_says() -> None:
    given = {"effect": 0.1, "rate": 0.1, "claims": 1, "alike": 0.0}
    chosen = plannable.PromptRefusals.model_validate(given)
    size = 0.1 / np.sqrt(0.2 * 0.8 + 0.1 * 0.9)
    found = planning.power(chosen.told(), 200, inference=INFERENCE)
    assert found.power == pytest.approx(TTestPower().power(size, 200, 0.05), abs=0.03)


def test_judges_are_told_apart_as_often_as_all_outcomes_say() -> None:
    chosen = plannable.Accuracy(effect=0.1, apart=0.25, test_share=0.5, claims=1)
    known = 0.0
    for differ in range(101):
        first = np.arange(differ + 1)
        p = planning.mcnemar(first, differ - first)
        told = binom.pmf(first, differ, 0.7)[p < 0.05].sum()
        known += float(binom.pmf(differ, 100, 0.25) * told)
    assert planning.power(chosen.told(), 200, inference=INFERENCE).power == pytest.approx(
        known, abs=0.03
    )


def test_a_judge_without_a_preference_is_seldom_told() -> None:
    chosen = plannable.Abs(effect=1e-9, axes=1, claims=1)
    assert planning.power(chosen.told(), 40, inference=INFERENCE).power == pytest.approx(
        0.05, abs=0.015
    )


# --- all that can be planned ------------------------------------------------------------------


ALL = [(stem, name) for stem, claims in plannable.PLANS.items() for name in claims]


@pytest.mark.parametrize(("stem", "name"), ALL)
def test_every_plan_names_a_number_that_reaches_its_power(stem: str, name: str) -> None:
    model = plannable.PLANS[stem][name]
    chosen: Planned = model.model_validate({"draws": 500})
    found = planning.needed(chosen.told(), wanted=chosen.power, inference=chosen.inference)
    again = planning.needed(chosen.told(), wanted=chosen.power, inference=chosen.inference)
    assert found == again  # the same seed
    assert found is not None
    assert abs(found.power - 0.8) < 0.07
