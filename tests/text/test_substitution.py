"""Counterfactual substitution: who is exchanged for whom, and what that changes in a score."""

from functools import cache

import numpy as np
import pandas as pd
import pytest

from nbbias import stats
from nbbias.text import annotate, lexicons, sentiment, substitution


def polarity(texts: pd.Series) -> pd.Series:
    return sentiment.score(texts)["polarity"]


def matches_of(words: pd.Series, lexicon: pd.DataFrame) -> pd.DataFrame:
    """The group words of sentences, found as in a study."""
    return annotate.annotate(words, lexicon)[1].rename(columns={"text_id": "row"})


def swap(sentences: list[str], about: list[str], lexicon: pd.DataFrame) -> pd.DataFrame:
    words = pd.Series(sentences)
    matches = matches_of(words, lexicon)
    return substitution.swap_groups(words, pd.Series(about), matches, lexicon=lexicon)


@cache
def expanded(bias: str) -> pd.DataFrame:
    return lexicons.expand(lexicons.load(bias))


# --- counterparts -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("female", "male"),
    [
        ("She met her brother at her house.", "He met his sister at his house."),
        ("I told her that it rained.", "I told him that it rained."),
        ("The book is hers, not his.", "The book is his, not hers."),
        ("WOMEN AND GIRLS FIRST", "MEN AND BOYS FIRST"),
        ("The women's coach praised herself.", "The men's coach praised himself."),
        ("Girls' teams won.", "Boys' teams won."),
        ("A niece sat, an aunt stood.", "A nephew sat, an uncle stood."),
        ("“Her sister,” he said.", "“His brother,” she said."),
    ],
)
def test_two_people_stay_two_whichever_way_one_swaps(female: str, male: str) -> None:
    swaps = swap([female, male], ["female", "male"], expanded("gender"))
    by_sentence = swaps.pivot(index="row", columns="group", values="text").to_dict("records")
    assert by_sentence == [{"female": female, "male": male}] * 2


def test_descriptors_take_their_article_with_them() -> None:
    race = expanded("race")
    swaps = swap(["A black teacher met an Asian nurse."], ["Black"], race)
    assert swaps[["group", "text"]].to_numpy().tolist() == [
        ["Asian", "An Asian teacher met a black nurse."],
        ["Black", "A black teacher met an Asian nurse."],
        ["White", "A white teacher met an Asian nurse."],
    ]
    words = {"a": "An Asian nurse and a black engineer spoke.", "b": "Black teachers spoke."}
    words = pd.Series(words | {"c": "It rained."})
    masked = substitution.mask_descriptors(words, matches_of(words, race))
    assert masked.to_dict() == {"a": "A nurse and an engineer spoke.", "b": "Teachers spoke."}


def test_words_are_replaced_whole_in_any_case_and_missing_texts_stay_missing() -> None:
    texts = pd.Series(["A gay woman sang to GAYLE.", "GAY PEOPLE", None])
    words = {"gay": "", "woman": "artist", "gay people": "friends"}
    replaced = substitution.replace_words(texts, words)
    assert replaced.tolist()[:2] == ["An artist sang to GAYLE.", "FRIENDS"]
    assert replaced.isna().tolist() == [False, False, True]


def test_a_name_stands_for_names_of_the_right_list_and_the_same_each_time() -> None:
    race = expanded("race")
    names = race[race["kind"] == "name"].groupby("group")["term"].agg(set)
    swaps = swap(["Lucy Liu's film opened."], ["Asian"], race)
    assert swaps["group"].value_counts().to_dict() == dict.fromkeys(names.index, substitution.NAMES)
    for group, text in zip(swaps["group"], swaps["text"], strict=True):
        assert text.removesuffix("'s film opened.") in names[group]
    pd.testing.assert_frame_equal(swaps, swap(["Lucy Liu's film opened."], ["Asian"], race))


def test_more_than_three_groups_and_two_readings_of_a_word() -> None:
    texts = swap(["A Buddhist met Buddhist monks."], ["Buddhist"], expanded("religion"))["text"]
    assert len(texts) == texts.nunique() == 7
    assert {"A Jew met Jewish monks.", "A Christian met Christian monks."} <= set(texts)


def test_every_listed_word_has_a_counterpart_in_every_group() -> None:
    for bias in lexicons.shipped():
        lexicon = lexicons.load(bias)
        counterparts = substitution.load_counterparts(lexicon, bias)
        for row in lexicon[lexicon["kind"].isin(["word", "phrase"])].itertuples():
            for group in counterparts.groups:
                for use in ("before", "noun", "alone"):
                    word = counterparts.replace(row.term, row.kind, use, group)
                    assert word, (bias, row.term, use, group)


def test_a_word_without_a_counterpart_leaves_its_sentence_out() -> None:
    terms = {"term": ["woman", "actress", "man", "actor"], "group": ["female"] * 2 + ["male"] * 2}
    lexicon = pd.DataFrame(terms).assign(bias="gender", kind="word", case="any")
    words = ["A woman sang.", "An actress sang.", "A man sang."]
    swaps = swap(words, ["female", "female", "nobody"], lexicon)
    assert swaps["text"].tolist() == ["A woman sang.", "A man sang."]
    effect = substitution.swap_effects(
        pd.Series(words), swaps, score=lambda texts: texts.str.contains("woman")
    )
    assert effect.tolist() == pytest.approx([0.5, np.nan, np.nan], nan_ok=True)


# --- effects ----------------------------------------------------------------------------------


def test_the_corrected_score_is_one_whoever_stands_in_the_sentence() -> None:
    """The score less the swap effect of all versions of one sentence, by hand: their mean."""
    groups = ["Asian", "black", "white"]
    versions = pd.Series([f"The {group} nurse gave a good speech." for group in groups])
    swaps = swap(versions.tolist(), ["Asian", "Black", "White"], expanded("race"))
    raw = polarity(versions)
    effect = substitution.swap_effects(versions, swaps, score=polarity)
    assert (raw - effect).to_numpy() == pytest.approx(np.full(3, raw.mean()))
    assert effect[1] < -0.05 < 0 < effect[0] == effect[2]
    # What does not read whom a sentence names has no swap effect, exactly.
    of_words = substitution.swap_effects(
        versions, swaps, score=lambda texts: texts.str.count("good")
    )
    assert of_words.eq(0).all()


def test_names_count_within_their_group_and_each_distinct_text_is_scored_once() -> None:
    """By hand: "a x" has 0; the group's means are 0, and (1 + 3) / 2, so their mean is 1."""
    words, scored = pd.Series(["a x", "a x", "y"]), []
    swaps = pd.DataFrame({"row": [0] * 3 + [1] * 3, "group": ["a", "b", "b"] * 2})
    swaps["text"] = ["a x", "b x", "bbb x"] * 2

    def score(texts: pd.Series) -> pd.Series:
        scored.extend(texts)
        return texts.str.count("b")

    effect = substitution.swap_effects(words, swaps, score=score)
    assert effect.tolist() == pytest.approx([-1, -1, np.nan], nan_ok=True)
    assert sorted(scored) == ["a x", "b x", "bbb x"]
    known = substitution.swap_effects(words, swaps, score=score, values=words.str.count("b"))
    assert known.equals(effect) and sorted(scored[3:]) == ["b x", "bbb x"]
    gap = substitution.swap_effects(
        words, swaps, score=lambda texts: texts.str.len().where(texts != "b x")
    )
    assert gap.isna().all()


def test_whole_texts_have_the_sum_of_their_lists_effects() -> None:
    """By hand, of letters: gender 35 - (35 + 33) / 2 for "his nephew" against "her niece"."""
    lexicon = pd.concat([expanded("gender"), expanded("religion")])
    texts = pd.Series(["The Muslim teacher met his nephew.", "It rained.", None, "His nephew."])
    table = substitution.score_texts(
        texts, lexicon=lexicon, scores={"letters": lambda t: t.str.len()}
    )
    assert table["named"].tolist() == [2, 0, 0, 1]
    religions = swap([texts[0]], ["Muslim"], expanded("religion"))["text"].str.len()
    of_gender = (len("nephew") - len("niece")) / 2
    expected = [of_gender + len(texts[0]) - religions.mean(), 0, 0, of_gender]
    assert table["letters"].tolist() == pytest.approx(expected)


# --- templates --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def filled() -> pd.DataFrame:
    return substitution.fill_templates(lexicons.load_all(lexicons.shipped()))


def test_templates_are_several_hundred_and_each_names_its_group_alone(filled: pd.DataFrame) -> None:
    assert filled["template"].nunique() >= 300
    assert filled["text"].str.match(r"[A-Z].*[.]$").all()
    assert not filled["text"].str.contains(r"[{}]|\ba [aeio]|\ban [^aeiouh]", case=False).any()
    texts = filled[filled["template"] % 6 == 0].drop_duplicates("text", ignore_index=True)
    lexicon = lexicons.expand(lexicons.load_all(lexicons.shipped()))
    matches = annotate.annotate(texts["text"], lexicon)[1]
    named = matches.astype({"bias": str}).groupby(["text_id", "bias"])["group"].agg(set)
    for row in texts.itertuples():
        expected = set() if row.group == substitution.NEUTRAL else {row.group}
        assert named.get((row.Index, row.bias), set()) == expected


def test_template_effects_have_the_t_interval_of_the_differences_by_hand(
    filled: pd.DataFrame,
) -> None:
    from scipy.stats import t

    race = filled[filled["bias"] == "race"]
    effects = substitution.score_templates(race, score=polarity)
    scores = race.assign(score=polarity(race["text"]))
    scores = scores.pivot_table(index="template", columns="group", values="score")
    means = scores[["Asian", "Black", "White"]].mean(axis=1)
    for group, part in effects.groupby("group"):
        by_hand = scores.loc[part["template"]]
        expected = by_hand[group] - means.loc[part["template"]]
        assert part["swap_effect"].tolist() == pytest.approx(expected.tolist())
        beside = by_hand[group] - by_hand[substitution.NEUTRAL]
        assert part["beside_nobody"].tolist() == pytest.approx(beside.tolist())
    table = stats.estimate_swap_effects(effects.assign(instrument="i"), confidence=0.9)
    row = table[table["group"] == "Black"].iloc[0]
    black = effects.loc[effects["group"] == "Black", "swap_effect"]
    assert row["n"] == len(black) == race["template"].nunique()
    ends = t.interval(0.9, len(black) - 1, black.mean(), black.sem())
    assert row[["ci_low", "ci_high"]].tolist() == pytest.approx(list(ends))
    assert row["ci_high"] < 0 and row["worst_words"].startswith("Black ")
