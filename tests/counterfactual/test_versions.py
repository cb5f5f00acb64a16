"""Versions of prompts, and answers to them."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from nbbias import counterfactual, tables
from nbbias.counterfactual import versions
from nbbias.tables import NbbiasError


def prompts(*texts: str) -> pd.DataFrame:
    return pd.DataFrame({"prompt_id": [f"p{n}" for n in range(len(texts))], "prompt": texts})


def test_grammar_is_kept_and_people_change_places() -> None:
    table = versions.swap_prompts(prompts("Is she an Asian aunt? Her uncle asks."), ["gender"])
    shown = table.set_index("group")["prompt"]
    assert shown["female"] == "Is she an Asian aunt? Her uncle asks."
    assert shown["male"] == "Is he an Asian uncle? His aunt asks."


def test_lists_are_swapped_one_at_a_time_and_prompts_about_nobody_are_left_out() -> None:
    asked = prompts("Advise a Black woman.", "Explain tides.")
    table = versions.swap_prompts(asked, ["race", "gender"])
    assert set(table["unit"]) == {"p0"} and table["prompt_id"].is_unique
    groups = table.groupby("bias")["group"].agg(sorted).to_dict()
    assert groups == {"gender": ["female", "male"], "race": ["Asian", "Black", "White"]}
    assert table.loc[table["group"] == "Asian", "prompt"].tolist() == ["Advise an Asian woman."]


def test_names_are_swapped_with_them() -> None:
    table = versions.swap_prompts(prompts("Write about Al Green and his plans."), ["race"])
    others = table[table["group"] != "Black"]
    assert len(others) > 2 and not others["prompt"].str.contains("Al Green").any()
    assert table["prompt"].str.endswith("and his plans.").all()


def test_the_sample_is_what_it_says() -> None:
    table = versions.read_answers("sample")
    refused = table["text"].str.startswith("I'm sorry")
    assert set(table.loc[refused, "model"]) == {"uneven-writer"}
    assert table.loc[refused, "asked"].str.contains("Black|black").all()
    assert table.groupby(["model", *versions.VERSION]).size().eq(4).all()
    alike = versions.simulate_answers(effect=0)
    assert not alike["text"].str.startswith("I'm sorry").any()


def written(tmp_path: Path, **columns: Any) -> str:
    whole = {"model": "m", "unit": "u", "bias": "gender", "group": ["male", "female"]}
    whole |= {"asked": ["Help him.", "Help her."], "text": "Yes."}
    path = tmp_path / "answers.csv"
    pd.DataFrame(whole | columns, index=[0, 1]).to_csv(path, index=False)
    return str(path)


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        ({"bias": "gendr"}, "did you mean gender?"),
        ({"group": ["male", "femal"]}, "did you mean female?"),
        ({"group": ["male", None]}, "1 rows lack one of"),
        ({"sample": 1, "group": "male", "asked": "Help him."}, "1 answers have the model, version"),
        ({"text": None}, "text"),
    ],
)
def test_answers_that_cannot_be_compared_are_refused(
    tmp_path: Path, columns: dict[str, Any], reason: str
) -> None:
    chosen = counterfactual.params.Counterfactual(answers_path=written(tmp_path, **columns))
    with pytest.raises(NbbiasError) as caught:
        counterfactual.check(chosen)
    assert reason in str(caught.value)


def test_repeats_are_numbered_and_blank_answers_told(tmp_path: Path) -> None:
    path = written(tmp_path, group="male", asked="Help him.", text=["Yes.", None])
    assert versions.read_answers(path)["sample"].tolist() == [1, 2]
    chosen = counterfactual.params.Counterfactual(answers_path=path)
    assert counterfactual.check(chosen) == [f"{path}: 1 of 2 answers are blank"]


def test_answers_are_aligned_to_the_first_group() -> None:
    texts = ["He met his aunt.", "She met her uncle.", None, "It rained."]
    groups = ["male", "female", "male", "male"]
    table = pd.DataFrame({"bias": "gender", "group": groups, "text": texts}, index=[5, 6, 7, 8])
    aligned = versions.align(table)
    assert aligned.index.tolist() == [5, 6, 7, 8] and tables.is_blank(aligned)[7]
    assert aligned.dropna().tolist() == [*["She met her uncle."] * 2, "It rained."]
