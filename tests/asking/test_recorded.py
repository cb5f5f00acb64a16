"""Recorded answers: out as a table that studies read, in without being paid for again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from nbbias import tables
from nbbias.asking import plan as generate, recorded
from nbbias.asking.params import Generate
from nbbias.asking.plan import Plan
from nbbias.llmbi import scoring
from nbbias.news import corpus
from nbbias.running import generation
from nbbias.tables import ContractError, DataError
from tests.fake_openai import KEY, FakeOpenAI

MODELS = ["openai-api/fake/a", "openai-api/fake/b"]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeOpenAI]:
    monkeypatch.setenv("FAKE_API_KEY", KEY)
    with FakeOpenAI() as one:
        yield one


def news_plan(folder: Path, url: str = "", **further: Any) -> Plan:
    path = folder / "headlines.csv"
    path.write_text(
        "outlet,article_id,headline\nnyt,1,Rain\nnyt,2,Rain\nreuters,1,Snow\n", encoding="utf-8"
    )
    chosen = {
        "models": MODELS,
        "prompts": "news",
        "prompts_path": str(path),
        "base_url": url,
        "ways": ["neutral", "biased"],
        "replicates": 2,
        "first_wait": 0.01,
        "store_path": str(folder / "a.sqlite"),
        "export_path": str(folder / "out/a.parquet"),
    }
    return generation.plan_block(Generate.model_validate(chosen | further))


# --- out --------------------------------------------------------------------------------------


def test_the_export_is_generations_that_the_news_study_reads(
    tmp_path: Path, server: FakeOpenAI
) -> None:
    plan = news_plan(tmp_path, server.url)
    assert len(plan.calls) == 3 * 2 * 2 * 2
    generate.ask(plan)
    exported = recorded.export(plan)
    table = corpus.read_generations(plan.export_path).assign(asked=exported["asked"])
    assert len(table) == 24
    assert not table.duplicated([*corpus.CELL, "article_id", "sample"]).any()
    assert set(table["prompt"]) == {"neutral", "biased"}
    assert set(table["model"]) == set(MODELS)
    assert table["text"].notna().all()
    assert (table["text"].str.split(": ", n=1).str[1] == table["asked"]).all()
    pd.testing.assert_frame_equal(
        exported[list(tables.GENERATIONS.columns)],
        table[list(tables.GENERATIONS.columns)],
        check_dtype=False,
    )
    # Two articles share a headline: theirs are four different answers of each model, not two.
    rain = table[(table["asked"].str.contains("Rain")) & (table["prompt"] == "neutral")]
    assert rain.groupby("model")["text"].count().tolist() == [4, 4]
    assert server.billed[plan.calls["prompt"].iloc[0]] == 8


def test_the_export_of_llmbi_is_read_by_its_study(tmp_path: Path, server: FakeOpenAI) -> None:
    plan = news_plan(tmp_path, server.url, prompts="llmbi", prompts_path="sample")
    generate.ask(plan)
    recorded.export(plan)
    answers = scoring.read_answers(plan.export_path)
    assert len(answers) == 18 * 2 * 2
    assert answers["dimension"].value_counts().tolist() == [8] * 9


@pytest.mark.parametrize(
    ("kind", "columns", "row"),
    [
        ("news", "article_id,headline", "7,Rain"),
        ("table", "prompt_id,article_id,prompt", "a,7,Write about rain."),
    ],
)
def test_answers_to_prompts_without_a_source_are_those_to_originals_without_one(
    tmp_path: Path, kind: str, columns: str, row: str
) -> None:
    asked_of = tmp_path / "o.csv"
    asked_of.write_text(f"{columns}\n{row}\n")
    human = tmp_path / "human.csv"
    human.write_text("article_id,text\n7,It rains.\n")
    plan = news_plan(tmp_path, prompts=kind, prompts_path=str(asked_of), ways=["neutral"])
    recorded.export(plan)
    generations = corpus.read_generations(plan.export_path)
    assert set(corpus.pair(corpus.read_originals(human), generations)["lost"]) == {"blank answer"}


def test_a_suite_may_have_columns_of_the_names_that_answers_have(
    tmp_path: Path, server: FakeOpenAI
) -> None:
    names = ["text", "status", "error", "run", "asked", "key", "model", "sample", "temperature"]
    (tmp_path / "s.csv").write_text(f"prompt_id,prompt,{','.join(names)},axis\na,Why?{',x' * 10}\n")
    plan = news_plan(tmp_path, server.url, prompts="table", prompts_path=str(tmp_path / "s.csv"))
    assert list(recorded.placeholders(plan)["axis"]) == ["x"] * 4
    generate.ask(plan)
    table = recorded.export(plan)
    assert table["text"].str.contains("Answer").all()
    assert table["error"].isna().all()
    assert (table["axis"] == "x").all()
    assert not (table[table.columns.intersection(names)].astype("object") == "x").any(axis=None)
    assert counts(plan, plan.export_path)["there already"] == 4


def test_what_has_no_answer_is_a_row_with_a_reason(tmp_path: Path) -> None:
    table = recorded.table(news_plan(tmp_path))
    assert len(table) == 24
    assert table["text"].isna().all()
    assert set(table["error"]) == {"not asked yet"}


def test_an_export_is_whole_or_not_there(tmp_path: Path) -> None:
    plan = news_plan(tmp_path)
    (tmp_path / "out").write_text("a file where a folder should be")
    with pytest.raises(DataError, match="cannot be written"):
        recorded.export(plan)


# --- in ---------------------------------------------------------------------------------------


def counts(plan: Plan, path: Path) -> dict[str, int]:
    return recorded.take_in(plan, path).set_index("what")["rows"].to_dict()


def test_an_export_brings_a_lost_store_back(tmp_path: Path, server: FakeOpenAI) -> None:
    plan = news_plan(tmp_path, server.url)
    generate.ask(plan)
    before = recorded.export(plan)
    plan.store_path.unlink()
    assert recorded.has_more(plan)
    assert generate.estimate(plan)["to_ask"].sum() == 0
    assert counts(plan, plan.export_path)["filed"] == 24
    assert generate.ask(plan).total == 0
    assert sum(server.billed.values()) == 24
    pd.testing.assert_frame_equal(
        recorded.table(plan).drop(columns="run"), before.drop(columns="run")
    )
    assert counts(plan, plan.export_path) == {
        "filed": 0,
        "there already": 24,
        "no text": 0,
        "not in the plan": 0,
    }


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet", "json"])
def test_answers_from_elsewhere_are_matched_by_article_and_way(tmp_path: Path, ending: str) -> None:
    plan = news_plan(tmp_path)
    given = pd.DataFrame(
        [
            ("nyt", "1", "neutral", "one"),
            ("nyt", "1", "neutral", "two"),
            ("nyt", "2", "biased", ""),
            ("reuters", "1", "biased", "three"),
            ("reuters", "9", "biased", "unasked"),
        ],
        columns=["source", "article_id", "prompt", "text"],
    ).assign(model=MODELS[0])
    path = tmp_path / f"given.{ending}"
    if ending == "csv":
        given.to_csv(path, index=False)
    elif ending == "parquet":
        given.to_parquet(path)
    else:
        given.to_json(path, orient="records", lines=ending == "jsonl")
    assert counts(plan, path) == {
        "filed": 3,
        "there already": 0,
        "no text": 1,
        "not in the plan": 1,
    }
    table = recorded.table(plan).dropna(subset="text")
    found = table.set_index(["source", "article_id", "prompt", "sample"])["text"].to_dict()
    assert found == {
        ("nyt", "1", "neutral", 1): "one",
        ("nyt", "1", "neutral", 2): "two",
        ("reuters", "1", "biased", 1): "three",
    }
    assert generate.estimate(plan)["to_ask"].tolist() == [9, 12]


def test_answers_are_matched_by_prompt_id_or_by_the_very_text(tmp_path: Path) -> None:
    plan = news_plan(tmp_path, prompts="llmbi", prompts_path="sample", replicates=1)
    first = plan.calls.iloc[0]
    for number, column in enumerate(["prompt_id", "prompt"]):
        row = plan.calls.iloc[number]
        path = tmp_path / f"{column}.csv"
        pd.DataFrame({column: [row[column]], "model": [MODELS[0]], "text": ["Said."]}).to_csv(
            path, index=False
        )
        assert counts(plan, path)["filed"] == 1
    assert recorded.table(plan).set_index("key").loc[first["key"], "text"] == "Said."


def test_answers_are_matched_by_their_temperature_and_not_guessed_at(tmp_path: Path) -> None:
    plan = generation.plan_block(
        Generate.model_validate(
            {
                "models": MODELS[:1],
                "prompts": "llmbi",
                "limit": 1,
                "temperature": [0.0, 0.5],
                "store_path": str(tmp_path / "a.sqlite"),
                "export_path": str(tmp_path / "a.parquet"),
            }
        )
    )
    (one,) = plan.calls["prompt_id"].unique()
    given = pd.DataFrame({"prompt_id": one, "model": MODELS[0], "text": ["Warm.", "Hot."]})
    given.to_csv(tmp_path / "given.csv", index=False)
    with pytest.raises(DataError, match="names no temperature"):
        recorded.take_in(plan, tmp_path / "given.csv")
    given.assign(temperature=[0.5, 1.5]).to_csv(tmp_path / "given.csv", index=False)
    assert counts(plan, tmp_path / "given.csv")["filed"] == 1
    table = recorded.table(plan).set_index("temperature")["text"]
    assert table[0.5] == "Warm."
    assert pd.isna(table[0.0])


def test_answers_without_a_source_are_not_guessed_at(tmp_path: Path) -> None:
    path = tmp_path / "given.csv"
    path.write_text(f"article_id,model,text\n1,{MODELS[0]},Which outlet?\n")
    with pytest.raises(DataError, match="source"):
        recorded.take_in(news_plan(tmp_path), path)


def test_a_file_that_does_not_say_what_was_asked_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "given.csv"
    path.write_text("model,text\nm,Hello.\n")
    with pytest.raises(DataError, match="what was asked"):
        recorded.take_in(news_plan(tmp_path), path)
    path.write_text("article_id,text\n1,Hello.\n")
    with pytest.raises(ContractError, match="model"):
        recorded.take_in(news_plan(tmp_path), path)


# --- the release of Fang et al. -----------------------------------------------------------------


def put(path: Path, content: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content))


@pytest.mark.parametrize(
    ("content", "wanted"),
    [
        ({"1": "One.", "2": "Two."}, [("all", "1", "One."), ("all", "2", "Two.")]),
        (["One.", "Two."], [("all", "1", "One."), ("all", "2", "Two.")]),
        (
            {"nyt": {"1": "One."}, "reuters": ["Two."]},
            [("nyt", "1", "One."), ("reuters", "1", "Two.")],
        ),
        ({"1": ["One.", "Again."]}, [("all", "1", "One."), ("all", "1", "Again.")]),
        ({"1": {"text": "One.", "title": "T"}}, [("all", "1", "One.")]),
        ({"1": "One.", "2": None}, [("all", "1", "One."), ("all", "2", None)]),
    ],
)
def test_a_release_is_read_however_it_is_nested(
    tmp_path: Path, content: object, wanted: list[tuple[str, str, str | None]]
) -> None:
    put(tmp_path / "news_data/gpt2.json", content)
    put(tmp_path / "news_data/nyt_title.json", {"1": "A title is no answer"})
    put(tmp_path / "bias_data/news_data/biasgpt2.json", content)
    table = recorded.release(tmp_path)
    assert set(table["model"]) == {"gpt2"}
    for way in ("neutral", "biased"):
        rows = table.loc[table["prompt"] == way, ["source", "article_id", "text"]]
        assert rows.astype(object).where(rows.notna(), None).to_numpy().tolist() == [
            list(one) for one in wanted
        ]
    assert not table.duplicated(["source", "article_id", "model", "prompt", "sample"]).any()


def test_half_a_character_of_a_release_is_read_as_a_sign_that_can_be_written(
    tmp_path: Path,
) -> None:
    path = tables.write(tmp_path / "news_data/m.json", '{"nyt": {"1": "One\\ud800"}}')
    assert recorded.release(path.parent.parent)["text"].to_list() == ["One\ufffd"]


def test_a_release_nested_otherwise_is_refused_with_what_was_found(tmp_path: Path) -> None:
    put(tmp_path / "news_data/a.json", {"1": "text", "2": ["list"]})
    put(tmp_path / "news_data/b.json", {"1": {"body": "text"}})
    put(tmp_path / "news_data/c.json", 7)
    with pytest.raises(DataError) as error:
        recorded.release(tmp_path)
    told = str(error.value)
    assert "a.json" in told and "list, str" in told
    assert "b.json" in told and "body" in told
    assert "c.json" in told and "int" in told
    with pytest.raises(DataError, match="holds neither"):
        recorded.release(tmp_path / "news_data")


def test_a_release_fills_a_store(tmp_path: Path) -> None:
    put(tmp_path / "r/news_data/small.json", {"nyt": {"1": "One."}, "reuters": {"1": "Two."}})
    plan = news_plan(tmp_path, models=["fang/small"])
    assert counts(plan, tmp_path / "r")["filed"] == 0  # its model is called otherwise
    path = tmp_path / "r.csv"
    recorded.release(tmp_path / "r").assign(model="fang/small").to_csv(path, index=False)
    assert counts(plan, path)["filed"] == 2
