"""The sample of biasalert: both classes alike in words, nothing tested was learnt, truths known."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from nbbias import tables
from nbbias.biasalert import contracts, levels
from nbbias.biasalert.knowledge import sample
from tests.biasalert.tables import simulated, value

SAMPLE = sample.labelled()


def test_knowledge_holds_nine_statements_of_each_type() -> None:
    table = sample.knowledge()
    assert table["bias_type"].value_counts().to_dict() == dict.fromkeys(contracts.TYPES, 9)
    assert not table["statement"].duplicated().any()
    assert (table["statement"] == table["group"] + " " + table["attribute"]).all()


def test_sentences_keep_the_contract_and_no_place_is_left_open() -> None:
    tables.check(SAMPLE, contracts.LABELLED)
    assert len(SAMPLE) == 252
    texts = pd.concat([SAMPLE["text"], sample.answers()["text"]])
    assert not texts.str.contains(r"[{}]|None|nan\b").any()
    assert not SAMPLE["text"].duplicated().any()


def test_both_classes_are_of_one_size_and_name_the_same_groups() -> None:
    assert SAMPLE["biased"].sum() == 126
    for split in ("train", "test"):
        own = SAMPLE[(SAMPLE["split"] == split) & SAMPLE["group"].notna()]
        named = own.groupby("biased")["group"].agg(set)
        assert named[True] == named[False]
    claims = SAMPLE[SAMPLE["attribute"].notna()].groupby("biased")["attribute"].agg(set)
    assert claims[False] < claims[True]  # what is denied is claimed elsewhere


def test_train_and_test_share_no_stereotype_and_no_template() -> None:
    sides = [SAMPLE[SAMPLE["split"] == split] for split in ("train", "test")]
    assert [len(side) for side in sides] == [168, 84]
    for column in ("comment_id", "attribute"):
        one, other = (set(side[column].dropna()) for side in sides)
        assert not one & other
    templates = sample.sentences()
    for kind in ("biased", "distanced", "particular", "mention"):
        assert not set(templates[kind]["train"]) & set(templates[kind]["test"])


def test_words_alone_tell_too_little() -> None:
    train, test = (SAMPLE[SAMPLE["split"] == split] for split in ("train", "test"))
    model = make_pipeline(TfidfVectorizer(), LogisticRegression())
    accuracy = model.fit(train["text"], train["biased"]).score(test["text"], test["biased"])
    assert accuracy < 0.85


def test_answers_are_biased_as_often_as_planted_and_prompts_are_shared() -> None:
    table = sample.answers(n=400, seed=3)
    assert table.groupby("prompt_id")["prompt"].nunique().eq(1).all()
    assert not table["text_id"].duplicated().any()
    for model, share in sample.SAMPLE_MODELS.items():
        count = int(table.loc[table["model"] == model, "simulated_bias"].sum())
        low, high = binom.ppf([0.0005, 0.9995], 400, share)
        assert low <= count <= high
    assert sample.answers({}, n=5).empty
    assert not sample.answers({"m": 0.0})["simulated_bias"].any()
    assert sample.answers({"m": 1.0})["simulated_bias"].all()


@pytest.mark.parametrize(("sensitivity", "specificity"), [(0.8, 0.9), (1.0, 1.0), (0.5, 0.5)])
def test_a_simulated_judge_errs_as_often_as_it_should(
    sensitivity: float, specificity: float
) -> None:
    table = sample.answers({"m": 0.5}, n=3000)
    said = simulated(
        table, truth="simulated_bias", sensitivity=sensitivity, specificity=specificity, refuses=0.1
    )
    tables.check(said, contracts.JUDGEMENTS)
    truth = table["simulated_bias"].to_numpy(bool)
    known = said["biased"].notna().to_numpy()
    assert 1 - known.mean() == pytest.approx(0.1, abs=0.03)
    flagged = said["biased"].fillna(False).to_numpy(bool)
    assert flagged[known & truth].mean() == pytest.approx(sensitivity, abs=0.04)
    assert 1 - flagged[known & ~truth].mean() == pytest.approx(specificity, abs=0.04)


def test_a_sample_of_labels_brings_the_planted_share_back() -> None:
    table = sample.answers(n=500, seed=5)
    said = simulated(table, truth="simulated_bias", sensitivity=0.8, specificity=0.85)
    drawn = levels.draw_sample(table, size=200, seed=1)
    human = drawn.merge(table[["text_id", "simulated_bias"]]).rename(
        columns={"simulated_bias": "biased"}
    )
    found = levels.estimates(table, said, people=levels.HumanLabels(human, random=True))
    planted = sample.SAMPLE_MODELS["blunt"]
    assert value(found, "biased_share_two_phase", model="blunt") == pytest.approx(planted, abs=0.1)
    raw = value(found, "biased_share", model="careful", topic=None)
    assert raw > 0.1  # false alarms alone
    assert value(found, "biased_share", "null", model="careful", topic=None) == pytest.approx(
        raw, abs=0.08
    )
    assert np.isfinite(value(found, "biased_share_two_phase", "ci_high", model="careless"))
