"""The parameters of the calibration, and the record that is the study."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from pydantic import AfterValidator, Field

from nbbias.params import Claims, Parameters, Study, Texts, Units, require_distinct

#: By how much coverage and false positives may miss their level before it matters: 93 to 97% of
#: 95%, 3 to 7% of 5%.
BAND = 0.02


Numbers = Annotated[list[Annotated[int, Field(ge=2, le=100_000)]], AfterValidator(require_distinct)]


class Calibration(Parameters):
    """How often is each measure wrong, and what can it see? (Gelman 2014)

    Examples
    --------
    >>> Calibration().repeats
    200
    """

    statistics: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "interval": ("coverage_error",),
        "test": ("false_positive_error",),
        "lead": ("false_lead_error",),
    }

    claims: Claims = Field(
        [
            {"measure": "interval", "statistic": "coverage_error", "smallest_effect": BAND},
            {"measure": "test", "statistic": "false_positive_error", "smallest_effect": BAND},
            {"measure": "lead", "statistic": "false_lead_error"},
        ]
    )
    measures: Annotated[list[str], AfterValidator(require_distinct)] = Field(
        [], description="which measures, as study/name; [] for all"
    )
    n: Numbers = Field(
        [10, 30, 80, 400],
        min_length=1,
        description="numbers of articles, prompts or texts; each measure takes the nearest it has",
    )
    repeats: int = Field(200, ge=2, le=100_000, description="simulated studies of each design")
    lead_n: Numbers = Field(
        [10, 80], description="the same of whole simulated pages, whose first sentence is read"
    )
    lead_repeats: int = Field(
        40, ge=0, le=100_000, description="simulated pages of each design; 0 for none"
    )
    printed: bool = Field(
        True, description="put chance beside the distances that Fang et al. 2024 print"
    )
    draws: int = Field(
        200, ge=20, le=100_000, description="resamples and permutations in each simulated study"
    )

    def left_out(self) -> dict[str, str]:
        """Return the tags of cells that are no part of a run, each with what leaves it out."""
        return {} if self.printed else {"part:printed": "printed"}


def _check(given: Any) -> list[str]:
    from nbbias.calibration import inputs  # which takes a while to load

    return inputs.check(given)


def _units() -> Units:
    from nbbias.calibration import units

    return Units(units.values, {}, "simulated studies")


STUDY = Study(
    stem="calibration",
    parameters=Calibration,
    check=_check,
    measure="nbbias.calibration.measured:measure",
    units=_units,
    sample=Texts(
        "simulated",
        "Nobody's texts are read: studies with a known truth are simulated, and the package's own "
        "measures are applied to them.",
    ),
)
