"""The study's pipeline: simulated studies in, tables out."""

from __future__ import annotations

from typing import Any, NamedTuple

import pandas as pd

from nbbias import params, reading
from nbbias.calibration import designs, estimates
from nbbias.calibration.params import Calibration


class Results(NamedTuple):
    """Tables that `measure` returns; a run saves them under these names.

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
    """Simulate studies with a known truth, and measure how often intervals and tests are wrong.

    Parameters
    ----------
    **parameters
        As a params file of the study sets them; `nbbias params calibration` lists them.

    Returns
    -------
    Results
        A tuple of DataFrames. `estimates` (ESTIMATES) has an estimate a row: the study, measure and
        statistic that were simulated (`source`, `dimension`, `task`), `topic` (the number of units)
        or `prompt` (the scenario) where it is of one alone, then `estimate`, `ci_low`, `ci_high`
        and `n`, the number of simulated studies. Coverage errors are -1 to 1 and nominally 0, below
        0 where intervals are too narrow. See `Results` for the other tables.

    Raises
    ------
    NbbiasError
        Parameters or tables are invalid; the message lists every error.

    Notes
    -----
    Coverage is the share of simulated studies whose interval contains the true value, the
    false-positive rate the share of significant tests where the true effect is 0, power where it is
    not. Among significant estimates the sign error is the share with the wrong sign, the magnitude
    error the mean ratio of estimate to true effect.

    References
    ----------
    - A. Gelman and J. Carlin (2014). Beyond power calculations: assessing type S (sign) and
      type M (magnitude) errors. Perspectives on Psychological Science 9:641-651.

    Examples
    --------
    >>> from nbbias import calibration
    >>> results = calibration.measure(
    ...     measures=["cogs/rbs"], n=[10], repeats=4, family_repeats=0
    ... )
    >>> set(results.estimates["dimension"])
    {'rbs'}
    """
    with params.validate_inputs(Calibration, parameters) as chosen:
        table = designs.list_designs(chosen)
    level = chosen.confidence
    outcomes, families = (
        designs.simulate(table[table["kind"] == kind], confidence=level, seed=chosen.seed)
        for kind in ("trial", "family")
    )
    errors = estimates.estimates(outcomes, families, confidence=level)
    detectable = estimates.minimum_detectable_effects(outcomes, confidence=level)
    return Results(errors, table, outcomes, families, detectable)
