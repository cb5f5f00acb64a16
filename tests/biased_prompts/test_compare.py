"""Neutral against biased: by hand on made-up scores, by the printed figures, by simulated truth."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats as scipy_stats
from statsmodels.stats.multitest import multipletests

from nbbias import news, stats, tables
from nbbias.biased_prompts import compare, params
from tests.build import row_of

BOTH = "biased − neutral"


def scores_of(
    neutral: list[Any], biased: list[Any], *, measure: str = "sentiment", model: str = "m"
) -> pd.DataFrame:
    """Scores of the groups a and b; an entry is a difference of a, a reason, or None for no row."""
    sides = {"neutral": neutral, "biased": biased}
    rows = [(p, f"a{i}", value) for p, values in sides.items() for i, value in enumerate(values)]
    table = pd.DataFrame(rows, columns=["prompt", "article_id", "said"])
    table = table.dropna(subset="said", ignore_index=True)
    said = table.pop("said")
    lost = said.map(lambda value: isinstance(value, str)).astype(bool)
    table = table.assign(difference_a=said.mask(lost).astype(float), reason=said.where(lost, None))
    table = table.assign(source="s", model=model, sample=1, measure=measure, bias="x")
    table = table.assign(instrument="i", n=2, h_a=1, h_b=1, o_a=1, o_b=1)
    difference = table["difference_a"]
    return table.assign(pair_id=table.index, score=difference.abs(), difference_b=-difference)


def compared(scores: pd.DataFrame, **options: Any) -> pd.DataFrame:
    return compare.compare([level_of(scores)], {"x": "a"}, **options).estimates


def level_of(scores: pd.DataFrame) -> news.Level:
    """Scores as a level, whose own estimates are not looked at."""
    nothing = tables.estimates([], study="biased_prompts")
    return news.Level(scores, nothing, nothing, tables.chance([], study="biased_prompts"))


NEUTRAL = [-0.1, 0.2, -0.3, 0.0, 0.4, "blank answer"]
BIASED = [-0.5, -0.2, -0.1, "refused", -0.2, -0.4]


# --- by hand ----------------------------------------------------------------------------------


def test_shares_and_extents_by_hand() -> None:
    """Neutral: 2 of 5 fall, by 0.2 on average. Biased: 5 of 5, by 0.28 on average."""
    table = compared(scores_of(NEUTRAL, BIASED))
    share = {p: row_of(table, "prejudice_share", prompt=p) for p in ("neutral", "biased")}
    extent = {p: row_of(table, "prejudice_extent", prompt=p) for p in ("neutral", "biased")}
    assert (share["neutral"]["estimate"], share["biased"]["estimate"]) == (0.4, 1.0)
    assert (share["neutral"]["n"], share["neutral"]["n_lost"]) == (5, 1)
    assert extent["neutral"]["estimate"] == pytest.approx(-0.2)
    assert extent["biased"]["estimate"] == pytest.approx(-0.28)
    assert row_of(table, "prejudice_share_change")["estimate"] == pytest.approx(0.6)
    change = row_of(table, "prejudice_extent_change")
    expected = scipy_stats.ttest_ind([-0.5, -0.2, -0.1, -0.2, -0.4], [-0.1, -0.3])
    assert change["estimate"] == pytest.approx(-0.08)
    assert change["p_value"] == pytest.approx(expected.pvalue)
    assert change["n"] == 7


def test_the_effect_of_the_prompt_is_paired() -> None:
    """Articles 0, 1, 2 and 4 have both: changes -0.4, -0.4, 0.2, -0.6."""
    found = row_of(compared(scores_of(NEUTRAL, BIASED)), "mean_difference_change")
    expected = scipy_stats.ttest_1samp([-0.4, -0.4, 0.2, -0.6], 0)
    assert found["estimate"] == pytest.approx(-0.3)
    assert (found["n"], found["n_lost"]) == (4, 2)
    assert found["p_value"] == pytest.approx(expected.pvalue)
    assert found["prompt"] == BOTH


def test_the_paired_share_counts_articles_under_both_prompts() -> None:
    """Of articles 0, 1, 2, 4 two fall under the neutral prompt (0, 2), all under the biased."""
    found = row_of(compared(scores_of(NEUTRAL, BIASED)), "prejudice_share_change_paired")
    assert (found["estimate"], found["n"]) == (0.5, 4)
    ends = [float(end) for end in stats.tango_interval(2, 0, 4, confidence=0.95)]
    assert [found["ci_low"], found["ci_high"]] == pytest.approx(ends)
    assert found["test"] == "McNemar"


def test_swapped_prompts_change_every_sign() -> None:
    one = compared(scores_of(NEUTRAL, BIASED))
    other = compared(scores_of(NEUTRAL, BIASED), neutral="biased", biased="neutral")
    changes = [s for s in one["statistic"].unique() if "change" in s]
    assert len(changes) == 4
    for statistic in changes:
        a, b = (t.loc[t["statistic"] == statistic, ["estimate", "p_value"]] for t in (one, other))
        assert a["estimate"].tolist() == pytest.approx((-b["estimate"]).tolist())
        assert a["p_value"].tolist() == pytest.approx(b["p_value"].tolist())


def test_toxicity_is_worse_where_it_rises() -> None:
    rising = compared(scores_of([0.1, -0.2], [0.3, 0.4], measure="toxicity"))
    assert row_of(rising, "prejudice_share", prompt="neutral")["estimate"] == 0.5
    assert row_of(rising, "prejudice_share", prompt="biased")["estimate"] == 1.0


def test_words_count_for_prejudice_where_the_original_names_the_group() -> None:
    scores = scores_of([-0.2, 0.1, 0.1], [-0.4, -0.1, 0.3], measure="word")
    scores.loc[scores["article_id"] == "a0", "o_a"] = 0
    table = compared(scores)
    assert row_of(table, "prejudice_share", prompt="biased")["n"] == 2
    assert row_of(table, "share_difference_change")["n"] == 3


def test_repeated_answers_of_an_article_are_one_unit() -> None:
    scores = scores_of([-0.2, 0.1], [-0.4, -0.1])
    again = pd.concat([scores, scores.assign(sample=2, difference_a=scores["difference_a"] - 0.1)])
    table = compared(again)
    found = row_of(table, "mean_difference_change")
    assert found["n"] == 2
    assert found["estimate"] == pytest.approx(-0.2)


# --- zero, empty, one side missing ------------------------------------------------------------


@pytest.mark.parametrize("biased", [[], ["refused", "refused", "refused"], [None, None, None]])
def test_where_all_is_refused_nothing_is_measured_and_reasons_say_so(biased: list[Any]) -> None:
    table = compared(scores_of([-0.2, 0.1, -0.4], biased))
    changes = table[table["statistic"].str.contains("change")]
    assert changes["estimate"].isna().all() and changes["reason"].notna().all()


# --- several fits of topics -------------------------------------------------------------------


def fitted(*fits: tuple[list[Any], list[Any]]) -> pd.DataFrame:
    return pd.concat(
        [scores_of(*one, measure="document").assign(seed=i) for i, one in enumerate(fits)],
        ignore_index=True,
    )


def test_every_fit_makes_the_comparison_and_they_are_pooled() -> None:
    """Changes of the fits: -0.4, -0.4, 0.2, -0.6 and half of that; means -0.3 and -0.15."""
    halves = tuple(
        [value / 2 if isinstance(value, float) else value for value in side]
        for side in (NEUTRAL, BIASED)
    )
    table = compared(fitted((NEUTRAL, BIASED), (halves[0], halves[1])))
    found = row_of(table, "share_difference_change")
    values = pd.DataFrame({0: [-0.4, -0.4, 0.2, -0.6], 1: [-0.2, -0.2, 0.1, -0.3]})
    expected = stats.pooled_mean(values, confidence=0.95).row()
    for name in ("estimate", "ci_low", "ci_high", "p_value", "df"):
        assert found[name] == pytest.approx(expected[name])
    assert (found["n"], found["n_lost"]) == (4, 2)
    assert found["instrument"] == "i, 2 fits"
    assert row_of(table, "prejudice_share", prompt="neutral")["estimate"] == pytest.approx(0.4)


def test_a_comparison_that_half_the_fits_made_is_not_told() -> None:
    nothing = ["blank answer"] * 6
    table = compared(fitted((NEUTRAL, BIASED), (nothing, nothing)))
    tested = table[table["statistic"].isin(compare.TESTED)]
    assert tested["estimate"].notna().all()
    assert tested[["ci_low", "p_value", "p_adjusted"]].isna().all(axis=None)
    assert set(tested["reason"]) == {"not stable over fits: measured in 1 of 2 fits"}


# --- families and chance ----------------------------------------------------------------------


def test_the_family_is_all_rows_of_a_statistic() -> None:
    rng = np.random.default_rng(1)
    parts = [
        scores_of(list(rng.normal(0, 0.2, 20)), list(rng.normal(s, 0.2, 20)), model=m)
        for m, s in (("m", -0.2), ("n", 0.0), ("o", -0.05))
    ]
    table = compare.compare([level_of(pd.concat(parts))], {"x": "a"}).estimates
    own = table[table["statistic"] == "mean_difference_change"]
    assert len(own) == 3
    assert own["p_adjusted"].to_numpy() == pytest.approx(
        multipletests(own["p_value"], method="holm")[1]
    )


# --- printed figures --------------------------------------------------------------------------


def with_moments(mean: float, low: float, high: float, n: int) -> np.ndarray:
    """Return n values below 0 with this mean and this t interval."""
    spread = (high - low) / 2 * np.sqrt(n) / scipy_stats.t.ppf(0.975, n - 1)
    values = np.where(np.arange(n) < n // 5, -2.0, 0.5)  # skewed, so that all stay below 0
    values = (values - values.mean()) / values.std(ddof=1) * spread + mean
    assert values.max() < 0
    return values


def test_student_s_p_values_are_those_published() -> None:
    published = tables.read_published("fang2024").query("statistic == 'prejudice_extent'")
    changes = published[published["delta_vs_neutral"].notna()].reset_index(drop=True)
    assert len(changes) == 21
    scores = []
    for change in changes.itertuples():
        keys = ["measure", "bias", "group", "model"]
        same = (published[keys] == [getattr(change, key) for key in keys]).all(axis=1)
        sides = {
            side.prompt: list(with_moments(side.value, side.ci_low, side.ci_high, int(side.n)))
            for side in published[same].itertuples()
        }
        size = max(map(len, sides.values()))
        padded = {p: v + [None] * (size - len(v)) for p, v in sides.items()}
        scores.append(scores_of(padded["neutral"], padded["biased"], model=str(change.Index)))
    table = compared(pd.concat(scores, ignore_index=True))
    for change in changes.itertuples():
        student = row_of(table, "prejudice_extent_change", model=str(change.Index))
        assert student["estimate"] == pytest.approx(change.delta_vs_neutral, abs=1.01e-4)
        if change.p == "<0.001":
            assert student["p_value"] < 0.001
        else:
            exact = float(change.p.removeprefix("="))
            assert student["p_value"] == pytest.approx(exact, abs=0.001)


# --- parameters -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"neutral_prompt": "biased"}, "is the neutral prompt already"),
        ({"biases": ["gender", "race"]}, "focus: name the group of race"),
    ],
)
def test_faulty_parameters_are_refused(given: dict[str, Any], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        params.BiasedPrompts(**given)
