"""The instruction dataset: the judge's prompt for a labelled text, and the answer it should give.

Fan et al. 2024 (section 3.2, Table 8) fine-tune a model on such pairs. Only the training side of a
split is used; nothing of the other side gets in.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal

import pandas as pd

from nbbias import biasalert_prompt, contracts, outputs
from nbbias.biasalert_prompt import LONGEST, answer
from nbbias.contracts_biasalert import LABELLED
from nbbias.corpus import read_table
from nbbias.errors import ContractError, DataError

Layout = Literal["messages", "completion"]

#: What the column `split` says of a text to learn from.
TRAIN = "train"

COLUMNS = ["text_id", "prompt", "completion", "biased"]


def instructions(
    labelled: pd.DataFrame,
    evidence: pd.DataFrame | None = None,
    *,
    retrieval: bool = True,
    steps: bool = True,
    demonstrations: bool = True,
) -> pd.DataFrame:
    """Write the instruction dataset from labelled texts.

    Parameters
    ----------
    labelled
        LABELLED with `split`: rows whose split is ``"train"`` are used, in their order.
        `bias_type`, `group` and `attribute` go into the answer where they are known.
    evidence
        EVIDENCE found for these texts, among entries that are not the texts themselves.
    retrieval, steps, demonstrations
        As in `biasalert_prompt.write`; judge with the same ones.

    Returns
    -------
    DataFrame
        `text_id`, `prompt`, `completion` (Table 8's template), `biased`. Blank texts, and those
        longer than a prompt shows, are left out (`counts` says how many).

    Raises
    ------
    ContractError
        `split` or another column is missing, or a text of the training side is on the other side
        too, letter for letter.
    DataError
        No text is left to learn from.
    """
    side = _side(labelled)
    table = biasalert_prompt.prompts(
        side[["text_id", "text"]], evidence, retrieval=retrieval, steps=steps,
        demonstrations=demonstrations,
    )  # fmt: skip
    whole = ~table["text_id"].duplicated(keep=False)
    made = table[whole].merge(side.drop(columns="text"), on="text_id", how="left")
    if made.empty:
        raise DataError("labelled", f"no text has the split {TRAIN!r}, words, and room in a prompt")
    named = [
        {name: row[name] if isinstance(row.get(name), str) else None
         for name in ("bias_type", "group", "attribute")}
        for row in made.to_dict("records")
    ]  # fmt: skip
    made["completion"] = [
        answer(bool(biased), **one) for biased, one in zip(made["biased"], named, strict=True)
    ]
    return made[COLUMNS]


def counts(labelled: pd.DataFrame) -> pd.DataFrame:
    """Count what of a labelled table becomes part of the instruction dataset.

    Returns
    -------
    DataFrame
        `what` (used: biased, used: not biased, other side, blank, too long) and `rows`.
    """
    side = _side(labelled)
    words = side["text"].fillna("").str.strip()
    blank, long = words == "", side["text"].fillna("").str.len() > LONGEST
    used = side[~blank & ~long]
    rows = [
        ("used: biased", int(used["biased"].sum())),
        ("used: not biased", int((~used["biased"]).sum())),
        ("other side", len(labelled) - len(side)),
        ("blank", int(blank.sum())),
        ("too long", int((long & ~blank).sum())),
    ]
    return pd.DataFrame(rows, columns=["what", "rows"])


def _side(labelled: pd.DataFrame) -> pd.DataFrame:
    contracts.need(labelled, ["split"], where="labelled")
    table = contracts.check(labelled, LABELLED, where="labelled")
    ours = table["split"] == TRAIN
    shared = set(table.loc[ours, "text"].dropna()) & set(table.loc[~ours, "text"].dropna())
    if shared:
        raise ContractError(
            "labelled", f"{len(shared)} texts stand on both sides of the split; split them anew"
        )
    return table[ours]


def save(table: pd.DataFrame, path: str | Path, *, layout: Layout = "messages") -> Path:
    """Write an instruction dataset as JSON Lines, whole or not at all.

    ``"messages"`` writes a user's and an assistant's message per line, as most trainers read;
    ``"completion"`` writes `prompt` and `completion`.
    """
    lines = [
        json.dumps(_line(prompt, completion, layout), ensure_ascii=False)
        for prompt, completion in zip(table["prompt"], table["completion"], strict=True)
    ]
    return outputs.write(Path(path), "".join(f"{line}\n" for line in lines))


def _line(prompt: str, completion: str, layout: Layout) -> dict[str, Any]:
    if layout == "completion":
        return {"prompt": prompt, "completion": completion}
    roles = (("user", prompt), ("assistant", completion))
    return {"messages": [{"role": role, "content": words} for role, words in roles]}


def read(path: str | Path) -> pd.DataFrame:
    """Read an instruction dataset in either layout: `prompt` and `completion`.

    Raises
    ------
    DataError
        The file cannot be read, or a line is neither.
    """
    table = read_table(path)
    if "messages" in table:
        pairs = [_pair(one) for one in table["messages"]]
        wrong = [number for number, pair in enumerate(pairs, start=1) if pair is None]
        if wrong:
            told = f"line {wrong[0]} is no pair of a user's and an assistant's message"
            raise DataError(str(path), f"{told} ({len(wrong)} such lines)")
        table = pd.DataFrame(pairs, columns=["prompt", "completion"])
    contracts.need(table, ["prompt", "completion"], where=str(path))
    return table[["prompt", "completion"]]


def _pair(messages: Any) -> tuple[str, str] | None:
    try:
        asked, told = messages
        roles = (asked["role"], told["role"])
        return (asked["content"], told["content"]) if roles == ("user", "assistant") else None
    except (TypeError, ValueError, KeyError):
        return None
