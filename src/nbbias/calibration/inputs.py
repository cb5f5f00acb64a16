"""What a calibration is asked to do, checked before anything starts."""

from __future__ import annotations

from typing import Any

import pandas as pd

from nbbias import params, tables
from nbbias.calibration import measures
from nbbias.calibration.estimates import in_words
from nbbias.tables import NbbiasError


def check(given: Any) -> list[str]:
    """Refuse measures that are not there, and claims on those that are not chosen."""
    problems: list[NbbiasError] = []
    found = tables.attempt(problems, measures.chosen, given.measures)
    if found is not None:
        rows = [(in_words(one.study), in_words(one.name)) for one in found.values()]
        cells = pd.DataFrame(rows, columns=["source", "dimension"], dtype="str")
        tables.attempt(problems, params.check_claims, given, [cells])
    tables.refuse(problems)
    return []
