"""How far a judge agrees with people on the same answers: the share, and Cohen's kappa."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import hypergeom

from nbbias import biasalert_scores as scores
from nbbias import stats

Row = dict[str, Any]


def prompts_of(own: pd.DataFrame) -> np.ndarray | None:
    """Number answers by their prompt; None where no prompt has two. One of no prompt is alone."""
    if "prompt_id" not in own:
        return None
    codes = pd.factorize(own["prompt_id"])[0]
    codes[codes < 0] = codes.max(initial=-1) + 1 + np.arange((codes < 0).sum())
    return codes if len(np.unique(codes)) < len(codes) else None


def shared(
    part: pd.DataFrame, *, confidence: float = 0.95, draws: int = 2000, seed: int = 0
) -> list[Row]:
    """Return agreement and kappa of one judge with people; see `biasalert_levels.agreement`.

    Parameters
    ----------
    part
        Answers with a `label`, 1 or 0; `flagged`, 1, 0 or NaN; and `prompt_id` where it is known.
    confidence, draws, seed
        Level of the intervals, resamples, start of the draws.
    """
    both = part.dropna(subset=["flagged"])
    label, flagged = both["label"] == 1, both["flagged"] == 1
    n, n_lost = len(both), len(part) - len(both)
    same = stats.proportion_interval(int((label == flagged).sum()), n, confidence=confidence)
    share: Row = {"statistic": "agreement"} | same | {"n_lost": n_lost}
    row: Row = {"statistic": "kappa", "n": n, "n_lost": n_lost, "estimate": np.nan}
    if n == 0:
        return [share, row | {"reason": same["reason"]}]
    cells = np.column_stack(
        [label & flagged, label & ~flagged, ~label & flagged, ~label & ~flagged]
    )
    cells, prompts = cells.astype(float), prompts_of(both)
    units = np.arange(n) if prompts is None else np.unique(prompts, return_inverse=True)[1]
    sums = scores.resampled(cells, units, draws=draws, seed=seed)
    if prompts is not None:
        share |= _over_prompts((sums[:, 0] + sums[:, 3]) / sums.sum(axis=1), share["estimate"],
                               int(units.max()) + 1, confidence)  # fmt: skip
    row["estimate"] = float(_kappa(cells.sum(axis=0)))
    # Both margins kept, how many texts both call biased is hypergeometric.
    tails = [(1 - confidence) / 2, (1 + confidence) / 2]
    ones = int(label.sum()), int(flagged.sum())
    both_one = np.array([ones[0] * ones[1] / n, *hypergeom.ppf(tails, n, *ones)])
    names = ("null", "null_low", "null_high")
    equal = (n - sum(ones) + 2 * both_one) / n
    share |= dict(zip(names, equal, strict=True))
    if np.isnan(row["estimate"]):
        return [share, row | {"reason": "both call all texts alike, so kappa has no value"}]
    expected = equal[0]
    row |= dict(zip(names, (equal - expected) / (1 - expected), strict=True))
    again = _kappa(sums)
    if np.nanmin(again) == np.nanmax(again):
        return [share, row | {"reason": scores.ALIKE}]
    row["ci_low"], row["ci_high"] = scores.percentiles(
        again, estimate=row["estimate"], confidence=confidence
    )
    return [share, row]


def _over_prompts(again: np.ndarray, estimate: float, units: int, confidence: float) -> Row:
    if np.ptp(again) > 0:
        low, high = scores.percentiles(again, estimate=estimate, confidence=confidence)
        return {"ci_low": low, "ci_high": high}
    if estimate not in (0.0, 1.0):
        return {"ci_low": np.nan, "ci_high": np.nan, "reason": scores.ALIKE}
    found = stats.proportion_interval(int(estimate) * units, units, confidence=confidence)
    return {"ci_low": found["ci_low"], "ci_high": found["ci_high"]}


def _kappa(cells: np.ndarray) -> np.ndarray:
    a, b, c, d = np.moveaxis(cells, -1, 0)
    n = a + b + c + d
    with np.errstate(invalid="ignore", divide="ignore"):
        expected = ((a + b) * (a + c) + (c + d) * (b + d)) / n**2
        found = ((a + d) / n - expected) / (1 - expected)
    return np.where(np.isfinite(found), found, np.nan)
