"""Windows of reference prose, by their definition."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from nbbias.llmbi.neutral import split_windows

passages = st.lists(st.text(alphabet="ab \n\t", max_size=30), max_size=6)


def test_windows_follow_each_other_and_a_remainder_is_left_out() -> None:
    assert split_windows(["one two three", "four five"], n_words=2) == ["one two", "three four"]
    assert split_windows(["one two"], n_words=3) == split_windows([], n_words=1) == []


@given(passages, st.integers(1, 7))
def test_windows_have_their_length_and_no_gap(texts: list[str], n_words: int) -> None:
    words = [word for text in texts for word in text.split()]
    windows = split_windows(texts, n_words=n_words)
    joined = " ".join(windows).split()
    assert {len(window.split()) for window in windows} <= {n_words}
    assert joined == words[: len(joined)] and len(words) - len(joined) < n_words


def test_a_window_without_words_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        split_windows(["one"], n_words=0)
