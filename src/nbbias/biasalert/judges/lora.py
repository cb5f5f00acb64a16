"""Fine-tune a language model as a judge of bias by LoRA (Hu et al. 2021), and ask it.

Fan et al. 2024 (section 3.2, Table 8) fine-tune a model on pairs of the judge's prompt for a
labelled text and the answer it should give (`instructions`). The defaults of `Training` are the
settings of their section 4.1: rank 16 on all linear modules, AdamW with a learning rate of 5e-5 and
weight decay 0.05, batches of 16, 10 epochs. The loss is that of the answer's tokens alone. As a
command, on several GPUs too::

    python -m nbbias.biasalert.judges.lora data.jsonl --model NAME --device cuda
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import pandas as pd
import typer

from nbbias import tables
from nbbias.biasalert.contracts import LABELLED
from nbbias.biasalert.judges import prompt as judge_prompt
from nbbias.biasalert.judges.prompt import LONGEST, answer
from nbbias.biasalert.judges.recorded import Ask
from nbbias.tables import (
    Column,
    ContractError,
    DataError,
    NbbiasError,
    ParameterError,
    read_table,
    require_packages,
)
from nbbias.text.instruments import loading

Layout = Literal["messages", "completion"]

#: What the column `split` says of a text to learn from.
TRAIN = "train"

COLUMNS = ["text_id", "prompt", "completion", "biased"]

RECORD = "training.json"

#: Labels with this value have no part in the loss (PyTorch's own convention).
_IGNORED = -100

#: For models that come without a chat template: the prompt, a line break, the answer, the end.
_PLAIN_TEMPLATE = (
    "{{ bos_token or '' }}{% for m in messages %}{{ m['content'] }}"
    "{{ '\n' if m['role'] == 'user' else eos_token }}{% endfor %}"
)


class Training(NamedTuple):
    """How an adapter is trained.

    Attributes
    ----------
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
    """

    rank: int = 16
    alpha: int = 32
    dropout: float = 0.0
    learning_rate: float = 5e-5
    weight_decay: float = 0.05
    batch: int = 16
    at_a_time: int = 1
    epochs: int = 10
    schedule: str = "linear"
    max_length: int = 4096
    seed: int = 20231222


AS_PRINTED = Training()


# --- the instruction data -----------------------------------------------------------------------


def instructions(
    labelled: pd.DataFrame, evidence: pd.DataFrame | None = None, **form: Any
) -> pd.DataFrame:
    """Write the instruction dataset from labelled texts.

    Parameters
    ----------
    labelled
        LABELLED with `split`: rows whose split is ``"train"`` are used, in their order.
        `bias_type`, `group` and `attribute` go into the answer where they are known.
    evidence
        EVIDENCE found for these texts, among entries that are not the texts themselves.
    **form
        Wording and parts, as in `biasalert.judges.prompt.write`; judge with the same ones.

    Returns
    -------
    DataFrame
        `text_id`, `prompt`, `completion` (Table 8's template), `biased`. Blank texts, and those
        longer than a prompt shows, are left out (`counts` says how many).

    Raises
    ------
    ContractError
        `split` or another column is missing, or a text of the training side is on the other side
        too, letter for letter.
    DataError
        No text is left to learn from.
    """
    side = _side(labelled)
    table = judge_prompt.prompts(side[["text_id", "text"]], evidence, **form)
    whole = ~table["text_id"].duplicated(keep=False)
    made = table[whole].merge(side.drop(columns="text"), on="text_id", how="left")
    if made.empty:
        raise DataError("labelled", f"no text has the split {TRAIN!r}, words, and room in a prompt")
    names = ("bias_type", "group", "attribute")
    made["completion"] = [
        answer(bool(row["biased"]), **{n: v for n in names if isinstance(v := row.get(n), str)})
        for row in made.to_dict("records")
    ]
    return made[COLUMNS]


def counts(labelled: pd.DataFrame) -> pd.DataFrame:
    """Count what of a labelled table becomes part of the instruction dataset.

    Returns
    -------
    DataFrame
        `what` (used: biased, used: not biased, other side, blank, too long) and `rows`.

    Examples
    --------
    >>> labelled = pd.DataFrame({"text_id": list("abcd"), "text": ["one", "two", " ", "four"],
    ...                          "biased": [True, False, True, False],
    ...                          "split": ["train", "train", "train", "test"]})
    >>> counts(labelled).set_index("what")["rows"].to_dict()
    {'used: biased': 1, 'used: not biased': 1, 'other side': 1, 'blank': 1, 'too long': 0}
    """
    side = _side(labelled)
    words = side["text"].fillna("").str.strip()
    blank, long = words == "", side["text"].fillna("").str.len() > LONGEST
    used = side[~blank & ~long]
    rows = [
        ("used: biased", int(used["biased"].sum())),
        ("used: not biased", int((~used["biased"]).sum())),
        ("other side", len(labelled) - len(side)),
        ("blank", int(blank.sum())),
        ("too long", int((long & ~blank).sum())),
    ]
    return pd.DataFrame(rows, columns=["what", "rows"])


def _side(labelled: pd.DataFrame) -> pd.DataFrame:
    tables.require_columns(labelled, ["split"], where="labelled")
    table = tables.check(labelled, LABELLED, where="labelled")
    ours = table["split"] == TRAIN
    shared = set(table.loc[ours, "text"].dropna()) & set(table.loc[~ours, "text"].dropna())
    if shared:
        raise ContractError(
            "labelled", f"{len(shared)} texts stand on both sides of the split; split them anew"
        )
    return table[ours]


def save(table: pd.DataFrame, path: str | Path, *, layout: Layout = "messages") -> Path:
    """Write an instruction dataset as JSON Lines, whole or not at all.

    ``"messages"`` writes a user's and an assistant's message per line, as most trainers read;
    ``"completion"`` writes `prompt` and `completion`.
    """
    rows = table[["prompt", "completion"]].to_dict("records")
    if layout == "messages":
        rows = [{"messages": _messages(row["prompt"], row["completion"])} for row in rows]
    lines = [json.dumps(row, ensure_ascii=False) for row in rows]
    return tables.write(Path(path), "".join(f"{line}\n" for line in lines))


def _messages(prompt: str, completion: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": prompt}, {"role": "assistant", "content": completion}]


_FILE = {"messages": Column("nested"), "prompt": Column("text"), "completion": Column("text")}


def read(path: str | Path) -> pd.DataFrame:
    """Read an instruction dataset in either layout: `prompt` and `completion`.

    Raises
    ------
    DataError
        The file cannot be read, or a line is neither.
    """
    table = read_table(path, _FILE)
    if "messages" in table:
        pairs = [_pair(one) for one in table["messages"]]
        wrong = [number for number, pair in enumerate(pairs, start=1) if pair is None]
        if wrong:
            told = f"line {wrong[0]} is no pair of a user's and an assistant's message"
            raise DataError(str(path), f"{told} ({len(wrong)} such lines)")
        table = pd.DataFrame(pairs, columns=["prompt", "completion"])
    tables.require_columns(table, ["prompt", "completion"], where=str(path))
    return table[["prompt", "completion"]]


def _pair(messages: Any) -> tuple[str, str] | None:
    try:
        asked, told = messages
        roles = (asked["role"], told["role"])
        return (asked["content"], told["content"]) if roles == ("user", "assistant") else None
    except (TypeError, ValueError, KeyError):
        return None


# --- training -----------------------------------------------------------------------------------


def train(
    examples: pd.DataFrame,
    *,
    model: str,
    out: str | Path,
    device: str = "cpu",
    training: Training = AS_PRINTED,
    progress: bool = True,
) -> pd.DataFrame:
    """Train an adapter and save it.

    Parameters
    ----------
    examples
        `prompt` and `completion`, as `instructions` writes them.
    model
        A causal language model: a folder, or a name on the Hugging Face hub. Its weights must be
        safetensors, and none of its code is run.
    out
        The adapter's folder; it must not be there yet.
    device
        ``"cpu"``, or ``"cuda"`` (bfloat16, gradient checkpointing).
    training
        Settings of the adapters and of the optimiser.
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
    numbers = {name: getattr(training, name) for name in ("rank", "batch", "at_a_time", "epochs")}
    told = [f"{name}: must be 1 or more, but is {n}" for name, n in numbers.items() if n < 1]
    if device.split(":")[0] not in {"cpu", "cuda"}:
        told.append(f"device: must be cpu or cuda, but is {device!r}")
    if told:
        raise ParameterError("train", told)
    tables.require_columns(examples, ["prompt", "completion"], where="examples")
    folder = Path(out)
    if folder.exists():
        raise DataError(str(folder), "is there already; name another folder for the adapter")
    transformers = libraries()[1]
    transformers.set_seed(training.seed)  # before the adapters are drawn
    base, tokenizer = load(model, device=device)
    pairs = zip(examples["prompt"], examples["completion"], strict=True)
    encoded = [encode(tokenizer, *pair) for pair in pairs]
    fitting = [one for one in encoded if len(one["input_ids"]) <= training.max_length]
    if not fitting:
        long = f"none of {len(encoded)} has {training.max_length} tokens or fewer"
        raise DataError("examples", long)
    adapted = _adapted(base, training, device)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}.") as scratch:
        trainer = transformers.Trainer(
            model=adapted,
            args=_arguments(training, device, progress, scratch),
            train_dataset=fitting,
            data_collator=transformers.DataCollatorForSeq2Seq(
                tokenizer, label_pad_token_id=_IGNORED, padding=True
            ),
        )
        trainer.remove_callback(transformers.PrinterCallback)
        trainer.train()
        log = [one for one in trainer.state.log_history if "loss" in one]
        losses = pd.DataFrame(
            [(round(one["epoch"], 6), one["loss"]) for one in log], columns=["epoch", "loss"]
        )
        if trainer.is_world_process_zero():
            record = {"model": model, "n": len(fitting), "n_lost": len(encoded) - len(fitting)}
            record |= training._asdict() | {
                "versions": {name: version(name) for name in ("peft", "torch", "transformers")},
                "losses": losses.to_dict("records"),
            }
            ready = Path(scratch) / "adapter"
            adapted.save_pretrained(ready, safe_serialization=True)
            tokenizer.save_pretrained(ready)
            (ready / RECORD).write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
            ready.rename(folder)  # when all files are there: whole or not at all
    return losses


def _adapted(base: Any, training: Training, device: str) -> Any:
    """Put adapters on all linear modules of a model, ready to be trained."""
    peft = libraries()[2]
    adapters = peft.LoraConfig(
        task_type="CAUSAL_LM",
        r=training.rank,
        lora_alpha=training.alpha,
        lora_dropout=training.dropout,
        target_modules="all-linear",
    )
    adapted = peft.get_peft_model(base, adapters)
    if device != "cpu":  # activations are computed anew on the way back: slower, and it fits
        base.gradient_checkpointing_enable()
        base.enable_input_require_grads()
    return adapted


def _arguments(training: Training, device: str, progress: bool, scratch: str) -> Any:
    on_gpu = device != "cpu"
    together = training.at_a_time * int(os.environ.get("WORLD_SIZE", "1"))
    return libraries()[1].TrainingArguments(
        output_dir=scratch,
        seed=training.seed,
        data_seed=training.seed,
        use_cpu=not on_gpu,
        bf16=on_gpu,
        dataloader_pin_memory=on_gpu,
        optim="adamw_torch",
        learning_rate=training.learning_rate,
        weight_decay=training.weight_decay,
        lr_scheduler_type=training.schedule,
        num_train_epochs=training.epochs,
        per_device_train_batch_size=training.at_a_time,
        gradient_accumulation_steps=max(1, training.batch // together),
        logging_strategy="epoch",
        save_strategy="no",
        report_to=[],
        disable_tqdm=not progress or "NBBIAS_OUT" in os.environ,
    )


def encode(tokenizer: Any, prompt: str, completion: str) -> dict[str, list[int]]:
    """Return the tokens of an example, and labels that are told of the answer's tokens alone.

    Returns
    -------
    dict
        `input_ids`, `attention_mask`, and `labels`: the tokens of the answer and of its end,
        -100 for those of the prompt.
    """
    whole = _messages(prompt, completion)
    before = tokenizer.apply_chat_template(whole[:1], tokenize=False, add_generation_prompt=True)
    after = tokenizer.apply_chat_template(whole, tokenize=False)
    said = after[len(before) :]
    if not after.startswith(before) or completion.strip() not in said:
        said = completion + tokenizer.eos_token  # the template knows no answers
    # Apart, so that no token straddles prompt and answer; a judge's prompt ends there too.
    first, last = (
        tokenizer(part, add_special_tokens=False)["input_ids"] for part in (before, said)
    )
    return {
        "input_ids": first + last,
        "attention_mask": [1] * len(first + last),
        "labels": [_IGNORED] * len(first) + last,
    }


# --- the trained judge --------------------------------------------------------------------------


def load(source: str | Path, *, device: str = "cpu") -> tuple[Any, Any]:
    """Load a model, or an adapter with the model that it names: (model, tokenizer).

    Parameters
    ----------
    source
        A folder, or a name on the Hugging Face hub. Weights must be safetensors; no code that
        comes with a model is run.
    device
        ``"cpu"``, or ``"cuda"`` (bfloat16).

    Raises
    ------
    DataError
        It cannot be loaded, or its tokenizer has no token that ends a text.
    ParameterError
        The device is not there.
    """
    source = str(source)
    torch, transformers, _ = libraries()
    if device != "cpu" and not torch.cuda.is_available():
        raise ParameterError("device", f"{device!r} is not there; use 'cpu'")
    dtype = torch.float32 if device == "cpu" else torch.bfloat16
    with loading(source, "cannot be loaded as a causal language model"):
        # transformers loads an adapter together with the model that its config names.
        model = transformers.AutoModelForCausalLM.from_pretrained(
            source, dtype=dtype, trust_remote_code=False, use_safetensors=True
        )
        tokenizer = transformers.AutoTokenizer.from_pretrained(source, trust_remote_code=False)
    if tokenizer.eos_token is None:
        raise DataError(source, "its tokenizer has no end-of-text token, so no answer would end")
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    if tokenizer.chat_template is None:
        tokenizer.chat_template = _PLAIN_TEMPLATE
    if device == "cuda":  # under torchrun each process has a device of its own
        device = f"cuda:{os.environ.get('LOCAL_RANK', '0')}"
    return model.to(device), tokenizer


def asker(
    folder: str | Path, *, device: str = "cpu", max_tokens: int = 200, at_a_time: int = 8
) -> Ask:
    """Return a function for `recorded.judge_by`: the model is loaded once, answers greedily.

    Parameters
    ----------
    folder
        What `train` saved, or any causal model with a tokenizer.
    device, max_tokens, at_a_time
        Where it runs, tokens of the longest answer, prompts at a time.
    """
    model, tokenizer = load(folder, device=device)
    torch, _, _ = libraries()
    model.eval()

    def ask(prompts: list[str]) -> Sequence[str]:
        said: list[str] = []
        for start in range(0, len(prompts), at_a_time):
            chats = [
                tokenizer.apply_chat_template(
                    [{"role": "user", "content": one}], tokenize=False, add_generation_prompt=True
                )
                for one in prompts[start : start + at_a_time]
            ]
            batch = tokenizer(
                chats,
                return_tensors="pt",
                padding=True,
                padding_side="left",
                add_special_tokens=False,
            ).to(model.device)
            with torch.inference_mode():
                out = model.generate(
                    input_ids=batch["input_ids"],
                    attention_mask=batch["attention_mask"],
                    max_new_tokens=max_tokens,
                    do_sample=False,
                    pad_token_id=tokenizer.pad_token_id,
                )
            new = out[:, batch["input_ids"].shape[1] :]
            said += tokenizer.batch_decode(new, skip_special_tokens=True)
        return said

    return ask


def libraries() -> tuple[Any, Any, Any]:
    """Return torch, transformers and peft, which load slowly and are an extra."""
    require_packages("torch", "transformers", "peft", where="LoRA")
    import peft
    import torch
    import transformers

    return torch, transformers, peft


# --- the command --------------------------------------------------------------------------------


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
        training = Training(epochs=epochs, at_a_time=at_a_time, max_length=max_length, seed=seed)
        losses = train(read(data), model=model, out=out, device=device, training=training)
    except NbbiasError as error:
        raise SystemExit(str(error)) from None
    print(losses.to_string(index=False))
    print(f"{out}: the adapter; judge with it as docs/howto/biasalert-lora.md says")


if __name__ == "__main__":
    typer.run(main)
