"""A language model on this machine: loaded once, without its code, and asked as a judge."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from nbbias.biasalert_asking import Ask
from nbbias.errors import DataError, NbbiasError, ParameterError

#: For models that come without a chat template: the prompt, a line break, the answer, the end.
_PLAIN_TEMPLATE = (
    "{{ bos_token or '' }}{% for m in messages %}{{ m['content'] }}"
    "{{ '\n' if m['role'] == 'user' else eos_token }}{% endfor %}"
)


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
    try:
        # transformers loads an adapter together with the model that its config names.
        model = transformers.AutoModelForCausalLM.from_pretrained(
            source, dtype=dtype, trust_remote_code=False, use_safetensors=True
        )
        tokenizer = transformers.AutoTokenizer.from_pretrained(source, trust_remote_code=False)
    except (OSError, ValueError, KeyError, RuntimeError, ImportError, TypeError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise DataError(source, f"cannot be loaded as a causal language model: {reason}") from None
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
    """Return a function for `biasalert_llm.judge_by`: the model is loaded once, answers greedily.

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
                chats, return_tensors="pt", padding=True, padding_side="left",
                add_special_tokens=False,
            ).to(model.device)  # fmt: skip
            with torch.inference_mode():
                out = model.generate(
                    input_ids=batch["input_ids"], attention_mask=batch["attention_mask"],
                    max_new_tokens=max_tokens, do_sample=False,
                    pad_token_id=tokenizer.pad_token_id,
                )  # fmt: skip
            new = out[:, batch["input_ids"].shape[1] :]
            said += tokenizer.batch_decode(new, skip_special_tokens=True)
        return said

    return ask


def libraries() -> tuple[Any, Any, Any]:
    """Return torch, transformers and peft, which load slowly and are an extra."""
    try:
        import peft
        import torch
        import transformers
    except ImportError as error:
        told = f"needs {error.name}; install it with: pip install 'nbbias[lora]'"
        raise NbbiasError("LoRA", told) from None
    return torch, transformers, peft
