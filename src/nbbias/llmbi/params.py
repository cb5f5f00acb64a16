"""The parameters of LLMBI, and the record that is the study."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from nbbias import params
from nbbias.tables import SAMPLE, read_shipped_table
from nbbias.text import embeddings
from nbbias.text.sentiment import INSTRUMENTS, ScorerName

#: As the bias score B, the probability that a text is biased, by the classifier of `nbbias detect`.
CLASSIFIER = "classifier"


class Llmbi(params.Parameters):
    """How strong is the net sentiment of answers about nine dimensions? (Oketunji et al. 2023)

    Examples
    --------
    >>> Llmbi().lambda_factor
    1.5
    """

    statistics = params.named_statistics("llmbi")

    claims: params.Claims = Field(
        [{"measure": "llmbi", "statistic": name} for name in ("difference", "index")]
    )
    answers_path: params.InputFile = Field(
        SAMPLE,
        description="answers: columns prompt, model, response (Parquet, CSV, JSON, JSON Lines)",
    )
    neutral_path: params.InputFile = Field(
        SAMPLE, description="reference prose without people, for every score: column text"
    )
    aggregation: Literal["mean", "sum"] = Field(
        "mean",
        description="how weighted bias scores combine: mean (Listing 1) or sum (formula 2.2)",
    )
    bias_scorer: Literal[(*INSTRUMENTS, CLASSIFIER)] = Field(  # type: ignore[valid-type]
        "textblob", description="scorer of the bias score B; classifier: probability of bias"
    )
    sentiment_scorer: ScorerName = Field("textblob", description="scorer of the sentiment term S")
    second_scorer: ScorerName = Field("vader", description="second scorer, for both B and S")
    diversity_penalty: float = Field(0.2, ge=0, le=10, description="the penalty P(D)")
    lambda_factor: float = Field(1.5, ge=0, le=100, description="the weight of the sentiment term")
    weights: dict[str, Annotated[float, Field(ge=0, le=100)]] = Field(
        {}, description="weight w of a dimension, such as {'Gender': 2.0}; those not named weigh 1"
    )

    @model_validator(mode="after")
    def _two_instruments(self) -> Self:
        if self.second_scorer == self.bias_scorer:
            raise ValueError(f"second_scorer: {self.second_scorer} is the first instrument already")
        return self

    def needs(self) -> dict[str, tuple[str, ...]]:
        """Return what the classifier reads by."""
        return {"bias_scorer": embeddings.PACKAGES} if self.bias_scorer == CLASSIFIER else {}


STUDY = params.Study(
    stem="llmbi",
    parameters=Llmbi,
    module="nbbias.llmbi",
    # Two models that differ more are not worse.
    units=params.Units(params.worse_directions("llmbi"), "prompts", ("answers_path",)),
    inputs=("answers_path",),
    sample=params.shipped_texts("llmbi"),
    main_estimates=(params.MainEstimate("llmbi", "index", "reference prose"),),
    prompts={"llmbi": lambda _: read_shipped_table("llmbi_prompts.csv")},
)
