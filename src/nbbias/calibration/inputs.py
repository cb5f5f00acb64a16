"""What a calibration is asked to do, checked before anything starts."""

from __future__ import annotations

from typing import Any

import pandas as pd

from nbbias import params, tables
from nbbias.calibration import measures
from nbbias.tables import NbbiasError


def check(given: Any) -> list[str]:
    """Refuse measures that are not there, and claims on those that are not chosen."""
    problems: list[NbbiasError] = []
    found = tables.attempt(problems, measures.chosen, given.measures)
    told = []
    if found is not None:
        rows = [(one.study, one.name) for one in found.values()]
        cells = pd.DataFrame(rows, columns=["source", "dimension"], dtype="str")
        tables.attempt(problems, params.claims_hold, given, [cells])
        without = [name for name, one in found.items() if not set(one.n) & set(given.n)]
        told = [f"{name}: has none of these numbers of units (n)" for name in without]
        if len(without) == len(found):
            problems.append(tables.ParameterError("n", "no measure has any of these numbers"))
    tables.refuse(problems)
    return told
