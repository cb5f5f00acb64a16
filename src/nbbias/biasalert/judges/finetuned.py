"""The offline encoder fine-tuned to tell claims about groups from mentions of them."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

import numpy as np

from nbbias import tables
from nbbias.text import embeddings
from nbbias.text.distinct import on_distinct

#: Low-rank changes of the encoder and a logistic regression: written by ``tools/finetune.py``.
SHIPPED = "biasalert/lora.npz"


def log_odds(texts: Iterable[str | None], *, device: str = "cpu") -> np.ndarray:
    """Return the log-odds that texts are prejudiced claims; NaN where there is no text.

    The model (low-rank adaptation, Hu et al. 2022) has learned from `counterfactuals` alone.
    """
    cache = load_known()

    def read(distinct: list[str]) -> list[float]:
        if new := [text for text in distinct if text not in cache]:
            vectors = embeddings.embed(new, model=embeddings.FINETUNED, device=device)
            with np.load(tables.data_path(SHIPPED), allow_pickle=False) as saved:
                coef, intercept = (saved[name].astype(float) for name in ("coef", "intercept"))
            cache.update(zip(new, (vectors @ coef + intercept).tolist(), strict=True))
        return [cache[text] for text in distinct]

    return on_distinct(texts, read)


@cache
def load_known() -> dict[str, Any]:
    """Return the log-odds that are known here, by text: at first those that ship."""
    return embeddings.read_shipped("log_odds")
