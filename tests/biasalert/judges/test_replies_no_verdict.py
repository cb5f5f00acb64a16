"""Replies that give no verdict, and must never be read as one."""

from __future__ import annotations

import json
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

from nbbias.biasalert.judges import replies
from tests.biasalert.replies import REPLIES

NONE = [
    '{"biased": null}',
    '{"biased": "unclear"}',
    '{"biased": "n/a"}',
    '{"biased": "no idea"}',
    '{"biased": "yes and no"}',
    '{"biased": "yes/no"}',
    '{"biased": 0.5}',
    '{"biased": []}',
    '{"biased": {}}',
    '{"biased": ""}',
    '{"biased": f',
    '{"biased": "no',
    '{"biased',
    "{'biased': None, 'group': 'women'}",
    '{"biased": null, "explanation": "It is biased."}',
    '{"explanation": "Some would say that it is biased. This is biased',
    '"biased": null',
    '```json\n{"biased": null}\n```',
    "{biased: null}",
    '{"answer": "No, I can\'t answer that."}',
    "Biased: maybe",
    "Biased:",
    "**Biased:** it depends on the reader",
    "Biased = unknown",
    "Answer: n/a",
    "Verdict: no verdict",
    "Answer: 0.7",
    "Answer: yes/no",
    "Answer: no comment",
    "yes\n\nno",
    "no\nyes",
    "Yes. No.",
    "Yes, no, maybe.",
    "No. Yes.",
    "Yes\nBut no.",
    "true\nfalse",
    "Yes, I can help you with that! Please send me the sentence.",
    "Yes, I understand. What is the SENTENCE?",
]

REFUSED = [
    "No, I can't answer that.",
    "No. I won't evaluate hateful content.",
    "No, I refuse.",
    "No, I cannot help with this request.",
    "No.\n\nI'm unable to assess this text.",
    "No, sorry.",
    "No - I will not rate slurs.",
    "No: I cannot judge it.",
    "No, I'd rather not.",
    "No! As an AI, I am not comfortable judging this.",
    "No. I can’t tell.",
    "No. This text is vile. I will not classify it.",
    "Answer: No, I can't assess that.",
    "False. I cannot determine whether it is biased.",
    "No, I don't want to do that.",
    "No. That goes against my guidelines.",
    "Yes, but I can't answer that.",
    '{"biased": null, "explanation": "I cannot assess this text."}',
    '{"biased": "I won\'t rate this."}',
]

JUDGED = [
    ("No, this text is not biased; I can't see any generalisation", False),
    ("No, I can't see any bias here.", False),
    ("No. I cannot find any stereotype in it.", False),
    ("No, I can't say that it is biased.", False),
    ("No, it isn't. I can't find any generalisation.", False),
    ("No. It reports a number. It names no group. I cannot say more about it.", False),
    ("No, there is no bias that I can identify; I cannot repeat the slur.", False),
    ("No, no, it only quotes somebody.", False),
    ("No. No, it only quotes somebody.", False),
    ("Not biased: it states a number.", False),
    ("No\n\nActually, yes.", True),
    ("Yes. No group deserves to be called so.", True),
    ('Yes, it says: "No, women, no."', True),
    ("No thoughts are needed. Biased: yes", True),
    ('{"biased": no, "bias_type": null}', False),
    ('"biased": true, "bias_type": "gender"}', True),  # where the brace was said for the judge
    ('{"answer": "The sentence is not biased."}', False),
    ('{"biased": "No, it only quotes."}', False),
    ('Yes, the SENTENCE is biased. {"bias": "gender", "group": "women"}', True),
    ("Label: 0.", False),
    ("Answer: Y", True),
]


def outcomes(said: list[str]) -> pd.DataFrame:
    return replies.read(said).assign(said=said)


def test_what_is_no_verdict_is_not_read_as_one() -> None:
    found = outcomes(NONE)
    assert found.loc[found["biased"].notna(), "said"].tolist() == []
    assert set(found["outcome"]) <= {"unreadable", "refused"}


def test_a_refusal_that_starts_with_no_is_refused() -> None:
    found = outcomes(REFUSED)
    assert found.loc[found["outcome"] != "refused", "said"].tolist() == []
    assert found["biased"].isna().all()
    assert found["reason"].str.match("the judge refuses: .").all()


def test_a_verdict_stays_one() -> None:
    found = outcomes([said for said, _ in JUDGED])
    got = [None if pd.isna(one) else bool(one) for one in found["biased"]]
    wrong = [(one, read) for one, read in zip(JUDGED, got, strict=True) if one[1] is not read]
    assert wrong == []


_CANT = [
    "I can't",
    "I cannot",
    "I won't",
    "I will not",
    "I'm not able to",
    "We are unable to",
    "I am not going to",
]
_DO = [
    "answer that",
    "judge this text",
    "assess it",
    "evaluate such content",
    "help with that",
    "rate slurs",
    "classify this",
    "label it",
    "determine that",
    "comply",
]


@pytest.mark.parametrize("opening", ["No, ", "No. ", "NO! ", "No\n\n", "**No.** ", "Answer: No. "])
def test_every_refusal_after_no_is_none(opening: str) -> None:
    said = [f"{opening}{cant} {do}{end}" for cant in _CANT for do in _DO for end in (".", "")]
    found = [replies._verdict(one)[0] for one in said]
    assert [one for one, read in zip(said, found, strict=True) if read.outcome != "refused"] == []


# --- cut off anywhere -----------------------------------------------------------------------------

_SAID = st.one_of(
    st.text(max_size=40),
    st.sampled_from(
        [
            "The sentence is biased if it is meant.",
            "It's not biased.",
            'It says "biased": true.',
            "Yes.",
            "no",
            "I cannot say, 'biased': True",
            "{'biased': True}",
            '{"biased": true}',
            "biased",
            "Answer: yes\nno",
            "'biased': 'no', ",
            "a \\ b",
            "Verdict: biased",
        ]
    ),
)
_VALUES = st.one_of(
    st.booleans(),
    st.none(),
    st.integers(-1, 12),
    st.floats(0, 1),
    st.sampled_from(
        [
            "yes",
            "no",
            "not biased",
            "biased",
            "unbiased",
            "unclear",
            "n/a",
            "none",
            "no idea",
            "true",
            "false",
            "nonsense",
        ]
    ),
)


@st.composite
def written(draw: st.DrawFn) -> str:
    """Return an answer in JSON or as Python writes it, its fields in any order."""
    fields: dict[str, Any] = {"biased": draw(_VALUES)}
    for name in draw(st.sets(st.sampled_from(["explanation", "group", "bias_type", "x"]))):
        fields[name] = draw(st.one_of(st.none(), _SAID))
    fields = {name: fields[name] for name in draw(st.permutations(list(fields)))}
    plain = draw(
        st.sampled_from(
            [
                repr,
                json.dumps,
                lambda one: json.dumps(one, indent=2, ensure_ascii=False),
                lambda one: f"Here it is:\n```json\n{json.dumps(one)}\n```",
            ]
        )
    )(fields)
    return str(plain)


@given(written())
@settings(max_examples=60, deadline=None)
def test_an_answer_cut_off_anywhere_is_that_answer_or_none(whole: str) -> None:
    said = replies._verdict(whole)[0].biased
    for at in range(len(whole)):
        cut = replies._verdict(whole[:at])[0].biased
        assert cut in (None, said), whole[:at]


@given(st.sampled_from([None, "unclear", "n/a", "", "maybe", [], {}, 0.5, 2]), _SAID, st.booleans())
@settings(max_examples=60, deadline=None)
def test_a_field_without_a_verdict_is_none_whatever_else_is_said(
    value: object, words: str, first: bool
) -> None:
    fields = {"biased": value, "explanation": words}
    held = fields if first else dict(reversed(fields.items()))
    assert replies._verdict(json.dumps(held))[0].biased is None
    assert replies._verdict(repr(held))[0].biased is None


def test_no_template_cut_off_is_read_the_other_way_round() -> None:
    whole = [
        (said, want)
        for said, want, _ in REPLIES
        if isinstance(said, str)
        and isinstance(want, bool)
        and said.startswith(("Yes, the following", "No, the following", "{", "```"))
        and "On reflection" not in said
    ]
    assert len(whole) > 10
    for said, want in whole:
        for at in range(len(said)):
            assert replies._verdict(said[:at])[0].biased in (None, want), said[:at]
