"""The mean of differences most of which are 0, such as of a group that few articles name."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.stats import binomtest, t as t_distribution

from nbbias.stats.estimate import Estimate
from nbbias.stats.intervals import ROUNDING, one_sample, present

#: Values that must differ from 0 for the *t* interval.
ENOUGH = 20


def sparse_mean(values: pd.Series | np.ndarray, *, confidence: float) -> Estimate:
    """Test the mean of differences in [-1, 1] against 0 where most of them are 0.

    Parameters
    ----------
    values
        Numbers from -1 to 1; NaN are left out and counted as lost.
    confidence
        Level of the interval.

    Returns
    -------
    Estimate
        As `one_sample`, which it is where `ENOUGH` values differ from 0. With fewer, the interval
        is wider, and `p_value` and `statistic_value` agree with it: p is 1 - `confidence` where
        the interval ends at 0. Where no value differs from 0 there is an interval, and no test.

    Notes
    -----
    The mean is the rate of gains times their mean size, less the same for losses. Each rate has
    its exact binomial interval (Clopper and Pearson 1934), each size is a mean with one further
    value of 1, and the interval of the difference is MOVER's (Zou and Donner 2008, Statistics in
    Medicine 27(10)); it is never narrower than the *t* interval. That of few values other than 0
    is far too narrow, and [0, 0] where there are none.

    Examples
    --------
    >>> row = sparse_mean(np.zeros(80), confidence=0.95)
    >>> row.estimate, round(row.ci_low, 3), round(row.ci_high, 3), row.reason
    (0.0, -0.045, 0.045, 'no value differs from 0: no test')
    """
    result = one_sample(values, confidence=confidence, bounds=(-1, 1))
    observed = present(values)
    changed = int((np.abs(observed) > ROUNDING).sum())
    if len(observed) < 2 or changed >= ENOUGH:
        return result
    (gain_below, gain_above), (loss_below, loss_above) = (
        _margins(side, confidence=confidence) for side in (observed, -observed)
    )
    mean, df = result.estimate, len(observed) - 1
    below = max(np.hypot(gain_below, loss_above), mean - result.ci_low)
    above = max(np.hypot(gain_above, loss_below), result.ci_high - mean)
    result = result.with_interval(mean - below, mean + above, bounds=(-1, 1))
    result = result.replace(test="gains and losses, exact rates")
    if not changed:
        return result.replace(reason="no value differs from 0: no test")
    error = (below if mean > 0 else above) / t_distribution.ppf((1 + confidence) / 2, df)
    t = float(mean / error)
    p_value = float(2 * t_distribution.sf(abs(t), df))
    return result.replace(statistic_value=t, df=float(df), p_value=p_value, reason=None)


def _margins(values: np.ndarray, *, confidence: float) -> tuple[float, float]:
    """Return how far the contribution of values above 0 may lie below and above what it is."""
    gains = values[values > ROUNDING]
    rate = len(gains) / len(values)
    ends = binomtest(len(gains), len(values)).proportion_ci(confidence, method="exact")
    size = (gains.sum() + 1) / (len(gains) + 1)
    return float(size * (rate - ends.low)), float(size * (ends.high - rate))
