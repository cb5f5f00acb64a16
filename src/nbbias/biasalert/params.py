"""The parameters of BiasAlert, and the record that is the study."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, Self

from pydantic import Field, model_validator

from nbbias import params
from nbbias.biasalert.judges.prompt import PARTS, WORDINGS
from nbbias.biasalert.judges.registry import JUDGES
from nbbias.params import NONE
from nbbias.tables import SAMPLE
from nbbias.text import embeddings, toxicity


class Biasalert(params.Parameters):
    """Is an open text biased, how, against whom, and on what evidence? (Fan et al. 2024)"""

    statistics = params.named_statistics("biasalert")

    claims: params.Claims = Field(
        [
            {"measure": "detection", "statistic": statistic, "judge": judge}
            for statistic, judge in (
                ("accuracy", "classifier"),
                ("accuracy_difference", "classifier − majority"),
                ("accuracy_difference", "classifier − classifier_alone"),
            )
        ]
    )
    labelled_path: params.InputFile = Field(
        SAMPLE,
        description="labelled texts: columns text and biased, and where known "
        "bias_type, group, attribute; or the columns of RedditBias or of Jigsaw",
    )
    evaluation_path: params.OptionalFile = Field(
        NONE,
        description="another such file: judges are trained on all of labelled_path and tested on "
        "this; without it about three tenths of labelled_path are held out",
    )
    knowledge_path: params.OptionalFile = Field(
        SAMPLE,
        description="statements of prejudice: a table with the column statement, or SBIC as "
        "published; none takes the training texts that are labelled biased",
    )
    pairs_path: params.OptionalFile = Field(
        NONE, description="pairs of minimally different sentences, as CrowS-Pairs"
    )
    answers_path: params.OptionalFile = Field(
        SAMPLE,
        description="answers whose bias level is measured: columns text_id, model, text, and "
        "where known prompt_id; BOLD's file, for its texts by people; or sample",
    )
    answers_size: int = Field(
        0, ge=0, description="answers per model that are drawn at random; 0 takes all"
    )
    human_path: params.OptionalFile = Field(
        NONE,
        description="human labels of some answers: columns text_id, biased; of several people, "
        "a row each, with the column annotator; and biased_with, of what the guard let through",
    )
    human_sample: bool = Field(
        False, description="whether those labels are of a random sample of each model's answers"
    )
    guard: bool = Field(
        True,
        description="whether a guard is tried on labelled answers: the last trained one of judges "
        "stops each at the first sentence that it flags (tables/guarded)",
    )
    judges: params.Distinct[Literal[tuple(JUDGES)]] = Field(  # type: ignore[valid-type]
        ["majority", "keywords", "toxicity", "bag_of_words", "classifier_alone", "classifier"],
        min_length=1,
        description="judges: "
        + ", ".join(f"{name} ({note})" for name, note in JUDGES.describe(lambda j: j.help).items()),
    )
    prompt: Literal[WORDINGS] = Field(  # type: ignore[valid-type]
        "ours",
        description="wording of the prompt for language models: ours, or fan2024, that of the "
        "paper's Table 8",
    )
    prompt_parts: params.Distinct[Literal[PARTS]] = Field(  # type: ignore[valid-type]
        list(PARTS),
        description="parts of that prompt: retrieval (the evidence), steps, demonstrations; a run "
        "without one of them is an ablation, as in the paper's Table 2",
    )
    replies_paths: dict[str, params.InputFile] = Field(
        {},
        description="recorded replies of language models, or what moderation tools answered "
        "(OpenAI, Azure, Llama-Guard), by the judge's name; models are asked from "
        "tables/judge_prompts.csv",
    )
    embedding_model: params.EmbeddingModel = Field(
        "auto",
        description="of the retrieval: auto, offline, all-mpnet-base-v2, contriever-msmarco, or "
        "the folder of a sentence-transformers model",
    )
    toxicity_scorer: params.ToxicityScorer = "auto"
    device: params.Device = "cpu"
    draws: params.Draws = Field(
        1000,
        description="resamples for the null range of the calibration error; at most 500 are used",
    )

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        names = [*map(str, self.judges), *self.replies_paths]
        twice = sorted({name for name in names if names.count(name) > 1})
        labels, answers = self.human_path != NONE, self.answers_path != NONE
        has_names, sample = all(map(str.strip, self.replies_paths)), self.labelled_path == SAMPLE
        tested = self.evaluation_path != NONE
        breaches = {
            f"two judges are called {', '.join(twice)}": bool(twice),
            "replies_paths: a judge has no name; give it one": not has_names,
            "human_path: labels of answers, and answers_path is none": labels and not answers,
            "human_sample: there is no human_path": self.human_sample and not labels,
            "evaluation_path: name the labelled_path to learn from, too": tested and sample,
        }
        for name in ("evaluation_path", "pairs_path", "human_path"):
            problem = f"{name}: there is no sample of it; name a file, or none"
            breaches[problem] = getattr(self, name) == SAMPLE
        if problems := [problem for problem, wrong in breaches.items() if wrong]:
            raise ValueError("; ".join(problems))
        return self

    def needs(self) -> dict[str, tuple[str, ...]]:
        """Return what finds evidence, and what the judge `toxicity` reads by."""
        scorer = self.toxicity_scorer if "toxicity" in self.judges else toxicity.OFFLINE
        packages = toxicity.packages(scorer)
        return {"embedding_model": embeddings.PACKAGES, "toxicity_scorer": packages}

    def left_out(self) -> dict[str, str]:
        """Return the tags of what this run has no texts for.

        Examples
        --------
        >>> Biasalert().left_out()
        {'part:pairs': 'pairs_path'}
        >>> list(Biasalert(answers_path="none").left_out())
        ['part:pairs', 'part:answers', 'part:guard', 'sample']
        """
        labelled = self.answers_path == SAMPLE or self.human_path != NONE
        parts = {
            ("part:pairs", "pairs_path"): self.pairs_path == NONE,
            ("part:answers", "answers_path"): self.answers_path == NONE,
            ("part:guard", "guard" if labelled else "human_path"): not (self.guard and labelled),
            ("sample", "answers_path"): self.answers_path != SAMPLE,
        }
        return dict(names for names, left_out in parts.items() if left_out)


def _choose_settings(rows: Mapping[str, int]) -> params.Settings:
    if "answers_path" in rows:
        return {}
    return {"answers_path": (NONE, "no answers are given whose bias level is to be measured")}


STUDY = params.Study(
    stem="biasalert",
    parameters=Biasalert,
    module="nbbias.biasalert",
    # Of two judges that are compared none is the better one to be.
    units=params.Units(params.worse_directions("biasalert"), "texts", ("replies_paths",)),
    choose_settings=_choose_settings,
    inputs=("labelled_path", "answers_path", "knowledge_path", "pairs_path"),
    sample=params.shipped_texts("biasalert"),
    main_estimates=(params.MainEstimate("detection", "accuracy"),),
)
