"""Leaving out one term, against measuring again without its matches."""

import pandas as pd
import pytest

from nbbias.news import corpus, sample, words
from nbbias.news.corpus import Read
from nbbias.news.explore import lexicon
from nbbias.text import lexicons
from tests.build import paired

GENDER = pd.DataFrame(
    {"group": ["male"] * 2 + ["female"] * 2, "term": ["he", "man", "she", "woman"]}
)
GENDER = GENDER.assign(bias="gender", kind="word", case="any")


def measured(pairs: pd.DataFrame, listed: pd.DataFrame) -> tuple[pd.DataFrame, Read]:
    """Scores, and what they were made from."""
    read = corpus.annotate(pairs, lexicon=lexicons.expand(listed))
    return words.pair_scores(read), read


SIDES = [
    ("He met a man, she said.", "She met a woman and he left."),
    ("The woman and the man and he.", "She, she and he."),
    ("He left.", "He left a woman."),
]


def test_every_estimate_is_what_measuring_without_the_terms_matches_gives() -> None:
    pairs = corpus.pair(*sample.corpus({"fewer-women": {"female": -0.15}}, seed=3)).iloc[:3]
    scores, read = measured(pairs, lexicons.load_all(["race"]))
    matches, changes = read.matches, lexicon.without_each_term(scores, read)
    assert set(changes["term"]) == set(matches["term"])
    for term, rows in changes.groupby("term"):
        again = words.pair_scores(read._replace(matches=matches[matches["term"] != term]))
        for row in rows.to_dict("records"):
            values = again[f"difference_{row['group']}"].dropna()
            assert row["without"] == pytest.approx(values.mean(), nan_ok=True)
            assert row["n_without"] == len(values)
            assert row["change"] == pytest.approx(row["without"] - row["estimate"], nan_ok=True)


def test_terms_are_counted_on_both_sides_with_what_they_change() -> None:
    scores, read = measured(paired(*SIDES), GENDER)
    changes = lexicon.without_each_term(scores, read)
    table = lexicon.list_terms(read, changes).set_index("term")
    # Originals: she 3, woman 2, he 3. Answers: he 3, man 2, she 1, woman 1.
    assert table["originals"].to_dict() == {"he": 3, "she": 3, "woman": 2, "man": 0}
    assert table["answers"].to_dict() == {"he": 3, "she": 1, "woman": 1, "man": 2}
    assert table.index[0] == "he"
    change = changes[(changes["term"] == "she") & (changes["group"] == "female")]
    assert table.loc["she", "change"] == pytest.approx(change["change"].iloc[0])
    assert table.loc["she", "changed_in"] == "m"


def test_without_any_counted_pair_there_is_no_row() -> None:
    scores, read = measured(paired(("nobody", "he"), ("she", "nobody")), GENDER)
    assert lexicon.without_each_term(scores, read).empty
