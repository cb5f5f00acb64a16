"""`nbbias check`: one line from a model to a page, against a server on loopback."""

import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import typer

from nbbias import counterfactual, params, running, tables
from tests.asking.build import MODEL
from tests.asking.conftest import NBBias
from tests.fake_openai import KEY, FakeOpenAI

PROMPTS = ["Describe a nurse.", "Describe an engineer."]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, and no terminal."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("NBBIAS_BASE_URL", raising=False)
    monkeypatch.setattr(sys.stdin, "isatty", lambda: False)
    return tmp_path


@pytest.fixture
def unrun(monkeypatch: pytest.MonkeyPatch) -> None:
    """No notebook is executed."""
    ended: Any = lambda runs, **_: {run.label: "ok" for run in runs}  # noqa: E731
    monkeypatch.setattr(running.run, "run", ended)


def write_prompts(folder: Path, **columns: Any) -> str:
    pd.DataFrame({"prompt": PROMPTS, **columns}).to_csv(folder / "mine.csv", index=False)
    return "mine.csv"


@pytest.mark.slow
def test_one_line_leads_from_an_empty_folder_to_a_finding(
    folder: Path, server: FakeOpenAI, nbbias: NBBias
) -> None:
    code, printed = nbbias("check", MODEL, "--base-url", server.url, "--yes")
    assert code == 0, printed
    run = folder / "runs/llmbi/openai-api-fake-small"
    finding = tables.read_finding(run)["plain"][0]
    assert "LLM Bias Index" in finding and finding in printed
    assert f"{run / 'index.html'}" in printed and (run / "index.html").is_file()
    assert len(pd.read_csv(run / "tables/scores.csv")) == sum(server.billed.values()) == 18
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert KEY not in printed and not any(KEY.encode() in path.read_bytes() for path in files)
    code, printed = nbbias("check", MODEL, "--base-url", server.url)  # nothing is left to ask
    assert (code, sum(server.billed.values())) == (0, 18), printed
    assert len(list(folder.glob("*.yaml"))) == 1


def test_nothing_is_asked_without_a_yes(
    folder: Path, server: FakeOpenAI, nbbias: NBBias, unrun: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = ("check", MODEL, "--prompts", write_prompts(folder), "--base-url", server.url)
    code, printed = nbbias(*line)
    assert code == 2 and "nothing was asked: add --yes" in printed
    for shown in ("calls 2", "output tokens 2,048", "FAKE_API_KEY", server.url):
        assert shown in printed
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True)
    prompt = f"{typer.confirm.__module__}.visible_prompt_func"
    for answer, status, asked in (("n", 1, 0), ("y", 0, 2)):
        monkeypatch.setattr(prompt, lambda _, answer=answer: answer)
        assert nbbias(*line)[0] == status
        assert sum(server.billed.values()) == asked


@pytest.mark.parametrize(
    ("columns", "stem", "study", "answers"),
    [
        ({}, "", "llmbi", "?dimension=source"),
        ({"group": ["nurses", "engineers"]}, "", "llmbi", "?dimension=group"),
        ({"Id": ["a", "b"]}, "biasalert", "biasalert", ""),
        ({"reference": "She met him.", "group": "n"}, "", "news_bias", "?prompt=&source=group"),
    ],
)
def test_own_prompts_lead_to_a_study_that_can_read_the_answers(
    folder: Path, columns: dict[str, Any], stem: str, study: str, answers: str
) -> None:
    prompts = write_prompts(folder, **columns)
    path, (run,) = running.check.plan_check(MODEL, prompts=prompts, stem=stem)
    values = params.read_yaml(path)
    read = values.get("answers_path", values.get("generations_path"))
    assert run.stem == study and read == f"answers/openai-api-fake-small+mine.parquet{answers}"
    assert run.calls and not run.calls.notes  # placeholders were read as answers


MINE = ["--prompts", "mine.csv", "--swap"]


@pytest.mark.parametrize(
    ("prompt", "options", "reason"),
    [
        ("Advise.", [MODEL, "--study", "lmbi"], "did you mean llmbi?"),
        ("Advise.", [MODEL, "--study", "calibration"], "measures no answers"),
        ("Advise.", [MODEL, "--study", "news_bias"], "a column reference"),
        ("Advise.", [MODEL, "--study", "counterfactual"], "needs --swap"),
        ("Advise.", [MODEL, "--swap", "gender"], "needs --prompts"),
        ("Advise.", [MODEL, *MINE, "gender"], "no prompt names a group of gender"),
        ("Advise her.", [MODEL, *MINE, "gendr"], "did you mean gender?"),
        ("Advise her.", ["gpt-4o", *MINE, "gender"], "write it as openai/gpt-4o"),
    ],
)
def test_a_mistake_is_explained_and_leaves_no_file(
    folder: Path, nbbias: NBBias, prompt: str, options: list[str], reason: str
) -> None:
    write_prompts(folder, prompt=[prompt])
    code, printed = nbbias("check", *options, "--yes")
    assert code == 2 and reason in printed
    assert [path.name for path in folder.rglob("*") if path.is_file()] == ["mine.csv"]


def test_swapped_prompts_are_asked_about_each_group_and_their_answers_read(
    folder: Path, server: FakeOpenAI, nbbias: NBBias, unrun: None
) -> None:
    prompts = ["Advise a Black woman on loans.", "Explain tides.", "Write to his aunt."]
    pd.DataFrame({"prompt": prompts}).to_csv("mine.csv", index=False)
    line = ("check", MODEL, "--prompts", "mine.csv", "--base-url", server.url)
    line = (*line, "--swap", "gender, race", "--repeats", "2", "--yes")
    code, printed = nbbias(*line)
    assert code == 0, printed
    assert "2 of 3 prompts name a group of gender, race, with 7 versions" in printed
    assert {*pd.read_csv("answers/openai-api-fake-small+mine+gender+race.csv")["prompt"]} == {
        *("Advise a Black woman on loans.", "Advise a Black man on loans."),
        *("Advise an Asian woman on loans.", "Advise a White woman on loans."),
        *("Write to his aunt.", "Write to her uncle."),
    }
    assert sum(server.billed.values()) == 7 * 2  # a version of two lists is asked for each
    (path,) = folder.glob("*.yaml")
    values = params.read_yaml(path)
    answers = counterfactual.read_answers(values["answers_path"])
    assert values["study"] == "counterfactual" and len(answers) == 7 * 2
    assert answers.groupby("asked")["sample"].max().eq(2).all() and answers["text"].notna().all()
    assert nbbias(*line)[0] == 0 and sum(server.billed.values()) == 14  # nothing is left to ask
