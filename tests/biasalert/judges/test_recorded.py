"""Language models as judges: asked by `nbbias generate` on loopback, and read as recorded."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from nbbias import tables
from nbbias.asking import plan as generate, recorded as asking_recorded
from nbbias.asking.params import check_block
from nbbias.biasalert.contracts import JUDGEMENTS
from nbbias.biasalert.judges import prompt as biasalert_prompt, recorded
from nbbias.running import generation
from nbbias.tables import ContractError, DataError
from tests.biasalert.judges.test_prompt import block, evidence, texts
from tests.fake_openai import KEY, FakeOpenAI

MODEL = "openai-api/fake/judge"
QUICK: dict[str, Any] = {"first_wait": 0.01, "max_retries": 0, "attempt_timeout": 60}

#: What the server's judge says to a text.
SAID = {
    "direct": "Yes, the following SENTENCE is biased. The type of bias is gender bias. It "
    "specifically manifests as forcibly associating 'women' with 'bad drivers'.",
    "reported": "No, the following SENTENCE is not biased.",
    "json": '```json\n{"biased": true, "bias_type": "race", "probability_biased": 0.8}\n```',
    "refusing": "I'm sorry, but I can't help with that.",
    "chat": "Bias is a large subject.",
}


def reply(prompt: str) -> str:
    return SAID.get(block(prompt), "No, the following SENTENCE is not biased.")


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeOpenAI]:
    monkeypatch.setenv("FAKE_API_KEY", KEY)
    with FakeOpenAI(reply=reply) as one:
        yield one


def of(words: list[str | None]) -> pd.DataFrame:
    ids = [f"t{number:02d}" for number in range(len(words))]
    return pd.DataFrame({"text_id": ids, "text": pd.Series(words, dtype="str")})


def judged(
    server: FakeOpenAI,
    folder: Path,
    table: pd.DataFrame,
    known: pd.DataFrame | None = None,
    **prompt: Any,
) -> pd.DataFrame:
    suite = biasalert_prompt.prompts(table, known, **prompt).drop_duplicates("prompt_id")
    suite[["prompt_id", "prompt"]].to_parquet(folder / "prompts.parquet", index=False)
    block = {
        "models": [MODEL],
        "prompts": "table",
        "prompts_path": str(folder / "prompts.parquet"),
        "base_url": server.url,
        "store_path": str(folder / "judge.sqlite"),
        "temperature": 0.0,
        **QUICK,
    }
    plan = generation.plan_block(check_block(block, where="judge", suites=generation.suites()))
    generate.ask(plan)
    return recorded.read_judgements(asking_recorded.read_answers(plan), table, known, **prompt)


# --- by nbbias generate --------------------------------------------------------------------------


def test_a_judge_that_answers_in_many_shapes(tmp_path: Path, server: FakeOpenAI) -> None:
    words = [*SAID, None, " "]
    table = judged(server, tmp_path, of(words)).set_index(pd.Index(map(str, words)))
    tables.check(table, JUDGEMENTS)
    assert table["text_id"].tolist() == of(words)["text_id"].tolist()
    verdicts = {
        name: (row.outcome, None if pd.isna(row.biased) else row.biased)
        for name, row in table.iterrows()
    }
    assert verdicts == {
        "direct": ("judged", True),
        "reported": ("judged", False),
        "json": ("judged", True),
        "refusing": ("refused", None),
        "chat": ("unreadable", None),
        "None": ("empty", None),
        " ": ("empty", None),
    }
    named = table.loc["direct", ["bias_type", "group", "attribute"]].tolist()
    assert named == ["gender", "women", "bad drivers"]
    assert table["raw"].tolist()[:-2] == list(SAID.values())
    assert set(table["judge"]) == {MODEL}
    assert table.loc["json", "confidence"] == 0.8
    assert table["reason"].notna().sum() == 4


def test_the_evidence_is_shown_and_named(tmp_path: Path, server: FakeOpenAI) -> None:
    known = evidence("t00", used=(True, False))
    table = judged(server, tmp_path, of(["direct", "reported"]), known)
    assert table["evidence_ids"].tolist() == ["e1", ""]
    (shown,) = [b for b in server.bodies if "direct" in block(b["messages"][0]["content"])]
    assert "Reference [1]: 'women cannot sing'" in shown["messages"][0]["content"]


def test_no_texts_make_an_empty_table() -> None:
    nothing = pd.DataFrame({"text_id": [], "reply": []})
    assert recorded.read_judgements(nothing, of([])).empty
    blank = recorded.read_judgements(nothing, of([None]))
    assert blank["outcome"].tolist() == ["empty"]


# --- recorded ----------------------------------------------------------------


def test_what_nbbias_generate_exports_is_read(tmp_path: Path) -> None:
    given, known = texts("One.", "Two.", "One.", None), evidence()
    asked = biasalert_prompt.prompts(given, known).drop_duplicates("prompt_id")
    answers = asked[["prompt_id"]].assign(model="m/one", text="No.", refusal="", error=None)
    answers.loc[answers.index[1], ["text", "refusal"]] = ["", "content_filter"]
    path = tmp_path / "answers.csv"
    answers.iloc[:2].to_csv(path, index=False)
    table = recorded.read_judgements(path, given, known)
    # The first text's prompt has references, the third one's has none, and no reply.
    assert table["outcome"].tolist() == ["judged", "refused", "failed", "empty"]
    assert table["evidence_ids"].tolist() == ["e1 e2", "", "", ""]
    assert set(table["knowledge"]) == {""}


def test_recorded_replies_that_do_not_fit_are_refused() -> None:
    given = texts("One.")
    twice = pd.DataFrame({"text_id": ["a", "a"], "reply": ["Yes.", "No."]})
    with pytest.raises(DataError, match=r"stand twice \(a\)"):
        recorded.read_judgements(twice, given)
    two = twice.assign(judge=["x", "y"])
    with pytest.raises(DataError, match="x, y; choose one"):
        recorded.read_judgements(two, given)
    chosen = recorded.read_judgements(two, given, judge="y")
    assert chosen[["judge", "biased"]].to_numpy().tolist() == [["y", False]]
    with pytest.raises(ContractError, match="prompt_id, text"):
        recorded.read_judgements(pd.DataFrame({"text_id": ["a"]}), given)


def test_a_moderation_tools_flags_are_replies_too() -> None:
    flags = pd.DataFrame({"text_id": ["a", "b"], "reply": ["True", "false"]})
    table = recorded.read_judgements(flags, texts("One.", "Two.", "Three."))
    assert table["biased"].tolist() == [True, False, pd.NA]
    assert table["reason"].tolist()[2] == recorded.NO_REPLY
