"""Leaving out one term, against measuring again without its matches."""

from __future__ import annotations

import pandas as pd
import pytest

from nbbias.news import corpus, sample, words
from nbbias.news.corpus import Read
from nbbias.news.explore import lexicon
from nbbias.text import lexicons
from tests.build import paired

GENDER = pd.DataFrame(
    [
        ("gender", group, term, "word", "any")
        for group, term in [("male", "he"), ("male", "man"), ("female", "she"), ("female", "woman")]
    ],
    columns=["bias", "group", "term", "kind", "case"],
)


def measured(pairs: pd.DataFrame, listed: pd.DataFrame) -> tuple[pd.DataFrame, Read]:
    """Scores, and what they were made from, with the list as it was written."""
    read = corpus.annotate(pairs, lexicon=lexicons.expand(listed))._replace(lexicon=listed)
    return words.pair_scores(read), read


def by_hand(*sides: tuple[str, str]) -> pd.DataFrame:
    changes = lexicon.without_each_term(*measured(paired(*sides), GENDER))
    return lexicon.leave_one_word_out(changes).set_index("group")


SIDES = [
    ("He met a man, she said.", "She met a woman and he left."),
    ("The woman and the man and he.", "She, she and he."),
    ("He left.", "He left a woman."),
]


@pytest.mark.parametrize("expanded", [False, True])
def test_every_estimate_is_what_measuring_without_the_terms_matches_gives(expanded: bool) -> None:
    pairs = corpus.pair(*sample.corpus({"fewer-women": {"female": -0.15}}, seed=3)).iloc[:3]
    entries = lexicons.load_all(["race"])
    scores, read = measured(pairs, entries)
    listed = lexicons.expand(entries) if expanded else entries
    matches, changes = (
        read.matches,
        lexicon.without_each_term(scores, read._replace(lexicon=listed)),
    )
    # The list's own entries: a phrase such as "white nurse" belongs to "white".
    first = matches["term"].str.split().str[0]
    of_descriptor = (matches["kind"] == "descriptor") & (not expanded)
    entry = matches["term"].astype("str").where(~of_descriptor, first)
    assert set(changes["term"]) == set(entry)
    for term, rows in changes.groupby("term"):
        again = words.pair_scores(read._replace(matches=matches[entry != term]))
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


def test_a_pair_that_loses_a_side_drops_out() -> None:
    # Female shares: 1/2 and 0 less 1 and 1. Without "he" the second pair has no answer left and
    # the first is "she" beside "woman": 0. Without "woman" no pair is left.
    row = by_hand(("he she", "woman"), ("he he", "woman")).loc["female"]
    assert row["estimate"] == -0.75
    assert (row["highest"], row["highest_without"]) == (0, "he")
    assert (row["lowest"], row["lowest_without"]) == (-1, "she")
    assert (row["n"], row["terms"]) == (2, 3)


def test_a_sign_is_kept_that_no_term_turns() -> None:
    # Female shares 2/3 and 1/2: a difference of 1/6. Without "she" 1/2 - 1/2: 0.
    row = by_hand(("she woman he", "he woman")).loc["female"]
    assert (row["estimate"], row["lowest"]) == pytest.approx((1 / 6, 0))
    assert row["keeps_sign"] == "no"
    # Shares 1 and 1/3. Without "she" 1 and 1/3, without "he" or "man" 1 and 1/2, the first by name
    # is shown; without "woman" 1 and 0.
    row = by_hand(("she woman", "he man woman")).loc["female"]
    assert (row["lowest"], row["highest"]) == pytest.approx((1 / 2, 1))
    assert (row["lowest_without"], row["keeps_sign"], row["terms"]) == ("he", "yes", 4)


def test_without_any_counted_pair_there_is_no_row() -> None:
    assert by_hand(("nobody", "he"), ("she", "nobody")).empty


def test_repeated_answers_are_one_article() -> None:
    pairs = paired(("she he", "he woman"), ("she she", "he woman"))
    repeated = pairs.assign(article_id="1", sample=[1, 2])
    changes = lexicon.without_each_term(*measured(repeated, GENDER))
    row = changes.set_index(["group", "term"]).loc["female", "she"]
    # Together three of four words are women's; without "she" none of one.
    assert (row["estimate"], row["without"], row["n"]) == (0.25, -0.5, 1)
