"""What every function that estimates is told about intervals and draws."""

from __future__ import annotations

from typing import NamedTuple


class Sure(NamedTuple):
    """How sure an estimate is to be, and by which draws.

    Attributes
    ----------
    confidence : float
        Level of the intervals and of the ranges of chance, in (0, 1).
    draws : int
        Resamples behind an interval, permutations behind a chance level; 1 or more.
    seed : int
        Start of the draws: the same seed gives the same numbers.

    Examples
    --------
    >>> sure = Sure(draws=200)
    >>> sure
    Sure(confidence=0.95, draws=200, seed=0)
    >>> sure._replace(seed=1).seed
    1
    """

    confidence: float = 0.95
    draws: int = 1000
    seed: int = 0
