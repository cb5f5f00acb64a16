"""Evidence that a series of runs drifted, valid at every look: a permutation test martingale.

Under the null hypothesis each unit's values are exchangeable over runs: its newest value is any of
its values so far with equal probability. The permutation p values of all looks are then uniform and
independent (Vovk et al. 2003), in small and skewed samples too, and no baseline is taken for the
truth. Their normal scores are bet on (Robbins 1970; Waudby-Smith and Ramdas 2024); by Ville's
inequality evidence of 1/α or more, at any look, has a probability of α at most.
"""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
from scipy import special

from nbbias.stats.inference import InferenceSettings
from nbbias.stats.intervals import ROUNDING

#: Standard deviation of the prior of a drift, in standard errors of one look.
_PRIOR = 2.0
#: Runs to come that `runs_needed` considers, and its power.
_MOST, _POWER = 500, 0.8

_SETTINGS = InferenceSettings(n_permutations=2000)


def drift_scores(values: pd.DataFrame, *, inference: InferenceSettings = _SETTINGS) -> np.ndarray:
    """Score each run after the first by how its mean differs from that of the runs before it.

    Parameters
    ----------
    values
        A row for each independent unit, a column for each run, in order of time; NaN is missing.
    inference
        `n_permutations` and `seed`. Scores do not change when later runs are added.

    Returns
    -------
    array
        Normal scores of the p values of studentized permutation tests, paired by unit: under the
        null hypothesis independent and standard normal; positive if the mean increased; 0 if no
        unit's value ever differed, or fewer than two units have earlier values.

    References
    ----------
    Vovk, Nouretdinov and Gammerman 2003, ICML; Chung and Romano 2013, Annals of Statistics 41(2).

    Examples
    --------
    >>> values = pd.DataFrame(np.random.default_rng(0).normal(size=(30, 4))).assign(last=3.0)
    >>> bool(drift_scores(values)[-1] > 3)
    True
    """
    whole = values.to_numpy(float)
    looks = range(2, whole.shape[1] + 1)
    return np.array([_score(whole[:, :look], inference) for look in looks])


def _score(values: np.ndarray, inference: InferenceSettings) -> float:
    """Return the score of the last column among the columns."""
    counts = np.isfinite(values).sum(axis=1)
    used = np.isfinite(values[:, -1]) & (counts > 1)
    values, counts = values[used], counts[used]
    if len(values) < 2 or (np.nanmax(values, axis=1) - np.nanmin(values, axis=1)).max() < ROUNDING:
        return 0.0
    rng = np.random.default_rng([inference.seed, values.shape[1]])
    order = np.argsort(np.isnan(values), axis=1, kind="stable")
    chosen = (rng.random((inference.n_permutations, len(values))) * counts).astype(int)
    drawn = np.take_along_axis(values, order, axis=1)[np.arange(len(values)), chosen]
    newest = np.vstack([values[:, -1], drawn])
    change = (newest - np.nanmean(values, axis=1)) * (counts / (counts - 1))
    mean, error = change.mean(axis=1), change.std(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.nan_to_num(mean / error, nan=0.0).round(9)
    above, equal = (t[1:] > t[0]).sum(), (t[1:] == t[0]).sum()
    # Ties are broken at random, so that p is uniform.
    return -float(special.ndtri((above + rng.random() * (1 + equal)) / len(t)))


def drift_evidence(scores: np.ndarray) -> np.ndarray:
    """Return the evidence of a drift after each look, an e-process, as its log10.

    Parameters
    ----------
    scores
        As of `drift_scores`.

    Returns
    -------
    array
        0 is no evidence, either way. A mixture over the size of the drift (normal) and over the
        look s at which it began (of weight 1/(s(s + 1))).

    References
    ----------
    Robbins 1970, Annals of Mathematical Statistics 41(5); Shin, Ramdas and Rinaldo 2024, New
    England Journal of Statistics in Data Science 2(2).

    Examples
    --------
    >>> drift_evidence(np.array([0.0, 3.0, 3.0, 3.0])).round(1).tolist()
    [-0.1, 0.6, 2.3, 4.1]
    """
    later = -np.log(np.arange(len(scores)) + 2.0)  # drifts that have not begun
    return np.asarray(special.logsumexp(np.vstack([_bets(scores), later]), axis=0)) / math.log(10)


def drift_start(scores: np.ndarray) -> int:
    """Return the look at which a drift most probably began, given the scores so far; 0 the first.

    Examples
    --------
    >>> drift_start(np.array([0.0, 0.3, 3.0, 3.0]))
    2
    """
    return int(_bets(scores)[:, -1].argmax())


def _bets(scores: np.ndarray) -> np.ndarray:
    """Return the log of what each bet is worth: by the look at which it began, after each look."""
    total = np.concatenate([[0.0], np.cumsum(scores)])
    look = np.arange(1, len(scores) + 1)
    start = look[:, None]
    size = 1 + _PRIOR**2 * np.maximum(look - start + 1, 0)
    gain = (_PRIOR * (total[look] - total[start - 1])) ** 2 / (2 * size) - np.log(size) / 2
    return np.where(start <= look, gain - np.log(start * (start + 1)), -np.inf)


def runs_needed(
    values: pd.DataFrame, scores: np.ndarray, *, margin: float, log10_evidence: float
) -> int | None:
    """Return how many further runs would show a change by a margin, of 80% power.

    Parameters
    ----------
    values, scores
        As in `drift_scores`, and its result.
    margin
        The change of the mean from the next run on.
    log10_evidence
        What the evidence must reach.

    Returns
    -------
    int or None
        None where 500 runs with so many units would not suffice.

    Examples
    --------
    >>> values = pd.DataFrame(np.random.default_rng(0).normal(size=(30, 9)))
    >>> scores = drift_scores(values)
    >>> few, many = (
    ...     runs_needed(values, scores, margin=m, log10_evidence=1.3) for m in (2.0, 0.5)
    ... )
    >>> few < many
    True
    """
    runs = values.shape[1]
    noise = math.sqrt(float(values.var(axis=1, ddof=1).mean()) / max(len(values), 1))
    later = np.arange(_MOST)
    size = margin * runs / (runs + later) / np.sqrt(1 + 1 / (runs + later))
    most = -float(special.ndtri(0.5 / (1 + _SETTINGS.n_permutations)))
    total = np.cumsum(np.minimum(size / noise, most) if noise > 0 else np.full(_MOST, most))
    total -= special.ndtri(_POWER) * np.sqrt(later + 1)
    path = drift_evidence(np.concatenate([scores, np.diff(total, prepend=0.0)]))[len(scores) :]
    return int(np.argmax(path >= log10_evidence)) + 1 if (path >= log10_evidence).any() else None
