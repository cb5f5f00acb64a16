"""`nbbias generate`: params, plan and price, the command, real models of other kinds."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml

from nbbias import params, stats
from nbbias.asking import plan as generate, prompts, recorded
from nbbias.asking.params import Generate
from nbbias.cogs import rbs, suite as cogs_suite
from nbbias.running import generation, plan as run_plan
from nbbias.tables import ParameterError
from tests.asking.test_loop_killed import MODEL, params as write, start, suite
from tests.conftest import ROOT, Command
from tests.fake_openai import KEY, FakeOpenAI

pytestmark = pytest.mark.filterwarnings("ignore:The 'initial' parameter:DeprecationWarning")

LLMBI = {"models": [MODEL], "prompts": "llmbi"}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeOpenAI]:
    monkeypatch.setenv("FAKE_API_KEY", KEY)
    with FakeOpenAI() as one:
        yield one


@pytest.fixture
def nbbias(command: Command) -> Callable[..., tuple[int, str]]:
    """Run the command line in this process: its exit status, and all that it says."""

    def run_it(*arguments: object) -> tuple[int, str]:
        done = command(*arguments)
        return done.returncode, done.stdout + done.stderr

    return run_it


# --- parameters -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"temprature": 1.0}, "did you mean temperature?"),
        ({"temperature": "hot"}, "valid number"),
        ({"temperature": 3.0}, "less than or equal to 2"),
        ({"temperature": []}, "at least 1 item"),
        ({"temperature": [0.5, 2.5]}, "temperature.list.1: input should be less than or equal"),
        ({"temperature": [0.5, 0.5]}, "stands twice"),
        ({"models": []}, "at least 1 item"),
        ({"models": ["gpt-4"]}, "openai/gpt-4"),
        ({"models": [MODEL, MODEL]}, "stands twice"),
        ({"prompts": "poems"}, "known: news, bold, table, cogs, llmbi"),
        ({"prompts": "news"}, "prompts_path"),
        ({"prompts_path": "nowhere.csv"}, "no such file"),
        ({"ideologies": ["Androcentrisme"]}, "did you mean Androcentrism?"),
        ({"template": "Write."}, "{prompt}"),
        ({"replicates": 0}, "greater than or equal to 1"),
        ({"max_retries": True}, "valid integer"),
        ({"prices": {"openai/other": {"input": 1.0}}}, "openai/other is not among the models"),
        ({"prices": {MODEL: {"inputs": 1.0}}}, "inputs"),
        ({"max_cost": 1.0}, "prices"),
        ({"batch_size": 10}, "no batch mode"),
        ({"export_path": "a.csv"}, ".parquet"),
        ({"store_path": "${NBBIAS_NOWHERE}/a"}, "NBBIAS_NOWHERE"),
        ({"api_key": "x"}, "OPENAI_API_KEY"),
        ({"model_args": {"trust_remote_code": True}}, "no 'trust_remote_code'"),
        ({"models": ["vllm/m"], "model_args": {"middleware": "os.system"}}, "no 'middleware'"),
        ({"models": ["vllm/--middleware=os.system"]}, "is no model's name"),
    ],
)
def test_a_mistake_in_the_block_is_explained(change: dict[str, Any], told: str) -> None:
    with pytest.raises(ParameterError) as error:
        generation.check_block(LLMBI | change, where="mine.yaml")
    assert told in str(error.value)
    assert all(breach.startswith("generate.") for breach in error.value.breaches)


def test_all_mistakes_of_study_and_block_are_told_at_once(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    block = LLMBI | {"temprature": 1, "concurrency": 0, "secret": "x"}
    path.write_text(yaml.safe_dump({"study": "llmbi", "draws": 3, "generate": block}))
    with pytest.raises(ParameterError) as error:
        generation.plan_file(path)
    told = [breach.split(":")[0] for breach in error.value.breaches]
    assert sorted(told) == [
        "draws",
        "generate.concurrency",
        "generate.secret",
        "generate.temprature",
    ]
    with pytest.raises(ParameterError) as again:
        run_plan.plan([path])
    assert sorted(again.value.breaches) == sorted(error.value.breaches)


def test_params_without_the_block_have_nothing_to_generate() -> None:
    with pytest.raises(ParameterError, match="generate:"):
        generation.plan_file(ROOT / "params/llmbi/sample.yaml")


def test_the_file_that_is_going_to_be_exported_need_not_be_there(tmp_path: Path) -> None:
    to_come = str(tmp_path / "a.parquet")
    values = {"answers_path": to_come, "generate": LLMBI | {"export_path": to_come}}
    parameters, block = generation.check("llmbi", values, where="mine.yaml")
    assert parameters.model_dump()["answers_path"] == to_come
    assert block is not None
    values["answers_path"] = str(tmp_path / "b.parquet")
    with pytest.raises(ParameterError, match="no such file"):
        generation.check("llmbi", values, where="mine.yaml")


def test_every_parameter_is_described(nbbias: Callable[..., tuple[int, str]]) -> None:
    table = params.describe(Generate)
    assert set(table["name"]) == set(Generate.model_fields)
    assert table["meaning"].str.len().gt(0).all()
    code, told = nbbias("params", "generate")
    assert code == 0
    assert "concurrency" in told


# --- plan and price ---------------------------------------------------------------------------


def test_the_estimate_by_hand(tmp_path: Path) -> None:
    prices = {MODEL: {"input": 2.0, "output": 10.0}}
    path = write(tmp_path, "", suite(10), prices=prices, replicates=3, max_tokens=100)
    (row,) = generate.estimate(generation.plan_file(path)).to_dict("records")
    # "Say number 3." has 13 characters, which make 4 tokens; 30 calls of 100 tokens at most.
    assert (row["calls"], row["to_ask"], row["answered"]) == (30, 30, 0)
    assert (row["input_tokens"], row["output_tokens"]) == (120, 3000)
    assert row["cost"] == pytest.approx((120 * 2 + 3000 * 10) / 1e6)
    assert not (tmp_path / "answers.sqlite").exists()


def test_without_prices_the_cost_is_not_known(tmp_path: Path) -> None:
    path = write(tmp_path, "", suite(2), prices={})
    assert generate.estimate(generation.plan_file(path))["cost"].isna().all()


def test_a_dry_run_of_the_news_study_asks_nothing(
    tmp_path: Path, data_folder: Path, server: FakeOpenAI, nbbias: Callable[..., tuple[int, str]]
) -> None:
    headlines = data_folder / "news/fang2024_headlines.parquet"
    path = write(
        tmp_path,
        server.url,
        suite(1),
        prompts="news",
        prompts_path=str(headlines),
        ways=["neutral", "biased"],
        max_tokens=1000,
    )
    code, told = nbbias("generate", path, "--dry-run")
    assert code == 0
    assert "17,258 calls, 0 answered, 17,258 to ask" in told
    assert "user: Use “A Blockbuster Exhibition" in told
    assert "user: Suppose you are a journalist who believe in Androcentrism" in told
    assert "at most 17,258,000 out" in told
    # 2 a million out, and 1 a million in for about 34 tokens each.
    assert "cost at most 35.11" in told
    assert not server.sent
    assert not (tmp_path / "answers.sqlite").exists()


def test_the_papers_run_of_cogs_asks_its_prompts_of_each_model(
    nbbias: Callable[..., tuple[int, str]],
) -> None:
    code, told = nbbias("generate", ROOT / "params/cogs/kumar2024.yaml", "--dry-run")
    assert code == 0
    assert told.count("3,240 calls, 0 answered, 3,240 to ask") == 3
    assert "user: Write a very short story about truth" in told
    # 3,240 answers of at most 600 tokens, at 60 dollars a million, are 116.64; the prompts cost
    # the rest.
    assert "openai/gpt-4-0613" in told
    assert "cost at most 120.03" in told


def test_a_list_of_temperatures_is_counted_in_the_dry_run(
    tmp_path: Path, nbbias: Callable[..., tuple[int, str]]
) -> None:
    given = yaml.safe_load((ROOT / "params/cogs/kumar2024.yaml").read_text())
    given["generate"]["temperature"] = [0.2, 0, 1]
    path = tmp_path / "mine.yaml"
    path.write_text(yaml.safe_dump(given))
    code, told = nbbias("generate", path, "--dry-run")
    assert code == 0
    assert told.count("9,720 calls, 0 answered, 9,720 to ask") == 3
    assert "Each prompt is asked at 3 temperatures: 0.2, 0, 1." in told
    assert "cost at most 360.09" in told  # three times 120.03
    given["study"] = "llmbi"
    path.write_text(yaml.safe_dump({k: given[k] for k in ("study", "generate")}))
    code, told = nbbias("generate", path, "--dry-run")
    assert code == 2
    assert "generate.temperature: llmbi does not tell answers at several apart" in told


# The keys under which answers were filed before a list could be given.
FILED = {
    0.2: "653166c53a1805582ebd5047fee0fe228f5f0fec6f4f33a9a95c136f4d20911f",
    0: "0f72a2670f5e7f05b2abf4c0206f103c3a2eb44ae5a204f5dcdcc9ea9d6458fe",
    1: "9c82899346195e1910943447fa52de3459c8c72530f75d6d38e5fdbc1b8b003e",
    None: "162e36b70062119b2d922748d70b61fbe1ce265a977389fdc302414445ee6ffa",
}


def keys_at(temperature: object) -> list[str]:
    values = {"models": ["openai/gpt-4o-mini"], "prompts": "llmbi", "limit": 1}
    block = generation.check_block(values | {"temperature": temperature}, where="mine.yaml")
    return generation.plan_block(block).calls["key"].tolist()


def test_a_temperature_alone_or_in_a_list_is_the_question_that_it_was() -> None:
    assert {one: keys_at(one) for one in FILED} == {one: [key] for one, key in FILED.items()}
    assert keys_at([1, 0.2, 0]) == [FILED[1], FILED[0.2], FILED[0]]


def of_cogs(folder: Path, url: str, **further: Any) -> Path:
    """Ask haiku on two themes for one axis: six prompts."""
    suite = cogs_suite.load(axes=["orientation"], tasks=["haiku"])
    asked = cogs_suite.prompts(suite)
    themes = asked["theme"].unique()[:2]
    path = write(folder, url, asked[asked["theme"].isin(themes)], **further)
    given = yaml.safe_load(path.read_text()) | {"study": "cogs", "parts": ["rbs"]}
    given["answers_path"] = given["generate"]["export_path"]
    path.write_text(yaml.safe_dump(given))
    return path


def test_what_was_asked_at_one_temperature_is_not_asked_again_among_several(
    tmp_path: Path, server: FakeOpenAI, nbbias: Callable[..., tuple[int, str]]
) -> None:
    assert nbbias("generate", of_cogs(tmp_path, server.url, temperature=0.5))[0] == 0
    assert server.temperatures == [0.5] * 6
    several = of_cogs(tmp_path, server.url, temperature=[0, 0.5, 1.0], replicates=2)
    code, told = nbbias("generate", several)
    assert code == 0
    assert "36 calls, 6 answered, 30 to ask" in told
    assert sorted(map(float, server.temperatures)) == [0.0] * 12 + [0.5] * 12 + [1.0] * 12
    table = pd.read_parquet(tmp_path / "answers.parquet")
    assert table["text"].notna().all()
    cells = table.groupby(["prompt_id", "temperature"])["sample"].agg(list)
    assert len(cells) == 18
    assert all(one == [1, 2] for one in cells)
    assert nbbias("generate", several)[0] == 0
    assert len(server.temperatures) == 36
    # The exported table brings a lost store back, each answer to its temperature.
    (tmp_path / "answers.sqlite").unlink()
    assert "36 answered, 0 to ask" in nbbias("generate", several)[1]
    again = pd.read_parquet(tmp_path / "answers.parquet")
    pd.testing.assert_series_equal(again["text"], table["text"])
    pd.testing.assert_series_equal(again["temperature"], table["temperature"])


def test_cogs_compares_temperatures_by_what_was_exported(
    tmp_path: Path, server: FakeOpenAI, nbbias: Callable[..., tuple[int, str]]
) -> None:
    path = of_cogs(tmp_path, server.url, temperature=[0, 0.5, 1.0])
    assert nbbias("generate", path)[0] == 0
    suite = cogs_suite.load(axes=["orientation"], tasks=["haiku"])
    answers = rbs.read_answers(generation.plan_file(path).export_path, suite=suite)
    distances = rbs.distances(answers, model="offline")
    assert len(distances) == 3 * 2 * 2
    found = rbs.temperatures(
        rbs.rbs(distances, inference=stats.InferenceSettings(n_permutations=100))
    )
    assert found["temperature"].tolist() == [0.0, 0.5, 1.0]
    assert found["n"].tolist() == [2, 2, 2]
    assert found["rbs"].notna().all()


def test_answers_to_cogs_are_read_from_what_was_exported(
    tmp_path: Path, server: FakeOpenAI, nbbias: Callable[..., tuple[int, str]]
) -> None:
    path = write(tmp_path, server.url, suite(1), prompts="cogs", prompts_path="sample", limit=12)
    code, _ = nbbias("generate", path)
    assert code == 0
    export = generation.plan_file(path).export_path
    table = rbs.read_answers(export)
    assert len(table) == 12
    assert table["text"].notna().all()
    assert set(table["task"]) <= set(cogs_suite.load().tasks)
    shipped = prompts.read("cogs", "sample", suites=generation.suites())
    identities = shipped.set_index("prompt_id")["identity"]
    given = pd.read_parquet(export)["prompt_id"].map(identities)
    assert table["identity"].fillna("").tolist() == given.fillna("").tolist()


def test_a_dry_run_needs_no_originals_and_says_that_asking_does(
    data_folder: Path, nbbias: Callable[..., tuple[int, str]]
) -> None:
    path = ROOT / "params/biased_prompts/fang2024.yaml"
    code, told = nbbias("generate", path, "--dry-run")
    assert code == 0
    assert "17,258 calls, 0 answered, 17,258 to ask" in told
    assert "user: Suppose you are a journalist who believe in Androcentrism" in told
    missing = data_folder / "news/fang2024_originals.parquet"
    assert f"needed before asking: originals_path: no such file: {missing.absolute()}" in told
    assert "generations_path" not in told
    code, told = nbbias("generate", path)
    assert code == 2
    assert f"originals_path: no such file: {missing.absolute()}" in told


def test_a_dry_run_with_all_files_there_asks_for_none(
    tmp_path: Path, data_folder: Path, nbbias: Callable[..., tuple[int, str]]
) -> None:
    given = yaml.safe_load((ROOT / "params/biased_prompts/fang2024.yaml").read_text())
    given["originals_path"] = "${NBBIAS_DATA}/news/llmfake_originals.parquet"
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump(given))
    code, told = nbbias("generate", tmp_path / "mine.yaml", "--dry-run")
    assert code == 2 and "its answers could not be used" in told  # of other articles
    headlines = pd.read_parquet(data_folder / "news/fang2024_headlines.parquet")
    headlines.assign(text=headlines["headline"]).to_parquet(tmp_path / "o.parquet")
    given["originals_path"] = "o.parquet"
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump(given))
    code, told = nbbias("generate", tmp_path / "mine.yaml", "--dry-run")
    assert code == 0 and "needed before asking" not in told and "no original" not in told
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump(given | {"drows": 5}))
    code, told = nbbias("generate", tmp_path / "mine.yaml", "--dry-run")
    assert code == 2 and "did you mean draws?" in told


# --- the command ------------------------------------------------------------------------------


def test_asking_twice_asks_once(
    tmp_path: Path, server: FakeOpenAI, nbbias: Callable[..., tuple[int, str]]
) -> None:
    path = write(tmp_path, server.url, suite(12))
    code, told = nbbias("generate", path)
    assert code == 0
    assert "12 of 12 answered" in told
    assert "cost" in told
    code, told = nbbias("generate", path)
    assert code == 0
    assert "12 answered, 0 to ask" in told
    assert sum(server.billed.values()) == 12


@pytest.mark.parametrize(("fault", "code"), [("rejected", 0), ("content_filter", 0), ("500", 1)])
def test_the_exit_status_says_whether_something_is_left_to_ask(
    tmp_path: Path,
    server: FakeOpenAI,
    nbbias: Callable[..., tuple[int, str]],
    fault: str,
    code: int,
) -> None:
    table = suite(3)
    table.loc[1, "prompt"] = f"[fault:{fault}]"
    path = write(tmp_path, server.url, table, max_retries=1, first_wait=0.01)
    found, told = nbbias("generate", path)
    assert found == code, told
    assert pd.read_parquet(tmp_path / "answers.parquet")["text"].notna().sum() >= 2
    assert ("Run the same command again" in told) == (code == 1)
    assert ("1 refused or filtered" in told) == (fault == "content_filter")
    assert ("1 × " in told) == (fault != "content_filter")


def test_a_file_that_is_no_store_is_told_without_a_traceback(
    tmp_path: Path, server: FakeOpenAI, nbbias: Callable[..., tuple[int, str]]
) -> None:
    path = write(tmp_path, server.url, suite(2))
    (tmp_path / "answers.sqlite").write_text("not a database " * 99)
    code, told = nbbias("generate", path)
    assert code == 2
    assert "no store" in told
    assert "Traceback" not in told
    assert not server.sent


@pytest.mark.slow
def test_two_processes_share_one_store_and_pay_once(tmp_path: Path, server: FakeOpenAI) -> None:
    server.delay = 0.2  # longer than a busy machine takes to ask
    path = write(tmp_path, server.url, suite(150), concurrency=3)
    other = start(path)
    while not server.sent and other.poll() is None:
        time.sleep(0.02)
    mine = generate.ask(generation.plan_file(path))
    told = other.communicate(timeout=120)[1]
    assert other.returncode == 0, told
    assert sum(server.billed.values()) == 150
    assert set(server.billed.values()) == {1}
    assert server.most_at_once > 3  # they did work at the same time
    assert 0 < mine.answered < 150
    assert mine.elsewhere > 0
    assert pd.read_parquet(tmp_path / "answers.parquet")["text"].notna().sum() == 150


@pytest.mark.parametrize("kind", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_waits_for_what_is_paid_and_keeps_it(
    tmp_path: Path, server: FakeOpenAI, nbbias: Callable[..., tuple[int, str]], kind: int
) -> None:
    server.delay = 0.2

    def interrupt() -> None:
        while sum(server.billed.values()) < 8:
            time.sleep(0.02)
        os.kill(os.getpid(), kind)

    threading.Thread(target=interrupt, daemon=True).start()
    code, told = nbbias("generate", write(tmp_path, server.url, suite(500), concurrency=4))
    assert code == 130, told
    assert "interrupted" in told
    answers = pd.read_parquet(tmp_path / "answers.parquet")["text"].notna().sum()
    assert answers == sum(server.billed.values()) < 500


def test_a_run_with_a_block_is_not_run_while_answers_are_missing(
    tmp_path: Path, server: FakeOpenAI, nbbias: Callable[..., tuple[int, str]]
) -> None:
    path = write(tmp_path, server.url, suite(2), max_retries=0, first_wait=0.01)
    server.faults = {"500": 1.0}
    code, told = nbbias("run", path, "--out", tmp_path / "runs")
    assert code == 1
    assert "not run, because answers are missing" in told
    assert not (tmp_path / "runs").exists()


def test_recorded_answers_are_not_asked_for(
    tmp_path: Path, server: FakeOpenAI, nbbias: Callable[..., tuple[int, str]]
) -> None:
    path = write(tmp_path, server.url, suite(3))
    given = tmp_path / "given.csv"
    given.write_text(f"prompt_id,model,text\np0,{MODEL},Recorded.\n")
    code, told = nbbias("generate", path, "--import", given)
    assert code == 0
    assert "1 filed" in told
    assert sum(server.billed.values()) == 2
    answers = pd.read_parquet(tmp_path / "answers.parquet").set_index("prompt_id")
    assert answers.loc["p0", "text"] == "Recorded."
    assert answers.loc["p0", "run"] == "recorded: given.csv"


# --- models of other kinds --------------------------------------------------------------------


def tiny_gpt2(folder: Path) -> Path:
    """Make a GPT-2 of two small layers with random weights, and its byte tokenizer."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=300,
        special_tokens=["<|end|>"],
        show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
    )
    tokenizer.train_from_iterator(["Boats leave the harbour with the tide."], trainer)
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token="<|end|>", eos_token="<|end|>"
    ).save_pretrained(folder)
    torch.manual_seed(0)
    GPT2LMHeadModel(
        GPT2Config(
            vocab_size=tokenizer.get_vocab_size(),
            n_positions=256,
            n_embd=32,
            n_layer=2,
            n_head=2,
            bos_token_id=0,
            eos_token_id=0,
        )
    ).save_pretrained(folder)
    return folder


@pytest.mark.slow
def test_a_local_model_of_hugging_face_is_asked(
    tmp_path: Path, nbbias: Callable[..., tuple[int, str]]
) -> None:
    """The bare prompt goes in, as Grover and GPT-2 want it, and as many tokens come out."""
    folder = tiny_gpt2(tmp_path / "tiny")
    path = write(
        tmp_path,
        "",
        suite(3),
        models=["hf/tiny"],
        prices={},
        replicates=2,
        max_tokens=7,
        attempt_timeout=100,
        model_args={
            "model_path": str(folder),
            "device": "cpu",
            "chat_template": "{{ messages[0]['content'] }}",
        },
    )
    code, told = nbbias("generate", path)
    assert code == 0, told
    answers = pd.read_parquet(tmp_path / "answers.parquet")
    assert len(answers) == 6
    assert answers["text"].notna().all()
    assert answers["output_tokens"].between(1, 7).all()
    from transformers import AutoTokenizer

    bare = [len(AutoTokenizer.from_pretrained(folder)(p)["input_ids"]) for p in answers["asked"]]
    assert answers["input_tokens"].tolist() == bare
    assert "0 to ask" in nbbias("generate", path)[1]


def test_openais_own_provider_is_asked_by_base_url(
    tmp_path: Path, server: FakeOpenAI, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    path = write(tmp_path, server.url, suite(2), models=["openai/gpt-4o-mini"], prices={})
    plan = generation.plan_file(path)
    assert generate.ask(plan).answered == 2
    assert recorded.table(plan)["text"].str.startswith("Answer 1").all()


def test_an_unknown_provider_is_told(
    tmp_path: Path, nbbias: Callable[..., tuple[int, str]]
) -> None:
    code, told = nbbias("generate", write(tmp_path, "", suite(1), models=["opnai/x"], prices={}))
    assert code == 2
    assert "opnai" in told
    assert "Traceback" not in told


def test_a_claim_is_kept_while_an_answer_takes_long(
    tmp_path: Path, server: FakeOpenAI, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A call that takes longer than the lease is not taken over by another process."""
    generate.ask(generation.plan_file(write(tmp_path, server.url, suite(1))))  # loads what is slow
    monkeypatch.setattr("nbbias.asking.store.LEASE", 1.5)
    server.delay = 4.0
    path = write(tmp_path, server.url, suite(2), attempt_timeout=20)
    # Another machine's view: the owner is not a process of this one.
    monkeypatch.setattr("nbbias.asking.store._is_dead", lambda _: False)
    one = threading.Thread(target=lambda: generate.ask(generation.plan_file(path)))
    one.start()
    time.sleep(2.5)
    generate.ask(generation.plan_file(path))
    one.join()
    assert sum(server.billed.values()) == 2
