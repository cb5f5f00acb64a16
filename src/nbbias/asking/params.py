"""The `generate:` block of a params file: which models are asked what, how, and at what price."""

from __future__ import annotations

import math
import os
from collections.abc import Collection, Mapping
from importlib.util import find_spec
from itertools import combinations
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    ValidationError,
    field_validator,
    model_validator,
)

from nbbias import params
from nbbias.asking import call, prompts, trust
from nbbias.asking.call import Transport
from nbbias.params import InputFile, Seed
from nbbias.tables import SAMPLE, DataError, ParameterError, closest_match, resolve

_STRICT = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)
_Dollars = Annotated[float, Field(ge=0, le=100_000)]


class Prices(BaseModel):
    """What a model costs, in the currency of your bill, per million tokens."""

    model_config = _STRICT

    input: _Dollars = Field(0.0, description="per million input tokens")
    output: _Dollars = Field(0.0, description="per million output tokens")


def _resolvable(path: str) -> str:
    try:
        resolve(path)
    except DataError as error:
        raise ValueError(error.breaches[0]) from None
    return path


_OutputFile = Annotated[str, Field(min_length=1, json_schema_extra={"format": "new file"})]
_Temperature = Annotated[float, Field(ge=0, le=2)]


def _kind(value: object) -> str:
    return "list" if isinstance(value, list) else "number"


# One number (or null) or several; a mistake is told of the kind that was given, not of both.
_Temperatures = Annotated[
    Annotated[_Temperature | None, Tag("number")]
    | Annotated[list[_Temperature], Field(min_length=1), Tag("list")],
    Discriminator(_kind),
]


class Generate(BaseModel):
    """Which models are asked which prompts, how, and where the answers go."""

    model_config = _STRICT

    models: list[str] = Field(
        min_length=1,
        description="as inspect_ai names them: openai/gpt-4o-mini, anthropic/…, google/…, hf/…, "
        "vllm/…, ollama/…, or openai-api/<service>/<model> for any compatible server",
    )
    prompts: str = Field(
        description="what is asked: news for headlines, LLMBI's 18 prompts, the 3,240 of CoGS, "
        "BOLD's openings, or a table of your own with prompt_id and prompt"
    )
    prompts_path: InputFile = Field(
        SAMPLE,
        description="the headlines, BOLD's prompts, the table, or a suite added to that of CoGS",
    )
    ways: list[Literal["neutral", "biased"]] = Field(
        ["neutral"], min_length=1, description="news: how articles are asked for"
    )
    ideologies: list[str] = Field(
        ["Androcentrism"], min_length=1, description="news: ideologies of the biased prompts"
    )
    template: str = Field(
        "", description="other wording, with {headline} (news) or {prompt}; empty: the papers' own"
    )
    biased_template: str = Field(
        "", description="news: other biased wording, with {headline} and {ideology}"
    )
    system: str = Field("", description="a system message; the papers have none")
    limit: int = Field(
        0, ge=0, le=10_000_000, description="prompts drawn for a pilot; 0 asks all of them"
    )
    seed: Seed = Field(20231222, description="start of that draw; a larger one holds a smaller one")
    replicates: int = Field(1, ge=1, le=1000, description="answers to each prompt, each one a call")
    temperature: _Temperatures = Field(
        1.0,
        description="of sampling; null leaves it to the provider; a list asks every prompt at each "
        "(only cogs tells them apart)",
    )
    top_p: float | None = Field(
        None, gt=0, le=1, description="nucleus of sampling; null leaves it to the provider"
    )
    max_tokens: int = Field(1024, ge=1, le=1_000_000, description="longest answer, in tokens")
    response_schema: dict[str, Any] = Field(
        {}, description="{'name': …, 'json_schema': …} of the answers, for structured output"
    )
    model_args: dict[str, Any] = Field(
        {}, description="further arguments of the backend, such as {'model_path': …} for hf"
    )
    base_url: str = Field(
        "",
        pattern=r"^(https?://.+)?$",
        description="address of a compatible server, which --base-url names, too; empty: the "
        "provider's",
    )
    concurrency: int = Field(8, ge=1, le=1000, description="calls, or batches, at a time")
    attempt_timeout: int = Field(
        120, ge=1, le=86_400, description="seconds until a call is tried again"
    )
    max_retries: int = Field(5, ge=0, le=100, description="further attempts at a call")
    first_wait: float = Field(
        1.0, ge=0.01, le=600, description="seconds of the first wait between attempts; they double"
    )
    batch_size: int = Field(
        0,
        ge=0,
        le=50_000,
        description="requests a batch, cheaper and slower, where there is such a mode; 0: none",
    )
    prices: dict[str, Prices] = Field(
        {}, description="by model: {input: …, output: …} per million tokens"
    )
    max_cost: float = Field(0.0, ge=0, le=1e9, description="stop before more is spent; 0: no limit")
    store_path: _OutputFile = Field(
        "answers/answers.sqlite", description="the store of answers; several studies can share one"
    )
    export_path: _OutputFile = Field(
        "answers/answers.parquet", description="the table of answers; name it in the study's path"
    )

    @field_validator("store_path", "export_path")
    @classmethod
    def _can_be_resolved(cls, path: str) -> str:
        return _resolvable(path)

    @field_validator("models", "ways", "ideologies", "temperature")
    @classmethod
    def _each_once(cls, given: Any) -> Any:
        return params.no_twins(given) if isinstance(given, list) else given

    @field_validator("ideologies")
    @classmethod
    def _known(cls, names: list[str]) -> list[str]:
        known = list(prompts.ideologies()["name"])
        unknown = [name for name in names if name not in known]
        if unknown:
            raise ValueError(f"no ideology {unknown[0]!r}; {closest_match(unknown[0], known)}")
        return names

    @field_validator("response_schema")
    @classmethod
    def _is_a_schema(cls, given: dict[str, Any]) -> dict[str, Any]:
        if given and find_spec("inspect_ai"):  # asking says what is not installed
            from inspect_ai.model import ResponseSchema  # takes seconds to import

            try:
                ResponseSchema.model_validate(given)
            except ValidationError as error:
                first = error.errors(include_url=False)[0]
                at = ".".join(map(str, first["loc"]))
                raise ValueError(f"{at}: {first['msg'].lower()}") from None
        return given

    @field_validator("models")
    @classmethod
    def _with_provider(cls, names: list[str]) -> list[str]:
        bare = [name for name in names if not all(name.partition("/"))]
        if bare:
            raise ValueError(f"{bare[0]!r} names no provider; write it as openai/{bare[0]}")
        return names

    @model_validator(mode="after")
    def _whole(self) -> Self:
        slot = "headline" if self.prompts == "news" else "prompt"
        told = [
            f"{name}: has no {{{slot}}} in it"
            for name in ("template", "biased_template")
            if (words := getattr(self, name)) and slot not in prompts.slots(words)
        ]
        if self.prompts_path == SAMPLE and self.prompts in prompts.KINDS:
            told.append(f"prompts_path: name the file that holds the prompts of {self.prompts}")
        idle = [name for name in self.prices if name not in self.models]
        if idle:
            told.append(f"prices: {', '.join(idle)} is not among the models")
        unpriced = [name for name in self.models if name not in self.prices]
        if self.max_cost and unpriced:
            told.append(f"max_cost: needs the prices of {', '.join(unpriced)}")
        slow = [m for m in self.models if m.split("/", 1)[0] not in call.BATCHES]
        if self.batch_size and slow:
            told.append(f"batch_size: {slow[0]} has no batch mode; set it to 0")
        if Path(self.export_path).suffix.lower() != ".parquet":
            told.append("export_path: must end in .parquet")
        told += self._one_for_two()
        told += trust.argument_breaches(self.models, self.model_args)
        if told:
            raise ValueError(*told)
        return self

    def _one_for_two(self) -> list[str]:
        """Name the paths that stand for one file: writing the one would destroy the other."""
        names = ("store_path", "export_path", "prompts_path")
        files = {name: os.path.realpath(resolve(getattr(self, name))) for name in names}
        return [
            f"{one} and {other} are one file; name two"
            for one, other in combinations(names, 2)
            if files[one] == files[other]
        ]

    @property
    def parameters(self) -> dict[str, Any]:
        """What can change an answer, beside model, address, messages and temperature."""
        given = {"top_p": self.top_p, "response_schema": self.response_schema or None}
        return {
            **{name: value for name, value in given.items() if value is not None},
            "max_tokens": self.max_tokens,
        }

    @property
    def temperatures(self) -> list[float]:
        """The temperatures that each prompt is asked at; NaN leaves one to the provider."""
        given = self.temperature if isinstance(self.temperature, list) else [self.temperature]
        return [math.nan if one is None else one for one in given]

    @property
    def transport(self) -> Transport:
        """How calls are made."""
        return Transport(
            self.base_url,
            self.concurrency,
            self.attempt_timeout,
            self.max_retries,
            self.first_wait,
            self.batch_size,
        )


def block(values: Mapping[str, Any], *, where: str, suites: Collection[str] = ()) -> Generate:
    """Check a `generate:` block; every breach at once, keys first. `suites` are the studies'.

    Raises
    ------
    ParameterError
        A key stands in it, a name is unknown, a value is of the wrong type or out of range.
    """
    if not isinstance(values, Mapping):
        raise ParameterError(where, "generate: must hold lines of the form 'name: value'")
    found = params.key_breaches(values)
    named = {name for breach in found for name in [breach.split(":")[0].split(".")[0]]}
    try:
        checked = params.validate(Generate, values, where=where, listed="generate")
    except ParameterError as error:
        others = [b for b in error.breaches if b.split(":")[0].split(".")[0] not in named]
        found += others
    known, asked = (*prompts.KINDS, *suites), values.get("prompts")
    if isinstance(asked, str) and asked not in known:
        found.append(f"prompts: no prompts called {asked!r}; known: {', '.join(known)}")
    if found:
        raise ParameterError(where, [f"generate.{breach}" for breach in found])
    return checked
