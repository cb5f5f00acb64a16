"""Neutral prose beside LLMBI: read, cut to the answers' lengths, and scored as they are."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st
from textblob import TextBlob

from nbbias import llmbi
from nbbias.llmbi import scoring
from tests.llmbi.test_scoring import answers, write

PROSE = pd.Series(["good box bad table", "nice lamp old chair great floor dull wall"])


def polarities(n: int) -> list[float]:
    """Those of the windows of n of the twelve words, by the library."""
    words = " ".join(PROSE).split()
    return [TextBlob(" ".join(words[i : i + n])).sentiment.polarity for i in range(0, 12, n)]


def test_neutral_prose_is_the_column_text_without_gaps(tmp_path: Path) -> None:
    path = write(tmp_path, [{"text": "one"}, {"text": None}, {"text": "two"}])
    assert scoring.read_neutral(path).tolist() == ["one", "two"]


def test_the_reference_holds_every_window_of_every_length_once() -> None:
    table = scoring.neutral_reference(PROSE, lengths=pd.Series([4, 0, 3, 4]), scorers=["textblob"])
    # Twelve words: four windows of three, three windows of four.
    assert table["n"].tolist() == [3] * 4 + [4] * 3
    assert table["polarity_textblob"].tolist() == [*polarities(3), *polarities(4)]
    # Windows of three begin at words 0, 3, 6 and 9; the second text begins with word 4.
    assert table["passage"].tolist()[:4] == [0, 0, 1, 1]


def pools(*texts: str | None, **formula: Any) -> list[np.ndarray]:
    measured = scoring.measure(answers(*texts), scorers=["textblob"])
    reference = scoring.neutral_reference(PROSE, lengths=measured["n"], scorers=["textblob"])
    table = scoring.score_answers(measured, **formula)
    return [pool.to_numpy() for pool in scoring.neutral_pools(table, reference, **formula)]


def test_a_pool_is_what_the_formula_gives_to_windows_of_the_answers_length(tmp_path: Path) -> None:
    pool, other = pools("four words are here", "three words here")
    assert pool == pytest.approx([0.2 + 2.5 * abs(polarity) for polarity in polarities(4)])
    assert len(other) == 4
    path = write(tmp_path, [{"text": text} for text in PROSE])
    results = llmbi.measure(answers("four words are here"), neutral_path=str(path), confidence=0.9)
    ends = results.scores[["neutral_low", "neutral_high"]].to_numpy()[0]
    assert ends == pytest.approx(np.quantile(pool, [0.05, 0.95]))
    assert "LLM Bias Index" in results._repr_html_()


@pytest.mark.parametrize("weight", [0.0, 2.0, 18.0])
def test_a_pool_carries_its_dimensions_weight(weight: float) -> None:
    formula = {"diversity_penalty": 0.1, "lambda_factor": 0.5, "weights": {"D": weight}}
    (pool,) = pools("four words are here", **formula)
    expected = [0.1 + (weight + 0.5) * abs(polarity) for polarity in polarities(4)]
    assert pool == pytest.approx(expected)


def test_a_blank_answer_and_one_longer_than_the_prose_have_no_pool() -> None:
    assert [len(pool) for pool in pools("word " * 13, None, "one word")] == [0, 0, 6]


passages = st.lists(st.text(alphabet="ab \n\t", max_size=30), max_size=6)


@given(passages, st.integers(1, 7))
def test_windows_have_their_length_and_no_gap(texts: list[str], n_words: int) -> None:
    words = [word for text in texts for word in text.split()]
    windows = scoring.split_windows(texts, n_words=n_words)
    joined = " ".join(windows).split()
    assert {len(window.split()) for window in windows} <= {n_words}
    assert joined == words[: len(joined)] and len(words) - len(joined) < n_words


# --- the mean of prose, and what is put beside it ----------------------------------------------


def test_the_error_of_prose_is_that_of_a_mean_where_each_window_is_a_text() -> None:
    pool = pd.Series([0.1, 0.5, 0.9, 0.2])
    found = scoring.prose([pool], np.ones(1))
    assert found == pytest.approx((pool.mean(), pool.sem()))
    # Answers that weigh unlike share the chance of the same windows.
    assert scoring.prose([pool, pool], np.array([3.0, 1.0])) == pytest.approx(found)


def test_windows_alike_in_a_text_tell_no_more_than_one() -> None:
    one = scoring.prose([pd.Series([0.1, 0.5, 0.9])], np.ones(1))
    three = pd.Series([0.1, 0.5, 0.9] * 3, index=[0, 1, 2] * 3)
    assert scoring.prose([three], np.ones(1)) == pytest.approx(one)


@pytest.mark.parametrize("pools", [[], [pd.Series([1.0]), pd.Series(dtype=float)]])
def test_prose_shorter_than_an_answer_has_no_mean(pools: list[pd.Series]) -> None:
    assert np.isnan(scoring.prose(pools, np.ones(len(pools)))).all()


def test_prose_without_a_known_word_is_beside_no_ratio() -> None:
    of = scoring.Prose(0.2, 0.0)
    row = scoring.compare_with_prose(0.5, 0.1, 9, of, minimum=0.2, ratio=True, confidence=0.95)
    assert np.isfinite([row["ci_low"], row["ci_high"]]).all()
    assert np.isnan([row["p_value"], row["null_low"]]).all()
    # Nor is an estimate at the minimum: its logarithm is not finite.
    of, options = scoring.Prose(0.4, 0.05), {"minimum": 0.2, "confidence": 0.95}
    rows = [scoring.compare_with_prose(0.2, 0.1, 9, of, ratio=r, **options) for r in (True, False)]
    assert rows[0] == rows[1] and np.isfinite(list(rows[0].values())).all()
    # Nor have scores without variance an interval or a test.
    row = scoring.compare_with_prose(0.3, 0.0, 9, of, ratio=True, **options)
    ends = ("ci_low", "ci_high", "null_low", "null_high", "p_value")
    assert np.isnan([row[name] for name in ends]).all() and row["null"] == 0.4
