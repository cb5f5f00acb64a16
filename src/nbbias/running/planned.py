"""Plan a study before anything is asked: how many units, at what cost, under which assumptions."""

from __future__ import annotations

import json
import math
from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from nbbias import calibration, params, studies, tables
from nbbias.asking.plan import CHARACTERS_PER_TOKEN
from nbbias.running import asked, grid
from nbbias.tables import NbbiasError, ParameterError, escape

#: What stands beside the assumptions in each row, in this order.
FOUND = ("n", "reached", "low", "high", "calls", "tokens_in", "tokens_out", "cost")

#: What a row holds that is no assumption of what is measured.
_NO_ASSUMPTION = {
    "claim",
    "statistic",
    "unit",
    "units",
    "draws",
    "seed",
    "effect",
    "power",
    "input_price",
    "output_price",
}


class Outlook(NamedTuple):
    """A row for each combination of assumptions: these, and `FOUND`; which of them differ; notes.

    `n` is missing where no number of units reaches the power.
    """

    rows: pd.DataFrame
    differing: list[str]
    notes: list[str]


def plan(target: str, overrides: Sequence[str] = ()) -> Outlook:
    """Say how many units a claim of a study takes, and what they cost to ask.

    Parameters
    ----------
    target
        A study, or a params file whose `generate:` block says how many models are asked, how often,
        with which prompts, and at what price.
    overrides
        ``name=value`` pairs: assumptions; several values make a row for each combination.
        ``claim`` chooses what is planned.

    Raises
    ------
    ParameterError
        All that is wrong with names and values.

    Examples
    --------
    >>> found = plan("news_bias", ["effect=-0.1,-0.2", "draws=200"])
    >>> found.differing, list(found.rows["n"] > 10)
    (['effect'], [True, True])
    """
    where = f"nbbias plan {target}"
    known: Mapping[str, Any] = {}
    notes, prompts = list[str](), math.inf
    stem = _stem(target)
    if _is_file(target):
        known, notes, prompts = _of_file(Path(target))
    chosen, problems = list[calibration.plannable.Planned](), list[NbbiasError]()
    for given in grid.combinations(overrides):
        try:
            chosen.append(_assumed(stem, given, known, where=where))
        except NbbiasError as error:
            problems.append(error)
    tables.refuse(problems)
    rows = pd.DataFrame([{"claim": _name(stem, one)} | _row(one) for one in chosen])
    if any(row["calls"] > prompts * row["models"] * row["repeats"] for row in _asking(rows)):
        notes.append(f"the params file asks {prompts:,.0f} prompts, which are too few for that")
    given_rows = rows.drop(columns=[name for name in FOUND if name in rows])
    differing = [name for name in given_rows if given_rows[name].astype("str").nunique() > 1]
    alike = [name for name in given_rows if name not in {*differing, *_NO_ASSUMPTION}]
    told = ", ".join(f"{name.replace('_', ' ')} {rows[name].iloc[0]}" for name in alike)
    notes.insert(0, f"Assumed, in {chosen[0].draws:,} simulated studies for each row: {told}.")
    return Outlook(rows, differing, notes)


def _asking(rows: pd.DataFrame) -> list[dict[Hashable, Any]]:
    return rows[rows["calls"].notna()].to_dict("records")


def _is_file(target: str) -> bool:
    return target not in studies.STUDIES and target.endswith((".yaml", ".yml"))


def _stem(target: str) -> str:
    if _is_file(target):
        return studies.read(Path(target))[0]
    return studies.study(target, where=f"nbbias plan {target}").stem


def claims_of(stem: str, *, where: str) -> dict[str, type[calibration.plannable.Planned]]:
    """Return what of a study can be planned, by name."""
    found = calibration.plannable.PLANS.get(studies.study(stem, where=where).stem, {})
    if not found:
        raise ParameterError(where, f"nothing of {stem} can be planned yet")
    return found


def assumptions(target: str) -> list[tuple[str, pd.DataFrame]]:
    """Return what can be planned of a study, or a params file's: in words, and what it assumes.

    Examples
    --------
    >>> [told.split(":")[0] for told, _ in assumptions("news_bias")][:1]
    ['claim=words']
    """
    claims = claims_of(_stem(target), where=f"nbbias plan {target}")
    found = []
    for name, model in claims.items():
        question = (model.__doc__ or "").strip().splitlines()[0]
        found.append((f"claim={name}: {question}", params.describe(model)))
    return found


def printed(found: Outlook) -> tuple[list[str], list[list[str]]]:
    """Return columns and rows of a plan for people.

    Examples
    --------
    >>> columns, rows = printed(plan("news_bias", ["units=100", "draws=200"]))
    >>> columns[:2], rows[0][1]
    (['effect', 'articles'], '100')
    """
    shown = [name for name in found.differing if name not in {"statistic", "unit"}]
    shown = list(dict.fromkeys(["effect", *shown]))
    rows = found.rows
    asking, priced = (bool(rows[name].notna().any()) for name in ("calls", "cost"))
    units = " or ".join(rows["unit"].unique())
    columns = [name.replace("_", " ") for name in shown] + [units, "power"]
    columns += ["calls", "tokens in", "tokens out, at most"] * asking + ["cost, at most"] * priced
    cells = []
    for row in rows.to_dict("records"):
        own = [str(row.get(name, "")) for name in shown]
        if math.isnan(row["n"]):
            cells.append(
                [
                    *own,
                    f"more than {calibration.planning.MOST:,}",
                    *[""] * (len(columns) - len(own) - 1),
                ]
            )
            continue
        own += [f"{row['n']:,.0f}", f"{row['reached']:.0%} ({row['low']:.0%} to {row['high']:.0%})"]
        sizes = [row[name] for name in ("calls", "tokens_in", "tokens_out")] * asking
        own += ["" if math.isnan(one) else f"{one:,.0f}" for one in sizes]
        own += ["" if math.isnan(row["cost"]) else f"{row['cost']:,.2f}"] * priced
        cells.append(own)
    return columns, [[escape.terminal(cell) for cell in row] for row in cells]


def as_json(found: Outlook) -> str:
    """Return a plan's rows and notes as JSON; what is not known is null."""
    rows = found.rows.astype("object").where(found.rows.notna(), None).to_dict("records")
    return json.dumps({"rows": rows, "notes": found.notes}, indent=1, ensure_ascii=False)


def _assumed(
    stem: str, given: Mapping[str, Any], known: Mapping[str, Any], *, where: str
) -> calibration.plannable.Planned:
    claims = claims_of(stem, where=where)
    name = given.get("claim", next(iter(claims)))
    if not isinstance(name, str) or name not in claims:
        told = f"claim: no {params.shown(name)}; {tables.closest_match(str(name), claims)}"
        raise ParameterError(where, told)
    model = claims[name]
    values = {key: value for key, value in known.items() if key in model.model_fields}
    values |= {key: value for key, value in given.items() if key != "claim"}
    return params.validate(model, values, where=where)


def _name(stem: str, chosen: calibration.plannable.Planned) -> str:
    claims = calibration.plannable.PLANS[stem]
    return next(name for name, model in claims.items() if model is type(chosen))


def _row(chosen: calibration.plannable.Planned) -> dict[str, Any]:
    told, found = chosen.told(), None
    if chosen.units:
        found = calibration.planning.power(told, chosen.units, inference=chosen.inference)
    else:
        found = calibration.planning.needed(told, wanted=chosen.power, inference=chosen.inference)
    row = {"statistic": chosen.statistic, "unit": chosen.unit, **chosen.model_dump()}
    if found is None:
        gaps = dict.fromkeys(FOUND, math.nan)
        return row | gaps
    reached = {"n": found.n, "reached": found.power, "low": found.low, "high": found.high}
    return row | reached | chosen.asked(found.n)


def _of_file(path: Path) -> tuple[dict[str, Any], list[str], float]:
    """Return what the `generate:` block of a params file sets, notes, and its prompts."""
    _, values = studies.read(path)
    known: dict[str, Any] = {}
    if isinstance(values.get("claims"), list) and values["claims"]:
        known["claims"] = len(values["claims"])
    laid_out = asked.of_params(path, dry_run=True)
    block = laid_out.block
    length = laid_out.calls["prompt"].str.len().mean() + len(block.system)
    prices = [block.prices[name] for name in block.models if name in block.prices]
    known |= {
        "models": len(block.models),
        "repeats": block.replicates,
        "prompt_tokens": math.ceil(length / CHARACTERS_PER_TOKEN),
        "answer_tokens": block.max_tokens,
    }
    if len(prices) == len(block.models):  # each model is asked as much as the others
        known["input_price"] = sum(one.input for one in prices) / len(prices)
        known["output_price"] = sum(one.output for one in prices) / len(prices)
    return known, list(laid_out.notes), laid_out.calls["prompt_id"].nunique()
