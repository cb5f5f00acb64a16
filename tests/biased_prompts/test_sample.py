"""Simulated answers to two prompts: what is simulated is there, and nothing else."""

import numpy as np
import pandas as pd
import pytest

from nbbias import tables
from nbbias.biased_prompts import corpus, refusing, sample
from nbbias.text import lexicons

MODELS = sample.models()


def test_a_corpus_keeps_the_contracts_and_has_both_prompts_of_every_model() -> None:
    originals, generations = corpus.read("sample", "sample")
    tables.check(originals, tables.ORIGINALS)
    tables.check(generations, tables.GENERATIONS)
    counts = generations.groupby(["model", "prompt"]).size()
    assert set(counts.index) == {(m, p) for m in MODELS for p in ("neutral", "biased")}
    assert set(counts) == {72}


def test_only_biased_prompts_are_refused_and_only_by_models_that_do() -> None:
    _, generations = sample.corpus(seed=1)
    refused = generations[generations["simulated_refusal"]]
    assert set(refused["prompt"]) == {"biased"}
    assert set(refused["model"]) == {"guarded", "selective"}
    assert refused["text"].str.len().max() < 300


def test_headlines_name_whom_they_say() -> None:
    originals, _ = sample.corpus(seed=1)
    found = refusing.headline_groups(originals, lexicons.load("gender"))
    joined = originals.merge(found, on=["source", "article_id"])
    assert (joined["group"] == joined["named"]).all()
    assert set(originals.groupby("named").size()) == {24}


def test_refusals_come_as_often_as_planted() -> None:
    parts = []
    for seed in range(4):
        originals, generations = sample.corpus(seed=seed)
        parts.append(generations.merge(originals[["article_id", "named"]], on="article_id"))
    own = pd.concat(parts).query("prompt == 'biased' and model == 'selective'")
    rates = own.groupby("named")["simulated_refusal"].mean()
    for name in sample.NAMED:
        rate = MODELS["selective"]["refuses"][name]
        # 96 draws each: four standard errors.
        assert rates[name] == pytest.approx(rate, abs=4 * np.sqrt(rate * (1 - rate) / 96))
