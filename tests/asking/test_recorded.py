"""Recorded answers: out as a table that studies read, in without being paid for again."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from nbbias import tables
from nbbias.asking import plan as plans, recorded
from nbbias.asking.params import Generate
from nbbias.asking.plan import Plan
from nbbias.news import corpus
from nbbias.running import generation
from tests.fake_openai import FakeOpenAI

MODELS = ["openai-api/fake/a", "openai-api/fake/b"]


def make_plan(folder: Path, url: str = "", **further: Any) -> Plan:
    """A plan of three headlines, two models, two ways and two repeats: 24 calls."""
    path = folder / "headlines.csv"
    path.write_text("outlet,article_id,headline\nnyt,1,Rain\nnyt,2,Rain\nreuters,1,Snow\n")
    block = {
        **{"models": MODELS, "prompts": "news", "prompts_path": str(path), "base_url": url},
        **{"ways": ["neutral", "biased"], "replicates": 2, "first_wait": 0.01},
        **{"store_path": str(folder / "a.sqlite"), "export_path": str(folder / "out/a.parquet")},
    }
    parsed = Generate.model_validate(block | further)
    return plans.make_plan(parsed, where="generate", suites=generation.suites())


# --- out --------------------------------------------------------------------------------------


def test_the_export_is_generations_that_the_news_study_reads(
    tmp_path: Path, server: FakeOpenAI
) -> None:
    plan = make_plan(tmp_path, server.url)
    assert len(plan.calls) == 24
    plans.ask(plan)
    exported = recorded.export_answers(plan)
    table = corpus.read_generations(plan.export_path).assign(asked=exported["asked"])
    assert len(table) == 24
    assert not table.duplicated([*corpus.CELL, "article_id", "sample"]).any()
    assert set(table["prompt"]) == {"neutral", "biased"}
    assert set(table["model"]) == set(MODELS)
    assert (table["text"].str.split(": ", n=1).str[1] == table["asked"]).all()
    columns = list(tables.GENERATIONS.columns)
    pd.testing.assert_frame_equal(exported[columns], table[columns], check_dtype=False)
    # Two articles share a headline: theirs are four different answers of each model, not two.
    rain = table[(table["asked"].str.contains("Rain")) & (table["prompt"] == "neutral")]
    assert rain.groupby("model")["text"].nunique().tolist() == [4, 4]
    assert server.billed[plan.calls["prompt"].iloc[0]] == 8


def test_a_suite_may_have_columns_of_the_names_that_answers_have(
    tmp_path: Path, server: FakeOpenAI
) -> None:
    names = ["text", "status", "error", "run", "asked", "key", "model", "sample", "temperature"]
    suite = tmp_path / "s.csv"
    suite.write_text(f"prompt_id,prompt,{','.join(names)},axis\na,Why?{',x' * 10}\n")
    plan = make_plan(tmp_path, server.url, prompts="table", prompts_path=str(suite))
    plans.ask(plan)
    table = recorded.export_answers(plan)
    assert table["text"].str.contains("Answer").all()
    assert table["error"].isna().all()
    assert (table["axis"] == "x").all()
    assert not (table[table.columns.intersection(names)].astype("object") == "x").any(axis=None)


def test_placeholders_are_the_table_that_answers_are(tmp_path: Path, server: FakeOpenAI) -> None:
    plan = make_plan(tmp_path, server.url)
    before = recorded.make_placeholders(plan)
    plans.ask(plan)
    said = ["text", "stop_reason", "refusal", "input_tokens", "output_tokens", "asked_at", "run"]
    after = recorded.read_answers(plan)
    pd.testing.assert_frame_equal(
        before.drop(columns=said), after.drop(columns=said), check_dtype=False
    )
    assert before["text"].is_unique and before["text"].notna().all()


# --- in ---------------------------------------------------------------------------------------


def test_an_export_brings_a_lost_store_back(tmp_path: Path, server: FakeOpenAI) -> None:
    plan = make_plan(tmp_path, server.url)
    plans.ask(plan)
    before = recorded.export_answers(plan)
    plan.store_path.unlink()
    assert set(recorded.read_unfiled(plan)["key"]) == set(plan.calls["key"])
    assert plans.estimate(plan)["to_ask"].sum() == 0
    assert recorded.restore_answers(plan) == 24
    assert recorded.read_unfiled(plan).empty
    assert plans.ask(plan).total == 0
    assert sum(server.billed.values()) == 24
    pd.testing.assert_frame_equal(recorded.read_answers(plan), before)
    assert recorded.restore_answers(plan) == 0


def test_a_filtered_answer_without_a_text_is_an_answer_that_comes_back(
    tmp_path: Path, server: FakeOpenAI
) -> None:
    suite = tmp_path / "s.csv"
    suite.write_text("prompt_id,prompt\na,[fault:prompt_filter]\nb,[fault:empty]\n")
    further = {"prompts": "table", "prompts_path": str(suite), "replicates": 1}
    plan = make_plan(tmp_path, server.url, models=MODELS[:1], **further)
    plans.ask(plan)
    recorded.export_answers(plan)
    plan.store_path.unlink()
    assert recorded.restore_answers(plan) == 2
    assert plans.ask(plan).total == 0


def test_what_comes_back_holds_a_text_and_no_key(
    tmp_path: Path, server: FakeOpenAI, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_API_KEY", "k-of-a-provider-123456")
    plan = make_plan(tmp_path, server.url)
    texts = [None, "It is k-of-a-provider-123456."]
    rows = pd.DataFrame({"key": plan.calls["key"].iloc[0], "text": texts})
    tables.write(plan.export_path, rows.to_csv(index=False))
    plan.export_path.rename(plan.export_path.with_suffix(".csv"))
    plan = plan._replace(export_path=plan.export_path.with_suffix(".csv"))
    assert recorded.restore_answers(plan) == 1
    (text,) = recorded.read_answers(plan)["text"].dropna()
    assert text.startswith("It is ") and "provider" not in text
