"""The parameters of biased_prompts, and the record that is the study.

>>> from nbbias import biased_prompts
>>> biased_prompts.params.BiasedPrompts().focus
{'gender': 'female'}
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

from pydantic import Field, model_validator

from nbbias import news, params
from nbbias.tables import SAMPLE, NbbiasError, missing_packages
from nbbias.text import embeddings, lexicons


def _claims(biases: Sequence[str]) -> list[dict[str, str]]:
    changes = news.params.claims_on(
        biases, shares=["share_difference_change"], tone="mean_difference_change"
    )
    return [{"measure": "refusal", "statistic": "refusal_rate_change"}, *changes][: params.MOST]


class BiasedPrompts(news.params.News):
    """Which models refuse biased prompts, and how do articles change? (Fang et al. 2024)"""

    statistics = params.named_statistics("biased_prompts")

    claims: params.Claims = Field(_claims(["gender"]))

    generations_path: params.InputFile = Field(
        SAMPLE,
        description="answers to both prompts: columns article_id, model, prompt (or method), text "
        "(source, sample, refused)",
    )
    biases: params.Distinct[str] = Field(
        ["gender"], min_length=1, description=lexicons.choices(["gender"])
    )
    focus: dict[str, str] = Field(
        {"gender": "female"},
        min_length=1,
        description="the group of a bias that is compared: the family of tests",
    )
    neutral_prompt: str = Field(
        "neutral", min_length=1, description="value of the column prompt of the neutral prompt"
    )
    biased_prompt: str = Field(
        "biased", min_length=1, description="value of the column prompt of the biased prompt"
    )
    labels_path: params.OptionalFile = Field(
        params.NONE, description="human labels of refusals: the sheet of `nbbias label --until`"
    )
    n_topics: news.params.TopicNumbers = Field([12])
    topic_fits: news.params.TopicFits = 3

    def prompts(self) -> dict[str, str]:
        """Return the two prompts' names, by the parameters of functions that compare them."""
        return {"neutral": self.neutral_prompt, "biased": self.biased_prompt}

    def needs(self) -> dict[str, tuple[str, ...]]:
        """Return what the instruments of tone need, and what tells refusals from answers.

        Answers may come with their refusals: the file is read where it is all that can help.
        """
        detects = missing_packages(*embeddings.PACKAGES) and not self._records_refusals()
        return super().needs() | ({"generations_path": embeddings.PACKAGES} if detects else {})

    def _records_refusals(self) -> bool:
        if self.generations_path == SAMPLE:
            return False
        try:
            return "refused" in news.corpus.read_generations(self.generations_path)
        except NbbiasError:
            return False

    @classmethod
    def default_claims(cls, values: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Return a claim on refusals, and one for each of the biases."""
        return _claims(values["biases"])

    @model_validator(mode="after")
    def _two_prompts(self) -> Self:
        if self.neutral_prompt == self.biased_prompt:
            raise ValueError(f"biased_prompt: {self.biased_prompt} is the neutral prompt already")
        idle = [bias for bias in self.biases if bias not in self.focus]
        if idle:
            raise ValueError(f"focus: name the group of {', '.join(idle)} that is compared")
        return self


STUDY = params.Study(
    stem="biased_prompts",
    parameters=BiasedPrompts,
    module="nbbias.biased_prompts",
    # Whether more refusals are worse depends on the prompt.
    units=params.Units(params.worse_directions("biased_prompts"), "articles"),
    inputs=("originals_path", "generations_path"),
    sample=params.shipped_texts("biased_prompts"),
    main_estimates=(
        params.MainEstimate("refusal", "refusal_rate"),
        params.MainEstimate("word", "share_difference_change"),
    ),
)
