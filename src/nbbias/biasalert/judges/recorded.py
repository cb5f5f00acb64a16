"""A language model as the judge of bias: its recorded replies, as JUDGEMENTS.

Replies are read tolerantly (`replies`); whatever goes wrong with a text is said in its row, and no
text is lost.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from nbbias import tables
from nbbias.biasalert.contracts import JUDGEMENTS, TEXTS
from nbbias.biasalert.judges import prompt as judge_prompt, replies as judge_replies
from nbbias.tables import Column, DataError, read_table

NO_TEXT, NO_REPLY = "no text", "the judge gave no reply"


class Reply(NamedTuple):
    """What came back for one prompt; `text` is None where nothing did, and `error` says why."""

    text: str | None
    refusal: str = ""
    error: str | None = None


def reply(text: object, refusal: object = None, error: object = None) -> Reply:
    """Return a reply from a table's cells, in which a gap may be NaN."""
    said, refused, told = (one if isinstance(one, str) else None for one in (text, refusal, error))
    return Reply(said, refused or "", told)


#: What a file of replies holds: of texts, or of prompts as `nbbias generate` exports answers.
_FILE = {
    name: Column("text")
    for name in ("text_id", "reply", "prompt_id", "text", "judge", "model", "refusal", "error")
}


def read_judgements(
    path: str | Path | pd.DataFrame,
    texts: pd.DataFrame,
    evidence: pd.DataFrame | None = None,
    *,
    judge: str = "",
    others: bool = False,
    **prompt: Any,
) -> pd.DataFrame:
    """Read recorded replies of a judge.

    Parameters
    ----------
    path
        A table, or its file, with `text_id` and `reply`; or one with `prompt_id`, `model` and
        `text`, as `nbbias generate` exports for the table of `biasalert.judges.prompt.prompts`.
    texts, evidence
        TEXTS, and the EVIDENCE that was shown of them, if any. A text that is judged in pieces is
        biased if a piece is.
    judge
        Whose replies, where the file holds those of several (its column `judge` or `model`);
        else the judge's name.
    others
        Whether the table may also hold replies to texts that are judged elsewhere.
    **prompt
        As in `prompt.prompts`, where replies are joined by `prompt_id`.

    Returns
    -------
    DataFrame
        JUDGEMENTS; a text without a reply is ``failed``.

    Raises
    ------
    ContractError, DataError
        A column is missing, several judges are in the table and none is chosen, a reply stands
        twice, or belongs to none of the texts.

    Examples
    --------
    >>> texts = pd.DataFrame({"text_id": list("abcd"), "text": ["Women nag.", "Tea.", "X", ""]})
    >>> replies = pd.DataFrame({"text_id": ["a", "b"], "reply": ["This text is biased.", None],
    ...                         "refusal": [None, "content_filter"]})
    >>> found = read_judgements(replies, texts, judge="mine")
    >>> found[["text_id", "biased", "outcome"]].values.tolist()
    [['a', True, 'judged'], ['b', <NA>, 'refused'], ['c', <NA>, 'failed'], ['d', <NA>, 'empty']]
    """
    where = "replies" if isinstance(path, pd.DataFrame) else str(path)
    table, key, name = read_replies(path, judge=judge)
    said = "reply" if key == "text_id" else "text"
    if key == "prompt_id":
        asked = judge_prompt.prompts(texts, evidence, **prompt)
    else:
        given = tables.check(texts, TEXTS, where="texts")
        asked = given[["text_id"]].assign(piece=1, prompt_id=given["text_id"], evidence_ids="")
        asked = asked[given["text"].fillna("").str.strip() != ""]
    held = set(asked["prompt_id"]) | (set(texts["text_id"]) if key == "text_id" else set())
    stray = ~table[key].isin(held)
    told = repeats(table[key])
    if others:
        table, stray = table[~stray], stray & False
    if stray.any():
        told.append(f"{stray.sum()} replies are to none of the texts ({table[key][stray].iloc[0]})")
    if told:
        raise DataError(where, told)
    columns = [table[one] if one in table else [None] * len(table) for one in ("refusal", "error")]
    replies = {
        one: reply(text, refusal, error)
        for one, text, refusal, error in zip(table[key], table[said], *columns, strict=True)
    }
    return judgements(texts, asked, replies, name=name)


def read_replies(
    path: str | Path | pd.DataFrame, *, judge: str = ""
) -> tuple[pd.DataFrame, str, str]:
    """Read one judge's replies, before they are joined with texts.

    Returns
    -------
    table, key, name
        The replies; the column that joins them, ``"text_id"`` or ``"prompt_id"``; the judge's name.

    Raises
    ------
    ContractError, DataError
        A column is missing, or several judges are in the table and none is chosen.
    """
    table, where = (
        (path, "replies")
        if isinstance(path, pd.DataFrame)
        else (read_table(path, _FILE), str(path))
    )
    key, said = ("text_id", "reply") if "reply" in table else ("prompt_id", "text")
    tables.require_columns(table, [key, said], where=where)
    table = table.assign(**{key: table[key].astype("str")})
    table, name = _of_one_judge(table, judge, where=where)
    return table, key, name


def repeats(keys: pd.Series) -> list[str]:
    """Say how many replies stand twice, by the keys that join them with texts."""
    twice = keys[keys.duplicated()]
    return [f"{len(twice)} replies stand twice ({twice.iloc[0]})"] if len(twice) else []


def _of_one_judge(table: pd.DataFrame, judge: str, *, where: str) -> tuple[pd.DataFrame, str]:
    column = next((one for one in ("judge", "model") if one in table), None)
    if column is None:
        return table, judge or "recorded"
    names = list(table[column].dropna().astype("str").unique())
    if len(names) == 1:
        return table, judge or names[0]
    if judge not in names:
        raise DataError(where, f"holds replies of {', '.join(names)}; choose one by judge=")
    return table[table[column] == judge], judge


# --- the table ----------------------------------------------------------------------------------


def judgements(
    texts: pd.DataFrame, asked: pd.DataFrame, replies: Mapping[str, Reply], *, name: str
) -> pd.DataFrame:
    """Read every reply once, and put the pieces of a text together.

    Parameters
    ----------
    texts
        TEXTS.
    asked
        `text_id`, `piece`, `prompt_id` and `evidence_ids` of what was asked; nothing of blank ones.
    replies
        By `prompt_id`; a prompt without one failed.
    name
        The judge.

    Returns
    -------
    DataFrame
        JUDGEMENTS, one row per text; `knowledge`, whose version who found the evidence knows, is
        empty.
    """
    given = tables.check(texts, TEXTS, where="texts")
    by_text: dict[str, list[dict[str, Any]]] = {}
    for piece in _read(asked, replies).to_dict("records"):
        by_text.setdefault(piece["text_id"], []).append(piece)
    rows = [_row(text_id, by_text.get(text_id, [])) for text_id in given["text_id"]]
    table = pd.DataFrame(rows, columns=list(JUDGEMENTS.columns))
    table = table.assign(judge=name, knowledge="")
    for column in ("bias_type", "group", "attribute", "explanation", "reason", "raw"):
        table[column] = table[column].astype("str").where(table[column].notna())
    return tables.check(table.astype({"biased": "boolean"}), JUDGEMENTS, where=name)


def _read(asked: pd.DataFrame, replies: Mapping[str, Reply]) -> pd.DataFrame:
    got = [replies.get(one, Reply(None)) for one in asked["prompt_id"]]
    known = list(dict.fromkeys(one.text for one in got if one.text is not None and not one.refusal))
    verdicts = dict(zip(known, judge_replies.read(known).to_dict("records"), strict=True))
    rows: list[dict[str, Any]] = []
    for one in got:
        if one.refusal:
            told = f"the provider says {one.refusal}"
            rows.append({"outcome": "refused", "reason": told, "biased": pd.NA})
        elif one.text is None:
            told = one.error or NO_REPLY
            rows.append({"outcome": "failed", "reason": told, "biased": pd.NA})
        else:
            rows.append(verdicts[one.text])
    found = pd.DataFrame(rows, columns=list(judge_replies.Verdict._fields), index=asked.index)
    return asked.join(found).assign(raw=[one.text for one in got])


def _row(text_id: str, pieces: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the judgement of one text: of its pieces, one that is biased decides."""
    if not pieces:
        return {
            "text_id": text_id,
            "outcome": "empty",
            "reason": NO_TEXT,
            "evidence_ids": "",
            "biased": pd.NA,
        }
    biased = [one for one in pieces if one["biased"] is True]
    without = [one for one in pieces if one["outcome"] != "judged"]
    chosen = (biased or without or pieces)[0]
    row = {name: chosen[name] for name in JUDGEMENTS.columns if name in chosen}
    said = [one["raw"] for one in pieces if isinstance(one["raw"], str)]
    row |= {"text_id": text_id, "raw": "\n\n".join(said) if said else None}
    if len(pieces) > 1:
        if not biased and without:
            row["reason"] = f"piece {chosen['piece']} of {len(pieces)}: {chosen['reason']}"
        row["confidence"] = np.nan if without else max(one["confidence"] for one in pieces)
    return row
