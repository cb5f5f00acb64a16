"""What is said in a judge's reply, and which of several decisions in it counts.

Which words make a decision, each reader of replies knows for itself.

>>> from nbbias.asking import replies
>>> replies.said("<think>Perhaps the first?</think>The second.", ends=100)
' The second.'
>>> replies.settled("1. Wait, on reflection: 2", [(0, 1), (24, 2)])
2
"""

from __future__ import annotations

import re
import unicodedata
from typing import TypeVar

THOUGHTS = re.compile(r"<(think|thinking|reasoning)>.*?(?:</\1>|\Z)", re.I | re.S)

_CHANGED = re.compile(
    r"\b(?:actually|on\s+reflection|on\s+second\s+thou?ghts?|correction|reconsider\w*|wait|revis\w+"
    r"|change\s+my\s+(?:mind|answer)|final(?:ly)?|in\s+the\s+end|ultimately)\b",
    re.I,
)

Decided = TypeVar("Decided")


def said(reply: str, *, ends: int) -> str:
    """Return a reply's words: no thoughts, in plain characters, of a long one both its ends.

    Parameters
    ----------
    reply
        The judge's own words. What stands in ``<think>`` is not its answer.
    ends
        Characters read at the start and at the end: a decision stands at either, and what lies
        between is the essay.
    """
    text = unicodedata.normalize("NFKC", THOUGHTS.sub(" ", reply))
    return text if len(text) <= 2 * ends else f"{text[:ends]}\n{text[-ends:]}"


def settled(text: str, found: list[tuple[int, Decided]]) -> Decided | None:
    """Return the one decision; of several, the last if the judge says that it changed its mind.

    Parameters
    ----------
    text
        Where the decisions stand.
    found
        One or more: the place in `text`, and what is decided there.

    Returns
    -------
    None where the decisions disagree.
    """
    found = sorted(found)
    (first, _), (last, decided) = found[0], found[-1]
    one = len({what for _, what in found}) == 1
    return decided if one or _CHANGED.search(text[first : last + 1]) else None
