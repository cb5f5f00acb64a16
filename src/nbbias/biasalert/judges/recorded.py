"""A language model as the judge of bias: its recorded replies, as JUDGEMENTS.

Replies are read tolerantly (`replies`); whatever goes wrong with a text is said in its row, and no
text is lost.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from nbbias.biasalert.contracts import JUDGEMENTS, TEXTS
from nbbias.biasalert.judges import prompt as judge_prompt, replies as judge_replies
from nbbias.biasalert.judges.attribution import NO_TEXT
from nbbias.tables import Column, DataError, check, is_blank, read_table, require_columns

NO_REPLY = "the judge gave no reply"

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
    knowledge: str = "",
    **prompt: Any,
) -> pd.DataFrame:
    """Read recorded replies of a judge.

    Parameters
    ----------
    path
        A table, or its file, with `text_id` and `reply`; or one with `prompt_id`, `model` and
        `text`, as `nbbias generate` exports for the table of `biasalert.judges.prompt.prompts`.
    texts, evidence
        TEXTS, and the EVIDENCE that was shown of them, if any.
    judge
        Whose replies, where the file holds those of several (its column `judge` or `model`);
        else the judge's name.
    knowledge
        The version of the knowledge that the evidence came from.
    **prompt
        As in `prompt.prompts`, where replies are joined by `prompt_id`.

    Returns
    -------
    DataFrame
        JUDGEMENTS; a text without a reply is ``failed``.

    Raises
    ------
    ContractError, DataError
        A column is missing, several judges are in the table and none is chosen, or a reply stands
        twice.

    Examples
    --------
    >>> texts = pd.DataFrame({"text_id": list("abcd"), "text": ["Women nag.", "Tea.", "X", ""]})
    >>> replies = pd.DataFrame({"text_id": ["a", "b"], "reply": ["This text is biased.", None],
    ...                         "refusal": [None, "content_filter"]})
    >>> judgements = read_judgements(replies, texts, judge="mine")
    >>> judgements[["text_id", "biased", "outcome"]].values.tolist()
    [['a', True, 'judged'], ['b', <NA>, 'refused'], ['c', <NA>, 'failed'], ['d', <NA>, 'empty']]
    """
    table, key, name = read_replies(path, judge=judge)
    texts = check(texts, TEXTS, where="texts")
    asked = texts[["text_id"]].assign(prompt_id=texts["text_id"], evidence_ids="")
    if key == "prompt_id":
        asked = judge_prompt.prompts(texts, evidence, **prompt)
    column = "reply" if key == "text_id" else "text"
    replies = table.reindex(columns=[key, column, "refusal", "error"])
    replies = replies.rename(columns={column: "raw", key: "prompt_id"})
    rows = texts[["text_id", "text"]].merge(asked.drop(columns="prompt", errors="ignore"), "left")
    rows = rows.merge(replies, on="prompt_id", how="left").assign(judge=name, knowledge=knowledge)
    # Every reply is read once; of each text without a verdict it is said why.
    distinct = rows["raw"].dropna().drop_duplicates()
    verdicts = judge_replies.read(distinct.set_axis(distinct)).reindex(rows["raw"])
    verdicts = verdicts.astype({"biased": object}).set_axis(rows.index)
    blank = is_blank(rows["text"])
    refusals = rows["refusal"].astype("str").replace("", None)
    cases = {  # a later one counts more
        "failed": (rows["raw"].isna(), rows["error"].astype("str").fillna(NO_REPLY)),
        "refused": (refusals.notna(), "the provider says " + refusals),
        "empty": (blank, pd.Series(NO_TEXT, rows.index)),
    }
    for outcome, (where, reason) in cases.items():
        verdicts.loc[where] = None
        verdicts.loc[where, "outcome"] = outcome
        verdicts.loc[where, "reason"] = reason[where]
    table = verdicts.join(rows[["text_id", "judge", "knowledge", "raw"]])
    table["evidence_ids"] = rows["evidence_ids"].fillna("").mask(blank, "")
    table = table.replace({np.nan: None})[list(JUDGEMENTS.columns)]
    return check(table, JUDGEMENTS, where="replies")


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
        A column is missing, several judges are in the table and none is chosen, or a reply stands
        twice.
    """
    where = "replies" if isinstance(path, pd.DataFrame) else str(path)
    table = path if isinstance(path, pd.DataFrame) else read_table(path, _FILE)
    key, text_column = ("text_id", "reply") if "reply" in table else ("prompt_id", "text")
    require_columns(table, [key, text_column], where=where)
    table = table.assign(**{key: table[key].astype("str")})
    column = next((name for name in ("judge", "model") if name in table), None)
    names = [] if column is None else list(table[column].dropna().astype("str").unique())
    if len(names) > 1:
        if judge not in names:
            raise DataError(where, f"holds replies of {', '.join(names)}; choose one by judge=")
        table = table[table[column] == judge]
    if (twice := table.loc[table[key].duplicated(), key]).any():
        raise DataError(where, f"{len(twice)} replies occur twice ({twice.iloc[0]})")
    return table, key, judge or (names[0] if names else "recorded")
