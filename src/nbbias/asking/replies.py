"""A judge's reply: its words without its thoughts, and which of several decisions counts.

Which words make a decision, each reader of replies knows for itself.

>>> from nbbias.asking import replies
>>> replies.clean_reply("<think>Perhaps the first?</think>The second.", ends=100)
' The second.'
>>> replies.resolve_decision("1. Wait, on reflection: 2", [(0, 1), (24, 2)])
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

Decision = TypeVar("Decision")


def clean_reply(reply: str, *, ends: int) -> str:
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


def resolve_decision(text: str, decisions: list[tuple[int, Decision]]) -> Decision | None:
    """Return the one decision; of several, the last if the judge says that it changed its mind.

    Parameters
    ----------
    text
        Where the decisions stand.
    decisions
        One or more: the place in `text`, and what is decided there.

    Returns
    -------
    None where the decisions disagree.
    """
    decisions = sorted(decisions)
    (start, _), (end, last) = decisions[0], decisions[-1]
    agree = len({decision for _, decision in decisions}) == 1
    return last if agree or _CHANGED.search(text[start : end + 1]) else None
