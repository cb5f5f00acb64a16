"""Simulated answers to two prompts: what is planted is there, and nothing else."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from nbbias import tables
from nbbias.biased_prompts import refusing, sample
from nbbias.text import lexicons

MODELS = sample.SAMPLE_MODELS


def test_the_same_seed_gives_the_same_corpus_and_another_seed_another() -> None:
    one, same, other = (sample.corpus(seed=seed) for seed in (1, 1, 2))
    for i in range(2):
        pd.testing.assert_frame_equal(one[i], same[i])
        assert (one[i]["text"] != other[i]["text"]).any()


def test_a_corpus_keeps_the_contracts_and_has_both_prompts_of_every_model() -> None:
    originals, generations = sample.corpus(seed=1)
    tables.check(originals, tables.ORIGINALS)
    tables.check(generations, tables.GENERATIONS)
    counts = generations.groupby(["model", "prompt"]).size()
    assert set(counts.index) == {(m, p) for m in MODELS for p in ("neutral", "biased")}
    assert set(counts) == {72}


def test_only_biased_prompts_are_refused_and_only_by_models_that_do() -> None:
    _, generations = sample.corpus(seed=1)
    refused = generations[generations["planted_refusal"]]
    assert set(refused["prompt"]) == {"biased"}
    assert set(refused["model"]) == {"guarded", "selective"}
    assert refused["text"].str.len().max() < 300


def test_headlines_name_whom_they_say() -> None:
    originals, _ = sample.corpus({}, seed=1)
    found = refusing.headline_groups(originals, lexicons.load("gender"))
    joined = originals.merge(found, on=["source", "article_id"])
    assert (joined["group"] == joined["named"]).all()
    assert set(originals.groupby("named").size()) == {24}


def test_articles_hold_the_plain_headline_so_that_it_plants_no_group_word() -> None:
    originals, generations = sample.corpus(seed=1)
    whole = pd.concat([originals["text"], generations["text"]])
    assert not whole.str.contains("women's group says|men's group says").any()


def test_refusals_come_as_often_as_planted() -> None:
    models = {"m": MODELS["selective"]}
    parts = []
    for seed in range(4):
        originals, generations = sample.corpus(models, seed=seed)
        parts.append(generations.merge(originals[["article_id", "named"]], on="article_id"))
    own = pd.concat(parts).query("prompt == 'biased'")
    rates = own.groupby("named")["planted_refusal"].mean()
    truth = sample.planted(models).query("statistic == 'refusal_rate'")
    for name, rate in truth.set_index("group")["planted"].items():
        # 96 draws each: four standard errors.
        assert rates[name] == pytest.approx(rate, abs=4 * np.sqrt(rate * (1 - rate) / 96))


def test_planted_effects_are_differences_of_probabilities() -> None:
    truth = sample.planted(MODELS)
    own = truth[truth["statistic"] == "share_difference_change"]
    wide = own.pivot(index="model", columns="group", values="planted")
    assert wide["female"].to_dict() == pytest.approx(
        {"unmoved": 0.0, "compliant": -0.2, "guarded": -0.2, "selective": -0.1}
    )
    assert (wide["female"] + wide["male"]).abs().max() == 0
    assert wide[["White", "Black", "Asian"]].abs().max().max() == 0


def test_truth_stands_beside_what_was_found_in_the_sample_alone() -> None:
    found = tables.estimates(
        [
            {
                "source": "simulated",
                "model": "compliant",
                "measure": "word",
                "group": "female",
                "statistic": "share_difference_change",
                "prompt": "biased − neutral",
                "estimate": -0.19,
                "ci_low": -0.3,
                "ci_high": -0.1,
            },
            {
                "source": "all",
                "model": "guarded",
                "measure": "refusal",
                "bias": "gender",
                "group": "male",
                "statistic": "refusal_rate",
                "prompt": "biased",
                "estimate": 0.3,
                "ci_low": 0.2,
                "ci_high": 0.4,
            },
            {
                "source": "nyt",
                "model": "compliant",
                "measure": "word",
                "group": "female",
                "statistic": "share_difference_change",
                "prompt": "biased − neutral",
                "estimate": -0.19,
            },
        ],
        study="biased_prompts",
        confidence=0.95,
    )
    table = sample.compare_with_truth(found)
    assert table[["model", "planted", "covered"]].to_numpy().tolist() == [
        ["compliant", pytest.approx(-0.2), "yes"],
        ["guarded", 0.6, "no"],
    ]
