"""Sentences about news: every number is one of the table, every gap is said."""

from __future__ import annotations

import re

import pandas as pd
import pytest

from nbbias import reading, tables as tables_of
from nbbias.news import claims, fits, sample, sentences, tables
from nbbias.news.claims import Level
from nbbias.params import Texts
from tests.conftest import Golden
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


def family(bias: str) -> pd.DataFrame:
    own = TABLE[(TABLE["statistic"] == "share_difference") & (TABLE["bias"] == bias)]
    return own[own["group"] == "a"] if bias == "gender" else own


# --- signed differences -----------------------------------------------------------------------


@pytest.mark.parametrize("confidence", [0.95, 0.6])
@pytest.mark.parametrize(("bias", "place"), [("gender", 0), ("race", 1)])
def test_what_is_shown_is_told_with_interval_n_and_p_and_nothing_else_is(
    bias: str, place: int, confidence: float
) -> None:
    told = differences(TABLE, confidence)[place]
    assert told.startswith(f"**{bias.capitalize()}.** ")
    left = 0
    for row in family(bias).to_dict("records"):
        ends = sorted(abs(100 * row[end]) for end in ("ci_low", "ci_high"))
        low, high = (f"{end:.1f}" for end in ends)
        lost = f" ({row['n_lost']:.0f} excluded)" if row["n_lost"] else ""
        numbers = f"({abs(100 * row['estimate']):.1f} points; {confidence:.0%} CI "
        if row["ci_low"] * row["ci_high"] > 0:
            numbers += f"{low} to {high}; N = {row['n']:.0f} articles{lost}; "
            numbers += f"{reading.p_value(row['p_adjusted'])}, Holm-adjusted)"
        shown = row["p_adjusted"] < 1 - confidence
        assert (numbers in told) == shown
        left += not shown
        if shown:
            assert f" was {'smaller' if row['estimate'] < 0 else 'larger'} in " in told
    assert ("No significant difference" in told) == bool(left)


def test_a_bias_without_group_words_was_not_measured_and_says_why() -> None:
    (told,) = differences(estimated(scored([[0, 0]] * 3, [[0, 0]] * 3), 2))
    assert told == "**B.** None could be tested (no group words in either (3))."


def test_an_empty_cell_is_no_member_of_the_family_and_is_counted() -> None:
    scores = pd.concat([SOME[3], scored([[0] * 3], [[0] * 3], model="z")], ignore_index=True)
    (told,), (alone,) = differences(estimated(scores, 3)), differences(FOUND[3])
    assert told == f"{alone} 3 of 9 could not be tested (no group words in either (1))."


def test_shifts_of_tone_that_could_not_be_tested_are_counted_with_the_reason() -> None:
    row = {
        "model": "m",
        "measure": "sentiment",
        "bias": "race",
        "group": "Black",
        "estimate": 0.2,
        "statistic": "difference_beyond_neutral",
        "instrument": "TextBlob",
        "n": 30,
        "ci_low": -0.1,
        "ci_high": 0.5,
        "p_value": 0.2,
        "p_adjusted": 0.4,
        "null": 0,
    }
    gaps = dict.fromkeys(("ci_low", "ci_high", "p_value", "p_adjusted"))
    few = row | gaps | {"estimate": 0, "reason": "fewer than 5 articles differ in tone"}
    silent = few | {"estimate": None, "reason": "no article has sentences of the group", "n": 0}
    rows = [row, *[few | {"group": group} for group in ("White", "Asian")], silent]
    raw = row | {"statistic": "mean_difference", "p_adjusted": 0.001}
    toxic = raw | {"measure": "toxicity", "instrument": "Detoxify", "bias": "gender"}
    table = tables_of.estimates([*rows, raw, toxic], study="news_bias", confidence=0.95)
    sentiment, toxicity = (plain(one) for one in sentences.tone(table))
    assert sentiment.startswith("**Race.** No significant difference in the 1 comparison")
    assert "3 of 4 could not be tested (fewer than 5 articles differ in tone)" in sentiment
    assert toxicity.startswith("**Toxicity** (by Detoxify). Toxicity of sentences about Black")


@pytest.mark.parametrize("counts", [[[3, 1]], [[3, 1], [2, 5]]], ids=["one pair", "copies"])
def test_shares_that_were_measured_but_not_tested_are_not_called_unmeasured(
    counts: list[list[int]],
) -> None:
    (told,) = differences(estimated(scored(counts, counts), 2))
    assert "no share was measured" not in told
    assert "could be tested" in told


def test_names_are_text_and_no_markup() -> None:
    hostile = {"model": {"x": "*x*", "y": "_y_"}, "group": {"a": "<i>"}}
    table = FOUND[3].replace(hostile).assign(bias="<b>", p_adjusted=0.001)
    (told,) = sentences.differences(table)
    assert r"\*x\*" in told and r"\_y\_" in told and r"\<i\>" in told
    assert told.startswith(r"**\<b\>.**") and "<" not in told.replace(r"\<", "")


def test_nothing_is_said_of_no_estimates() -> None:
    assert differences(FOUND[3].head(0)) == []
    assert distances(FOUND[3].head(0)) == []


def test_common_articles_are_told_by_default() -> None:
    ((told,), (other,)) = (
        sentences.differences(FOUND[3].assign(p_adjusted=0.001), statistic=statistic)
        for statistic in ("share_difference_common", "share_difference")
    )
    assert (told,) == tuple(sentences.differences(FOUND[3].assign(p_adjusted=0.001)))
    assert told != other


# --- distances --------------------------------------------------------------------------------


def replicated(own: pd.DataFrame, kind: str) -> pd.DataFrame:
    levels = claims.reference(own.assign(null=0.1, null_low=0.0), "replicate")
    return levels.assign(test=f"{kind}, 12 articles")


def test_distances_are_told_beside_every_reference_and_only_replicates_say_what_is_beyond() -> None:
    own = FOUND[3][FOUND[3]["statistic"] == "bias"]
    tested = own.assign(null=0.1, p_adjusted=[0.01, 0.2])
    between, beyond = distances(tested, replicated(tested, "one model asked twice"))
    low, high = own["estimate"].min(), own["estimate"].max()
    assert f"Mean distances are {low:.3f} to {high:.3f}" in between
    assert "one model asked twice give 0.100 at these lengths" in between
    assert "lower bounds: words dealt anew" in between
    assert beyond.startswith("1 of 2 mean distances is beyond the floor: ")
    assert "the floor is 0.100" in beyond
    none = distances(tested.assign(p_adjusted=0.2), replicated(tested, "one model asked twice"))[1]
    assert none.startswith("None of 2 mean distances is further from the originals than its floor")


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
    (told,) = sentences.planted(table, at(FOUND[2], 0.9))
    assert told.startswith("17 of 20 intervals hold")
    assert "about 18.0 of 20 would" in told


def test_without_a_planted_truth_it_is_said_why() -> None:
    (real,) = sentences.planted(pd.DataFrame(), FOUND[2])
    assert "not simulated" in real
    simulated = FOUND[2].assign(source=sample.SOURCE)
    (told,) = sentences.planted(pd.DataFrame(), simulated)
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
    assert told.startswith(f"**Words.** Of 60 pairs count {n} for b ({n / 60:.0%}).")
    silent = (SOME[3]["reason"] == "no group words in the answer").sum()
    assert silent > 0
    assert f"The answer names nobody though its original does in {silent} of b" in told


def test_every_bias_is_told_on_its_own() -> None:
    both = pd.concat([SOME[2], SOME[3].assign(bias="c")], ignore_index=True)
    (told,) = counted(both)
    first, second = (SOME[n]["score"].notna().sum() for n in (2, 3))
    assert f"count {first} for b ({first / 60:.0%}) and {second} for c ({second / 60:.0%})." in told


def test_steps_that_do_not_add_up_are_refused() -> None:
    losses = claims.losses(SOME[3])
    losses.loc[0, "counted"] += 1
    with pytest.raises(ValueError, match="add up to 61, not 60"):
        sentences.counted([level_of(SOME[3])._replace(losses=losses)], SOME[3])


def test_a_corpus_that_counts_nothing_says_zero() -> None:
    assert counted(scored([[0, 0]] * 2, [[0, 0]] * 2)) == [
        "**Words.** Of 2 pairs count 0 for b (0%)."
    ]


def test_nothing_is_counted_of_no_pairs() -> None:
    assert counted(SOME[3].head(0)) == []


# --- tables for readers -----------------------------------------------------------------------


@pytest.mark.parametrize("name", ["common", "all pairs", "distance", "prejudice"])
def test_a_table_for_readers_has_the_rows_of_its_statistics_and_eight_columns(name: str) -> None:
    table = tables.of(TABLE, name)
    statistics = {
        "common": ["share_difference_common"],
        "all pairs": ["share_difference"],
        "distance": ["bias"],
        "prejudice": ["prejudice_share", "prejudice_extent"],
    }
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


# --- the first screen -------------------------------------------------------------------------

OWN = Texts("own", "a.csv")


def row_of(model: str, estimate: float, p: float, **more: object) -> dict[str, object]:
    return {
        "source": "s",
        "model": model,
        "prompt": "p",
        "measure": "word",
        "bias": "gender",
        "group": "female",
        "statistic": "share_difference_common",
        "estimate": estimate,
        "ci_low": estimate - 0.08,
        "ci_high": estimate + 0.08,
        "n": 71,
        "n_lost": 1,
        "df": 70.0,
        "statistic_value": estimate / 0.04,
        "p_value": p,
        "p_adjusted": p,
        "null": 0.0,
        "instrument": "word list",
        **more,
    }


def pairs_of(models: list[str]) -> pd.DataFrame:
    rows = [
        {"source": "s", "article_id": i, "model": m, "lost": None}
        for m in models
        for i in range(72)
    ]
    return pd.DataFrame(rows)


def lead_of(*rows: dict[str, object], declared: bool = True) -> tuple[list[str], reading.Lead]:
    found = tables_of.estimates(rows, study="news_bias", confidence=0.95)
    claim = found.assign(claim=1, smallest_effect=float("nan"), verdict="") if declared else found
    pairs = pairs_of(list(found["model"].unique()))
    made = sentences.lead(claim, estimates=found, pairs=pairs, texts=OWN)
    return [plain(one) for one in made.plain], made


def test_the_lead_has_a_card_numbers_and_the_claims_that_it_names() -> None:
    _, made = lead_of(row_of("a", -0.14, 0.016), row_of("b", 0.02, 1.0), row_of("c", 0.01, 1.0))
    assert made.claims["model"].tolist() == ["a"]
    assert made.card["N"] == "72 human articles and 216 texts that 3 models wrote for them"
    assert made.card["groups"] == "women" and "fair or unfair" in made.card["not"]
    assert made.numbers["name"].tolist() == ["women's share of gendered words, a"]
    assert "t(70) = −3.50, p = .016, N = 71 articles (1 excluded)" in made.technical
    assert "Holm over" in made.technical and made.texts == OWN


GAPS = dict.fromkeys(("estimate", "ci_low", "ci_high", "p_value", "p_adjusted"))
TONE = {"measure": "sentiment", "statistic": "difference_beyond_neutral"}
LEADS = {
    "one of three": [row_of("a", -0.14, 0.016), row_of("b", 0.02, 1.0), row_of("c", 0.01, 1.0)],
    "both directions": [row_of(m, d, 0.0001) for m, d in (("a", -0.1), ("b", -0.2), ("c", 0.3))],
    "one model": [row_of("phi", -0.1, 0.0001)],
    # 0.08 is 1.994 standard errors; at half the level 2.29 + 0.85 of them are needed: 13 points.
    "nothing": [row_of("a", 0.02, 0.9), row_of("b", -0.03, 0.6)],
    "gap": [row_of("a", 0.0, 1.0) | GAPS | {"n": 0, "reason": "no group words in either (12)"}],
    "prompts": [row_of("a", -0.14, 0.01, prompt="role"), row_of("a", 0.02, 0.9, prompt="plain")],
}


def test_the_lead(golden: Golden) -> None:
    lines = [
        line for name, rows in LEADS.items() for line in (f"## {name}", *lead_of(*rows)[0], "")
    ]
    # Without claims the first measure leads.
    undeclared = [row_of("a", -0.14, 0.016, **TONE), row_of("a", -0.14, 0.016)]
    for rows in (undeclared, undeclared[:1]):
        lines += ["## undeclared", *lead_of(*rows, declared=False)[0], ""]
    few = row_of("a", 0.02, 0.9, n=12, df=11.0, ci_low=-0.23, ci_high=0.27)
    table = tables_of.estimates([few], study="news_bias", confidence=0.95)
    # A standard error of 0.1136 at 12 articles: 35 points are detected.
    golden("news_lead", [*lines, *map(plain, sentences.more(table))])


def test_names_in_a_lead_are_text_and_no_markup() -> None:
    made = lead_of(row_of("*<b>*", -0.14, 0.01), row_of("x", 0, 1.0))[1]
    assert r"\*\<b\>\*" in made.plain[0]
    kept = reading.lead.to_dict(made)
    assert "*<b>*" in kept["sentence"] and "\\" not in kept["technical"]


# --- what few texts can tell ------------------------------------------------------------------


def test_topics_of_few_texts_are_no_finding() -> None:
    tried = pd.DataFrame({"n_topics": [10, 25]})
    assert sentences.too_few(24, fits.Number(0, tried, None))  # type: ignore[arg-type]
    assert not sentences.too_few(100, fits.Number(10, tried, None))  # type: ignore[arg-type]


def test_a_measure_without_any_test_tells_nothing() -> None:
    untested = row_of("a", 0.02, 0.9) | {"p_adjusted": None, "reason": "few"}
    table = tables_of.estimates([untested], study="news_bias", confidence=0.95)
    assert not sentences.tells(table, "word")
    assert sentences.result(table, "word") == (
        "The shares of words cannot be told from these texts"
    )
    assert sentences.tells(
        tables_of.estimates([row_of("a", 0, 1.0)], study="news_bias", confidence=0.95), "word"
    )


# --- headings ---------------------------------------------------------------------------------


def test_headings_say_what_is_shown() -> None:
    race = {"bias": "race", "group": "White"}
    rows = [row_of("a", -0.1, 0.01), row_of("b", 0.0, 1.0), row_of("a", 0.2, 0.01, **race)]
    table = tables_of.estimates(rows, study="news_bias", confidence=0.95)
    assert sentences.result(table, "word") == (
        "Women's share of gendered words was smaller in 1 of 2 models and White people's share of "
        "race terms was larger in a"
    )
    assert sentences.result(table[table["model"] == "b"], "word").startswith("No ")


def test_what_was_planted_but_not_shown_is_named_with_its_size() -> None:
    rows = [row_of("a", -0.06, 0.4), row_of("b", -0.2, 0.001), row_of("c", 0.01, 0.9)]
    table = tables_of.estimates(rows, study="news_bias", confidence=0.95)
    shown, missed = sentences.came_back(table.assign(planted=[-0.1, -0.2, 0.0]))
    assert shown.startswith(
        "Planted, and shown: women's share of gendered words in b (20.0 points less"
    )
    assert missed.startswith(
        "Planted, not shown: women's share of gendered words in a (10.0 points less"
    )
    assert missed.endswith("too few for differences of that size.")


def test_models_are_compared_by_name() -> None:
    compared = pd.DataFrame(
        {
            "statistic": ["mean", "difference", "difference"],
            "measure": "word",
            "bias": "gender",
            "source": "s",
            "prompt": "p",
            "model": ["a", "b", "c"],
            "reference": "a",
            "estimate": [0, -0.2, 0.01],
            "ci_low": [None, -0.3, -0.1],
            "ci_high": [None, -0.1, 0.1],
            "p_value": [None, 0.001, 0.9],
            "p_adjusted": [None, 0.002, 0.9],
            "n": 72,
            "reason": None,
        }
    )
    units = pd.DataFrame({"measure": ["word"], "bias": ["gender"], "group": ["female"]})
    (told,) = sentences.models(compared, units, confidence=0.95)
    assert told.startswith("**Women's share of gendered words:** b lies 20.0 points below a (")
    assert "; c lies" not in told and " and c " not in told
    assert sentences.models(compared.head(1), units, confidence=0.95) == []
    assert sentences.models_result(compared.head(1), confidence=0.95) == ""
