"""How many units a claim takes: found again by formulas, by the study's own functions, at edges."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from statsmodels.stats.power import TTestPower

from nbbias import stats
from nbbias.calibration import plannable, planning
from nbbias.calibration.plannable import NewsWords, Planned
from nbbias.stats import Sure

RNG = np.random.default_rng(0)
SURE = Sure(draws=4000)


@pytest.mark.parametrize("size", [0.2, 0.5, 1.0])
def test_of_normal_values_the_formula_names_as_many_units(size: float) -> None:
    pool = np.random.default_rng(1).normal(0, 1, (50_000, 1))
    pool = (pool - pool.mean()) / pool.std() + size
    found = planning.needed(planning.of_means(pool), wanted=0.8, sure=SURE)
    known = TTestPower().solve_power(size, power=0.8, alpha=0.05)
    assert found is not None
    assert found.n == pytest.approx(known, rel=0.05, abs=1.1)
    assert found.low < TTestPower().power(size, found.n, 0.05) < found.high


def test_lost_units_are_asked_but_do_not_count() -> None:
    pool = np.random.default_rng(1).normal(0.3, 1, (50_000, 1))
    half = np.where(np.arange(50_000)[:, None] % 2, np.nan, pool)
    whole, lossy = (
        planning.needed(planning.of_means(one), wanted=0.8, sure=SURE) for one in (pool, half)
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
    found = planning.power(planning.of_means(pool, others=3), 50, sure=Sure(draws=20_000))
    assert found.low < 0.05 / 6 * 1.03
    assert found.power < 0.012


def test_no_number_of_units_is_enough_for_what_is_not_there() -> None:
    pool = np.zeros((100, 1))
    assert planning.needed(planning.of_means(pool), wanted=0.8, sure=Sure(draws=100)) is None
    gone = np.full((100, 2), np.nan)
    assert planning.power(planning.of_means(gone), 50, sure=Sure(draws=100)).power == 0


# --- words of news ----------------------------------------------------------------------------


@pytest.mark.parametrize("bias", ["gender", "race"])
@pytest.mark.parametrize("effect", [-0.1, 0.15])
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
    assert new < alike < once


def test_a_groups_gain_takes_as_many_articles_as_the_others_loss() -> None:
    one, two = (
        NewsWords.model_validate({"effect": effect, "share": share})
        for effect, share in ((-0.1, 0.4), (0.1, 0.6))
    )
    found = [planning.needed(c.told(), wanted=0.8, sure=c.sure) for c in (one, two)]
    assert found[0] and found[1]
    assert found[0].n == pytest.approx(found[1].n, rel=0.08)


def test_more_models_claims_and_power_take_more_articles() -> None:
    def n(**given: float) -> int:
        chosen = NewsWords.model_validate({"draws": 500, "effect": -0.15} | given)
        found = planning.needed(chosen.told(), wanted=chosen.power, sure=chosen.sure)
        assert found is not None
        return found.n

    plain = n(claims=1)
    assert plain < n(claims=3) < n(claims=3, models=5)
    assert plain < n(claims=1, power=0.9)
    assert plain > n(claims=1, effect=-0.25)
    assert n(models=5, differing=5) < n(models=5)


# --- all that can be planned ------------------------------------------------------------------


ALL = [(stem, name) for stem, claims in plannable.PLANS.items() for name in claims]


@pytest.mark.parametrize(("stem", "name"), ALL)
def test_every_plan_names_a_number_that_reaches_its_power(stem: str, name: str) -> None:
    model = plannable.PLANS[stem][name]
    chosen: Planned = model.model_validate({"draws": 500})
    found = planning.needed(chosen.told(), wanted=chosen.power, sure=chosen.sure)
    assert found is not None
    assert abs(found.power - 0.8) < 0.07
    assert planning.power(chosen.told(), found.n, sure=chosen.sure) == planning.power(
        chosen.told(), found.n, sure=chosen.sure
    )
