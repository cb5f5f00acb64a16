"""Word lists looked into: counts by hand, edits against searching and measuring anew."""

from __future__ import annotations

import pandas as pd
import pytest

from nbbias import stats
from nbbias.news import robustness, words
from nbbias.news.corpus import Read, annotate
from nbbias.news.explore import lexicon
from tests.build import paired
from tests.news.test_robustness import GENDER, measured

SIDES = [
    ("He met a man, she said.", "She met a woman and he left."),
    ("The woman and the man and he.", "She, she and he."),
    ("He left.", "He left a woman."),
]


@pytest.fixture(scope="module")
def read() -> Read:
    return measured(paired(*SIDES), GENDER)[1]


def test_terms_are_counted_on_both_sides_beside_what_they_move(read: Read) -> None:
    changes = robustness.without_each_term(words.pair_scores(read), read)
    table = lexicon.list_terms(read, changes).set_index("term")
    # Originals: she 3, woman 2, he 3. Answers: he 3, man 2, she 1, woman 1.
    assert table["originals"].to_dict() == {"he": 3, "she": 3, "woman": 2, "man": 0}
    assert table["answers"].to_dict() == {"he": 3, "she": 1, "woman": 1, "man": 2}
    assert table.index[0] == "he"
    change = changes[(changes["term"] == "she") & (changes["group"] == "female")]
    assert table.loc["she", "change"] == pytest.approx(change["change"].iloc[0])
    assert table.loc["she", "changed_in"] == "m"


def test_an_added_term_is_found_in_any_case_and_replaces_what_it_overlaps(read: Read) -> None:
    edited = lexicon.edit_matches(read, left_out=["he"], added="She met", group="male")
    found = edited.matches[["text_id", "term", "group"]].to_numpy().tolist()
    text = read.pairs["original_id"].iloc[0]
    assert [text, "She met", "male"] in found
    assert [text, "she", "female"] not in found and "he" not in {term for _, term, _ in found}
    again = annotate(
        paired(*SIDES),
        lexicon=pd.concat([GENDER[GENDER["term"] != "he"], GENDER.head(1).assign(term="she met")]),
    )
    assert len(edited.matches) == len(again.matches)
    assert lexicon.edit_matches(read, added=" ", group="male").matches.equals(read.matches)


def test_both_lists_stand_beside_each_other(read: Read) -> None:
    edited = lexicon.edit_matches(read, left_out=["woman"])
    table = lexicon.compare_estimates(read, edited, inference=stats.InferenceSettings())
    row = table.set_index("group").loc["female"]
    scores = words.pair_scores(edited)["difference_female"]
    assert row["edited list"] == pytest.approx(scores.mean())
    assert row["whole list"] == pytest.approx(words.pair_scores(read)["difference_female"].mean())
    assert (row["whole list, N"], row["edited list, N"]) == (3, scores.notna().sum())
