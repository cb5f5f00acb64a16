"""What people hold against groups, as a table: the knowledge of biasalert.

An entry is one statement with its type of bias ("women can't handle drugs", gender). Its id is a
hash of both, and the version of a knowledge is a hash of its entries: two tables of the same
entries have the same version, whatever their order.
"""

from __future__ import annotations

import re
import unicodedata

import pandas as pd

from nbbias.biasalert.contracts import KNOWLEDGE
from nbbias.biasalert.knowledge import sample
from nbbias.biasalert.knowledge.groups import target, targets, types
from nbbias.params import NONE
from nbbias.tables import SAMPLE, Column, check, hash_text, read_table, require_columns, resolve

COLUMNS = ["entry_id", "statement", "bias_type", "group", "attribute", "source"]
LOST_COLUMNS = ["reason", "n"]

#: What a file of statements holds; SBIC has columns of its own.
_SBIC = ["targetMinority", "targetCategory", "targetStereotype"]
_FILE = {name: Column("text") for name in (*COLUMNS[1:-1], *_SBIC)}

_STRAIGHT = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"'})
#: An entry longer than this is a post, not a bias: nobody can compare a text with it.
_LONGEST = 400


def read_knowledge(
    path: str = SAMPLE, *, labelled: pd.DataFrame
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Read or build the knowledge.

    Parameters
    ----------
    path
        ``"sample"``; a table with `statement` (and `bias_type`, `group`, `attribute` where known);
        a CSV file of SBIC's, one row per annotation; or ``"none"`` for what the training texts
        that people called biased say.
    labelled
        LABELLED with `split`.

    Returns
    -------
    (DataFrame, DataFrame)
        KNOWLEDGE, and the rows that were lost: `reason`, `n`.

    Examples
    --------
    >>> labelled = pd.DataFrame({"text": ["Women lie.", "It rains."], "biased": [True, False]})
    >>> read_knowledge("none", labelled=labelled.assign(split="train"))[0]["statement"].tolist()
    ['women lie']
    """
    if path == NONE:
        return from_labelled(labelled[labelled["split"] == "train"])
    if path == SAMPLE:
        return build(sample.knowledge(), source=sample.SOURCE)
    if "targetStereotype" in (table := read_table(path, _FILE)):
        require_columns(table, _SBIC, where=path)
        return from_sbic(table)
    if "statement" not in table:  # named with what is there instead
        require_columns(read_table(path, {}, rest=True), ["statement"], where=path)
    return build(table, source=resolve(path).stem)


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

    Examples
    --------
    >>> entries, lost = build(pd.DataFrame({"statement": ["Women cannot park."]}), source="mine")
    >>> entries[["statement", "bias_type", "group"]].to_dict("records")
    [{'statement': 'women cannot park', 'bias_type': 'gender', 'group': 'women'}]
    """
    rows = table.reset_index(drop=True).reindex(columns=COLUMNS[1:-1]).astype("str")
    rows["statement"] = rows["statement"].fillna("").map(normalise)
    for name in ("group", "attribute"):
        rows[name] = rows[name].str.strip().replace("", pd.NA)
    matches = targets(rows["group"].fillna("") + " " + rows["statement"])
    stated = rows["bias_type"].str.strip().str.lower()
    kinds = stated.map(types())
    if refine:
        finer = matches["bias_type"].isin(["religion", "orientation"])
        kinds = kinds.mask(finer & kinds.isin(["culture", "gender"]), matches["bias_type"])
    rows["bias_type"] = kinds.fillna(matches["bias_type"])
    rows["group"] = rows["group"].fillna(matches["group"])
    ids = [entry_id(*pair) for pair in zip(rows["statement"], rows["bias_type"], strict=True)]
    rows = rows.assign(source=source, entry_id=ids)
    foreign = stated.notna() & ~stated.isin([*types(), ""])
    unusable = {
        "no statement": rows["statement"] == "",
        f"longer than {_LONGEST} characters": rows["statement"].str.len() > _LONGEST,
        "of a category that is none of the types": foreign,
        "of no type, and names no group that is known": rows["bias_type"].isna(),
    }
    none = pd.Series(None, index=rows.index, dtype=object)
    reason = none.case_when([(flags, name) for name, flags in unusable.items()])
    usable = reason.isna()
    reason = reason.mask(usable & rows.where(usable).duplicated("entry_id"), "said before")
    knowledge = rows.loc[reason.isna(), COLUMNS].reset_index(drop=True).astype("str")
    losses = reason.value_counts(sort=False).rename_axis("reason").rename("n").reset_index()
    return check(knowledge, KNOWLEDGE, where=source), losses


def entry_id(statement: str, bias_type: str) -> str:
    """Return the id of an entry: the start of a SHA-256 of its statement and type.

    Examples
    --------
    >>> len(entry_id("women cannot park", "gender"))
    16
    """
    return hash_text(f"{bias_type}\0{statement}")


def version(knowledge: pd.DataFrame) -> str:
    """Return the version of a knowledge: a hash of what its entries say, whatever their order.

    Examples
    --------
    >>> entries, _ = build(pd.DataFrame({"statement": ["women lie", "men lie"]}), source="mine")
    >>> version(entries) == version(entries[::-1])
    True
    """
    rows = knowledge[COLUMNS].fillna("").sort_values("entry_id").itertuples(index=False)
    return hash_text("".join("\0".join(map(str, row)) + "\1" for row in rows))[:12]


# --- from texts and annotations -----------------------------------------------------------------


def from_labelled(texts: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Build a knowledge from the texts that people called biased; their labels' truth stays out.

    Parameters
    ----------
    texts
        LABELLED, training texts only. Of each biased one the text and its type are taken, never
        its `attribute` or `group`, which nobody knows of a text that is to be judged.
    """
    biased = texts[texts["biased"].astype(bool)].rename(columns={"text": "statement"})
    return build(biased.filter(["statement", "bias_type"]), source="labelled texts")


def from_sbic(table: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Build a knowledge from SBIC (Sap et al. 2020), the source of the paper's 41,000 entries.

    Parameters
    ----------
    table
        One row per annotation: `targetMinority`, `targetCategory`, `targetStereotype`.

    Returns
    -------
    (DataFrame, DataFrame)
        As `build`; the losses name annotations of no group's stereotype too.
    """
    rows = table[_SBIC].fillna("").apply(lambda column: column.str.strip())
    stated = rows["targetStereotype"].ne("") & rows["targetMinority"].ne("")
    used = rows[stated]
    pairs = zip(used["targetMinority"], used["targetStereotype"], strict=True)
    columns = {
        "statement": [_as_sentence(group, stereotype) for group, stereotype in pairs],
        "bias_type": used["targetCategory"].replace("", pd.NA),
        "group": used["targetMinority"],
        "attribute": used["targetStereotype"].map(normalise),
    }
    knowledge, lost = build(pd.DataFrame(columns), source="SBIC", refine=True)
    without = pd.DataFrame([("no group, or nothing said of it", int((~stated).sum()))])
    return knowledge, pd.concat([without.set_axis(LOST_COLUMNS, axis=1), lost], ignore_index=True)


def _as_sentence(group: str, stereotype: str) -> str:
    """Write a stereotype with its group: annotators wrote it with the group or without."""
    mention, same = target(stereotype), target(group)
    if group.lower() in stereotype.lower() or (mention and same and mention.group == same.group):
        return stereotype
    return f"{group} {stereotype}"
