"""Toxicity of texts: Detoxify where its weights are at hand, a plain fallback where they are not.

Every instrument returns a probability in [0, 1]; higher is worse. The fallback is a linear
model over words, trained on labelled tweets and Wikipedia comments (alt-profanity-check). It is
not Detoxify, and whatever it touches says so.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from nbbias.tables import DataError, demand, is_file, lacking, resolve
from nbbias.text.instruments import Instrument, listed

#: What `scorer` may be, beside the path of a Detoxify checkpoint.
AUTO, OFFLINE = "auto", "offline"

#: What loading a model raises when its files are missing, cut off or of another kind.
_UNUSABLE = (
    *(OSError, ValueError, KeyError, TypeError, AttributeError, RuntimeError, EOFError),
    pickle.UnpicklingError,
)

#: What Detoxify needs to be installed.
PACKAGES = ("detoxify",)

Predict = Callable[[Sequence[str]], np.ndarray]


def choose(scorer: str = AUTO) -> str:
    """Return the instrument that will be used: ``"auto"`` is Detoxify if its weights are here.

    Examples
    --------
    >>> choose("offline")
    'offline'
    """
    demand(*packages(scorer), where=f"toxicity by {scorer}")
    if scorer != AUTO:
        return scorer
    if lacking(*PACKAGES):
        return OFFLINE
    import torch
    from detoxify.detoxify import MODEL_URLS

    weights = Path(torch.hub.get_dir()) / "checkpoints" / Path(MODEL_URLS["original"]).name
    return "original" if is_file(weights) else OFFLINE


def packages(scorer: str) -> tuple[str, ...]:
    """Return what has to be installed for an instrument.

    Examples
    --------
    >>> packages("auto"), packages("unbiased")
    ((), ('detoxify',))
    """
    return () if scorer in {AUTO, OFFLINE} else PACKAGES


def instrument(scorer: str) -> str:
    """Return an instrument's name with its version, as tables and figures show it.

    Examples
    --------
    >>> "not Detoxify" in instrument("offline")
    True
    """
    return _chosen(choose(scorer)).named()


def score(
    texts: Iterable[str | None], *, scorer: str = AUTO, device: str = "cpu", batch: int = 32
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
        Where Detoxify runs, such as ``"cuda"``.
    batch
        Texts at a time.

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
    given = pd.Series(texts, dtype=object)
    present = given.notna() & (given.fillna("").astype(str).str.strip() != "")
    distinct = sorted(given[present].astype(str).unique(), key=lambda text: (len(text), text))
    predict = _predictor(choose(scorer), device)
    known: dict[str, float] = {}
    for start in range(0, len(distinct), batch):
        part = distinct[start : start + batch]
        known.update(zip(part, predict(part), strict=True))
    scored = given.where(present).map(lambda text: known.get(text, np.nan), na_action="ignore")
    scored = scored.astype(float)
    return scored.where(np.isfinite(scored)).rename("toxicity")


def _chosen(scorer: str) -> Instrument:
    if scorer in INSTRUMENTS:
        return INSTRUMENTS[scorer]
    title = f"Detoxify {{}} checkpoint {Path(scorer).name}"
    return Instrument(title, "detoxify", partial(_checkpoint, scorer))


@cache
def _predictor(chosen: str, device: str) -> Predict:
    return _chosen(chosen).load(device)


def _words(device: str) -> Predict:
    from profanity_check import predict_prob

    return lambda texts: np.asarray(predict_prob(list(texts)), dtype=float)


def _of(model: Any) -> Predict:
    def predict(texts: Sequence[str]) -> np.ndarray:
        return np.atleast_1d(np.asarray(model.predict(list(texts))["toxicity"], dtype=float))

    return predict


def _detoxify(name: str, device: str) -> Predict:
    from detoxify import Detoxify

    try:
        return _of(Detoxify(name, device=device))
    except _UNUSABLE as error:
        raise DataError(
            f"Detoxify {name}",
            f"its weights are not here, or cut off, and cannot be fetched ({_reason(error)}); "
            "use 'offline', or the path of a checkpoint",
        ) from None


def _reason(error: BaseException) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__


def _checkpoint(name: str, device: str) -> Predict:
    import torch
    from detoxify import Detoxify

    path = resolve(name)
    if not is_file(path):
        known = ", ".join(_DETOXIFY)
        raise DataError(name, f"is no model of Detoxify ({known}) and no file")
    try:
        # A checkpoint may hold code; this refuses any that holds more than tensors and numbers.
        loaded = torch.load(path, map_location="cpu", weights_only=True)
        whole = isinstance(loaded, dict) and {"config", "state_dict"} <= set(loaded)
    except Exception:
        whole = False
    if not whole:
        raise DataError(name, "is no Detoxify checkpoint (needs config and state_dict, no code)")
    try:
        model = Detoxify(
            checkpoint=str(path), device=device, huggingface_config_path=str(path.parent)
        )
    except _UNUSABLE as error:
        told = f"cannot be loaded with the config and tokenizer in its folder: {_reason(error)}"
        raise DataError(name, told) from None
    if "toxicity" not in model.class_names:
        raise DataError(name, f"has no class 'toxic'; it has {', '.join(model.class_names)}")
    return _of(model)


_DETOXIFY = ("original", "unbiased", "multilingual", "original-small", "unbiased-small")

#: Every instrument with a name of its own; any other name is the path of a checkpoint.
INSTRUMENTS = {
    OFFLINE: Instrument(
        "alt-profanity-check {} (fallback, not Detoxify)", "alt-profanity-check", _words
    ),
    **{
        name: Instrument(f"Detoxify {{}} {name}", "detoxify", partial(_detoxify, name))
        for name in _DETOXIFY
    },
}

#: What the help of a parameter says.
CHOICES = (
    f"{AUTO} (Detoxify where its weights are here, else {OFFLINE}), {listed(INSTRUMENTS)}, "
    "or a checkpoint's path"
)
