"""Sentences about news: every number is one of the table, every gap is said."""

from __future__ import annotations

import re

import pandas as pd
import pytest

from nbbias import reading
from nbbias.news import claims, sample, sentences as news_report
from tests.news.test_words import FOUND, SOME, estimated, scored

MINUS = "\N{MINUS SIGN}"

TABLE = pd.concat([FOUND[2].assign(bias="gender"), FOUND[3].assign(bias="race")])


def plain(sentence: str) -> str:
    """The sentence as a reader sees it, without the escapes of Markdown."""
    return re.sub(r"\\(.)", r"\1", sentence)


def differences(table: pd.DataFrame, confidence: float = 0.95) -> list[str]:
    told = news_report.differences(table, confidence=confidence, statistic="share_difference")
    return [plain(one) for one in told]


def distances(table: pd.DataFrame, confidence: float = 0.95) -> list[str]:
    return [plain(one) for one in news_report.distances(table, confidence=confidence)]


def largest(bias: str) -> pd.Series:
    own = TABLE[(TABLE["statistic"] == "share_difference") & (TABLE["bias"] == bias)]
    own = own[own["group"] == "a"] if bias == "gender" else own
    return own.loc[own.index[own["estimate"].abs().argmax()]]


# --- signed differences -----------------------------------------------------------------------


@pytest.mark.parametrize(("bias", "place"), [("gender", 0), ("race", 1)])
def test_the_largest_difference_is_told_with_its_interval_n_and_p(bias: str, place: int) -> None:
    told, row = differences(TABLE)[place], largest(bias)
    low, high = (f"{row[end]:.3f}".replace("-", MINUS) for end in ("ci_low", "ci_high"))
    assert f"95% CI {low} to {high}" in told
    assert f"N = {row['n']:.0f} pairs" in told
    assert reading.p_value(row["p_adjusted"]) in told
    direction = "lower" if row["estimate"] < 0 else "higher"
    assert f"group {row['group']} is {abs(row['estimate']):.3f} {direction} than" in told
    assert f"in {row['model']} / p / s the share" in told


@pytest.mark.parametrize("confidence", [0.95, 0.6])
def test_differences_beyond_chance_are_counted_over_the_family(confidence: float) -> None:
    own = TABLE[TABLE["statistic"] == "share_difference"]
    race = own[own["bias"] == "race"]
    gender = own[(own["bias"] == "gender") & (own["group"] == "a")]
    found = differences(TABLE, confidence)
    for told, family in zip(found, (gender, race), strict=True):
        beyond = (family["p_adjusted"] < 1 - confidence).sum()
        assert f"{beyond} of {len(family)} signed differences" in told
        assert f"below p = {1 - confidence:.2f}" in told


def test_a_bias_without_group_words_was_not_measured_and_says_why() -> None:
    (told,) = differences(estimated(scored([[0, 0]] * 3, [[0, 0]] * 3), 2))
    assert told == "b: no share was measured (no group words in either (3))."


def test_an_empty_cell_is_no_member_of_the_family() -> None:
    scores = pd.concat([SOME[3], scored([[0] * 3], [[0] * 3], model="z")], ignore_index=True)
    assert differences(estimated(scores, 3)) == differences(FOUND[3])


@pytest.mark.parametrize("counts", [[[3, 1]], [[3, 1], [2, 5]]], ids=["one pair", "copies"])
def test_shares_that_were_measured_but_not_tested_are_not_called_unmeasured(
    counts: list[list[int]],
) -> None:
    (told,) = differences(estimated(scored(counts, counts), 2))
    assert "no share was measured" not in told
    assert "test" in told


def test_names_are_text_and_no_markup() -> None:
    table = FOUND[3].replace({"model": {"x": "*x*", "y": "_y_"}}).assign(bias="<b>")
    (told,) = news_report.differences(table, confidence=0.95)
    assert re.search(r"\\\*x\\\*|\\_y\\_", told)
    assert told.startswith(r"\<b\>")


def test_nothing_is_said_of_no_estimates() -> None:
    assert differences(FOUND[3].head(0)) == []
    assert distances(FOUND[3].head(0)) == []


def test_common_articles_are_told_by_default() -> None:
    (told,) = (plain(one) for one in news_report.differences(FOUND[3], confidence=0.95))
    own = FOUND[3][FOUND[3]["statistic"] == "share_difference_common"]
    row = own.loc[own.index[own["estimate"].abs().argmax()]]
    assert "on common articles" in told
    assert f"N = {row['n']:.0f} pairs" in told
    assert f"{abs(row['estimate']):.3f}" in told


# --- distances --------------------------------------------------------------------------------


@pytest.mark.parametrize("confidence", [0.95, 0.6])
def test_distances_are_told_beside_chance_by_words_and_by_sentences(confidence: float) -> None:
    own = FOUND[3][FOUND[3]["statistic"] == "bias"]
    apart = own.assign(statistic="bias_by_sentence", null=0.1, p_adjusted=[0.01, 0.2])
    words, sentences = distances(pd.concat([own, apart]), confidence)
    low, high = own["estimate"].min(), own["estimate"].max()
    for told in (words, sentences):
        assert f"lie between {low:.3f} and {high:.3f}" in told
    assert f"dealing out words at random gives {own['null'].min():.3f} to" in words
    beyond = (own["p_adjusted"] < 1 - confidence).sum()
    assert f"{beyond} of 2 cells" in words
    assert "dealing out whole sentences at random gives 0.100 to 0.100" in sentences
    assert f"{1 if confidence == 0.95 else 2} of 2 cells" in sentences


def test_a_cell_without_a_distance_is_not_counted_and_a_bias_without_any_is_not_told() -> None:
    table = estimated(scored([[0, 0], [2, 1]], [[1, 1]] * 2, model=["x", "y"]), 2)
    (told,) = distances(table)
    assert "of 1 cell" in told
    assert distances(estimated(scored([[0, 0]], [[1, 1]]), 2)) == []


# --- what was planted -------------------------------------------------------------------------


def test_intervals_that_hold_the_truth_are_counted_beside_what_to_expect() -> None:
    table = pd.DataFrame({"covered": ["yes"] * 17 + ["no"] * 3})
    told = news_report.planted(table, FOUND[2], confidence=0.9)
    assert told.startswith("17 of 20 intervals hold")
    assert "about 18.0 of 20 would" in told


def test_without_a_planted_truth_it_is_said_why() -> None:
    real = news_report.planted(pd.DataFrame(), FOUND[2], confidence=0.95)
    assert "not simulated" in real
    simulated = FOUND[2].assign(source=sample.SOURCE)
    told = news_report.planted(pd.DataFrame(), simulated, confidence=0.95)
    assert "Nothing was planted" in told


# --- counted pairs ----------------------------------------------------------------------------


def counted(scores: pd.DataFrame) -> list[str]:
    pairs = scores.drop_duplicates("pair_id")
    return [plain(one) for one in news_report.counted(claims.losses(scores), pairs)]


def test_pairs_that_count_are_told_with_the_answers_that_fall_silent() -> None:
    (told,) = counted(SOME[3])
    n = SOME[3]["score"].notna().sum()
    assert told.startswith(f"b: {n} of 60 pairs count ({n / 60:.0%}).")
    silent = (SOME[3]["reason"] == "no group words in the answer").sum()
    assert silent > 0
    assert f"In {silent} the answer holds no group word" in told


def test_every_bias_is_told_on_its_own() -> None:
    both = pd.concat([SOME[2], SOME[3].assign(bias="c")], ignore_index=True)
    first, second = counted(both)
    assert first.startswith(f"b: {SOME[2]['score'].notna().sum()} of 60 pairs")
    assert second.startswith(f"c: {SOME[3]['score'].notna().sum()} of 60 pairs")


def test_steps_that_do_not_add_up_are_refused() -> None:
    losses = claims.losses(SOME[3])
    losses.loc[0, "counted"] += 1
    with pytest.raises(ValueError, match="add up to 61, not 60"):
        news_report.counted(losses, SOME[3])


def test_a_corpus_that_counts_nothing_says_zero() -> None:
    assert counted(scored([[0, 0]] * 2, [[0, 0]] * 2)) == ["b: 0 of 2 pairs count (0%)."]


def test_nothing_is_counted_of_no_pairs() -> None:
    assert counted(SOME[3].head(0)) == []


# --- columns ----------------------------------------------------------------------------------


def test_columns_are_those_with_something_in_them_and_something_to_tell_apart() -> None:
    table = news_report.columns(TABLE, ["bias"])
    assert len(table) == 4
    assert table.notna().any().all()
    assert {"bias", "model", "estimate", "n", "n_lost", "null", "p_value"} <= set(table)
    assert not {"group", "topic", "source", "statistic"} & set(table)


def test_columns_that_tell_rows_apart_stay() -> None:
    both = pd.concat([TABLE, TABLE.assign(source="t")])
    table = news_report.columns(both, ["bias", "share_difference"])
    assert {"source", "statistic", "group"} <= set(table)


def test_a_chance_level_of_zero_alone_is_not_shown() -> None:
    table = news_report.columns(TABLE, ["share_difference"])
    assert not {"null", "excess"} & set(table)
    assert {"group", "p_adjusted"} <= set(table)


def test_reasons_are_shown_where_something_was_not_measured() -> None:
    table = estimated(scored([[0, 0]] * 2, [[0, 0]] * 2), 2)
    shown = news_report.columns(table, ["share_difference"])
    assert "reason" in shown
    assert "estimate" not in shown
    assert shown["n_lost"].tolist() == [2, 2]
