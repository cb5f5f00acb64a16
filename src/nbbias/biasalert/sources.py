"""The corpora that a knowledge and its judges are made from, in the layouts they come in.

Labelled texts of one's own, RedditBias' comments and Jigsaw's; SBIC's statements. Jigsaw is the
out-of-domain set of Fan et al. (2024, appendix A.2), which does not say which column is its label.
"Biased" is here what Jigsaw's raters called an attack on an identity, among the comments that name
one: toxicity without a group is no bias, and comments that name nobody would make any judge look
good.
"""

from __future__ import annotations

import hashlib
import json

import pandas as pd

from nbbias.biasalert.contracts import LABELLED
from nbbias.biasalert.groups import target, types
from nbbias.biasalert.knowledge import LOST_COLUMNS, build, normalise
from nbbias.tables import (
    Column,
    DataError,
    check,
    columns,
    read_shipped_table,
    read_table,
    require_columns,
)

#: The group that each of RedditBias' files is about, as `biasalert.groups` calls it.
_REDDITBIAS = {
    "gender": "women",
    "orientation": "LGBTQ+ people",
    "race": "Black people",
    "religion1": "Jewish people",
    "religion2": "Muslims",
}

_SBIC = ["targetMinority", "targetCategory", "targetStereotype"]
_SBIC_FILE = dict.fromkeys(_SBIC, Column("text", needed=True))
_SBIC_ANY = dict.fromkeys(_SBIC, Column("text"))

#: What a file of labelled texts holds, in any of its layouts; Jigsaw's has its identities too.
_LABELLED = {
    **{name: Column("text") for name in ("text_id", "text", "bias_type", "group", "attribute")},
    **{name: Column("text") for name in ("comment", "phrase", "comment_text")},
    "text": Column("text", also=columns.SENTENCE),
    "biased": Column("flag", also=("label", "is_biased")),
    "bias_sent": Column("flag"),
    "identity_attack": Column("number"),
    "identity_hate": Column("number"),
}


def labelled(path: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Read texts that people judged.

    Parameters
    ----------
    path
        RedditBias' columns (`comment`, `bias_sent`; `bias_type`, `phrase`), Jigsaw's
        (`jigsaw` says which), or those of LABELLED (`text`, `biased`; `text_id`,
        `bias_type`, `group`, `attribute`).

    Returns
    -------
    (DataFrame, DataFrame)
        LABELLED: `text_id`, `text`, `biased`, `bias_type` (of the seven, of the comment's whole
        file), `group`, `attribute`, missing where the file does not say. From RedditBias the id is
        a hash of the comment, the group is the one that the file is about, and the attribute is
        the annotated `phrase`: these are the truth that attributions are compared with, and no
        judge may read them. And what was lost: `reason`, `n` (rows). Rows without a label are left
        out, as are repeats of a text; where a text has both labels, all its rows.

    Raises
    ------
    ContractError, DataError
        Columns are missing, labels are not 0 and 1, or no row is left.
    """
    identities = dict.fromkeys(_identities().index, Column("number"))
    table = read_table(path, identities | _LABELLED)
    given = len(table)
    if "comment" in table:
        require_columns(table, ["comment", "bias_sent"], where=path)
        table = _from_redditbias(table)
    elif "comment_text" in table:
        table = jigsaw(table, where=path)
    lost = {"no identity named, or not scored": given - len(table)}
    if not {"text", "biased"} <= set(table):  # named with what is there instead
        require_columns(read_table(path, {}, rest=True), ["text", "biased"], where=path)
    whole = table["biased"].notna() & table["text"].notna()
    lost["no text or no label"] = int((~whole).sum())
    table = table[whole]
    text = table["text"]
    both = table.groupby(text)["biased"].transform("nunique") > 1
    lost["a text with both labels"] = int(both.sum())
    lost["a text that stands before"] = int((text.duplicated() & ~both).sum())
    table = table[~both & ~text.duplicated()]
    if table.empty:
        raise DataError(path, "holds no text with one label")
    if "text_id" not in table:
        table = table.assign(text_id=table["text"].map(text_id))
    columns = ["text_id", "text", "biased", "bias_type", "group", "attribute"]
    table = table.reindex(columns=columns).reset_index(drop=True)
    own = table["bias_type"].astype("str").str.strip().str.lower().map(types())
    strange = own.isna() & table["bias_type"].notna()
    lost["a type that is none of the seven: kept, without a type"] = int(strange.sum())
    table["bias_type"] = own
    kinds = {name: "str" for name in columns if name != "biased"} | {"biased": bool}
    losses = pd.DataFrame([one for one in lost.items() if one[1]], columns=LOST_COLUMNS)
    return check(table.astype(kinds), LABELLED, where=path), losses


def _from_redditbias(table: pd.DataFrame) -> pd.DataFrame:
    renamed = table.drop(columns=["text", "biased", "attribute"], errors="ignore")
    renamed = renamed.rename(columns={"comment": "text", "bias_sent": "biased"})
    if "bias_type" in renamed:
        renamed["group"] = renamed["bias_type"].map(_REDDITBIAS)
    return renamed.rename(columns={"phrase": "attribute"})


def text_id(text: str) -> str:
    """Return a text's id: the start of its SHA-256.

    Examples
    --------
    >>> text_id("It rains.") == text_id("It rains.")
    True
    """
    return hashlib.sha256(str(text).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def from_labelled(
    texts: pd.DataFrame, *, source: str = "labelled texts"
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Build a knowledge from the texts that people called biased; their labels' truth stays out.

    Parameters
    ----------
    texts
        LABELLED, training texts only. Of each biased one the text and its type are taken, never
        its `attribute` or `group`, which nobody knows of a text that is to be judged.

    Returns
    -------
    (DataFrame, DataFrame)
        As `biasalert.knowledge.build`.
    """
    require_columns(texts, ["text", "biased"], where=source)
    biased = texts[texts["biased"].astype(bool)].rename(columns={"text": "statement"})
    columns = [name for name in ("statement", "bias_type") if name in biased]
    return build(biased[columns], source=source)


def is_sbic(path: str) -> bool:
    """Tell whether a table has a column of SBIC's own."""
    return "targetStereotype" in read_table(path, _SBIC_ANY)


def sbic(path: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Build a knowledge from SBIC (Sap et al. 2020), the source of the paper's 41,000 entries.

    Parameters
    ----------
    path
        A CSV file of SBIC's archive, unpacked: one row per annotation, or the aggregated one with
        JSON lists, one row per post.

    Returns
    -------
    (DataFrame, DataFrame)
        As `biasalert.knowledge.build`; the losses name annotations of no group's stereotype too.

    Raises
    ------
    ContractError, DataError
        Columns are missing.
    """
    rows = _annotations(read_table(path, _SBIC_FILE))
    said = rows["targetStereotype"].ne("") & rows["targetMinority"].ne("")
    kept = rows[said]
    entries = pd.DataFrame(
        {
            "statement": [
                _about(group, held)
                for group, held in zip(
                    kept["targetMinority"], kept["targetStereotype"], strict=True
                )
            ],
            "bias_type": kept["targetCategory"].replace("", pd.NA),
            "group": kept["targetMinority"],
            "attribute": kept["targetStereotype"].map(normalise),
        }
    )
    knowledge, lost = build(entries, source="SBIC", refine=True)
    none = pd.DataFrame([("no group, or nothing said of it", int((~said).sum()))])
    return knowledge, pd.concat([none.set_axis(LOST_COLUMNS, axis=1), lost], ignore_index=True)


def _annotations(table: pd.DataFrame) -> pd.DataFrame:
    """Return one row per group and statement, whichever of the two layouts a table has."""
    rows = table[_SBIC].fillna("").apply(lambda column: column.str.strip())
    if not rows["targetStereotype"].str.startswith("[").any():
        return rows
    lists = rows.map(_listed)
    found = []
    for groups, categories, held in lists.itertuples(index=False):
        # The lists are sets over annotators: with several groups of one post, nothing tells which
        # statement is about which. The group that a statement names goes first, else the only one.
        for statement in held:
            named = [group for group in groups if group.lower() in statement.lower()]
            own = named[0] if named else groups[0] if len(groups) == 1 else ""
            found.append((own, categories[0] if len(categories) == 1 else "", statement))
    return pd.DataFrame(found, columns=_SBIC).astype("str")


def _listed(cell: str) -> list[str]:
    try:
        read = json.loads(cell) if cell else []
    except (ValueError, RecursionError):
        return [cell]
    return [str(one).strip() for one in read if str(one).strip()] if isinstance(read, list) else []


def _about(group: str, held: str) -> str:
    """Say what is held of a group as a sentence: annotators wrote it with the group or without."""
    named = target(held)
    same = target(group)
    if group.lower() in held.lower() or (named and same and named.group == same.group):
        return held
    return f"{group} {held}"


#: Share of raters from which a comment counts as an attack, or as naming an identity.
MAJORITY = 0.5

_ATTACK, _HATE = "identity_attack", "identity_hate"


def _identities() -> pd.DataFrame:
    """Return the identities that Jigsaw's raters were asked for: `bias_type`, `group`."""
    return read_shipped_table("biasalert/jigsaw.csv").set_index("identity")


def jigsaw(table: pd.DataFrame, *, where: str = "Jigsaw") -> pd.DataFrame:
    """Turn a table of Jigsaw's into labelled texts.

    Parameters
    ----------
    table
        Of *Unintended Bias in Toxicity Classification* (2019; `train.csv`, `all_data.csv`):
        `comment_text`, `identity_attack` and the identities, each the share of raters that saw it.
        Or of the *Toxic Comment Classification Challenge* (2018): `comment_text` and
        `identity_hate`, 0 or 1 (-1 where it was not scored).
    where
        The table's name, for messages.

    Returns
    -------
    DataFrame
        `text`, `biased`, and of 2019 `bias_type` and `group`: the identity that most raters saw
        (of several alike the first). Of 2019 only comments whose identities were asked for, and
        that name one by at least half of their raters; of 2018 all that were scored.

    Raises
    ------
    ContractError, DataError
        Columns are missing, or no comment is left.

    References
    ----------
    Borkan et al. 2019, *Nuanced Metrics for Measuring Unintended Bias*, WWW companion.
    """
    require_columns(table, ["comment_text"], where=where)
    if _ATTACK not in table and _HATE in table:
        scored = table[table[_HATE].isin([0, 1])]
        found = pd.DataFrame({"text": scored["comment_text"], "biased": scored[_HATE] == 1})
    else:
        known = _identities()
        require_columns(table, [_ATTACK], where=where)
        there = [name for name in known.index if name in table]
        if not there:
            raise DataError(
                where, f"has none of Jigsaw's identities ({', '.join(known.index[:3])}, …)"
            )
        shares = table[there].astype(float)
        named = (shares.max(axis=1) >= MAJORITY) & table[_ATTACK].notna()
        most = shares[named].idxmax(axis=1)
        found = pd.DataFrame(
            {
                "text": table.loc[named, "comment_text"],
                "biased": table.loc[named, _ATTACK].astype(float) >= MAJORITY,
                "bias_type": most.map(known["bias_type"]),
                "group": most.map(known["group"]),
            }
        )
    if found.empty:
        raise DataError(where, "holds no comment that names an identity and was scored")
    return found.reset_index(drop=True)
