"""What the parser makes of judges' replies."""

import math
import time

import pandas as pd
import pytest
from hypothesis import given, strategies as st

from nbbias.cogs import replies as cogs_replies

#: Replies as judges write them, the number of choices, and the position, or a word of the reason.
REPLIES: list[tuple[str | None, int, int | str]] = [
    # the form that was asked for
    ('{"choice": 2, "explanation": "more original than choice 1"}', 3, 2),
    ("Answer choice: 2\nExplanation: It keeps the form and its image stays.", 3, 2),
    ("Answer choice: Choice 1\nExplanation: Vivid; choice 2 and choice 3 are flatter.", 3, 1),
    ("Answer choice: [choice 2]", 3, 2),
    ("Answer choice 3\nExplanation: choice 3 has the clearest rules.", 3, 3),
    ("Answer choice:\nChoice 2\nExplanation:\nIt has the best rhythm.", 3, 2),
    ("Answer choice = 1", 2, 1),
    ("Choice 1: good imagery. Choice 2: weak. Choice 3: solid.\nFinal answer: Choice 3", 3, 3),
    # no label, and a line that holds nothing but a choice
    ("**Choice 3**\n\nUnlike choice 1, it names a season.", 3, 3),
    ("2.", 3, 2),
    ("\\boxed{2}", 3, 2),
    # thinking aloud, changing one's mind
    ("<think>Choice 1 is good. Answer: 1.</think>Answer choice: 2", 3, 2),
    ("Answer choice: 1. Wait, on reflection the form is wrong. Answer choice: 2", 3, 2),
    # contradictions, and choices that are not there
    ("Answer choice: 1 and 2", 3, "more than one"),
    ("Answer choice: choice 1 or choice 3", 3, "more than one"),
    ("Choice 1\nVivid.\nChoice 2\nFlat.", 2, "more than one"),
    ("Answer choice: 4", 3, "not there: 4"),
    ("Answer choice: 0", 3, "not there: 0"),
    # blank
    (None, 3, "blank"),
    ("   \n", 3, "blank"),
    # all else is unreadable
    ("<think>Hmm, choice 1 or choice 2", 3, "no decision"),
    ("Choice 1 is witty, but I would go with choice 2.", 2, "no decision"),
    ("Choice 1: 8/10. Choice 2: 9/10. Choice 3: 7/10.", 3, "no decision"),
    ("The choice is between choice 1 and choice 2.", 2, "no decision"),
    (
        "Please choose one of the choices based on the following criteria. Make sure to select "
        'only one choice between choice 1, choice 2, choice 3. End with {"choice": n}.',
        3,
        "no decision",
    ),
]


@pytest.mark.parametrize(("reply", "n", "expected"), REPLIES)
def test_a_reply_is_read_as_it_was_meant(reply: str | None, n: int, expected: int | str) -> None:
    position, reason = cogs_replies.decision(reply, n=n)
    if isinstance(expected, int):
        assert (position, reason) == (expected, None)
    else:
        assert math.isnan(position)
        assert expected in str(reason)


@given(st.text(max_size=200), st.integers(2, 8))
def test_any_text_gives_a_position_that_is_there_or_a_reason(reply: str, n: int) -> None:
    position, reason = cogs_replies.decision(reply, n=n)
    assert (position in range(1, n + 1)) != bool(reason)


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
