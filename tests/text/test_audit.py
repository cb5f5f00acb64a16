"""The audit of instruments: who is exchanged for whom, and what that moves."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from nbbias import stats
from nbbias.text import annotate, audit, lexicons, sentiment


def of(bias: str) -> pd.DataFrame:
    return lexicons.expand(lexicons.load(bias))


def swap(sentence: str, about: str, bias: str) -> list[str]:
    """Swap one sentence whose words are found as in a study."""
    lexicon, words = of(bias), pd.Series([sentence])
    _, matches = annotate.annotate(words, lexicon)
    found = audit.swap_groups(
        words, pd.Series([about]), matches.rename(columns={"text_id": "row"}), lexicon=lexicon
    )
    return found.drop_duplicates()["text"].tolist()


def mask(sentence: str, bias: str) -> str | None:
    lexicon, words = of(bias), pd.Series([sentence])
    _, matches = annotate.annotate(words, lexicon)
    return audit.mask_groups(words, matches.rename(columns={"text_id": "row"}), lexicon=lexicon)[0]


@pytest.mark.parametrize(
    ("female", "male"),
    [
        ("She met her brother at her house.", "He met his sister at his house."),
        ("I told her that it rained.", "I told him that it rained."),
        ("They saw her.", "They saw him."),
        ("The book is hers, not his.", "The book is his, not hers."),
        ("WOMEN AND GIRLS FIRST", "MEN AND BOYS FIRST"),
        ("The women's coach praised herself.", "The men's coach praised himself."),
        ("Girls' teams won.", "Boys' teams won."),
        ("A niece sat, an aunt stood.", "A nephew sat, an uncle stood."),
        ("“Her sister,” he said.", "“His brother,” she said."),
    ],
)
def test_two_people_stay_two_whichever_way_one_swaps(female: str, male: str) -> None:
    assert set(swap(female, "female", "gender")) == {female, male}
    assert set(swap(male, "male", "gender")) == {female, male}


def test_descriptors_take_their_article_with_them() -> None:
    found = swap("A black teacher met an Asian nurse.", "Black", "race")
    assert found == [
        "An Asian teacher met a black nurse.",
        "A black teacher met an Asian nurse.",
        "A white teacher met an Asian nurse.",
    ]
    assert mask("An Asian nurse and a black engineer spoke.", "race") == (
        "A nurse and an engineer spoke."
    )
    assert mask("Black teachers spoke.", "race") == "Teachers spoke."


def test_a_name_stands_for_a_name_of_the_right_list_and_the_same_each_time() -> None:
    lexicon = of("race")
    names = lexicon[lexicon["kind"] == "name"].groupby("group")["term"].agg(set)
    sentence = "Lucy Liu's film opened."
    words = pd.Series([sentence])
    _, matches = annotate.annotate(words, lexicon)
    given = matches.rename(columns={"text_id": "row"})
    found = audit.swap_groups(words, pd.Series(["Asian"]), given, lexicon=lexicon)
    assert found["group"].value_counts().to_dict() == dict.fromkeys(names.index, audit.NAMES)
    for group, text in zip(found["group"], found["text"], strict=True):
        assert text.removesuffix("'s film opened.") in names[group]
    again = audit.swap_groups(words, pd.Series(["Asian"]), given, lexicon=lexicon)
    pd.testing.assert_frame_equal(found, again)


@pytest.mark.parametrize(
    ("bias", "sentence", "masked"),
    [
        ("gender", "She met her brother.", "The person met the person's sibling."),
        ("religion", "A Muslim spoke to Baptist churches.", "A person spoke to churches."),
        ("disability", "People with disabilities voted.", "People voted."),
        ("age", "An older man waited.", "A man waited."),
        ("orientation", "The gay couple married.", "The couple married."),
    ],
)
def test_masked_sentences_name_no_group(bias: str, sentence: str, masked: str) -> None:
    assert mask(sentence, bias) == masked


def test_more_than_three_groups_and_two_readings_of_a_word() -> None:
    found = swap("A Buddhist met Buddhist monks.", "Buddhist", "religion")
    assert len(found) == 7
    assert {"A Jew met Jewish monks.", "A Christian met Christian monks."} <= set(found)


def test_every_listed_word_has_a_counterpart_in_every_group() -> None:
    for bias in lexicons.shipped():
        lexicon = lexicons.load(bias)
        known = audit.load_counterparts(lexicon, bias)
        for row in lexicon[lexicon["kind"].isin(["word", "phrase"])].itertuples():
            for group in [*known.groups, audit.NEUTRAL]:
                for use in ("before", "noun", "alone"):
                    word = known.replace(row.term, row.kind, use, group)
                    assert word is not None, (bias, row.term, use, group)


def test_a_word_without_a_counterpart_leaves_its_sentence_out() -> None:
    lexicon = pd.DataFrame(
        {
            "bias": "gender",
            "group": ["female", "female", "male", "male"],
            "term": ["woman", "actress", "man", "actor"],
            "kind": "word",
            "case": "any",
        }
    )
    words = pd.Series(["A woman sang.", "An actress sang."])
    _, matches = annotate.annotate(words, lexicon)
    given = matches.rename(columns={"text_id": "row"})
    found = audit.swap_groups(words, pd.Series(["female", "female"]), given, lexicon=lexicon)
    assert found["text"].tolist() == ["A woman sang.", "A man sang."]
    assert audit.mask_groups(words, given, lexicon=lexicon).tolist() == ["A person sang.", None]
    effect = audit.swap_effects(words, found, score=lambda texts: texts.str.contains("woman"))
    assert effect[0] == 0.5 and np.isnan(effect[1])


def test_the_corrected_score_is_one_whoever_stands_in_the_sentence() -> None:
    """The score less the swap effect of all versions of one sentence, by hand: their mean."""
    versions = pd.Series(
        [f"The {who} nurse gave a good speech." for who in ("Asian", "black", "white")]
    )
    about = pd.Series(["Asian", "Black", "White"])
    lexicon = of("race")
    _, matches = annotate.annotate(versions, lexicon)
    swaps = audit.swap_groups(
        versions, about, matches.rename(columns={"text_id": "row"}), lexicon=lexicon
    )
    raw = sentiment.score(versions)["polarity"]
    effect = audit.swap_effects(
        versions, swaps, score=lambda texts: sentiment.score(texts)["polarity"]
    )
    assert (raw - effect).to_numpy() == pytest.approx(np.full(3, raw.mean()))
    assert effect[1] < -0.05 < 0 < effect[0] == effect[2]
    # What does not read whom a sentence names has no swap effect, exactly.
    assert (
        audit.swap_effects(versions, swaps, score=lambda texts: texts.str.count("good")).eq(0).all()
    )


def test_each_distinct_text_is_scored_once() -> None:
    words, asked = pd.Series(["a x", "a x"]), []
    swaps = pd.DataFrame({"row": [0, 0, 1, 1], "group": ["a", "b"] * 2, "text": ["a x", "b x"] * 2})

    def score(texts: pd.Series) -> pd.Series:
        asked.extend(texts)
        return texts.str.startswith("b").astype(float)

    assert audit.swap_effects(words, swaps, score=score).tolist() == [-0.5, -0.5]
    assert sorted(asked) == ["a x", "b x"]


# --- templates --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def filled() -> pd.DataFrame:
    return audit.fill_templates(lexicons.load_all(lexicons.shipped()))


def test_templates_are_several_hundred_and_each_names_its_group_alone(filled: pd.DataFrame) -> None:
    assert filled["template"].nunique() >= 300
    assert filled["text"].str.match(r"[A-Z].*[.]$").all()
    assert not filled["text"].str.contains(r"[{}]|\ba [aeio]|\ban [^aeiouh]", case=False).any()
    for bias, own in filled[filled["words"] == "words"].groupby("bias"):
        distinct = own.drop_duplicates("text")
        texts = distinct["text"].reset_index(drop=True)
        _, matches = annotate.annotate(texts, of(str(bias)))
        found = matches.groupby("text_id", observed=True)["group"].agg(set).reindex(texts.index)
        for group, named in zip(distinct["group"], found, strict=True):
            assert ({group} if group != audit.NEUTRAL else np.nan) in [named] or (
                group == audit.NEUTRAL and not isinstance(named, set)
            )


def test_template_effects_by_hand() -> None:
    filled = audit.fill_templates(lexicons.load("gender"))
    found = audit.score_templates(filled, score=lambda texts: sentiment.score(texts)["polarity"])
    of_one = found[found["template"] == 0].set_index("group")
    texts = filled[filled["template"] == 0].set_index("group")["text"]
    scores = {group: sentiment.score([text])["polarity"][0] for group, text in texts.items()}
    mean = (scores["female"] + scores["male"]) / 2
    for group, row in of_one.iterrows():
        assert row["swap_effect"] == pytest.approx(scores[group] - mean)
        assert row["beside_nobody"] == pytest.approx(scores[group] - scores[audit.NEUTRAL])
    # Effects of a template's groups add up to 0.
    assert found.groupby("template")["swap_effect"].sum().abs().max() < 1e-9


def test_swap_effects_have_the_t_interval_of_their_templates(filled: pd.DataFrame) -> None:
    from scipy import stats as known

    race = filled[filled["bias"] == "race"]
    effects = audit.score_templates(race, score=lambda texts: sentiment.score(texts)["polarity"])
    table = stats.estimate_swap_effects(effects.assign(instrument="i"), confidence=0.9)
    row = table[(table["group"] == "Black") & (table["words"] == "words")].iloc[0]
    own = effects[(effects["group"] == "Black") & (effects["words"] == "words")]["swap_effect"]
    assert row["n"] == len(own) == race["template"].nunique()
    ends = known.t.interval(0.9, len(own) - 1, own.mean(), known.sem(own))
    assert row[["ci_low", "ci_high"]].tolist() == pytest.approx(list(ends))
    assert row["ci_high"] < 0 and row["worst_words"].startswith("Black ")


def test_words_with_a_valence_of_their_own() -> None:
    found = audit.score_terms(
        lexicons.load("race"), score=lambda texts: sentiment.score(texts)["polarity"], least=0.4
    )
    assert found["score"].abs().is_monotonic_decreasing and found["score"].abs().min() > 0.4
    assert "Jalen Rose" in set(found["term"]) and "black" not in set(found["term"])


def test_versions_differ_in_the_group_of_one_list_and_make_each_other() -> None:
    listed = audit.load_all_lists()
    texts = pd.Series(
        [
            "The man sang to his mother.",
            "It rained.",
            "",
            None,
            "The Muslim teacher met his nephew.",
        ]
    )
    found = audit.write_versions(texts, lexicon=listed)
    own = [set(part) for _, part in found.groupby("set")["text"]]
    assert {"The man sang to his mother.", "The woman sang to her father."} in own
    # Who names two lists has a set for each, and each holds the text as it was.
    assert len([one for one in own if texts[4] in one]) == 2
    assert {"The Muslim teacher met his nephew.", "The Muslim teacher met her niece."} in own
    assert all(len(one) > 1 for one in own) and len(own) == 3
    once = pd.Series(["The man sang to his mother.", "Gay people live here."])
    for text in once:
        first = set(audit.write_versions(pd.Series([text]), lexicon=listed)["text"])
        for other in first:
            assert set(audit.write_versions(pd.Series([other]), lexicon=listed)["text"]) == first
    none = audit.write_versions(texts[1:4], lexicon=listed)
    assert none.empty and list(none) == ["set", "text"]
