"""Sentences about news: every number is one of the table, every gap is said."""

from __future__ import annotations

import re

import pandas as pd
import pytest

from nbbias import reading, tables as tables_of
from nbbias.news import claims, sample, sentences, tables
from nbbias.news.claims import Level
from tests.news.test_words import FOUND, SOME, estimated, scored

MINUS = "\N{MINUS SIGN}"

TABLE = pd.concat([FOUND[2].assign(bias="gender"), FOUND[3].assign(bias="race")])


def plain(sentence: str) -> str:
    """The sentence as a reader sees it, without the escapes of Markdown."""
    return re.sub(r"\\(.)", r"\1", sentence)


def at(table: pd.DataFrame, confidence: float) -> pd.DataFrame:
    return table.assign(confidence=confidence)


def differences(table: pd.DataFrame, confidence: float = 0.95) -> list[str]:
    told = sentences.differences(at(table, confidence), statistic="share_difference")
    return [plain(one) for one in told]


def distances(table: pd.DataFrame, *more: pd.DataFrame, confidence: float = 0.95) -> list[str]:
    levels = [claims.reference(at(table, confidence), "words"), *more]
    chance = at(pd.concat(levels), confidence)
    return [plain(one) for one in sentences.distances(table, chance)]


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
    assert f"N = {row['n']:.0f} of {row['n'] + row['n_lost']:.0f} pairs" in told
    assert reading.p_value(row["p_adjusted"]) in told
    direction = "lower" if row["estimate"] < 0 else "higher"
    assert f"group {row['group']} is {abs(row['estimate']):.3f} {direction} than" in told
    assert f"in {row['model']} the share of words of the group" in told


@pytest.mark.parametrize("confidence", [0.95, 0.6])
def test_differences_beyond_chance_are_counted_over_the_family(confidence: float) -> None:
    own = TABLE[TABLE["statistic"] == "share_difference"]
    race = own[own["bias"] == "race"]
    gender = own[(own["bias"] == "gender") & (own["group"] == "a")]
    found = differences(TABLE, confidence)
    for told, family in zip(found, (gender, race), strict=True):
        beyond = (family["p_adjusted"] < 1 - confidence).sum()
        assert f"{beyond} of {len(family)} signed differences" in told
        assert f"p below {1 - confidence:.1g}".replace("0.", ".") in told


def test_a_bias_without_group_words_was_not_measured_and_says_why() -> None:
    (told,) = differences(estimated(scored([[0, 0]] * 3, [[0, 0]] * 3), 2))
    assert told == "b: No signed differences could be tested (no group words in either (3))."


def test_an_empty_cell_is_no_member_of_the_family_and_is_counted() -> None:
    scores = pd.concat([SOME[3], scored([[0] * 3], [[0] * 3], model="z")], ignore_index=True)
    (told,), (alone,) = differences(estimated(scores, 3)), differences(FOUND[3])
    left = f"; 3 could not be tested: no group words in either (1)). {alone.split('). ')[1]}"
    assert told == alone.replace(f"). {alone.split('). ')[1]}", left).replace("of 6 s", "of 9 s")


def test_shifts_of_tone_that_could_not_be_tested_are_counted_with_the_reason() -> None:
    row = {
        "model": "m", "measure": "sentiment", "bias": "race", "group": "Black", "estimate": 0.2,
        "statistic": "difference_beyond_neutral", "instrument": "TextBlob", "n": 30,
        "ci_low": -0.1, "ci_high": 0.5, "p_value": 0.2, "p_adjusted": 0.4, "null": 0,
    }  # fmt: skip
    gaps = dict.fromkeys(("ci_low", "ci_high", "p_value", "p_adjusted"))
    few = row | gaps | {"estimate": 0, "reason": "fewer than 5 articles differ in tone"}
    silent = few | {"estimate": None, "reason": "no article has sentences of the group", "n": 0}
    rows = [row, *[few | {"group": group} for group in ("White", "Asian")], silent]
    raw = row | {"statistic": "mean_difference", "p_adjusted": 0.001}
    toxic = raw | {"measure": "toxicity", "instrument": "Detoxify", "bias": "gender"}
    table = tables_of.estimates([*rows, raw, toxic], study="news_bias", confidence=0.95)
    sentiment, toxicity = (plain(one) for one in sentences.tone(table))
    assert sentiment.startswith(
        "sentiment: 0 of 4 shifts of sentiment beyond that of the sentences that name no group"
    )
    assert "3 could not be tested: fewer than 5 articles differ in tone" in sentiment
    assert "group Black in m by TextBlob it is 0.200" in sentiment
    assert toxicity.startswith("toxicity: 1 of 1 shifts of toxicity")


@pytest.mark.parametrize("counts", [[[3, 1]], [[3, 1], [2, 5]]], ids=["one pair", "copies"])
def test_shares_that_were_measured_but_not_tested_are_not_called_unmeasured(
    counts: list[list[int]],
) -> None:
    (told,) = differences(estimated(scored(counts, counts), 2))
    assert "no share was measured" not in told
    assert "could be tested" in told


def test_names_are_text_and_no_markup() -> None:
    table = FOUND[3].replace({"model": {"x": "*x*", "y": "_y_"}}).assign(bias="<b>")
    (told,) = sentences.differences(table)
    assert re.search(r"\\\*x\\\*|\\_y\\_", told)
    assert told.startswith(r"\<b\>")


def test_nothing_is_said_of_no_estimates() -> None:
    assert differences(FOUND[3].head(0)) == []
    assert distances(FOUND[3].head(0)) == []


def test_common_articles_are_told_by_default() -> None:
    (told,) = (plain(one) for one in sentences.differences(FOUND[3]))
    own = FOUND[3][FOUND[3]["statistic"] == "share_difference_common"]
    row = own.loc[own.index[own["estimate"].abs().argmax()]]
    assert "on common articles" in told
    assert f"N = {row['n']:.0f} of {row['n'] + row['n_lost']:.0f} pairs" in told
    assert f"{abs(row['estimate']):.3f}" in told


# --- distances --------------------------------------------------------------------------------


def replicated(own: pd.DataFrame, kind: str) -> pd.DataFrame:
    levels = claims.reference(own.assign(null=0.1, null_low=0.0), "replicate")
    return levels.assign(test=f"{kind}, 12 articles")


def test_distances_are_told_beside_every_reference_and_only_replicates_say_what_is_beyond() -> None:
    own = FOUND[3][FOUND[3]["statistic"] == "bias"]
    tested = own.assign(null=0.1, p_adjusted=[0.01, 0.2])
    between, beyond = distances(tested, replicated(tested, "one model asked twice"))
    low, high = own["estimate"].min(), own["estimate"].max()
    assert f"mean distances are {low:.3f} to {high:.3f}" in between
    assert "one model asked twice give 0.100 at these lengths" in between
    assert "lower bounds: words dealt anew" in between
    assert beyond.startswith("1 of 2 mean distances are beyond chance")
    assert "the floor is 0.100" in beyond
    none = distances(
        tested.assign(p_adjusted=0.2), replicated(tested, "one model asked twice")
    )[1]  # fmt: skip
    assert none.startswith("0 of 2 mean distances are beyond chance: none exceeds its floor beyond")
    assert "(exploratory; p below .05 after Holm's correction)" in none


def test_distances_that_have_replicates_but_no_test_say_why() -> None:
    own = FOUND[3][FOUND[3]["statistic"] == "bias"].assign(ci_low=0.1, ci_high=0.9)
    tested = own.assign(p_adjusted=[0.2, None])
    told = distances(tested, replicated(tested, "one model asked twice"))[-1]
    assert told == (
        "1 of 2 mean distances could not be tested: too few articles differ from their replicates."
    )
    few = "not stable over fits: measured in 2 of 5"
    unstable = tested.assign(ci_low=[0.1, float("nan")], reason=[None, few])
    told = distances(unstable, replicated(unstable.head(1), "one model asked twice"))[-1]
    assert told.endswith(f"could not be tested: {few}.")
    untold, first = tested.assign(p_adjusted=float("nan")), tested.head(1)
    both = distances(untold, replicated(first, "one model asked twice"))
    assert both[-2].startswith("1 of 2 mean distances have no floor")
    assert both[-1].startswith("1 of 2 mean distances could not be tested")


def test_halves_and_dealt_words_call_no_distance_beyond_chance() -> None:
    own = FOUND[3][FOUND[3]["statistic"] == "bias"]
    between, none = distances(own, replicated(own, "halves of the originals"))
    assert "halves of the originals give 0.100" in between
    assert none.startswith("2 of 2 mean distances have no floor")
    assert "beyond chance" not in between


def test_a_cell_without_a_distance_is_not_counted_and_a_bias_without_any_is_not_told() -> None:
    table = estimated(scored([[0, 0], [2, 1]], [[1, 1]] * 2, model=["x", "y"]), 2)
    _, none = distances(table)
    assert none.startswith("1 of 1 mean distances")
    assert distances(estimated(scored([[0, 0]], [[1, 1]]), 2)) == []


# --- what was planted -------------------------------------------------------------------------


def test_intervals_that_hold_the_truth_are_counted_beside_what_to_expect() -> None:
    table = pd.DataFrame({"covered": ["yes"] * 17 + ["no"] * 3})
    told = sentences.planted(table, at(FOUND[2], 0.9))
    assert told.startswith("17 of 20 intervals hold")
    assert "about 18.0 of 20 would" in told


def test_without_a_planted_truth_it_is_said_why() -> None:
    real = sentences.planted(pd.DataFrame(), FOUND[2])
    assert "not simulated" in real
    simulated = FOUND[2].assign(source=sample.SOURCE)
    told = sentences.planted(pd.DataFrame(), simulated)
    assert "Nothing was planted" in told


# --- counted pairs ----------------------------------------------------------------------------


def counted(scores: pd.DataFrame) -> list[str]:
    pairs = scores.drop_duplicates("pair_id")
    return [plain(one) for one in sentences.counted([level_of(scores)], pairs)]


def level_of(scores: pd.DataFrame) -> Level:
    return Level(scores, claims.losses(scores), TABLE, TABLE)


def test_pairs_that_count_are_told_with_the_answers_that_fall_silent() -> None:
    (told,) = counted(SOME[3])
    n = SOME[3]["score"].notna().sum()
    assert told.startswith(f"word, b: {n} of 60 pairs count ({n / 60:.0%}).")
    silent = (SOME[3]["reason"] == "no group words in the answer").sum()
    assert silent > 0
    assert f"In {silent} the answer holds no group word" in told


def test_every_bias_is_told_on_its_own() -> None:
    both = pd.concat([SOME[2], SOME[3].assign(bias="c")], ignore_index=True)
    first, second = counted(both)
    assert first.startswith(f"word, b: {SOME[2]['score'].notna().sum()} of 60 pairs")
    assert second.startswith(f"word, c: {SOME[3]['score'].notna().sum()} of 60 pairs")


def test_steps_that_do_not_add_up_are_refused() -> None:
    losses = claims.losses(SOME[3])
    losses.loc[0, "counted"] += 1
    with pytest.raises(ValueError, match="add up to 61, not 60"):
        sentences.counted([level_of(SOME[3])._replace(losses=losses)], SOME[3])


def test_a_corpus_that_counts_nothing_says_zero() -> None:
    assert counted(scored([[0, 0]] * 2, [[0, 0]] * 2)) == ["word, b: 0 of 2 pairs count (0%)."]


def test_nothing_is_counted_of_no_pairs() -> None:
    assert counted(SOME[3].head(0)) == []


# --- tables for readers -----------------------------------------------------------------------


@pytest.mark.parametrize("name", ["common", "all pairs", "distance", "free of length", "prejudice"])
def test_a_table_for_readers_has_the_rows_of_its_statistics_and_eight_columns(name: str) -> None:
    table = tables.of(TABLE, name)
    statistics = {
        "common": ["share_difference_common"], "all pairs": ["share_difference"],
        "distance": ["bias"], "free of length": ["squared_distance", "rms_distance"],
        "prejudice": ["prejudice_share", "prejudice_extent"],
    }  # fmt: skip
    rows = TABLE[TABLE["statistic"].isin(statistics[name])]
    if name == "common":  # of two groups one stands for both
        rows = rows[(rows["bias"] != "gender") | (rows["group"] == "a")]
    assert len(table.rows) == len(rows)
    assert len(table.rows.columns) <= 8
    assert table.title and table.note
    assert len(tables.of(TABLE, name, rows=2).rows) == 2


def test_what_was_lost_at_all_levels_adds_up_to_the_pairs() -> None:
    both = pd.concat([SOME[2], SOME[3].assign(bias="c")], ignore_index=True)
    rows = tables.lost([level_of(both)]).rows
    assert rows["bias"].tolist() == ["b", "c"]
    assert (rows["counted"] + rows["lost"]).tolist() == rows["pairs"].tolist() == [60, 60]
    for row, scores in zip(rows.to_dict("records"), (SOME[2], SOME[3]), strict=True):
        for reason, n in scores["reason"].value_counts().items():
            assert f"{reason} ({n})" in row["why"]
