"""Word-level bias against an optimal-transport solver, plain loops, scipy and enumeration."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.stats
from hypothesis import given, strategies as st
from scipy.optimize import linprog
from statsmodels.stats.proportion import proportion_confint

from nbbias import stats
from nbbias.news import claims, corpus, words
from nbbias.news.params import NewsBias
from tests.build import (
    GENDER,
    GROUPS,
    Counts,
    lexicon_of,
    matches_of,
    paired,
    pairs_of,
    read_of,
    row_of,
    word_estimates,
)

CELL = ["source", "model", "prompt"]


# --- corpora made of counts -------------------------------------------------------------------


def scored(h: Counts, o: Counts, **columns: Any) -> pd.DataFrame:
    read = read_of(pairs_of(len(h), **columns), matches_of(h, o), lexicon_of(len(h[0])))
    return words.pair_scores(read)


def estimated(scores: pd.DataFrame, groups: int, **settings: Any) -> pd.DataFrame:
    inference = stats.InferenceSettings(**({"n_permutations": 50, "seed": 3} | settings))
    return word_estimates(scores, lexicon=lexicon_of(groups), inference=inference)


def transport(h: Sequence[int], o: Sequence[int]) -> float:
    """Wasserstein distance of Eq. 3 by linear programming, cost 1 between any two groups."""
    size = len(h)
    to = np.kron(np.ones(size), np.eye(size))  # what arrives at each group of h
    out_of = np.kron(np.eye(size), np.ones(size))  # what leaves each group of o
    found = linprog(
        (1 - np.eye(size)).ravel(),
        A_eq=np.vstack([to, out_of]),
        b_eq=np.concatenate([np.array(h) / sum(h), np.array(o) / sum(o)]),
    )
    assert found.success
    return float(found.fun)


@st.composite
def count_pairs(draw: st.DrawFn) -> tuple[list[list[int]], list[list[int]]]:
    groups = draw(st.sampled_from([2, 3, 5]))
    side = st.lists(st.integers(0, 12), min_size=groups, max_size=groups).filter(any)
    size = draw(st.integers(1, 4))
    both = [draw(st.lists(side, min_size=size, max_size=size)) for _ in range(2)]
    return both[0], both[1]


# --- scores -----------------------------------------------------------------------------------


@given(count_pairs())
def test_distance_is_the_cost_of_the_best_transport(
    both: tuple[list[list[int]], list[list[int]]],
) -> None:
    expected = [transport(h, o) for h, o in zip(*both, strict=True)]
    assert scored(*both)["score"].tolist() == pytest.approx(expected, abs=1e-7)


# --- pairs that have no score -----------------------------------------------------------------


def test_a_text_of_several_pairs_is_read_once_and_a_lost_one_not() -> None:
    pairs = pairs_of(4).drop(columns=["original_id", "generated_id"])
    pairs = pairs.assign(original_text=list("ooop"), generated_text=list("ghoi"))
    pairs["lost"] = pd.Series([None, None, None, "repeated id"], dtype="str")
    read = corpus.annotate(pairs, lexicon=GENDER)
    assert sorted(read.texts) == ["g", "h", "o"]
    assert read.texts.index.is_unique
    assert read.texts.index.dtype == read.matches["text_id"].dtype == "int32"
    found = read.pairs[read.pairs["lost"].isna()]
    assert read.texts[found["original_id"]].tolist() == ["o", "o", "o"]
    assert read.texts[found["generated_id"]].tolist() == ["g", "h", "o"]
    assert read.pairs.loc[3, ["original_id", "generated_id"]].tolist() == [-1, -1]
    assert "original_text" not in read.pairs


def test_two_biases_are_scored_side_by_side_and_leave_each_others_columns_empty() -> None:
    matches = pd.concat([matches_of([[2, 1]], [[1, 1]]), matches_of([[1]], [[1]], bias="c")])
    lexicon = pd.concat([lexicon_of(2), pd.DataFrame({"bias": "c", "group": ["a", "z"]})])
    table = words.pair_scores(read_of(pairs_of(1), matches, lexicon)).set_index("bias")
    assert table["score"].to_dict() == pytest.approx({"b": 2 / 3 - 1 / 2, "c": 0})
    assert np.isnan([table.loc["c", "h_b"], table.loc["c", "difference_b"]]).all()
    assert np.isnan([table.loc["b", "o_z"], table.loc["b", "difference_z"]]).all()


# --- estimates: means and tests ---------------------------------------------------------------

MODELS = ["x", "y"]


def some(groups: int) -> pd.DataFrame:
    """Articles of two models, some lost, some without a group, x naming group a less."""
    rng, n = np.random.default_rng(6), 30
    means = np.linspace(1, 2, groups)
    h = rng.poisson(means, (2 * n, groups))
    h[:n, 0] = rng.poisson(0.5, n)
    o = np.tile(rng.poisson(means, (n, groups)), (2, 1))
    articles = [str(i) for i in range(n)] * 2
    lost = pd.Series([None] * 2 * n, dtype="str")
    lost[[3, n + 4]] = "blank answer"
    return scored(h, o, model=np.repeat(MODELS, n), article_id=articles, lost=lost)


SOME = {groups: some(groups) for groups in (2, 3, 5)}
FOUND = {groups: estimated(scores, groups) for groups, scores in SOME.items()}
EVERY = pytest.mark.parametrize("groups", [2, 3, 5])


@EVERY
def test_signed_differences_are_tested_as_scipy_does(groups: int) -> None:
    for model, group in product(MODELS, GROUPS[:groups]):
        own = SOME[groups].query("model == @model")
        row = row_of(FOUND[groups], "share_difference", model=model, group=group)
        values = own[f"difference_{group}"].dropna()
        expected = scipy.stats.ttest_1samp(values, 0)
        assert row["estimate"] == pytest.approx(values.mean())
        low, high = expected.confidence_interval(0.95)
        if (values != 0).sum() < stats.intervals.ENOUGH:  # never more certain than the t test
            assert row["ci_low"] <= low + 1e-12 and row["ci_high"] >= high - 1e-12
            assert row["p_value"] >= expected.pvalue - 1e-12
        else:
            tested = expected.statistic, expected.pvalue, len(values) - 1
            assert row[["statistic_value", "p_value", "df"]].tolist() == pytest.approx(tested)
            assert (row["ci_low"], row["ci_high"]) == pytest.approx((low, high))
        assert row["n"] + row["n_lost"] == len(own)


# --- estimates: prejudice ---------------------------------------------------------------------


@EVERY
def test_prejudice_is_what_a_plain_loop_counts(groups: int) -> None:
    for model, group in product(MODELS, GROUPS[:groups]):
        changes = []
        for row in SOME[groups].query("model == @model and reason.isna()").to_dict("records"):
            n_h, n_o = (sum(row[f"{side}_{g}"] for g in GROUPS[:groups]) for side in "ho")
            if row[f"o_{group}"]:
                h, o = Fraction(row[f"h_{group}"], n_h), Fraction(row[f"o_{group}"], n_o)
                changes.append(h - o)
        named, falls = len(changes), [change for change in changes if change < 0]
        share = row_of(FOUND[groups], "prejudice_share", model=model, group=group)
        extent = row_of(FOUND[groups], "prejudice_extent", model=model, group=group)
        assert (share["n"], share["n_lost"]) == (named, 30 - named)
        assert share["estimate"] == pytest.approx(len(falls) / named)
        ends = proportion_confint(len(falls), named, method="wilson")
        assert (share["ci_low"], share["ci_high"]) == pytest.approx(ends, abs=1e-12)
        assert (extent["n"], extent["n_lost"]) == (len(falls), 30 - len(falls))
        assert extent["estimate"] == pytest.approx(float(sum(falls) / len(falls)))


def test_first_mentions_are_of_articles_whose_texts_both_name_the_group_and_another() -> None:
    originals = ["She met him.", "A man saw his sister.", "He left. She stayed.", "She left."]
    answers = ["He met her.", "The woman saw a man.", "The man left. She stayed.", "She met him."]
    read = corpus.annotate(paired(*zip(answers, originals, strict=True)), lexicon=GENDER)
    scores = words.pair_scores(read)
    assert scores["first_female"].tolist() == pytest.approx([-1, 1, 0, np.nan], nan_ok=True)
    table = words.level(read, inference=stats.InferenceSettings(n_permutations=100)).estimates
    rows = table[table["statistic"] == "first_mention_difference"].set_index("group")
    assert rows.loc["female", ["estimate", "n", "n_lost"]].tolist() == [0, 3, 1]
    assert rows["p_adjusted"].nunique() == 1  # one test: what women gain, men lose
    three = words.first_mentions(pd.DataFrame({"text_id": 7, "group": [*"babc"]}), [*"abcd"])
    assert three.loc[7].tolist() == pytest.approx([0, 1, 0, np.nan], nan_ok=True)


# --- estimates: repeated answers --------------------------------------------------------------


#: Statistics whose values are means over the answers to an article.
OF_ANSWERS = ["share_difference_passages", "omission_difference", "first_mention_difference"]


def repeated(h: Counts, o: Counts, articles: str, **columns: Any) -> pd.DataFrame:
    """Scores of answers to some articles; samples of one article share its original."""
    ids = pd.Series(list(articles))
    columns |= {"article_id": ids, "sample": ids.groupby(ids).cumcount() + 1}
    first = ids.map(ids.drop_duplicates().reset_index().set_index(0)["index"])
    return scored(h, o, original_id="o" + first.astype(str), **columns)


def test_repeated_answers_count_as_one_answer_with_all_their_words() -> None:
    many = repeated([[2, 1], [1, 3], [4, 0], [0, 2]], [[1, 1], [0, 0], [1, 3], [0, 0]], "1122")
    one = scored([[3, 4], [4, 2]], [[1, 1], [1, 3]], article_id=["1", "2"])
    # Passages are of single answers: their shares and omissions are means over answers.
    found = (estimated(scores, 2).query("statistic not in @OF_ANSWERS") for scores in (many, one))
    pd.testing.assert_frame_equal(*found)


# --- estimates: zero, one, two, none ----------------------------------------------------------

PER_GROUP = [name for name in NewsBias.statistics["word"] if name != "bias"]


@pytest.mark.parametrize("groups", [2, 5])
def test_a_corpus_without_group_words_measures_nothing_and_says_why(groups: int) -> None:
    table = estimated(scored([[0] * groups] * 3, [[0] * groups] * 3), groups)
    counts = table["statistic"].value_counts().to_dict()
    assert counts == dict.fromkeys(PER_GROUP, groups) | {"bias": 1}
    assert table[["estimate", "ci_low", "ci_high", "p_value", "p_adjusted"]].isna().all(axis=None)
    assert table["n"].eq(0).all() and table["n_lost"].eq(3).all() and table["reason"].notna().all()
    told = table.loc[table["statistic"].isin(["bias", "share_difference"]), "reason"]
    assert set(told) == {"no group words in either (3)"}


# --- a real corpus ----------------------------------------------------------------------------


@pytest.mark.slow
def test_llmfake_has_its_known_distances_and_losses(data_folder: Path) -> None:
    files = (data_folder / "news" / f"llmfake_{of}.parquet" for of in ("originals", "generated"))
    originals, generations = corpus.read(*map(str, files))
    read = corpus.annotate(corpus.pair(originals, generations), lexicon=GENDER)
    scores, inference = words.pair_scores(read), stats.InferenceSettings(n_permutations=100)
    table = word_estimates(scores, lexicon=GENDER, inference=inference)
    for prompt, n, distance in (("open_ended", 221, 0.166), ("rewrite", 248, 0.078)):
        keys = {"source": "gossipcop", "model": "gpt-3.5-turbo", "prompt": prompt}
        row = row_of(table, "bias", **keys)
        assert row["n"] == n
        assert row["estimate"] == pytest.approx(distance, abs=0.0005)
    losses = claims.losses(scores)
    steps = losses.drop(columns=[*CELL, "bias", "pairs"])
    assert len(losses) == 13
    assert steps.to_numpy().sum() == losses["pairs"].sum() == len(generations) == 3091
