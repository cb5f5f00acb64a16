"""Texts at equal length, by plain loops, by scipy, and where nothing but length differs."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ttest_ind

from nbbias.news import shares, words
from tests.build import lexicon_of, pairs_of, read_of

GROUPS = ["a", "b"]
Text = list[list[int]]


def read(answers: list[Text], originals: list[Text]) -> object:
    """Texts as sentences of numbers of group words; sentences without any count as well."""
    rows = [
        (f"{side}{i}", at, "b", np.repeat(GROUPS, counts))
        for side, texts in (("h", answers), ("o", originals))
        for i, text in enumerate(texts)
        for at, counts in enumerate(text)
    ]
    sentences = pd.DataFrame(rows, columns=["text_id", "sentence_id", "bias", "group"])
    matches = sentences.explode("group").dropna()
    whole = read_of(pairs_of(len(answers)), matches, lexicon_of(2))
    return whole._replace(sentences=sentences[["text_id", "sentence_id"]])


def test_the_longer_text_is_read_in_passages_as_long_as_the_shorter() -> None:
    answer, original = [[1, 0], [0, 0]], [[0, 1], [0, 0], [0, 0], [3, 1]]
    both = words.compare_passages(read([answer, original], [original, answer]), "b", GROUPS)
    # Passages of the original: b alone; none; 3 of 4 are a.
    assert both["passage_a"].tolist() == pytest.approx([1 - (0 + 0.75) / 2, (0 + 0.75) / 2 - 1])
    assert both["passage_b"].tolist() == pytest.approx([-(1 + 0.25) / 2, (1 + 0.25) / 2])
    assert both["omission"].tolist() == pytest.approx([-1 / 3, 1 / 3])


def test_a_sentence_of_several_biases_counts_once() -> None:
    one = read([[[1, 0]] * 2], [[[1, 0], [0, 0], [0, 1]]])
    sentences = pd.concat([one.sentences] * 2, ignore_index=True)  # a row for each bias
    both = words.compare_passages(one._replace(sentences=sentences), "b", GROUPS)
    pd.testing.assert_frame_equal(both, words.compare_passages(one, "b", GROUPS))


def test_texts_without_group_words_are_omissions_or_no_pair() -> None:
    silent, named = [[0, 0], [0, 0]], [[1, 0], [0, 0], [0, 1]]
    table = words.compare_passages(read([silent, named, []], [named, silent, named]), "b", GROUPS)
    assert table["passage_a"].isna().tolist() == [True, True, True]
    assert table["omission"].tolist()[:1] == [1.0]  # no passage of two sentences is silent
    assert np.isnan(table["omission"][1])


def test_omissions_are_compared_between_originals_by_the_group_they_name_most() -> None:
    rng = np.random.default_rng(2)
    omission = pd.Series(rng.choice([0.0, 1.0, -0.2], 40))
    omission[3] = np.nan
    units = pd.DataFrame({"o_a": rng.integers(0, 4, 40), "o_b": rng.integers(0, 4, 40)})
    units = units.assign(omission=omission, article_id=units.index)
    more = units["o_a"] - units["o_b"]
    of_a, of_b = (omission[sign * more > 0].dropna() for sign in (1, -1))
    first, second = shares.omissions(units, GROUPS, confidence=0.95)
    expected = ttest_ind(of_a, of_b, equal_var=False)
    assert (first["statistic_value"], first["p_value"]) == pytest.approx(expected)
    assert first["values"].mean() == pytest.approx(first["estimate"])
    assert first["estimate"] == pytest.approx(of_a.mean() - of_b.mean()) == -second["estimate"]
    assert (first["n"], first["n_lost"]) == (len(of_a) + len(of_b), 40 - len(of_a) - len(of_b))
    few = units.assign(omission=np.where(units.index < 4, 1.0, 0.0))
    row = shares.omissions(few, GROUPS, confidence=0.95)[0]
    assert np.isnan(row["p_value"]) and "only one text has group" in row["reason"]
