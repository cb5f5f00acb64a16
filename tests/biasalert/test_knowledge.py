"""Knowledge: what becomes an entry, what is lost, versions that are content, SBIC's layouts."""

from pathlib import Path

import pandas as pd
import pytest

from nbbias.biasalert import corpus
from nbbias.biasalert.contracts import TYPES
from nbbias.biasalert.knowledge import entries as knowledge
from nbbias.biasalert.knowledge.groups import groups, target, types
from nbbias.tables import ContractError
from tests.biasalert.tables import labelled

LINES = ["Women are bad at maths.", "women are  bad at maths", "Old people are slow", "x y z", ""]


def entries(lines: list[str] | None = None) -> pd.DataFrame:
    return knowledge.build(pd.DataFrame({"statement": lines or LINES}), source="test")[0]


# --- groups -------------------------------------------------------------------------------------


def test_groups_have_a_known_type_and_terms_stand_once() -> None:
    table = groups()
    assert set(table["bias_type"]) == set(TYPES)
    assert not table["term"].duplicated().any()
    assert (table["term"] == table["term"].str.strip().str.lower()).all()
    assert set(types().values()) == set(TYPES)


@pytest.mark.parametrize(
    ("text", "group", "kind"),
    [
        ("Black women vote", "Black people", "race"),
        ("she said that Muslims pray", "Muslims", "religion"),
        ("two  old\npeople", "older people", "age"),
        ("jewellery and manners, Shemar, blackbird", None, None),
    ],
)
def test_the_group_that_a_text_is_about(text: str, group: str | None, kind: str | None) -> None:
    found = target(text)
    assert (found.group if found else None, found.bias_type if found else None) == (group, kind)


# --- entries ------------------------------------------------------------------------------------


def test_entries_are_normalised_once_and_losses_counted() -> None:
    table, lost = knowledge.build(pd.DataFrame({"statement": LINES}), source="test")
    assert table["statement"].tolist() == ["women are bad at maths", "old people are slow"]
    assert table["bias_type"].tolist() == ["gender", "age"]
    assert table["group"].tolist() == ["women", "older people"]
    assert dict(zip(lost["reason"], lost["n"], strict=True)) == {
        "no statement": 1,
        "of no type, and names no group that is known": 1,
        "said before": 1,
    }
    assert len(table) + lost["n"].sum() == len(LINES)


def test_a_version_is_its_content_not_its_order() -> None:
    table = entries()
    own = knowledge.version(table)
    assert knowledge.version(table.iloc[::-1]) == own
    assert knowledge.version(table.assign(attribute="bad")) != own


# --- sources ------------------------------------------------------------------------------------

SBIC_HEAD = ["targetMinority", "targetCategory", "targetStereotype", "post"]
SBIC_ROWS = [
    ("women", "gender", "can't park", "p"),
    ("women", "gender", "women can't park", "p"),  # the same entry
    ("muslim folks", "culture", "muslims are strict", "q"),  # a faith, filed under culture
    ("gay men", "gender", "are loud", "q"),
    ("fat people", "body", "eat a lot", "r"),
    ("", "", "", "s"),
]
SBIC_SAID = ["women can't park", "muslims are strict", "gay men are loud", "fat people eat a lot"]
SBIC_TYPES = ["gender", "religion", "orientation", "social"]


def test_sbic_by_annotation(tmp_path: Path) -> None:
    path = tmp_path / "SBIC.v2.trn.csv"
    pd.DataFrame(SBIC_ROWS, columns=SBIC_HEAD).to_csv(path, index=False)
    found, lost = knowledge.read_knowledge(str(path), labelled=pd.DataFrame())
    assert found["statement"].tolist() == SBIC_SAID
    assert found["bias_type"].tolist() == SBIC_TYPES
    assert dict(zip(lost["reason"], lost["n"], strict=True)) == {
        "no group, or nothing said of it": 1,
        "said before": 1,
    }


def test_labels_in_two_layouts(tmp_path: Path) -> None:
    reddit = pd.DataFrame({"comment": ["a b", "a b", "c d", "c d", "e f"]})
    reddit = reddit.assign(bias_type="religion2", phrase=reddit["comment"].str[-1])
    path = tmp_path / "reddit.csv"
    reddit.assign(bias_sent=[1, 1, 0, 1, 0]).to_csv(path, index=False)
    found, lost = corpus.read_labelled(str(path))
    assert dict(lost.itertuples(index=False)) == {
        "a text with both labels": 2,
        "a text that stands before": 1,
    }
    # "a b" occurs twice with one label, "c d" with both.
    assert found["text"].tolist() == ["a b", "e f"]
    assert found["biased"].tolist() == [True, False]
    assert found["bias_type"].tolist() == ["religion"] * 2
    assert found["group"].tolist() == ["Muslims"] * 2
    assert found["attribute"].tolist() == ["b", "f"]
    own = tmp_path / "own.jsonl"
    own.write_text('{"text": "x", "biased": true}\n{"text": "y", "biased": "0"}\n')
    assert corpus.read_labelled(str(own))[0]["biased"].tolist() == [True, False]
    own.write_text(
        '{"text": "x", "biased": "yes", "bias_type": " Race"}\n'
        '{"text": "y", "biased": "no", "bias_type": "martian"}\n'
    )
    typed, lost = corpus.read_labelled(str(own))
    assert typed["bias_type"].fillna("").tolist() == ["race", ""]
    assert lost["reason"].tolist() == ["a type that is none of the seven: kept, without a type"]
    own.write_text('{"text": "x", "biased": "maybe"}\n')
    with pytest.raises(ContractError, match="row 1 holds 'maybe'"):
        corpus.read_labelled(str(own))


def test_a_knowledge_of_comments_holds_none_of_their_truth() -> None:
    said = {"bias_type": "race", "group": "Black people", "attribute": "lie"}
    table = labelled([1, 0], text=["They lie.", "hello"], **said)
    found, _ = knowledge.from_labelled(table)
    assert found["statement"].tolist() == ["they lie"]
    assert found[["group", "attribute"]].isna().all(axis=None)
