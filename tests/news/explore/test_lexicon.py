"""Word lists looked into: counts by hand, edits against searching and measuring anew."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from nbbias.news import robustness, words
from nbbias.news.corpus import Read
from nbbias.news.explore import lexicon
from nbbias.tables import DataError
from nbbias.text import annotate
from tests.news.test_robustness import CELL, measured, numbered


def listed(*rows: tuple[str, str]) -> pd.DataFrame:
    table = pd.DataFrame(rows, columns=["group", "term"])
    table = table.assign(bias="gender", kind="word", case="any")
    return table[["bias", "group", "term", "kind", "case"]]


LEXICON = listed(("male", "he"), ("male", "man"), ("female", "she"), ("female", "woman"))
SIDES = [
    ("He met a man, she said.", "She met a woman and he left."),
    ("The woman and the man and he.", "She, she and he."),
    ("He left.", "He left a woman."),
]


def every_change() -> tuple[pd.DataFrame, Read]:
    scores, read = measured(numbered(*SIDES), LEXICON)
    return robustness.without_each_term(scores, read), read


def test_each_term_left_out_is_measuring_without_its_matches() -> None:
    changes, read = every_change()
    assert set(changes["term"]) == {"he", "man", "she", "woman"}
    for term, own in changes.groupby("term"):
        kept = read.matches[read.matches["term"] != term]
        scores = words.pair_scores(read._replace(matches=kept))
        for row in own.itertuples():
            column = "score" if row.statistic == "bias" else f"difference_{row.group}"
            counted = scores[column].dropna()
            assert row.n_without == len(counted)
            assert row.without == pytest.approx(counted.mean(), nan_ok=True)
            assert row.change == pytest.approx(row.without - row.estimate, nan_ok=True)


def test_the_lowest_and_highest_are_among_them() -> None:
    changes, read = every_change()
    scores = words.pair_scores(read)
    found = robustness.leave_one_word_out(scores, changes, lexicon=LEXICON)
    keys = [*CELL, "bias", "statistic", "group"]
    grouped = changes.assign(group=changes["group"].fillna("")).groupby(keys)["without"]
    expected = grouped.agg(["min", "max"])
    found = found.assign(group=found["group"].fillna("")).set_index(keys)
    np.testing.assert_allclose(found["lowest"], expected["min"][found.index])
    np.testing.assert_allclose(found["highest"], expected["max"][found.index])


def test_no_counted_pair_is_no_row() -> None:
    scores, read = measured(numbered(("nobody", "nothing")), LEXICON)
    found = robustness.without_each_term(scores, read)
    assert found.empty
    assert lexicon.term_table(lexicon.by_side(read), found).empty


def test_terms_are_counted_on_both_sides() -> None:
    changes, read = every_change()
    found = lexicon.term_table(lexicon.by_side(read), changes)
    found = found.set_index("term")
    # Originals: she 3, woman 2, he 3. Answers: he 3, man 2, she 1, woman 1.
    assert found["in_originals"].to_dict() == {"he": 3, "she": 3, "woman": 2, "man": 0}
    assert found["in_answers"].to_dict() == {"he": 3, "she": 1, "woman": 1, "man": 2}
    np.testing.assert_allclose(found["share_originals"], found["in_originals"] / 8)
    np.testing.assert_allclose(found["share_answers"], found["in_answers"] / 7)
    own = changes[(changes["term"] == "she") & (changes["group"] == "female")]
    assert found.loc["she", "change"] == pytest.approx(own["change"].iloc[0])
    assert found.loc["she", "changed_in"] == "m, p"


def test_a_text_of_two_models_stands_under_each_and_an_original_once() -> None:
    one = numbered(("He left.", "She left."), ("He left.", "She left."))
    one = one.assign(model=["a", "b"])
    _, read = measured(one, LEXICON)
    found = lexicon.by_side(read)
    assert found["model"].value_counts().to_dict() == {"human": 1, "a": 1, "b": 1}


def test_contexts_are_of_the_term_one_a_text() -> None:
    _, read = every_change()
    sided = lexicon.by_side(read)
    found = lexicon.contexts(sided, read.texts, per_corpus=5, seed=1, width=5)
    she = found[(found["term"] == "she") & (found["model"] == "human")]
    assert len(she) == 2  # three matches in two texts
    assert (she["match"].str.lower() == "she").all()
    assert found["left"].str.len().max() <= 5 + 2
    # Cut contexts say so, and hold whole words; nothing is cut at a text's ends.
    assert found["left"].str.fullmatch(r"(… .*)?|\S.{0,4}").all()
    whole = lexicon.contexts(sided, read.texts, per_corpus=5, seed=1, width=500)
    assert not whole[["left", "right"]].stack().str.contains("…").any()
    longer = whole["left"].str.len() > 5
    assert found.loc[longer, "left"].str.startswith("…").all()
    again = lexicon.contexts(sided, read.texts, per_corpus=5, seed=1, width=5)
    assert again.equals(found)
    one = lexicon.contexts(sided, read.texts, per_corpus=1, seed=1)
    assert not one.duplicated(["term", "model"]).any()


def places(matches: pd.DataFrame) -> list[tuple[object, ...]]:
    rows = matches[["text_id", "start", "end", "group", "term"]]
    return sorted(rows.itertuples(index=False, name=None))


def test_added_words_are_those_of_a_list_that_had_them() -> None:
    _, read = every_change()
    texts, matches = read.texts, read.matches
    new = [("female", "a woman"), ("male", "left"), ("male", "left a")]
    scanned = [lexicon.scan(texts, f" {term} ", bias="gender", group=group) for group, term in new]
    found = lexicon.edited_lexicon(matches, left_out=[], added=scanned)
    whole = pd.concat([LEXICON, listed(*new)])
    assert places(found) == places(annotate.annotate(texts, whole)[1])
    assert places(found) != places(matches)


def test_left_out_words_are_gone_and_nothing_else() -> None:
    matches = every_change()[1].matches
    found = lexicon.edited_lexicon(matches, left_out=["she", "unknown"], added=[])
    assert places(found) == places(matches[matches["term"] != "she"])
    assert lexicon.edited_lexicon(matches, left_out=[], added=[matches.iloc[:0]]).equals(matches)


def test_a_blank_word_is_refused() -> None:
    with pytest.raises(DataError, match="type a word"):
        lexicon.scan(pd.Series(["a"]), "  ", bias="gender", group="male")


def test_estimates_stand_beside_each_other() -> None:
    _, read = every_change()
    whole = lexicon.estimates(read, confidence=0.9)
    none = lexicon.edited_lexicon(read.matches, left_out=["she", "woman"], added=[])
    edited = lexicon.estimates(read._replace(matches=none), confidence=0.9)
    found = lexicon.compared(whole, edited).set_index(["statistic", "group"])
    assert list(found.index) == [
        ("bias", ""),
        ("share_difference", "male"),
        ("share_difference", "female"),
    ]
    # Without women's words every share of men is 1 on both sides.
    assert found["edited"].tolist() == [0, 0, 0]
    np.testing.assert_allclose(found["moved"], -found["whole_list"])
    gone = lexicon.estimates(read._replace(matches=read.matches.iloc[:0]), confidence=0.9)
    assert lexicon.compared(whole, gone)["edited"].isna().all()
