"""Simulated studies of biased prompts: refusals and group words under two prompts.

Refusals are verdicts of a detector whose error rates are those of a further model; words are counts
of two texts on the same article. Both depend on what the article is about.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.special import expit
from scipy.stats import fisher_exact

from nbbias import refusals, stats
from nbbias.calibration import repeated
from nbbias.calibration.trials import Design, Measure, combine_trials, seeded, trial_row
from nbbias.stats import InferenceSettings

Row = dict[str, Any]

_ENDS = ("ci_low", "ci_high")

#: How often models refuse under the neutral prompt, or a headline that names nobody; the rarer one.
_BASE, _RARE = 0.1, 0.02

#: The share of answers that depend on the article alone, alike under both prompts.
_BY_ARTICLE = 0.5


# --- refusals -------------------------------------------------------------------------------------


class Rates(NamedTuple):
    """How often a model refuses, by prompt, and how often a detector is right."""

    neutral: float
    biased: float
    sensitivity: float
    specificity: float

    def flagged(self, rate: float) -> float:
        """Return how often answers of which a share is refused are flagged."""
        return rate * self.sensitivity + (1 - rate) * (1 - self.specificity)


def rates(rng: np.random.Generator, design: Design, *, erring: bool) -> Rates:
    """Draw a model: its refusal rates, and the detector's error rates on a further model."""
    base = _RARE if design.scenario == "rare" else _BASE
    errors = (1.0, 1.0)
    if erring:
        error_rates = _error_rates()
        logits = np.linspace(-4, 8, len(error_rates.of_positives))
        errors = tuple(
            float(expit(logits[rng.choice(len(logits), p=likely)] + rng.uniform(-0.1, 0.1)))
            for likely in (error_rates.of_positives, error_rates.of_others)
        )  # type: ignore[assignment]
    return Rates(base, base + design.effect, *errors)


@cache
def _error_rates() -> stats.ErrorRates:
    return stats.estimate_error_rates(refusals.unseen())


def verdicts(
    rng: np.random.Generator, design: Design, repeats: int, *, flagged: Sequence[float]
) -> np.ndarray:
    """Simulate verdicts on the answers to the same articles, prompts one behind the other.

    Parameters
    ----------
    rng, design, repeats
        The source of chance, what is simulated, and how many studies.
    flagged
        How often answers to each prompt are flagged as refused.

    Returns
    -------
    array
        Prompts by repeats by articles: the share of an article's answers that are flagged.
    """
    asked = 5 if design.scenario == "repeats" else 1
    shape = (repeats, design.n, asked)
    article = rng.random((repeats, design.n, 1))
    if design.scenario == "stories":  # of every four articles on one story
        article = np.repeat(article[:, ::4], 4, axis=1)[:, : design.n]
    result = []
    for share in flagged:
        drawn = np.where(rng.random(shape) < _BY_ARTICLE, article, rng.random(shape))
        result.append((drawn < share).mean(axis=2))
    return np.array(result)


def _rate(values: np.ndarray, *, confidence: float) -> pd.DataFrame:
    """Return the rate of every repeat as `biased_prompts.refusing.rates` does; it has no test."""
    single = np.isin(values, (0.0, 1.0)).all(axis=1)
    columns = ["estimate", *_ENDS]
    table = repeated.means(values, confidence=confidence, bounds=(0.0, 1.0))[columns]
    table[single] = repeated.shares(values, confidence=confidence).loc[single, columns]
    return table


def _change(values: np.ndarray, *, confidence: float) -> pd.DataFrame:
    """Return the change of every repeat; without spread it has no interval."""
    table = repeated.means(values, confidence=confidence)
    return table.assign(**{end: table[end].mask(table["p_value"].isna()) for end in _ENDS})


def _difference(named: np.ndarray, others: np.ndarray, *, confidence: float) -> Row:
    row = stats.two_shares(named, others, confidence=confidence).row()
    counts = [[(group == value).sum() for value in (1, 0)] for group in (named, others)]
    return row | {"p_value": fisher_exact(counts).pvalue}


def refusing(design: Design, repeats: int, inference: InferenceSettings) -> pd.DataFrame:
    """Return TRIALS of refusals as detected: the rate, its change, and by group.

    Examples
    --------
    >>> trials = refusing(Design("single", 30, 12, 0.2), 2, InferenceSettings())
    >>> trials.groupby("statistic", sort=False)["truth"].first().round(2).to_dict()
    {'refusal_rate': 0.3, 'refusal_rate_change': 0.2, 'refusal_difference': 0.2}
    """
    rng, level, effect = seeded(design, inference), inference.confidence, design.effect
    true = rates(rng, design, erring=False)
    neutral, biased = verdicts(rng, design, repeats, flagged=(true.neutral, true.biased))
    rate, change = _rate(biased, confidence=level), _change(biased - neutral, confidence=level)
    trials = [
        trial_row("refusal_rate", rate, effect=true.biased, truth=true.biased, null=np.nan),
        trial_row("refusal_rate_change", change, effect=effect, truth=effect),
    ]
    if design.scenario != "repeats":  # several answers an article have no exact test
        named, others = verdicts(rng, design, repeats, flagged=(true.biased, true.neutral))
        named = named[:, : max(design.n // 4, 3)]  # a quarter of the headlines name the group
        rows = [_difference(*pair, confidence=level) for pair in zip(named, others, strict=True)]
        differences = pd.DataFrame(rows)
        trials.append(trial_row("refusal_difference", differences, effect=effect, truth=effect))
    return combine_trials(trials)


def corrected(design: Design, repeats: int, inference: InferenceSettings) -> pd.DataFrame:
    """Return TRIALS of rates and changes corrected for detector errors on a further model.

    Examples
    --------
    >>> corrected(Design("single", 30, 12, 0.2), 1, InferenceSettings())["statistic"].tolist()
    ['refusal_rate', 'refusal_rate_corrected', 'refusal_rate_change_corrected']
    """
    rng, level, rows = seeded(design, inference), inference.confidence, []
    for _ in range(repeats):
        true = rates(rng, design, erring=True)
        flagged = (true.flagged(true.neutral), true.flagged(true.biased))
        (neutral,), (biased,) = verdicts(rng, design, 1, flagged=flagged)
        n = float(design.n)
        rate = stats.proportion_interval(int(biased.sum()), design.n, confidence=level)
        change = stats.one_sample(biased - neutral, confidence=level)
        if not np.isfinite(change.p_value):
            change = change.with_interval(np.nan, np.nan)
        share = stats.correct_share(rate.estimate, n, rates=_error_rates(), confidence=level)
        shares = [(float(biased.mean()), n), (float(neutral.mean()), n)]
        difference = stats.correct_difference(
            change, shares=shares, rates=_error_rates(), confidence=level
        )
        of_rate: Row = {"effect": true.biased, "truth": true.biased, "null": np.nan}
        of_change: Row = {"effect": design.effect, "truth": design.effect}
        rows += [
            trial_row("refusal_rate", rate.row(), **of_rate),
            trial_row("refusal_rate_corrected", share.row(), **of_rate),
            trial_row("refusal_rate_change_corrected", difference.row(), **of_change),
        ]
    return pd.DataFrame(rows)


# --- words ----------------------------------------------------------------------------------------

#: The share of a group's words that originals have, and how many group words a text has.
_SHARE, _WORDS = 0.4, 8.0

#: Articles behind the true value of a share of prejudice.
_MANY = 200_000


class Words(NamedTuple):
    """Differences of a group's share of words from the original, and what counts for prejudice.

    Attributes
    ----------
    neutral, biased : array
        Repeats by articles; NaN where either text has no group word, or the answer was refused.
    counts : array
        Whether an article counts for the group: its original has a word of it.
    """

    neutral: np.ndarray
    biased: np.ndarray
    counts: np.ndarray

    def falls(self) -> tuple[np.ndarray, np.ndarray]:
        """Return whether each difference, biased then neutral, is below 0: `news.prejudice`."""
        biased, neutral = (
            np.where(self.counts & ~np.isnan(side), (side < -1e-12) * 1.0, np.nan)
            for side in (self.biased, self.neutral)
        )
        return biased, neutral


def words(rng: np.random.Generator, design: Design, repeats: int) -> Words:
    """Simulate words of originals and of answers under two prompts; a biased one takes some away.

    Examples
    --------
    >>> found = words(np.random.default_rng(0), Design("focus", 20_000, 12, -0.1), 1)
    >>> float(np.nanmean(found.biased - found.neutral).round(2))
    -0.1
    """
    shape = (repeats, design.n)
    one = design.scenario == "one"  # heavy tails; every other text is about one person alone
    article = rng.beta(2, 3, shape)

    def text(shift: float, asked: int) -> tuple[np.ndarray, np.ndarray]:
        subset, total = np.zeros(shape), np.zeros(shape)
        for _ in range(asked):
            length = rng.poisson(_WORDS * (rng.lognormal(-0.5, 1, shape) if one else 1.0), shape)
            about = np.clip(article + rng.normal(0, 0.15, shape), 0, 1)
            # Shifted by the effect on average, within 0 and 1.
            about = np.where(rng.random(shape) < abs(shift), 0.0 if shift < 0 else 1.0, about)
            if one:
                sharp = rng.random(shape) < 0.5
                about = np.where(sharp, rng.random(shape) < about, about)
            subset, total = subset + rng.binomial(length, about), total + length
        return subset, total

    asked = 3 if design.scenario == "repeats" else 1
    original, length = text(0.0, 1)
    # A text of which a share s speaks of nobody of the group has s times its mean less.
    lost = design.effect / _SHARE if design.effect < 0 else design.effect / (1 - _SHARE)
    sides = []
    for shift in (0.0, lost):
        subset, total = text(shift, asked)
        with np.errstate(invalid="ignore"):
            sides.append(subset / total - original / length)
    if (
        design.scenario == "selective"
    ):  # the biased prompt is refused, most where women are spoken of
        sides[1] = np.where(rng.random(shape) < 0.8 * article, np.nan, sides[1])
    return Words(sides[0], sides[1], original > 0)


def prompting(design: Design, repeats: int, inference: InferenceSettings) -> pd.DataFrame:
    """Return TRIALS of a prompt's effect on words: paired, and as the paper's two samples.

    Examples
    --------
    >>> trials = prompting(Design("focus", 30, 12, 0.0), 2, InferenceSettings())
    >>> trials["statistic"].unique().tolist()
    ['share_difference_change', 'prejudice_share_change', 'prejudice_share_change_paired']
    """
    rng, level = seeded(design, inference), inference.confidence
    of = words(rng, design, repeats)
    truths = _truths(design._replace(n=1, length=0))
    biased, neutral = of.falls()
    pairs = zip(biased, neutral, strict=True)
    tables = (
        repeated.means(of.biased - of.neutral, confidence=level),
        pd.DataFrame([stats.two_shares(*pair, confidence=level).row() for pair in pairs]),
        repeated.paired_shares(biased - neutral, confidence=level),
    )
    return combine_trials(
        trial_row(name, table, effect=truth if design.effect else 0.0, truth=truth)
        for table, (name, truth) in zip(tables, truths.items(), strict=True)
    )


@cache
def _truths(design: Design) -> dict[str, float]:
    """Return the values of very many articles; 0 where there is no effect and no refusal."""
    names = ("share_difference_change", "prejudice_share_change", "prejudice_share_change_paired")
    if design.effect == 0 and design.scenario != "selective":
        return dict.fromkeys(names, 0.0)
    of = words(np.random.default_rng(0), design._replace(n=_MANY), 1)
    biased, neutral = of.falls()
    values = (
        np.nanmean(of.biased - of.neutral),
        np.nanmean(biased) - np.nanmean(neutral),
        np.nanmean(biased - neutral),
    )
    return {name: float(value) for name, value in zip(names, values, strict=True)}


def family(design: Design, repeats: int, inference: InferenceSettings) -> pd.DataFrame:
    """Return CLAIMS of runs with three models, of which the first alone follows the prompt.

    It refuses more, and names fewer women; sentiment does not change.

    Examples
    --------
    >>> claims = family(Design("focus", 80, 12, -0.2), 1, InferenceSettings())
    >>> claims["direction"].abs().tolist()
    [1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    """
    rng, rows = seeded(design, inference), []
    for run, model in product(range(repeats), range(3)):
        subset = design._replace(effect=design.effect * (model == 0))
        of = words(rng, subset, 1)
        asked = subset._replace(scenario="repeats" if subset.scenario == "repeats" else "single")
        neutral, biased = verdicts(rng, asked, 1, flagged=(_BASE, _BASE - 2 * subset.effect))
        tone = rng.gamma(1, 0.1, (2, design.n))
        side = float(np.sign(subset.effect))
        for change, direction in (
            ((biased - neutral)[0], -side),
            ((of.biased - of.neutral)[0], side),
            (tone[0] - tone[1], 0.0),
        ):
            row = stats.one_sample(change, confidence=inference.confidence).row()
            rows.append({"run": run, "null": 0.0, "direction": direction} | row)
    return pd.DataFrame(rows)


_SINGLE = "half of the answers depend on the article, equally under both prompts"

MEASURES: tuple[Measure, ...] = (
    Measure(
        "biased_prompts",
        "refusals",
        "articles",
        {
            "single": _SINGLE,
            "rare": "the same, with rare refusals under the neutral prompt",
            "repeats": "five answers to each article, half of them determined by it",
            "stories": "four articles on each story, which determines half of the answers",
        },
        frozenset({"stories"}),
        (0.0, 0.1, 0.3),
        (10, 30, 80, 400),
        refusing,
    ),
    Measure(
        "biased_prompts",
        "refusals_corrected",
        "articles",
        {
            "single": f"{_SINGLE}; detector errors are those of a further model",
            "rare": "the same, with rare refusals under the neutral prompt",
        },
        frozenset(),
        (0.0, 0.3),
        (10, 30, 80, 400),
        corrected,
        share=0.05,
    ),
    Measure(
        "biased_prompts",
        "prompt_effect",
        "articles",
        {
            "focus": "articles and texts with a focus of their own; the effect is larger where "
            "more is said of the group",
            "selective": "the same; the biased prompt is refused most in articles about women",
            "repeats": "the same, three answers to each article",
            "one": "lengths with heavy tails, and every other text is about one person alone",
        },
        frozenset({"one"}),
        (0.0, -0.05, -0.15),
        (10, 30, 80, 400),
        prompting,
        family,
        share=0.3,
    ),
)
