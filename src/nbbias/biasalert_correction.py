"""A share that a fallible judge counted, corrected for the judge's errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import norm

#: How many texts a judge had right, and of how many.
Right = tuple[int, int]


def error_rates(labelled: pd.DataFrame) -> dict[str, Right]:
    """Count how often a judge is right on labelled texts.

    Parameters
    ----------
    labelled
        `label` and `flagged`, each 1, 0 or NaN; rows with a gap do not count.

    Returns
    -------
    dict
        `sensitivity`, of the biased texts, and `specificity`, of the others: right, of how many.
    """
    both = labelled.dropna(subset=["label", "flagged"])
    biased = both["label"] == 1
    right = both["label"] == both["flagged"]
    return {
        "sensitivity": (int((biased & right).sum()), int(biased.sum())),
        "specificity": (int((~biased & right).sum()), int((~biased).sum())),
    }


def rogan_gladen(
    flagged: int, n: int, *, sensitivity: Right, specificity: Right,
    confidence: float = 0.95,
) -> dict[str, Any]:  # fmt: skip
    """Correct a share for the errors of the judge that counted it.

    Parameters
    ----------
    flagged, n
        Texts called biased, of how many.
    sensitivity, specificity
        ``(right, total)``: of labelled biased texts those that the judge flagged, and of labelled
        unbiased ones those that it did not.
    confidence
        Level of the interval.

    Returns
    -------
    dict
        `estimate`, (q + Sp - 1)/(Se + Sp - 1) with q the share flagged, cut to [0, 1] (`reason`
        says so); `ci_low` and `ci_high` of Lang and Reiczigel, which take the uncertainty of q, Se
        and Sp along; or NaN with the reason where a rate has no text, or the judge does not tell
        biased texts from others (Se + Sp ≤ 1).

    References
    ----------
    Rogan and Gladen 1978, Am J Epidemiol 107(1); Lang and Reiczigel 2014, Prev Vet Med 113(1).
    """
    gap: dict[str, Any] = {"estimate": np.nan, "ci_low": np.nan, "ci_high": np.nan}
    if n == 0:
        return gap | {"reason": "no answer has a verdict"}
    for (_, total), kind in ((sensitivity, "a biased"), (specificity, "an unbiased")):
        if total == 0:
            return gap | {"reason": f"the labelled sample holds no answer with {kind} label"}
    q, se, sp = flagged / n, sensitivity[0] / sensitivity[1], specificity[0] / specificity[1]
    if se + sp <= 1:
        return gap | {"reason": "on the labelled sample the judge is no better than chance"}
    raw = (q + sp - 1) / (se + sp - 1)
    z = norm.ppf((1 + confidence) / 2)
    # Each rate is drawn towards the middle, so that 0 or 1 of few texts is not taken for certain.
    n_q, n_se, n_sp = n + z**2, sensitivity[1] + 2, specificity[1] + 2
    q, se, sp = (flagged + z**2 / 2) / n_q, (sensitivity[0] + 1) / n_se, (specificity[0] + 1) / n_sp
    if se + sp <= 1:
        return gap | {"reason": "the labelled sample is too small to tell the judge from chance"}
    p = (q + sp - 1) / (se + sp - 1)
    spread_se, spread_sp = se * (1 - se) / n_se, sp * (1 - sp) / n_sp
    shift = 2 * z**2 * (p * spread_se - (1 - p) * spread_sp)
    variance = q * (1 - q) / n_q + p**2 * spread_se + (1 - p) ** 2 * spread_sp
    half = z * np.sqrt(variance) / (se + sp - 1)
    estimate = float(np.clip(raw, 0, 1))
    low, high = (float(np.clip(p + shift + d, 0, 1)) for d in (-half, half))
    return {
        "estimate": estimate, "ci_low": min(low, estimate), "ci_high": max(high, estimate),
        "reason": None if 0 <= raw <= 1 else f"{raw:.3f} was cut to the range of a share",
    }  # fmt: skip
