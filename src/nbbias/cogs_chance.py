"""What a spread over identities is by chance, and how sure it is.

RBS and ABS are the same statistic of a table with one row per problem instance (task and theme)
and one column per identity: the population standard deviation of the column means. It is never
below 0, so noise alone lifts it; both functions here take the instance as the unit.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from nbbias import stats

PERMUTATION = "identities permuted within task × theme"


def spread(means: np.ndarray) -> np.ndarray:
    """Return the population standard deviation over the last axis (Eq. 8 and 11)."""
    return means.std(axis=-1, ddof=0)


def permuted_means(values: np.ndarray, *, draws: int, rng: np.random.Generator) -> np.ndarray:
    """Shuffle every row on its own and average the columns, `draws` times.

    Parameters
    ----------
    values
        Instances by identities, without gaps.

    Returns
    -------
    array, draws by identities
        What the means would be if the identities' names meant nothing.
    """
    out = np.empty((draws, values.shape[1]))
    for start in range(0, draws, 100):  # a hundred copies of the table at a time
        part = out[start : start + 100]
        copies = np.broadcast_to(values, (len(part), *values.shape))
        part[:] = rng.permuted(copies, axis=2).mean(axis=1)
    return out


def resampled_means(values: np.ndarray, *, draws: int, rng: np.random.Generator) -> np.ndarray:
    """Draw the instances with replacement and average the columns: draws by identities."""
    n = len(values)
    weights = rng.multinomial(n, np.full(n, 1 / n), size=draws)
    return weights @ values / n


def spread_interval(
    means: np.ndarray, resampled: np.ndarray, *, confidence: float, n: int
) -> tuple[float, float]:
    """Return an interval for the spread of means.

    The resampled means say how far the true means may lie from ours, as a ball around them; the
    interval is what the spread is within that ball. It holds the estimate and may reach 0, which
    percentiles of a resampled spread cannot: that is lifted by noise twice.
    """
    off = (resampled - means) * np.sqrt(n / (n - 1))
    radius = float(np.quantile(spread(off), confidence))
    centre = float(spread(means))
    return max(0.0, centre - radius), centre + radius


def spread_estimate(
    values: pd.DataFrame, *, confidence: float, draws: int, seed: int
) -> dict[str, Any]:
    """Estimate a spread over identities.

    Parameters
    ----------
    values
        One row per instance, one column per identity. Instances with a gap are lost.
    confidence, draws, seed
        Level of the interval; resamples and permutations, and their start.

    Returns
    -------
    dict
        `estimate`, `ci_low`, `ci_high`, `n`, `n_lost`; the chance level `null` (mean under
        permutation), `null_low`, `null_high`; `test` and one-sided `p_value`: the share of
        permutations (ours counted in) with a spread at least as large; `reason`.
    """
    whole = values.dropna()
    row: dict[str, Any] = {
        "n": len(whole), "n_lost": len(values) - len(whole), "test": PERMUTATION,
        **dict.fromkeys(
            ("estimate", "ci_low", "ci_high", "null", "null_low", "null_high", "p_value"), np.nan
        ),
    }  # fmt: skip
    reason = too_few(values)
    if reason:
        return row | {"reason": reason}
    rng = np.random.default_rng(seed)
    table = whole.to_numpy(float)
    means = table.mean(axis=0)
    chance = spread(permuted_means(table, draws=draws, rng=rng))
    estimate = float(spread(means))
    tail = (1 - confidence) / 2
    low, high = np.quantile(chance, [tail, 1 - tail])
    row |= {
        "estimate": estimate, "null": float(chance.mean()), "null_low": low, "null_high": high,
        "p_value": float(((chance >= estimate - 1e-12).sum() + 1) / (draws + 1)), "reason": None,
    }  # fmt: skip
    if len(whole) == 1:
        return row | {"reason": stats.ONE_VALUE}
    resampled = resampled_means(table, draws=draws, rng=rng)
    row["ci_low"], row["ci_high"] = spread_interval(
        means, resampled, confidence=confidence, n=len(whole)
    )
    return row


def too_few(values: pd.DataFrame) -> str | None:
    """Say why a table of instances by identities has no spread, if it has none."""
    if values.shape[1] < 2:
        return f"an axis needs two identities, and has {values.shape[1]}"
    silent = [str(name) for name in values if values[name].isna().all()]
    if silent:
        return f"nothing was measured for {', '.join(silent)}"
    if values.dropna().empty:
        return "no task × theme has all identities"
    return None


def column_estimates(
    values: pd.DataFrame, *, confidence: float, draws: int, seed: int, bounds: tuple[float, float]
) -> list[dict[str, Any]]:
    """Estimate each identity's mean over the instances that have all identities.

    Returns
    -------
    list of dict
        One per column, in order: `group` and the columns of `stats.mean_interval`; `null`, the
        mean over identities, with the range of permuted means; a two-sided `p_value` of the
        permutation, `p_adjusted` (Holm, over the columns).
    """
    whole = values.dropna()
    reason = too_few(values)
    lost = len(values) - len(whole)
    if reason:
        gaps = {"estimate": np.nan, "n": 0, "n_lost": len(values), "reason": reason}
        return [{"group": str(name), **gaps} for name in values]
    table = whole.to_numpy(float)
    chance = permuted_means(table, draws=draws, rng=np.random.default_rng(seed))
    null = float(table.mean())
    tail = (1 - confidence) / 2
    rows = []
    for i, name in enumerate(values):
        row = stats.mean_interval(table[:, i], confidence=confidence, bounds=bounds)
        low, high = np.quantile(chance[:, i], [tail, 1 - tail])
        as_far = np.abs(chance[:, i] - null) >= abs(row["estimate"] - null) - 1e-12
        row |= {
            "group": str(name), "n_lost": lost, "null": null, "null_low": low, "null_high": high,
            "test": PERMUTATION, "p_value": float((as_far.sum() + 1) / (draws + 1)),
        }  # fmt: skip
        rows.append(row)
    corrected = stats.adjusted(pd.Series([row["p_value"] for row in rows]))
    return [row | {"p_adjusted": p} for row, p in zip(rows, corrected, strict=True)]
