"""How far word lists reach: coverage is a count, slips of the pen are guessed at."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from nbbias.text import annotate, lexicons
from tests.text.test_lexicons import FEMALE, MALE

LIST = pd.DataFrame(
    [
        ("b", "x", "red"),
        ("b", "x", "rose"),
        ("b", "y", "blue"),
        ("b", "z", "green"),
        ("c", "p", "red"),
        ("c", "q", "sky"),
    ],
    columns=["bias", "group", "term"],
).assign(kind="word", case="any")
#: Four sentences in three texts: red red | blue ; red ; nothing.
TEXTS = pd.Series({"t1": "Red and red. A blue one.", "t2": "It was red.", "t3": "Rain fell."})


def covered(texts: pd.Series, lexicon: pd.DataFrame = LIST) -> pd.DataFrame:
    sentences, matches = annotate.annotate(texts, lexicon)
    return lexicons.coverage(lexicon, matches, sentences, texts=texts)


def test_coverage_is_what_a_hand_counts() -> None:
    table = covered(TEXTS).set_index(["bias", "group"])
    counts = table[["terms", "terms_seen", "matches", "texts", "sentences"]]
    assert {key: tuple(row) for key, row in counts.T.to_dict("list").items()} == {
        # red twice in t1 and once in t2, rose never; blue in t1.
        ("b", "any"): (4, 2, 4, 2, 3),
        ("b", "x"): (2, 1, 3, 2, 2),
        ("b", "y"): (1, 1, 1, 1, 1),
        ("b", "z"): (1, 0, 0, 0, 0),
        ("c", "any"): (2, 1, 3, 2, 2),
        ("c", "p"): (1, 1, 3, 2, 2),
        ("c", "q"): (1, 0, 0, 0, 0),
    }
    assert table["text_share"].tolist() == pytest.approx([2 / 3, 2 / 3, 1 / 3, 0, 2 / 3, 2 / 3, 0])
    assert table["sentence_share"].tolist() == pytest.approx([0.75, 0.5, 0.25, 0, 0.5, 0.5, 0])


def test_shares_of_no_texts_are_not_measured() -> None:
    table = covered(pd.Series([], dtype="str"))
    assert (table["matches"] == 0).all()
    assert table[["text_share", "sentence_share"]].isna().all(axis=None)


def test_a_list_that_nothing_matches_covers_nothing() -> None:
    table = covered(TEXTS[["t3"]])
    assert (table[["terms_seen", "matches", "text_share", "sentence_share"]] == 0).all(axis=None)


def test_term_counts_are_those_of_a_groupby_and_hold_the_unseen() -> None:
    matches = annotate.annotate(TEXTS, LIST)[1]
    table = lexicons.term_counts(LIST, matches)
    counts = table.set_index(["bias", "group", "term"])["matches"].to_dict()
    seen = matches.groupby(["bias", "group", "term"]).size().to_dict()
    assert {key: n for key, n in counts.items() if n} == seen
    assert len(table) == len(LIST)
    assert table["matches"].is_monotonic_decreasing


def test_term_counts_of_no_matches_are_all_zero() -> None:
    table = lexicons.term_counts(LIST, annotate.annotate(TEXTS[["t3"]], LIST)[1])
    assert table["matches"].tolist() == [0] * len(LIST)


# --- messages ---------------------------------------------------------------------------------


def told(counts: dict[str, int], *, kind: str = "word", vocabulary: str = "") -> list[str]:
    table = pd.DataFrame({"term": list(counts), "matches": list(counts.values())})
    table = table.assign(bias="gender", group="female", kind=kind)
    return lexicons.messages(table, vocabulary=vocabulary.split())


def test_words_never_seen_are_named_and_counted() -> None:
    (message,) = told({"she": 4, "aunt": 0, "niece": 0}, vocabulary="she and he")
    assert message == "gender: 2 of 3 words never seen: aunt, niece"


def test_nothing_is_told_when_every_word_was_seen() -> None:
    assert told({"she": 4, "aunt": 1}, vocabulary="she aunt") == []


def test_a_slip_of_the_pen_is_told_with_the_word_it_may_stand_for() -> None:
    messages = told({"she": 4, "women": 3, "femen": 0}, vocabulary="she women left")
    assert messages[1:] == ["gender: 'femen' was never seen; did you mean 'women'?"]


def test_a_slip_is_told_though_its_own_list_is_complete_but_for_it() -> None:
    shipped = dict.fromkeys((FEMALE + " " + MALE).split(), 1)
    del shipped["women"]
    messages = told(shipped | {"wmoen": 0}, vocabulary=" ".join(shipped) + " women")
    assert len(messages) == 2
    assert "'women'" in messages[1]


@pytest.mark.parametrize(
    ("unseen", "seen"), [("aunts", "aunt"), ("sister", "sisters"), ("niece", "women")]
)
def test_an_inflection_or_another_word_is_no_slip(unseen: str, seen: str) -> None:
    assert len(told({seen: 3, unseen: 0}, vocabulary=f"{seen} left")) == 1


@pytest.mark.parametrize(("unseen", "seen"), [("men", "women"), ("he", "she"), ("male", "female")])
def test_a_word_inside_another_is_no_slip_of_it(unseen: str, seen: str) -> None:
    assert len(told({seen: 3, unseen: 0}, vocabulary=f"{seen} left")) == 1


def test_slips_are_guessed_at_in_own_lists_alone_when_asked() -> None:
    table = pd.DataFrame({"term": ["women", "femen"], "matches": [3, 0], "group": "f"})
    table = pd.concat([table.assign(bias=bias, kind="word") for bias in ("gender", "own")])
    messages = lexicons.messages(table, vocabulary=["women"], user_lists=["own"])
    assert [m for m in messages if "did you mean" in m] == [
        "own: 'femen' was never seen; did you mean 'women'?"
    ]
    assert len(messages) == 3


@pytest.mark.parametrize("kind", ["name", "descriptor"])
def test_names_and_written_out_descriptors_are_not_told(kind: str) -> None:
    assert told({"white nurse": 0, "white clerk": 0}, kind=kind) == []


def test_messages_are_told_bias_by_bias() -> None:
    counts = lexicons.term_counts(LIST, annotate.annotate(TEXTS, LIST)[1])
    messages = lexicons.messages(counts, vocabulary=annotate.vocabulary(TEXTS))
    assert sorted(messages) == [
        "b: 2 of 4 words never seen: green, rose",
        "c: 1 of 2 words never seen: sky",
    ]
    assert np.array_equal(counts["matches"] > 0, counts["term"].isin(["red", "blue"]))
