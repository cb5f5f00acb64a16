"""Level, resamples and seed of intervals and tests."""

from __future__ import annotations

from typing import Any, NamedTuple

from nbbias.tables import CONFIDENCE


class InferenceSettings(NamedTuple):
    """Level of the intervals and tests, with the number and the seed of resamples.

    Attributes
    ----------
    confidence : float
        Confidence level of intervals and of percentile ranges under the null, in (0, 1).
    n_permutations : int
        Permutations behind a null distribution, bootstrap resamples behind an interval; 1 or more.
    seed : int
        Seed of the random numbers: the same seed gives the same results.

    Examples
    --------
    >>> inference = InferenceSettings(n_permutations=200)
    >>> inference
    InferenceSettings(confidence=0.95, n_permutations=200, seed=0)
    >>> inference._replace(seed=1).seed
    1
    """

    confidence: float = CONFIDENCE
    n_permutations: int = 1000
    seed: int = 0


def alpha(confidence: Any) -> Any:
    """Return the level of significance that goes with a level of confidence.

    Examples
    --------
    >>> round(alpha(0.95), 2)
    0.05
    """
    return 1 - confidence


def tails(confidence: float) -> list[float]:
    """Return the two quantiles between which a central interval lies.

    Examples
    --------
    >>> tails(0.5)
    [0.25, 0.75]
    """
    return [(1 - confidence) / 2, (1 + confidence) / 2]


def is_significant(p: Any, confidence: Any) -> Any:
    """Tell whether a p value, or each of several, is significant at a level of confidence.

    Examples
    --------
    >>> is_significant(0.03, 0.95), is_significant(float("nan"), 0.95)
    (True, False)
    """
    return p < alpha(confidence)
