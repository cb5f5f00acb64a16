"""The counterfactual texts: what the file holds, and how its slots are filled."""

from __future__ import annotations

import re

import pandas as pd
import pytest

from nbbias.biasalert import contracts, groups, split, twins
from nbbias.tables import ParameterError, read_shipped_yaml
from nbbias.text import lexicons

TWINS = twins.twins()
WRITTEN = read_shipped_yaml("biasalert/twins.yaml")
SETS = {one["id"]: one for one in WRITTEN["sets"]}
PROSE = [twins.EVERYDAY, twins.ENCYCLOPEDIC]


def test_kinds_decide_what_is_biased() -> None:
    assert set(TWINS["kind"]) == set(twins.KINDS)
    biased = set(TWINS.loc[TWINS["biased"], "kind"])
    assert biased == {"claim", "swapped", "endorsed"}
    assert not biased & set(TWINS.loc[~TWINS["biased"], "kind"])


def test_no_text_stands_twice_and_none_is_left_open() -> None:
    folded = TWINS["text"].str.lower().str.replace(r"\W+", " ", regex=True).str.strip()
    assert not folded.duplicated().any()
    assert not TWINS["text"].str.contains(r"[{}]|\s{2}|^\s|\s$").any()
    assert TWINS["text"].str.contains(r"[.!?\"]$").all()


def test_the_parts_share_no_set_and_no_near_duplicate() -> None:
    train, test = twins.twins(part="train"), twins.twins(part="test")
    assert not set(train["set"]) & set(test["set"])
    pd.testing.assert_frame_equal(
        pd.concat([train, test]).sort_values("text", ignore_index=True),
        TWINS.sort_values("text", ignore_index=True),
    )
    pairs = split.near_pairs(TWINS["text"])
    part = TWINS["part"].to_numpy()
    assert (part[pairs["first"]] == part[pairs["second"]]).all()


def test_types_are_those_of_the_groups() -> None:
    of_list = groups.groups().drop_duplicates("group").set_index("group")["bias_type"]
    listed = TWINS[TWINS["group"].isin(of_list.index)]
    assert (listed["bias_type"] == listed["group"].map(of_list)).all()
    assert set(TWINS["bias_type"].dropna()) == set(contracts.TYPES)
    unnamed = TWINS[TWINS["group"].isna()]
    assert set(unnamed["kind"]) == {"masked", "everyday"}
    assert unnamed["bias_type"].isna().all()


@pytest.mark.parametrize(
    "bias", ["gender_nonbinary", "religion", "age", "disability", "orientation", "nationality"]
)
def test_every_group_of_the_word_lists_is_named(bias: str) -> None:
    for group, own in lexicons.load(bias).groupby("group"):
        terms = "|".join(map(re.escape, own["term"]))
        assert TWINS["text"].str.contains(rf"\b(?:{terms})\b").sum() >= 5, group


def test_the_name_alone_tells_little() -> None:
    """Shares of biased texts by group differ little, so that no name gives the label away."""
    named = TWINS[TWINS["group"].notna()]
    share = named.groupby("group")["biased"].mean()
    assert share.between(0.2, 0.5).all()
    assert share.std() < 0.06


def test_slots_by_hand() -> None:
    names = {
        "blind people": {"plural": "blind people", "one": "a blind person", "group": "blind"},
        "Sikhs": {"plural": "Sikhs", "one": "a Sikh", "group": "Sikhs"},
    }
    one = {
        "groups": ["blind people", "Sikhs"],
        "claim": ["{group} are late. {group} always are, says {one}."],
        "swapped": {"Sikhs": "Sikhs are early."},
        "masked": ["Trains are late."],
        "denied": ["No, {group} are not.", "Nor is {one}.", "Nobody is."],
        "neutral": [{"Sikhs": "Sikhs ride trains."}],
    }
    found = list(twins._variants(one, 3, names))
    late = "are late. {0} always are, says {1}."
    assert found == [
        ("claim", "blind people", "Blind people " + late.format("Blind people", "a blind person")),
        ("swapped", "Sikhs", "Sikhs " + late.format("Sikhs", "a Sikh")),
        ("swapped", "Sikhs", "Sikhs are early."),
        ("masked", None, "Trains are late."),
        ("denied", "Sikhs", "No, Sikhs are not."),  # the fourth set starts at its second name
        ("denied", "blind people", "Nor is a blind person."),
        ("denied", "blind people", "Nobody is."),
        ("neutral", "Sikhs", "Sikhs ride trains."),
    ]


def test_every_written_text_is_read_once_or_once_per_name() -> None:
    claims = TWINS[TWINS["kind"].isin(["claim", "swapped"])].groupby("set").size()
    for one in SETS.values():
        slots = sum("{" in text for text in one["claim"])
        expected = len(one["claim"]) - slots + slots * len(one["groups"])
        assert claims[one["id"]] >= 2  # a claim and at least one swap
        assert claims[one["id"]] == expected + len(one.get("swapped", {}))
    for kind in PROSE:
        assert (TWINS["kind"] == kind).sum() >= 190


def test_beside_others_the_biased_ones_weigh_as_much_as_the_rest() -> None:
    found = twins.beside()
    assert found["text"].tolist() == twins.twins(part="train")["text"].tolist()
    for biased in (True, False):
        own = found.loc[found["biased"] == biased, "weight"]
        assert own.nunique() == 1 and own.iloc[0] > 0
        assert own.sum() == pytest.approx(len(found) / 2)


@pytest.mark.parametrize("bias_type", sorted(contracts.TYPES))
def test_of_a_type_that_is_held_out_no_set_is_learnt(bias_type: str) -> None:
    found, whole = twins.beside(without=bias_type), twins.twins(part="train")
    # By hand: a set goes as a whole, its masked texts too, which name no type.
    gone = {one for one, own in whole.groupby("set") if bias_type in set(own["bias_type"])}
    assert gone and set(found["set"]) == set(whole["set"]) - gone
    assert "masked" in set(whole.loc[whole["set"].isin(gone), "kind"])
    assert found["weight"].sum() == pytest.approx(len(found))


def test_an_unknown_part_is_told() -> None:
    with pytest.raises(ParameterError, match="train or test"):
        twins.twins(part="dev")  # type: ignore[arg-type]
