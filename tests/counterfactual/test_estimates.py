"""Distances between versions and within one: by hand, by scipy, and by simulation."""

from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import pdist
from scipy.stats import binom, permutation_test

from nbbias import stats
from nbbias.counterfactual.estimates import EMBEDDING, estimates
from tests.build import row_of

INFERENCE = stats.InferenceSettings(n_permutations=2000, seed=3)


def answers(
    prompts: int = 3, groups: tuple[str, ...] = ("female", "male"), repeats: int = 2
) -> pd.DataFrame:
    """One row for each prompt, group and repeat."""
    rows = product((f"p{n}" for n in range(prompts)), groups, range(1, repeats + 1))
    table = pd.DataFrame(rows, columns=["unit", "group", "sample"])
    return table.assign(model="m", bias="gender", asked=table["unit"] + table["group"])


def measured(table: pd.DataFrame, values: Any, measure: str = "length") -> pd.DataFrame:
    """Estimates of one measure, by statistic and pair."""
    features = {measure: np.asarray(values, dtype=float).reshape(len(table), -1)}
    return estimates(table, features, instruments={measure: "i"}, inference=INFERENCE).estimates


row = partial(row_of, group="female − male")


def test_distances_by_hand() -> None:
    # Women 1 and 3, men 6 and 6: between 5, 5, 3, 3; within women 2, within men 0.
    result = measured(answers(prompts=1), [1, 3, 6, 6])
    assert row(result, "between_distance")["estimate"] == 4
    assert row(result, "within_distance")["estimate"] == 1
    assert row(result, "excess_distance")["estimate"] == 3
    assert row(result, "difference")["estimate"] == -4
    # 4 answers are divided in 6 ways, of which 2 have this excess; of 2 signs both reach 4.
    assert row(result, "excess_distance")["p_value"] == pytest.approx(1 / 3, abs=0.03)
    assert row(result, "difference")["p_value"] == 1


def test_embeddings_have_cosine_distances_and_no_sign() -> None:
    vectors = [[1, 0], [0, 1], [0, 1], [0, 1]]
    result = measured(answers(prompts=1), vectors, EMBEDDING)
    assert row(result, "between_distance")["estimate"] == 0.5
    assert row(result, "within_distance")["estimate"] == 0.5  # of 1 and of 0
    assert "difference" not in set(result["statistic"])


def test_the_sign_test_is_scipys() -> None:
    rng = np.random.default_rng(5)
    table, values = answers(prompts=9), rng.normal(size=36)
    result = row(measured(table, values), "difference")
    means = table.assign(x=values).groupby(["unit", "group"])["x"].mean().unstack()
    units = means["female"] - means["male"]
    exact = permutation_test((units,), np.mean, permutation_type="samples", n_resamples=10_000)
    assert result["estimate"] == pytest.approx(units.mean())
    assert result["p_value"] == pytest.approx(exact.pvalue)  # of 9 prompts all 512 signs
    assert result["p_least"] == 2 / 512
    interval = stats.mean_interval(units, confidence=0.95)
    assert (result["ci_low"], result["ci_high"]) == (interval.ci_low, interval.ci_high)


def test_the_test_of_the_excess_is_scipys_on_one_prompt() -> None:
    def excess(first: np.ndarray, second: np.ndarray) -> float:
        within = [pdist(side[:, None]).mean() for side in (first, second)]
        return float(np.abs(first[:, None] - second).mean() - np.mean(within))

    values = np.array([0.0, 1.0, 3.0, 2.0, 6.0, 7.5, 6.5])
    table = answers(prompts=1, repeats=4).drop(index=7)  # four answers and three
    result = row(measured(table, values), "excess_distance")
    sides = values[:4], values[4:]
    exact = permutation_test(sides, excess, alternative="greater", vectorized=False)
    assert result["estimate"] == pytest.approx(exact.statistic)
    assert result["p_value"] == pytest.approx(exact.pvalue, abs=0.02)


def test_swapped_groups_change_the_sign_and_nothing_else() -> None:
    values = np.random.default_rng(1).normal(size=24)
    table = answers(prompts=6)
    other = table.assign(group=table["group"].map({"female": "male", "male": "female"}))
    one, two = measured(table, values), measured(other, values)
    assert row(one, "difference")["estimate"] == -row(two, "difference")["estimate"]
    for name in ("between_distance", "within_distance", "excess_distance"):
        assert row(one, name)["estimate"] == pytest.approx(row(two, name)["estimate"])


def test_three_groups_are_three_pairs_and_one_family() -> None:
    table = answers(prompts=5, groups=("Asian", "Black", "White"))
    result = measured(table, np.random.default_rng(2).normal(size=30))
    rows = result[result["statistic"] == "difference"].sort_values("p_value")
    assert rows["group"].nunique() == 3
    assert rows["p_adjusted"].iloc[0] == pytest.approx(min(1, 3 * rows["p_value"].iloc[0]))


def test_a_missing_group_has_no_estimate_but_a_reason() -> None:
    table = answers(prompts=4).query("group == 'female' or unit == 'p0'")
    result = measured(table, np.arange(float(len(table))))
    assert row(result, "difference")["n"] == 1 and row(result, "difference")["n_lost"] == 3
    assert measured(answers().query("group == 'female'"), np.zeros(6)).empty
    apart = answers(prompts=2).query("(unit == 'p0') == (group == 'male')")
    result = measured(apart, np.zeros(4))
    assert result["estimate"].isna().all() and result["n"].eq(0).all()
    assert result["reason"].str.startswith("no prompt has").all()


def test_one_answer_to_a_version_gives_no_distance_within_it() -> None:
    result = measured(answers(prompts=8, repeats=1), np.arange(16.0))
    assert row(result, "between_distance")["estimate"] == 1
    for name in ("within_distance", "excess_distance"):
        missing = row(result, name)
        assert np.isnan(missing["estimate"]) and missing["n"] == 0
        assert "two measured answers" in missing["reason"]
    assert row(result, "difference")["n"] == 8  # which needs no repeats


def test_missing_scores_are_left_out_and_counted() -> None:
    table, values = answers(prompts=3, repeats=3), np.arange(18.0)
    values[0], values[6:9] = np.nan, np.nan  # an answer, and all of a version
    result = measured(table, values)
    assert row(result, "difference")["n"] == 2 and row(result, "difference")["n_lost"] == 1
    assert row(result, "difference")["estimate"] == pytest.approx(-2.75)  # of -2.5 and -3


def test_scores_that_are_all_alike_are_not_tested() -> None:
    result = measured(answers(), np.zeros(12))
    excess = row(result, "excess_distance")
    assert excess["estimate"] == 0 and np.isnan(excess["p_value"])
    assert excess["reason"] == "all answers have the same value"
    assert result["p_adjusted"].isna().all()


def test_names_of_a_group_stand_for_its_people() -> None:
    # Two names a group, each asked twice: answers about one name are alike, names differ.
    table = answers(prompts=1, repeats=4)
    table["asked"] = table["group"] + (table["sample"] > 2).map({True: "B", False: "A"})
    result = measured(table, [0, 0, 4, 4, 0, 0, 4, 4])
    assert row(result, "within_distance")["estimate"] == 4
    assert row(result, "between_distance")["estimate"] == 2


def test_input_is_not_changed_and_the_order_of_rows_is_of_no_effect() -> None:
    table, values = answers(prompts=4), np.random.default_rng(4).normal(size=16)
    before = table.copy()
    first = measured(table, values)
    order = np.random.default_rng(0).permutation(16)
    second = measured(table.iloc[order], values[order])
    pd.testing.assert_frame_equal(table, before)
    assert first["estimate"].tolist() == pytest.approx(second["estimate"].tolist())


@pytest.mark.nightly
def test_intervals_cover_zero_as_often_as_the_page_says() -> None:
    """The design of docs/measures/counterfactual.md: 20 prompts, four answers to each version."""
    rng, table = np.random.default_rng(17), answers(prompts=20, repeats=4)
    covered = []
    for _ in range(600):
        scores = np.repeat(rng.exponential(size=20), 8) + rng.exponential(size=160)
        rows = measured(table, scores).set_index("statistic")
        covered.append((rows["ci_low"] <= 0) & (rows["ci_high"] >= 0))
    coverage = pd.DataFrame(covered).mean()
    for statistic, share in (("excess_distance", 0.925), ("difference", 0.95)):
        low, high = binom.ppf([0.0005, 0.9995], 600, share) / 600
        assert low <= coverage[statistic] <= high
