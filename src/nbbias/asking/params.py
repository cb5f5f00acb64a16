"""The `generate:` block of a params file: which models are asked what, how, and at what price."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from nbbias import params
from nbbias.asking import trust
from nbbias.params import Distinct, InputFile, Seed, Strict
from nbbias.tables import SAMPLE, DataError, ParameterError, resolve

#: The kinds of prompts that belong to no single study.
KINDS = ("news", "table")

_Dollars = Annotated[float, Field(ge=0, le=100_000)]
_Temperature = Annotated[float, Field(ge=0, le=2)]
_Count = Annotated[int, Field(ge=0)]
_NewFile = Annotated[str, Field(min_length=1, json_schema_extra={"format": "new file"})]


class Prices(Strict):
    """What a model costs, in the currency of your bill, per million tokens."""

    input: _Dollars = Field(0.0, description="per million input tokens")
    output: _Dollars = Field(0.0, description="per million output tokens")


class Generate(Strict):
    """Which models are asked which prompts, how, and where the answers go."""

    models: Distinct[str] = Field(
        min_length=1,
        description="as inspect_ai names them: openai/gpt-4o-mini, anthropic/…, google/…, hf/…, "
        "ollama/…, or openai-api/<service>/<model> for any compatible server",
    )
    prompts: str = Field(
        description="news (of headlines), llmbi (18 prompts), cogs (3,240), or table: a file of "
        "your own with prompt and, if its rows have names, prompt_id"
    )
    prompts_path: InputFile = Field(
        SAMPLE, description="the headlines, the table, or additions to CoGS"
    )
    ways: Distinct[Literal["neutral", "biased"]] = Field(
        ["neutral"], min_length=1, description="news: how articles are asked for"
    )
    ideologies: Distinct[str] = Field(
        ["Androcentrism"], min_length=1, description="news: ideologies of the biased prompts"
    )
    template: str = Field(
        "", description="other wording, with {headline} (neutral news; {byline} too) or {prompt}"
    )
    system: str = Field("", description="a system message; the papers have none")
    limit: _Count = Field(0, le=10_000_000, description="prompts of a pilot, at random; 0: all")
    seed: Seed = Field(20231222, description="of that draw; a larger one holds a smaller one")
    replicates: int = Field(1, ge=1, le=1000, description="answers to each prompt, each one a call")
    temperature: Annotated[
        Distinct[_Temperature | None], BeforeValidator(lambda x: x if isinstance(x, list) else [x])
    ] = Field(
        [1.0],
        min_length=1,
        description="of sampling; null leaves it to the provider; a list asks every prompt at each "
        "(only cogs tells them apart)",
    )
    top_p: float | None = Field(None, gt=0, le=1, description="of sampling; null: the provider's")
    max_tokens: int = Field(1024, ge=1, le=1_000_000, description="longest answer, in tokens")
    model_args: dict[str, Any] = Field({}, description="for the provider, as {'device': …} for hf")
    base_url: str = Field(
        "",
        pattern=r"^(https?://.+)?$",
        description="of a compatible server, named by --base-url, too; empty: the provider's",
    )
    concurrency: int = Field(8, ge=1, le=1000, description="calls at a time")
    attempt_timeout: int = Field(120, ge=1, le=86_400, description="seconds of an attempt")
    max_retries: _Count = Field(5, le=100, description="further attempts at a call")
    first_wait: float = Field(
        1.0,
        ge=0.01,
        le=60,
        description="longest first wait (seconds; random, doubles to 60, longer if a server asks)",
    )
    prices: dict[str, Prices] = Field(
        {}, description="by model: {input: …, output: …} per million tokens"
    )
    max_cost: float = Field(0.0, ge=0, le=1e9, description="stop before more is spent; 0: no limit")
    store_path: _NewFile = Field(
        "answers/answers.sqlite", description="the store of answers; several studies can share one"
    )
    export_path: _NewFile = Field(
        "answers/answers.parquet",
        pattern=r"(?i)\.parquet$",
        description="the table of answers; name it in the study's path",
    )

    @model_validator(mode="after")
    def _check_together(self) -> Self:
        breaches = trust.model_breaches(self.models, self.model_args)
        slot = "{headline}" if self.prompts == "news" else "{prompt}"
        if self.template and slot not in self.template:
            breaches.append(f"template: has no {slot} in it")
        if self.prompts_path == SAMPLE and self.prompts in KINDS:
            breaches.append(f"prompts_path: name the file that holds the prompts of {self.prompts}")
        unpriced = [name for name in self.models if name not in self.prices]
        if self.max_cost and unpriced:
            breaches.append(f"max_cost: needs the prices of {', '.join(unpriced)}")
        try:  # writing one of two paths that stand for one file would destroy the other
            paths = [self.store_path, self.export_path, self.prompts_path]
            if len({os.path.realpath(resolve(path)) for path in paths}) < len(paths):
                breaches.append("store_path, export_path, prompts_path: two are one file; name two")
        except DataError as error:
            breaches += error.breaches
        if breaches:
            raise ValueError(*breaches)
        return self

    @property
    def parameters(self) -> dict[str, Any]:
        """What can change an answer, beside model, address, messages and temperature."""
        top_p = {} if self.top_p is None else {"top_p": self.top_p}
        return {**top_p, "max_tokens": self.max_tokens}

    def price(self, model: str, input_tokens: float, output_tokens: float) -> float | None:
        """Return the cost of so many tokens; None without the model's prices."""
        if model not in self.prices:
            return None
        prices = self.prices[model]
        return (input_tokens * prices.input + output_tokens * prices.output) / 1e6


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
    with_keys = {re.split("[:.]", breach)[0] for breach in breaches}
    kinds, kind = (*KINDS, *suites), values.get("prompts")
    if isinstance(kind, str) and kind not in kinds:
        breaches.append(f"prompts: no prompts called {kind!r}; known: {', '.join(kinds)}")
    try:
        block = params.validate(Generate, values, where=where, listed="generate")
    except ParameterError as error:  # a parameter that holds a key is not shown
        breaches += [b for b in error.breaches if re.split("[:.]", b)[0] not in with_keys]
    ParameterError.refuse(where, [f"generate.{breach}" for breach in breaches])
    return block
