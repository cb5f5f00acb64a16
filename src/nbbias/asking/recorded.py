"""Recorded answers, out of the store and into it.

Out: the table that notebooks read. In: answers that somebody has already paid for, so that they
are not asked for again.
"""

from __future__ import annotations

import os
from pathlib import Path

import pandas as pd

from nbbias import params, tables
from nbbias.asking import plan as plans, store
from nbbias.asking.plan import EXPORTED, Plan


def read_answers(plan: Plan) -> pd.DataFrame:
    """Return the answers to a plan.

    Returns
    -------
    DataFrame
        GENERATIONS, one row for each call of the plan, in its order, answered or not: `source`,
        `article_id`, `model`, `prompt` (the way it was asked for where the suite has ways, and
        the text otherwise), `sample`, `text` (missing where there is no answer; ``error`` says
        why), `prompt_id`, `asked` (the text), `stop_reason`, `refusal` (``content_filter``,
        ``provider_refusal`` or empty), `error`, `input_tokens`, `output_tokens`, `asked_at`, `run`,
        `key`, `temperature` (NaN where it was left to the provider), and the suite's own columns.
    """
    return _join(plan, store.read_answers(plan.store_path, plan.calls["key"]))


def make_placeholders(plan: Plan) -> pd.DataFrame:
    """Return the table of answers as if every call were answered, each by the prompt itself."""
    prompts = enumerate(plan.calls["prompt"], start=1)
    texts = [f"{prompt} ({number})" for number, prompt in prompts]
    answers = pd.DataFrame({"key": plan.calls["key"], "status": "answered", "text": texts})
    return _join(plan, answers.reindex(columns=store.COLUMNS))


def _join(plan: Plan, answers: pd.DataFrame) -> pd.DataFrame:
    """Join the calls with rows of the store."""
    calls = plan.calls.assign(asked=plan.calls["prompt"])
    if "way" in calls:
        calls["prompt"] = calls.pop("way")
    if "article_id" not in calls:
        calls["article_id"] = calls["prompt_id"]
    calls = tables.identify_articles(calls)
    calls = calls.drop(columns=["base_url", "messages", "parameters", "replicate"])
    table = calls.merge(answers[["status", *EXPORTED]], on="key", how="left", validate="m:1")
    table["error"] = table["error"].where(table["status"].notna(), "not asked yet")
    first = [*tables.GENERATIONS.columns, "prompt_id", "asked", *EXPORTED]
    table = table[list(dict.fromkeys([*first, *table.columns.drop("status")]))]
    kinds = {"text": "str", "count": "Int64"}
    dtypes = {name: kinds[column.kind] for name, column in EXPORTED.items()}
    table = table.astype({**dtypes, "temperature": "float64"})
    return tables.check(table, tables.GENERATIONS, where="answers")


def export_answers(plan: Plan) -> pd.DataFrame:
    """Write the answers to the plan's `export_path`, whole or not at all, and return them."""
    answers = read_answers(plan)
    # Through a link to the file itself: a study may name that one.
    tables.write_parquet(answers, Path(os.path.realpath(plan.export_path)))
    return answers


# --- in ---------------------------------------------------------------------------------------


def read_unfiled(plan: Plan) -> pd.DataFrame:
    """Return the answers that the exported table holds and the store does not."""
    answers = plans.read_exported(plan)
    return answers[answers["key"].map(store.read_statuses(plan.store_path)) != "answered"]


def check_export(plan: Plan) -> None:
    """Refuse to write where it cannot be done, or would take answers away, before any is paid for.

    Raises
    ------
    DataError
        The exported table cannot be written, or holds answers of another plan that are in no store.
    """
    path = plan.export_path
    if unique := set(read_unfiled(plan)["key"]) - set(plan.calls["key"]):
        held = f"holds {len(unique):,} answers that are neither of this plan nor in "
        hint = "and would be lost; name another export_path, or their store"
        raise tables.DataError(str(path), f"{held}{plan.store_path}, {hint}")
    if reason := tables.unwritable(Path(os.path.realpath(path)).parent):
        raise tables.DataError(str(path), f"cannot be written: {reason}")


def restore_answers(plan: Plan) -> int:
    """File what the exported table holds and the store does not, and return how many answers.

    Raises
    ------
    NbbiasError
        The store cannot be written.
    """
    answers = read_unfiled(plan)
    answers = answers.assign(text=answers["text"].map(params.redact_known))
    if (rows := plan.calls.merge(answers, on="key")).empty:
        return 0
    made = {"stop_reason": "recorded", "refusal": "", "run": "recorded"}
    rows = rows.astype("object").fillna({**made, "asked_at": store.read_clock()})
    rows = rows.assign(status="answered", attempts=0)
    with store.open_store(plan.store_path) as connection:
        return store.record(connection, *rows.where(rows.notna(), None).to_dict("records"))
