"""Language models as judges, read as recorded."""

from pathlib import Path

import pandas as pd
import pytest

from nbbias import tables
from nbbias.biasalert.contracts import JUDGEMENTS
from nbbias.biasalert.judges import prompt as biasalert_prompt, recorded
from nbbias.tables import ContractError, DataError
from tests.biasalert.judges.test_prompt import evidence, texts

#: What a judge says to a text.
SAID = {
    "json": '{"biased": true, "bias_type": "race", "group": "Sikhs", "probability_biased": 0.8}',
    "refusing": "I'm sorry, but I can't help with that.",
    "chat": "Bias is a large subject.",
}


def of(words: list[str | None]) -> pd.DataFrame:
    ids = [f"t{number:02d}" for number in range(len(words))]
    return pd.DataFrame({"text_id": ids, "text": pd.Series(words, dtype="str")})


def test_a_judge_that_answers_in_many_shapes() -> None:
    table = of([*SAID, None, " "])
    replies = table[["text_id"]].assign(reply=[*SAID.values(), None, None], model="one")
    found = recorded.read_judgements(replies, table)
    tables.check(found, JUDGEMENTS)
    assert found["outcome"].tolist() == ["judged", "refused", "unreadable", "empty", "empty"]
    assert found["biased"].tolist() == [True, *[pd.NA] * 4]
    assert found.loc[0, ["bias_type", "group", "confidence"]].tolist() == ["race", "Sikhs", 0.8]
    assert found["raw"].tolist()[:-2] == list(SAID.values())
    assert set(found["judge"]) == {"one"}
    assert found["reason"].notna().sum() == 4


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
    with pytest.raises(DataError, match=r"occur twice \(a\)"):
        recorded.read_judgements(twice, given)
    two = twice.assign(judge=["x", "y"])
    with pytest.raises(DataError, match="x, y; choose one"):
        recorded.read_judgements(two, given)
    chosen = recorded.read_judgements(two, given, judge="y")
    assert chosen[["judge", "biased"]].to_numpy().tolist() == [["y", False]]
    with pytest.raises(ContractError, match="prompt_id, text"):
        recorded.read_judgements(pd.DataFrame({"text_id": ["a"]}), given)
