"""Leaving out one term, against measuring again without its matches."""

from __future__ import annotations

import time

import numpy as np
import pandas as pd
import pytest

from nbbias.news import corpus, robustness, sample, words
from nbbias.news.corpus import Read
from nbbias.text import lexicons
from tests.build import paired, read_of

CELL = ["source", "model", "prompt"]


def numbered(*sides: tuple[str, str]) -> pd.DataFrame:
    """One pair per (answer, original), of one cell, their numbers no positions."""
    table = paired(*sides, prompt="p")
    return table.assign(pair_id=range(10, 10 + len(table)))


def measured(pairs: pd.DataFrame, lexicon: pd.DataFrame) -> tuple[pd.DataFrame, Read]:
    """Scores, and what they were made from, with the list as it was written."""
    read = corpus.annotate(pairs, lexicon=lexicons.expand(lexicon))._replace(lexicon=lexicon)
    return words.pair_scores(read), read


def statistics(scores: pd.DataFrame, bias: str, groups: list[str]) -> pd.DataFrame:
    """Mean distance and differences of every cell, and the pairs behind them."""
    own = scores[scores["bias"] == bias]
    columns = {"bias": "score"} | {group: f"difference_{group}" for group in groups}
    by_cell = own.groupby(CELL, sort=False)
    table = pd.DataFrame({name: by_cell[column].mean() for name, column in columns.items()})
    return table.assign(n=by_cell["score"].count())


def extremes(scores: pd.DataFrame, read: Read) -> pd.DataFrame:
    changes = robustness.without_each_term(scores, read)
    return robustness.leave_one_word_out(scores, changes, lexicon=read.lexicon)


def by_hand(sides: list[tuple[str, str]]) -> pd.DataFrame:
    lexicon = pd.DataFrame(
        [
            ("gender", g, t, "word", "any")
            for g, t in [("male", "he"), ("male", "man"), ("female", "she"), ("female", "woman")]
        ],
        columns=["bias", "group", "term", "kind", "case"],
    )
    table = extremes(*measured(numbered(*sides), lexicon))
    return table.set_index(["statistic", "group"])


@pytest.mark.slow
@pytest.mark.parametrize("expanded", [False, True])
def test_every_estimate_is_what_measuring_without_the_terms_matches_gives(expanded: bool) -> None:
    models = {"even": {}, "fewer-women": {"female": -0.15}}
    pairs = corpus.pair(*sample.corpus(models, faults=True, seed=3)).iloc[:12]
    lexicon = lexicons.load_all(["gender", "race"])
    scores, read = measured(pairs, lexicon)
    listed = lexicons.expand(lexicon) if expanded else lexicon
    found, matches = extremes(scores, read._replace(lexicon=listed)), read.matches
    # The list's own entries: a phrase such as "white nurse" belongs to "white".
    first = matches["term"].str.split().str[0]
    of_descriptor = (matches["kind"] == "descriptor") & (not expanded)
    entry = matches["term"].astype("str").where(~of_descriptor, first)
    for bias in ("gender", "race"):
        groups = lexicons.groups(lexicon, bias)
        whole = statistics(scores, bias, groups)
        terms = sorted(entry[matches["bias"] == bias].unique())
        without = {
            term: statistics(
                words.pair_scores(read._replace(matches=matches[entry != term])), bias, groups
            )
            for term in terms
        }
        for row in found[found["bias"] == bias].to_dict("records"):
            name = "bias" if row["statistic"] == "bias" else row["group"]
            cell = tuple(row[key] for key in CELL)
            again = pd.Series({term: table.loc[cell, name] for term, table in without.items()})
            n = {term: table.loc[cell, "n"] for term, table in without.items()}
            assert row["estimate"] == pytest.approx(whole.loc[cell, name])
            assert row["n"] == whole.loc[cell, "n"]
            assert row["lowest"] == pytest.approx(again.min())
            assert row["highest"] == pytest.approx(again.max())
            assert again[row["lowest_without"]] == pytest.approx(again.min())
            assert again[row["highest_without"]] == pytest.approx(again.max())
            assert row["n_lowest"] == n[row["lowest_without"]]
            assert row["n_highest"] == n[row["highest_without"]]
            if bias == "race" and not expanded:
                assert {row["lowest_without"], row["highest_without"]} <= set(lexicon["term"])
    assert len(found) == 2 * ((1 + 2) + (1 + 3))


def test_a_pair_that_loses_a_side_drops_out() -> None:
    # Distances: |1/2 - 1| = 1/2 and |0 - 1| = 1. Without "he" the second pair has no answer left
    # and the first is "she" beside "woman": 0. Without "she" the first is he beside woman: 1.
    table = by_hand([("he she", "woman"), ("he he", "woman")])
    row = table.iloc[0]
    assert row["estimate"] == 0.75
    assert (row["lowest"], row["lowest_without"], row["n_lowest"]) == (0, "he", 1)
    assert (row["highest"], row["highest_without"], row["n_highest"]) == (1, "she", 2)
    assert (row["n"], row["terms"]) == (2, 3)
    assert row["reason"] == "no pair is left without 'woman'"


def test_a_sign_that_one_term_turns_is_not_kept() -> None:
    # Female shares 2/3 and 1/2: a difference of 1/6. Without "she" 1/2 - 1/2: 0.
    row = by_hand([("she woman he", "he woman")]).loc[("share_difference", "female")]
    assert row["estimate"] == pytest.approx(1 / 6)
    assert row["lowest"] == 0
    assert row["keeps_sign"] == "no"


def test_a_sign_that_no_term_turns_is_kept() -> None:
    # Shares 1 and 1/3. Without "she" 1 and 1/3, without "he" 1 and 1/2, without "man" the same;
    # without "woman" 1 and 0.
    row = by_hand([("she woman", "he man woman")]).loc[("share_difference", "female")]
    assert (row["lowest"], row["highest"]) == pytest.approx((1 / 2, 1))
    assert row["keeps_sign"] == "yes"


def test_of_terms_that_do_the_same_the_first_by_name_is_shown() -> None:
    row = by_hand([("she woman", "he man woman")]).loc[("share_difference", "female")]
    assert (row["lowest_without"], row["terms"]) == ("he", 4)


def test_only_terms_that_were_seen_are_left_out() -> None:
    table = by_hand([("she", "he")])
    assert table["terms"].tolist() == [2, 2, 2]
    assert not {"man", "woman"} & set(table[["lowest_without", "highest_without"]].stack())


def test_without_any_counted_pair_nothing_is_measured_and_a_reason_given() -> None:
    table = by_hand([("nobody", "he"), ("she", "nobody")])
    assert table[["estimate", "lowest", "highest"]].isna().all(axis=None)
    assert set(table["n"]) == {0}
    assert set(table["reason"]) == {"no pair counts with the whole list"}


def test_input_is_not_changed() -> None:
    lexicon = lexicons.load_all(["gender"])
    scores, read = measured(corpus.pair(*sample.corpus(seed=1)), lexicon)
    tables = [scores, read.pairs, read.matches, read.lexicon]
    before = [table.copy() for table in tables]
    extremes(scores, read)
    for old, new in zip(before, tables, strict=True):
        pd.testing.assert_frame_equal(old, new)


def test_two_hundred_terms_in_three_thousand_pairs_take_seconds() -> None:
    rng = np.random.default_rng(0)
    terms = [f"t{i}" for i in range(200)]
    lexicon = pd.DataFrame({"bias": "b", "group": ["x", "y"] * 100, "term": terms, "kind": "word"})
    pairs = numbered(*((f"h{i}", f"o{i}") for i in range(3000))).rename(
        columns={"generated_text": "generated_id", "original_text": "original_id"}
    )
    matches = lexicon.iloc[rng.integers(0, 200, 60_000)].reset_index(drop=True)
    ids = [f"{side}{i}" for i, side in zip(rng.integers(0, 3000, 60_000), "ho" * 30_000)]  # noqa: B905
    matches = matches.assign(text_id=ids, sentence_id=0)
    read = read_of(pairs, matches, lexicon)
    scores = words.pair_scores(read)
    start = time.perf_counter()
    found = extremes(scores, read)
    assert time.perf_counter() - start < 10
    assert set(found["terms"]) == {200}
