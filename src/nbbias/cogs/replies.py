r"""Read a judge's decision out of its reply, or say why there is none.

A judge is asked to end with ``{"choice": 2}``. Read are this, a label with a number ("Answer
choice: 2", "Final answer: choice 2") and, where there is no label, a line that holds nothing but a
choice ("**Choice 2**"). All else is unreadable, and counted. Two decisions are none, unless the
judge says that it changed its mind.

>>> from nbbias import cogs
>>> cogs.replies.decision('It keeps the form.\n{"choice": 3}', n=3)
(3.0, None)
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np
import pandas as pd

from nbbias.asking.replies import clean_reply, resolve_decision

_NUMBER = r"[\s([#:]{0,6}(?:(?:choice|option|text)[\s([#:]{0,6})?(\d{1,2})(?![\d/%]|\.\d)"
_LABELLED = re.compile(
    r"\b(?:answer\s+choice|(?:answer|choice|decision|verdict)\s{0,3}(?::|=|-|->|\bis\b))"
    rf"\s{{0,3}}(?::|=|-)?{_NUMBER}(?:[)\]\s]{{0,3}}(?:,|/|&|\band\b|\bor\b){_NUMBER})?",
    re.I,
)
_ALONE = re.compile(rf"^{_NUMBER}[)\].!\s]*$", re.I | re.M)


def decision(reply: str | None, *, n: int) -> tuple[float, str | None]:
    """Read which of `n` choices a judge's reply decides for.

    Parameters
    ----------
    reply
        The judge's own words. What stands in ``<think>`` is not its answer.
    n
        How many choices it was shown; 2 or more.

    Returns
    -------
    (position, reason)
        A position in 1, …, n and no reason; or NaN and why: the reply is blank, names a choice
        that is not there, decides twice, or not at all.
    """
    if not isinstance(reply, str) or not reply.strip():
        return np.nan, "the reply is blank"
    text = re.sub(r"[*_`\"“”{}\\]|\bboxed\b", " ", clean_reply(reply, ends=3000))
    hits = [*_LABELLED.finditer(text)] or [*_ALONE.finditer(text)]
    decided = [(hit.start(), int(number)) for hit in hits for number in hit.groups() if number]
    if not decided:
        return np.nan, "no decision was found"
    position = resolve_decision(text, decided)
    if position is None:
        numbers = ", ".join(map(str, sorted({number for _, number in decided})))
        return np.nan, f"more than one decision: {numbers}"
    if not 1 <= position <= n:
        return np.nan, f"a choice that is not there: {position}"
    return float(position), None


def decisions(replies: Iterable[str | None], *, n: Iterable[int]) -> pd.DataFrame:
    """Read many replies; a Series keeps its index.

    Returns
    -------
    DataFrame
        `position` (from 1; NaN where there is none) and `reason` (missing where there is one).
    """
    texts = pd.Series(replies, dtype=object)
    rows = [decision(reply, n=size) for reply, size in zip(texts, n, strict=True)]
    return pd.DataFrame(rows, columns=["position", "reason"], index=texts.index)
