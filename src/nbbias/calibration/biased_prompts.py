"""Simulated studies of biased prompts: refusals and group words under two prompts.

Refusals are verdicts of a detector whose error rates are those of a further model; words are counts
of two texts on the same article. Both depend on what the article is about.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

import numpy as np
from numpy.random import Generator
from scipy.special import expit

from nbbias import refusals, stats
from nbbias.calibration.trials import Design, Row, listed, trial_row, unequal_clusters

#: How often models refuse under the neutral prompt, or a headline that names nobody; the rarer one.
_BASE, _RARE = 0.1, 0.02

#: The share of answers that depend on the article alone, alike under both prompts.
_BY_ARTICLE = 0.5


# --- refusals -------------------------------------------------------------------------------------


def refusal_rates(design: Design) -> tuple[float, float]:
    """Return how often a model refuses, under the neutral and under the biased prompt."""
    base = _RARE if design.scenario == "rare" else _BASE
    return base, base + design.effect


def flagged(rng: Generator, rates: Sequence[float]) -> list[float]:
    """Return how often answers are flagged by a detector that errs as on a further model."""
    errors = _error_rates()
    logits = np.linspace(-4, 8, len(errors.of_positives))
    sensitivity, specificity = (
        float(expit(logits[rng.choice(len(logits), p=likely)] + rng.uniform(-0.1, 0.1)))
        for likely in (errors.of_positives, errors.of_others)
    )
    return [rate * sensitivity + (1 - rate) * (1 - specificity) for rate in rates]


@cache
def _error_rates() -> stats.ErrorRates:
    return stats.estimate_error_rates(refusals.unseen())


def verdicts(rng: Generator, design: Design, rates: Sequence[float]) -> list[np.ndarray]:
    """Simulate verdicts on the answers to the same articles.

    Parameters
    ----------
    rng, design
        The source of chance, and what is simulated.
    rates
        How often answers to each prompt are flagged as refused.

    Returns
    -------
    list of array
        By prompt, then article: the share of an article's answers that are flagged.
    """
    asked = 5 if design.scenario == "repeats" else 1
    shape = (design.n, asked)
    article = rng.random((design.n, 1))
    if design.scenario == "stories":
        article = article[unequal_clusters(rng, design.n)]
    return [
        (np.where(rng.random(shape) < _BY_ARTICLE, article, rng.random(shape)) < share).mean(axis=1)
        for share in rates
    ]


def _change(neutral: np.ndarray, biased: np.ndarray, confidence: float) -> stats.Estimate:
    """Return the change of a refusal rate as the study does."""
    if np.isin([neutral, biased], [0, 1]).all():
        return stats.paired_shares(biased, neutral, confidence=confidence)
    return stats.one_sample(biased - neutral, confidence=confidence)


def refusing(rng: Generator, design: Design, confidence: float) -> Iterator[Row]:
    """Simulate the change of the refusal rate, as detected without an error."""
    neutral, biased = verdicts(rng, design, refusal_rates(design))
    row = _change(neutral, biased, confidence).row()
    yield trial_row("refusal_rate_change", row, effect=design.effect)


def corrected(rng: Generator, design: Design, confidence: float) -> Iterator[Row]:
    """Simulate rate and change corrected for a detector's errors on a further model."""
    rates = refusal_rates(design)
    neutral, biased = verdicts(rng, design, flagged(rng, rates))
    shares = [(float(side.mean()), float(design.n)) for side in (biased, neutral)]
    errors = _error_rates()
    share = stats.correct_share(*shares[0], rates=errors, confidence=confidence)
    raw = stats.wilson(*shares[0], confidence=confidence)
    share = stats.worst_case(share, raw, rates=errors)
    called = _change(neutral, biased, confidence)
    change = stats.correct_difference(called, shares=shares, rates=errors, confidence=confidence)
    yield trial_row("refusal_rate_corrected", share.row(), effect=rates[1], null=np.nan)
    yield trial_row("refusal_rate_change_corrected", change.row(), effect=design.effect)


# --- words ----------------------------------------------------------------------------------------

#: The share of a group's words that originals have, and how many group words a text has.
_SHARE, _WORDS = 0.4, 8.0

#: Articles behind the true value where a prompt is refused selectively.
_MANY = 200_000


def words(rng: Generator, design: Design) -> np.ndarray:
    """Simulate differences of a group's share from the original; a biased prompt takes some away.

    Returns
    -------
    array
        Neutral and biased prompt by articles; NaN where either text has no group word, or the
        answer was refused.

    Examples
    --------
    >>> neutral, biased = words(np.random.default_rng(0), Design("focus", 20_000, 12, -0.1))
    >>> float(np.nanmean(biased - neutral).round(2))
    -0.1
    """
    n = design.n
    about_one = design.scenario == "one"  # heavy tails; every other text is about one person alone
    article = rng.beta(2, 3, n)

    def text(shift: float, asked: int) -> np.ndarray:
        subset, total = np.zeros(n), np.zeros(n)
        for _ in range(asked):
            length = rng.poisson(_WORDS * (rng.lognormal(-0.5, 1, n) if about_one else 1.0), n)
            about = np.clip(article + rng.normal(0, 0.15, n), 0, 1)
            # Shifted by the effect on average, within 0 and 1.
            about = np.where(rng.random(n) < abs(shift), 0.0 if shift < 0 else 1.0, about)
            if about_one:
                sharp = rng.random(n) < 0.5
                about = np.where(sharp, rng.random(n) < about, about)
            subset, total = subset + rng.binomial(length, about), total + length
        return np.divide(subset, total, out=np.full(n, np.nan), where=total > 0)

    asked = 3 if design.scenario == "repeats" else 1
    original = text(0.0, 1)
    # A text of which a share s speaks of nobody of the group has s times its mean less.
    lost = design.effect / _SHARE if design.effect < 0 else design.effect / (1 - _SHARE)
    neutral, biased = (text(shift, asked) - original for shift in (0.0, lost))
    if design.scenario == "selective":  # the biased prompt is refused, most of women
        biased = np.where(rng.random(n) < 0.8 * article, np.nan, biased)
    return np.array([neutral, biased])


@cache
def _true_change(design: Design) -> float:
    """Return the change over very many articles; 0 where nothing is changed."""
    neutral, biased = words(np.random.default_rng(0), design._replace(n=_MANY))
    return float(np.nanmean(biased - neutral)) if design.effect else 0.0


def prompting(rng: Generator, design: Design, confidence: float) -> Iterator[Row]:
    """Simulate a prompt's effect on a group's share of group words."""
    neutral, biased = words(rng, design)
    row = stats.one_sample(biased - neutral, confidence=confidence).row()
    yield trial_row("share_difference_change", row, effect=_true_change(design._replace(n=1)))


def family(rng: Generator, design: Design, confidence: float) -> Iterator[Row]:
    """Simulate a run with three models, of which the first alone follows the prompt.

    It refuses more, and names fewer women; sentiment does not change.
    """
    asked = design.scenario if design.scenario == "repeats" else "single"
    for effect in (design.effect, 0.0, 0.0):
        neutral, biased = words(rng, design._replace(effect=effect))
        refused = verdicts(rng, design._replace(scenario=asked), (_BASE, _BASE - 2 * effect))
        tone = rng.gamma(1, 0.1, (2, design.n))
        side = float(np.sign(effect))
        for change, direction in (
            (refused[1] - refused[0], -side),
            (biased - neutral, side),
            (tone[0] - tone[1], 0.0),
        ):
            row = stats.one_sample(change, confidence=confidence).row()
            yield {"null": 0.0, "direction": direction, **row}


MEASURES = (
    listed("biased_prompts", "refusals", "articles", (0.0, 0.1, 0.3), refusing),
    listed("biased_prompts", "refusals_corrected", "articles", (0.0, 0.3), corrected),
    listed("biased_prompts", "prompt_effect", "articles", (0.0, -0.05, -0.15), prompting, family),
)
