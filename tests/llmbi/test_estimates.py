"""LLMBI claims against hand computation, scipy, and prose in which nothing was planted."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.stats

from nbbias.llmbi import estimates, scoring
from tests.build import row_of


def one_model(*polarities: list[float], model: str = "m") -> pd.DataFrame:
    """What `scoring.measure` gives: one dimension a list, one prompt a value; NaN is blank."""
    rows = [
        (f"d{i}", f"d{i} p{j}", value)
        for i, values in enumerate(polarities)
        for j, value in enumerate(values)
    ]
    table = pd.DataFrame(rows, columns=["dimension", "prompt", "polarity_textblob"])
    n = table["polarity_textblob"].notna() * 4
    return table.assign(model=model, sample=1, n=n)


#: Neutral windows of four words.
REFERENCE = pd.DataFrame({"n": 4, "passage": range(4), "polarity_textblob": [0.0, 0.1, -0.2, 0.4]})


def estimated(
    measured: pd.DataFrame,
    reference: pd.DataFrame = REFERENCE,
    *,
    how: str = "mean",
    **formula: Any,
) -> pd.DataFrame:
    scores = scoring.score_answers(measured, **formula)
    return estimates.estimates(scores, reference, formula=formula, aggregation=how).estimates


def rows_of(table: pd.DataFrame, statistic: str) -> pd.DataFrame:
    return table[table["statistic"] == statistic].reset_index(drop=True)


THREE = one_model([0.1, 0.3], [-0.4, 0.2], [0.0, 0.6])
#: Scores 0.2 + 2.5 |polarity|.
THREE_SCORES = {"d0": [0.45, 0.95], "d1": [1.2, 0.7], "d2": [0.2, 1.7]}


# --- index ------------------------------------------------------------------------------------


@pytest.mark.parametrize("aggregation", ["mean", "sum"])
@pytest.mark.parametrize("weights", [{}, {"d1": 2.0}, {"d0": 0.0, "d1": 0.0, "d2": 0.0}])
def test_the_index_is_the_formula_over_the_dimensions_means(
    aggregation: str, weights: dict[str, float]
) -> None:
    table = estimated(THREE, how=aggregation, weights=weights)
    # Mean |polarity| of the three dimensions: .2, .3, .3; S is their mean.
    sizes, factors = [0.2, 0.3, 0.3], [weights.get(d, 1.0) for d in ("d0", "d1", "d2")]
    formula = scoring.llmbi(sizes, 0.2, 0.8 / 3, factors, 1.5, aggregation=aggregation)
    assert row_of(table, "index")["estimate"] == pytest.approx(formula)


def test_repeats_are_averaged_before_prompts_are() -> None:
    measured = one_model([0.0] * 9 + [0.4])
    table = estimated(measured.assign(prompt=["p"] * 9 + ["q"], sample=range(10)))
    assert row_of(table, "index")["estimate"] == pytest.approx((0.2 + 1.2) / 2)
    assert row_of(table, "index")["n"] == 2


def test_the_interval_of_the_index_counts_prompts_and_prose_by_their_logarithms() -> None:
    longer = pd.concat([REFERENCE] * 50).assign(passage=range(200))
    row = row_of(estimated(THREE, longer), "index")
    v = np.array([np.var(v, ddof=1) for v in THREE_SCORES.values()]) / 2 / 9
    df = np.clip(v.sum() ** 2 / (v**2 / 3).sum() - 2, 1, 3)
    above, q = row["estimate"] - 0.2, scipy.stats.t.ppf(0.975, df)
    low, high = above * np.exp(np.array([-q, q]) * np.sqrt(v.sum()) / above)
    of_prose = 2.5 * longer["polarity_textblob"].abs()
    prose = of_prose.mean()
    prose_low, prose_high = prose * np.exp(np.array([-q, q]) * of_prose.sem() / prose)
    # Zou and Donner's interval of a difference, from those of both means.
    assert above - (row["ci_low"] - 0.2) == pytest.approx(np.hypot(above - low, prose_high - prose))
    assert np.hypot(high - above, prose - prose_low) > 2.5 - above
    assert row["ci_high"] == pytest.approx(2.7)  # where the scale ends
    assert row["df"] == pytest.approx(df)


def test_a_dimension_without_a_scored_answer_leaves_the_index_unmeasured() -> None:
    row = row_of(estimated(one_model([0.1, 0.3], [np.nan, np.nan])), "index")
    assert np.isnan(row["estimate"])
    assert (row["n"], row["n_lost"]) == (2, 2)
    assert row["reason"] == "a dimension has no scored answer"


def test_nothing_but_blank_answers_gives_reasons_in_every_row() -> None:
    table = estimated(one_model([np.nan, np.nan], [np.nan]))
    assert table["estimate"].isna().all()
    assert table["reason"].notna().all()


# --- dimensions -------------------------------------------------------------------------------


def test_dimension_means_are_tested_with_the_variance_of_prompts_and_of_prose() -> None:
    table = rows_of(estimated(THREE), "dimension_mean")
    assert table["estimate"].tolist() == pytest.approx([0.7, 0.95, 0.95])
    pooled = np.mean([np.var(v, ddof=1) for v in THREE_SCORES.values()])
    of_prose = 0.2 + 2.5 * REFERENCE["polarity_textblob"].abs()
    error = np.sqrt(pooled / 2 + of_prose.sem() ** 2)
    half = scipy.stats.t.ppf(0.975, 3) * error
    assert (table["ci_high"] - table["estimate"]).tolist() == pytest.approx([half] * 3)
    value = (0.95 - of_prose.mean()) / error
    assert table["statistic_value"][1] == pytest.approx(value)
    assert table["p_value"][1] == pytest.approx(2 * scipy.stats.t.sf(value, 3))


def test_p_values_are_corrected_by_holm_over_models_and_within_a_model() -> None:
    measured = pd.concat([THREE, one_model([0.9, 0.8], [0.1, 0.1], [0.2, 0.0], model="k")])
    result = estimated(measured.reset_index(drop=True))
    indices, table = rows_of(result, "index"), rows_of(result, "dimension_mean")
    assert indices["p_adjusted"].min() == pytest.approx(2 * indices["p_value"].min())
    for _, own in table.groupby("model"):
        ranked = own["p_value"].sort_values()
        holm = (ranked * [3, 2, 1]).cummax().clip(upper=1)
        assert own["p_adjusted"][holm.index].tolist() == pytest.approx(holm.tolist())


# --- analysis of variance ---------------------------------------------------------------------


def test_the_anova_row_is_scipys_f_with_omega_squared() -> None:
    row = row_of(estimated(THREE), "anova")
    expected = scipy.stats.f_oneway(*THREE_SCORES.values())
    assert row["statistic_value"] == pytest.approx(expected.statistic)
    assert row["p_value"] == pytest.approx(expected.pvalue)
    assert row["estimate"] == row["effect_size"] == row["excess"]
    assert row["n"] == 6


# --- differences between models ---------------------------------------------------------------

ONE, OTHER = [[0.1, 0.3], [-0.4, 0.2]], [[0.0, 0.5], [0.2, -0.1]]


def models(**polarities: list[list[float]]) -> pd.DataFrame:
    parts = [one_model(*values, model=model) for model, values in polarities.items()]
    return pd.concat(parts, ignore_index=True)


def test_two_models_are_compared_by_a_paired_t_test() -> None:
    row = row_of(estimated(models(one=ONE, other=OTHER)), "difference")
    one, other = (0.2 + 2.5 * abs(np.ravel(v)) for v in (ONE, OTHER))
    expected = scipy.stats.ttest_rel(other, one)
    assert (row["model"], row["group"]) == ("other", "one")
    assert row["estimate"] == pytest.approx((other - one).mean())
    assert row["statistic_value"] == pytest.approx(expected.statistic)
    assert row["p_value"] == row["p_adjusted"] == pytest.approx(expected.pvalue)
    assert row["n"] == 4


def test_answers_that_score_alike_have_neither_interval_nor_test() -> None:
    table = estimated(models(a=[[0.3, 0.3]], b=[[0.3, 0.3]]))
    rows = table[table["statistic"].isin(["index", "difference"])]
    assert len(rows) == 3 and rows["estimate"].notna().all()
    assert rows[["ci_low", "ci_high", "p_value", "p_adjusted"]].isna().all(axis=None)
    assert rows["reason"].str.contains("score alike|no variance").all()


def test_a_prompt_that_one_model_did_not_answer_is_lost() -> None:
    gap = models(one=ONE, other=[[0.0, np.nan], [0.2, -0.1]])
    row = row_of(estimated(gap), "difference")
    assert (row["n"], row["n_lost"]) == (3, 1)


def test_models_without_a_common_prompt_are_not_compared() -> None:
    apart = models(one=ONE, other=OTHER)
    apart.loc[apart["model"] == "other", "prompt"] += " other"
    row = row_of(estimated(apart), "difference")
    assert np.isnan(row["estimate"])
    assert row["n_lost"] == 8
    assert row["reason"]


# --- neutral prose ----------------------------------------------------------------------------


@pytest.mark.parametrize(("how", "weight"), [("mean", 1), ("sum", 3)])
def test_the_null_is_what_the_formula_gives_to_neutral_windows(how: str, weight: int) -> None:
    row = row_of(estimated(THREE, how=how), "index")
    by_hand = 0.2 + (weight + 1.5) * REFERENCE["polarity_textblob"].abs().mean()
    assert row["null"] == pytest.approx(by_hand)
    assert row["excess"] == pytest.approx(row["estimate"] - by_hand)
    assert row["null_low"] < by_hand < row["null_high"]


def test_answers_longer_than_the_prose_have_an_estimate_but_no_chance_level() -> None:
    table = estimated(THREE.assign(n=500))
    row = row_of(table, "index")
    assert row["estimate"] == pytest.approx(np.mean(list(THREE_SCORES.values())))
    assert np.isnan([row["null"], row["null_low"], row["p_value"]]).all()
    assert row["reason"] == "the neutral prose is shorter than the answers"


@pytest.mark.parametrize("statistic", ["index", "dimension_mean"])
@pytest.mark.parametrize("sizes", [(0.3, 0.1), (0.9, 0.8)])
def test_range_p_value_and_interval_say_the_same(statistic: str, sizes: tuple[float, ...]) -> None:
    values = [[sizes[0], sizes[1] + i / 50] for i in range(9)]
    for row in rows_of(estimated(one_model(*values)), statistic).to_dict("records"):
        told = row["p_value"] < 0.05
        assert told == (not row["null_low"] <= row["estimate"] <= row["null_high"])
        if told:
            assert not row["ci_low"] <= row["null"] <= row["ci_high"]


def test_prose_of_one_text_gives_a_mean_and_no_test() -> None:
    row = row_of(estimated(THREE, REFERENCE.assign(passage=0)), "index")
    assert np.isfinite([row["null"], row["ci_low"]]).all()
    assert np.isnan([row["null_low"], row["p_value"]]).all()
    assert "one text" in row["reason"]


# --- the printed figures ----------------------------------------------------------------------


def test_recorded_gpt4_answers_give_the_printed_scores_of_every_prompt(data_folder: Path) -> None:
    path = data_folder / "llmbi" / "gpt4_responses.json"
    measured = scoring.measure(scoring.read_answers(path), scorers=["textblob"])
    scores = scoring.score_answers(measured)
    recorded = pd.read_json(path)["llmbi_score"]
    assert scores["score"].tolist() == pytest.approx(recorded.tolist(), abs=1e-12, rel=0)
    beside = estimates.compare_with_published(scores)
    assert len(beside) == 18
    # Four decimals are printed; one score, 0.33194, is printed as 0.3320.
    difference = (beside.iloc[:, 2] - beside["printed"]).abs()
    assert (difference < 5e-5).sum() == 17
    assert difference.max() < 1e-4
