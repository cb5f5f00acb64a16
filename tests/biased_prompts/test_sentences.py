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
from nbbias.tables import data_path
from tests.biased_prompts.test_compare import BIASED, NEUTRAL, compared, row, scores_of
from tests.conftest import Golden


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


ASKED = {"neutral": "neutral", "biased": "biased"}


def headlines_of(*groups: str) -> pd.DataFrame:
    ids = [f"a{i}" for i in range(len(groups))]
    return pd.DataFrame({"source": "s", "article_id": ids, "bias": "gender", "group": groups})


def lead_of(table: pd.DataFrame, *, declared: bool = True) -> list[str]:
    claim = table.assign(claim=1, smallest_effect=np.nan, verdict="") if declared else table
    answers, texts = TEN.assign(text=""), Texts("own", "a.csv")
    lead = sentences.lead(claim, estimates=table, answers=answers, texts=texts, prompts=ASKED)
    names = lead.numbers["name"].tolist() if len(lead.numbers) else []
    return [*lead.plain, lead.technical, *names, lead.card["N"], lead.figure]


# --- what is said -----------------------------------------------------------------------------


def test_what_a_page_says_of_refusals(golden: Golden) -> None:
    other = pd.DataFrame({"model": ["m", "m", "k", "k"], "prompt": ["a", "b", "c", "c"]})
    # 9 of 10 headlines that name women are refused, 0 of 10 that name nobody.
    answers = answers_of([False] * 20, [True] * 9 + [False] * 11)
    headlines = headlines_of(*["female"] * 10, *[refusing.NOBODY] * 10)
    selective = rates_of(answers, headlines=headlines)
    no_others = rates_of(answers, headlines=headlines.assign(group="female"))
    many = rates_of(answers_of([False] * 30, [False] * 10 + [True] * 20))
    none = rates_of(answers_of([False] * 9, [False] * 9))
    recorded = rates_of(TEN.assign(reason="recorded"))
    planted = {"planted_refusal": [True, True, False, False], "refused": [True, False, True, pd.NA]}
    planted = pd.DataFrame(planted).astype({"refused": "boolean"})
    says = {
        "the corpus": [sentences.corpus(other, other.head(2)), sentences.corpus(other, other)],
        "no detector": [sentences.detector(recorded)],
        "4 of 10 and 0 of 10": sentences.refused(rates_of(TEN), **ASKED),
        "recorded": sentences.refused(recorded, **ASKED),
        "one way only": sentences.refused(rates_of(TEN[TEN["prompt"] == "biased"]), **ASKED),
        "a name with markup": sentences.refused(rates_of(TEN.assign(model="<b>")), **ASKED),
        "selective": sentences.selective(selective, **OPTIONS),
        "selective, in short": [sentences.selective_result(selective)],
        "headlines that all name women": sentences.selective(no_others, **OPTIONS),
        "no headlines": sentences.selective(rates_of(TEN), **OPTIONS),
        "headings": [sentences.refusals_result(rates, biased="biased") for rates in (many, none)],
        "planted": [sentences.detected(planted)],
        "nothing planted": [sentences.detected(planted.drop(columns="planted_refusal"))],
        "print": [sentences.printed_rate(compare.printed())],
        "lead": lead_of(rates_of(TEN), declared=False),
    }
    golden("biased_prompts_refusals", says)
    (text,) = says["4 of 10 and 0 of 10"]
    # Wilson's intervals, by hand.
    assert "40% of the articles under the biased prompt (95% CI 17% to 69%; N = 10; " in text
    assert "0% of the articles under the neutral prompt (95% CI 0% to 28%; N = 10; " in text
    # The detector calls refusals what is none, and misses some: (0.4 - 0.082) / 0.847.
    assert "; corrected 38%, 95% CI 0% to " in text and "; corrected 0%, 95% CI 0% to " in text


def test_what_a_page_says_of_effects(golden: Golden) -> None:
    table = compared(BOTH)
    gone = compared(scores_of([-0.1, 0.2], ["refused", "refused"]))
    tone = STILL.assign(instrument="j", measure="sentiment", model="n")
    still = pd.concat([STILL.assign(model="n"), tone], ignore_index=True)
    mixed = pd.concat([FALLING, tone], ignore_index=True)
    # Of 30 articles 20 are refused; the share of prejudice is then open by 20 of 30.
    rng = np.random.default_rng(2)
    answered = [*rng.normal(-0.4, 0.1, 10), *["refused"] * 20]
    few = compared(scores_of(list(rng.normal(0, 0.1, 30)), answered, measure="word"))
    rates = rates_of(answers_of([False] * 30, [False] * 10 + [True] * 20))
    every = pd.concat([rates, few], ignore_index=True)
    wanted = every["statistic"].isin(["refusal_rate_change", "share_difference_change"])
    level = compared(BOTH.assign(measure="sentiment"))
    says = {
        "one of two models": [*sentences.effects(table), sentences.effects_result(table)],
        "a name with markup": sentences.effects(table.replace({"model": {"m": "*m*"}})),
        "all refused": [*sentences.effects(gone), sentences.effects_result(gone)],
        "two levels without effects": sentences.effects(compared(still)),
        "one level with effects": sentences.effects(compared(mixed)),
        "few of many articles": sentences.effects(few),
        "nothing": [*sentences.effects(table.head(0)), *sentences.two_samples(table.head(0))],
        "two samples": sentences.two_samples(table),
        # Five answered and all fell; one refused could have counted: 5/6 to 6/6.
        "bounds": sentences.bounds(compared(scores_of(NEUTRAL, BIASED))),
        "no bounds": sentences.bounds(table),
        "bounds of few": sentences.bounds(few),
        "bounds where all was refused": sentences.bounds(gone),
        "lead": lead_of(every[wanted]),
        "lead, exploratory": lead_of(every, declared=False),
        "lead of tone": lead_of(level, declared=False),
        "lead without effects": lead_of(compared(STILL), declared=False),
    }
    golden("biased_prompts_effects", says)
    change = row(table, "share_difference_change", model="m")
    low, high = sorted(abs(100 * change[end]) for end in ("ci_low", "ci_high"))
    size = f"was {abs(100 * change['estimate']):.1f} percentage points smaller than"
    assert f"In 1 of 2 models (m), a's share of group terms {size}" in says["one of two models"][0]
    numbers = f"(95% CI {low:.1f} to {high:.1f}; N = 30 articles;"
    assert numbers in says["one of two models"][0]
    assert "100% (83% to 100% if the 1 refused beside 5 counted)" in says["bounds"][0]
    assert "(33% to 100% if the 20 refused beside 10 counted)" in says["bounds of few"][0]


# --- what is counted --------------------------------------------------------------------------


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


def test_rates_by_headline_stand_beside_their_differences() -> None:
    answers = answers_of([False] * 4, [True, True, False, False])
    headlines = headlines_of("female", "female", refusing.NOBODY, refusing.NOBODY)
    table = own_tables.by_headline(rates_of(answers, headlines=headlines)).rows
    found = table.set_index(["prompt", "group"])
    assert found.loc[("biased", "female"), ["rate", "difference"]].tolist() == [1.0, 1.0]
    assert np.isnan(found.loc[("biased", "nobody"), "difference"])
    assert np.isnan(found.loc[("neutral", "female"), "difference"])
    assert own_tables.by_headline(rates_of(TEN)).rows.empty


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
