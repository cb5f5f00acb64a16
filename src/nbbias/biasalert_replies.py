"""Read what a judge said: JSON, the paper's template, or chat; or that it said nothing to go by.

Read from the plainest form to the loosest. Two verdicts that disagree are none, unless the judge
says that it changed its mind. A refusal is a result of its own, and no verdict.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from nbbias import refusal_features, refusals
from nbbias.biasalert_objects import field, names, objects, probability

#: Characters read at the start and at the end of a reply, looked at for a refusal, and kept of an
#: explanation.
_ENDS, _OPENING, _EXPLAINED = 4000, 1500, 500

_BLANK, _BOTH, _NONE = "the reply is blank", "the reply contradicts itself", "no verdict was found"

_REFUSALS = {"full", "partial"}
_THOUGHTS = re.compile(r"<(think|thinking|reasoning)>.*?(?:</\1>|\Z)", re.I | re.S)
_CHANGED = re.compile(
    r"\b(?:actually|on\s+reflection|on\s+second\s+thou?ghts?|correction|reconsider\w*|wait|revis\w+"
    r"|change\s+my\s+(?:mind|answer)|final(?:ly)?|in\s+the\s+end|ultimately)\b", re.I,
)  # fmt: skip

#: What stands before a statement that only supposes, or gives what others would say.
_SUPPOSED = re.compile(
    r"\b(?:if|whether|might|may|unless|although|though|while|when|at\s+first|template|otherwise"
    r"|some(?:\s+(?:people|readers?))?\s+(?:could|would)|unsure|unclear|hard\s+to|wrong\s+to"
    r"|not\s+(?:sure|certain|convinced|clear))\b", re.I,
)  # fmt: skip
_RULE = re.compile(r"\b(?:if|whether|template)\b", re.I)

_VERDICT = r"(?P<v>yes|no|true|false|not\s+biased|non-?biased|unbiased|biased|y|n|1|0)(?![\w'’-])"
_NEGATIVE = {"no", "false", "not biased", "nonbiased", "non-biased", "unbiased", "n", "0"}
_LABEL = re.compile(
    r"\b(?:(?:answer|verdict|judge?ment|conclusion|classification|label|output|decision|assessment"
    r"|determination|result|biased)\s*(?:\?\s*:?|:|=|→|->|\bis\b\s*:?)"
    r"|is\s+(?:it|the\s+\w+)\s+biased\s*\?)[\s\"'(\[]*"
    + _VERDICT + r"(?!\s+(?:\w+\s+)?(?:groups?|demographic|targets?|attributes?|one)\b)", re.I,
)  # fmt: skip
_LEADING = re.compile(
    r"[\s\"'(\[]*(?:(?:sure|certainly|okay|ok|of\s+course)[.,!:]+\s*)?"
    r"(?P<v>yes|no|true|false|not\s+biased|non-?biased|unbiased|biased)"
    r"(?!\s*:\s*(?:yes|no|true|false)\b)"
    r"(?=[\s\"')\]]*(?:[.,:;!\n–—-]|$|(?:it|this|that|the|bias|i)\b))", re.I,
)  # fmt: skip
_TEMPLATE = re.compile(
    r"\b(?P<v>yes|no)\s*[,.:;]?\s+(?:the\s+)?(?:(?:following|given|above)\s+)?"
    r"(?:sentence|text|statement)\s+(?:is|isn|does|contains)", re.I,
)  # fmt: skip

_TYPE = re.compile(
    r"\b(?:(?:type|kind|form|category)\s+of\s+(?:social\s+)?bias(?:\s+(?:here|present|shown))?"
    r"|bias\s*(?:type|category))\s*(?:is|:|=)\s*(?P<t>[^.\n;]{2,60})", re.I,
)  # fmt: skip
_KINDS = re.compile(r"([\w-]+(?:\s+[\w-]+)?)\s+(?:bias(?:es)?|stereotyp\w+|prejudices?)\b", re.I)
_QUOTED = r"\[[^\]\n]{1,200}\]|\"[^\"\n]{1,200}\"|“[^”\n]{1,200}”|'(?:[^'\n]|'(?=\w)){1,200}'"
_ASSOCIATING = re.compile(
    rf"\bassociat(?:ing|es?|ion\s+of|ed)\s+(?P<g>{_QUOTED}|[^.\n]{{1,200}}?)\s+with\s+"
    rf"(?P<a>{_QUOTED}|[^.;\n]{{1,200}})", re.I,
)  # fmt: skip
_FIELD = rf"(?:\s+terms?)?(?:\(s\))?\s*[:=]\s*(?P<w>{_QUOTED}|[^.;\n]{{1,200}})"
_GROUP = re.compile(r"\b(?:groups?|(?:social|target)\s+groups?|targets?)" + _FIELD, re.I)
_ATTRIBUTE = re.compile(r"\battributes?" + _FIELD, re.I)
_NO_NAME = {"", "none", "null", "n/a", "na", "nothing", "unknown", "not applicable", "nan", "-"}


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
        `confidence` (the judge's own word for the probability that the text is biased, in
        [0, 1]; NaN where it gave none, or one that its verdict belies), `explanation`,
        `outcome` (``judged``, ``refused``, ``unreadable``) and `reason` (why there is no verdict).
    """
    given = pd.Series(replies, dtype=object)
    first = [_verdict(reply) for reply in given]
    # Only replies without a plain verdict can be refusals; the house's detector tells.
    unsure = [at for at, (one, plain) in enumerate(first) if not plain and one.reason != _BLANK]
    if unsure:
        said = [_THOUGHTS.sub(" ", str(given.iloc[at]))[:_OPENING] for at in unsure]
        found = refusals.detect(said, progress=False)
        for at, words, kind, reason in zip(
            unsure, said, found["kind"], found["reason"], strict=True
        ):
            one = first[at][0]
            # "It perpetuates stereotypes" is a verdict, and after "I cannot" a refusal.
            if kind in _REFUSALS and (one.biased is None or _declines(words)):
                told = f"the judge refuses: {reason}"
                refused = Verdict(None, explanation=one.explanation, outcome="refused", reason=told)
                first[at] = (refused, False)
    table = pd.DataFrame([one for one, _ in first], columns=Verdict._fields, index=given.index)
    return table.astype({"biased": "boolean", "confidence": float})


def _declines(words: str) -> bool:
    """Tell whether the judge says in so many words that it cannot or will not."""
    said = refusal_features.sentences([words])[0]
    return bool(refusal_features.hits(said)["inability"].any())


def _verdict(reply: object) -> tuple[Verdict, bool]:
    """Read one reply; also whether its verdict is plain, so that no refusal is looked for."""
    if not isinstance(reply, str) or not reply.strip():
        return _unread(_BLANK, None), False
    whole = unicodedata.normalize("NFKC", _THOUGHTS.sub(" ", reply))
    if len(whole) > 2 * _ENDS:  # a verdict stands at either end; what lies between is the essay
        whole = f"{whole[:_ENDS]}\n{whole[-_ENDS:]}"
    explained = _cut(whole)
    given = list(objects(whole, verdict=_word))
    if given:
        if len({said for said, _ in given}) > 1:
            return _unread(_BOTH, explained), True
        return _of_object(*given[-1], explained), True
    plain = re.sub(r"[ \t]+", " ", re.sub(r"[*_`#>{}\\]+", " ", whole)).strip()
    direct = [*_firm(plain), *_stated(plain, "direct")]
    for found, firm in ((direct, True), (_stated(plain, "indirect"), False)):
        if not found:
            continue
        said = _settled(plain, found)
        if said is None:
            return _unread(_BOTH, explained), True
        named = _named(plain) if said else (None, None, None)
        return Verdict(said, *named, explanation=explained), firm
    return _unread(_NONE, explained), False


def _unread(reason: str, explained: str | None) -> Verdict:
    return Verdict(None, explanation=explained, outcome="unreadable", reason=reason)


def _cut(words: str) -> str:
    line = " ".join(words.split())
    return line if len(line) <= _EXPLAINED else line[: _EXPLAINED - 1] + "…"


# --- verdicts in words ------------------------------------------------------------------------


def _affirms(word: str) -> bool:
    return " ".join(word.lower().split()) not in _NEGATIVE


def _word(said: str) -> bool | None:
    """Read a verdict that is a word, as in ``{"biased": "yes"}``."""
    hit = re.match(_VERDICT, said.strip(), re.I)
    return _affirms(hit["v"]) if hit else None


def _firm(plain: str) -> list[tuple[int, bool]]:
    """Return the verdicts that are given as such: at a label, at the start, in the template."""
    start = _LEADING.match(plain)
    hits = [*_LABEL.finditer(plain), *_TEMPLATE.finditer(plain), *([start] if start else [])]
    return [
        (hit.start("v"), _affirms(hit["v"]))
        for hit in hits
        if not _RULE.search(_before(plain, hit.start("v")))
    ]


@cache
def _patterns(family: str) -> dict[str, re.Pattern[str]]:
    """Return what says no and what says yes, of one family of statements."""
    known: dict[str, Any] = names()

    def filled(pattern: str) -> str:
        for name, part in known["parts"].items():
            pattern = pattern.replace("{" + name + "}", part)
        return pattern.replace(" ?", r"\s*").replace(" ", r"\s+")

    return {
        side: re.compile("|".join(rf"(?<!\w)(?:{filled(one)})(?!\w)" for one in listed), re.I)
        for side, listed in known[family].items()
    }


def _stated(plain: str, family: str) -> list[tuple[int, bool]]:
    """Return what sentences state of the text, but for those that only suppose it."""
    pattern = _patterns(family)
    denied = [hit.span() for hit in pattern["denies"].finditer(plain)]
    found = [(start, False) for start, _ in denied]
    for hit in pattern["affirms"].finditer(plain):
        if not any(start < hit.end() and hit.start() < end for start, end in denied):
            found.append((hit.start(), True))
    return [one for one in found if not _SUPPOSED.search(_before(plain, one[0]))]


def _before(plain: str, at: int) -> str:
    """Return what stands before a place in its sentence."""
    start = max(plain.rfind(end, 0, at) for end in (". ", "\n", "! ", "? ", "; ")) + 1
    return plain[start:at]


def _settled(plain: str, found: list[tuple[int, bool]]) -> bool | None:
    """Return the one verdict; of two, the last if the judge says that it changed its mind."""
    found = sorted(found)
    if len({said for _, said in found}) == 1:
        return found[0][1]
    between = plain[found[0][0] : found[-1][0]]
    return found[-1][1] if _CHANGED.search(between) else None


# --- type, group and attribute ------------------------------------------------------------------


def _named(plain: str) -> tuple[str | None, str | None, str | None]:
    """Return the type, the group and the attribute that a reply in words names."""
    hit = _TYPE.search(plain)
    bias_type = _type(hit["t"]) if hit else _type_of_all(plain)
    tied = list(_ASSOCIATING.finditer(plain))
    if tied:  # the last one: rules and examples come first
        return bias_type, _name(tied[-1]["g"]), _name(tied[-1]["a"])
    group, attribute = _GROUP.search(plain), _ATTRIBUTE.search(plain)
    return bias_type, _name(group and group["w"]), _name(attribute and attribute["w"])


def _type_of_all(plain: str) -> str | None:
    """Return the type of what a reply calls a bias, if it is one and the same."""
    found = {one for one in map(_type, _KINDS.findall(plain)) if one}
    return found.pop() if len(found) == 1 else None


@cache
def _types() -> tuple[re.Pattern[str], dict[str, str]]:
    known = {word: name for name, words in names()["types"].items() for word in words}
    words = "|".join(map(re.escape, sorted(known, key=len, reverse=True)))
    return re.compile(rf"(?<![\w-])(?:{words})(?![\w-])", re.I), known


def _type(words: object) -> str | None:
    """Return the first of the seven types that is named; the template's slot names none."""
    pattern, known = _types()
    hit = pattern.search(words) if isinstance(words, str) else None
    return known[hit[0].lower()] if hit else None


def _name(words: object) -> str | None:
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


def _of_object(biased: bool, value: dict[str, Any], explained: str) -> Verdict:
    told = field(value, "explanation")
    explanation = _cut(told) if isinstance(told, str) and told.strip() else explained
    chance = probability(field(value, "probability"), biased=biased)
    if not biased:
        return Verdict(False, confidence=chance, explanation=explanation)
    group, attribute = (_name(field(value, name)) for name in ("group", "attribute"))
    return Verdict(True, _type(field(value, "bias_type")), group, attribute, chance, explanation)
