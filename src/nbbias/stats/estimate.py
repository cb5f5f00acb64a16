"""An estimate with its interval and test, or the reason why there is none."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from math import nan
from typing import Any, TypeAlias

from scipy.special import stdtr, stdtrit

#: The least and the largest value that a statistic can have, where it has bounds.
Bounds: TypeAlias = tuple[float, float] | None

#: What a test gives, apart from its name.
TEST_RESULTS = ("statistic_value", "df", "p_value", "effect_size")


@dataclass(frozen=True)
class Estimate:
    """An estimate with its confidence interval, its sample size and, where there is one, a test.

    Attributes
    ----------
    estimate, ci_low, ci_high : float
        Point estimate and the ends of its interval; NaN where missing.
    n, n_lost : int, optional
        Units behind the estimate, and units left out for a missing value.
    null : float, optional
        Value under the null hypothesis, where it is reported.
    test : str, optional
        Name of the test; without it, `row` has no columns of a test.
    statistic_value, df, p_value, effect_size : float
        Result of the test; NaN where it could not be run.
    reason : str, optional
        Why the estimate, its interval or its test is missing.

    Examples
    --------
    >>> result = Estimate(0.2, 0.1, 0.3, n=40)
    >>> result.ci_high, result.row() | {"model": "a"}
    (0.3, {'estimate': 0.2, 'ci_low': 0.1, 'ci_high': 0.3, 'n': 40, 'reason': None, 'model': 'a'})
    >>> Estimate(reason="no value was measured", n=0).row()
    {'estimate': nan, 'ci_low': nan, 'ci_high': nan, 'n': 0, 'reason': 'no value was measured'}
    """

    estimate: float = nan
    ci_low: float = nan
    ci_high: float = nan
    n: int | None = None
    n_lost: int | None = None
    null: float | None = None
    test: str | None = None
    statistic_value: float = nan
    df: float = nan
    p_value: float = nan
    effect_size: float = nan
    reason: str | None = None

    def replace(self, **fields: Any) -> Estimate:
        """Return a copy with other values in the fields that are named."""
        return replace(self, **fields)

    def with_interval(self, low: float, high: float, *, bounds: Bounds = None) -> Estimate:
        """Return a copy with this interval, cut to the bounds of its statistic.

        Examples
        --------
        >>> Estimate(0.9).with_interval(0.7, 1.1, bounds=(0, 1)).ci_high
        1.0
        """
        least, most = bounds or (-float("inf"), float("inf"))
        low, high = (float(min(max(end, least), most)) for end in (low, high))
        return replace(self, ci_low=low, ci_high=high)

    def with_t_interval(
        self, error: float, df: float, *, confidence: float, bounds: Bounds = None
    ) -> Estimate:
        """Return a copy with the t interval of a standard error.

        Examples
        --------
        >>> round(Estimate(0.0).with_t_interval(1, 10, confidence=0.95).ci_high, 3)
        2.228
        """
        half = float(stdtrit(df, (1 + confidence) / 2)) * error
        return self.with_interval(self.estimate - half, self.estimate + half, bounds=bounds)

    def with_t_test(self, error: float, df: float) -> Estimate:
        """Return a copy with the two-sided t test against 0 of a standard error.

        Examples
        --------
        >>> round(Estimate(2.228).with_t_test(1, 10).p_value, 3)
        0.05
        """
        value = float(self.estimate / error)
        p = float(2 * stdtr(df, -abs(value)))
        return replace(self, statistic_value=value, df=float(df), p_value=p)

    def around(self, low: float, high: float) -> Estimate:
        """Return a copy with this interval, widened where it misses the estimate."""
        return self.with_interval(min(low, self.estimate), max(high, self.estimate))

    def without_test(self, reason: str) -> Estimate:
        """Return a copy without interval and test, and why.

        Examples
        --------
        >>> Estimate(0.1, 0.0, 0.2, p_value=0.04).without_test("too few").p_value
        nan
        """
        fields: dict[str, Any] = dict.fromkeys(("ci_low", "ci_high", *TEST_RESULTS), nan)
        return replace(self, **fields, reason=reason)

    def row(self) -> dict[str, Any]:
        """Return the fields as columns of a row: counts and a test only where there are any."""
        fields = asdict(self)
        dropped = {name for name in ("n", "n_lost", "null", "test") if fields[name] is None}
        dropped |= {*TEST_RESULTS} if self.test is None else set()
        return {name: value for name, value in fields.items() if name not in dropped}
