"""Weighted log-odds by hand, and words that were planted or not."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st
from scipy import sparse
from scipy.stats import norm
from sklearn.feature_extraction.text import CountVectorizer
from statsmodels.stats.multitest import multipletests

from nbbias.news import words_apart
from nbbias.news.corpus import Read

CELL = {"source": "s", "model": "m", "prompt": "p"}


def counts(**words: float) -> pd.Series:
    return pd.Series(words, dtype=float)


def corpus(
    answers: list[list[str]], originals: list[list[str]], *, model: str = "m", group: str = "female"
) -> Read:
    """What is read of texts given as lists of sentences, all of one group."""
    rows, joined = [], []
    for sentences in [*answers, *originals]:
        whole = " ".join(sentences)
        joined.append(whole)
        start = 0
        for number, one in enumerate(sentences):
            rows.append((whole, number, start, start + len(one), "gender", group, 1))
            start += len(one) + 1
    columns = ["text_id", "sentence_id", "start", "end", "bias", "group", "n"]
    table = pd.DataFrame(rows, columns=columns).drop_duplicates(["text_id", "sentence_id"])
    h, o = joined[: len(answers)], joined[len(answers) :]
    ids = [str(i) for i in range(len(h))]
    pairs = pd.DataFrame(CELL | {"article_id": ids, "generated_id": h, "original_id": o})
    lost = pd.Series(pd.NA, pairs.index, dtype="str")
    pairs = pairs.assign(model=model, sample=1, pair_id=range(len(h)), lost=lost)
    return read_of(pairs, table)


def read_of(pairs: pd.DataFrame, sentences: pd.DataFrame) -> Read:
    ids = sentences["text_id"].unique()
    nothing = pd.DataFrame()
    return Read(pairs, pd.Series(ids, index=ids), sentences, nothing, nothing)


def drawn(
    rng: np.random.Generator, texts: int, *, burst: float, length: tuple[int, int]
) -> list[list[str]]:
    """Texts of one writer; the larger `burst`, the more each text keeps to its own words."""
    vocabulary = np.array([f"{a}{b}" for a in "bcdfghjklm" for b in ("a", "e", "i", "o", "u")])
    base = 1 / np.arange(1, 51)
    base /= base.sum()
    written = []
    for _ in range(texts):
        own = rng.dirichlet(base * 50 / burst) if burst else base
        sentences = rng.multinomial(rng.integers(*length, size=4), own)
        written.append([" ".join(np.repeat(vocabulary, counted)) + "." for counted in sentences])
    return written


def found_of(answers: list[list[str]], originals: list[list[str]], **settings: Any) -> pd.DataFrame:
    return words_apart.words_apart(corpus(answers, originals), **settings)


# --- log_odds ---------------------------------------------------------------------------------


def test_log_odds_are_the_papers_formula_by_hand() -> None:
    # Prior of size 10 with shares .6, .3, .1: 6, 3 and 1 words. First: 4 + 6 of 6 + 10 words are
    # "a", 6 others; second: 1 + 6 of 4 + 10, 7 others. Variances 1/10 + 1/7.
    table = words_apart.log_odds(
        counts(a=4, b=2), counts(a=1, b=2, c=1), counts(a=60, b=30, c=10), prior_size=10
    ).set_index("word")
    assert table.loc["a", "log_odds"] == pytest.approx(np.log(10 / 6) - np.log(7 / 7))
    assert table.loc["a", "z"] == pytest.approx(np.log(10 / 6) / np.sqrt(1 / 10 + 1 / 7))
    # "c": 0 + 1 of 16 against 1 + 1 of 14.
    assert table.loc["c", "log_odds"] == pytest.approx(np.log(1 / 15) - np.log(2 / 12))
    assert table.loc["c", ["n_first", "n_second"]].tolist() == [0, 1]


def test_swapped_sides_have_opposite_log_odds() -> None:
    first, second, prior = counts(a=7, b=2, c=0), counts(a=1, b=5, c=9), counts(a=9, b=9, c=9)
    one = words_apart.log_odds(first, second, prior, prior_size=50)
    other = words_apart.log_odds(second, first, prior, prior_size=50)
    assert one["z"].abs().min() > 0
    assert one["log_odds"].tolist() == pytest.approx((-other["log_odds"]).tolist())
    assert one["z"].tolist() == pytest.approx((-other["z"]).tolist())


def test_a_body_against_itself_has_no_words_apart() -> None:
    own = counts(a=7, b=2)
    table = words_apart.log_odds(own, own, own, prior_size=1)
    assert table["log_odds"].tolist() == [0, 0]


def test_a_larger_prior_draws_words_to_no_difference() -> None:
    first, second = counts(a=9, b=91), counts(a=1, b=99)
    z = [
        words_apart.log_odds(first, second, first + second, prior_size=size)["z"].iloc[0]
        for size in (1, 100, 10_000)
    ]
    assert z[0] > z[1] > z[2] > 0


def test_words_in_neither_body_are_not_listed() -> None:
    table = words_apart.log_odds(counts(a=1, x=0), counts(b=1), counts(a=1, b=1, y=9), prior_size=1)
    assert table["word"].tolist() == ["a", "b"]


@pytest.mark.parametrize(
    ("first", "second", "prior", "reason"),
    [
        (counts(a=1, b=1), counts(), counts(a=1, b=1), "one side has no words"),
        (counts(a=1, b=1), counts(b=1), counts(b=1), "the prior does not know the word"),
        (counts(a=3), counts(a=2), counts(a=5), "there is no other word"),
    ],
)
def test_what_cannot_be_compared_is_nan_with_a_reason(
    first: pd.Series, second: pd.Series, prior: pd.Series, reason: str
) -> None:
    row = words_apart.log_odds(first, second, prior, prior_size=1).iloc[0]
    assert np.isnan([row["log_odds"], row["z"]]).all()
    assert row["reason"] == reason


@pytest.mark.parametrize("size", [0, -1, np.nan])
def test_a_prior_without_weight_is_refused(size: float) -> None:
    with pytest.raises(ValueError, match="prior_size must be above 0"):
        words_apart.log_odds(counts(a=1), counts(a=1), counts(a=1), prior_size=size)


# --- words_apart ------------------------------------------------------------------------------


def planted(rng: np.random.Generator) -> tuple[list[list[str]], list[list[str]]]:
    """Every other answer has a word of its own, every third original another."""
    answers = drawn(rng, 60, burst=0, length=(8, 12))
    originals = drawn(rng, 60, burst=0, length=(8, 12))
    for one in answers[::2]:
        one[0] = "Zebra " + one[0]
    for one in originals[::3]:
        one[1] = "yak, " + one[1]
    return answers, originals


def test_a_planted_word_stands_first_and_on_its_side() -> None:
    table = found_of(*planted(np.random.default_rng(1)))
    assert table["word"].head(2).tolist() == ["zebra", "yak"]
    assert table["more_in"].head(2).tolist() == ["answers", "originals"]
    assert table[["n_answers", "n_originals"]].head(2).to_numpy().tolist() == [[30, 0], [0, 20]]
    assert np.sign(table["log_odds"].head(2)).tolist() == [1, -1]


def test_p_values_are_corrected_over_every_word_that_was_tested() -> None:
    table = found_of(*planted(np.random.default_rng(1)), top=1000, confidence=1e-9)
    assert len(table) == table["words"].iloc[0] == table["words_apart"].iloc[0]
    p = 2 * norm.cdf(-table["z"].abs())
    assert table["p_value"].tolist() == pytest.approx(p)
    assert table["p_adjusted"].tolist() == pytest.approx(multipletests(p, method="holm")[1])


def test_the_needed_z_is_bonferronis() -> None:
    row = found_of(*planted(np.random.default_rng(1))).iloc[0]
    assert 2 * norm.cdf(-row["z_needed"]) == pytest.approx(0.05 / row["words"])


def test_no_more_than_top_words_are_shown_but_all_are_counted() -> None:
    table = found_of(*planted(np.random.default_rng(1)), top=1)
    assert table["word"].tolist() == ["zebra"]
    assert table["words_apart"].iloc[0] >= 2


def false_finds(*, burst: float, answers: tuple[int, int]) -> tuple[float, int]:
    """The share of words that stand out, and how many do after Holm, of one writer's texts."""
    rng = np.random.default_rng(4)
    models = [
        corpus(*(drawn(rng, 60, burst=burst, length=size) for size in (answers, (8, 12))), model=m)
        for m in "abcdefghijkl"
    ]
    pairs, sentences = (
        pd.concat([getattr(read, name) for read in models], ignore_index=True)
        for name in ("pairs", "sentences")
    )
    sentences = sentences.drop_duplicates(["text_id", "sentence_id"])
    table = words_apart.words_apart(read_of(pairs, sentences), confidence=1e-9, top=1000)
    return (table["z"].abs() > 1.96).mean(), (table["p_adjusted"] < 0.05).sum()


@pytest.mark.parametrize(
    ("burst", "answers"),
    [
        (0, (8, 12)),
        (0, (3, 6)),  # shorter answers are no difference of words
        (3, (8, 12)),
        (3, (3, 6)),
    ],
)
def test_one_writers_words_stand_out_about_as_often_as_the_level_says(
    burst: float, answers: tuple[int, int]
) -> None:
    share, adjusted = false_finds(burst=burst, answers=answers)
    # 12 x 50 words at .05, with two standard errors of .009.
    assert 0.01 < share < 0.068
    assert adjusted <= 1


def test_bursts_would_stand_out_without_the_dispersion(monkeypatch: pytest.MonkeyPatch) -> None:
    ones = np.ones(50)
    monkeypatch.setattr(words_apart, "_dispersion", lambda sides: ones)
    share, _ = false_finds(burst=3, answers=(8, 12))
    assert share > 0.1


def test_dispersion_is_pearsons_of_every_word() -> None:
    sides = [np.array([[9, 1], [1, 9], [5, 5]]), np.array([[2, 8], [0, 10]])]
    expected = np.zeros(2)
    for side in sides:
        means = side.sum(axis=1, keepdims=True) * side.sum(axis=0) / side.sum()
        expected += ((side - means) ** 2 / means).sum(axis=0)
    found = words_apart._dispersion([sparse.csr_array(side) for side in sides])
    assert found.tolist() == pytest.approx(np.maximum(expected / 3, 1).tolist())
    assert found[0] > 1


def test_only_articles_with_the_group_on_both_sides_are_compared() -> None:
    answers, originals = planted(np.random.default_rng(1))
    read = corpus(answers, originals)
    silent = read.sentences["text_id"] == read.pairs["original_id"].iloc[0]
    sentences = read.sentences.assign(group=read.sentences["group"].where(~silent, "neutral"))
    table = words_apart.words_apart(read._replace(sentences=sentences))
    assert (table["pairs"].iloc[0], table["n_answers"].iloc[0]) == (59, 29)


def test_a_lost_pair_does_not_count() -> None:
    read = corpus(*planted(np.random.default_rng(1)))
    read.pairs.loc[0, "lost"] = "blank answer"
    assert words_apart.words_apart(read)["pairs"].iloc[0] == 59


def test_an_original_of_two_pairs_counts_once() -> None:
    answers = [[f"red {a} fox."] for a in ("one", "two", "three", "four", "five", "six")]
    table = found_of(answers, [["red fox."]] * 6, confidence=1e-9, min_texts=1, top=99)
    assert table.set_index("word").loc["red", ["n_answers", "n_originals"]].tolist() == [6, 1]


ODD = st.text(alphabet="abzÄßİŉǅ'’-_3. \n\u0301\u200b\u2028é\U0001d41a", max_size=12)


@given(st.lists(st.lists(ODD, min_size=1, max_size=3), min_size=1, max_size=3))
@settings(max_examples=100, deadline=None)
def test_words_of_sentences_are_those_that_sklearn_counts(texts: list[list[str]]) -> None:
    read = corpus(texts, texts)
    rows = read.sentences
    said = [one[a:b] for one, a, b in zip(rows["text_id"], rows["start"], rows["end"], strict=True)]
    words, prior, found, where = words_apart._count_sentences(read)
    if not len(words):
        assert not any(re.search(words_apart._WORD, one.lower()) for one in said)
        return
    counter = CountVectorizer(token_pattern=words_apart._WORD)
    expected = counter.fit_transform(said).toarray()
    assert words.tolist() == counter.get_feature_names_out().tolist()
    assert (found.toarray()[where["said"]] == expected).all()
    assert (prior == expected.sum(axis=0)).all()


def test_words_are_of_letters_in_lower_case() -> None:
    sides = [["It’s Émile's covid19 a_b x FOX fox."]], [["It's it emile 12."]]
    table = found_of(*sides, min_texts=1, confidence=1e-9, top=99)
    assert set(table["word"]) == {"it", "émile", "emile", "fox"}


@pytest.mark.parametrize(
    ("answers", "originals", "reason"),
    [
        ([["red fox."]], [["red fox."]], "no word is in enough texts"),
        ([["12."]] * 9, [["13."]] * 9, "no word is in enough texts"),
        (
            [[f"red {w} fox."] for w in ("aa", "bb", "cc", "dd")],
            [[f"red fox {w}."] for w in ("aa", "bb", "cc", "dd")],
            "no word stands out",
        ),
    ],
)
def test_a_comparison_without_words_has_a_row_that_says_why(
    answers: list[list[str]], originals: list[list[str]], reason: str
) -> None:
    (row,) = found_of(answers, originals).to_dict("records")
    assert row["reason"] == reason
    assert pd.isna(row["word"]) and np.isnan(row["z"])


def test_a_model_that_never_speaks_of_a_group_says_so() -> None:
    read = corpus([["red fox."]], [["blue fox."]])
    spoken = read.sentences["text_id"] == "blue fox."
    sentences = read.sentences.assign(group=read.sentences["group"].where(spoken, "neutral"))
    (row,) = words_apart.words_apart(read._replace(sentences=sentences)).to_dict("records")
    assert row["reason"] == "no pair has a sentence of the group on both sides"
