"""Sentences about biased prompts: every number is one of the table, every gap is said."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
import pytest

from nbbias import refusals, tables
from nbbias.biased_prompts import compare, refusing, sentences, tables as own_tables
from nbbias.params import Texts
from nbbias.reading import Lead
from nbbias.tables import data_path
from tests.biased_prompts.test_compare import BIASED, NEUTRAL, compared, row, scores_of


def plain(sentence: str) -> str:
    """The sentence as a reader sees it, without the escapes of Markdown."""
    return re.sub(r"\\(.)", r"\1", sentence)


def answers_of(neutral: list[bool], biased: list[bool | None], *, model: str = "m") -> pd.DataFrame:
    rows = [
        {
            "source": "s",
            "article_id": f"a{i}",
            "model": model,
            "prompt": prompt,
            "sample": 1,
            "refused": refused,
        }
        for prompt, values in (("neutral", neutral), ("biased", biased))
        for i, refused in enumerate(values)
    ]
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
    balanced = (found["refusals"] + found["other answers"]) / 2
    worst = shipped["model"][balanced.idxmin()]
    assert f"{balanced.min():.0%} on the worst model ({worst})" in text
    assert f"and {balanced.mean():.0%} on average" in text
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
        "m** refuses 40% of the articles under the biased prompt (95% CI 17% to 69%; N = 10; "
        in (text)
    )
    assert " and 0% of the articles under the neutral prompt (95% CI 0% to 28%; N = 10; " in text
    # The detector calls refusals what is none, and misses some: (0.4 - 0.082) / 0.847.
    assert "; corrected 38%, 95% CI 0% to " in text and "; corrected 0%, 95% CI 0% to " in text


def test_recorded_refusals_are_not_corrected() -> None:
    recorded = rates_of(TEN.assign(reason="recorded"))
    (text,) = sentences.refused(recorded, neutral="neutral", biased="biased")
    assert plain(text) == (
        "**m** refuses 40% of the articles under the biased prompt (95% CI 17% to 69%; N = 10) and "
        "0% of the articles under the neutral prompt (95% CI 0% to 28%; N = 10)."
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
    assert text.startswith(
        "**Gender.** Headlines about women are refused 90 points more often by m than headlines"
    )
    assert sentences.selective_result(rates_of(answers, headlines=headlines)) == (
        "Headlines about women are refused more often than others by m"
    )
    (none,) = sentences.selective(
        rates_of(answers, headlines=headlines.assign(group="female")), **OPTIONS
    )
    assert "Not tested (no answers to headlines that name nobody)" in plain(none)


def test_a_corpus_without_headlines_says_so() -> None:
    (text,) = sentences.selective(rates_of(TEN), **OPTIONS)
    assert "not measured" in text and "no headlines" in text


def test_rates_by_headline_stand_beside_their_differences() -> None:
    answers = answers_of([False] * 4, [True, True, False, False])
    headlines = pd.DataFrame(
        {
            "source": "s",
            "article_id": ["a0", "a1", "a2", "a3"],
            "bias": "gender",
            "group": ["female", "female", refusing.NOBODY, refusing.NOBODY],
        }
    )
    table = own_tables.by_headline(rates_of(answers, headlines=headlines)).rows
    found = table.set_index(["prompt", "group"])
    assert found.loc[("biased", "female"), ["rate", "difference"]].tolist() == [1.0, 1.0]
    assert np.isnan(found.loc[("biased", "nobody"), "difference"])
    assert np.isnan(found.loc[("neutral", "female"), "difference"])
    assert own_tables.by_headline(rates_of(TEN)).rows.empty


# --- the effect of the prompt -----------------------------------------------------------------


def test_a_shown_effect_is_told_with_interval_n_and_p_and_the_others_with_what_it_would_take() -> (
    None
):
    table = compared(BOTH)
    (text,) = (plain(one) for one in sentences.effects(table))
    shown = row(table, "share_difference_change", model="m")
    low, high = (f"{100 * shown[end]:.1f}".replace("-", "−") for end in ("ci_low", "ci_high"))
    size = f"−{abs(100 * shown['estimate']):.1f} points"
    assert text.startswith(
        f"**Words.** A's share of the words is smaller in m ({size}; 95% CI {low} to {high}; "
        "N = 30 articles; p < .001). In the other model no difference could be shown: it would "
    )
    assert sentences.effects_result(table) == "A's share of the words is smaller in 1 of 2 models"


def test_an_effect_that_cannot_be_tested_says_why() -> None:
    table = compared(scores_of([-0.1, 0.2], ["refused", "refused"]))
    (text,) = sentences.effects(table)
    assert "None could be tested" in text
    assert "no article counts under both prompts" in plain(text)
    assert "can be told from these texts" in sentences.effects_result(table)


def test_levels_without_any_shown_effect_share_a_sentence() -> None:
    tone = STILL.assign(instrument="j", measure="sentiment", model="n")
    still = pd.concat([STILL.assign(model="n"), tone], ignore_index=True)
    (text,) = (plain(one) for one in sentences.effects(compared(still)))
    assert text.startswith("**Words and tone.** No difference could be shown in any model; it")
    assert "points in words and 0." in text and text.endswith("in tone.")
    found = compared(pd.concat([FALLING, tone], ignore_index=True))
    words, rest = (plain(one) for one in sentences.effects(found))
    assert words.startswith("**Words.** A's share") and rest.startswith("**Tone.** No difference")


def test_nothing_is_said_of_no_estimates() -> None:
    assert sentences.effects(compared(BOTH).head(0)) == []
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
    assert "m 100% (83% to 100% if the 1 refused beside 5 counted)" in text
    (none,) = sentences.bounds(compared(BOTH))
    assert "nothing is left open" in none


def test_an_effect_on_few_of_many_articles_says_so() -> None:
    """Of 30 articles 20 are refused; the share of prejudice is then open by 20 of 30."""
    rng = np.random.default_rng(2)
    answered = list(rng.normal(-0.4, 0.1, 10))
    scores = scores_of(list(rng.normal(0, 0.1, 30)), [*answered, *["refused"] * 20], measure="word")
    table = compared(scores)
    (text,), (bound,) = sentences.effects(table), sentences.bounds(table)
    assert "N = 10 articles (20 excluded)" in plain(text)
    assert "(33% to 100% if the 20 refused beside 10 counted)" in plain(bound)
    assert "N = 30 articles" in plain(sentences.effects(compared(FALLING))[0])


def test_where_all_was_refused_the_bounds_are_told_all_the_same() -> None:
    (text,) = sentences.bounds(compared(scores_of([-0.1, 0.2], ["refused", "refused"])))
    assert "m unknown, all 2 being refused" in plain(text)


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


ASKED = {"neutral": "neutral", "biased": "biased"}


def lead_of(table: pd.DataFrame, *, declared: bool = True) -> tuple[list[str], Lead]:
    claim = table.assign(claim=1, smallest_effect=np.nan, verdict="") if declared else table
    answers = TEN.assign(text="")
    made = sentences.lead(
        claim, estimates=table, answers=answers, texts=Texts("own", "a.csv"), prompts=ASKED
    )
    assert len(made.plain) == 2
    return [plain(one) for one in made.plain], made


def test_the_lead_says_who_refuses_and_what_the_prompt_changes_where_they_answer() -> None:
    rng = np.random.default_rng(2)
    answered = [*rng.normal(-0.4, 0.1, 10), *["refused"] * 20]
    table = compared(scores_of(list(rng.normal(0, 0.1, 30)), answered, measure="word"))
    rates = rates_of(answers_of([False] * 30, [False] * 10 + [True] * 20))
    every = pd.concat([rates, table], ignore_index=True)
    wanted = every["statistic"].isin(["refusal_rate_change", "share_difference_change"])
    (found, sure), made = lead_of(every[wanted])
    assert found.startswith(
        "m refuses more articles under the biased prompt than under the neutral one: 67 points "
        "more (between "
    )
    assert "; where they answer, m gives a a smaller share of the words under it: " in found
    assert "If the prompt made no difference" in sure and "fewer than 1 of 1,000" in sure
    assert made.card["N"] == "10 articles and 20 answers of 1 model"
    assert "Share of articles refused, m: 0.667" in made.technical
    assert len(made.numbers) == 2 and made.figure == "finding"
    (_, exploratory), _ = lead_of(every, declared=False)
    assert exploratory.endswith("(exploratory: no claim was pre-specified).")


def test_the_lead_of_a_run_without_words_is_that_of_the_level_there_is() -> None:
    tone = compared(BOTH.assign(measure="sentiment"))
    (found, _), _ = lead_of(tone, declared=False)
    assert found.startswith("One of 2 models, m, writes about a in a colder tone under the biased")
    (refusals, _), _ = lead_of(rates_of(TEN), declared=False)
    assert "refused" in refusals or "refuses" in refusals


def test_where_no_effect_is_shown_the_lead_says_what_could_have_been() -> None:
    (none, size), _ = lead_of(compared(STILL), declared=False)
    assert none == "For m no difference from the neutral prompt could be shown in a's share of " + (
        "the words."
    )
    assert "With these 30 articles a difference of about" in size


def test_headings_say_which_models_refuse_more() -> None:
    rates = rates_of(answers_of([False] * 30, [False] * 10 + [True] * 20))
    assert sentences.refusals_result(rates, biased="biased") == (
        "Under the biased prompt m refuses more often"
    )
    none = rates_of(answers_of([False] * 9, [False] * 9))
    told = sentences.refusals_result(none, biased="biased")
    assert told == "No model refuses under the biased prompt"


@pytest.mark.parametrize("name", ["effects", "prejudice", "changes", "bounds"])
def test_a_table_for_readers_has_the_rows_of_its_statistics_and_eight_columns(name: str) -> None:
    table = compared(BOTH)
    wanted = {
        "effects": ["share_difference_change"],
        "prejudice": ["prejudice_share", "prejudice_extent"],
        "changes": [
            "prejudice_share_change",
            "prejudice_share_change_paired",
            "prejudice_extent_change",
        ],
        "bounds": ["prejudice_share_if_none", "prejudice_share_if_all"],
    }[name]
    found = own_tables.of(table, name)
    assert len(found.rows) == table["statistic"].isin(wanted).sum()
    assert len(found.rows.columns) <= 8
    assert found.title and found.note
    assert own_tables.of(tables.estimates([], study="x"), name).rows.empty


def test_names_are_text_and_no_markup() -> None:
    table = compared(BOTH).replace({"model": {"m": "*m*"}})
    assert r"in \*m\*" in sentences.effects(table)[0]
    (text,) = sentences.refused(
        rates_of(TEN.assign(model="<b>")), neutral="neutral", biased="biased"
    )
    assert text.startswith(r"**\<b\>** refuses")
