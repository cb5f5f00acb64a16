"""What the parameters of every study share: strictness, input files, intervals and seeds."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationInfo

from nbbias import tables
from nbbias.tables import SAMPLE, DataError


def _file_is_there(path: str, info: ValidationInfo) -> str:
    if path != SAMPLE:
        try:
            found = tables.resolve(path)
        except DataError as error:
            raise ValueError(error.breaches[0]) from None
        # A file that is going to be made before the notebook starts need not be there.
        to_come = (info.context or {}).get("to_come", ())
        if not tables.is_file(found) and found.absolute() not in to_come:
            raise ValueError(f"no such file: {found.absolute()}")
    return path


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
Confidence = Annotated[float, Field(gt=0.5, lt=1)]
Seed = Annotated[int, Field(ge=0, le=2**32 - 1)]


class Parameters(BaseModel):
    """What every study's parameters share: no unknown names, no silent conversion."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)

    confidence: Confidence = Field(0.95, description="level of every interval")
    seed: Seed = Field(20231222, description="start of every random draw")

    def left_out(self) -> list[str]:
        """Return the tags of the notebook's cells that are no part of a run."""
        return []


def no_twins(names: list[str]) -> list[str]:
    """Return the names, or refuse those that stand twice."""
    twice = sorted({str(name) for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"{', '.join(twice)} stands twice")
    return names
