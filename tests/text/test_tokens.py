"""Words end to end against lists of words."""

from __future__ import annotations

import numpy as np
import pandas as pd
from hypothesis import given, strategies as st

from nbbias.tables import stages
from nbbias.text import tokens

LISTS = st.lists(st.lists(st.sampled_from(["sea", "ship", "", "é", "a b"]), max_size=4), max_size=6)


def series(texts: list[list[str]]) -> pd.Series:
    return pd.Series(texts, index=[f"t{i}" for i in range(len(texts))], dtype=object)


@given(LISTS)
def test_lists_there_and_back(texts: list[list[str]]) -> None:
    one = tokens.of_lists(series(texts))
    assert tokens.lists(one).tolist() == texts
    assert one.words == sorted({word for own in texts for word in own})
    assert (one.ids.dtype, one.starts.dtype) == (np.int32, np.int64)
    assert tokens.of_lists(one) is one


@given(LISTS, st.data())
def test_taken_texts_are_those_of_the_lists(texts: list[list[str]], data: st.DataObject) -> None:
    whole = tokens.of_lists(series(texts))
    places = st.integers(0, max(len(texts) - 1, 0))
    at = data.draw(st.lists(places, max_size=8 if texts else 0))
    taken = tokens.lists(tokens.take(whole, at))
    assert taken.tolist() == [texts[i] for i in at]
    assert taken.index.tolist() == [f"t{i}" for i in at]
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=len(texts), max_size=len(texts))))
    kept = tokens.lists(tokens.take(whole, mask.astype(bool)))
    assert kept.tolist() == [own for own, yes in zip(texts, mask, strict=True) if yes]


def test_a_stage_keeps_them_and_tells_them_apart() -> None:
    one = tokens.of_lists(series([["sea", "ship"], [], ["sea"]]))
    again = tokens.Tokens.of_parts(one.parts())
    pd.testing.assert_series_equal(tokens.lists(again), tokens.lists(one))
    assert stages.digest(again) == stages.digest(one)
    other = tokens.of_lists(series([["sea"], ["ship"], ["sea"]]))
    assert stages.digest(other) != stages.digest(one)
