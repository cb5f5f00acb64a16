"""Toxicity of texts: Detoxify where its weights are at hand, a plain fallback where they are not.

Every instrument returns a probability in [0, 1]; higher is worse. The fallback is a linear
model over words, trained on labelled tweets and Wikipedia comments (alt-profanity-check). It is
not Detoxify, and whatever it touches says so.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd

from nbbias.tables import DataError, is_file, resolve

#: What `scorer` may be, beside the path of a Detoxify checkpoint.
AUTO, OFFLINE = "auto", "offline"
DETOXIFY = ("original", "unbiased", "multilingual", "original-small", "unbiased-small")

#: What loading a model raises when its files are missing, cut off or of another kind.
_UNUSABLE = (
    *(OSError, ValueError, KeyError, TypeError, AttributeError, RuntimeError, EOFError),
    pickle.UnpicklingError,
)

Predict = Callable[[Sequence[str]], np.ndarray]


def choose(scorer: str = AUTO) -> str:
    """Return the instrument that will be used: ``"auto"`` is Detoxify if its weights are here."""
    if scorer != AUTO:
        return scorer
    import torch
    from detoxify.detoxify import MODEL_URLS

    weights = Path(torch.hub.get_dir()) / "checkpoints" / Path(MODEL_URLS["original"]).name
    return "original" if is_file(weights) else OFFLINE


def instrument(scorer: str) -> str:
    """Return an instrument's name with its version, as tables and figures show it."""
    chosen = choose(scorer)
    if chosen == OFFLINE:
        number = version("alt-profanity-check")
        return f"alt-profanity-check {number} (fallback, not Detoxify)"
    name = chosen if chosen in DETOXIFY else f"checkpoint {Path(chosen).name}"
    return f"Detoxify {version('detoxify')} {name}"


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


@cache
def _predictor(chosen: str, device: str) -> Predict:
    if chosen == OFFLINE:
        from profanity_check import predict_prob

        return lambda texts: np.asarray(predict_prob(list(texts)), dtype=float)
    model = _detoxify(chosen, device)

    def predict(texts: Sequence[str]) -> np.ndarray:
        return np.atleast_1d(np.asarray(model.predict(list(texts))["toxicity"], dtype=float))

    return predict


def _detoxify(chosen: str, device: str):  # type: ignore[no-untyped-def]
    import torch
    from detoxify import Detoxify

    if chosen in DETOXIFY:
        try:
            return Detoxify(chosen, device=device)
        except _UNUSABLE as error:
            reason = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise DataError(
                f"Detoxify {chosen}",
                f"its weights are not here, or cut off, and cannot be fetched ({reason}); "
                "use 'offline', or the path of a checkpoint",
            ) from None
    path = resolve(chosen)
    if not is_file(path):
        raise DataError(chosen, f"is no model of Detoxify ({', '.join(DETOXIFY)}) and no file")
    try:
        # A checkpoint may hold code; this refuses any that holds more than tensors and numbers.
        loaded = torch.load(path, map_location="cpu", weights_only=True)
        whole = isinstance(loaded, dict) and {"config", "state_dict"} <= set(loaded)
    except Exception:
        whole = False
    if not whole:
        raise DataError(chosen, "is no Detoxify checkpoint (needs config and state_dict, no code)")
    try:
        model = Detoxify(
            checkpoint=str(path), device=device, huggingface_config_path=str(path.parent)
        )
    except _UNUSABLE as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise DataError(
            chosen, f"cannot be loaded with the config and tokenizer in its folder: {reason}"
        ) from None
    if "toxicity" not in model.class_names:
        raise DataError(chosen, f"has no class 'toxic'; it has {', '.join(model.class_names)}")
    return model
