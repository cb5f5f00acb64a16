"""What every study is and has: a record, strict parameters, input files, intervals and seeds."""

from __future__ import annotations

import os
import pkgutil
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, NamedTuple, TypeVar

import pandas as pd
from pydantic import AfterValidator, BaseModel, Field, ValidationInfo, field_validator

from nbbias import tables
from nbbias.params.claims import Claims, claim_breaches
from nbbias.tables import CONFIDENCE, SAMPLE, DataError, datasets
from nbbias.text import toxicity


def _file_is_there(path: str, info: ValidationInfo) -> str:
    if path != SAMPLE:
        try:
            resolved = tables.resolve(path)
        except DataError as error:
            raise ValueError(error.breaches[0] + datasets.advise(path)) from None
        # A file that is going to be made before the notebook starts need not be there.
        to_come = (info.context or {}).get("to_come", ())
        if not tables.is_file(resolved) and os.path.realpath(resolved) not in to_come:
            raise ValueError(f"no such file: {resolved.absolute()}{suggest_path(path)}")
    return path


def suggest_path(path: str) -> str:
    """Say that a relative path lies in the current folder, or which command brings it, or nothing.

    Examples
    --------
    >>> suggest_path("nowhere.csv")
    ''
    """
    if not (start := os.environ.get(tables.START)) or not tables.is_file(Path(path)):
        return datasets.advise(path)
    right = tables.written_from(path, start=Path.cwd(), to=Path(start))
    return f" (paths start at the folder of the params file; of the one here, write {right})"


#: What stands for no file at all, where a study can do without.
NONE = "none"


def _file_or_none(path: str, info: ValidationInfo) -> str:
    return path if path == NONE else _file_is_there(path, info)


InputFile = Annotated[
    str, Field(json_schema_extra={"format": "file"}), AfterValidator(_file_is_there)
]
OptionalFile = Annotated[
    str, Field(json_schema_extra={"format": "file or none"}), AfterValidator(_file_or_none)
]
#: A model's name, or the folder or file of one.
ModelName = Annotated[str, Field(min_length=1, json_schema_extra={"format": "name or folder"})]
Confidence = Annotated[float, Field(gt=0.5, lt=1)]
Seed = Annotated[int, Field(ge=0, le=2**32 - 1)]
#: Permutations and resamples.
Draws = Annotated[int, Field(ge=100, le=100_000)]
Device = Annotated[
    str,
    Field(
        pattern=r"^(cpu|mps|cuda(:\d+)?)$",
        description="where PyTorch runs models: cpu, cuda or mps",
    ),
]
EmbeddingModel = Annotated[
    ModelName,
    Field(
        description="auto (all-mpnet-base-v2 where its weights are here, else offline), offline, "
        "all-mpnet-base-v2, or the folder of a sentence-transformers model"
    ),
]
ToxicityScorer = Annotated[ModelName, Field(description=f"scorer of toxicity: {toxicity.CHOICES}")]


def _require_distinct(names: list[Any]) -> list[Any]:
    """Return the names; refuse repeated ones."""
    if twice := sorted(str(name) for name, times in Counter(names).items() if times > 1):
        raise ValueError(f"{', '.join(twice)} occurs twice")
    return names


T = TypeVar("T")
#: A list without repeats.
Distinct = Annotated[list[T], AfterValidator(_require_distinct)]


class Strict(BaseModel, extra="forbid", strict=True, frozen=True, allow_inf_nan=False):
    """No unknown names, no silent conversion."""


class Parameters(Strict):
    """What every study's parameters share: no unknown names, no silent conversion.

    `statistics` are those that a claim can be about, by measure (`claims.named_statistics`).
    """

    statistics: ClassVar[Mapping[str, tuple[str, ...]]] = {}

    claims: Claims = Field([])

    confidence: Confidence = Field(
        CONFIDENCE, description="level of intervals; p values below 1 minus it are significant"
    )
    seed: Seed = Field(20231222, description="start of every random draw")

    @classmethod
    def default_claims(cls, values: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Return the claims of a run with these parameters that sets none of its own."""
        return list(cls.model_fields["claims"].default)

    @classmethod
    def pre_specified(cls, values: Mapping[str, Any]) -> bool:
        """Tell whether the claims among some parameters are a user's own, and not the study's."""
        return bool(values["claims"]) and values["claims"] != cls.default_claims(values)

    @field_validator("claims")
    @classmethod
    def _claims_are_of_this_study(cls, claims: list[dict[str, Any]]) -> list[dict[str, Any]]:
        if problems := claim_breaches(claims, statistics=cls.statistics):
            raise ValueError("; ".join(problems))
        return claims

    def left_out(self) -> dict[str, str]:
        """Return the tags of cells that are no part of a run, each with what leaves it out."""
        return {}

    def unread(self) -> set[str]:
        """Return the parameters that name files which a run's parts do not read."""
        return set()

    def needs(self) -> dict[str, tuple[str, ...]]:
        """Return the packages that a run needs beside the package's own, by parameter."""
        return {}


class Texts(NamedTuple):
    """Where a run's texts are from: `kind` is simulated, hand-written, dataset or own.

    `told` says it in words.

    Examples
    --------
    >>> Texts("own", "answers.csv").kind
    'own'
    """

    kind: str
    told: str


def shipped_texts(study: str) -> Texts:
    """Return what is said of the texts of a study's sample: ``words/samples.csv``.

    Examples
    --------
    >>> shipped_texts("llmbi").kind
    'hand-written'
    """
    return Texts(*tables.read_shipped_table("words/samples.csv").set_index("study").loc[study])


class MainEstimate(NamedTuple):
    """An estimate that stands for its study where models are shown side by side, and its null."""

    measure: str
    statistic: str
    null_is: str = "by chance"


class Units(NamedTuple):
    """The independent units whose values a study saves (UNITS), so that runs are paired.

    `worse` says of a statistic where it gets worse (`stats.noninferiority_test`): ``"higher"``,
    ``"lower"``, or ``"apart"``, further from 0 on either side; others have no such direction
    (`worse_directions` of the studies that are shipped).
    `called` is what people call the units. `answers` names the parameters whose files hold what
    models answered: two runs that read the same ones asked nobody in between.
    """

    worse: Mapping[str, str]
    called: str = "units"
    answers: tuple[str, ...] = ("generations_path",)


#: What a run on texts of one's own sets: a value, and why.
Settings = dict[str, tuple[Any, str]]


class Study(NamedTuple):
    """A study: what `nbbias.studies` lists once, and notebooks, pages and commands go by.

    Attributes
    ----------
    stem
        Names its notebook, params, figures and tests.
    parameters
        Its strict model; the study's question is the first line of the model's docstring.
    module
        The module or package that holds the study's functions `check` and `measure`, loaded when
        they are called.
    main_estimates
        The estimates that stand for it where models are compared.
    prompts
        Suites to ask models, by name: given a path, `prompt_id`, `prompt` and columns of its own.
    at_temperatures
        Whether answers at several temperatures are distinguished.
    units
        Of whose values its means are, by which two runs are compared.
    inputs, sample
        The parameters that name the files of its texts, and where the shipped texts are from.
    choose_settings
        Returns parameters for texts of one's own, with the reason, by the rows of each input.
    """

    stem: str
    parameters: type[Parameters]
    module: str
    main_estimates: tuple[MainEstimate, ...] = ()
    prompts: Mapping[str, Callable[[str], pd.DataFrame]] = MappingProxyType({})
    at_temperatures: bool = False
    units: Units | None = None
    inputs: tuple[str, ...] = ()
    sample: Texts = Texts("simulated", "The texts of the sample are simulated.")
    choose_settings: Callable[[Mapping[str, int]], Settings] = lambda _: {}

    @property
    def question(self) -> str:
        """What the study asks: the first line of its parameters' docstring."""
        return (self.parameters.__doc__ or "").strip().splitlines()[0]

    def check(self, chosen: Parameters) -> list[str]:
        """Read every file that parameters name, by the functions that the notebook calls.

        Raises one NbbiasError for all that makes a run impossible; returns sentences on what is
        excluded.
        """
        return list(pkgutil.resolve_name(f"{self.module}:check")(chosen))

    def measure(self, **parameters: Any) -> Any:
        """Run the study without a notebook: texts and parameters in, a NamedTuple of tables out."""
        return pkgutil.resolve_name(f"{self.module}:measure")(**parameters)
