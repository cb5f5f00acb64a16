"""What a stage keeps comes back as it was, is of the kind that was expected, and runs nothing."""

from __future__ import annotations

import os
import pickle
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as arrays
from sklearn.linear_model import LogisticRegression

from nbbias.tables import digest, packed
from nbbias.text import topics

TABLE = pd.DataFrame(
    {
        "whole": [1, 2, 3],
        "text": ["x", None, "é\n"],
        "counted": pd.array([1, None, 3], dtype="Int64"),
        "kind": pd.Categorical(["u", "v", None], categories=["v", "u"], ordered=True),
        "share": [1.5, np.nan, np.inf],
        "words": [["a", "b"], ["c", "d"], []],
        "yes": [True, False, True],
        "maybe": pd.array([True, None, False], dtype="boolean"),
        "mixed": pd.Series([None, "z", 3], dtype=object),
        "day": pd.to_datetime(["2020-01-01", None, "2021-01-01"]),
        "single": np.array([1, 2, 3], dtype="float32"),
    }
)


@pytest.mark.parametrize(
    "table",
    [
        TABLE,
        TABLE.head(0),
        TABLE[[]],
        TABLE.iloc[::-1],
        TABLE.set_index(["whole", "text"]),
        TABLE.set_index("text"),
        pd.DataFrame(np.eye(2), columns=pd.RangeIndex(2, name="topic")),
        pd.DataFrame({("a", "b"): [1]}),
        pd.DataFrame({"a": [1]}).rename(columns={"a": 0}),
    ],
)
def test_a_table_comes_back_as_it_was(table: pd.DataFrame) -> None:
    again = packed.unpack(packed.pack(table), pd.DataFrame)
    pd.testing.assert_frame_equal(table, again, check_exact=True, check_column_type=True)
    assert digest(table) == digest(again)


class Pair(NamedTuple):
    """A named tuple of a table and what it was made by."""

    table: pd.DataFrame
    by: Any


@dataclass(frozen=True)
class Held:
    """A dataclass that holds another kind."""

    pairs: list[Pair]


def test_named_tuples_and_dataclasses_come_back_as_their_types() -> None:
    held = Held(
        [Pair(TABLE, {"n": (1, None), "m": [0.5], "r": range(2, 9, 3)}), Pair(TABLE.head(0), "x")]
    )
    again = packed.unpack(packed.pack(held), Held)
    assert isinstance(again, Held)
    assert all(isinstance(one, Pair) for one in again.pairs)
    assert again.pairs[0].by == {"n": (1, None), "m": [0.5], "r": range(2, 9, 3)}
    assert digest([*again.pairs[0]]) == digest([*held.pairs[0]])


@given(arrays.arrays(st.sampled_from(["f4", "f8", "i8", "u1", "?"]), arrays.array_shapes()))
def test_an_array_comes_back_to_the_bit(array: np.ndarray) -> None:
    again = packed.unpack(packed.pack(array), np.ndarray)
    assert again.dtype == array.dtype
    assert again.tobytes() == array.tobytes()
    assert again.shape == array.shape


plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: (
        st.lists(inner)
        | st.lists(inner).map(tuple)
        | st.dictionaries(st.text() | st.integers(), inner)
    ),
)


@given(plain)
def test_plain_values_come_back_with_their_types(value: Any) -> None:
    assert repr(packed.unpack(packed.pack(value), Any)) == repr(value)


def test_a_topic_model_infers_what_it_did() -> None:
    texts = pd.Series([["cat", "mouse", "cat"], ["ship", "sea", "ship"], ["cat", "sea"]] * 5)
    model = topics.fit(texts, n_topics=3, seed=1, no_below=1)
    again = packed.unpack(packed.pack(model), topics.TopicModel)
    assert digest(model) == digest(again)
    for truncated in (True, False):
        first, second = (topics.shares(one, texts, truncated=truncated) for one in (model, again))
        pd.testing.assert_frame_equal(first, second, check_exact=True)
    pd.testing.assert_frame_equal(topics.words(model), topics.words(again), check_exact=True)


@pytest.mark.parametrize(
    "kind", [pd.DataFrame, pd.Series, np.ndarray, Pair, Held, list, dict[str, Any]]
)
@pytest.mark.parametrize(
    "value", [TABLE, TABLE["text"], np.eye(2), Pair(TABLE, 1), [1], (1,), {}, "x", None]
)
def test_what_is_of_another_kind_is_no_value(value: Any, kind: Any) -> None:
    data = packed.pack(value)
    if isinstance(value, getattr(kind, "__origin__", kind)):
        packed.unpack(data, kind)
        return
    with pytest.raises((ValueError, TypeError)):
        packed.unpack(data, kind)


@pytest.mark.parametrize("value", [LogisticRegression(), object(), print, np.array([object()])])
def test_what_only_a_pickle_could_hold_is_refused(value: object) -> None:
    with pytest.raises(TypeError, match="cannot be kept"):
        packed.pack(value)


class Trap:
    """An object whose unpickling makes a folder."""

    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self.marker),)


def test_no_pickle_is_read(tmp_path: Path) -> None:
    marker = tmp_path / "ran"
    pickled = pickle.dumps(Trap(marker))
    inside = BytesIO()
    np.savez(inside, tree=np.array(Trap(marker), dtype=object), a0=np.array([Trap(marker)]))
    for data in (pickled, inside.getvalue()):
        for kind in (Any, pd.DataFrame, np.ndarray):
            with pytest.raises(Exception, match=r"."):
                packed.unpack(data, kind)
    assert not marker.exists()
    pickle.loads(pickled)  # the trap is one: read without care, it runs
    assert marker.is_dir()
