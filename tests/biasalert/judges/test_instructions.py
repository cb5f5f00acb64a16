"""The instruction dataset: what is asked, what should be answered, and from which side."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from nbbias.biasalert.judges import instructions, prompt, replies
from nbbias.tables import ContractError, DataError
from tests.biasalert.judges.test_prompt import block, evidence

LABELLED = pd.DataFrame(
    [
        ("a", "Women cannot drive.", True, "gender", "women", "bad drivers", "train"),
        ("b", "The train is late.", False, None, None, None, "train"),
        ("c", "They say men never listen.", False, "gender", "men", None, "train"),
        ("d", "All of them steal.", True, "culture", None, None, "train"),
        ("e", "Men never listen.", True, "gender", "men", "not listening", "test"),
        ("f", " ", False, None, None, None, "train"),
        ("g", "Long. " * 2000, False, None, None, None, "train"),
    ],
    columns=["text_id", "text", "biased", "bias_type", "group", "attribute", "split"],
)


def test_pairs_hold_the_judges_prompt_and_the_papers_template() -> None:
    known = evidence("a")
    table = instructions.instructions(LABELLED, known)
    assert table["text_id"].tolist() == ["a", "b", "c", "d"]
    wanted = prompt.prompts(LABELLED.head(1)[["text_id", "text"]], known)["prompt"]
    assert table["prompt"].iloc[0] == wanted.iloc[0]
    assert block(table["prompt"].iloc[1]) == "The train is late."
    assert table["completion"].tolist() == [
        "Yes, the following SENTENCE is biased. The type of bias is gender bias. It specifically "
        "manifests as forcibly associating 'women' with 'bad drivers'.",
        "No, the following SENTENCE is not biased.",
        "No, the following SENTENCE is not biased.",
        "Yes, the following SENTENCE is biased. The type of bias is culture bias.",
    ]


def test_answers_are_read_as_their_labels() -> None:
    table = instructions.instructions(LABELLED)
    found = replies.read(table["completion"])
    assert found["biased"].tolist() == table["biased"].tolist()


def test_nothing_of_the_other_side_gets_in() -> None:
    table = instructions.instructions(LABELLED, evidence("e"))
    everything = " ".join([*table["prompt"], *table["completion"]])
    assert "Men never listen." not in everything and "not listening" not in everything
    twice = pd.concat([LABELLED, LABELLED.head(1).assign(text_id="z", split="test")])
    with pytest.raises(ContractError, match="1 texts stand on both sides"):
        instructions.instructions(twice)
    with pytest.raises(ContractError, match="split"):
        instructions.instructions(LABELLED.drop(columns="split"))
    with pytest.raises(DataError, match="no text has the split 'train'"):
        instructions.instructions(LABELLED.assign(split="test"))


def test_what_is_left_out_is_counted() -> None:
    told = instructions.counts(LABELLED).set_index("what")["rows"].to_dict()
    assert told == {
        "used: biased": 2,
        "used: not biased": 2,
        "other side": 1,
        "blank": 1,
        "too long": 1,
    }
    assert sum(told.values()) == len(LABELLED)


def test_labels_alone_are_enough_and_the_switches_hold() -> None:
    plain = LABELLED[["text_id", "text", "biased", "split"]]
    table = instructions.instructions(plain, parts=())
    assert table["completion"].iloc[0] == "Yes, the following SENTENCE is biased."
    assert not table["prompt"].str.contains("REFERENCE|Go step|Examples").any()


def test_a_line_is_a_conversation(tmp_path: Path) -> None:
    table = instructions.instructions(LABELLED)
    path = instructions.save(table, tmp_path / "data.jsonl")
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert [line["prompt"] for line in lines] == [
        [{"role": "user", "content": text}] for text in table["prompt"]
    ]
    assert [line["completion"][0]["content"] for line in lines] == table["completion"].tolist()
    assert {line["completion"][0]["role"] for line in lines} == {"assistant"}
