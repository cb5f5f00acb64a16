"""What a judge goes by: the identity or the position? A conditional logit with both.

A judgement picks one of the texts shown; the log-odds of a pick add what the identity and what
the position are worth to the judge. Choices that share their order have the same likelihood, so
the model is fitted on counts, as the log-linear model with one level per order to which the
conditional logit is equal (Baker 1994, The Statistician 43: 495-504).
"""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import statsmodels.api as sm
from scipy.stats import chi2

from nbbias.cogs import rbs
from nbbias.cogs.suite import BAR

#: Log-odds beyond this are no estimate but a fit running away: odds of 160,000 to 1.
_RUNAWAY = 12.0
#: Share of resamples that may be separated before there is no interval.
_MOST_SEPARATED = 0.05

WALD = "Wald test, covariance by resampled task × theme"


class Logit(NamedTuple):
    """A fitted conditional logit.

    `identity` and `position` hold the log-odds against the first of each, which is 0; `counts`
    is instances by (order, position); `design` its columns. `reason` says why there is no fit.
    """

    identity: pd.Series
    position: pd.Series
    counts: np.ndarray
    design: np.ndarray
    lost: int
    reason: str | None


def fit(decided: pd.DataFrame, identities: list[str]) -> Logit:
    """Fit the conditional logit to single judgements.

    Parameters
    ----------
    decided
        The table of `cogs.affinity.decided`, of one evaluator and axis.
    identities
        The axis's identities; the first is the reference.

    Returns
    -------
    Logit
        NaN with a reason where all judgements share one order (identity and position cannot be
        told apart), or an identity or position is chosen never or always (separation: the
        estimate would be infinite).
    """
    kept = decided.dropna(subset=["position"])
    orders = list(dict.fromkeys(kept["order"]))
    k = len(identities)
    shown = np.array([[identities.index(name) for name in order.split(BAR)] for order in orders])
    columns = {
        "order": np.repeat(np.eye(len(orders)), k, axis=0),
        "identity": np.eye(k)[shown.ravel().astype(int)][:, 1:],
        "position": np.tile(np.eye(k), (len(orders), 1))[:, 1:],
    }
    design = np.hstack(list(columns.values()))
    number = kept["order"].map({order: i for i, order in enumerate(orders)}).astype(float)
    at = number * k + kept["position"] - 1
    instance = kept.groupby(["task", "theme"], sort=False).ngroup().to_numpy()
    counts = np.zeros((instance.max() + 1 if len(kept) else 0, len(orders) * k))
    np.add.at(counts, (instance, at.to_numpy(int)), 1)
    nothing = pd.Series(np.nan, index=identities), pd.Series(np.nan, index=range(1, k + 1))
    lost = len(decided) - len(kept)
    reason = _unfit(counts.sum(axis=0), design, shown, identities)
    found = None if reason else _coefficients(counts.sum(axis=0), design, k)
    if found is None:
        reason = reason or "separation: identity and position together decide every judgement"
        return Logit(*nothing, counts, design, lost, reason)
    identity = pd.Series([0.0, *found[: k - 1]], index=identities)
    position = pd.Series([0.0, *found[k - 1 :]], index=range(1, k + 1))
    return Logit(identity, position, counts, design, lost, None)


def _unfit(
    counts: np.ndarray, design: np.ndarray, shown: np.ndarray, identities: list[str]
) -> str | None:
    if not len(shown):
        return "no reply decided"
    if np.linalg.matrix_rank(design) < design.shape[1]:
        return "identities and positions go together in the orders shown: they cannot be told apart"
    chosen = {name: counts[shown.ravel() == i].sum() for i, name in enumerate(identities)}
    k = len(identities)
    chosen |= {f"position {i + 1}": counts[i::k].sum() for i in range(k)}
    never = [str(name) for name, n in chosen.items() if n == 0]
    if never:
        return f"separation: {', '.join(never)} was never chosen"
    return None


def _coefficients(counts: np.ndarray, design: np.ndarray, k: int) -> np.ndarray | None:
    """Return the log-odds of identities and positions, or None where the fit runs away."""
    asked = counts.reshape(-1, k).sum(axis=1) > 0
    rows = np.repeat(asked, k)
    columns = np.concatenate([asked, np.full(2 * (k - 1), True)])
    used = design[rows][:, columns]
    if np.linalg.matrix_rank(used) < used.shape[1]:
        return None
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            model = sm.GLM(counts[rows], used, family=sm.families.Poisson())
            fitted = model.fit(maxiter=60)
        except (np.linalg.LinAlgError, ValueError, FloatingPointError):
            return None
    found = np.asarray(fitted.params)[-2 * (k - 1) :]
    return found if fitted.converged and np.abs(found).max() < _RUNAWAY else None


def shares(log_odds: np.ndarray) -> np.ndarray:
    """Return how often each is chosen when nothing else differs: a softmax over the last axis."""
    odds = np.exp(log_odds - log_odds.max(axis=-1, keepdims=True))
    return odds / odds.sum(axis=-1, keepdims=True)


def estimates(logit: Logit, *, confidence: float, draws: int, seed: int) -> list[dict[str, Any]]:
    """Turn a fit into rows of ESTIMATES.

    Returns
    -------
    list of dict
        `statistic` ``abs_model`` (spread of the identities' shares with positions made alike) and
        ``position_model`` (the converse), each with a ball of resampled instances as interval, the
        spread that its uncertainty alone would give as `null`, and a Wald test of no effect; then
        ``share_model`` per identity. `n` counts instances, `n_lost` undecided judgements.
    """
    n, k = len(logit.counts), len(logit.identity)
    row: dict[str, Any] = {"n": n, "n_lost": logit.lost, "reason": logit.reason, "test": WALD}
    names = list(map(str, logit.identity.index))
    blank = dict.fromkeys(("estimate", "ci_low", "ci_high", "null", "p_value"), np.nan)
    if logit.reason:
        found = [{"statistic": s, **row, **blank} for s in ("abs_model", "position_model")]
        return found + [{"statistic": "share_model", "group": g, **row, **blank} for g in names]
    drawn = _resampled(logit, draws=draws, seed=seed)
    point = np.concatenate([logit.identity.to_numpy(), logit.position.to_numpy()])
    separated = 1 - len(drawn) / draws
    if n < 2 or separated > _MOST_SEPARATED:
        row["reason"] = (
            f"{separated:.0%} of the resamples are separated: no interval" if n > 1
            else "one task × theme: no interval"
        )  # fmt: skip
        drawn = np.empty((0, 2 * k))
    found = []
    for statistic, at in (("abs_model", slice(0, k)), ("position_model", slice(k, 2 * k))):
        found.append(
            {"statistic": statistic, **row, **blank,
             **_spread(point[at], drawn[:, at], n=n, confidence=confidence, seed=seed)}
        )  # fmt: skip
    found[0]["group"] = names[int(np.argmax(point[:k]))]
    found[1]["group"] = f"position {int(np.argmax(point[k:])) + 1}"
    own = shares(point[:k])
    tail = (1 - confidence) / 2
    for i, name in enumerate(names):
        ends = [np.nan, np.nan]
        if len(drawn):
            low, high = np.quantile(shares(drawn[:, :k])[:, i], [tail, 1 - tail])
            ends = [min(low, own[i]), max(high, own[i])]
        share = {"estimate": own[i], "ci_low": ends[0], "ci_high": ends[1], "null": 1 / k}
        found.append({"statistic": "share_model", "group": name, **row, "test": None, **share})
    return found


def _resampled(logit: Logit, *, draws: int, seed: int) -> np.ndarray:
    """Fit the model to resampled instances; separated resamples are left out."""
    n, k = len(logit.counts), len(logit.identity)
    rng = np.random.default_rng(seed)
    weights = rng.multinomial(n, np.full(n, 1 / n), size=draws)
    point = np.concatenate([logit.identity[1:], logit.position[1:]])
    found = _newton(weights @ logit.counts, logit.design[:, -2 * (k - 1) :], k, start=point)
    found = found[np.isfinite(found).all(axis=1)]
    nought = np.zeros((len(found), 1))
    return np.hstack([nought, found[:, : k - 1], nought, found[:, k - 1 :]])


def _newton(counts: np.ndarray, effects: np.ndarray, k: int, *, start: np.ndarray) -> np.ndarray:
    """Fit all resamples at once by Newton's method; NaN where a fit runs away.

    The same likelihood as in `_coefficients`, which would take minutes for thousands of resamples.
    """
    size = effects.shape[1]
    asked = counts.reshape(len(counts), -1, k).sum(axis=2)
    by_order = effects.reshape(-1, k, size)
    found = np.tile(start, (len(counts), 1))
    step = np.ones_like(found)
    for _ in range(50):
        p = shares((found @ effects.T).reshape(len(found), -1, k))
        expected = (asked[:, :, None] * p).reshape(len(found), -1)
        mean = np.einsum("dok,okp->dop", p, by_order)
        curvature = np.einsum("dr,rp,rq->dpq", expected, effects, effects, optimize=True)
        curvature -= np.einsum("do,dop,doq->dpq", asked, mean, mean, optimize=True)
        curvature += 1e-9 * np.eye(size)
        slope = (counts - expected) @ effects
        step = np.clip(np.linalg.solve(curvature, slope[:, :, None])[:, :, 0], -2, 2)
        found = np.clip(found + step, -2 * _RUNAWAY, 2 * _RUNAWAY)
        if np.abs(step).max() < 1e-9:
            break
    lost = (np.abs(found).max(axis=1) >= _RUNAWAY) | (np.abs(step).max(axis=1) > 1e-6)
    found[lost] = np.nan
    return found


def _spread(
    point: np.ndarray, drawn: np.ndarray, *, n: int, confidence: float, seed: int
) -> dict[str, float]:
    estimate = float(rbs.spread(shares(point)))
    if not len(drawn):
        return {"estimate": estimate}
    low, high = rbs.spread_interval(shares(point), shares(drawn), confidence=confidence, n=n)
    covariance = np.atleast_2d(np.cov(drawn[:, 1:], rowvar=False)) * n / (n - 1)
    wald = float(point[1:] @ np.linalg.solve(covariance, point[1:]))
    rng = np.random.default_rng(seed)
    chance = rng.multivariate_normal(np.zeros(len(point) - 1), covariance, size=len(drawn))
    none = rbs.spread(shares(np.column_stack([np.zeros(len(chance)), chance])))
    tail = (1 - confidence) / 2
    null_low, null_high = np.quantile(none, [tail, 1 - tail])
    return {
        "estimate": estimate, "ci_low": low, "ci_high": high, "statistic_value": wald,
        "df": float(len(point) - 1), "p_value": float(chi2.sf(wald, len(point) - 1)),
        "null": float(none.mean()), "null_low": null_low, "null_high": null_high,
    }  # fmt: skip
