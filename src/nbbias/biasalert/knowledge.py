"""What people hold against groups, as a table: the knowledge of biasalert.

An entry is one statement with its type of bias ("women can't handle drugs", gender). Its id is a
hash of both, and the version of a knowledge is a hash of its entries: two tables of the same
entries have the same version, whatever their order.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from pathlib import Path

import pandas as pd

from nbbias.biasalert.contracts import KNOWLEDGE
from nbbias.biasalert.groups import targets, types
from nbbias.tables import Column, check, read_table, require_columns

COLUMNS = ["entry_id", "statement", "bias_type", "group", "attribute", "source"]
LOST_COLUMNS = ["reason", "n"]

#: What a file of statements holds; one that was kept has ids and sources.
FILE = {name: Column("text") for name in COLUMNS} | {"statement": Column("text", needed=True)}

_STRAIGHT = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"'})
#: An entry longer than this is a post, not a bias: nobody can compare a text with it.
_LONGEST = 400


def normalise(statement: str) -> str:
    """Write a statement as the paper's entries are: lower case, one space, no mark at its ends.

    Examples
    --------
    >>> normalise("  Women CAN’T park. ")
    "women can't park"
    """
    folded = unicodedata.normalize("NFKC", statement).translate(_STRAIGHT)
    return re.sub(r"\s+", " ", folded).strip(" \t\n.,;:!?\"'-").lower()


def build(
    table: pd.DataFrame, *, source: str, refine: bool = False
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Build a knowledge from any table of statements.

    Parameters
    ----------
    table
        `statement`; `bias_type`, one of the seven or a category of SBIC, BiasAsker, RedditBias or
        CrowS-Pairs; and where known `group` and `attribute`. Without a type, it is that of the
        group, or of the group that the statement names.
    source
        Where the statements come from; kept with each entry.
    refine
        Give a group of a faith or an orientation that type, as SBIC, which has neither, needs it.

    Returns
    -------
    (DataFrame, DataFrame)
        A KNOWLEDGE, one row per distinct statement and type, in the order of the table; and what
        was lost: `reason`, `n` (rows).

    Raises
    ------
    ContractError
        The table has no column `statement`.

    Examples
    --------
    >>> found, lost = build(pd.DataFrame({"statement": ["Women cannot park."]}), source="mine")
    >>> found[["statement", "bias_type", "group"]].to_dict("records")
    [{'statement': 'women cannot park', 'bias_type': 'gender', 'group': 'women'}]
    """
    require_columns(table, ["statement"], where=source)
    rows = table.reset_index(drop=True)
    given = pd.DataFrame(
        {
            name: rows[name] if name in rows else pd.Series(pd.NA, index=rows.index)
            for name in ("statement", "bias_type", "group", "attribute")
        }
    ).astype("str")
    given["statement"] = given["statement"].fillna("").map(normalise)
    for name in ("group", "attribute"):
        given[name] = given[name].str.strip().replace("", pd.NA)
    said = targets(given["group"].fillna("") + " " + given["statement"])
    stated = given["bias_type"].str.strip().str.lower()
    unknown = stated.notna() & (stated != "") & ~stated.isin(list(types()))
    kinds = stated.map(types())
    if refine:
        finer = said["bias_type"].isin(["religion", "orientation"])
        kinds = kinds.mask(finer & kinds.isin(["culture", "gender"]), said["bias_type"])
    given["bias_type"] = kinds.fillna(said["bias_type"])
    given["group"] = given["group"].fillna(said["group"])
    lost = {
        "no statement": given["statement"] == "",
        f"longer than {_LONGEST} characters": given["statement"].str.len() > _LONGEST,
        "of a category that is none of the seven types": unknown,
        "of no type, and names no group that is known": given["bias_type"].isna(),
    }
    return _kept(given, lost, source)


def _kept(
    given: pd.DataFrame, lost: dict[str, pd.Series], source: str
) -> tuple[pd.DataFrame, pd.DataFrame]:
    left = pd.Series(True, index=given.index)
    counts = {}
    for reason, flags in lost.items():
        counts[reason] = int((flags & left).sum())
        left &= ~flags
    entries = given[left].assign(source=source)
    entries["entry_id"] = [
        entry_id(*pair) for pair in zip(entries["statement"], entries["bias_type"], strict=True)
    ]
    again = entries.duplicated("entry_id")
    counts["said before"] = int(again.sum())
    knowledge = entries.loc[~again, COLUMNS].reset_index(drop=True).astype("str")
    losses = pd.DataFrame([(reason, n) for reason, n in counts.items() if n], columns=LOST_COLUMNS)
    return check(knowledge, KNOWLEDGE, where=source), losses


def entry_id(statement: str, bias_type: str) -> str:
    """Return the id of an entry: the start of a SHA-256 of its statement and type.

    Examples
    --------
    >>> len(entry_id("women cannot park", "gender"))
    16
    """
    return hashlib.sha256(f"{bias_type}\0{statement}".encode()).hexdigest()[:16]


def version(knowledge: pd.DataFrame) -> str:
    """Return the version of a knowledge: a hash of what its entries say, whatever their order.

    Examples
    --------
    >>> found, _ = build(pd.DataFrame({"statement": ["women lie", "men lie"]}), source="mine")
    >>> version(found) == version(found[::-1])
    True
    """
    ordered = knowledge[COLUMNS].fillna("").sort_values("entry_id")
    found = hashlib.sha256()
    for row in ordered.itertuples(index=False):
        found.update("\0".join(map(str, row)).encode() + b"\1")
    return found.hexdigest()[:12]


def load(path: Path | str) -> pd.DataFrame:
    """Read a file of KNOWLEDGE (CSV, Parquet, JSON)."""
    table = read_table(path, FILE)
    return check(table, KNOWLEDGE, where=str(path))[COLUMNS]
