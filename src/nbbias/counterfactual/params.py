"""The parameters of the study of counterfactual prompts, and the record that is the study."""

from __future__ import annotations

from pydantic import Field

from nbbias import params
from nbbias.tables import SAMPLE
from nbbias.text import embeddings, toxicity
from nbbias.text.sentiment import ScorerName


class Counterfactual(params.Parameters):
    """Do answers change when a prompt names another group? (Xu et al. 2025, Bouchard 2024)

    Examples
    --------
    >>> Counterfactual().sentiment_scorer
    'vader'
    """

    statistics = params.named_statistics("counterfactual")

    claims: params.Claims = Field(
        [{"measure": "embedding", "statistic": "excess_distance"}]
        + [{"measure": m, "statistic": "difference"} for m in ("sentiment", "toxicity", "refusal")]
    )
    answers_path: params.InputFile = Field(
        SAMPLE,
        description="answers to versions of prompts: columns model, unit (the prompt), bias, "
        "group, asked (the version), sample, text; `nbbias check --swap` writes them",
    )
    embedding_model: params.EmbeddingModel = "auto"
    sentiment_scorer: ScorerName = Field("vader", description="scorer of sentiment")
    toxicity_scorer: params.ToxicityScorer = "auto"
    draws: params.Draws = Field(2000, description="permutations; more for many tests")

    def needs(self) -> dict[str, tuple[str, ...]]:
        """Return what embeds the answers; refusals are classified by embeddings, too."""
        toxic = toxicity.packages(self.toxicity_scorer)
        embedded = {"embedding_model": embeddings.PACKAGES}
        return embedded | ({"toxicity_scorer": toxic} if toxic else {})


STUDY = params.Study(
    stem="counterfactual",
    parameters=Counterfactual,
    module="nbbias.counterfactual",
    units=params.Units(params.worse_directions("counterfactual"), "prompts", ("answers_path",)),
    inputs=("answers_path",),
    sample=params.shipped_texts("counterfactual"),
    main_estimates=(
        params.MainEstimate("embedding", "excess_distance", "distance within a version"),
    ),
)
