"""One strict model per study: its parameters, their ranges, defaults and meaning.

Nowhere else is a parameter defined (the studies of news stand in `studies_news`). The
notebook's `parameters` cell is written from the model, YAML is validated against it, and
`nbbias params STEM` prints it.
"""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from nbbias.corpus import SAMPLE
from nbbias.errors import NbbiasError
from nbbias.studies_base import InputFile, Parameters, Scorer
from nbbias.studies_news import BiasedPrompts, NewsBias


class Llmbi(Parameters):
    """How strongly worded are answers about nine dimensions of people? (Oketunji 2023)"""

    answers_path: InputFile = Field(
        SAMPLE,
        description="answers: columns prompt, model, response (Parquet, CSV, JSON, JSON Lines)",
    )
    neutral_path: InputFile = Field(
        SAMPLE,
        description="neutral prose, the reference for every score: column text",
    )
    aggregation: Literal["mean", "sum"] = Field(
        "mean",
        description="how weighted bias scores combine: mean (Listing 1) or sum (formula 2.2)",
    )
    bias_scorer: Scorer = Field("textblob", description="instrument behind the bias score B")
    sentiment_scorer: Scorer = Field(
        "textblob", description="instrument behind the sentiment term S"
    )
    second_scorer: Scorer = Field(
        "vader", description="instrument shown beside the first, for both B and S"
    )
    diversity_penalty: float = Field(0.2, ge=0, le=10, description="the penalty P(D)")
    lambda_factor: float = Field(1.5, ge=0, le=100, description="the weight of the sentiment term")
    weights: dict[str, Annotated[float, Field(ge=0, le=100)]] = Field(
        {}, description="weight w of a dimension, such as {'Gender': 2.0}; those not named weigh 1"
    )
    draws: int = Field(
        2000, ge=100, le=100_000, description="resamples behind each chance level and swap rate"
    )

    @model_validator(mode="after")
    def _two_instruments(self) -> Self:
        if self.second_scorer == self.bias_scorer:
            raise ValueError(f"second_scorer: {self.second_scorer} is the first instrument already")
        return self


class Cogs(Parameters):
    """Whose experience does a model take for normal, and whose does it prefer? (Kumar 2024)"""

    answers_path: InputFile = Field(
        SAMPLE,
        description="answers: columns model, text and task, theme, identity (or prompt_id)",
    )
    judgements_path: InputFile = Field(
        SAMPLE,
        description="judges' replies: columns evaluator, model, task, theme, axis, order, reply",
    )
    ratings_path: InputFile = Field(
        SAMPLE, description="what people chose: columns rater, task, theme, axis, identity"
    )
    suite_paths: list[InputFile] = Field(
        [], description="YAML files that add axes, identities, tasks, themes or rubrics"
    )
    axes: list[str] = Field(
        ["race", "gender", "orientation"],
        min_length=1,
        description="axes of identity: race, gender, orientation (the paper's), age, disability, "
        "religion, or a name in suite_paths",
    )
    embedding_model: str = Field(
        "auto",
        min_length=1,
        description="auto (all-mpnet-base-v2 where its weights are here, else offline), offline, "
        "all-mpnet-base-v2, or the folder of a sentence-transformers model",
    )
    device: str = Field("cpu", description="where the embedding model runs: cpu, cuda, mps")
    orders: Literal["auto", "all", "latin", "listed"] = Field(
        "auto",
        description="orders in which a judge is shown the texts: all, a balanced square (latin), "
        "the suite's own as in the paper (listed), or all up to four identities (auto)",
    )
    repeats: int = Field(1, ge=1, le=100, description="how often a judge is asked in each order")
    described: bool = Field(
        False, description="whether a judge's rubric describes its criteria or names them only"
    )
    draws: int = Field(
        2000, ge=100, le=100_000, description="permutations and resamples behind each number"
    )

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if (self.answers_path == SAMPLE) != (self.judgements_path == SAMPLE):
            raise ValueError("answers_path and judgements_path: set both, or neither")
        from nbbias import cogs_suite  # which reads params' neighbours

        try:
            cogs_suite.load(self.suite_paths, axes=self.axes)
        except NbbiasError as error:
            raise ValueError(f"{error.where}: {'; '.join(error.breaches)}") from None
        return self


#: The studies that stand, by stem.
STUDIES: dict[str, type[Parameters]] = {
    "news_bias": NewsBias,
    "biased_prompts": BiasedPrompts,
    "llmbi": Llmbi,
}
