"""The sample size that a claim of a study needs, by simulated studies, and what asking costs."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from nbbias import calibration, params, studies, tables
from nbbias.asking.plan import CHARACTERS_PER_TOKEN
from nbbias.running import generation, grid
from nbbias.tables import NbbiasError, ParameterError

#: Results in each row, after its assumptions.
RESULTS = ("n", "reached", "low", "high", "calls", "tokens_in", "tokens_out", "cost")
#: Values of a row that are no assumptions about what is measured.
_SETTINGS = {
    *("claim", "statistic", "unit", "units", "draws", "seed", "effect", "power"),
    *("input_price", "output_price"),
}


class SampleSizes(NamedTuple):
    """A row for each combination of assumptions: these, and `RESULTS`; which of them vary; notes.

    `n` is missing where no number of units reaches the power.
    """

    rows: pd.DataFrame
    varying: list[str]
    notes: list[str]


def plan_sample_size(target: str, overrides: Sequence[str] = ()) -> SampleSizes:
    """Compute how many units a claim of a study needs, and what they cost to ask.

    Parameters
    ----------
    target
        A study, or a params file whose `generate:` block says how many models are asked, how often,
        with which prompts, and at what price.
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
    stem = _stem(target)
    defaults, notes, n_prompts = _of_block(target) if _is_file(target) else ({}, [], math.inf)
    claims = plannable_claims(stem, where=f"nbbias plan {target}")
    rows, problems = [], list[NbbiasError]()
    for values in grid.combinations(overrides):
        if row := tables.attempt(
            problems, _row, claims, values, defaults, where=f"nbbias plan {target}"
        ):
            rows.append(row)
    tables.refuse(problems)
    table = pd.DataFrame(rows)
    if (table["calls"] > n_prompts * table.get("models", 1) * table.get("repeats", 1)).any():
        notes.append(f"the params file asks {n_prompts:,.0f} prompts, which are too few for that")
    assumptions = table.drop(columns=list(RESULTS))
    varying = [name for name in assumptions if assumptions[name].astype("str").nunique() > 1]
    constant = [name for name in assumptions if name not in {*varying, *_SETTINGS}]
    listed = ", ".join(f"{name.replace('_', ' ')} {table[name].iloc[0]}" for name in constant)
    notes.insert(0, f"Assumed, in {table['draws'].iloc[0]:,} simulated studies a row: {listed}.")
    return SampleSizes(table, varying, notes)


def _is_file(target: str) -> bool:
    return target not in studies.STUDIES and target.endswith((".yaml", ".yml"))


def _stem(target: str) -> str:
    if _is_file(target):
        return studies.read(Path(target))[0]
    return studies.study(target, where=f"nbbias plan {target}").stem


def plannable_claims(stem: str, *, where: str) -> dict[str, type[calibration.plannable.Planned]]:
    """Return the claims of a study that can be planned, by name."""
    claims = calibration.plannable.PLANS.get(studies.study(stem, where=where).stem, {})
    if not claims:
        raise ParameterError(where, f"no claim of {stem} can be planned yet")
    return claims


def describe_assumptions(target: str) -> list[tuple[str, pd.DataFrame]]:
    """Return each claim of a study that can be planned: its question, and what it assumes.

    Examples
    --------
    >>> [question.split(":")[0] for question, _ in describe_assumptions("news_bias")][:1]
    ['claim=words']
    """
    claims = plannable_claims(_stem(target), where=f"nbbias plan {target}")
    return [
        (f"claim={name}: {(model.__doc__ or '').strip().splitlines()[0]}", params.describe(model))
        for name, model in claims.items()
    ]


def _row(
    claims: Mapping[str, type[calibration.plannable.Planned]],
    values: Mapping[str, Any],
    defaults: Mapping[str, Any],
    *,
    where: str,
) -> dict[str, Any]:
    """Return a combination of assumptions with its results."""
    claim = values.get("claim", next(iter(claims)))
    if not isinstance(claim, str) or claim not in claims:
        hint = tables.closest_match(str(claim), claims)
        raise ParameterError(where, f"claim: no {params.shown(claim)}; {hint}")
    model = claims[claim]
    known = {name: value for name, value in defaults.items() if name in model.model_fields}
    known |= {name: value for name, value in values.items() if name != "claim"}
    planned = params.validate(model, known, where=where)
    size: calibration.planning.Found | None
    if planned.units:
        size = calibration.planning.power(
            planned.told(), planned.units, inference=planned.inference
        )
    else:
        size = calibration.planning.needed(
            planned.told(), wanted=planned.power, inference=planned.inference
        )
    row: dict[str, Any] = {"claim": claim, "statistic": planned.statistic, "unit": planned.unit}
    row |= planned.model_dump() | dict.fromkeys(RESULTS, math.nan)
    if size is not None:
        row |= {"n": size.n, "reached": size.power, "low": size.low, "high": size.high}
        row |= planned.asked(size.n)
    return row


def _of_block(target: str) -> tuple[dict[str, Any], list[str], float]:
    """Return the assumptions that a `generate:` block makes, notes, and its number of prompts."""
    _, values = studies.read(Path(target))
    plan = generation.plan_file(Path(target), dry_run=True)
    block = plan.block
    length = plan.calls["prompt"].str.len().mean() + len(block.system)
    assumptions: dict[str, Any] = {
        "models": len(block.models),
        "repeats": block.replicates,
        "prompt_tokens": math.ceil(length / CHARACTERS_PER_TOKEN),
        "answer_tokens": block.max_tokens,
    }
    if isinstance(values.get("claims"), list) and values["claims"]:
        assumptions["claims"] = len(values["claims"])
    prices = [block.prices[name] for name in block.models if name in block.prices]
    if len(prices) == len(block.models):  # each model is asked as often as the others
        assumptions["input_price"] = sum(price.input for price in prices) / len(prices)
        assumptions["output_price"] = sum(price.output for price in prices) / len(prices)
    return assumptions, list(plan.notes), plan.calls["prompt_id"].nunique()


def select_columns(sizes: SampleSizes) -> pd.DataFrame:
    """Return the assumptions that vary, with the results that are known, for a printed table.

    Examples
    --------
    >>> table = select_columns(plan_sample_size("news_bias", ["units=100", "draws=200"]))
    >>> list(table)[:3], table["articles"][0]
    (['effect', 'articles', 'power'], 100)
    """
    rows = sizes.rows
    unit = " or ".join(rows["unit"].unique())
    units = (
        rows["n"]
        .astype("object")
        .where(rows["n"].notna(), f"more than {calibration.planning.MOST:,}")
    )
    power = [
        "" if pd.isna(row.reached) else f"{row.reached:.0%} ({row.low:.0%} to {row.high:.0%})"
        for row in rows.itertuples()
    ]
    varying = [name for name in sizes.varying if name not in {"statistic", "unit"}]
    costs = [n for n in ("calls", "tokens_in", "tokens_out", "cost") if rows[n].notna().any()]
    table = rows[list(dict.fromkeys(["effect", *varying]))].assign(**{unit: units, "power": power})
    return table.join(rows[costs])


def to_json(sizes: SampleSizes) -> str:
    """Return rows and notes as JSON; what is not known is null."""
    rows = sizes.rows.astype("object").where(sizes.rows.notna(), None).to_dict("records")
    return json.dumps({"rows": rows, "notes": sizes.notes}, indent=1, ensure_ascii=False)
