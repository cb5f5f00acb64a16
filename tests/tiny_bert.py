"""BERTs small enough to be made by a test."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest


def save(folder: Path, words: Sequence[str], *, labels: Sequence[str], size: int = 16) -> Any:
    """Save a tiny text classifier with random weights and its tokenizer; return the model."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizer

    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *words]
    vocabulary = folder / "vocab.txt"
    vocabulary.write_text("\n".join(pieces), encoding="utf-8")
    BertTokenizer(str(vocabulary), model_max_length=512).save_pretrained(folder)
    sizes = {"hidden_size": size, "intermediate_size": 2 * size, "vocab_size": len(pieces)}
    sizes |= {"num_hidden_layers": 2, "num_attention_heads": 2}
    named = {"id2label": dict(enumerate(labels))}
    named |= {"label2id": {label: i for i, label in enumerate(labels)}}
    config = BertConfig(**sizes, **named, initializer_range=0.3)
    torch.manual_seed(0)
    model = BertForSequenceClassification(config).eval()
    model.save_pretrained(folder)
    return model


def cached_model(
    folder: Path, repository: str, monkeypatch: pytest.MonkeyPatch
) -> Callable[[str], None]:
    """Return what puts an empty file of a repository into a cache of models in this folder."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(folder))
    snapshot = folder / f"models--{repository.replace('/', '--')}" / "snapshots" / "1a2b"
    snapshot.mkdir(parents=True)
    return lambda file: (snapshot / file).touch()
