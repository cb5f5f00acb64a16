"""One strict model per study: its parameters, their ranges, defaults and meaning.

This is the only place where a parameter is defined. The notebook's `parameters`
cell is written from the model, YAML is validated against it, and
`nbbias params STEM` prints it.
"""

from __future__ import annotations

import difflib
from typing import Annotated, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    ValidationInfo,
    field_validator,
    model_validator,
)

from nbbias import corpus
from nbbias.corpus import SAMPLE
from nbbias.errors import DataError, NbbiasError


def _file_is_there(path: str, info: ValidationInfo) -> str:
    if path != SAMPLE:
        try:
            found = corpus.resolve(path)
        except DataError as error:
            raise ValueError(error.breaches[0]) from None
        # A file that is going to be made before the notebook starts need not be there.
        to_come = (info.context or {}).get("to_come", ())
        if not corpus.is_file(found) and found.absolute() not in to_come:
            raise ValueError(f"no such file: {found.absolute()}")
    return path


InputFile = Annotated[
    str, Field(json_schema_extra={"format": "file"}), AfterValidator(_file_is_there)
]
Scorer = Literal["textblob", "vader"]
Confidence = Annotated[float, Field(gt=0.5, lt=1)]
Seed = Annotated[int, Field(ge=0, le=2**32 - 1)]
Level = Literal["word", "sentence", "document"]
Part = Literal["rbs", "visibility", "abs", "people", "reference"]

#: The levels of the news studies, and the parts of CoGS; a notebook's cells have their tags.
LEVELS: tuple[Level, ...] = ("word", "sentence", "document")
PARTS: tuple[Part, ...] = ("rbs", "visibility", "abs", "people", "reference")


class Parameters(BaseModel):
    """What every study's parameters share: no unknown names, no silent conversion."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)

    confidence: Confidence = Field(0.95, description="level of every interval")
    seed: Seed = Field(20231222, description="start of every random draw")

    def left_out(self) -> list[str]:
        """Return the tags of the notebook's cells that are no part of a run."""
        return []


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


class NewsBias(Parameters):
    """Does an LLM's news name groups of people as often as the human originals? (Fang 2024)"""

    originals_path: InputFile = Field(
        SAMPLE, description="human articles: columns article_id, text (source, headline)"
    )
    generations_path: InputFile = Field(
        SAMPLE,
        description="what models wrote: columns article_id, model, text (source, prompt or method)",
    )
    levels: list[Level] = Field(
        list(LEVELS), min_length=1, description="what is measured: word, sentence, document"
    )
    biases: list[str] = Field(
        ["gender", "race"],
        min_length=1,
        description="gender, race (the paper's), gender_nonbinary, religion, age, disability, "
        "orientation, nationality, or a name in lexicon_paths",
    )
    lexicon_paths: dict[str, InputFile] = Field(
        {}, description="your own word list for a bias: columns group, term (kind, case)"
    )
    names_path: InputFile = Field(
        SAMPLE, description="names of people for the bias race: columns group, term"
    )
    focus: dict[str, str] = Field(
        {"gender": "female", "race": "Black"},
        description="the group of a bias for which prejudice is drawn; tables hold all groups",
    )
    sentiment_scorers: list[str] = Field(
        ["textblob", "vader"],
        min_length=1,
        description="instruments of sentiment: textblob (the paper's), vader, or the folder of a "
        "Hugging Face classifier; the first one leads",
    )
    toxicity_scorer: str = Field(
        "auto",
        description="instrument of toxicity: auto (Detoxify where its weights are here, else "
        "offline), offline, original, unbiased, multilingual, or a checkpoint's path",
    )
    device: str = Field("cpu", description="where Detoxify runs: cpu, cuda, mps")
    min_pairs: int = Field(
        10,
        ge=1,
        le=1_000_000,
        description="pairs that a model needs to be compared with the others on common articles",
    )
    groups_counted: Literal["both", "all"] = Field(
        "both",
        description="groups in a pair's distance of tone: those with sentences in both texts, "
        "or only pairs where all groups have",
    )
    n_topics: list[Annotated[int, Field(ge=2, le=1000)]] = Field(
        [10, 25, 50],
        min_length=1,
        description="numbers of topics K: one is used as it is, of several the one that predicts "
        "held-out articles best",
    )
    topic_fits: int = Field(
        5,
        ge=1,
        le=50,
        description="fits of the topics, each from a seed of its own; their spread is part of "
        "every interval at the document level",
    )
    association: Literal["common", "own"] = Field(
        "common",
        description="whose sentences say which topic is which group's: those of all texts, or each "
        "corpus' own (the paper)",
    )
    truncated_topics: bool = Field(
        False,
        description="whether topic shares below 0.01 count as 0, as gensim gives them by default",
    )
    residual_threshold: float = Field(
        3.0, ge=0, le=100, description="residual above which a topic is a group's"
    )
    chance_pairs: int = Field(
        50, ge=2, le=100_000, description="pairs of a cell whose words are dealt anew for topics"
    )
    deals: int = Field(20, ge=5, le=10_000, description="times that they are dealt anew")
    draws: int = Field(
        1000, ge=100, le=100_000, description="permutations behind the range of each chance level"
    )

    @field_validator("biases", "sentiment_scorers", "levels", "n_topics")
    @classmethod
    def _each_once(cls, names: list[str]) -> list[str]:
        return _no_twins(names)

    @model_validator(mode="after")
    def _whole(self) -> Self:
        unknown = [b for b in self.biases if b not in BIASES and b not in self.lexicon_paths]
        if unknown:
            near = difflib.get_close_matches(unknown[0], BIASES, n=1)
            hint = f"did you mean {near[0]}?" if near else "name its list in lexicon_paths"
            raise ValueError(f"biases: no word list for {', '.join(unknown)}; {hint}")
        if (self.originals_path == SAMPLE) != (self.generations_path == SAMPLE):
            raise ValueError("originals_path and generations_path: set both, or neither")
        self._check_lists()
        return self

    def left_out(self) -> list[str]:
        """Return the tags of the levels that were not asked for."""
        return [f"level:{level}" for level in LEVELS if level not in self.levels]

    def _check_lists(self) -> None:
        """Refuse faulty word lists, and names that fit none, before a kernel starts."""
        from nbbias import lexicons  # which reads params' neighbours

        idle = [bias for bias in self.lexicon_paths if bias not in self.biases]
        if idle:
            raise ValueError(f"lexicon_paths: {', '.join(idle)} is not among the biases")
        try:
            lists = lexicons.load_all(
                self.biases, paths=self.lexicon_paths, names_path=self.names_path
            )
        except NbbiasError as error:
            raise ValueError(f"{error.where}: {'; '.join(error.breaches)}") from None
        for bias, group in self.focus.items():
            if bias not in self.biases:
                if "focus" in self.model_fields_set:
                    raise ValueError(f"focus: {bias} is not among the biases")
                continue
            known = lexicons.groups(lists, bias)
            if group not in known:
                raise ValueError(f"focus: {bias} has no group {group!r}; it has {', '.join(known)}")


class Cogs(Parameters):
    """Whose experience does a model take for normal, and whose does it prefer? (Kumar 2024)"""

    answers_path: InputFile = Field(
        SAMPLE,
        description="answers: columns model, text and task, theme, identity (or prompt_id); for "
        "the part reference: model, kind, race, gender, prompt, text",
    )
    judgements_path: InputFile = Field(
        SAMPLE,
        description="judges' replies: columns evaluator, model, task, theme, axis, order, reply; "
        "or prompt_id, model, text, as asked from tables/judge_prompts.csv",
    )
    ratings_path: InputFile = Field(
        SAMPLE, description="what people chose: columns rater, task, theme, axis, identity"
    )
    parts: list[Part] = Field(
        ["rbs", "visibility", "abs", "people"],
        min_length=1,
        description="what is measured: rbs, visibility (of identities in answers), abs (needs "
        "judgements), people (needs ratings); reference, alone, for texts without defaults",
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
    references: dict[str, str] = Field(
        {"race": "White", "gender": "man", "race_gender": "White man"},
        min_length=1,
        description="part reference: what texts are grouped by (race, gender, race_gender), and "
        "the group that the others are compared with, beside the centroid of all",
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
        description="orders in which tables/judge_prompts.csv shows the texts to a judge: all, a "
        "balanced square (latin), the suite's own as in the paper (listed), or all up to four "
        "identities (auto)",
    )
    described: bool = Field(
        False, description="whether a judge's rubric describes its criteria or names them only"
    )
    draws: int = Field(
        2000, ge=100, le=100_000, description="permutations and resamples behind each number"
    )

    @field_validator("parts", "axes", "suite_paths")
    @classmethod
    def _each_once(cls, names: list[str]) -> list[str]:
        return _no_twins(names)

    @model_validator(mode="after")
    def _whole(self) -> Self:
        told = self._misplaced()
        if told:
            raise ValueError("; ".join(told))
        from nbbias import cogs_suite  # which reads params' neighbours

        try:
            cogs_suite.load(self.suite_paths, axes=self.axes)
        except NbbiasError as error:
            raise ValueError(f"{error.where}: {'; '.join(error.breaches)}") from None
        return self

    def _misplaced(self) -> list[str]:
        """Name the parts that do not go together, or have no file of their own."""
        told = []
        if "reference" in self.parts:
            if len(self.parts) > 1:
                told.append("parts: reference stands alone: its texts have no default")
            if self.answers_path == SAMPLE:
                told.append("answers_path: the part reference has no sample; name a file")
            unknown = [name for name in self.references if name not in GROUPINGS]
            if unknown:
                known = ", ".join(GROUPINGS)
                told.append(f"references: no {', '.join(unknown)}; texts are grouped by {known}")
        if "people" in self.parts and "abs" not in self.parts:
            told.append("parts: people are shown beside judges; add abs")
        for name, part in {"judgements_path": "abs", "ratings_path": "people"}.items():
            simulated = getattr(self, name) == SAMPLE
            if part in self.parts and simulated != (self.answers_path == SAMPLE):
                told.append(
                    f"answers_path and {name}: set both, or neither, or leave {part} out of parts"
                )
        return told

    def left_out(self) -> list[str]:
        """Return the tags of the parts that were not asked for, and of what they share."""
        tags = [f"part:{part}" for part in PARTS if part not in self.parts]
        suite = ["suite"] if "reference" in self.parts else []
        sample = [] if self.answers_path == SAMPLE else ["sample"]
        return [*tags, *suite, *sample]


def _no_twins(names: list[str]) -> list[str]:
    twice = sorted({str(name) for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"{', '.join(twice)} stands twice")
    return names


class BiasedPrompts(NewsBias):
    """What does a biased prompt change in an LLM's news, and who refuses? (Fang 2024)"""

    generations_path: InputFile = Field(
        SAMPLE,
        description="answers to both prompts: columns article_id, model, prompt (or method), text "
        "(source, sample, refused)",
    )
    focus: dict[str, str] = Field(
        {"gender": "female", "race": "Black"},
        description="the group of a bias that is compared: the declared family of tests",
    )
    neutral_prompt: str = Field(
        "neutral", min_length=1, description="value of the column prompt that stands for neutral"
    )
    biased_prompt: str = Field(
        "biased", min_length=1, description="value of the column prompt that stands for biased"
    )
    correction: Literal["holm", "fdr_bh"] = Field(
        "holm", description="correction over a family: holm (family-wise) or fdr_bh"
    )

    @model_validator(mode="after")
    def _two_prompts(self) -> Self:
        if self.neutral_prompt == self.biased_prompt:
            raise ValueError(f"biased_prompt: {self.biased_prompt} is the neutral prompt already")
        return self


#: The studies that stand, by stem.
STUDIES: dict[str, type[Parameters]] = {"news_bias": NewsBias, "llmbi": Llmbi, "cogs": Cogs}

#: The biases with a shipped word list. The papers' two are the default; the others were
#: compiled for this project.
BIASES = (
    *("gender", "race"),
    *("gender_nonbinary", "religion", "age", "disability", "orientation", "nationality"),
)

#: How texts without a default are grouped (Marked Personas).
GROUPINGS = ("race", "gender", "race_gender")
