"""Toxicity of texts: Detoxify where its weights are at hand, a plain fallback where they are not.

Every scorer returns a probability in [0, 1]; higher is worse. The fallback is a linear model over
words, trained on labelled tweets and Wikipedia comments (alt-profanity-check); tables and figures
say that it is not Detoxify.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from nbbias.tables import (
    DataError,
    file_sha256,
    is_file,
    missing_packages,
    require_packages,
    resolve,
)
from nbbias.text.distinct import on_distinct
from nbbias.text.instruments import Instrument, list_names, loading, registry

#: What `scorer` may be, beside the path of a Detoxify checkpoint.
AUTO, OFFLINE = "auto", "offline"

#: What Detoxify needs to be installed.
PACKAGES = ("detoxify",)

#: The files of a config, and of a tokenizer of either kind.
_CONFIG, _TOKENIZERS = "config.json", ("tokenizer.json", "vocab.txt")

Predict = Callable[[Sequence[str]], np.ndarray]


def choose(scorer: str = AUTO) -> str:
    """Return the scorer that will be used: ``"auto"`` is Detoxify if its weights are on this disk.

    Examples
    --------
    >>> choose("offline")
    'offline'
    """
    require_packages(*packages(scorer), where=f"toxicity by {scorer}")
    if scorer != AUTO:
        return scorer
    if missing_packages(*PACKAGES) or not any(_hub().glob("toxic_original-*.ckpt")):
        return OFFLINE
    weights = _weights("original")
    return "original" if is_file(weights) and _is_complete(weights.parent) else OFFLINE


def _is_complete(folder: Path) -> bool:
    """Return whether config and tokenizer of BERT are beside the weights or in the cache."""
    if _has_config(folder):
        return True
    from huggingface_hub import try_to_load_from_cache

    cached = partial(try_to_load_from_cache, "bert-base-uncased")
    config, *tokenizers = (isinstance(cached(name), str) for name in (_CONFIG, *_TOKENIZERS))
    return config and any(tokenizers)


def _has_config(folder: Path) -> bool:
    """Return whether config and tokenizer lie in a folder with the weights."""
    return is_file(folder / _CONFIG) and any(is_file(folder / name) for name in _TOKENIZERS)


def packages(scorer: str) -> tuple[str, ...]:
    """Return what has to be installed for a scorer.

    Examples
    --------
    >>> packages("auto"), packages("unbiased")
    ((), ('detoxify',))
    """
    if scorer in INSTRUMENTS and scorer not in _DETOXIFY:
        return ()
    return () if scorer == AUTO else PACKAGES


def instrument(scorer: str) -> str:
    """Return a scorer's name with its version, as tables and figures show it.

    Examples
    --------
    >>> "not Detoxify" in instrument("offline")
    True
    """
    return _instrument(choose(scorer)).full_title()


def score(
    texts: Iterable[str | None], *, scorer: str = AUTO, device: str = "cpu", batch: int = 16
) -> pd.Series:
    """Score the toxicity of texts.

    Parameters
    ----------
    texts
        Texts; a Series keeps its index. Each distinct text is scored once, in batches of
        texts of like length.
    scorer
        ``"auto"``, ``"offline"``, a model of Detoxify (``"original"``, ``"unbiased"``,
        ``"multilingual"``), or the path of a Detoxify checkpoint with its Hugging Face config
        and tokenizer in the same folder.
    device
        Where PyTorch runs Detoxify, such as ``"cpu"`` or ``"cuda"``.
    batch
        Texts that Detoxify reads at a time.

    Returns
    -------
    Series
        Probability in [0, 1]; NaN where there is no text, or where the model gave no number.

    Raises
    ------
    DataError
        The model's weights are not here and cannot be fetched, or a checkpoint is none.

    Examples
    --------
    >>> score(["You are an idiot.", "The box.", None], scorer="offline").round(1).tolist()
    [1.0, 0.0, nan]
    """
    series = pd.Series(texts, dtype=object)
    chosen = choose(scorer)

    def predict(distinct: list[str]) -> np.ndarray:
        if not distinct:
            return np.empty(0)
        read = _predictor(chosen, device)
        if chosen == OFFLINE:
            return read(distinct)
        # Texts of like length share a batch, the longest first.
        order = np.array(sorted(range(len(distinct)), key=lambda at: -len(distinct[at])))
        odds = np.empty(len(distinct))
        for start in range(0, len(order), batch):
            part = order[start : start + batch]
            odds[part] = read([distinct[at] for at in part])
        return np.where(np.isfinite(odds), odds, np.nan)

    return pd.Series(on_distinct(series, predict), index=series.index, name="toxicity")


def _instrument(scorer: str) -> Instrument:
    if scorer in INSTRUMENTS:
        return INSTRUMENTS[scorer]
    title = f"Detoxify {{}} checkpoint {Path(scorer).name}"
    return Instrument(title, "detoxify", partial(_checkpoint, scorer))


@cache
def _predictor(chosen: str, device: str) -> Predict:
    return _instrument(chosen).load(device)


def _words(device: str) -> Predict:
    from profanity_check import predict_prob

    return lambda texts: np.asarray(predict_prob(list(texts)), dtype=float)


def _detoxify(name: str, device: str) -> Predict:
    import torch
    from detoxify.detoxify import MODEL_URLS

    path = _weights(name)
    with loading(
        f"Detoxify {name}",
        "its weights are not here, or cut off, and cannot be fetched",
        advice="use 'offline', or the path of a checkpoint",
    ):
        if not is_file(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            torch.hub.download_url_to_file(MODEL_URLS[name], str(path), progress=False)
        # Only the published file, whose name holds its hash, may hold more than numbers.
        published = file_sha256(path).startswith(path.stem.rpartition("-")[2])
        loaded = torch.load(path, map_location="cpu", weights_only=not published)
        return _network(loaded, device, folder=path.parent if _has_config(path.parent) else None)


def _weights(name: str) -> Path:
    """Return where torch keeps the weights of a model of Detoxify."""
    from detoxify.detoxify import MODEL_URLS

    return _hub() / Path(MODEL_URLS[name]).name


def _hub() -> Path:
    """Return torch's folder of weights, as `torch.hub.get_dir` does, without loading torch."""
    caches = os.environ.get("XDG_CACHE_HOME", "~/.cache")
    home = os.environ.get("TORCH_HOME", os.path.join(caches, "torch"))
    return Path(home, "hub", "checkpoints").expanduser()


def _checkpoint(name: str, device: str) -> Predict:
    import torch

    path = resolve(name)
    if not is_file(path):
        models = ", ".join(_DETOXIFY)
        raise DataError(name, f"is no model of Detoxify ({models}) and no file")
    try:
        # A checkpoint may hold code; this refuses any that holds more than tensors and numbers.
        loaded = torch.load(path, map_location="cpu", weights_only=True)
        loaded = {key: loaded[key] for key in ("config", "state_dict")}
    except Exception:
        reason = "is no Detoxify checkpoint (needs config and state_dict, no code)"
        raise DataError(name, reason) from None
    with loading(name, "cannot be loaded with the config and tokenizer in its folder"):
        return _network(loaded, device, folder=path.parent)


def _network(loaded: dict[str, Any], device: str, folder: Path | None = None) -> Predict:
    """Make the network of a checkpoint of Detoxify; config and tokenizer are in `folder`."""
    import torch
    import transformers
    from detoxify.detoxify import get_model_and_tokenizer

    classes = loaded["config"]["dataset"]["args"]["classes"]
    toxic = next((at for at, name in enumerate(classes) if name in {"toxic", "toxicity"}), None)
    if toxic is None:
        raise ValueError(f"it has no class 'toxic'; it has {', '.join(classes)}")
    architecture = dict(loaded["config"]["arch"]["args"])
    if folder is not None:  # or the network is asked for the config that the checkpoint names
        architecture["model_type"] = str(folder)
    kinds = {
        "model_name": transformers.PreTrainedModel,
        "tokenizer_name": transformers.PreTrainedTokenizerBase,
    }
    for key, kind in kinds.items():  # a checkpoint names them, and might name anything
        cls = getattr(transformers, str(architecture[key]), None)
        if not (isinstance(cls, type) and issubclass(cls, kind)):
            raise ValueError(f"{key} {architecture[key]!r} is none of transformers'")
    model, tokenizer = get_model_and_tokenizer(
        **architecture,
        state_dict=loaded["state_dict"],
        huggingface_config_path=str(folder) if folder else None,
    )
    model = model.to(device).eval()

    def predict(texts: Sequence[str]) -> np.ndarray:
        inputs = tokenizer(list(texts), return_tensors="pt", truncation=True, padding=True)
        with torch.inference_mode():
            odds = model(**inputs.to(model.device))[0][:, toxic]
        return torch.sigmoid(odds).cpu().numpy().astype(float)

    return predict


_DETOXIFY = ("original", "unbiased", "multilingual", "original-small", "unbiased-small")

#: Every scorer with a name of its own; any other name is the path of a checkpoint.
INSTRUMENTS = registry(
    {
        OFFLINE: Instrument(
            "alt-profanity-check {} (fallback, not Detoxify)", "alt-profanity-check", _words
        ),
        **{
            name: Instrument(f"Detoxify {{}} {name}", "detoxify", partial(_detoxify, name))
            for name in _DETOXIFY
        },
    },
    family="toxicity",
)

#: What the help of a parameter says.
CHOICES = (
    f"{AUTO} (Detoxify where its weights are here, else {OFFLINE}), {list_names(INSTRUMENTS)}, "
    "or a checkpoint's path"
)
