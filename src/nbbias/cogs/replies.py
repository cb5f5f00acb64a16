"""Read a judge's decision out of free text, or say why there is none.

A judge is asked for "Answer choice:" and answers in its own way. What it decided is looked for
from the plainest form (a label with a value, a verb such as "I pick") to the loosest (one choice
named at all), and the first form that holds a decision settles it. Two decisions are none, unless
the judge says that it changed its mind. Comparisons ("choice 1 is better than choice 2") are not
read: they count as undecided. A failure is never counted as a choice.

>>> from nbbias import cogs
>>> cogs.replies.decision("Between choice 1, choice 2 and choice 3, I pick choice 3", n=3)
Decision(position=3.0, reason=None)
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd

from nbbias.asking.replies import clean_reply, resolve_decision

_WORDS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")
_ROMAN = ("I", "II", "III", "IV", "V", "VI", "VII", "VIII")
_VALUES = {
    **{word: i for i, word in enumerate(_WORDS, start=1)},
    **{word: i for i, word in enumerate(_ORDINALS, start=1)},
    **{word.lower(): i for i, word in enumerate(_ROMAN, start=1)},
    **{letter: i for i, letter in enumerate("abcdefgh", start=1)},
}

_NOUN = (
    r"(?:choice|option|answer|response|text|poem|haiku|story|song|entry|candidate|version|output"
    r"|submission|piece|number|no\.|opci[oó]n|choix|auswahl|wahl|scelta|opção|选项|选择)"
)
_END = r"(?=\s*(?:[.,:;!?)\]\n–—-]|$|is\b|because\b|as\b|for\b|since\b|wins\b|over\b))"
_NUMBER = r"\d{1,2}(?![\d/%])(?!\.\d)"
_ROMANS = r"(?-i:VIII|VII|VI|IV|V|III|II|I)"
_VALUE = (
    rf"(?P<v>{_NUMBER}|(?:{'|'.join(_WORDS)})\b|{_ROMANS}{_END}|(?-i:[A-H])\b(?!['’])"
    rf"|[b-h]\b(?!['’])|a\b{_END})"
)
_OPEN = r"[\s(\[<#:=]{0,6}"
_NTH = rf"(?:{'|'.join(_ORDINALS)}|1st|2nd|3rd|[4-8]th|last)"
_NAMED = rf"(?<!\w){_NOUN}s?{_OPEN}(?:(?:number|no\.){_OPEN})?{_VALUE}"
_ORDINAL = rf"(?<!\w)(?:(?P<o>{_NTH})\s+(?:{_NOUN}|one)\b|(?:the|my)\s+(?P<o2>{_NTH}){_END})"
_BARE = rf"(?P<b>{_NUMBER}|(?-i:[A-H]){_END}|(?:{'|'.join(_WORDS)}){_END}|{_ROMANS}{_END})"
_REFERENCE = re.compile(rf"{_NAMED}|{_ORDINAL}", re.I)
_ARTICLE = r"(?:(?:is|clearly|definitely|probably|the(?!\s+(?:first|second|last)))\s+)?"
_AT_START = re.compile(rf"{_OPEN}{_ARTICLE}(?:{_NAMED}|{_ORDINAL}|{_OPEN}{_BARE})", re.I)
_ANOTHER = re.compile(
    rf"\s*[)\]]*\s*(?:(?:,\s*{_NOUN}?\s*\w+\s*)?(?:,?\s*\b(?:and|or)\b|/|&|\+)\s*(?:both\s+)?)"
    rf"{_OPEN}(?:{_NAMED}|{_ORDINAL}|{_BARE})",
    re.I,
)

_LABEL = re.compile(
    r"\b(?P<final>final\s+|revised\s+|corrected\s+)?"
    r"(?:answer|choice|decision|selection|verdict|pick|winner|preference|vote|judge?ment|option"
    r"|favou?rite|prize|select(?:ed)?|selected\s+choice)"
    r"(?:\s+(?:choice|option|number))?"
    r"\s*(?::\s*=?|=|->|→|–|—|-(?=\s)|\b(?:is|was|would\s+be|goes\s+to|falls\s+on)\b\s*:?)",
    re.I,
)
_VERB = re.compile(
    r"\b(?:choos(?:e|ing)|chose|chosen|pick(?:ed|ing)?|select(?:ed|ing)?|prefer(?:red)?|go(?:ing)?\s+with"
    r"|went\s+with|vot(?:e|ing)\s+for|opt(?:ed|ing)?\s+for|favou?r|recommend|decide(?:d)?\s+(?:on|for)"
    r"|settle(?:d)?\s+on|lean(?:ing)?\s+towards?|say|give\s+it\s+to|rank\s+first)"
    r"[\s:]+(?:(?:the(?!\s+(?:first|second|third|fourth|last))|my|as"
    r"|is|to|would|be|clearly|best|with|on|for|here|:)\s+)*",
    re.I,
)
_NEGATED = re.compile(
    r"(?:(?:n't|\bnot|\bcannot|\bnever|\bunable\s+to|\brefuse\s+to|\bdecline\s+to|\b(?:hard"
    r"|difficult|impossible)\s+to|\bnor|\binstead\s+of|\brather\s+than)\b"
    r"(?:(?!\bbut\b)[^.!?;:\n,]){0,30}|\bif\b[^.!?;:\n,]{0,60})$",
    re.I,
)
_WINS = re.compile(
    r"[)\]]*\s+(?:clearly\s+)?(?:wins|stands\s+out|(?:is|was|would\s+be)\s+(?:clearly\s+)?(?:the\s+)?"
    r"(?:best|strongest|winner|most\s+\w+|my\s+(?:choice|pick|favou?rite)))\b",
    re.I,
)
#: Verdicts of comparisons: none by themselves, but they contradict that another choice wins.
_BEATS = re.compile(
    r"[)\]]*\s+(?:[\w-]+ly\s+|by\s+far\s+|far\s+|still\s+|overall\s+)*"
    r"(?:prevails|beats|outshines|surpasses|outperforms|edges\s+out"
    r"|(?:is|was|would\s+be|seems|remains)\s+(?:[\w-]+ly\s+|far\s+|still\s+|overall\s+)*"
    r"(?:the\s+)?(?:better|stronger|superior|preferable|preferred))\b",
    re.I,
)

_REFUSES = re.compile(
    r"\b(?:can(?:no|['’]?)t|cannot|unable|not\s+able|won['’]?t|decline|refuse|sorry|apologi[sz]e"
    r"|as\s+an?\s+(?:ai|language\s+model)|not\s+(?:comfortable|appropriate))\b",
    re.I,
)
_TIE = re.compile(
    r"\b(?:tie|tied|draw|neither|none\s+of|both|equal(?:ly)?|all\s+(?:are|three|of|the)"
    r"|no\s+(?:clear\s+)?(?:winner|preference|best)|each\s+(?:of|has))\b",
    re.I,
)


class Decision(NamedTuple):
    """A judge's decision: the position chosen, counted from 1, or NaN and the reason."""

    position: float
    reason: str | None


def decision(reply: str | None, *, n: int) -> Decision:
    """Read which of `n` choices a judge's reply decides for.

    Parameters
    ----------
    reply
        The judge's own words. What stands in ``<think>`` is not its answer.
    n
        How many choices it was shown; 2 or more.

    Returns
    -------
    Decision
        `position` in 1, …, n and no `reason`; or NaN and why: the reply is blank, the judge
        refuses, calls it a tie, names a choice that is not there, decides twice, or not at all.
    """
    if not isinstance(reply, str) or not reply.strip():
        return Decision(np.nan, "the reply is blank")
    text = clean_reply(reply, ends=3000)
    text = re.sub(r"[*_`\"“”{}\\]|\bboxed\b|^\s*[#>]+", " ", text, flags=re.M).strip()
    for found in (_labelled, _verbs, _wins, _leading):
        decided = found(text, n)
        if decided:
            return _settled(text, decided, n)
    mentioned = {_value(hit, n) for hit in _REFERENCE.finditer(text)}
    if _REFUSES.search(text):
        return Decision(np.nan, "the judge refuses")
    if _TIE.search(text):
        return Decision(np.nan, "the judge calls it a tie")
    sure = [hit for hit in _REFERENCE.finditer(text) if not _negated(text, hit)]
    if len(mentioned) == 1 and sure:
        return _settled(text, [(sure[0].start(), mentioned.pop())], n)
    return Decision(np.nan, "no decision was found")


def _value(hit: re.Match[str], n: int) -> int:
    parts = hit.groupdict()
    named = next(part for part in map(parts.get, ("v", "o", "o2", "b")) if part).lower()
    if named == "last":
        return n
    digits = re.match(r"\d+", named)
    return int(digits[0]) if digits else _VALUES[named]


def _negated(text: str, hit: re.Match[str]) -> bool:
    return bool(_NEGATED.search(text[max(0, hit.start() - 80) : hit.start()]))


def _settled(text: str, decided: list[tuple[int, int]], n: int) -> Decision:
    position = resolve_decision(text, decided)
    if position is None:
        told = ", ".join(map(str, sorted({value for _, value in decided})))
        return Decision(np.nan, f"more than one decision: {told}")
    if not 1 <= position <= n:
        return Decision(np.nan, f"a choice that is not there: {position}")
    return Decision(float(position), None)


def _read(text: str, at: int, n: int) -> Iterator[tuple[int, int]]:
    """Read the choice named right at a place, or both where it names two."""
    hit = _AT_START.match(text, at)
    if hit:
        yield at, _value(hit, n)
        other = _ANOTHER.match(text, hit.end())
        if other:
            yield at, _value(other, n)


def _labelled(text: str, n: int) -> list[tuple[int, int]]:
    places = [hit.end() for hit in _LABEL.finditer(text)]
    # "… is not choice 1" names none, and "answer: choice: 2" names one, at two labels.
    return [found for at in places for found in _read(text, at, n)]


def _verbs(text: str, n: int) -> list[tuple[int, int]]:
    hits = [hit for hit in _VERB.finditer(text) if not _negated(text, hit)]
    return [found for hit in hits for found in _read(text, hit.end(), n)]


def _wins(text: str, n: int) -> list[tuple[int, int]]:
    """Take the choices that are called the best; "if choice 1 is best" decides nothing.

    Of "choice 1 wins on style, but choice 2 is better" both are taken: the judge decides twice.
    """
    hits = [hit for hit in _REFERENCE.finditer(text) if not _negated(text, hit)]
    wins = [hit for hit in hits if _WINS.match(text, hit.end())]
    wins += [hit for hit in hits if wins and _BEATS.match(text, hit.end())]
    return [(hit.start(), _value(hit, n)) for hit in wins]


def _leading(text: str, n: int) -> list[tuple[int, int]]:
    """Take a reply that opens with a choice and a stop, and does not go through the choices."""
    hit = _AT_START.match(text)
    if not hit or _ANOTHER.match(text, hit.end()):
        return []
    rest = text[hit.end() :]
    stop = re.match(r"\s*[)\]]*\s*(?:$|[.!:;,\n–—-]|because\b|as\b|for\b|since\b)", rest)
    lines = re.split(r"\n|(?<=[.;!?])\s+", text)
    opened = [own for own in map(_AT_START.match, lines) if own]
    listing = len({_value(own, n) for own in opened}) > 1
    return [(0, _value(hit, n))] if stop and not listing else []


def decisions(replies: Iterable[str | None], *, n: Iterable[int]) -> pd.DataFrame:
    """Read many replies; a Series keeps its index.

    Returns
    -------
    DataFrame
        `position` (from 1; NaN where there is none) and `reason` (missing where there is one).
    """
    given = pd.Series(replies, dtype=object)
    rows = [decision(reply, n=size) for reply, size in zip(given, n, strict=True)]
    return pd.DataFrame(rows, columns=["position", "reason"], index=given.index)
