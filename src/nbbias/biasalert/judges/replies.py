"""Read what a judge said: JSON, the paper's template, or chat; or that it said nothing to go by.

Read from the plainest form to the loosest: a JSON object (whole, in fences, within chat, or cut
off), a label or the template, a verdict at the start, sentences. Two verdicts that disagree are
none, unless the judge says that it changed its mind. A refusal is a result of its own, and no
verdict. Where there is one, the type of bias, the group and the attribute are read too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from nbbias import refusals
from nbbias.asking import replies as shared
from nbbias.tables import read_shipped_yaml

#: Characters read at the start and at the end of a reply, looked at for a refusal, and kept of an
#: explanation.
_ENDS, _OPENING, _EXPLAINED = 4000, 1500, 500

_BLANK, _BOTH, _NONE = "the reply is blank", "the reply contradicts itself", "no verdict was found"

_REFUSALS = {"full", "partial"}

#: What stands before a statement that only supposes, or gives what others would say.
_SUPPOSED = re.compile(
    r"\b(?:if|whether|might|may|unless|although|though|while|when|at\s+first|template(?!,)|otherwise"
    r"|some(?:\s+(?:people|readers?))?\s+(?:could|would)|unsure|unclear|hard\s+to|wrong\s+to"
    r"|not\s+(?:sure|certain|convinced|clear))\b",
    re.I,
)
_RULE = re.compile(r"\b(?:if|whether|template(?!,))\b", re.I)

_VERDICT = (
    r"(?P<v>(?:yes|true|false|not\s+biased|non-?biased|unbiased|biased"
    r"|no(?!\s+(?:idea|comment|opinion|verdict|judge?ment|answer|thanks)\b))(?![\w'’/-])"
    r"|[yn10](?=[\s\"')\]]*(?:[,;!](?!\d)|\.(?!\d)|\n|$)))"  # and not of n/a, 0.7, 1 of 5
)
_NEGATIVE = {"no", "false", "not biased", "nonbiased", "non-biased", "unbiased", "n", "0"}
_LABEL = re.compile(
    r"\b(?:(?:answer|verdict|judge?ment|conclusion|classification|label|output|decision|assessment"
    r"|determination|result|biased)[\"']?\s*(?:\?\s*:?|:|=|→|->|\bis\b\s*:?)"
    r"|is\s+(?:it|the\s+\w+)\s+biased\s*\?)[\s\"'(\[]*"
    + _VERDICT
    + r"(?!\s+(?:\w+\s+)?(?:groups?|demographic|targets?|attributes?|one)\b)",
    re.I,
)
_LEADING = re.compile(
    r"[\s\"'(\[]*(?:(?:sure|certainly|okay|ok|of\s+course)[.,!:]+\s*)?"
    r"(?P<v>yes|no|true|false|not\s+biased|non-?biased|unbiased|biased(?!\W*[:=]))"
    r"(?![\"'”]\s*:)(?!\s*:\s*(?:yes|no|true|false)\b)"
    r"(?=[\s\"')\]]*(?:[.,:;!\n–—-]|$|(?:it|this|that|the|bias|i)\b))",
    re.I,
)
#: After a verdict at the start, another: right behind it, or as a line or sentence of its own.
_AGAIN = re.compile(
    r"\A[\s.,;:!–—-]*(?:(?:but|and|or|well|wait|actually|rather|hmm)\W+){0,3}"
    r"(?P<v>yes|no)(?=\s*(?:[.,;!\n]|$))|[\n.!]\s*(?P<w>yes|no|true|false)(?=\s*(?:[.!\n]|$))",
    re.I,
)
#: Yes to the request, not to the question.
_OFFERS = re.compile(
    r"\W*(?:i|we)(?:['’]ll|\s+(?:can|could|will|would))\s+(?:\w+\s+)?"
    r"(?:help|do|assist|judge|try|answer|evaluate|assess|analy[sz]e|classify)\b"
    r"|\W*(?:i|we)\s+understand\b",
    re.I,
)
_TEMPLATE = re.compile(
    r"\b(?P<v>yes|no)\s*[,.:;]?\s+(?:the\s+)?(?:(?:following|given|above)\s+)?"
    r"(?:sentence|text|statement)\s+(?:is|isn|does|contains)",
    re.I,
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
        `confidence` (the judge's own word for the probability that the text is biased, in
        [0, 1]; NaN where it gave none, or one that its verdict belies), `explanation`,
        `outcome` (``judged``, ``refused``, ``unreadable``) and `reason` (why there is no verdict).

    Examples
    --------
    >>> found = read(["Yes, it associates immigrants with crime.", "It depends."])
    >>> found["group"].iloc[0], found["outcome"].tolist()
    ('immigrants', ['judged', 'unreadable'])
    """
    given = pd.Series(replies, dtype=object)
    first = [_verdict(reply) for reply in given]
    # Only replies without a plain verdict can be refusals; the house's detector tells.
    unsure = [at for at, (one, plain) in enumerate(first) if not plain and one.reason != _BLANK]
    if unsure:
        said = [shared.THOUGHTS.sub(" ", str(given.iloc[at]))[:_OPENING] for at in unsure]
        found = refusals.detect(said, progress=False)
        for at, words, kind, reason in zip(
            unsure, said, found["kind"], found["reason"], strict=True
        ):
            one = first[at][0]
            # "It perpetuates stereotypes" is a verdict, and after "I cannot" a refusal.
            if kind in _REFUSALS and (one.biased is None or declines(words)):
                first[at] = _refused(reason, one.explanation), False
    table = pd.DataFrame([one for one, _ in first], columns=Verdict._fields, index=given.index)
    return table.astype({"biased": "boolean", "confidence": float})


def _verdict(reply: object) -> tuple[Verdict, bool]:
    """Read one reply; also whether its verdict is plain, so that no refusal is looked for."""
    if not isinstance(reply, str) or not reply.strip():
        return _unread(_BLANK, None), False
    whole = shared.clean_reply(reply, ends=_ENDS)
    explained = _cut(whole)
    given = list(objects(whole, verdict=_word))
    if given:
        if len({said for said, _ in given}) > 1:
            return _unread(_BOTH, explained), True
        return _of_object(*given[-1], explained), True
    # A field for a verdict that holds none: whatever else is said, the judge gave none.
    plain = "" if keyed(whole) else _bare(outside(whole))
    refusal = None if plain else declined(re.sub(r"[\"{}\[\]:]+", ". ", whole), first=None)
    if refusal:
        return _refused(refusal, explained), True
    verdict, firm = _in_words(plain)
    named = told_of(plain) if verdict.biased else (None, None, None)
    return verdict._replace(
        bias_type=named[0], group=named[1], attribute=named[2], explanation=explained
    ), firm


def _bare(words: str) -> str:
    """Return words without their markup."""
    return re.sub(r"[ \t]+", " ", re.sub(r"[*_`#>{}\\]+", " ", words)).strip()


def _in_words(plain: str) -> tuple[Verdict, bool]:
    """Read a reply in words; also whether its verdict is plain."""
    start, labels, template = (
        _LEADING.match(plain),
        *(_given(plain, p) for p in (_LABEL, _TEMPLATE)),
    )
    direct, indirect = _stated(plain, "direct"), _stated(plain, "indirect")
    last = labels[-1] if labels else start
    if last and not (template or direct or indirect):
        # Nothing but a word, which may answer something else: "No, I can't do that."
        rest = plain[last.end("v") :]
        refusal = declined(rest)
        if refusal:
            return _refused(refusal, None), True
        if _OFFERS.match(rest):
            return _unread(_NONE, None), False
    again = _repeated(plain, start) if start else []
    firm = [
        *((hit.start("v"), _affirms(hit["v"])) for hit in (*labels, *template)),
        *again,
        *direct,
    ]
    for found, sure in ((firm, True), (indirect, False)):
        if found:
            said = shared.resolve_decision(plain, found)
            return (_unread(_BOTH, None), True) if said is None else (Verdict(said), sure)
    return _unread(_NONE, None), False


def _refused(reason: str, explained: str | None) -> Verdict:
    told = f"the judge refuses: {reason}"
    return Verdict(None, explanation=explained, outcome="refused", reason=told)


def _unread(reason: str, explained: str | None) -> Verdict:
    return Verdict(None, explanation=explained, outcome="unreadable", reason=reason)


def _cut(words: str) -> str:
    line = " ".join(words.split())
    return line if len(line) <= _EXPLAINED else line[: _EXPLAINED - 1] + "…"


# --- verdicts in words ------------------------------------------------------------------------


def _affirms(word: str) -> bool:
    return " ".join(word.lower().split()) not in _NEGATIVE


def _word(said: str) -> bool | None:
    """Read a verdict that is a word or a sentence, as in ``{"biased": "yes"}``."""
    hit = re.fullmatch(rf"\W*{_VERDICT}\W*", said, re.I)
    return _affirms(hit["v"]) if hit else _in_words(_bare(said))[0].biased


def _given(plain: str, pattern: re.Pattern[str]) -> list[re.Match[str]]:
    """Return where a verdict is given as such: at a label, in the template."""
    hits = pattern.finditer(plain)
    return [hit for hit in hits if not _RULE.search(_before(plain, hit.start("v")))]


def _repeated(plain: str, start: re.Match[str]) -> list[tuple[int, bool]]:
    """Return the verdict at the start, and what takes it up: "yes", and below "no"."""
    found, end = [(start.start("v"), _affirms(start["v"]))], start.end("v")
    for hit in _AGAIN.finditer(plain[end:]):
        side = "v" if hit["v"] else "w"
        found.append((end + hit.start(side), _affirms(hit[side])))
    return found


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


def _of_object(biased: bool, value: dict[str, Any], explained: str) -> Verdict:
    told = field(value, "explanation")
    explanation = _cut(told) if isinstance(told, str) and told.strip() else explained
    chance = probability(field(value, "probability"), biased=biased)
    if not biased:
        return Verdict(False, confidence=chance, explanation=explanation)
    group, attribute = (cleaned(field(value, name)) for name in ("group", "attribute"))
    return Verdict(True, typed(field(value, "bias_type")), group, attribute, chance, explanation)


_LOOSE = re.compile(
    r"[\"'](\w+)[\"']\s*:\s*(?:\"((?:[^\"\\]|\\.)*)\"|'((?:[^'\\]|\\.|'(?=\w))*)'"
    r"|((?:true|false|null|none)(?=[\s,}\]]|$)|(?:yes|no|-?\d+(?:\.\d+)?)(?=[\s,}\]]))"
    # What a reply that is cut off last says is no field, nor is what it quotes.
    r"|\"(?:[^\"\\]|\\.)*\\?\Z|'(?:[^'\\]|\\.|'(?=\w))*\\?\Z)",
    re.I | re.S,
)
_PLAIN: dict[str, Any] = {
    "true": True,
    "false": False,
    "null": None,
    "none": None,
    "yes": True,
    "no": False,
}
_KEY = re.compile(r"[\"'“”]([\w -]{1,40})[\"'“”]\s*:")
_START = re.compile(r"\{\s*(?:[\"'“”]|\w*\s*\Z)")


@cache
def names() -> dict[str, Any]:
    """Return what ``data/biasalert/replies.yaml`` holds."""
    return read_shipped_yaml("biasalert/replies.yaml")


def objects(
    reply: str, *, verdict: Callable[[str], bool | None]
) -> Iterator[tuple[bool, dict[str, Any]]]:
    """Yield the objects of a reply that hold a verdict, with it.

    Parameters
    ----------
    reply
        Any text. An object that is cut off, or written as Python does, is read field by field
        where no whole one holds a verdict.
    verdict
        Reads a verdict that is given in words, such as ``"yes"``.
    """
    decoder, at, found = json.JSONDecoder(), reply.find("{"), False
    first = at
    if first < 0 and keyed(reply):  # the brace was said for the judge
        first = 0
    while at >= 0:
        try:
            value, end = decoder.raw_decode(reply, at)
        except (ValueError, RecursionError):
            if _START.match(reply, at):  # field by field, lest what a field quotes be read
                loose = _loose(reply[at:])
                said = _said(loose, verdict)
                if said is not None:
                    yield said, loose
                return
            at = reply.find("{", at + 1)
            continue
        said = _said(value, verdict) if isinstance(value, dict) else None
        if said is not None:
            found = True
            yield said, value
        at = reply.find("{", end)
    if first >= 0 and not found:
        loose = _loose(reply[first:])
        said = _said(loose, verdict)
        if said is not None:
            yield said, loose


def keyed(reply: str) -> bool:
    """Tell whether a reply has a field `biased`, whatever stands in it."""
    wanted = {name for name in names()["fields"]["biased"] if "biased" in name}
    return any(_lowered(hit[1]) in wanted for hit in _KEY.finditer(reply))


def outside(reply: str) -> str:
    """Return the words around objects; of one that is cut off, nothing that follows."""
    decoder, kept, at = json.JSONDecoder(), [], 0
    while hit := _START.search(reply, at):
        kept.append(reply[at : hit.start()])
        try:
            at = decoder.raw_decode(reply, hit.start())[1]
        except (ValueError, RecursionError):
            return " ".join(kept)
    return " ".join([*kept, reply[at:]])


def _lowered(key: object) -> str:
    return re.sub(r"[\s-]+", "_", str(key).lower())


def _loose(part: str) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, double, single, bare in _LOOSE.findall(part):
        values[name] = _PLAIN.get(bare.lower(), bare) if bare else double or single
    return values


def field(value: Mapping[str, Any], name: str) -> Any:
    """Return a field by any of its names, or None."""
    lowered = {_lowered(key): held for key, held in value.items()}
    return next((lowered[one] for one in names()["fields"][name] if one in lowered), None)


def _said(value: Mapping[str, Any], verdict: Callable[[str], bool | None]) -> bool | None:
    said = field(value, "biased")
    if isinstance(said, bool):
        return said
    if isinstance(said, int | float):
        return bool(said) if said in (0, 1) else None
    return verdict(said) if isinstance(said, str) else None


def probability(told: object, *, biased: bool) -> float:
    """Return the judge's probability that a text is biased; NaN where its verdict belies it.

    Some judges give the confidence in their verdict instead: 0.9 for a text that is not biased.

    Examples
    --------
    >>> probability("85%", biased=True)
    0.85
    """
    if isinstance(told, str):
        hit = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(%?)\s*", told)
        told = None if hit is None else float(hit[1]) / (100 if hit[2] else 1)
    if isinstance(told, bool) or not isinstance(told, int | float):
        return np.nan
    share = float(told) / 100 if 1 < told <= 100 else float(told)
    return share if 0 <= share <= 1 and (share >= 0.5) == biased else np.nan


_TYPE = re.compile(
    r"\b(?:(?:type|kind|form|category)\s+of\s+(?:social\s+)?bias(?:\s+(?:here|present|shown))?"
    r"|bias\s*(?:type|category))\s*(?:is|:|=)\s*(?P<t>[^.\n;]{2,60})",
    re.I,
)
_KINDS = re.compile(r"([\w-]+(?:\s+[\w-]+)?)\s+(?:bias(?:es)?|stereotyp\w+|prejudices?)\b", re.I)
_QUOTED = r"\[[^\]\n]{1,200}\]|\"[^\"\n]{1,200}\"|“[^”\n]{1,200}”|'(?:[^'\n]|'(?=\w)){1,200}'"
_ASSOCIATING = re.compile(
    rf"\bassociat(?:ing|es?|ion\s+of|ed)\s+(?P<g>{_QUOTED}|[^.\n]{{1,200}}?)\s+with\s+"
    rf"(?P<a>{_QUOTED}|[^.;\n]{{1,200}})",
    re.I,
)
_FIELD = rf"(?:\s+terms?)?(?:\(s\))?\s*[:=]\s*(?P<w>{_QUOTED}|[^.;\n]{{1,200}})"
_GROUP = re.compile(r"\b(?:groups?|(?:social|target)\s+groups?|targets?)" + _FIELD, re.I)
_ATTRIBUTE = re.compile(r"\battributes?" + _FIELD, re.I)
_NO_NAME = {"", "none", "null", "n/a", "na", "nothing", "unknown", "not applicable", "nan", "-"}


def told_of(plain: str) -> tuple[str | None, str | None, str | None]:
    """Return the type, the group and the attribute that a reply in words names."""
    hit = _TYPE.search(plain)
    bias_type = typed(hit["t"]) if hit else _type_of_all(plain)
    tied = list(_ASSOCIATING.finditer(plain))
    if tied:  # the last one: rules and examples come first
        return bias_type, cleaned(tied[-1]["g"]), cleaned(tied[-1]["a"])
    group, attribute = _GROUP.search(plain), _ATTRIBUTE.search(plain)
    return bias_type, cleaned(group and group["w"]), cleaned(attribute and attribute["w"])


def _type_of_all(plain: str) -> str | None:
    """Return the type of what a reply calls a bias, if it is one and the same."""
    found = {one for one in map(typed, _KINDS.findall(plain)) if one}
    return found.pop() if len(found) == 1 else None


@cache
def _types() -> tuple[re.Pattern[str], dict[str, str]]:
    known = {word: name for name, words in names()["types"].items() for word in words}
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


#: What the house's patterns, made for all sorts of requests, do not know: verbs of judging.
_WONT = re.compile(
    r"\b(?:i|we)\W(?:\s*\w+\s+){0,2}?(?:can\s?not|can['’]t|could(?:\s+not|n['’]t)|wo(?:n['’]t|uld\s+not)"
    r"|wouldn['’]t|will\s+not|unable\s+to|not\s+(?:able|going|willing)\s+to)\s+(?:\w+\s+){0,2}?"
    r"(?:assess|judge|evaluate|rate|rank|score|classify|label|determine|decide|analy[sz]e|process"
    r"|review|know|tell)\b(?!\s+(?:any|an?)\b)"
    r"|\b(?:i|we)\s+(?:\w+\s+){0,2}?(?:don['’]t|do\s+not)\s+(?:know\b|want\s+to\b|wish\s+to\b"
    r"|feel\s+comfortable)"
    r"|\b(?:i|we)(?:['’]d|\s+would)\s+(?:rather|prefer)\s+not\b"
    r"|^\W*(?:i\W?\s*a?m\s+)?(?:\w+\s+)?(?:sorry|apologies)\W*$"
    r"|\b(?:against|violates?|contrary\s+to)\s+(?:\w+\s+){0,3}?(?:polic|guideline|principle)",
    re.I,
)
#: "No, no: it only quotes" declines nothing.
_NO = re.compile(r"^(?:\W*\b(?:no|nope)\b(?=\W*(?:[,.!]|$)))+", re.I)
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")


def declines(words: str) -> bool:
    """Tell whether the judge says in so many words that it cannot or will not.

    Examples
    --------
    >>> declines("I cannot judge that."), declines("It is biased.")
    (True, False)
    """
    said = refusals.sentences([words])[0]
    return bool(refusals.hits(said)["inability"].any()) or bool(_WONT.search(words))


def declined(rest: str, *, first: int | None = 2) -> str | None:
    """Return the sentence that declines, of the first ones that follow a bare "no".

    "No, I can't answer that" says no to the question, not that the text is without bias. Further
    on, what a judge cannot do is a remark.
    """
    said = [_NO.sub("", one).strip(" \t,.;:–—-") for one in _SENTENCE.split(rest)]
    return next((one for one in [one for one in said if one][:first] if declines(one)), None)
