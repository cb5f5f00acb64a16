"""What differs between two sets of parameters, as a name: whatever the values hold."""

import string
from typing import Any

import pytest
from hypothesis import given, strategies as st
from pydantic import Field

from nbbias import llmbi, params
from nbbias.params import Parameters

#: What the strictest of the usual file systems takes, and nothing that a shell must quote.
LEGAL = set(string.ascii_letters + string.digits + "_.=,+-")


class Study(Parameters):
    """One parameter of each kind."""

    number: float = 1.5
    count: int = 1
    switch: bool = False
    text: str = "plain"
    maybe: str | None = None
    names: list[str] = Field(["a"])
    numbers: list[float] = Field([])
    paths: dict[str, str] = Field({})


ANY = st.text(max_size=200) | st.sampled_from(
    ["", ".", "../..", "/", "CON", "a.failed", "a.", "a ", "A", "a", "x,count=2", "a+b", "0.5"]
)
SETS = st.fixed_dictionaries(
    {},
    optional={
        "number": st.floats(allow_nan=False, allow_infinity=False),
        "count": st.integers(),
        "switch": st.booleans(),
        "text": ANY,
        "maybe": st.none() | ANY,
        "names": st.lists(ANY, max_size=5),
        "numbers": st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=50),
        "paths": st.dictionaries(ANY, ANY, max_size=3),
    },
)


def name(values: dict[str, Any]) -> str:
    return params.name_differences(Study(**values))


@given(SETS, SETS)
def test_names_are_legal_and_two_sets_have_one_only_if_they_are_the_same(
    first: dict[str, Any], second: dict[str, Any]
) -> None:
    told = name(first)
    assert set(told) <= LEGAL
    assert len(told) <= 80
    # Whole names begin with the run's: a name never ends as a kept failure's or in a dot.
    assert not told.endswith((".", ".failed"))
    same = Study(**first).model_dump() == Study(**second).model_dump()
    # On a file system that takes capitals for small letters, too.
    assert (name(first).lower() == name(second).lower()) == same


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({}, ""),
        ({"switch": True, "names": ["words", "tone"]}, "switch=true,names=words+tone"),
        ({"text": "C:\\my data\\answers.json"}, "text=answers.json-"),
        ({"text": "who: me?\n"}, "text=who_me_-"),
        ({"paths": {"gender": "a.csv"}}, "paths=1-"),
    ],
)
def test_a_name_can_be_read(values: dict[str, Any], expected: str) -> None:
    told = name(values)
    assert told[: len(expected)] == expected
    assert len(told) == len(expected) + 8 * expected.endswith("-")


def test_what_an_older_run_did_not_know_counts_only_if_it_is_not_the_default() -> None:
    known = llmbi.params.Llmbi().model_dump()
    known.pop("aggregation")
    assert params.name_differences(llmbi.params.Llmbi(), known) == ""
    changed = llmbi.params.Llmbi(aggregation="sum")
    assert params.name_differences(changed, known) == "aggregation=sum"
    # Nor does one that is no more.
    assert params.name_differences(llmbi.params.Llmbi(), known | {"gone": 1}) == ""
