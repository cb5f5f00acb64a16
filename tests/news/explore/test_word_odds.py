"""Weighted log-odds by hand, and words that were planted or not."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm
from statsmodels.stats.multitest import multipletests

from nbbias.news.corpus import Read, annotate
from nbbias.news.explore import word_odds
from nbbias.text import lexicons
from tests.build import paired


def odds(*counts: list[int], prior_size: float = 10) -> pd.DataFrame:
    return word_odds.log_odds(*map(np.array, counts), prior_size=prior_size)


def test_log_odds_are_the_papers_formula_by_hand() -> None:
    # Prior of size 10 with shares .6, .3, .1: 6, 3 and 1 words. First: 4 + 6 of 6 + 10 words are
    # "a", 6 others; second: 1 + 6 of 4 + 10, 7 others. Variances 1/10 + 1/7.
    table = odds([4, 2, 0], [1, 2, 1], [60, 30, 10])
    assert table.loc[0, "log_odds"] == pytest.approx(np.log(10 / 6) - np.log(7 / 7))
    assert table.loc[0, "z"] == pytest.approx(np.log(10 / 6) / np.sqrt(1 / 10 + 1 / 7))
    # The last: 0 + 1 of 16 against 1 + 1 of 14.
    assert table.loc[2, "log_odds"] == pytest.approx(np.log(1 / 15) - np.log(2 / 12))
    turned = odds([1, 2, 1], [4, 2, 0], [60, 30, 10])
    assert turned["z"].tolist() == pytest.approx((-table["z"]).tolist())


def test_a_larger_prior_draws_words_to_no_difference() -> None:
    z = [odds([9, 91], [1, 99], [10, 190], prior_size=s)["z"].iloc[0] for s in (1, 100, 10_000)]
    assert z[0] > z[1] > z[2] > 0
    with pytest.raises(ValueError, match="prior_size must be above 0"):
        odds([1], [1], [1], prior_size=0)


@pytest.mark.parametrize(
    "counts", [([1, 1], [0, 0], [1, 1]), ([1, 0], [0, 1], [0, 1]), ([3], [2], [5])]
)
def test_what_cannot_be_compared_is_missing(counts: tuple[list[int], ...]) -> None:
    assert odds(*counts).iloc[0].isna().all()


# --- words of a corpus ------------------------------------------------------------------------


def read_of(answers: list[str], originals: list[str]) -> Read:
    pairs = paired(*zip(answers, originals, strict=True))
    return annotate(pairs, lexicon=lexicons.load("gender"))


def written(rng: np.random.Generator, texts: int) -> list[str]:
    """Texts about women by one writer."""
    vocabulary = np.array([f"{a}{b}" for a in "bcdfghjklm" for b in ("ax", "ex", "ix", "ox", "ux")])
    base = 1 / np.arange(1, 51)
    base /= base.sum()
    lengths = rng.integers(10, 16, texts)
    return [f"She {' '.join(rng.choice(vocabulary, n, p=base))}." for n in lengths]


def planted() -> Read:
    rng = np.random.default_rng(1)
    answers, originals = written(rng, 60), written(rng, 60)
    answers[::2] = [f"Zebra zebra {text}" for text in answers[::2]]
    originals[::3] = [f"{text[:-1]} yak." for text in originals[::3]]
    return read_of(answers, originals)


def test_a_planted_word_stands_first_on_its_side_and_is_counted_once_a_text() -> None:
    table = word_odds.compare_words(planted()).sort_values("z", key=abs, ascending=False)
    assert table["word"].head(2).tolist() == ["zebra", "yak"]
    assert table["more_in"].head(2).tolist() == ["answers", "originals"]
    assert table[["n_answers", "n_originals"]].head(2).to_numpy().tolist() == [[30, 0], [0, 20]]
    assert np.sign(table["log_odds"].head(2)).tolist() == [1, -1]
    assert len(word_odds.compare_words(planted(), top=1)) == 1


def test_p_values_are_corrected_over_every_word_that_was_tested() -> None:
    table = word_odds.compare_words(planted(), top=1000)
    p = 2 * norm.cdf(-table["z"].abs())
    assert table["p_value"].tolist() == pytest.approx(p)
    assert table["p_adjusted"].tolist() == pytest.approx(multipletests(p, method="holm")[1])
    assert (table["n_answers"] + table["n_originals"]).min() >= 5


def test_only_pairs_with_the_group_on_both_sides_are_compared_and_originals_count_once() -> None:
    answers = [f"She saw one red fox {word}." for word in ("aa", "bb", "cc", "dd", "ee", "ff")]
    originals = ["She saw a red fox."] * 5 + ["It rained on a red fox."]
    table = word_odds.compare_words(read_of(answers, originals), min_texts=1, top=99)
    red = table[table["group"] == "female"].set_index("word").loc["red"]
    assert red[["n_answers", "n_originals"]].tolist() == [5, 1]
    assert set(table["word"]) >= {"saw", "red", "fox"} and "12" not in set(table["word"])
    silent = read_of(["It rained."], ["It rained."])
    assert word_odds.compare_words(silent).empty
