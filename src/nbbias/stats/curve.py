"""One question by many ways of measuring: a specification curve, and one test of it as a whole.

Of the ways in which a question can be asked of the same texts, none is the right one. All of them
are shown, and one test asks of all together whether they could come of nothing (Simonsohn, Simmons
and Nelson 2020, *Specification curve analysis*, Nature Human Behaviour 4).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import t as student

from nbbias.stats import chance
from nbbias.stats.intervals import one_sample
from nbbias.stats.sure import Sure

#: Values that are not 0 that a specification needs for an interval: five signs have 32 orders.
FEWEST = 5

#: What differences of values this small are: 0.
_ROUNDING = 1e-12

_TESTED = ("statistic_value", "df", "p_value", "effect_size", "ci_low", "ci_high")


class Joint(NamedTuple):
    """What sides that are swapped say of a curve.

    `tests`: a row each for the median estimate, the share of specifications with the commoner sign,
    and the share that are significant with that sign: `estimate`, `null` (its mean under no
    difference), `null_low`, `null_high`, `p_value`, `p_least`, `n` specifications, `units`.
    `band`: between what the lowest, the second lowest, … estimate lies under no difference
    (`null`, `null_low`, `null_high`), as the curve is sorted.
    """

    tests: pd.DataFrame
    band: pd.DataFrame


def curve(values: pd.DataFrame, *, confidence: float) -> pd.DataFrame:
    """Estimate one mean by every specification.

    Parameters
    ----------
    values
        Units by specifications: a unit's signed difference; NaN where it does not count.
    confidence
        Level of the intervals.

    Returns
    -------
    DataFrame
        A row each, as they stand: what `one_sample` finds. Without interval and test where fewer
        than `FEWEST` values are not 0.

    Examples
    --------
    >>> values = pd.DataFrame({"all": [0.1, 0.3, 0.2, 0.4, 0.5, 0.3], "few": [0.1] + [0.0] * 5})
    >>> curve(values, confidence=0.95)[["estimate", "n"]].round(2).values.tolist()
    [[0.3, 6.0], [0.02, 6.0]]
    """
    rows: list[dict[str, Any]] = []
    for name in values:
        row = one_sample(values[name], confidence=confidence)
        if row["n"] and (values[name].abs() > _ROUNDING).sum() < FEWEST:
            row |= dict.fromkeys(_TESTED, np.nan)
            row["reason"] = f"fewer than {FEWEST} values are not 0"
        elif not row["n"]:
            row["reason"] = "nothing was measured"
        rows.append(row)
    return pd.DataFrame(rows, index=values.columns)


def joint(values: pd.DataFrame, *, sure: Sure) -> Joint:
    """Test a curve as a whole: each unit's two sides are swapped at random, alike in all columns.

    Swapped sides turn the sign of a signed difference, whatever way it was measured, so that the
    specifications stay as dependent on each other as they are. Sides of units without any
    difference between them are exchangeable, and then every draw is as likely as what was seen.

    Parameters
    ----------
    values
        Units by specifications, as of `curve`. One in which nothing was measured does not count.
    sure
        Level of the tests of single specifications and of the ranges; draws, and their start.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> base = rng.normal(0.5, 1, 80)
    >>> values = pd.DataFrame({str(i): base + rng.normal(0, 0.5, 80) for i in range(9)})
    >>> tests, band = joint(values, sure=Sure(draws=500))
    >>> tests["statistic"].tolist(), bool(tests["p_value"][0] < 0.05), len(band)
    (['median', 'share of one sign', 'share significant'], True, 9)
    """
    table = values.dropna(axis=1, how="all").to_numpy(float)
    units = int((~np.isnan(table)).any(axis=1).sum())
    if not table.size:
        return Joint(_tests({}, {}, sure).assign(n=0, units=0), pd.DataFrame(columns=list(_BAND)))
    there = ~np.isnan(table)
    filled = np.where(there, table, 0.0)
    rng = np.random.default_rng(sure.seed)
    found: list[np.ndarray] = [np.ones((1, len(table)))]
    found += [rng.choice([-1.0, 1.0], (n, len(table))) for n in
              chance.blocks(sure.draws, each=table.size)]  # fmt: skip
    parts = [_drawn(signs, filled, there.sum(axis=0), sure.confidence) for signs in found]
    statistics = [_statistics(*one) for one in parts]
    drawn = {name: np.concatenate([one[name] for one in statistics[1:]]) for name in statistics[0]}
    observed = {name: float(one[0]) for name, one in statistics[0].items()}
    means = np.sort(np.concatenate([one[0] for one in parts[1:]]), axis=1)
    tails = [chance.tail(np.nan, rank, confidence=sure.confidence) for rank in means.T]
    band = pd.DataFrame([{name: one[name] for name in _BAND} for one in tails])
    tests = _tests(observed, drawn, sure).assign(n=table.shape[1], units=units)
    return Joint(tests, band)


_BAND = ("null", "null_low", "null_high")


def _drawn(
    signs: np.ndarray, filled: np.ndarray, n: np.ndarray, confidence: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return means, and t where it is beyond its critical value (else 0), draws by columns."""
    means = signs @ filled / n
    squares = (filled**2).sum(axis=0)  # which no sign moves
    enough = (n > 1) & ((np.abs(filled) > _ROUNDING).sum(axis=0) >= FEWEST)
    spread = np.maximum(squares - n * means**2, 0.0) / np.maximum(n - 1, 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = means / np.sqrt(spread / n)
    critical = student.ppf((1 + confidence) / 2, np.maximum(n - 1, 1))
    # Alike but for rounding are values without a spread: no test, as of `one_sample`.
    tested = enough & (spread * n > _ROUNDING * np.maximum(squares, np.finfo(float).tiny))
    return means, np.where(tested & (np.abs(t) > critical), np.sign(means), 0.0)


def _statistics(means: np.ndarray, significant: np.ndarray) -> dict[str, np.ndarray]:
    """Return the three statistics of every draw; an estimate of 0 has neither sign."""
    above, below = (means > _ROUNDING).mean(axis=1), (means < -_ROUNDING).mean(axis=1)
    up, down = (significant > 0).mean(axis=1), (significant < 0).mean(axis=1)
    return {
        "median": np.median(means, axis=1),
        "share of one sign": np.maximum(above, below),
        "share significant": np.where(above == below, np.maximum(up, down),
                                      np.where(above > below, up, down)),
    }  # fmt: skip


def _tests(observed: dict[str, float], drawn: dict[str, np.ndarray], sure: Sure) -> pd.DataFrame:
    rows: list[dict[str, Any]] = []
    for name in ("median", "share of one sign", "share significant"):
        two = name == "median"
        row = chance.tail(
            observed.get(name, np.nan), drawn.get(name, np.array([])), confidence=sure.confidence,
            sided="two" if two else "greater", null=0.0 if two else None,
        )  # fmt: skip
        rows.append({"statistic": name, "estimate": observed.get(name, np.nan), **row})
    return pd.DataFrame(rows)
