"""From simulated studies with a known truth to error rates, power, and sign and magnitude errors.

A trial is a simulated study: an effect is put into the data, and the study's own estimator measures
it. Over many trials: bias, coverage of the interval, false positives (where there is no effect) and
power (where there is one); and, among significant estimates, how many have the wrong sign and how
much too large they are (Gelman and Carlin 2014, Perspectives on Psychological Science 9(6), type S
and type M errors).
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pandas as pd
from numpy.random import Generator

from nbbias import stats, tables

Row = dict[str, Any]


class Design(NamedTuple):
    """What is simulated.

    `scenario` names the generator; `n` counts the independent units (articles, prompts, texts);
    `length` is that of a text, in sentences, where texts have one; `effect` is the true effect, 0
    for none.

    Examples
    --------
    >>> Design("runs", 30, 12, 0.0)._replace(effect=-0.15).effect
    -0.15
    """

    scenario: str
    n: int
    length: int
    effect: float


def unequal_clusters(rng: Generator, n: int) -> np.ndarray:
    """Return the cluster of each of so many units, of one to nine units a cluster.

    Examples
    --------
    >>> unequal_clusters(np.random.default_rng(2), 8).tolist()
    [0, 0, 0, 0, 0, 0, 0, 0]
    """
    return np.repeat(np.arange(n), rng.choice([1, 1, 2, 4, 9], size=n))[:n]


#: Simulates and measures one study of a design: rows of TRIALS (`trial_row`), or of CLAIMS.
Simulated: TypeAlias = Callable[[Generator, Design, float], Iterable[Row]]


class Measure(NamedTuple):
    """What is calibrated, and over which designs.

    `scenarios` names each generator (`LISTED` describes them); those in `held_out` were never used
    while a method was made. `n` are the numbers of units, `unit` what they are.
    `trial` gives the rows of a study's statistics; `family` those of the claims of a whole run,
    which are corrected together. `share` of a run's repeats is what a slow measure gets.
    """

    study: str
    name: str
    unit: str
    scenarios: tuple[str, ...]
    effects: tuple[float, ...]
    trial: Simulated
    family: Simulated | None = None
    held_out: frozenset[str] = frozenset()
    n: tuple[int, ...] = (10, 30, 80, 400)
    share: float = 1.0


#: The scenarios of every measure, by study and measure.
LISTED = tables.read_shipped_table("words/scenarios.csv")


def listed(study: str, name: str, unit: str, *designed: Any, **options: Any) -> Measure:
    """Return a measure with the scenarios that `LISTED` lists; the rest as in `Measure`."""
    rows = LISTED[(LISTED["study"] == study) & (LISTED["measure"] == name)]
    options["held_out"] = frozenset(rows.loc[rows["held_out"], "scenario"])
    return Measure(study, name, unit, tuple(rows["scenario"]), *designed, **options)


def seeded(design: Design, seed: int = 0) -> Generator:
    """Return the random generator of a design: the same for the same design and seed.

    Examples
    --------
    >>> design = Design("runs", 30, 12, 0.0)
    >>> one, same, other = (seeded(design._replace(n=n)).random() for n in (30, 30, 9))
    >>> one == same, one == other
    (True, False)
    """
    return np.random.default_rng([seed, zlib.crc32(repr(tuple(design)).encode())])


def repeat(
    simulated: Simulated, design: Design, repeats: int, *, confidence: float, seed: int = 0
) -> pd.DataFrame:
    """Simulate and measure so many studies of a design: TRIALS or CLAIMS, with the number `run`.

    Examples
    --------
    >>> def coin(rng, design, confidence):
    ...     yield trial_row("coin", {"estimate": rng.integers(2)}, effect=0.5)
    >>> repeat(coin, Design("fair", 1, 1, 0.5), 3, confidence=0.95)["run"].tolist()
    [0, 1, 2]
    """
    rng, runs = seeded(design, seed), range(repeats)
    rows = [{"run": run, **row} for run in runs for row in simulated(rng, design, confidence)]
    return pd.DataFrame(rows)


#: What makes one row of OUTCOMES, and what is taken over of an estimate.
KEYS = ["statistic", "group", "true_effect"]
_MEASURED = ("estimate", "ci_low", "ci_high", "p_value")


def trial_row(
    statistic: str,
    result: Mapping[str, Any],
    *,
    effect: float,
    truth: float | None = None,
    null: float = 0.0,
    group: str | None = None,
) -> Row:
    """Return a row of TRIALS; `truth` is the effect where nothing else is given.

    Examples
    --------
    >>> row = trial_row("mean", {"estimate": 0.5}, effect=0.4)
    >>> row["estimate"], row["p_value"]
    (0.5, nan)
    """
    truth = effect if truth is None else truth
    key = {"statistic": statistic, "group": group, "true_effect": effect, "truth": truth}
    return key | {"null": null} | {name: result.get(name, np.nan) for name in _MEASURED}


def outcomes(trials: pd.DataFrame, *, confidence: float) -> pd.DataFrame:
    """Summarise the trials of each statistic.

    Parameters
    ----------
    trials
        TRIALS, a row for each repeat, statistic and group: `statistic`; `group`, missing where a
        statistic is of all; `true_effect` on just this row (0: none, whatever else is simulated);
        `truth`, what the interval should contain; `null`, the value without an effect; `estimate`,
        `ci_low`, `ci_high`, `p_value`, NaN where not measured or not tested.
    confidence
        Level of the intervals; 1 less it is that of the tests.

    Returns
    -------
    DataFrame
        OUTCOMES, a row for each of `KEYS`: `repeats`; means of `truth`, `estimate` and `bias`, the
        estimate less the truth; `coverage` of `n_covered` intervals; `rejected`, the share of
        `n_tested` p values below 1 - confidence (false positives without an effect, power with
        one); of the significant estimates where there is an effect `wrong_sign`, and
        `exaggeration`, their mean absolute size over the truth's, both from `null`.

    Examples
    --------
    Of two repeats one interval contains the truth, and one test is significant:

    >>> trials = pd.DataFrame({"statistic": "difference", "group": None, "true_effect": 0.5,
    ...     "truth": 0.5, "null": 0.0, "estimate": [0.4, 1.0], "ci_low": [-0.2, 0.6],
    ...     "ci_high": [1.0, 1.4], "p_value": [0.2, 0.001]})
    >>> row = outcomes(trials, confidence=0.95).iloc[0]
    >>> [float(row[name]) for name in ("coverage", "rejected", "wrong_sign", "exaggeration")]
    [0.5, 0.5, 0.0, 2.0]
    """
    truth, p = trials["truth"], trials["p_value"]
    # A truth at the very end is contained, whatever rounding does to the end.
    covered = (trials["ci_low"] - 1e-12 <= truth) & (truth <= trials["ci_high"] + 1e-12)
    rejected = stats.is_significant(p, confidence)
    significant = rejected & (trials["true_effect"] != 0)
    size, true_size = (trials[name] - trials["null"] for name in ("estimate", "truth"))
    wrong = np.sign(size) != np.sign(trials["true_effect"])
    table = trials.assign(
        bias=trials["estimate"] - truth,
        coverage=covered.where(trials["ci_low"].notna()).astype(float),
        rejected=rejected.where(p.notna()).astype(float),
        wrong_sign=wrong.where(significant).astype(float),
        exaggeration=(size / true_size).abs().where(significant),
    )
    grouped = table.groupby(KEYS, dropna=False, sort=False)
    means = ["truth", "estimate", "bias", "coverage", "rejected", "wrong_sign", "exaggeration"]
    counts = {
        "repeats": grouped.size(),
        "n_covered": grouped["coverage"].count(),
        "n_tested": grouped["rejected"].count(),
    }
    return grouped[means].mean().assign(**counts).reset_index()


def family_errors(claims: pd.DataFrame, *, effect: float, confidence: float) -> pd.DataFrame:
    """Estimate how often any pre-specified claim of a run is false, after Holm's correction.

    Parameters
    ----------
    claims
        CLAIMS, a row for each claim of each simulated run: `run`; `estimate`, `null`, `p_value`;
        `direction` of the true effect on this row, 1, -1, or 0 for none.
    effect
        The true effect of the design.
    confidence
        Level of the intervals; 1 less it is that of the tests.

    Returns
    -------
    DataFrame
        One row: `true_effect`; `repeats`, the runs; `significant`, the share of runs with a
        significant claim; `false`, the share with a significant claim that is not true (there is no
        effect, or one in the other direction); with Wilson intervals.

    Examples
    --------
    >>> claims = pd.DataFrame({"run": [0, 0, 1], "estimate": [0.5, -0.3, 0.1], "null": 0.0,
    ...                        "p_value": [0.01, 0.02, 0.3], "direction": [1, 0, 1]})
    >>> family_errors(claims, effect=0.5, confidence=0.95)[["significant", "false"]].values
    array([[0.5, 0.5]])
    """
    p = stats.adjust(claims, family=["run"])["p_adjusted"]
    side = np.sign(claims["estimate"] - claims["null"])
    significant = stats.is_significant(p, confidence)
    false = significant & (side != claims["direction"])
    n = claims["run"].nunique()
    row: Row = {"true_effect": effect, "repeats": n}
    for name, hits in {"significant": significant, "false": false}.items():
        any_hit = int(hits.groupby(claims["run"]).any().sum())
        share = stats.proportion_interval(any_hit, n, confidence=confidence)
        row |= {name: share.estimate, f"{name}_low": share.ci_low, f"{name}_high": share.ci_high}
        row[f"n_{name}"] = n
    return pd.DataFrame([row])
