"""The offline sentence encoder, all-MiniLM-L6-v2, in NumPy: its first vector takes no PyTorch.

A BERT of six layers (Devlin et al. 2019); the mean over tokens, of length 1, is the vector. PyTorch
and sentence-transformers give the same numbers within 1e-6 and are faster on many texts, but take
seconds to load.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import erf, softmax
from threadpoolctl import threadpool_limits

_HEADS, _LAYERS, _TOKENS = 12, 6, 256
_PARTS = ("ids", "attention_mask")

#: Up to so many texts one thread is enough.
_FEW = 32


@cache
def _load(folder: Path) -> tuple[Any, dict[str, np.ndarray]]:
    from safetensors.numpy import load_file
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.enable_truncation(_TOKENS)
    tokenizer.enable_padding()
    return tokenizer, load_file(folder / "model.safetensors")


def encode(texts: Sequence[str], folder: Path, changes: Mapping[str, np.ndarray]) -> np.ndarray:
    """Return the vectors of texts, of length 1, by the model in a folder, its matrices changed."""
    tokenizer, weights = _load(folder)
    weights = weights | {name: weights[name] + change for name, change in changes.items()}
    order = np.argsort([len(text) for text in texts], kind="stable")
    vectors = np.empty((len(texts), weights["embeddings.LayerNorm.bias"].size), np.float32)
    for at in np.array_split(order, 1 + len(texts) // 32):  # texts of like length are padded alike
        encoded = tokenizer.encode_batch([texts[i] for i in at])
        ids, mask = (np.array([getattr(e, part) for e in encoded]) for part in _PARTS)
        with threadpool_limits(1 if len(texts) <= _FEW else None):  # several would wait and spin
            vectors[at] = _embed(ids, mask, weights)
    return vectors


def _embed(ids: np.ndarray, mask: np.ndarray, weights: dict[str, np.ndarray]) -> np.ndarray:
    n, length = ids.shape

    def linear(x: np.ndarray, name: str) -> np.ndarray:
        return x @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]

    def normalize(x: np.ndarray, name: str) -> np.ndarray:
        x = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-12)
        return x * weights[f"{name}.LayerNorm.weight"] + weights[f"{name}.LayerNorm.bias"]

    def by_head(x: np.ndarray) -> np.ndarray:
        return x.reshape(n, length, _HEADS, -1).swapaxes(1, 2)

    words, places, kinds = (
        weights[f"embeddings.{name}_embeddings.weight"]
        for name in ("word", "position", "token_type")
    )
    x = normalize(words[ids] + places[:length] + kinds[0], "embeddings")
    hidden = np.where(mask, 0, -np.inf).astype(np.float32)[:, None, None]
    for layer in range(_LAYERS):
        part = f"encoder.layer.{layer}"
        of = [by_head(linear(x, f"{part}.attention.self.{n}")) for n in ("query", "key", "value")]
        query, key, value = of
        scores = query @ key.swapaxes(2, 3) / np.float32(key.shape[-1] ** 0.5) + hidden
        attended = (softmax(scores, axis=-1) @ value).swapaxes(1, 2).reshape(x.shape)
        attended = linear(attended, f"{part}.attention.output.dense")
        x = normalize(x + attended, f"{part}.attention.output")
        inner = linear(x, f"{part}.intermediate.dense")
        inner *= (1 + erf(inner / np.float32(2**0.5))) / 2  # GELU
        x = normalize(x + linear(inner, f"{part}.output.dense"), f"{part}.output")
    mean = (x * mask[:, :, None].astype(np.float32)).sum(axis=1)
    return mean / np.linalg.norm(mean, axis=1, keepdims=True)
