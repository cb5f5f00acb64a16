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

import pandas as pd

from nbbias import params, tables
from nbbias.asking import plan, store
from nbbias.asking.plan import SAID, Plan
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


def table(laid_out: Plan) -> pd.DataFrame:
    """Return what the models said to a plan.

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
    path = laid_out.store_path
    with store.opened(path, readonly=path.is_file()) as connection:
        said = store.answers(connection, laid_out.calls["key"])
    return _answered(laid_out, said)


def placeholders(laid_out: Plan) -> pd.DataFrame:
    """Return `table` as it will be when every call is answered; each text is the prompt itself."""
    keys, asked = laid_out.calls["key"], laid_out.calls["prompt"]
    texts = [f"{prompt} ({number})" for number, prompt in enumerate(asked, start=1)]
    said = pd.DataFrame({"key": keys, "status": "answered", "text": texts})
    return _answered(laid_out, said.reindex(columns=list(store.COLUMNS)))


def _answered(laid_out: Plan, said: pd.DataFrame) -> pd.DataFrame:
    """Put what was said beside what was asked; `said` has the store's columns."""
    calls = laid_out.calls.assign(asked=laid_out.calls["prompt"])
    if "way" in calls:
        calls["prompt"] = calls.pop("way")
    if "article_id" not in calls:
        calls["article_id"] = calls["prompt_id"]
    calls = tables.identify_articles(calls)
    both = calls.drop(columns="replicate").merge(
        said[["key", "status", *SAID, "run"]], on="key", how="left", validate="m:1"
    )
    both["error"] = both["error"].where(both["status"].notna(), "not asked yet")
    first = [*tables.GENERATIONS.columns, "prompt_id", "asked", *SAID[1:], "run", "key"]
    rest = [name for name in both if name not in {*first, "status"}]
    both = both[[*first, *rest]]
    for name in ("text", "stop_reason", "refusal", "error", "asked_at", "run"):
        both[name] = both[name].astype("str").where(both[name].notna())
    for name in ("input_tokens", "output_tokens"):
        both[name] = both[name].astype("Int64")
    return tables.check(both, tables.GENERATIONS, where="answers")


def export(laid_out: Plan) -> pd.DataFrame:
    """Write `table` to the plan's `export_path`, whole or not at all, and return it."""
    answers = table(laid_out)
    buffer = BytesIO()
    answers.to_parquet(buffer, index=False)
    try:
        # Through a link to the file itself: a study may name that one.
        tables.write(Path(os.path.realpath(laid_out.export_path)), buffer.getvalue())
    except OSError as error:
        raise DataError(str(laid_out.export_path), f"cannot be written: {error.strerror}") from None
    return answers


# --- in ---------------------------------------------------------------------------------------


def has_more(laid_out: Plan) -> bool:
    """Tell whether the exported table holds answers that the store does not."""
    return bool(_unfiled(laid_out) & set(laid_out.calls["key"]))


def _unfiled(laid_out: Plan) -> set[str]:
    """Return the keys of answers that the exported table holds and the store does not."""
    known, _ = store.look(laid_out.store_path)
    return {one for one in plan.exported(laid_out) if known.get(one) != "answered"}


def refuse_losses(laid_out: Plan) -> None:
    """Refuse to write where it cannot be done, or would take answers away, before any is paid for.

    Raises
    ------
    DataError
        The exported table cannot be written, or holds answers of another plan that are in no store.
    """
    path = laid_out.export_path
    only_here = _unfiled(laid_out) - set(laid_out.calls["key"])
    if only_here:
        raise DataError(
            str(path),
            f"holds {len(only_here):,} answers that are neither of this plan nor in "
            f"{laid_out.store_path}, and would be lost; name another export_path, or their store",
        )
    if told := tables.unwritable(Path(os.path.realpath(path)).parent):
        raise DataError(str(path), f"cannot be written: {told}")


def take_in(laid_out: Plan, path: str | Path) -> pd.DataFrame:
    """File recorded answers in the plan's store, so that they are not asked for.

    Parameters
    ----------
    laid_out
        The plan whose calls they answer.
    path
        Parquet, CSV, JSON or JSON Lines. A file of this package's own (an export, or answers
        rescued from a full disk) is filed by its `key`. Any other needs `model` and `text`, and
        either `prompt_id`, or `article_id` with `source` and `prompt` (the way) where there are
        any, or `prompt` with the very text that is asked; repeats are counted where there is no
        `sample`, and where there is a `temperature` it must be the plan's. The folder of a release
        of Fang et al. is read by `release`.

    Returns
    -------
    DataFrame
        `what` and `rows`: filed, there already, no text, not in the plan.

    Raises
    ------
    DataError
        The file cannot be read, or nothing in it says what was asked.
    """
    folder = Path(path).is_dir()
    given = release(path) if folder else read_table(path, _FILE)
    tables.require_columns(given, ["model", "text"], where=str(path))
    if "key" in given and given["key"].notna().all():
        calls = laid_out.calls.assign(asked=laid_out.calls["prompt"])
        own = given[["key", *(c for c in SAID if c in given)]]
        found = calls.merge(own.drop_duplicates("key"), on="key", how="inner")
    else:
        found = _matched(laid_out.calls, given, where=str(path))
    blank = found["text"].isna() | (found["text"].astype("str") == "") & (_column(found) == "")
    rows = [_filed(row, laid_out, Path(path).name) for row in found[~blank].to_dict("records")]
    with store.opened(laid_out.store_path) as connection:
        filed = store.record(connection, *rows)
    counts = {
        "filed": filed,
        "there already": len(rows) - filed,
        "no text": int(blank.sum()),
        "not in the plan": len(given) - len(found),
    }
    return pd.DataFrame(counts.items(), columns=["what", "rows"])


def _column(found: pd.DataFrame) -> pd.Series:
    """Return the refusals, empty where there are none: a filtered answer is one without text."""
    return found["refusal"].fillna("") if "refusal" in found else pd.Series("", index=found.index)


def _matched(calls: pd.DataFrame, given: pd.DataFrame, *, where: str) -> pd.DataFrame:
    """Join recorded answers with the calls that they answer."""
    asked = calls.assign(asked=calls["prompt"])
    if "prompt_id" in given:
        on = ["prompt_id"]
    elif "article_id" in given and "article_id" in asked:
        on = ["article_id"]
        if "source" in given and set(given["source"]) != {"all"}:
            on.append("source")
        elif "source" in asked and asked.groupby("article_id")["source"].nunique().max() > 1:
            raise DataError(where, "names no source, but articles of several share an id; add it")
        if "way" in asked:
            asked["prompt"] = asked["way"]
            on += ["prompt"] if "prompt" in given else []
    elif "prompt" in given:
        on = ["prompt"]
    else:
        raise DataError(where, "needs prompt_id, article_id or prompt, to know what was asked")
    if "temperature" not in given and asked["temperature"].nunique(dropna=False) > 1:
        raise DataError(where, "names no temperature, but the plan asks at several; add it")
    kept = [*SAID[1:], "sample", "temperature"]
    given = given[[*on, "model", "text", *(c for c in kept if c in given)]].copy()
    on += ["temperature"] if "temperature" in given else []
    if "sample" not in given:
        given["sample"] = given.groupby([*on, "model"], dropna=False).cumcount() + 1
    asked["sample"] = asked.groupby([*on, "model"], dropna=False).cumcount() + 1
    given = given.drop_duplicates([*on, "model", "sample"])
    return asked.merge(given, on=[*on, "model", "sample"], how="inner")


def _filed(row: Mapping[str, Any], laid_out: Plan, name: str) -> dict[str, Any]:
    chosen = laid_out.block
    known = {k: v for k, v in row.items() if k in SAID and not pd.isna(v)}
    tokens: dict[str, Any] = {
        k: int(known[k]) for k in ("input_tokens", "output_tokens") if k in known
    }
    text = params.redact_known(str(row["text"]))
    return {
        "key": row["key"],
        "model": row["model"],
        "base_url": chosen.base_url,
        "messages": store.canonical(plan.messages(chosen, row["asked"])),
        "parameters": store.canonical(plan.settings(chosen, row["temperature"])),
        "replicate": row["replicate"],
        "stop_reason": "recorded",
        "refusal": "",
        "asked_at": store.now(),
        **known,
        **tokens,
        "status": "answered",
        "text": text,
        "attempts": 0,
        "run": f"recorded: {name}",
    }


# --- the release of Fang et al. -----------------------------------------------------------------


def release(folder: str | Path) -> pd.DataFrame:
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
        There is no such file, or every one that is nested otherwise, with what was found in it.
    """
    folder = Path(folder)
    found = [(p, "neutral", p.stem) for p in sorted((folder / "news_data").glob("*.json"))]
    biased = sorted((folder / "bias_data" / "news_data").glob("*.json"))
    found += [(p, "biased", p.stem.removeprefix("bias").lstrip("_")) for p in biased]
    found = [one for one in found if not one[0].stem.endswith(("_title", "_titles"))]
    if not found:
        told = "holds neither news_data/<model>.json nor bias_data/news_data/bias<model>.json"
        raise DataError(str(folder), told)
    rows, wrong = [], []
    for path, way, model in found:
        try:
            articles = _articles(tables.read_json(path))
        except DataError as error:
            wrong += [f"{path.name}: {breach}" for breach in error.breaches]
        except ValueError as error:
            wrong.append(f"{path.name}: {error}")
            continue
        rows += [(source, article, model, way, text) for source, article, text in articles]
    if wrong:
        raise DataError(str(folder), wrong)
    columns = ["source", "article_id", "model", "prompt", "text"]
    answers = pd.DataFrame(rows, columns=columns)
    answers["sample"] = answers.groupby(columns[:-1]).cumcount() + 1
    return tables.check(answers, tables.GENERATIONS, where=str(folder))


def _articles(content: Any, source: str = "all") -> list[tuple[str, str, str | None]]:
    """Return (outlet, article, text) of a file, or say how it is nested."""
    if isinstance(content, list):
        # The release numbers its headlines from 1.
        content = {str(number): text for number, text in enumerate(content, start=1)}
    if not isinstance(content, dict):
        raise ValueError(f"holds a {type(content).__name__}, neither a list nor an object")
    values = list(content.values())
    if all(value is None or isinstance(value, str) for value in values):
        return [(source, article, text) for article, text in content.items()]
    if source == "all" and all(isinstance(value, dict | list) for value in values):
        if all(str(name).isdigit() for name in content):
            return [one for name, value in content.items() for one in _of_one(name, value)]
        return [one for name, value in content.items() for one in _articles(value, str(name))]
    kinds = ", ".join(sorted({type(value).__name__ for value in values}))
    raise ValueError(f"is an object with values of kinds {kinds}, not text by article")


def _of_one(article: str, value: Any) -> list[tuple[str, str, str | None]]:
    """Return the texts of one article: a list of them, or a record with the text in it."""
    if isinstance(value, list) and all(isinstance(text, str) for text in value):
        return [("all", article, text) for text in value]
    if isinstance(value, dict):
        for name in ("text", "article", "content", "news", "generated"):
            if isinstance(value.get(name), str):
                return [(str(value.get("source", "all")), article, value[name])]
        raise ValueError(f"article {article} is an object with {', '.join(map(str, value))}")
    raise ValueError(f"article {article} is a list of something else than text")
