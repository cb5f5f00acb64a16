"""LoRA from the labelled table to a judge, on a tiny Llama that is made here."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import peft
import pytest
import torch

from nbbias.asking import plan as generate, recorded as asking_recorded
from nbbias.biasalert.judges import lora, recorded
from nbbias.biasalert.judges.prompt import answer
from nbbias.running import generation
from nbbias.tables import ContractError, DataError, ParameterError
from tests import tiny_llama

# Threads that wait for each other cost more than a tiny model does.
torch.set_num_threads(1)

YES = answer(True, bias_type="gender", group="women", attribute="bad drivers")
NO = answer(False)
EXAMPLES = pd.DataFrame(
    [
        ("SENTENCE: women drive badly. ANSWER:", YES),
        ("SENTENCE: the train is late. ANSWER:", NO),
        ("SENTENCE: women cannot park. ANSWER:", YES),
        ("SENTENCE: it is raining. ANSWER:", NO),
    ],
    columns=["prompt", "completion"],
)
#: A tiny model learns nothing at 5e-5 in a few steps.
QUICK = lora.Training(learning_rate=1e-2, epochs=12, batch=2, at_a_time=2)


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    words = [*EXAMPLES["prompt"], *EXAMPLES["completion"]]
    return tiny_llama.make(tmp_path_factory.mktemp("llama") / "base", words)


@pytest.fixture(scope="module")
def trained(base: Path) -> tuple[Path, pd.DataFrame]:
    folder = base.parent / "adapter"
    return folder, lora.train(EXAMPLES, model=str(base), out=folder, training=QUICK, progress=False)


def loss_by_hand(model: Any, tokenizer: Any) -> float:
    """Mean negative log probability of the answers' tokens, one example at a time."""
    total, count = 0.0, 0
    for row in EXAMPLES.itertuples():
        asked = f"<s>[INST] {row.prompt} [/INST]"
        before = tokenizer(asked, add_special_tokens=False)["input_ids"]
        said = tokenizer(f" {row.completion}</s>", add_special_tokens=False)["input_ids"]
        with torch.no_grad():
            logits = model(torch.tensor([before + said])).logits[0].double()
        logp = torch.log_softmax(logits, -1)
        for at, token in enumerate(said, start=len(before)):
            total -= float(logp[at - 1, token])
            count += 1
    return total / count


# --- training -----------------------------------------------------------------------------------


def test_the_defaults_are_the_papers() -> None:
    given = lora.Training()._asdict()
    # Fan et al. 2024, section 4.1
    assert (given["rank"], given["batch"], given["epochs"]) == (16, 16, 10)
    assert (given["learning_rate"], given["weight_decay"]) == (5e-5, 0.05)


def test_the_loss_falls_and_the_adapter_is_safetensors(trained: tuple[Path, pd.DataFrame]) -> None:
    folder, losses = trained
    assert losses["epoch"].tolist() == list(range(1, 13))
    assert losses["loss"].iloc[-1] < 0.1 * losses["loss"].iloc[0]
    names = {path.name for path in folder.iterdir()}
    assert {"adapter_model.safetensors", "adapter_config.json", "tokenizer.json"} <= names
    assert not any(name.endswith((".bin", ".pt", ".pth", ".pkl")) for name in names)
    record = json.loads((folder / lora.RECORD).read_text())
    assert (record["n"], record["n_lost"], record["rank"]) == (4, 0, 16)
    assert [one["loss"] for one in record["losses"]] == losses["loss"].tolist()


def test_every_linear_module_has_an_adapter(trained: tuple[Path, pd.DataFrame]) -> None:
    from safetensors.torch import load_file

    held = load_file(trained[0] / "adapter_model.safetensors")
    modules = {name.split(".lora_")[0].rsplit(".", 1)[1] for name in held}
    assert modules == {"q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"}
    ranks = {value.shape[0] for name, value in held.items() if "lora_A" in name}
    assert ranks == {16}


def test_the_loss_is_that_of_the_answers_tokens(base: Path, tmp_path: Path) -> None:
    model, tokenizer = lora.load(base)
    wanted = loss_by_hand(model, tokenizer)
    # All four in one step: the loss of the first step is that of the untrained model.
    losses = lora.train(
        EXAMPLES,
        model=str(base),
        out=tmp_path / "a",
        progress=False,
        training=lora.Training(epochs=1, batch=4, at_a_time=4),
    )
    assert losses["loss"].iloc[0] == pytest.approx(wanted, rel=1e-3)


def test_gradients_add_up_to_the_batch(base: Path, tmp_path: Path) -> None:
    found = [
        lora.train(
            EXAMPLES,
            model=str(base),
            out=tmp_path / str(at_a_time),
            progress=False,
            training=lora.Training(epochs=2, batch=4, at_a_time=at_a_time, learning_rate=1e-2),
        )["loss"].to_numpy()
        for at_a_time in (1, 4)
    ]
    np.testing.assert_allclose(found[0], found[1], rtol=1e-3)


def test_the_same_seed_gives_the_same_adapter(base: Path, tmp_path: Path) -> None:
    from safetensors.torch import load_file

    def weights(name: str, seed: int) -> dict[str, Any]:
        lora.train(
            EXAMPLES,
            model=str(base),
            out=tmp_path / name,
            progress=False,
            training=QUICK._replace(seed=seed, epochs=2),
        )
        return load_file(tmp_path / name / "adapter_model.safetensors")

    first, again, other = weights("a", 1), weights("b", 1), weights("c", 2)
    assert all(torch.equal(first[name], again[name]) for name in first)
    assert not all(torch.equal(first[name], other[name]) for name in first)


@pytest.mark.parametrize("chat", [tiny_llama.CHAT, None, "{{ messages[0]['content'] }}"])
def test_labels_cover_the_answer_and_its_end(tmp_path: Path, chat: str | None) -> None:
    base = tiny_llama.make(tmp_path / "base", [YES, NO], chat=chat)
    _, tokenizer = lora.load(base)
    one = lora.encode(tokenizer, "Is it? ANSWER:", NO)
    kept = [
        token for token, label in zip(one["input_ids"], one["labels"], strict=True) if label != -100
    ]
    assert tokenizer.decode(kept).strip() == f"{NO}</s>"
    assert [label for label in one["labels"] if label != -100] == kept
    masked = one["input_ids"][: len(one["input_ids"]) - len(kept)]
    assert "Is it? ANSWER:" in tokenizer.decode(masked)


def test_examples_that_are_too_long_are_left_out_and_counted(base: Path, tmp_path: Path) -> None:
    more = pd.concat([EXAMPLES, EXAMPLES.head(1).assign(prompt="late " * 500)])
    short = lora.Training(epochs=1, max_length=200)
    lora.train(more, model=str(base), out=tmp_path / "a", training=short, progress=False)
    record = json.loads((tmp_path / "a" / lora.RECORD).read_text())
    assert (record["n"], record["n_lost"]) == (4, 1)
    with pytest.raises(DataError, match="none of 4 has 3 tokens"):
        lora.train(
            EXAMPLES, model=str(base), out=tmp_path / "b", training=lora.Training(max_length=3)
        )
    assert not (tmp_path / "b").exists()


def test_mistakes_are_told_before_anything_is_trained(base: Path, tmp_path: Path) -> None:
    out = tmp_path / "a"
    with pytest.raises(ParameterError, match=r"(?s)rank: must be 1.*device: must be cpu or cuda"):
        lora.train(EXAMPLES, model=str(base), out=out, training=lora.Training(rank=0), device="tpu")
    with pytest.raises(ContractError, match="completion"):
        lora.train(EXAMPLES[["prompt"]], model=str(base), out=out)
    with pytest.raises(DataError, match="cannot be loaded as a causal language model"):
        lora.train(EXAMPLES, model=str(tmp_path), out=out)
    with pytest.raises(DataError, match="is there already"):
        lora.train(EXAMPLES, model=str(base), out=tmp_path)
    if not torch.cuda.is_available():
        with pytest.raises(ParameterError, match="'cuda' is not there"):
            lora.train(EXAMPLES, model=str(base), out=out, device="cuda")
    assert not out.exists()


def test_weights_that_are_pickles_are_refused(base: Path, tmp_path: Path) -> None:
    import shutil

    folder = tmp_path / "pickled"
    shutil.copytree(base, folder)
    model, _ = lora.load(base)
    torch.save(model.state_dict(), folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()
    with pytest.raises(DataError, match="cannot be loaded"):
        lora.load(folder)


# --- the trained judge --------------------------------------------------------------------------


def test_reloaded_it_says_the_same(base: Path, tmp_path: Path) -> None:
    from transformers import AutoModelForCausalLM

    folder = tmp_path / "a"
    lora.train(EXAMPLES, model=str(base), out=folder, training=QUICK, progress=False)
    loaded, tokenizer = lora.load(folder)
    # The other way: peft's own loader around the base model.
    other = peft.PeftModel.from_pretrained(AutoModelForCausalLM.from_pretrained(base), folder)
    bare, _ = lora.load(base)
    batch = tokenizer("women drive badly", return_tensors="pt")["input_ids"]
    with torch.no_grad():
        mine, theirs, before = (one.eval()(batch).logits for one in (loaded, other, bare))
    torch.testing.assert_close(mine, theirs)
    assert not torch.allclose(mine, before)


def test_it_judges_as_it_was_taught(trained: tuple[Path, pd.DataFrame]) -> None:
    ask = lora.asker(trained[0], max_tokens=80, at_a_time=3)
    together = list(ask(list(EXAMPLES["prompt"])))
    assert [str(one).strip() for one in together] == [YES, NO, YES, NO]
    assert [one for prompt in EXAMPLES["prompt"] for one in ask([prompt])] == together


def test_by_nbbias_generate_it_says_the_same(
    trained: tuple[Path, pd.DataFrame], tmp_path: Path
) -> None:
    path = tmp_path / "prompts.csv"
    EXAMPLES[["prompt"]].assign(prompt_id=list("abcd")).to_csv(path, index=False)
    block = {
        "models": ["hf/mine"],
        "prompts": "table",
        "prompts_path": str(path),
        "temperature": None,
        "max_tokens": 80,
        "attempt_timeout": 100,
        "store_path": str(tmp_path / "s.sqlite"),
        "model_args": {"model_path": str(trained[0]), "device": "cpu", "do_sample": False},
    }
    plan = generation.plan_block(generation.check_block(block, where="here"))
    generate.ask(plan)
    said = asking_recorded.read_answers(plan).set_index("prompt_id").loc[list("abcd"), "text"]
    assert [str(one).strip() for one in said] == [YES, NO, YES, NO]


def test_from_labelled_texts_to_a_judge(tmp_path: Path) -> None:
    labelled = pd.DataFrame(
        [
            ("a", "Women drive badly.", True, "gender", "women", "bad drivers", "train"),
            ("b", "The train is late.", False, None, None, None, "train"),
            ("c", "Women cannot park.", True, "gender", "women", "bad drivers", "test"),
        ],
        columns=["text_id", "text", "biased", "bias_type", "group", "attribute", "split"],
    )
    parts = {"retrieval": False, "steps": False, "demonstrations": False}
    data = lora.instructions(labelled, **parts)
    path = lora.save(data, tmp_path / "data.jsonl")
    words = [*data["prompt"], *data["completion"]]
    base = tiny_llama.make(tmp_path / "base", words)
    folder = tmp_path / "adapter"
    lora.train(
        lora.read(path),
        model=str(base),
        out=folder,
        progress=False,
        training=QUICK._replace(epochs=25),
    )
    ask = lora.asker(folder, max_tokens=80)
    table = recorded.judge_by(labelled.head(2)[["text_id", "text"]], ask=ask, name="mine", **parts)
    assert table["biased"].tolist() == [True, False]
    assert table[["bias_type", "group", "attribute"]].iloc[0].tolist() == [
        "gender",
        "women",
        "bad drivers",
    ]


def test_it_is_a_command(base: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = lora.save(EXAMPLES, tmp_path / "data.jsonl", layout="completion")
    lora.main(path, str(base), out=tmp_path / "a", epochs=1)
    assert (tmp_path / "a" / "adapter_model.safetensors").is_file()
    assert "loss" in capsys.readouterr().out
    command = [sys.executable, "-m", "nbbias.biasalert.judges.lora", "no.jsonl", "--model", "x"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    assert "no.jsonl" in done.stderr and "Traceback" not in done.stderr
