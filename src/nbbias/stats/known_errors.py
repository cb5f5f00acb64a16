"""Shares, corrected for a classifier's error rates on other models' answers.

Rogan and Gladen's estimate, for error rates that come from elsewhere. An instrument is not equally
good on every model, so what is known of its error rates is how far they differ between models; an
interval holds that spread beside the sampling of answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.special import expit, logit, xlog1py, xlogy
from scipy.stats import halfnorm, norm

from nbbias.stats.estimate import Estimate
from nbbias.stats.inference import tails

NO_BETTER = "on other models the instrument is no better than chance, so nothing can be corrected"

#: Scale of the half-normal prior on the spread between models, in logits: with few models, the
#: weakly informative choice of Röver et al. (2021).
_SPREAD = 1.0
#: The values that a rate may have, equally far apart in logits.
_RATES = expit(np.linspace(-4, 8, 61))
#: The middles of equally likely parts.
_MIDDLES = (np.arange(100) + 0.5) / 100
#: Shares, equally far apart in the scale in which Jeffreys' prior is flat.
_SHARES = np.sin(np.linspace(0, np.pi / 2, 201)) ** 2


class ErrorRates(NamedTuple):
    """Sensitivity and specificity of a classifier on models that it was not fitted on.

    Attributes
    ----------
    sensitivity, specificity : float
        Share of positives, and of others, that it tells rightly: means over the models.
    models : int
        Models that were measured.
    of_positives, of_others : array
        How likely each of the values that a rate may have is on a further model; the two rates are
        taken as independent.
    """

    sensitivity: float
    specificity: float
    models: int
    of_positives: np.ndarray
    of_others: np.ndarray

    @property
    def informed(self) -> float:
        """The models' mean Se + Sp - 1: 0 where the instrument tells nothing, 1 where all."""
        return self.sensitivity + self.specificity - 1


def _informed(likely: np.ndarray) -> np.ndarray:
    """Return quantiles of Se + Sp - 1, none below 0, given how likely each pair of rates is."""
    both = np.add.outer(_RATES, _RATES).ravel() - 1
    order = np.argsort(both)
    weight = likely.ravel()[order] / likely.sum()
    return np.interp(_MIDDLES, np.cumsum(weight) - weight / 2, np.maximum(both[order], 0))


def estimate_error_rates(counts: pd.DataFrame) -> ErrorRates:
    """Estimate a classifier's error rates on a new model.

    Parameters
    ----------
    counts
        One row per model: `tp`, `fn`, `tn` and `fp` (true and false positives and negatives) on
        answers that the instrument was not trained on.

    Returns
    -------
    ErrorRates
        The rates of a further model are of a random-effects model of the logits, with a flat prior
        on their mean and a half-normal one on their spread.

    References
    ----------
    Röver et al. 2021, Research Synthesis Methods 12(4); Higgins et al. 2009, JRSS A 172(1).

    Examples
    --------
    >>> counts = pd.DataFrame({"tp": [90, 80], "fn": [10, 20], "tn": [95, 85], "fp": [5, 15]})
    >>> rates = estimate_error_rates(counts)
    >>> round(rates.sensitivity, 2), round(rates.specificity, 2), rates.models
    (0.85, 0.9, 2)
    """
    tallies = counts[["tp", "fn", "tn", "fp"]].to_numpy(float)
    if not len(tallies):
        raise ValueError("error rates need one model at least")
    sides = tallies[:, :2], tallies[:, 2:]
    with np.errstate(invalid="ignore"):
        means = (float(np.nanmean(side[:, 0] / side.sum(axis=1))) for side in sides)
        sensitivity, specificity = means
    return ErrorRates(sensitivity, specificity, len(tallies), *map(_on_a_further_model, sides))


def _on_a_further_model(tallies: np.ndarray) -> np.ndarray:
    """Return how likely each rate is on a further model, given hits and misses on some."""
    hits, misses = (tallies + 0.5).T
    odds, error = np.log(hits / misses), 1 / hits + 1 / misses
    spread = np.linspace(0, 4, 101)[1:, None] * _SPREAD
    weight = 1 / (error + spread**2)
    total = weight.sum(axis=1)
    mean = (weight * odds).sum(axis=1) / total
    fit = np.log(weight).sum(axis=1) - (weight * (odds - mean[:, None]) ** 2).sum(axis=1)
    log_posterior = halfnorm.logpdf(spread[:, 0], scale=_SPREAD) + (fit - np.log(total)) / 2
    posterior = np.exp(log_posterior - log_posterior.max())
    between = np.convolve(logit(_RATES), [0.5, 0.5], mode="valid")
    width = np.sqrt(1 / total + spread[:, 0] ** 2)
    below = norm.cdf(between[:, None], mean, width) @ (posterior / posterior.sum())
    return np.diff(below, prepend=0, append=1)


def correct_share(share: float, n: float, *, rates: ErrorRates, confidence: float) -> Estimate:
    """Correct a share for the sensitivity and specificity of the classifier behind it.

    Parameters
    ----------
    share
        The share q that the instrument called positive.
    n
        Answers behind it; where they are not independent, as many independent ones as vary alike.
    rates
        The instrument's, of `estimate_error_rates`.
    confidence
        Level of the interval.

    Returns
    -------
    Estimate
        `estimate`, (q + Sp - 1)/(Se + Sp - 1) cut to [0, 1], with the models' mean Se and Sp;
        `ci_low`, `ci_high`: the likeliest shares under Jeffreys' prior, over all error rates that a
        further model may have. The less the instrument tells, the wider, up to [0, 1]; where it is
        no better than chance (Se + Sp ≤ 1), NaN with the `reason`.

    References
    ----------
    Rogan and Gladen 1978, Am J Epidemiol 107(1).

    Examples
    --------
    >>> counts = pd.DataFrame({"tp": [90, 88], "fn": [10, 12], "tn": [95, 93], "fp": [5, 7]})
    >>> row = correct_share(0.3, 200, rates=estimate_error_rates(counts), confidence=0.95)
    >>> round(row.estimate, 3), bool(row.ci_low < row.estimate < row.ci_high)
    (0.289, True)
    """
    if not (n > 0 and np.isfinite(share)):
        return Estimate(reason="no unit to take a share of")
    if not rates.informed > 0:
        return Estimate(reason=NO_BETTER)
    estimate = float(np.clip((share + rates.specificity - 1) / rates.informed, 0, 1))
    likelihood = _likelihood(share, n) @ rates.of_others @ rates.of_positives
    densest = np.argsort(-likelihood, kind="stable")
    inside = np.cumsum(likelihood[densest]) < confidence * likelihood.sum()
    within = _SHARES[densest[: inside.sum() + 1]]
    return Estimate(estimate).around(within.min(), within.max())


#: The least sensitivity that `worst_case` reckons with: of a model that refuses in other words.
_LEAST_SENSITIVITY = 0.4


def worst_case(corrected: Estimate, share: Estimate, *, rates: ErrorRates) -> Estimate:
    """Widen the interval of a corrected share to the worst likely error rates.

    Parameters
    ----------
    corrected
        Of `correct_share`.
    share
        As called, with its interval.
    rates
        The instrument's on other models.

    Returns
    -------
    Estimate
        With an interval from what the interval's lower end may be with the specificity that 97.5%
        of further models have, to what its upper end may be with a sensitivity of 0.4, such as on a
        model that refuses in other words.

    Examples
    --------
    >>> counts = pd.DataFrame({"tp": [90, 88], "fn": [10, 12], "tn": [95, 93], "fp": [5, 7]})
    >>> rates, share = estimate_error_rates(counts), Estimate(0.1, 0.05, 0.15)
    >>> row = correct_share(0.1, 200, rates=rates, confidence=0.95)
    >>> round(row.ci_high, 2), round(worst_case(row, share, rates=rates).ci_high, 3)
    (0.13, 0.375)
    """
    if not np.isfinite(corrected.estimate):
        return corrected
    specificity = np.interp(0.025, np.cumsum(rates.of_others), _RATES)
    low = max(0.0, (share.ci_low + specificity - 1) / specificity)
    high = min(1.0, share.ci_high / _LEAST_SENSITIVITY)
    return corrected.with_interval(min(low, corrected.ci_low), max(high, corrected.ci_high))


def _likelihood(share: float, n: float) -> np.ndarray:
    """Return how well true shares (rows), Se and Sp fit a share that was called."""
    rightly, wrongly = np.outer(_SHARES, _RATES), np.outer(1 - _SHARES, 1 - _RATES)
    called = rightly[:, :, None] + wrongly[:, None, :]
    hits = share * n
    fit = xlogy(hits, called) + xlog1py(n - hits, -called)
    return np.exp(fit - fit.max())


def correct_difference(
    called: Estimate, *, shares: Sequence[tuple[float, float]], rates: ErrorRates, confidence: float
) -> Estimate:
    """Correct a difference of two shares for the errors of the classifier behind both.

    Both sides have the same error rates: the difference as called is too small by Se + Sp - 1, and
    nothing else. So a test of it is one of the corrected difference. What both shares themselves
    tell of the error rates counts: where next to none are called, few are called wrongly.

    Parameters
    ----------
    called
        The difference as called, with its interval at the same level.
    shares
        The first share as called and the second, which is taken off, with the answers behind each.
    rates
        The instrument's, of `estimate_error_rates`.
    confidence
        Level of both intervals.

    Returns
    -------
    Estimate
        `estimate`, over the median of what Se + Sp - 1 may be, cut to [-1, 1]; `ci_low`, `ci_high`,
        no wider than the two corrected shares leave room for. NaN with the `reason` where there is
        none. A side's error as called counts as .01 at least. Two shares of `correct_share`,
        which rest on the models' mean Se and Sp, do not subtract to this estimate.

    Examples
    --------
    >>> counts = pd.DataFrame({"tp": [90, 88], "fn": [10, 12], "tn": [95, 93], "fp": [5, 7]})
    >>> called = Estimate(0.4, 0.3, 0.5)
    >>> shares = [(0.5, 100), (0.1, 100)]
    >>> row = correct_difference(
    ...     called, shares=shares, rates=estimate_error_rates(counts), confidence=0.95
    ... )
    >>> bool(0.4 < row.ci_low + 0.1 < row.estimate < 0.5)
    True
    """
    if not np.isfinite(called.estimate):
        return Estimate(reason=str(called.reason))
    if not rates.informed > 0:
        return Estimate(reason=NO_BETTER)
    likely = np.outer(rates.of_positives, rates.of_others)
    for share, n in shares:
        likely = likely * _likelihood(share, n).mean(axis=0)
    informed = _informed(likely)
    if not (middle := np.median(informed)) > 0:
        return Estimate(reason=NO_BETTER)
    estimate = float(np.clip(called.estimate / middle, -1, 1))
    if not np.isfinite(called.ci_low):
        return Estimate(estimate, reason=called.reason)
    z = norm.ppf((1 + confidence) / 2)
    ends = (called.ci_low, called.ci_high)
    lower, upper = (max(abs(end - called.estimate) / z, 0.01) for end in ends)
    true = np.linspace(-1, 1, 801)
    off = np.outer(true, informed) - called.estimate
    below = norm.cdf(off / np.where(off < 0, lower, upper)).mean(axis=1)
    # No difference is beyond 1, so a large one as called speaks for small errors.
    below = (below - below[0]) / (below[-1] - below[0])
    low, high = np.interp(tails(confidence), below, true)
    # Nor is it more than the two corrected shares leave room for.
    first = correct_share(*shares[0], rates=rates, confidence=confidence)
    second = correct_share(*shares[1], rates=rates, confidence=confidence)
    return Estimate(estimate).around(
        max(low, first.ci_low - second.ci_high), min(high, first.ci_high - second.ci_low)
    )
