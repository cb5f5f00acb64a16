"""Fine-tune a language model as a judge of bias by LoRA (Hu et al. 2021).

The defaults are the settings of Fan et al. 2024, section 4.1: rank 16 on all linear modules, AdamW
with a learning rate of 5e-5 and weight decay 0.05, batches of 16, 10 epochs. The loss is that of
the answer's tokens alone. As a command, on several GPUs too::

    python -m nbbias.biasalert_lora data.jsonl --model meta-llama/Llama-2-7b-chat-hf --device cuda
"""

from __future__ import annotations

import json
import os
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
import typer

from nbbias import biasalert_instruct, contracts
from nbbias.biasalert_local import libraries, load
from nbbias.errors import DataError, NbbiasError, ParameterError

#: Labels with this value have no part in the loss (PyTorch's own convention).
_IGNORED = -100

RECORD = "training.json"


def train(
    examples: pd.DataFrame,
    *,
    model: str,
    out: str | Path,
    device: str = "cpu",
    rank: int = 16,
    alpha: int = 32,
    dropout: float = 0.0,
    learning_rate: float = 5e-5,
    weight_decay: float = 0.05,
    batch: int = 16,
    at_a_time: int = 1,
    epochs: int = 10,
    schedule: str = "linear",
    max_length: int = 4096,
    seed: int = 20231222,
    progress: bool = True,
) -> pd.DataFrame:
    """Train an adapter and save it.

    Parameters
    ----------
    examples
        `prompt` and `completion`, as `biasalert_instruct.instructions` writes them.
    model
        A causal language model: a folder, or a name on the Hugging Face hub. Its weights must be
        safetensors, and none of its code is run.
    out
        The adapter's folder; it must not be there yet.
    device
        ``"cpu"``, or ``"cuda"`` (bfloat16, gradient checkpointing).
    rank, alpha, dropout
        Of the adapters, on all linear modules. The paper prints the rank alone.
    learning_rate, weight_decay, epochs, schedule
        Of AdamW. The paper prints no schedule.
    batch, at_a_time
        Examples per step, and how many of them are on a device at a time; gradients add up.
    max_length
        Tokens. Longer examples are left out and counted, since a cut prompt asks something else.
    seed
        Of the adapters' start and the order of examples.
    progress
        Show a bar.

    Returns
    -------
    DataFrame
        One row per epoch: `epoch` and `loss`, the mean loss of the answer's tokens (in nats,
        lower is better), as `training.json` in the folder has it too.

    Raises
    ------
    DataError
        The model cannot be loaded, no example fits, or `out` is there already.
    ParameterError
        The device is not there, or a number is out of range.
    """
    _check(device=device, rank=rank, batch=batch, at_a_time=at_a_time, epochs=epochs)
    contracts.need(examples, ["prompt", "completion"], where="examples")
    folder = Path(out)
    if folder.exists():
        raise DataError(str(folder), "is there already; name another folder for the adapter")
    libraries()[1].set_seed(seed)  # before the adapters are drawn
    base, tokenizer = load(model, device=device)
    fitting, n_lost = _fitting(tokenizer, examples, max_length)
    adapted = _adapted(base, rank=rank, alpha=alpha, dropout=dropout, device=device)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}.") as scratch:
        trainer = _trainer(
            adapted, tokenizer, fitting, device=device, batch=batch, at_a_time=at_a_time,
            progress=progress, output_dir=scratch, seed=seed, data_seed=seed,
            learning_rate=learning_rate, weight_decay=weight_decay, lr_scheduler_type=schedule,
            num_train_epochs=epochs,
        )  # fmt: skip
        trainer.train()
        losses = _losses(trainer)
        if trainer.is_world_process_zero():
            record = {
                "model": model, "n": len(fitting), "n_lost": n_lost,
                "rank": rank, "alpha": alpha, "dropout": dropout, "batch": batch,
                "learning_rate": learning_rate, "weight_decay": weight_decay, "epochs": epochs,
                "schedule": schedule, "max_length": max_length, "seed": seed,
                "versions": {name: version(name) for name in ("peft", "torch", "transformers")},
                "losses": losses.to_dict("records"),
            }  # fmt: skip
            _save(adapted, tokenizer, record, Path(scratch) / "adapter").rename(folder)
    return losses


def _fitting(
    tokenizer: Any, examples: pd.DataFrame, max_length: int
) -> tuple[list[dict[str, list[int]]], int]:
    """Return the encoded examples that are short enough, and how many are not."""
    encoded = [encode(tokenizer, *pair) for pair in _pairs(examples)]
    fitting = [one for one in encoded if len(one["input_ids"]) <= max_length]
    if not fitting:
        raise DataError("examples", f"none of {len(encoded)} has {max_length} tokens or fewer")
    return fitting, len(encoded) - len(fitting)


def _adapted(base: Any, *, rank: int, alpha: int, dropout: float, device: str) -> Any:
    """Put adapters on all linear modules of a model, ready to be trained."""
    peft = libraries()[2]
    adapters = peft.LoraConfig(
        task_type="CAUSAL_LM", r=rank, lora_alpha=alpha, lora_dropout=dropout,
        target_modules="all-linear",
    )  # fmt: skip
    adapted = peft.get_peft_model(base, adapters)
    if device != "cpu":  # activations are computed anew on the way back: slower, and it fits
        base.gradient_checkpointing_enable()
        base.enable_input_require_grads()
    return adapted


def _trainer(
    adapted: Any, tokenizer: Any, fitting: list[dict[str, list[int]]], *,
    device: str, batch: int, at_a_time: int, progress: bool, **settings: Any,
) -> Any:  # fmt: skip
    """Return what trains: `settings` as transformers' TrainingArguments take them."""
    transformers, on_gpu = libraries()[1], device != "cpu"
    workers = int(os.environ.get("WORLD_SIZE", "1"))
    arguments = transformers.TrainingArguments(
        use_cpu=not on_gpu, bf16=on_gpu, dataloader_pin_memory=on_gpu, optim="adamw_torch",
        per_device_train_batch_size=at_a_time,
        gradient_accumulation_steps=max(1, batch // (at_a_time * workers)),
        logging_strategy="epoch", save_strategy="no", report_to=[],
        disable_tqdm=not progress or "NBBIAS_OUT" in os.environ, **settings,
    )  # fmt: skip
    trainer = transformers.Trainer(
        model=adapted, args=arguments, train_dataset=fitting,
        data_collator=transformers.DataCollatorForSeq2Seq(
            tokenizer, label_pad_token_id=_IGNORED, padding=True
        ),
    )  # fmt: skip
    trainer.remove_callback(transformers.PrinterCallback)
    return trainer


def _losses(trainer: Any) -> pd.DataFrame:
    log = [one for one in trainer.state.log_history if "loss" in one]
    rows = [(round(one["epoch"], 6), one["loss"]) for one in log]
    return pd.DataFrame(rows, columns=["epoch", "loss"])


def _save(adapted: Any, tokenizer: Any, record: dict[str, Any], ready: Path) -> Path:
    """Write the adapter's files; the folder is renamed when all are there: whole or not at all."""
    adapted.save_pretrained(ready, safe_serialization=True)
    tokenizer.save_pretrained(ready)
    (ready / RECORD).write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    return ready


def encode(tokenizer: Any, prompt: str, completion: str) -> dict[str, list[int]]:
    """Return the tokens of an example, and labels that are told of the answer's tokens alone.

    Returns
    -------
    dict
        `input_ids`, `attention_mask`, and `labels`: the tokens of the answer and of its end,
        -100 for those of the prompt.
    """
    asked = [{"role": "user", "content": prompt}]
    whole = [*asked, {"role": "assistant", "content": completion}]
    before = tokenizer.apply_chat_template(asked, tokenize=False, add_generation_prompt=True)
    after = tokenizer.apply_chat_template(whole, tokenize=False)
    said = after[len(before) :]
    if not after.startswith(before) or completion.strip() not in said:
        said = completion + tokenizer.eos_token  # the template knows no answers
    # Apart, so that no token straddles prompt and answer; a judge's prompt ends there too.
    first, last = (
        tokenizer(part, add_special_tokens=False)["input_ids"] for part in (before, said)
    )
    return {
        "input_ids": first + last, "attention_mask": [1] * len(first + last),
        "labels": [_IGNORED] * len(first) + last,
    }  # fmt: skip


def _pairs(examples: pd.DataFrame) -> list[tuple[str, str]]:
    return list(zip(examples["prompt"], examples["completion"], strict=True))


def _check(*, device: str, **numbers: int) -> None:
    told = [f"{name}: must be 1 or more, but is {n}" for name, n in numbers.items() if n < 1]
    if device.split(":")[0] not in {"cpu", "cuda"}:
        told.append(f"device: must be cpu or cuda, but is {device!r}")
    if told:
        raise ParameterError("train", told)


def main(
    data: Annotated[Path, typer.Argument(help="an instruction dataset, JSON Lines")],
    model: Annotated[str, typer.Option(help="a folder, or a name on the Hugging Face hub")],
    out: Annotated[Path, typer.Option(help="the adapter's folder")] = Path("adapter"),
    device: Annotated[str, typer.Option(help="cpu or cuda")] = "cpu",
    epochs: Annotated[int, typer.Option()] = 10,
    at_a_time: Annotated[int, typer.Option(help="examples on a device at a time")] = 1,
    max_length: Annotated[int, typer.Option(help="tokens of the longest example")] = 4096,
    seed: Annotated[int, typer.Option()] = 20231222,
) -> None:
    """Train a judge of bias by LoRA, with the settings of Fan et al. 2024."""
    try:
        losses = train(
            biasalert_instruct.read(data), model=model, out=out, device=device, epochs=epochs,
            at_a_time=at_a_time, max_length=max_length, seed=seed,
        )  # fmt: skip
    except NbbiasError as error:
        raise SystemExit(str(error)) from None
    print(losses.to_string(index=False))
    print(f"{out}: the adapter; judge with it as docs/biasalert-lora.md says")


if __name__ == "__main__":
    typer.run(main)
