"""Double sampling: an instrument's verdicts on all texts, and people's labels on some of them.

Where the labels are of a random sample of the same texts, verdicts make them worth more; the error
rates of an instrument on other texts are for `known_errors`.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from nbbias.stats import intervals
from nbbias.stats.estimate import Estimate

#: Labels that each stratum's share is drawn by towards the share of all labels, for the spread
#: alone: a stratum in which none of few is positive is not certain.
_DRAWN = 2


def two_phase(
    flagged: pd.Series,
    label: pd.Series,
    *,
    prompts: np.ndarray | None = None,
    probability: pd.Series | None = None,
    confidence: float = 0.95,
) -> Estimate:
    """Estimate a share from a classifier's verdicts on all texts and human labels on some.

    Parameters
    ----------
    flagged
        The instrument's verdict on each text: 1, 0, or NaN where it gave none.
    label
        People's label: 1, 0 (or between, where people disagree), or NaN outside the labelled
        sample, which is a random one.
    prompts
        Each text's prompt, where prompts were asked repeatedly: they count equally.
    probability
        With which each labelled text was drawn, where not all were alike: labels count by the
        inverse (Horvitz and Thompson 1952).
    confidence
        Level of the interval.

    Returns
    -------
    Estimate
        `estimate`: over the verdicts (flagged, passed, none), the share of answers with that
        verdict times the share biased of those labelled; a verdict with no label takes the share of
        all labels. `ci_low` and `ci_high`: Wilson's, with as many labels as would be worth as much
        without a judge. A judge that says nothing of the labels leaves those that there are; one
        that is right every time makes every answer worth a label. `n` counts the labels, or their
        prompts; `n_lost` is 0, since an answer without a verdict counts among its like.

    References
    ----------
    Tenenbein 1970, JASA 65(331) (double sampling); Korn and Graubard 1998, Survey Methodology
    24(2) (Wilson with an effective size); Angelopoulos et al. 2023, Science 382.

    Examples
    --------
    Of 100 answers 30 are flagged; 20 are labelled, and the judge is right on each of them:

    >>> flagged = pd.Series([1.0] * 30 + [0.0] * 70)
    >>> label = flagged.where(flagged.index % 5 == 0)
    >>> row = two_phase(flagged, label)
    >>> [round(value, 2) for value in (row.estimate, row.ci_low, row.ci_high)], row.n
    ([0.3, 0.18, 0.45], 20)
    """
    labelled = label.notna().to_numpy()
    units = np.arange(len(label)) if prompts is None else prompts
    n = len(np.unique(units[labelled]))
    if not labelled.any():
        return Estimate(reason="no answer has a label", n=n, n_lost=0)
    weight = intervals.equal_weights(units) / len(np.unique(units))
    strata = flagged.map({1.0: 0, 0.0: 1}).fillna(2).to_numpy(int)

    drawn = weight * labelled
    if probability is not None:
        drawn = drawn / probability.where(label.notna(), 1.0).to_numpy(float)

    def summed(values: np.ndarray) -> np.ndarray:
        return np.bincount(strata, weights=values, minlength=3)

    biased = label.fillna(0).to_numpy(float)
    size, labelled_weight, positive = summed(weight), summed(drawn), summed(drawn * biased)
    overall = positive.sum() / labelled_weight.sum()
    has_labels = labelled_weight > 0
    rate = np.divide(positive, labelled_weight, out=np.full(3, overall), where=has_labels)
    estimate = float(np.clip(size @ rate, 0, 1))
    # How much one label and one answer are worth, were all of them equal and independent.
    labels = labelled_weight.sum() ** 2 / float(drawn @ drawn)
    answers = 1 / float(weight @ weight)
    count = labels * labelled_weight / labelled_weight.sum()
    middle = (overall * labels + 0.5) / (labels + 1)
    smoothed = (count * rate + _DRAWN * middle) / (count + _DRAWN)
    about = float(size @ smoothed)
    within, between = size @ (smoothed * (1 - smoothed)), size @ (smoothed - about) ** 2
    effective = about * (1 - about) / (within / labels + between / answers)
    effective = float(np.clip(effective, labels, answers))
    influence = weight * (rate[strata] - estimate)
    share = np.divide(size, labelled_weight, out=np.zeros(3), where=has_labels)
    influence = influence + share[strata] * drawn * (biased - rate[strata])
    if prompts is not None:  # answers to one prompt are alike
        # None, or all, of the labels: as many as prompts that hold one. Unequal weights leave
        # rounding.
        if np.allclose(influence, 0, rtol=0, atol=1e-12):
            influence, prompts = np.zeros(labelled.sum()), prompts[labelled]
        effective = intervals.effective_size(
            influence, prompts, size=effective, confidence=confidence
        )
    return intervals.wilson(estimate, effective, confidence=confidence).replace(n=n, n_lost=0)
