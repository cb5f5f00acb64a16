"""What of a study can be planned: which claim, under which assumptions, in which simulated units.

Every assumption is a number that an earlier run, or a paper, prints; the defaults are those of the
corpora named beside them. Whoever knows better sets them.

>>> from nbbias.calibration import planning
>>> chosen = NewsWords(effect=-0.1, draws=500)
>>> found = planning.needed(chosen.told(), wanted=chosen.power, sure=chosen.sure)
>>> 80 < found.n < 140
True
"""

from __future__ import annotations

from abc import abstractmethod
from functools import cache
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, model_validator
from scipy.optimize import brentq

from nbbias.calibration import planning
from nbbias.calibration.planning import Told
from nbbias.params import Seed
from nbbias.stats import Sure

Confidence = Annotated[float, Field(gt=0.5, lt=1)]
Price = Annotated[float, Field(ge=0, le=100_000)]
Share = Annotated[float, Field(ge=0, le=1)]
Within = Annotated[float, Field(gt=0, lt=1)]


class Planned(BaseModel):
    """What every plan assumes."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)

    #: The study's claim that is planned, and what N counts.
    statistic: ClassVar[str] = ""
    unit: ClassVar[str] = ""

    power: float = Field(0.8, gt=0.05, lt=0.9999, description="share of such studies that tell it")
    units: int = Field(
        0,
        ge=0,
        le=planning.MOST,
        description="units whose power is asked; 0: find them",
    )
    confidence: Confidence = Field(0.95, description="1 less it is the level of the tests")
    draws: int = Field(2000, ge=100, le=100_000, description="simulated studies")
    seed: Seed = Field(20231222, description="start of every random draw")

    @abstractmethod
    def told(self) -> Told:
        """Return what simulates studies under these assumptions."""

    @property
    def sure(self) -> Sure:
        """Level, simulated studies and their start."""
        return Sure(self.confidence, self.draws, self.seed)

    def asked(self, units: int) -> dict[str, float]:
        """Return what so many units cost at most: `calls`, `tokens_in`, `tokens_out`, `cost`.

        NaN where no model is asked, and of the cost where no price is known.
        """
        return dict.fromkeys(("calls", "tokens_in", "tokens_out", "cost"), np.nan)


class _Asking(Planned):
    """Several models, asked alike, each once or more; of a unit there are so many `prompts`."""

    prompts: ClassVar[int] = 1

    models: int = Field(1, ge=1, le=100, description="models that are asked, in one family")
    differing: int = Field(1, ge=1, le=100, description="of these, in how many the effect is")
    repeats: int = Field(1, ge=1, le=1000, description="answers of a model to each prompt")
    again: Share = Field(
        0.5,
        description="how much of what sets an answer apart a model repeats when asked again: 1, "
        "repeats say nothing new; 0, as much as other prompts",
    )
    claims: int = Field(
        1, ge=1, le=8, description="claims that are declared together, this one among them"
    )
    prompt_tokens: int = Field(30, ge=1, le=1_000_000, description="length of a prompt")
    answer_tokens: int = Field(
        1024, ge=1, le=1_000_000, description="longest answer, which costs are counted by"
    )
    input_price: Price = Field(0.0, description="per million tokens of prompts; 0: not known")
    output_price: Price = Field(0.0, description="per million tokens of answers")

    @model_validator(mode="after")
    def _some(self) -> Self:
        if self.differing > self.models:
            raise ValueError(f"differing: {self.differing} of {self.models} models are too many")
        return self

    def asked(self, units: int) -> dict[str, float]:
        """Return what so many units cost at most."""
        calls = units * self.models * self.repeats * self.prompts
        found = {"calls": calls, "tokens_in": calls * self.prompt_tokens}
        found["tokens_out"] = calls * self.answer_tokens
        known = self.input_price or self.output_price
        cost = found["tokens_in"] * self.input_price + found["tokens_out"] * self.output_price
        return found | {"cost": cost / 1e6 if known else np.nan}

    @property
    def _others(self) -> int:
        return (self.claims - 1) * self.models


#: Of LLMFake's 3,091 pairs, four models.
_NEWS = {
    "gender": {"share": 0.5, "spread": 0.22, "lost": 0.27},
    "race": {"share": 0.2, "spread": 0.13, "lost": 0.72},
}


class NewsWords(_Asking):
    """Articles that tell a group's share of group words apart from that in the originals."""

    statistic: ClassVar[str] = "word share_difference_common"
    unit: ClassVar[str] = "articles"

    effect: float = Field(
        -0.1, gt=-1, lt=1, description="difference of the group's share of group words"
    )
    bias: Literal["gender", "race"] = Field(
        "gender", description="whose texts the next three are those of, where they are not set"
    )
    share: Within = Field(0.5, description="the group's share in the originals (race, Black: 0.2)")
    spread: float = Field(
        0.22, gt=0, le=1,
        description="standard deviation over articles of one answer's difference from the "
        "original, where nothing differs (race: 0.13)",
    )  # fmt: skip
    lost: Within = Field(0.27, description="pairs without group words on either side (race: 0.72)")
    min_pairs: int = Field(10, ge=1, le=1_000_000, description="as in the study")

    @model_validator(mode="before")
    @classmethod
    def _of_bias(cls, values: Any) -> Any:
        bias = values.get("bias") if isinstance(values, dict) else None
        return {**_NEWS.get(bias, {}), **values} if isinstance(bias, str) else values

    @model_validator(mode="after")
    def _can_be(self) -> Self:
        if self.effect == 0:
            raise ValueError("effect: 0 is none; name the smallest that matters")
        if not 0 < self.share + self.effect < 1:
            told = f"a share of {self.share:g} cannot change by {self.effect:g}; set share, too"
            raise ValueError(f"effect: {told}")
        if self.spread >= (most := self._spread(_APART[1])):
            raise ValueError(f"spread: around a share of {self.share:g} it is at most {most:.2f}")
        return self

    claims: int = Field(3, ge=1, le=8, description=_Asking.model_fields["claims"].description)

    def told(self) -> Told:
        """Return what simulates studies: t tests over the articles that all models share."""
        return planning.of_means(
            self.differences(planning.POOL), confidence=self.confidence,
            others=self._others, fewest=self.min_pairs,
        )  # fmt: skip

    def differences(self, articles: int) -> np.ndarray:
        """Simulate what `news.words` measures: articles by models, NaN without group words.

        A story has a share of its own, a model a focus within it, which its answers repeat in part;
        words are counted in texts of unequal length.
        """
        apart = brentq(lambda apart: self._spread(apart) - self.spread, *_APART, xtol=1e-3)
        found = self._drawn(articles, apart)
        effects = np.where(np.arange(self.models) < self.differing, self.effect, 0.0)
        # What is planted is planted exactly, whatever the draw of the pool.
        return found - found[np.isfinite(found).all(axis=1)].mean(axis=0) + effects

    def _spread(self, apart: float) -> float:
        plain = self.model_copy(update={"models": 1, "differing": 0, "repeats": 1})
        return float(np.nanstd(plain._drawn(planning.POOL, apart)))

    def _drawn(self, articles: int, apart: float) -> np.ndarray:
        rng = np.random.default_rng([self.seed, 1])
        of_story, focus = _beta(rng, np.full(articles, self.share), 1 - apart), apart**2
        # Stories are long or short together.
        length = _words(self.lost) * rng.exponential(size=articles)
        original = _counts(rng, _beta(rng, of_story, focus), length)
        kept = self.again * focus
        rest = 1 - (1 - focus) / (1 - kept)
        found = np.empty((articles, self.models))
        for model in range(self.models):
            differs = model < self.differing
            meant = _moved(of_story, self.effect, self.share) if differs else of_story
            own = _beta(rng, meant, kept)
            answer = np.sum(
                [_counts(rng, _beta(rng, own, rest), length) for _ in range(self.repeats)], axis=0
            )
            with np.errstate(invalid="ignore"):
                shares = [one[0] / one.sum(axis=0) for one in (answer, original)]
            found[:, model] = shares[0] - shares[1]
        return found


#: How far apart texts on one story can be: 0, copies of one another; 1, as texts on two stories.
_APART = (0.01, 0.99)


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


def _counts(rng: np.random.Generator, share: np.ndarray, length: np.ndarray) -> np.ndarray:
    words = rng.poisson(length * rng.gamma(2, 0.5, len(length)))
    own = rng.binomial(words, share)
    return np.stack([own, words - own])


def _moved(shares: np.ndarray, effect: float, mean: float) -> np.ndarray:
    """Move shares within [0, 1] so that their mean moves by the effect."""
    if effect < 0:
        return shares * (1 + effect / mean)
    return shares + (1 - shares) * effect / (1 - mean)


#: What can be planned, by study and claim; the first claim of a study leads.
PLANS: dict[str, dict[str, type[Planned]]] = {
    "news_bias": {"words": NewsWords},
}
