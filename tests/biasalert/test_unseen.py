"""Types of bias that a judge has never learnt from."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from nbbias.biasalert import detection, sample, sentences, unseen as biasalert_unseen
from nbbias.biasalert.judges import classifier
from nbbias.biasalert.judges.registry import Settings, TrainingInput
from nbbias.stats import InferenceSettings
from tests.biasalert.tables import judgements, labelled, value

#: Twelve texts a type, every other one biased. c0 stands in race and in gender.
TYPED = labelled(
    [1, 0] * 18,
    bias_type=["race"] * 12 + ["gender"] * 12 + ["religion"] * 12,
    comment_id=[f"c{i}" for i in range(12)] + ["c0"] + [f"c{i}" for i in range(13, 36)],
)


def memory(seen: list[pd.DataFrame], *, verdict: int = 1) -> Callable[[pd.DataFrame], Callable]:
    """Return a fit that writes down what it was given, and gives one verdict on every text."""

    def fit(train: pd.DataFrame, _: str) -> Callable[[pd.DataFrame], pd.DataFrame]:
        seen.append(train)
        return lambda texts: judgements([verdict] * len(texts), text_id=list(texts["text_id"]))

    return fit


def test_the_type_that_is_judged_was_never_learnt_from() -> None:
    seen: list[pd.DataFrame] = []
    found = biasalert_unseen.leave_one_type_out(TYPED, memory(seen))
    assert list(found["held_out"].unique()) == ["gender", "race", "religion"]
    assert sorted(found["text_id"]) == sorted(TYPED["text_id"])
    for train, held_out in zip(seen, ["gender", "race", "religion"], strict=True):
        own = TYPED[TYPED["bias_type"] == held_out]
        assert held_out not in set(train["bias_type"])
        assert not set(train["comment_id"]) & set(own["comment_id"])
    # The comment c0 stands in race and in gender: it is left out where either is judged.
    assert found.groupby("held_out")["n_train"].first().to_dict() == {
        "gender": 23,
        "race": 23,
        "religion": 24,
    }
    table = detection.by_type(
        found, TYPED, permutations=2, inference=InferenceSettings(n_permutations=20)
    )
    assert value(table, "accuracy", bias="race") == 0.5


def test_a_split_is_kept() -> None:
    seen: list[pd.DataFrame] = []
    split = TYPED.assign(split=(["train"] * 10 + ["test"] * 2) * 3)
    found = biasalert_unseen.leave_one_type_out(split, memory(seen))
    assert set(found["text_id"]) == set(split.loc[split["split"] == "test", "text_id"])
    assert all(set(train["split"]) == {"train"} for train in seen)


def test_a_type_whose_others_teach_too_little_is_lost_with_the_reason() -> None:
    one_label = TYPED.assign(biased=TYPED["bias_type"] == "race")
    found = biasalert_unseen.leave_one_type_out(one_label, memory([]))
    lost = found[found["outcome"] == "failed"]
    assert set(lost["held_out"]) == {"race"}
    assert lost["reason"].str.contains("without race").all()
    alone = biasalert_unseen.leave_one_type_out(TYPED.head(12), memory([]))
    assert set(alone["outcome"]) == {"failed"}
    none = TYPED.assign(bias_type=None)
    assert biasalert_unseen.leave_one_type_out(none, memory([])).empty


def test_what_it_costs_by_hand() -> None:
    # Fitted on all types the judge is right on all texts; unseen it flags every text.
    seen = judgements(TYPED["biased"].astype(int).tolist(), judge="a")
    unseen = biasalert_unseen.leave_one_type_out(TYPED, memory([])).assign(
        judge="a" + biasalert_unseen.UNSEEN
    )
    found = biasalert_unseen.estimates(
        seen, unseen, TYPED, inference=InferenceSettings(n_permutations=100)
    )
    for held_out in ("gender", "race", "religion"):
        assert value(found, "accuracy", bias=held_out) == 0.5
        key = {"bias": held_out}
        assert value(found, "accuracy_difference", **key) == -0.5
        p = stats.binomtest(0, 6).pvalue
        assert value(found, "accuracy_difference", "p_value", **key) == pytest.approx(p)
        adjusted = value(found, "accuracy_difference", "p_adjusted", **key)
        assert adjusted == pytest.approx(3 * p)  # Holm over the three types
    told = sentences.unseen(found)
    assert len(told) == 3
    assert all("against being fitted with it" in one for one in told)
    # Without the judge that was fitted on all types nothing is compared.
    alone = biasalert_unseen.estimates(
        seen.assign(judge="b"), unseen, TYPED, inference=InferenceSettings(n_permutations=100)
    )
    assert set(alone["statistic"]) == {"accuracy", "f1", "recall", "specificity"}


def test_a_type_without_verdicts_is_not_measured() -> None:
    one_label = TYPED.assign(biased=TYPED["bias_type"] == "race")
    unseen = biasalert_unseen.leave_one_type_out(one_label, memory([], verdict=0))
    found = biasalert_unseen.estimates(
        judgements([0] * 36, judge="a"),
        unseen.assign(judge="a, type unseen"),
        one_label,
        inference=InferenceSettings(n_permutations=50),
    )
    assert np.isnan(value(found, "accuracy", bias="race"))
    assert value(found, "accuracy", bias="gender") == 1
    assert any("not measured" in one for one in sentences.unseen(found))


@pytest.mark.slow
def test_a_judge_of_the_study_is_fitted_once_more_per_type() -> None:
    table = sample.labelled(seed=0)
    few = pd.concat(
        own.groupby("biased").head(8)
        for _, own in table[table["split"] == "train"].groupby("bias_type")
    )
    table = pd.concat([few, table[table["split"] == "test"].head(30)], ignore_index=True)
    found = biasalert_unseen.judge(["classifier_alone"], table, settings=Settings())
    assert set(found["judge"]) == {"classifier_alone, type unseen"}
    assert set(found["text_id"]) == set(table.loc[table["split"] == "test", "text_id"])
    assert set(found["outcome"]) == {"judged"}
    assert biasalert_unseen.judge([], table, settings=Settings()).empty
    rows = biasalert_unseen.estimates(
        found,
        found,
        table[table["split"] == "test"],
        inference=InferenceSettings(n_permutations=50),
    )
    assert set(rows["instrument"]) == {classifier.instrument("auto", taught=True)}
    assert biasalert_unseen.estimates(found, pd.DataFrame(), table).empty


def test_nothing_of_the_type_is_learnt_from_twins_either(monkeypatch: pytest.MonkeyPatch) -> None:
    learnt: list[str | None] = []
    asked: list[str] = []

    def make(name: str, given: TrainingInput) -> tuple[Callable, str]:
        learnt.append(given.without)
        asked.append(name)
        return lambda texts, _: judgements([1] * len(texts), text_id=list(texts["text_id"])), "i"

    monkeypatch.setattr(biasalert_unseen, "make", make)
    found = biasalert_unseen.judge(["classifier_alone"], TYPED, settings=Settings())
    assert learnt == ["gender", "race", "religion"] == list(found["held_out"].unique())
    assert set(asked) == {"classifier_alone"}
