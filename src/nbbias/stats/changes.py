"""Whether a mean changed between two runs over the same units, and by more than a margin.

The values of the two runs are paired by unit. Units may come in clusters, such as the comments
that several texts are cut from: the sums over clusters are what varies, so the tests are paired
*t* tests where every unit is a cluster of its own. Where both runs hold 0 and 1 alone, the score
test of Tango (1998) stands in their place: it holds where few units or none change sides.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from nbbias.stats.estimate import Estimate
from nbbias.stats.intervals import ONE_CLUSTER, ONE_VALUE

Row = dict[str, Any]

#: Where a statistic gets worse: further from 0 on either side, upwards or downwards.
Worse = Literal["apart", "higher", "lower"]

#: A spread this small beside the values is rounding.
_ROUNDING = 1e-9

#: Simulated pairs of runs behind a power, and the largest number of units that is looked at.
_DRAWS, _MOST = 4000, 10_000_000

#: Halvings of the line between a difference and the end of its range: to the last digit.
_HALVINGS = 53


class Means(NamedTuple):
    """Two means over common units, the variances of these means, and how many units they are of.

    All are numbers, or arrays of one shape: of many simulated pairs of runs. `reach` is the range
    of all values: no unit can change by more.
    """

    first: Any
    second: Any
    var_first: Any
    var_second: Any
    cov: Any
    df: Any
    n: Any
    reach: Any


def means(both: pd.DataFrame) -> Means:
    """Return the means of `first` and `second` over units that may share a `cluster`.

    Examples
    --------
    >>> found = means(pd.DataFrame({"first": [0.0, 1.0], "second": [1.0, 2.0]}))
    >>> found.second - found.first, found.var_first, found.df
    (1.0, 0.25, 1)
    """
    values = both[["first", "second"]].to_numpy(float)
    centre, n = values.mean(axis=0), len(values)
    off = values - centre
    sums = off
    if "cluster" in both:
        codes = pd.factorize(both["cluster"])[0]
        sums = np.column_stack([np.bincount(codes, weights=own) for own in off.T])
    count = len(sums)
    spread = sums.T @ sums / n**2 * (count / (count - 1) if count > 1 else np.nan)
    (var_first, cov), (_, var_second) = spread.tolist()
    reach = float(np.ptp(values)) or 1.0  # all alike: shares and rates could differ by 1
    return Means(
        float(centre[0]), float(centre[1]), var_first, var_second, cov, count - 1, n, reach
    )


def paired_change(both: pd.DataFrame, *, confidence: float) -> Estimate:
    """Test the mean of `second` less `first`, two-sided.

    Parameters
    ----------
    both
        A row for each unit that both runs have: `first`, `second` and, where units share it,
        `cluster`.
    confidence
        Level of the interval.

    Returns
    -------
    Estimate
        `estimate`, `ci_low`, `ci_high`, `n`, `test`, `statistic_value`, `df`, `p_value`, `reason`,
        as `stats.paired_difference`, which it equals without clusters.

    Examples
    --------
    >>> both = pd.DataFrame({"first": [2.0, 3.0, 1.0], "second": [3.0, 5.0, 4.0]})
    >>> row = paired_change(both, confidence=0.95)
    >>> row.estimate, row.n, row.test, round(row.p_value, 3)
    (2.0, 3, 'paired t', 0.074)
    """
    if both.empty:
        return Estimate.missing("no unit is in both runs", n=0, test="paired t")
    found = means(both)
    clustered = found.df + 1 < found.n
    test = "paired t over clusters" if clustered else "paired t"
    result = Estimate(found.second - found.first, n=found.n, test=test)
    if found.df < 1:
        return result.replace(reason=ONE_VALUE if found.n == 1 else ONE_CLUSTER)
    error = _error(found, 1, 1)
    half = stats.t.ppf((1 + confidence) / 2, found.df) * error
    result = result.replace(df=found.df)
    result = result.with_interval(result.estimate - half, result.estimate + half)
    if error <= _ROUNDING * max(1.0, found.reach):
        return result.replace(reason="the change is the same in all units: no test")
    value = float(result.estimate / error)
    return result.replace(
        statistic_value=value, p_value=float(2 * stats.t.sf(abs(value), found.df))
    )


def _error(found: Means, new: Any, old: Any) -> Any:
    """Return the standard error of `new` times the second mean less `old` times the first."""
    variance = found.var_second + found.var_first - 2 * np.multiply(new, old) * found.cov
    return np.sqrt(np.maximum(variance, 0))


# --- worse by more than a margin --------------------------------------------------------------


def gate(both: pd.DataFrame, *, worse: Worse, margin: float) -> Row:
    """Test whether the second run is worse by more than a margin, and whether by less.

    Parameters
    ----------
    both
        As in `paired_change`.
    worse
        Where the statistic gets worse: ``"higher"``, ``"lower"``, or ``"apart"``, further from 0.
    margin
        How much worse is still accepted, above 0, in the statistic's unit.

    Returns
    -------
    dict
        `worsening`, how much worse the second run is, with `se`, its standard error, and `df`; `n`;
        `p_worse`, small where the second run is worse by more than the margin; `p_not_worse`,
        small where it is not. Both are one-sided and NaN where fewer than two units or clusters are
        in both runs.

    Notes
    -----
    Further from 0 is a statement of two means and two signs. The second run is worse where, on its
    side of 0, it lies further out than the first and than its mirror image; `p_worse` is the larger
    of the two p values, each of both sides of 0 (the second may be on either). It is not worse
    where it lies within the margin of 0, on both sides, whatever the first; or where, on both
    sides, it lies less than the margin further out than the first does on its own side, at the
    price of the p value of that side.

    References
    ----------
    Tango 1998, Statistics in Medicine 17(8); Berger 1982, Technometrics 24(4) (intersection-union).

    Examples
    --------
    >>> both = pd.DataFrame({"first": [0.1, 0.3, 0.2, 0.2], "second": [0.5, 0.6, 0.7, 0.5]})
    >>> row = gate(both, worse="higher", margin=0.1)
    >>> round(row["worsening"], 3), row["p_worse"] < 0.05, row["p_not_worse"] < 0.05
    (0.375, True, False)
    """
    if len(both) < 2:
        gaps = ("worsening", "se", "df", "p_worse", "p_not_worse")
        return dict.fromkeys(gaps, np.nan) | {"n": len(both)}
    sign = -1 if worse == "lower" else 1
    found = means(both.assign(first=sign * both["first"], second=sign * both["second"]))
    row: Row = {"worsening": worsening(found, worse), "n": found.n}
    side = _sides(found) if worse == "apart" else (1, 1)
    row |= {"se": float(_error(found, *side)), "df": found.df}
    if found.df < 1:
        return row | {"p_worse": np.nan, "p_not_worse": np.nan}
    row |= dict(zip(("p_worse", "p_not_worse"), one_sided(found, worse, margin), strict=True))
    if worse != "apart" and _is_binary(both):
        change = sign * (both["second"] - both["first"])
        pair = of_verdicts((change > 0).sum(), (change < 0).sum(), len(both), margin)
        if found.df + 1 < found.n:  # of clusters the larger p: each alone may say too much
            pair = (max(pair[0], row["p_worse"]), max(pair[1], row["p_not_worse"]))
        row |= dict(zip(("p_worse", "p_not_worse"), pair, strict=True))
    return {name: float(value) if name != "n" else value for name, value in row.items()}


def worsening(found: Means, worse: Worse) -> Any:
    """Return by how much the second mean is worse; of ``"lower"`` the means have changed sign.

    Examples
    --------
    >>> both = pd.DataFrame({"first": [-0.1, -0.3], "second": [0.2, 0.4]})
    >>> round(worsening(means(both), "apart"), 2)
    0.1
    """
    if worse != "apart":
        return found.second - found.first
    return abs(found.second) - abs(found.first)


def one_sided(found: Means, worse: Worse, margin: float) -> tuple[Any, Any]:
    """Return `p_worse` and `p_not_worse` of `gate` by t tests; arrays give arrays.

    Examples
    --------
    >>> both = pd.DataFrame({"first": [0.1, 0.3, 0.2], "second": [0.9, 0.8, 1.0]})
    >>> p_worse, p_not_worse = one_sided(means(both), "higher", 0.1)
    >>> bool(p_worse < 0.05), bool(p_not_worse < 0.05)
    (True, False)
    """
    if worse != "apart":
        return _above(found, 1, 1, margin), _below(found, 1, 1, margin)
    new, old = _sides(found)
    outside = [
        _above(found, new, side, margin) + _above(found, new, side, -margin) for side in (1, -1)
    ]
    below = {(n, o): _below(found, n, o, margin) for n in (1, -1) for o in (1, -1)}
    known = np.where(
        old > 0, np.maximum(below[1, 1], below[-1, 1]), np.maximum(below[1, -1], below[-1, -1])
    )
    error = np.sqrt(np.maximum(found.var_first, 0))
    with np.errstate(divide="ignore", invalid="ignore"):
        doubt = stats.t.sf(np.abs(found.first) / error, found.df)
    known = known + np.where(error > 0, doubt, np.where(found.first == 0, 0.5, 0.0))
    alone = np.maximum(_below(found, 1, 0, margin), _below(found, -1, 0, margin))
    return np.minimum(np.maximum(*outside), 1.0), np.minimum(np.minimum(known, alone), 1.0)


def _sides(found: Means) -> tuple[Any, Any]:
    return np.where(found.second < 0, -1, 1), np.where(found.first < 0, -1, 1)


def _above(found: Means, new: Any, old: Any, bound: float) -> Any:
    """Return the p value of a contrast of the two means against being at most a bound."""
    gap, error = new * found.second - old * found.first - bound, _error(found, new, old)
    with np.errstate(divide="ignore", invalid="ignore"):
        p = stats.t.sf(gap / error, found.df)
    return np.where(error > _no_spread(found), p, np.where(gap > 0, 0.0, 1.0))


def _below(found: Means, new: Any, old: Any, bound: float) -> Any:
    """Return the p value of a contrast of the two means against being at least a bound.

    Where no unit changed, it is the chance that none of so many had, if enough did: all that vary
    at all by their whole range.
    """
    contrast, error = new * found.second - old * found.first, _error(found, new, old)
    with np.errstate(divide="ignore", invalid="ignore"):
        p = stats.t.cdf((contrast - bound) / error, found.df)
        share = np.clip(np.divide(bound, found.reach), 0, 1)
        still = (1 - share) ** found.n
    alike = np.where(np.abs(contrast) <= _no_spread(found), still, 0.0)
    certain = np.where(contrast < bound, alike, 1.0)
    return np.where(error > _no_spread(found), p, certain)


def _no_spread(found: Means) -> Any:
    return _ROUNDING * np.maximum(1.0, found.reach)


def _is_binary(both: pd.DataFrame) -> bool:
    return bool(both[["first", "second"]].isin([0, 1]).to_numpy().all())


def tango(up: Any, down: Any, n: Any, bound: Any, *, less: float = 0.0) -> Any:
    """Return the score statistic of a difference of paired shares against a bound.

    Parameters
    ----------
    up, down
        Units that are 1 in the second run alone, and in the first alone.
    n
        Units of both runs.
    bound
        The difference, second less first, of the null hypothesis.
    less
        Units that the difference counts less, for continuity.

    Examples
    --------
    >>> round(float(tango(6, 1, 40, 0.0)), 3)  # without a bound that of McNemar
    1.89
    """
    up, down = np.asarray(up, float), np.asarray(down, float)
    a, c = 2 * n, -down * bound * (1 - bound)
    b = -up - down + (2 * n - up + down) * bound
    alone = (np.sqrt(np.maximum(b**2 - 4 * a * c, 0)) - b) / (2 * a)
    variance = n * (2 * alone + bound * (1 - bound))
    with np.errstate(divide="ignore", invalid="ignore"):
        return (up - down - less - n * bound) / np.sqrt(variance)


def tango_interval(up: Any, down: Any, n: Any, *, confidence: float) -> tuple[Any, Any]:
    """Return the interval of a difference of paired shares: what the score does not tell apart.

    Parameters
    ----------
    up, down
        As in `tango`.
    n
        Units of both runs, one at least.
    confidence
        Level of the interval.

    Returns
    -------
    (low, high)
        Within -1 and 1; it holds the difference, and has a width where no unit changed too.

    References
    ----------
    Tango 1998, Statistics in Medicine 17(8).

    Examples
    --------
    >>> low, high = tango_interval(1, 0, 10, confidence=0.95)
    >>> round(float(low), 3), round(float(high), 3)
    (-0.205, 0.404)
    """
    up, down, n = (np.asarray(one, float) for one in (up, down, n))
    level = stats.norm.ppf((1 + confidence) / 2)
    ends = []
    for end in (-1.0, 1.0):
        inside, outside = (up - down) / n, np.full(np.shape((up - down) / n), end)
        for _ in range(_HALVINGS):
            middle = (inside + outside) / 2
            held = np.abs(tango(up, down, n, middle)) <= level
            inside, outside = np.where(held, middle, inside), np.where(held, outside, middle)
        ends.append(inside)
    return ends[0], ends[1]


def of_verdicts(up: Any, down: Any, n: Any, margin: float) -> tuple[Any, Any]:
    """Return `p_worse` and `p_not_worse` of `gate` where each unit is so or is not.

    The score statistic is too often large where few units change sides: one unit less, for
    `p_worse`, and half a unit more, for `p_not_worse`, keep either at its level.

    Examples
    --------
    >>> p_worse, p_not_worse = of_verdicts(1, 0, 100, 0.05)
    >>> bool(p_worse > 0.9), bool(p_not_worse < 0.1)
    (True, True)
    """
    above, below = (tango(up, down, n, margin, less=less) for less in (1.0, -0.5))
    return stats.norm.sf(above), stats.norm.cdf(below)


# --- how many units could tell ----------------------------------------------------------------


def power(
    both: pd.DataFrame, n: int, *, worse: Worse, margin: float, alpha: float, seed: int = 0
) -> float:
    """Return how often so many units would show that nothing got worse, where nothing did.

    Parameters
    ----------
    both
        As in `gate`: its spread is taken for that of units to come, and its first run's mean for
        that of both.
    n
        Units of both runs, in clusters as large as here.
    worse, margin
        As in `gate`.
    alpha
        Level of the one-sided test.
    seed
        Start of the draws.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> both = pd.DataFrame(rng.normal(size=(50, 2)), columns=["first", "second"])
    >>> bool(power(both, 2000, worse="higher", margin=0.2, alpha=0.05) > 0.9)
    True
    """
    rng, found = np.random.default_rng(seed), means(both)
    if worse != "apart" and _is_binary(both):
        change = both["second"] - both["first"]
        rate = ((change != 0).sum() + 1) / (len(both) + 2)  # as if two more units had differed once
        scale = _design_effect(found, change)
        size = max(int(n / scale), 1)
        up, down, _ = rng.multinomial(size, [rate / 2, rate / 2, 1 - rate], size=_DRAWS).T
        return float((of_verdicts(up, down, size, margin)[1] <= alpha).mean())
    return float((one_sided(_drawn(found, n, rng), worse, margin)[1] <= alpha).mean())


def _design_effect(found: Means, change: pd.Series) -> float:
    alone = float(change.var(ddof=1)) / found.n
    return max(float(_error(found, 1, 1)) ** 2 / alone, 1.0) if alone > 0 else 1.0


def _drawn(found: Means, n: int, rng: np.random.Generator) -> Means:
    """Draw the means and their variances of pairs of runs of n units whose true means are alike."""
    df = max(int((found.df + 1) * n / found.n) - 1, 1)
    spread = np.array([[found.var_first, found.cov], [found.cov, found.var_second]])
    spread = spread * found.n / n
    drawn = rng.multivariate_normal([found.first] * 2, spread, size=_DRAWS, check_valid="ignore")
    # Bartlett's decomposition of a Wishart matrix: what n units would say of their spread.
    root = np.linalg.cholesky(spread + np.eye(2) * 1e-300 + np.diag(np.diag(spread)) * 1e-12)
    lower = np.zeros((_DRAWS, 2, 2))
    lower[:, 0, 0] = np.sqrt(rng.chisquare(df, _DRAWS))
    lower[:, 1, 1] = np.sqrt(rng.chisquare(max(df - 1, 1), _DRAWS))
    lower[:, 1, 0] = rng.normal(size=_DRAWS)
    half = root @ lower
    seen = half @ half.transpose(0, 2, 1) / df
    one, both = (drawn[:, 0], seen[:, 0, 0]), (drawn[:, 1], seen[:, 1, 1], seen[:, 0, 1])
    if _error(found, 1, 1) <= _no_spread(found):  # no unit changed, nor do those that are drawn
        both = (drawn[:, 0], seen[:, 0, 0], seen[:, 0, 0])
    return Means(one[0], both[0], one[1], both[1], both[2], df, n, found.reach)


def units_needed(
    both: pd.DataFrame, *, worse: Worse, margin: float, alpha: float, wanted: float = 0.8
) -> int | None:
    """Return how many units would show, with a power, that nothing got worse by the margin.

    Parameters
    ----------
    both, worse, margin, alpha
        As in `power`.
    wanted
        The power.

    Returns
    -------
    int or None
        The least such number, to a hundredth; None where there are fewer than two units to go by,
        or where more than ten million would be needed.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> both = pd.DataFrame(rng.normal(size=(80, 2)), columns=["first", "second"])
    >>> units_needed(both, worse="higher", margin=0.5, alpha=0.05) < 100
    True
    """
    if len(both) < 2 or means(both).df < 1:
        return None

    def enough(n: int) -> bool:
        return power(both, n, worse=worse, margin=margin, alpha=alpha) >= wanted

    return least(enough)


def least(enough: Callable[[int], bool], *, most: int = _MOST) -> int | None:
    """Return the least number of units that is enough, to a hundredth; None above the most.

    Examples
    --------
    >>> least(lambda n: n >= 40), least(lambda n: n >= 40, most=20)
    (40, None)
    """
    high = 4
    while not enough(high):
        if high == most:
            return None
        high = min(high * 2, most)
    low = high // 2
    while high - low > max(1, low // 100):
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
