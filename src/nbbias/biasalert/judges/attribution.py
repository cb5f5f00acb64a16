"""Of what a biased text is made: type of bias, group, and what is said of the group.

Words and patterns first, the nearest evidence where they find nothing. No parser is needed: what
is said of a group stands, in short texts, right after its name, or else right before.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from nbbias.biasalert.contracts import JUDGEMENTS, TEXTS
from nbbias.biasalert.knowledge.groups import Mention, any_word, attributes, target
from nbbias.tables import check, is_blank, read_shipped_yaml

COLUMNS = ["text_id", "bias_type", "group", "attribute"]
NO_TEXT = "there is no text"
NO_EVIDENCE = "No known bias is near enough to serve as evidence."

#: Only the opening of a text is searched and shown.
_READ = 5_000
_WORDS = 8
_SHOWN = 160


def read_patterns(what: str) -> dict[str, re.Pattern[str]]:
    """Return patterns by name: ``"attribution"``, or of judges' ``"replies"``.

    Examples
    --------
    >>> read_patterns("attribution")["asked"].search("Why can't")[0]
    "can't"
    """
    listed = read_shipped_yaml("biasalert/patterns.yaml")[what]
    return {name: re.compile(pattern) for name, pattern in listed.items()}


_PATTERNS = read_patterns("attribution")


def attribute(text: str, mention: Mention | None) -> str | None:
    """Return what a text says of a group.

    Of the words after the group's name up to the end of the clause, verbs of being at their start
    left away: "women are bad at maths" gives "bad at maths". Where nothing follows, what stands
    before; where there is no group, the first word that prejudice uses of any.

    Examples
    --------
    >>> text = "Women are bad at maths."
    >>> attribute(text, target(text))
    'bad at maths'
    >>> [attribute(text, target(text)) for text in ["Old people can't learn.", "Men never listen."]]
    ["can't learn", 'never listen']
    >>> text = "Why can't women park?"
    >>> attribute(text, target(text))
    "can't park"
    """
    if mention is None:
        return _known_word(text, None)
    after = _PATTERNS["ends"].split(text[mention.end :], maxsplit=1)[0]
    predicate = _PATTERNS["copula"].sub("", _PATTERNS["filler"].sub("", after)).strip(" \"',:-()")
    before = _PATTERNS["ends"].split(text[: mention.start])[-1].strip(" \"',:-()")
    if len(predicate) >= 3:
        asked = _PATTERNS["asked"].search(before)
        return " ".join((asked[0] + " " + predicate if asked else predicate).split()[:_WORDS])
    before = _PATTERNS["article"].sub("", before)
    last_words = " ".join(before.split()[-_WORDS:]) if len(before) >= 3 else None
    return _known_word(text, mention.group) or last_words


def _known_word(text: str, group: str | None) -> str | None:
    lists = attributes()
    words = lists.get(group, []) if group else [word for terms in lists.values() for word in terms]
    if not words:
        return None
    match = any_word(words).search(text)
    return match[0].lower() if match else None


def attribute_texts(texts: pd.DataFrame, evidence: pd.DataFrame | None = None) -> pd.DataFrame:
    """Name type, group and attribute of each text, as if it were biased.

    Parameters
    ----------
    texts
        TEXTS.
    evidence
        EVIDENCE; of its used entries the nearest speaks where the text names no group.

    Returns
    -------
    DataFrame
        `text_id`, `bias_type`, `group`, `attribute`; missing where neither the text nor its
        evidence says.
    """
    nearest: dict[Any, list[Any]] = {}
    if evidence is not None:
        nearest = nearest_used(evidence)[COLUMNS[1:]].T.to_dict("list")
    rows = []
    for row in texts.itertuples():
        text = row.text[:_READ] if isinstance(row.text, str) else ""
        mention = target(text)
        near = nearest.get(str(row.text_id), [None, None, None])
        kind, group = (mention.bias_type, mention.group) if mention else near[:2]
        rows.append((str(row.text_id), kind, group, attribute(text, mention) or near[2]))
    return pd.DataFrame(rows, columns=COLUMNS).astype("str")


def nearest_used(evidence: pd.DataFrame) -> pd.DataFrame:
    """Return the nearest used entry of each text, by `text_id`."""
    used = evidence[evidence["used"]].sort_values(["text_id", "rank"])
    return used.drop_duplicates("text_id").set_index("text_id")


# --- from probabilities to judgements -----------------------------------------------------------


class Verdicts(NamedTuple):
    """What a judge says, text by text.

    Attributes
    ----------
    biased, confidence
        Verdict and probability per text; a blank text has neither, whatever is given.
    why
        What else explains each verdict.
    lost
        By text_id, why a text that is not blank has no verdict (outcome ``failed``).
    """

    biased: Iterable[bool | None]
    confidence: Iterable[float] | None = None
    why: Iterable[str | None] | None = None
    lost: Mapping[str, str] | None = None


def judgements(
    texts: pd.DataFrame,
    verdicts: Verdicts,
    *,
    judge: str,
    evidence: pd.DataFrame | None = None,
    knowledge: str = "",
    attributes_named: bool = True,
) -> pd.DataFrame:
    """Write verdicts as JUDGEMENTS, with type, group and attribute where a text is biased.

    Parameters
    ----------
    texts, verdicts
        TEXTS, and what was said of them.
    judge, knowledge
        The judge's name, and the version of the knowledge that its evidence came from.
    evidence
        EVIDENCE; its used entries are named and, the nearest one, quoted.
    attributes_named
        Whether this judge names type, group and attribute at all.

    Returns
    -------
    DataFrame
        JUDGEMENTS, one row per text, in order.

    Examples
    --------
    >>> texts = pd.DataFrame({"text_id": ["a", "b"], "text": ["Women cannot park.", " "]})
    >>> table = judgements(texts, Verdicts([True, True]), judge="mine")
    >>> table["outcome"].tolist(), table["group"].iloc[0], table["reason"].iloc[1]
    (['judged', 'empty'], 'women', 'there is no text')
    """
    texts = check(texts, TEXTS, where="texts")
    table = texts[["text_id"]].reset_index(drop=True)
    blank = is_blank(texts["text"]).to_numpy()
    reasons = table["text_id"].map(verdicts.lost or {}).astype(object).where(~blank, NO_TEXT)
    without = reasons.notna().to_numpy()
    biased = pd.array(list(verdicts.biased), dtype="boolean")
    biased[without] = pd.NA
    scores = np.nan if verdicts.confidence is None else np.array(list(verdicts.confidence))
    names: dict[str, Any] = dict.fromkeys(COLUMNS[1:])
    if attributes_named:
        called = np.flatnonzero(biased.fillna(False))
        attributes = attribute_texts(texts.iloc[called], evidence).set_axis(called)
        names = {name: attributes[name].reindex(table.index) for name in COLUMNS[1:]}
    cited = _cite(table["text_id"], evidence)
    explained = cited["quote"]
    if verdicts.why is not None:
        explained = pd.Series(list(verdicts.why), dtype="str").fillna("")
    table = table.assign(
        judge=judge,
        biased=biased,
        **names,
        confidence=np.where(without, np.nan, scores),
        explanation=explained.where(~without),
        evidence_ids=cited["ids"].where(~without, ""),
        knowledge=knowledge,
        outcome=np.where(blank, "empty", np.where(without, "failed", "judged")),
        reason=reasons,
        raw=None,
    )
    return check(table[list(JUDGEMENTS.columns)], JUDGEMENTS, where=judge)


def _cite(text_ids: pd.Series, evidence: pd.DataFrame | None) -> pd.DataFrame:
    """Return the `ids` of each text's used evidence, and a sentence that quotes the nearest."""
    if evidence is None:
        return pd.DataFrame({"ids": "", "quote": ""}, index=text_ids.index)
    used = evidence[evidence["used"]].sort_values(["text_id", "rank"])
    ids = used.groupby("text_id")["entry_id"].agg(" ".join).to_dict()
    quotes = {
        row.Index: f"Nearest known bias ({row.bias_type}, similarity {row.similarity:.2f}): "
        f"'{str(row.statement)[:_SHOWN]}'."
        for row in nearest_used(evidence).itertuples()
    }
    rows = [(ids.get(text_id, ""), quotes.get(text_id, NO_EVIDENCE)) for text_id in text_ids]
    return pd.DataFrame(rows, columns=["ids", "quote"], index=text_ids.index)
