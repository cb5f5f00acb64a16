"""Chance by whole sentences against enumeration: every way to deal a pair's sentences out."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import pytest

from nbbias import stats, tables
from nbbias.news import corpus, words
from nbbias.text import lexicons
from tests.build import GROUPS, lexicon_of, matches_of, pairs_of, read_of, row_of
from tests.news.test_words import estimated

#: A text: its sentences, each the counts of its group words.
Text = list[list[int]]


def matches_in(texts: dict[str, Text]) -> pd.DataFrame:
    rows = [
        (name, i, "b", group)
        for name, sentences in texts.items()
        for i, sentence in enumerate(sentences)
        for group, n in zip(GROUPS, sentence, strict=False)
        for _ in range(n)
    ]
    return pd.DataFrame(rows, columns=["text_id", "sentence_id", "bias", "group"])


def by_sentence(h: list[Text], o: list[Text], groups: int = 2, **settings: Any) -> pd.DataFrame:
    """Chance of the pairs of the texts h and o, by default of one model."""
    columns = settings.pop("columns", {})
    texts = {f"{side}{i}": one for side, all_ in (("h", h), ("o", o)) for i, one in enumerate(all_)}
    read = read_of(pairs_of(len(h), **columns), matches_in(texts), lexicon_of(groups))
    return dealt_in(read, **settings)


def dealt_in(read: corpus.Read, **settings: Any) -> pd.DataFrame:
    """The estimates, each beside its chance level by sentences where it has one."""
    inference = stats.InferenceSettings(**({"n_permutations": 200, "seed": 1} | settings))
    scores = words.pair_scores(read)
    found = words.estimates(scores, lexicon=read.lexicon, inference=inference)
    chance = words.by_sentence(scores, read, inference=inference)
    return tables.with_chance(found, chance, lead=["sentences"])


def only(table: pd.DataFrame) -> pd.Series:
    (row,) = table[table["statistic"] == "bias"].to_dict("records")
    return pd.Series(row)


def dealt(h: Text, o: Text) -> list[tuple[np.ndarray, np.ndarray]]:
    """The counts of both sides in every possible deal, as many sentences to each as it had."""
    both, n = np.array([s for s in h + o if any(s)]), sum(any(s) for s in h)
    found = []
    for deal in combinations(range(len(both)), n):
        mine = both[list(deal)].sum(axis=0)
        found.append((mine, both.sum(axis=0) - mine))
    return found


def deals(h: Text, o: Text) -> np.ndarray:
    """The distance of every possible deal."""
    return np.array([np.abs(a / a.sum() - b / b.sum()).sum() / 2 for a, b in dealt(h, o)])


ANSWER, ORIGINAL = [[2, 0], [0, 1], [0, 0], [1, 1]], [[1, 1], [0, 3]]
FIVE_H, FIVE_O = (
    [[1, 0, 0, 2, 0], [0, 1, 0, 0, 1], [3, 0, 0, 0, 0]],
    [[0, 0, 2, 0, 0], [1, 1, 1, 1, 1]],
)


@pytest.mark.parametrize(("h", "o"), [(ANSWER, ORIGINAL), (ORIGINAL, ANSWER), (FIVE_H, FIVE_O)])
def test_chance_is_the_mean_of_every_possible_deal(h: Text, o: Text) -> None:
    draws = 20_000
    row = only(by_sentence([h], [o], len(h[0]), n_permutations=draws))
    exact = deals(h, o)
    assert row["null"] == pytest.approx(exact.mean(), abs=4 * exact.std() / np.sqrt(draws))


def test_the_range_of_chance_holds_the_middle_of_the_deals() -> None:
    # One pair, few sentences: the drawn means are the deals themselves.
    row = only(by_sentence([ANSWER], [ORIGINAL], n_permutations=20_000, confidence=0.5))
    low, high = np.quantile(deals(ANSWER, ORIGINAL), [0.25, 0.75], method="nearest")
    assert (row["null_low"], row["null_high"]) == pytest.approx((low, high))


def test_chance_of_several_pairs_is_the_mean_of_their_chances() -> None:
    rows = by_sentence([ANSWER, ORIGINAL], [ORIGINAL, ORIGINAL], n_permutations=20_000)
    expected = (deals(ANSWER, ORIGINAL).mean() + deals(ORIGINAL, ORIGINAL).mean()) / 2
    spread = (
        np.hypot(deals(ANSWER, ORIGINAL).std(), deals(ORIGINAL, ORIGINAL).std())
        / 2
        / np.sqrt(20_000)
    )
    assert only(rows)["null"] == pytest.approx(expected, abs=4 * spread)


def test_sentences_of_one_word_have_the_chance_of_single_words() -> None:
    h, o = [[3, 1], [0, 2]], [[1, 2], [2, 2]]
    read = read_of(pairs_of(2), matches_of(h, o), lexicon_of(2))
    table = dealt_in(read, n_permutations=20_000)
    by_word = row_of(estimated(words.pair_scores(read), 2), "bias")
    # The distance lies in [0, 1], so its mean over 20,000 draws has an error of at most .0036.
    assert only(table)["null"] == pytest.approx(by_word["null"], abs=4 * 0.0036)


def test_words_that_come_in_clusters_make_chance_larger() -> None:
    h, o = [[4, 0], [0, 4], [4, 0]], [[0, 4], [4, 0], [0, 4]]
    matches = matches_in({"h0": h, "o0": o})
    scores = words.pair_scores(read_of(pairs_of(1), matches, lexicon_of(2)))
    by_word = row_of(estimated(scores, 2), "bias")
    assert only(by_sentence([h], [o]))["null"] > by_word["null_high"]


def test_texts_of_one_sentence_each_can_only_change_places() -> None:
    row = only(by_sentence([[[3, 0]]], [[[0, 2]]]))
    assert (row["estimate"], row["null"]) == (1, 1)
    assert row["excess"] == 0


def test_equal_sentences_differ_in_no_deal() -> None:
    row = only(by_sentence([[[2, 1]] * 3], [[[2, 1]] * 2]))
    assert (row["estimate"], row["null"], row["null_high"]) == (0, 0, 0)


def test_lower_bounds_have_a_range_and_no_p() -> None:
    # Sentences and words dealt anew know neither runs nor a text's focus.
    table = by_sentence([ANSWER, ORIGINAL], [ORIGINAL, ANSWER], columns={"model": ["x", "y"]})
    own = table[table["statistic"] == "bias"]
    assert own["null_low"].notna().all()
    assert own[["p_value", "p_adjusted"]].isna().all(axis=None)


def test_estimate_interval_and_n_are_those_of_the_distance() -> None:
    h, o = [ANSWER, ORIGINAL, [[0, 0]], ANSWER], [ORIGINAL, ANSWER, ANSWER, ANSWER]
    models = {"model": ["x", "x", "x", "y"]}
    texts = {f"h{i}": one for i, one in enumerate(h)} | {f"o{i}": one for i, one in enumerate(o)}
    read = read_of(pairs_of(4, **models), matches_in(texts), lexicon_of(2))
    by_word = estimated(words.pair_scores(read), 2)
    found = by_sentence(h, o, columns=models)
    assert (found["statistic"] == "bias").sum() == 2
    for model in "xy":
        row, other = row_of(found, "bias", model=model), row_of(by_word, "bias", model=model)
        same = ["estimate", "ci_low", "ci_high", "n", "n_lost"]
        assert row[same].tolist() == pytest.approx(other[same].tolist(), nan_ok=True)
        assert row["excess"] == pytest.approx(row["estimate"] - row["null"])


def of(table: pd.DataFrame, statistic: str, group: str) -> pd.Series:
    return row_of(table, f"{statistic}", group=group)


@pytest.mark.parametrize(("h", "o"), [(ANSWER, ORIGINAL), (FIVE_H, FIVE_O)])
def test_chance_of_prejudice_is_that_of_every_possible_deal(h: Text, o: Text) -> None:
    table = by_sentence([h], [o], len(h[0]), n_permutations=20_000)
    for i, group in enumerate(GROUPS[: len(h[0])]):
        if not sum(sentence[i] for sentence in o):
            continue
        changes = np.array([a[i] / a.sum() - b[i] / b.sum() for a, b in dealt(h, o) if b[i]])
        falls = changes[changes < -1e-12]
        # The distance of a share or a change from its mean is below 1, and few deals fall away.
        error = 4 / np.sqrt(10_000)
        expected = len(falls) / len(changes)
        assert of(table, "prejudice_share", group)["null"] == pytest.approx(expected, abs=error)
        if len(falls):
            null = of(table, "prejudice_extent", group)["null"]
            assert null == pytest.approx(falls.mean(), abs=error)


def test_every_estimate_by_sentence_is_the_one_by_words() -> None:
    h, o = [ANSWER, ORIGINAL, [[0, 0]], ANSWER, [[3, 0]]], [ORIGINAL, *[ANSWER] * 3, [[0, 1]]]
    texts = {f"h{i}": one for i, one in enumerate(h)} | {f"o{i}": one for i, one in enumerate(o)}
    scores = words.pair_scores(read_of(pairs_of(5), matches_in(texts), lexicon_of(2)))
    by_word, found = estimated(scores, 2), by_sentence(h, o)
    same = ["estimate", "ci_low", "ci_high", "n", "n_lost"]
    for statistic in ("prejudice_share", "prejudice_extent"):
        for group in "ab":
            one = row_of(by_word, statistic, group=group)
            other = of(found, statistic, group)
            assert other[same].tolist() == pytest.approx(one[same].tolist(), nan_ok=True)


def test_an_empty_cell_has_the_rows_that_a_measured_one_has() -> None:
    measured, empty = by_sentence([ANSWER], [ORIGINAL]), by_sentence([[[0, 0]]], [ORIGINAL])
    keys = ["statistic", "group"]
    assert empty[keys].fillna("").to_numpy().tolist() == (
        measured[keys].fillna("").to_numpy().tolist()
    )
    assert empty["estimate"].isna().all()
    assert empty["reason"].notna().all()
    assert (empty["n_lost"] == 1).all()


def test_repeated_answers_are_dealt_out_together() -> None:
    # Two samples with two sentences and one: as one answer with the three.
    columns = {"article_id": "1", "sample": [1, 2], "original_id": "o0"}
    samples = by_sentence([ANSWER[:2], ANSWER[2:]], [ORIGINAL, []], columns=columns)
    whole = by_sentence([ANSWER], [ORIGINAL], columns={"article_id": "1"})
    pd.testing.assert_frame_equal(samples, whole)


def test_a_group_that_no_sentence_names_changes_nothing() -> None:
    wide = (
        [[*sentence, 0, 0, 0] for sentence in ANSWER],
        [[*sentence, 0, 0, 0] for sentence in ORIGINAL],
    )
    one, other = only(by_sentence([ANSWER], [ORIGINAL])), only(by_sentence([wide[0]], [wide[1]], 5))
    values = ["estimate", "null", "null_low", "null_high"]
    assert one[values].tolist() == pytest.approx(other[values].tolist())


def test_without_group_words_nothing_is_measured_and_it_says_why() -> None:
    row = only(by_sentence([[[0, 0]], [[0, 0]]], [[[0, 0]], [[1, 0]]]))
    assert np.isnan([row["estimate"], row["null"], row["null_low"], row["p_value"]]).all()
    assert (row["n"], row["n_lost"]) == (0, 2)
    assert isinstance(row["reason"], str)


def test_lost_pairs_are_left_out_and_counted() -> None:
    lost = pd.Series([None, "repeated id"], dtype="str")
    row = only(
        by_sentence(
            [ANSWER, [[5, 0]]], [ORIGINAL, [[0, 5]]], columns={"lost": lost}, n_permutations=20_000
        )
    )
    assert (row["n"], row["n_lost"]) == (1, 1)
    exact = deals(ANSWER, ORIGINAL)
    assert row["null"] == pytest.approx(exact.mean(), abs=4 * exact.std() / np.sqrt(20_000))


def test_one_pair_has_a_chance_level_but_no_interval() -> None:
    row = only(by_sentence([ANSWER], [ORIGINAL]))
    assert np.isnan([row["ci_low"], row["ci_high"]]).all()
    assert np.isfinite(row["null"])
    assert np.isnan(row["p_value"])  # a lower bound of chance is no test


def test_the_same_seed_gives_the_same_table_and_another_seed_another() -> None:
    one, same, other = (by_sentence([ANSWER], [ORIGINAL], seed=seed) for seed in (1, 1, 2))
    pd.testing.assert_frame_equal(one, same)
    assert one["null"].tolist() != other["null"].tolist()


def test_draws_in_blocks_are_the_draws_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    pair = [ANSWER, ORIGINAL, ANSWER], [ORIGINAL, ANSWER, ANSWER]
    whole = by_sentence(*pair, n_permutations=1000)
    monkeypatch.setattr(stats.permutation, "_HELD", 100)
    pd.testing.assert_frame_equal(by_sentence(*pair, n_permutations=1000), whole)


def test_no_pairs_at_all_give_an_empty_table() -> None:
    assert len(by_sentence([], [])) == 0


def test_sentences_are_those_of_the_texts() -> None:
    # Two sentences with women, two with men on either side: all deals by hand are those of
    # [2, 0], [0, 1] against [1, 0], [0, 2]; the third sentence of the answer names nobody.
    pairs = corpus.pair(
        pd.DataFrame({"source": ["s"], "article_id": ["1"], "text": ["She ran. His son sat."]}),
        pd.DataFrame(
            {
                "source": ["s"],
                "article_id": ["1"],
                "model": ["m"],
                "prompt": ["p"],
                "sample": [1],
                "text": ["Her aunt left! He stood. Rain fell."],
            }
        ),
    )
    lexicon = lexicons.load("gender")
    table = dealt_in(corpus.annotate(pairs, lexicon=lexicon), n_permutations=20_000)
    exact = deals([[2, 0], [0, 1], [0, 0]], [[1, 0], [0, 2]])
    assert only(table)["null"] == pytest.approx(exact.mean(), abs=4 * exact.std() / np.sqrt(20_000))
