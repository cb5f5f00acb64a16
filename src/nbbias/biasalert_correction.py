"""A share that a fallible judge counted, corrected for the judge's errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import norm, t

from nbbias.biasalert_scores import resampled

#: How many texts a judge had right, and of how many.
Right = tuple[float, float]


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
    flagged: float, n: int, *, sensitivity: Right, specificity: Right,
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
    raw = _corrected(q, se, sp)
    z = norm.ppf((1 + confidence) / 2)
    # Each rate is drawn towards the middle, so that 0 or 1 of few texts is not taken for certain.
    n_q, n_se, n_sp = n + z**2, sensitivity[1] + 2, specificity[1] + 2
    q, se, sp = (flagged + z**2 / 2) / n_q, (sensitivity[0] + 1) / n_se, (specificity[0] + 1) / n_sp
    if se + sp <= 1:
        return gap | {"reason": "the labelled sample is too small to tell the judge from chance"}
    p = _corrected(q, se, sp)
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


def by_prompt(
    answers: pd.DataFrame, prompts: np.ndarray, *,
    confidence: float = 0.95, draws: int = 2000, seed: int = 0,
) -> dict[str, Any]:  # fmt: skip
    """Correct a share of answers of which several are to one prompt: not independent ones.

    Parameters
    ----------
    answers
        `flagged`, 1 or 0, and `label`, 1, 0 or NaN outside the labelled sample.
    prompts
        Each answer's prompt, numbered from 0.
    confidence, draws, seed
        Level of the interval, resamples, start of the draws.

    Returns
    -------
    dict
        As `rogan_gladen`; prompts count equally in all three rates, however many answers they have.
        The interval is over resampled prompts, with all that was judged and labelled of them: the
        rates of labelled answers are drawn towards the middle as by Lang and Reiczigel, a resample
        in which the judge is no better than chance is as low as 0 and as high as 1, and resamples
        are spread as t is beside the normal distribution, with as many units as the fewest prompts
        behind a rate. Where fewer than two prompts hold either label, or all resamples are alike,
        it is Lang and Reiczigel's with prompts for answers.
    """
    flagged, label = (answers[name].to_numpy(float) for name in ("flagged", "label"))
    weight = 1 / np.bincount(prompts)[prompts]
    biased, fine = weight * (label == 1), weight * (label == 0)
    values = np.column_stack(
        [weight * flagged, weight, biased * flagged, biased, fine * (1 - flagged), fine]
    )
    units = [len(np.unique(prompts[own > 0])) for own in (weight, biased, fine)]
    hits, totals = values.sum(axis=0)[::2], values.sum(axis=0)[1::2]
    q, se, sp = (
        n * hit / total if n else 0.0 for n, hit, total in zip(units, hits, totals, strict=True)
    )
    row = rogan_gladen(
        q, units[0], sensitivity=(se, units[1]), specificity=(sp, units[2]), confidence=confidence
    )
    fewest = min(units)
    if fewest < 2 or np.isnan(row["estimate"]):
        return row
    sums = resampled(values, prompts, draws=draws, seed=seed)
    # One labelled answer is added to either side of its rate, so that few are not certain.
    one = np.array([0, totals[1] / (biased > 0).sum(), totals[2] / (fine > 0).sum()])
    drawn_q, drawn_se, drawn_sp = ((sums[:, ::2] + one) / (sums[:, 1::2] + 2 * one)).T
    told = drawn_se + drawn_sp > 1
    raw = _corrected(q / units[0], se / units[1], sp / units[2])
    with np.errstate(divide="ignore"):
        wide = t.ppf((1 + confidence) / 2, fewest - 1) / norm.ppf((1 + confidence) / 2)
        off = (_corrected(drawn_q, drawn_se, drawn_sp) - raw) * wide
    found = np.clip(raw + off * np.sqrt(fewest / (fewest - 1)), 0, 1)
    low = float(np.quantile(np.where(told, found, 0), (1 - confidence) / 2))
    high = float(np.quantile(np.where(told, found, 1), (1 + confidence) / 2))
    if low == high:
        return row
    return row | {"ci_low": min(low, row["estimate"]), "ci_high": max(high, row["estimate"])}


def _corrected(q: Any, se: Any, sp: Any) -> Any:
    return (q + sp - 1) / (se + sp - 1)
