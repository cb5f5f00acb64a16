"""What the parser makes of judges' replies."""

import math
import time

import pandas as pd
import pytest
from hypothesis import given, strategies as st

from nbbias.cogs import replies as cogs_replies
from tests.cogs.replies import REPLIES


@pytest.mark.parametrize(("reply", "n", "expected"), REPLIES)
def test_a_reply_is_read_as_it_was_meant(reply: str | None, n: int, expected: int | str) -> None:
    found = cogs_replies.decision(reply, n=n)
    if isinstance(expected, int):
        assert found == (expected, None)
    else:
        assert math.isnan(found.position)
        assert expected in str(found.reason)


@given(st.text(max_size=200), st.integers(2, 8))
def test_any_text_gives_a_position_that_is_there_or_a_reason(reply: str, n: int) -> None:
    found = cogs_replies.decision(reply, n=n)
    assert (found.position in range(1, n + 1)) != bool(found.reason)


@pytest.mark.parametrize(
    "part", ["choice 1 > ", "answer choice: ", "answer: (", "(", "answer ", " ", "1 or ", "is "]
)
def test_long_hostile_text_is_read_in_no_time(part: str) -> None:
    start = time.perf_counter()
    cogs_replies.decision(part * (40_000 // len(part)) + "x", n=3)
    assert time.perf_counter() - start < 1


def test_a_table_keeps_its_index_and_counts_nothing_twice() -> None:
    replies = {7: "Answer choice: 1", 3: None}
    table = cogs_replies.decisions(pd.Series(replies), n=[2, 2])
    assert list(table.index) == [7, 3]
    assert table["position"].tolist()[0] == 1
    assert table["reason"].isna().tolist() == [True, False]
    assert table.loc[3, "reason"] == "the reply is blank"
