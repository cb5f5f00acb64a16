"""Sentences about biased prompts: every number is one of the table, every gap is said."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
import pytest

from nbbias import refusals, tables
from nbbias.biased_prompts import compare, refusing, sentences, tables as own_tables
from nbbias.tables import data_path
from tests.biased_prompts.test_compare import BIASED, NEUTRAL, compared, row, scores_of


def plain(sentence: str) -> str:
    """The sentence as a reader sees it, without the escapes of Markdown."""
    return re.sub(r"\\(.)", r"\1", sentence)


def answers_of(neutral: list[bool], biased: list[bool | None], *, model: str = "m") -> pd.DataFrame:
    rows = [
        {"source": "s", "article_id": f"a{i}", "model": model, "prompt": prompt, "sample": 1,
         "refused": refused}
        for prompt, values in (("neutral", neutral), ("biased", biased))
        for i, refused in enumerate(values)
    ]  # fmt: skip
    return pd.DataFrame(rows).astype({"refused": "boolean"})


def rates_of(*tables: pd.DataFrame, headlines: pd.DataFrame | None = None) -> pd.DataFrame:
    return refusing.rates(pd.concat(tables, ignore_index=True), headlines=headlines)


TEN = answers_of([False] * 10, [True] * 4 + [False] * 6)
OPTIONS: dict[str, Any] = {"correction": "holm"}

RNG = np.random.default_rng(1)
FALLING = scores_of(list(RNG.normal(0, 0.2, 30)), list(RNG.normal(-0.3, 0.2, 30)), measure="word")
STILL = scores_of(list(RNG.normal(0, 0.2, 30)), list(RNG.normal(0, 0.2, 30)), measure="word")
BOTH = pd.concat([FALLING, STILL.assign(model="n")], ignore_index=True)


# --- the corpus and the detector --------------------------------------------------------------


def test_answers_to_other_prompts_are_counted_and_named() -> None:
    table = pd.DataFrame({"model": ["m", "m", "k", "k"], "prompt": ["a", "b", "c", "c"]})
    assert plain(sentences.corpus(table, table.head(2))) == (
        "2 answers of 1 model count here. 2 answers to other prompts (c) are left out."
    )
    assert plain(sentences.corpus(table, table)) == "4 answers of 2 models count here."


def test_the_detector_s_quality_is_that_on_models_it_had_not_seen() -> None:
    """Counted in the shipped file: of each model the rates, then their mean over models."""
    shipped = pd.read_csv(data_path("refusals/held_out.csv")).query("method == @refusals.UNSEEN")
    found = {
        "refusals": shipped["tp"] / (shipped["tp"] + shipped["fn"]),
        "other answers": shipped["tn"] / (shipped["tn"] + shipped["fp"]),
    }
    text = plain(sentences.detector(rates_of(TEN)))
    assert "On 1,350 answers of 3 models" in text
    for what, own in found.items():
        told = f"{own.mean():.0%} ({own.min():.0%} to {own.max():.0%} by model) of the {what}"
        assert told in text
    low, high = (
        int(one) for one in re.findall(r"expected between (\d+)% and (\d+)% \(95%\)", text)[0]
    )
    # What was found on models that nobody looked at: balanced accuracy of .87.
    assert 50 < low < 87 < high < 100


def test_recorded_refusals_are_not_called_detected() -> None:
    recorded = rates_of(TEN.assign(reason="recorded"))
    assert "nothing was detected" in sentences.detector(recorded)


def test_the_held_out_table_is_whole() -> None:
    """Rates are those of the counts; the mean over the models is their mean."""
    for _, own in refusals.held_out().groupby("method"):
        own = own.set_index("model")
        right = own["tp"] + own["tn"]
        answers = own[refusals.COUNTS].sum(axis=1)
        assert (answers.drop("mean") == 450).all() and answers["mean"] == 1350
        assert own["accuracy"].tolist() == pytest.approx((right / answers).tolist())
        for name in ("sensitivity", "specificity", "balanced_accuracy"):
            models = own[name].drop("mean")
            assert own.loc["mean", name] == pytest.approx(models.mean())
            assert models.between(0, 1).all()


# --- refusals ---------------------------------------------------------------------------------


def test_rates_of_both_prompts_are_told_with_interval_and_n() -> None:
    """4 of 10: Wilson's interval is 17% to 69%; 0 of 10: 0% to 28%."""
    (text,) = sentences.refused(rates_of(TEN), neutral="neutral", biased="biased")
    text = plain(text)
    assert (
        "m refuses 40% of the articles under the prompt “biased” (95% CI 17% to 69%; N = 10; "
        in (text)
    )
    assert " and 0% of the articles under the prompt “neutral” (95% CI 0% to 28%; N = 10; " in text
    # The detector calls refusals what is none, and misses some: (0.4 - 0.102) / 0.796.
    assert "; corrected 37%, 95% CI 0% to " in text and "; corrected 0%, 95% CI 0% to " in text


def test_recorded_refusals_are_not_corrected() -> None:
    recorded = rates_of(TEN.assign(reason="recorded"))
    (text,) = sentences.refused(recorded, neutral="neutral", biased="biased")
    assert plain(text) == (
        "m refuses 40% of the articles under the prompt “biased” (95% CI 17% to 69%; N = 10) and "
        "0% of the articles under the prompt “neutral” (95% CI 0% to 28%; N = 10)."
    )


def test_a_model_asked_in_one_way_only_is_told_for_that() -> None:
    one = TEN[TEN["prompt"] == "biased"]
    (text,) = sentences.refused(rates_of(one), neutral="neutral", biased="biased")
    assert "40%" in text and "neutral" not in text


def test_selective_refusal_is_told_with_its_group() -> None:
    """9 of 10 headlines that name women are refused, 0 of 10 that name nobody."""
    answers = answers_of([False] * 20, [True] * 9 + [False] * 11)
    names = ["female"] * 10 + [refusing.NOBODY] * 10
    headlines = pd.DataFrame(
        {
            "source": "s",
            "article_id": [f"a{i}" for i in range(20)],
            "bias": "gender",
            "group": names,
        }
    )
    (text,) = sentences.selective(rates_of(answers, headlines=headlines), **OPTIONS)
    text = plain(text)
    assert text.startswith("gender: 1 of 1 differences") and " correction (exploratory)." in text
    assert "m refuses headlines that name the group female more often, by 90 percentage" in text
    (none,) = sentences.selective(
        rates_of(answers, headlines=headlines.assign(group="female")), **OPTIONS
    )
    assert "not tested (no answers to headlines that name nobody)" in plain(none)


def test_a_corpus_without_headlines_says_so() -> None:
    (text,) = sentences.selective(rates_of(TEN), **OPTIONS)
    assert "not measured" in text and "no headlines" in text


def test_rates_by_headline_stand_beside_their_differences() -> None:
    answers = answers_of([False] * 4, [True, True, False, False])
    headlines = pd.DataFrame(
        {"source": "s", "article_id": ["a0", "a1", "a2", "a3"], "bias": "gender",
         "group": ["female", "female", refusing.NOBODY, refusing.NOBODY]}
    )  # fmt: skip
    table = own_tables.by_headline(rates_of(answers, headlines=headlines)).rows
    found = table.set_index(["prompt", "group"])
    assert found.loc[("biased", "female"), ["rate", "difference"]].tolist() == [1.0, 1.0]
    assert np.isnan(found.loc[("biased", "nobody"), "difference"])
    assert np.isnan(found.loc[("neutral", "female"), "difference"])
    assert own_tables.by_headline(rates_of(TEN)).rows.empty


# --- the effect of the prompt -----------------------------------------------------------------


def test_the_largest_effect_is_told_with_interval_n_and_p() -> None:
    table = compared(BOTH)
    (text,) = (plain(one) for one in sentences.effects(table, **OPTIONS))
    largest = row(table, "share_difference_change", model="m")
    assert text.startswith(
        "x: 1 of 2 effects of the prompt are told apart from 0 (exploratory; p below .05 after "
    )
    assert "This one: in m the share of words of the group a is" in text
    assert f"is {abs(largest['estimate']):.3f} lower under the prompt “biased” than" in text
    low, high = (f"{largest[end]:.3f}".replace("-", "−") for end in ("ci_low", "ci_high"))
    assert f"95% CI {low} to {high}; N = 30 articles; p < .001" in text


def test_an_effect_that_cannot_be_tested_says_why() -> None:
    table = compared(scores_of([-0.1, 0.2], ["refused", "refused"]))
    (text,) = sentences.effects(table, **OPTIONS)
    assert "No effects of the prompt could be tested" in text
    assert "no article counts under both prompts" in plain(text)


def test_instruments_are_told_apart_and_sources_are_named_where_there_are_several() -> None:
    again = FALLING.assign(instrument="j", measure="sentiment", source="t")
    found = [
        plain(one) for one in sentences.effects(compared(pd.concat([FALLING, again])), **OPTIONS)
    ]
    assert [one.split(":")[0] for one in found] == ["x, i", "x, j"]
    assert "in m the share of words" in found[0]
    assert "in m the sentiment towards the group a" in found[1]


def test_nothing_is_said_of_no_estimates() -> None:
    assert sentences.effects(compared(BOTH).head(0), **OPTIONS) == []
    assert sentences.two_samples(compared(BOTH).head(0)) == []


@pytest.mark.parametrize("confidence", [0.95, 0.6])
def test_two_samples_are_counted_by_test_before_correction(confidence: float) -> None:
    table = compared(BOTH).assign(confidence=confidence)
    (text,) = (plain(one) for one in sentences.two_samples(table))
    alpha = 1 - confidence
    share = table.loc[table["statistic"] == "prejudice_share_change", "p_value"]
    assert f"is below p = {alpha:.2f} in {(share < alpha).sum()} of 2 cells" in text
    extent = table[table["statistic"] == "prejudice_extent_change"]
    below = extent[extent["p_value"] < alpha].groupby("test").size()
    for test in ("Student's t, pooled", "Welch's t"):
        assert f"{below.get(test, 0)} by {test}" in text
    wide = extent.pivot(index="model", columns="test", values="p_value") < alpha
    apart = (wide.nunique(axis=1) > 1).sum()
    assert (f"disagree in {apart}" if apart else "the two tests agree") in text


def test_bounds_are_told_only_where_refused_articles_could_have_counted() -> None:
    """Five answered and all fell; one refused could have counted: 5/6 to 6/6."""
    (text,) = (plain(one) for one in sentences.bounds(compared(scores_of(NEUTRAL, BIASED))))
    assert "m, a: 1 refused articles could have counted beside the 5 that do" in text
    assert "1.00 of those answered, would lie between 0.83" in text and "and 1.00 (all" in text
    (none,) = sentences.bounds(compared(BOTH))
    assert "nothing is left open" in none


def test_an_effect_on_few_of_many_articles_says_so_in_its_sentence() -> None:
    """Of 30 articles 20 are refused; the share of prejudice is then open by 20 of 30."""
    rng = np.random.default_rng(2)
    answered = list(rng.normal(-0.4, 0.1, 10))
    scores = scores_of(list(rng.normal(0, 0.1, 30)), [*answered, *["refused"] * 20], measure="word")
    (text,) = sentences.effects(compared(scores), **OPTIONS)
    sentence = text.split(". ")[-1]
    assert "N = 10 of 30 articles" in sentence
    assert "the 20 refused that could count leave" in sentence
    assert sentence.endswith("between 0.33 and 1.00.")
    whole = plain(sentences.effects(compared(FALLING), **OPTIONS)[0])
    assert "N = 30 articles" in whole and "refused" not in whole


def test_where_all_was_refused_the_bounds_are_told_all_the_same() -> None:
    (text,) = sentences.bounds(compared(scores_of([-0.1, 0.2], ["refused", "refused"])))
    assert "not measured of those answered, would lie between 0.00" in plain(text)


# --- the printed, the planted, the finding ----------------------------------------------------


def test_the_printed_rate_is_the_paper_s() -> None:
    assert "ChatGPT refused 89.13% of biased prompts" in plain(
        sentences.printed_rate(compare.printed())
    )


def test_planted_refusals_are_counted_as_told_missed_and_false() -> None:
    answers = pd.DataFrame(
        {"planted_refusal": [True, True, False, False], "refused": [True, False, True, pd.NA]}
    ).astype({"refused": "boolean"})
    assert sentences.detected(answers).startswith("1 of 2 planted refusals were told, and 1 of 2")
    assert "not simulated" in sentences.detected(answers.drop(columns="planted_refusal"))


def test_the_finding_is_a_sentence_of_refusals_and_one_of_the_first_level() -> None:
    rng = np.random.default_rng(2)
    answered = [*rng.normal(-0.4, 0.1, 10), *["refused"] * 20]
    table = compared(scores_of(list(rng.normal(0, 0.1, 30)), answered, measure="word"))
    rates = rates_of(answers_of([False] * 30, [False] * 10 + [True] * 20))
    every = pd.concat([rates, table], ignore_index=True)
    text, figure = sentences.finding(
        rates, every.assign(claim=1), biased="biased", bounds=table, **OPTIONS
    )
    assert figure == "effects"
    first, second = text.split(". ")
    assert first.startswith("1 of 1 changes of refusal are told apart from 0 (declared, Holm's")
    assert "m refuses 0.67 of the articles more under the prompt “biased” (95% CI" in first
    assert "; corrected 0." in first
    assert "N = 10 of 30 articles" in second and "between 0.33 and 1.00" in second
    assert "\\" not in text and len(text.split()) < 125
    alone, _ = sentences.finding(rates, table, biased="biased", **OPTIONS)
    assert alone.startswith("1 of 1 effects of the prompt are told apart from 0 (exploratory,")


def test_the_finding_of_a_run_without_words_is_that_of_the_level_there_is() -> None:
    tone = compared(BOTH.assign(measure="sentiment"))
    assert sentences.finding(rates_of(TEN), tone, biased="biased", **OPTIONS)[1] == "effects"
    nothing = sentences.finding(rates_of(TEN), rates_of(TEN), biased="biased", **OPTIONS)
    assert nothing[1] == "refusals" and "refuses 0.40 of the articles more" in nothing[0]


@pytest.mark.parametrize("name", ["effects", "prejudice", "changes", "bounds"])
def test_a_table_for_readers_has_the_rows_of_its_statistics_and_eight_columns(name: str) -> None:
    table = compared(BOTH)
    wanted = {
        "effects": ["share_difference_change"],
        "prejudice": ["prejudice_share", "prejudice_extent"],
        "changes": ["prejudice_share_change", "prejudice_share_change_paired",
                    "prejudice_extent_change"],
        "bounds": ["prejudice_share_if_none", "prejudice_share_if_all"],
    }[name]  # fmt: skip
    found = own_tables.of(table, name)
    assert len(found.rows) == table["statistic"].isin(wanted).sum()
    assert len(found.rows.columns) <= 8
    assert found.title and found.note
    assert own_tables.of(tables.estimates([], study="x"), name).rows.empty


def test_names_are_text_and_no_markup() -> None:
    table = compared(BOTH).replace({"model": {"m": "*m*"}})
    assert r"in \*m\*" in sentences.effects(table, **OPTIONS)[0]
    (text,) = sentences.refused(
        rates_of(TEN.assign(model="<b>")), neutral="neutral", biased="biased"
    )
    assert text.startswith(r"\<b\> refuses")
