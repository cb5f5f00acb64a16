"""The sample size that a claim of a study needs, by power formulas, and what asking costs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import pandas as pd

from nbbias import calibration, params, studies, tables
from nbbias.running.plan import combine_values

#: Results in each row, after its assumptions; what asking costs is the end of them.
_COSTS = ("calls", "tokens_in", "tokens_out", "cost")
RESULTS = ("n", "reached", *_COSTS)
#: Values of a row that are no assumptions about what is measured.
_SETTINGS = ["claim", "units", "effect", "power", "input_price", "output_price"]


def plan_sample_size(stem: str, overrides: Sequence[str] = ()) -> pd.DataFrame:
    """Compute how many units a claim of a study needs, and what they cost to ask.

    Parameters
    ----------
    stem
        The study.
    overrides
        ``name=value`` pairs: assumptions; several values make a row for each combination.
        ``claim`` chooses the claim.

    Returns
    -------
    DataFrame
        A row for each combination: its assumptions, and `RESULTS`. `n` is missing where no number
        of units reaches the power.

    Raises
    ------
    ParameterError
        All that is wrong with names and values.

    Examples
    --------
    >>> rows = plan_sample_size("news_bias", ["effect=-0.1,-0.2"])
    >>> list(rows["n"] > 10)
    [True, True]
    """
    row = partial(_row, stem, _claims(stem))
    return pd.DataFrame(tables.attempt_all(row, combine_values(overrides)))


def _claims(stem: str) -> dict[str, type[calibration.planning.Plan]]:
    """Return the claims of a study that can be planned, by name."""
    where = f"nbbias plan {stem}"
    claims = calibration.planning.PLANS.get(studies.study(stem, where=where).stem, {})
    if not claims:
        raise tables.ParameterError(where, f"no claim of {stem} can be planned yet")
    return claims


def describe_assumptions(stem: str) -> list[tuple[str, pd.DataFrame]]:
    """Return each claim of a study that can be planned: its question, and what it assumes.

    Examples
    --------
    >>> [question.split(":")[0] for question, _ in describe_assumptions("news_bias")][:1]
    ['claim=words']
    """
    return [
        (f"claim={name}: {(model.__doc__ or '').strip().splitlines()[0]}", params.describe(model))
        for name, model in _claims(stem).items()
    ]


def _row(
    stem: str, claims: Mapping[str, type[calibration.planning.Plan]], values: Mapping[str, Any]
) -> dict[str, Any]:
    """Return a combination of assumptions with its results."""
    where, claim = f"nbbias plan {stem}", values.get("claim", next(iter(claims)))
    if not isinstance(claim, str) or claim not in claims:
        hint = tables.closest_match(str(claim), claims)
        raise tables.ParameterError(where, f"claim: no {params.shorten(claim)}; {hint}")
    assumed = {name: value for name, value in values.items() if name != "claim"}
    plan = params.validate(claims[claim], assumed, where=where)
    size = plan.units or plan.sample_size()
    design = {name: getattr(plan, name) for name in ("statistic", "unit", "criterion")}
    row = {"claim": claim, **design, **plan.model_dump(), **dict.fromkeys(RESULTS, math.nan)}
    if size is not None:
        row |= {"n": size, "reached": plan.power_at(size)} | plan.count_cost(size)
    return row


def readable(rows: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """Return what varies among rows of `plan_sample_size`, their results, and a note on the rest.

    Examples
    --------
    >>> table, note = readable(plan_sample_size("news_bias", ["units=100"]))
    >>> list(table)[:3], table["articles"][0]
    (['effect', 'articles', 'power'], 100)
    """
    assumptions = rows.drop(columns=[*RESULTS, "statistic", "unit", "criterion"])
    varies = assumptions.astype("str").nunique() > 1
    constant = assumptions.loc[:, ~varies].drop(columns=_SETTINGS, errors="ignore")
    listed = ", ".join(f"{name} {constant[name].iloc[0]}" for name in constant)
    note = f"Assumed (explained by --list, set by -p): {listed}."
    power = ["" if pd.isna(power) else f"{power:.0%}" for power in rows["reached"]]
    units = rows["n"].astype("object")
    units = units.where(rows["n"].notna(), f"more than {calibration.planning.MAXIMUM_UNITS:,}")
    labels = [" or ".join(rows[name].unique()) for name in ("unit", "criterion")]
    results = dict(zip(labels, (units, power), strict=True))
    table = rows[list(dict.fromkeys(["effect", *varies.index[varies]]))].assign(**results)
    return table.join(rows[list(_COSTS)].dropna(axis="columns", how="all")), note
