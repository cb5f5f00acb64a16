"""The parameters of the calibration, and the record that is the study."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from nbbias import params
from nbbias.params import Claims, Distinct, Parameters

#: The tolerance of coverage and false positives: 93 to 97% of 95%, 3 to 7% of 5%.
TOLERANCE = 0.02

Repeats = Annotated[int, Field(ge=2, le=100_000)]
Numbers = Distinct[Annotated[int, Field(ge=2, le=100_000)]]


class Calibration(Parameters):
    """How often is each measure wrong, and which effects can it detect? (Gelman and Carlin 2014)

    Examples
    --------
    >>> Calibration().repeats
    8
    """

    statistics = params.named_statistics("calibration")

    claims: Claims = Field(
        [
            {"measure": "interval", "statistic": "coverage_error", "smallest_effect": TOLERANCE},
            {"measure": "test", "statistic": "false_positive_error", "smallest_effect": TOLERANCE},
            {"measure": "family", "statistic": "familywise_error"},
        ]
    )
    measures: Distinct[str] = Field([], description="which measures, as study/name; [] for all")
    n: Numbers = Field(
        [10, 80],
        min_length=1,
        description="numbers of articles, prompts or texts; each measure takes the nearest it has",
    )
    repeats: Repeats | dict[str, Repeats] = Field(
        8, description="simulated studies of each design, scaled by measure; or numbers by measure"
    )
    family_n: Numbers = Field([30], description="the same, for runs of several models")
    family_repeats: int = Field(
        2, ge=0, le=100_000, description="simulated runs of each design; 0 for none"
    )


STUDY = params.Study(
    stem="calibration",
    parameters=Calibration,
    module="nbbias.calibration",
    units=params.Units({}, "simulated studies"),
    sample=params.shipped_texts("calibration"),
)
