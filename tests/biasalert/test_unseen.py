"""Types of bias that a judge has never learnt from."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from nbbias.biasalert import sentences, unseen
from nbbias.biasalert.judges.registry import Settings, TrainingInput
from nbbias.stats import InferenceSettings
from tests.biasalert.tables import judgements, labelled, value

FEW = InferenceSettings(n_permutations=100)

#: Twelve texts a type to learn from, every other one biased, and as many to test.
#: The comment c0 stands in race, to learn from, and in gender, to test.
TYPED = pd.concat(
    [
        labelled(
            [1, 0] * 18,
            text_id=[f"{split}{i}" for i in range(36)],
            bias_type=["race"] * 12 + ["gender"] * 12 + ["religion"] * 12,
            comment_id=[f"{split}-c{i}" for i in range(36)],
        ).assign(split=split)
        for split in ("train", "test")
    ],
    ignore_index=True,
)
TYPED.loc[[0, 36 + 12], "comment_id"] = "c0"
TEST = TYPED[TYPED["split"] == "test"]


@pytest.fixture
def trained(monkeypatch: pytest.MonkeyPatch) -> list[TrainingInput]:
    """What judges are made of, each of which flags every text."""
    made: list[TrainingInput] = []

    def make(name: str, given: TrainingInput) -> tuple[Callable, str]:
        made.append(given)
        return lambda texts, _: judgements([1] * len(texts), text_id=list(texts["text_id"])), "i"

    monkeypatch.setattr(unseen, "make", make)
    return made


def test_the_type_that_is_judged_was_never_learnt_from(trained: list[TrainingInput]) -> None:
    table = unseen.judge(["a"], TYPED, settings=Settings())
    assert sorted(table["text_id"]) == sorted(TEST["text_id"])
    assert set(table["judge"]) == {"a, type unseen"} and set(table["instrument"]) == {"i"}
    types = ["gender", "race", "religion"]
    assert [given.without for given in trained] == types == list(table["held_out"].unique())
    for given, held_out in zip(trained, types, strict=True):
        judged = TEST[TEST["bias_type"] == held_out]
        assert set(given.train["split"]) == {"train"}
        assert held_out not in set(given.train["bias_type"])
        assert not set(given.train["comment_id"]) & set(judged["comment_id"])
    # c0, to learn from in race, is left out where gender is judged.
    assert table.groupby("held_out")["n_train"].first().tolist() == [23, 24, 24]
    assert unseen.judge([], TYPED, settings=Settings()).empty


def test_a_type_whose_others_teach_too_little_has_no_verdict(trained: list[TrainingInput]) -> None:
    one_label = TYPED.assign(biased=TYPED["bias_type"] == "race")
    table = unseen.judge(["a"], one_label, settings=Settings())
    lost = table[table["outcome"] == "failed"]
    assert set(lost["held_out"]) == {"race"} and lost["reason"].str.contains("without race").all()
    rows = unseen.estimates(
        judgements([0] * 36, text_id=list(TEST["text_id"]), judge="a"),
        table,
        one_label[one_label["split"] == "test"],
        inference=FEW,
    )
    assert np.isnan(value(rows, "accuracy", bias="race"))
    assert value(rows, "accuracy", bias="gender") == 0
    none = TYPED.assign(bias_type=None)
    assert unseen.judge(["a"], none, settings=Settings()).empty
    assert unseen.estimates(table, pd.DataFrame(), TEST).empty


def test_what_it_costs_by_hand(trained: list[TrainingInput]) -> None:
    # Fitted on all types the judge is right on all texts; unseen it flags every text.
    seen = judgements(TEST["biased"].astype(int).tolist(), text_id=list(TEST["text_id"]), judge="a")
    table = unseen.judge(["a"], TYPED, settings=Settings())
    rows = unseen.estimates(seen, table, TEST, inference=FEW)
    p = stats.binomtest(0, 6).pvalue
    for held_out in ("gender", "race", "religion"):
        assert value(rows, "accuracy", bias=held_out) == 0.5
        key = {"bias": held_out}
        assert value(rows, "accuracy_difference", **key) == -0.5
        assert value(rows, "accuracy_difference", "p_value", **key) == pytest.approx(p)
        adjusted = value(rows, "accuracy_difference", "p_adjusted", **key)
        assert adjusted == pytest.approx(3 * p)  # Holm over the three types
    assert sentences.unseen(rows).startswith("None of 3 differences of accuracy, unseen less seen")
    # Without the judge that was fitted on all types nothing is compared.
    alone = unseen.estimates(seen.assign(judge="b"), table, TEST, inference=FEW)
    assert set(alone["statistic"]) == {"accuracy", "f1", "recall", "specificity"}
