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

import numpy as np
import pandas as pd

from nbbias import tables
from nbbias.text.distinct import on_distinct
from nbbias.text.instruments import Instrument, are_cached, loading, registry

#: What `scorer` may be, beside the models of Detoxify.
AUTO, OFFLINE = "auto", "offline"

#: What Detoxify needs to be installed.
PACKAGES = ("detoxify",)

#: Texts that Detoxify reads at a time.
_BATCH = 16

Predict = Callable[[Sequence[str]], np.ndarray]


def choose(scorer: str = AUTO) -> str:
    """Return the scorer that will be used: ``"auto"`` is Detoxify if its weights are on this disk.

    Raises
    ------
    ParameterError
        There is no scorer of that name; with the closest name.

    Examples
    --------
    >>> choose("offline")
    'offline'
    >>> choose("orignal")
    Traceback (most recent call last):
        ...
    nbbias.tables.errors.ParameterError: toxicity_scorer: no 'orignal'; did you mean original?
    """
    names = [AUTO, *INSTRUMENTS]
    if scorer not in names:
        near = tables.closest_match(scorer, names)
        raise tables.ParameterError("toxicity_scorer", f"no {scorer!r}; {near}")
    tables.require_packages(*packages(scorer), where=f"toxicity by {scorer}")
    if scorer != AUTO:
        return scorer
    if tables.missing_packages(*PACKAGES) or not any(_hub().glob("toxic_original-*.ckpt")):
        return OFFLINE
    files = ("config.json", "tokenizer.json", "vocab.txt")
    config, *tokenizers = are_cached("bert-base-uncased", *files)
    return "original" if config and any(tokenizers) else OFFLINE


def _hub() -> Path:
    """Return torch's folder of weights, as `torch.hub.get_dir` does, without loading torch."""
    caches = os.environ.get("XDG_CACHE_HOME", "~/.cache")
    home = os.environ.get("TORCH_HOME", os.path.join(caches, "torch"))
    return Path(home, "hub", "checkpoints").expanduser()


def packages(scorer: str) -> tuple[str, ...]:
    """Return what has to be installed for a scorer.

    Examples
    --------
    >>> packages("auto"), packages("unbiased")
    ((), ('detoxify',))
    """
    return PACKAGES if scorer in _DETOXIFY else ()


def instrument(scorer: str) -> str:
    """Return a scorer's name with its version, as tables and figures show it.

    Examples
    --------
    >>> "not Detoxify" in instrument("offline")
    True
    """
    return INSTRUMENTS[choose(scorer)].full_title()


def score(texts: Iterable[str | None], *, scorer: str = AUTO, device: str = "cpu") -> pd.Series:
    """Score the toxicity of texts.

    Parameters
    ----------
    texts
        Texts; a Series keeps its index. Each distinct text is scored once, in batches of
        texts of like length.
    scorer
        ``"auto"``, ``"offline"``, or a model of Detoxify (``"original"``, ``"unbiased"``,
        ``"multilingual"``).
    device
        Where PyTorch runs Detoxify, such as ``"cpu"`` or ``"cuda"``.

    Returns
    -------
    Series
        Probability in [0, 1]; NaN where there is no text, or where the model gave no number.

    Raises
    ------
    ParameterError
        There is no scorer of that name.
    DataError
        The model's weights are not here and cannot be fetched, or are not the published ones.

    Examples
    --------
    >>> score(["You are an idiot.", "The box.", None], scorer="offline").round(1).tolist()
    [1.0, 0.0, nan]
    """
    series = pd.Series(texts, dtype=object)
    chosen = choose(scorer)

    def predict(distinct: list[str]) -> np.ndarray:
        # Texts of like length share a batch, the longest first.
        order = np.array(sorted(range(len(distinct)), key=lambda at: -len(distinct[at])), int)
        odds = np.empty(len(distinct))
        size = _BATCH if chosen in _DETOXIFY else len(order) + 1
        for start in range(0, len(order), size):
            part = order[start : start + size]
            odds[part] = INSTRUMENTS[chosen].load(device)([distinct[at] for at in part])
        return np.where(np.isfinite(odds), odds, np.nan)

    return pd.Series(on_distinct(series, predict), index=series.index, name="toxicity")


def _load_word_model(device: str) -> Predict:
    return lambda texts: np.concatenate(
        tables.map_chunks(_predict_words, pd.Series(texts, dtype=object))
    )


def _predict_words(texts: pd.Series) -> np.ndarray:
    from profanity_check import predict_prob

    return np.asarray(predict_prob(texts.tolist()), dtype=float)


@cache
def _load_detoxify(name: str, device: str) -> Predict:
    import torch
    from detoxify.detoxify import MODEL_URLS, Detoxify

    path = _hub() / Path(MODEL_URLS[name]).name
    digest = path.stem.rpartition("-")[2]  # of the published file, which may hold more than numbers
    message = "its weights are not here and cannot be fetched"
    with loading(f"Detoxify {name}", message, advice="use 'offline'"):
        if not tables.is_file(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            torch.hub.download_url_to_file(MODEL_URLS[name], str(path), digest, progress=False)
        if not tables.file_sha256(path).startswith(digest):
            raise ValueError(f"{path} is not the published file; delete it")
        model = Detoxify(name, device=device)
    return lambda texts: np.reshape(model.predict(list(texts))["toxicity"], len(texts))


_MODELS = ("original", "unbiased", "multilingual", "original-small", "unbiased-small")
_DETOXIFY = {
    name: Instrument(f"Detoxify {{}} {name}", "detoxify", partial(_load_detoxify, name))
    for name in _MODELS
}

_TITLE = "alt-profanity-check {} (fallback, not Detoxify)"
_FALLBACK = Instrument(_TITLE, "alt-profanity-check", _load_word_model)

#: Every scorer by its name.
INSTRUMENTS = registry({OFFLINE: _FALLBACK, **_DETOXIFY}, family="toxicity")

#: What the help of a parameter says.
CHOICES = f"{AUTO} (Detoxify where its weights are here, else {OFFLINE}), {', '.join(INSTRUMENTS)}"
