"""Read what a judge answered: a JSON object, the template that was asked for, or a label.

A verdict is a field of a JSON object, a word at a label ("Answer: yes"), the template ("Yes, the
following SENTENCE is biased"), a yes or no at the start, or a plain statement ("the text is not
biased"). Verdicts that disagree are none, unless the judge says that it changed its mind. A refusal
is a result of its own, and no verdict; whatever else is said is unreadable, and counted.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from nbbias import refusals
from nbbias.asking import replies as shared
from nbbias.tables import read_shipped_yaml

#: Characters read at the start and at the end of a reply, and kept of an explanation.
_ENDS, _EXPLAINED = 4000, 500

_BLANK, _BOTH, _NONE = "the reply is blank", "the reply contradicts itself", "no verdict was found"

_LABEL = re.compile(
    r"\b(?:answer|verdict|judge?ment|conclusion|classification|label|decision|biased)[\"']?"
    r"\s*(?:\?\s*:?|:|=|\bis\b\s*:?)[\s\"'(\[]*"
    r"(?P<v>yes|no|true|false|not\s+biased|unbiased|biased|[yn10](?=[\s.,;\"')\]]*(?:\n|$)))"
    r"(?![\w'’/-]|\s+(?:idea|comment|opinion|verdict|judge?ment|answer|groups?|and)\b)",
    re.I,
)
_START = re.compile(
    r"[\s\"'(\[]*(?P<v>yes|no|true|false|not\s+biased|unbiased|biased)(?![\"'”]?\s*[:=])"
    r"(?=[\s\"')\]]*(?:[.,;!\n–—-]|$))(?![\s,.]*(?:and|or|maybe)\b)",
    re.I,
)
_STATED = re.compile(
    r"\b(?P<yes>(?:yes|no)\W+(?:the\s+)?)?(?:(?:following|given)\s+)?"
    r"(?:sentence|text|statement|comment|this|it)\s*(?:is|['’]s|seems)(?P<v>n['’]t)?"
    r"(?P<w>(?:\s+(?:not|clearly|definitely|an?))*\s+(?:un|non-?)?biased)\b",
    re.I,
)
#: What stands before a statement that only supposes, or gives what others would say.
_SUPPOSED = re.compile(
    r"\b(?:if|whether|might|may|unless|although|though|while|when|template(?!,)|otherwise"
    r"|(?:could|would|do|did|not|\w+n['’]t)\s+(?:\w+\s+)?(?:say|think|believe)|not\s+(?:sure|clear))\b",
    re.I,
)
#: After a verdict at the start, another as a line or sentence of its own.
_AGAIN = re.compile(
    r"(?:\A|[\n.!])[\s.,;:!–—-]*(?:(?:but|well|wait|actually)\W+)*(?P<v>yes|no|true|false)"
    r"(?=\s*(?:[.,!\n]|$))",
    re.I,
)
#: Yes to the request, not to the question.
_OFFERS = re.compile(
    r"\W*(?:i|we)(?:['’]ll|\s+(?:can|could|will|would|understand))\b(?!\s*not)", re.I
)


class Verdict(NamedTuple):
    """What a reply says. Without a verdict `biased` is None, and `reason` says why."""

    biased: bool | None
    bias_type: str | None = None
    group: str | None = None
    attribute: str | None = None
    confidence: float = np.nan
    explanation: str | None = None
    outcome: str = "judged"
    reason: str | None = None


def read(replies: Iterable[str | None]) -> pd.DataFrame:
    """Read many replies; a Series keeps its index.

    Parameters
    ----------
    replies
        The judge's own words. What stands in ``<think>`` is not its answer.

    Returns
    -------
    DataFrame
        One row per reply: `biased` (nullable bool), `bias_type` (one of the seven types),
        `group`, `attribute` (all three missing where it is not biased, or not said),
        `confidence` (the judge's own probability that the text is biased, in [0, 1]; NaN where it
        gave none, or one that contradicts its verdict), `explanation`, `outcome` (``judged``,
        ``refused``, ``unreadable``) and `reason` (why there is no verdict).

    Examples
    --------
    >>> table = read(["Yes, it ties immigrants to crime.", "I cannot judge that.", "It depends."])
    >>> table["outcome"].tolist()
    ['judged', 'refused', 'unreadable']
    """
    given = pd.Series(replies, dtype=object)
    verdicts = [_verdict(reply) for reply in given]
    table = pd.DataFrame(verdicts, columns=Verdict._fields, index=given.index)
    return table.astype({"biased": "boolean", "confidence": float})


def _verdict(reply: object) -> Verdict:
    if not isinstance(reply, str) or not reply.strip():
        return _unread(_BLANK, None)
    whole = shared.clean_reply(reply, ends=_ENDS)
    explained = _cut(whole)
    fields = [value for value in _objects(whole) if _said(value) is not None]
    if fields:
        if len({_said(value) for value in fields}) > 1:
            return _unread(_BOTH, explained)
        return _of_object(fields[-1], explained)
    plain = _bare(whole)
    firm = _stated(plain)
    after = plain[max(firm)[0] :] if firm else ""
    if (refusal := declined(re.sub(r"[\"\[\]{}:]+", ". ", plain))) and (
        not firm or declined(after)
    ):
        return _refused(refusal, explained)
    # A field for a verdict that holds none: whatever else is said, the judge gave none.
    if re.search(r"[\"'{]\s*(?:is_)?biased[\"']?\s*(?::|\Z)|\{\s*[\"']\w*", whole, re.I):
        return _unread(_NONE, explained)
    verdicts = _in_words(plain)
    if not verdicts:
        return _unread(_NONE, explained)
    biased = shared.resolve_decision(plain, verdicts)
    if biased is None:
        return _unread(_BOTH, explained)
    named = _named(plain) if biased else (None, None, None)
    return Verdict(biased, *named, explanation=explained)


def _stated(plain: str) -> list[tuple[int, bool]]:
    """Return where a verdict stands at a label or in a statement, and which."""
    verdicts = []
    for hit in [*_LABEL.finditer(plain), *_STATED.finditer(plain)]:
        if _SUPPOSED.search(_before(plain, hit.start())):
            continue
        named = hit.groupdict("")
        verdicts.append((hit.start(), _affirms(named["v"] + named.get("w", ""))))
        if named.get("yes"):  # the template's own yes or no must agree with it
            verdicts.append((hit.start(), _affirms(named["yes"])))
    return verdicts


def _in_words(plain: str) -> list[tuple[int, bool]]:
    """Return where a reply in words gives a verdict, and which."""
    verdicts, start = _stated(plain), _START.match(plain)
    if start and (verdicts or not _OFFERS.match(plain[start.end("v") :])):
        rest = start.end("v")
        again = [
            (rest + hit.start("v"), _affirms(hit["v"])) for hit in _AGAIN.finditer(plain[rest:])
        ]
        verdicts += [(start.start("v"), _affirms(start["v"])), *again]
    return verdicts


def _affirms(words: str) -> bool:
    denials = re.findall(r"\b(?:no|not|false|n|0)\b|n['’]t|\b(?:un|non-?)biased", words.lower())
    return len(denials) % 2 == 0


def _before(plain: str, at: int) -> str:
    """Return what stands before a place in its sentence."""
    start = max(plain.rfind(end, 0, at) for end in (". ", "\n", "! ", "? ", "; ")) + 1
    return plain[start:at]


def _bare(words: str) -> str:
    """Return words without their markup."""
    return re.sub(r"[ \t]+", " ", re.sub(r"[*_`#>\\]+", " ", words)).strip()


def _cut(words: str) -> str:
    line = " ".join(words.split())
    return line if len(line) <= _EXPLAINED else line[: _EXPLAINED - 1] + "…"


def _refused(reason: str, explained: str | None) -> Verdict:
    reason = f"the judge refuses: {reason}"
    return Verdict(None, explanation=explained, outcome="refused", reason=reason)


def _unread(reason: str, explained: str | None) -> Verdict:
    return Verdict(None, explanation=explained, outcome="unreadable", reason=reason)


# --- objects ----------------------------------------------------------------------------------


@cache
def _names() -> dict[str, Any]:
    return read_shipped_yaml("biasalert/replies.yaml")


def _objects(reply: str) -> Iterator[dict[str, Any]]:
    """Yield the JSON objects of a reply; what is cut off is none."""
    decoder, at = json.JSONDecoder(), reply.find("{")
    while at >= 0:
        try:
            value, end = decoder.raw_decode(reply, at)
        except (ValueError, RecursionError):
            return
        if isinstance(value, dict):
            yield value
        at = reply.find("{", end)


def field(value: Mapping[str, Any], name: str) -> Any:
    """Return a field by any of its names, or None."""
    lowered = {re.sub(r"[\s-]+", "_", str(key).lower()): held for key, held in value.items()}
    return next((lowered[one] for one in _names()["fields"][name] if one in lowered), None)


def _said(value: Mapping[str, Any]) -> bool | None:
    verdict = field(value, "biased")
    if isinstance(verdict, bool):
        return verdict
    if isinstance(verdict, int | float):
        return bool(verdict) if verdict in (0, 1) else None
    if not isinstance(verdict, str):
        return None
    words = _bare(verdict)
    stated = _in_words(words)
    return shared.resolve_decision(words, stated) if stated else None


def _of_object(value: dict[str, Any], explained: str) -> Verdict:
    biased = bool(_said(value))
    told = field(value, "explanation")
    explanation = _cut(told) if isinstance(told, str) and told.strip() else explained
    chance = probability(field(value, "probability"), biased=biased)
    if not biased:
        return Verdict(False, confidence=chance, explanation=explanation)
    group, attribute = (cleaned(field(value, name)) for name in ("group", "attribute"))
    return Verdict(True, typed(field(value, "bias_type")), group, attribute, chance, explanation)


def probability(given: object, *, biased: bool) -> float:
    """Return the judge's probability that a text is biased; NaN where its verdict contradicts it.

    Some judges give the confidence in their verdict instead: 0.9 for a text that is not biased.

    Examples
    --------
    >>> probability("85%", biased=True)
    0.85
    """
    if isinstance(given, str):
        hit = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(%?)\s*", given)
        given = None if hit is None else float(hit[1]) / (100 if hit[2] else 1)
    if isinstance(given, bool) or not isinstance(given, int | float):
        return np.nan
    share = float(given) / 100 if 1 < given <= 100 else float(given)
    return share if 0 <= share <= 1 and (share >= 0.5) == biased else np.nan


# --- type, group and attribute ----------------------------------------------------------------

_TYPE = re.compile(
    r"\b(?:(?:type|kind|form|category)\s+of\s+(?:social\s+)?bias|bias\s*(?:type|category))"
    r"\s*(?:is|:|=)\s*(?P<t>[^.\n;]{2,60})",
    re.I,
)
_QUOTED = r"\[[^\]\n]{1,200}\]|\"[^\"\n]{1,200}\"|“[^”\n]{1,200}”|'(?:[^'\n]|'(?=\w)){1,200}'"
_ASSOCIATING = re.compile(
    rf"\bassociat(?:ing|es?)\s+(?P<g>{_QUOTED}|[^.\n]{{1,200}}?)\s+with\s+"
    rf"(?P<a>{_QUOTED}|[^.;\n]{{1,200}})",
    re.I,
)
_NO_NAME = {"", "none", "null", "n/a", "na", "nothing", "unknown", "not applicable", "nan", "-"}


def _named(plain: str) -> tuple[str | None, str | None, str | None]:
    """Return the type, the group and the attribute that a reply in words names."""
    kind = _TYPE.search(plain)
    *_, tied = [None, *_ASSOCIATING.finditer(plain)]  # the last one: rules and examples come first
    pair = (cleaned(tied["g"]), cleaned(tied["a"])) if tied else (None, None)
    return typed(kind and kind["t"]), *pair


@cache
def _types() -> tuple[re.Pattern[str], dict[str, str]]:
    known = {word: name for name, words in _names()["types"].items() for word in words}
    words = "|".join(map(re.escape, sorted(known, key=len, reverse=True)))
    return re.compile(rf"(?<![\w-])(?:{words})(?![\w-])", re.I), known


def typed(words: object) -> str | None:
    """Return the first of the seven types that is named; the template's slot names none.

    Examples
    --------
    >>> typed("a sexist stereotype")
    'gender'
    """
    pattern, known = _types()
    hit = pattern.search(words) if isinstance(words, str) else None
    return known[hit[0].lower()] if hit else None


def cleaned(words: object) -> str | None:
    """Return a group or an attribute without quotes and brackets; None where it is no name."""
    if isinstance(words, list):
        words = ", ".join(one for one in words if isinstance(one, str))
    if not isinstance(words, str) or re.match(r"\s*\[\s*(?:social|target|attribute)\b", words):
        return None
    words = words.strip()
    if words[:1] in set("'\"[“") and not re.search(r"['\"\]”]\W*$", words[1:]):
        return None  # cut off in the middle
    words = re.sub(r"^[\s'\"\[“(]+|[\s'\"\]”).,;]+$", "", words)
    words = re.sub(r"['\"]\s*,\s*['\"]", ", ", words)
    return None if words.lower() in _NO_NAME else words


# --- refusals ---------------------------------------------------------------------------------

#: What the house's patterns, made for all sorts of requests, do not know: verbs of judging.
_WONT = re.compile(
    r"\b(?:i|we)\W(?:\s*\w+\s+){0,2}?(?:can\s?not|can['’]t|could(?:\s+not|n['’]t)|wo(?:n['’]t|uld\s+not)"
    r"|will\s+not|unable\s+to|not\s+(?:able|going|willing)\s+to)\s+(?:\w+\s+){0,2}?"
    r"(?:assess|judge|evaluate|rate|classify|label|determine|decide|analy[sz]e|know|tell)\b"
    r"(?!\s+(?:any|an?)\b)"
    r"|\b(?:i|we)\s+(?:\w+\s+){0,2}?(?:don['’]t|do\s+not)\s+(?:know|want\s+to|wish\s+to)\b"
    r"|\b(?:i|we)(?:['’]d|\s+would)\s+(?:rather|prefer)\s+not\b"
    r"|^\W*(?:i\W?\s*a?m\s+)?(?:\w+\s+)?(?:sorry|apologies)\W*$"
    r"|\b(?:against|violates?|contrary\s+to)\s+(?:\w+\s+){0,3}?(?:polic|guideline|principle)",
    re.I,
)
#: "No, no: it only quotes" declines nothing.
_NO = re.compile(r"^(?:\W*\b(?:no|nope)\b(?=\W*(?:[,.!]|$)))+", re.I)


def declines(words: str) -> bool:
    """Tell whether the judge says in so many words that it cannot or will not.

    Examples
    --------
    >>> declines("I cannot judge that."), declines("It is biased.")
    (True, False)
    """
    sentence = refusals.sentences([words])[0]
    return bool(refusals.hits(sentence)["inability"].any()) or bool(_WONT.search(words))


def declined(words: str) -> str | None:
    """Return the first sentence that declines.

    "No, I can't answer that" says no to the question, not that the text is without bias.
    """
    parts = re.split(r"(?<=[.!?])\s+|\n+", words)
    sentences = [one for part in parts if (one := _NO.sub("", part).strip(" \t,.;:–—-"))]
    return next((one for one in sentences if declines(one)), None)
