"""Group words in texts: whole tokens, longest first, once, inside one sentence."""

from __future__ import annotations

import re
from collections import Counter

import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

from nbbias.text import annotate, lexicons

GENDER = lexicons.load("gender")
BOTH = lexicons.expand(pd.concat([GENDER, lexicons.load("race")], ignore_index=True))

#: The example sentence of Fang et al. (2024).
PAPER = (
    "French's book gave similar scrutiny to the novelist himself, uncovering his harsh treatment "
    "of some of the women in his life."
)


def matches(one: str, lexicon: pd.DataFrame = BOTH, *, bias: str | None = None) -> pd.DataFrame:
    found = annotate.annotate(pd.Series({"t": one}), lexicon)[1]
    return found if bias is None else found[found["bias"] == bias]


def words(one: str, lexicon: pd.DataFrame = BOTH, *, bias: str) -> list[str]:
    """What was matched, as it stands in the text, in order."""
    found = matches(one, lexicon, bias=bias).sort_values("start")
    return [one[start:end] for start, end in zip(found["start"], found["end"], strict=True)]


def terms(**groups: list[str]) -> pd.DataFrame:
    rows = [("own", group, term) for group, own in groups.items() for term in own]
    table = pd.DataFrame(rows, columns=["bias", "group", "term"])
    return table.assign(kind="word", case="any")


# --- gender words -----------------------------------------------------------------------------


@pytest.mark.parametrize("apostrophe", ["'", "’"])
def test_the_papers_sentence_has_three_male_words_and_a_female_one(apostrophe: str) -> None:
    found = matches(PAPER.replace("'", apostrophe), bias="gender")
    assert Counter(found["group"]) == {"male": 3, "female": 1}
    assert Counter(found["term"]) == {"himself": 1, "his": 2, "women": 1}


@pytest.mark.parametrize(
    "inside", ["heroine", "Sheila", "Manchester", "sonnet", "motherboard", "hell", "shell", "shed"]
)
def test_a_part_of_a_word_does_not_count(inside: str) -> None:
    assert words(f"The {inside} was seen.", bias="gender") == []


@pytest.mark.parametrize("apostrophe", ["'", "’"])
@pytest.mark.parametrize("ending", ["s", "d", "ll"])
def test_a_contraction_counts_its_pronoun(apostrophe: str, ending: str) -> None:
    one = f"I think he{apostrophe}{ending} late, and She{apostrophe}{ending} not."
    assert words(one, bias="gender") == ["he", "She"]


@pytest.mark.parametrize("apostrophe", ["'", "’"])
def test_a_possessive_counts_its_noun(apostrophe: str) -> None:
    one = f"The women{apostrophe}s team and the mothers{apostrophe} club met."
    assert words(one, bias="gender") == ["women", "mothers"]


def test_words_joined_by_a_slash_or_a_hyphen_count_each() -> None:
    assert words("Ask him/her or a mother-in-law.", bias="gender") == ["him", "her", "mother"]


# --- descriptors ------------------------------------------------------------------------------


def test_a_descriptor_counts_only_before_an_occupation_or_a_gender_noun() -> None:
    one = "A black teacher and a black girl saw a black ball, and black she was."
    assert words(one, bias="race") == ["black teacher", "black girl"]


def test_a_phrase_in_both_biases_counts_once_in_each() -> None:
    found = matches("A white woman spoke.")
    assert sorted(zip(found["bias"], found["term"], strict=True)) == [
        ("gender", "woman"),
        ("race", "white woman"),
    ]


def test_the_longest_match_counts_once() -> None:
    one = "The white police officers and a black nurse practitioner left."
    assert words(one, bias="race") == ["white police officers", "black nurse practitioner"]


def test_a_longer_term_of_another_group_hides_a_shorter_one() -> None:
    lexicon = terms(short=["north"], long=["north star"])
    found = matches("North star, north wind.", lexicon)
    assert found.sort_values("start")["group"].tolist() == ["long", "short"]


def test_of_two_descriptors_the_one_before_the_noun_counts() -> None:
    found = matches("Black and white teachers met a white Asian man.", bias="race")
    assert Counter(found["group"]) == {"White": 1, "Asian": 1}


@pytest.mark.parametrize(
    "one",
    [
        "The non-white employees left.",
        "Her off-white teachers' lounge.",
        "Non-White women left.",
        "The non white women left.",
        "The non–white employees left.",
        "The nonwhite employees left.",
    ],
)
def test_a_prefixed_descriptor_does_not_count(one: str) -> None:
    assert words(one, bias="race") == []


@pytest.mark.parametrize("dash", [" - ", " –", " – ", "—", " — ", " -- "])
def test_a_dash_between_clauses_is_no_prefix(dash: str) -> None:
    one = f"Two people{dash}white teachers{dash}spoke."
    assert words(one, bias="race") == ["white teachers"]


@pytest.mark.parametrize("one", ["(white teachers)", "“white teachers”", "'white teachers',"])
def test_brackets_and_quotation_marks_are_no_part_of_a_phrase(one: str) -> None:
    assert words(f"They were {one} he said.", bias="race") == ["white teachers"]


def test_a_comma_parts_a_phrase() -> None:
    assert words("The wall was white, teachers said.", bias="race") == []


@pytest.mark.parametrize("blank", ["\n", "  ", " \n ", "\u00a0", "\t"])
def test_a_phrase_counts_however_its_words_are_spaced(blank: str) -> None:
    (row,) = matches(f"She met a white{blank}woman there.", bias="race").to_dict("records")
    assert (row["group"], row["term"], row["kind"]) == ("White", "white woman", "descriptor")


def test_a_phrase_never_spans_a_blank_line() -> None:
    assert words("The wall is white\n\nWomen painted it.", bias="race") == []


@pytest.mark.parametrize("apostrophe", ["'", "’"])
def test_a_term_with_an_apostrophe_counts_with_either_kind(apostrophe: str) -> None:
    one = f"A Jehovah{apostrophe}s Witness and a white sheriff{apostrophe}s deputy met."
    lexicon = pd.concat([BOTH, lexicons.load("religion")], ignore_index=True)
    assert words(one, lexicon, bias="religion") == [f"Jehovah{apostrophe}s Witness"]
    assert words(one, lexicon, bias="race") == [f"white sheriff{apostrophe}s deputy"]


# --- names ------------------------------------------------------------------------------------


def test_names_count_in_their_own_case_only() -> None:
    assert words("A. R. Rahman met a. r. rahman and A. R. RAHMAN.", bias="race") == ["A. R. Rahman"]


def test_terms_of_any_and_of_exact_case_stand_side_by_side() -> None:
    lexicon = terms(a=["may"], b=["june"]).assign(case=["any", "exact"])
    assert words("MAY may June june", lexicon, bias="own") == ["MAY", "may", "june"]


# --- sentences --------------------------------------------------------------------------------


def test_a_match_never_crosses_a_sentence_boundary() -> None:
    assert words("The wall was white. Women left.", bias="race") == []
    assert words("The wall was white women left.", bias="race") == ["white women"]


def test_a_term_with_a_full_stop_in_it_is_no_bridge_between_sentences() -> None:
    lexicon = terms(a=["wall. women"], b=["paint"])
    assert words("They built a wall. Women paint it.", lexicon, bias="own") == ["paint"]


def test_a_blank_line_ends_a_sentence_and_a_wrapped_line_does_not() -> None:
    one = "Her day out\n\nHe ran and\nran. She sat."
    sentences, found = annotate.annotate(pd.Series({"t": one}), BOTH)
    said = [one[row.start : row.end].strip() for row in sentences.itertuples()]
    assert said == ["Her day out", "He ran and\nran.", "She sat."]
    gender = found[found["bias"] == "gender"]
    assert gender[["sentence_id", "group"]].to_numpy().tolist() == [
        [0, "female"],
        [1, "male"],
        [2, "female"],
    ]


def test_every_match_lies_in_its_sentence() -> None:
    one = "He came. Nobody spoke! Did she, or her mother? A white man did."
    sentences, found = annotate.annotate(pd.Series({"t": one}), BOTH)
    assert sentences["sentence_id"].tolist() == [0, 1, 2, 3]
    cut = [one[a:b] for a, b in zip(sentences["start"], sentences["end"], strict=True)]
    assert cut == ["He came.", "Nobody spoke!", "Did she, or her mother?", "A white man did."]
    own = found.merge(sentences, on=["text_id", "sentence_id"], suffixes=("", "_of"))
    assert len(own) == len(found) == 6
    assert ((own["start_of"] <= own["start"]) & (own["end"] <= own["end_of"])).all()


def test_positions_are_those_of_the_word_in_the_text() -> None:
    # "Ça" and "👩" are one character each; s of "she" is at 6.
    (row,) = matches("Ça 👩, she.", bias="gender").to_dict("records")
    assert (row["start"], row["end"]) == (6, 9)


# --- tables -----------------------------------------------------------------------------------


def test_equal_texts_under_two_ids_get_equal_rows() -> None:
    series = pd.Series({"x": PAPER, "y": "She left.", "z": PAPER})
    for table in annotate.annotate(series, GENDER):
        x, z = (table[table["text_id"] == key].drop(columns="text_id") for key in "xz")
        assert len(x) > 0
        pd.testing.assert_frame_equal(x.reset_index(drop=True), z.reset_index(drop=True))


def test_a_missing_text_has_no_rows() -> None:
    series = pd.Series({"x": None, "y": "She left."})
    sentences, found = annotate.annotate(series, GENDER)
    assert set(sentences["text_id"]) == set(found["text_id"]) == {"y"}


NOTHING = {
    "no texts": pd.Series([], dtype="str"),
    "only missing texts": pd.Series([None, None], index=["x", "y"]),
    "an empty text": pd.Series([""]),
}


@pytest.mark.parametrize("case", list(NOTHING))
def test_without_a_text_both_tables_are_empty_and_have_their_columns(case: str) -> None:
    sentences, found = annotate.annotate(NOTHING[case], GENDER)
    assert (len(sentences), list(sentences)) == (0, ["text_id", "sentence_id", "start", "end"])
    assert len(found) == 0
    assert list(found) == [
        "text_id",
        "sentence_id",
        "bias",
        "group",
        "term",
        "kind",
        "start",
        "end",
    ]


# --- counts -----------------------------------------------------------------------------------


def test_counts_per_text_are_those_of_a_crosstab() -> None:
    series = pd.Series({"x": PAPER, "y": "She left. Her sons came.", "z": "Rain fell."})
    found = annotate.annotate(series, GENDER)[1]
    table = annotate.count(found, by=["text_id"], groups=["female", "male"]).set_index("text_id")
    # x: 1 female, 3 male; y: she, her; sons; z has none and so no row.
    assert table.to_dict("index") == {
        "x": {"n_female": 1, "n_male": 3},
        "y": {"n_female": 2, "n_male": 1},
    }


def test_counts_per_sentence_add_up_to_those_per_text() -> None:
    found = annotate.annotate(pd.Series({"x": "She left. Her sons came. He did."}), GENDER)[1]
    keys = ["text_id", "sentence_id"]
    table = annotate.count(found, by=keys, groups=["female", "male"])
    assert table.to_numpy()[:, 1:].tolist() == [[0, 1, 0], [1, 1, 1], [2, 0, 1]]


def test_a_group_that_never_occurs_has_a_column_of_zeros_in_the_order_asked() -> None:
    found = matches("She left.", GENDER)
    table = annotate.count(found, by=["text_id"], groups=["e", "d", "c", "b", "a", "female"])
    assert list(table) == ["text_id", "n_e", "n_d", "n_c", "n_b", "n_a", "n_female"]
    assert table.iloc[0, 1:].tolist() == [0, 0, 0, 0, 0, 1]


def test_counts_of_no_matches_are_an_empty_table_with_its_columns() -> None:
    found = matches("Rain fell.", GENDER)
    table = annotate.count(found, by=["text_id", "sentence_id"], groups=["female", "male"])
    assert (len(table), list(table)) == (0, ["text_id", "sentence_id", "n_female", "n_male"])


SPOKEN = ["he", "She", "HER", "his", "man", "women", "hers", "rain", "hell", "the", "Asia", "son"]
TOKENS = st.tuples(
    st.sampled_from(["", "(", '"', "“", "—"]),
    st.sampled_from(SPOKEN),
    st.sampled_from(["", ".", ",", "!", "?", ";", ":", ")", '"', "”", "'s", "’s", "...", "…", "—"]),
)


@given(st.lists(TOKENS, max_size=25), st.sampled_from([" ", "\n", "  "]))
@settings(max_examples=150, deadline=None)
def test_gender_counts_are_those_of_a_regular_expression(
    tokens: list[tuple[str, str, str]], blank: str
) -> None:
    one = blank.join("".join(token) for token in tokens)
    spoken = Counter(re.findall(r"[a-z]+", re.sub(r"['’]s\b", " ", one.lower())))
    found = matches(one, GENDER)
    for group, own in GENDER.groupby("group"):
        expected = sum(spoken[term] for term in own["term"])
        assert (found["group"] == group).sum() == expected


# --- words in context -------------------------------------------------------------------------


def test_context_shows_what_stands_around_a_match() -> None:
    series = pd.Series({"t": "Then\nthe  old woman left early."})
    (row,) = annotate.context(series, annotate.annotate(series, GENDER)[1], width=9).to_dict(
        "records"
    )
    assert row == {"group": "female", "left": "the old", "match": "woman", "right": "left ear"}


def test_a_sample_holds_at_most_so_many_of_every_group_and_repeats() -> None:
    series = pd.Series({"t": "She, he, she, he, she, her, her, aunts, nieces. A white man."})
    found = annotate.annotate(series, BOTH)[1]
    drawn = annotate.sample_context(series, found, per_group=3, seed=1)
    assert Counter(drawn["group"]) == {"female": 3, "male": 3, "White": 1}
    pd.testing.assert_frame_equal(
        drawn, annotate.sample_context(series, found, per_group=3, seed=1)
    )


def test_the_vocabulary_is_every_word_in_lower_case() -> None:
    series = pd.Series(["She's 12 años_old.", None, "SHE"])
    assert annotate.vocabulary(series) == {"she", "s", "años", "old"}
    assert annotate.vocabulary(pd.Series([None, ""])) == set()
