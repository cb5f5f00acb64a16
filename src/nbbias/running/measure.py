"""A study's measures without a notebook: by its name, its files and ``name=value`` pairs."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from nbbias import params, studies
from nbbias.reading import claims, names, significance
from nbbias.reading.tables import labelled
from nbbias.running import user_files
from nbbias.tables import attempt_all

#: Rows that are printed, of the claims and of each model; a run's folder gets all.
_CLAIMS, _PRINTED = 12, 5


def measure(
    stem: str, files: Sequence[str] = (), overrides: Sequence[str] = ()
) -> tuple[pd.DataFrame, params.Parameters]:
    """Measure what a study measures; return its ESTIMATES, and the parameters.

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
    inputs = user_files.assign_inputs(study, files)
    values = {**inputs, **dict(attempt_all(params.override, overrides))}
    chosen = params.validate(study.parameters, values, where=stem)
    return study.measure(**values).estimates, chosen


def readable_estimates(
    estimates: pd.DataFrame, chosen: params.Parameters
) -> tuple[dict[str, pd.DataFrame], str]:
    """Return tables by heading, the claims first, then each model's smallest p; and a note."""
    declared = claims.declared(estimates, chosen.claims, confidence=chosen.confidence)
    whole = claims.with_claims(estimates, declared)
    rest = whole[whole[claims.CLAIM].isna()] if len(declared) else whole
    pre_specified = chosen.pre_specified(dict(chosen))
    if not pre_specified:  # a study's own claims lead where the run has rows for them
        declared = declared[~declared["reason"].str.startswith(claims.NOT_HERE, na=False)]
    title = claims.TITLES[pre_specified]
    shown = {title: _in_words(declared, _CLAIMS)} if len(declared) else {}
    for model, rows in rest.groupby(rest["model"].fillna("all"), sort=False):
        shown[f"Exploratory: {model}"] = _in_words(rows.assign(model=None), _PRINTED)
    more = len(declared) + len(rest) - sum(map(len, shown.values()))
    note = "p: Holm-adjusted, over all pre-specified tests, or all estimates of the same statistic."
    note += " Intervals of significant pre-specified tests are selection-adjusted."
    return shown, f"{note} Not shown: {more:,} more, which `nbbias run` saves." if more else note


def _in_words(rows: pd.DataFrame, most: int) -> pd.DataFrame:
    """Return the rows of ESTIMATES with the smallest p, in the names and units of the pages."""
    order = significance.adjusted_p(rows).argsort(kind="stable")
    rows = rows.iloc[order[:most]]
    labels = pd.Series([names.label(row, rows) for row in rows.to_dict("records")], rows.index)
    for key in ("statistic", "instrument"):  # of equal names what tells them apart
        labels = labels.where(~labels.duplicated(keep=False), labels + ", " + rows[key])
    table = labelled(rows, labels.to_list())
    return table.rows.rename(columns={**(table.labels or {}), "statistic": ""})
