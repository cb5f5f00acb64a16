"""Recorded replies of a judge, read into the table that every judge gives."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from nbbias import biasalert_prompt, contracts
from nbbias.biasalert_asking import reply
from nbbias.biasalert_llm import judgements
from nbbias.contracts_biasalert import TEXTS
from nbbias.corpus import read_table
from nbbias.errors import DataError


def read_judgements(
    path: str | Path | pd.DataFrame,
    texts: pd.DataFrame,
    evidence: pd.DataFrame | None = None,
    *,
    judge: str = "",
    knowledge: str = "",
    others: bool = False,
    **prompt: Any,
) -> pd.DataFrame:
    """Read recorded replies of a judge.

    Parameters
    ----------
    path
        A table, or its file, with `text_id` and `reply`; or one with `prompt_id`, `model` and
        `text`, as `nbbias generate` exports for the table of `biasalert_prompt.prompts`.
    texts, evidence, knowledge
        As in `biasalert_llm.judge_by`.
    judge
        Whose replies, where the file holds those of several (its column `judge` or `model`);
        else the judge's name.
    others
        Whether the table may also hold replies to texts that are judged elsewhere.
    **prompt
        As in `biasalert_prompt.prompts`, where replies are joined by `prompt_id`.

    Returns
    -------
    DataFrame
        JUDGEMENTS; a text without a reply is ``failed``.

    Raises
    ------
    ContractError, DataError
        A column is missing, several judges are in the table and none is chosen, a reply stands
        twice, or belongs to none of the texts.
    """
    table, where = (path, "replies") if isinstance(path, pd.DataFrame) else (
        read_table(path), str(path)
    )  # fmt: skip
    key, said = ("text_id", "reply") if "reply" in table else ("prompt_id", "text")
    contracts.need(table, [key, said], where=where)
    table = table.assign(**{key: table[key].astype("str")})
    table, name = _of_one_judge(table, judge, where=where)
    if key == "prompt_id":
        asked = biasalert_prompt.prompts(texts, evidence, **prompt)
    else:
        given = contracts.check(texts, TEXTS, where="texts")
        asked = given[["text_id"]].assign(piece=1, prompt_id=given["text_id"], evidence_ids="")
        asked = asked[given["text"].fillna("").str.strip() != ""]
    told = []
    twice = table[key].duplicated()
    if twice.any():
        told.append(f"{twice.sum()} replies stand twice ({table.loc[twice, key].iloc[0]})")
    held = set(asked["prompt_id"]) | (set(texts["text_id"]) if key == "text_id" else set())
    stray = ~table[key].isin(held)
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
    return judgements(texts, asked, replies, name=name, knowledge=knowledge)


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
