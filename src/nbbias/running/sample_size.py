"""The sample size that a claim of a study needs, by simulated studies, and what asking costs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd

from nbbias import calibration, params, studies, tables
from nbbias.running.plan import combine_values
from nbbias.tables import NbbiasError, ParameterError

#: Results in each row, after its assumptions.
RESULTS = ("n", "reached", "low", "high", "calls", "tokens_in", "tokens_out", "cost")
#: Values of a row that are no assumptions about what is measured.
_SETTINGS = {
    *("claim", "statistic", "unit", "units", "draws", "seed", "effect", "power"),
    *("input_price", "output_price"),
}


class SampleSizes(NamedTuple):
    """A row for each combination of assumptions: these, and `RESULTS`; which of them vary; a note.

    `n` is missing where no number of units reaches the power.
    """

    rows: pd.DataFrame
    varying: list[str]
    note: str


def plan_sample_size(stem: str, overrides: Sequence[str] = ()) -> SampleSizes:
    """Compute how many units a claim of a study needs, and what they cost to ask.

    Parameters
    ----------
    stem
        The study.
    overrides
        ``name=value`` pairs: assumptions; several values make a row for each combination.
        ``claim`` chooses the claim.

    Raises
    ------
    ParameterError
        All that is wrong with names and values.

    Examples
    --------
    >>> sizes = plan_sample_size("news_bias", ["effect=-0.1,-0.2", "draws=200"])
    >>> sizes.varying, list(sizes.rows["n"] > 10)
    (['effect'], [True, True])
    """
    claims, problems = _claims(stem), list[NbbiasError]()
    combinations = combine_values(overrides)
    rows = [tables.attempt(problems, _row, claims, values, stem) for values in combinations]
    tables.refuse(problems)
    table = pd.DataFrame(rows)
    assumptions = table.drop(columns=list(RESULTS))
    varying = [name for name in assumptions if assumptions[name].astype("str").nunique() > 1]
    constant = [name for name in assumptions if name not in {*varying, *_SETTINGS}]
    listed = ", ".join(f"{name.replace('_', ' ')} {table[name].iloc[0]}" for name in constant)
    note = f"Assumed, in {table['draws'].iloc[0]:,} simulated studies a row: {listed}."
    return SampleSizes(table, varying, note)


def _claims(stem: str) -> dict[str, type[calibration.plannable.Planned]]:
    """Return the claims of a study that can be planned, by name."""
    where = f"nbbias plan {stem}"
    claims = calibration.plannable.PLANS.get(studies.study(stem, where=where).stem, {})
    if not claims:
        raise ParameterError(where, f"no claim of {stem} can be planned yet")
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
    claims: Mapping[str, type[calibration.plannable.Planned]], values: Mapping[str, Any], stem: str
) -> dict[str, Any]:
    """Return a combination of assumptions with its results."""
    where, claim = f"nbbias plan {stem}", values.get("claim", next(iter(claims)))
    if not isinstance(claim, str) or claim not in claims:
        hint = tables.closest_match(str(claim), claims)
        raise ParameterError(where, f"claim: no {params.shorten(claim)}; {hint}")
    assumed = {name: value for name, value in values.items() if name != "claim"}
    planned = params.validate(claims[claim], assumed, where=where)
    simulate, inference = planned.told(), planned.inference
    size = (
        calibration.planning.power(simulate, planned.units, inference=inference)
        if planned.units
        else calibration.planning.needed(simulate, wanted=planned.power, inference=inference)
    )
    row: dict[str, Any] = {"claim": claim, "statistic": planned.statistic, "unit": planned.unit}
    row |= planned.model_dump() | dict.fromkeys(RESULTS, math.nan)
    if size is not None:
        row |= {"n": size.n, "reached": size.power, "low": size.low, "high": size.high}
        row |= planned.asked(size.n)
    return row


def select_columns(sizes: SampleSizes) -> pd.DataFrame:
    """Return the assumptions that vary, with the results that are known, for a printed table.

    Examples
    --------
    >>> table = select_columns(plan_sample_size("news_bias", ["units=100", "draws=200"]))
    >>> list(table)[:3], table["articles"][0]
    (['effect', 'articles', 'power'], 100)
    """
    rows, beyond = sizes.rows, f"more than {calibration.planning.MOST:,}"
    unit, units = " or ".join(rows["unit"].unique()), rows["n"].astype("object")
    power = [
        "" if pd.isna(row.reached) else f"{row.reached:.0%} ({row.low:.0%} to {row.high:.0%})"
        for row in rows.itertuples()
    ]
    varying = [name for name in sizes.varying if name not in {"statistic", "unit"}]
    costs = [n for n in ("calls", "tokens_in", "tokens_out", "cost") if rows[n].notna().any()]
    table = rows[list(dict.fromkeys(["effect", *varying]))].assign(
        **{unit: units.where(rows["n"].notna(), beyond), "power": power}
    )
    return table.join(rows[costs])
