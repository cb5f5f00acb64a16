"""A study's measures without a notebook: by its name, its files and ``name=value`` pairs."""

from __future__ import annotations

import pkgutil
from collections.abc import Sequence

import pandas as pd

from nbbias import params, reading, studies
from nbbias.params import CLAIM_KEYS
from nbbias.running import user_files
from nbbias.tables import Measured, ParameterError, attempt_all

#: Rows that are printed; a folder gets all.
_PRINTED = 30


def measure(stem: str, files: Sequence[str] = (), overrides: Sequence[str] = ()) -> Measured:
    """Measure what a study measures, as `tables.Measured`.

    Parameters
    ----------
    stem
        The study.
    files
        Its texts, in the order of its inputs; encodings and columns are recognised.
    overrides
        ``name=value`` pairs.

    Raises
    ------
    NbbiasError
        All that is wrong with names, parameters and files.
    """
    study = studies.study(stem, where="nbbias measure")
    if not study.measure:
        raise ParameterError("nbbias measure", f"{stem} measures in its notebook only: nbbias run")
    inputs = user_files.assign_inputs(study, files)
    values = {**inputs, **dict(attempt_all(params.override, overrides))}
    result: Measured = pkgutil.resolve_name(study.measure)(**values)
    return result


def readable_estimates(result: Measured) -> tuple[pd.DataFrame, str]:
    """Return the first estimates as a table for readers, and its note."""
    estimates = result.estimates.replace({"": None})
    table = reading.readable(estimates, CLAIM_KEYS, rows=_PRINTED)
    for column in {"p_value", "p_adjusted"} & set(table.rows.select_dtypes("number")):
        table.rows[column] = table.rows[column].map(reading.p_in_table, na_action="ignore")
    return table.rows.rename(columns=table.labels or {}), table.note or ""
