"""The study without a notebook: simulated studies in, tables out."""

from __future__ import annotations

from typing import Any

from nbbias import params, tables
from nbbias.calibration import estimates as of, grid
from nbbias.calibration.params import Calibration
from nbbias.stats import InferenceSettings
from nbbias.tables import Measured


def measure(**parameters: Any) -> Measured:
    """Calibrate the package's measures: the tables of a run, without a notebook.

    Parameters
    ----------
    **parameters
        As a params file of the study sets them (`nbbias params calibration`).

    Returns
    -------
    Measured
        `estimates` (equal to a run's); `scores`, what the repeats of each design gave; `losses`,
        the designs that could not be simulated; there is no CHANCE.

    Raises
    ------
    NbbiasError
        Parameters are not as they must be.

    Examples
    --------
    >>> from nbbias import calibration
    >>> found = calibration.measure(
    ...     measures=["cogs/rbs_tasks"], n=[10], repeats=4, lead_repeats=0, draws=20
    ... )
    >>> set(found.estimates["dimension"])
    {'rbs tasks'}
    """
    with params.validate_inputs(Calibration, parameters) as chosen:
        pass
    designs = grid.designs(
        chosen.measures,
        n=chosen.n,
        repeats=chosen.repeats,
        lead_n=chosen.lead_n,
        lead_repeats=chosen.lead_repeats,
    )
    inference = InferenceSettings(chosen.confidence, chosen.draws, chosen.seed)
    outcomes, leads = (
        grid.simulate(designs[designs["of"] == of_], inference=inference)
        for of_ in ("trial", "lead")
    )
    found = of.estimates(outcomes, leads, confidence=chosen.confidence)
    nothing = tables.chance([], study="calibration")
    return Measured(found, nothing, outcomes, grid.left_out(designs, [outcomes, leads]))
