"""Error rates of intervals and tests, and what they can detect, from the outcomes of designs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
from scipy.stats import binomtest, norm

from nbbias import stats, tables
from nbbias.calibration.designs import DESIGN, name_scenario
from nbbias.calibration.params import TOLERANCE
from nbbias.calibration.trials import Row

#: What is estimated: its measure and statistic, the column of the share and of what it is of, and
#: whether the nominal level is that of the intervals or what they leave out.
_ERRORS = (
    ("interval", "coverage_error", "coverage", "n_covered", True),
    ("test", "false_positive_error", "rejected", "n_tested", False),
    ("family", "familywise_error", "false", "n_false", False),
)

#: Level of the intervals of the full run, whose summary ships.
SHIPPED_CONFIDENCE = 0.95

#: The power at which an effect counts as detectable.
POWER = 0.8

#: What names an interval or a test.
STATISTIC = ["study", "measure", "statistic"]


def estimates(outcomes: pd.DataFrame, families: pd.DataFrame, *, confidence: float) -> pd.DataFrame:
    """Estimate by how much coverage, false positives and familywise errors miss their levels.

    Parameters
    ----------
    outcomes, families
        What `designs.simulate` returned of trials and of families.
    confidence
        Level of the intervals that were calibrated, and of those on this page.

    Returns
    -------
    DataFrame
        ESTIMATES, by `source` (study), `dimension` (measure), `task` (statistic), over all designs,
        by `topic` (number of units) and by `prompt` (scenario):

        - ``coverage_error``: share of intervals that contain the truth, less `confidence`;
        - ``false_positive_error``: share of significant tests without an effect, less 1 -
          `confidence`;
        - ``familywise_error``: share of runs without an effect in which any pre-specified claim is
          significant, less the same.

        The ideal is 0. `n` counts simulated studies: rows of one study, such as its groups, are
        averaged, not counted. `nominal`: the level. Interval: Wilson's. `p_value`: the exact
        binomial test of the level, `p_adjusted` Holm's over the rows of a statistic at the same
        level of detail.

    Examples
    --------
    >>> design = dict(zip(DESIGN, ("s", "m", "articles", "w", False, 30, 12, 0.0), strict=True))
    >>> row = design | {"statistic": "d", "group": None, "true_effect": 0.0, "repeats": 100,
    ...                 "coverage": 0.8, "n_covered": 100, "rejected": 0.06, "n_tested": 100}
    >>> table = estimates(pd.DataFrame([row]), pd.DataFrame(), confidence=0.95)
    >>> table[table["topic"].isna() & table["prompt"].isna()]["estimate"].round(3).tolist()
    [-0.15, 0.01]
    """
    rows: list[Row] = []
    for measure, statistic, share, counted, covers in _ERRORS:
        table = families.assign(statistic="family") if measure == "family" else outcomes
        if table.empty:
            continue
        table = table[(table[counted] > 0) & (covers | (table["true_effect"] == 0))]
        level = confidence if covers else 1 - confidence
        key = {"measure": measure, "statistic": statistic}
        rows += [key | row for row in _cells(by_design(table, share, counted), level, confidence)]
    of = {"study": "calibration", "instrument": "simulated studies"}
    table = tables.estimates(rows, confidence=confidence, **of)
    covers = table["measure"] == "interval"
    # The level, so that equivalence is tested by exact tails.
    table["nominal"] = table["confidence"].where(covers, 1 - table["confidence"])
    return stats.adjust(table, family=["measure", table["topic"].isna(), table["prompt"].isna()])


def by_design(table: pd.DataFrame, share: str, counted: str) -> pd.DataFrame:
    """Average the rows of a statistic within a design: groups of one study are no more studies.

    A group weighs by the studies in which it was measured.

    Parameters
    ----------
    table
        OUTCOMES with `DESIGN`.
    share, counted
        The columns of a share, and of what it is a share of.

    Returns
    -------
    DataFrame
        `DESIGN`, `statistic`, `share`, `count` and `repeats`.

    Examples
    --------
    >>> row = dict.fromkeys(DESIGN, 1) | {"statistic": "d", "repeats": 40, "n_covered": 40}
    >>> rare = row | {"coverage": 0.0, "n_covered": 10}
    >>> table = pd.DataFrame([row | {"coverage": 1.0}, rare])
    >>> by_design(table, "coverage", "n_covered")[["share", "count"]].values.tolist()
    [[0.8, 40.0]]
    """
    grouped = table.assign(hits=table[share] * table[counted], of=table[counted])
    grouped = grouped.groupby([*DESIGN, "statistic"], sort=False)
    sums = grouped.agg(
        hits=("hits", "sum"), of=("of", "sum"), count=("of", "max"), repeats=("repeats", "max")
    )
    return sums.assign(share=sums["hits"] / sums["of"]).drop(columns=["hits", "of"]).reset_index()


def _cells(table: pd.DataFrame, level: float, confidence: float) -> Iterator[Row]:
    for names, cell in table.groupby(STATISTIC, sort=False):
        words = (str(name).replace("_", " ") for name in names)
        key = dict(zip(("source", "dimension", "task"), words, strict=True))
        yield key | _error(cell, level, confidence)
        for n, part in cell.groupby("n"):
            yield key | {"topic": f"N = {n}"} | _error(part, level, confidence)
        for scenario, part in cell.groupby("scenario", sort=False):
            name = name_scenario(names[0], names[1], scenario)
            yield key | {"prompt": name} | _error(part, level, confidence)


def _average(table: pd.DataFrame, confidence: float) -> stats.Estimate:
    """Return the share over designs, each by its count, with Wilson's interval."""
    share = float(np.average(table["share"], weights=table["count"]))
    return stats.wilson(share, int(table["count"].sum()), confidence=confidence)


def _error(cell: pd.DataFrame, level: float, confidence: float) -> Row:
    interval = _average(cell, confidence)
    n = int(cell["count"].sum())
    return {
        "estimate": interval.estimate - level,
        "ci_low": interval.ci_low - level,
        "ci_high": interval.ci_high - level,
        "n": n,
        "n_lost": int(cell["repeats"].sum()) - n,
        "null": 0.0,
        "test": "exact binomial",
        "p_value": float(binomtest(round(interval.estimate * n), n, level).pvalue),
    }


def minimum_detectable_effects(
    outcomes: pd.DataFrame, *, confidence: float = stats.CONFIDENCE
) -> pd.DataFrame:
    """Estimate which effect a test detects with 80% power, by number of units.

    Parameters
    ----------
    outcomes
        OUTCOMES with `DESIGN`.
    confidence
        1 − the level of the tests, which is their power where there is no effect.

    Returns
    -------
    DataFrame
        By `study`, `measure`, `statistic`, `unit`, `n`: `effect`, the effect at which the mean
        power over scenarios and groups reaches 80%, in the unit of the estimate. The probit of
        the power is interpolated linearly between simulated effects; NaN where no effect reaches
        80%. `smallest` and `largest`: the smallest and largest simulated effect (means over
        scenarios), with `power_smallest` and `power_largest`, the latter of so many `studies`.
        `wrong_sign` and `exaggeration`: errors of sign and magnitude of significant estimates, at
        the smallest effect.

    Examples
    --------
    >>> row = {"study": "s", "measure": "m", "unit": "articles", "statistic": "d", "n": 30,
    ...        "scenario": "a", "n_tested": 40, "wrong_sign": 0.0, "exaggeration": 2.0}
    >>> rows = pd.DataFrame([row, row]).assign(effect=[0.1, 0.2], rejected=[0.4, 1.0])
    >>> table = minimum_detectable_effects(rows.assign(true_effect=rows["effect"]))
    >>> table[["effect", "power_smallest", "power_largest", "studies"]].round(3).values.tolist()
    [[0.133, 0.4, 1.0, 40.0]]
    """
    keys = [*STATISTIC, "unit", "n"]
    table = outcomes[(outcomes["true_effect"] != 0) & (outcomes["n_tested"] > 0)]
    # By setting: the true effect of one setting may differ between scenarios.
    table = table.assign(size=table["true_effect"].abs(), setting=table["effect"].abs())
    means = ["size", "rejected", "wrong_sign", "exaggeration"]
    rows = []
    for key, cell in table.groupby(keys, sort=False):
        sizes = cell.groupby("setting")[means].mean().round(12)
        of_largest = cell[cell["setting"] == sizes.index[-1]]
        tested = of_largest.groupby(["scenario", "effect"])["n_tested"].max()
        crossing = _crossing(sizes.set_index("size")["rejected"], 1 - confidence)
        rows.append([*key, crossing, *sizes.iloc[-1][:2], tested.sum(), *sizes.iloc[0]])
    columns = [*keys, "effect", "largest", "power_largest", "studies", "smallest", "power_smallest"]
    return pd.DataFrame(rows, columns=[*columns, "wrong_sign", "exaggeration"])


def _crossing(power: pd.Series, level: float) -> float:
    above = np.flatnonzero(power >= POWER)
    if not len(above):
        return float("nan")
    sizes, at = np.append(0.0, power.index), int(above[0])
    sides, reached = slice(at, at + 2), _probit([level, *power])
    return float(np.interp(norm.ppf(POWER), reached[sides], sizes[sides]))


def _probit(power: Sequence[float]) -> np.ndarray:
    return norm.ppf(np.clip(power, 0.001, 0.999))


def interpolate_power(sizes: np.ndarray, power: pd.Series) -> np.ndarray:
    """Return the power at effects between the simulated ones, linear in its probit.

    Parameters
    ----------
    sizes
        Effects from the smallest to the largest simulated one.
    power
        Power in [0, 1] by simulated effect, in ascending order.

    Examples
    --------
    >>> power = pd.Series([0.4, 0.8], index=[0.1, 0.2])
    >>> interpolate_power(np.array([0.1, 0.15]), power).round(2).tolist()
    [0.4, 0.62]
    """
    return norm.cdf(np.interp(sizes, power.index, _probit(power)))


#: Simulated studies of a scenario and number of units of which a verdict is possible.
_FEWEST = 50

#: Verdicts (`summarize`).
ADEQUATE = ["adequate", "adequate (conservative)"]
FAILS = ["fails", "fails in one scenario"]

#: The shares on a card, each with its column and that of its total.
_RATES = (("coverage", "coverage", "n_covered"), ("false positives", "rejected", "n_tested"))


def summarize(outcomes: pd.DataFrame, families: pd.DataFrame, *, confidence: float) -> pd.DataFrame:
    r"""Summarise a run by statistic: what the package ships for measurement cards (`shipped`).

    Parameters
    ----------
    outcomes, families
        Of `designs.simulate`; a family's false claims are its false positives.
    confidence
        Level of the intervals.

    Returns
    -------
    DataFrame
        `study`, `measure`, `statistic`; `rate`, which is ``"coverage"`` or ``"false positives"``
        (without an effect), and its `nominal` level; the `share` found, with `low` and `high`, the
        `verdict` on it, and `n`, what it is a share of; the `worst` share over scenarios and
        numbers of units, where that was (`at`), what it is a share of (`worst_n`), and its
        interval, Bonferroni-corrected for the number of scenarios and numbers of units; and the
        `bound`, the worst limit of any scenario's own interval. The worst measures of a rate come
        first.

    Notes
    -----
    Verdicts, in this order. ``fails``: the whole interval over all scenarios is beyond the
    tolerance, or that of the worst scenario (``in one scenario``). ``adequate``: the whole interval
    over all scenarios is within the tolerance, and `bound` is within twice the nominal error rate;
    ``(conservative)`` if this interval is on the safe side by more than the tolerance. Otherwise
    ``undecided``.

    ``fails`` selects the worst of many scenarios, so its interval is corrected. ``adequate`` needs
    every scenario to hold: an intersection-union test, without correction (Berger 1982).

    Examples
    --------
    >>> row = dict.fromkeys(DESIGN, "s") | {"n": 10, "statistic": "d", "true_effect": 0.1,
    ...     "estimate": 0.1, "repeats": 40, "coverage": 0.9, "n_covered": 40, "rejected": 0.5,
    ...     "n_tested": 40}
    >>> rows = pd.DataFrame([row, row | {"n": 80, "coverage": 1.0}])
    >>> table = summarize(rows, pd.DataFrame(), confidence=0.95)
    >>> table[["rate", "share", "worst", "at"]].values.tolist()
    [['coverage', 0.95, 0.9, 's, N\xa0=\xa010']]
    """
    rows, columns = [], {"false": "rejected", "n_false": "n_tested"}
    claims = families.rename(columns=columns).assign(statistic="family", n_covered=0)
    outcomes = pd.concat([outcomes, claims], ignore_index=True)
    for rate, share, counted in _RATES:
        covers = rate == "coverage"
        level, side = (confidence, 1) if covers else (1 - confidence, -1)
        part = outcomes[(outcomes[counted] > 0) & (covers | (outcomes["true_effect"] == 0))]
        of_rate = []
        for key, table in tables.split_groups(by_design(part, share, counted), STATISTIC):
            key |= {"rate": rate, "nominal": round(level, 10)}
            of_rate.append(key | _summary(table, level, side, confidence))
        rows += sorted(of_rate, key=lambda row: side * row["share"])
    return pd.DataFrame(rows)


def _summary(table: pd.DataFrame, level: float, side: int, confidence: float) -> Row:
    """Summarise the designs of a statistic; `side` is 1 where a low share is worse, else -1."""
    average = _average(table, confidence)
    hits = table.assign(hits=table["share"] * table["count"])
    keys = ["study", "measure", "n", "scenario"]
    cells = hits.groupby(keys, sort=False)[["hits", "count"]].sum()
    cells = cells[cells["count"] >= min(_FEWEST, cells["count"].max())]
    shares = cells["hits"] / cells["count"]
    worst = (side * shares).idxmin()
    study, measure, units, scenario = worst
    n_worst, corrected = int(cells["count"][worst]), 1 - (1 - confidence) / len(cells)
    ends = stats.wilson(float(shares[worst]), n_worst, confidence=corrected)
    sized = zip(shares, cells["count"], strict=True)
    rows = [stats.wilson(*cell, confidence=confidence) for cell in sized]
    bound = min(row.ci_low for row in rows) if side > 0 else max(row.ci_high for row in rows)
    verdict = _verdict(average, level, side)
    if verdict not in FAILS and _verdict(ends, level, side) in FAILS:
        verdict = "fails in one scenario"
    elif verdict in ADEQUATE and side * (level - bound) > 1 - confidence:
        verdict = "undecided"
    where = f"{name_scenario(study, measure, scenario)}, N\xa0=\xa0{units:.0f}"
    shown: Row = {"share": average.estimate, "low": average.ci_low, "high": average.ci_high}
    shown |= {"verdict": verdict, "n": int(table["count"].sum())}
    shown |= {"worst": float(shares[worst]), "worst_low": ends.ci_low, "worst_high": ends.ci_high}
    return shown | {"worst_n": n_worst, "at": where, "bound": bound}


def _verdict(interval: stats.Estimate, level: float, side: int) -> str:
    """Return the verdict on a share whose `side` is 1 where a low one is worse, by its interval."""
    low, high = sorted((side * interval.ci_low, side * interval.ci_high))
    worse, better = side * level - TOLERANCE, side * level + TOLERANCE
    verdicts = [(high < worse, "fails"), (low > better, ADEQUATE[1]), (low > worse, ADEQUATE[0])]
    return next((verdict for holds, verdict in verdicts if holds), "undecided")


def shipped() -> pd.DataFrame:
    """Return the summary of the full run that the package ships (`summarize`), with `kind`.

    Examples
    --------
    >>> shipped()["kind"].value_counts().to_dict()
    {'interval': 23, 'test': 20, 'family': 6}
    """
    return name_kinds(tables.read_shipped_table("calibration.csv"))


def name_kinds(summary: pd.DataFrame) -> pd.DataFrame:
    """Add what each row of `summarize` is of: `kind` is an interval, a test or a family."""
    of = [summary["rate"] == "coverage", summary["statistic"] == "family"]
    return summary.assign(kind=np.select(of, ["interval", "family"], "test"))


def shipped_power() -> pd.DataFrame:
    """Return the minimum detectable effects of the full run (`minimum_detectable_effects`).

    Returns
    -------
    DataFrame
        `effect`, `smallest`, `largest`, their power and the errors of significant estimates, by
        `study`, `measure`, `statistic`, `unit` and `n`, as `minimum_detectable_effects` has them.

    Examples
    --------
    >>> bool(shipped_power()["power_largest"].between(0, 1).all())
    True
    """
    return tables.read_shipped_table("calibration_power.csv")
