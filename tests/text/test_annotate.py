"""Group words in texts: whole tokens, longest first, once, inside one sentence."""

from collections import Counter

import pandas as pd
import pytest

from nbbias.text import annotate, lexicons

GENDER = lexicons.load("gender")
LISTS = lexicons.expand(lexicons.load_all(["gender", "race", "religion"]))

#: The example sentence of Fang et al. (2024).
PAPER = (
    "French's book gave similar scrutiny to the novelist himself, uncovering his harsh treatment "
    "of some of the women in his life."
)


def matches_of(text: str, lexicon: pd.DataFrame = LISTS, *, bias: str) -> pd.DataFrame:
    matches = annotate.annotate(pd.Series({"t": text}), lexicon)[1]
    return matches[matches["bias"] == bias].sort_values("start")


@pytest.mark.parametrize(
    ("bias", "text", "words"),
    [
        # A part of a word does not count; a contraction counts its pronoun, a possessive its noun.
        ("gender", "The heroine, Sheila, shed a sonnet on motherboards in hell.", []),
        ("gender", "I think he's late, he’ll see, and She’d not.", ["he", "he", "She"]),
        ("gender", "The women’s team and the mothers' club met.", ["women", "mothers"]),
        ("gender", "Ask him/her or a mother-in-law.", ["him", "her", "mother"]),
        # A descriptor counts only before an occupation or a gender noun, the longest once.
        ("race", "A black teacher saw a black ball, and black she was.", ["black teacher"]),
        ("race", "A black girl met white police officers", ["black girl", "white police officers"]),
        ("race", "A black nurse practitioner left.", ["black nurse practitioner"]),
        ("race", "Black and white teachers met a white Asian man", ["white teachers", "Asian man"]),
        # What narrows a descriptor, and what only stands beside it.
        ("race", "The non-white employees, the non white women and Non–White men left.", []),
        ("race", "Her off-white teachers' lounge; the nonwhite employees.", []),
        ("race", "Two people - white teachers – spoke.", ["white teachers"]),
        ("race", "Two people –white teachers -- spoke.", ["white teachers"]),
        ("race", "There: (white teachers) and 'white men'.", ["white teachers", "white men"]),
        ("race", "The wall was white, teachers said.", []),
        # However the words are spaced, but never across a sentence or a blank line.
        ("race", "A white \n woman, a white\u00a0man.", ["white \n woman", "white\u00a0man"]),
        ("race", "The wall was white. Women left. It is white\n\nWomen painted it.", []),
        ("race", "The wall was white women left.", ["white women"]),
        # Apostrophes of either kind; names in their own case.
        ("religion", "A Jehovah's Witness came.", ["Jehovah's Witness"]),
        ("religion", "Jehovah’s Witnesses came.", ["Jehovah’s Witnesses"]),
        ("race", "A white sheriff’s deputy came.", ["white sheriff’s deputy"]),
        ("race", "A. R. Rahman met a. r. rahman and A. R. RAHMAN.", ["A. R. Rahman"]),
    ],
)
def test_the_words_of_a_text_that_count(bias: str, text: str, words: list[str]) -> None:
    assert [text[row.start : row.end] for row in matches_of(text, bias=bias).itertuples()] == words


@pytest.mark.parametrize("apostrophe", ["'", "’"])
def test_the_papers_sentence_has_three_male_words_and_a_female_one(apostrophe: str) -> None:
    matches = matches_of(PAPER.replace("'", apostrophe), bias="gender")
    assert Counter(matches["group"]) == {"male": 3, "female": 1}
    assert Counter(matches["term"]) == {"himself": 1, "his": 2, "women": 1}


def test_of_overlapping_terms_the_longest_counts_and_case_matters_where_it_is_said() -> None:
    lexicon = pd.DataFrame({"term": ["north", "may", "north star", "june", "wall. women"]})
    lexicon = lexicon.assign(bias="mine", kind="word", case=["any"] * 3 + ["exact", "any"])
    lexicon["group"] = ["short"] * 2 + ["long"] * 3
    text = "North star, north wind. MAY june June. They built a wall. Women came."
    matches = matches_of(text, lexicon, bias="mine")
    assert matches["term"].tolist() == ["north star", "north", "may", "june"]
    assert matches["group"].tolist() == ["long", "short", "short", "long"]


# --- sentences --------------------------------------------------------------------------------


def test_every_match_lies_in_its_sentence() -> None:
    text = "Her day out\n\nHe came and\nran. Nobody spoke! Did she, or her mother? A white man did."
    sentences, matches = annotate.annotate(pd.Series({"t": text}), LISTS)
    assert sentences["sentence_id"].tolist() == [0, 1, 2, 3, 4]
    assert [text[row.start : row.end].strip() for row in sentences.itertuples()] == [
        "Her day out",
        "He came and\nran.",
        "Nobody spoke!",
        "Did she, or her mother?",
        "A white man did.",
    ]
    both = matches.merge(sentences, on=["text_id", "sentence_id"], suffixes=("", "_of"))
    assert sorted(both["sentence_id"]) == [0, 1, 3, 3, 3, 4, 4]
    assert ((both["start_of"] <= both["start"]) & (both["end"] <= both["end_of"])).all()


def test_equal_texts_get_equal_rows_and_missing_ones_none() -> None:
    texts = pd.Series({"x": PAPER, "y": "She left.", "z": PAPER, "missing": None, "empty": ""})
    for table in annotate.annotate(texts, GENDER):
        assert set(table["text_id"]) == {"x", "y", "z"}
        x, z = (table[table["text_id"] == key].drop(columns="text_id") for key in "xz")
        pd.testing.assert_frame_equal(x.reset_index(drop=True), z.reset_index(drop=True))


@pytest.mark.parametrize("texts", [pd.Series([], dtype="str"), pd.Series([None, None], list("xy"))])
def test_without_a_text_both_tables_are_empty_and_have_their_columns(texts: pd.Series) -> None:
    sentences, matches = annotate.annotate(texts, GENDER)
    assert (len(sentences), list(sentences)) == (0, ["text_id", "sentence_id", "start", "end"])
    columns = ["text_id", "sentence_id", "bias", "group", "term", "kind", "start", "end"]
    assert (len(matches), list(matches)) == (0, columns)


# --- counts -----------------------------------------------------------------------------------


def test_counts_are_those_of_a_crosstab_with_every_group_in_the_order_asked() -> None:
    texts = pd.Series({"x": "She left. Her sons came. He did.", "y": PAPER, "z": "Rain fell."})
    matches = annotate.annotate(texts, GENDER)[1]
    table = annotate.count(matches, by=["text_id"], groups=["other", "male", "female"])
    assert list(table) == ["text_id", "n_other", "n_male", "n_female"]
    assert table.to_numpy().tolist() == [["x", 0, 2, 2], ["y", 0, 3, 1]]
    keys = ["text_id", "sentence_id"]
    table = annotate.count(matches, by=keys, groups=["female", "male"])
    assert table["text_id"].tolist() == list("xxxy")
    assert table.iloc[:, 1:].to_numpy().tolist() == [[0, 1, 0], [1, 1, 1], [2, 0, 1], [0, 1, 3]]
    none = annotate.count(matches[:0], by=keys, groups=["female", "male"])
    assert (len(none), list(none)) == (0, [*keys, "n_female", "n_male"])


# --- words in context -------------------------------------------------------------------------


def test_a_match_is_shown_with_what_stands_around_it() -> None:
    texts = pd.Series({"t": "Then\nthe  old woman left early.", "u": "She, he, she, aunts."})
    matches = annotate.annotate(texts, LISTS)[1]
    whole, cut = (annotate.context(texts, matches, width=n).iloc[0].tolist() for n in (60, 9))
    assert whole == ["female", "Then the old ", "woman", " left early."]
    assert cut == ["female", "… old ", "woman", " left …"]  # no part of a word
    unspaced = pd.DataFrame({"text_id": ["t"], "group": "g", "start": 9, "end": 11})
    row = annotate.context(pd.Series({"t": "x" * 20}), unspaced, width=4).iloc[0]
    assert row.tolist() == ["g", "… xxxx", "xx", "xxxx …"]
