"""BERTs small enough to be made by a test."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any


def save(folder: Path, words: Sequence[str], *, labels: Sequence[str], **settings: Any) -> Any:
    """Save a tiny text classifier with random weights and its tokenizer; return the model."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizer

    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *words]
    vocabulary = folder / "vocab.txt"
    vocabulary.write_text("\n".join(pieces), encoding="utf-8")
    longest = settings.get("max_position_embeddings", 512)
    BertTokenizer(str(vocabulary), model_max_length=longest).save_pretrained(folder)
    settings = {"initializer_range": 1.0, "id2label": dict(enumerate(labels))} | settings
    config = BertConfig(
        vocab_size=len(pieces),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        label2id={label: i for i, label in enumerate(labels)},
        **settings,
    )
    torch.manual_seed(0)
    model = BertForSequenceClassification(config).eval()
    model.save_pretrained(folder)
    return model
