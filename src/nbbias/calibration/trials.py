"""From repeated studies with a known truth to how often a measure is wrong, and what it sees.

A trial is a study that never was: a generator plants an effect, the study's own estimator measures
it. Many of them say how far an estimate lies from the truth on average, how often its interval
holds it, how often a test tells something where nothing is planted (false positives) and where
something is (power); and, of what was told, how often it has the wrong sign, and how much too large
it is (Gelman and Carlin 2014, Perspectives on Psychological Science 9(6), errors of type S and M).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeAlias

import numpy as np
import pandas as pd

from nbbias import stats
from nbbias.stats import InferenceSettings


class Design(NamedTuple):
    """What is simulated.

    `world` names the generator; `n` counts the independent units (articles, prompts, texts);
    `length` is that of a text, in sentences, where texts have one; `planted` is the size of the
    effect, 0 for none.

    Examples
    --------
    >>> Design("runs", 30, 12, 0.0)._replace(planted=-0.15).planted
    -0.15
    """

    world: str
    n: int
    length: int
    planted: float


#: Simulates repeats of a design: the design, how many, how sure; out TRIALS (`outcomes`) or, for
#: what a page would say, SAYINGS (`false_leads`).
Trial: TypeAlias = Callable[[Design, int, InferenceSettings], pd.DataFrame]


class Measure(NamedTuple):
    """What is calibrated, and over which designs.

    `worlds` says of each generator in words what it does that a null model does not; those in
    `held_out` were never used while a method was made. `n` are the numbers of units as pages print
    them, `unit` what they are; `trial` gives TRIALS, `lead` SAYINGS. `share` of a run's repeats is
    what a slow measure gets.
    """

    study: str
    name: str
    unit: str
    worlds: Mapping[str, str]
    held_out: frozenset[str]
    planted: tuple[float, ...]
    n: tuple[int, ...]
    trial: Trial
    lead: Trial | None = None
    lengths: tuple[int, ...] = (12,)
    share: float = 1.0


#: What makes one row of OUTCOMES.
KEYS = ("statistic", "group", "planted")


def outcomes(trials: pd.DataFrame, *, confidence: float) -> pd.DataFrame:
    """Say of each statistic what its repeats gave.

    Parameters
    ----------
    trials
        TRIALS, a row for each repeat, statistic and group: `statistic`; `group`, missing where a
        statistic is of all; `planted`, the effect on just this row (0: none, whatever else was
        planted); `truth`, what the interval should hold, NaN where it is not known; `null`, the
        value without an effect; `estimate`, `ci_low`, `ci_high`, `p_value`, NaN where not measured
        or not tested.
    confidence
        Level of the intervals; 1 less it is that of the tests.

    Returns
    -------
    DataFrame
        OUTCOMES, a row for each of `KEYS`: `repeats`; `n_measured`; `truth`, its mean; `estimate`,
        the mean; `bias`, the mean of estimate less truth, with `bias_low` and `bias_high` (t over
        repeats); `coverage` of `n_covered` intervals with its Wilson interval; `told`, the share of
        `n_tested` p values below 1 - confidence (false positives where nothing is planted, power
        where something is), with its; `wrong_sign` of what was told, and `exaggeration`, its mean
        absolute estimate over the truth's, both from `null`. All NaN where nothing can be said.

    Examples
    --------
    Of two repeats one interval holds the truth, and one test tells what is there:

    >>> trials = pd.DataFrame({"statistic": "difference", "group": None, "planted": 0.5,
    ...     "truth": 0.5, "null": 0.0, "estimate": [0.4, 1.0], "ci_low": [-0.2, 0.6],
    ...     "ci_high": [1.0, 1.4], "p_value": [0.2, 0.001]})
    >>> found = outcomes(trials, confidence=0.95).iloc[0]
    >>> [float(found[name].round(3)) for name in ("coverage", "told", "wrong_sign", "exaggeration")]
    [0.5, 0.5, 0.0, 2.0]
    """
    if trials.empty:  # a world that cannot be had
        return pd.DataFrame()
    columns = {name: trials[name].to_numpy(float) for name in _NUMBERS}
    rows = []
    for key, at in trials.groupby(list(KEYS), dropna=False, sort=False).indices.items():
        own = {name: values[at] for name, values in columns.items()}
        rows.append(dict(zip(KEYS, key, strict=True)) | _outcome(own, confidence))
    return pd.DataFrame(rows)


#: What is known of a trial.
_NUMBERS = ("planted", "truth", "null", "estimate", "ci_low", "ci_high", "p_value")


def _outcome(own: Mapping[str, np.ndarray], confidence: float) -> dict[str, float]:
    truth, estimate, p = own["truth"], own["estimate"], own["p_value"]
    bias = stats.mean_interval(estimate - truth, confidence=confidence).row()
    ends = ~(np.isnan(own["ci_low"]) | np.isnan(own["ci_high"]) | np.isnan(truth))
    # A truth at the very end is held, whatever rounding does to the end.
    held = (own["ci_low"] - 1e-12 <= truth) & (truth <= own["ci_high"] + 1e-12)
    told = p < 1 - confidence
    found: dict[str, float] = {
        "repeats": len(truth),
        "n_measured": int((~np.isnan(estimate)).sum()),
        "truth": _mean(truth),
        "estimate": _mean(estimate),
        "bias": bias["estimate"],
        "bias_low": bias["ci_low"],
        "bias_high": bias["ci_high"],
    }
    found |= _share("coverage", held[ends], "n_covered", confidence)
    found |= _share("told", told[~np.isnan(p)], "n_tested", confidence)
    return found | _selected({name: values[told] for name, values in own.items()})


def _mean(values: np.ndarray) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else np.nan


def _share(
    name: str, hits: np.ndarray | pd.Series, counted: str, confidence: float
) -> dict[str, float]:
    row = stats.proportion_interval(int(hits.sum()), len(hits), confidence=confidence).row()
    ends = {f"{name}_low": row["ci_low"], f"{name}_high": row["ci_high"]}
    return {name: row["estimate"], **ends, counted: len(hits)}


def _selected(told: Mapping[str, np.ndarray]) -> dict[str, float]:
    """Say what is wrong with what was told: its sign, and its size."""
    planted, null = told["planted"], told["null"]
    if not planted.any():
        return {"wrong_sign": np.nan, "exaggeration": np.nan}
    beyond, size = told["estimate"] - null, told["truth"] - null
    wrong = float((np.sign(beyond) != np.sign(planted)).mean())
    known = size.all() and not np.isnan(size).any()
    grown = float((np.abs(beyond) / np.abs(size)).mean()) if known else np.nan
    return {"wrong_sign": wrong, "exaggeration": grown}


def false_leads(sayings: pd.DataFrame, *, confidence: float) -> pd.DataFrame:
    """Say how often the sentence that a page leads with is false.

    Parameters
    ----------
    sayings
        SAYINGS, a row for each repeat: `planted`; `told`, whether the sentence says that anything
        is so, rather than that nothing could be shown; `false`, whether anything that it says is
        not so (nothing, or the other side, was planted there); `sentence`.
    confidence
        Level of the intervals.

    Returns
    -------
    DataFrame
        By `planted`: `repeats`; `told`, the share of pages whose lead says something; `false`, the
        share of all pages whose lead is false; with Wilson intervals; `false_of_told`.

    Examples
    --------
    >>> said = pd.DataFrame({"planted": 0.0, "told": [True, False, False, False],
    ...                      "false": [True, False, False, False], "sentence": ""})
    >>> false_leads(said, confidence=0.95)[["told", "false", "false_of_told"]].iloc[0].tolist()
    [0.25, 0.25, 1.0]
    """
    if sayings.empty:
        return pd.DataFrame()
    rows = []
    for planted, own in sayings.groupby("planted", sort=False):
        row = {"planted": planted, "repeats": len(own)}
        for name in ("told", "false"):
            row |= _share(name, own[name], f"n_{name}", confidence)
        told = int(own["told"].sum())
        rows.append(row | {"false_of_told": own["false"].sum() / told if told else np.nan})
    return pd.DataFrame(rows)
