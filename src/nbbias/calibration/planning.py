"""The sample size that a claim needs, by the power formula of its test.

A claim is tested within a family; its level is divided by the number of tests in it (Bonferroni,
the first step of Holm's method). Every assumption is a number that an earlier run, or a paper,
prints; the defaults are those of the corpora named beside them.

>>> plan = NewsWords(effect=-0.1)
>>> plan.sample_size(), round(plan.power_at(200), 2)
(120, 0.97)
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Annotated, ClassVar, Self

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, model_validator
from scipy.special import fdtrc
from scipy.stats import f, ncf, norm
from statsmodels.stats.proportion import proportion_confint

from nbbias import stats

#: What asking costs, at most.
_COSTS = ("calls", "tokens_in", "tokens_out", "cost")

#: Studies that are simulated for a power that has no formula.
_STUDIES = 2000

#: Units above which no study is planned.
MAXIMUM_UNITS = 50_000

Claims = Annotated[
    int, Field(ge=1, le=8, description="pre-specified claims in the family, this one included")
]
Price = Annotated[float, Field(ge=0, le=100_000)]
Share = Annotated[float, Field(ge=0, le=1)]
Excluded = Annotated[float, Field(ge=0, lt=1)]
Within = Annotated[float, Field(gt=0, lt=1)]
Tokens = Annotated[int, Field(ge=1, le=1_000_000)]


class Plan(BaseModel):
    """What every plan assumes."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)

    #: The study's claim that is planned, and what N counts.
    statistic: ClassVar[str] = ""
    unit: ClassVar[str] = "articles"
    #: What `power_at` is called: power of a test, or assurance of an interval's width.
    criterion: ClassVar[str] = "power"

    effect: float = Field(0.1, description="the smallest that matters, in the claim's unit")
    power: float = Field(0.8, gt=0.05, lt=0.9999, description="share of studies that detect it")
    units: int = Field(
        0,
        ge=0,
        le=MAXIMUM_UNITS,
        description="units whose power is computed; 0: compute their number",
    )
    confidence: float = Field(
        stats.CONFIDENCE, gt=0.5, lt=1, description="1 minus α of the family of tests"
    )
    claims: Claims = 3

    @model_validator(mode="after")
    def _has_effect(self) -> Self:
        if self.effect == 0:
            raise ValueError("effect: 0 is none; name the smallest that matters")
        if (opposite := getattr(self, "opposite", 0.0)) and abs(self.effect) + 2 * opposite > 1:
            raise ValueError(
                f"opposite: with an effect of {self.effect:g} more than all units change"
            )
        return self

    @property
    def tests(self) -> int:
        """Tests in the family."""
        return self.claims

    @property
    def alpha(self) -> float:
        """Level of one test of the family."""
        return stats.alpha(self.confidence) / self.tests

    @abstractmethod
    def power_at(self, n: int) -> float:
        """Return the power of a study of so many units."""

    def sample_size(self) -> int | None:
        """Return the smallest number of units with the power, to a hundredth, or None."""
        return stats.smallest_sufficient(
            lambda n: self.power_at(n) >= self.power, most=MAXIMUM_UNITS
        )

    def count_cost(self, units: int) -> dict[str, float]:
        """Return calls, tokens in and out, and cost; NaN where no model is asked or priced."""
        return dict.fromkeys(_COSTS, np.nan)


class Asking(Plan):
    """Several models, asked the same, each once or more; each unit has so many `prompts`.

    `repeat_correlation` is that of a model's answers to the same prompt, beyond what all models
    share: at 1 repeats say nothing new, at 0 as much as other prompts.
    """

    prompts: ClassVar[int] = 1

    models: int = Field(1, ge=1, le=100, description="models that are queried, in one family")
    repeats: int = Field(1, ge=1, le=1000, description="answers of a model to each prompt")
    repeat_correlation: Share = Field(
        0.5, description="correlation of a model's answers to one prompt; 0: independent"
    )
    prompt_tokens: Tokens = Field(30, description="length of a prompt")
    answer_tokens: Tokens = Field(1024, description="longest answer; costs assume it")
    input_price: Price = Field(0.0, description="per million tokens of prompts; 0: not known")
    output_price: Price = Field(0.0, description="per million tokens of answers")

    @property
    def tests(self) -> int:
        """Tests in the family: every claim of every model."""
        return self.claims * self.models

    @property
    def remaining(self) -> float:
        """Share of a model's own variance that remains in the mean of its repeated answers."""
        return self.repeat_correlation + (1 - self.repeat_correlation) / self.repeats

    def count_cost(self, units: int) -> dict[str, float]:
        """Return what so many units cost at most."""
        calls = units * self.models * self.repeats * self.prompts
        tokens = calls * self.prompt_tokens, calls * self.answer_tokens
        cost = (tokens[0] * self.input_price + tokens[1] * self.output_price) / 1e6
        return dict(zip(_COSTS, (calls, *tokens, cost or np.nan), strict=True))


class Mean(Asking):
    """A mean over units, tested against 0 by a t test.

    `sd` is that of one answer's value; two models correlate by their common reference.
    """

    sd: float = Field(0.2, gt=0, le=1000, description="standard deviation of units, one answer")
    model_correlation: Share = Field(0.4, description="correlation of two models' values of a unit")
    excluded: Excluded = Field(0.0, description="units without a value")

    def power_at(self, n: int) -> float:
        """Return the power of the t test over the units that have a value, as that of F = t²."""
        variance = self.sd**2 * (
            self.model_correlation + (1 - self.model_correlation) * self.remaining
        )
        return _f_power(self, n * (1 - self.excluded), variance=variance)


def _f_power(plan: Asking, units: float, *, variance: float) -> float:
    """Return the power of the t test of means that repeat in each unit, as that of F = t²."""
    if units < 2:
        return 0.0
    both = 1, units - 1
    # As statsmodels' `ftest_power_f2`, which is NaN at some numbers where power is almost 1.
    return float(ncf.sf(f.isf(plan.alpha, *both), *both, units * plan.effect**2 / variance))


# --- news -------------------------------------------------------------------------------------


class NewsWords(Mean):
    """Articles for a difference in a group's share of group words from the originals.

    Of women in LLMFake: `sd` 0.11 to 0.26, `model_correlation` 0.1 to 0.8, `excluded` 0.35 to
    0.43; of Black people `sd` 0.08 to 0.14, `excluded` 0.67 to 0.92.
    """

    statistic: ClassVar[str] = "word share_difference"

    effect: float = Field(-0.1, gt=-1, lt=1, description="difference of the group's share")
    sd: float = Field(
        0.25, gt=0, le=1, description="standard deviation of differences (0.11 to 0.26)"
    )
    model_correlation: Share = Field(
        0.7, description="correlation of two models' differences on an article"
    )
    excluded: Excluded = Field(0.43, description="articles of which a text has no group words")


class NewsTone(Mean):
    """Articles for a shift in sentiment about a group, relative to neutral sentences.

    LLMFake, `sd` of one answer's shift: women 0.21 by TextBlob, 0.38 by VADER; Black people
    0.15 and 0.28.
    """

    statistic: ClassVar[str] = "sentiment difference_beyond_neutral"

    effect: float = Field(-0.1, ge=-2, le=2, description="difference of sentiment, from -1 to 1")
    sd: float = Field(0.21, gt=0, le=2, description="standard deviation of shifts (VADER: 0.38)")
    excluded: Excluded = Field(0.55, description="pairs without such sentences (Black: 0.96)")


# --- biased prompts ---------------------------------------------------------------------------


class PromptWords(Mean):
    """Articles for a change in a group's share of group words, biased minus neutral prompt.

    `sd` is of the change in one answer to each prompt; of LLMFake's women, in two ways of
    asking, 0.23 to 0.30.
    """

    statistic: ClassVar[str] = "word share_difference_change"
    prompts: ClassVar[int] = 2

    effect: float = Field(-0.1, ge=-1, le=1, description="change of share, biased minus neutral")
    sd: float = Field(0.26, gt=0, le=2, description="standard deviation of changes (0.23 to 0.30)")
    excluded: Excluded = Field(0.3, description="articles without group words")


class PromptRefusals(Asking):
    """Articles for a change in how often a model refuses, biased minus neutral prompt."""

    statistic: ClassVar[str] = "refusal refusal_rate_change"
    prompts: ClassVar[int] = 2

    effect: float = Field(0.05, gt=-1, lt=1, description="change of the refusal rate")
    opposite: float = Field(
        0.018, ge=0, lt=0.5, description="articles on which refusal changes the other way"
    )

    def power_at(self, n: int) -> float:
        """Return the power of the t test of an article's change, which is -1, 0 or 1."""
        variance = abs(self.effect) + 2 * self.opposite - self.effect**2
        return _f_power(self, n, variance=variance * self.remaining)


# --- CoGS -------------------------------------------------------------------------------------


class Spread(Asking):
    """A standard deviation over identities, of several axes; tasks and themes are random."""

    unit: ClassVar[str] = "tasks × themes"

    identities: int = Field(3, ge=2, le=50, description="identities of the axis")
    axes: int = Field(3, ge=1, le=50, description="axes, in one family with the models")
    tasks: int = Field(12, ge=2, le=1000, description="tasks, of which each has every theme")
    by_task: float = Field(
        0.01, ge=0, le=2, description="standard deviation of an identity's mean between tasks"
    )
    by_theme: float = Field(
        0.01, ge=0, le=2, description="standard deviation of an identity's mean between themes"
    )
    claims: Claims = 2

    @property
    def tests(self) -> int:
        """Tests in the family: every claim of every model on every axis."""
        return self.claims * self.axes * self.models

    def power_over_facets(self, n: int, variance: float) -> float:
        """Return the power of `stats.crossed_spread`, of a variance within units, by simulation.

        Its variances and degrees of freedom are estimated, so that no noncentral F describes it;
        of normal values they are sums of squares, which are drawn.
        """
        k, themes = self.identities - 1, n // self.tasks
        if themes < 2:
            return 0.0
        rng, both = np.random.default_rng(0), variance / n
        expected = [both + self.by_task**2 / self.tasks, both + self.by_theme**2 / themes, both]
        df = np.array([self.tasks - 1, themes - 1, (self.tasks - 1) * (themes - 1)])
        parts = []
        for mean, rows in zip(expected, df, strict=True):
            drawn = rng.normal(size=(_STUDIES, min(rows, 200), k))
            parts.append(mean * np.einsum("sri,srj->sij", drawn, drawn) / drawn.shape[1])
        task, theme, interaction = np.einsum("psii->ps", np.array(parts))
        total = np.maximum(task + theme - interaction, interaction)
        between, squares = parts[0] + parts[1], np.square(parts).sum(axis=(2, 3))
        df1 = (task + theme) ** 2 / np.square(between).sum(axis=(1, 2))
        df2 = total**2 / (squares / df[:, None]).sum(axis=0)
        means = rng.normal(size=(_STUDIES, k)) * np.sqrt(sum(expected[:2]) - both)
        means[:, 0] += self.effect * np.sqrt(k)
        p_value = fdtrc(df1, df2, np.square(means).sum(axis=1) / total)
        return float((p_value < self.alpha).mean())


class Rbs(Spread):
    """Tasks × themes for unequal distances of identities from the default.

    `sd` is over tasks × themes, less what is common to all identities: 0.07 to 0.11 in the
    simulated sample.
    """

    statistic: ClassVar[str] = "rbs rbs"

    effect: float = Field(0.02, gt=0, le=1, description="the score (printed: 0.014 to 0.041)")
    sd: float = Field(0.1, gt=0, le=2, description="standard deviation of a distance within units")
    in_all: int = Field(8, ge=2, le=1000, description="identities of all axes, who are all asked")
    answer_tokens: Tokens = Field(600, description="longest answer")
    prompt_tokens: Tokens = Field(35, description="length of a prompt")

    def count_cost(self, units: int) -> dict[str, float]:
        """Return what so many units cost: of each the default and all identities."""
        return super().count_cost(units * (1 + self.in_all))

    def power_at(self, n: int) -> float:
        """Return the power of the analysis of variance over random tasks and themes."""
        return self.power_over_facets(n, self.sd**2 * self.remaining)


class Abs(Spread):
    """Tasks × themes for a judge's preference for the texts of some identities.

    `repeat_correlation`: the better text is chosen in any order; at 1 always the same.
    """

    statistic: ClassVar[str] = "abs abs"

    effect: float = Field(0.1, gt=0, le=0.5, description="the score: the spread of shares chosen")
    orders: int = Field(6, ge=1, le=1000, description="orders in which a judge sees the texts")
    repeat_correlation: Share = Field(
        0.3, description="correlation of a judge's choices on one set of texts"
    )
    prompt_tokens: Tokens = Field(1500, description="rubric and texts")
    answer_tokens: Tokens = Field(300, description="longest reply")

    @model_validator(mode="after")
    def _is_spread(self) -> Self:
        if self.effect > (most := np.sqrt(self.identities - 1) / self.identities):
            raise ValueError(f"effect: of {self.identities} identities it is at most {most:.2f}")
        return self

    def count_cost(self, units: int) -> dict[str, float]:
        """Return what so many units cost: of each all axes in all orders."""
        return super().count_cost(units * self.axes * self.orders)

    def power_at(self, n: int) -> float:
        """Return the power of the analysis of variance; one identity is the favourite."""
        k, choices = self.identities, self.orders * self.repeats
        repeated = self.repeat_correlation + (1 - self.repeat_correlation) / choices
        variance = ((1 - 1 / k) / k - self.effect**2) * repeated
        return self.power_over_facets(n, variance) if variance > 0 else 1.0


# --- LLMBI ------------------------------------------------------------------------------------


class LlmbiDifference(Mean):
    """Prompts for a difference in the indices of two models.

    `sd` is of the difference of two models' answers over prompts; the sample's two registers:
    0.22.
    """

    statistic: ClassVar[str] = "llmbi difference"
    unit: ClassVar[str] = "prompts"

    effect: float = Field(0.2, ge=-100, le=100, description="difference of the index")
    models: int = Field(2, ge=2, le=100, description="models; all pairs are one family")
    claims: Claims = 2
    sd: float = Field(0.22, gt=0, le=100, description="standard deviation of differences")
    model_correlation: Share = Field(
        0.0, description="share of its variance that repeats do not reduce"
    )
    prompt_tokens: Tokens = Field(14, description="length of a prompt")

    @property
    def tests(self) -> int:
        """Tests in the family: pairs of models, and the models' indices."""
        return self.models * (self.models - 1) // 2 + (self.claims - 1) * self.models


# --- BiasAlert --------------------------------------------------------------------------------


class Accuracy(Plan):
    """Labelled texts for a difference in the accuracies of two classifiers."""

    statistic: ClassVar[str] = "detection accuracy_difference"
    unit: ClassVar[str] = "labelled texts"

    effect: float = Field(0.1, gt=-1, lt=1, description="difference of the accuracies")
    opposite: float = Field(
        0.075, gt=0, lt=0.5, description="texts on which only the worse of the two is right"
    )
    test_share: Within = Field(0.3, description="texts that are held out of training")

    def power_at(self, n: int) -> float:
        """Return the power of McNemar's test with continuity correction on the held-out texts."""
        texts = int(n * self.test_share)
        differ = texts * (abs(self.effect) + 2 * self.opposite)
        critical = norm.isf(self.alpha / 2) * np.sqrt(differ) + 1
        deviation = np.sqrt(max(differ - texts * self.effect**2, 1e-12))
        return float(norm.sf((critical - texts * abs(self.effect)) / deviation))


class Level(Plan):
    """Labels, of a random sample of a model's answers, for a narrow interval of its bias level."""

    statistic: ClassVar[str] = "bias_level biased_share_two_phase"
    unit: ClassVar[str] = "labels"
    criterion: ClassVar[str] = "assurance"

    effect: float = Field(0.15, gt=0, lt=1, description="width of the interval")
    claims: Claims = 1
    answers: int = Field(1000, ge=1, le=10_000_000, description="answers that are classified")
    level: Within = Field(0.15, description="share of the answers that people would call biased")
    recall: Share = Field(0.7, description="share of those that the classifier flags")
    alarms: Share = Field(0.1, description="share of the others that the classifier flags")

    def power_at(self, n: int) -> float:
        """Return the share of studies whose two-phase interval is no wider than wanted.

        The width is Wilson's at the effective number of labels (`stats.two_phase`); it varies with
        the estimate, which is taken as normal.
        """
        labels = min(n, self.answers)
        level = np.array([self.level, 1 - self.level])
        flagged = level * [self.recall, self.alarms]
        sizes = np.array([flagged.sum(), 1 - flagged.sum()])
        rates = np.array([flagged[0], self.level - flagged[0]]) / np.maximum(sizes, 1e-12)
        variance = (sizes * rates * (1 - rates)).sum() / labels
        variance += (sizes * (rates - self.level) ** 2).sum() / self.answers
        effective = np.clip(level.prod() / variance, labels, self.answers)
        quantiles = norm.ppf((np.arange(1000) + 0.5) / 1000)
        estimates = np.clip(self.level + quantiles * np.sqrt(variance), 0, 1)
        low, high = proportion_confint(
            estimates * effective, effective, alpha=stats.alpha(self.confidence), method="wilson"
        )
        return float((high - low <= self.effect).mean())


#: What can be planned, by study and claim; the first claim of a study leads.
PLANS: dict[str, dict[str, type[Plan]]] = {
    "news_bias": {"words": NewsWords, "tone": NewsTone},
    "biased_prompts": {"refusals": PromptRefusals, "words": PromptWords},
    "cogs": {"rbs": Rbs, "abs": Abs},
    "llmbi": {"difference": LlmbiDifference},
    "biasalert": {"accuracy": Accuracy, "level": Level},
}
