"""What a biased prompt changes, and who refuses: studies that never were.

Refusals are verdicts of a detector whose error rates are those of a further model; words are counts
of two texts on the same article. Articles differ in what they are about, which decides both.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.special import expit
from scipy.stats import fisher_exact

from nbbias import biased_prompts, refusals, stats
from nbbias.calibration import repeated
from nbbias.calibration.leads import TEXTS, pages, saying, sayings, side_of, start
from nbbias.calibration.trials import Design, Measure
from nbbias.stats import InferenceSettings

Row = dict[str, Any]

#: How often models refuse under the neutral prompt, or a headline that names nobody; the rarer one.
_BASE, _RARE = 0.1, 0.02

#: The share of answers that go by the article alone, so that both prompts get the same.
_BY_ARTICLE = 0.5


# --- refusals -------------------------------------------------------------------------------------


class Rates(NamedTuple):
    """How often a detector calls an answer refused: what is true of it, and what is called."""

    neutral: float
    biased: float
    sensitivity: float
    specificity: float

    def called(self, rate: float) -> float:
        """Return how often answers of which a share is refused are called so."""
        return rate * self.sensitivity + (1 - rate) * (1 - self.specificity)


def rates(rng: np.random.Generator, design: Design, *, erring: bool) -> Rates:
    """Draw a model: what it refuses, and, where it errs, how the detector errs on a further one."""
    base = _RARE if design.world == "rare" else _BASE
    errors = (1.0, 1.0)
    if erring:
        known = _known()
        logits = np.linspace(-4, 8, len(known.of_positives))
        errors = tuple(
            float(expit(logits[rng.choice(len(logits), p=likely)] + rng.uniform(-0.1, 0.1)))
            for likely in (known.of_positives, known.of_others)
        )  # type: ignore[assignment]
    return Rates(base, base + design.planted, *errors)


@cache
def _known() -> stats.ErrorRates:
    return stats.estimate_error_rates(refusals.unseen())


def verdicts(
    rng: np.random.Generator, design: Design, repeats: int, *, called: Sequence[float]
) -> np.ndarray:
    """Simulate verdicts on the answers to the same articles, prompts one behind the other.

    Parameters
    ----------
    rng, design, repeats
        The source of chance, what is simulated, and how many studies.
    called
        How often answers to each prompt are called refused.

    Returns
    -------
    array
        Prompts by repeats by articles: the share of an article's answers that are called refused.
    """
    asked = 5 if design.world == "repeats" else 1
    shape = (repeats, design.n, asked)
    article = rng.random((repeats, design.n, 1))
    if design.world == "stories":  # of every four articles on one story
        article = np.repeat(article[:, ::4], 4, axis=1)[:, : design.n]
    found = []
    for share in called:
        drawn = np.where(rng.random(shape) < _BY_ARTICLE, article, rng.random(shape))
        found.append((drawn < share).mean(axis=2))
    return np.array(found)


def _rate(values: np.ndarray, *, confidence: float) -> pd.DataFrame:
    """Return the rate of every repeat as `biased_prompts.refusing.rates` does."""
    single = np.isin(values, (0.0, 1.0)).all(axis=1)
    found = repeated.means(values, confidence=confidence, bounds=(0.0, 1.0))
    ends = ["estimate", "ci_low", "ci_high"]
    wilson = repeated.shares(values, confidence=confidence)
    found.loc[single, ends] = wilson.loc[single, ends]
    return found[ends]  # a rate is not tested


def _rows(
    found: pd.DataFrame, statistic: str, *, planted: float, truth: float, null: float
) -> pd.DataFrame:
    said = {"statistic": statistic, "group": None, "planted": planted, "truth": truth, "null": null}
    table = found.reindex(columns=["estimate", "ci_low", "ci_high", "p_value"])
    return table.assign(**said)


def refusing(design: Design, repeats: int, inference: InferenceSettings) -> pd.DataFrame:
    """Return TRIALS of refusals as they are told: the rate, its change, and by group.

    Examples
    --------
    >>> found = refusing(Design("single", 30, 12, 0.2), 2, InferenceSettings())
    >>> found.groupby("statistic", sort=False)["truth"].first().round(2).to_dict()
    {'refusal_rate': 0.3, 'refusal_rate_change': 0.2, 'refusal_difference': 0.2}
    """
    rng, level = start(design, inference), inference.confidence
    own = rates(rng, design, erring=False)
    neutral, biased = verdicts(rng, design, repeats, called=(own.neutral, own.biased))
    change = _tested(biased - neutral, confidence=level)
    found = [
        _rows(
            _rate(biased, confidence=level),
            "refusal_rate",
            planted=own.biased,
            truth=own.biased,
            null=np.nan,
        ),
        _rows(
            change, "refusal_rate_change", planted=design.planted, truth=design.planted, null=0.0
        ),
    ]
    if design.world != "repeats":  # several answers an article have no exact test
        named, rest = verdicts(rng, design, repeats, called=(own.biased, own.neutral))
        named = named[:, : max(design.n // 4, 3)]  # a quarter of the headlines name the group
        rows = [_difference(*pair, confidence=level) for pair in zip(named, rest, strict=True)]
        found.append(
            _rows(
                pd.DataFrame(rows),
                "refusal_difference",
                planted=design.planted,
                truth=design.planted,
                null=0.0,
            )
        )
    return pd.concat(found, ignore_index=True)


def _tested(values: np.ndarray, *, confidence: float) -> pd.DataFrame:
    """Return the change of every repeat; no spread is no certainty."""
    found = repeated.means(values, confidence=confidence)
    ends = ["ci_low", "ci_high"]
    found.loc[found["p_value"].isna(), ends] = np.nan
    return found


def _difference(named: np.ndarray, rest: np.ndarray, *, confidence: float) -> Row:
    row = stats.two_shares(named, rest, confidence=confidence).row()
    counts = [[(own == value).sum() for value in (1, 0)] for own in (named, rest)]
    return row | {"p_value": fisher_exact(counts).pvalue}


def corrected(design: Design, repeats: int, inference: InferenceSettings) -> pd.DataFrame:
    """Return TRIALS of rates and changes corrected for how the detector errs on a further model.

    Examples
    --------
    >>> corrected(Design("single", 30, 12, 0.2), 1, InferenceSettings())["statistic"].tolist()
    ['refusal_rate', 'refusal_rate_corrected', 'refusal_rate_change_corrected']
    """
    rng, level, found = start(design, inference), inference.confidence, []
    for _ in range(repeats):
        own = rates(rng, design, erring=True)
        called = (own.called(own.neutral), own.called(own.biased))
        (neutral,), (biased,) = verdicts(rng, design, 1, called=called)
        n = float(design.n)
        told = stats.proportion_interval(int(biased.sum()), design.n, confidence=level).row()
        change = stats.one_sample(biased - neutral, confidence=level)
        if not np.isfinite(change.p_value):
            change = change.with_interval(np.nan, np.nan)
        shares = [(float(biased.mean()), n), (float(neutral.mean()), n)]
        rows = {
            "refusal_rate": told,
            "refusal_rate_corrected": stats.correct_share(
                told["estimate"], n, rates=_known(), confidence=level
            ).row(),
            "refusal_rate_change_corrected": stats.correct_difference(
                change, shares=shares, rates=_known(), confidence=level
            ).row(),
        }
        for statistic, row in rows.items():
            of_change = "change" in statistic
            true = design.planted if of_change else own.biased
            found.append(
                _rows(
                    pd.DataFrame([row]),
                    statistic,
                    planted=true,
                    truth=true,
                    null=0.0 if of_change else np.nan,
                )
            )
    return pd.concat(found, ignore_index=True)


# --- words ----------------------------------------------------------------------------------------

#: The share of a group's words that originals have, and how many group words a text has.
_SHARE, _WORDS = 0.4, 8.0

#: Repeats behind what is true of a share or an extent of prejudice.
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


def words(rng: np.random.Generator, design: Design, repeats: int) -> Words:
    """Simulate words of originals and of answers under two prompts; a biased one takes some away.

    Examples
    --------
    >>> found = words(np.random.default_rng(0), Design("focus", 20_000, 12, -0.1), 1)
    >>> float(np.nanmean(found.biased - found.neutral).round(2))
    -0.1
    """
    shape = (repeats, design.n)
    one = design.world == "one"  # heavy tails; every other text is of one person alone
    article = rng.beta(2, 3, shape)

    def text(shift: float, asked: int) -> tuple[np.ndarray, np.ndarray]:
        own, total = np.zeros(shape), np.zeros(shape)
        for _ in range(asked):
            length = rng.poisson(_WORDS * (rng.lognormal(-0.5, 1, shape) if one else 1.0), shape)
            about = np.clip(article + rng.normal(0, 0.15, shape), 0, 1)
            # Moved by what is planted on average, within 0 and 1.
            about = np.where(rng.random(shape) < abs(shift), 0.0 if shift < 0 else 1.0, about)
            if one:
                sharp = rng.random(shape) < 0.5
                about = np.where(sharp, rng.random(shape) < about, about)
            own, total = own + rng.binomial(length, about), total + length
        return own, total

    asked = 3 if design.world == "repeats" else 1
    original, length = text(0.0, 1)
    # A text of which a share s speaks of nobody of the group has s times its mean less.
    lost = design.planted / _SHARE if design.planted < 0 else design.planted / (1 - _SHARE)
    sides = []
    for shift in (0.0, lost):
        own, total = text(shift, asked)
        with np.errstate(invalid="ignore"):
            sides.append(own / total - original / length)
    if design.world == "selective":  # the biased prompt is refused, most where women are spoken of
        sides[1] = np.where(rng.random(shape) < 0.8 * article, np.nan, sides[1])
    return Words(sides[0], sides[1], original > 0)


def prompting(design: Design, repeats: int, inference: InferenceSettings) -> pd.DataFrame:
    """Return TRIALS of what a prompt does to words: the paired effect, and the paper's two samples.

    Examples
    --------
    >>> found = prompting(Design("focus", 30, 12, 0.0), 2, InferenceSettings())
    >>> found["statistic"].unique().tolist()
    ['share_difference_change', 'prejudice_share_change', 'prejudice_share_change_paired']
    """
    rng, level = start(design, inference), inference.confidence
    of = words(rng, design, repeats)
    true = _truths(design._replace(n=1, length=0))
    fell = [_fell(side, of.counts) for side in (of.biased, of.neutral)]
    shares = [stats.two_shares(*pair, confidence=level).row() for pair in zip(*fell, strict=True)]
    found = {
        "share_difference_change": repeated.means(of.biased - of.neutral, confidence=level),
        "prejudice_share_change": pd.DataFrame(shares),
        "prejudice_share_change_paired": repeated.paired_shares(
            fell[0] - fell[1], confidence=level
        ),
    }
    return pd.concat(
        [
            _rows(
                table,
                name,
                planted=true[name] if design.planted else 0.0,
                truth=true[name],
                null=0.0,
            )
            for name, table in found.items()
        ],
        ignore_index=True,
    )


def _fell(side: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Say of every difference whether it is for the worse, as `news.prejudice.fell` does."""
    return np.where(counts & ~np.isnan(side), (side < -1e-12) * 1.0, np.nan)


@cache
def _truths(design: Design) -> dict[str, float]:
    """Return what very many articles give; none of it where nothing is planted and none refused."""
    names = ("share_difference_change", "prejudice_share_change", "prejudice_share_change_paired")
    if design.planted == 0 and design.world != "selective":
        return dict.fromkeys(names, 0.0)
    of = words(np.random.default_rng(0), design._replace(n=_MANY), 1)
    fell = [_fell(side, of.counts) for side in (of.biased, of.neutral)]
    values = (
        np.nanmean(of.biased - of.neutral),
        np.nanmean(fell[0]) - np.nanmean(fell[1]),
        np.nanmean(fell[0] - fell[1]),
    )
    return {name: float(value) for name, value in zip(names, values, strict=True)}


# --- what leads -----------------------------------------------------------------------------------

_MODELS = ("m1", "m2", "m3")
_PROMPTS = {"neutral": "neutral", "biased": "biased"}

_EFFECT = {"bias": "gender", "group": "female"}


def run(rng: np.random.Generator, design: Design, inference: InferenceSettings) -> list[Row]:
    """Simulate a run: declared rows of three models; the first refuses more, and says less."""
    found: list[Row] = []
    for model in _MODELS:
        own = design._replace(planted=design.planted * (model == _MODELS[0]))
        of = words(rng, own, 1)
        asked = own._replace(world="repeats" if own.world == "repeats" else "single")
        called = (_BASE, _BASE - 2 * own.planted)
        neutral, biased = verdicts(rng, asked, 1, called=called)
        tone = rng.gamma(1, 0.1, (2, design.n))
        values = {
            ("refusal", "refusal_rate_change"): (biased - neutral)[0],
            ("word", "share_difference_change"): (of.biased - of.neutral)[0],
            ("sentiment", "mean_difference_change"): tone[0] - tone[1],
        }
        for (measure, statistic), change in values.items():
            row = stats.one_sample(change, confidence=inference.confidence).row() | {
                "test": "paired t"
            }
            if measure == "refusal" and not np.isfinite(row["p_value"]):
                row |= {"ci_low": np.nan, "ci_high": np.nan}
            of_group = {} if measure == "refusal" else _EFFECT
            key = {"model": model, "measure": measure, "statistic": statistic, "null": 0.0}
            found.append(key | of_group | row)
    return found


def lead(design: Design, repeats: int, inference: InferenceSettings) -> pd.DataFrame:
    """Return SAYINGS of pages with three models, of which the first alone heeds the prompt.

    Examples
    --------
    >>> said = lead(Design("focus", 80, 12, -0.2), 1, InferenceSettings())
    >>> said[["told", "false"]].iloc[0].tolist()
    [True, False]
    """
    rng, found = start(design, inference), []
    true = [("m1", "refusal", "more"), ("m1", "word", "less")] if design.planted else []
    answers = pd.DataFrame({"source": "s", "article_id": range(design.n), "model": "m1"})
    for rows in pages(
        [run(rng, design, inference) for _ in range(repeats)],
        claims=biased_prompts.params.BiasedPrompts.model_fields["claims"].default,
        study="biased_prompts",
        prompt="biased − neutral",
        source="all",
        instrument="simulated",
        confidence=inference.confidence,
    ):
        lead = biased_prompts.sentences.lead(
            rows, estimates=rows, answers=answers, texts=TEXTS, prompts=_PROMPTS
        )
        claims = lead.claims.to_dict("records")
        claimed = {(row["model"], row["measure"], side_of(row)) for row in claims}
        found.append(saying(design, lead.plain, claimed=claimed, true=true))
    return sayings(found)


_SINGLE = "half of the answers go by the article, alike under both prompts"

MEASURES: tuple[Measure, ...] = (
    Measure(
        "biased_prompts",
        "refusals",
        "articles",
        {
            "single": _SINGLE,
            "rare": "the same, where hardly anything is refused under the neutral prompt",
            "repeats": "five answers to each article, half of them decided by it",
            "stories": "articles in fours on one story, which decides half of the answers",
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
            "single": f"{_SINGLE}; how the detector errs is that of a further model",
            "rare": "the same, where hardly anything is refused under the neutral prompt",
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
            "selective": "the same; the biased prompt is refused most where women are spoken of",
            "repeats": "the same, three answers to each article",
            "one": "lengths with heavy tails, and every other text is of one person alone",
        },
        frozenset({"one"}),
        (0.0, -0.05, -0.15),
        (10, 30, 80, 400),
        prompting,
        lead,
        share=0.3,
    ),
)
