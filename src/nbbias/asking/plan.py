"""Ask models what a study needs: plan it, say what it costs, ask, and record every answer.

Models are asked once, answers are recorded in a store, notebooks read the table that is exported
from it. So a notebook costs nothing to run again, and nobody pays twice.
"""

from __future__ import annotations

import asyncio
import math
import secrets
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import pandas as pd

from nbbias import __version__, params
from nbbias.asking import call as asking, loop, prompts, store, trust
from nbbias.asking.loop import Call, Desk, Tally
from nbbias.asking.params import Generate
from nbbias.tables import Column, DataError, NbbiasError, read_table, resolve

#: Characters a token holds in English, by and large; only estimates rest on it.
CHARACTERS_PER_TOKEN = 4

#: What is said of an answer, in the store and in the exported table.
SAID = ["text", "stop_reason", "refusal", "error", "input_tokens", "output_tokens", "asked_at"]

#: Columns of the exported table that no suite can have of its own.
_TAKEN = [*SAID, "run", "status", "asked"]

_EXPORTED = {"key": Column("text", needed=True), "text": Column("text", needed=True)}

# --- the plan ---------------------------------------------------------------------------------


class Plan(NamedTuple):
    """What is to be asked.

    `calls`: one row for each prompt, model, temperature and repeat, with its `key`. Answers are
    kept in `store_path`, and exported to `export_path`. `notes`: what whoever asks should know.
    """

    block: Generate
    calls: pd.DataFrame
    where: str
    store_path: Path
    export_path: Path
    notes: tuple[str, ...] = ()


def plan(
    chosen: Generate,
    *,
    where: str = "generate",
    suites: Mapping[str, prompts.Suite] = MappingProxyType({}),
) -> Plan:
    """Lay out every call: each prompt, for each model and temperature, `replicates` times.

    Prompts of the same wording (headlines that stand twice) are repeats of one another: each is
    a call of its own, with the next `replicate`. `suites` are the prompts of single studies. A
    suite's own columns pass through, but for those that the exported table has itself.
    """
    suite = prompts.read(
        chosen.prompts,
        chosen.prompts_path,
        suites=suites,
        ways=chosen.ways,
        template=chosen.template,
        biased_template=chosen.biased_template,
        ideologies=chosen.ideologies,
    )
    suite = suite.drop(columns=_TAKEN, errors="ignore")
    suite = prompts.sample(suite, limit=chosen.limit, seed=chosen.seed)
    repeats = [suite.assign(sample=n) for n in range(1, chosen.replicates + 1)]
    asked = pd.concat(repeats, ignore_index=True)
    asked["replicate"] = asked.groupby("prompt").cumcount() + 1
    rounds = [
        asked.assign(model=name, temperature=temperature)
        for name in chosen.models
        for temperature in chosen.temperatures
    ]
    calls = pd.concat(rounds, ignore_index=True)
    calls["key"] = [
        store.key(
            model, chosen.base_url, messages(chosen, prompt), settings(chosen, temperature), n
        )
        for model, prompt, temperature, n in zip(
            calls["model"], calls["prompt"], calls["temperature"], calls["replicate"], strict=True
        )
    ]
    return Plan(chosen, calls, where, resolve(chosen.store_path), resolve(chosen.export_path))


def messages(chosen: Generate, prompt: str) -> list[dict[str, str]]:
    """Return the messages of one call."""
    system = [{"role": "system", "content": chosen.system}] if chosen.system else []
    return [*system, {"role": "user", "content": prompt}]


def exported(laid_out: Plan) -> set[str]:
    """Return the keys of the answers in the exported table: a store may be lost, or elsewhere.

    Raises
    ------
    DataError
        What is there is no table of answers.
    """
    path = laid_out.export_path
    if path.is_dir():
        raise DataError(str(path), "is a folder; name another export_path")
    if not path.is_file():
        return set()
    try:
        table = read_table(path, _EXPORTED)
    except NbbiasError as error:
        told = f"is there but is no table of answers ({error.breaches[0]})"
        raise DataError(str(path), f"{told}; name another export_path") from None
    return set(table.loc[table["text"].notna(), "key"])


def settings(chosen: Generate, temperature: float) -> dict[str, Any]:
    """Return what, beside model, address and messages, can change an answer."""
    warmth = {} if math.isnan(temperature) else {"temperature": temperature}
    return {**chosen.parameters, **warmth, "model_args": chosen.model_args}


def estimate(laid_out: Plan) -> pd.DataFrame:
    """Say what a plan comes to before anything is asked; nothing is made or changed.

    Returns
    -------
    DataFrame
        One row per model: `calls`, `answered`, `rejected` (will not be asked again), `to_ask`,
        `input_tokens` (from the length of the prompts still to be asked), `output_tokens` (at
        most), `output_likely` (by the mean of the model's answers in the store; NaN without any),
        `cost` (at most) and `cost_likely`; both NaN without prices.
    """
    chosen, (known, means) = laid_out.block, store.look(laid_out.store_path)
    known = dict.fromkeys(exported(laid_out), "answered") | known
    status = laid_out.calls["key"].map(known)
    characters = laid_out.calls["prompt"].str.len() + len(chosen.system)
    rows = []
    for name in chosen.models:
        mine = laid_out.calls["model"] == name
        asked = mine & ~status.isin(["answered", "rejected"])
        n_in = int(-(-characters[asked] // CHARACTERS_PER_TOKEN).sum())
        n_out = int(asked.sum()) * chosen.max_tokens
        likely = means.get(name, float("nan")) * asked.sum()
        price = chosen.prices.get(name)
        cost, cost_likely = (
            ((n_in * price.input + n * price.output) / 1e6 if price else float("nan"))
            for n in (n_out, likely)
        )
        rows.append(
            {
                "model": name,
                "calls": int(mine.sum()),
                "answered": int((mine & (status == "answered")).sum()),
                "rejected": int((mine & (status == "rejected")).sum()),
                "to_ask": int(asked.sum()),
                "input_tokens": n_in,
                "output_tokens": n_out,
                "output_likely": likely,
                "cost": cost,
                "cost_likely": cost_likely,
            }
        )
    return pd.DataFrame(rows)


# --- asking -----------------------------------------------------------------------------------


def ask(
    laid_out: Plan, *, again: bool = False, listen: Callable[[Tally], None] = lambda _: None
) -> Tally:
    """Ask what has no answer yet, and record it.

    Parameters
    ----------
    laid_out
        The plan.
    again
        Ask rejected prompts once more.
    listen
        Hears the tally after every call.

    Raises
    ------
    NbbiasError
        The store cannot be written, or a model cannot be opened; nothing was asked then.
    """
    chosen, path = laid_out.block, laid_out.store_path
    run = secrets.token_hex(6)
    with store.opened(path) as connection:
        known = store.statuses(connection)
        settled = {"answered"} if again else {"answered", "rejected"}
        calls = [
            Call(
                row.key,
                row.model,
                messages(chosen, row.prompt),
                row.replicate,
                settings(chosen, row.temperature),
                _cost(row, chosen),
            )
            for row in laid_out.calls.itertuples()
            if known.get(row.key) not in settled
        ]
        if not calls:
            return Tally(0)
        asks = dict.fromkeys(call.model for call in calls)
        trust.check_addresses(asks, chosen.base_url, where=laid_out.where)
        models = {
            name: partial(
                asking.open_model,
                name,
                parameters=chosen.parameters,
                model_args=chosen.model_args,
                transport=chosen.transport,
            )
            for name in asks
        }
        prices = {name: (one.input, one.output) for name, one in chosen.prices.items()}
        noted = params.redact(store.canonical(chosen.model_dump()))
        store.begin(connection, run, version=__version__, parameters=noted)
        desk = Desk(connection, path, run, chosen.transport, prices, chosen.max_cost, again, listen)
        tally = asyncio.run(loop.ask_all(calls, models, desk))
        with suppress(*store.Broken):  # a full disk was told already
            store.end(connection, run, tally.stopped or "complete")
    return tally


def _cost(row: Any, chosen: Generate) -> float:
    """Return what a call costs at most, by the same estimate as `estimate`."""
    price = chosen.prices.get(row.model)
    if price is None:
        return 0.0
    n_in = -(-(len(row.prompt) + len(chosen.system)) // CHARACTERS_PER_TOKEN)
    return (n_in * price.input + chosen.max_tokens * price.output) / 1e6
