"""The study's pipeline: simulated studies in, tables out."""

from __future__ import annotations

from typing import Any, NamedTuple

import pandas as pd

from nbbias import params, reading
from nbbias.calibration import designs, estimates
from nbbias.calibration.params import Calibration
from nbbias.stats import InferenceSettings


class Results(NamedTuple):
    """What was measured, one table each; a run saves them under these names.

    Attributes
    ----------
    estimates : DataFrame
        ESTIMATES: coverage, false-positive and familywise errors.
    designs : DataFrame
        What was simulated (`designs.list_designs`).
    outcomes : DataFrame
        Coverage, power and bias of each design and statistic (`calibration.outcomes`).
    families : DataFrame
        False claims of whole runs (`calibration.family_errors`).
    minimum_detectable_effects : DataFrame
        By statistic and number of units, with errors of sign and magnitude.
    """

    estimates: pd.DataFrame
    designs: pd.DataFrame
    outcomes: pd.DataFrame
    families: pd.DataFrame
    minimum_detectable_effects: pd.DataFrame

    def _repr_html_(self) -> str:
        return reading.results_html(self)


def measure(**parameters: Any) -> Results:
    """Calibrate the package's measures.

    Parameters
    ----------
    **parameters
        As a params file of the study sets them (`nbbias params calibration`).

    Raises
    ------
    NbbiasError
        Parameters are not as they must be.

    Examples
    --------
    >>> from nbbias import calibration
    >>> results = calibration.measure(
    ...     measures=["cogs/rbs"], n=[10], repeats=4, family_repeats=0, draws=20
    ... )
    >>> set(results.estimates["dimension"])
    {'rbs'}
    """
    with params.validate_inputs(Calibration, parameters) as chosen:
        table = designs.list_designs(
            chosen.measures,
            n=chosen.n,
            repeats=chosen.repeats,
            family_n=chosen.family_n,
            family_repeats=chosen.family_repeats,
        )
    inference = InferenceSettings(chosen.confidence, chosen.draws, chosen.seed)
    outcomes, families = (
        designs.simulate(table[table["kind"] == kind], inference=inference)
        for kind in ("trial", "family")
    )
    return Results(
        estimates.estimates(outcomes, families, confidence=chosen.confidence),
        table,
        outcomes,
        families,
        estimates.minimum_detectable_effects(outcomes),
    )
