"""Recorded answers, out of the store and into it.

Out: the table that notebooks read. In: answers that somebody has already paid for, so that they
are not asked for again, and whole releases in the layout of Fang et al.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from nbbias import params, tables
from nbbias.asking import plan as plans, store
from nbbias.asking.plan import ANSWER_COLUMNS, Plan
from nbbias.tables import Column, DataError, read_table

#: What a file of recorded answers holds.
_FILE = {
    **{name: Column("text") for name in ("key", "prompt_id", "article_id", "source", "prompt")},
    "model": Column("text", needed=True),
    "text": Column("text", needed=True),
    "sample": Column("count"),
    "temperature": Column("number"),
    **{name: Column("text") for name in ("stop_reason", "refusal", "error", "asked_at")},
    **{name: Column("count") for name in ("input_tokens", "output_tokens")},
}


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
    if not plan.store_path.is_file():
        return _join(plan, pd.DataFrame(columns=store.COLUMNS))
    with store.read_store(plan.store_path) as connection:
        return _join(plan, store.read_answers(connection, plan.calls["key"]))


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
    calls = tables.identify_articles(calls).drop(columns="replicate")
    columns = ["key", "status", *ANSWER_COLUMNS, "run"]
    table = calls.merge(answers[columns], on="key", how="left", validate="m:1")
    table["error"] = table["error"].where(table["status"].notna(), "not asked yet")
    first = [*tables.GENERATIONS.columns, "prompt_id", "asked", *ANSWER_COLUMNS[1:], "run", "key"]
    table = table[list(dict.fromkeys([*first, *table.columns.drop("status")]))]
    for name in ("text", "stop_reason", "refusal", "error", "asked_at", "run"):
        table[name] = table[name].astype("str").where(table[name].notna())
    for name in ("input_tokens", "output_tokens"):
        table[name] = table[name].astype("Int64")
    return tables.check(table, tables.GENERATIONS, where="answers")


def export_answers(plan: Plan) -> pd.DataFrame:
    """Write the answers to the plan's `export_path`, whole or not at all, and return them."""
    answers = read_answers(plan)
    buffer = BytesIO()
    answers.to_parquet(buffer, index=False)
    try:
        # Through a link to the file itself: a study may name that one.
        tables.write(Path(os.path.realpath(plan.export_path)), buffer.getvalue())
    except OSError as error:
        raise DataError(str(plan.export_path), f"cannot be written: {error.strerror}") from None
    return answers


# --- in ---------------------------------------------------------------------------------------


def find_unfiled(plan: Plan) -> set[str]:
    """Return the keys of answers that the exported table holds and the store does not."""
    statuses, _ = store.summarise(plan.store_path)
    return {key for key in plans.read_exported_keys(plan) if statuses.get(key) != "answered"}


def check_export(plan: Plan) -> None:
    """Refuse to write where it cannot be done, or would take answers away, before any is paid for.

    Raises
    ------
    DataError
        The exported table cannot be written, or holds answers of another plan that are in no store.
    """
    path = plan.export_path
    unique = find_unfiled(plan) - set(plan.calls["key"])
    if unique:
        raise DataError(
            str(path),
            f"holds {len(unique):,} answers that are neither of this plan nor in "
            f"{plan.store_path}, and would be lost; name another export_path, or their store",
        )
    if reason := tables.unwritable(Path(os.path.realpath(path)).parent):
        raise DataError(str(path), f"cannot be written: {reason}")


def import_answers(plan: Plan, path: str | Path) -> dict[str, int]:
    """File recorded answers in the plan's store, so that they are not asked for.

    Parameters
    ----------
    plan
        The plan whose calls they answer.
    path
        Parquet, CSV, JSON or JSON Lines. A file that this package has exported is filed by its
        `key`. Any other needs `model` and `text`, and either `prompt_id`, or `article_id` with
        `source` and `prompt` (the way) where there are any, or `prompt` with the very text that is
        asked; repeats are counted where there is no `sample`, and where there is a `temperature`
        it must be the plan's. The folder of a release of Fang et al. is read by `read_release`.

    Returns
    -------
    Numbers of rows: ``filed``, ``there already``, ``no text``, ``not in the plan``.

    Raises
    ------
    DataError
        The file cannot be read, or nothing in it says what was asked.
    """
    answers = read_release(path) if Path(path).is_dir() else read_table(path, _FILE)
    tables.require_columns(answers, ["model", "text"], where=str(path))
    calls = plan.calls.assign(asked=plan.calls["prompt"])
    if "key" in answers and answers["key"].notna().all():
        columns = ["key", *(name for name in ANSWER_COLUMNS if name in answers)]
        matched = calls.merge(answers[columns].drop_duplicates("key"), on="key", how="inner")
    else:
        matched = _match(calls, answers, where=str(path))
    refused = matched["refusal"].fillna("") != "" if "refusal" in matched else False
    blank = matched["text"].isna() | (matched["text"].eq("") & np.logical_not(refused))
    rows = [_file(row, plan, Path(path).name) for row in matched[~blank].to_dict("records")]
    with store.open_store(plan.store_path) as connection:
        filed = store.record(connection, *rows)
    return {
        "filed": filed,
        "there already": len(rows) - filed,
        "no text": int(blank.sum()),
        "not in the plan": len(answers) - len(matched),
    }


def _match(calls: pd.DataFrame, answers: pd.DataFrame, *, where: str) -> pd.DataFrame:
    """Join recorded answers with the calls that they answer."""
    if "prompt_id" in answers:
        on = ["prompt_id"]
    elif "article_id" in answers and "article_id" in calls:
        on = ["article_id"]
        if "source" in answers and set(answers["source"]) != {"all"}:
            on.append("source")
        elif "source" in calls and calls.groupby("article_id")["source"].nunique().max() > 1:
            raise DataError(where, "names no source, but articles of several share an id; add it")
        if "way" in calls and "prompt" in answers:
            calls = calls.assign(prompt=calls["way"])
            on.append("prompt")
    elif "prompt" in answers:
        on = ["prompt"]
    else:
        raise DataError(where, "needs prompt_id, article_id or prompt, to know what was asked")
    if "temperature" in answers:
        on.append("temperature")
    elif calls["temperature"].nunique(dropna=False) > 1:
        raise DataError(where, "names no temperature, but the plan asks at several; add it")
    on.append("model")
    columns = [*on, *(name for name in (*ANSWER_COLUMNS, "sample") if name in answers)]
    calls, answers = calls.copy(), answers[columns].copy()
    for table in (calls, answers):
        if table is calls or "sample" not in table:
            table["sample"] = table.groupby(on, dropna=False).cumcount() + 1
    answers = answers.drop_duplicates([*on, "sample"])
    return calls.merge(answers, on=[*on, "sample"], how="inner")


def _file(row: Mapping[str, Any], plan: Plan, name: str) -> dict[str, Any]:
    """Return a recorded answer as the store files it."""
    present = {column: row[column] for column in ANSWER_COLUMNS if not pd.isna(row.get(column))}
    for column in {"input_tokens", "output_tokens"} & set(present):
        present[column] = int(present[column])
    return {
        **plans.describe_call(plan.block, row),
        "stop_reason": "recorded",
        "refusal": "",
        "asked_at": store.read_clock(),
        **present,
        "status": "answered",
        "text": params.redact_known(str(row["text"])),
        "attempts": 0,
        "run": f"recorded: {name}",
    }


# --- the release of Fang et al. -----------------------------------------------------------------


def read_release(folder: str | Path) -> pd.DataFrame:
    """Read a release in the layout of Fang et al. 2024.

    Parameters
    ----------
    folder
        Holds ``news_data/<model>.json`` (neutral) and ``bias_data/news_data/bias<model>.json``
        (biased), or one of them: an object of article → text, a list of texts, or an object of
        outlet → one of these. Titles (``*_title.json``) are no answers and are not read.

    Returns
    -------
    DataFrame
        GENERATIONS: `source` (the outlet, ``"all"`` where the file names none), `article_id`,
        `model` (the file's name), `prompt` (neutral or biased), `sample`, `text`.

    Raises
    ------
    DataError
        There is no such file, or every one that is nested otherwise.
    """
    files = [(path, "neutral") for path in sorted(Path(folder, "news_data").glob("*.json"))]
    biased = sorted(Path(folder, "bias_data/news_data").glob("*.json"))
    files += [(path, "biased") for path in biased]
    rows, breaches = [], []
    for path, way in files:
        model = path.stem if way == "neutral" else path.stem.removeprefix("bias").lstrip("_")
        try:
            articles = [] if "_title" in path.stem else _list_articles(tables.read_json(path))
            rows += [(source, article, model, way, text) for source, article, text in articles]
        except (DataError, ValueError) as error:
            breaches += [f"{path.name}: {b}" for b in getattr(error, "breaches", [error])]
    if not rows and not breaches:
        breaches = ["holds neither news_data/<model>.json nor bias_data/news_data/bias<model>.json"]
    if breaches:
        raise DataError(str(folder), breaches)
    columns = ["source", "article_id", "model", "prompt", "text"]
    answers = pd.DataFrame(rows, columns=columns)
    answers["sample"] = answers.groupby(columns[:-1]).cumcount() + 1
    return tables.check(answers, tables.GENERATIONS, where=str(folder))


def _list_articles(content: Any, source: str = "all") -> list[tuple[str, str, str | None]]:
    """Return (outlet, article, text) of a file, or say how it is nested."""
    if isinstance(content, list):
        # The release numbers its headlines from 1.
        content = {str(number): text for number, text in enumerate(content, start=1)}
    if not isinstance(content, dict):
        raise ValueError(f"holds a {type(content).__name__}, neither a list nor an object")
    if all(value is None or isinstance(value, str) for value in content.values()):
        return [(source, str(article), text) for article, text in content.items()]
    outlets = source == "all" and not any(str(name).isdigit() for name in content)
    if outlets and all(isinstance(value, dict | list) for value in content.values()):
        return [row for name, value in content.items() for row in _list_articles(value, str(name))]
    kinds = ", ".join(sorted({type(value).__name__ for value in content.values()}))
    raise ValueError(f"is an object with values of kinds {kinds}, not text by article")
