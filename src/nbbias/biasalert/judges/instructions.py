"""Instruction data for a language model that is to judge bias (Fan et al. 2024, section 3.2).

Pairs of the judge's prompt for a labelled text and the answer that it should give. Any trainer of
conversations reads the file; ``docs/howto/biasalert-lora.md`` shows one with the paper's settings.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd

from nbbias import tables
from nbbias.biasalert.contracts import LABELLED
from nbbias.biasalert.judges import prompt as judge_prompt
from nbbias.biasalert.judges.prompt import LONGEST, answer
from nbbias.tables import ContractError, DataError

#: What the column `split` says of a text to learn from.
TRAIN = "train"

COLUMNS = ["text_id", "prompt", "completion", "biased"]


def instructions(
    labelled: pd.DataFrame, evidence: pd.DataFrame | None = None, **form: Any
) -> pd.DataFrame:
    """Write the instruction dataset from labelled texts.

    Parameters
    ----------
    labelled
        LABELLED with `split`: rows whose split is ``"train"`` are used, in their order.
        `bias_type`, `group` and `attribute` go into the answer where they are known.
    evidence
        EVIDENCE found for these texts, among entries that are not the texts themselves.
    **form
        Wording and parts, as in `biasalert.judges.prompt.write`; judge with the same ones.

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
    table = judge_prompt.prompts(side[["text_id", "text"]], evidence, **form)
    whole = ~table["text_id"].duplicated(keep=False)
    made = table[whole].merge(side.drop(columns="text"), on="text_id", how="left")
    if made.empty:
        raise DataError("labelled", f"no text has the split {TRAIN!r}, words, and room in a prompt")
    names = ("bias_type", "group", "attribute")
    made["completion"] = [
        answer(bool(row["biased"]), **{n: v for n in names if isinstance(v := row.get(n), str)})
        for row in made.to_dict("records")
    ]
    return made[COLUMNS]


def counts(labelled: pd.DataFrame) -> pd.DataFrame:
    """Count what of a labelled table becomes part of the instruction dataset.

    Returns
    -------
    DataFrame
        `what` (used: biased, used: not biased, other side, blank, too long) and `rows`.

    Examples
    --------
    >>> labelled = pd.DataFrame({"text_id": list("abcd"), "text": ["one", "two", " ", "four"],
    ...                          "biased": [True, False, True, False],
    ...                          "split": ["train", "train", "train", "test"]})
    >>> counts(labelled).set_index("what")["rows"].to_dict()
    {'used: biased': 1, 'used: not biased': 1, 'other side': 1, 'blank': 1, 'too long': 0}
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
    tables.require_columns(labelled, ["split"], where="labelled")
    table = tables.check(labelled, LABELLED, where="labelled")
    ours = table["split"] == TRAIN
    shared = set(table.loc[ours, "text"].dropna()) & set(table.loc[~ours, "text"].dropna())
    if shared:
        raise ContractError(
            "labelled", f"{len(shared)} texts stand on both sides of the split; split them anew"
        )
    return table[ours]


def save(table: pd.DataFrame, path: str | Path) -> Path:
    """Write an instruction dataset as JSON Lines, a conversation a line, whole or not at all."""
    lines = [
        json.dumps(
            {
                "prompt": [{"role": "user", "content": prompt}],
                "completion": [{"role": "assistant", "content": completion}],
            },
            ensure_ascii=False,
        )
        for prompt, completion in zip(table["prompt"], table["completion"], strict=True)
    ]
    return tables.write(Path(path), "".join(f"{line}\n" for line in lines))
