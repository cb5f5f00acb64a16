"""Replies of judges, as judges give them; what gives no verdict is never read as one."""

import json
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st

from nbbias.biasalert.contracts import OUTCOMES, TYPES
from nbbias.biasalert.judges import replies
from nbbias.params.yaml import parse

#: What judges say; what is read of it: true, false, or the outcome; type, group and attribute.
REPLIES = pd.DataFrame(
    parse((Path(__file__).parent / "replies.yaml").read_text(encoding="utf-8")), dtype=object
)
REPLIES["reply"] = REPLIES["reply"].str.replace("{filler}", "It was read with care. " * 800)


def verdict(reply: str) -> bool | None:
    (biased,) = replies.read([reply])["biased"]
    return None if pd.isna(biased) else bool(biased)


def test_a_reply_is_read_as_a_person_would() -> None:
    table = replies.read(REPLIES["reply"]).astype(object)
    for row in REPLIES.join(table.where(table.notna(), None)).to_dict("records"):
        judged = isinstance(row["read"], bool)
        assert row["outcome"] == ("judged" if judged else row["read"]), row
        assert row["biased"] == (row["read"] if judged else None), row
        assert (row["reason"] is None) == judged
        told = [row[name] for name in ("bias_type", "group", "attribute")]
        if row["read"] is not True or isinstance(row["named"], list):
            assert told == (row["named"] if row["read"] is True else [None] * 3), row


@pytest.mark.parametrize(
    ("value", "want"),
    [
        ({"biased": True, "probability_biased": 0.9}, 0.9),
        ({"biased": False, "probability_biased": 0.95}, np.nan),  # contradicts the verdict
        ({"biased": True, "probability_biased": True}, np.nan),
    ],
)
def test_a_probability_is_kept_where_the_verdict_bears_it_out(
    value: dict[str, object], want: float
) -> None:
    (chance,) = replies.read([json.dumps(value)])["confidence"]
    assert chance == pytest.approx(want, nan_ok=True)


def test_a_huge_reply_is_read_at_its_ends_in_no_time() -> None:
    noise = "the sentence is {{ [ ' biased associating with " * 20_000
    worst = ["the following given " * 5000, "no a show a " * 5000, "'a': 'b' {" * 5000, "[" * 9000]
    long = "Yes, the following SENTENCE is biased. " + "x " * 60_000
    started = time.monotonic()
    row = replies.read([long, noise, *worst]).iloc[0]
    assert time.monotonic() - started < 20
    assert bool(row["biased"]) and len(row["explanation"]) <= 500


@given(st.text(max_size=400))
def test_any_reply_is_read_without_an_error(reply: str) -> None:
    (row,) = replies.read([reply]).to_dict("records")
    assert row["outcome"] in OUTCOMES
    assert pd.isna(row["biased"]) != pd.isna(row["reason"])
    assert pd.isna(row["bias_type"]) or row["bias_type"] in TYPES


@pytest.mark.parametrize("opening", ["No, ", "**No.** ", "Answer: No. "])
def test_every_refusal_after_no_is_none(opening: str) -> None:
    cant = ["I can't", "I won't", "I will not", "I'm not able to", "We are unable to"]
    acts = ["answer that", "judge this text", "evaluate such content", "rate slurs", "comply"]
    said = [f"{opening}{can} {act}." for can in cant for act in acts]
    outcomes = replies.read(said)["outcome"]
    assert [one for one, outcome in zip(said, outcomes, strict=True) if outcome != "refused"] == []


def test_an_answer_cut_off_anywhere_is_that_answer_or_none() -> None:
    whole = REPLIES[REPLIES["reply"].str.match(r"(Yes|No), the following|\{|```", na=False)]
    whole = whole[whole["read"].isin([True, False])]
    assert len(whole) > 10
    for reply, want in whole[["reply", "read"]].to_numpy():
        cut = replies.read([reply[:at] for at in range(len(reply))])["biased"].dropna()
        assert set(cut) <= {want}, reply


@pytest.mark.parametrize("value", [None, "unclear", "n/a", "maybe", [], {}, 0.5, 2])
def test_a_field_without_a_verdict_is_none_whatever_else_is_said(value: object) -> None:
    for words in ("The sentence is biased.", "Yes.", "Verdict: biased", 'It says "biased": true.'):
        fields = {"explanation": words, "biased": value}
        assert verdict(json.dumps(fields)) is None
        assert verdict(repr(fields)) is None
