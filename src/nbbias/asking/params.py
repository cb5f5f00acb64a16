"""The `generate:` block of a params file: which models are asked what, how, and at what price."""

from __future__ import annotations

import math
import os
from collections.abc import Collection, Mapping
from itertools import combinations
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    field_validator,
    model_validator,
)

from nbbias import params
from nbbias.asking import trust, wording
from nbbias.params import InputFile, Seed
from nbbias.tables import SAMPLE, DataError, ParameterError, closest_match, resolve

_STRICT = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)
_Dollars = Annotated[float, Field(ge=0, le=100_000)]

#: Providers with a batch mode.
_WITH_BATCHES = ("openai", "anthropic", "google", "together", "grok")


class Prices(BaseModel):
    """What a model costs, in the currency of your bill, per million tokens."""

    model_config = _STRICT

    input: _Dollars = Field(0.0, description="per million input tokens")
    output: _Dollars = Field(0.0, description="per million output tokens")

    def charge(self, input_tokens: int, output_tokens: int) -> float:
        """Return the cost of a call."""
        return (input_tokens * self.input + output_tokens * self.output) / 1e6


_OutputFile = Annotated[str, Field(min_length=1, json_schema_extra={"format": "new file"})]
_Temperature = Annotated[float, Field(ge=0, le=2)]
_Count = Annotated[int, Field(ge=0)]


# One number (or null) or several; a mistake is told of the kind that was given, not of both.
_Temperatures = Annotated[
    Annotated[_Temperature | None, Tag("number")]
    | Annotated[list[_Temperature], Field(min_length=1), Tag("list")],
    Discriminator(lambda value: "list" if isinstance(value, list) else "number"),
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
        description="news (of headlines), llmbi (18 prompts), cogs (3,240), bold (openings), or "
        "table: a file of your own with prompt_id and prompt"
    )
    prompts_path: InputFile = Field(
        SAMPLE, description="headlines, BOLD's openings, the table, or additions to CoGS"
    )
    ways: list[Literal["neutral", "biased"]] = Field(
        ["neutral"], min_length=1, description="news: how articles are asked for"
    )
    ideologies: list[str] = Field(
        ["Androcentrism"], min_length=1, description="news: ideologies of the biased prompts"
    )
    template: str = Field("", description="other wording, with {headline} (news) or {prompt}")
    biased_template: str = Field("", description="news: the same, with {headline} and {ideology}")
    system: str = Field("", description="a system message; the papers have none")
    limit: _Count = Field(0, le=10_000_000, description="prompts of a pilot, at random; 0: all")
    seed: Seed = Field(20231222, description="of that draw; a larger one holds a smaller one")
    replicates: int = Field(1, ge=1, le=1000, description="answers to each prompt, each one a call")
    temperature: _Temperatures = Field(
        1.0,
        description="of sampling; null leaves it to the provider; a list asks every prompt at each "
        "(only cogs tells them apart)",
    )
    top_p: float | None = Field(None, gt=0, le=1, description="of sampling; null: the provider's")
    max_tokens: int = Field(1024, ge=1, le=1_000_000, description="longest answer, in tokens")
    response_schema: dict[str, Any] = Field(
        {}, description="{'name': …, 'json_schema': …} of the answers, for structured output"
    )
    model_args: dict[str, Any] = Field({}, description="for the provider, as {'device': …} for hf")
    base_url: str = Field(
        "",
        pattern=r"^(https?://.+)?$",
        description="of a compatible server, named by --base-url, too; empty: the provider's",
    )
    concurrency: int = Field(8, ge=1, le=1000, description="calls, or batches, at a time")
    attempt_timeout: int = Field(120, ge=1, le=86_400, description="seconds of an attempt")
    max_retries: _Count = Field(5, le=100, description="further attempts at a call")
    first_wait: float = Field(
        1.0, ge=0.01, le=600, description="seconds of the first wait between attempts; they double"
    )
    batch_size: _Count = Field(
        0, le=50_000, description="requests a batch, where there are such; cheaper, slower; 0: none"
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
    def _check_path(cls, path: str) -> str:
        try:
            resolve(path)
        except DataError as error:
            raise ValueError(error.breaches[0]) from None
        return path

    @field_validator("models", "ways", "ideologies", "temperature")
    @classmethod
    def _check_unique(cls, values: Any) -> Any:
        return params.no_twins(values) if isinstance(values, list) else values

    @model_validator(mode="after")
    def _check_together(self) -> Self:
        names = list(wording.load_ideologies()["name"])
        breaches = [
            f"ideologies: no ideology {name!r}; {closest_match(name, names)}"
            for name in self.ideologies
            if name not in names
        ]
        breaches += [
            f"models: {name!r} names no provider; write it as openai/{name}"
            for name in self.models
            if not all(name.partition("/"))
        ]
        slot = "headline" if self.prompts == "news" else "prompt"
        for name in ("template", "biased_template"):
            template = getattr(self, name)
            if template and slot not in wording.list_slots(template):
                breaches.append(f"{name}: has no {{{slot}}} in it")
        if self.prompts_path == SAMPLE and self.prompts in wording.KINDS:
            breaches.append(f"prompts_path: name the file that holds the prompts of {self.prompts}")
        if unused := [name for name in self.prices if name not in self.models]:
            breaches.append(f"prices: {', '.join(unused)} is not among the models")
        unpriced = [name for name in self.models if name not in self.prices]
        if self.max_cost and unpriced:
            breaches.append(f"max_cost: needs the prices of {', '.join(unpriced)}")
        single = [name for name in self.models if trust.provider(name) not in _WITH_BATCHES]
        if self.batch_size and single:
            breaches.append(f"batch_size: {single[0]} has no batch mode; set it to 0")
        if Path(self.export_path).suffix.lower() != ".parquet":
            breaches.append("export_path: must end in .parquet")
        # Writing one of two paths that stand for one file would destroy the other.
        for first, second in combinations(("store_path", "export_path", "prompts_path"), 2):
            paths = (getattr(self, name) for name in (first, second))
            if len({os.path.realpath(resolve(path)) for path in paths}) == 1:
                breaches.append(f"{first} and {second} are one file; name two")
        breaches += trust.argument_breaches(self.models, self.model_args)
        if breaches:
            raise ValueError(*breaches)
        return self

    @property
    def parameters(self) -> dict[str, Any]:
        """What can change an answer, beside model, address, messages and temperature."""
        optional = {"top_p": self.top_p, "response_schema": self.response_schema or None}
        present = {name: value for name, value in optional.items() if value is not None}
        return {**present, "max_tokens": self.max_tokens}

    @property
    def temperatures(self) -> list[float]:
        """The temperatures that each prompt is asked at; NaN leaves one to the provider."""
        values = self.temperature if isinstance(self.temperature, list) else [self.temperature]
        return [math.nan if value is None else value for value in values]

    @property
    def in_flight(self) -> int:
        """How many calls are under way at a time: `concurrency` counts batches, if there are."""
        return self.concurrency * max(1, self.batch_size)


def check_block(values: Mapping[str, Any], *, where: str, suites: Collection[str] = ()) -> Generate:
    """Check a `generate:` block; every breach at once, keys first. `suites` are the studies'.

    Raises
    ------
    ParameterError
        A key stands in it, a name is unknown, a value is of the wrong type or out of range.
    """
    if not isinstance(values, Mapping):
        raise ParameterError(where, "generate: must hold lines of the form 'name: value'")
    breaches = params.key_breaches(values)
    with_keys = {_name(breach) for breach in breaches}
    try:
        block = params.validate(Generate, values, where=where, listed="generate")
    except ParameterError as error:
        breaches += [breach for breach in error.breaches if _name(breach) not in with_keys]
    kinds, kind = (*wording.KINDS, *suites), values.get("prompts")
    if isinstance(kind, str) and kind not in kinds:
        breaches.append(f"prompts: no prompts called {kind!r}; known: {', '.join(kinds)}")
    if breaches:
        raise ParameterError(where, [f"generate.{breach}" for breach in breaches])
    return block


def _name(breach: str) -> str:
    return breach.partition(":")[0].partition(".")[0]
