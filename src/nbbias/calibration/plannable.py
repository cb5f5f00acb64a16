"""What of a study can be planned: which claim, under which assumptions, in which simulated units.

Every assumption is a number that an earlier run, or a paper, prints; the defaults are those of the
corpora named beside them. Whoever knows better sets them.

>>> from nbbias.calibration import planning
>>> chosen = NewsWords(effect=-0.1, draws=500)
>>> found = planning.needed(chosen.told(), wanted=chosen.power, inference=chosen.inference)
>>> 80 < found.n < 140
True
"""

from __future__ import annotations

from abc import abstractmethod
from functools import cache
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
from pydantic import Field, model_validator
from scipy.optimize import brentq

from nbbias import stats
from nbbias.calibration import planning
from nbbias.calibration.assumed import Asking, Claims, Means, Planned, Price, Share, Within
from nbbias.calibration.planning import Told

# --- news -------------------------------------------------------------------------------------


#: Of LLMFake's 3,091 pairs, four models: women, Black people.
_NEWS = {
    "gender": {"share": 0.5, "spread": 0.22, "story": 0.84, "lost": 0.27},
    "race": {"share": 0.2, "spread": 0.13, "story": 0.93, "lost": 0.72},
}


class NewsWords(Asking):
    """Articles that tell a group's share of group words apart from that in the originals."""

    statistic: ClassVar[str] = "word share_difference_common"
    unit: ClassVar[str] = "articles"

    effect: float = Field(
        -0.1, gt=-1, lt=1, description="difference of the group's share of group words"
    )
    bias: Literal["gender", "race"] = Field(
        "gender", description="of whose texts the next four are, where they are not set"
    )
    share: Within = Field(0.5, description="the group's share in the originals (race, Black: 0.2)")
    spread: float = Field(
        0.22,
        gt=0,
        le=1,
        description="standard deviation over articles of one answer's difference from the "
        "original, where nothing differs (race: 0.13)",
    )
    story: Annotated[float, Field(ge=0, lt=1)] = Field(
        0.84,
        description="correlation over articles of an answer's share with the original's "
        "(race: 0.93)",
    )
    lost: Within = Field(0.27, description="pairs without group words on either side (race: 0.72)")
    min_pairs: int = Field(10, ge=1, le=1_000_000, description="as in the study")

    @model_validator(mode="before")
    @classmethod
    def _of_bias(cls, values: Any) -> Any:
        bias = values.get("bias") if isinstance(values, dict) else None
        return {**_NEWS.get(bias, {}), **values} if isinstance(bias, str) else values

    @model_validator(mode="after")
    def _can_be(self) -> Self:
        if not 0 < self.share + self.effect < 1:
            told = f"a share of {self.share:g} cannot change by {self.effect:g}; set share, too"
            raise ValueError(f"effect: {told}")
        most = np.sqrt(2 * (1 - self.story) * self.share * (1 - self.share))
        if self.spread >= most:
            told = f"at a share of {self.share:g} and a correlation of {self.story:g} (story)"
            raise ValueError(f"spread: {told} it is below {most:.2f}")
        return self

    claims: Claims = 3

    def told(self) -> Told:
        """Return what simulates studies: t tests over the articles that all models share."""
        return planning.of_means(
            self.differences(planning.POOL),
            confidence=self.confidence,
            others=self.others,
            fewest=self.min_pairs,
        )

    def differences(self, articles: int) -> np.ndarray:
        """Simulate what `news.words` measures: articles by models, NaN without group words.

        A story has a share of its own, a model a focus within it, which its answers repeat in part;
        answers weigh by their words, and a text of few has none.
        """
        rng = np.random.default_rng([self.seed, 1])
        every = self.share * (1 - self.share)
        within = self.spread**2 / 2
        between = within * self.story / (1 - self.story)
        focus = within / (every - between)  # of two words in one text, beyond those of its story
        kept = self.again * focus
        rest = (focus - kept) / (1 - kept)
        of_story = _beta(rng, np.full(articles, self.share), between / every)
        length = _words(self.lost) * rng.exponential(size=articles)  # of all texts on a story
        original = np.where(_counted(rng, length) > 0, _beta(rng, of_story, focus), np.nan)
        found = np.empty((articles, self.models))
        for model, effect in enumerate(self.effects):
            own = _beta(rng, _moved(of_story, effect, self.share), kept)
            words = np.stack([_counted(rng, length) for _ in range(self.repeats)])
            shares = np.stack([_beta(rng, own, rest) for _ in range(self.repeats)])
            with np.errstate(invalid="ignore"):
                found[:, model] = (words * shares).sum(axis=0) / words.sum(axis=0) - original
        # What is planted is planted exactly, whatever the draw of the pool.
        whole = found[np.isfinite(found).all(axis=1)]
        return found - whole.mean(axis=0) + self.effects


@cache
def _words(lost: float) -> float:
    """Return the mean number of group words of which so many pairs have none on a side."""
    stories = -np.log(1 - (np.arange(2000) + 0.5) / 2000)  # quantiles of the exponential

    def gap(size: float) -> float:
        none = (1 + np.exp(size) * stories / 2) ** -2.0
        return float(1 - ((1 - none) ** 2).mean() - lost)

    return float(np.exp(brentq(gap, -12, 25)))


def _beta(rng: np.random.Generator, mean: np.ndarray, correlation: float) -> np.ndarray:
    """Draw shares around their means, of which two words drawn from one agree by a correlation."""
    if correlation <= 1e-9:
        return mean
    size, kept = 1 / correlation - 1, np.clip(mean, 1e-9, 1 - 1e-9)
    return rng.beta(kept * size, (1 - kept) * size)


def _counted(rng: np.random.Generator, length: np.ndarray) -> np.ndarray:
    return rng.poisson(length * rng.gamma(2, 0.5, len(length)))


def _moved(shares: np.ndarray, effect: float, mean: float) -> np.ndarray:
    """Move shares within [0, 1] so that their mean moves by the effect."""
    if effect < 0:
        return shares * (1 + effect / mean)
    return shares + (1 - shares) * effect / (1 - mean)


class NewsTone(Means):
    """Articles that tell a shift of tone about a group apart from that of neutral sentences."""

    statistic: ClassVar[str] = "sentiment difference_beyond_neutral"
    unit: ClassVar[str] = "articles"

    effect: float = Field(-0.1, ge=-2, le=2, description="difference of polarity, in [-1, 1]")
    claims: Claims = 3
    spread: float = Field(
        0.21,
        gt=0,
        le=2,
        description="standard deviation over articles of one answer's shift (LLMFake, women: "
        "TextBlob 0.21, VADER 0.38; Black people: 0.15, 0.28)",
    )
    lost: Annotated[float, Field(ge=0, lt=1)] = Field(
        0.55, description="pairs without such sentences on either side (women; Black people: 0.96)"
    )


class PromptWords(Means):
    """Articles that tell what a biased prompt changes in a group's share of group words."""

    statistic: ClassVar[str] = "word share_difference_change"
    unit: ClassVar[str] = "articles"
    prompts: ClassVar[int] = 2

    effect: float = Field(-0.1, ge=-1, le=1, description="change of the share, biased less neutral")
    claims: Claims = 3
    spread: float = Field(
        0.26,
        gt=0,
        le=2,
        description="standard deviation over articles of the change in one answer to each prompt "
        "(LLMFake, women, two ways of asking: 0.23 to 0.30)",
    )
    lost: Annotated[float, Field(ge=0, lt=1)] = Field(
        0.3, description="articles without group words under either prompt"
    )


class PromptRefusals(Asking):
    """Articles that tell a change in how often a model refuses, biased prompt less neutral."""

    statistic: ClassVar[str] = "refusal refusal_rate_change"
    unit: ClassVar[str] = "articles"
    prompts: ClassVar[int] = 2

    effect: float = Field(0.05, gt=-1, lt=1, description="change of the refusal rate")
    claims: Claims = 3
    rate: Share = Field(0.02, description="refusal rate of the neutral prompt")
    alike: Share = Field(
        0.3,
        description="how much of what is refused goes by the article, for both prompts and "
        "all models",
    )

    @model_validator(mode="after")
    def _is_rate(self) -> Self:
        if not 0 <= self.rate + self.effect <= 1:
            told = f"a rate of {self.rate:g} cannot change by {self.effect:g}; set rate, too"
            raise ValueError(f"effect: {told}")
        return self

    def told(self) -> Told:
        """Return what simulates studies: paired t tests over the articles' rates."""
        rng = np.random.default_rng([self.seed, 1])
        units = (planning.POOL, self.models)
        shape = (*units, self.repeats)
        article = rng.random((planning.POOL, 1, 1))
        sides = []
        for rates in (self.rate + self.effects, np.full(self.models, self.rate)):
            own = np.where(
                rng.random(shape) < self.again, rng.random((*units, 1)), rng.random(shape)
            )
            answers = np.where(rng.random(shape) < self.alike, article, own)
            sides.append((answers < rates[:, None]).mean(axis=2))
        change = sides[0] - sides[1]
        # Studies are drawn from the pool as it is: where nobody refuses there is no test.
        return planning.of_means(change, confidence=self.confidence, others=self.others)


# --- CoGS -------------------------------------------------------------------------------------


class _Spread(Asking):
    """A spread over identities, of several axes."""

    identities: int = Field(3, ge=2, le=50, description="identities of the axis")
    axes: int = Field(3, ge=1, le=50, description="axes, in one family with the models")
    claims: Claims = 2

    @property
    def others(self) -> int:
        """Further tests in the family: other axes, and other claims."""
        return self.claims * self.axes * self.models - self.models

    @property
    def pattern(self) -> np.ndarray:
        """One identity below the others, with a spread of 1."""
        pattern = np.zeros(self.identities)
        pattern[0] = -1
        pattern -= pattern.mean()
        return pattern / pattern.std()

    def asked(self, units: int) -> dict[str, float]:
        """Return what so many units cost: of each, answers to all its prompts, on all axes."""
        return super().asked(units * self.per_unit)

    @property
    @abstractmethod
    def per_unit(self) -> int:
        """Calls of one model for a unit and repeat."""

    def of(self, p_values: Any) -> Told:
        """Return studies of models that are independent of each other, given the p of one."""

        def told(n: int, studies: int, rng: np.random.Generator) -> np.ndarray:
            found = []
            for size in stats.split_batches(studies, size_each=n * self.identities):
                p = [p_values(rng, size, n, effect) for effect in self.effects]
                family = np.column_stack(p)
                found.append(planning.first_of_family(family, self.others, self.confidence, rng))
            return np.concatenate(found)

        return told


class Rbs(_Spread):
    """Tasks × themes, or tasks, that tell that identities lie unequally far from the default."""

    statistic: ClassVar[str] = "rbs rbs"
    unit: ClassVar[str] = "tasks × themes (or tasks)"

    effect: float = Field(
        0.02, gt=0, le=1, description="the score (printed for three models: 0.014 to 0.041)"
    )
    spread: float = Field(
        0.1,
        gt=0,
        le=2,
        description="standard deviation of an identity's distance over tasks × themes, less what "
        "is common to all identities (the simulated sample: 0.07 to 0.11)",
    )
    in_all: int = Field(8, ge=2, le=1000, description="identities of all axes, who are all asked")
    tasks: Literal["fixed", "random"] = Field(
        "fixed", description="random: the unit is the task, with so many themes"
    )
    themes: int = Field(30, ge=1, le=10_000, description="themes of a task")
    by_task: float = Field(
        0.03,
        ge=0,
        le=2,
        description="tasks random: standard deviation of an identity's distance between tasks",
    )
    answer_tokens: int = Field(600, ge=1, le=1_000_000, description="longest answer")
    prompt_tokens: int = Field(35, ge=1, le=1_000_000, description="length of a prompt")

    @property
    def per_unit(self) -> int:
        """Calls of one model for a unit and repeat: default and identities, of all its themes."""
        return (1 + self.in_all) * (self.themes if self.tasks == "random" else 1)

    def told(self) -> Told:
        """Return what simulates studies: analyses of variance within units."""
        kept = self.again + (1 - self.again) / self.repeats
        # A unit's mean takes its part of what varies.
        variance = self.spread**2 * kept * self.identities / (self.identities - 1)
        if self.tasks == "random":
            variance = variance / self.themes + self.by_task**2

        def p(rng: np.random.Generator, studies: int, n: int, effect: float) -> np.ndarray:
            values = rng.normal(size=(studies, n, self.identities)) * np.sqrt(variance)
            return planning.within_units(values + effect * self.pattern)

        return self.of(p)


class Abs(_Spread):
    """Tasks × themes that tell that a judge prefers the texts of some identities."""

    statistic: ClassVar[str] = "abs abs"
    unit: ClassVar[str] = "tasks × themes"

    effect: float = Field(0.1, gt=0, le=0.5, description="the score: the spread of shares chosen")
    orders: int = Field(6, ge=1, le=1000, description="orders in which a judge sees the texts")
    again: Share = Field(
        0.3,
        description="how alike a judge's choices are on one set of texts, in any order: the "
        "better text is chosen; 1, always the same",
    )
    prompt_tokens: int = Field(1500, ge=1, le=1_000_000, description="rubric and texts")
    answer_tokens: int = Field(300, ge=1, le=1_000_000, description="longest reply")

    @model_validator(mode="after")
    def _is_spread(self) -> Self:
        if self.effect > (most := np.sqrt(self.identities - 1) / self.identities):
            raise ValueError(f"effect: of {self.identities} identities it is at most {most:.2f}")
        return self

    @property
    def per_unit(self) -> int:
        """Calls of one judge for a unit and repeat."""
        return self.axes * self.orders

    def told(self) -> Told:
        """Return what simulates studies: identities permuted within units."""
        choices = self.orders * self.repeats

        def p(rng: np.random.Generator, studies: int, n: int, effect: float) -> np.ndarray:
            shares = 1 / self.identities - effect * self.pattern  # one is the favourite
            if self.again > 0:
                size = 1 / min(max(self.again, 1e-6), 1 - 1e-6) - 1
                drawn = rng.gamma(np.maximum(shares * size, 1e-9), size=(studies, n, len(shares)))
                drawn = np.maximum(drawn, 1e-300)
                drawn /= drawn.sum(axis=2, keepdims=True)
            else:
                drawn = np.broadcast_to(shares, (studies, n, len(shares)))
            values = rng.multinomial(choices, drawn) / choices
            return planning.permuted_within(values)

        return self.of(p)


# --- LLMBI ------------------------------------------------------------------------------------


class LlmbiDifference(Means):
    """Prompts that tell the indices of two models apart."""

    statistic: ClassVar[str] = "llmbi difference"
    unit: ClassVar[str] = "prompts"

    effect: float = Field(0.2, ge=-100, le=100, description="difference of the index")
    models: int = Field(2, ge=2, le=100, description="models; all pairs are one family")
    claims: Claims = 2
    spread: float = Field(
        0.22,
        gt=0,
        le=100,
        description="standard deviation over prompts of the difference of two models' answers (the "
        "sample's two registers: 0.22)",
    )
    prompt_tokens: int = Field(14, ge=1, le=1_000_000, description="length of a prompt")

    @property
    def others(self) -> int:
        """Further tests in the family: the models' indices."""
        return (self.claims - 1) * self.models

    def values(self, units: int) -> np.ndarray:
        """Simulate prompts by pairs of models, those with the first one before the others."""
        plain = self.model_copy(update={"alike": 0.0, "spread": self.spread / np.sqrt(2)})
        own = super(LlmbiDifference, plain).values(units)
        first, second = np.triu_indices(self.models, k=1)
        found: np.ndarray = own[:, first] - own[:, second]
        return found


# --- BiasAlert --------------------------------------------------------------------------------


class _Labels(Planned):
    """Texts that people label."""

    label_price: Price = Field(0.0, description="what one label costs; 0: not known")

    def asked(self, units: int) -> dict[str, float]:
        """Return what so many labels cost; no model is asked."""
        return super().asked(units) | {"cost": units * self.label_price or np.nan}


class Accuracy(_Labels):
    """Labelled texts that tell which of two judges is right more often."""

    statistic: ClassVar[str] = "detection accuracy_difference"
    unit: ClassVar[str] = "labelled texts"

    effect: float = Field(0.1, gt=-1, lt=1, description="difference of the accuracies")
    apart: Within = Field(
        0.25, description="texts on which just one of the two is right: at least the effect"
    )
    test_share: Within = Field(
        0.3, description="texts that are held out of training, on which judges are compared"
    )
    claims: Claims = 3

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.effect == 0:
            raise ValueError("effect: 0 is none; name the smallest that matters")
        if self.apart < abs(self.effect):
            told = f"judges that differ on {self.apart:g} of texts cannot differ by"
            raise ValueError(f"apart: {told} {abs(self.effect):g} in accuracy")
        return self

    def told(self) -> Told:
        """Return what simulates studies: McNemar's test on the texts held out."""

        def told(n: int, studies: int, rng: np.random.Generator) -> np.ndarray:
            differ = rng.binomial(int(n * self.test_share), self.apart, size=studies)
            first = rng.binomial(differ, (1 + self.effect / self.apart) / 2)
            p = planning.mcnemar(first, differ - first)
            return planning.first_of_family(p[:, None], self.claims - 1, self.confidence, rng)

        return told


class Level(_Labels):
    """Labels, of a random sample of a model's answers, that tell its bias level closely enough."""

    statistic: ClassVar[str] = "bias_level biased_share_two_phase"
    unit: ClassVar[str] = "labels"

    effect: float = Field(
        0.15, gt=0, lt=1, description="width of the interval, from end to end, that is still of use"
    )
    answers: int = Field(1000, ge=1, le=10_000_000, description="answers that the judge has judged")
    level: Within = Field(0.15, description="share of the answers that people would call biased")
    recall: Share = Field(0.7, description="share of those that the judge flags")
    alarms: Share = Field(0.1, description="share of the others that the judge flags")

    def told(self) -> Told:
        """Return what simulates studies: whose interval is no wider than wanted."""

        def told(n: int, studies: int, rng: np.random.Generator) -> np.ndarray:
            labelled = min(n, self.answers)
            biased = rng.binomial(self.answers, self.level, size=studies)
            kinds = np.stack(
                [
                    hits := rng.binomial(biased, self.recall),
                    biased - hits,
                    false := rng.binomial(self.answers - biased, self.alarms),
                    self.answers - biased - false,
                ],
                axis=1,
            )
            left, to_label, sample = kinds.sum(axis=1), np.full(studies, labelled), []
            for kind in kinds.T:
                left = left - kind
                sample.append(rng.hypergeometric(kind, left, to_label))
                to_label = to_label - sample[-1]
            low, high = planning.two_phase(
                kinds, np.stack(sample, axis=1), confidence=self.confidence
            )
            return (high - low) <= self.effect

        return told


#: What can be planned, by study and claim; the first claim of a study leads.
PLANS: dict[str, dict[str, type[Planned]]] = {
    "news_bias": {"words": NewsWords, "tone": NewsTone},
    "biased_prompts": {"refusals": PromptRefusals, "words": PromptWords},
    "cogs": {"rbs": Rbs, "abs": Abs},
    "llmbi": {"difference": LlmbiDifference},
    "biasalert": {"accuracy": Accuracy, "level": Level},
}
