"""What people hold against groups, as a table that grows and shrinks: the knowledge of biasalert.

An entry is one statement with its type of bias ("women can't handle drugs", gender). Its id is a
hash of both, and the version of a knowledge is a hash of its entries: two tables of the same
entries have the same version, whatever their order.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

import pandas as pd

from nbbias import outputs
from nbbias.biasalert_groups import targets, types
from nbbias.contracts import check, need
from nbbias.contracts_biasalert import KNOWLEDGE
from nbbias.corpus import read_table
from nbbias.errors import DataError, ParameterError

COLUMNS = ["entry_id", "statement", "bias_type", "group", "attribute", "source"]
LOST_COLUMNS = ["reason", "n"]

_LOG = "log.csv"
_LOG_COLUMNS = ["version", "previous", "at", "entries", "added", "withdrawn", "note"]
_STRAIGHT = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"'})
#: An entry longer than this is a post, not a bias: nobody can compare a text with it.
_LONGEST = 400


def normalise(statement: str) -> str:
    """Write a statement as the paper's entries are: lower case, one space, no mark at its ends."""
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
    """
    need(table, ["statement"], where=source)
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
    losses = pd.DataFrame(
        [(reason, n) for reason, n in counts.items() if n], columns=LOST_COLUMNS
    )  # fmt: skip
    return check(knowledge, KNOWLEDGE, where=source), losses


def entry_id(statement: str, bias_type: str) -> str:
    """Return the id of an entry: the start of a SHA-256 of its statement and type."""
    return hashlib.sha256(f"{bias_type}\0{statement}".encode()).hexdigest()[:16]


def version(knowledge: pd.DataFrame) -> str:
    """Return the version of a knowledge: a hash of what its entries say, whatever their order."""
    ordered = knowledge[COLUMNS].fillna("").sort_values("entry_id")
    found = hashlib.sha256()
    for row in ordered.itertuples(index=False):
        found.update("\0".join(map(str, row)).encode() + b"\1")
    return found.hexdigest()[:12]


def empty() -> pd.DataFrame:
    """Return a knowledge without an entry."""
    return pd.DataFrame(columns=COLUMNS).astype("str")


def add(knowledge: pd.DataFrame, entries: pd.DataFrame) -> pd.DataFrame:
    """Return a knowledge with more entries; those that it has stay as they are."""
    new = entries[~entries["entry_id"].isin(knowledge["entry_id"])]
    return check(pd.concat([knowledge, new], ignore_index=True)[COLUMNS], KNOWLEDGE)


def withdraw(knowledge: pd.DataFrame, entry_ids: Iterable[str]) -> pd.DataFrame:
    """Return a knowledge without some entries.

    Raises
    ------
    ParameterError
        An id is not in the knowledge; all such ids are named.
    """
    wanted = list(dict.fromkeys(entry_ids))
    missing = sorted(set(wanted) - set(knowledge["entry_id"]))
    if missing:
        raise ParameterError("withdraw", [f"no entry has the id {one!r}" for one in missing])
    return knowledge[~knowledge["entry_id"].isin(wanted)].reset_index(drop=True)


# --- versions on disk ---------------------------------------------------------------------------


def save(knowledge: pd.DataFrame, folder: Path, *, note: str = "") -> str:
    """Keep a version as Parquet, and a line about it in the folder's log; return the version.

    Earlier versions stay. Where the newest version is this one already, nothing is written. One
    writer at a time: two at once would both be kept, and one of their lines lost.
    """
    own = version(check(knowledge, KNOWLEDGE, where="the knowledge"))
    log = history(folder)
    previous = str(log["version"].iloc[-1]) if len(log) else ""
    if previous == own:
        return own
    before = set(load(folder, version=previous)["entry_id"]) if previous else set()
    now = set(knowledge["entry_id"])
    outputs.write_parquet(knowledge[COLUMNS], folder / f"{own}.parquet")
    line = {
        "version": own, "previous": previous, "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "entries": len(now), "added": len(now - before), "withdrawn": len(before - now),
        "note": " ".join(note.split()),
    }  # fmt: skip
    whole = pd.concat([log, pd.DataFrame([line])], ignore_index=True)[_LOG_COLUMNS]
    outputs.write(folder / _LOG, whole.to_csv(index=False, lineterminator="\n"))
    return own


def history(folder: Path) -> pd.DataFrame:
    """Return the log of a folder of versions, oldest first; empty where there is none.

    `version`, `previous`, `at` (UTC), and the numbers of `entries`, `added` and `withdrawn`.
    """
    if not (folder / _LOG).is_file():
        return pd.DataFrame(columns=_LOG_COLUMNS)
    texts = dict.fromkeys(("version", "previous", "at", "note"), "str")
    return pd.read_csv(folder / _LOG, dtype=texts, keep_default_na=False)


def load(path: Path | str, *, version: str | None = None) -> pd.DataFrame:
    """Read a knowledge: a table's file (CSV, Parquet, JSON), or a version kept in a folder.

    Parameters
    ----------
    path
        A file of KNOWLEDGE, or the folder that `save` writes to.
    version
        In a folder: the version wanted; the newest by default.

    Raises
    ------
    DataError
        No such file or version, or the file's entries are not those of its version any more.
    """
    folder = Path(path)
    if not folder.is_dir():
        return check(_texts(read_table(str(path))), KNOWLEDGE, where=str(path))[COLUMNS]
    log = history(folder)
    known = log["version"].tolist()
    if not known:
        raise DataError(str(path), "holds no knowledge; save one first")
    wanted = version or known[-1]
    if wanted not in known:
        raise DataError(str(path), f"has no version {wanted!r}; it has {', '.join(known)}")
    entries = log.loc[log["version"] == wanted, "entries"].iloc[-1]
    kept = read_table(folder / f"{wanted}.parquet") if entries else empty()
    knowledge = check(_texts(kept), KNOWLEDGE, where=f"{path}, {wanted}")
    if _version_of(knowledge) != wanted:
        raise DataError(f"{path}, {wanted}", "was changed after it was saved; take another version")
    return knowledge[COLUMNS]


_version_of = version


def _texts(table: pd.DataFrame) -> pd.DataFrame:
    """Give the columns of a file their kind: one without any group is read as numbers."""
    there = [name for name in COLUMNS if name in table]
    return table.astype(dict.fromkeys(there, "str"))
