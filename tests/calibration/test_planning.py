"""Power formulas against simulated studies, at edges, and as assumptions change."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom, ttest_1samp
from statsmodels.stats.power import TTestPower

from nbbias import stats
from nbbias.calibration import planning
from nbbias.calibration.planning import PLANS

ALL = [(stem, name) for stem, claims in PLANS.items() for name in claims]


@pytest.mark.parametrize(("stem", "name"), ALL)
def test_every_plan_names_the_smallest_number_with_the_power(stem: str, name: str) -> None:
    plan = PLANS[stem][name]()
    n = plan.sample_size()
    assert plan.power_at(n) >= 0.8 > plan.power_at(int(0.97 * n) - 1)
    assert PLANS[stem][name](effect=plan.effect * 1e-4).sample_size() is None or name == "level"
    with pytest.raises(ValueError, match="effect"):
        PLANS[stem][name](effect=0.0)


def test_refusals_vary_as_simulated_answers_do() -> None:
    """A model refuses more of the articles under the biased prompt, and some fewer."""
    with pytest.raises(ValueError, match="more than all units change"):
        planning.PromptRefusals(effect=0.9, opposite=0.1)
    plan = planning.PromptRefusals(effect=0.1, opposite=0.05)
    change = np.random.default_rng(0).choice([1, -1, 0], (4000, 200), p=[0.15, 0.05, 0.8])
    significant = ttest_1samp(change, 0, axis=1).pvalue < plan.alpha
    assert plan.power_at(200) == pytest.approx(significant.mean(), abs=0.04)


def test_units_without_a_value_are_asked_and_do_not_count() -> None:
    whole, half = (planning.NewsTone(excluded=share, claims=1) for share in (0.0, 0.5))
    assert half.power_at(200) == pytest.approx(whole.power_at(100))
    size = 0.1 / 0.21
    assert whole.power_at(40) == pytest.approx(TTestPower().power(size, 40, 0.05))
    assert half.power_at(3) == 0


def grid(values: np.ndarray, tasks: int) -> pd.DataFrame:
    index = pd.MultiIndex.from_product(
        [range(tasks), range(len(values) // tasks)], names=["task", "theme"]
    )
    return pd.DataFrame(values, index)


@pytest.mark.parametrize("sd", [0.0, 0.03])
def test_a_spread_is_found_as_often_as_its_analysis_of_variance_finds_it(sd: float) -> None:
    plan = planning.Rbs(effect=0.03, axes=1, claims=1, by_task=sd, by_theme=sd)
    rng = np.random.default_rng(0)
    pattern, up = np.array([-2.0, 1.0, 1.0]) / np.sqrt(2), np.sqrt(1.5)
    p = []
    for _ in range(200):
        of_task, of_theme = (rng.normal(0, sd * up, size) for size in ((12, 1, 3), (1, 10, 3)))
        values = rng.normal(0, 0.1 * up, (12, 10, 3)) + of_task + of_theme + 0.03 * pattern
        table = grid(values.reshape(-1, 3), 12)
        p.append(stats.crossed_spread(table, facets=["task", "theme"], confidence=0.95)["p_value"])
    assert plan.power_at(120) == pytest.approx(np.mean(np.array(p) < 0.05), abs=0.08)


def test_preferences_are_found_as_often_as_their_analysis_of_variance_finds_them() -> None:
    plan = planning.Abs(effect=0.1, axes=1, claims=1, by_task=0, by_theme=0)
    rng = np.random.default_rng(0)
    shares = 1 / 3 + 0.1 * np.array([2.0, -1.0, -1.0]) / np.sqrt(2)
    p = []
    for _ in range(200):
        drawn = rng.dirichlet(shares * (1 / plan.repeat_correlation - 1), 60)
        table = grid(rng.multinomial(6, drawn) / 6, 12)
        p.append(stats.crossed_spread(table, facets=["task", "theme"], confidence=0.95)["p_value"])
    assert plan.power_at(60) == pytest.approx(np.mean(np.array(p) < 0.05), abs=0.08)


def test_accuracies_are_compared_as_all_outcomes_say() -> None:
    plan = planning.Accuracy(effect=0.1, test_share=0.5, claims=1)
    power = 0.0
    for differ in range(1, 101):
        first = np.arange(differ + 1)
        statistic = (np.maximum(np.abs(2 * first - differ) - 1, 0)) ** 2 / differ
        power += (
            binom.pmf(differ, 100, 0.25) * binom.pmf(first, differ, 0.7)[statistic > 3.841].sum()
        )
    assert plan.power_at(200) == pytest.approx(power, abs=0.03)


def test_intervals_of_a_bias_level_are_as_wide_as_those_of_labelled_answers() -> None:
    plan = planning.Level(effect=0.15)
    rng, narrow = np.random.default_rng(0), []
    for _ in range(300):
        biased = rng.random(1000) < 0.15
        flagged = pd.Series(np.where(rng.random(1000) < np.where(biased, 0.7, 0.1), 1.0, 0.0))
        label = pd.Series(biased * 1.0).where(rng.permutation(1000) < 100)
        row = stats.two_phase(flagged, label)
        narrow.append(row.ci_high - row.ci_low <= 0.15)
    assert plan.power_at(100) == pytest.approx(np.mean(narrow), abs=0.1)


@pytest.mark.parametrize("effect", [-0.05, -0.3, -1.9])
def test_power_grows_to_1_at_every_number_of_units(effect: float) -> None:
    plan = planning.NewsTone(effect=effect, confidence=0.999, models=20)
    power = [plan.power_at(n) for n in range(5, 3000, 7)] + [plan.power_at(planning.MAXIMUM_UNITS)]
    assert np.isfinite(power).all()
    assert (np.diff(power) > -1e-9).all()
    assert power[-1] == pytest.approx(1)
