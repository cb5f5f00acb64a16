"""The sample of biasalert: both classes alike in words, nothing tested was learnt, truths known."""

import pytest
from scipy.stats import binom

from nbbias import biasalert
from nbbias.biasalert.knowledge import sample
from nbbias.text import embeddings

SAMPLE = sample.labelled()


@pytest.mark.slow
@pytest.mark.ci
def test_the_samples_vectors_are_shipped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embeddings, "_encoder", None)  # nothing is encoded
    chosen = {"embedding_model": "offline", "judges": ["classifier"]}  # others encode no more
    found = biasalert.measure(draws=100, **chosen).estimates
    assert found["measure"].nunique() == 6  # all but pairs
    assert (found.query("statistic == 'swap_difference'")["n"] > 0).all()


def test_both_classes_are_of_one_size_and_name_the_same_groups() -> None:
    assert SAMPLE["biased"].sum() == 126
    named = SAMPLE[SAMPLE["group"].notna()].groupby(["split", "biased"])["group"].agg(set)
    assert all(named[split, True] == named[split, False] for split in ("train", "test"))
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


def test_answers_are_biased_as_often_as_planted_and_prompts_are_shared() -> None:
    table = sample.answers(n=400, seed=3)
    assert table.groupby("prompt_id")["prompt"].nunique().eq(1).all()
    assert not table["text_id"].duplicated().any()
    for model, share in sample.SAMPLE_MODELS.items():
        count = int(table.loc[table["model"] == model, "simulated_bias"].sum())
        low, high = binom.ppf([0.0005, 0.9995], 400, share)
        assert low <= count <= high
    assert sample.answers({}, n=5).empty
    assert [sample.answers({"m": share})["simulated_bias"].mean() for share in (0, 1)] == [0, 1]
