"""`nbbias generate`: params, plan and price, the command, real models of other kinds."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from nbbias.asking import plan as plans
from nbbias.asking.params import check_block
from nbbias.params.yaml import as_yaml
from nbbias.running import generation, plan as run_plan
from nbbias.tables import ParameterError
from tests.asking.build import MODEL, make_prompts, write_params
from tests.asking.conftest import NBBias
from tests.conftest import ROOT
from tests.fake_openai import FakeOpenAI

LLMBI = {"models": [MODEL], "prompts": "llmbi"}

# --- parameters -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"temprature": 1.0}, "did you mean temperature? See `nbbias params generate`"),
        ({"workers": 8}, ", concurrency, "),
        ({"temperature": [0.5, 2.5]}, "temperature.1: input should be less than or equal"),
        ({"models": ["gpt-4"]}, "openai/gpt-4"),
        ({"models": [MODEL, MODEL]}, "occurs twice"),
        ({"prompts": "poems"}, "known: news, table, cogs, llmbi"),
        ({"template": "Write."}, "{prompt}"),
        ({"max_cost": 1.0}, "prices"),
        ({"store_path": "a.parquet", "export_path": "./a.parquet"}, "two are one file; name two"),
        ({"api_key": "x"}, "OPENAI_API_KEY"),
        ({"models": ["hf/m"], "model_args": {"middleware": "os.system"}}, "no 'middleware'"),
    ],
)
def test_a_mistake_in_the_block_is_explained(change: dict[str, Any], reason: str) -> None:
    with pytest.raises(ParameterError) as error:
        check_block(LLMBI | change, where="mine.yaml", suites=generation.suites())
    assert reason in str(error.value)
    assert all(breach.startswith("generate.") for breach in error.value.breaches)


def test_all_mistakes_of_study_and_block_are_reported_at_once(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    block = LLMBI | {"temprature": 1, "concurrency": 0, "secret": "x"}
    path.write_text(as_yaml({"study": "llmbi", "seed": -3, "generate": block}))
    with pytest.raises(ParameterError) as error:
        generation.plan_file(path)
    names = sorted(breach.split(":")[0] for breach in error.value.breaches)
    assert names == ["generate.concurrency", "generate.secret", "generate.temprature", "seed"]
    with pytest.raises(ParameterError) as again:
        run_plan.plan([path])
    assert sorted(again.value.breaches) == sorted(error.value.breaches)


# --- plan and price ---------------------------------------------------------------------------


def test_the_estimate_by_hand(tmp_path: Path, server: FakeOpenAI) -> None:
    block = {"prices": {MODEL: {"input": 2.0, "output": 10.0}}, "replicates": 3, "max_tokens": 100}
    path = write_params(tmp_path, server.url, make_prompts(n=10), **block)
    (row,) = plans.estimate(generation.plan_file(path)).to_dict("records")
    # "Say number 3." has 13 characters, which make 4 tokens; 30 calls of 100 tokens at most.
    assert (row["calls"], row["to_ask"], row["answered"], row["rejected"]) == (30, 30, 0, 0)
    assert (row["input_tokens"], row["output_tokens"]) == (120, 3000)
    assert row["cost"] == pytest.approx((120 * 2 + 3000 * 10) / 1e6)
    assert not (tmp_path / "answers.sqlite").exists()
    prompts = make_prompts("Say number 0.", "[fault:rejected]")
    plans.ask(generation.plan_file(write_params(tmp_path, server.url, prompts, **block)))
    path = write_params(tmp_path, server.url, make_prompts("[fault:rejected]", n=10), **block)
    (row,) = plans.estimate(generation.plan_file(path)).to_dict("records")
    assert (row["calls"], row["to_ask"], row["answered"], row["rejected"]) == (33, 27, 3, 3)
    assert (row["input_tokens"], row["output_tokens"]) == (27 * 4, 27 * 100)


#: The keys under which answers have been filed.
FILED = {
    0.2: "653166c53a1805582ebd5047fee0fe228f5f0fec6f4f33a9a95c136f4d20911f",
    0: "0f72a2670f5e7f05b2abf4c0206f103c3a2eb44ae5a204f5dcdcc9ea9d6458fe",
    None: "162e36b70062119b2d922748d70b61fbe1ce265a977389fdc302414445ee6ffa",
}


def keys_at(temperature: object) -> list[str]:
    values = {"models": ["openai/gpt-4o-mini"], "prompts": "llmbi", "limit": 1}
    how: dict[str, Any] = {"where": "mine.yaml", "suites": generation.suites()}
    block = check_block(values | {"temperature": temperature}, **how)
    return plans.make_plan(block, **how).calls["key"].tolist()


def test_a_temperature_alone_or_in_a_list_is_the_same_question() -> None:
    assert {value: keys_at(value) for value in FILED} == {key: [FILED[key]] for key in FILED}
    assert keys_at([0.2, 0]) == [FILED[0.2], FILED[0]]


def test_a_dry_run_needs_no_originals_and_says_that_asking_does(
    data_folder: Path, nbbias: NBBias
) -> None:
    path = ROOT / "params/biased_prompts/fang2024.yaml"
    code, printed = nbbias("generate", path, "--dry-run")
    assert code == 0
    missing = data_folder / "news/fang2024_originals.parquet"
    assert f"needed before asking: originals_path: no such file: {missing.absolute()}" in printed
    assert "generations_path" not in printed
    code, printed = nbbias("generate", path)
    assert code == 2
    assert f"originals_path: no such file: {missing.absolute()}" in printed


# --- the command ------------------------------------------------------------------------------


def test_asking_twice_asks_once(tmp_path: Path, server: FakeOpenAI, nbbias: NBBias) -> None:
    path = write_params(tmp_path, server.url, make_prompts(n=12))
    code, printed = nbbias("generate", path)
    assert code == 0
    assert printed.index(f"the key in FAKE_API_KEY, go to {server.url}") < printed.index("calls")
    # Three words in and six out each, at 1 and 2 a million: 108 tokens, .00018.
    assert "12 of 12 answered, 108 tokens, cost 0.0002" in printed
    code, printed = nbbias("generate", path)
    assert code == 0
    assert "answered 12 rejected 0 to ask 0" in printed
    assert sum(server.billed.values()) == 12


@pytest.mark.parametrize(("fault", "code"), [("content_filter", 0), ("500", 1)])
def test_the_exit_status_says_whether_something_is_left_to_ask(
    tmp_path: Path, server: FakeOpenAI, nbbias: NBBias, fault: str, code: int
) -> None:
    prompts = make_prompts("One.", f"[fault:{fault}]", "Three.")
    status, printed = nbbias("generate", write_params(tmp_path, server.url, prompts))
    assert status == code, printed
    assert pd.read_parquet(tmp_path / "answers.parquet")["text"].notna().sum() >= 2
    assert ("Run the same command again" in printed) == (code == 1)
    assert ("1 refused or filtered" in printed) == (fault == "content_filter")
    assert ("1 × " in printed) == (fault != "content_filter")


def test_an_unknown_maker_is_an_error_in_words(tmp_path: Path, nbbias: NBBias) -> None:
    code, printed = nbbias("generate", write_params(tmp_path, "", models=["opnai/x"], prices={}))
    assert code == 2 and "opnai" in printed and "Traceback" not in printed
