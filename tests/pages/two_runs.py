"""Runs of llmbi written by hand: a score for each prompt, and what is declared of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from nbbias import stats, tables
from nbbias.pages import manifest
from nbbias.params import claims_sha256
from nbbias.reading import claims as reading_claims

INDEX: dict[str, Any] = {"measure": "llmbi", "statistic": "index"}


def run(
    folder: Path,
    values: Mapping[str, Sequence[float]],
    *,
    claims: Sequence[Mapping[str, Any]] = (INDEX,),
    instrument: str = "TextBlob",
    prompts: Sequence[str] | None = None,
    **told: Any,
) -> Path:
    """Save a run of which each model has a score for each prompt, two prompts a dimension."""
    rows, found = [], []
    for model, scores in values.items():
        named = prompts or [f"p{i}" for i in range(len(scores))]
        rows += [
            {
                "model": model,
                "dimension": f"d{i // 2}",
                "prompt": prompt,
                "sample": 1,
                "score": score,
                "weighted_bias": 0.0,
                "instrument": instrument,
            }
            for i, (prompt, score) in enumerate(zip(named, scores, strict=True))
        ]
        own = stats.one_sample(np.array(scores, dtype=float), confidence=0.95).row()
        found.append(INDEX | {"model": model, "null": 0.2, **own})
        found.append(
            {
                "measure": "llmbi",
                "statistic": "anova",
                "model": model,
                "n": len(scores),
                "estimate": round(float(np.mean(scores)), 1),
            }
        )
    estimates = tables.estimates(found, study="llmbi", instrument=instrument, confidence=0.95)
    tables.save_table(pd.DataFrame(rows), "scores", out=folder)
    tables.save_table(estimates, "estimates", out=folder)
    declared = reading_claims.declared(estimates, claims, confidence=0.95)
    tables.save_table(declared, "claims", out=folder)
    described = {
        "status": "ok",
        "started": "2024-01-01T10:00:00",
        "seconds": 1.0,
        "study": "llmbi",
        "run": folder.name,
        "parameters": {"claims": list(claims), "confidence": 0.95},
        "claims_sha256": claims_sha256(list(claims)),
        "data": {},
        "versions": {},
    } | told
    manifest.write(folder, described)
    return folder


def scores(seed: int, n: int = 40, *, mean: float = 0.5) -> list[float]:
    """Return scores that vary by prompt, alike in all runs, and by chance, which are not."""
    common = np.random.default_rng(0).normal(mean, 0.2, n)
    return list(common + np.random.default_rng(seed).normal(0, 0.05, n))
