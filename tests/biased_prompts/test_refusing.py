"""Refusal rates: counted by hand, intervals by statsmodels, headlines read by the word lists."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import fisher_exact
from statsmodels.stats.proportion import proportion_confint

from nbbias import refusals, stats
from nbbias.biased_prompts import refusing, sample
from nbbias.news import corpus
from nbbias.stats.two_phase import ONE_PERSON
from nbbias.tables import DataError
from nbbias.text import lexicons
from tests.build import row_of

LABELS = ("refused", "refused_label")

GENDER = lexicons.load("gender")


def answers_of(biased: list[bool | None], neutral: list[bool | None] | None = None) -> pd.DataFrame:
    sides = {"biased": biased, "neutral": [False] * len(biased) if neutral is None else neutral}
    rows = [(p, f"a{i}", value) for p, values in sides.items() for i, value in enumerate(values)]
    table = pd.DataFrame(rows, columns=["prompt", "article_id", "refused"])
    table = table.assign(source="s", model="m", sample=1, text="t")
    return refusing.answered(table.assign(refused=table["refused"].astype("boolean")))


def overall(table: pd.DataFrame) -> pd.Series:
    return row_of(table[table["group"].isna()], "refusal_rate", prompt="biased", source="all")


def rates(answers: pd.DataFrame, **options: Any) -> pd.DataFrame:
    return refusing.rates(answers, **options).estimates


# --- labels ---


def labelled(*, second: bool) -> pd.DataFrame:
    """Forty answers to each prompt, of which each fourth is labelled; the detector misses some."""
    answers = answers_of([True] * 10 + [False] * 30).assign(reason="read")
    truth = pd.Series([True] * 20 + [False] * 60, dtype="boolean").where(answers.index % 4 == 0)
    answers = answers.assign(refused_label=truth, label_probability=0.25)
    other = truth.mask(answers.index == 20, True)  # the other person takes one more for a refusal
    return answers.assign(refused_label_2=other) if second else answers


def biased(table: pd.DataFrame, end: str = "") -> pd.Series:
    return row_of(table, f"refusal_rate_two_phase{end}", prompt="biased", source="all")


def test_labels_and_verdicts_give_a_rate_and_its_change() -> None:
    answers = labelled(second=False)
    table, found = rates(answers), biased(rates(answers))
    values = answers[[*LABELS]].astype("Float64").astype(float)
    sides = [
        stats.two_phase(*(values.loc[answers["prompt"] == side, name] for name in LABELS))
        for side in ("biased", "neutral")
    ]
    assert found["estimate"] == pytest.approx(0.25 + 0.75 * 2 / 7)
    assert (found["n"], found["ci_low"]) == (10, pytest.approx(sides[0].ci_low))
    change = row_of(table, "refusal_rate_change_two_phase")[["estimate", "ci_low", "ci_high"]]
    assert change.tolist() == pytest.approx(stats.subtract_rates(*sides))
    disputed = biased(table, "_disputed")
    assert np.isnan(disputed["ci_low"]) and disputed["reason"] == ONE_PERSON
    assert not table["statistic"].str.endswith("_corrected").any()


def test_where_two_people_disagree_the_interval_holds_either() -> None:
    table = rates(labelled(second=True))
    found, disputed = biased(table), biased(table, "_disputed")
    assert found["estimate"] == pytest.approx(0.25 + 0.75 * 2.5 / 7) == disputed["estimate"]
    assert disputed["ci_low"] == biased(rates(labelled(second=False)))["ci_low"]
    assert disputed["ci_high"] > found["ci_high"]
    assert (disputed["n"], disputed["n_lost"]) == (10, 0)


def test_without_labels_a_corrected_rate_holds_the_worst_case() -> None:
    answers = answers_of([True] * 4 + [False] * 36).assign(reason="read")
    row = row_of(rates(answers), "refusal_rate_corrected", prompt="biased", source="all")
    low, high = proportion_confint(4, 40, method="wilson")
    assert row["ci_low"] == 0 < low
    assert row["ci_high"] == pytest.approx(high / 0.4)


# --- rates ------------------------------------------------------------------------------------


def test_a_rate_is_a_share_of_what_was_answered_with_wilson_s_interval() -> None:
    found = overall(rates(answers_of([True, True, False, None])))
    assert found["estimate"] == pytest.approx(2 / 3)
    assert (found["n"], found["n_lost"]) == (3, 1)
    low, high = proportion_confint(2, 3, method="wilson")
    assert (found["ci_low"], found["ci_high"]) == pytest.approx((low, high))


def test_the_change_is_paired_over_articles() -> None:
    """Both prompts known for articles 0 to 3: changes 1, 0, 1, 0."""
    table = rates(answers_of([True, True, True, False, None], [False, True, False, False, True]))
    found = row_of(table, "refusal_rate_change")
    assert (found["estimate"], found["n"], found["n_lost"]) == (0.5, 4, 1)


def test_a_change_of_no_article_has_an_interval_and_no_test() -> None:
    found = row_of(rates(answers_of([False] * 4)), "refusal_rate_change")
    assert found["ci_low"] < found["estimate"] == 0 < found["ci_high"] < 1
    assert np.isnan(found["p_value"]) and found["reason"]


def test_repeated_answers_are_one_article() -> None:
    once = answers_of([True, False, False])
    again = pd.concat([once, once.assign(sample=2, refused=~once["refused"])])
    found = overall(rates(again))
    assert (found["estimate"], found["n"]) == (0.5, 3)
    change = row_of(rates(again), "refusal_rate_change")  # 0.5 less 0.5 in each: no certainty
    assert np.isnan(change[["ci_low", "ci_high"]].astype(float)).all() and change["reason"]


def test_detected_rates_have_a_corrected_row_beside_them_and_recorded_ones_have_none() -> None:
    """2 of 3 are called refusals: (2/3 + Sp - 1) / (Se + Sp - 1), by the shipped counts."""
    recorded = answers_of([True, True, False, None], [False, True, False, False])
    detected = recorded.assign(reason="a sentence")
    assert not rates(recorded)["statistic"].str.contains("corrected").any()
    table = rates(detected)
    assert set(table["instrument"]) == {refusals.instrument()}
    known = refusals.unseen()
    se = (known["tp"] / (known["tp"] + known["fn"])).mean()
    sp = (known["tn"] / (known["tn"] + known["fp"])).mean()
    found = row_of(table, "refusal_rate_corrected", prompt="biased")
    assert found["estimate"] == pytest.approx((2 / 3 + sp - 1) / (se + sp - 1))
    assert (found["n"], found["n_lost"]) == (3, 1)
    told = overall(table)
    assert found["ci_high"] - found["ci_low"] > told["ci_high"] - told["ci_low"]
    change, corrected = (row_of(table, f"refusal_rate_change{end}") for end in ("", "_corrected"))
    assert change["estimate"] < corrected["estimate"] < change["estimate"] / 0.7
    assert np.isfinite(change["p_value"]) and np.isnan(corrected["p_value"])


def test_labels_of_rounds_replace_the_detectors_errors(tmp_path: Path) -> None:
    _, generations = sample.corpus(desks_apart=True, seed=1)
    recorded = np.random.default_rng(0).random(len(generations)) < 0.4
    answers = refusing.answered(generations.assign(refused=recorded))
    sheet = refusing.to_label(answers)
    drawn = sheet.groupby("cell").head(20).assign(round=1)
    drawn["probability"] = 20 / sheet.groupby("cell")["text_id"].transform("size")
    truth = answers["refused"].astype(bool)
    people = [
        drawn.assign(refused=truth, annotator="ann"),
        drawn.assign(refused=truth.where(truth.index % 7 > 0, ~truth), annotator="bob"),
    ]
    path = tmp_path / "sheet.csv"
    pd.concat(people).to_csv(path, index=False)
    labelled = refusing.add_labels(answers, str(path))
    assert labelled["refused_label_2"].count() == len(drawn)
    # All of a round are drawn alike: what the sheet says is the share of answers with a label.
    assert labelled["label_probability"].dropna().eq(drawn["probability"]).all()
    rows = refusing.rates(labelled).estimates
    rows = rows[rows["model"].eq("guarded") & rows["prompt"].eq("biased")]
    rate, disputed = (
        row_of(rows, statistic=f"refusal_rate_two_phase{end}") for end in ("", "_disputed")
    )
    assert rate["n"] == disputed["n"] == 20
    assert disputed["ci_high"] - disputed["ci_low"] > rate["ci_high"] - rate["ci_low"]
    blank = tmp_path / "blank.csv"
    drawn.assign(refused="").to_csv(blank, index=False)
    with pytest.raises(DataError, match="no answer of this run is labelled"):
        refusing.add_labels(answers, str(blank))


# --- by headline ------------------------------------------------------------------------------


def headlines_of(*headlines: str) -> pd.DataFrame:
    ids = [f"a{i}" for i in range(len(headlines))]
    return pd.DataFrame({"source": "s", "article_id": ids, "headline": headlines, "text": "t"})


def test_headlines_name_whom_the_word_lists_find() -> None:
    originals = headlines_of("Women win the cup", "Men and women meet", "Rain expected", "")
    table = refusing.headline_groups(originals, GENDER)
    found = table.groupby("article_id")["group"].agg(set).tolist()
    assert found == [{"female"}, {"female", "male"}, {refusing.NOBODY}, {refusing.NOBODY}]


def test_a_corpus_without_headlines_names_nobody_and_has_rates_all_the_same() -> None:
    named = refusing.headline_groups(headlines_of("x").drop(columns="headline"), GENDER)
    assert named.empty
    table = rates(answers_of([True, False]), headlines=named)
    assert set(table["statistic"]) == {"refusal_rate", "refusal_rate_change"}
    assert table["group"].isna().all()


def test_selective_refusal_is_a_difference_with_fisher_s_test() -> None:
    """3 of 4 headlines that name women are refused, 1 of 5 that name nobody."""
    named = headlines_of(*["A woman speaks"] * 4, *["Rain expected"] * 5)
    refused: list[bool | None] = [True, True, True, False, True, False, False, False, False]
    table = rates(answers_of(refused), headlines=refusing.headline_groups(named, GENDER))
    found = row_of(table, "refusal_difference", group="female")
    assert found["estimate"] == pytest.approx(0.75 - 0.2)
    assert found["p_value"] == pytest.approx(fisher_exact([[3, 1], [1, 4]]).pvalue)
    assert found["ci_low"] < 0.55 < found["ci_high"] and found["n"] == 4 + 5
    assert row_of(table, "refusal_rate", group="female", prompt="biased")["n"] == 4
    # Of all tables with 4 refusals in 4 and 5 headlines, all in the first is the rarest.
    assert found["p_least"] == pytest.approx(fisher_exact([[4, 0], [0, 5]]).pvalue)


def test_without_headlines_that_name_nobody_there_is_no_difference() -> None:
    named = headlines_of("A woman speaks", "Women meet")
    table = rates(answers_of([True, False]), headlines=refusing.headline_groups(named, GENDER))
    found = row_of(table, "refusal_difference", group="female")
    assert np.isnan(found["estimate"]) and "nobody" in found["reason"]


# --- pairs and simulated truth ----------------------------------------------------------------


def test_refused_answers_are_lost_with_their_reason_and_earlier_losses_stay() -> None:
    originals, generations = sample.corpus(seed=2)
    generations.loc[generations.index[0], "text"] = ""
    answers = refusing.answered(generations.assign(refused=generations["simulated_refusal"]))
    answers.loc[answers.index[0], "refused"] = True
    pairs = refusing.without_refusals(corpus.pair(originals, generations), answers)
    assert pairs["lost"].iloc[0] == "blank answer"
    assert (pairs["lost"] == refusing.REFUSED).sum() == generations["simulated_refusal"].sum()
