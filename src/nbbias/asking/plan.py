"""Ask models what a study needs: plan it, say what it costs, ask, and record every answer.

Models are asked once, answers are recorded in a store, notebooks read the table that is exported
from it. So a notebook costs nothing to run again, and nobody pays twice.
"""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import Callable, Mapping
from itertools import product
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from nbbias.asking import prompts, store, trust
from nbbias.asking.loop import Session, Tally
from nbbias.asking.params import Generate
from nbbias.tables import Column, DataError, NbbiasError, hash_json, read_table, resolve

#: Characters a token holds in English, by and large; only estimates rest on it.
CHARACTERS_PER_TOKEN = 4

#: What the store and the exported table hold of an answer.
EXPORTED = {
    **dict.fromkeys(["key", "text"], Column("text", needed=True)),
    **dict.fromkeys(["stop_reason", "refusal", "error"], Column("text")),
    **dict.fromkeys(["input_tokens", "output_tokens"], Column("count")),
    **dict.fromkeys(["asked_at", "run"], Column("text")),
}

#: Columns that no suite can have of its own.
_RESERVED = [*EXPORTED, *store.CALL_COLUMNS, "status", "asked", "sample"]


class Plan(NamedTuple):
    """What is to be asked.

    `calls`: one row for each prompt, model, temperature and repeat, with the columns of the store
    that say what is asked. Answers are kept in `store_path`, and exported to `export_path`.
    `notes`: what whoever asks should know. `where`: what errors call the params file.
    """

    block: Generate
    calls: pd.DataFrame
    where: str
    store_path: Path
    export_path: Path
    notes: tuple[str, ...] = ()


def make_plan(block: Generate, *, where: str, suites: Mapping[str, prompts.Suite]) -> Plan:
    """List every call: each prompt, for each model and temperature, `replicates` times.

    Prompts of the same wording (headlines that occur twice) are repeats of one another: each is
    a call of its own, with the next `replicate`. `suites` are the prompts of single studies. A
    suite's own columns pass through, but for those that the exported table has itself.
    """
    suite = prompts.read_prompts(block, suites=suites).drop(columns=_RESERVED, errors="ignore")
    suite = prompts.draw_sample(suite, limit=block.limit, seed=block.seed)
    samples = pd.DataFrame({"sample": range(1, block.replicates + 1)})
    repeats = samples.merge(suite, how="cross")
    repeats["replicate"] = repeats.groupby("prompt").cumcount() + 1
    system = [{"role": "system", "content": block.system}] if block.system else []
    user = [{"role": "user", "content": prompt} for prompt in repeats["prompt"]]
    repeats["messages"] = [[*system, message] for message in user]
    common, rounds = {**block.parameters, "model_args": block.model_args}, []
    for model, temperature in product(block.models, block.temperature):
        values = common if temperature is None else {**common, "temperature": temperature}
        made = repeats.assign(model=model, base_url=block.base_url, temperature=temperature)
        rounds.append(made.assign(parameters=[values] * len(made)))
    calls = pd.concat(rounds, ignore_index=True)
    asked = calls[store.CALL_COLUMNS[1:]].itertuples(index=False, name=None)
    calls["key"] = [hash_json(call) for call in asked]
    for name in ("messages", "parameters"):
        calls[name] = [json.dumps(value, ensure_ascii=False) for value in calls[name]]
    return Plan(block, calls, where, resolve(block.store_path), resolve(block.export_path))


def read_exported(plan: Plan) -> pd.DataFrame:
    """Return the answers of the exported table by their keys: a store may be lost, or elsewhere.

    Raises
    ------
    DataError
        The file at that path is no table of answers.
    """
    if not (path := plan.export_path).exists():
        return pd.DataFrame(columns=list(EXPORTED))
    try:
        table = read_table(path, EXPORTED).reindex(columns=list(EXPORTED))
    except NbbiasError as error:
        reason = f"exists but is not a table of answers ({error.breaches[0]})"
        raise DataError(str(path), f"{reason}; name another export_path") from None
    return table.dropna(subset="text").drop_duplicates("key")


# --- cost -------------------------------------------------------------------------------------


def _count_tokens(plan: Plan) -> pd.Series:
    """Estimate the tokens that each call sends."""
    characters = plan.calls["prompt"].str.len() + len(plan.block.system)
    return -(-characters // CHARACTERS_PER_TOKEN)


def estimate(plan: Plan) -> pd.DataFrame:
    """Estimate what a plan comes to before anything is asked; nothing is made or changed.

    Returns
    -------
    DataFrame
        One row per model: `calls`, `answered`, `rejected` (will not be asked again), `to_ask`,
        `input_tokens` (from the length of the prompts still to be asked), `output_tokens` and
        `cost`, each at most; NaN without prices.
    """
    exported = dict.fromkeys(read_exported(plan)["key"], "answered")
    status = plan.calls["key"].map(exported | store.read_statuses(plan.store_path))
    to_ask = ~status.isin(["answered", "rejected"])
    counts = plan.calls[["model"]].assign(
        calls=1,
        answered=status.eq("answered"),
        rejected=status.eq("rejected"),
        to_ask=to_ask,
        input_tokens=_count_tokens(plan).where(to_ask, 0),
    )
    table = counts.groupby("model", sort=False).sum().reset_index()
    table["output_tokens"] = table["to_ask"] * plan.block.max_tokens
    rows = zip(table["model"], table["input_tokens"], table["output_tokens"], strict=True)
    return table.assign(cost=pd.Series([plan.block.price(*r) for r in rows], dtype="float64"))


# --- asking -----------------------------------------------------------------------------------


def ask(
    plan: Plan, *, again: bool = False, listen: Callable[[Tally], None] = lambda _: None
) -> Tally:
    """Ask what has no answer yet, and record it.

    Parameters
    ----------
    plan
        The plan.
    again
        Ask rejected prompts once more.
    listen
        Is called with the tally after every attempt.

    Raises
    ------
    NbbiasError
        The store cannot be written, or a model cannot be opened; nothing was asked then.
    """
    block, calls = plan.block, plan.calls.assign(input_tokens=_count_tokens(plan))
    with store.open_store(plan.store_path) as connection:
        status = calls["key"].map(store.read_statuses(plan.store_path))
        rows = calls[~status.isin(["answered"] if again else ["answered", "rejected"])]
        if rows.empty:
            return Tally()
        trust.check_addresses(rows["model"].unique(), block.base_url, where=plan.where)
        sent = zip(rows["model"], rows["input_tokens"], strict=True)
        rows = rows.assign(max_cost=[block.price(*row, block.max_tokens) or 0.0 for row in sent])
        session = Session(block, connection, plan.store_path, secrets.token_hex(6), listen)
        return asyncio.run(session.ask_all(rows.to_dict("records")))
