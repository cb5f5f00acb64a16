"""The type of bias, the group and the attribute that a judge's reply names."""

from __future__ import annotations

import re
from functools import cache

from nbbias.biasalert_objects import names

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
    """Return the first of the seven types that is named; the template's slot names none."""
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
