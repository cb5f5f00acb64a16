"""From simulated studies with a known truth to error rates, power, and sign and magnitude errors.

A trial is a simulated study: a generator puts an effect into the data, and the study's own
estimator measures it. Over many trials: bias, coverage of the interval, false positives (where
there is no effect) and power (where there is one); and, among significant estimates, how many have
the wrong sign and how much too large they are (Gelman and Carlin 2014, Perspectives on
Psychological Science 9(6), type S and type M errors).
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pandas as pd

from nbbias import stats
from nbbias.stats import InferenceSettings


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


#: Simulates a design so many times: TRIALS (`outcomes`), or CLAIMS of whole runs (`family_errors`).
Trial: TypeAlias = Callable[[Design, int, InferenceSettings], pd.DataFrame]


class Measure(NamedTuple):
    """What is calibrated, and over which designs.

    `scenarios` describes each generator; those in `held_out` were never used while a method was
    made. `n` are the numbers of units, `unit` what they are. `trial` gives TRIALS; `family` gives
    CLAIMS of whole runs, whose pre-specified claims are corrected together. `share` of a run's
    repeats is what a slow measure gets.
    """

    study: str
    name: str
    unit: str
    scenarios: Mapping[str, str]
    held_out: frozenset[str]
    effects: tuple[float, ...]
    n: tuple[int, ...]
    trial: Trial
    family: Trial | None = None
    share: float = 1.0


def seeded(design: Design, inference: InferenceSettings) -> np.random.Generator:
    """Return the random generator of a design: the same for the same design and seed.

    Examples
    --------
    >>> design = Design("runs", 30, 12, 0.0)
    >>> one, same, other = (
    ...     seeded(design._replace(n=n), InferenceSettings()).random() for n in (30, 30, 9)
    ... )
    >>> one == same, one == other
    (True, False)
    """
    return np.random.default_rng([inference.seed, zlib.crc32(repr(tuple(design)).encode())])


#: What makes one row of OUTCOMES, and the numbers of a trial.
KEYS = ("statistic", "group", "true_effect")
_VALUES = ("estimate", "ci_low", "ci_high", "p_value")
_NUMBERS = ("true_effect", "truth", "null", *_VALUES)


def trial_row(
    statistic: str,
    result: Mapping[str, Any] | pd.DataFrame,
    *,
    effect: float,
    truth: float,
    null: Any = 0.0,
    group: str | None = None,
) -> dict[str, Any]:
    """Return a row of TRIALS, or the columns of one statistic where `result` is a table of repeats.

    Examples
    --------
    >>> row = trial_row("mean", {"estimate": 0.5}, effect=0.4, truth=0.4)
    >>> row["estimate"], row["p_value"]
    (0.5, nan)
    """
    key = {"statistic": statistic, "group": group, "true_effect": effect, "truth": truth}
    return key | {"null": null} | {name: result.get(name, np.nan) for name in _VALUES}


def combine_trials(columns: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """Return TRIALS of the columns of several statistics (`trial_row`)."""
    return pd.concat([pd.DataFrame(one) for one in columns], ignore_index=True)


def outcomes(trials: pd.DataFrame, *, confidence: float) -> pd.DataFrame:
    """Summarise the trials of each statistic.

    Parameters
    ----------
    trials
        TRIALS, a row for each repeat, statistic and group: `statistic`; `group`, missing where a
        statistic is of all; `true_effect` on just this row (0: none, whatever else is simulated);
        `truth`, what the interval should contain, NaN where it is not known; `null`, the value
        without an effect; `estimate`, `ci_low`, `ci_high`, `p_value`, NaN where not measured or not
        tested.
    confidence
        Level of the intervals; 1 less it is that of the tests.

    Returns
    -------
    DataFrame
        OUTCOMES, a row for each of `KEYS`: `repeats`; `n_measured`; `truth`, its mean; `estimate`,
        the mean; `bias`, the mean of estimate less truth, with `bias_low` and `bias_high` (t over
        repeats); `coverage` of `n_covered` intervals with its Wilson interval; `rejected`, the
        share of `n_tested` p values below 1 - confidence (false positives without an effect, power
        with one), with its; of the significant estimates `wrong_sign`, and `exaggeration`, their
        mean absolute size over the truth's, both from `null`. All NaN where nothing can be said.

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
    columns = {name: trials[name].to_numpy(float) for name in _NUMBERS}
    rows = []
    for key, at in trials.groupby(list(KEYS), dropna=False, sort=False).indices.items():
        values = {name: column[at] for name, column in columns.items()}
        rows.append(dict(zip(KEYS, key, strict=True)) | _outcome(values, confidence))
    return pd.DataFrame(rows)


def _outcome(values: Mapping[str, np.ndarray], confidence: float) -> dict[str, float]:
    truth, estimate, p = values["truth"], values["estimate"], values["p_value"]
    bias = stats.mean_interval(estimate - truth, confidence=confidence)
    complete = ~(np.isnan(values["ci_low"]) | np.isnan(values["ci_high"]) | np.isnan(truth))
    # A truth at the very end is contained, whatever rounding does to the end.
    covered = (values["ci_low"] - 1e-12 <= truth) & (truth <= values["ci_high"] + 1e-12)
    significant = stats.is_significant(p, confidence)
    row: dict[str, float] = {
        "repeats": len(truth),
        "n_measured": int((~np.isnan(estimate)).sum()),
        "truth": _mean(truth),
        "estimate": _mean(estimate),
        "bias": bias.estimate,
        "bias_low": bias.ci_low,
        "bias_high": bias.ci_high,
    }
    row |= _share("coverage", covered[complete], "n_covered", confidence)
    row |= _share("rejected", significant[~np.isnan(p)], "n_tested", confidence)
    return row | _selection_errors({name: one[significant] for name, one in values.items()})


def _mean(values: np.ndarray) -> float:
    observed = values[~np.isnan(values)]
    return float(observed.mean()) if len(observed) else np.nan


def _share(
    name: str, hits: np.ndarray | pd.Series, counted: str, confidence: float
) -> dict[str, float]:
    row = stats.proportion_interval(int(hits.sum()), len(hits), confidence=confidence)
    ends = {f"{name}_low": row.ci_low, f"{name}_high": row.ci_high}
    return {name: row.estimate, **ends, counted: len(hits)}


def _selection_errors(significant: Mapping[str, np.ndarray]) -> dict[str, float]:
    effect, null = significant["true_effect"], significant["null"]
    if not effect.any():
        return {"wrong_sign": np.nan, "exaggeration": np.nan}
    estimate, truth = significant["estimate"] - null, significant["truth"] - null
    exaggeration = np.nan
    if truth.all() and not np.isnan(truth).any():
        exaggeration = float((np.abs(estimate) / np.abs(truth)).mean())
    wrong = float((np.sign(estimate) != np.sign(effect)).mean())
    return {"wrong_sign": wrong, "exaggeration": exaggeration}


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
    row: dict[str, float] = {"true_effect": effect, "repeats": claims["run"].nunique()}
    for name, hits in {"significant": significant, "false": false}.items():
        row |= _share(name, hits.groupby(claims["run"]).any(), f"n_{name}", confidence)
    return pd.DataFrame([row])
