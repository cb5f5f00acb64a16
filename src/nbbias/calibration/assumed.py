"""What every plan assumes, and what plans of means assume beyond that.

>>> chosen = Means(effect=0.1, spread=0.2, draws=200)
>>> chosen.values(1000).shape
(1000, 1)
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Annotated, ClassVar, Self

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, model_validator
from scipy.stats import norm

from nbbias.calibration import planning
from nbbias.calibration.planning import Told
from nbbias.params import Seed
from nbbias.stats import InferenceSettings

Confidence = Annotated[float, Field(gt=0.5, lt=1)]
Claims = Annotated[
    int, Field(ge=1, le=8, description="claims that are declared together, this one among them")
]
Price = Annotated[float, Field(ge=0, le=100_000)]
Share = Annotated[float, Field(ge=0, le=1)]
Within = Annotated[float, Field(gt=0, lt=1)]


class Planned(BaseModel):
    """What every plan assumes."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)

    #: The study's claim that is planned, and what N counts.
    statistic: ClassVar[str] = ""
    unit: ClassVar[str] = ""

    effect: float = Field(0.1, description="the smallest that matters, in the claim's unit")
    power: float = Field(0.8, gt=0.05, lt=0.9999, description="share of such studies that tell it")
    units: int = Field(
        0, ge=0, le=planning.MOST, description="units whose power is asked; 0: find them"
    )
    confidence: Confidence = Field(0.95, description="1 less it is the level of the tests")
    draws: int = Field(4000, ge=100, le=100_000, description="simulated studies")
    seed: Seed = Field(20231222, description="start of every random draw")

    @abstractmethod
    def told(self) -> Told:
        """Return what simulates studies under these assumptions."""

    @property
    def inference(self) -> InferenceSettings:
        """Level, simulated studies and their start."""
        return InferenceSettings(self.confidence, self.draws, self.seed)

    def asked(self, units: int) -> dict[str, float]:
        """Return what so many units cost at most: `calls`, `tokens_in`, `tokens_out`, `cost`.

        NaN where no model is asked, and of the cost where no price is known.
        """
        return dict.fromkeys(("calls", "tokens_in", "tokens_out", "cost"), np.nan)


class Asking(Planned):
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
    claims: Claims = 1
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
    def others(self) -> int:
        """Further tests in the family: those of the other claims."""
        return (self.claims - 1) * self.models

    @property
    def effects(self) -> np.ndarray:
        """What is planted, by model."""
        return np.where(np.arange(self.models) < self.differing, self.effect, 0.0)

    @model_validator(mode="after")
    def _there(self) -> Self:
        if self.effect == 0:
            raise ValueError("effect: 0 is none; name the smallest that matters")
        return self


class Means(Asking):
    """A mean over units of how far a model's answers lie from what they are compared with."""

    spread: float = Field(
        0.2, gt=0, le=1000, description="standard deviation over units of one answer's value"
    )
    alike: Share = Field(
        0.4, description="correlation of two models' values of a unit: what they are compared with"
    )
    lost: Annotated[float, Field(ge=0, lt=1)] = Field(
        0.0, description="units that one answer has no value for"
    )

    def told(self) -> Told:
        """Return what simulates studies: t tests, of each model over the units that it has."""
        return planning.of_means(
            self.values(planning.POOL), confidence=self.confidence, others=self.others, common=False
        )

    def values(self, units: int) -> np.ndarray:
        """Simulate units by models, NaN where no answer has a value.

        A unit has a part that all models share, each model one that its answers repeat in part.
        """
        rng = np.random.default_rng([self.seed, 1])
        value, there = (_layers(rng, units, self) for _ in range(2))
        kept = there > norm.ppf(self.lost)
        counted = kept.sum(axis=2)
        total = np.where(kept, value, 0.0).sum(axis=2)
        mean = np.divide(total, counted, out=np.full(total.shape, np.nan), where=counted > 0)
        return self.spread * (mean - np.nanmean(mean, axis=0)) + self.effects


def _layers(rng: np.random.Generator, units: int, chosen: Means) -> np.ndarray:
    """Draw normal values, units by models by answers: of the unit, the model, the answer."""
    own, again = 1 - chosen.alike, chosen.again
    shape = (units, chosen.models, chosen.repeats)
    parts = [(shape[:1], chosen.alike), (shape[:2], own * again), (shape, own * (1 - again))]
    drawn = [np.sqrt(share) * rng.normal(size=size) for size, share in parts]
    return drawn[0][:, None, None] + drawn[1][:, :, None] + drawn[2]
